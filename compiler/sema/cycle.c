/* SPDX-License-Identifier: MIT
 *
 * What is said of definitions that need each other and cannot run together (merge.c): which they are, in the user's
 * names, which of their ranges differ, and what would do instead. */
#include "sema/sema_private.h"

#include <string.h>

/* Arrays of constructs and reductions have a dot in their names. */
static bool is_by_user(const struct draft *draft)
{
	return !strchr(draft_writes(draft)->name, '.');
}

static draft_list written_of(struct sema *sema, const draft_list *cycle)
{
	draft_list written = { 0 };

	for (int i = 0; i < cycle->n; i++)
		if (is_by_user(cycle->items[i]))
			vec_push(sema->arena, &written, cycle->items[i]);
	return written.n ? written : *cycle;
}

static const char *cycle_text(struct sema *sema, const draft_list *cycle)
{
	struct str text = str_new(sema->arena);

	if (cycle->n == 1)
		return arena_printf(sema->arena, "'%s' needs itself", draft_writes(cycle->items[0])->name);
	for (int i = 0; i < cycle->n; i++)
		str_add(&text, "%s'%s' needs '%s'", i ? ", " : "", draft_writes(cycle->items[i])->name,
			draft_writes(cycle->items[(i + 1) % cycle->n])->name);
	return str_text(&text);
}

static const char *overwriting_help(struct sema *sema, const struct array *array)
{
	if (array->role != ROLE_INOUT)
		return "declare it 'inout' to overwrite what the caller gives, or give what it is made of another name";
	return arena_printf(sema->arena, sema->loop ?
			    "to overwrite it, compute its next value in the loop: next %s = ...;" :
			    "to overwrite it, compute its next value in a loop that runs once: "
			    "iterate once in 0..1 { next %s = ...; }", array->name);
}

static const char *cycle_help(struct sema *sema, const draft_list *cycle, const struct draft *alone)
{
	if (alone)
		return "give all of them the same variables: a sum over j that the others read is a recurrence along "
		       "j, s[i,j] = s[i,j-1] + f[i,j], of which they read the last value";
	if (cycle->n == 1)
		return overwriting_help(sema, draft_writes(cycle->items[0]));
	return "compute one of them without the others, or, all over the same first ranges, from values at other "
	       "points, as in f[i-1]; a value of the iteration before is a 'state'";
}

/* ---- ranges that differ ---- */

static const char *name_of(const struct merge_obstacle *obstacle, int side)
{
	return draft_writes(obstacle->drafts[side])->name;
}

/* Ranges over whole arrays are not in the text. */
static const char *range_text(struct sema *sema, const struct dim *dim)
{
	if (dim->kind != DIM_RANGE || expr_last_dim(dim->lo) >= 0 || expr_last_dim(dim->hi) >= 0)
		return span_text(sema->diags->sources, sema->arena, dim->span);
	return arena_printf(sema->arena, "%s in %s..%s", dim->name, affine_text(sema, dim->lo),
			    affine_text(sema, dim->hi));
}

static void label_ranges(struct sema *sema, struct diag *diag, const struct merge_obstacle *obstacle)
{
	diag_label(sema->diags, diag, obstacle->ranges[1].span, "'%s' of '%s' is not '%s' of '%s'",
		   range_text(sema, &obstacle->ranges[1]), name_of(obstacle, 1),
		   range_text(sema, &obstacle->ranges[0]), name_of(obstacle, 0));
}

/* The lower (sign 1) or the higher one (-1); NULL: that depends on sizes or data. */
static struct expr *bound_of_both(struct sema *sema, struct expr *a, struct expr *b, int sign)
{
	int64_t difference;

	if (!a || !b || expr_last_dim(a) >= 0 || expr_last_dim(b) >= 0 ||
	    !expr_is_constant(affine_sum(sema->arena, a, b, -1), &difference))
		return NULL;
	return difference*sign <= 0 ? a : b;
}

/* "i >= 1 and i < n": where in the wider range the narrower one is; "" where they are the same. */
static const char *condition_text(struct sema *sema, const struct dim *dim, struct expr *lo, struct expr *hi)
{
	bool has_lo = !affine_equal(sema->arena, dim->lo, lo), has_hi = !affine_equal(sema->arena, dim->hi, hi);
	struct str text = str_new(sema->arena);

	if (has_lo)
		str_add(&text, "%s >= %s", dim->name, affine_text(sema, dim->lo));
	if (has_hi)
		str_add(&text, "%s%s < %s", has_lo ? " and " : "", dim->name, affine_text(sema, dim->hi));
	return str_text(&text);
}

