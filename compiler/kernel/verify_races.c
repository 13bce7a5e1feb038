/* SPDX-License-Identifier: MIT
 *
 * Stores of a concurrent loop to what is certainly the same for all of its iterations: a variable of all of them, or an
 * element whose index does not depend on the iteration. Only the loop's own reductions and atomic updates may do that,
 * and what stands in an `if` that only some iterations enter. Lanes and teams of a device have variables of their own,
 * so that only memory is asked about. Whether two different indices have one value is left to who runs the program. */
#include <string.h>

#include "kernel/kernel_private.h"

/* ---- who shares what ---------------------------------------------------------------------------------- */

/* Where the declarations inside of a loop begin; everything, if its variable is not there. */
static int visible_outside(const struct k_scope *place, const struct k_stmt *loop)
{
	for (int i = 0; i < place->visible.n; i++)
		if (place->visible.items[i].stmt == loop)
			return i;
	return place->visible.n;
}

struct finding {
	const struct k_stmt *stmt;
	bool is_found;
};

static bool find_stmt(const struct k_stmt *stmt, void *user)
{
	struct finding *finding = user;

	finding->is_found |= stmt == finding->stmt;
	return !finding->is_found;
}

/* What a parallel region around the loop declares is the thread's own. */
static bool is_of_region(const struct k_scope *place, const struct k_stmt *declaration)
{
	struct finding finding = { declaration, false };

	for (int i = 0; declaration && i < place->inside.n; i++)
		if (place->inside.items[i]->kind == KS_PARALLEL)
			k_walk_stmt(place->inside.items[i],
				    &(struct k_visitor) { .stmt = find_stmt, .user = &finding });
	return finding.is_found;
}

static bool is_reduced(const struct k_loop *loop, const char *name)
{
	for (int i = 0; i < loop->reductions.n; i++)
		if (strcmp(loop->reductions.items[i].name, name) == 0)
			return true;
	return false;
}

/* Does a parallel region around bring together what its threads do to the buffer? */
static bool is_reduced_by_region(const struct k_scope *place, const char *name)
{
	for (int i = 0; i < place->inside.n; i++)
		if (k_private_target(place->inside.items[i]) &&
		    strcmp(k_private_target(place->inside.items[i]), name) == 0)
			return true;
	return false;
}

/* Does each iteration of the loop have its own? */
static bool is_private(const struct k_scope *place, const struct k_stmt *loop, const struct k_declared *declared,
		       bool is_memory)
{
	if (declared - place->visible.items > visible_outside(place, loop))
		return true;
	if (loop->loop.kind == K_LOOP_GRID || loop->loop.kind == K_LOOP_LANES)
		return !is_memory;
	return loop->loop.kind == K_LOOP_WORKSHARE && is_of_region(place, declared->stmt);
}

/* Do all iterations of the loop come here? Loops inside of it count as if none was empty. */
static bool is_reached_by_all(const struct k_check *check, const struct k_scope *place, const struct k_stmt *loop)
{
	const unsigned by = k_kind_differs_by(loop->loop.kind);
	bool is_inside = false;

	for (int i = 0; i < place->inside.n; i++) {
		const struct k_stmt *around = place->inside.items[i];

		if (is_inside && around->kind != KS_LOOP && k_stmt_differs_by(check->varying, place, around) & by)
			return false;
		is_inside |= around == loop;
	}
	return true;
}

/* By whom an element differs: by its indices, of memory also by where it begins. */
static unsigned element_differs_by(const struct k_check *check, const struct k_expr *element, bool is_memory)
{
	unsigned by = 0;

	for (; element->kind == KE_LOAD; element = element->args.items[0])
		by |= k_differs_by(check->varying, check->place, element->args.items[1]);
	return is_memory ? by | k_differs_by(check->varying, check->place, element) : by;
}

/* ---- stores ------------------------------------------------------------------------------------------------ */

static void check_in_loop(struct k_check *check, const struct k_stmt *loop, const struct k_expr *target,
			  const struct k_expr *buffer)
{
	const struct k_scope *place = check->place;
	const struct k_declared *declared = k_declared_find(place, buffer->text);
	const bool is_memory = declared && declared->rank == 0 && buffer != target;

	if (declared && !is_private(place, loop, declared, is_memory) && !is_reduced(&loop->loop, buffer->text) &&
	    !is_reduced_by_region(place, buffer->text) &&
	    !(element_differs_by(check, target, is_memory) & k_kind_differs_by(loop->loop.kind)) &&
	    is_reached_by_all(check, place, loop))
		K_FAULT(check, "all iterations of the loop over '%s' set '%s'", loop->loop.name,
			k_expr_text(place->arena, target));
}

static void check_target(struct k_check *check, const struct k_expr *target)
{
	const struct k_scope *place = check->place;
	int n_indices;
	const struct k_expr *buffer = k_buffer_of(target, &n_indices);

	if (target->kind == KE_CALL && target->args.n > 0 &&
	    k_effects(target) & (K_CALL_IS_TARGET | K_CALL_IS_NONTEMPORAL)) {
		check_target(check, target->args.items[0]);
		return;
	}
	for (int i = 0; buffer && i < place->inside.n; i++) {
		const struct k_stmt *loop = place->inside.items[i];

		if (loop->kind == KS_LOOP && k_kind_differs_by(loop->loop.kind) != 0)
			check_in_loop(check, loop, target, buffer);
	}
}

static void check_stmt(struct k_check *check, const struct k_stmt *stmt)
{
	if (stmt->kind == KS_CALL && k_effects(stmt->value) & K_CALL_IS_NONTEMPORAL)
		check_target(check, stmt->value);
	for (int i = 0; stmt->kind == KS_STORE && stmt->store.mode != K_STORE_ATOMIC && i < stmt->store.targets.n; i++)
		check_target(check, stmt->store.targets.items[i]);
}

const struct k_rule k_rule_races = { .stmt = check_stmt };
