/* SPDX-License-Identifier: MIT
 *
 * Definitions that read each other become one draft, whose stages run together at each point of its variables, as the
 * branches of a `case` do. Their variables must have the same ranges; one that has more variables, behind those that
 * all have, runs over these at each point, and what it adds up for each of its own points is kept for all of them.
 * Where one of them reads another at its own point, it stands behind it, so that not all may do so; whether all other
 * reads lead to points that come before is for the analysis of recurrences (ir/isl/recurrence.c) to find out. */
#include "sema/sema_private.h"

/* The stages of one of the drafts, in terms of the slots of the first. */
struct part {
	struct draft *draft;
	VEC(struct draft_stage *) stages;
	slot_list own;                  /* of its variables, those that the merged draft has not */
	bool is_placed;
};

struct merge {
	struct sema *sema;
	struct draft *into;
	VEC(struct part) parts;
	VEC(struct part *) order;
	struct merge_obstacle *obstacle;
};

/* ---- slots ---- */

static struct slot renumbered_slot(struct sema *sema, const struct slot *slot, struct expr **slots)
{
	struct slot result = *slot;

	result.dim = dim_substitute(sema->arena, &slot->dim, slots);
	return result;
}

static int add_slot(struct merge *merge, struct slot slot)
{
	slot.dim.name = draft_fresh_name(merge->sema, merge->into, slot.dim.name);
	return draft_add_slot(merge->sema, merge->into, &slot);
}

static int add_own_variable(struct merge *merge, struct part *part, struct slot slot)
{
	int number;

	slot.is_common = false;
	slot.is_closed = true;
	number = add_slot(merge, slot);
	vec_push(merge->sema->arena, &part->own, number);
	return number;
}

static int note_ranges(struct merge *merge, const struct part *part, const struct dim *dim, int slot)
{
	*merge->obstacle = (struct merge_obstacle) {
		.drafts = { merge->into, part->draft }, .ranges = { merge->into->slots.items[slot].dim, *dim }
	};
	return -1;
}

/* Which slot of `into` is this one of the part's draft: the same variable of the group, the same element of an index
 * array, or one that is new. `last` is the last common one that was found. -1: the ranges of the two differ. */
static int find_slot(struct merge *merge, struct part *part, const struct slot *slot, int *last)
{
	struct draft *into = merge->into;

	if (slot->is_common && draft_next_common(into, *last) >= 0) {
		*last = draft_next_common(into, *last);
		return dim_equal(&slot->dim, &into->slots.items[*last].dim)
			? *last : note_ranges(merge, part, &slot->dim, *last);
	}
	if (slot->is_common)
		return add_own_variable(merge, part, *slot);
	if (slot->dim.kind == DIM_BIND && draft_find_bind(into, &slot->dim.source) >= 0)
		return draft_find_bind(into, &slot->dim.source);
	return add_slot(merge, *slot);
}

/* What each slot of the part's draft is in the merged one; NULL when their ranges differ. */
static struct expr **match_slots(struct merge *merge, struct part *part)
{
	const struct draft *from = part->draft;
	struct arena *arena = merge->sema->arena;
	struct expr **slots = arena_new_array(arena, struct expr *, from->slots.n + 1);
	int last = -1;

	for (int i = 0; i < from->slots.n; i++) {
		struct slot slot = renumbered_slot(merge->sema, &from->slots.items[i], slots);
		int found = find_slot(merge, part, &slot, &last);

		if (found < 0)
			return NULL;
		slots[i] = expr_dim(arena, found, slot.dim.span);
	}
	return draft_next_common(merge->into, last) < 0 ? slots : NULL;
}

/* ---- what a draft with variables of its own adds up ---- */

struct variables {
	struct sema *sema;
	const struct draft *draft;
};

