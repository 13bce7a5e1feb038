/* SPDX-License-Identifier: MIT
 *
 * The textual order of a region as a schedule tree: groups in sequence; in each, one band per common dim, the point
 * of the group, its stages in sequence, and one band for each of their own dims. Groups that are fused stand in
 * sequence below the bands that they share.
 *
 * Where joined, sums over the children of one node share the loop over them: groups that share all of their loops are
 * one point, at which these sums first start, and then the stages run in the order of the text, but for a sum whose
 * loop is there already. That is proved like any other order (passes/schedule/join.c).
 *
 * A bound dim is a function of earlier ones, so that its band may stand anywhere below theirs: it is put as far out
 * as it can, and what is read from index arrays is read once. In a group of several stages this holds for the
 * common dims only. */
#include "ir/schedule.h"

typedef isl_schedule_node node;

static bool never_runs(const struct stage *stage)
{
	return isl_set_is_empty(stage->domain) == isl_bool_true;
}

static bool any_runs(const stage_list *stages)
{
	bool runs = false;

	for (int i = 0; i < stages->n; i++)
		runs |= !never_runs(stages->items[i]);
	return runs;
}

/* { S[D] -> [direction * D_number + shift] } for those of `stages` that run at all, as isl reads it back. */
static __isl_give isl_multi_union_pw_aff *dim_schedule(const struct module *module, const stage_list *stages,
						       int number, int direction)
{
	const struct expr dim = { .kind = EXPR_DIM, .type = TYPE_I64, .index = number };
	isl_union_pw_aff *sum = NULL;

	for (int i = 0; i < stages->n; i++) {
		int64_t shift = group_shift(stages->items[i]->group, number);
		isl_pw_aff *aff;
		isl_union_pw_aff *one;

		if (never_runs(stages->items[i]))
			continue;
		aff = expr_pw_aff(module, stages->items[i], &dim);
		aff = direction < 0 ? isl_pw_aff_neg(aff) : aff;
		if (shift)
			aff = isl_pw_aff_add_constant_val(aff, isl_val_int_from_si(module->ctx, shift));
		one = isl_union_pw_aff_from_pw_aff(aff);
		sum = sum ? isl_union_pw_aff_union_add(sum, one) : one;
	}
	return isl_multi_union_pw_aff_from_union_pw_aff(sum);
}

static enum mark_kind dim_mark_kind(const struct dim *dim)
{
	if (dim->kind == DIM_BIND)
		return MARK_BIND;
	return dim->kind == DIM_CHILDREN ? MARK_CHILDREN : MARK_LOOP;
}

/* Puts the band of a dim of `stages` and its mark above `at`; returns the place below the band. What never runs has
 * none. */
static __isl_give node *insert_dim(struct module *module, __isl_take node *at, const stage_list *stages, int number,
				   int direction)
{
	struct stage *stage = stages->items[0];
	const struct dim *dim = &stage->dims.items[number];
	struct mark *mark = mark_new(module, dim_mark_kind(dim), "order", dim->span);

	if (!any_runs(stages))
		return at;
	mark->dim = dim;
	mark->stage = stage;
	mark->direction = direction;
	at = isl_schedule_node_insert_partial_schedule(at, dim_schedule(module, stages, number, direction));
	at = isl_schedule_node_insert_mark(at, mark_id(module, mark));
	return isl_schedule_node_first_child(isl_schedule_node_first_child(at));
}

static int max_int(int a, int b)
{
	return a > b ? a : b;
}

/* The last of the dims that `dim` reads. */
static int dim_reads(const struct dim *dim)
{
	int last = -1;

	if (dim->kind == DIM_RANGE)
		return max_int(expr_last_dim(dim->lo), expr_last_dim(dim->hi));
	for (int i = 0; i < dim->source.array->rank; i++)
		last = max_int(last, expr_last_dim(dim->source.subs[i]));
	return last;
}

struct placing {
	struct module *module;
	const stage_list *stages;
	const int *direction;           /* of common dims; NULL: forwards */
	int n;                          /* dims that may be placed are below this */
	bool *placed;
};

static __isl_give node *place(const struct placing *p, __isl_take node *at, int number)
{
	p->placed[number] = true;
	return insert_dim(p->module, at, p->stages, number, p->direction ? p->direction[number] : 1);
}

