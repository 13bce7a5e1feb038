/* SPDX-License-Identifier: MIT
 *
 * Vectors of a running kernel program: the macros of the runtime, with lanes as many as the host says. A cell is where
 * a vector begins in memory. */
#include "kernel/run_private.h"

#include <math.h>
#include <string.h>

static int vector_type(const struct run_args *args)
{
	return args->element == TYPE_F32 ? RUN_VECTOR_F32 : RUN_VECTOR_F64;
}

/* ---- numbers of lanes: (type, …) ---- */

static struct run_value call_lanes(struct run *run, const struct run_args *args)
{
	return run_int(run_lanes(run, args->value[0].element));
}

static struct run_value call_n_vectors(struct run *run, const struct run_args *args)
{
	const int64_t group = run->fiber->group ? run->fiber->group : 1;
	const int64_t lanes = group*run_lanes(run, args->value[0].element);

	return run_int((run_arg(run, args, 1) + lanes - 1)/lanes);
}

static int64_t start_of(int64_t lanes, int64_t n, int64_t vector)
{
	return vector*lanes <= n - lanes ? vector*lanes : n - lanes;
}

/* Vectors of a device are those of the lanes of a group in turn. */
static struct run_value call_start(struct run *run, const struct run_args *args)
{
	const int64_t group = run->fiber->group, vector = run_arg(run, args, 2);

	return run_int(start_of(run_lanes(run, args->value[0].element), run_arg(run, args, 1),
				group ? vector*group + run->fiber->number % group : vector));
}

/* ---- memory ---- */

static struct run_value cell(const struct run_args *args, int element)
{
	struct run_value at = args->value[0];

	at.element = element;
	return at;
}

static struct run_value call_read(struct run *run, const struct run_args *args)
{
	const struct run_value at = cell(args, vector_type(args));

	return run_load(run, &at, RUN_READ);
}

/* Targets: where the vector goes. */
static struct run_value call_write(struct run *run, const struct run_args *args)
{
	(void) run;
	return cell(args, vector_type(args));
}

static struct run_value call_write_wide(struct run *run, const struct run_args *args)
{
	(void) run;
	return cell(args, RUN_VECTOR_WIDE);
}

static struct run_value call_stream(struct run *run, const struct run_args *args)
{
	const struct run_value at = cell(args, vector_type(args));

	if (at.integer % run_element_bytes(run, at.element) != 0)
		run_fault(run, "%s: the vector does not begin where one does in memory", args->name);
	else
		run_store(run, &at, args->value[1], false);
	return args->value[1];
}

static struct run_value call_widen(struct run *run, const struct run_args *args)
{
	return run_converted(run, args->value[0], RUN_VECTOR_WIDE);
}

/* Values that are kept in other types than they are computed in; AS_TOP: as the upper half of a double. */
enum kept { AS_F64, AS_F32, AS_TOP, TO_F32 = 4 };

static double of_top(int64_t top)
{
	const uint64_t bits = (uint64_t) top << 32;
	double real;

	memcpy(&real, &bits, sizeof real);
	return real;
}

static struct run_value call_read_kept(struct run *run, const struct run_args *args)
{
	static const int types[] = { [AS_F64] = TYPE_F64, [AS_F32] = TYPE_F32, [AS_TOP] = TYPE_U32 };
	const int element = args->code & TO_F32 ? RUN_VECTOR_F32 : RUN_VECTOR_F64, kept = args->code & ~TO_F32;
	struct run_value vector = run_filled(run, element, run_int(0));
	const struct run_value first = cell(args, types[kept]);

	for (int i = 0; i < vector.lanes && !run->has_stopped; i++) {
		const struct run_value lane = run_load_at(run, first, i);

		vector.lane[i] = kept == AS_TOP ? of_top(lane.integer) : run_real(&lane);
		vector.unset |= (uint32_t) lane.is_unset << i;
	}
	return run_converted(run, vector, element);
}

