/* SPDX-License-Identifier: MIT
 *
 * Rows of a device's kernels in a running kernel program: what lanes of a team hand to each other, and the vectors of a
 * row, of which each lane of a group has some cells. What groups have added up, the runtime shares out among them; here
 * each has all of it, and the first one brings it to its cells. */
#include "kernel/run_private.h"

/* ---- from lane to lane ---- */

/* Shows the others a value; they may look at it until `seen`. */
static void show(struct run *run, struct run_value value)
{
	run->fiber->exchanged = value;
	run_barrier(run, run->fiber->stmt);
}

static void seen(struct run *run)
{
	run_barrier(run, run->fiber->stmt);
}

static bool is_in_team(struct run *run, const struct run_args *args)
{
	if (!run->fiber->team || !run->fiber->width)
		run_fault(run, "%s: outside of a team", args->name);
	return !run->has_stopped;
}

/* <team>(is): a bit for each lane. */
static struct run_value call_ballot(struct run *run, const struct run_args *args)
{
	int64_t bits = 0;

	if (!is_in_team(run, args))
		return run_int(0);
	show(run, run_int(run_truth(run, &args->value[0])));
	for (int lane = 0; lane < run->fiber->team->n; lane++)
		bits |= run->fiber->team->fibers[lane].exchanged.integer << lane;
	seen(run);
	return run_of_element(TYPE_U32, 0, bits);
}

/* <team>(value, from): what that lane has. */
static struct run_value call_take(struct run *run, const struct run_args *args)
{
	const int64_t from = run_arg(run, args, 1);
	struct run_value value;

	if (!is_in_team(run, args))
		return run_int(0);
	show(run, args->value[0]);
	value = run->fiber->team->fibers[from & (run->fiber->team->n - 1)].exchanged;
	seen(run);
	return value;
}

static struct run_value call_count(struct run *run, const struct run_args *args)
{
	return run_of_element(TYPE_I32, 0, __builtin_popcountll((uint64_t) run_arg(run, args, 0)));
}

/* (lanes, n): the n-th of them; behind the last one, any. */
static struct run_value call_nth(struct run *run, const struct run_args *args)
{
	const int64_t lanes = run_arg(run, args, 0);
	int64_t n = run_arg(run, args, 1);
	int at = 0;

	for (; at < 31; at++)
		if (lanes >> at & 1 && n-- == 0)
			break;
	return run_of_element(TYPE_I32, 0, at);
}

/* ---- indices of warp-cooperative loops ---- */

/* (array, first, end): of lanes without an iteration, the last one. */
static struct run_value call_first(struct run *run, const struct run_args *args)
{
	const int64_t first = run_arg(run, args, 1), end = run_arg(run, args, 2), at = first + run->fiber->number;

	return first < end ? run_load_at(run, args->value[0], at < end ? at : end - 1) : run_int(0);
}

/* (array, at, first, end) */
static struct run_value call_first_at(struct run *run, const struct run_args *args)
{
	return run_arg(run, args, 2) < run_arg(run, args, 3) ? run_load_at(run, args->value[0], run_arg(run, args, 1))
							     : run_int(0);
}

enum { IN_TURN, AT };

/* (ahead, array, first, end), or (ahead, array, at, first, end) */
static struct run_value call_next(struct run *run, const struct run_args *args)
{
	struct k_expr *const *nodes = args->call->args.items;
	const int by = args->code == AT;
	const struct run_value array = run_expr(run, nodes[1]), first = run_expr(run, nodes[2 + by]);
	const struct run_value end = run_expr(run, nodes[3 + by]);
	const int lanes = run->fiber->team ? run->fiber->team->n : 1;
	int64_t at = run_integer(run, &first) + lanes + run->fiber->number;
	struct run_value number;

	if (run->has_stopped || at >= run_integer(run, &end))
		return run_int(0);
	number = by ? run_expr(run, nodes[2]) : run_int(at);
	at = run_integer(run, &number);
	run_name_write(run, nodes[0]->text, run_load_at(run, array, at));
	return run_int(0);
}

static struct run_value call_once(struct run *run, const struct run_args *args)
{
	return run_load_at(run, args->value[0], 0);
}

/* (values, i, n): has no neighbour the same one? */
static struct run_value call_is_alone(struct run *run, const struct run_args *args)
{
	const int64_t i = run_arg(run, args, 1), n = run_arg(run, args, 2);
	const int64_t value = run_load_at(run, args->value[0], i).integer;
	bool is_alone = true;

	if (i > 0)
		is_alone = run_load_at(run, args->value[0], i - 1).integer != value;
	if (i + 1 < n)
		is_alone &= run_load_at(run, args->value[0], i + 1).integer != value;
	return run_of_element(TYPE_BOOL, 0, is_alone);
}

/* ---- rows ---- */

/* <team, group, operation>(row): the sums over groups, the same in each of them. */
static struct run_value call_share(struct run *run, const struct run_args *args)
{
	const struct run_value *row = &args->value[0];
	const int group = run->fiber->group, member = run->fiber->number % (group ? group : 1);

