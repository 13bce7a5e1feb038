/* SPDX-License-Identifier: MIT
 *
 * Loops that add nothing. Where a statement adds s*D[a, t] for all t, and s is zero, the loop over t is left out: the
 * weights of sparse solutions are mostly zero. The test is made where the arrays of the other factors hold finite
 * values only, which the plan finds out, since zero times infinity is no zero (ir/match/zero_factor.c). With
 * --skip-zeros=on they are taken to be finite. */
#include "passes/pass_private.h"

static struct stage *only_stage(const struct tree_walk *walk, __isl_keep isl_schedule_node *node)
{
	stage_list below = tree_stages(walk->module, node);

	return below.n == 1 ? below.items[0] : NULL;
}

/* Threads that share a loop are not asked to before it is known that it does anything. */
static bool says_who_runs(const struct mark *mark)
{
	return mark->kind == MARK_PARALLEL || mark->kind == MARK_DYNAMIC;
}

static __isl_give isl_schedule_node *visit(struct tree_walk *walk, __isl_take isl_schedule_node *node,
					   const struct mark *mark, bool *descend)
{
	struct stage *stage = only_stage(walk, node);
	struct zero_factor factor;
	bool is_vector;
	int steps;

	if (mark->kind != MARK_LOOP || !stage || mark->stage != stage ||
	    mark_dim_number(mark) < stage->group->n_common || expr_last_dim(mark->dim->hi) >= 0 ||
	    !stage_zero_factor(stage, &factor))
		return node;
	*descend = false;
	node = isl_schedule_node_parent(node);
	is_vector = mark_of_node(node) && mark_of_node(node)->kind == MARK_VECTOR;
	if (!is_vector)
		return isl_schedule_node_child(node, 0);
	node = tree_climb(node, says_who_runs, &steps);
	node = tree_insert_mark(walk->module, node, walk->options->skip_zeros == SKIP_ZEROS_ON ? MARK_SKIP_ALWAYS
			      : MARK_SKIP, "skip", stage);
	module_decide(walk->module, DECISION_SKIP, stage->write.array->name, stage->span,
		      "'%s' is a factor of what the loop over '%s' adds", factor.factor->access.array->name,
		      mark->dim->name);
	return tree_descend(node, steps + 2);
}

bool pass_skip(struct module *module, const struct pass_options *options)
{
	struct tree_walk walk = { .module = module, .options = options, .visit = visit };

	return options->skip_zeros == SKIP_ZEROS_OFF || module_walk(&walk);
}
