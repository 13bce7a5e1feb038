/* SPDX-License-Identifier: MIT
 *
 * Teams. The outer loop of Y[voxel[k], t] += … over k and t carries updates of one cell, but none goes from one t
 * to another: threads share the inner loop, each runs the whole outer one, and every cell belongs to one thread. This
 * needs no atomics and no barrier, as long as each thread keeps the same iterations of the shared loop: its range
 * must not change, which OpenMP's static schedule then guarantees. The same holds for a recurrence along the outer
 * loop. */
#include "passes/pass_private.h"

/* Is there a point of the outer dims where the loop over the dim runs more than once? One that never does becomes no
 * loop at all, and every thread would run it. */
static bool runs_repeatedly(const struct stage *stage, int number)
{
	isl_map *pairs = isl_map_from_domain_and_range(isl_set_copy(stage->domain), isl_set_copy(stage->domain));
	bool does;

	for (int i = 0; i < number; i++)
		pairs = isl_map_equate(pairs, isl_dim_in, i, isl_dim_out, i);
	pairs = isl_map_order_lt(pairs, isl_dim_in, number, isl_dim_out, number);
	does = isl_map_is_empty(pairs) == isl_bool_false;
	isl_map_free(pairs);
	return does;
}

static bool is_empty(__isl_take isl_union_map *pairs)
{
	bool empty = isl_union_map_is_empty(pairs) == isl_bool_true;

	isl_union_map_free(pairs);
	return empty;
}

/* May the loop of the mark at `inner` be shared in a team that starts at the loop of the mark at `outer`? */
static bool may_share(const struct tree_walk *walk, __isl_keep isl_schedule_node *outer,
		      __isl_keep isl_schedule_node *inner)
{
	const struct mark *mark = mark_of_node(inner);
	isl_schedule_node *from, *to;
	bool may;

	if (!mark || mark->kind != MARK_LOOP || !dim_is_fixed(mark->dim) ||
	    !runs_repeatedly(mark->stage, (int) (mark->dim - mark->stage->dims.items)))
		return false;
	from = isl_schedule_node_first_child(isl_schedule_node_copy(outer));
	to = isl_schedule_node_first_child(isl_schedule_node_copy(inner));
	may = is_empty(schedule_crossing(from, to, walk->region->strict)) &&
	      is_empty(schedule_crossing(from, to, walk->region->reduction));
	isl_schedule_node_free(from);
	isl_schedule_node_free(to);
	return may;
}

/* The first loop below that may be shared, as a number of steps down; 0 if there is none. */
static int find_shared(const struct tree_walk *walk, __isl_keep isl_schedule_node *outer)
{
	isl_schedule_node *at = isl_schedule_node_copy(outer);
	int steps = 0, found = 0;

	while (!found && isl_schedule_node_n_children(at) == 1) {
		at = isl_schedule_node_first_child(at);
		steps++;
		if (may_share(walk, outer, at))
			found = steps;
	}
	isl_schedule_node_free(at);
	return found;
}

static const struct mark *mark_at(__isl_keep isl_schedule_node *node, int steps)
{
	isl_schedule_node *at = isl_schedule_node_copy(node);
	const struct mark *mark;

	for (int i = 0; i < steps; i++)
		at = isl_schedule_node_first_child(at);
	mark = mark_of_node(at);
	isl_schedule_node_free(at);
	return mark;
}

__isl_give isl_schedule_node *team_form(struct tree_walk *walk, __isl_take isl_schedule_node *node,
					const struct mark *mark, bool *descend)
{
	stage_list below = tree_stages(walk->module, node);
	struct stage *stage = below.n == 1 ? below.items[0] : NULL;
	bool is_tiled = schedule_has_mark_above(node, MARK_TILE, NULL) ||
			schedule_has_mark_below(node, MARK_TILE, NULL);
	bool may = stage && !walk->options->is_device && !stage->guard && !is_tiled &&
		   !schedule_has_mark_above(node, MARK_ACCUMULATE, stage);
	int steps = may ? find_shared(walk, node) : 0;

	*descend = steps == 0;
	if (*descend)
		return node;
	module_decide(walk->module, DECISION_PARALLEL_TEAM, stage->group->name, mark->dim->span,
		      "threads share '%s', which no cell of '%s' leaves, and each runs all of '%s'",
		      mark_at(node, steps)->dim->name, stage->write.array->name, mark->dim->name);
	for (int i = 0; i < steps; i++)
		node = isl_schedule_node_first_child(node);
	node = tree_insert_mark(walk->module, node, MARK_PARALLEL, "parallel", NULL);
	node = isl_schedule_node_ancestor(node, steps);
	return tree_insert_mark(walk->module, node, MARK_TEAM, "parallel", stage);
}
