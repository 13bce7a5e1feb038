/* SPDX-License-Identifier: MIT
 *
 * The proof that a temporary may be stored as its STORAGE mark says: folded subscripts, a part of a thread, a window.
 * It asks the tree alone, and no pass. With o the loops around the mark, T = { S[D] -> cell } the accesses and W those
 * that write,
 *
 * - all that touches the array runs below the mark;
 * - a cell belongs to one o: { S[D] -> S'[D'] : W(D) = T(D'), o(D) != o(D') } has only pairs that the facts of index
 *   arrays rule out (ir/isl/axioms.c), so that what one o leaves in a place, no other one reads;
 * - in one o a folded subscript has one value: cells that share a place are the same cell;
 * - a window holds what is of use in one iteration of its loop (ir/isl/window.c);
 * - threads, lanes and kernels around the mark have places of their own, and threads of a team, which do not wait for
 *   one another between two o, touch no place of another thread.
 *
 * Next values that are written in place are accesses of one array, so that dependences keep their order; temporaries in
 * the blocks of results are proved in ir/match/block_share.c, private copies and rows in ir/isl/row_check.c. */
#include "ir/schedule.h"

struct storing {
	struct module *module;
	const struct array *array;
	const struct stage *stage;
	isl_union_map *writes, *all;    /* { S[D] -> A[subscripts] } */
	unsigned folded;                /* subscripts that are not stored: a bit for each */
};

static __isl_give isl_union_map *with_access(const struct storing *s, __isl_take isl_union_map *accesses,
					     const struct access *access)
{
	return isl_union_map_union(accesses, isl_union_map_from_map(access_map(s->module, s->stage, access)));
}

static void add_access(struct access *access, void *user)
{
	struct storing *s = user;

	if (access->array == s->array)
		s->all = with_access(s, s->all, access);
}

static struct storing storing_open(struct module *module, const struct array *array, unsigned folded)
{
	struct storing s = { module, array, NULL, isl_union_map_empty_ctx(module->ctx),
			     isl_union_map_empty_ctx(module->ctx), folded };

	for (int i = 0; i < module->stages.n; i++) {
		s.stage = module->stages.items[i];
		add_access(&module->stages.items[i]->write, &s);
		stage_reads(module->stages.items[i], add_access, &s);
		if (s.stage->write.array == array)
			s.writes = with_access(&s, s.writes, &s.stage->write);
	}
	return s;
}

static void storing_close(struct storing *s)
{
	isl_union_map_free(s->writes);
	isl_union_map_free(s->all);
}

/* ---- pairs that no data can make real ---- */

struct pairs {
	const struct module *module;
	bool are_none;
};

static isl_stat look_at_pairs(__isl_take isl_map *map, void *user)
{
	struct pairs *pairs = user;
	const struct stage *a = stage_of_id(isl_map_get_tuple_id(map, isl_dim_in));
	const struct stage *b = stage_of_id(isl_map_get_tuple_id(map, isl_dim_out));

	if (isl_map_is_empty(map) != isl_bool_true)
		map = isl_map_subtract(map, axioms_impossible(pairs->module, a, b));
	pairs->are_none = pairs->are_none && isl_map_is_empty(map) == isl_bool_true;
	isl_map_free(map);
	return isl_stat_ok;
}

static bool are_impossible(const struct storing *s, __isl_take isl_union_map *pairs)
{
	struct pairs others = { s->module, true };

	pairs = isl_union_map_intersect_params(pairs, isl_set_copy(s->module->context));
	if (isl_union_map_foreach_map(pairs, look_at_pairs, &others) < 0)
		others.are_none = false;
	isl_union_map_free(pairs);
	return others.are_none;
}

/* { S[D] -> S'[D'] } of a write and any access to one cell, or to one place. */
static __isl_give isl_union_map *pairs_of(__isl_take isl_union_map *writes, __isl_take isl_union_map *all)
{
	return isl_union_map_apply_range(writes, isl_union_map_reverse(all));
}

/* ---- cells and the loops around the mark ---- */

/* Are all that touch the array among these? */
static bool are_among(const struct storing *s, __isl_take isl_union_set *these)
{
	isl_union_set *touching = isl_union_map_domain(isl_union_map_copy(s->all));
	bool are;

	touching = isl_union_set_intersect_params(touching, isl_set_copy(s->module->context));
	are = isl_union_set_is_subset(touching, these) == isl_bool_true;
	isl_union_set_free(touching);
	isl_union_set_free(these);
	return are;
}

