/* SPDX-License-Identifier: MIT
 *
 * The blocks of a row that takes more registers than there are: about equal, and none shorter than a vector. All but
 * the last one have the same length, so that one loop runs over them. */
#include "kernel/lower/rows_private.h"

bool k_row_blocks(const struct k_row_limits *limits, int64_t length, int64_t size, struct k_row_blocks *blocks)
{
	int64_t shortest = limits->shortest/size, n = (length*size + limits->longest - 1)/limits->longest;

	blocks->length = ((length + n - 1)/n + shortest - 1)/shortest*shortest;
	blocks->rest = length % blocks->length;
	while (blocks->rest && blocks->rest < shortest && blocks->length > shortest) {
		blocks->length -= shortest;
		blocks->rest = length % blocks->length;
	}
	return !blocks->rest || blocks->rest >= shortest;
}

bool row_needs_blocks(const struct row *row, const struct k_row_limits *limits)
{
	return row->length*vectors_cell_size(row) > limits->longest;
}

/* The blocks of one length in the cells first..end. */
static void add_equal(struct k_builder *b, const struct row *row, int64_t first, int64_t end, int64_t length,
		      const struct row_block_adder *adder)
{
	struct row block = *row;
	const char *name;

	block.block = k_int(b->arena, first);
	block.length = length;
	if (first + length == end) {
		k_begin(b);
	} else {
		name = lower_name(b->arena, &row->visible, row->around,
				  arena_printf(b->arena, "%s_block", row->cells->loop.name));
		k_begin_for(b, "int64_t", name, k_int(b->arena, first), k_int(b->arena, end), k_int(b->arena, length));
		vec_push(b->arena, &block.visible, name);
		block.block = k_name(b->arena, name);
	}
	adder->add(b, &block, adder->user);
	k_end(b);
}

void row_add_blocks(struct k_builder *b, const struct row *row, const struct k_row_limits *limits,
		    const struct row_block_adder *adder)
{
	struct k_row_blocks blocks;

	if (!row_needs_blocks(row, limits)) {
		adder->add(b, row, adder->user);
		return;
	}
	k_row_blocks(limits, row->length, vectors_cell_size(row), &blocks);
	add_equal(b, row, 0, row->length - blocks.rest, blocks.length, adder);
	if (blocks.rest)
		add_equal(b, row, row->length - blocks.rest, row->length, blocks.rest, adder);
}
