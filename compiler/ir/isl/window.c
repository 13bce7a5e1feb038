/* SPDX-License-Identifier: MIT
 *
 * Windows: how much of an array is of use at a time while a loop runs. The cells of one value x of a subscript are of
 * use from the first iteration that touches one to the last. Two values x and y that are of use in one iteration must
 * not share their place; if all such differ by less than W, x modulo W is a place for each (modular mappings: Lefebvre
 * and Feautrier 1998). W is the largest difference and one more, over all sizes; there may be none.
 *
 * With T = { [o, t] -> [x] } for all accesses, t the loop and o the loops around it, what is of use in t is
 * { x -> [o, t] : t1 <= t <= t2, T(o, t1) and T(o, t2) contain x }. No cell is touched for two different o: what one
 * iteration of the loops around leaves in the window, no other one reads. */
#include <limits.h>

#include <isl/ilp.h>

#include "ir/schedule.h"

/* { S[D] -> A[subscripts] } of all accesses to one array. */
struct touching {
	struct module *module;
	const struct array *array;
	const struct stage *stage;
	isl_union_map *cells;
};

static void add_access(struct access *access, void *user)
{
	struct touching *touching = user;
	isl_map *map;

	if (access->array != touching->array)
		return;
	map = access_map(touching->module, touching->stage, access);
	touching->cells = isl_union_map_union(touching->cells, isl_union_map_from_map(map));
}

static __isl_give isl_union_map *cells_of(struct module *module, const struct array *array)
{
	struct touching touching = { module, array, NULL, isl_union_map_empty_ctx(module->ctx) };

	for (int s = 0; s < module->stages.n; s++) {
		touching.stage = module->stages.items[s];
		add_access(&module->stages.items[s]->write, &touching);
		stage_reads(module->stages.items[s], add_access, &touching);
	}
	return touching.cells;
}

/* { [o, t] -> A[subscripts] }; NULL: something that touches the array does not run below. */
static __isl_give isl_map *cells_in_time(__isl_keep isl_schedule_node *loop, __isl_take isl_union_map *cells)
{
	isl_schedule_node *below = isl_schedule_node_child(isl_schedule_node_child(isl_schedule_node_copy(loop), 0), 0);
	isl_union_map *time = isl_schedule_node_get_prefix_schedule_union_map(below);
	isl_union_set *domain = isl_schedule_node_get_domain(loop);
	isl_union_set *all = isl_union_map_domain(isl_union_map_copy(cells));
	bool is_around = isl_union_set_is_subset(all, domain) == isl_bool_true;

	isl_schedule_node_free(below);
	isl_union_set_free(all);
	time = isl_union_map_intersect_domain(time, domain);
	cells = isl_union_map_coalesce(isl_union_map_apply_domain(cells, time));
	if (is_around && isl_union_map_n_map(cells) == 1)
		return isl_map_from_union_map(cells);
	isl_union_map_free(cells);
	return NULL;
}

static bool is_empty(__isl_take isl_map *map)
{
	bool is = isl_map_is_empty(map) == isl_bool_true;

	isl_map_free(map);
	return is;
}

/* Does no cell belong to two iterations of the loops around? */
static bool is_cell_of_one(__isl_keep isl_map *cells, unsigned n_around)
{
	isl_map *of_outer = isl_map_project_out(isl_map_copy(cells), isl_dim_in, n_around, 1);
	isl_map *outer_of = isl_map_reverse(isl_map_copy(of_outer));
	isl_map *pairs = isl_map_apply_range(of_outer, outer_of);
	isl_map *same = isl_map_identity(isl_map_get_space(pairs));

	return is_empty(isl_map_subtract(pairs, same));
}

/* { [o, t] -> [o, t'] : t' >= t } */
static __isl_give isl_map *later(__isl_take isl_set *times, unsigned n_around)
{
	isl_map *map = isl_map_universe(isl_space_map_from_set(isl_set_get_space(times)));

	isl_set_free(times);
	for (unsigned i = 0; i < n_around; i++)
		map = isl_map_equate(map, isl_dim_in, (int) i, isl_dim_out, (int) i);
	return isl_map_order_le(map, isl_dim_in, (int) n_around, isl_dim_out, (int) n_around);
}

/* { x -> y } of values that are of use in one iteration, from { [o, t] -> [x] }. */
static __isl_give isl_map *together(__isl_take isl_map *values, unsigned n_around)
{
	isl_map *order = later(isl_map_domain(isl_map_copy(values)), n_around);
	isl_map *of_value = isl_map_reverse(isl_map_copy(values));
	isl_map *begun = isl_map_apply_range(isl_map_copy(of_value), isl_map_copy(order));
	isl_map *needed = isl_map_apply_range(of_value, isl_map_reverse(order));

	return isl_map_apply_range(isl_map_coalesce(isl_map_intersect(begun, needed)), values);
}

/* Of the values of one subscript, from { [o, t] -> A[subscripts] }; 0: there is none, or it is too large. */
static int64_t window_of(__isl_take isl_map *cells, unsigned n_around, const struct array *array, int subscript)
{
	int64_t most;

	cells = isl_map_project_out(cells, isl_dim_out, (unsigned) subscript + 1,
				    (unsigned) (array->rank - subscript - 1));
	cells = isl_map_project_out(cells, isl_dim_out, 0, (unsigned) subscript);
	cells = isl_map_reset_tuple_id(cells, isl_dim_out);
	most = val_integer(isl_set_dim_max_val(isl_map_deltas(together(cells, n_around)), 0));
	return most < MAX_WINDOW ? most + 1 : 0;
}

