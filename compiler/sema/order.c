/* SPDX-License-Identifier: MIT
 *
 * What runs when. A draft outside the loop that reads a final value (of a state, of an array that the loop
 * defines, or of something computed from these) belongs to the epilogue, all others outside to the prologue.
 * In each region drafts are put in an order in which everything is computed before it is read, the order of
 * the text where that leaves a choice; definitions that read each other become one (merge.c), what accumulations
 * start at stands right before the first that needs it, and commits end the body. */
#include "sema/sema_private.h"

#include <stdlib.h>
#include <string.h>

struct ordering {
	struct sema *sema;
	int n_arrays;
	bool **reads;                   /* by number of draft and of array */
	bool *is_late;                  /* by number of draft: of the epilogue */
};

/* ---- what each draft reads ---- */

static void note_read(struct access *access, void *user)
{
	bool *reads = user;

	reads[access->array->number] = true;
}

static bool reads(const struct ordering *o, const struct draft *draft, const struct array *array)
{
	return o->reads[draft->number][array->number];
}

static bool is_accumulation(const struct draft *draft)
{
	return draft->stages.items[draft->stages.n - 1]->op != REDUCE_SET;
}

/* The steps of one array: its start, its definitions, its accumulations. */
static int step_of(const struct draft *draft)
{
	return draft->is_fill ? 0 : is_accumulation(draft) ? 2 : 1;
}

/* ---- late or not ---- */

/* `array` has its final value only after the loop. */
static bool is_final_later(const struct ordering *o, const struct array *array)
{
	const struct sema *sema = o->sema;
	const struct target *target = sema->targets.items[array->number];

	if (!sema->loop || !target)
		return false;
	if (array->role == ROLE_STATE || target->next)
		return true;
	for (int i = 0; i < sema->drafts.n; i++) {
		const struct draft *draft = sema->drafts.items[i];

		if (draft_writes(draft) == array &&
		    (draft->in_body ? !target->in_body : o->is_late[draft->number]))
			return true;
	}
	return false;
}

static const struct array *first_late_read(const struct ordering *o, const struct draft *draft)
{
	for (int i = 0; i < o->n_arrays; i++)
		if (o->reads[draft->number][i] && is_final_later(o, o->sema->module->arrays.items[i]))
			return o->sema->module->arrays.items[i];
	return NULL;
}

/* What `draft` accumulates starts at a definition that belongs to the epilogue. */
static bool has_late_start(const struct ordering *o, const struct draft *draft)
{
	for (int i = 0; i < o->sema->drafts.n; i++) {
		const struct draft *start = o->sema->drafts.items[i];

		if (o->is_late[start->number] && step_of(start) < step_of(draft) &&
		    draft_writes(start) == draft_writes(draft))
			return true;
	}
	return false;
}

static void find_late(struct ordering *o)
{
	bool again = true;

	while (again) {
		again = false;
		for (int i = 0; i < o->sema->drafts.n; i++) {
			const struct draft *draft = o->sema->drafts.items[i];

			if (draft->in_body || draft->is_start || o->is_late[draft->number] ||
			    (!first_late_read(o, draft) && !has_late_start(o, draft)))
				continue;
			o->is_late[draft->number] = true;
			again = true;
		}
	}
}

static void report_late(const struct ordering *o, struct span span, const struct array *array,
			const char *what)
{
	struct diag *diag = diag_error(o->sema->diags, DIAG_BEFORE_COMPLETE, span,
				       "%s '%s', which is complete only after the loop", what, array->name);

	label_declaration(o->sema, diag, o->sema->targets.items[array->number]->symbol);
}

/* A state read in the loop has its current value; all else that is final later cannot be read there. */
static void check_body(const struct ordering *o, const struct draft *draft)
{
	if (has_late_start(o, draft)) {
		report_late(o, draft->span, draft_writes(draft), "the loop adds to the start of");
		return;
	}
	for (int i = 0; i < o->n_arrays; i++) {
		const struct array *array = o->sema->module->arrays.items[i];
		const struct target *target = o->sema->targets.items[i];

		if (!o->reads[draft->number][i] || !target || array->role == ROLE_STATE || target->next)
			continue;
		if (is_final_later(o, array)) {
			report_late(o, draft->span, array, "the loop reads");
			return;
		}
	}
}

static void check_early(const struct ordering *o)
{
	for (int i = 0; i < o->sema->drafts.n; i++) {
		const struct draft *draft = o->sema->drafts.items[i];
		const struct array *array;

		if (draft->in_body) {
			check_body(o, draft);
			continue;
		}
		array = draft->is_start ? first_late_read(o, draft) : NULL;
		if (array)
			report_late(o, draft->span, array, "a state cannot start at");
	}
}

