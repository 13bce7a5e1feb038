/* SPDX-License-Identifier: MIT
 *
 * From a draft to a group of the module: the slots that a stage needs become its dims, in this order. Ranges
 * keep the order in which the user wrote them, first those of the group, then those of the stage; a bound dim
 * comes as soon as its subscripts are there. A bound dim is the group's when all of its stages need it, else
 * each stage's that does. */
#include "sema/sema_private.h"

struct emission {
	struct sema *sema;
	const struct draft *draft;
	bool **needed;                  /* by stage and slot */
	bool *common;                   /* by slot */
	slot_list order;                /* of the common dims */
};

/* ---- what each stage needs ---- */

static bool *stage_needs(struct sema *sema, const struct draft *draft, const struct draft_stage *stage)
{
	bool *needed = arena_new_array(sema->arena, bool, draft->slots.n + 1);

	for (int i = 0; i < draft->slots.n; i++)
		if (draft->slots.items[i].is_common)
			draft_mark_slot(draft, i, needed);
	for (int i = 0; i < stage->own.n; i++)
		draft_mark_slot(draft, stage->own.items[i], needed);
	draft_mark(draft, stage->guard, needed);
	draft_mark(draft, stage->value, needed);
	if (stage->write.array->role != ROLE_LOCAL)
		for (int i = 0; i < stage->write.array->rank; i++)
			draft_mark(draft, stage->write.subs[i], needed);
	return needed;
}

static bool all_stages_need(const struct emission *e, int slot)
{
	for (int i = 0; i < e->draft->stages.n; i++)
		if (!e->needed[i][slot])
			return false;
	return true;
}

static void find_common(struct emission *e)
{
	const struct draft *draft = e->draft;

	e->common = arena_new_array(e->sema->arena, bool, draft->slots.n + 1);
	for (int i = 0; i < draft->slots.n; i++)
		e->common[i] = draft->slots.items[i].is_common ||
			       (draft->slots.items[i].dim.kind == DIM_BIND && all_stages_need(e, i) &&
				!draft_depends_on_own(e->sema, draft, i));
}

/* ---- their order ---- */

static bool list_has(const slot_list *list, int slot)
{
	for (int i = 0; i < list->n; i++)
		if (list->items[i] == slot)
			return true;
	return false;
}

/* All that slot `slot` reads is in `order`. */
static bool is_ready(const struct emission *e, const slot_list *order, int slot)
{
	bool *needed = arena_new_array(e->sema->arena, bool, e->draft->slots.n + 1);

	draft_mark_slot(e->draft, slot, needed);
	for (int i = 0; i < e->draft->slots.n; i++)
		if (needed[i] && i != slot && !list_has(order, i))
			return false;
	return true;
}

static void place_ready_binds(struct emission *e, slot_list *order, const bool *wanted)
{
	bool again = true;

	while (again) {
		again = false;
		for (int i = 0; i < e->draft->slots.n; i++)
			if (wanted[i] && e->draft->slots.items[i].dim.kind == DIM_BIND &&
			    !list_has(order, i) && is_ready(e, order, i)) {
				vec_push(e->sema->arena, order, i);
				again = true;
			}
	}
}

static void place_range(struct emission *e, slot_list *order, const bool *wanted, int slot)
{
	vec_push(e->sema->arena, order, slot);
	place_ready_binds(e, order, wanted);
}

static void order_common(struct emission *e)
{
	place_ready_binds(e, &e->order, e->common);
	for (int i = 0; i < e->draft->slots.n; i++)
		if (e->draft->slots.items[i].is_common)
			place_range(e, &e->order, e->common, i);
}

static slot_list order_stage(struct emission *e, int number)
{
	const struct draft_stage *stage = e->draft->stages.items[number];
	slot_list order = { 0 };

	for (int i = 0; i < e->order.n; i++)
		vec_push(e->sema->arena, &order, e->order.items[i]);
	place_ready_binds(e, &order, e->needed[number]);
	for (int i = 0; i < stage->own.n; i++)
		place_range(e, &order, e->needed[number], stage->own.items[i]);
	return order;
}

/* ---- writing ---- */

/* What slot numbers mean to a stage whose dims are `order`. */
static struct expr **positions(struct emission *e, const slot_list *order)
{
	struct expr **dims = arena_new_array(e->sema->arena, struct expr *, e->draft->slots.n + 1);

	for (int i = 0; i < order->n; i++) {
		int slot = order->items[i];

		dims[slot] = expr_dim(e->sema->arena, i, e->draft->slots.items[slot].dim.span);
	}
	return dims;
}

static struct expr *placed(struct emission *e, struct expr *expr, struct expr **dims)
{
	return expr ? expr_substitute(e->sema->arena, expr, dims) : NULL;
}

static dim_list placed_dims(struct emission *e, const slot_list *order, int first, struct expr **dims)
{
	dim_list list = { 0 };

	for (int i = first; i < order->n; i++)
		vec_push(e->sema->arena, &list,
			 dim_substitute(e->sema->arena, &e->draft->slots.items[order->items[i]].dim, dims));
	return list;
}

static void emit_stage(struct emission *e, struct group *group, int number)
{
	const struct draft_stage *from = e->draft->stages.items[number];
	slot_list order = order_stage(e, number);
	struct expr **dims = positions(e, &order);
	dim_list common = placed_dims(e, &e->order, 0, dims);
	dim_list own = placed_dims(e, &order, e->order.n, dims);
	struct stage *stage = module_add_stage(e->sema->module, group, &common, from->span);

	for (int i = 0; i < own.n; i++)
		vec_push(e->sema->arena, &stage->dims, own.items[i]);
	if (from->write.array->role == ROLE_LOCAL)
		from->write.array->group = group;
	stage->guard = placed(e, from->guard, dims);
	stage->write = access_substitute(e->sema->arena, &from->write, dims);
	stage->op = from->op;
	stage->value = placed(e, from->value, dims);
	stage->is_init = from->is_init;
	stage->is_commit = from->is_commit;
}

void draft_emit(struct sema *sema, const struct draft *draft, enum region_kind region)
{
	struct emission e = { .sema = sema, .draft = draft };
	struct group *group = module_add_group(sema->module, region, draft->name, draft->span);

	e.needed = arena_new_array(sema->arena, bool *, draft->stages.n + 1);
	for (int i = 0; i < draft->stages.n; i++)
		e.needed[i] = stage_needs(sema, draft, draft->stages.items[i]);
	find_common(&e);
	order_common(&e);
	for (int i = 0; i < draft->stages.n; i++)
		emit_stage(&e, group, i);
}