static struct run_value call_top(struct run *run, const struct run_args *args)
{
	struct run_value value = run_of_element(TYPE_F64, of_top(args->value[0].integer), 0);

	(void) run;
	value.is_unset = args->value[0].is_unset;
	return value;
}

/* ---- lanes ---- */

static struct run_value call_fill(struct run *run, const struct run_args *args)
{
	return run_filled(run, vector_type(args), args->value[0]);
}

/* By halves. */
static struct run_value sum_of_lanes(const struct run_value *vector)
{
	const int element = vector->element == RUN_VECTOR_F32 ? TYPE_F32 : TYPE_F64;
	struct run_value value;
	double lane[RUN_MOST_LANES];

	memcpy(lane, vector->lane, (size_t) vector->lanes*sizeof *lane);
	for (int n = vector->lanes/2; n >= 1; n /= 2)
		for (int i = 0; i < n; i++)
			lane[i] = run_of_element(element, lane[i] + lane[i + n], 0).real;
	value = run_of_element(element, lane[0], 0);
	value.is_unset = vector->unset;
	return value;
}

/* The sum of the lanes of two vectors. */
static struct run_value call_sum(struct run *run, const struct run_args *args)
{
	const struct run_value at = cell(args, vector_type(args));
	const struct run_value first = run_load_at(run, at, 0), second = run_load_at(run, at, 1);
	struct run_value both;

	if (run->has_stopped)
		return run_int(0);
	both = run_binary(run, K_ADD, first, second);
	return sum_of_lanes(&both);
}

/* dots[i] is the sum of the lanes of sums[i], for four of them. */
static struct run_value call_sum_dots(struct run *run, const struct run_args *args)
{
	const struct run_value dots = cell(args, args->element);
	struct run_value sums = args->value[1];

	sums.element = vector_type(args);
	for (int i = 0; i < 4 && !run->has_stopped; i++) {
		const struct run_value vector = run_load_at(run, sums, i), at = run_at(run, dots, i);

		run_store(run, &at, sum_of_lanes(&vector), false);
	}
	return dots;
}

/* (n, vector, value): zero in lanes whose cells the vector before has. */
static struct run_value call_once(struct run *run, const struct run_args *args)
{
	const int64_t n = run_arg(run, args, 0), vector = run_arg(run, args, 1);
	struct run_value value = run_converted(run, args->value[2], vector_type(args));

	run_lanes_taken(run, &value);
	for (int i = 0; i < value.lanes; i++)
		if (i < vector*value.lanes - start_of(value.lanes, n, vector))
			value.lane[i] = 0;
	return value;
}

static struct run_value call_reciprocal(struct run *run, const struct run_args *args)
{
	return run_binary(run, K_DIV, run_filled(run, vector_type(args), run_int(1)), args->value[0]);
}

/* ---- masks ---- */

static struct run_value mask_of(const struct run *run, const struct run_args *args, uint64_t bits)
{
	struct run_value mask = { .kind = RUN_MASK, .element = vector_type(args) };

	mask.lanes = run_lanes(run, mask.element);
	mask.integer = (int64_t) (bits & ((UINT64_C(1) << mask.lanes) - 1));
	return mask;
}

/* (bits, lane) */
static struct run_value call_where(struct run *run, const struct run_args *args)
{
	return mask_of(run, args, (uint64_t) run_arg(run, args, 0) >> (run_arg(run, args, 1) & 63));
}

/* (rows, lane, n) */
static struct run_value call_has_rows(struct run *run, const struct run_args *args)
{
	struct run_value mask = mask_of(run, args, 0);
	const int64_t lane = run_arg(run, args, 1), n = run_arg(run, args, 2);

	for (int i = 0; i < mask.lanes && !run->has_stopped; i++)
		mask.integer |= (int64_t) (run_number_at(run, &args->value[0], lane + i) >= n) << i;
	return mask;
}

