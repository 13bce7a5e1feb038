/* SPDX-License-Identifier: MIT
 *
 * Shapes: boxes of subscripts whose bounds are affine in the parameters. In a whole-array expression all
 * arrays have one shape, or are scalars; a function over 1..n-1 does not fit an array over 0..n. */
#include "sema/sema_private.h"

struct shape shape_of_array(const struct array *array)
{
	return (struct shape) { array->rank, array->lo, array->hi };
}

bool shape_equal(const struct sema *sema, const struct shape *a, const struct shape *b)
{
	if (a->rank != b->rank)
		return false;
	for (int i = 0; i < a->rank; i++)
		if (!affine_equal(sema->arena, a->lo[i], b->lo[i]) ||
		    !affine_equal(sema->arena, a->hi[i], b->hi[i]))
			return false;
	return true;
}

/* "[nVoxels, 1..n - 1]" */
const char *shape_text(const struct sema *sema, const struct shape *shape)
{
	struct str text = str_new(sema->arena);

	str_add(&text, "[");
	for (int i = 0; i < shape->rank; i++) {
		const char *lo = affine_text(sema, shape->lo[i]);

		str_add(&text, "%s", i ? ", " : "");
		if (lo[0] != '0' || lo[1])
			str_add(&text, "%s..", lo);
		str_add(&text, "%s", affine_text(sema, shape->hi[i]));
	}
	str_add(&text, "]");
	return str_text(&text);
}

/* ---- of expressions ---- */

bool report_shapes(const struct context *ctx, struct span span, const struct shape *a, const struct shape *b,
		   const char *help)
{
	struct diag *diag = diag_error(ctx->sema->diags, DIAG_SHAPE_MISMATCH, span, "shapes differ: %s and %s",
				       shape_text(ctx->sema, a), shape_text(ctx->sema, b));

	diag_help(ctx->sema->diags, diag, (struct span) { 0 }, "%s", help);
	return false;
}

/* A product that is none element by element: of matrices, or of a matrix and a vector? */
static bool is_matrix_product(const struct tree_expr *expr, const struct shape *a, const struct shape *b)
{
	return expr->kind == TREE_BINARY && expr->op == TREE_OP_MUL && a->rank <= 2 && b->rank <= 2 &&
	       a->rank + b->rank >= 3;
}

/* `shape` becomes the shape of both; a scalar fits everything. */
static bool join_shapes(const struct context *ctx, const struct tree_expr *expr, struct shape *shape,
			const struct shape *other)
{
	if (other->rank == 0)
		return true;
	if (shape->rank != 0 && !shape_equal(ctx->sema, shape, other))
		return report_shapes(ctx, expr->span, shape, other,
				     is_matrix_product(expr, shape, other)
				     ? "'*' is taken element by element; the product of matrices and vectors is "
				       "matmul(P, v)"
				     : "whole arrays of one shape go together; with others, subscripts and ranges say "
				       "which elements do, as in u[i] = v[i] + P[i, 0] for i in 0..n;");
	*shape = *other;
	return true;
}

static bool shape_of_args(const struct context *ctx, const struct tree_expr *expr, struct shape *shape)
{
	for (int i = 0; i < expr->args.n; i++) {
		struct shape arg = { 0 };

		if (!shape_of(ctx, expr->args.items[i], &arg) || !join_shapes(ctx, expr, shape, &arg))
			return false;
	}
	return true;
}

static bool shape_of_target(const struct context *ctx, const struct target *target, struct span span,
			    struct shape *shape)
{
	struct diag *diag;

	*shape = shape_of_array(target->array);
	if (target->is_box)
		return true;
	diag = diag_error(ctx->sema->diags, DIAG_NOT_A_BOX, span,
			  "the domain of '%s' is not a box, so it cannot stand as a whole",
			  target->array->name);
	label_declaration(ctx->sema, diag, target->symbol);
	return false;
}

static bool shape_of_name(const struct context *ctx, const struct tree_expr *expr, struct shape *shape)
{
	struct symbol *symbol = scope_find(ctx->scope, name_text(ctx->sema->arena, &expr->name));

	if (symbol && symbol->kind == SYMBOL_ARRAY)
		return shape_of_target(ctx, symbol->target, expr->span, shape);
	return !symbol || symbol->kind != SYMBOL_BROKEN || symbol->is_open;
}

static bool report_inner(const struct context *ctx, const struct tree_expr *call, const struct shape *args,
			 const struct shape *inner)
{
	struct sema *sema = ctx->sema;

	diag_error(sema->diags, DIAG_SHAPE_MISMATCH, call->span,
		   "matmul of %s and %s: the last dimension of the first, %s, is not the first of the second, %s",
		   shape_text(sema, &args[0]), shape_text(sema, &args[1]), shape_text(sema, &inner[0]),
		   shape_text(sema, &inner[1]));
	return false;
}

