/* SPDX-License-Identifier: MIT
 *
 * isl's expressions: sums with iterators replaced by the variables that stand for them (of a loop that
 * runs backwards, isl's iterator is minus the variable), and conditions. Quotients and remainders become calls of
 * the runtime, which floor; where isl knows more about their operands the value is the same. */
#include <isl/id.h>
#include <isl/val.h>
#include <string.h>

#include "codegen/codegen_private.h"

static struct affine affine_of_id(struct emit *e, const char *id)
{
	for (int i = e->iterators.n - 1; i >= 0; i--)
		if (!strcmp(e->iterators.items[i].id, id))
			return e->iterators.items[i].value;
	for (int i = 0; i < e->module->params.n; i++)
		if (!strcmp(e->module->params.items[i].name, id))
			return affine_name(e->arena, e->layout->params[i]);
	emit_fail(e, "an expression reads '%s', which is not in scope", id);
	return affine_constant(0);
}

int ast_n_names(const struct emit *e, __isl_take isl_ast_expr *expr, name_predicate is_such)
{
	isl_id *id;
	int n = 0;

	if (isl_ast_expr_get_type(expr) == isl_ast_expr_id) {
		id = isl_ast_expr_get_id(expr);
		n = is_such(e, isl_id_get_name(id));
		isl_id_free(id);
	} else if (isl_ast_expr_get_type(expr) == isl_ast_expr_op) {
		for (int i = 0; i < ast_n_args(expr); i++)
			n += ast_n_names(e, isl_ast_expr_op_get_arg(expr, i), is_such);
	}
	isl_ast_expr_free(expr);
	return n;
}

static int64_t value_of(__isl_take isl_ast_expr *expr)
{
	isl_val *val = isl_ast_expr_int_get_val(expr);
	int64_t value = isl_val_get_num_si(val);

	isl_val_free(val);
	isl_ast_expr_free(expr);
	return value;
}

static __isl_give isl_ast_expr *arg(__isl_keep isl_ast_expr *expr, int i)
{
	return isl_ast_expr_op_get_arg(expr, i);
}

static struct affine of_call(struct emit *e, struct k_expr *call, int64_t factor, int64_t add)
{
	struct affine atom = affine_atom(e->arena, call);

	return affine_scale(e->arena, &atom, factor, add);
}

/* min(a, b, …) as nested calls; the factor, if 1 or -1, and the summand go inside. */
static struct affine affine_of_extreme(struct emit *e, __isl_keep isl_ast_expr *expr, bool is_min, int64_t factor,
				       int64_t add)
{
	bool goes_inside = factor == 1 || factor == -1;
	int64_t inner_factor = goes_inside ? factor : 1, inner_add = goes_inside ? add : 0;
	struct k_expr *call = NULL;

	if (inner_factor < 0)
		is_min = !is_min;
	for (int i = ast_n_args(expr) - 1; i >= 0; i--) {
		struct affine x = affine_of_ast(e, arg(expr, i), inner_factor, inner_add);
		struct k_expr *value = affine_expr(e->arena, &x);

		call = call ? k_call(e->arena, is_min ? "pmg_min_i64" : "pmg_max_i64", 2, value, call) : value;
	}
	return goes_inside ? affine_atom(e->arena, call) : of_call(e, call, factor, add);
}

static struct affine affine_of_quotient(struct emit *e, __isl_keep isl_ast_expr *expr, const char *function,
					int64_t factor, int64_t add)
{
	struct affine a = affine_of_ast(e, arg(expr, 0), 1, 0), b = affine_of_ast(e, arg(expr, 1), 1, 0);

	return of_call(e, k_call(e->arena, function, 2, affine_expr(e->arena, &a), affine_expr(e->arena, &b)), factor,
		       add);
}

static struct affine affine_of_choice(struct emit *e, __isl_keep isl_ast_expr *expr, int64_t factor, int64_t add)
{
	struct k_expr *condition = condition_of_ast(e, arg(expr, 0));
	struct affine a = affine_of_ast(e, arg(expr, 1), 1, 0), b = affine_of_ast(e, arg(expr, 2), 1, 0);

	return of_call(e, k_select(e->arena, condition, affine_expr(e->arena, &a), affine_expr(e->arena, &b)), factor,
		       add);
}

static struct affine affine_of_product(struct emit *e, __isl_keep isl_ast_expr *expr, int64_t factor, int64_t add)
{
	struct affine a = affine_of_ast(e, arg(expr, 0), 1, 0), b = affine_of_ast(e, arg(expr, 1), 1, 0);
	int64_t value;

	if (affine_is_constant(&a, &value))
		return affine_scale(e->arena, &b, value * factor, add);
	if (!affine_is_constant(&b, &value))
		emit_fail(e, "isl multiplies two variables");
	return affine_scale(e->arena, &a, value * factor, add);
}

static struct affine affine_of_sum(struct emit *e, __isl_keep isl_ast_expr *expr, int64_t sign, int64_t factor,
				   int64_t add)
{
	struct affine a = affine_of_ast(e, arg(expr, 0), factor, add);
	struct affine b = affine_of_ast(e, arg(expr, 1), sign * factor, 0);

	return affine_combine(e->arena, 1, &a, 1, &b);
}

static struct affine affine_of_op(struct emit *e, __isl_keep isl_ast_expr *expr, int64_t factor, int64_t add)
{
	enum isl_ast_expr_op_type op = isl_ast_expr_op_get_type(expr);

