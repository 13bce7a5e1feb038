/* SPDX-License-Identifier: MIT
 *
 * How many lines lowerings will make of loops over rows, and of those of dot products (kernel/lower/): about, so that
 * a kernel is cut into functions of about equal length. */
#include "codegen/codegen_private.h"

const struct k_row_limits row_limits = { ROW_LONGEST, ROW_SHORTEST };

static bool add_lines(const struct k_stmt *stmt, void *user)
{
	enum { OF_ROW = 15, OF_BLOCK = 35 };    /* what reads and writes it; of blocks, with the loop around, too */
	const struct k_expr *length = stmt->kind == KS_LOOP ? stmt->loop.row.length : NULL;
	const int64_t size = length && stmt->loop.row.is_narrow ? 4 : 8;
	struct k_row_blocks blocks;
	int *n = user;

	if (!length || length->integer*size < row_limits.shortest)
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
