/* SPDX-License-Identifier: MIT
 *
 * Expressions, one value at a time. What a name means depends on the purpose (a value, a subscript, a
 * condition, a size); an array without subscripts stands for its element at ctx->point. */
#include "sema/sema_private.h"

#include <math.h>
#include <string.h>

enum expr_op op_of_tree(enum tree_op op)
{
	static const enum expr_op ops[TREE_OP_N] = {
#define TREE_OP(id, text, arity, precedence) [TREE_OP_##id] = OP_##id,
#include "syntax/operators.def"
#undef TREE_OP
	};
	return ops[op];
}

struct expr *lower_value_at(const struct context *ctx, const struct tree_expr *expr,
			    const struct point *point)
{
	struct context inner = *ctx;

	inner.point = point;
	return lower_value(&inner, expr);
}

/* ---- names ---- */

static struct expr *report_no_value(const struct context *ctx, struct symbol *symbol, struct span span)
{
	struct diag *diag;

	if (!misuse_is_news(ctx->sema, symbol))
		return NULL;
	diag = diag_error(ctx->sema->diags, DIAG_NOT_A_VALUE, span, "'%s' is %s and has no value", symbol->name,
			  symbol_what(symbol));
	label_declaration(ctx->sema, diag, symbol);
	if (symbol->kind == SYMBOL_OBJECT)
		diag_help(ctx->sema->diags, diag, (struct span) { 0 },
			  "pass it to a construct, or read a member: %s.name[...]", symbol->name);
	return NULL;
}

struct expr *read_at_point(const struct context *ctx, struct target *target, struct span span)
{
	struct expr **subs = arena_new_array(ctx->sema->arena, struct expr *, ctx->point->rank + 1);

	for (int i = 0; i < ctx->point->rank; i++)
		subs[i] = ctx->point->at[i];
	return read_array(ctx, target, subs, span);
}

static struct expr *lower_whole_name(const struct context *ctx, struct symbol *symbol, struct span span)
{
	struct target *target = symbol->target;
	int rank = target->array->rank;
	struct diag *diag;

	if (rank == 0)
		return read_array(ctx, target, NULL, span);
	if (ctx->point && ctx->point->rank == rank)
		return read_at_point(ctx, target, span);
	if (!misuse_is_news(ctx->sema, symbol))
		return NULL;
	diag = diag_error(ctx->sema->diags, DIAG_WRONG_RANK, span,
			  "'%s' has %d dimension%s, here one value is needed", symbol->name, rank,
			  rank == 1 ? "" : "s");
	label_declaration(ctx->sema, diag, symbol);
	help_subscripts(ctx->sema, diag, target->array);
	return NULL;
}

static struct expr *lower_param(const struct context *ctx, const struct symbol *symbol, struct span span)
{
	const struct param *param = &ctx->sema->module->params.items[symbol->param];

	if (ctx->purpose == PURPOSE_SIZE && param->is_loop) {
		diag_error(ctx->sema->diags, DIAG_NOT_CONSTANT, span,
			   "a size cannot depend on '%s', which changes", symbol->name);
		return NULL;
	}
	return expr_param(ctx->sema->arena, ctx->sema->module, symbol->param, span);
}

static struct expr *lower_alias(const struct context *ctx, const struct symbol *symbol)
{
	struct context inner = *ctx;

	inner.scope = symbol->scope;
	inner.point = NULL;
	return lower_value(&inner, symbol->expr);
}

static struct expr *lower_symbol(const struct context *ctx, struct symbol *symbol, struct span span)
{
	switch (symbol->kind) {
	case SYMBOL_CONST:
		return const_value(ctx->sema, symbol, span);
	case SYMBOL_PARAM:
		return lower_param(ctx, symbol, span);
	case SYMBOL_ARRAY:
		return lower_whole_name(ctx, symbol, span);
	case SYMBOL_VARIABLE:
		return expr_dim(ctx->sema->arena, symbol->slot, span);
	case SYMBOL_ALIAS:
		return lower_alias(ctx, symbol);
	case SYMBOL_OBJECT:
		return report_no_value(ctx, symbol, span);
	case SYMBOL_BROKEN:
		break;
	}
	return NULL;
}

