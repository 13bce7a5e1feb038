/* SPDX-License-Identifier: MIT
 *
 * Mistakes in loops. */
#include "kernel/mistakes_private.h"

/* ---- what a loop does ---- */

static bool declares(const struct k_block *block, const struct k_expr *target)
{
	for (int i = 0; i < block->stmts.n; i++)
		if (block->stmts.items[i]->kind == KS_LET &&
		    k_expr_mentions(target, block->stmts.items[i]->let.name))
			return true;
	return false;
}

/* Does the body, at its outermost level, update what is the same in each iteration? */
static bool hands_on(const struct k_loop *loop)
{
	for (int i = 0; i < loop->body.stmts.n; i++) {
		const struct k_stmt *stmt = loop->body.stmts.items[i];

		if (stmt->kind == KS_STORE && stmt->store.op != K_OP_N && stmt->store.mode == K_STORE_PLAIN &&
		    !k_expr_mentions(stmt->store.targets.items[0], loop->name) &&
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
		if (search_runs(search, body->stmts.items[i]) > search_runs(search, stmt))
			return true;
	return false;
}

/* Does the body, at its outermost level, set or update what is there without the loop? */
static bool stores(const struct k_loop *loop)
{
	for (int i = 0; i < loop->body.stmts.n; i++)
		if (loop->body.stmts.items[i]->kind == KS_STORE &&
		    !declares(&loop->body, loop->body.stmts.items[i]->store.targets.items[0]))
			return true;
	return false;
}

/* ---- who runs what ---- */

static void find_kind(struct search *search, struct k_stmt *stmt)
{
	struct k_stmt other = *stmt;

	other.loop.reductions.n = 0;
	if (stmt->loop.reductions.n)
		search_add_stmt(search, MISTAKE_REDUCTION, stmt, other);
	other = *stmt;
	other.loop.kind = K_LOOP_SIMD;
	if (stmt->loop.kind == K_LOOP_SERIAL && hands_on(&stmt->loop))
		search_add_stmt(search, MISTAKE_CONCURRENT, stmt, other);
	other.loop.kind = K_LOOP_SERIAL;
	if (stmt->loop.kind == K_LOOP_WORKSHARE && !stmt->loop.share.starts_team)
		search_add_stmt(search, MISTAKE_SHARED, stmt, other);
}

static void find_lanes(struct search *search, struct k_stmt *stmt)
{
	struct k_loop *loop = &stmt->loop;
	struct k_expr *one = k_int(search->arena, 1);

	if (loop->count && (loop->kind == K_LOOP_GRID || loop->kind == K_LOOP_LANES))
		search_add_shift(search, MISTAKE_LANES, stmt, &loop->count, one);
	if (loop->number && (loop->kind == K_LOOP_GRID || loop->kind == K_LOOP_LANES))
		search_add_expr(search, MISTAKE_NUMBER, stmt, &loop->number,
				k_binary(search->arena, K_ADD, loop->number, one));
}

void find_in_loop(struct search *search, struct k_stmt *stmt)
{
	struct k_loop *loop = &stmt->loop;
	struct k_expr *step = loop->step ? loop->step : k_int(search->arena, 1), *two = k_int(search->arena, 2);

	search_add_shift(search, MISTAKE_BOUND, stmt, &loop->bound, step);
	if (loop->kind == K_LOOP_SERIAL)
		search_add_shift(search, MISTAKE_FIRST, stmt, &loop->first, step);
	find_lanes(search, stmt);
	if (!repeats(search, stmt))
		return;
	search_add_expr(search, MISTAKE_STEP, stmt, &loop->step,
			loop->step ? k_binary(search->arena, K_MUL, two, step) : two);
	if (stores(loop))
		search_add_gap(search, MISTAKE_LEFT_OUT, stmt);
	find_kind(search, stmt);
}
