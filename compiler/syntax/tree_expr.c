/* SPDX-License-Identifier: MIT
 *
 * Expressions. Invariant: `depth` is one more than that of the deepest part, and never above TREE_MAX_DEPTH;
 * what would be deeper is reported once and replaced by a number. */
#include "syntax/tree_build.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct tree_expr *expr_new(struct parser *parser, struct span span, enum tree_expr_kind kind)
{
	struct tree_expr *expr = arena_new(parser->arena, struct tree_expr);

	expr->kind = kind;
	expr->span = span;
	expr->depth = 1;
	return expr;
}

static void expr_deepen(struct tree_expr *expr, const struct tree_expr *part)
{
	if (part != NULL && part->depth >= expr->depth)
		expr->depth = part->depth + 1;
}

static struct tree_expr *expr_too_deep(struct parser *parser, struct span span)
{
	struct tree_expr *zero = expr_new(parser, span, TREE_INT);
	struct diag *diag;

	zero->spelling = "0";
	if (parser->is_too_deep)
		return zero;
	parser->is_too_deep = true;
	diag = parser_error(parser, DIAG_TOO_DEEP, span, "this expression has more than %d levels",
			    TREE_MAX_DEPTH);
	diag_help(parser->diags, diag, span, "give a part of it a name with 'temp' or 'func'");
	return zero;
}

/* Sets the depth of a node whose parts are complete. */
static struct tree_expr *expr_finish(struct parser *parser, struct tree_expr *expr)
{
	for (int i = 0; i < expr->args.n; i++)
		expr_deepen(expr, expr->args.items[i]);
	for (int i = 0; i < expr->ranges.n; i++) {
		expr_deepen(expr, expr->ranges.items[i]->lo);
		expr_deepen(expr, expr->ranges.items[i]->hi);
	}
	for (int i = 0; i < expr->branches.n; i++) {
		expr_deepen(expr, expr->branches.items[i].condition);
		expr_deepen(expr, expr->branches.items[i].value);
	}
	return expr->depth > TREE_MAX_DEPTH ? expr_too_deep(parser, expr->span) : expr;
}

struct tree_expr *tree_expr_int(struct parser *parser, struct span span, const char *spelling)
{
	struct tree_expr *expr = expr_new(parser, span, TREE_INT);

	errno = 0;
	expr->spelling = spelling;
	expr->integer = strtoll(spelling, NULL, 10);
	if (errno == ERANGE)
		vec_push(parser->arena, &parser->too_large, expr);
	return expr;
}

void tree_expr_report_large(struct parser *parser)
{
	for (int i = 0; i < parser->too_large.n; i++)
		parser_error(parser, DIAG_BAD_NUMBER, parser->too_large.items[i]->span, "integers go up to %lld",
			     (long long) INT64_MAX);
}

/* The negation of an integer that is too large itself: the smallest one, or none at all. */
static struct tree_expr *expr_smallest(struct parser *parser, struct span span, const struct tree_expr *large)
{
	struct tree_expr *expr = expr_new(parser, span, TREE_INT);

	parser->too_large.n--;
	expr->spelling = arena_printf(parser->arena, "-%s", large->spelling);
	errno = 0;
	expr->integer = strtoll(expr->spelling, NULL, 10);
	if (errno == ERANGE)
		parser_error(parser, DIAG_BAD_NUMBER, span, "integers go down to %lld", (long long) INT64_MIN);
	return expr;
}

static bool is_too_large(const struct parser *parser, const struct tree_expr *expr)
{
	return parser->too_large.n > 0 && parser->too_large.items[parser->too_large.n - 1] == expr;
}

struct tree_expr *tree_expr_float(struct parser *parser, struct span span, const char *spelling)
{
	struct tree_expr *expr = expr_new(parser, span, TREE_FLOAT);
	struct diag *diag;

	expr->spelling = spelling;
	expr->real = strtod(spelling, NULL);
	if (isinf(expr->real)) {
		diag = parser_error(parser, DIAG_BAD_NUMBER, span, "this number is larger than any f64");
		diag_fix(parser->diags, diag, span, "inf", "infinity is written inf");
	}
	return expr;
}

