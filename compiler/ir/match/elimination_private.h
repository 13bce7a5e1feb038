/* SPDX-License-Identifier: MIT
 *
 * What the two forms of elimination share: elimination.c, and elimination_scaled.c where rows are divided by their
 * pivots at once. */
#ifndef PMGC_IR_ELIMINATION_PRIVATE_H
#define PMGC_IR_ELIMINATION_PRIVATE_H

#include "ir/match/elimination.h"
#include "ir/match/terms.h"

typedef VEC(struct expr *) expr_list;

/* A recurrence of first order: `step` reads the array at the row `by` away, `bases` do not read it. */
struct sweep {
	struct array *array;
	struct stage *step;
	stage_list bases;
	int row;                        /* the subscript that moves */
	int64_t by;
};

struct match {
	struct elimination *found;
	struct module *module;
	struct arena *arena;
	struct sweep solution, reduced, pivot;
	struct term lower, upper;       /* off-diagonals: of the sweep, and of the substitution */
	term_list diag, rhs;
	expr_list diag_bases, rhs_bases;       /* where recurrences begin; none: their values */
	const char *problem;
};

/* ---- elimination.c ---- */

/* Keeps the problem. False. */
bool match_fail(struct match *m, const char *format, ...) PRINTF_LIKE(2, 3);
bool sweep_find(struct module *module, struct array *array, struct sweep *sweep);
/* The array of the only factor, a read at the point of the stage; NULL. */
struct array *factor_here(const factor_list *factors, const struct stage *stage);
/* Of two terms, the one that reads the array is made the second. False: there are others. */
bool terms_split(term_list *terms, const struct array *array);
/* Takes the term that reads `array` out of the terms. False: there is none, or several. */
bool terms_take(term_list *terms, const struct array *array, struct term *taken);
/* Is it the pivot of the row before? `read` may be NULL. */
bool match_is_before(const struct match *m, const struct expr *read, const struct stage *stage);

/* ---- elimination_scaled.c ---- */

/* Is the solution z - u*x' with two other recurrences z and u? Then these are found. */
bool match_is_scaled(struct match *m);
/* The rest, when they are known to run over the same rows. */
bool match_scaled(struct match *m);

#endif
