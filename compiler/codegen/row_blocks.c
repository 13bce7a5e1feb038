/* SPDX-License-Identifier: MIT
 *
 * Rows that take more registers than there are, in blocks of about equal length. All blocks but the last one have the
 * same length, a multiple of the longest vector's, so that one loop runs over them. */
#include "codegen/codegen_private.h"

struct blocks {
	int64_t length, rest;           /* of a block; of the last one, if that is shorter */
};

static bool blocks_of(int64_t length, int64_t size, struct blocks *blocks)
{
	int64_t shortest = ROW_SHORTEST/size, n = (length*size + ROW_LONGEST - 1)/ROW_LONGEST;

	blocks->length = ((length + n - 1)/n + shortest - 1)/shortest*shortest;
	blocks->rest = length % blocks->length;
	while (blocks->rest && blocks->rest < shortest && blocks->length > shortest) {
		blocks->length -= shortest;
		blocks->rest = length % blocks->length;
	}
	return !blocks->rest || blocks->rest >= shortest;
}

bool row_has_blocks(int64_t length, int64_t size)
{
	struct blocks blocks;

	return blocks_of(length, size, &blocks);
}

int64_t row_cell_size(const struct row *row)
{
	return type_size(row->stage->write.array->sums);
}

bool row_is_long(const struct emit *e, const struct row *row)
{
	return !e->grid && row->length*row_cell_size(row) > ROW_LONGEST;
}

struct printer {
	void (*print)(struct emit *e, const struct row *block, void *user);
	void *user;
};

/* The blocks of one length in the cells first..end. */
static void emit_equal(struct emit *e, const struct row *row, int64_t first, int64_t end, int64_t length,
		       const struct printer *printer)
{
	const char *dim = row->stage->dims.items[row->dim].name, *name;
	struct affine at = affine_constant(first);
	struct row block = *row;
	int names = e->names.visible.n;

	block.block = &at;
	block.length = length;
	if (first + length == end) {
		k_begin(e->b);
	} else {
		name = names_declare(&e->names, arena_printf(e->arena, "%s_block", dim));
		k_begin_for(e->b, "int64_t", name, k_int(e->arena, first), k_int(e->arena, end),
			    k_int(e->arena, length));
		at = affine_name(e->arena, name);
	}
	printer->print(e, &block, printer->user);
	block_close(e, names);
}

void emit_row_blocks(struct emit *e, const struct row *row,
		     void (*print)(struct emit *e, const struct row *block, void *user), void *user)
{
	struct printer printer = { print, user };
	struct blocks blocks;

	if (!row_is_long(e, row)) {
		print(e, row, user);
		return;
	}
	blocks_of(row->length, row_cell_size(row), &blocks);
	emit_equal(e, row, 0, row->length - blocks.rest, blocks.length, &printer);
	if (blocks.rest)
		emit_equal(e, row, row->length - blocks.rest, row->length, blocks.rest, &printer);
}
