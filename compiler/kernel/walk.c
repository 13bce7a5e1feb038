/* SPDX-License-Identifier: MIT
 *
 * Visits every statement and expression of a tree in the order of the text: what a node is made of after the node
 * itself, expressions of a statement before its body. A visitor that returns false leaves out what is inside of a node,
 * not what follows it. */
#include "kernel/kernel_private.h"

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

static void walk_parts(const struct k_stmt *stmt, const struct k_visitor *visitor)
{
	for (const struct k_part *part = k_parts(stmt); part->sort != K_PART_END; part++) {
		const struct k_exprs exprs = k_part_exprs(stmt, part);
		const struct k_stmts stmts = k_part_stmts(stmt, part);

		for (int i = 0; i < exprs.n; i++)
			walk_part(exprs.items[i], visitor);
		for (int i = 0; i < stmts.n; i++)
			k_walk_stmt(stmts.items[i], visitor);
	}
}

void k_walk_stmt(const struct k_stmt *stmt, const struct k_visitor *visitor)
{
	if (!visitor->stmt || visitor->stmt(stmt, visitor->user))
		walk_parts(stmt, visitor);
}
