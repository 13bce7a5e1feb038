/* SPDX-License-Identifier: MIT
 *
 * The proof of legality. It does not trust any pass: it takes the whole order of the tree (schedule_ordered) and
 * checks that every strict dependence goes forwards in it, that no parallel or vector loop carries one, that updates
 * which may meet are atomic or end in an accumulator of the loop, that nothing in a team leaves its thread, that rows
 * may stand for the cells of their targets, and that what shares a place of storage does not need it at the same time:
 * folded subscripts, windows, parts of threads, temporaries in the blocks of results. */
#include "ir/match/block.h"

struct legality {
	struct module *module;
	const struct region *region;
	const char *witness;
};

static bool deps_are_empty(struct legality *legality, __isl_take isl_union_map *deps, const char *what)
{
	isl_bool is_empty = isl_union_map_is_empty(deps);
	const char *sample;

	if (is_empty == isl_bool_true) {
		isl_union_map_free(deps);
		return true;
	}
	sample = dependence_sample(legality->module, deps);
	legality->witness = arena_printf(legality->module->arena, "%s: %s", what, sample ? sample : "(isl's quota)");
	return false;
}

struct reductions {
	__isl_keep isl_schedule_node *node;
	bool is_vector;
	bool is_safe;
};

/* Does each thread of the loop update a copy of its own? */
static bool has_own_copies(__isl_keep isl_schedule_node *band, const struct stage *stage)
{
	isl_schedule_node *at = isl_schedule_node_parent(isl_schedule_node_copy(band));
	const struct mark *mark;
	bool has = false;

	while ((mark = mark_of_node(at))) {
		has = has || (mark->kind == MARK_PRIVATE && mark->stage == stage);
		at = isl_schedule_node_parent(at);
	}
	isl_schedule_node_free(at);
	return has;
}

static isl_stat check_reduction(__isl_take isl_map *deps, void *user)
{
	struct reductions *r = user;
	const struct stage *a = stage_of_id(isl_map_get_tuple_id(deps, isl_dim_in));
	const struct stage *b = stage_of_id(isl_map_get_tuple_id(deps, isl_dim_out));
	bool is_accumulated = a == b && schedule_has_mark_above(r->node, MARK_ACCUMULATE, a);
	bool is_private = a == b && !r->is_vector && has_own_copies(r->node, a);
	bool is_atomic = schedule_has_mark_below(r->node, MARK_ATOMIC, a) &&
			 schedule_has_mark_below(r->node, MARK_ATOMIC, b);

	isl_map_free(deps);
	if (!is_accumulated && !is_private && (r->is_vector || !is_atomic))
		r->is_safe = false;
	return isl_stat_ok;
}

static bool reductions_are_safe(struct legality *legality, __isl_keep isl_schedule_node *band, bool is_vector)
{
	struct reductions reductions = { band, is_vector, true };
	isl_union_map *carried = schedule_carried(band, legality->region->reduction);

	if (isl_union_map_foreach_map(carried, check_reduction, &reductions) < 0 || !reductions.is_safe)
		return deps_are_empty(legality, carried, "updates of one cell may meet");
	isl_union_map_free(carried);
	return true;
}

/* The band below a stack of marks. */
static __isl_give isl_schedule_node *band_below(__isl_keep isl_schedule_node *mark)
{
	isl_schedule_node *at = isl_schedule_node_copy(mark);

	while (isl_schedule_node_get_type(at) == isl_schedule_node_mark)
		at = isl_schedule_node_first_child(at);
	return at;
}

/* In a team, what one iteration of the shared loop does must not meet what another does, in any iteration of the loops
 * between the team and it. */
static bool team_is_safe(struct legality *legality, __isl_keep isl_schedule_node *team,
			 __isl_keep isl_schedule_node *shared)
{
	isl_schedule_node *outer = band_below(team);
	bool ok = deps_are_empty(legality, schedule_crossing(outer, shared, legality->region->strict),
				 "a dependence leaves its thread") &&
		  deps_are_empty(legality, schedule_crossing(outer, shared, legality->region->reduction),
				 "updates of one cell by two threads");

	isl_schedule_node_free(outer);
	return ok;
}

static bool loop_is_safe(struct legality *legality, __isl_keep isl_schedule_node *band, bool is_vector)
{
	return deps_are_empty(legality, schedule_carried(band, legality->region->strict),
			      "a loop that is not sequential carries a dependence") &&
	       reductions_are_safe(legality, band, is_vector);
}

struct call {
	struct legality *legality;
	isl_schedule_node *outer;
};

static isl_bool check_call_band(__isl_keep isl_schedule_node *node, void *user)
{
	struct call *call = user;
	isl_union_map *deps;
	isl_union_set *domain;
	bool ok;

	if (isl_schedule_node_get_type(node) != isl_schedule_node_band)
		return isl_bool_true;
	domain = isl_schedule_node_get_domain(node);
	deps = isl_union_map_copy(call->legality->region->strict);
	deps = isl_union_map_intersect_domain(deps, isl_union_set_copy(domain));
	deps = isl_union_map_intersect_range(deps, domain);
	ok = deps_are_empty(call->legality, schedule_crossing(call->outer, node, deps),
			    "a dependence inside a call of the BLAS");
	isl_union_map_free(deps);
	return ok ? isl_bool_true : isl_bool_error;
}

