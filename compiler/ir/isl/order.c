/* SPDX-License-Identifier: MIT
 *
 * Which of two instances runs first, told by descending the tree: the first band or sequence in which they differ
 * decides. Most pairs are told apart near the root, which is what makes this much cheaper than comparing flat
 * schedules. */
#include "ir/schedule.h"

/* ---- bands ---- */

/* What a band says of a stage, where that is one of its dims, forwards (1) or backwards (-1); direction 0: another. */
struct order_dim {
	int direction, dim;
};

static int unit_of(__isl_take isl_val *value)
{
	int unit = isl_val_is_one(value) == isl_bool_true ? 1 : isl_val_is_negone(value) == isl_bool_true ? -1 : 0;

	isl_val_free(value);
	return unit;
}

static bool is_linear(__isl_keep isl_aff *aff)
{
	isl_val *constant = isl_aff_get_constant_val(aff);
	bool is = isl_val_is_zero(constant) == isl_bool_true && isl_aff_dim(aff, isl_dim_div) == 0 &&
		  isl_aff_involves_dims(aff, isl_dim_param, 0, (unsigned) isl_aff_dim(aff, isl_dim_param)) ==
			  isl_bool_false;

	isl_val_free(constant);
	return is;
}

static isl_stat find_order_dim(__isl_take isl_set *set, __isl_take isl_aff *aff, void *user)
{
	struct order_dim *order = user;
	int n = isl_aff_dim(aff, isl_dim_in), n_used = 0;

	for (int d = 0; d < n; d++)
		if (isl_aff_coefficient_sgn(aff, isl_dim_in, d)) {
			order->dim = d;
			n_used++;
		}
	if (n_used == 1 && is_linear(aff))
		order->direction = unit_of(isl_aff_get_coefficient_val(aff, isl_dim_in, order->dim));
	isl_set_free(set);
	isl_aff_free(aff);
	return isl_stat_ok;
}

static struct order_dim order_dim_of(__isl_keep isl_union_pw_aff *order, __isl_take isl_space *stage)
{
	isl_space *space = isl_space_add_dims(isl_space_from_domain(stage), isl_dim_out, 1);
	isl_pw_aff *value = isl_union_pw_aff_extract_pw_aff(order, space);
	struct order_dim dim = { 0 };

	if (isl_pw_aff_n_piece(value) == 1)
		isl_pw_aff_foreach_piece(value, find_order_dim, &dim);
	isl_pw_aff_free(value);
	return dim;
}

static __isl_give isl_map *compare_dims(__isl_take isl_map *pairs, int first, int second, enum band_relation relation)
{
	if (relation == BAND_EQUAL)
		return isl_map_equate(pairs, isl_dim_in, first, isl_dim_out, second);
	return relation == BAND_LESS ? isl_map_order_lt(pairs, isl_dim_in, first, isl_dim_out, second)
				     : isl_map_order_gt(pairs, isl_dim_in, first, isl_dim_out, second);
}

struct comparison {
	isl_multi_union_pw_aff *band;
	isl_union_pw_aff *order;
	enum band_relation relation;
	isl_union_map *result;
};

static __isl_give isl_union_map *compare_values(const struct comparison *comparison, __isl_take isl_union_map *pairs)
{
	isl_multi_union_pw_aff *band = isl_multi_union_pw_aff_copy(comparison->band);

	switch (comparison->relation) {
	case BAND_EQUAL:
		return isl_union_map_eq_at_multi_union_pw_aff(pairs, band);
	case BAND_LESS:
		return isl_union_map_lex_lt_at_multi_union_pw_aff(pairs, band);
	case BAND_GREATER:
		return isl_union_map_lex_gt_at_multi_union_pw_aff(pairs, band);
	}
	return NULL;
}

/* Most loops go along a dim of each stage, which takes no more than a constraint. */
static isl_stat compare_pairs(__isl_take isl_map *pairs, void *user)
{
	struct comparison *comparison = user;
	isl_space *space = isl_map_get_space(pairs);
	struct order_dim first = order_dim_of(comparison->order, isl_space_domain(isl_space_copy(space)));
	struct order_dim second = order_dim_of(comparison->order, isl_space_range(space));
	enum band_relation backwards = comparison->relation == BAND_LESS ? BAND_GREATER :
				       comparison->relation == BAND_GREATER ? BAND_LESS : BAND_EQUAL;
	isl_union_map *related;

	if (first.direction && first.direction == second.direction)
		related = isl_union_map_from_map(compare_dims(pairs, first.dim, second.dim, first.direction > 0
							      ? comparison->relation : backwards));
	else
		related = compare_values(comparison, isl_union_map_from_map(pairs));
	comparison->result = isl_union_map_union(comparison->result, related);
	return comparison->result ? isl_stat_ok : isl_stat_error;
}