struct tree_expr *tree_expr_bool(struct parser *parser, struct span span, bool value)
{
	struct tree_expr *expr = expr_new(parser, span, TREE_BOOL);

	expr->integer = value;
	return expr;
}

struct tree_expr *tree_expr_list(struct parser *parser, struct span span, tree_exprs items)
{
	struct tree_expr *expr = expr_new(parser, span, TREE_LIST);

	expr->args = items;
	return expr_finish(parser, expr);
}

struct tree_expr *tree_expr_name(struct parser *parser, struct span span, struct tree_name name)
{
	struct tree_expr *expr = expr_new(parser, span, TREE_NAME);

	expr->name = name;
	return expr;
}

struct tree_expr *tree_expr_index(struct parser *parser, struct span span, struct tree_name name,
				  tree_exprs subscripts)
{
	struct tree_expr *expr = expr_new(parser, span, TREE_INDEX);

	expr->name = name;
	expr->args = subscripts;
	return expr_finish(parser, expr);
}

struct tree_expr *tree_expr_call(struct parser *parser, struct span span, struct tree_name name,
				 tree_exprs args)
{
	struct tree_expr *expr = expr_new(parser, span, TREE_CALL);

	expr->name = name;
	expr->args = args;
	return expr_finish(parser, expr);
}

struct tree_expr *tree_expr_cast(struct parser *parser, struct span span, struct tree_name type,
				 struct tree_expr *arg)
{
	struct tree_expr *expr = expr_new(parser, span, TREE_CAST);

	expr->type = tree_type_scalar(parser, type);
	vec_push(parser->arena, &expr->args, arg);
	return expr_finish(parser, expr);
}

struct tree_expr *tree_expr_unary(struct parser *parser, struct span span, enum tree_op op,
				  struct tree_expr *arg)
{
	struct tree_expr *expr;

	if (op == TREE_OP_NEG && is_too_large(parser, arg))
		return expr_smallest(parser, span, arg);
	expr = expr_new(parser, span, TREE_UNARY);
	expr->op = op;
	vec_push(parser->arena, &expr->args, arg);
	return expr_finish(parser, expr);
}

struct tree_expr *tree_expr_binary(struct parser *parser, struct span span, enum tree_op op,
				   struct tree_expr *left, struct tree_expr *right)
{
	struct tree_expr *expr = expr_new(parser, span, TREE_BINARY);

	expr->op = op;
	vec_push(parser->arena, &expr->args, left);
	vec_push(parser->arena, &expr->args, right);
	return expr_finish(parser, expr);
}

static enum tree_reduce_op reduce_op_read(struct parser *parser, struct tree_name name)
{
	static const char *const words[] = {
		[TREE_SUM] = "sum", [TREE_PROD] = "prod", [TREE_MIN] = "min", [TREE_MAX] = "max",
	};
	struct diag *diag;
	const char *near;

	for (int i = 0; i <= TREE_MAX; i++)
		if (name.member == NULL && strcmp(words[i], name.name) == 0)
			return (enum tree_reduce_op) i;
	diag = parser_error(parser, DIAG_UNKNOWN_REDUCTION, name.span,
			    "only sum, prod, min and max reduce over a range");
	near = suggest_nearest(name.name, words, TREE_MAX + 1);
	if (near != NULL)
		diag_did_you_mean(parser->diags, diag, name.span, name.name, near);
	return TREE_SUM;
}

struct tree_expr *tree_expr_reduce(struct parser *parser, struct span span, struct tree_name name,
				   tree_ranges ranges, struct tree_expr *body)
{
	struct tree_expr *expr = expr_new(parser, span, TREE_REDUCE);

	expr->reduce_op = reduce_op_read(parser, name);
	expr->ranges = ranges;
	vec_push(parser->arena, &expr->args, body);
	return expr_finish(parser, expr);
}

struct tree_expr *tree_expr_case(struct parser *parser, struct span span, tree_branches branches)
{
	struct tree_expr *expr = expr_new(parser, span, TREE_CASE);

	expr->branches = branches;
	return expr_finish(parser, expr);
}
