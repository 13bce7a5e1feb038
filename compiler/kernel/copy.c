/* SPDX-License-Identifier: MIT
 *
 * Copies of trees, with other expressions in the place of some. What is not replaced is copied too: a copy shares no
 * node with its original. */
#include "kernel/kernel_private.h"

/* One that is put in the place of an operand stands in parentheses if it binds looser. */
static struct k_expr *copy_operand(struct arena *arena, const struct k_expr *parent, int number,
				   const struct k_replacing *replacing)
{
	const struct k_expr *arg = parent->args.items[number];
	struct k_expr *copy = k_copy_expr(arena, arg, replacing);
	const bool is_operand = parent->kind == KE_BINARY || parent->kind == KE_UNARY;

	if (!is_operand || k_level(copy) == k_level(arg))
		return copy;
	return k_at_least(arena, copy, k_op_level(parent->op) + (number > 0));
}

static k_expr_list copy_list(struct arena *arena, const k_expr_list *list, const struct k_replacing *replacing)
{
	k_expr_list copy = { 0 };

	for (int i = 0; i < list->n; i++)
		vec_push(arena, &copy, k_copy_expr(arena, list->items[i], replacing));
	return copy;
}

static struct k_expr *copy_whole(struct arena *arena, const struct k_expr *expr, const struct k_replacing *replacing)
{
	struct k_expr *copy = arena_new(arena, struct k_expr);

	*copy = *expr;
	copy->args = (k_expr_list) { 0 };
	copy->constants = copy_list(arena, &expr->constants, replacing);
	for (int i = 0; i < expr->args.n; i++)
		vec_push(arena, &copy->args, copy_operand(arena, expr, i, replacing));
	return copy;
}

/* NULL stays NULL. */
struct k_expr *k_copy_expr(struct arena *arena, const struct k_expr *expr, const struct k_replacing *replacing)
{
	struct k_expr *other = expr && replacing->expr ? replacing->expr(expr, replacing->user) : NULL;

	if (!expr || other)
		return other;
	return copy_whole(arena, expr, replacing);
}

static void copy_part(struct arena *arena, void *at, enum k_part_sort sort, const struct k_replacing *replacing)
{
	struct k_expr **expr = at;
	struct k_stmt **stmt = at;

	switch (sort) {
	case K_PART_EXPR: *expr = k_copy_expr(arena, *expr, replacing); break;
	case K_PART_EXPRS: *(k_expr_list *) at = copy_list(arena, at, replacing); break;
	case K_PART_BLOCK:
	case K_PART_FIELDS: *(struct k_block *) at = k_copy_block(arena, at, replacing); break;
	case K_PART_STMT: *stmt = *stmt ? k_copy_stmt(arena, *stmt, replacing) : NULL; break;
	case K_PART_END: break;
	}
}

struct k_stmt *k_copy_stmt(struct arena *arena, const struct k_stmt *stmt, const struct k_replacing *replacing)
{
	const struct k_replacing of_extents = { replacing->extent, replacing->extent, replacing->user };
	struct k_stmt *copy = arena_new(arena, struct k_stmt);

	*copy = *stmt;
	for (const struct k_part *part = k_parts(stmt); part->sort != K_PART_END; part++)
		copy_part(arena, k_part_at(copy, part), part->sort,
			  stmt->kind == KS_LET && part->sort == K_PART_EXPRS ? &of_extents : replacing);
	return copy;
}

struct k_block k_copy_block(struct arena *arena, const struct k_block *block, const struct k_replacing *replacing)
{
	struct k_block copy = { 0 };

	for (int i = 0; i < block->stmts.n; i++)
		vec_push(arena, &copy.stmts, k_copy_stmt(arena, block->stmts.items[i], replacing));
	return copy;
}
