/* SPDX-License-Identifier: MIT
 *
 * Definitions that read each other become one draft, whose stages run together at each point of its variables, as the
 * branches of a `case` do. Their variables must have the same ranges. Where one of them reads another at its own
 * point, it stands behind it, so that not all may do so; whether all other reads lead to points that come before is
 * for the analysis of recurrences (ir/recurrence.c) to find out. */
#include "sema/sema_private.h"

/* The stages of one of the drafts, in terms of the slots of the first. */
struct part {
	struct draft *draft;
	VEC(struct draft_stage *) stages;
	bool is_placed;
};

struct merge {
	struct sema *sema;
	struct draft *into;
	VEC(struct part) parts;
	VEC(struct part *) order;
};

/* ---- slots ---- */

static struct access renumbered_access(struct sema *sema, const struct access *access, struct expr **slots)
{
	struct access result = *access;

	if (access->array->role == ROLE_LOCAL)
		return result;
	result.subs = arena_new_array(sema->arena, struct expr *, access->array->rank);
	for (int i = 0; i < access->array->rank; i++)
		result.subs[i] = expr_substitute(sema->arena, access->subs[i], slots);
	return result;
}

static struct slot renumbered_slot(struct sema *sema, const struct slot *slot, struct expr **slots)
{
	struct slot result = *slot;

	if (slot->dim.kind == DIM_RANGE) {
		result.dim.lo = expr_substitute(sema->arena, slot->dim.lo, slots);
		result.dim.hi = expr_substitute(sema->arena, slot->dim.hi, slots);
	} else {
		result.dim.source = renumbered_access(sema, &slot->dim.source, slots);
	}
	return result;
}

/* The common slot behind slot `last`; -1: there is none. */
static int next_common(const struct draft *draft, int last)
{
	for (int i = last + 1; i < draft->slots.n; i++)
		if (draft->slots.items[i].is_common)
			return i;
	return -1;
}

/* Which slot of `into` is slot `number` of `from`: the same variable of the group, the same element of an index array,
 * or one that is new. `last` is the last common one that was found. -1: the ranges of the two differ. */
static int find_slot(struct merge *merge, const struct slot *slot, int *last)
{
	struct draft *into = merge->into;
	struct slot own = *slot;

	if (slot->is_common) {
		*last = next_common(into, *last);
		return *last >= 0 && dim_equal(&slot->dim, &into->slots.items[*last].dim) ? *last : -1;
	}
	if (slot->dim.kind == DIM_BIND && draft_find_bind(into, &slot->dim.source) >= 0)
		return draft_find_bind(into, &slot->dim.source);
	own.dim.name = draft_fresh_name(merge->sema, into, slot->dim.name);
	return draft_add_slot(merge->sema, into, &own);
}

/* What each slot of `from` is in the merged draft; NULL when their ranges differ. */
static struct expr **match_slots(struct merge *merge, const struct draft *from)
{
	struct arena *arena = merge->sema->arena;
	struct expr **slots = arena_new_array(arena, struct expr *, from->slots.n + 1);
	int last = -1;

	for (int i = 0; i < from->slots.n; i++) {
		struct slot slot = renumbered_slot(merge->sema, &from->slots.items[i], slots);
		int found = find_slot(merge, &slot, &last);

		if (found < 0)
			return NULL;
		slots[i] = expr_dim(arena, found, slot.dim.span);
	}
	return next_common(merge->into, last) < 0 ? slots : NULL;
}

/* ---- stages ---- */

static struct draft_stage *renumbered_stage(struct sema *sema, const struct draft_stage *stage, struct expr **slots)
{
	struct draft_stage *result = arena_new(sema->arena, struct draft_stage);

	*result = *stage;
	result->own = (slot_list) { 0 };
	for (int i = 0; i < stage->own.n; i++)
		vec_push(sema->arena, &result->own, slots[stage->own.items[i]]->index);
	result->guard = stage->guard ? expr_substitute(sema->arena, stage->guard, slots) : NULL;
	result->value = stage->value ? expr_substitute(sema->arena, stage->value, slots) : NULL;
	result->write = renumbered_access(sema, &stage->write, slots);
	return result;
}

