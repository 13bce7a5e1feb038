/* SPDX-License-Identifier: MIT
 *
 * Expressions: constructors, questions, and the reads of a stage. */
#include <string.h>

#include "ir/module.h"

int op_arity(enum expr_op op)
{
	static const int arities[] = {
#define OP(id, text, c_text, arity, precedence) arity,
#include "ir/ops.def"
#undef OP
	};

	return arities[op];
}

static int n_args(const struct expr *expr)
{
	if (expr->kind == EXPR_CAST)
		return 1;
	return expr->kind == EXPR_OP ? op_arity(expr->op) : 0;
}

/* ---- constructors ---- */

static struct expr *expr_new(struct arena *arena, enum expr_kind kind, enum scalar_type type, struct span span)
{
	struct expr *expr = arena_new(arena, struct expr);

	expr->kind = kind;
	expr->type = type;
	expr->span = span;
	return expr;
}

struct expr *expr_int(struct arena *arena, int64_t value, struct span span)
{
	struct expr *expr = expr_new(arena, EXPR_INT, TYPE_I64, span);

	expr->integer = value;
	return expr;
}

struct expr *expr_float(struct arena *arena, double value, enum scalar_type type, struct span span)
{
	struct expr *expr = expr_new(arena, EXPR_FLOAT, type, span);

	expr->real = value;
	return expr;
}

struct expr *expr_dim(struct arena *arena, int dim, struct span span)
{
	struct expr *expr = expr_new(arena, EXPR_DIM, TYPE_I64, span);

	expr->index = dim;
	return expr;
}

struct expr *expr_param(struct arena *arena, const struct module *module, int param, struct span span)
{
	struct expr *expr = expr_new(arena, EXPR_PARAM, module->params.items[param].type, span);

	expr->index = param;
	return expr;
}

struct expr *expr_read(struct arena *arena, struct array *array, struct expr **subs, struct span span)
{
	struct expr *expr = expr_new(arena, EXPR_READ, array->type, span);

	expr->access = (struct access) { array, subs, span };
	return expr;
}

struct expr *expr_call(struct arena *arena, enum expr_op op, enum scalar_type type, struct expr **args, struct span span)
{
	struct expr *expr = expr_new(arena, EXPR_OP, type, span);

	expr->op = op;
	expr->args = args;
	return expr;
}

struct expr *expr_unary(struct arena *arena, enum expr_op op, enum scalar_type type, struct expr *arg)
{
	struct expr **args = arena_new_array(arena, struct expr *, 1);

	args[0] = arg;
	return expr_call(arena, op, type, args, arg->span);
}

struct expr *expr_binary(struct arena *arena, enum expr_op op, enum scalar_type type, struct expr *a, struct expr *b)
{
	struct expr **args = arena_new_array(arena, struct expr *, 2);

	args[0] = a;
	args[1] = b;
	return expr_call(arena, op, type, args, span_join(a->span, b->span));
}

struct expr *expr_cast(struct arena *arena, enum scalar_type type, struct expr *arg)
{
	struct expr *expr = expr_new(arena, EXPR_CAST, type, arg->span);

	expr->args = arena_new_array(arena, struct expr *, 1);
	expr->args[0] = arg;
	return expr;
}

/* ---- questions ---- */

static bool access_equal(const struct access *a, const struct access *b)
{
	if (a->array != b->array)
		return false;
	for (int i = 0; i < a->array->rank; i++)
		if (a->array->role != ROLE_LOCAL && !expr_equal(a->subs[i], b->subs[i]))
			return false;
	return true;
}

bool expr_equal(const struct expr *a, const struct expr *b)
{
	if (a->kind != b->kind || a->type != b->type || a->integer != b->integer || a->index != b->index)
		return false;
	if (memcmp(&a->real, &b->real, sizeof a->real) || (a->kind == EXPR_OP && a->op != b->op))
		return false;
	if (a->kind == EXPR_READ)
		return access_equal(&a->access, &b->access);
	for (int i = 0; i < n_args(a); i++)
		if (!expr_equal(a->args[i], b->args[i]))
			return false;
	return true;
}

