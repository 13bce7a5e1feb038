/* SPDX-License-Identifier: MIT
 *
 * Visits every statement and expression of a tree in the order of the text: what a node is made of after the node
 * itself, expressions of a statement before its body. Of a loop that is where it begins, its bound, its step, which
 * iterations run here, how threads share them, and then the body. A visitor that returns false leaves out what is
 * inside of a node, not what follows it. */
#include "kernel/kernel.h"

/* Of one statement's parts. NULL: there is none. */
static void walk_part(const struct k_expr *expr, const struct k_visitor *visitor)
{
	if (expr && visitor->expr)
		k_walk_expr(expr, visitor);
}

void k_walk_expr(const struct k_expr *expr, const struct k_visitor *visitor)
{
	if (!visitor->expr || !visitor->expr(expr, visitor->user))
		return;
	for (int i = 0; i < expr->constants.n; i++)
		walk_part(expr->constants.items[i], visitor);
	for (int i = 0; i < expr->args.n; i++)
		walk_part(expr->args.items[i], visitor);
}

void k_walk_block(const struct k_block *block, const struct k_visitor *visitor)
{
	for (int i = 0; i < block->stmts.n; i++)
		k_walk_stmt(block->stmts.items[i], visitor);
}

static void walk_let(const struct k_let *let, const struct k_visitor *visitor)
{
	for (int i = 0; i < let->extents.n; i++)
		walk_part(let->extents.items[i], visitor);
	walk_part(let->value, visitor);
}

static void walk_store(const struct k_store *store, const struct k_visitor *visitor)
{
	for (int i = 0; i < store->targets.n; i++)
		walk_part(store->targets.items[i], visitor);
	walk_part(store->value, visitor);
}

static void walk_loop(const struct k_loop *loop, const struct k_visitor *visitor)
{
	walk_part(loop->first, visitor);
	walk_part(loop->bound, visitor);
	walk_part(loop->step, visitor);
	walk_part(loop->number, visitor);
	walk_part(loop->count, visitor);
	walk_part(loop->share.chunk, visitor);
	walk_part(loop->share.threads, visitor);
	walk_part(loop->row.length, visitor);
	k_walk_block(&loop->body, visitor);
}

static void walk_while(const struct k_while *repeat, const struct k_visitor *visitor)
{
	k_walk_block(&repeat->before, visitor);
	walk_part(repeat->condition, visitor);
	if (repeat->after)
		k_walk_stmt(repeat->after, visitor);
	k_walk_block(&repeat->body, visitor);
}

static void walk_if(const struct k_if *branch, const struct k_visitor *visitor)
{
	walk_part(branch->condition, visitor);
	k_walk_block(&branch->then, visitor);
	k_walk_block(&branch->otherwise, visitor);
}

static void walk_parts(const struct k_stmt *stmt, const struct k_visitor *visitor)
{
	switch (stmt->kind) {
	case KS_BLOCK:
		k_walk_block(&stmt->body, visitor);
		return;
	case KS_LET:
		walk_let(&stmt->let, visitor);
		return;
	case KS_STORE:
		walk_store(&stmt->store, visitor);
		return;
	case KS_LOOP:
		walk_loop(&stmt->loop, visitor);
		return;
	case KS_WHILE:
		walk_while(&stmt->repeat, visitor);
		return;
	case KS_IF:
		walk_if(&stmt->branch, visitor);
		return;
	case KS_PARALLEL:
		walk_part(stmt->value, visitor);
		k_walk_block(&stmt->body, visitor);
		return;
	case KS_CALL:
	case KS_RETURN:
	case KS_UNUSED:
		walk_part(stmt->value, visitor);
		return;
	case KS_BREAK:
	case KS_CONTINUE:
	case KS_COMMENT:
	case KS_BLANK:
	case KS_RECORD:
	case KS_N:
		return;
	}
}

void k_walk_stmt(const struct k_stmt *stmt, const struct k_visitor *visitor)
{
	if (!visitor->stmt || visitor->stmt(stmt, visitor->user))
		walk_parts(stmt, visitor);
}
