/* SPDX-License-Identifier: MIT
 *
 * Copies of trees, with other expressions in the place of some. What is not replaced is copied too: a copy shares no
 * node with its original. */
#include <string.h>

#include "kernel/kernel.h"

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

static struct k_expr *copy_whole(struct arena *arena, const struct k_expr *expr, const struct k_replacing *replacing)
{
	struct k_expr *copy = arena_new(arena, struct k_expr);

	*copy = *expr;
	memset(&copy->args, 0, sizeof copy->args);
	memset(&copy->constants, 0, sizeof copy->constants);
	for (int i = 0; i < expr->args.n; i++)
		vec_push(arena, &copy->args, copy_operand(arena, expr, i, replacing));
	for (int i = 0; i < expr->constants.n; i++)
		vec_push(arena, &copy->constants, k_copy_expr(arena, expr->constants.items[i], replacing));
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

#define COPY_LIST(arena, to, from, replacing) do { \
	memset(&(to), 0, sizeof (to)); \
	for (int i = 0; i < (from).n; i++) \
		vec_push(arena, &(to), k_copy_expr(arena, (from).items[i], replacing)); \
} while (0)

static void copy_let(struct arena *arena, struct k_let *to, const struct k_let *from,
		     const struct k_replacing *replacing)
{
	const struct k_replacing of_extents = { replacing->extent, replacing->extent, replacing->user };

	to->value = k_copy_expr(arena, from->value, replacing);
	COPY_LIST(arena, to->extents, from->extents, &of_extents);
}

static void copy_loop(struct arena *arena, struct k_loop *to, const struct k_loop *from,
		      const struct k_replacing *replacing)
{
	to->first = k_copy_expr(arena, from->first, replacing);
	to->bound = k_copy_expr(arena, from->bound, replacing);
	to->step = k_copy_expr(arena, from->step, replacing);
	to->number = k_copy_expr(arena, from->number, replacing);
	to->count = k_copy_expr(arena, from->count, replacing);
	to->share.chunk = k_copy_expr(arena, from->share.chunk, replacing);
	to->share.threads = k_copy_expr(arena, from->share.threads, replacing);
	to->row.length = k_copy_expr(arena, from->row.length, replacing);
	to->body = k_copy_block(arena, &from->body, replacing);
}

static void copy_while(struct arena *arena, struct k_while *to, const struct k_while *from,
		       const struct k_replacing *replacing)
{
	to->before = k_copy_block(arena, &from->before, replacing);
	to->condition = k_copy_expr(arena, from->condition, replacing);
	to->after = from->after ? k_copy_stmt(arena, from->after, replacing) : NULL;
	to->body = k_copy_block(arena, &from->body, replacing);
}

static void copy_if(struct arena *arena, struct k_if *to, const struct k_if *from,
		    const struct k_replacing *replacing)
{
	to->condition = k_copy_expr(arena, from->condition, replacing);
	to->then = k_copy_block(arena, &from->then, replacing);
	to->otherwise = k_copy_block(arena, &from->otherwise, replacing);
}

struct k_stmt *k_copy_stmt(struct arena *arena, const struct k_stmt *stmt, const struct k_replacing *replacing)
{
	struct k_stmt *copy = arena_new(arena, struct k_stmt);

	*copy = *stmt;
	copy->value = k_copy_expr(arena, stmt->value, replacing);
	switch (stmt->kind) {
	case KS_BLOCK:
	case KS_PARALLEL:
		copy->body = k_copy_block(arena, &stmt->body, replacing);
		break;
	case KS_LET:
		copy_let(arena, &copy->let, &stmt->let, replacing);
		break;
	case KS_STORE:
		COPY_LIST(arena, copy->store.targets, stmt->store.targets, replacing);
		copy->store.value = k_copy_expr(arena, stmt->store.value, replacing);
		break;
	case KS_LOOP:
		copy_loop(arena, &copy->loop, &stmt->loop, replacing);
		break;
	case KS_WHILE:
		copy_while(arena, &copy->repeat, &stmt->repeat, replacing);
		break;
	case KS_IF:
		copy_if(arena, &copy->branch, &stmt->branch, replacing);
		break;
	case KS_RECORD:
		copy->record.alignment = k_copy_expr(arena, stmt->record.alignment, replacing);
		copy->record.fields = k_copy_block(arena, &stmt->record.fields, replacing);
		break;
	case KS_CALL:
	case KS_RETURN:
	case KS_BREAK:
	case KS_CONTINUE:
	case KS_UNUSED:
	case KS_COMMENT:
	case KS_BLANK:
	case KS_N:
		break;
	}
	return copy;
}

struct k_block k_copy_block(struct arena *arena, const struct k_block *block, const struct k_replacing *replacing)
{
	struct k_block copy = { 0 };

	for (int i = 0; i < block->stmts.n; i++)
		vec_push(arena, &copy.stmts, k_copy_stmt(arena, block->stmts.items[i], replacing));
	return copy;
}