static struct expr *lower_name(const struct context *ctx, const struct tree_expr *expr)
{
	enum name_use use = ctx->purpose == PURPOSE_SUBSCRIPT	? USE_SUBSCRIPT
			    : ctx->purpose == PURPOSE_CONDITION ? USE_CONDITION
								: USE_VALUE;
	struct symbol *symbol;

	if (!expr->name.member && strcmp(expr->name.name, "inf") == 0)
		return value_float(ctx->sema, INFINITY, TYPE_F64, expr->span);
	symbol = scope_resolve(ctx->sema, ctx->scope, &expr->name, use);
	return symbol ? lower_symbol(ctx, symbol, expr->span) : NULL;
}

static struct expr *lower_element(const struct context *ctx, const struct tree_expr *expr)
{
	struct symbol *symbol = scope_resolve(ctx->sema, ctx->scope, &expr->name, USE_ELEMENT);
	struct expr **subs;
	struct diag *diag;

	if (!symbol || symbol->kind == SYMBOL_BROKEN)
		return NULL;
	if (symbol->kind == SYMBOL_ARRAY)
		return lower_subs(ctx, symbol, expr, &subs)
			       ? read_array(ctx, symbol->target, subs, expr->span)
			       : NULL;
	if (!misuse_is_news(ctx->sema, symbol))
		return NULL;
	diag = diag_error(ctx->sema->diags, DIAG_WRONG_RANK, expr->span, "'%s' is %s and has no subscripts",
			  symbol->name, symbol_what(symbol));
	label_declaration(ctx->sema, diag, symbol);
	if (symbol->kind == SYMBOL_OBJECT)
		help_members(ctx->sema, diag, ctx->scope, symbol->name);
	else
		diag_help(ctx->sema->diags, diag, (struct span) { 0 }, "write it without brackets");
	return NULL;
}

/* ---- everything ---- */

static struct expr *lower_binary(const struct context *ctx, const struct tree_expr *expr)
{
	struct expr *a = lower_value(ctx, expr->args.items[0]);
	struct expr *b = lower_value(ctx, expr->args.items[1]);

	return value_binary(ctx->sema, op_of_tree(expr->op), a, b, expr->span);
}

static struct expr *report_misplaced(const struct context *ctx, const struct tree_expr *expr)
{
	struct diags *diags = ctx->sema->diags;
	struct diag *diag;

	if (expr->kind == TREE_LIST) {
		diag_error(diags, DIAG_NOT_A_VALUE, expr->span,
			   "a list stands only as the weights of a stencil");
		return NULL;
	}
	diag = diag_error(diags, DIAG_MISPLACED, expr->span,
			  "'case' stands only as the whole right-hand side");
	diag_help(diags, diag, (struct span) { 0 }, "inside an expression use select(c, a, b)");
	return NULL;
}

struct expr *lower_value(const struct context *ctx, const struct tree_expr *expr)
{
	struct sema *sema = ctx->sema;

	switch (expr->kind) {
	case TREE_INT:
		return value_int(sema, expr->integer, expr->span);
	case TREE_FLOAT:
		return value_float(sema, expr->real, TYPE_F64, expr->span);
	case TREE_BOOL:
		return value_bool(sema, expr->integer != 0, expr->span);
	case TREE_NAME:
		return lower_name(ctx, expr);
	case TREE_INDEX:
		return lower_element(ctx, expr);
	case TREE_CALL:
		return lower_call(ctx, expr);
	case TREE_CAST:
		return value_cast(sema, expr->type, lower_value(ctx, expr->args.items[0]), expr->span);
	case TREE_UNARY:
		return value_unary(sema, op_of_tree(expr->op), lower_value(ctx, expr->args.items[0]),
				   expr->span);
	case TREE_BINARY:
		return lower_binary(ctx, expr);
	case TREE_REDUCE:
		return lower_reduction(ctx, expr);
	case TREE_LIST:
	case TREE_CASE:
		break;
	}
	return report_misplaced(ctx, expr);
}