static bool is_around(const struct storing *s, __isl_keep isl_schedule_node *mark)
{
	return are_among(s, isl_schedule_node_get_domain(mark));
}

/* Is there no cell that is touched in two iterations of the loops around, and written in one of them? */
static bool is_cell_of_one(const struct storing *s, __isl_keep isl_schedule_node *mark)
{
	isl_union_map *pairs = pairs_of(isl_union_map_copy(s->writes), isl_union_map_copy(s->all));
	isl_union_map *together = schedule_meeting(mark, isl_union_map_copy(pairs));

	return are_impossible(s, isl_union_map_subtract(pairs, together));
}

struct projection {
	const struct storing *storing;
	bool keeps_folded;              /* these subscripts alone; else the others */
	isl_union_map *places;
};

static isl_stat project(__isl_take isl_map *map, void *user)
{
	struct projection *projection = user;

	map = isl_map_reset_tuple_id(map, isl_dim_out);
	for (int i = projection->storing->array->rank - 1; i >= 0; i--)
		if ((projection->storing->folded >> i & 1U) != projection->keeps_folded)
			map = isl_map_project_out(map, isl_dim_out, (unsigned) i, 1);
	projection->places = isl_union_map_union(projection->places, isl_union_map_from_map(map));
	return isl_stat_ok;
}

static __isl_give isl_union_map *projected(const struct storing *s, __isl_keep isl_union_map *accesses,
					   bool keeps_folded)
{
	struct projection projection = { s, keeps_folded, isl_union_map_empty_ctx(s->module->ctx) };

	if (isl_union_map_foreach_map(accesses, project, &projection) < 0)
		projection.places = isl_union_map_free(projection.places);
	return projection.places;
}

/* With { o -> folded subscripts }, o being what `time` says of instances: is that one value each? */
static bool has_one_value(const struct storing *s, __isl_take isl_union_map *time)
{
	isl_union_map *values = isl_union_map_apply_domain(projected(s, s->all, true), time);
	bool has;

	values = isl_union_map_intersect_params(isl_union_map_coalesce(values), isl_set_copy(s->module->context));
	has = isl_union_map_is_single_valued(values) == isl_bool_true;
	isl_union_map_free(values);
	return has;
}

/* ---- who has which place ---- */

/* Do threads, lanes and kernels around have places of their own? A variable stands in the loop below which it is. */
static bool has_own_places(const struct array *array, __isl_keep isl_schedule_node *mark)
{
	if (array_is_variable(array))
		return true;
	return !schedule_has_mark_above(mark, MARK_VECTOR, NULL) && !schedule_has_mark_above(mark, MARK_GRID, NULL) &&
	       (array->stored.is_per_thread || !schedule_has_mark_above(mark, MARK_PARALLEL, NULL));
}

struct team {
	const struct storing *storing;
	isl_schedule_node *outer;       /* the band of the loop that the team goes over */
	bool is_safe;
};

static __isl_give isl_schedule_node *band_below(__isl_keep isl_schedule_node *mark)
{
	isl_schedule_node *at = isl_schedule_node_copy(mark);

	while (isl_schedule_node_get_type(at) == isl_schedule_node_mark)
		at = isl_schedule_node_first_child(at);
	return at;
}

static isl_bool look_at_shared(__isl_keep isl_schedule_node *node, void *user)
{
	struct team *team = user;
	const struct storing *s = team->storing;
	const struct mark *mark = mark_of_node(node);
	isl_schedule_node *shared;
	isl_union_map *pairs;

	if (!mark || mark->kind != MARK_PARALLEL)
		return isl_bool_true;
	shared = band_below(node);
	pairs = pairs_of(projected(s, s->writes, false), projected(s, s->all, false));
	team->is_safe = team->is_safe && are_impossible(s, schedule_crossing(team->outer, shared, pairs));
	isl_union_map_free(pairs);
	isl_schedule_node_free(shared);
	return isl_bool_false;
}

