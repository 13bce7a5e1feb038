/* SPDX-License-Identifier: MIT
 *
 * Declarations that nothing reads. One is dropped if its value has no effect and no statement behind it in its block
 * mentions its name; going from the last statement to the first drops what only dropped ones read, too. A blank line
 * below declarations goes with the last of them. */
#include <string.h>

#include "kernel/kernel.h"

/* ---- effects ---- */

static bool call_has_effect(const struct k_expr *call)
{
	const unsigned harmless = K_CALL_IS_ALIAS | K_CALL_IS_PREFETCH | K_CALL_REMEMBERS | K_CALL_IS_OF_LANE |
				  K_CALL_IS_OF_TEAM | K_CALL_IS_OF_THREAD;
	const struct k_callee *callee = k_callee_find(call->text);
	bool has = !callee || (callee->effects & ~harmless) != 0;

	for (int i = 0; !has && !(callee->effects & K_CALL_REMEMBERS) && i < call->args.n; i++)
		has = strchr("wbsSuox", k_callee_argument(callee, i)) != NULL;
	return has;
}

static bool find_effect(const struct k_expr *expr, void *user)
{
	bool *has = user;

	*has = *has || (expr->kind == KE_CALL && call_has_effect(expr)) ||
	       (expr->kind == KE_NAME && (k_effects(expr) & K_CALL_MAY_END) != 0);
	return !*has;
}

bool k_has_effect(const struct k_expr *expr)
{
	bool has = false;

	k_walk_expr(expr, &(struct k_visitor) { .expr = find_effect, .user = &has });
	return has;
}

/* ---- blocks ---- */

static bool is_mentioned_behind(const struct k_block *block, int i, const char *name)
{
	const struct k_block rest = { .stmts = { .items = block->stmts.items + i + 1, .n = block->stmts.n - i - 1 } };

	return k_mentions(&rest, name);
}

/* `behind` are the names that what follows mentions. */
static bool is_unread(const struct k_stmt *stmt, const struct name_table *behind)
{
	return stmt->kind == KS_LET && (!stmt->let.value || !k_has_effect(stmt->let.value)) &&
	       !name_table_get(behind, stmt->let.name);
}

/* What is declared with a dropped one is declared alone, or with the one before. */
static void drop(struct k_block *block, int i)
{
	const bool is_let = block->stmts.items[i]->kind == KS_LET;
	struct k_stmt *next = i + 1 < block->stmts.n ? block->stmts.items[i + 1] : NULL;

	if (is_let && next && next->kind == KS_LET && next->let.is_joined)
		next->let.is_joined = block->stmts.items[i]->let.is_joined;
	for (int k = i + 1; k < block->stmts.n; k++)
		block->stmts.items[k - 1] = block->stmts.items[k];
	block->stmts.n--;
}

static bool begins_blank(const struct k_block *block)
{
	return block->stmts.n > 0 && block->stmts.items[0]->kind == KS_BLANK;
}

static void drop_inside(struct arena *arena, struct k_stmt *stmt)
{
	struct k_block *body = stmt->kind == KS_RECORD || (stmt->kind == KS_IF && stmt->branch.is_bare) ? NULL
			     : k_body(stmt);

	if (body)
		k_drop_unread(arena, body);
	if (stmt->kind == KS_IF)
		k_drop_unread(arena, &stmt->branch.otherwise);
}

static void drop_unread(struct arena *arena, struct k_block *block)
{
	struct name_table behind = { 0 };

	for (int i = block->stmts.n; i-- > 0;) {
		struct k_stmt *stmt = block->stmts.items[i];

		drop_inside(arena, stmt);
		if (is_unread(stmt, &behind))
			drop(block, i);
		else
			k_stmt_mentions(arena, stmt, &behind);
	}
}

void k_drop_unread(struct arena *arena, struct k_block *block)
{
	const bool is_blank_first = begins_blank(block);

	drop_unread(arena, block);
	if (!is_blank_first && begins_blank(block))
		drop(block, 0);
}

/* ---- functions ---- */

static bool is_parameter(const struct k_function *function, const char *name)
{
	for (int i = 0; i < function->params.n; i++)
		if (strcmp(function->params.items[i].name, name) == 0)
			return true;
	return false;
}

/* `unused` of a parameter that is used. */
static bool is_needless(const struct k_function *function, int i)
{
	const struct k_block *body = &function->body;
	const struct k_stmt *stmt = body->stmts.items[i];
	const struct k_block before = { .stmts = { .items = body->stmts.items, .n = i } };

	return stmt->kind == KS_UNUSED && is_parameter(function, stmt->value->text) &&
	       (k_mentions(&before, stmt->value->text) || is_mentioned_behind(body, i, stmt->value->text));
}

/* What a kernel says of its teams will stand ahead of an empty line. */
void k_function_drop_unread(struct arena *arena, struct k_function *function)
{
	struct k_block *body = &function->body;
	const bool is_blank_first = begins_blank(body) || function->team.lanes > 0;

	drop_unread(arena, body);
	for (int i = body->stmts.n; i-- > 0;)
		if (is_needless(function, i))
			drop(body, i);
	if (!is_blank_first && begins_blank(body))
		drop(body, 0);
}
