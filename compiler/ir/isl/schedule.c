/* SPDX-License-Identifier: MIT
 *
 * Questions to a schedule tree: which dependences does a loop carry, which marks stand around it. */
#include "ir/schedule.h"

#include <isl/point.h>

enum { FEW_STAGES = 1000 };     /* whose square is an int */

/* ---- what a band carries ---- */

/* Band by band, which is much cheaper than with the schedule above the node, whose pieces have domains. */
__isl_give isl_union_map *schedule_meeting(__isl_keep isl_schedule_node *node, __isl_take isl_union_map *pairs)
{
	isl_schedule_node *at = isl_schedule_node_copy(node);

	while (isl_schedule_node_has_parent(at) == isl_bool_true) {
		at = isl_schedule_node_parent(at);
		if (isl_schedule_node_get_type(at) == isl_schedule_node_band)
			pairs = schedule_related(at, pairs, BAND_EQUAL);
	}
	isl_schedule_node_free(at);
	return pairs;
}

struct reach {
	isl_union_set *domain;
	isl_union_map *reached;
};

/* Of pairs those whose first (isl_dim_in) or second instances are in the domain: with stages that are there as a whole,
 * as most are, nothing is intersected. */
static __isl_give isl_map *pairs_within(__isl_take isl_map *pairs, __isl_keep isl_union_set *domain,
					enum isl_dim_type side)
{
	const struct stage *stage = stage_of_id(isl_map_get_tuple_id(pairs, side));
	isl_set *part = isl_union_set_extract_set(domain, isl_set_get_space(stage->domain));

	if (isl_set_plain_is_equal(part, stage->domain) == isl_bool_true) {
		isl_set_free(part);
		return pairs;
	}
	return side == isl_dim_in ? isl_map_intersect_domain(pairs, part) : isl_map_intersect_range(pairs, part);
}

static isl_stat reach_pairs(__isl_take isl_map *pairs, void *user)
{
	struct reach *reach = user;

	pairs = pairs_within(pairs_within(pairs, reach->domain, isl_dim_in), reach->domain, isl_dim_out);
	reach->reached = isl_union_map_add_map(reach->reached, pairs);
	return isl_stat_ok;
}

static isl_stat reach_pairs_of(struct reach *reach, __isl_keep isl_union_map *pairs, __isl_keep isl_set *from,
			       __isl_keep isl_set *to)
{
	isl_space *space = isl_space_map_from_domain_and_range(isl_set_get_space(from), isl_set_get_space(to));

	if (isl_union_map_contains(pairs, space) != isl_bool_true) {
		isl_space_free(space);
		return isl_stat_ok;
	}
	return reach_pairs(isl_union_map_extract_map(pairs, space), reach);
}

/* Below most nodes are few stages, of which the pairs are looked up: of n stages and n nodes, all pairs for each node
 * would be n*n. */
static isl_stat reach_pairs_of_stages(struct reach *reach, __isl_keep isl_union_map *pairs)
{
	isl_set_list *stages = isl_union_set_get_set_list(reach->domain);
	const int n = isl_set_list_n_set(stages);
	isl_stat stat = isl_stat_ok;

	for (int i = 0; i < n*n && stat == isl_stat_ok; i++) {
		isl_set *from = isl_set_list_get_at(stages, i/n), *to = isl_set_list_get_at(stages, i%n);

		stat = reach_pairs_of(reach, pairs, from, to);
		isl_set_free(from);
		isl_set_free(to);
	}
	isl_set_list_free(stages);
	return stat;
}

/* Of pairs those that run below the node. */
static __isl_give isl_union_map *pairs_below(__isl_keep isl_schedule_node *node, __isl_keep isl_union_map *pairs)
{
	struct reach reach = { isl_schedule_node_get_domain(node),
			       isl_union_map_empty(isl_union_map_get_space(pairs)) };
	const int n_stages = isl_union_set_n_set(reach.domain), n_pairs = isl_union_map_n_map(pairs);
	const bool has_few = n_stages <= FEW_STAGES && n_stages*n_stages < n_pairs;
	isl_stat stat = has_few ? reach_pairs_of_stages(&reach, pairs)
				: isl_union_map_foreach_map(pairs, reach_pairs, &reach);

	if (stat < 0)
		reach.reached = isl_union_map_free(reach.reached);
	isl_union_set_free(reach.domain);
	return reach.reached;
}

__isl_give isl_union_map *schedule_crossing(__isl_keep isl_schedule_node *node, __isl_keep isl_schedule_node *inner,
					    __isl_keep isl_union_map *deps)
{
	isl_union_map *reached = schedule_meeting(node, pairs_below(node, deps)), *together;

	together = schedule_related(inner, isl_union_map_copy(reached), BAND_EQUAL);
	return isl_union_map_coalesce(isl_union_map_subtract(reached, together));
}

