/* SPDX-License-Identifier: MIT
 *
 * A walk through a function that knows at each statement which names are visible, and inside of which statements it
 * stands. A declaration is visible from the statement behind it to the end of its block, the variable of a loop in the
 * body, what a `while` declares in all of it. */
#include <string.h>

#include "kernel/kernel_private.h"

struct walk {
	struct k_scope place;
	const struct k_scope_visitor *visitor;
};

static void walk_stmt(struct walk *walk, const struct k_stmt *stmt);

static int number_of(const struct k_scope *place, const char *name)
{
	return (int) (intptr_t) name_table_get(&place->numbers, name);
}

static void set_number(struct k_scope *place, const char *name, int number)
{
	name_table_set(place->arena, &place->numbers, name, (void *) (intptr_t) number);
}

static void declare(struct walk *walk, struct k_declared declared)
{
	if (walk->visitor->declare)
		walk->visitor->declare(&walk->place, &declared, walk->visitor->user);
	declared.hides = number_of(&walk->place, declared.name);
	vec_push(walk->place.arena, &walk->place.visible, declared);
	set_number(&walk->place, declared.name, walk->place.visible.n);
}

static void leave(struct walk *walk, int visible)
{
	while (walk->place.visible.n > visible) {
		const struct k_declared *last = &walk->place.visible.items[--walk->place.visible.n];

		set_number(&walk->place, last->name, last->hides);
	}
}

static void visit(struct walk *walk, const struct k_stmt *stmt)
{
	if (walk->visitor->stmt)
		walk->visitor->stmt(&walk->place, stmt, walk->visitor->user);
}

static void walk_block(struct walk *walk, const struct k_block *block)
{
	const int visible = walk->place.visible.n;

	for (int i = 0; i < block->stmts.n; i++)
		walk_stmt(walk, block->stmts.items[i]);
	leave(walk, visible);
}

static void declare_let(struct walk *walk, const struct k_stmt *stmt)
{
	const struct k_let *let = &stmt->let;
	const bool is_of_value = strcmp(let->type.name, "auto") == 0 && let->value;

	declare(walk, (struct k_declared) { .name = let->name, .rank = let->extents.n, .stmt = stmt,
					    .type = is_of_value ? let->value->type : let->type });
}

static void walk_while(struct walk *walk, const struct k_stmt *stmt)
{
	const int visible = walk->place.visible.n;

	for (int i = 0; i < stmt->repeat.before.stmts.n; i++)
		walk_stmt(walk, stmt->repeat.before.stmts.items[i]);
	visit(walk, stmt);
	vec_push(walk->place.arena, &walk->place.inside, stmt);
	if (stmt->repeat.after)
		walk_stmt(walk, stmt->repeat.after);
	walk_block(walk, &stmt->repeat.body);
	walk->place.inside.n--;
	leave(walk, visible);
}

/* A macro that declares a variable. */
static void declare_by_call(struct walk *walk, const struct k_stmt *stmt)
{
	const struct k_expr *call = stmt->value;
	const struct k_callee *callee = call->kind == KE_CALL ? k_callee_find(call->text) : NULL;
	const char *letter = callee ? strchr(callee->arguments, 'x') : NULL;

	const struct k_expr *type, *name;

	if (!letter || letter - callee->arguments >= call->args.n)
		return;
	type = call->args.items[0];
	name = call->args.items[letter - callee->arguments];
	if (name->kind != KE_NAME || (type->kind != KE_TYPE && type->kind != KE_NAME))
		return;
	declare(walk, (struct k_declared) { .name = name->text, .rank = 1, .stmt = stmt,
					    .type = type->kind == KE_TYPE ? type->of : k_scalar(type->text) });
}

/* The variable of a loop is visible in the body. */
static void walk_inside(struct walk *walk, const struct k_stmt *stmt)
{
	const int visible = walk->place.visible.n;

	vec_push(walk->place.arena, &walk->place.inside, stmt);
	if (stmt->kind == KS_LOOP)
		declare(walk, (struct k_declared) { .name = stmt->loop.name, .type = stmt->loop.type, .stmt = stmt });
	for (const struct k_part *part = k_parts(stmt); part->sort != K_PART_END; part++)
		if (part->sort == K_PART_BLOCK)
			walk_block(walk, k_part_at(stmt, part));
	leave(walk, visible);
	walk->place.inside.n--;
}

static void walk_stmt(struct walk *walk, const struct k_stmt *stmt)
{
	if (stmt->kind == KS_WHILE) {
		walk_while(walk, stmt);
		return;
	}
	visit(walk, stmt);
	walk_inside(walk, stmt);
	if (stmt->kind == KS_LET)
		declare_let(walk, stmt);
	else if (stmt->kind == KS_RECORD)
		declare(walk, (struct k_declared) { .name = stmt->record.name, .type = k_scalar(stmt->record.name),
						    .stmt = stmt });
	else if (stmt->kind == KS_CALL)
		declare_by_call(walk, stmt);
}

void k_walk_function(struct arena *arena, const struct k_program *program, const struct k_function *function,
		     const struct k_scope_visitor *visitor)
{
	struct walk walk = { .place = { .arena = arena, .program = program, .function = function },
			     .visitor = visitor };

	for (int i = 0; program && i < program->globals.n; i++)
		declare(&walk, (struct k_declared) { .name = program->globals.items[i].name,
						     .type = program->globals.items[i].type });
	for (int i = 0; i < function->params.n; i++)
		declare(&walk, (struct k_declared) { .name = function->params.items[i].name,
						     .type = function->params.items[i].type });
	walk_block(&walk, &function->body);
}

const struct k_declared *k_declared_find(const struct k_scope *place, const char *name)
{
	const int number = number_of(place, name);

	return number ? &place->visible.items[number - 1] : NULL;
}

const struct k_function *k_function_find(const struct k_program *program, const char *name)
{
	for (int i = 0; program && i < program->functions.n; i++)
		if (strcmp(program->functions.items[i]->name, name) == 0)
			return program->functions.items[i];
	return NULL;
}

const struct k_function *k_called_function(const struct k_program *program, const struct k_expr *call, int *first)
{
	const struct k_callee *callee = k_callee_find(call->text);
	const char *letter = callee ? strchr(callee->arguments, 'f') : NULL;
	const struct k_expr *launched;

	*first = letter ? (int) strcspn(callee->arguments, "o") : 0;
	if (!letter)
		return k_function_find(program, call->text);
	launched = *first <= call->args.n ? call->args.items[letter - callee->arguments] : NULL;
	return launched && launched->kind == KE_NAME ? k_function_find(program, launched->text) : NULL;
}

void k_each_expr(const struct k_stmt *stmt, void (*visit_expr)(const struct k_expr *expr, void *user), void *user)
{
	for (const struct k_part *part = k_parts(stmt); part->sort != K_PART_END; part++) {
		const struct k_exprs exprs = k_part_exprs(stmt, part);

		for (int i = 0; i < exprs.n; i++)
			if (exprs.items[i])
				visit_expr(exprs.items[i], user);
	}
}

const struct k_expr *k_buffer_of(const struct k_expr *expr, int *n_indices)
{
	*n_indices = 0;
	for (; expr->kind == KE_LOAD; expr = expr->args.items[0])
		++*n_indices;
	return expr->kind == KE_NAME ? expr : NULL;
}
