/* SPDX-License-Identifier: MIT
 *
 * One block to or from rows that lie next to each other, by squares that are transposed in registers: the definition of
 * BLOCK_COPY, a block_copier (plan.h), for the instruction set of the file that includes this. */
#include "plan.h"

void BLOCK_COPY(const struct block_copy *copy)
{
	const int64_t width = copy->width, n = copy->n_lanes, rows = copy->rows;

	if (copy->size == 8 && copy->into)
		pmg_block_read_f64(copy->block, width, copy->lanes, n, rows, rows, 1);
	else if (copy->size == 8)
		pmg_block_write_f64(copy->block, width, copy->lanes, n, rows, rows, 1);
	else if (copy->into)
		pmg_block_read_f32(copy->block, width, copy->lanes, n, rows, rows, 1);
	else
		pmg_block_write_f32(copy->block, width, copy->lanes, n, rows, rows, 1);
}