bool expr_is_constant(const struct expr *expr, int64_t *value)
{
	int64_t inner;

	if (expr->kind == EXPR_INT) {
		*value = expr->integer;
		return true;
	}
	if (expr->kind != EXPR_OP || expr->op != OP_NEG || !expr_is_constant(expr->args[0], &inner) || inner == INT64_MIN)
		return false;
	*value = -inner;
	return true;
}

static bool is_positive_constant(const struct expr *expr)
{
	int64_t value;

	return expr_is_constant(expr, &value) && value > 0;
}

static bool operation_is_affine(const struct expr *expr)
{
	int64_t value;

	if (expr->op == OP_NEG)
		return expr_is_affine(expr->args[0]);
	if (op_arity(expr->op) != 2 || !expr_is_affine(expr->args[0]) || !expr_is_affine(expr->args[1]))
		return false;
	if (expr->op == OP_MUL)
		return expr_is_constant(expr->args[0], &value) || expr_is_constant(expr->args[1], &value);
	if (expr->op == OP_DIV || expr->op == OP_MOD)
		return is_positive_constant(expr->args[1]);
	return expr->op == OP_ADD || expr->op == OP_SUB || expr->op == OP_MIN || expr->op == OP_MAX;
}

bool expr_is_affine(const struct expr *expr)
{
	if (expr->kind == EXPR_OP)
		return operation_is_affine(expr);
	return expr->type == TYPE_I64 && (expr->kind == EXPR_INT || expr->kind == EXPR_DIM || expr->kind == EXPR_PARAM);
}

bool expr_is_affine_condition(const struct expr *expr)
{
	if (expr->kind == EXPR_BOOL)
		return true;
	if (expr->kind != EXPR_OP)
		return false;
	if (expr->op == OP_NOT)
		return expr_is_affine_condition(expr->args[0]);
	if (expr->op == OP_AND || expr->op == OP_OR)
		return expr_is_affine_condition(expr->args[0]) && expr_is_affine_condition(expr->args[1]);
	return expr->op >= OP_EQ && expr->op <= OP_GE && expr_is_affine(expr->args[0]) && expr_is_affine(expr->args[1]);
}

int expr_last_dim(const struct expr *expr)
{
	int last = expr->kind == EXPR_DIM ? expr->index : -1;

	for (int i = 0; i < n_args(expr); i++) {
		int of_arg = expr_last_dim(expr->args[i]);

		last = of_arg > last ? of_arg : last;
	}
	for (int i = 0; expr->kind == EXPR_READ && expr->access.array->role != ROLE_LOCAL &&
	     i < expr->access.array->rank; i++) {
		int of_sub = expr_last_dim(expr->access.subs[i]);

		last = of_sub > last ? of_sub : last;
	}
	return last;
}

/* ---- substitution and reads ---- */

static struct expr **substitute_all(struct arena *arena, struct expr **exprs, int n, struct expr *const *dims)
{
	struct expr **copies = arena_new_array(arena, struct expr *, n + 1);

	for (int i = 0; i < n; i++)
		copies[i] = expr_substitute(arena, exprs[i], dims);
	return copies;
}

struct expr *expr_substitute(struct arena *arena, struct expr *expr, struct expr *const *dims)
{
	struct expr *copy;

	if (expr->kind == EXPR_DIM)
		return dims[expr->index] ? dims[expr->index] : expr;
	copy = arena_new(arena, struct expr);
	*copy = *expr;
	if (expr->kind == EXPR_READ && expr->access.array->role != ROLE_LOCAL)
		copy->access.subs = substitute_all(arena, expr->access.subs, expr->access.array->rank, dims);
	if (n_args(expr))
		copy->args = substitute_all(arena, expr->args, n_args(expr), dims);
	return copy;
}

void expr_reads(struct expr *expr, void (*visit)(struct access *access, void *user), void *user)
{
	if (expr->kind == EXPR_READ)
		visit(&expr->access, user);
	for (int i = 0; i < n_args(expr); i++)
		expr_reads(expr->args[i], visit, user);
}

void stage_reads(struct stage *stage, void (*visit)(struct access *access, void *user), void *user)
{
	expr_reads(stage->value, visit, user);
	for (int i = 0; i < stage->dims.n; i++)
		if (stage->dims.items[i].kind != DIM_RANGE)
			visit(&stage->dims.items[i].source, user);
}
