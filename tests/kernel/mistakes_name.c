/* SPDX-License-Identifier: MIT
 *
 * Mistakes in declarations. */
#include <string.h>

#include "kernel/mistakes_private.h"

/* ---- variables that are only updated ---- */

struct updates {
	const char *name;
	int n;                          /* of the variable; less than none: it is set, too */
};

static bool count_update(const struct k_stmt *stmt, void *user)
{
	struct updates *updates = user;

	for (int i = 0; stmt->kind == KS_STORE && i < stmt->store.targets.n; i++)
		if (expr_is_name(stmt->store.targets.items[i], updates->name))
			updates->n += stmt->store.op == K_OP_N ? -1000 : 1;
	return true;
}

static bool is_updated_only(const struct search *search, const struct k_stmt *stmt)
{
	struct updates updates = { stmt->let.name, 0 };

	if (stmt->kind != KS_LET || !stmt->let.is_variable || !stmt->let.value)
		return false;
	k_walk_block(search->body, &(struct k_visitor) { .stmt = count_update, .user = &updates });
	return updates.n > 0;
}

static bool is_number(const struct k_expr *expr)
{
	return expr->kind == KE_INT || expr->kind == KE_FLOAT;
}

/* ---- scopes ---- */

void find_in_scope(struct search *search, struct k_stmt *stmt)
{
	struct k_block *body = &stmt->loop.body;
	struct k_stmt *inside = arena_new(search->arena, struct k_stmt), block = *stmt;
	struct k_stmt *let = NULL;

	*inside = *stmt;
	memset(&inside->loop.body, 0, sizeof inside->loop.body);
	for (int i = 0; i < body->stmts.n; i++) {
		struct k_stmt *at = body->stmts.items[i];

		if (!let && is_updated_only(search, at) && is_number(at->let.value))
			let = at;
		else
			vec_push(search->arena, &inside->loop.body.stmts, at);
	}
	if (!let || search_runs(search, let) <= search_runs(search, stmt))
		return;
	block.kind = KS_BLOCK;
	block.body = (struct k_block) { 0 };
	vec_push(search->arena, &block.body.stmts, let);
	vec_push(search->arena, &block.body.stmts, inside);
	search_add_stmt(search, MISTAKE_OUTER, stmt, block);
}

static void find_inner(struct search *search, struct k_block *block, int i)
{
	struct k_stmt *inside = arena_new(search->arena, struct k_stmt), *stmt = block->stmts.items[i];
	struct k_stmt other = *stmt;
	const bool is_used = k_uses_in_block(block, stmt->let.name).reads > 0;

	*inside = *stmt;
	inside->let.is_joined = false;
	other.kind = KS_BLOCK;
	other.body = (struct k_block) { 0 };
	vec_push(search->arena, &other.body.stmts, inside);
	if (is_used)
		search_add_stmt(search, MISTAKE_INNER, stmt, other);
}

/* ---- what is declared ---- */

static void find_constant(struct search *search, struct k_stmt *stmt, const struct k_block *block)
{
	struct k_stmt other = *stmt;
	const int writes = k_uses_in_block(block, stmt->let.name).writes;

	other.let.type.is_const = stmt->let.type.is_pointer;
	other.let.is_variable = stmt->let.type.is_pointer && stmt->let.is_variable;
	if (writes > (stmt->let.value != NULL) && !stmt->let.type.is_const && !stmt->let.extents.n)
		search_add_stmt(search, MISTAKE_CONSTANT, stmt, other);
}

static void find_space(struct search *search, struct k_stmt *stmt)
{
	struct k_stmt other = *stmt;

	other.let.space = stmt->let.space == K_SPACE_SHARED ? K_SPACE_STACK : K_SPACE_SHARED;
	search_add_stmt(search, MISTAKE_SPACE, stmt, other);
}

/* T *x_own = x_private + n*number: a part of a buffer. */
static bool is_part(const struct k_let *let)
{
	return let->type.is_pointer && let->value->kind == KE_BINARY && let->value->op == K_ADD &&
	       let->value->args.items[0]->kind == KE_NAME;
}

void find_in_let(struct search *search, struct k_block *block, int i)
{
	struct k_stmt *stmt = block->stmts.items[i];
	struct k_let *let = &stmt->let;

	find_inner(search, block, i);
	find_constant(search, stmt, block);
	if (let->extents.n)
		find_space(search, stmt);
	if (!let->value)
		return;
	if (is_part(let))
		search_add_expr(search, MISTAKE_PART, stmt, &let->value, let->value->args.items[0]);
	if (is_updated_only(search, stmt) && is_number(let->value))
		search_add_shift(search, MISTAKE_IDENTITY, stmt, &let->value, k_int(search->arena, 1));
	find_in_value(search, stmt, &let->value);
}
