/* SPDX-License-Identifier: MIT
 *
 * What the files share that keep rows of cells in vectors: rows.c finds them. */
#ifndef PMGC_KERNEL_LOWER_ROWS_PRIVATE_H
#define PMGC_KERNEL_LOWER_ROWS_PRIVATE_H

#include "kernel/lower/lower_private.h"

/* Cells of a buffer, or a block of them, which one loop updates in another one. */
struct row {
	struct arena *arena;
	struct k_stmt *around, *cells;  /* the loop over which they are kept; that over them */
	name_list visible, inside;      /* names at the first one, and at the other */
	const struct k_expr *cell;      /* buffer[index] of the loop over them */
	const char *buffer;
	int64_t length;
	const char *name;               /* of the vectors */
};

/* ---- row_vectors.c ---- */

/* Can the update be computed as vectors: does each read that moves with the loop move as the cells do? */
bool vectors_are_possible(const struct row *row);
/* Adds to the open block: the vectors; what reads them from the cells, sets them to zero, or writes them to the
 * cells. */
void vectors_declare(struct k_builder *b, const struct row *row);
void vectors_read(struct k_builder *b, const struct row *row);
void vectors_zero(struct k_builder *b, const struct row *row);
void vectors_write(struct k_builder *b, const struct row *row);
/* The loop over the cells becomes one over the vectors. */
void vectors_update(const struct row *row);

#endif