int64_t schedule_window(struct module *module, __isl_keep isl_schedule_node *loop, const struct array *array,
			int subscript)
{
	isl_map *cells = cells_in_time(loop, cells_of(module, array));
	unsigned n_around = (unsigned) isl_schedule_node_get_schedule_depth(loop);

	if (!cells || (n_around && !is_cell_of_one(cells, n_around))) {
		isl_map_free(cells);
		return 0;
	}
	return window_of(cells, n_around, array, subscript);
}

const char *schedule_window_problem(struct module *module, __isl_keep isl_schedule_node *mark)
{
	const struct array *array = mark_of_node(mark)->array;
	isl_schedule_node *loop = isl_schedule_node_copy(mark);
	const struct mark *below = mark_of_node(mark);
	const struct stored *stored = &array->stored;
	int64_t window = stored->window;

	while (below && below->kind == MARK_STORAGE) {
		loop = isl_schedule_node_first_child(loop);
		below = mark_of_node(loop);
	}
	if (window)
		window = below && below->kind == MARK_LOOP ? schedule_window(module, loop, array, stored->windowed) : 0;
	isl_schedule_node_free(loop);
	return !stored->window || (window && window <= stored->window) ? NULL
								       : "a window holds less than what is of use";
}

/* ---- what a team shares ----
 * Lanes of a team go through its loops together. What runs before the loop t has one value of t less than it has, what
 * runs behind it one more; what several iterations of the loops around do is taken together. */

struct around {
	isl_union_set *before, *behind;
};

static __isl_give isl_union_set *domain_of_child(__isl_keep isl_schedule_node *sequence, int i)
{
	isl_schedule_node *child = isl_schedule_node_first_child(isl_schedule_node_get_child(sequence, i));
	isl_union_set *domain = isl_schedule_node_get_domain(child);

	isl_schedule_node_free(child);
	return domain;
}

static void add_children(struct around *around, __isl_keep isl_schedule_node *sequence, int position)
{
	const isl_size n = isl_schedule_node_n_children(sequence);

	for (int i = 0; i < position; i++)
		around->before = isl_union_set_union(around->before, domain_of_child(sequence, i));
	for (int i = position + 1; i < n; i++)
		around->behind = isl_union_set_union(around->behind, domain_of_child(sequence, i));
}

/* What runs below `node` before and behind the loop; false: there is another loop between. */
static bool find_around(struct around *around, __isl_keep isl_schedule_node *node, __isl_keep isl_schedule_node *loop)
{
	const isl_size depth = isl_schedule_node_get_tree_depth(node);
	isl_schedule_node *at = isl_schedule_node_copy(loop);
	bool is_alone = true;

	while (is_alone && isl_schedule_node_get_tree_depth(at) > depth) {
		const int position = (int) isl_schedule_node_get_child_position(at);

		at = isl_schedule_node_parent(at);
		is_alone = isl_schedule_node_get_type(at) != isl_schedule_node_band;
		if (isl_schedule_node_get_type(at) == isl_schedule_node_sequence)
			add_children(around, at, position);
	}
	isl_schedule_node_free(at);
	return is_alone;
}

/* { S[D] -> [t] } of a set, with t = value + shift. */
static __isl_give isl_union_map *at_time(const struct module *module, __isl_take isl_union_set *set,
					 const struct expr *value, int shift)
{
	isl_pw_aff *time = expr_pw_aff(module, NULL, value);
	isl_val *by = isl_val_int_from_si(module->ctx, shift);
	isl_set *times = isl_set_from_pw_aff(isl_pw_aff_add_constant_val(time, by));

	return isl_union_map_from_domain_and_range(set, isl_union_set_from_set(times));
}

/* { S[D] -> [t] } of all that runs below `node`; NULL: there is none. */
static __isl_give isl_union_map *times_below(struct module *module, __isl_keep isl_schedule_node *node,
					     __isl_keep isl_schedule_node *loop)
{
	struct around around = { isl_union_set_empty_ctx(module->ctx), isl_union_set_empty_ctx(module->ctx) };
	const struct dim *dim = mark_of_node(loop)->dim;
	isl_schedule_node *band;
	isl_union_map *times;

	if (!find_around(&around, node, loop)) {
		isl_union_set_free(around.before);
		isl_union_set_free(around.behind);
		return NULL;
	}
	band = isl_schedule_node_first_child(isl_schedule_node_copy(loop));
	times = isl_schedule_node_band_get_partial_schedule_union_map(band);
	times = isl_union_map_intersect_domain(times, isl_schedule_node_get_domain(band));
	times = isl_union_map_union(times, at_time(module, around.before, dim->lo, -1));
	times = isl_union_map_union(times, at_time(module, around.behind, dim->hi, 0));
	isl_schedule_node_free(band);
	return times;
}

int64_t schedule_team_window(struct module *module, __isl_keep isl_schedule_node *node,
			     __isl_keep isl_schedule_node *loop, const struct array *array, int subscript)
{
	isl_union_map *times = times_below(module, node, loop), *all = cells_of(module, array);
	isl_map *cells;

	if (times)
		all = isl_union_map_coalesce(isl_union_map_apply_domain(all, times));
	if (!times || isl_union_map_n_map(all) != 1) {
		isl_union_map_free(all);
		return 0;
	}
	cells = isl_map_intersect_params(isl_map_from_union_map(all), isl_set_copy(module->context));
	return window_of(cells, 0, array, subscript);
}