static void check_until_read(struct access *access, void *user)
{
	const struct ordering *o = user;
	const struct target *target = o->sema->targets.items[access->array->number];

	if (target && access->array->role != ROLE_STATE && !target->next && is_final_later(o, access->array))
		report_late(o, access->span, access->array, "'until' reads");
}

/* ---- before what ---- */

/* An array that both define; NULL. */
static const struct array *array_of_both(const struct draft *a, const struct draft *b)
{
	for (int i = 0; i < a->stages.n; i++)
		if (draft_defines(b, a->stages.items[i]->write.array))
			return a->stages.items[i]->write.array;
	return NULL;
}

static bool reads_of(const struct ordering *o, const struct draft *reader, const struct draft *writer)
{
	for (int i = 0; i < writer->stages.n; i++)
		if (reads(o, reader, writer->stages.items[i]->write.array))
			return true;
	return false;
}

/* Must `a` run before `b`? */
static bool is_before(const struct ordering *o, const struct draft *a, const struct draft *b)
{
	const struct array *array = array_of_both(a, b);

	if (a == b)
		return false;
	if (!array)
		return reads_of(o, b, a);
	if (step_of(a) != step_of(b))
		return step_of(a) < step_of(b);
	if (!reads(o, b, array))
		return false;
	return !reads(o, a, array) || a->number < b->number;
}

static void check_accumulation(const struct ordering *o, const struct draft *draft)
{
	const struct array *array = draft_writes(draft);

	if (!is_accumulation(draft) || !reads(o, draft, array))
		return;
	diag_error(o->sema->diags, DIAG_BEFORE_COMPLETE, draft->span,
		   "'%s' is read by its own accumulation, before that is complete", array->name);
}

/* ---- cycles ---- */

static struct draft *first_needed(const struct ordering *o, const draft_list *rest, const struct draft *draft)
{
	for (int i = 0; i < rest->n; i++)
		if (is_before(o, rest->items[i], draft))
			return rest->items[i];
	return NULL;
}

/* Each of `rest` waits for another one: following them leads into a cycle, of which each needs the next one. */
static draft_list find_cycle(const struct ordering *o, const draft_list *rest)
{
	struct draft *start = rest->items[0], *at;
	draft_list cycle = { 0 };

	for (int i = 0; i < rest->n; i++)
		start = first_needed(o, rest, start);
	at = start;
	do {
		vec_push(o->sema->arena, &cycle, at);
		at = first_needed(o, rest, at);
	} while (at != start);
	return cycle;
}

/* Those of `rest` to which something leads from one of `reached`, on the way that is asked for, are reached, too. */
static void follow(const struct ordering *o, const draft_list *rest, bool *reached, bool forwards)
{
	bool has_changed = true;

	while (has_changed) {
		has_changed = false;
		for (int a = 0; a < rest->n; a++)
			for (int b = 0; b < rest->n && !reached[a]; b++)
				if (reached[b] && is_before(o, rest->items[forwards ? b : a],
							    rest->items[forwards ? a : b]))
					reached[a] = has_changed = true;
	}
}

/* All that wait, directly or not, for each other and for this one. */
static draft_list component_of(const struct ordering *o, const draft_list *rest, const struct draft *draft)
{
	bool *before = arena_new_array(o->sema->arena, bool, rest->n);
	bool *after = arena_new_array(o->sema->arena, bool, rest->n);
	draft_list component = { 0 };

	for (int i = 0; i < rest->n; i++)
		before[i] = after[i] = rest->items[i] == draft;
	follow(o, rest, before, false);
	follow(o, rest, after, true);
	for (int i = 0; i < rest->n; i++)
		if (before[i] && after[i])
			vec_push(o->sema->arena, &component, rest->items[i]);
	return component;
}

static void remove_draft(draft_list *list, const struct draft *draft)
{
	int n = 0;

	for (int i = 0; i < list->n; i++)
		if (list->items[i] != draft)
			list->items[n++] = list->items[i];
	list->n = n;
}

static int by_number(const void *a, const void *b)
{
	const struct draft *const *x = a, *const *y = b;

	return (*x)->number - (*y)->number;
}

/* What is in cycles with one that is in one becomes one draft; false after saying why it cannot. */
static bool merge_cycle(const struct ordering *o, draft_list *rest)
{
	draft_list cycle = find_cycle(o, rest), sorted = component_of(o, rest, cycle.items[0]);
	struct merge_obstacle obstacle;

	qsort(sorted.items, (size_t) sorted.n, sizeof sorted.items[0], by_number);
	if (!drafts_merge(o->sema, sorted.items, sorted.n, &obstacle)) {
		cycle_report(o->sema, &cycle, &obstacle);
		return false;
	}
	for (int i = 1; i < sorted.n; i++) {
		for (int a = 0; a < o->n_arrays; a++)
			o->reads[sorted.items[0]->number][a] |= o->reads[sorted.items[i]->number][a];
		remove_draft(rest, sorted.items[i]);
	}
	return true;
}

