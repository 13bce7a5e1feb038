/* SPDX-License-Identifier: MIT
 *
 * Warp-cooperative loops. In a loop over the points of a segment, what is read and multiplied for one point is the
 * same for all lanes of a team, while a row takes all of them. The mark WARP_LOOP gives each lane a point of its own
 * for the former (ir/isl/warp_loop.c), which turns a chain of loads for each point into one for as many points as a
 * team has lanes. */
#include "passes/pass_private.h"

/* A loop in which something is read by an index that is read itself. */
static bool is_candidate(__isl_keep isl_schedule_node *node, const struct mark *mark)
{
	const struct mark *above = mark_above(node);

	return mark->kind == MARK_LOOP && mark->direction > 0 &&
	       schedule_has_mark_above(node, MARK_PARALLEL, NULL) &&
	       !(above && (above->kind == MARK_PARALLEL || above->kind == MARK_VECTOR)) &&
	       schedule_has_mark_below(node, MARK_VECTOR, NULL) &&
	       schedule_has_mark_below(node, MARK_BIND, NULL);
}

/* Rows stand between the mark and its loop. */
static bool is_row(const struct mark *mark)
{
	return mark->kind == MARK_ROW;
}

static __isl_give isl_schedule_node *visit(struct tree_walk *walk, __isl_take isl_schedule_node *node,
					   const struct mark *mark, bool *descend)
{
	struct mark *loop;
	int steps;

	if (!walk->region->strict || !is_candidate(node, mark))
		return node;
	loop = mark_new(walk->module, MARK_WARP_LOOP, "warp_loop", mark->span);
	loop->stage = mark->stage;
	loop->dim = mark->dim;
	node = isl_schedule_node_insert_mark(tree_climb(node, is_row, &steps), mark_id(walk->module, loop));
	if (schedule_warp_loop_problem(walk->region, node)) {
		node = isl_schedule_node_delete(node);
	} else {
		module_decide(walk->module, DECISION_WARP_LOOP, mark->stage->group->name, mark->dim->span,
			      "each lane of a team takes an iteration of '%s', rows of all of them are shared",
			      mark->dim->name);
		*descend = false;
	}
	return tree_descend(node, steps);
}

bool pass_warp_loops(struct module *module, const struct pass_options *options)
{
	struct tree_walk walk = { .module = module, .options = options, .visit = visit };

	return !options->is_device || !options->vector || !options->warp_loops || module_walk(&walk);
}
