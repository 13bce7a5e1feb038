/* SPDX-License-Identifier: MIT
 *
 * Names that lowerings look for, and that they give to what they declare. */
#include <string.h>

#include "kernel/lower/lower_private.h"

bool is_call_of(const struct k_expr *expr, const char *function)
{
	return expr && expr->kind == KE_CALL && strcmp(expr->text, function) == 0;
}

bool is_kernel_of_blocks(const struct k_function *function)
{
	const struct k_stmt *first = function->body.stmts.n ? function->body.stmts.items[0] : NULL;

	return function->kind == K_FUNCTION_DEVICE && first && first->kind == KS_CALL &&
	       is_call_of(first->value, "PMG_TEAM_BLOCK");
}

bool is_name_of(const struct k_expr *expr, const char *name)
{
	return expr && expr->kind == KE_NAME && strcmp(expr->text, name) == 0;
}

void name_list_begin(struct arena *arena, name_list *names, const struct k_program *program,
		     const struct k_function *function)
{
	for (int i = 0; i < program->globals.n; i++)
		vec_push(arena, names, program->globals.items[i].name);
	for (int i = 0; i < function->params.n; i++)
		vec_push(arena, names, function->params.items[i].name);
}

struct collecting {
	struct arena *arena;
	name_list *names;
};

static bool note_name(const struct k_expr *expr, void *user)
{
	const struct collecting *collecting = user;

	if (expr->kind == KE_NAME)
		vec_push(collecting->arena, collecting->names, expr->text);
	return true;
}

/* A call may be a macro that declares what it names. */
void name_list_declare(struct arena *arena, name_list *names, const struct k_stmt *stmt)
{
	struct collecting collecting = { arena, names };

	if (stmt->kind == KS_LET)
		vec_push(arena, names, stmt->let.name);
	else if (stmt->kind == KS_CALL)
		k_walk_expr(stmt->value, &(struct k_visitor) { .expr = note_name, .user = &collecting });
}

static void enter(struct arena *arena, name_list *names, const struct k_stmt *stmt)
{
	if (stmt->kind == KS_LOOP)
		vec_push(arena, names, stmt->loop.name);
	for (int i = 0; stmt->kind == KS_WHILE && i < stmt->repeat.before.stmts.n; i++)
		name_list_declare(arena, names, stmt->repeat.before.stmts.items[i]);
}

bool name_list_has(const name_list *names, const char *name)
{
	for (int i = 0; i < names->n; i++)
		if (strcmp(names->items[i], name) == 0)
			return true;
	return false;
}

const char *lower_name(struct arena *arena, const name_list *names, const struct k_stmt *stmt, const char *base)
{
	struct name_table mentioned = { 0 };
	const char *name = base;

	if (stmt)
		k_stmt_mentions(arena, stmt, &mentioned);
	for (int i = 2; name_list_has(names, name) || name_table_get(&mentioned, name); i++)
		name = arena_printf(arena, "%s_%d", base, i);
	return name;
}

const char *name_list_new(struct arena *arena, name_list *names, const struct k_stmt *stmt, const char *base)
{
	const char *name = lower_name(arena, names, stmt, base);

	vec_push(arena, names, name);
	return name;
}

const char *name_list_ahead(struct arena *arena, name_list *names, const struct k_block *block, int i,
			    const char *base)
{
	const struct k_stmt rest = { .kind = KS_BLOCK, .body = { .stmts = { .items = block->stmts.items + i,
									    .n = block->stmts.n - i } } };

	return name_list_new(arena, names, &rest, base);
}

void name_list_inside(struct arena *arena, name_list *names, struct k_stmt *stmt,
		      void (*lower)(struct k_block *block, void *user), void *user)
{
	const int outside = names->n;

	if (stmt->kind == KS_RECORD)
		return;
	enter(arena, names, stmt);
	if (stmt->kind == KS_IF)
		lower(&stmt->branch.otherwise, user);
	if (k_body(stmt))
		lower(k_body(stmt), user);
	names->n = outside;
}