static __isl_give node *place_ready_binds(const struct placing *p, __isl_take node *at)
{
	const dim_list *dims = &p->stages->items[0]->dims;

	for (int i = 0; i < p->n; i++) {
		int last = dim_reads(&dims->items[i]);

		if (!p->placed[i] && dims->items[i].kind == DIM_BIND && (last < 0 || p->placed[last]))
			at = place(p, at, i);
	}
	return at;
}

/* Places the dims first..last-1, and bound ones below p->n as early as they can be. */
static __isl_give node *place_dims(const struct placing *p, __isl_take node *at, int first, int last)
{
	at = place_ready_binds(p, at);
	for (int i = first; i < last; i++) {
		if (!p->placed[i])
			at = place(p, at, i);
		at = place_ready_binds(p, at);
	}
	return at;
}

static __isl_give node *insert_group_mark(struct module *module, __isl_take node *at, struct group *group)
{
	struct mark *mark = mark_new(module, MARK_GROUP, "order", group->span);

	mark->group = group;
	at = isl_schedule_node_insert_mark(at, mark_id(module, mark));
	return isl_schedule_node_first_child(at);
}

static __isl_give isl_union_set *stages_domain(const struct module *module, const stage_list *stages)
{
	isl_union_set *domain = isl_union_set_empty_ctx(module->ctx);

	for (int i = 0; i < stages->n; i++)
		domain = isl_union_set_union(domain, isl_union_set_from_set(isl_set_copy(stages->items[i]->domain)));
	return domain;
}

/* The bands of the dims that `stages`, all with the same ones, do not share with their groups. */
static __isl_give node *insert_own_dims(struct module *module, __isl_take node *at, const stage_list *stages)
{
	const struct stage *first = stages->items[0];
	struct placing placing = { module, stages, NULL, first->dims.n, NULL };
	int n_common = first->group->n_common;

	placing.placed = arena_new_array(module->arena, bool, first->dims.n + 1);
	for (int i = 0; i < n_common; i++)
		placing.placed[i] = true;
	return place_dims(&placing, at, n_common, first->dims.n);
}

typedef VEC(stage_list) step_list;

static __isl_give node *insert_filters(struct module *module, __isl_take node *at, const step_list *steps)
{
	isl_union_set_list *filters = isl_union_set_list_alloc(module->ctx, steps->n);

	for (int i = 0; i < steps->n; i++)
		filters = isl_union_set_list_add(filters, stages_domain(module, &steps->items[i]));
	return isl_schedule_node_insert_sequence(at, filters);
}

static step_list one_by_one(struct module *module, const stage_list *stages)
{
	step_list steps = { 0 };

	for (int i = 0; i < stages->n; i++)
		vec_push(module->arena, &steps, ((stage_list) { &stages->items[i], 1, 1 }));
	return steps;
}

/* Steps one after the other, each with its own dims; returns to where it began. */
static __isl_give node *insert_steps(struct module *module, __isl_take node *at, const step_list *steps)
{
	isl_size depth = isl_schedule_node_get_tree_depth(at);

	at = insert_filters(module, at, steps);
	for (int i = 0; i < steps->n; i++) {
		step_list stages = one_by_one(module, &steps->items[i]);

		at = isl_schedule_node_first_child(isl_schedule_node_child(at, i));
		at = insert_own_dims(module, at, &steps->items[i]);
		if (stages.n > 1)
			at = insert_filters(module, at, &stages);
		at = isl_schedule_node_ancestor(at, isl_schedule_node_get_tree_depth(at) - depth);
	}
	return at;
}

/* ---- sums that share a loop over children ---- */

struct ordering {
	struct module *module;
	bool is_fused;
	struct stage *const *joined;    /* by number of stage: the sum whose loop it shares; both may be NULL */
};

static const struct stage *joined_by(const struct ordering *order, const struct stage *stage)
{
	return order->joined ? order->joined[stage->number] : NULL;
}

static bool any_joins(const struct ordering *order, const stage_list *stages)
{
	bool any = false;

	for (int i = 0; i < stages->n; i++)
		any = any || joined_by(order, stages->items[i]);
	return any;
}