/* (where, value, other) */
static struct run_value call_choose(struct run *run, const struct run_args *args)
{
	const struct run_value *where = &args->value[0];
	const struct run_value other = run_converted(run, args->value[2], vector_type(args));
	struct run_value value = run_converted(run, args->value[1], vector_type(args));

	if (where->is_unset || where->kind != RUN_MASK)
		run_fault(run, "lanes are chosen by values that were never written");
	run_lanes_taken(run, &value);
	for (int i = 0; i < value.lanes; i++) {
		const uint32_t bit = UINT32_C(1) << i;

		if (where->integer >> i & 1)
			continue;
		value.lane[i] = other.lane[i];
		value.unset = (value.unset & ~bit) | (other.unset & bit);
	}
	return value;
}

enum { ADD_LANE, SET_LANE };

/* (vectors, n, lane, is_there, value) */
static struct run_value call_one_lane(struct run *run, const struct run_args *args)
{
	const int64_t n = run_arg(run, args, 1), lane = run_arg(run, args, 2);
	struct run_value at = cell(args, args->element), value = args->value[4];

	if (!run_truth(run, &args->value[3]))
		return value;
	if (lane < 0 || lane >= n)
		run_fault(run, "%s: lane %lld of %lld", args->name, (long long) lane, (long long) n);
	at = run_at(run, at, lane);
	if (args->code == ADD_LANE)
		value = run_binary(run, K_ADD, run_load(run, &at, RUN_READ), value);
	run_store(run, &at, value, false);
	return value;
}

/* (rows, block) */
static struct run_value call_lane_masks(struct run *run, const struct run_args *args)
{
	struct run_value at = run_at(run, args->value[0], run_number_at(run, &args->value[0], run_arg(run, args, 1)));

	at.element = RUN_KIN;
	return at;
}

/* (bits, lane) */
static struct run_value call_has_lane(struct run *run, const struct run_args *args)
{
	return run_of_element(TYPE_BOOL, 0, run_arg(run, args, 0) >> (run_arg(run, args, 1) & 63) & 1);
}

/* ---- pivots: of each lane that exists the host is told if it is bad ---- */

static void check(struct run *run, const struct run_args *args, double pivot, bool is_unset, int64_t at, int64_t row,
		  int64_t system)
{
	const struct k_run_number numbers[] = {
		{ 0 }, { .integer = at }, { .integer = row }, { .integer = system }, { .is_float = true, .real = pivot }
	};
	struct k_run_number result;

	if (is_unset)
		run_fault(run, "%s: of a value that was never written", args->name);
	if (run->has_stopped || fabs(pivot) > pivot - pivot)
		return;
	if (!run->host->call(run->host->user, "pmg_bad_pivot", numbers, 5, &result))
		run_unknown(run, "pmg_bad_pivot");
}

/* (plan, pivot, at, row, system) */
static struct run_value call_check_pivot(struct run *run, const struct run_args *args)
{
	const struct run_value *pivot = &args->value[1];

	check(run, args, run_real(pivot), pivot->is_unset, run_arg(run, args, 2), run_arg(run, args, 3),
	      run_arg(run, args, 4));
	return *pivot;
}

/* (plan, pivots, n, at, row, system, stride) */
static struct run_value call_check_pivots(struct run *run, const struct run_args *args)
{
	const struct run_value *pivots = &args->value[1];
	const int64_t n = run_arg(run, args, 2), system = run_arg(run, args, 5), stride = run_arg(run, args, 6);

	for (int i = 0; i < pivots->lanes && i < n && !run->has_stopped; i++)
		check(run, args, pivots->lane[i], pivots->unset >> i & 1, run_arg(run, args, 3), run_arg(run, args, 4),
		      system < 0 ? system : system + i*stride);
	return *pivots;
}

/* (plan, pivots, at, row, begin, rows): lanes that have this row. */
static struct run_value call_check_ragged(struct run *run, const struct run_args *args)
{
	const struct run_value *pivots = &args->value[1];
	const int64_t row = run_arg(run, args, 3);