static bool add_part(struct merge *merge, struct draft *draft)
{
	struct part part = { .draft = draft };
	bool is_first = draft == merge->into;
	struct expr **slots = is_first ? NULL : match_slots(merge, draft);

	for (int i = 0; (is_first || slots) && i < draft->stages.n; i++) {
		struct draft_stage *stage = draft->stages.items[i];

		vec_push(merge->sema->arena, &part.stages,
			 is_first ? stage : renumbered_stage(merge->sema, stage, slots));
	}
	vec_push(merge->sema->arena, &merge->parts, part);
	return is_first || slots;
}

/* ---- their order ---- */

struct search {
	const struct access *write;
	bool is_read;
};

static void note_same_cell(struct access *access, void *user)
{
	struct search *search = user;
	bool is_same = access->array == search->write->array && access->array->role != ROLE_LOCAL;

	for (int i = 0; is_same && i < access->array->rank; i++)
		is_same = expr_equal(access->subs[i], search->write->subs[i]);
	search->is_read = search->is_read || is_same;
}

/* Does a stage of `b` read the cell that a stage of `a` writes at the same point? */
static bool is_read_here(const struct part *a, const struct part *b)
{
	for (int i = 0; i < a->stages.n; i++)
		for (int j = 0; j < b->stages.n; j++) {
			struct search search = { .write = &a->stages.items[i]->write };

			if (b->stages.items[j]->value)
				expr_reads(b->stages.items[j]->value, note_same_cell, &search);
			if (search.is_read)
				return true;
		}
	return false;
}

static bool waits(const struct merge *merge, const struct part *part)
{
	for (int i = 0; i < merge->parts.n; i++) {
		const struct part *other = &merge->parts.items[i];

		if (other != part && !other->is_placed && is_read_here(other, part))
			return true;
	}
	return false;
}

/* The first that waits for none; NULL: all wait for each other. */
static struct part *next_part(struct merge *merge)
{
	for (int i = 0; i < merge->parts.n; i++)
		if (!merge->parts.items[i].is_placed && !waits(merge, &merge->parts.items[i]))
			return &merge->parts.items[i];
	return NULL;
}

static bool order_parts(struct merge *merge)
{
	for (int placed = 0; placed < merge->parts.n; placed++) {
		struct part *part = next_part(merge);

		if (!part)
			return false;
		part->is_placed = true;
		vec_push(merge->sema->arena, &merge->order, part);
	}
	return true;
}

static void place_parts(struct merge *merge)
{
	struct arena *arena = merge->sema->arena;
	struct draft *into = merge->into;
	const char *name = merge->order.items[0]->draft->name;

	into->stages.n = 0;
	into->is_mutual = true;
	for (int p = 0; p < merge->order.n; p++) {
		const struct part *part = merge->order.items[p];

		for (int i = 0; i < part->stages.n; i++)
			vec_push(arena, &into->stages, part->stages.items[i]);
		if (p)
			name = arena_printf(arena, "%s, %s", name, part->draft->name);
	}
	into->name = name;
}

static bool is_definition(const struct draft *draft)
{
	bool is = !draft->is_commit && !draft->is_fill && !draft->is_start;

	for (int i = 0; is && i < draft->stages.n; i++)
		is = draft->stages.items[i]->write.array->role == ROLE_LOCAL ||
		     draft->stages.items[i]->op == REDUCE_SET;
	return is;
}

bool drafts_merge(struct sema *sema, struct draft *const *drafts, int n)
{
	struct merge merge = { .sema = sema, .into = drafts[0] };

	for (int i = 0; i < n; i++)
		if (!is_definition(drafts[i]) || drafts[i]->in_body != drafts[0]->in_body)
			return false;
	for (int i = 0; i < n; i++)
		if (!add_part(&merge, drafts[i]))
			return false;
	if (!order_parts(&merge))
		return false;
	place_parts(&merge);
	return true;
}
