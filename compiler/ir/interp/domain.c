/* SPDX-License-Identifier: MIT
 *
 * Enumeration of points: ranges, values of index arrays, children of nodes.
 *
 * A bound dim may have no value at a point, a[k - 1] at k = 0 where a guard leaves the point out. It is then marked
 * in `run->unbound`, and only a stage that runs at the point and needs the dim makes it an error (step_report). What
 * is read from an index array must keep its facts: a computed array is checked here, when it is used. A recurrence is
 * walked once ahead of its computation, when such an array may not have the value yet: `run->unknown`. */
#include "ir/interp/interp_private.h"

/* ---- bound dims ---- */

struct allowed {
	int64_t lo, hi;                 /* inclusive */
};

static struct allowed bind_allowed(struct run *run, const struct place *source)
{
	const struct array *array = source->slot->array;
	int64_t limit = source->slot->limit;

	if (array->facts & FACT_TREE) {
		const struct sub *sub = &source->subs[0];
		int64_t position = sub->node ? eval_integer(run, sub->node) : run->dims[sub->dim] + sub->add;

		return (struct allowed) { -1, position - 1 };
	}
	return (struct allowed) { 0, array->facts & FACT_OFFSETS ? limit : limit - 1 };
}

/* False when there is no value. An undefined cell postpones the point. */
static bool step_read(struct run *run, const struct step *step, int64_t *value)
{
	const struct place *source = &step->source;
	struct allowed allowed;
	int64_t offset, bad;

	if (place_find(run, source, &offset, &bad) >= 0 || !place_read_offset(run, source, &offset))
		return false;
	*value = slot_integer(source->slot, offset);
	allowed = bind_allowed(run, source);
	return *value >= allowed.lo && *value <= allowed.hi;
}

void step_report(struct run *run, const struct step *step)
{
	const struct place *source = &step->source;
	int64_t offset, value;
	int bad = place_find(run, source, &offset, &value);
	struct allowed allowed;

	if (bad >= 0) {
		place_report(run, source, bad, value);
		return;
	}
	value = slot_integer(source->slot, offset);
	allowed = bind_allowed(run, source);
	if (allowed.lo > allowed.hi)
		run_fail(run, source->span, "%s is %lld, but no index is allowed there",
			 slot_cell_text(run->arena, source->slot, offset), (long long) value);
	else
		run_fail(run, source->span, "%s is %lld, allowed are %lld to %lld",
			 slot_cell_text(run->arena, source->slot, offset), (long long) value,
			 (long long) allowed.lo, (long long) allowed.hi);
}

static void walk_bind(struct walk *walk, int number)
{
	struct run *run = walk->run;
	const uint64_t unbound = run->unbound, unknown = run->unknown, bit = UINT64_C(1) << number;
	int64_t value = 0;

	if (!step_read(run, &walk->steps[number], &value)) {
		run->unbound |= bit;
		value = 0;
	}
	if (run->stop == RUN_POSTPONED && walk->kind == WALK_AHEAD) {
		run->unknown |= bit;
		run->stop = RUN_GOES;
	}
	if (run->stop == RUN_GOES) {
		run->dims[number] = value;
		walk_points(walk, number + 1);
	}
	run->unbound = unbound;
	run->unknown = unknown;
}

/* ---- ranges ---- */

static void walk_range(struct walk *walk, int number)
{
	struct run *run = walk->run;
	const struct step *step = &walk->steps[number];
	const int64_t lo = eval_integer(run, step->lo), hi = eval_integer(run, step->hi);

	if (run->stop != RUN_GOES || lo >= hi)
		return;
	for (int64_t n = 0; n < hi - lo && run->stop == RUN_GOES; n++) {
		run->dims[number] = walk->kind == WALK_BACKWARDS ? hi - 1 - n : lo + n;
		walk_points(walk, number + 1);
	}
}

/* ---- children ---- */

/* The node of cell `i`, as an index of `first`; -1 when the value is out of range. */
static int64_t parent_slot(const struct slot *slot, int64_t i)
{
	int64_t parent = slot_integer(slot, i);

	return parent >= -1 && parent < i ? parent + 1 : -1;
}

static bool count_children(struct run *run, struct slot *slot, int64_t *first)
{
	for (int64_t i = 0; i < slot->n; i++) {
		int64_t parent = parent_slot(slot, i);

		if (parent < 0) {
			run_fail(run, slot->array->span, "%s is %lld, a parent comes before its children",
				 slot_cell_text(run->arena, slot, i), (long long) slot_integer(slot, i));
			return false;
		}
		first[parent + 1]++;
	}
	for (int64_t i = 0; i <= slot->n; i++)
		first[i + 1] += first[i];
	return true;
}

/* Counting sort by parent, in one pass: first[p] moves to where the children of p end, and back by the shift. */
static void children_build(struct run *run, struct slot *slot)
{
	struct children *children = &slot->children;
	const int64_t n = slot->n;

	if (!children->first) {
		children->first = arena_new_array(run->scratch, int64_t, n + 3);
		children->items = arena_new_array(run->scratch, int64_t, n);
	}
	for (int64_t i = 0; i < n + 3; i++)
		children->first[i] = 0;
	if (!count_children(run, slot, children->first + 1))
		return;
	for (int64_t i = 0; i < n; i++)
		children->items[children->first[parent_slot(slot, i) + 1]++] = i;
	children->is_valid = true;
}

static void walk_children(struct walk *walk, int number)
{
	struct run *run = walk->run;
	const struct step *step = &walk->steps[number];
	struct slot *slot = step->source.slot;
	const int64_t parent = eval_integer(run, step->parent);
	int64_t from, to;

	if (!slot->children.is_valid)
		children_build(run, slot);
	if (run->stop != RUN_GOES || parent < -1 || parent >= slot->n)
		return;
	from = slot->children.first[parent + 1];
	to = slot->children.first[parent + 2];
	for (int64_t n = 0; n < to - from && run->stop == RUN_GOES; n++) {
		run->dims[number] = slot->children.items[walk->kind == WALK_BACKWARDS ? to - 1 - n : from + n];
		walk_points(walk, number + 1);
	}
}

void walk_points(struct walk *walk, int first)
{
	if (first == walk->last) {
		walk->visit(walk);
		return;
	}
	switch (walk->steps[first].dim->kind) {
	case DIM_RANGE:
		walk_range(walk, first);
		break;
	case DIM_BIND:
		walk_bind(walk, first);
		break;
	case DIM_CHILDREN:
		walk_children(walk, first);
		break;
	}
}