static bool stays_in_thread(const struct storing *s, __isl_keep isl_schedule_node *mark)
{
	isl_schedule_node *team_mark = schedule_mark_above(mark, MARK_TEAM, NULL);
	struct team team = { s, NULL, true };

	if (!team_mark)
		return true;
	team.outer = band_below(team_mark);
	if (isl_schedule_node_foreach_descendant_top_down(mark, look_at_shared, &team) < 0)
		team.is_safe = false;
	isl_schedule_node_free(team.outer);
	isl_schedule_node_free(team_mark);
	return team.is_safe;
}

static const char for_others[] = "some of what reads or writes it runs outside the loops around";
static const char for_iterations[] = "a value is read in another iteration of the loops around";
static const char for_subscripts[] = "values of two subscripts are of use in one iteration of the loops around";

const char *schedule_storage_problem(struct module *module, __isl_keep isl_schedule_node *mark)
{
	const struct array *array = mark_of_node(mark)->array;
	struct storing s = storing_open(module, array, array->stored.folded);
	const char *problem = NULL;

	if (!is_around(&s, mark))
		problem = for_others;
	else if (!has_own_places(array, mark))
		problem = "iterations that run at once would share it";
	else if (!is_cell_of_one(&s, mark))
		problem = for_iterations;
	else if (!has_one_value(&s, isl_schedule_node_get_prefix_schedule_union_map(mark)))
		problem = for_subscripts;
	else if (!stays_in_thread(&s, mark))
		problem = "threads of a team would overwrite each other's values";
	else
		problem = schedule_window_problem(module, mark);
	storing_close(&s);
	return problem;
}

/* ---- what a team of a device keeps ---- */

static isl_bool add_lanes(__isl_keep isl_schedule_node *node, void *user)
{
	const struct mark *mark = mark_of_node(node);
	isl_union_map **lanes = user;
	isl_schedule_node *band;
	isl_union_map *of_band;

	if (!mark || mark->kind != MARK_LANES)
		return isl_bool_true;
	band = band_below(node);
	of_band = isl_schedule_node_band_get_partial_schedule_union_map(band);
	of_band = isl_union_map_intersect_domain(of_band, isl_schedule_node_get_domain(band));
	*lanes = isl_union_map_union(*lanes, of_band);
	isl_schedule_node_free(band);
	return isl_bool_false;
}

/* { S[D] -> [k] }: the iteration of its LANES loop, which is that of its lane. */
static __isl_give isl_union_map *lanes_below(const struct storing *s, __isl_keep isl_schedule_node *mark)
{
	isl_union_map *lanes = isl_union_map_empty_ctx(s->module->ctx);

	if (isl_schedule_node_foreach_descendant_top_down(mark, add_lanes, &lanes) < 0)
		return isl_union_map_free(lanes);
	return lanes;
}

/* What belongs to a lane has the number of its iteration, from 0 on. */
static bool are_numbers(const struct storing *s, __isl_keep isl_union_map *lanes)
{
	isl_union_set *numbers = isl_union_map_range(isl_union_map_copy(lanes));
	isl_union_set *others;
	bool are;

	numbers = isl_union_set_intersect_params(numbers, isl_set_copy(s->module->context));
	others = isl_union_set_subtract(numbers, isl_union_set_read_from_str(s->module->ctx, "{ [k] : k >= 0 }"));
	are = isl_union_set_is_empty(others) == isl_bool_true;
	isl_union_set_free(others);
	return are;
}

/* With { o -> folded subscripts }: is it a bijection, so that each cell is of one o, and those of one o differ in the
 * other subscripts? */
static bool is_of_one(const struct storing *s, __isl_take isl_union_map *time)
{
	isl_union_map *values = isl_union_map_apply_domain(projected(s, s->all, true), time);
	bool is;

	values = isl_union_map_intersect_params(isl_union_map_coalesce(values), isl_set_copy(s->module->context));
	is = isl_union_map_is_bijective(values) == isl_bool_true;
	isl_union_map_free(values);
	return is;
}

static const char *registers_problem(const struct storing *s, __isl_keep isl_schedule_node *mark)
{
	isl_union_map *lanes = lanes_below(s, mark);
	const char *problem = NULL;
	isl_union_map *time;

	if (!are_among(s, isl_union_map_domain(isl_union_map_copy(lanes))))
		problem = for_others;
	else if (!are_numbers(s, lanes))
		problem = "lanes have no number from 0 on";
	if (!problem) {
		time = isl_schedule_node_get_prefix_schedule_union_map(mark);
		time = isl_union_map_flat_range_product(time, isl_union_map_copy(lanes));
		problem = is_of_one(s, time) ? NULL : "a lane reads what another one writes";
	}
	isl_union_map_free(lanes);
	return problem;
}

