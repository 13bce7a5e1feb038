/* SPDX-License-Identifier: MIT
 *
 * Who reaches what in a kernel function. A barrier is reached by all lanes of a team or by none, so what it stands in
 * may not depend on which lane, or thread, this is; and it stands in no loop that divides its iterations among them.
 * All lanes of a team have the same iteration of a loop over the grid: barriers of teams may be there, those of the
 * whole grid not. Threads share a loop where a team is, all of them or none; nothing leaves it early.
 */
#include <string.h>

#include "kernel/kernel_private.h"

/* ---- barriers ---------------------------------------------------------------------------------------------- */

static bool divides(const struct k_stmt *stmt)
{
	return stmt->kind == KS_LOOP && (stmt->loop.kind == K_LOOP_LANES || stmt->loop.kind == K_LOOP_SIMD ||
					 stmt->loop.kind == K_LOOP_WORKSHARE);
}

/* The statement around a place that not all reach alike; NULL: there is none. */
static const struct k_stmt *obstacle(const struct k_check *check, const struct k_scope *place, unsigned by)
{
	for (int i = 0; i < place->inside.n; i++) {
		const struct k_stmt *around = place->inside.items[i];

		if (divides(around) || k_stmt_differs_by(check->varying, place, around) & by)
			return around;
	}
	return NULL;
}

static const char *kind_of(const struct k_stmt *stmt)
{
	return stmt->kind == KS_IF ? "an if" : "a loop";
}

static bool check_barrier(const struct k_expr *expr, void *user)
{
	struct k_check *check = user;
	const unsigned effects = k_effects(expr);
	const bool is_of_grid = effects & K_CALL_IS_GRID_BARRIER;
	const struct k_stmt *around;

	if (!(effects & (K_CALL_IS_BARRIER | K_CALL_IS_GRID_BARRIER)))
		return true;
	around = obstacle(check, check->place, is_of_grid ? K_BY_ANY : K_BY_LANE);
	if (around)
		K_FAULT(check, "not all %s reach '%s', which stands in %s that %s",
			is_of_grid ? "teams" : "lanes", expr->text, kind_of(around),
			divides(around) ? "divides its iterations" : "depends on which it is");
	return true;
}

/* ---- teams of threads ---------------------------------------------------------------------------------------- */

static bool is_in_parallel(const struct k_scope *place)
{
	for (int i = 0; i < place->inside.n; i++)
		if (place->inside.items[i]->kind == KS_PARALLEL)
			return true;
	return false;
}

struct calls {
	const char *name;
	bool is_found;
};

static bool find_call(const struct k_expr *expr, void *user)
{
	struct calls *calls = user;

	calls->is_found |= expr->kind == KE_CALL && strcmp(expr->text, calls->name) == 0;
	return !calls->is_found;
}

static bool find_in_parallel(const struct k_stmt *stmt, void *user)
{
	struct calls *calls = user;

	if (stmt->kind == KS_PARALLEL)
		k_walk_block(&stmt->body, &(struct k_visitor) { .expr = find_call, .user = calls });
	return !calls->is_found;
}

static bool is_called_by_teams(const struct k_program *program, const char *name, int depth)
{
	for (int i = 0; i < program->functions.n; i++) {
		const struct k_function *caller = program->functions.items[i];
		struct calls calls = { .name = name };

		k_walk_block(&caller->body, &(struct k_visitor) { .stmt = find_in_parallel, .user = &calls });
		if (calls.is_found)
			return true;
		k_walk_block(&caller->body, &(struct k_visitor) { .expr = find_call, .user = &calls });
		if (calls.is_found && depth > 0 && is_called_by_teams(program, caller->name, depth - 1))
			return true;
	}
	return false;
}

static bool has_team(const struct k_scope *place)
{
	return is_in_parallel(place) || is_called_by_teams(place->program, place->function->name,
							   place->program->functions.n);
}

static void check_share(struct k_check *check, const struct k_loop *loop)
{
	const struct k_scope *place = check->place;

	if (loop->share.starts_team && is_in_parallel(place))
		K_FAULT(check, "starts a team where one is");
	else if (!loop->share.starts_team && !has_team(place))
		K_FAULT(check, "there is no team that shares this loop");
	else if (obstacle(check, place, K_CALL_IS_OF_THREAD))
		K_FAULT(check, "not all threads reach the loop that they share");
}

/* ---- who has which iterations ------------------------------------------------------------------------------------ */

static const struct { const char *number, *count; } numbers[] = {
	{ "pmg_index", "pmg_teams" }, { "pmg_lane", "pmg_team" }, { "pmg_member", "pmg_group" },
	{ "pmg_group_number", "pmg_groups" }
};

static const char *count_of(const struct k_expr *number)
{
	for (size_t i = 0; number->kind == KE_NAME && i < sizeof numbers / sizeof *numbers; i++)
		if (strcmp(numbers[i].number, number->text) == 0)
			return numbers[i].count;
	return NULL;
}

/* Each iteration is one's, and no other one's. */
static void check_division(struct k_check *check, const struct k_loop *loop)
{
	struct arena *arena = check->place->arena;
	const char *count = count_of(loop->number);

	if (!count)
		K_FAULT(check, "'%s' is no number of a group or lane", k_expr_text(arena, loop->number));
	else if (loop->count && (loop->count->kind != KE_NAME || strcmp(loop->count->text, count) != 0))
		K_FAULT(check, "'%s' is one of '%s', not of '%s'", loop->number->text, count,
			k_expr_text(arena, loop->count));
}

/* ---- what leaves early ------------------------------------------------------------------------------------------ */

static bool is_of_threads(const struct k_stmt *stmt)
{
	return stmt->kind == KS_PARALLEL || (stmt->kind == KS_LOOP && (stmt->loop.kind == K_LOOP_WORKSHARE ||
								       stmt->loop.kind == K_LOOP_SIMD));
}

static void check_return(struct k_check *check)
{
	const struct k_scope *place = check->place;

	for (int i = 0; i < place->inside.n; i++)
		if (is_of_threads(place->inside.items[i]))
			K_FAULT(check, "nothing returns from what threads or lanes share");
}

/* The loop that a `break` leaves; NULL: there is none in this region. */
static const struct k_stmt *left_loop(const struct k_scope *place)
{
	for (int i = place->inside.n; i-- > 0;) {
		const struct k_stmt *stmt = place->inside.items[i];

		if (stmt->kind == KS_PARALLEL)
			return NULL;
		if (stmt->kind == KS_LOOP || stmt->kind == KS_WHILE)
			return stmt;
	}
	return NULL;
}

static void check_break(struct k_check *check)
{
	const struct k_stmt *left = left_loop(check->place);

	if (!left)
		K_FAULT(check, "there is no loop to leave");
	else if (left->kind == KS_LOOP && k_kind_differs_by(left->loop.kind) != 0)
		K_FAULT(check, "nothing leaves a loop whose iterations are concurrent");
}

/* ---- statements ------------------------------------------------------------------------------------------------- */

static void check_stmt(struct k_check *check, const struct k_stmt *stmt)
{
	if (stmt->kind == KS_LOOP && stmt->loop.kind == K_LOOP_WORKSHARE)
		check_share(check, &stmt->loop);
	else if (stmt->kind == KS_LOOP && stmt->loop.number)
		check_division(check, &stmt->loop);
	else if (stmt->kind == KS_RETURN)
		check_return(check);
	else if (stmt->kind == KS_BREAK)
		check_break(check);
}

const struct k_rule k_rule_teams = { .expr = check_barrier, .stmt = check_stmt };
