/* SPDX-License-Identifier: MIT
 *
 * Does a definition give every cell of its target a value? It does when each subscript is a variable that runs over
 * the whole of its dimension, as a range, as all segments of offsets one after the other, or as a permutation (a
 * unique index array with as many elements as values), and the variables do not depend on each other.
 *
 * Cells that a definition leaves out are for the proofs of ir/isl/bounds.c, but where the data decides which these are:
 * there every cell may be defined, and none must. */
#include "sema/sema_private.h"

/* ---- subscripts that take every value ---- */

static bool sub_covers(const struct context *ctx, const struct expr *sub, struct expr *lo, struct expr *hi);

static bool covers_from_zero(const struct context *ctx, const struct expr *sub, struct expr *hi)
{
	return sub_covers(ctx, sub, expr_int(ctx->sema->arena, 0, sub->span), hi);
}

const struct array *segments_of(const struct context *ctx, int slot)
{
	const struct draft *draft = ctx->draft;
	const struct dim *dim = &draft->slots.items[slot].dim, *lo, *hi;

	if (dim->kind != DIM_RANGE || dim->lo->kind != EXPR_DIM || dim->hi->kind != EXPR_DIM)
		return NULL;
	lo = &draft->slots.items[dim->lo->index].dim;
	hi = &draft->slots.items[dim->hi->index].dim;
	if (lo->kind != DIM_BIND || hi->kind != DIM_BIND || lo->source.array != hi->source.array ||
	    !(lo->source.array->facts & FACT_OFFSETS))
		return NULL;
	return affine_equal(ctx->sema->arena, affine_plus(ctx->sema->arena, lo->source.subs[0], 1),
			    hi->source.subs[0])
		       ? lo->source.array
		       : NULL;
}

/* All segments, as they are in offsets that end with `hi`. */
static bool segments_cover(const struct context *ctx, int slot, struct expr *hi)
{
	const struct array *offsets = segments_of(ctx, slot);
	const struct expr *begin = ctx->draft->slots.items[slot].dim.lo;
	struct arena *arena = ctx->sema->arena;

	return offsets && affine_equal(arena, offsets->limit, hi) &&
	       covers_from_zero(ctx, ctx->draft->slots.items[begin->index].dim.source.subs[0],
				affine_plus(arena, offsets->hi[0], -1));
}

static bool permutation_covers(const struct context *ctx, const struct dim *dim, struct expr *hi)
{
	const struct array *array = dim->source.array;
	struct arena *arena = ctx->sema->arena;

	return dim->kind == DIM_BIND && array->rank == 1 && (array->facts & (FACT_UNIQUE | FACT_TREE)) == FACT_UNIQUE &&
	       affine_equal(arena, array->limit, hi) && affine_equal(arena, array->hi[0], hi) &&
	       covers_from_zero(ctx, dim->source.subs[0], hi);
}

static bool sub_covers(const struct context *ctx, const struct expr *sub, struct expr *lo, struct expr *hi)
{
	struct arena *arena = ctx->sema->arena;
	const struct dim *dim;

	if (sub->kind != EXPR_DIM)
		return false;
	dim = &ctx->draft->slots.items[sub->index].dim;
	if (dim->kind == DIM_RANGE && affine_equal(arena, dim->lo, lo) && affine_equal(arena, dim->hi, hi))
		return true;
	return affine_equal(arena, lo, expr_int(arena, 0, sub->span)) &&
	       (segments_cover(ctx, sub->index, hi) || permutation_covers(ctx, dim, hi));
}

/* Does every range of the definition serve one subscript? */
static bool subs_are_independent(const struct context *ctx, const struct access *write)
{
	const struct draft *draft = ctx->draft;
	int *n_uses = arena_new_array(ctx->sema->arena, int, draft->slots.n + 1);

	for (int i = 0; i < write->array->rank; i++) {
		bool *needed = arena_new_array(ctx->sema->arena, bool, draft->slots.n + 1);

		draft_mark(draft, write->subs[i], needed);
		for (int s = 0; s < draft->slots.n; s++)
			n_uses[s] += needed[s];
	}
	for (int s = 0; s < draft->slots.n; s++)
		if (draft->slots.items[s].dim.kind != DIM_BIND && draft->slots.items[s].is_common && n_uses[s] != 1)
			return false;
	return true;
}

bool subs_cover(const struct context *ctx, const struct access *write)
{
	const struct array *array = write->array;
	bool covers = subs_are_independent(ctx, write);

	for (int i = 0; covers && i < array->rank; i++)
		covers = sub_covers(ctx, write->subs[i], array->lo[i], array->hi[i]);
	return covers;
}

/* ---- cells that the data leaves out ---- */

static void mark_stage(const struct draft *draft, const struct draft_stage *stage, bool *needed)
{
	draft_mark(draft, stage->guard, needed);
	for (int i = 0; i < stage->write.array->rank; i++)
		draft_mark(draft, stage->write.subs[i], needed);
}

/* Do the values of an index array say which points the draft has, or which cells it writes? */
static bool draft_depends_on_data(struct sema *sema, const struct draft *draft)
{
	bool *needed = arena_new_array(sema->arena, bool, draft->slots.n + 1);

	for (int i = 0; i < draft->slots.n; i++)
		if (draft->slots.items[i].is_common && draft->slots.items[i].dim.kind != DIM_BIND)
			draft_mark_slot(draft, i, needed);
	for (int i = 0; i < draft->stages.n; i++)
		if (draft->stages.items[i]->write.array == draft_writes(draft))
			mark_stage(draft, draft->stages.items[i], needed);
	for (int i = 0; i < draft->slots.n; i++)
		if (needed[i] && draft->slots.items[i].dim.kind != DIM_RANGE)
			return true;
	return false;
}

bool target_depends_on_data(struct sema *sema, const struct target *target)
{
	for (int i = 0; i < sema->drafts.n; i++) {
		const struct draft *draft = sema->drafts.items[i];
		bool may_stop = draft->in_body && !target->in_body && sema->module->loop.until;

		if (draft->target == target && draft_writes(draft) == target->array &&
		    (may_stop || draft_depends_on_data(sema, draft)))
			return true;
	}
	return false;
}
