/* SPDX-License-Identifier: MIT
 *
 * Mistakes in kernel trees. Only such are made that change what a program does: not in what asks for memory, not where
 * a loop runs once, and a serial loop is made concurrent only if an iteration changes what the next one reads. */
#include "kernel/mistakes_private.h"

#include <string.h>

const char *mistake_name(enum mistake_kind kind)
{
	static const char *const names[MISTAKE_KIND_N] = {
#define MISTAKE(id, name, sentence) name,
#include "kernel/mistakes.def"
#undef MISTAKE
	};

	return names[kind];
}

/* ---- adding one ---- */

static void add(struct search *search, struct mistake mistake)
{
	vec_push(search->arena, search->out, mistake);
}

void search_add_stmt(struct search *search, enum mistake_kind kind, struct k_stmt *stmt, struct k_stmt other)
{
	struct k_stmt *copy = arena_new(search->arena, struct k_stmt);

	*copy = other;
	add(search, (struct mistake) { .kind = kind, .stmt = stmt, .other_stmt = copy });
}

void search_add_expr(struct search *search, enum mistake_kind kind, struct k_stmt *stmt, struct k_expr **expr,
		     struct k_expr *other)
{
	add(search, (struct mistake) { .kind = kind, .stmt = stmt, .expr = expr, .other_expr = other });
}

void search_add_block(struct search *search, enum mistake_kind kind, struct k_stmt *stmt, struct k_block *block,
		      struct k_block other)
{
	add(search, (struct mistake) { .kind = kind, .stmt = stmt, .block = block, .other_block = other });
}

void search_add_function(struct search *search, struct mistake mistake)
{
	add(search, mistake);
}

void search_add_gap(struct search *search, enum mistake_kind kind, struct k_stmt *stmt)
{
	struct k_stmt gap = *stmt;

	gap.kind = KS_BLANK;
	search_add_stmt(search, kind, stmt, gap);
}

void search_add_shift(struct search *search, enum mistake_kind kind, struct k_stmt *stmt, struct k_expr **expr,
		      struct k_expr *unit)
{
	const enum k_op op = search->out->n % 2 ? K_ADD : K_SUB;

	search_add_expr(search, kind, stmt, expr, k_binary(search->arena, op, *expr, unit));
}

int64_t search_runs(const struct search *search, const struct k_stmt *stmt)
{
	return search->n_runs(search->user, stmt);
}

void mistake_exchange(struct mistake *mistake)
{
	if (mistake->other_stmt) {
		const struct k_stmt stmt = *mistake->stmt;

		*mistake->stmt = *mistake->other_stmt;
		*mistake->other_stmt = stmt;
	}
	if (mistake->expr) {
		struct k_expr *expr = *mistake->expr;

		*mistake->expr = mistake->other_expr;
		mistake->other_expr = expr;
	}
	if (mistake->function) {
		const struct k_function function = *mistake->function;

		*mistake->function = mistake->other_function;
		mistake->other_function = function;
	}
	if (mistake->block) {
		const struct k_block block = *mistake->block;

		*mistake->block = mistake->other_block;
		mistake->other_block = block;
	}
}

/* ---- of expressions ---- */

bool expr_is_name(const struct k_expr *expr, const char *name)
{
	return expr->kind == KE_NAME && !strcmp(expr->text, name);
}

struct k_expr *element_of(struct k_expr *target)
{
	while (target->kind == KE_CALL && target->args.n)
		target = target->args.items[0];
	return target->kind == KE_LOAD ? target : NULL;
}

const char *target_name(struct k_expr *target)
{
	const struct k_expr *element = element_of(target);

	if (element)
		target = element->args.items[0];
	return target->kind == KE_NAME ? target->text : NULL;
}

/* ---- all ---- */

static void find_in_block(struct search *search, struct k_block *block);

static void find_in_stmt(struct search *search, struct k_stmt *stmt)
{
	if (stmt->kind == KS_STORE)
		find_in_store(search, stmt);
	else if (stmt->kind == KS_LOOP)
		find_in_loop(search, stmt);
	else if (stmt->kind == KS_IF)
		find_in_branch(search, stmt);
	else if (stmt->kind == KS_CALL)
		find_in_call(search, stmt);
}

static void find_inside(struct search *search, struct k_stmt *stmt)
{
	const int outside = search->variables.n;

	search->repeated = stmt->kind == KS_LOOP && stmt->loop.kind == K_LOOP_SERIAL ? &stmt->loop.body : NULL;
	if (stmt->kind == KS_LOOP) {
		find_in_scope(search, stmt);
		vec_push(search->arena, &search->variables, stmt->loop.name);
	}
	if (stmt->kind == KS_IF)
		find_in_block(search, &stmt->branch.otherwise);
	if (stmt->kind != KS_RECORD && k_body(stmt))
		find_in_block(search, k_body(stmt));
	search->variables.n = outside;
}

static void find_in_block(struct search *search, struct k_block *block)
{
	for (int i = 0; i < block->stmts.n; i++) {
		struct k_stmt *stmt = block->stmts.items[i];

		if (!search_runs(search, stmt))
			continue;
		if (stmt->kind == KS_LET)
			find_in_let(search, block, i);
		find_in_order(search, block, i);
		find_in_called(search, block, i);
		find_in_stmt(search, stmt);
	}
	for (int i = 0; i < block->stmts.n; i++)
		if (search_runs(search, block->stmts.items[i]))
			find_inside(search, block->stmts.items[i]);
}

void mistakes_find(struct arena *arena, const struct k_program *program,
		   int64_t (*n_runs)(void *user, const struct k_stmt *stmt), void *user, mistake_list *out)
{
	struct search search = { .arena = arena, .program = program, .n_runs = n_runs, .user = user, .out = out };

	for (int i = 0; i < program->functions.n; i++) {
		search.body = &program->functions.items[i]->body;
		find_in_block(&search, &program->functions.items[i]->body);
	}
}
