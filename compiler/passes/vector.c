/* SPDX-License-Identifier: MIT
 *
 * Which innermost loops run in vector registers: those that carry no strict dependence, whose updates are not
 * atomic (but for lanes of a device, which are threads), and whose reductions end in an accumulator of the loop, which
 * threads do not share. A computed index that must be checked where it is used keeps its loop scalar, and so does a sum
 * over a range of data that reads through an index array: such ranges are mostly short (a row of a sparse matrix), and
 * gathering a vector takes as long as reading its elements. */
#include "passes/pass_private.h"

static bool is_checked(const struct dim *dim)
{
	return dim->kind == DIM_BIND && array_is_checked(dim->source.array);
}

static bool stage_allows(const struct tree_walk *walk, __isl_keep isl_schedule_node *node, const struct stage *stage)
{
	bool allows = walk->options->is_device || !schedule_has_mark_below(node, MARK_ATOMIC, stage) ||
		      schedule_has_mark_above(node, MARK_ACCUMULATE, stage);

	for (int i = 0; i < stage->dims.n; i++)
		allows = allows && !is_checked(&stage->dims.items[i]);
	return allows;
}

static bool is_shared(__isl_keep isl_schedule_node *node)
{
	const struct mark *mark = mark_above(node);

	return mark && mark->kind == MARK_PARALLEL;
}

/* A thread's partial result is in memory, which all iterations use: clang takes `for simd` to say that none does, and
 * loses lanes of it. Such a loop stays scalar. */
static bool update_allows(__isl_keep isl_schedule_node *node, const struct stage *stage)
{
	bool is_sum = stage->op == REDUCE_ADD || stage->op == REDUCE_MUL;

	return schedule_has_mark_above(node, MARK_ACCUMULATE, stage) && !is_shared(node) &&
	       (is_sum || !type_is_float(stage->write.array->type));
}

static bool carries_nothing(struct tree_walk *walk, __isl_keep isl_schedule_node *node)
{
	isl_union_map *strict = tree_carried(node, walk->region->strict);
	isl_union_map *updates = tree_carried(node, walk->region->reduction);
	stage_list meeting = tree_meeting(walk->module, updates);
	bool nothing = isl_union_map_is_empty(strict) == isl_bool_true;

	for (int i = 0; i < meeting.n; i++)
		nothing = nothing && update_allows(node, meeting.items[i]);
	isl_union_map_free(strict);
	isl_union_map_free(updates);
	return nothing;
}

static bool is_data(const struct stage *stage, const struct expr *bound)
{
	return bound->kind == EXPR_DIM && stage->dims.items[bound->index].kind == DIM_BIND;
}

/* A sum over a range of data with a subscript that is read from an index array at each point. */
static bool is_gathered_sum(const struct stage *stage, int loop)
{
	const struct dim *dim = &stage->dims.items[loop];
	bool is_gathered = false;

	if (stage->op == REDUCE_SET || !is_data(stage, dim->lo) || !is_data(stage, dim->hi))
		return false;
	for (int d = loop + 1; d < stage->dims.n; d++) {
		const struct dim *read = &stage->dims.items[d];

		for (int i = 0; read->kind == DIM_BIND && i < access_n_subs(&read->source); i++)
			is_gathered |= expr_uses_dim(read->source.subs[i], loop);
	}
	return is_gathered;
}

static __isl_give isl_schedule_node *visit(struct tree_walk *walk, __isl_take isl_schedule_node *node,
					   const struct mark *mark, bool *descend)
{
	stage_list below = tree_stages(walk->module, node);
	bool allowed = mark->kind == MARK_LOOP && !mark->dim->is_short && walk->region->strict &&
		       !tree_has_loop_below(node);

	for (int i = 0; allowed && i < below.n; i++)
		allowed = stage_allows(walk, node, below.items[i]);
	if (!allowed || !carries_nothing(walk, node))
		return node;
	*descend = false;
	if (is_gathered_sum(mark->stage, mark_dim_number(mark))) {
		module_decide(walk->module, "vector", mark->stage->group->name, "scalar", "simd", mark->dim->span,
			      "the range of '%s' is data, and what it sums is read through an index array",
			      mark->dim->name);
		return node;
	}
	module_decide(walk->module, "vector", mark->stage->group->name, "simd", "scalar", mark->dim->span,
		      "iterations of '%s' are independent", mark->dim->name);
	return tree_insert_mark(walk->module, node, MARK_VECTOR, "vector", NULL);
}

bool pass_vector(struct module *module, const struct pass_options *options)
{
	struct tree_walk walk = { .module = module, .options = options, .visit = visit };

	return !options->vector || module_walk(&walk);
}