/* Does a stage start one of the sums that share a loop? */
static bool starts_joined(const struct ordering *order, const stage_list *stages, const struct stage *start)
{
	const struct array *local = start->write.array;
	bool starts = false;

	for (int i = 0; start->is_init && i < stages->n; i++) {
		const struct stage *sum = stages->items[i], *first = joined_by(order, sum);

		starts = starts || (first && (sum->write.array == local || first->write.array == local));
	}
	return starts;
}

/* Adds a stage to the step of the sum that it joins, or else behind all. */
static void add_to_steps(const struct ordering *order, step_list *steps, struct stage *stage)
{
	const struct stage *first = joined_by(order, stage);
	stage_list alone = { 0 };

	for (int i = 0; first && i < steps->n; i++)
		if (steps->items[i].items[0] == first) {
			vec_push(order->module->arena, &steps->items[i], stage);
			return;
		}
	vec_push(order->module->arena, &alone, stage);
	vec_push(order->module->arena, steps, alone);
}

static step_list steps_at_point(const struct ordering *order, const stage_list *stages)
{
	step_list steps = { 0 };

	for (int i = 0; i < stages->n; i++)
		if (starts_joined(order, stages, stages->items[i]))
			add_to_steps(order, &steps, stages->items[i]);
	for (int i = 0; i < stages->n; i++)
		if (!starts_joined(order, stages, stages->items[i]))
			add_to_steps(order, &steps, stages->items[i]);
	return steps;
}

/* A group below the bands of its first `n_placed` dims. */
static __isl_give node *insert_group(struct ordering *order, __isl_take node *at, struct group *group, int n_placed)
{
	struct module *module = order->module;
	struct stage *first = group->stages.items[0];
	bool is_single = group->stages.n == 1;
	struct placing placing = { module, &group->stages, NULL, is_single ? first->dims.n : group->n_common, NULL };
	isl_size depth = isl_schedule_node_get_tree_depth(at);
	int *direction = arena_new_array(module->arena, int, first->dims.n + 1);
	step_list steps;

	for (int i = 0; i < first->dims.n; i++)
		direction[i] = group->direction && i < group->n_common ? group->direction[i] : 1;
	placing.direction = direction;
	placing.placed = arena_new_array(module->arena, bool, first->dims.n + 1);
	for (int i = 0; i < n_placed; i++)
		placing.placed[i] = true;
	at = place_dims(&placing, at, n_placed, group->n_common);
	at = insert_group_mark(module, at, group);
	if (is_single) {
		at = place_dims(&placing, at, group->n_common, first->dims.n);
	} else {
		steps = steps_at_point(order, &group->stages);
		at = insert_steps(module, at, &steps);
	}
	return isl_schedule_node_ancestor(at, isl_schedule_node_get_tree_depth(at) - depth);
}

/* ---- several groups ---- */

static stage_list stages_of(const struct module *module, struct group *const *groups, int n)
{
	stage_list list = { 0 };

	for (int g = 0; g < n; g++)
		for (int s = 0; s < groups[g]->stages.n; s++)
			vec_push(module->arena, &list, groups[g]->stages.items[s]);
	return list;
}

/* How many of the groups that begin with the first share more than `n_shared` loops with it. */
static int n_together(struct group *const *groups, int n, int n_shared)
{
	int together = 1;

	while (together < n && groups[together]->n_fused > n_shared)
		together++;
	return together;
}

static __isl_give node *insert_groups(struct ordering *order, __isl_take node *at, struct group *const *groups, int n,
				      int n_placed);

/* Groups, or sets of groups that share further loops, in sequence. */
static __isl_give node *insert_sequence(struct ordering *order, __isl_take node *at, struct group *const *groups, int n,
					int n_placed)
{
	isl_union_set_list *filters = isl_union_set_list_alloc(order->module->ctx, n);
	isl_size depth = isl_schedule_node_get_tree_depth(at);
	int child = 0;

	for (int g = 0, count; g < n; g += count) {
		stage_list stages;

		count = order->is_fused ? n_together(groups + g, n - g, n_placed) : 1;
		stages = stages_of(order->module, groups + g, count);
		filters = isl_union_set_list_add(filters, stages_domain(order->module, &stages));
	}
	at = isl_schedule_node_insert_sequence(at, filters);
	for (int g = 0, count; g < n; g += count, child++) {
		count = order->is_fused ? n_together(groups + g, n - g, n_placed) : 1;
		at = isl_schedule_node_first_child(isl_schedule_node_child(at, child));
		at = insert_groups(order, at, groups + g, count, n_placed);
		at = isl_schedule_node_ancestor(at, isl_schedule_node_get_tree_depth(at) - depth);
	}
	return at;
}