__isl_give isl_union_map *schedule_carried(__isl_keep isl_schedule_node *node, __isl_keep isl_union_map *deps)
{
	return schedule_crossing(node, node, deps);
}

/* ---- samples ---- */

/* "'y' at i = 1" of the first or the second of a pair of instances. */
static void add_instance(struct str *text, const struct module *module, __isl_keep isl_point *point,
			 __isl_keep isl_map *map, enum isl_dim_type type)
{
	const struct stage *stage = stage_of_id(isl_map_get_tuple_id(map, type));
	const struct array *array = stage->write.array;
	int n = isl_map_dim(map, type);

	str_add(text, "'%s'", array->role == ROLE_LOCAL ? array->group->name : array_title(module->arena, array));
	for (int i = 0; i < n; i++)
		str_add(text, "%s%s = %ld", i ? ", " : " at ", dim_title(module, stage, i),
			witness_value(map, point, type, (unsigned) i));
}

static bool comes_first(__isl_keep isl_map *map, __isl_keep isl_map *other)
{
	int from = stage_of_id(isl_map_get_tuple_id(map, isl_dim_in))->number;
	int to = stage_of_id(isl_map_get_tuple_id(map, isl_dim_out))->number;
	int other_from = stage_of_id(isl_map_get_tuple_id(other, isl_dim_in))->number;

	return from != other_from ? from < other_from
				  : to < stage_of_id(isl_map_get_tuple_id(other, isl_dim_out))->number;
}

/* isl has them in the order of a hash table. */
static isl_stat find_first(__isl_take isl_map *map, void *user)
{
	isl_map **first = user;
	bool is_first = isl_map_is_empty(map) == isl_bool_false && (!*first || comes_first(map, *first));

	if (!is_first) {
		isl_map_free(map);
		return isl_stat_ok;
	}
	isl_map_free(*first);
	*first = map;
	return isl_stat_ok;
}

const char *dependence_sample(struct module *module, __isl_take isl_union_map *deps)
{
	struct str text = str_new(module->arena);
	isl_map *first = NULL;
	isl_point *point;

	isl_union_map_foreach_map(deps, find_first, &first);
	isl_union_map_free(deps);
	if (!first)
		return NULL;
	first = isl_map_intersect_params(first, isl_set_copy(module->context));
	point = witness_smallest(first);
	if (isl_point_is_void(point) == isl_bool_false) {
		add_instance(&text, module, point, first, isl_dim_in);
		str_add(&text, " before ");
		add_instance(&text, module, point, first, isl_dim_out);
	}
	isl_point_free(point);
	isl_map_free(first);
	return text.length ? str_text(&text) : NULL;
}

/* ---- marks around a node ---- */

static bool mark_is(const struct mark *mark, enum mark_kind kind, const struct stage *stage)
{
	return mark && mark->kind == kind && (!stage || mark->stage == stage);
}

__isl_give isl_schedule_node *schedule_mark_above(__isl_keep isl_schedule_node *node, enum mark_kind kind,
						  const struct stage *stage)
{
	isl_schedule_node *at = isl_schedule_node_copy(node);

	while (isl_schedule_node_has_parent(at) == isl_bool_true) {
		at = isl_schedule_node_parent(at);
		if (mark_is(mark_of_node(at), kind, stage))
			return at;
	}
	isl_schedule_node_free(at);
	return NULL;
}

bool schedule_has_mark_above(__isl_keep isl_schedule_node *node, enum mark_kind kind, const struct stage *stage)
{
	isl_schedule_node *mark = schedule_mark_above(node, kind, stage);

	isl_schedule_node_free(mark);
	return mark;
}

bool domain_has_stage(__isl_keep isl_union_set *domain, const struct stage *stage)
{
	isl_space *space = isl_set_get_space(stage->domain);
	bool has = isl_union_set_contains(domain, space) == isl_bool_true;

	isl_space_free(space);
	return has;
}

bool schedule_has_stage(__isl_keep isl_schedule_node *node, const struct stage *stage)
{
	isl_union_set *domain = isl_schedule_node_get_domain(node);
	bool has = domain_has_stage(domain, stage);

	isl_union_set_free(domain);
	return has;
}

struct find_mark {
	enum mark_kind kind;
	const struct stage *stage;
	bool found;
};

static isl_bool find_mark_below(__isl_keep isl_schedule_node *node, void *user)
{
	struct find_mark *find = user;

	find->found = find->found || mark_is(mark_of_node(node), find->kind, find->stage);
	return find->found ? isl_bool_false : isl_bool_true;
}

bool schedule_has_mark_below(__isl_keep isl_schedule_node *node, enum mark_kind kind, const struct stage *stage)
{
	struct find_mark find = { kind, stage, false };

	isl_schedule_node_foreach_descendant_top_down(node, find_mark_below, &find);
	return find.found;
}
