/* SPDX-License-Identifier: MIT
 *
 * Private copies. Where iterations of a shared loop may update the same cell of w, each thread can add into a copy of w
 * of its own, and threads then share the cells of w for the final sum, in which the copies follow in the order of the
 * threads. Iterations are dealt out statically: the result is the same in each run with the same number of threads.
 *
 * A copy costs a pass over its cells, as an atomic update costs a locked one each time. So copies are made where the
 * loop runs over the chunks of a restructuring, each of which updates many cells, and where a schedule asks for them:
 * `partition w by private`, or `by atomic` for the other. The copies are an array of the plan, w.private, with one row
 * for each thread (K. Aggarwal, thesis, IISc 2020, 4.2.1). */
#include <string.h>

#include "passes/pass_private.h"

enum { PRIVATE_RANK = 8 };      /* of the copies: PMG_MAX_RANK of the runtime */

bool loop_is_over_chunks(const struct module *module, const struct dim *dim)
{
	bool is = false;

	for (int i = 0; i < module->restructurings.n; i++)
		is = is || (dim->hi->kind == EXPR_PARAM &&
			    dim->hi->index == module->restructurings.items[i].n_chunks);
	return is;
}

static bool is_wanted(struct module *module, const struct mark *loop, const struct array *target)
{
	struct override *override = module_find_override(module, "partition", target->name, NULL);
	bool is_asked = override && !strcmp(override->choice, "private");

	if (is_asked)
		override->is_used = true;
	if (override && !strcmp(override->choice, "atomic")) {
		override->is_used = true;
		return false;
	}
	return is_asked || loop_is_over_chunks(module, loop->dim);
}

/* [0..1, …] like the target: the plan makes a row for each of its threads. */
static struct array *copies_of(struct module *module, struct array *target)
{
	const char *name = arena_printf(module->arena, "%s.private", target->name);
	struct array *copies = module_find_array(module, name);

	if (copies)
		return copies;
	copies = module_add_array(module, name, ROLE_PRIVATE, target->type, target->rank + 1, target->span);
	copies->owner = target;
	copies->hi[0] = expr_int(module->arena, 1, target->span);
	for (int i = 0; i < target->rank; i++) {
		copies->lo[i + 1] = target->lo[i];
		copies->hi[i + 1] = target->hi[i];
	}
	return copies;
}

__isl_give isl_schedule_node *private_try(struct tree_walk *walk, __isl_take isl_schedule_node *node,
					  const struct mark *loop, struct stage *stage, bool *done)
{
	struct array *target = stage->write.array;

	*done = false;
	if (target->rank >= PRIVATE_RANK || !is_wanted(walk->module, loop, target))
		return node;
	node = tree_insert_mark(walk->module, node, MARK_PRIVATE, "parallel", stage);
	if (schedule_private_problem(node))
		return isl_schedule_node_delete(node);
	copies_of(walk->module, target);
	module_decide(walk->module, "parallel", target->name, "private", "atomic, owner", loop->dim->span,
		      "iterations of '%s' may update the same cell: each thread has a copy, and the copies "
		      "are added in "
		      "the order of the threads",
		      loop->dim->name);
	*done = true;
	return node;
}
