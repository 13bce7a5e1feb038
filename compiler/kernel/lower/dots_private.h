/* SPDX-License-Identifier: MIT
 *
 * What the files share that make dot products of vectors: dots.c finds them. */
#ifndef PMGC_KERNEL_LOWER_DOTS_PRIVATE_H
#define PMGC_KERNEL_LOWER_DOTS_PRIVATE_H

#include "kernel/lower/rows_private.h"

/* A loop that adds terms to a variable. */
struct dot {
	struct row row;                 /* of the terms: `cells` is the loop over them, `cell` the variable, `name` that
					 * of the vectors of what is kept, `lets` what the loop around declares ahead */
	const struct k_row_limits *limits;
	name_list variables;            /* of those at the loop around, which may change */
	const struct k_expr *kept;      /* a read that the loop around does not move; NULL: there is none */
	const char *sums;               /* vectors that are added to */
	struct k_expr *place;           /* which one of them; NULL: two in turn */
};

/* ---- dot_terms.c ---- */

/* Is the statement such a loop? The names are those at it. */
bool dot_is(struct dot *dot, struct k_stmt *stmt);
/* Adds the terms of the row, or those of each of its blocks, to the sums. */
void dot_add_terms(struct k_builder *b, const struct row *block, void *dot);
/* Declares and reads what is kept of a row, or a block of one, under a name that it chooses. */
void dot_keep_read(struct k_builder *b, struct dot *dot, struct row *block);

/* ---- team_dots.c ---- */

/* Of a dot product that lanes of a team share: declares its sums; its variable becomes what these are together. */
void team_declare_sums(struct k_builder *b, const struct dot *dot);
void team_take_sums(struct k_builder *b, const struct dot *dot);
/* The terms of a vector of this number. */
void team_add_cells(struct k_builder *b, const struct dot *dot, const char *number, struct k_expr *terms);
/* Is statement `i` a loop over rounds that comes to a row of some lane in any case? */
bool team_has_rounds(const struct k_block *block, int i);

/* ---- dot_around.c ---- */

/* Is there a dot product in the loop `around`, in each of its iterations, of which it does not move a read? */
bool dot_find_kept(struct dot *dot, struct k_stmt *around);
/* Can its iterations make their dot products before they do anything else? */
bool dot_can_be_ahead(const struct dot *dot);

/* ---- dot_batches.c ---- */

/* Adds batches of the loop around. Returns the loop over the iterations of one, whose body is yet to be lowered; names
 * that are visible there are added to the list. */
struct k_stmt *dot_add_batches(struct k_builder *b, struct dot *dot, name_list *visible);

#endif