/* Are all cells written that have the folded subscripts of some that are? */
static bool writes_all(const struct storing *s)
{
	isl_union_set *written = isl_union_map_range(isl_union_map_copy(s->writes));
	isl_union_map *folded = projected(s, s->writes, true);
	isl_set *box = array_box(s->module, s->array);
	isl_union_set *all = isl_union_set_from_set(box);
	isl_union_map *cells = isl_union_map_reverse(isl_union_set_identity(isl_union_set_copy(all)));
	bool writes;

	cells = projected(s, cells, true);
	cells = isl_union_map_intersect_range(cells, isl_union_map_range(folded));
	all = isl_union_set_intersect_params(isl_union_map_domain(cells), isl_set_copy(s->module->context));
	writes = isl_union_set_is_subset(all, written) == isl_bool_true;
	isl_union_set_free(all);
	isl_union_set_free(written);
	return writes;
}

static void keep_below(struct storing *s, __isl_keep isl_schedule_node *mark)
{
	isl_union_set *below = isl_schedule_node_get_domain(mark);

	s->writes = isl_union_map_intersect_domain(s->writes, isl_union_set_copy(below));
	s->all = isl_union_map_intersect_domain(s->all, below);
}

/* Of an argument: copies are made at the begin of an iteration, of what is only read, or at the end, of what is wholly
 * written. */
static const char *copies_problem(struct storing *s, __isl_keep isl_schedule_node *mark)
{
	keep_below(s, mark);
	if (isl_union_map_is_empty(s->writes) == isl_bool_true)
		return has_one_value(s, isl_schedule_node_get_prefix_schedule_union_map(mark)) ? NULL : for_subscripts;
	if (!is_of_one(s, isl_schedule_node_get_prefix_schedule_union_map(mark)))
		return for_iterations;
	return writes_all(s) ? NULL : "some of its cells keep the values that they have";
}

struct windows {
	const struct storing *storing;
	isl_schedule_node *mark;
	int64_t window;                 /* that is needed at most, by the loop that needs least; 0: none is known */
};

static isl_bool look_at_loop(__isl_keep isl_schedule_node *node, void *user)
{
	struct windows *windows = user;
	const struct storing *s = windows->storing;
	const struct mark *mark = mark_of_node(node);
	int64_t window;

	if (mark && mark->kind == MARK_LANES)
		return isl_bool_false;
	if (!mark || mark->kind != MARK_LOOP)
		return isl_bool_true;
	window = schedule_team_window(s->module, windows->mark, node, s->array, s->array->in_team->windowed);
	if (window && (!windows->window || window < windows->window))
		windows->window = window;
	return isl_bool_true;
}

static const char *window_problem(const struct storing *s, __isl_keep isl_schedule_node *mark)
{
	const int64_t window = s->array->in_team->window;
	struct windows windows = { s, mark, 0 };

	if (!window)
		return NULL;
	if (isl_schedule_node_foreach_descendant_top_down(mark, look_at_loop, &windows) < 0)
		windows.window = 0;
	return windows.window && windows.window <= window ? NULL : "a window holds less than what is of use";
}

const char *schedule_team_storage_problem(struct module *module, __isl_keep isl_schedule_node *mark)
{
	const struct mark *kept = mark_of_node(mark);
	const struct array *array = kept ? kept->array : NULL;
	const char *problem = NULL;
	struct storing s;

	if (!array)
		return "isl has no such tree";
	s = storing_open(module, array, array->in_team->folded);

	if (array->in_team->row)
		problem = copies_problem(&s, mark);
	else if (!is_around(&s, mark))
		problem = for_others;
	else if (!array->in_team->is_shared)
		problem = registers_problem(&s, mark);
	else if (!is_of_one(&s, isl_schedule_node_get_prefix_schedule_union_map(mark)))
		problem = for_iterations;
	else
		problem = window_problem(&s, mark);
	storing_close(&s);
	return problem ? problem : schedule_team_room_problem(module, mark);
}
