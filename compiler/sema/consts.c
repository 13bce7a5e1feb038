/* SPDX-License-Identifier: MIT
 *
 * Constants of the file: numbers, conditions and lists of weights, evaluated when first used and checked all.
 * A number stays a literal: it takes the type of what it is used with. */
#include "sema/sema_private.h"

void consts_declare(struct sema *sema)
{
	for (int i = 0; i < sema->file->consts.n; i++) {
		const struct tree_const *constant = &sema->file->consts.items[i];
		struct symbol *symbol = scope_declare(sema, sema->consts, SYMBOL_CONST, constant->name.name,
						      constant->name.span);

		symbol->constant = constant;
		symbol->is_used = true;
	}
}

static struct expr *evaluate(struct sema *sema, const struct tree_expr *expr)
{
	struct context ctx = { .sema = sema, .scope = sema->consts, .purpose = PURPOSE_CONST };
	struct expr *value = lower_value(&ctx, expr);

	if (value && !value_is_literal(value->kind == EXPR_CAST ? value->args[0] : value) && value->kind != EXPR_BOOL) {
		diag_error(sema->diags, DIAG_NOT_CONSTANT, expr->span, "this is not a constant");
		return NULL;
	}
	return value;
}

static struct expr *report_cycle(struct sema *sema, struct symbol *symbol)
{
	struct diag *diag = diag_error(sema->diags, DIAG_CYCLIC, symbol->span,
				       "the constant '%s' is defined by itself", symbol->name);

	diag_help(sema->diags, diag, (struct span) { 0 },
		  "a constant is made of numbers, and of constants that do not need it");
	symbol->kind = SYMBOL_BROKEN;
	return NULL;
}

struct expr *const_value(struct sema *sema, struct symbol *symbol, struct span span)
{
	struct expr *copy;

	if (symbol->constant->value->kind == TREE_LIST) {
		struct diag *diag =
			diag_error(sema->diags, DIAG_NOT_A_VALUE, span, "'%s' is a list", symbol->name);

		diag_help(sema->diags, diag, (struct span) { 0 },
			  "a list stands only as the weights of a stencil");
		return NULL;
	}
	if (symbol->is_open)
		return report_cycle(sema, symbol);
	symbol->is_open = true;
	if (!symbol->value)
		symbol->value = evaluate(sema, symbol->constant->value);
	symbol->is_open = false;
	if (!symbol->value) {
		symbol->kind = SYMBOL_BROKEN;
		return NULL;
	}
	copy = arena_new(sema->arena, struct expr);
	*copy = *symbol->value;
	copy->span = span;
	return copy;
}

bool const_integer(struct sema *sema, const struct tree_expr *expr, const char *what, int64_t *integer)
{
	struct expr *value = evaluate(sema, expr);

	if (value && value->kind != EXPR_INT)
		diag_error(sema->diags, DIAG_NOT_INTEGER, expr->span, "%s must be an integer", what);
	if (!value || value->kind != EXPR_INT)
		return false;
	*integer = value->integer;
	return true;
}

/* ---- lists ---- */

static bool report_list(const struct context *ctx, const struct tree_expr *expr, const char *problem)
{
	diag_error(ctx->sema->diags, DIAG_BAD_STENCIL, expr->span, "%s", problem);
	return false;
}

static bool add_list(const struct context *ctx, const struct tree_expr *expr, int depth,
		     struct weights *weights)
{
	struct expr *value;

	if (expr->kind != TREE_LIST) {
		if (depth != weights->rank)
			return report_list(ctx, expr, "rows of a list must all be lists");
		value = evaluate(ctx->sema, expr);
		if (value && !value_is_literal(value))
			return report_list(ctx, expr, "a weight must be a number");
		if (value)
			vec_push(ctx->sema->arena, &weights->values, value);
		return value != NULL;
	}
	if (depth == weights->rank || weights->extents[depth] != expr->args.n)
		return report_list(ctx, expr, "rows of a list must have the same length");
	for (int i = 0; i < expr->args.n; i++)
		if (!add_list(ctx, expr->args.items[i], depth + 1, weights))
			return false;
	return true;
}

/* The list that `expr` is or names. */
static const struct tree_expr *find_list(const struct context *ctx, const struct tree_expr *expr)
{
	struct symbol *symbol;

	if (expr->kind == TREE_LIST)
		return expr;
	if (expr->kind != TREE_NAME) {
		report_list(ctx, expr, "the weights of a stencil are a list of constants");
		return NULL;
	}
	symbol = scope_resolve(ctx->sema, ctx->scope, &expr->name, USE_SUBJECT);
	if (!symbol || symbol->kind == SYMBOL_BROKEN)
		return NULL;
	if (symbol->kind != SYMBOL_CONST || symbol->constant->value->kind != TREE_LIST) {
		report_list(ctx, expr, "the weights of a stencil are a list of constants");
		return NULL;
	}
	return symbol->constant->value;
}

bool const_weights(const struct context *ctx, const struct tree_expr *expr, struct weights *weights)
{
	const struct tree_expr *list = find_list(ctx, expr);

	for (const struct tree_expr *row = list; row && row->kind == TREE_LIST; row = row->args.items[0]) {
		if (row->args.n == 0)
			return report_list(ctx, expr, "a list of weights may not be empty");
		if (weights->rank == ARRAY_MAX_RANK)
			return report_list(ctx, expr, "a list of weights has at most 8 dimensions");
		weights->extents[weights->rank++] = row->args.n;
	}
	return list && add_list(ctx, list, 0, weights);
}