	if (!is_in_team(run, args) || row->kind != RUN_ADDRESS)
		return run_int(0);
	for (int64_t i = 0; i < row->buffer->bytes/run_element_bytes(run, row->element) && !run->has_stopped; i++) {
		const struct run_value at = run_at(run, *row, i);
		struct run_value sum;

		show(run, run_load_at(run, *row, i));
		sum = run->fiber->team->fibers[member].exchanged;
		for (int lane = member + group; lane < run->fiber->team->n && !run->has_stopped; lane += group)
			sum = run_binary(run, K_ADD, sum, run->fiber->team->fibers[lane].exchanged);
		seen(run);
		run_store(run, &at, sum, false);
	}
	return run_int(0);
}

/* (cell, row, is_alone) */
static struct run_value update_row(struct run *run, const struct run_args *args, bool is_first)
{
	const enum run_combining how = (enum run_combining) args->code;
	struct run_value at = args->value[0], row = args->value[1];

	if (run_truth(run, &args->value[2])) {
		at.element = at.element == TYPE_F32 ? RUN_VECTOR_F32 : RUN_VECTOR_F64;
		row = run_converted(run, row, at.element);
		if (!is_first)
			row = run_combined(run, how, run_load(run, &at, RUN_READ), row);
		run_store(run, &at, row, false);
		return row;
	}
	for (int i = 0; i < row.lanes && !run->has_stopped; i++) {
		const struct run_value cell = run_at(run, at, i);

		run_update(run, &cell, how, run_of_element(cell.element, row.lane[i], 0));
	}
	return row;
}

static struct run_value call_row(struct run *run, const struct run_args *args)
{
	return update_row(run, args, false);
}

static struct run_value call_row_first(struct run *run, const struct run_args *args)
{
	return update_row(run, args, true);
}

/* (sums, j, vector): to two sums in turn. */
static struct run_value call_add_cells(struct run *run, const struct run_args *args)
{
	const struct run_value *vector = &args->value[2];

	for (int i = 0; i < vector->lanes && !run->has_stopped; i++) {
		const struct run_value at = run_at(run, args->value[0], (run_arg(run, args, 1) + i) % 2);
		const struct run_value sum = run_load(run, &at, RUN_READ);

		if (!run->has_stopped)
			run_store(run, &at, run_binary(run, K_ADD, sum,
						       run_of_element(TYPE_F64, vector->lane[i], 0)), false);
	}
	return run_int(0);
}

/* ---- where the vectors of a row of n cells are: (type, n, vector), or (n, vector) ---- */

static bool is_own(struct run *run, const struct run_args *args, int n)
{
	const struct run_fiber *fiber = run->fiber;
	const int64_t cell = (run_arg(run, args, n + 1)*fiber->group + fiber->number % fiber->group)*fiber->width;

	return run_arg(run, args, n) % (fiber->group*fiber->width) == 0 || cell < run_arg(run, args, n);
}

static struct run_value call_is_own(struct run *run, const struct run_args *args)
{
	return run_of_element(TYPE_BOOL, 0, is_in_team(run, args) && is_own(run, args, 0));
}

static struct run_value call_share_is_own(struct run *run, const struct run_args *args)
{
	return run_of_element(TYPE_BOOL, 0, is_in_team(run, args) && is_own(run, args, 1) &&
					    run->fiber->number < run->fiber->group);
}

const struct run_call run_row_calls[] = {
	RUN_CALL("pmg_*_ballot", call_ballot, 0), RUN_CALL("pmg_*_take", call_take, 0),
	RUN_CALL("pmg_*_count", call_count, 0), RUN_CALL("pmg_*_nth", call_nth, 0),
	RUN_CALL("PMG_FIRST", call_first, 0),
	RUN_CALL("PMG_FIRST_AT", call_first_at, 0), RUN_CALL_OF_NODES("PMG_NEXT", call_next, IN_TURN),
	RUN_CALL_OF_NODES("PMG_NEXT_AT", call_next, AT), RUN_CALL("PMG_READ_AT", run_first_arg, 0),
	RUN_CALL_OF_CELL("PMG_ONCE", call_once, 0), RUN_CALL("PMG_IS_ALONE", call_is_alone, 0),
	RUN_CALL("pmg_*_share", call_share, 0), RUN_CALL("pmg_*_begin", run_first_arg, 0),
	RUN_CALL("pmg_*_row_add", call_row, RUN_ADD), RUN_CALL("pmg_*_row_prod", call_row, RUN_PROD),
	RUN_CALL("pmg_*_row_add_first", call_row_first, RUN_ADD),
	RUN_CALL("pmg_*_row_prod_first", call_row_first, RUN_PROD),
	RUN_CALL("pmg_*_add_cells", call_add_cells, 0), RUN_CALL("PMG_VECTOR_IS_OWN", call_is_own, 0),
	RUN_CALL("PMG_SHARE_IS_OWN", call_share_is_own, 0),
	RUN_CALLS_END
};
