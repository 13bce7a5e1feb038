/* SPDX-License-Identifier: MIT
 *
 * Statements, groups and recurrences.
 *
 * A group runs its points in lexicographic order. A recurrence, which reads arrays that it sets, runs in sweeps over
 * the points that are not done yet, forwards and backwards in turn: a point that reads a cell which is still to be
 * set is put off. A cell counts as set once its whole point is done, so that a sum over a node's children is
 * complete before anybody reads it. A sweep in which no point gets done proves that the recurrence has no order. */
#include "ir/interp/interp_private.h"

#include <math.h>

/* ---- statements ---- */

static bool stage_is_active(struct run *run, const struct stage_run *stage)
{
	const uint64_t missing = run->unbound & stage->uses;

	if (stage->guard && !eval_integer(run, stage->guard))
		return false;
	if (missing)
		step_report(run, &stage->steps[__builtin_ctzll(missing)]);
	return run->stop == RUN_GOES;
}

/* Notes that the running point sets a cell of the running recurrence. */
static void note_set(struct run *run, const struct stage_run *stage, int64_t offset)
{
	const struct cell cell = { stage->write.slot, offset };

	if (!cell.slot->states || cell.slot->states[offset] != CELL_UNDEFINED)
		return;
	cell.slot->states[offset] = CELL_PENDING;
	vec_push(run->scratch, &run->pending, cell);
}

static void write_fine(struct run *run, const struct stage_run *stage)
{
	struct slot *slot = stage->write.slot;
	int64_t offset;
	long double value;

	run->stage = stage->stage;
	value = eval_fine(run, stage->value);
	if (run->stop != RUN_GOES || !place_write_offset(run, &stage->write, &offset))
		return;
	if (stage->stage->op != REDUCE_SET) {
		slot_update_fine(run, slot, offset, stage->stage->op, value);
		return;
	}
	slot_set_fine(slot, offset, value);
	if (slot->weight)
		slot->weight[offset].magnitude = fabs((double) value);
	note_set(run, stage, offset);
}

static void write_real(struct run *run, const struct stage_run *stage)
{
	struct slot *slot = stage->write.slot;
	struct weighed by = { 0 };
	int64_t offset;
	double value;

	run->stage = stage->stage;
	if (slot->weight)
		by = eval_weighed(run, stage->value);
	value = slot->weight ? by.value : eval_real(run, stage->value);
	if (run->stop != RUN_GOES || !place_write_offset(run, &stage->write, &offset))
		return;
	if (slot->weight)
		slot_weigh(run, slot, offset, stage->stage->op, by);
	if (stage->stage->op != REDUCE_SET) {
		slot_update_real(slot, offset, stage->stage->op, value);
		return;
	}
	slot_set_real(slot, offset, value);
	note_set(run, stage, offset);
}

static void write_integer(struct run *run, const struct stage_run *stage)
{
	const int64_t value = eval_integer(run, stage->value);
	struct slot *slot = stage->write.slot;
	int64_t offset;

	if (run->stop != RUN_GOES || !place_write_offset(run, &stage->write, &offset))
		return;
	if (stage->stage->op == REDUCE_SET) {
		slot_set_integer(slot, offset, value);
		note_set(run, stage, offset);
	} else if (!slot_update_integer(slot, offset, stage->stage->op, value)) {
		run_fail(run, stage->stage->span, "integer overflow: %s does not fit into 64 bits",
			 slot_cell_text(run->arena, slot, offset));
	}
}

static void visit_statement(struct walk *walk)
{
	const struct stage_run *stage = walk->user;

	if (!stage_is_active(walk->run, stage))
		return;
	if (!stage->is_float)
		write_integer(walk->run, stage);
	else if (walk->run->arithmetic == INTERP_WORKING)
		write_real(walk->run, stage);
	else
		write_fine(walk->run, stage);
}

/* The stage at the present point of the common dims. */
static void stage_walk(struct run *run, struct stage_run *stage, enum walk_kind kind,
		       void (*visit)(struct walk *walk))
{
	struct walk own = { run, stage->steps, stage->n_steps, kind, visit, stage };

	walk_points(&own, stage->stage->group->n_common);
}

static void point_execute(struct run *run, struct group_run *group)
{
	for (int i = 0; i < group->n_stages && run->stop == RUN_GOES; i++)
		stage_walk(run, &group->stages[i], WALK_FORWARDS, visit_statement);
}

static void visit_point(struct walk *walk)
{
	point_execute(walk->run, walk->user);
}

