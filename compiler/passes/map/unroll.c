/* SPDX-License-Identifier: MIT
 *
 * Reductions over a few values written out. In y[i,j] = max(p in 0..3, q in 0..3) x[i+p, j+q] the loop over j is not
 * the innermost one, and those inside have three iterations: neither makes vectors. With the nine terms written one
 * below the other, in their order, it does. The mark UNROLL stands above each loop that is written out.
 *
 * The numbers of terms are known when the program is compiled and small. Only reductions are written out whose terms
 * stand next to each other, or stay where they are, along the loop around: vectors that are gathered from a line of
 * memory for each value gain nothing. A device has a thread for each iteration of the loop around. */
#include "passes/pass_private.h"

/* ---- terms ---- */

bool dim_has_short_range(const struct dim *dim, int64_t *n)
{
	return dim->kind == DIM_RANGE && range_is_constant(dim->lo, dim->hi, n) && *n > 0 && *n < STEP_SHORT;
}

static bool is_short(const struct stage *stage, int first, int64_t *n)
{
	bool is = stage->dims.n > first && stage->op != REDUCE_SET;

	*n = 1;
	for (int d = first; d < stage->dims.n && is; d++) {
		int64_t length;

		is = dim_has_short_range(&stage->dims.items[d], &length) && (*n *= length) <= MOST_TERMS;
	}
	return is;
}

struct steps {
	const struct stage *stage;
	int dim;
	bool are_short;
};

static void note_step(struct access *access, void *user)
{
	struct steps *steps = user;

	steps->are_short = steps->are_short && access_step(steps->stage, access, steps->dim) <= 1;
}

bool stage_is_side_by_side(struct stage *stage, int dim)
{
	struct steps steps = { stage, dim, true };

	note_step(&stage->write, &steps);
	stage_reads(stage, note_step, &steps);
	return steps.are_short;
}

/* ---- loops ---- */

/* Nothing but statements, and loops over the dims behind that of the loop around. */
static isl_bool allows(__isl_keep isl_schedule_node *node, void *user)
{
	const struct mark *loop = user;
	const struct mark *mark = mark_of_node(node);

	if (mark && mark != loop && mark->kind == MARK_LOOP)
		return mark_dim_number(mark) > mark_dim_number(loop) ? isl_bool_true : isl_bool_false;
	return !mark || mark == loop || mark->kind == MARK_GROUP || mark->kind == MARK_ACCUMULATE ? isl_bool_true
												  : isl_bool_false;
}

static bool are_short(const stage_list *below, int dim)
{
	int64_t all = 0;
	bool are = true;

	for (int i = 0; i < below->n && are; i++) {
		struct stage *stage = below->items[i];
		int64_t n = 1;

		are = !stage_checks_index(stage) &&
		      (stage->dims.n == dim + 1 ||
		       (is_short(stage, dim + 1, &n) && stage_is_side_by_side(stage, dim)));
		all += n;
	}
	return are && all <= MOST_TERMS;
}

static bool carries_nothing(const struct tree_walk *walk, __isl_keep isl_schedule_node *node)
{
	isl_union_map *strict = tree_carried(node, walk->region->strict);
	isl_union_map *updates = tree_carried(node, walk->region->reduction);
	bool nothing = isl_union_map_is_empty(strict) == isl_bool_true &&
		       isl_union_map_is_empty(updates) == isl_bool_true;

	isl_union_map_free(strict);
	isl_union_map_free(updates);
	return nothing;
}

struct insertion {
	struct tree_walk *walk;
	const struct mark *around;
};

static __isl_give isl_schedule_node *insert_at(__isl_take isl_schedule_node *node, void *user)
{
	const struct insertion *insertion = user;
	const struct mark *mark = mark_of_node(node);

	if (!mark || mark->kind != MARK_LOOP || mark == insertion->around)
		return node;
	return tree_insert_mark(insertion->walk->module, node, MARK_UNROLL, "unroll", NULL);
}

static __isl_give isl_schedule_node *visit(struct tree_walk *walk, __isl_take isl_schedule_node *node,
					   const struct mark *mark, bool *descend)
{
	struct insertion insertion = { walk, mark };
	stage_list below;

	if (mark->kind != MARK_LOOP || mark->dim->is_short || !walk->region->strict || !tree_has_loop_below(node) ||
	    isl_schedule_node_every_descendant(node, allows, (void *) mark) != isl_bool_true)
		return node;
	below = tree_stages(walk->module, node);
	if (!are_short(&below, mark_dim_number(mark)) || !carries_nothing(walk, node))
		return node;
	*descend = false;
	module_decide(walk->module, DECISION_UNROLL, mark->stage->group->name, mark->dim->span,
		      "so the loop over '%s' is the innermost one", mark->dim->name)->loop = mark->dim;
	return isl_schedule_node_map_descendant_bottom_up(node, insert_at, &insertion);
}

bool pass_unroll(struct module *module, const struct pass_options *options)
{
	struct tree_walk walk = { .module = module, .options = options, .visit = visit };

	return !options->vector || options->is_device || module_walk(&walk);
}
