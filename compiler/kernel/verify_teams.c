/* SPDX-License-Identifier: MIT
 *
 * Who reaches what in a kernel function. A barrier is reached by all lanes of a team or by none, so what it stands in
 * may not depend on which lane, or thread, this is; and it stands in no loop that divides its iterations among them.
 * All lanes of a team have the same iteration of a loop over the grid: barriers of teams may be there, those of the
 * whole grid not. Threads share a loop where a team is, all of them or none; nothing leaves it early.
 *
 * What depends on a lane is found by names: its number, what is computed from that, what is set where lanes go
 * different ways. What lies in memory is the same for all. */
#include <string.h>

#include "kernel/kernel_private.h"

enum {
	BY_LANE = K_CALL_IS_OF_LANE | K_CALL_IS_OF_THREAD,
	BY_ANY = BY_LANE | K_CALL_IS_OF_TEAM
};

/* By whom the value of a variable differs, and who executes a statement. */
struct varying {
	const struct k_stmt *declaration;
	unsigned by;
};

struct search {
	struct k_check check;
	VEC(struct varying) varying;
	bool has_changed;
};

/* ---- what differs ------------------------------------------------------------------------------------ */

static unsigned declared_differs_by(const struct search *search, const struct k_stmt *declaration)
{
	for (int i = 0; declaration && i < search->varying.n; i++)
		if (search->varying.items[i].declaration == declaration)
			return search->varying.items[i].by;
	return 0;
}

static unsigned name_differs_by(const struct search *search, const struct k_scope *place, const char *name)
{
	const struct k_declared *declared = k_declared_find(place, name);
	const struct k_callee *runtime = declared ? NULL : k_runtime_name_find(name);

	if (declared)
		return declared_differs_by(search, declared->stmt);
	return runtime ? runtime->effects & BY_ANY : 0;
}

static unsigned differs_by(const struct search *search, const struct k_scope *place, const struct k_expr *expr)
{
	const struct k_callee *callee = expr->kind == KE_CALL ? k_callee_find(expr->text) : NULL;
	unsigned by = callee ? callee->effects & BY_ANY : 0;

	if (expr->kind == KE_NAME)
		return name_differs_by(search, place, expr->text);
	for (int i = 0; i < expr->args.n; i++)
		if (!callee || k_callee_argument(callee, i) != 'l')
			by |= differs_by(search, place, expr->args.items[i]);
	return by;
}

static unsigned part_differs_by(const struct search *search, const struct k_scope *place, const struct k_expr *expr)
{
	return expr ? differs_by(search, place, expr) : 0;
}

static unsigned kind_differs_by(enum k_loop_kind kind)
{
	switch (kind) {
	case K_LOOP_LANES:
	case K_LOOP_SIMD:
		return K_CALL_IS_OF_LANE;
	case K_LOOP_WORKSHARE:
		return K_CALL_IS_OF_THREAD;
	case K_LOOP_GRID:
		return K_CALL_IS_OF_TEAM;
	case K_LOOP_SERIAL:
	case K_LOOP_UNROLLED:
	case K_LOOP_ROLLED:
	case K_LOOP_KIND_N:
		break;
	}
	return 0;
}

/* The value of its variable, and how often its body runs. */
static unsigned loop_differs_by(const struct search *search, const struct k_loop *loop, const struct k_scope *place)
{
	return kind_differs_by(loop->kind) | part_differs_by(search, place, loop->first) |
	       part_differs_by(search, place, loop->bound) | part_differs_by(search, place, loop->step);
}

static unsigned stmt_differs_by(const struct search *search, const struct k_scope *place, const struct k_stmt *stmt)
{
	if (stmt->kind == KS_IF)
		return differs_by(search, place, stmt->branch.condition);
	if (stmt->kind == KS_WHILE)
		return differs_by(search, place, stmt->repeat.condition);
	return stmt->kind == KS_LOOP ? loop_differs_by(search, &stmt->loop, place) : 0;
}

/* By whom it differs whether a place is reached. */
static unsigned place_differs_by(const struct search *search, const struct k_scope *place)
{
	unsigned by = 0;

	for (int i = 0; i < place->inside.n; i++)
		by |= stmt_differs_by(search, place, place->inside.items[i]);
	return by;
}

/* ---- finding it ------------------------------------------------------------------------------------------ */

static void set_differs(struct search *search, const struct k_stmt *declaration, unsigned by)
{
	const unsigned before = declared_differs_by(search, declaration);
	const struct varying varying = { declaration, by };

	if (!declaration || (before | by) == before)
		return;
	search->has_changed = true;
	for (int i = 0; i < search->varying.n; i++)
		if (search->varying.items[i].declaration == declaration) {
			search->varying.items[i].by |= by;
			return;
		}
	vec_push(search->check.place->arena, &search->varying, varying);
}

/* Of a variable, or an array of a lane's own. */
static void target_differs(struct search *search, const struct k_scope *place, const struct k_expr *target, unsigned by)
{
	int n_indices;
	const struct k_expr *buffer;
	const struct k_declared *declared;

	if (target->kind == KE_CALL && k_effects(target) & K_CALL_IS_TARGET && target->args.n == 1)
		target = target->args.items[0];
	buffer = k_buffer_of(target, &n_indices);
	declared = buffer ? k_declared_find(place, buffer->text) : NULL;
	if (declared && declared->stmt && (n_indices == 0 || declared->rank > 0))
		set_differs(search, declared->stmt, by | (n_indices > 0 ? differs_by(search, place, target) : 0));
}