	switch ((int) op) {
	case isl_ast_expr_op_add:
		return affine_of_sum(e, expr, 1, factor, add);
	case isl_ast_expr_op_sub:
		return affine_of_sum(e, expr, -1, factor, add);
	case isl_ast_expr_op_minus:
		return affine_of_ast(e, arg(expr, 0), -factor, add);
	case isl_ast_expr_op_mul:
		return affine_of_product(e, expr, factor, add);
	case isl_ast_expr_op_min:
	case isl_ast_expr_op_max:
		return affine_of_extreme(e, expr, op == isl_ast_expr_op_min, factor, add);
	case isl_ast_expr_op_div:
	case isl_ast_expr_op_fdiv_q:
	case isl_ast_expr_op_pdiv_q:
		return affine_of_quotient(e, expr, "pmg_div", factor, add);
	case isl_ast_expr_op_pdiv_r:
	case isl_ast_expr_op_zdiv_r:
		return affine_of_quotient(e, expr, "pmg_mod", factor, add);
	case isl_ast_expr_op_cond:
	case isl_ast_expr_op_select:
		return affine_of_choice(e, expr, factor, add);
	default:
		emit_fail(e, "isl's operator %d is not a sum", (int) op);
		return affine_constant(0);
	}
}

struct affine affine_of_ast(struct emit *e, __isl_take isl_ast_expr *expr, int64_t factor, int64_t add)
{
	struct affine affine = affine_constant(0);
	isl_id *id;

	switch (isl_ast_expr_get_type(expr)) {
	case isl_ast_expr_int:
		return affine_constant(factor * value_of(expr) + add);
	case isl_ast_expr_id:
		id = isl_ast_expr_get_id(expr);
		affine = affine_of_id(e, isl_id_get_name(id));
		affine = affine_scale(e->arena, &affine, factor, add);
		isl_id_free(id);
		break;
	case isl_ast_expr_op:
		affine = affine_of_op(e, expr, factor, add);
		break;
	case isl_ast_expr_error:
		emit_fail(e, "isl made no expression");
		break;
	}
	isl_ast_expr_free(expr);
	return affine;
}

/* ---- conditions ---- */

static struct k_expr *comparison(struct emit *e, __isl_keep isl_ast_expr *expr, enum k_op op)
{
	struct affine a = affine_of_ast(e, arg(expr, 0), 1, 0), b = affine_of_ast(e, arg(expr, 1), 1, 0);

	return affine_comparison(e->arena, &a, op, &b);
}

/* Operands of the other connective stand in parentheses, as compilers ask for. */
static struct k_expr *connective(struct emit *e, __isl_keep isl_ast_expr *expr, enum k_op op)
{
	const enum k_level level = k_op_level(op);
	struct k_expr *all = NULL;

	for (int i = 0; i < ast_n_args(expr); i++) {
		struct k_expr *part = condition_of_ast(e, arg(expr, i));

		part = k_at_least(e->arena, part, k_level(part) == level ? level : K_LEVEL_EQUAL);
		all = k_join(e->arena, op, all, part);
	}
	return all;
}

/* K_OP_N: it is none. */
static enum k_op comparison_of(enum isl_ast_expr_op_type op)
{
	switch ((int) op) {
	case isl_ast_expr_op_eq: return K_EQ;
	case isl_ast_expr_op_le: return K_LE;
	case isl_ast_expr_op_lt: return K_LT;
	case isl_ast_expr_op_ge: return K_GE;
	case isl_ast_expr_op_gt: return K_GT;
	}
	return K_OP_N;
}

static struct k_expr *condition_of_op(struct emit *e, __isl_keep isl_ast_expr *expr)
{
	const enum isl_ast_expr_op_type op = isl_ast_expr_op_get_type(expr);

	if (op == isl_ast_expr_op_and || op == isl_ast_expr_op_and_then)
		return connective(e, expr, K_AND);
	if (op == isl_ast_expr_op_or || op == isl_ast_expr_op_or_else)
		return connective(e, expr, K_OR);
	if (comparison_of(op) != K_OP_N)
		return comparison(e, expr, comparison_of(op));
	emit_fail(e, "isl's operator %d is no condition", (int) op);
	return k_bool(e->arena, true);
}

struct k_expr *condition_of_ast(struct emit *e, __isl_take isl_ast_expr *expr)
{
	struct k_expr *condition;

	if (isl_ast_expr_get_type(expr) == isl_ast_expr_int)
		return k_bool(e->arena, value_of(expr) != 0);
	condition = condition_of_op(e, expr);
	isl_ast_expr_free(expr);
	return condition;
}

static void facts_of_comparison(struct emit *e, __isl_keep isl_ast_expr *expr, enum k_op op)
{
	struct affine a = affine_of_ast(e, arg(expr, 0), 1, 0), b = affine_of_ast(e, arg(expr, 1), 1, 0);

	fact_compare(e, &a, op, &b);
}

bool facts_of_ast(struct emit *e, __isl_take isl_ast_expr *expr)
{
	bool is_said = true;
	enum isl_ast_expr_op_type op = isl_ast_expr_get_type(expr) == isl_ast_expr_op ? isl_ast_expr_op_get_type(expr)
										      : isl_ast_expr_op_error;

	if (op == isl_ast_expr_op_and || op == isl_ast_expr_op_and_then)
		for (int i = 0; i < ast_n_args(expr); i++)
			is_said = facts_of_ast(e, arg(expr, i)) && is_said;
	else if (comparison_of(op) != K_OP_N)
		facts_of_comparison(e, expr, comparison_of(op));
	else
		is_said = false;
	isl_ast_expr_free(expr);
	return is_said;
}
