/* SPDX-License-Identifier: MIT
 *
 * When other memory may stand for the cells of a target: a row of accumulators, or a thread's private copy, which takes
 * updates only, of one statement, while no other sees the target. Below the mark ROW(S.t) run the iterations of one
 * loop, the bound dims that it needs, and the loop over t. The row is written back only where that loop runs, hence
 * where each of its cells is updated, so that no cell is touched that the statement does not touch; the order of the
 * updates stays. What must hold is that a row has one cell for each t, and that nobody else sees them meanwhile:
 * - threads do not share that loop, which would then have a row each;
 * - the target moves with t and with dims above the mark only, and no two t share a cell;
 * - the range of t is the same at all points;
 * - what is added can be computed as vectors along t;
 * - the updates have no condition; if they may meet those of other threads, the row begins with the neutral element,
 *   and is added to its cells, or multiplied, atomically;
 * - no statement below the mark, this one included, reads or writes the target in another way. */
#include "ir/schedule.h"

typedef isl_schedule_node node;

__isl_give node *schedule_down_to(__isl_take node *at, const struct stage *stage)
{
	int n = isl_schedule_node_n_children(at), child = -1;

	for (int i = 0; i < n; i++) {
		at = isl_schedule_node_child(at, i);
		child = schedule_has_stage(at, stage) ? i : child;
		at = isl_schedule_node_parent(at);
	}
	return child >= 0 ? isl_schedule_node_child(at, child) : isl_schedule_node_free(at);
}

/* ---- the way from the mark to the statement ---- */

static const char meet_in_row[] = "threads meet in a row";
static const char not_inside[] = "a row stands above one loop and that over its cells";

struct way {
	const struct mark *row;
	int n_loops;                    /* without that over t */
	isl_schedule_node *vector;      /* the band of the loop over t */
	const char *problem;
};

static void look_at_mark(struct way *way, __isl_keep node *at, const struct mark *mark)
{
	const struct stage *stage = way->row->stage;
	int row_dim = mark_dim_number(way->row);

	if (mark->kind == MARK_PARALLEL || mark->kind == MARK_TEAM ||
	    (mark->kind == MARK_ATOMIC && mark->stage != stage))
		way->problem = meet_in_row;
	else if (mark->kind == MARK_ACCUMULATE || mark->kind == MARK_ROW || mark->kind == MARK_CHILDREN)
		way->problem = "a row is not all of what its loop accumulates";
	if (!mark_is_loop(mark))
		return;
	if (mark_dim_number(mark) == row_dim && !way->vector) {
		way->vector = isl_schedule_node_first_child(isl_schedule_node_copy(at));
		if (!way->n_loops)
			way->problem = not_inside;
		return;
	}
	way->n_loops += mark->kind == MARK_LOOP;
	if (access_uses_dim(&stage->write, mark_dim_number(mark)))
		way->problem = "the target of a row moves";
}

static struct way look_along(__isl_keep node *mark)
{
	struct way way = { .row = mark_of_node(mark) };
	node *at = schedule_down_to(isl_schedule_node_copy(mark), way.row->stage);
	const struct mark *above = mark_above(mark);

	if (above && above->kind == MARK_PARALLEL)
		way.problem = meet_in_row;
	while (at) {
		const struct mark *here = mark_of_node(at);

		if (here)
			look_at_mark(&way, at, here);
		at = schedule_down_to(at, way.row->stage);
	}
	if (!way.problem && (!way.vector || way.n_loops != 1))
		way.problem = not_inside;
	return way;
}

/* ---- the statements below the mark ---- */

struct users {
	struct stage *stage;
	const struct array *array;
	bool is_used;
};

static isl_stat look_at_stage(__isl_take isl_set *set, void *user)
{
	struct users *users = user;
	struct stage *stage = stage_of_id(isl_set_get_tuple_id(set));

	users->is_used |= stage_reads_array(stage, users->array) ||
			  (stage != users->stage && stage->write.array == users->array);
	isl_set_free(set);
	return isl_stat_ok;
}

static bool target_is_seen(__isl_keep node *mark, const struct stage *stage)
{
	struct users users = { mark_of_node(mark)->stage, stage->write.array, false };
	isl_union_set *domain = isl_schedule_node_get_domain(mark);
	bool ok = isl_union_set_foreach_set(domain, look_at_stage, &users) >= 0;

	isl_union_set_free(domain);
	return !ok || users.is_used;
}

static isl_stat look_at_other(__isl_take isl_set *set, void *user)
{
	struct users *users = user;
	const struct stage *other = stage_of_id(isl_set_get_tuple_id(set));

	users->is_used |= other != users->stage && other->write.array->role != ROLE_LOCAL &&
			  stage_reads_array(users->stage, other->write.array);
	isl_set_free(set);
	return isl_stat_ok;
}