/* Inner extents agree; vectors are rows on the left and columns on the right. */
bool shape_of_matmul(const struct context *ctx, const struct tree_expr *call, struct shape args[2],
		     struct shape *result)
{
	struct arena *arena = ctx->sema->arena;
	struct shape inner[2];

	for (int i = 0; i < 2; i++) {
		args[i] = (struct shape) { 0 };
		if (!shape_of(ctx, call->args.items[i], &args[i]))
			return false;
	}
	if (args[0].rank < 1 || args[0].rank > 2 || args[1].rank < 1 || args[1].rank > 2 ||
	    args[0].rank + args[1].rank < 3) {
		diag_error(ctx->sema->diags, DIAG_WRONG_RANK, call->span,
			   "matmul needs two matrices, or a matrix and a vector");
		return false;
	}
	inner[0] = (struct shape) { 1, args[0].lo + args[0].rank - 1, args[0].hi + args[0].rank - 1 };
	inner[1] = (struct shape) { 1, args[1].lo, args[1].hi };
	if (!shape_equal(ctx->sema, &inner[0], &inner[1]))
		return report_inner(ctx, call, args, inner);
	result->lo = arena_new_array(arena, struct expr *, 2);
	result->hi = arena_new_array(arena, struct expr *, 2);
	for (int i = 0; i < 2; i++)
		if (args[i].rank == 2) {
			result->lo[result->rank] = args[i].lo[i];
			result->hi[result->rank++] = args[i].hi[i];
		}
	return true;
}

static bool shape_of_transpose(const struct context *ctx, const struct tree_expr *call, struct shape *shape)
{
	struct shape arg = { 0 };

	if (call->args.n != 1 || !shape_of(ctx, call->args.items[0], &arg))
		return call->args.n != 1;
	if (arg.rank != 2) {
		diag_error(ctx->sema->diags, DIAG_WRONG_RANK, call->span, "transpose needs a matrix");
		return false;
	}
	shape->rank = 2;
	shape->lo = arena_new_array(ctx->sema->arena, struct expr *, 2);
	shape->hi = arena_new_array(ctx->sema->arena, struct expr *, 2);
	for (int i = 0; i < 2; i++) {
		shape->lo[i] = arg.lo[1 - i];
		shape->hi[i] = arg.hi[1 - i];
	}
	return true;
}

static bool shape_of_result(const struct context *ctx, const struct tree_expr *call, struct shape *shape)
{
	struct symbol *symbol = construct_result(ctx, call);

	if (symbol)
		*shape = shape_of_array(symbol->target->array);
	return symbol != NULL;
}

static bool shape_of_call(const struct context *ctx, const struct tree_expr *call, struct shape *shape)
{
	const struct function *function = function_find(call->name.name);
	struct shape args[2];

	if (!function)
		return !construct_find(call->name.name) || shape_of_result(ctx, call, shape);
	switch (function->kind) {
	case FUNCTION_WHOLE:
	case FUNCTION_STENCIL:
		return true;
	case FUNCTION_MATMUL:
		return call->args.n != 2 || shape_of_matmul(ctx, call, args, shape);
	case FUNCTION_TRANSPOSE:
		return shape_of_transpose(ctx, call, shape);
	case FUNCTION_REAL:
	case FUNCTION_NUMBER:
	case FUNCTION_MIN_MAX:
	case FUNCTION_SELECT:
		break;
	}
	return shape_of_args(ctx, call, shape);
}

bool shape_of(const struct context *ctx, const struct tree_expr *expr, struct shape *shape)
{
	switch (expr->kind) {
	case TREE_NAME:
		return shape_of_name(ctx, expr, shape);
	case TREE_CALL:
		return shape_of_call(ctx, expr, shape);
	case TREE_CAST:
	case TREE_UNARY:
	case TREE_BINARY:
	case TREE_REDUCE:
		return shape_of_args(ctx, expr, shape);
	case TREE_INT:
	case TREE_FLOAT:
	case TREE_BOOL:
	case TREE_LIST:
	case TREE_INDEX:
	case TREE_CASE:
		break;
	}
	return true;
}

/* ---- extremes over the values of slots ---- */

struct interval {
	const struct sema *sema;
	const struct draft *draft;
	struct expr *least, *greatest;
};

static struct expr *combine(const struct sema *sema, enum expr_op op, struct expr *a, struct expr *b)
{
	return affine_normal(sema->arena, expr_binary(sema->arena, op, TYPE_I64, a, b));
}

