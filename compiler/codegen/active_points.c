/* SPDX-License-Identifier: MIT
 *
 * Which points of a restructuring a function of the kernel works on. If all its groups that touch them leave out those
 * of zero weight, it selects the active ones in the plan before it takes its arrays and sizes from it; any other
 * function that touches them selects all points, since a function before it may have left some out. */
#include "codegen/codegen_private.h"

struct want {
	bool touches, is_live;
	struct live_points live;
};

static void add_group(struct want *want, const struct restructuring *r, const struct group *group)
{
	struct live_points live;
	bool is_live;

	if (!group_touches_points(group, r))
		return;
	is_live = group->is_live && group_live_points(group, r, &live);
	if (is_live && want->touches)
		is_live = want->is_live && live.weights == want->live.weights;
	want->touches = true;
	want->is_live = is_live;
	if (is_live)
		want->live = live;
}

/* A weight that is no array of the plan, or that the function itself computes, is not known when it begins. */
static bool is_known(const struct emit *e, const struct array *weights)
{
	const int slot = e->layout->slot_of[weights->number];

	return slot >= 0 && !weights->stored.is_per_thread && !weights->stored.folded && !e->function.is_written[slot];
}

/* Are all values of these arrays finite? */
static struct k_expr *are_finite(const struct emit *e, const struct live_points *live)
{
	struct arena *a = e->arena;
	struct k_expr *all = NULL;

	for (int i = 0; i < live->n_finite; i++)
		all = k_join(a, K_AND, all, K_CALL(a, "pmg_is_finite", k_name(a, "plan"),
						   k_int(a, e->layout->slot_of[live->finite[i]->number])));
	return all ? all : k_bool(a, true);
}

/* A loop has this in its body (passes/restructure/sparse_weights.c), and the device itself finds out whether it goes
 * on. */
static struct k_expr *call_for_device(const struct emit *e, int number, const struct live_points *live)
{
	struct arena *a = e->arena;
	struct k_expr *loop = e->module->loop.var ? K_CALL(a, runtime_name(e, "loop_of"), k_name(a, "plan"))
						  : k_name(a, "NULL");

	return K_CALL(a, runtime_name(e, "live_points"), k_name(a, "plan"), k_int(a, number),
		      k_int(a, e->layout->slot_of[live->weights->number]), are_finite(e, live), loop);
}

static struct k_expr *call_for_host(const struct emit *e, int number, const struct live_points *live)
{
	struct arena *a = e->arena;
	const int *slot_of = e->layout->slot_of;

	return K_CALL(a, "pmg_live_points", k_name(a, "plan"), k_int(a, number),
		      k_int(a, slot_of[live->weights->number]), k_int(a, slot_of[live->by->number]),
		      are_finite(e, live));
}

static void emit_one(struct k_builder *b, const struct emit *e, int number, const struct want *want)
{
	if (!want->is_live || !is_known(e, want->live.weights))
		k_do(b, K_CALL(e->arena, runtime_name(e, "all_points"),
			       k_name(e->arena, "plan"), k_int(e->arena, number)));
	else if (e->target->device)
		k_do(b, call_for_device(e, number, &want->live));
	else
		k_do(b, call_for_host(e, number, &want->live));
}

void emit_live_points(struct k_builder *b, const struct emit *e, const group_list *groups)
{
	const struct module *module = e->module;

	for (int i = 0; i < module->restructurings.n; i++) {
		const struct restructuring *r = &module->restructurings.items[i];
		struct want want = { .touches = false };

		if (!restructuring_live_by(module, r))
			continue;
		for (int g = 0; g < groups->n; g++)
			add_group(&want, r, groups->items[g]);
		if (want.touches)
			emit_one(b, e, i, &want);
	}
}

static bool writes(const struct nest *nest, const struct array *array)
{
	for (int g = 0; g < nest->groups.n; g++)
		if (group_writes(nest->groups.items[g], array))
			return true;
	return false;
}

bool nest_waits_for(const struct module *module, const struct nest *nest, const struct nest *before)
{
	struct live_points live;

	for (int g = 0; g < nest->groups.n; g++)
		if (nest->groups.items[g]->is_live && module_live_points(module, nest->groups.items[g], &live) &&
		    writes(before, live.weights))
			return true;
	return false;
}

bool module_has_live_points(const struct module *module)
{
	bool has = false;

	for (int g = 0; g < module->groups.n; g++)
		has |= module->groups.items[g]->is_live;
	return has;
}