bool schedule_row_can_wait(__isl_keep node *mark)
{
	struct users users = { mark_of_node(mark)->stage, NULL, false };
	isl_union_set *domain = isl_schedule_node_get_domain(mark);
	bool ok = isl_union_set_foreach_set(domain, look_at_other, &users) >= 0;

	isl_union_set_free(domain);
	return ok && !users.is_used;
}

/* The band below a stack of marks. */
static __isl_give node *band_below(__isl_keep node *mark)
{
	node *at = isl_schedule_node_copy(mark);

	while (at && isl_schedule_node_get_type(at) == isl_schedule_node_mark)
		at = isl_schedule_node_first_child(at);
	return at;
}

/* Pairs of updates of the stage. */
static __isl_give isl_union_map *updates_of(const struct region *region, const struct stage *stage)
{
	isl_space *space = isl_space_map_from_set(isl_set_get_space(stage->domain));

	return isl_union_map_from_map(isl_union_map_extract_map(region->reduction, space));
}

static bool cells_are_apart(const struct region *region, __isl_keep node *mark, const struct stage *stage,
			    __isl_keep node *vector)
{
	node *outer = band_below(mark);
	isl_union_map *updates = region->reduction ? updates_of(region, stage) : NULL;
	isl_union_map *pairs = updates ? schedule_crossing(outer, vector, updates) : NULL;
	bool apart = isl_union_map_is_empty(pairs) == isl_bool_true;

	isl_union_map_free(pairs);
	isl_union_map_free(updates);
	isl_schedule_node_free(outer);
	return apart;
}

/* ---- vectors ---- */

/* One step of the dim is one step in memory. */
static bool lies_along(const struct access *access, int dim)
{
	const struct array *array = access->array;
	const struct expr *last = array->rank ? access->subs[array->rank - 1] : NULL;
	bool lies = last && array->role != ROLE_LOCAL;

	for (int i = 0; lies && i < array->rank - 1; i++)
		lies = !expr_uses_dim(access->subs[i], dim);
	while (lies && last->kind == EXPR_OP && (last->op == OP_ADD || last->op == OP_SUB) &&
	       !expr_uses_dim(last->args[1], dim))
		last = last->args[0];
	return lies && last->kind == EXPR_DIM && last->index == dim;
}

bool expr_is_vector(const struct expr *expr, int dim, enum scalar_type type)
{
	bool is = expr->type == type;

	if (!expr_uses_dim(expr, dim))
		return is;
	if (expr->kind == EXPR_READ)
		return is && lies_along(&expr->access, dim);
	if (expr->kind != EXPR_OP || (expr->op != OP_ADD && expr->op != OP_SUB && expr->op != OP_MUL &&
				      expr->op != OP_DIV && expr->op != OP_NEG))
		return false;
	for (int i = 0; is && i < expr_n_args(expr); i++)
		is = expr_is_vector(expr->args[i], dim, type);
	return is;
}

static bool is_vector_update(const struct stage *stage, int dim)
{
	return (stage->op == REDUCE_ADD || stage->op == REDUCE_MUL) && type_is_float(stage->write.array->type) &&
	       lies_along(&stage->write, dim) && expr_is_vector(stage->value, dim, stage->write.array->type);
}

const char *schedule_row_problem(const struct region *region, __isl_keep isl_schedule_node *mark)
{
	struct way way = look_along(mark);
	const struct stage *stage = way.row->stage;
	const struct dim *dim = way.row->dim;

	if (!way.problem && (stage->op == REDUCE_SET || stage->guard || stage->write.array->role == ROLE_LOCAL))
		way.problem = "a row is of a statement that updates an array";
	if (!way.problem && !dim_is_fixed(dim))
		way.problem = "the length of a row changes";
	if (!way.problem && !is_vector_update(stage, mark_dim_number(way.row)))
		way.problem = "a row cannot be computed as vectors";
	if (!way.problem && target_is_seen(mark, stage))
		way.problem = "a row's cells are used beside it";
	if (!way.problem && !cells_are_apart(region, mark, stage, way.vector))
		way.problem = "two cells of a row are one";
	isl_schedule_node_free(way.vector);
	return way.problem;
}

/* ---- private copies ---- */

const char *schedule_private_problem(__isl_keep isl_schedule_node *mark)
{
	const struct stage *stage = mark_of_node(mark)->stage;

	if (stage->write.array->role == ROLE_LOCAL || (stage->op != REDUCE_ADD && stage->op != REDUCE_MUL))
		return "a copy is of an array that is added to or multiplied";
	if (schedule_has_mark_below(mark, MARK_ATOMIC, stage) || schedule_has_mark_above(mark, MARK_TEAM, NULL))
		return "updates of a copy meet";
	return target_is_seen(mark, stage) ? "the target of copies is used beside them" : NULL;
}
