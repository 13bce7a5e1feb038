/* SPDX-License-Identifier: MIT
 *
 * What differs among those who execute a function: lanes of a team, teams of a grid, threads of the host. A value
 * differs if it is computed from a lane's number or its iteration of a loop that divides them, a variable also if it is
 * set where they go different ways. What lies in memory is the same for all, and so is what all lanes of a team have
 * agreed upon (pmg_cuda_ballot). */
#include <string.h>

#include "kernel/kernel_private.h"

/* ---- what differs ------------------------------------------------------------------------------------ */

static unsigned declared_differs_by(const struct k_varying *varying, const struct k_stmt *declaration)
{
	for (int i = 0; declaration && i < varying->items.n; i++)
		if (varying->items.items[i].declaration == declaration)
			return varying->items.items[i].by;
	return 0;
}

static unsigned name_differs_by(const struct k_varying *varying, const struct k_scope *place, const char *name)
{
	const struct k_declared *declared = k_declared_find(place, name);
	const struct k_callee *runtime = declared ? NULL : k_runtime_name_find(name);

	if (declared)
		return declared_differs_by(varying, declared->stmt);
	return runtime ? runtime->effects & K_BY_ANY : 0;
}

unsigned k_differs_by(const struct k_varying *varying, const struct k_scope *place, const struct k_expr *expr)
{
	const struct k_callee *callee = expr->kind == KE_CALL ? k_callee_find(expr->text) : NULL;
	unsigned by = callee ? callee->effects & K_BY_ANY : 0;

	if (expr->kind == KE_NAME)
		return name_differs_by(varying, place, expr->text);
	for (int i = 0; i < expr->args.n; i++)
		if (!callee || k_callee_argument(callee, i) != 'l')
			by |= k_differs_by(varying, place, expr->args.items[i]);
	return by;
}

static unsigned part_differs_by(const struct k_varying *varying, const struct k_scope *place, const struct k_expr *expr)
{
	return expr ? k_differs_by(varying, place, expr) : 0;
}

unsigned k_kind_differs_by(enum k_loop_kind kind)
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
static unsigned loop_differs_by(const struct k_varying *varying, const struct k_loop *loop, const struct k_scope *place)
{
	return k_kind_differs_by(loop->kind) | part_differs_by(varying, place, loop->first) |
	       part_differs_by(varying, place, loop->bound) | part_differs_by(varying, place, loop->step);
}

unsigned k_stmt_differs_by(const struct k_varying *varying, const struct k_scope *place, const struct k_stmt *stmt)
{
	if (stmt->kind == KS_IF)
		return k_differs_by(varying, place, stmt->branch.condition);
	if (stmt->kind == KS_WHILE)
		return k_differs_by(varying, place, stmt->repeat.condition);
	return stmt->kind == KS_LOOP ? loop_differs_by(varying, &stmt->loop, place) : 0;
}

/* By whom it differs whether a place is reached. */
static unsigned place_differs_by(const struct k_varying *varying, const struct k_scope *place)
{
	unsigned by = 0;

	for (int i = 0; i < place->inside.n; i++)
		by |= k_stmt_differs_by(varying, place, place->inside.items[i]);
	return by;
}

/* ---- finding it ------------------------------------------------------------------------------------------ */

static void set_differs(struct k_varying *varying, const struct k_stmt *declaration, unsigned by)
{
	const unsigned before = declared_differs_by(varying, declaration);
	const struct k_differing differing = { declaration, by };

	if (!declaration || (before | by) == before)
		return;
	varying->has_changed = true;
	for (int i = 0; i < varying->items.n; i++)
		if (varying->items.items[i].declaration == declaration) {
			varying->items.items[i].by |= by;
			return;
		}
	vec_push(varying->arena, &varying->items, differing);
}

/* Of a variable, or an array of a lane's own. */
static void target_differs(struct k_varying *varying, const struct k_scope *place, const struct k_expr *target,
			   unsigned by)
{
	int n_indices;
	const struct k_expr *buffer;
	const struct k_declared *declared;

	if (target->kind == KE_CALL && k_effects(target) & K_CALL_IS_TARGET && target->args.n == 1)
		target = target->args.items[0];
	buffer = k_buffer_of(target, &n_indices);
	declared = buffer ? k_declared_find(place, buffer->text) : NULL;
	if (declared && declared->stmt && (n_indices == 0 || declared->rank > 0))
		set_differs(varying, declared->stmt, by | (n_indices > 0 ? k_differs_by(varying, place, target) : 0));
}

static void store_differs(struct k_varying *varying, const struct k_scope *place, const struct k_store *store)
{
	const unsigned by = k_differs_by(varying, place, store->value) | place_differs_by(varying, place);

	for (int i = 0; i < store->targets.n; i++)
		target_differs(varying, place, store->targets.items[i], by);
}

/* What a call sets: all of its arguments, if one differs. */
static void call_differs(struct k_varying *varying, const struct k_scope *place, const struct k_expr *call)
{
	const struct k_callee *callee = k_callee_find(call->text);

	for (int i = 0; callee && i < call->args.n; i++)
		if (k_callee_argument(callee, i) == 'u')
			target_differs(varying, place, call->args.items[i], k_differs_by(varying, place, call));
}

static void find_stmt(struct k_scope *place, const struct k_stmt *stmt, void *user)
{
	struct k_varying *varying = user;

	if (stmt->kind == KS_LET)
		set_differs(varying, stmt, part_differs_by(varying, place, stmt->let.value));
	else if (stmt->kind == KS_LOOP)
		set_differs(varying, stmt, loop_differs_by(varying, &stmt->loop, place));
	else if (stmt->kind == KS_STORE)
		store_differs(varying, place, &stmt->store);
	else if (stmt->kind == KS_CALL && stmt->value->kind == KE_CALL)
		call_differs(varying, place, stmt->value);
}

struct k_varying k_varying_find(struct arena *arena, const struct k_program *program,
				const struct k_function *function)
{
	struct k_varying varying = { .arena = arena, .has_changed = true };

	while (varying.has_changed) {
		varying.has_changed = false;
		k_walk_function(arena, program, function,
				&(struct k_scope_visitor) { .stmt = find_stmt, .user = &varying });
	}
	return varying;
}
