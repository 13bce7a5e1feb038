/* SPDX-License-Identifier: MIT
 *
 * Names, ranges, branches, and what stands at the top of a file. */
#include "syntax/tree_build.h"

#include <string.h>

struct tree_name tree_name_new(struct span span, const char *name, const char *member)
{
	return (struct tree_name) { name, member, span };
}

const char *name_text(struct arena *arena, const struct tree_name *name)
{
	return name->member ? arena_printf(arena, "%s.%s", name->name, name->member) : name->name;
}

struct tree_mode tree_mode_new(struct span span, const char *name, struct tree_expr *size)
{
	return (struct tree_mode) { name, size, span };
}

struct tree_branch tree_branch_new(struct span span, struct tree_expr *condition, struct tree_expr *value)
{
	return (struct tree_branch) { condition, value, span };
}

/* `childs(T.parent, i)`, or what a child is called elsewhere. */
static bool is_like_children(const struct tree_expr *expr)
{
	static const char *const word[] = { "children" };

	return expr->kind == TREE_CALL && expr->name.member == NULL && expr->args.n == 2 &&
	       expr->args.items[0]->kind == TREE_NAME &&
	       (strncmp(expr->name.name, "child", 5) == 0 || suggest_nearest(expr->name.name, word, 1) != NULL);
}

static bool is_children_call(const struct tree_expr *expr)
{
	return expr->kind == TREE_CALL && expr->name.member == NULL && strcmp(expr->name.name, "children") == 0;
}

/* children(parent, i) becomes `parent` and `lo`; anything else stays the lower limit of a range without an
 * upper one, which is reported and closed with the lower. */
static void range_read_children(struct parser *parser, struct tree_range *range, struct tree_expr *call)
{
	struct diag *diag;

	if (is_children_call(call) && call->args.n == 2 && call->args.items[0]->kind == TREE_NAME) {
		range->is_children = true;
		range->parent = call->args.items[0]->name;
		range->lo = call->args.items[1];
		range->hi = NULL;
		return;
	}
	diag = parser_error(parser, DIAG_BAD_RANGE, call->span, is_children_call(call)
			    ? "children takes a parent array and a node"
			    : "this is not a range");
	if (is_like_children(call) && !is_children_call(call))
		diag_did_you_mean(parser->diags, diag, call->name.span, call->name.name, "children");
	else
		diag_help(parser->diags, diag, call->span,
			  "a range is lo..hi, which leaves out hi, or children(parent, i)");
	range->hi = call;
	if (parser->code == ',')
		parser->mending.told_end = parser->token_end;
}

struct tree_range *tree_range_new(struct parser *parser, struct span span, struct tree_name var,
				  struct tree_expr *lo, struct tree_expr *hi)
{
	struct tree_range *range = arena_new(parser->arena, struct tree_range);

	range->var = var.name;
	range->var_span = var.span;
	range->span = span;
	range->lo = lo;
	range->hi = hi;
	if (hi == NULL)
		range_read_children(parser, range, lo);
	return range;
}

void tree_file_add_const(struct parser *parser, struct span span, struct tree_name name,
			 struct tree_expr *value)
{
	struct tree_const constant = { name, value, span };

	vec_push(parser->arena, &parser->tree->consts, constant);
}

void tree_file_add_pipeline(struct parser *parser, struct span span, struct tree_name name, tree_stmts body)
{
	struct tree_pipeline *pipeline = arena_new(parser->arena, struct tree_pipeline);

	pipeline->name = name;
	pipeline->span = span;
	pipeline->body = body;
	vec_push(parser->arena, &parser->tree->pipelines, pipeline);
}
