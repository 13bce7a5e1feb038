/* SPDX-License-Identifier: MIT
 *
 * stencil(f[i, j], weights, factor): the weighted sum of f around (i, j), the middle of the weights on the
 * point itself, over the last subscripts of f. Weights of 0 are left out, weights of 1 are not multiplied. */
#include "sema/sema_private.h"

struct stencil {
	const struct context *ctx;
	struct span span;
	struct target *target;
	struct expr **subs;
	struct weights weights;
};

static struct expr *report(const struct context *ctx, struct span span, const char *problem)
{
	diag_error(ctx->sema->diags, DIAG_BAD_STENCIL, span, "%s", problem);
	return NULL;
}

static bool check_weights(const struct stencil *stencil, struct span span)
{
	if (stencil->weights.rank > stencil->target->array->rank)
		return report(stencil->ctx, span, "the weights have more dimensions than the array");
	for (int i = 0; i < stencil->weights.rank; i++)
		if (stencil->weights.extents[i] % 2 == 0)
			return report(stencil->ctx, span, "a stencil is centred: its extents must be odd");
	return true;
}

/* How far weight `number` is from the middle along dimension `dim` of the weights. */
static int64_t shift_of(const struct weights *weights, int64_t number, int dim)
{
	for (int i = weights->rank - 1; i > dim; i--)
		number /= weights->extents[i];
	return number % weights->extents[dim] - weights->extents[dim] / 2;
}

static struct expr *shifted(const struct stencil *stencil, struct expr *sub, int64_t shift)
{
	struct sema *sema = stencil->ctx->sema;

	if (shift == 0)
		return sub;
	return value_binary(sema, shift < 0 ? OP_SUB : OP_ADD, sub,
			    value_int(sema, shift < 0 ? -shift : shift, stencil->span), stencil->span);
}

static struct expr *read_shifted(const struct stencil *stencil, int64_t number)
{
	int rank = stencil->target->array->rank;
	int first = rank - stencil->weights.rank;
	struct expr **subs = arena_new_array(stencil->ctx->sema->arena, struct expr *, rank);

	for (int i = 0; i < rank; i++)
		subs[i] = i < first ? stencil->subs[i]
				    : shifted(stencil, stencil->subs[i],
					      shift_of(&stencil->weights, number, i - first));
	return read_array(stencil->ctx, stencil->target, subs, stencil->span);
}

static bool is_number(const struct expr *value, int64_t integer)
{
	return value->kind == EXPR_INT ? value->integer == integer
				       : value->real >= (double) integer && value->real <= (double) integer;
}

static struct expr *weighted(const struct stencil *stencil, int number)
{
	struct expr *weight = stencil->weights.values.items[number];
	struct expr *value = read_shifted(stencil, number);

	if (is_number(weight, 1))
		return value;
	return value_binary(stencil->ctx->sema, OP_MUL, weight, value, stencil->span);
}

static struct expr *weighted_sum(const struct stencil *stencil)
{
	struct sema *sema = stencil->ctx->sema;
	struct expr *sum = NULL;

	for (int i = 0; i < stencil->weights.values.n; i++) {
		if (is_number(stencil->weights.values.items[i], 0))
			continue;
		sum = sum ? value_binary(sema, OP_ADD, sum, weighted(stencil, i), stencil->span)
			  : weighted(stencil, i);
		if (!sum)
			return NULL;
	}
	return sum ? sum : value_int(sema, 0, stencil->span);
}

static bool find_centre(struct stencil *stencil, const struct tree_expr *centre)
{
	const struct context *ctx = stencil->ctx;
	struct symbol *symbol;

	if (centre->kind != TREE_INDEX)
		return report(ctx, centre->span,
			      "a stencil is taken around an element, as in stencil(f[i, j], W)");
	symbol = scope_resolve(ctx->sema, ctx->scope, &centre->name, USE_ELEMENT);
	if (!symbol || symbol->kind == SYMBOL_BROKEN)
		return false;
	if (symbol->kind != SYMBOL_ARRAY)
		return report(ctx, centre->span, "a stencil is taken around an element of an array");
	stencil->target = symbol->target;
	return lower_subs(ctx, symbol, centre, &stencil->subs);
}

struct expr *lower_stencil(const struct context *ctx, const struct tree_expr *call)
{
	struct stencil stencil = { .ctx = ctx, .span = call->span };
	const struct tree_expr *weights = call->args.items[1];
	struct expr *sum;

	if (!find_centre(&stencil, call->args.items[0]) || !const_weights(ctx, weights, &stencil.weights) ||
	    !check_weights(&stencil, weights->span))
		return NULL;
	sum = weighted_sum(&stencil);
	if (call->args.n == 2 || !sum)
		return sum;
	return value_binary(ctx->sema, OP_MUL, lower_value(ctx, call->args.items[2]), sum, call->span);
}
