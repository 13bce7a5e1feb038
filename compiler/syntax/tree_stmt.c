/* SPDX-License-Identifier: MIT
 *
 * Statements, and items of a schedule block. */
#include "syntax/tree_build.h"

#include <string.h>

static struct tree_stmt *stmt_new(struct parser *parser, struct span span, enum tree_stmt_kind kind)
{
	struct tree_stmt *stmt = arena_new(parser->arena, struct tree_stmt);

	stmt->kind = kind;
	stmt->span = span;
	return stmt;
}

struct tree_stmt *tree_stmt_param(struct parser *parser, struct span span, tree_names names)
{
	struct tree_stmt *stmt = stmt_new(parser, span, TREE_PARAM);

	stmt->names = names;
	return stmt;
}

static void report_typed_size(struct parser *parser, struct tree_name type, struct tree_name first)
{
	struct diag *diag = parser_error(parser, DIAG_BAD_PARAM, type.span, "a size has no type");
	struct span gap = { type.span.file, type.span.start, first.span.start };

	diag_fix(parser->diags, diag, gap, "", "leave '%s' out, as in param %s; a number is param f64 %s;", type.name,
		 first.name, first.name);
}

struct tree_stmt *tree_stmt_param_scalar(struct parser *parser, struct span span, struct tree_name type,
					 tree_names names)
{
	struct tree_stmt *stmt = stmt_new(parser, span, TREE_PARAM);

	if (tree_type_is_integer(type)) {
		report_typed_size(parser, type, names.items[0]);
		stmt->names = names;
		return stmt;
	}
	stmt->is_scalar = true;
	stmt->names = names;
	stmt->type = arena_new(parser->arena, struct tree_type);
	stmt->type->kind = TREE_TYPE_SCALAR;
	stmt->type->span = type.span;
	stmt->type->scalar = tree_type_scalar(parser, type);
	return stmt;
}

struct tree_stmt *tree_stmt_assume(struct parser *parser, struct span span, struct tree_expr *condition)
{
	struct tree_stmt *stmt = stmt_new(parser, span, TREE_ASSUME);

	stmt->value = condition;
	return stmt;
}

struct tree_stmt *tree_stmt_specialize(struct parser *parser, struct span span, struct tree_name name,
				       struct tree_expr *value, const char *text)
{
	struct tree_stmt *stmt = stmt_new(parser, span, TREE_SPECIALIZE);

	vec_push(parser->arena, &stmt->names, name);
	stmt->value = value;
	stmt->text = text;
	return stmt;
}

struct tree_stmt *tree_stmt_decl(struct parser *parser, struct span span, bool is_fixed, enum tree_role role,
				 tree_names names, struct tree_type *type, struct tree_expr *value)
{
	struct tree_stmt *stmt = stmt_new(parser, span, TREE_DECL);

	stmt->is_fixed = is_fixed;
	stmt->role = role;
	stmt->names = names;
	stmt->type = type;
	stmt->value = value;
	return stmt;
}

struct tree_stmt *tree_stmt_func(struct parser *parser, struct span span, struct tree_name name,
				 tree_ranges ranges, struct tree_type *type, struct tree_expr *value)
{
	struct tree_stmt *stmt = stmt_new(parser, span, TREE_FUNC);

	vec_push(parser->arena, &stmt->names, name);
	stmt->ranges = ranges;
	stmt->type = type;
	stmt->value = value;
	return stmt;
}

struct tree_stmt *tree_stmt_define(struct parser *parser, struct span span, bool is_next,
				   struct tree_expr *target, struct tree_expr *value, tree_ranges ranges)
{
	struct tree_stmt *stmt = stmt_new(parser, span, TREE_DEFINE);

	stmt->is_next = is_next;
	stmt->target = target;
	stmt->value = value;
	stmt->ranges = ranges;
	return stmt;
}

struct tree_stmt *tree_stmt_accumulate(struct parser *parser, struct span span, bool is_next,
				       struct tree_expr *target, enum tree_reduce_op op,
				       struct tree_expr *value, tree_ranges ranges)
{
	struct tree_stmt *stmt = stmt_new(parser, span, TREE_ACCUMULATE);

	stmt->is_next = is_next;
	stmt->target = target;
	stmt->reduce_op = op;
	stmt->value = value;
	stmt->ranges = ranges;
	return stmt;
}

struct tree_stmt *tree_stmt_iterate(struct parser *parser, struct span span, struct tree_range *range,
				    struct tree_expr *until, tree_stmts body)
{
	struct tree_stmt *stmt = stmt_new(parser, span, TREE_ITERATE);

	vec_push(parser->arena, &stmt->ranges, range);
	stmt->value = until;
	stmt->body = body;
	return stmt;
}

struct tree_stmt *tree_stmt_schedule(struct parser *parser, struct span span, tree_schedule_items items)
{
	struct tree_stmt *stmt = stmt_new(parser, span, TREE_SCHEDULE);

	stmt->items = items;
	return stmt;
}

struct tree_schedule_item *tree_schedule_item_new(struct parser *parser, struct span span,
						  struct tree_name verb, tree_names subjects,
						  struct tree_name link, struct tree_expr *value)
{
	struct tree_schedule_item *item = arena_new(parser->arena, struct tree_schedule_item);

	item->verb = verb;
	item->subjects = subjects;
	item->value = value;
	item->span = span;
	if (link.name != NULL && strcmp(link.name, "by") != 0)
		parser_error(parser, DIAG_BAD_SCHEDULE_ITEM, link.span,
			     "expected 'by' or ':' between what is scheduled and how, found '%s'", link.name);
	return item;
}