static void keep_for_each(struct access *access, void *user)
{
	const struct variables *variables = user;
	const struct draft *draft = variables->draft;
	int rank = 0;

	if (access->array->role != ROLE_LOCAL)
		return;
	access->subs = arena_new_array(variables->sema->arena, struct expr *, draft->slots.n + 1);
	for (int i = 0; i < draft->slots.n; i++)
		if (draft->slots.items[i].is_common)
			access->subs[rank++] = expr_dim(variables->sema->arena, i, access->span);
}

/* LOCAL arrays, of which there is one value at a time, become arrays over the variables of the draft. */
static bool keep_sums(struct sema *sema, struct draft *draft)
{
	struct variables variables = { sema, draft };
	struct shape box;

	if (!shape_of_draft(sema, draft, &box))
		return false;
	for (int i = 0; i < draft->stages.n; i++) {
		keep_for_each(&draft->stages.items[i]->write, &variables);
		if (draft->stages.items[i]->value)
			expr_reads(draft->stages.items[i]->value, keep_for_each, &variables);
	}
	for (int i = 0; i < draft->stages.n; i++)
		if (draft->stages.items[i]->write.array->role == ROLE_LOCAL)
			array_spread(sema, draft->stages.items[i]->write.array, &box);
	return true;
}

/* ---- stages ---- */

static struct draft_stage *renumbered_stage(struct sema *sema, const struct part *part,
					    const struct draft_stage *stage, struct expr **slots)
{
	struct draft_stage *result = arena_new(sema->arena, struct draft_stage);

	*result = *stage;
	result->own = (slot_list) { 0 };
	for (int i = 0; i < part->own.n; i++)
		vec_push(sema->arena, &result->own, part->own.items[i]);
	for (int i = 0; i < stage->own.n; i++)
		vec_push(sema->arena, &result->own, slots[stage->own.items[i]]->index);
	result->guard = stage->guard ? expr_substitute(sema->arena, stage->guard, slots) : NULL;
	result->value = stage->value ? expr_substitute(sema->arena, stage->value, slots) : NULL;
	result->write = access_substitute(sema->arena, &stage->write, slots);
	return result;
}

/* The slots as they are, except that those of the variables behind the first `n_together` are the part's own. */
static struct expr **own_rest(struct merge *merge, struct part *part, int n_together)
{
	struct draft *into = merge->into;
	struct expr **slots = arena_new_array(merge->sema->arena, struct expr *, into->slots.n + 1);
	int n = 0;

	for (int i = 0; i < into->slots.n; i++) {
		slots[i] = expr_dim(merge->sema->arena, i, into->slots.items[i].dim.span);
		if (into->slots.items[i].is_common && n++ >= n_together)
			vec_push(merge->sema->arena, &part->own, i);
	}
	return slots;
}

static void close_own(struct draft *into, const struct part *part)
{
	for (int i = 0; i < part->own.n; i++) {
		into->slots.items[part->own.items[i]].is_common = false;
		into->slots.items[part->own.items[i]].is_closed = true;
	}
}

static bool add_part(struct merge *merge, struct draft *draft, int n_together)
{
	struct part part = { .draft = draft };
	struct expr **slots = draft == merge->into ? own_rest(merge, &part, n_together) : match_slots(merge, &part);

	if (!slots || (part.own.n && !keep_sums(merge->sema, draft)))
		return false;
	for (int i = 0; i < draft->stages.n; i++)
		vec_push(merge->sema->arena, &part.stages,
			 renumbered_stage(merge->sema, &part, draft->stages.items[i], slots));
	if (draft == merge->into)
		close_own(merge->into, &part);
	vec_push(merge->sema->arena, &merge->parts, part);
	return true;
}

/* ---- their order ---- */

struct search {
	const struct merge *merge;
	const struct part *writer;
	const struct access *write;
	bool is_read;
	bool is_elsewhere;              /* at another point of its own variables */
	bool may_be_read;               /* or at points of a sum, of which this may be one */
};

static bool is_of_own_variable(const struct part *part, const struct expr *sub)
{
	bool is = false;

	for (int i = 0; i < part->own.n; i++)
		is = is || expr_uses_dim(sub, part->own.items[i]);
	return is;
}