	for (int i = 0; i < pivots->lanes && !run->has_stopped; i++)
		if (run_number_at(run, &args->value[5], i) > row)
			check(run, args, pivots->lane[i], pivots->unset >> i & 1, run_arg(run, args, 2),
			      run_number_at(run, &args->value[4], i) + row, -1);
	return *pivots;
}

#define NOT_FINITE (INT64_C(1) << 62)

/* (first, pivot, at) */
static struct run_value call_first_bad(struct run *run, const struct run_args *args)
{
	const double pivot = run_real(&args->value[1]);
	const int64_t first = run_arg(run, args, 0), here = run_arg(run, args, 2) + (pivot == 0 ? 0 : NOT_FINITE);

	return run_int(!(fabs(pivot) > pivot - pivot) && here < first ? here : first);
}

static struct run_value call_pivot_at(struct run *run, const struct run_args *args)
{
	return run_of_element(TYPE_F64, run_arg(run, args, 0) >= NOT_FINITE ? (double) NAN : 0.0, 0);
}

const struct run_call run_vector_calls[] = {
	RUN_CALL("PMG_SHARES", call_n_vectors, 0), RUN_CALL("PMG_SHARE_START", call_start, 0),
	RUN_CALL("PMG_LANES", call_lanes, 0), RUN_CALL("PMG_VECTORS", call_n_vectors, 0),
	RUN_CALL("PMG_VECTOR_START", call_start, 0), RUN_CALL_OF_CELL("PMG_READ_", call_read, 0),
	RUN_CALL_OF_CELL("PMG_WRITE_", call_write, 0), RUN_CALL_OF_CELL("PMG_STREAM_", call_stream, 0),
	RUN_CALL_OF_CELL("PMG_READ_F64_AS_F32", call_read_kept, AS_F32),
	RUN_CALL_OF_CELL("PMG_READ_F64_AS_TOP", call_read_kept, AS_TOP),
	RUN_CALL_OF_CELL("PMG_READ_F64_TO_F32", call_read_kept, AS_F64 | TO_F32),
	RUN_CALL_OF_CELL("PMG_READ_F64_AS_F32_TO_F32", call_read_kept, AS_F32 | TO_F32),
	RUN_CALL_OF_CELL("PMG_READ_F64_AS_TOP_TO_F32", call_read_kept, AS_TOP | TO_F32),
	RUN_CALL_OF_CELL("PMG_WRITE_F64_TO_F32", call_write_wide, 0), RUN_CALL("PMG_WIDEN", call_widen, 0),
	RUN_CALL("pmg_f64_of_top", call_top, 0), RUN_CALL("PMG_FILL_", call_fill, 0),
	RUN_CALL("PMG_SUM_", call_sum, 0), RUN_CALL("PMG_SUM_DOTS_", call_sum_dots, 0),
	RUN_CALL("PMG_ONCE_", call_once, 0), RUN_CALL("PMG_RECIPROCAL_", call_reciprocal, 0),
	RUN_CALL("PMG_WHERE_", call_where, 0), RUN_CALL("PMG_HAS_ROWS_", call_has_rows, 0),
	RUN_CALL("PMG_CHOOSE_", call_choose, 0), RUN_CALL("PMG_ADD_LANE_", call_one_lane, ADD_LANE),
	RUN_CALL("PMG_SET_LANE_", call_one_lane, SET_LANE), RUN_CALL("pmg_block_lane_masks", call_lane_masks, 0),
	RUN_CALL("pmg_has_lane", call_has_lane, 0), RUN_CALL("pmg_check_pivot", call_check_pivot, 0),
	RUN_CALL("PMG_CHECK_PIVOTS_", call_check_pivots, 0), RUN_CALL("PMG_CHECK_RAGGED_", call_check_ragged, 0),
	RUN_CALL("pmg_first_bad", call_first_bad, 0), RUN_CALL("pmg_pivot_at", call_pivot_at, 0),
	RUN_CALLS_END
};
