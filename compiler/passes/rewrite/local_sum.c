/* SPDX-License-Identifier: MIT
 *
 * Sums of definitions, y[i] = … sum(j) …, which are local values of the group of y: one stage begins a value, one adds
 * to it at each j, and later ones read it. What passes do with them: the two stages become groups of their own, which
 * run before what is left of the group, over dims in another order or over fewer of them, and make an array. */
#include "passes/pass_private.h"

static bool note_stage(struct local_sum *sum, struct stage *stage)
{
	struct stage **place = stage->op == REDUCE_SET ? &sum->begin : &sum->add;

	if (stage->write.array != sum->array)
		return true;
	if (*place || stage->guard)
		return false;
	*place = stage;
	return true;
}

/* Each point of the group defines a cell of its own. */
static bool defines_cells(const struct group *group)
{
	bool defines = !group->is_recurrence && !group->is_apart;

	for (int i = 0; i < group->stages.n && defines; i++) {
		const struct stage *stage = group->stages.items[i];

		defines = stage->write.array->role == ROLE_LOCAL || (stage->op == REDUCE_SET &&
								     !stage_is_checked(stage));
	}
	return defines;
}

bool local_sum_find(struct module *module, struct array *array, struct local_sum *sum)
{
	const stage_list *stages;

	*sum = (struct local_sum) { .module = module, .array = array, .group = array->group };
	if (array->role != ROLE_LOCAL || !defines_cells(sum->group))
		return false;
	stages = &sum->group->stages;
	for (int i = 0; i < stages->n; i++)
		if (!note_stage(sum, stages->items[i]))
			return false;
	sum->last = stages->items[stages->n - 1];
	return sum->begin && sum->add && sum->begin->is_init && sum->last->write.array->role != ROLE_LOCAL &&
	       !stage_reads_local(sum->add) && !stage_is_checked(sum->add);
}

struct array *local_sum_array(const struct local_sum *sum, const char *what, int rank)
{
	const char *name = arena_printf(sum->module->arena, "%s_%s", sum->array->name, what);
	struct array *array = module_add_array(sum->module, name, ROLE_TEMP, sum->array->type, rank, sum->array->span);

	array->sums = sum->array->sums;
	return array;
}

void stage_take_dims(struct arena *arena, struct stage *stage, const int *order, int n)
{
	struct expr **dims = arena_new_array(arena, struct expr *, stage->dims.n);
	const dim_list old = stage->dims;
	int n_taken = 0;

	for (int d = 0; d < n; d++)
		if (order[d] < old.n)
			dims[order[d]] = expr_dim(arena, n_taken++, old.items[order[d]].span);
	stage->dims = (dim_list) { 0 };
	for (int d = 0; d < n; d++)
		if (order[d] < old.n)
			vec_push(arena, &stage->dims, dim_substitute(arena, &old.items[order[d]], dims));
	stage->write = access_substitute(arena, &stage->write, dims);
	stage->value = expr_substitute(arena, stage->value, dims);
	stage->guard = stage->guard ? expr_substitute(arena, stage->guard, dims) : NULL;
}

/* The stage becomes the one of a group of its own, before the others. */
static struct group *move_stage(const struct local_sum *sum, struct stage *stage, const struct access *to)
{
	const enum region_kind kind = group_region(sum->module, sum->group);
	struct region *region = &sum->module->regions[kind];
	struct group *group = module_add_group(sum->module, kind, to->array->name, sum->last->span);

	region_move_last(region, region_place_of(region, sum->group));
	vec_push(sum->module->arena, &group->stages, stage);
	stage->group = group;
	stage->write = *to;
	return group;
}

struct replacement {
	const struct array *from;
	const struct access *to;
};

static void replace_read(struct access *access, void *user)
{
	const struct replacement *replacement = user;

	if (access->array == replacement->from)
		*access = (struct access) { replacement->to->array, replacement->to->subs, access->span };
}

/* The group is left with what is no stage of the sum, and reads the array instead. */
static void leave_others(const struct local_sum *sum, const struct access *to)
{
	struct replacement replacement = { sum->array, to };
	stage_list *stages = &sum->group->stages;
	int n = 0;

	for (int i = 0; i < stages->n; i++)
		if (stages->items[i]->group == sum->group)
			stages->items[n++] = stages->items[i];
	stages->n = n;
	for (int i = 0; i < n; i++)
		stage_reads(stages->items[i], replace_read, &replacement);
}

struct group *local_sum_take_out(const struct local_sum *sum, const struct access *to, const int *order, int n)
{
	struct group *begin = move_stage(sum, sum->begin, to), *add = move_stage(sum, sum->add, to);

	stage_take_dims(sum->module->arena, sum->begin, order, n);
	stage_take_dims(sum->module->arena, sum->add, order, n);
	begin->n_common = sum->begin->dims.n;
	add->n_common = sum->add->dims.n;
	leave_others(sum, to);
	return add;
}

bool local_sums_are_out(struct module *module)
{
	module_prune(module, false);
	return module_order_recurrences(module);
}