static bool is_of_sum(const struct draft *into, const struct expr *sub)
{
	bool is = false;

	for (int i = 0; i < into->slots.n; i++)
		is = is || (!into->slots.items[i].is_common && expr_uses_dim(sub, i));
	return is;
}

static void note_same_cell(struct access *access, void *user)
{
	struct search *search = user;
	bool may_be = access->array == search->write->array && access->array->role != ROLE_LOCAL;
	bool is_same = may_be, is_elsewhere = false;

	for (int i = 0; may_be && i < access->array->rank; i++) {
		bool is_equal = expr_equal(access->subs[i], search->write->subs[i]);

		is_elsewhere = is_elsewhere || !is_equal;
		is_equal = is_equal || is_of_own_variable(search->writer, search->write->subs[i]);
		is_same = is_same && is_equal;
		may_be = is_equal || is_of_sum(search->merge->into, access->subs[i]);
	}
	search->is_read = search->is_read || is_same;
	search->may_be_read = search->may_be_read || may_be;
	search->is_elsewhere = search->is_elsewhere || (is_same && is_elsewhere);
}

/* What the stages of `b` read of the cells that those of `a` write at the same point. */
static struct search search_reads(const struct merge *merge, const struct part *a, const struct part *b)
{
	struct search search = { .merge = merge, .writer = a };

	for (int i = 0; i < a->stages.n; i++)
		for (int j = 0; j < b->stages.n; j++) {
			search.write = &a->stages.items[i]->write;
			if (b->stages.items[j]->value)
				expr_reads(b->stages.items[j]->value, note_same_cell, &search);
		}
	return search;
}

/* Does it read values of others that are not placed, or, if `possibly`, may it? */
static bool waits(const struct merge *merge, const struct part *part, bool possibly)
{
	for (int i = 0; i < merge->parts.n; i++) {
		const struct part *other = &merge->parts.items[i];
		struct search search;

		if (other == part || other->is_placed)
			continue;
		search = search_reads(merge, other, part);
		if (search.is_read || (possibly && search.may_be_read))
			return true;
	}
	return false;
}

/* The first that waits for none, at best not even possibly; NULL: all wait for each other. */
static struct part *next_part(struct merge *merge)
{
	for (int possibly = 1; possibly >= 0; possibly--)
		for (int i = 0; i < merge->parts.n; i++)
			if (!merge->parts.items[i].is_placed && !waits(merge, &merge->parts.items[i], possibly))
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

/* Puts the first of those with the fewest variables in front: the others run over the rest of theirs. */
static void choose_first(struct draft **drafts, int n)
{
	struct draft *front = drafts[0];
	int first = 0;

	for (int i = 1; i < n; i++)
		if (draft_n_common(drafts[i]) < draft_n_common(drafts[first]))
			first = i;
	drafts[0] = drafts[first];
	drafts[first] = front;
}

/* One that reads other cells of its own at the same point of what all have; NULL: none does. */
static const struct draft *alone_in(const struct merge *merge)
{
	for (int i = 0; i < merge->parts.n; i++)
		if (search_reads(merge, &merge->parts.items[i], &merge->parts.items[i]).is_elsewhere)
			return merge->parts.items[i].draft;
	return NULL;
}

bool drafts_merge(struct sema *sema, struct draft **drafts, int n, struct merge_obstacle *obstacle)
{
	struct merge merge = { .sema = sema, .obstacle = obstacle };
	int n_together;

	*obstacle = (struct merge_obstacle) { 0 };
	for (int i = 0; i < n; i++)
		if (!is_definition(drafts[i]) || drafts[i]->in_body != drafts[0]->in_body)
			return false;
	choose_first(drafts, n);
	merge.into = drafts[0];
	n_together = drafts_together(drafts, n);
	for (int i = 0; i < n; i++)
		if (!add_part(&merge, drafts[i], n_together))
			return false;
	obstacle->alone = alone_in(&merge);
	if (obstacle->alone || !order_parts(&merge))
		return false;
	place_parts(&merge);
	return true;
}
