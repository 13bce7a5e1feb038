/* SPDX-License-Identifier: MIT
 *
 * Rows of accumulators. Below the loop over p, the updates Y[v, t] += D[a, t]*s move their target only with t: the
 * cells Y[v, ...] are kept in a row of variables, read before the loop over p and written behind it. Where its length
 * is known when the program is compiled and takes at most 12 vector registers of 64 bytes, C compilers hold it in
 * registers; a longer one is kept in blocks of that size, where its updates can wait for all else that the loop does
 * (kernel/lower/long_rows.c). A row of unknown length would be in memory again, no better than the cells themselves.
 *
 * On a device the lanes of a team share the row, and updates that may meet those of other teams can be added to it,
 * too.
 *
 * The mark ROW, of the statement and t, stands above the loop over p. Whether it may is said, and proved again before
 * printing, in ir/isl/row_check.c. */
#include "passes/pass_private.h"

static int64_t longest(const struct tree_walk *walk, const struct stage *stage)
{
	return (walk->options->is_device ? ROW_LANES : 1)*ROW_LONGEST/type_size(stage->write.array->sums);
}

/* Is this a dim over which a row would fit into registers? */
static bool row_fits(const struct tree_walk *walk, const struct stage *stage, const struct dim *dim)
{
	int64_t length;

	return dim_has_known_length(walk->module, dim, &length) &&
	       length >= ROW_SHORTEST/type_size(stage->write.array->sums) &&
	       length <= longest(walk, stage);
}

/* Is it one over which a row would be kept in blocks? */
static bool row_is_long(const struct tree_walk *walk, const struct stage *stage, const struct dim *dim)
{
	int64_t length;

	return !walk->options->is_device && dim_has_known_length(walk->module, dim, &length) &&
	       length > longest(walk, stage);
}

/* Threads of a processor would meet in memory for each cell at each update; nothing is won there. */
static bool may_keep(const struct tree_walk *walk, __isl_keep isl_schedule_node *node, const struct stage *stage)
{
	return walk->options->is_device || !schedule_has_mark_below(node, MARK_ATOMIC, stage);
}

static __isl_give isl_schedule_node *try_dim(struct tree_walk *walk, __isl_take isl_schedule_node *node,
					     const struct mark *loop, struct stage *stage, const struct dim *dim)
{
	struct mark *mark = mark_new(walk->module, MARK_ROW, "row", stage->span);
	bool is_long = row_is_long(walk, stage, dim);

	mark->stage = stage;
	mark->dim = dim;
	node = isl_schedule_node_insert_mark(node, mark_id(walk->module, mark));
	if (schedule_row_problem(walk->region, node) || (is_long && !schedule_row_can_wait(node)))
		return isl_schedule_node_delete(node);
	module_decide(walk->module, DECISION_ROW, stage->write.array->name, stage->span,
		      "the loop over '%s' moves the target only with '%s'%s%s", loop->dim->name, dim->name,
		      is_long ? "; in blocks" : "",
		      stage->write.array->sums != stage->write.array->type ? "; added in f32, as is permitted" : "");
	return node;
}

typedef bool length_test(const struct tree_walk *walk, const struct stage *stage, const struct dim *dim);

static __isl_give isl_schedule_node *try_loop(struct tree_walk *walk, __isl_take isl_schedule_node *node,
					      const struct mark *mark, length_test *is_wanted)
{
	stage_list below = tree_stages(walk->module, node);

	if (mark->kind != MARK_LOOP || !walk->region->strict)
		return node;
	for (int i = 0; i < below.n; i++) {
		struct stage *stage = below.items[i];

		for (int d = stage->dims.n - 1; d >= 0 && mark_of_node(node) == mark; d--)
			if (&stage->dims.items[d] != mark->dim && may_keep(walk, node, stage) &&
			    is_wanted(walk, stage, &stage->dims.items[d]))
				node = try_dim(walk, node, mark, stage, &stage->dims.items[d]);
	}
	return node;
}

static __isl_give isl_schedule_node *visit_for_short(struct tree_walk *walk, __isl_take isl_schedule_node *node,
						     const struct mark *mark, bool *descend)
{
	node = try_loop(walk, node, mark, row_fits);
	*descend = mark_of_node(node) == mark;
	return node;
}

/* After rows that fit: of nested loops one keeps a row, and the inner one runs more often. */
static __isl_give isl_schedule_node *visit_for_long(struct tree_walk *walk, __isl_take isl_schedule_node *node,
						    const struct mark *mark, bool *descend)
{
	if (!schedule_has_mark_above(node, MARK_ROW, NULL) && !schedule_has_mark_below(node, MARK_ROW, NULL))
		node = try_loop(walk, node, mark, row_is_long);
	*descend = mark_of_node(node) == mark;
	return node;
}

bool pass_row(struct module *module, const struct pass_options *options)
{
	struct tree_walk first = { .module = module, .options = options, .visit = visit_for_short };
	struct tree_walk second = { .module = module, .options = options, .visit = visit_for_long };

	return !options->vector || (module_walk(&first) && module_walk(&second));
}