static void store_differs(struct search *search, const struct k_scope *place, const struct k_store *store)
{
	const unsigned by = differs_by(search, place, store->value) | place_differs_by(search, place);

	for (int i = 0; i < store->targets.n; i++)
		target_differs(search, place, store->targets.items[i], by);
}

/* What a call sets: all of its arguments, if one differs. */
static void call_differs(struct search *search, const struct k_scope *place, const struct k_expr *call)
{
	const struct k_callee *callee = k_callee_find(call->text);

	for (int i = 0; callee && i < call->args.n; i++)
		if (k_callee_argument(callee, i) == 'u')
			target_differs(search, place, call->args.items[i], differs_by(search, place, call));
}

static void find_stmt(struct k_scope *place, const struct k_stmt *stmt, void *user)
{
	struct search *search = user;

	search->check.place = place;
	if (stmt->kind == KS_LET)
		set_differs(search, stmt, part_differs_by(search, place, stmt->let.value));
	else if (stmt->kind == KS_LOOP)
		set_differs(search, stmt, loop_differs_by(search, &stmt->loop, place));
	else if (stmt->kind == KS_STORE)
		store_differs(search, place, &stmt->store);
	else if (stmt->kind == KS_CALL && stmt->value->kind == KE_CALL)
		call_differs(search, place, stmt->value);
}

/* ---- barriers ---------------------------------------------------------------------------------------------- */

static bool divides(const struct k_stmt *stmt)
{
	return stmt->kind == KS_LOOP && (stmt->loop.kind == K_LOOP_LANES || stmt->loop.kind == K_LOOP_SIMD ||
					 stmt->loop.kind == K_LOOP_WORKSHARE);
}

/* The statement around a place that not all reach alike; NULL: there is none. */
static const struct k_stmt *obstacle(const struct search *search, const struct k_scope *place, unsigned by)
{
	for (int i = 0; i < place->inside.n; i++)
		if (divides(place->inside.items[i]) || stmt_differs_by(search, place, place->inside.items[i]) & by)
			return place->inside.items[i];
	return NULL;
}

static const char *kind_of(const struct k_stmt *stmt)
{
	return stmt->kind == KS_IF ? "an if" : "a loop";
}

static bool check_barrier(const struct k_expr *expr, void *user)
{
	struct search *search = user;
	const unsigned effects = k_effects(expr);
	const bool is_of_grid = effects & K_CALL_IS_GRID_BARRIER;
	const struct k_stmt *around;

	if (!(effects & (K_CALL_IS_BARRIER | K_CALL_IS_GRID_BARRIER)))
		return true;
	around = obstacle(search, search->check.place, is_of_grid ? BY_ANY : BY_LANE);
	if (around)
		K_FAULT(&search->check, "not all %s reach '%s', which stands in %s that %s",
			is_of_grid ? "teams" : "lanes", expr->text, kind_of(around),
			divides(around) ? "divides its iterations" : "depends on which it is");
	return true;
}

static void check_barriers(const struct k_expr *expr, void *user)
{
	k_walk_expr(expr, &(struct k_visitor) { .expr = check_barrier, .user = user });
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

static void check_share(struct search *search, const struct k_loop *loop)
{
	const struct k_scope *place = search->check.place;

	if (loop->share.starts_team && is_in_parallel(place))
		K_FAULT(&search->check, "starts a team where one is");
	else if (!loop->share.starts_team && !has_team(place))
		K_FAULT(&search->check, "there is no team that shares this loop");
	else if (obstacle(search, place, K_CALL_IS_OF_THREAD))
		K_FAULT(&search->check, "not all threads reach the loop that they share");
}

/* ---- what leaves early ------------------------------------------------------------------------------------------ */

static bool is_of_threads(const struct k_stmt *stmt)
{
	return stmt->kind == KS_PARALLEL || (stmt->kind == KS_LOOP && (stmt->loop.kind == K_LOOP_WORKSHARE ||
								       stmt->loop.kind == K_LOOP_SIMD));
}

static void check_return(struct search *search)
{
	const struct k_scope *place = search->check.place;

	for (int i = 0; i < place->inside.n; i++)
		if (is_of_threads(place->inside.items[i]))
			K_FAULT(&search->check, "nothing returns from what threads or lanes share");
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

static void check_break(struct search *search)
{
	const struct k_stmt *left = left_loop(search->check.place);

	if (!left)
		K_FAULT(&search->check, "there is no loop to leave");
	else if (left->kind == KS_LOOP && kind_differs_by(left->loop.kind) != 0)
		K_FAULT(&search->check, "nothing leaves a loop whose iterations are concurrent");
}

/* ---- statements ------------------------------------------------------------------------------------------------- */

static void check_stmt(struct k_scope *place, const struct k_stmt *stmt, void *user)
{
	struct search *search = user;

	search->check.place = place;
	search->check.stmt = stmt;
	k_each_expr(stmt, check_barriers, search);
	if (stmt->kind == KS_LOOP && stmt->loop.kind == K_LOOP_WORKSHARE)
		check_share(search, &stmt->loop);
	else if (stmt->kind == KS_RETURN)
		check_return(search);
	else if (stmt->kind == KS_BREAK)
		check_break(search);
}

const char *k_verify_teams(struct arena *arena, const struct k_program *program, const struct k_function *function)
{
	struct search search = { .has_changed = true };

	while (search.has_changed) {
		search.has_changed = false;
		k_walk_function(arena, program, function,
				&(struct k_scope_visitor) { .stmt = find_stmt, .user = &search });
	}
	k_walk_function(arena, program, function, &(struct k_scope_visitor) { .stmt = check_stmt, .user = &search });
	return search.check.fault;
}