static bool interval_of_slot(struct interval *i, const struct dim *dim)
{
	const struct array *array = dim->source.array;
	struct expr *unused;

	if (dim->kind == DIM_RANGE) {
		if (!interval_of(i->sema, i->draft, dim->lo, &i->least, &unused) ||
		    !interval_of(i->sema, i->draft, dim->hi, &unused, &i->greatest))
			return false;
		i->greatest = affine_plus(i->sema->arena, i->greatest, -1);
		return true;
	}
	i->least = expr_int(i->sema->arena, dim->kind == DIM_BIND && array->facts & FACT_TREE ? -1 : 0,
			    dim->span);
	if (dim->kind == DIM_CHILDREN)
		i->greatest = affine_plus(i->sema->arena, array->hi[0], -1);
	else
		i->greatest = affine_plus(i->sema->arena, array->limit, array->facts & FACT_OFFSETS ? 0 : -1);
	return true;
}

static bool interval_of_param(struct interval *i, struct expr *expr)
{
	const struct module *module = i->sema->module;

	i->least = i->greatest = expr;
	if (!module->params.items[expr->index].is_loop)
		return true;
	i->least = module->loop.lo;
	i->greatest = affine_plus(i->sema->arena, module->loop.hi, -1);
	return true;
}

static bool interval_of_product(struct interval *i, const struct expr *expr, const struct interval *a,
				const struct interval *b)
{
	int64_t factor;
	const struct interval *scaled = b;

	if (!expr_is_constant(expr->args[0], &factor)) {
		if (!expr_is_constant(expr->args[1], &factor))
			return false;
		scaled = a;
	}
	i->least = affine_sum(i->sema->arena, expr_int(i->sema->arena, 0, expr->span),
			      factor < 0 ? scaled->greatest : scaled->least, factor);
	i->greatest = affine_sum(i->sema->arena, expr_int(i->sema->arena, 0, expr->span),
				 factor < 0 ? scaled->least : scaled->greatest, factor);
	return true;
}

static bool interval_of_operation(struct interval *i, const struct expr *expr)
{
	struct interval a = *i, b = *i;
	int64_t constant;

	if (!interval_of(i->sema, i->draft, expr->args[0], &a.least, &a.greatest))
		return false;
	if (expr->op == OP_NEG) {
		i->least = affine_normal(i->sema->arena,
					 expr_unary(i->sema->arena, OP_NEG, TYPE_I64, a.greatest));
		i->greatest =
			affine_normal(i->sema->arena, expr_unary(i->sema->arena, OP_NEG, TYPE_I64, a.least));
		return true;
	}
	if (!interval_of(i->sema, i->draft, expr->args[1], &b.least, &b.greatest))
		return false;
	if (expr->op == OP_MUL)
		return interval_of_product(i, expr, &a, &b);
	if (expr->op == OP_MOD && expr_is_constant(expr->args[1], &constant)) {
		i->least = expr_int(i->sema->arena, 0, expr->span);
		i->greatest = expr_int(i->sema->arena, constant - 1, expr->span);
		return true;
	}
	i->least = combine(i->sema, expr->op, a.least, expr->op == OP_SUB ? b.greatest : b.least);
	i->greatest = combine(i->sema, expr->op, a.greatest, expr->op == OP_SUB ? b.least : b.greatest);
	return true;
}

bool interval_of(const struct sema *sema, const struct draft *draft, struct expr *expr, struct expr **least,
		 struct expr **greatest)
{
	struct interval i = { .sema = sema, .draft = draft, .least = expr, .greatest = expr };
	bool ok = true;

	if (expr->kind == EXPR_DIM)
		ok = interval_of_slot(&i, &draft->slots.items[expr->index].dim);
	else if (expr->kind == EXPR_PARAM)
		ok = interval_of_param(&i, expr);
	else if (expr->kind == EXPR_OP)
		ok = interval_of_operation(&i, expr);
	*least = i.least;
	*greatest = i.greatest;
	return ok;
}

bool shape_of_draft(const struct sema *sema, const struct draft *draft, struct shape *shape)
{
	bool ok = true;

	*shape = (struct shape) { 0, arena_new_array(sema->arena, struct expr *, draft->slots.n + 1),
				  arena_new_array(sema->arena, struct expr *, draft->slots.n + 1) };
	for (int i = 0; i < draft->slots.n; i++) {
		const struct slot *slot = &draft->slots.items[i];
		struct expr *dim = expr_dim(sema->arena, i, slot->dim.span), *greatest = NULL;

		if (!slot->is_common)
			continue;
		ok = interval_of(sema, draft, dim, &shape->lo[shape->rank], &greatest) && ok;
		if (ok)
			shape->hi[shape->rank++] = affine_plus(sema->arena, greatest, 1);
	}
	return ok;
}
