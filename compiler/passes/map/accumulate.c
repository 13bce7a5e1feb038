/* SPDX-License-Identifier: MIT
 *
 * Accumulators. Where the innermost loops of an update do not move its target, w[f] += … over t, the partial
 * result is kept in a register and combined with the target once: the mark ACCUMULATE stands above the outermost
 * such loop. Sums that share a loop over children have a mark each. Reductions may be reassociated, so this changes no
 * meaning. */
#include "passes/pass_private.h"

static bool target_moves(const struct stage *stage, int dim)
{
	return access_uses_dim(&stage->write, dim) ||
	       (stage->write.array->role == ROLE_LOCAL && dim < stage->group->n_common);
}

struct target_walk {
	const struct stage *stage;
	bool moves;
};

static isl_bool loop_moves_target(__isl_keep isl_schedule_node *node, void *user)
{
	struct target_walk *walk = user;
	const struct mark *mark = mark_of_node(node);

	if (mark_is_loop(mark) && target_moves(walk->stage, mark_dim_number(mark)))
		walk->moves = true;
	return walk->moves ? isl_bool_false : isl_bool_true;
}

/* Does the loop at `node`, or one inside it, move the target? */
static bool target_is_fixed_below(__isl_keep isl_schedule_node *node, const struct stage *stage)
{
	struct target_walk walk = { stage, false };

	isl_schedule_node_foreach_descendant_top_down(node, loop_moves_target, &walk);
	return !walk.moves;
}

static bool is_accumulated(__isl_keep isl_schedule_node *node, const stage_list *below)
{
	bool is = below->n > 0;

	for (int i = 0; i < below->n; i++)
		is = is && below->items[i]->op != REDUCE_SET && target_is_fixed_below(node, below->items[i]);
	return is;
}

/* The mark is of one stage, but for sums that share a loop over children: other loops of several stages have none. */
static __isl_give isl_schedule_node *visit(struct tree_walk *walk, __isl_take isl_schedule_node *node,
					   const struct mark *mark, bool *descend)
{
	stage_list below = tree_stages(walk->module, node);

	if (mark->kind == MARK_BIND || (below.n > 1 && mark->kind != MARK_CHILDREN) || !is_accumulated(node, &below))
		return node;
	*descend = false;
	for (int i = 0; i < below.n; i++) {
		struct stage *stage = below.items[i];

		module_decide(walk->module, DECISION_ACCUMULATE, stage->write.array->name, stage->span,
			      "the loop over '%s' does not move the target", mark->dim->name)->loop = mark->dim;
		node = tree_insert_mark(walk->module, node, MARK_ACCUMULATE, "accumulate", stage);
	}
	return node;
}

bool pass_accumulate(struct module *module, const struct pass_options *options)
{
	struct tree_walk walk = { .module = module, .options = options, .visit = visit };

	return module_walk(&walk);
}
