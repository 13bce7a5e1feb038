/* SPDX-License-Identifier: MIT
 *
 * When iterations of a loop may run a warp at a time, one for each lane of a team: each statement of the body for all
 * iterations of the warp, then the next ones. What is scalar is then computed once for each iteration, where it would
 * be computed by all lanes, and many loads are under way; a VECTOR loop runs for one iteration after the other, and all
 * lanes share it. Values of a point are variables of its lane. It must hold that
 * - the loop carries no dependence but updates, of rows above it, or atomic ones;
 * - nothing stands between its body and the statements of a point but dims that are read from index arrays. */
#include "ir/schedule.h"

typedef isl_schedule_node node;

/* The band of the loop, below the mark and a row. */
static __isl_give node *loop_below(__isl_keep node *mark)
{
	node *at = isl_schedule_node_copy(mark);

	while (isl_schedule_node_get_type(at) == isl_schedule_node_mark)
		at = isl_schedule_node_first_child(at);
	return at;
}

struct updates {
	node *mark, *band;
	const char *problem;
};

static bool has_row(__isl_keep node *mark, const struct stage *stage)
{
	node *at = isl_schedule_node_first_child(isl_schedule_node_copy(mark));
	const struct mark *row = mark_of_node(at);
	bool has = row && row->kind == MARK_ROW && row->stage == stage;

	isl_schedule_node_free(at);
	return has;
}

static isl_stat check_update(__isl_take isl_map *deps, void *user)
{
	struct updates *updates = user;
	const struct stage *a = stage_of_id(isl_map_get_tuple_id(deps, isl_dim_in));
	const struct stage *b = stage_of_id(isl_map_get_tuple_id(deps, isl_dim_out));

	isl_map_free(deps);
	if (a != b || (!has_row(updates->mark, a) && !schedule_has_mark_below(updates->band, MARK_ATOMIC, a)))
		updates->problem = "a warp-cooperative loop updates a cell in memory";
	return isl_stat_ok;
}

/* Marks on the way down, of a body that is a sequence of statements. */
struct body {
	const struct mark *loop;
	const char *problem;
};

static isl_bool check_mark(__isl_keep node *at, void *user)
{
	struct body *body = user;
	const struct mark *mark = mark_of_node(at), *above;

	if (!mark || (mark->kind == MARK_LOOP && mark->dim == body->loop->dim) || mark->kind == MARK_BIND)
		return isl_bool_true;
	if (mark->kind == MARK_LOOP) {
		above = mark_above(at);
		if (!above || above->kind != MARK_VECTOR)
			body->problem = "a warp-cooperative loop has an inner loop that is not of vectors";
	} else if (mark->kind != MARK_VECTOR && mark->kind != MARK_ROW && mark->kind != MARK_GROUP &&
		   mark->kind != MARK_ATOMIC && mark->kind != MARK_ACCUMULATE && mark->kind != MARK_SKIP &&
		   mark->kind != MARK_SKIP_ALWAYS && mark->kind != MARK_STORAGE && mark != body->loop) {
		body->problem = "a warp-cooperative loop is of simple statements";
	}
	return isl_bool_true;
}

const char *schedule_warp_loop_problem(const struct region *region, __isl_keep isl_schedule_node *mark)
{
	struct updates updates = { mark, loop_below(mark), NULL };
	struct body body = { mark_of_node(mark), NULL };
	isl_union_map *strict = region->strict ? schedule_carried(updates.band, region->strict) : NULL;
	isl_union_map *carried = region->strict ? schedule_carried(updates.band, region->reduction) : NULL;

	if (isl_union_map_is_empty(strict) != isl_bool_true)
		updates.problem = "a warp-cooperative loop carries a dependence";
	if (!updates.problem && isl_union_map_foreach_map(carried, check_update, &updates) < 0)
		updates.problem = "what a warp-cooperative loop updates is not known";
	if (!updates.problem)
		isl_schedule_node_foreach_descendant_top_down(mark, check_mark, &body);
	isl_union_map_free(strict);
	isl_union_map_free(carried);
	isl_schedule_node_free(updates.band);
	return updates.problem ? updates.problem : body.problem;
}
