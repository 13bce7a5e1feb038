/* SPDX-License-Identifier: MIT
 *
 * What the files share that keep rows in registers: forward.c finds the loops, forward_cells.c what they read. */
#ifndef PMGC_KERNEL_LOWER_FORWARD_PRIVATE_H
#define PMGC_KERNEL_LOWER_FORWARD_PRIVATE_H

#include "kernel/affine.h"
#include "kernel/lower/lower_private.h"

/* A buffer of which each iteration of a loop writes a row of its own, as a call ahead of the loop says. */
struct carried {
	const char *stem, *buffer;
	struct affine row;              /* where the row of iteration 0 begins */
	int64_t step;                   /* from there to that of iteration 1 */
	bool begins_empty;              /* a row holds nothing before it is written */
	struct k_expr *first;           /* where the row before the first one begins; NULL: there is none */
	const char *last, *now;         /* the vectors: of the row before, and of the row */
	const char *suffix;             /* of its macros: F64; NULL: nothing is written that may be kept */
	struct k_type type;             /* of the vectors */
	bool is_read;                   /* the row before is read */
	bool is_partial;                /* an iteration may leave vectors of its row alone */
};

struct forward {
	struct arena *arena;
	struct k_stmt *loop;            /* over the rows */
	const struct k_loop *lanes;     /* in it, over the vectors of a row; the others have as many; NULL */
	VEC(struct carried) carried;
	int n_around;                   /* loops and conditions around what is rewritten, in the loop over rows */
};

/* ---- forward_cells.c ---- */

/* An element of a buffer: its index; NULL: it is something else. */
struct k_expr *cell_index(const struct k_expr *expr, const char *buffer);
/* Is this a loop over vectors; over as many as another one? NULL is like any. */
bool is_over_vectors(const struct k_stmt *stmt);
bool is_over_row(const struct k_loop *row, const struct k_stmt *stmt);
/* name[lane/PMG_LANES(double)] in such a loop. */
struct k_expr *vector_of(const struct forward *forward, const struct k_loop *lanes, const char *name);
/* Where the row of the iteration begins that is `distance` before the one that the loop is at. */
struct affine row_before(const struct forward *forward, const struct carried *carried, int distance);
/* The block with reads of rows before from their vectors, and writes of rows to theirs, too. Notes which are read. */
struct k_block forwarded(struct forward *forward, const struct k_block *block);

#endif
