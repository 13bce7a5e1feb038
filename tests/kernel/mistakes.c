/* SPDX-License-Identifier: MIT
 *
 * Mistakes in kernel trees. Only such are made that change what a program does: not in what asks for memory, not where
 * a loop runs once, and a serial loop is made concurrent only if an iteration changes what the next one reads. */
#include "kernel/mistakes.h"

#include <string.h>

struct search {
	struct arena *arena;
	int64_t (*n_runs)(void *user, const struct k_stmt *stmt);
	void *user;
	mistake_list *out;
	const struct k_block *body;
	bool has_barrier;               /* found in this function */
};

const char *mistake_name(enum mistake_kind kind)
{
	static const char *const names[MISTAKE_KIND_N] = {
		"bound", "first", "target", "source", "init", "nontemporal", "identity", "atomic", "reduction",
		"concurrent", "shared", "barriers"
	};

	return names[kind];
}

static void add(struct search *search, enum mistake_kind kind, struct k_stmt *stmt, struct k_expr **at)
{
	const int by = search->out->n % 2 ? 1 : -1;

	vec_push(search->arena, search->out, ((struct mistake) { kind, stmt, at, by, search->body }));
}

/* ---- loads and stores ---- */

static bool is_of_plan(const struct k_expr *load)
{
	return load->args.items[0]->kind == KE_MEMBER;
}

static void find_sources(struct search *search, struct k_stmt *stmt, struct k_expr *expr)
{
	if (!expr)
		return;
	if (expr->kind == KE_LOAD && !is_of_plan(expr))
		add(search, MISTAKE_SOURCE, stmt, &expr->args.items[1]);
	for (int i = 0; i < expr->args.n; i++)
		find_sources(search, stmt, expr->args.items[i]);
}

/* The element of a target, which a macro may stand around. */
static struct k_expr *element_of(struct k_expr *target)
{
	while (target->kind == KE_CALL && target->args.n)
		target = target->args.items[0];
	return target->kind == KE_LOAD ? target : NULL;
}

static void find_in_store(struct search *search, struct k_stmt *stmt)
{
	const struct k_store *store = &stmt->store;

	for (int i = 0; i < store->targets.n; i++)
		if (element_of(store->targets.items[i]))
			add(search, MISTAKE_TARGET, stmt, &element_of(store->targets.items[i])->args.items[1]);
	find_sources(search, stmt, store->value);
	if (store->op == K_OP_N)
		add(search, MISTAKE_INIT, stmt, NULL);
	if (store->mode == K_STORE_ATOMIC)
		add(search, MISTAKE_ATOMIC, stmt, NULL);
}

/* ---- loops ---- */

static bool expr_is_name(const struct k_expr *expr, const char *name)
{
	return expr->kind == KE_NAME && !strcmp(expr->text, name);
}

static bool expr_mentions(const struct k_expr *expr, const char *name)
{
	if (expr_is_name(expr, name))
		return true;
	for (int i = 0; i < expr->args.n; i++)
		if (expr_mentions(expr->args.items[i], name))
			return true;
	return false;
}

static bool declares(const struct k_block *block, const struct k_expr *target)
{
	for (int i = 0; i < block->stmts.n; i++)
		if (block->stmts.items[i]->kind == KS_LET && expr_mentions(target, block->stmts.items[i]->let.name))
			return true;
	return false;
}

/* Does the body, at its outermost level, update what is the same in each iteration? */
static bool hands_on(const struct k_loop *loop)
{
	for (int i = 0; i < loop->body.stmts.n; i++) {
		const struct k_stmt *stmt = loop->body.stmts.items[i];

		if (stmt->kind == KS_STORE && stmt->store.op != K_OP_N && stmt->store.mode == K_STORE_PLAIN &&
		    !expr_mentions(stmt->store.targets.items[0], loop->name) &&
		    !declares(&loop->body, stmt->store.targets.items[0]))
			return true;
	}
	return false;
}

/* Some time, more than one iteration. */
static bool repeats(const struct search *search, const struct k_stmt *stmt)
{
	const struct k_block *body = &stmt->loop.body;

	for (int i = 0; i < body->stmts.n; i++)
		if (search->n_runs(search->user, body->stmts.items[i]) > search->n_runs(search->user, stmt))
			return true;
	return false;
}

static void find_in_loop(struct search *search, struct k_stmt *stmt)
{
	struct k_loop *loop = &stmt->loop;

	add(search, MISTAKE_BOUND, stmt, &loop->bound);
	if (loop->kind == K_LOOP_SERIAL)
		add(search, MISTAKE_FIRST, stmt, &loop->first);
	if (!repeats(search, stmt))
		return;
	if (loop->reductions.n)
		add(search, MISTAKE_REDUCTION, stmt, NULL);
	if (loop->kind == K_LOOP_SERIAL && hands_on(loop))
		add(search, MISTAKE_CONCURRENT, stmt, NULL);
	if (loop->kind == K_LOOP_WORKSHARE && !loop->share.starts_team)
		add(search, MISTAKE_SHARED, stmt, NULL);
}

/* ---- what else stands alone ---- */

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

static void find_in_let(struct search *search, struct k_stmt *stmt)
{
	const struct k_expr *value = stmt->let.value;
	struct updates updates = { stmt->let.name, 0 };

	if (!stmt->let.is_variable || !value || (value->kind != KE_INT && value->kind != KE_FLOAT))
		return;
	k_walk_block(search->body, &(struct k_visitor) { .stmt = count_update, .user = &updates });
	if (updates.n > 0)
		add(search, MISTAKE_IDENTITY, stmt, &stmt->let.value);
}

