/* SPDX-License-Identifier: MIT
 *
 * Terms that vanish. A statement that adds the product of a LOCAL value s and others adds nothing where s is zero, so
 * that a loop along which s stays the same need not run (the sign of a zero apart) - unless another factor is infinite
 * or NaN, for 0 * inf is NaN. So the others must be constants or elements of fixed arrays, of which the runtime can say
 * once and for all whether they are finite. */
#include "ir/schedule.h"

#include <math.h>

struct factors {
	zero_factor_test *test;
	const void *user;
	struct zero_factor found;
	bool is_product;
};

static void add_factor(struct factors *f, const struct expr *expr)
{
	const struct array *array = expr->kind == EXPR_READ ? expr->access.array : NULL;

	if (expr->kind == EXPR_OP && (expr->op == OP_MUL || expr->op == OP_NEG)) {
		for (int i = 0; i < expr_n_args(expr); i++)
			add_factor(f, expr->args[i]);
	} else if (array && type_is_float(array->type) && !f->found.factor && f->test(expr, f->user)) {
		f->found.factor = expr;
	} else if (array && array->is_fixed && array->role == ROLE_IN && type_is_float(array->type)) {
		f->is_product = f->is_product && f->found.n_finite < MAX_FINITE;
		if (f->is_product)
			f->found.finite[f->found.n_finite++] = array;
	} else if (array && array->role == ROLE_INSPECTED) {
		f->found.has_copies = true;
	} else if (expr->kind != EXPR_FLOAT || !isfinite(expr->real)) {
		f->is_product = false;
	}
}

bool expr_zero_factor(const struct expr *product, zero_factor_test *test, const void *user, struct zero_factor *factor)
{
	struct factors f = { .test = test, .user = user, .is_product = true };

	add_factor(&f, product);
	*factor = f.found;
	return f.is_product && f.found.factor;
}

static bool is_local(const struct expr *read, const void *user)
{
	(void) user;
	return read->access.array->role == ROLE_LOCAL;
}

bool stage_zero_factor(const struct stage *stage, struct zero_factor *factor)
{
	return stage->op == REDUCE_ADD && type_is_float(stage->write.array->type) &&
	       stage->write.array->role != ROLE_LOCAL && stage->value->kind == EXPR_OP &&
	       expr_zero_factor(stage->value, is_local, NULL, factor) && !factor->has_copies;
}