__isl_give isl_union_map *schedule_related(__isl_keep isl_schedule_node *band, __isl_take isl_union_map *pairs,
					   enum band_relation relation)
{
	isl_multi_union_pw_aff *order = isl_schedule_node_band_get_partial_schedule(band);
	struct comparison comparison = { order, isl_multi_union_pw_aff_get_at(order, 0), relation,
					 isl_union_map_empty(isl_union_map_get_space(pairs)) };

	if (isl_union_map_foreach_map(pairs, compare_pairs, &comparison) < 0)
		comparison.result = isl_union_map_free(comparison.result);
	isl_union_pw_aff_free(comparison.order);
	isl_multi_union_pw_aff_free(order);
	isl_union_map_free(pairs);
	return comparison.result;
}

/* ---- the tree ---- */

static __isl_give isl_union_map *ordered_below(struct arena *arena, __isl_take isl_schedule_node *node,
					       __isl_take isl_union_map *pairs, bool forwards);

/* Of the parameters of `pairs`: a union of maps of others writes each of them anew. */
static __isl_give isl_union_map *pairs_none(__isl_keep isl_union_map *pairs)
{
	return isl_union_map_empty(isl_union_map_get_space(pairs));
}

static __isl_give isl_union_map *pairs_between(__isl_keep isl_union_map *pairs, __isl_take isl_union_set *first,
					       __isl_take isl_union_set *second)
{
	pairs = isl_union_map_intersect_domain(isl_union_map_copy(pairs), first);
	return isl_union_map_intersect_range(pairs, second);
}

static __isl_give isl_union_map *ordered_by_band(struct arena *arena, __isl_take isl_schedule_node *band,
						 __isl_take isl_union_map *pairs, bool forwards)
{
	isl_union_map *together = schedule_related(band, isl_union_map_copy(pairs), BAND_EQUAL);

	pairs = schedule_related(band, pairs, forwards ? BAND_LESS : BAND_GREATER);
	return isl_union_map_union(pairs, ordered_below(arena, isl_schedule_node_first_child(band), together,
							 forwards));
}

/* ---- sequences ---- */

enum { NOWHERE = -1, SEVERAL = -2 };

/* A sequence, and the child that runs each stage, by number of the stage: most pairs are told apart by that alone,
 * however many children there are. */
struct sequence {
	struct arena *arena;
	isl_schedule_node *node;
	int n;
	int *child_of, n_stages;
	int child;                      /* whose filter is being entered */
	isl_union_map **inside;         /* by child: pairs that it has to tell apart */
	isl_union_map *ordered;         /* told, in the order that is asked for */
	isl_union_map *rest;            /* of stages that several children share */
	bool forwards;
};

static isl_stat count_stages(__isl_take isl_set *set, void *user)
{
	struct sequence *sequence = user;
	const struct stage *stage = stage_of_id(isl_set_get_tuple_id(set));

	if (stage->number >= sequence->n_stages)
		sequence->n_stages = stage->number + 1;
	isl_set_free(set);
	return isl_stat_ok;
}

static isl_stat enter_stage(__isl_take isl_set *set, void *user)
{
	struct sequence *sequence = user;
	int *child = &sequence->child_of[stage_of_id(isl_set_get_tuple_id(set))->number];

	*child = *child == NOWHERE ? sequence->child : SEVERAL;
	isl_set_free(set);
	return isl_stat_ok;
}

static __isl_give isl_union_set *filter_of(const struct sequence *sequence, int child)
{
	isl_schedule_node *node = isl_schedule_node_get_child(sequence->node, child);
	isl_union_set *filter = isl_schedule_node_filter_get_filter(node);

	isl_schedule_node_free(node);
	return filter;
}

static __isl_give isl_union_map *below_child(const struct sequence *sequence, int child,
					     __isl_take isl_union_map *pairs)
{
	isl_schedule_node *node = isl_schedule_node_get_child(sequence->node, child);

	return ordered_below(sequence->arena, isl_schedule_node_first_child(node), pairs, sequence->forwards);
}

static bool sequence_open(struct sequence *sequence)
{
	isl_union_set *domain = isl_schedule_node_get_domain(sequence->node);
	bool ok = isl_union_set_foreach_set(domain, count_stages, sequence) == isl_stat_ok;

	isl_union_set_free(domain);
	sequence->child_of = arena_new_array(sequence->arena, int, sequence->n_stages + 1);
	sequence->inside = arena_new_array(sequence->arena, isl_union_map *, sequence->n + 1);
	for (int i = 0; ok && i < sequence->n_stages; i++)
		sequence->child_of[i] = NOWHERE;
	for (int i = 0; ok && i < sequence->n; i++) {
		isl_union_set *filter = filter_of(sequence, i);

		sequence->child = i;
		sequence->inside[i] = pairs_none(sequence->ordered);
		ok = isl_union_set_foreach_set(filter, enter_stage, sequence) == isl_stat_ok;
		isl_union_set_free(filter);
	}
	return ok;
}