static void find_in_stmt(struct search *search, struct k_stmt *stmt)
{
	if (stmt->kind == KS_STORE)
		find_in_store(search, stmt);
	if (stmt->kind == KS_LOOP)
		find_in_loop(search, stmt);
	if (stmt->kind == KS_LET)
		find_in_let(search, stmt);
	if (stmt->kind == KS_CALL && k_effects(stmt->value) & K_CALL_IS_NONTEMPORAL)
		add(search, MISTAKE_NONTEMPORAL, stmt, NULL);
}

/* ---- all ---- */

static void find_in_block(struct search *search, const struct k_block *block);

static void find_inside(struct search *search, struct k_stmt *stmt)
{
	switch (stmt->kind) {
	case KS_BLOCK:
	case KS_PARALLEL: find_in_block(search, &stmt->body); break;
	case KS_LOOP: find_in_block(search, &stmt->loop.body); break;
	case KS_WHILE: find_in_block(search, &stmt->repeat.body); break;
	case KS_IF:
		find_in_block(search, &stmt->branch.then);
		find_in_block(search, &stmt->branch.otherwise);
		break;
	case KS_LET:
	case KS_STORE:
	case KS_CALL:
	case KS_RETURN:
	case KS_BREAK:
	case KS_CONTINUE:
	case KS_RECORD:
	case KS_UNUSED:
	case KS_COMMENT:
	case KS_BLANK:
	case KS_N: break;
	}
}

static bool is_barrier(const struct k_stmt *stmt)
{
	return stmt->kind == KS_CALL && stmt->value->kind == KE_NAME && !strcmp(stmt->value->text, "PMG_TEAM_SYNC");
}

static void find_in_block(struct search *search, const struct k_block *block)
{
	for (int i = 0; i < block->stmts.n; i++) {
		struct k_stmt *stmt = block->stmts.items[i];

		if (!search->n_runs(search->user, stmt))
			continue;
		if (is_barrier(stmt) && !search->has_barrier)
			add(search, MISTAKE_BARRIERS, stmt, NULL);
		search->has_barrier |= is_barrier(stmt);
		find_in_stmt(search, stmt);
		find_inside(search, stmt);
	}
}

void mistakes_find(struct arena *arena, const struct k_program *program,
		   int64_t (*n_runs)(void *user, const struct k_stmt *stmt), void *user, mistake_list *out)
{
	struct search search = { .arena = arena, .n_runs = n_runs, .user = user, .out = out };

	for (int i = 0; i < program->functions.n; i++) {
		search.body = &program->functions.items[i]->body;
		search.has_barrier = false;
		find_in_block(&search, search.body);
	}
}

/* ---- making one ---- */

static bool is_sync(const struct k_stmt *stmt)
{
	return (stmt->kind == KS_CALL || stmt->kind == KS_BLANK) && stmt->value && stmt->value->kind == KE_NAME &&
	       !strcmp(stmt->value->text, "PMG_TEAM_SYNC");
}

static void set_barriers(const struct k_block *block, enum k_stmt_kind kind)
{
	for (int i = 0; i < block->stmts.n; i++) {
		struct k_stmt *stmt = block->stmts.items[i];

		if (is_sync(stmt))
			stmt->kind = kind;
		if (stmt->kind == KS_BLOCK || stmt->kind == KS_LOOP)
			set_barriers(stmt->kind == KS_LOOP ? &stmt->loop.body : &stmt->body, kind);
		if (stmt->kind == KS_IF) {
			set_barriers(&stmt->branch.then, kind);
			set_barriers(&stmt->branch.otherwise, kind);
		}
	}
}

static void make_in_loop(const struct mistake *mistake)
{
	struct k_loop *loop = &mistake->stmt->loop;

	if (mistake->kind == MISTAKE_REDUCTION)
		loop->reductions.n = 0;
	if (mistake->kind == MISTAKE_CONCURRENT)
		loop->kind = K_LOOP_SIMD;
	if (mistake->kind == MISTAKE_SHARED)
		loop->kind = K_LOOP_SERIAL;
}

struct k_stmt mistake_make(struct arena *arena, const struct mistake *mistake, struct k_expr **before)
{
	const struct k_stmt stmt = *mistake->stmt;

	const bool is_of_loop = mistake->kind == MISTAKE_BOUND || mistake->kind == MISTAKE_FIRST;
	struct k_expr *by = is_of_loop && stmt.loop.step ? stmt.loop.step : k_int(arena, 1);

	*before = mistake->at ? *mistake->at : NULL;
	if (mistake->at)
		*mistake->at = k_binary(arena, mistake->by > 0 ? K_ADD : K_SUB, *mistake->at, by);
	if (mistake->kind == MISTAKE_INIT || mistake->kind == MISTAKE_NONTEMPORAL)
		mistake->stmt->kind = KS_BLANK;
	if (mistake->kind == MISTAKE_BARRIERS)
		set_barriers(mistake->body, KS_BLANK);
	if (mistake->kind == MISTAKE_ATOMIC)
		mistake->stmt->store.mode = K_STORE_PLAIN;
	if (stmt.kind == KS_LOOP)
		make_in_loop(mistake);
	return stmt;
}

void mistake_undo(const struct mistake *mistake, const struct k_stmt *stmt, struct k_expr *before)
{
	if (mistake->kind == MISTAKE_BARRIERS)
		set_barriers(mistake->body, KS_CALL);
	*mistake->stmt = *stmt;
	if (mistake->at)
		*mistake->at = before;
}
