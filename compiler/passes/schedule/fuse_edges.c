/* SPDX-License-Identifier: MIT
 *
 * Dependences between groups as fusion looks at them: one relation for each two stages, restricted to one iteration
 * of the loops that are shared already. */
#include "passes/schedule/fuse_private.h"

#include <isl/constraint.h>
#include <isl/ilp.h>

/* The direction in which `edge->to` runs: fused loops have one direction. */
static int direction(const struct edge *edge, int level)
{
	const struct group *group = edge->from->is_recurrence ? edge->from : edge->to;

	return group->direction ? group->direction[level] : 1;
}

static bool has_level(const struct edge *edge, int level)
{
	return level < edge->from->n_common && level < edge->to->n_common;
}

/* The pairs whose difference, of i + direction*shift, is 0, or where `sign` is not, of this sign. */
static __isl_give isl_map *with_difference(const struct edge *edge, int level, int sign)
{
	isl_local_space *space = isl_local_space_from_space(isl_map_get_space(edge->pairs));
	isl_constraint *difference = sign ? isl_inequality_alloc(space) : isl_equality_alloc(space);
	int64_t shift = direction(edge, level)*(group_shift(edge->from, level) - group_shift(edge->to, level));
	int way = sign ? sign : 1;

	difference = isl_constraint_set_coefficient_si(difference, isl_dim_in, level, way);
	difference = isl_constraint_set_coefficient_si(difference, isl_dim_out, level, -way);
	difference = isl_constraint_set_constant_si(difference, (int) (way*shift) - (sign != 0));
	return isl_map_add_constraint(isl_map_copy(edge->pairs), difference);
}

static __isl_give isl_map *keep_dim(__isl_take isl_map *pairs, enum isl_dim_type type, int dim)
{
	isl_size n = isl_map_dim(pairs, type);

	pairs = isl_map_project_out(pairs, type, (unsigned) dim + 1, (unsigned) (n - dim - 1));
	return isl_map_reset_tuple_id(isl_map_project_out(pairs, type, 0, (unsigned) dim), type);
}

void edge_distance(const struct edge *edge, int level, int way, int64_t *least, int64_t *most)
{
	isl_map *pairs = keep_dim(keep_dim(isl_map_copy(edge->pairs), isl_dim_in, level), isl_dim_out, level);
	isl_set *ahead = isl_map_deltas(way < 0 ? isl_map_reverse(pairs) : pairs);

	*least = val_integer(isl_set_dim_min_val(isl_set_copy(ahead), 0));
	*most = val_integer(isl_set_dim_max_val(ahead, 0));
}

__isl_give isl_map *edge_crossing(const struct edge *edge, int level)
{
	if (!has_level(edge, level))
		return isl_map_copy(edge->pairs);
	return isl_map_union(with_difference(edge, level, -1), with_difference(edge, level, 1));
}

__isl_give isl_map *edge_backwards(const struct edge *edge, int level)
{
	if (!has_level(edge, level))
		return isl_map_copy(edge->pairs);
	if (direction(edge, level) > 0)
		return isl_map_order_gt(isl_map_copy(edge->pairs), isl_dim_in, level, isl_dim_out, level);
	return isl_map_order_lt(isl_map_copy(edge->pairs), isl_dim_in, level, isl_dim_out, level);
}

static bool is_empty(__isl_take isl_map *pairs)
{
	bool empty = isl_map_is_empty(pairs) == isl_bool_true;

	isl_map_free(pairs);
	return empty;
}

bool edge_goes_back(const struct edge *edge, int level)
{
	return !is_empty(edge_backwards(edge, level));
}

struct collecting {
	const struct fusion *f;
	edge_list *edges;
	bool is_strict;
};

static isl_stat add_edge(__isl_take isl_map *pairs, void *user)
{
	struct collecting *c = user;
	struct edge edge = { .pairs = pairs, .is_strict = c->is_strict };

	edge.from = stage_of_id(isl_map_get_tuple_id(pairs, isl_dim_in))->group;
	edge.to = stage_of_id(isl_map_get_tuple_id(pairs, isl_dim_out))->group;
	edge.is_crossing = !is_empty(edge_crossing(&edge, 0));
	vec_push(c->f->module->arena, c->edges, edge);
	return isl_stat_ok;
}

/* By number of a group: its place in the region. */
static int *positions_of_region(const struct fusion *f)
{
	int *position = arena_new_array(f->module->arena, int, f->module->groups.n);

	for (int i = 0; i < f->region->groups.n; i++)
		position[f->region->groups.items[i]->number] = i;
	return position;
}

/* By consumer, the nearest producer first; else as they were found. */
static int compare_edges(const void *first, const void *second)
{
	const struct edge *a = first, *b = second;

	if (a->to_position != b->to_position)
		return a->to_position < b->to_position ? -1 : 1;
	if (a->from_position != b->from_position)
		return a->from_position > b->from_position ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

/* isl has them in the order of a hash table. */
static void sort_edges(const struct fusion *f, edge_list *edges)
{
	const int *position = positions_of_region(f);

	for (int i = 0; i < edges->n; i++) {
		edges->items[i].from_position = position[edges->items[i].from->number];
		edges->items[i].to_position = position[edges->items[i].to->number];
		edges->items[i].order = i;
	}
	if (edges->n)
		qsort(edges->items, (size_t) edges->n, sizeof *edges->items, compare_edges);
}

edge_list edges_of_region(const struct fusion *f)
{
	edge_list edges = { 0 };
	struct collecting strict = { f, &edges, true }, updates = { f, &edges, false };

	isl_union_map_foreach_map(f->region->strict, add_edge, &strict);
	isl_union_map_foreach_map(f->region->reduction, add_edge, &updates);
	sort_edges(f, &edges);
	return edges;
}

edge_list edges_inside(const struct fusion *f, const edge_list *edges, const group_list *members, int level)
{
	edge_list inside = { 0 };

	for (int i = 0; i < edges->n; i++) {
		struct edge edge = edges->items[i];

		if (!group_is_in(members, edge.from) || !group_is_in(members, edge.to))
			continue;
		edge.pairs = with_difference(&edge, level, 0);
		if (isl_map_is_empty(edge.pairs) == isl_bool_true) {
			isl_map_free(edge.pairs);
			continue;
		}
		edge.is_crossing = !is_empty(edge_crossing(&edge, level + 1));
		vec_push(f->module->arena, &inside, edge);
	}
	return inside;
}

void edges_free(edge_list *edges)
{
	for (int i = 0; i < edges->n; i++)
		isl_map_free(edges->items[i].pairs);
	edges->n = 0;
}
