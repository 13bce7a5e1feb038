/* SPDX-License-Identifier: MIT
 *
 * Statements of a part among the names of what it stays in. A part is built as if it were a function, so that it may
 * declare what one before it has declared: x is x_2 then, and what was x_2 because of another x becomes x_3. */
#include <ctype.h>
#include <string.h>

#include "kernel/lower/outline_private.h"

struct renamed {
	const char *from, *to;
};

struct renaming {
	struct arena *arena;
	name_list visible;              /* with what is declared so far, by its new name */
	VEC(struct renamed) renamed;    /* that are visible, innermost last */
};

static void rename_block(struct renaming *renaming, struct k_block *block);

/* ---- the names ---- */

static const char *name_of(const struct renaming *renaming, const char *name)
{
	for (int i = renaming->renamed.n; i-- > 0;)
		if (strcmp(renaming->renamed.items[i].from, name) == 0)
			return renaming->renamed.items[i].to;
	return name;
}

/* x of x_2, if that is what another name made of it. */
static const char *stem_of(const struct renaming *renaming, const char *name)
{
	const char *end = strrchr(name, '_');
	const char *stem = end && end[1] && end[1 + strspn(end + 1, "0123456789")] == '\0'
			 ? arena_copy(renaming->arena, name, (size_t) (end - name)) : name;

	return name_list_has(&renaming->visible, stem) ? stem : name;
}

static const char *declare(struct renaming *renaming, const char *name)
{
	const char *to = name;

	if (name_list_has(&renaming->visible, name))
		to = lower_name(renaming->arena, &renaming->visible, NULL, stem_of(renaming, name));
	vec_push(renaming->arena, &renaming->visible, to);
	vec_push(renaming->arena, &renaming->renamed, ((struct renamed) { name, to }));
	return to;
}

/* ---- statements, of a copy: none stands in two places ---- */

static bool rename_expr(const struct k_expr *expr, void *user)
{
	if (expr->kind == KE_NAME)
		((struct k_expr *) (uintptr_t) expr)->text = name_of(user, expr->text);
	return true;
}

static void rename_part(const struct k_expr *expr, void *user)
{
	k_walk_expr(expr, &(struct k_visitor) { .expr = rename_expr, .user = user });
}

static void rename_loop(struct renaming *renaming, struct k_loop *loop)
{
	for (int i = 0; i < loop->reductions.n; i++)
		loop->reductions.items[i].name = name_of(renaming, loop->reductions.items[i].name);
	loop->name = declare(renaming, loop->name);
	rename_block(renaming, &loop->body);
}

static void rename_stmt(struct renaming *renaming, struct k_stmt *stmt);

static void rename_while(struct renaming *renaming, struct k_stmt *stmt)
{
	for (int i = 0; i < stmt->repeat.before.stmts.n; i++)
		rename_stmt(renaming, stmt->repeat.before.stmts.items[i]);
	k_each_expr(stmt, rename_part, renaming);
	if (stmt->repeat.after)
		rename_stmt(renaming, stmt->repeat.after);
	rename_block(renaming, &stmt->repeat.body);
}

static void rename_inside(struct renaming *renaming, struct k_stmt *stmt)
{
	const int visible = renaming->visible.n, renamed = renaming->renamed.n;

	if (stmt->kind == KS_WHILE)
		rename_while(renaming, stmt);
	else if (stmt->kind == KS_LOOP)
		rename_loop(renaming, &stmt->loop);
	else if (stmt->kind != KS_RECORD && k_body(stmt))
		rename_block(renaming, k_body(stmt));
	if (stmt->kind == KS_IF)
		rename_block(renaming, &stmt->branch.otherwise);
	renaming->visible.n = visible;
	renaming->renamed.n = renamed;
}

static void rename_stmt(struct renaming *renaming, struct k_stmt *stmt)
{
	if (stmt->kind != KS_WHILE)
		k_each_expr(stmt, rename_part, renaming);
	rename_inside(renaming, stmt);
	if (stmt->kind == KS_LET)
		stmt->let.name = declare(renaming, stmt->let.name);
}

static void rename_block(struct renaming *renaming, struct k_block *block)
{
	const int visible = renaming->visible.n, renamed = renaming->renamed.n;

	for (int i = 0; i < block->stmts.n; i++)
		rename_stmt(renaming, block->stmts.items[i]);
	renaming->visible.n = visible;
	renaming->renamed.n = renamed;
}

/* ---- is there anything to do? ---- */

struct meeting {
	const name_list *visible;
	bool is_found;
};

static bool find_meeting(const struct k_stmt *stmt, void *user)
{
	struct meeting *meeting = user;
	const char *name = stmt->kind == KS_LET ? stmt->let.name : stmt->kind == KS_LOOP ? stmt->loop.name : NULL;

	meeting->is_found = meeting->is_found || (name && name_list_has(meeting->visible, name));
	return !meeting->is_found;
}

struct k_block outline_rename(struct arena *arena, const name_list *visible, const struct k_block *block)
{
	struct meeting meeting = { .visible = visible };
	struct renaming renaming = { .arena = arena };
	struct k_block copy;

	k_walk_block(block, &(struct k_visitor) { .stmt = find_meeting, .user = &meeting });
	if (!meeting.is_found)
		return *block;
	for (int i = 0; i < visible->n; i++)
		vec_push(arena, &renaming.visible, visible->items[i]);
	copy = k_copy_block(arena, block, &(struct k_replacing) { 0 });
	for (int i = 0; i < copy.stmts.n; i++)
		rename_stmt(&renaming, copy.stmts.items[i]);
	return copy;
}