/* ---- the order of a region ---- */

static int find_next(const struct ordering *o, const draft_list *rest)
{
	int best = -1;

	for (int i = 0; i < rest->n; i++)
		if (!first_needed(o, rest, rest->items[i]) &&
		    (best < 0 || rest->items[i]->number < rest->items[best]->number))
			best = i;
	return best;
}

static bool order_region(const struct ordering *o, draft_list *rest, draft_list *ordered)
{
	while (rest->n > 0) {
		int next = find_next(o, rest);

		if (next < 0) {
			if (!merge_cycle(o, rest))
				return false;
			continue;
		}
		vec_push(o->sema->arena, ordered, rest->items[next]);
		remove_draft(rest, rest->items[next]);
	}
	return true;
}

/* The place before the first behind `at` that needs the draft there, or its own. */
static int place_of_fill(const struct ordering *o, const draft_list *ordered, int at)
{
	for (int i = at + 1; i < ordered->n; i++)
		if (is_before(o, ordered->items[at], ordered->items[i]))
			return i - 1;
	return at;
}

static void settle_fills(const struct ordering *o, draft_list *ordered)
{
	for (int i = ordered->n - 1; i >= 0; i--) {
		struct draft *draft = ordered->items[i];
		int to = draft->is_fill ? place_of_fill(o, ordered, i) : i;

		for (int at = i; at < to; at++)
			ordered->items[at] = ordered->items[at + 1];
		ordered->items[to] = draft;
	}
}

static enum region_kind region_of(const struct ordering *o, const struct draft *draft)
{
	if (draft->in_body)
		return REGION_BODY;
	return o->is_late[draft->number] ? REGION_EPILOGUE : REGION_PROLOGUE;
}

static draft_list select_drafts(const struct ordering *o, enum region_kind region, bool commits)
{
	draft_list list = { 0 };

	for (int i = 0; i < o->sema->drafts.n; i++) {
		struct draft *draft = o->sema->drafts.items[i];

		if (region_of(o, draft) == region && draft->is_commit == commits)
			vec_push(o->sema->arena, &list, draft);
	}
	return list;
}

/* Drafts that were given up have no stages. */
static void drop_empty(struct sema *sema)
{
	int n = 0;

	for (int i = 0; i < sema->drafts.n; i++)
		if (sema->drafts.items[i]->stages.n > 0)
			sema->drafts.items[n++] = sema->drafts.items[i];
	sema->drafts.n = n;
}

static struct ordering ordering_new(struct sema *sema)
{
	struct ordering o = { .sema = sema, .n_arrays = sema->module->arrays.n };

	drop_empty(sema);
	o.reads = arena_new_array(sema->arena, bool *, sema->n_numbered + 1);
	o.is_late = arena_new_array(sema->arena, bool, sema->n_numbered + 1);
	for (int i = 0; i < sema->drafts.n; i++) {
		struct draft *draft = sema->drafts.items[i];

		o.reads[draft->number] = arena_new_array(sema->arena, bool, o.n_arrays + 1);
		draft_reads(draft, note_read, o.reads[draft->number]);
	}
	return o;
}

bool order_and_emit(struct sema *sema)
{
	struct ordering o = ordering_new(sema);
	draft_list ordered[REGION_N] = { { 0 } };
	bool ok = true;

	find_late(&o);
	check_early(&o);
	if (sema->module->loop.until)
		expr_reads(sema->module->loop.until, check_until_read, &o);
	for (int i = 0; i < sema->drafts.n; i++)
		check_accumulation(&o, sema->drafts.items[i]);
	for (int region = 0; region < REGION_N && sema->diags->n_errors == sema->n_errors; region++) {
		draft_list rest = select_drafts(&o, (enum region_kind) region, false);
		draft_list commits = select_drafts(&o, (enum region_kind) region, true);

		ok = order_region(&o, &rest, &ordered[region]) && ok;
		settle_fills(&o, &ordered[region]);
		for (int i = 0; i < commits.n; i++)
			vec_push(sema->arena, &ordered[region], commits.items[i]);
	}
	demand_conditions(sema, ordered[REGION_BODY].items, ordered[REGION_BODY].n);
	for (int region = 0; region < REGION_N && sema->diags->n_errors == sema->n_errors; region++)
		for (int i = 0; i < ordered[region].n; i++)
			draft_emit(sema, ordered[region].items[i], (enum region_kind) region);
	return ok;
}
