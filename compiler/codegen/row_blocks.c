/* SPDX-License-Identifier: MIT
 *
 * Rows of dot products that take more registers than there are, in blocks of about equal length. */
#include "codegen/codegen_private.h"

const struct k_row_limits row_limits = { ROW_LONGEST, ROW_SHORTEST };

bool row_has_blocks(int64_t length, int64_t size)
{
	struct k_row_blocks blocks;

	return k_row_blocks(&row_limits, length, size, &blocks);
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
	struct k_row_blocks blocks;

	if (!row_is_long(e, row)) {
		print(e, row, user);
		return;
	}
	k_row_blocks(&row_limits, row->length, row_cell_size(row), &blocks);
	emit_equal(e, row, 0, row->length - blocks.rest, blocks.length, &printer);
	if (blocks.rest)
		emit_equal(e, row, row->length - blocks.rest, row->length, blocks.rest, &printer);
}

/* ---- lines ---- */

static bool add_lines(const struct k_stmt *stmt, void *user)
{
	enum { OF_ROW = 15, OF_BLOCK = 35 };    /* what reads and writes it; of blocks, with the loop around, too */
	const struct k_expr *length = stmt->kind == KS_LOOP ? stmt->loop.row.length : NULL;
	const int64_t size = length && stmt->loop.row.is_narrow ? 4 : 8;
	struct k_row_blocks blocks;
	int *n = user;

	if (!length)
		return true;
	k_row_blocks(&row_limits, length->integer, size, &blocks);
	*n += length->integer*size <= row_limits.longest ? OF_ROW : blocks.rest ? 2*OF_BLOCK : OF_BLOCK;
	return true;
}

int rows_length(const struct k_block *block)
{
	int n = 0;

	k_walk_block(block, &(struct k_visitor) { .stmt = add_lines, .user = &n });
	return n;
}
