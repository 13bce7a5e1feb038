/* SPDX-License-Identifier: MIT
 *
 * Which of two instances runs first, told by descending the tree: the first band or sequence in which they differ
 * decides. Most pairs are told apart near the root, which is what makes this much cheaper than comparing flat
 * schedules. */
#include "ir/schedule.h"

static __isl_give isl_union_map *ordered_below(__isl_take isl_schedule_node *node, __isl_take isl_union_map *pairs,
					       bool forwards);

static __isl_give isl_union_map *pairs_none(__isl_take isl_union_map *pairs)
{
	isl_ctx *ctx = isl_union_map_get_ctx(pairs);

	isl_union_map_free(pairs);
	return isl_union_map_empty_ctx(ctx);
}

static __isl_give isl_union_map *pairs_between(__isl_keep isl_union_map *pairs, __isl_take isl_union_set *first,
					       __isl_take isl_union_set *second)
{
	pairs = isl_union_map_intersect_domain(isl_union_map_copy(pairs), first);
	return isl_union_map_intersect_range(pairs, second);
}

static __isl_give isl_union_map *ordered_by_band(__isl_take isl_schedule_node *band, __isl_take isl_union_map *pairs,
						 bool forwards)
{
	isl_multi_union_pw_aff *order = isl_schedule_node_band_get_partial_schedule(band);
	isl_union_map *together = isl_union_map_eq_at_multi_union_pw_aff(isl_union_map_copy(pairs),
									 isl_multi_union_pw_aff_copy(order));

	pairs = forwards ? isl_union_map_lex_lt_at_multi_union_pw_aff(pairs, order)
			 : isl_union_map_lex_gt_at_multi_union_pw_aff(pairs, order);
	return isl_union_map_union(pairs, ordered_below(isl_schedule_node_first_child(band), together, forwards));
}

/* Also of a set, whose children are printed in the order that they have. */
static __isl_give isl_union_map *ordered_by_sequence(__isl_take isl_schedule_node *sequence,
						     __isl_take isl_union_map *pairs, bool forwards)
{
	isl_union_map *ordered = isl_union_map_empty_ctx(isl_union_map_get_ctx(pairs));
	isl_union_set *seen = isl_union_set_empty_ctx(isl_union_map_get_ctx(pairs));
	int n = isl_schedule_node_n_children(sequence);

	for (int i = 0; i < n; i++) {
		isl_schedule_node *child = isl_schedule_node_get_child(sequence, i);
		isl_union_set *filter = isl_schedule_node_filter_get_filter(child);
		isl_union_map *inside = pairs_between(pairs, isl_union_set_copy(filter), isl_union_set_copy(filter));
		isl_union_map *across = pairs_between(pairs, isl_union_set_copy(forwards ? seen : filter),
						      isl_union_set_copy(forwards ? filter : seen));

		ordered = isl_union_map_union(ordered, across);
		ordered = isl_union_map_union(ordered, ordered_below(isl_schedule_node_first_child(child), inside,
								     forwards));
		seen = isl_union_set_union(seen, filter);
	}
	if (n < 0)
		ordered = isl_union_map_free(ordered);
	isl_union_set_free(seen);
	isl_union_map_free(pairs);
	isl_schedule_node_free(sequence);
	return ordered;
}

/* The same of the tree below `node`, for instances that run together as far as the tree above it says. */
static __isl_give isl_union_map *ordered_below(__isl_take isl_schedule_node *node, __isl_take isl_union_map *pairs,
					       bool forwards)
{
	isl_bool is_empty = isl_union_map_is_empty(pairs);
	enum isl_schedule_node_type type;

	if (is_empty != isl_bool_false) {
		isl_schedule_node_free(node);
		return is_empty == isl_bool_true ? pairs : isl_union_map_free(pairs);
	}
	while (isl_schedule_node_get_type(node) == isl_schedule_node_mark)
		node = isl_schedule_node_first_child(node);
	type = isl_schedule_node_get_type(node);
	if (type == isl_schedule_node_band)
		return ordered_by_band(node, pairs, forwards);
	if (type == isl_schedule_node_sequence || type == isl_schedule_node_set)
		return ordered_by_sequence(node, pairs, forwards);
	isl_schedule_node_free(node);
	if (type != isl_schedule_node_leaf)
		return isl_union_map_free(pairs);
	return forwards ? pairs_none(pairs) : pairs;
}

__isl_give isl_union_map *schedule_ordered(__isl_keep isl_schedule *schedule, __isl_take isl_union_map *pairs,
					   bool forwards)
{
	isl_schedule_node *root = isl_schedule_get_root(schedule);

	return ordered_below(isl_schedule_node_first_child(root), pairs, forwards);
}