static void group_walk(struct run *run, struct group_run *group, enum walk_kind kind,
		       void (*visit)(struct walk *walk), void *user)
{
	struct walk walk = { run, group->stages[0].steps, group->group->n_common, kind, visit, user };

	walk_points(&walk, 0);
}

/* ---- recurrences ---- */

struct sweep {
	struct group_run *group;
	int64_t n_points, n_done;
	int64_t at;                     /* number of the present point in ascending order */
	bool is_backward;
	bool *done;
};

static void visit_unset(struct walk *walk)
{
	const struct stage_run *stage = walk->user;
	struct run *run = walk->run;
	int64_t offset, value;

	if (run->unknown & stage->place_uses)
		run->stop = RUN_POSTPONED;
	if ((run->unbound & stage->place_uses) || (stage->guard && !eval_integer(run, stage->guard)))
		return;
	if (place_find(run, &stage->write, &offset, &value) < 0)
		stage->write.slot->states[offset] = CELL_UNDEFINED;
}

static void visit_count(struct walk *walk)
{
	struct sweep *sweep = walk->user;

	sweep->n_points++;
	for (int i = 0; i < sweep->group->n_stages; i++) {
		struct stage_run *stage = &sweep->group->stages[i];

		if (stage->stage->op == REDUCE_SET && stage->write.slot->states)
			stage_walk(walk->run, stage, WALK_AHEAD, visit_unset);
	}
}

static void settle_pending(struct run *run, enum cell_state state)
{
	for (int i = 0; i < run->pending.n; i++) {
		const struct cell *cell = &run->pending.items[i];

		cell->slot->states[cell->offset] = (unsigned char) state;
	}
	run->pending.n = 0;
}

static void try_point(struct run *run, struct sweep *sweep, bool *done)
{
	if (*done)
		return;
	point_execute(run, sweep->group);
	if (run->stop == RUN_POSTPONED) {
		settle_pending(run, CELL_UNDEFINED);
		run->stop = RUN_GOES;
		return;
	}
	settle_pending(run, CELL_DEFINED);
	*done = true;
	sweep->n_done++;
}

static void visit_try(struct walk *walk)
{
	struct sweep *sweep = walk->user;

	if (sweep->is_backward)
		sweep->at--;
	try_point(walk->run, sweep, &sweep->done[sweep->at]);
	if (!sweep->is_backward)
		sweep->at++;
}

static void report_ill_founded(struct run *run, const struct group_run *group)
{
	run_fail(run, group->group->span, "recurrence is not well founded: '%s' needs %s, which has no value yet",
		 group->group->name, slot_cell_text(run->arena, run->needed.slot, run->needed.offset));
}

static void sweep_until_done(struct run *run, struct sweep *sweep)
{
	while (sweep->n_done < sweep->n_points && run->stop == RUN_GOES) {
		const int64_t before = sweep->n_done;

		group_walk(run, sweep->group, sweep->is_backward ? WALK_BACKWARDS : WALK_FORWARDS, visit_try, sweep);
		if (run->stop == RUN_POSTPONED || (run->stop == RUN_GOES && sweep->n_done == before))
			report_ill_founded(run, sweep->group);
		sweep->is_backward = !sweep->is_backward;
	}
}

/* All false; the memory of an earlier iteration of the loop serves again. */
static bool *done_flags(struct run *run, struct group_run *group, int64_t n)
{
	if (group->done_capacity < n) {
		group->done = arena_new_array(run->scratch, bool, n);
		group->done_capacity = n;
	}
	for (int64_t i = 0; i < n; i++)
		group->done[i] = false;
	return group->done;
}

static void recurrence_execute(struct run *run, struct group_run *group)
{
	struct sweep sweep = { .group = group };

	settle_pending(run, CELL_DEFINED);
	group_walk(run, group, WALK_AHEAD, visit_count, &sweep);
	if (run->stop == RUN_POSTPONED)
		report_ill_founded(run, group);
	sweep.done = done_flags(run, group, sweep.n_points);
	sweep_until_done(run, &sweep);
}

void group_execute(struct run *run, struct group_run *group)
{
	if (group->n_stages == 0)
		return;
	if (group->is_recurrence)
		recurrence_execute(run, group);
	else
		group_walk(run, group, WALK_FORWARDS, visit_point, group);
	for (int i = 0; i < group->n_stages; i++)
		group->stages[i].write.slot->children.is_valid = false;
}