/* Has the array that the draft defines cells for such a range? */
static bool has_cells(struct sema *sema, const struct draft *draft, struct expr *lo, struct expr *hi)
{
	const struct array *array = draft_writes(draft);
	bool has = false;

	for (int i = 0; i < array->rank; i++)
		has = has || (bound_of_both(sema, array->lo[i], lo, 1) == array->lo[i] &&
			      bound_of_both(sema, array->hi[i], hi, -1) == array->hi[i]);
	return has;
}

static const char same_ranges[] = "definitions that read each other run together, over the same ranges in the same "
				  "order";

/* "let 'b' run over i in 0..n, with case { i >= 1 : ...; else : 0; }" */
static const char *wider_help(struct sema *sema, const struct merge_obstacle *obstacle, struct expr *lo,
			      struct expr *hi)
{
	struct str text = str_new(sema->arena);
	const char *separator = ": let";

	str_add(&text, "%s", same_ranges);
	for (int side = 0; side < 2; side++) {
		const struct dim *dim = &obstacle->ranges[side];
		const char *condition = condition_text(sema, dim, lo, hi);

		if (!*condition)
			continue;
		str_add(&text, "%s '%s' run over %s in %s..%s, with case { %s : ...; else : 0; }%s", separator,
			name_of(obstacle, side), dim->name, affine_text(sema, lo), affine_text(sema, hi), condition,
			has_cells(sema, obstacle->drafts[side], lo, hi) ? "" : ", in as many cells");
		separator = ", and";
	}
	return str_text(&text);
}

/* The first range of the other, where this one has it, too, further on; NULL: it has not. */
static const struct dim *range_of_order(const struct merge_obstacle *obstacle)
{
	const struct draft *draft = obstacle->drafts[1];
	const struct dim *wanted = &obstacle->ranges[0];

	for (int slot = -1; (slot = draft_next_common(draft, slot)) >= 0;)
		if (dim_equal(&draft->slots.items[slot].dim, wanted))
			return wanted;
	return NULL;
}

static const char *range_help(struct sema *sema, const struct merge_obstacle *obstacle)
{
	const struct dim *a = &obstacle->ranges[0], *b = &obstacle->ranges[1];
	struct expr *lo = bound_of_both(sema, a->lo, b->lo, 1), *hi = bound_of_both(sema, a->hi, b->hi, -1);
	const struct dim *order = range_of_order(obstacle);

	if (order)
		return arena_printf(sema->arena, "%s: list '%s' of '%s' before '%s'", same_ranges,
				    range_text(sema, order), name_of(obstacle, 1), range_text(sema, b));
	if (lo && hi)
		return wider_help(sema, obstacle, lo, hi);
	return arena_printf(sema->arena, "%s: write '%s' for '%s', too", same_ranges, range_text(sema, a),
			    name_of(obstacle, 1));
}

void cycle_report(struct sema *sema, const draft_list *all, const struct merge_obstacle *obstacle)
{
	const struct draft *alone = obstacle->alone && is_by_user(obstacle->alone) ? obstacle->alone : NULL;
	const bool has_ranges = obstacle->drafts[0] && is_by_user(obstacle->drafts[0]) &&
				is_by_user(obstacle->drafts[1]);
	const draft_list cycle = written_of(sema, all);
	struct diag *diag = diag_error(sema->diags, DIAG_CYCLIC, cycle.items[0]->span, "cyclic definition: %s%s",
				       cycle_text(sema, &cycle), has_ranges ? ", and their ranges differ" : "");

	for (int i = 1; i < cycle.n; i++)
		diag_label(sema->diags, diag, cycle.items[i]->span, "'%s' is defined here",
			   draft_writes(cycle.items[i])->name);
	if (alone)
		diag_label(sema->diags, diag, (struct span) { 0 },
			   "'%s' also reads itself along a variable that not all of them have",
			   draft_writes(alone)->name);
	if (has_ranges)
		label_ranges(sema, diag, obstacle);
	diag_help(sema->diags, diag, (struct span) { 0 }, "%s", has_ranges ? range_help(sema, obstacle)
								: cycle_help(sema, &cycle, alone));
}
