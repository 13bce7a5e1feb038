/* SPDX-License-Identifier: MIT
 *
 * Field by field; of two absent parts, which are equal, neither is looked into. */
#include "syntax/tree_same.h"

#include <string.h>

static bool same_text(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool same_name(struct tree_name a, struct tree_name b)
{
	return same_text(a.name, b.name) && same_text(a.member, b.member);
}

static bool same_names(tree_names a, tree_names b)
{
	for (int i = 0; i < a.n && i < b.n; i++)
		if (!same_name(a.items[i], b.items[i]))
			return false;
	return a.n == b.n;
}

static bool same_exprs(tree_exprs a, tree_exprs b)
{
	for (int i = 0; i < a.n && i < b.n; i++)
		if (!tree_same_expr(a.items[i], b.items[i]))
			return false;
	return a.n == b.n;
}

static bool same_range(const struct tree_range *a, const struct tree_range *b)
{
	return same_text(a->var, b->var) && a->is_children == b->is_children && same_name(a->parent, b->parent)
		&& tree_same_expr(a->lo, b->lo) && tree_same_expr(a->hi, b->hi);
}

static bool same_ranges(tree_ranges a, tree_ranges b)
{
	for (int i = 0; i < a.n && i < b.n; i++)
		if (!same_range(a.items[i], b.items[i]))
			return false;
	return a.n == b.n;
}

static bool same_branches(tree_branches a, tree_branches b)
{
	for (int i = 0; i < a.n && i < b.n; i++)
		if (!tree_same_expr(a.items[i].condition, b.items[i].condition)
		    || !tree_same_expr(a.items[i].value, b.items[i].value))
			return false;
	return a.n == b.n;
}

bool tree_same_expr(const struct tree_expr *a, const struct tree_expr *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	return a->kind == b->kind && a->depth == b->depth && a->integer == b->integer
		&& memcmp(&a->real, &b->real, sizeof a->real) == 0 && same_text(a->spelling, b->spelling)
		&& same_name(a->name, b->name) && a->op == b->op && a->reduce_op == b->reduce_op
		&& a->type == b->type && same_exprs(a->args, b->args) && same_ranges(a->ranges, b->ranges)
		&& same_branches(a->branches, b->branches);
}

static bool same_modes(tree_modes a, tree_modes b)
{
	for (int i = 0; i < a.n && i < b.n; i++)
		if (!same_text(a.items[i].name, b.items[i].name)
		    || !tree_same_expr(a.items[i].size, b.items[i].size))
			return false;
	return a.n == b.n;
}

static bool same_type(const struct tree_type *a, const struct tree_type *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	return a->kind == b->kind && a->scalar == b->scalar && a->has_scalar == b->has_scalar
		&& same_text(a->object, b->object) && same_exprs(a->args, b->args)
		&& same_modes(a->modes, b->modes) && same_exprs(a->shape, b->shape)
		&& a->is_sorted == b->is_sorted && a->is_unique == b->is_unique && a->is_tree == b->is_tree
		&& same_name(a->segments, b->segments);
}

static bool same_items(tree_schedule_items a, tree_schedule_items b)
{
	for (int i = 0; i < a.n && i < b.n; i++)
		if (!same_name(a.items[i]->verb, b.items[i]->verb)
		    || !same_names(a.items[i]->subjects, b.items[i]->subjects)
		    || !tree_same_expr(a.items[i]->value, b.items[i]->value))
			return false;
	return a.n == b.n;
}

static bool same_stmt(const struct tree_stmt *a, const struct tree_stmt *b)
{
	return a->kind == b->kind && same_names(a->names, b->names) && a->is_scalar == b->is_scalar
		&& a->is_fixed == b->is_fixed && a->is_next == b->is_next && a->role == b->role
		&& same_type(a->type, b->type) && tree_same_expr(a->target, b->target)
		&& tree_same_expr(a->value, b->value) && a->reduce_op == b->reduce_op
		&& same_text(a->text, b->text) && same_ranges(a->ranges, b->ranges)
		&& tree_same_stmts(a->body, b->body) && same_items(a->items, b->items);
}

bool tree_same_stmts(tree_stmts a, tree_stmts b)
{
	for (int i = 0; i < a.n && i < b.n; i++)
		if (!same_stmt(a.items[i], b.items[i]))
			return false;
	return a.n == b.n;
}

bool tree_same_file(const struct tree_file *a, const struct tree_file *b)
{
	for (int i = 0; i < a->consts.n && i < b->consts.n; i++)
		if (!same_name(a->consts.items[i].name, b->consts.items[i].name)
		    || !tree_same_expr(a->consts.items[i].value, b->consts.items[i].value))
			return false;
	for (int i = 0; i < a->pipelines.n && i < b->pipelines.n; i++)
		if (!same_name(a->pipelines.items[i]->name, b->pipelines.items[i]->name)
		    || !tree_same_stmts(a->pipelines.items[i]->body, b->pipelines.items[i]->body))
			return false;
	return a->consts.n == b->consts.n && a->pipelines.n == b->pipelines.n;
}