static isl_stat tell_pair(__isl_take isl_map *pairs, void *user)
{
	struct sequence *sequence = user;
	int first = sequence->child_of[stage_of_id(isl_map_get_tuple_id(pairs, isl_dim_in))->number];
	int second = sequence->child_of[stage_of_id(isl_map_get_tuple_id(pairs, isl_dim_out))->number];
	isl_union_map **to = first < 0 || second < 0 ? &sequence->rest :
			     first == second ? &sequence->inside[first] : &sequence->ordered;

	if (to == &sequence->ordered && (first < second) != sequence->forwards)
		isl_map_free(pairs);
	else
		*to = isl_union_map_add_map(*to, pairs);
	return isl_stat_ok;
}

/* Of pairs with a stage that several children share: the filters say which instances run where. */
static void tell_rest(struct sequence *sequence)
{
	isl_union_set *seen = isl_union_set_empty_ctx(isl_schedule_node_get_ctx(sequence->node));

	for (int i = 0; i < sequence->n; i++) {
		isl_union_set *filter = filter_of(sequence, i);
		isl_union_set *first = sequence->forwards ? seen : filter, *second = sequence->forwards ? filter : seen;

		sequence->ordered = isl_union_map_union(
			sequence->ordered, pairs_between(sequence->rest, isl_union_set_copy(first),
							 isl_union_set_copy(second)));
		sequence->inside[i] = isl_union_map_union(
			sequence->inside[i], pairs_between(sequence->rest, isl_union_set_copy(filter),
							   isl_union_set_copy(filter)));
		seen = isl_union_set_union(seen, filter);
	}
	isl_union_set_free(seen);
}

/* Also of a set, whose children are printed in the order that they have. */
static __isl_give isl_union_map *ordered_by_sequence(struct arena *arena, __isl_take isl_schedule_node *node,
						     __isl_take isl_union_map *pairs, bool forwards)
{
	struct sequence sequence = { .arena = arena, .node = node, .n = (int) isl_schedule_node_n_children(node),
				     .ordered = pairs_none(pairs), .rest = pairs_none(pairs), .forwards = forwards };
	bool ok = sequence.n >= 0 && sequence_open(&sequence) &&
		  isl_union_map_foreach_map(pairs, tell_pair, &sequence) == isl_stat_ok;

	if (ok && isl_union_map_is_empty(sequence.rest) != isl_bool_true)
		tell_rest(&sequence);
	for (int i = 0; ok && i < sequence.n; i++, sequence.inside[i - 1] = NULL)
		sequence.ordered = isl_union_map_union(sequence.ordered, below_child(&sequence, i, sequence.inside[i]));
	for (int i = 0; sequence.inside && i < sequence.n; i++)
		isl_union_map_free(sequence.inside[i]);
	isl_union_map_free(sequence.rest);
	isl_union_map_free(pairs);
	isl_schedule_node_free(node);
	return ok ? sequence.ordered : isl_union_map_free(sequence.ordered);
}

/* The same of the tree below `node`, for instances that run together as far as the tree above it says. */
static __isl_give isl_union_map *ordered_below(struct arena *arena, __isl_take isl_schedule_node *node,
					       __isl_take isl_union_map *pairs, bool forwards)
{
	isl_bool is_empty = isl_union_map_is_empty(pairs);
	isl_union_map *together;
	enum isl_schedule_node_type type;

	if (is_empty != isl_bool_false) {
		isl_schedule_node_free(node);
		return is_empty == isl_bool_true ? pairs : isl_union_map_free(pairs);
	}
	while (isl_schedule_node_get_type(node) == isl_schedule_node_mark)
		node = isl_schedule_node_first_child(node);
	type = isl_schedule_node_get_type(node);
	if (type == isl_schedule_node_band)
		return ordered_by_band(arena, node, pairs, forwards);
	if (type == isl_schedule_node_sequence || type == isl_schedule_node_set)
		return ordered_by_sequence(arena, node, pairs, forwards);
	isl_schedule_node_free(node);
	if (type == isl_schedule_node_leaf && !forwards)
		return pairs;
	together = type == isl_schedule_node_leaf ? pairs_none(pairs) : NULL;
	isl_union_map_free(pairs);
	return together;
}

__isl_give isl_union_map *schedule_ordered(struct arena *arena, __isl_keep isl_schedule *schedule,
					   __isl_take isl_union_map *pairs, bool forwards)
{
	isl_schedule_node *root = isl_schedule_get_root(schedule);

	return ordered_below(arena, isl_schedule_node_first_child(root), pairs, forwards);
}