/* What a call computes has no order: nothing leads from one point of its loops to another, but for sums. */
static bool call_is_safe(struct legality *legality, __isl_keep isl_schedule_node *mark)
{
	struct call call = { legality, band_below(mark) };
	bool ok = isl_schedule_node_foreach_descendant_top_down(mark, check_call_band, &call) == isl_stat_ok;

	isl_schedule_node_free(call.outer);
	return ok;
}

static bool parts_may_share(struct module *module, __isl_keep isl_schedule_node *node, const struct mark *block)
{
	isl_schedule_node *loop = isl_schedule_node_first_child(isl_schedule_node_copy(node));
	bool may = true;

	for (int i = 0; i < block->arrays.n; i++)
		for (int j = 0; j < module->arrays.n && may; j++)
			may = module->arrays.items[j]->stored.stands_in != block->arrays.items[i] ||
			      block_may_hold(module, loop, module->arrays.items[j], block->arrays.items[i]);
	isl_schedule_node_free(loop);
	return may;
}

/* Do iterations run together in a vector, which has no atomic updates? Lanes of a device are threads. */
static bool is_of_vector(__isl_keep isl_schedule_node *node, const struct mark *mark)
{
	return mark->kind == MARK_BLOCK ||
	       (mark->kind == MARK_VECTOR && !schedule_has_mark_above(node, MARK_GRID, NULL));
}

static isl_bool check_node(__isl_keep isl_schedule_node *node, void *user)
{
	struct legality *legality = user;
	const struct mark *mark = mark_of_node(node);
	isl_schedule_node *band, *team;
	bool ok;

	if (mark && mark->kind == MARK_BLAS)
		return call_is_safe(legality, node) ? isl_bool_true : isl_bool_error;
	if (mark && mark->kind == MARK_PRIVATE) {
		legality->witness = schedule_private_problem(node);
		return legality->witness ? isl_bool_error : isl_bool_true;
	}
	if (mark && mark->kind == MARK_ROW) {
		legality->witness = schedule_row_problem(legality->region, node);
		return legality->witness ? isl_bool_error : isl_bool_true;
	}
	if (mark && mark->kind == MARK_WARP_LOOP) {
		legality->witness = schedule_warp_loop_problem(legality->region, node);
		return legality->witness ? isl_bool_error : isl_bool_true;
	}
	if (mark && mark->kind == MARK_BLOCK && !parts_may_share(legality->module, node, mark)) {
		legality->witness = "a temporary stands in cells that are made while it is of use";
		return isl_bool_error;
	}
	if (!mark || (mark->kind != MARK_PARALLEL && mark->kind != MARK_VECTOR && mark->kind != MARK_BLOCK &&
		      mark->kind != MARK_LANES))
		return isl_bool_true;
	band = band_below(node);
	team = mark->kind == MARK_PARALLEL ? schedule_mark_above(node, MARK_TEAM, NULL) : NULL;
	ok = team ? team_is_safe(legality, team, band) : loop_is_safe(legality, band, is_of_vector(node, mark));
	isl_schedule_node_free(team);
	isl_schedule_node_free(band);
	return ok ? isl_bool_true : isl_bool_error;
}

static isl_bool check_storage(__isl_keep isl_schedule_node *node, void *user)
{
	struct legality *legality = user;
	const struct mark *mark = mark_of_node(node);

	if (mark && mark->kind == MARK_STORAGE)
		legality->witness = schedule_storage_problem(legality->module, node);
	if (mark && mark->kind == MARK_TEAM_STORAGE)
		legality->witness = schedule_team_storage_problem(legality->module, node);
	return legality->witness ? isl_bool_error : isl_bool_true;
}

/* Needs no dependences, which may be too many for isl. */
static bool storage_is_safe(struct legality *legality)
{
	return isl_schedule_foreach_schedule_node_top_down(legality->region->schedule, check_storage, legality) >= 0;
}

static bool dependences_are_kept(struct legality *legality)
{
	isl_schedule *schedule = legality->region->schedule;
	isl_union_map *strict = isl_union_map_copy(legality->region->strict);

	return deps_are_empty(legality, schedule_ordered(legality->module->arena, schedule, strict, false),
			      "the order of two instances is reversed") &&
	       isl_schedule_foreach_schedule_node_top_down(schedule, check_node, legality) >= 0;
}

bool schedule_is_legal(struct module *module, struct region *region, const char **witness)
{
	struct legality legality = { module, region, NULL };
	bool ok;

	*witness = NULL;
	if (!region->schedule)
		return true;
	ok = storage_is_safe(&legality);
	if (ok && region->strict)
		ok = dependences_are_kept(&legality);
	*witness = ok ? NULL : legality.witness ? legality.witness : "isl's quota of operations is used up";
	return ok;
}