/* How many of the groups that begin with the first are one point: they share all of their loops, and no other group
 * shares them. */
static int n_at_point(struct group *const *groups, int n)
{
	int n_common = groups[0]->n_common;
	int n_at = groups[0]->n_fused < n_common ? n_together(groups, n, n_common - 1) : 1;
	bool is_one = true;

	for (int g = 0; g < n_at; g++)
		is_one = is_one && groups[g]->n_common == n_common;
	return is_one ? n_at : 1;
}

/* Groups that are one point: below the marks of all, their stages. */
static __isl_give node *insert_point(struct ordering *order, __isl_take node *at, struct group *const *groups, int n)
{
	stage_list stages = stages_of(order->module, groups, n);
	isl_size depth = isl_schedule_node_get_tree_depth(at);
	step_list steps = steps_at_point(order, &stages);

	for (int g = 0; g < n; g++)
		at = insert_group_mark(order->module, at, groups[g]);
	at = insert_steps(order->module, at, &steps);
	return isl_schedule_node_ancestor(at, isl_schedule_node_get_tree_depth(at) - depth);
}

/* One group, or several that share more than `n_placed` loops. */
static __isl_give node *insert_groups(struct ordering *order, __isl_take node *at, struct group *const *groups, int n,
				      int n_placed)
{
	stage_list stages = stages_of(order->module, groups, n);
	isl_size depth = isl_schedule_node_get_tree_depth(at);
	int n_shared = groups[n - 1]->n_fused;

	if (n == 1)
		return insert_group(order, at, groups[0], n_placed);
	for (int g = 1; g < n; g++)
		n_shared = groups[g]->n_fused < n_shared ? groups[g]->n_fused : n_shared;
	for (int d = n_placed; d < n_shared; d++)
		at = insert_dim(order->module, at, &stages, d, groups[0]->direction ? groups[0]->direction[d] : 1);
	if (n_at_point(groups, n) == n && any_joins(order, &stages))
		at = insert_point(order, at, groups, n);
	else
		at = insert_sequence(order, at, groups, n, n_shared);
	return isl_schedule_node_ancestor(at, isl_schedule_node_get_tree_depth(at) - depth);
}

static __isl_give isl_schedule *region_tree(struct ordering *order, const struct region *region)
{
	stage_list stages = stages_of(order->module, region->groups.items, region->groups.n);
	isl_schedule *schedule;
	node *at = isl_schedule_node_from_domain(stages_domain(order->module, &stages));

	at = isl_schedule_node_first_child(at);
	at = insert_sequence(order, at, region->groups.items, region->groups.n, 0);
	schedule = isl_schedule_node_get_schedule(at);
	isl_schedule_node_free(at);
	return schedule;
}

__isl_give isl_schedule *schedule_textual(struct module *module, struct region *region)
{
	return region_tree(&(struct ordering) { .module = module }, region);
}

__isl_give isl_schedule *schedule_fused(struct module *module, struct region *region)
{
	return region_tree(&(struct ordering) { .module = module, .is_fused = true }, region);
}

__isl_give isl_schedule *schedule_joined(struct module *module, struct region *region, struct stage *const *joined)
{
	return region_tree(&(struct ordering) { .module = module, .is_fused = true, .joined = joined }, region);
}

stage_list schedule_stages_at_point(struct module *module, const struct region *region, const struct stage *stage)
{
	struct group *const *groups = region->groups.items;

	for (int g = 0, n; g < region->groups.n; g += n) {
		n = n_at_point(groups + g, region->groups.n - g);
		for (int i = g; i < g + n; i++)
			if (groups[i] == stage->group)
				return stages_of(module, groups + g, n);
	}
	return (stage_list) { 0 };
}
