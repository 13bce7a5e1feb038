/* SPDX-License-Identifier: MIT
 *
 * Minima and maxima as calls (extremes.c). */
#ifndef PMGC_CODEGEN_EXTREMES_H
#define PMGC_CODEGEN_EXTREMES_H

#include "codegen/codegen_private.h"

/* Is it a minimum or maximum of floats? */
bool expr_is_extreme(const struct expr *expr);
struct k_expr *extreme_expr(struct emit *e, const struct point *point, const struct expr *expr);
/* The value of a variable that readers test, and which operands; NULL: it is to be tested. */
struct k_expr *extreme_untested(struct emit *e, const struct stage *stage, const struct point *point,
				expr_list *operands);
/* The narrowest type in which a minimum or maximum of integers is the same; i64: there is none, or it is no such. */
enum scalar_type extreme_narrow_type(const struct expr *expr);
struct k_expr *extreme_narrow(struct emit *e, const struct point *point, const struct expr *expr);
/* Is it no result of a choice, as those are, nor a variable that may be? */
bool expr_is_unchosen(const struct expr *expr);
/* One operation of operands that are built. */
struct k_expr *extreme_of(struct emit *e, bool is_min, enum scalar_type type, enum extreme_order order,
			  struct k_expr *target, struct k_expr *value);

#endif
