/* SPDX-License-Identifier: MIT
 *
 * Values as sums of products: how a statement depends on what it computes itself. */
#ifndef PMGC_IR_TERMS_H
#define PMGC_IR_TERMS_H

#include "ir/module.h"

typedef VEC(struct expr *) factor_list;

/* The product of `over`, divided by each of `under`. */
struct term {
	bool is_negative;
	factor_list over, under;
};
typedef VEC(struct term) term_list;

/* The terms of a value. Sums that hold no read of `array` are one factor, and so is what is divided by. */
term_list terms_of(struct arena *arena, struct expr *value, const struct array *array);
/* The one factor that is a read of `array`, which is taken out of the list; NULL: there is none, or several. */
struct expr *factors_take_read(factor_list *factors, const struct array *array);
bool term_reads(const struct term *term, const struct array *array);
struct term term_product(struct arena *arena, const struct term *a, const struct term *b);
/* Equal but for the order of factors, and of a dim and what is added to it; signs count. */
bool term_equal(const struct term *a, const struct term *b);
bool expr_same(const struct expr *a, const struct expr *b);
/* At `dim` + `by` in the place of `dim`. */
struct term term_shift(struct arena *arena, const struct term *term, int dim, int64_t by);
struct expr *term_expr(struct arena *arena, const struct term *term, enum scalar_type type);
/* The sum of the terms that are not NULL; 0 where there are none. */
struct expr *terms_expr(struct arena *arena, const term_list *terms, enum scalar_type type, struct span span);

#endif
