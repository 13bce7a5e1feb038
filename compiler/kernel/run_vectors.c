/* SPDX-License-Identifier: MIT
 *
 * Vectors of a running kernel program: the macros of the runtime, with lanes as many as the host says. A cell is where
 * a vector begins in memory. */
#include "kernel/run_private.h"

#include <math.h>
#include <string.h>

static int vector_of(int element)
{
	return element == TYPE_F32 ? RUN_VECTOR_F32 : RUN_VECTOR_F64;
}

static int64_t lanes_of_type(struct run *run, const struct k_expr *call)
{
	const struct run_value type = run_arg(run, call, 0);

	return run_lanes(run, type.element);
}

/* ---- numbers of lanes ---- */

static struct run_value call_lanes(struct run *run, const struct k_expr *call, int element, int code)
{
	(void) element, (void) code;
	return run_int(lanes_of_type(run, call));
}

static struct run_value call_n_vectors(struct run *run, const struct k_expr *call, int element, int code)
{
	const int64_t lanes = lanes_of_type(run, call);

	(void) element, (void) code;
	return run_int((run_arg_int(run, call, 1) + lanes - 1)/lanes);
}

static int64_t start_of(int64_t lanes, int64_t n, int64_t vector)
{
	return vector*lanes <= n - lanes ? vector*lanes : n - lanes;
}

static struct run_value call_start(struct run *run, const struct k_expr *call, int element, int code)
{
	(void) element, (void) code;
	return run_int(start_of(lanes_of_type(run, call), run_arg_int(run, call, 1), run_arg_int(run, call, 2)));
}

/* ---- memory ---- */

static struct run_value cell(struct run *run, const struct k_expr *call, int i, int element)
{
	struct run_value at = i < call->args.n ? run_address(run, call->args.items[i]) : run_int(0);

	if (at.kind == RUN_ADDRESS)
		at.element = element;
	else
		run_fault(run, "%s: this is no memory", call->text);
	return at;
}

static struct run_value call_read(struct run *run, const struct k_expr *call, int element, int code)
{
	const struct run_value at = cell(run, call, 0, vector_of(element));

	(void) code;
	return run->has_stopped ? run_filled(run, vector_of(element), run_int(0)) : run_load(run, &at, RUN_READ);
}

/* A target: where the vector goes. */
static struct run_value call_write(struct run *run, const struct k_expr *call, int element, int code)
{
	(void) code;
	return cell(run, call, 0, vector_of(element));
}

static struct run_value call_stream(struct run *run, const struct k_expr *call, int element, int code)
{
	const struct run_value at = cell(run, call, 0, vector_of(element)), value = run_arg(run, call, 1);

	(void) code;
	if (!run->has_stopped)
		run_store(run, &at, value, false);
	return value;
}

static struct run_value call_write_wide(struct run *run, const struct k_expr *call, int element, int code)
{
	(void) element, (void) code;
	return cell(run, call, 0, RUN_VECTOR_WIDE);
}

static struct run_value call_widen(struct run *run, const struct k_expr *call, int element, int code)
{
	(void) element, (void) code;
	return run_converted(run, run_arg(run, call, 0), RUN_VECTOR_WIDE);
}

/* Values that are kept in 32 bits: as floats, or as the upper half of doubles. */
enum { AS_F32, AS_TOP };

static double kept_value(struct run *run, struct run_value at, int code, bool *is_unset)
{
	struct run_value value;
	uint64_t bits;
	double real;

	at.element = code == AS_TOP ? TYPE_U32 : TYPE_F32;
	value = run_load(run, &at, RUN_READ);
	*is_unset = value.is_unset;
	if (code == AS_F32)
		return run_real(&value);
	bits = (uint64_t) value.integer << 32;
	memcpy(&real, &bits, sizeof real);
	return real;
}

static struct run_value read_kept(struct run *run, const struct k_expr *call, int element, int code)
{
	struct run_value vector = run_filled(run, vector_of(element), run_int(0)), at = cell(run, call, 0, TYPE_F32);
	bool is_unset = false;

	for (int i = 0; i < vector.lanes && !run->has_stopped; i++) {
		vector.lane[i] = kept_value(run, run_at(run, at, i), code, &is_unset);
		vector.unset |= (uint32_t) is_unset << i;
	}
	return run_converted(run, vector, vector_of(element));
}

static struct run_value call_read_kept(struct run *run, const struct k_expr *call, int element, int code)
{
	(void) element;
	return read_kept(run, call, TYPE_F64, code);
}

static struct run_value call_read_kept_f32(struct run *run, const struct k_expr *call, int element, int code)
{
	(void) element;
	return read_kept(run, call, TYPE_F32, code);
}

static struct run_value call_top(struct run *run, const struct k_expr *call, int element, int code)
{
	const struct run_value top = run_arg(run, call, 0);
	const uint64_t bits = (uint64_t) top.integer << 32;
	double real;
	struct run_value value;

	(void) element, (void) code;
	memcpy(&real, &bits, sizeof real);
	value = run_of_element(TYPE_F64, real, 0);
	value.is_unset = top.is_unset;
	return value;
}

/* As many doubles as a vector has floats, read as these. */
static struct run_value call_read_narrow(struct run *run, const struct k_expr *call, int element, int code)
{
	struct run_value vector = run_filled(run, RUN_VECTOR_F32, run_int(0)), at = cell(run, call, 0, TYPE_F64);

	(void) element, (void) code;
	for (int i = 0; i < vector.lanes && !run->has_stopped; i++) {
		const struct run_value at_lane = run_at(run, at, i), lane = run_load(run, &at_lane, RUN_READ);

		vector.lane[i] = lane.real;
		vector.unset |= (uint32_t) lane.is_unset << i;
	}
	return run_converted(run, vector, RUN_VECTOR_F32);
}

/* ---- lanes ---- */

static struct run_value call_fill(struct run *run, const struct k_expr *call, int element, int code)
{
	(void) code;
	return run_filled(run, vector_of(element), run_arg(run, call, 0));
}

static double folded(const struct run_value *vector, int n)
{
	double lane[RUN_MOST_LANES];
	const bool is_single = vector->element == RUN_VECTOR_F32;

	memcpy(lane, vector->lane, sizeof lane);
	for (n /= 2; n >= 1; n /= 2)
		for (int i = 0; i < n; i++)
			lane[i] = is_single ? (double) (float) (lane[i] + lane[i + n]) : lane[i] + lane[i + n];
	return lane[0];
}

static struct run_value sum_of_lanes(const struct run_value *vector)
{
	const int element = vector->element == RUN_VECTOR_F32 ? TYPE_F32 : TYPE_F64;
	struct run_value value = run_of_element(element, folded(vector, vector->lanes), 0);

	value.is_unset = vector->unset;
	return value;
}

static struct run_value vector_at(struct run *run, struct run_value at, int64_t i)
{
	at = run_at(run, at, i);
	return run_load(run, &at, RUN_READ);
}

/* The sum of the lanes of two vectors. */
static struct run_value call_sum(struct run *run, const struct k_expr *call, int element, int code)
{
	struct run_value at = run_arg(run, call, 0), both;

	(void) code;
	if (at.kind != RUN_ADDRESS)
		run_fault(run, "%s: two vectors are expected", call->text);
	at.element = vector_of(element);
	if (run->has_stopped)
		return run_of_element(element, 0, 0);
	both = run_binary(run, K_ADD, vector_at(run, at, 0), vector_at(run, at, 1));
	return sum_of_lanes(&both);
}

/* dots[i] is the sum of the lanes of sums[i], for four of them. */
static struct run_value call_sum_dots(struct run *run, const struct k_expr *call, int element, int code)
{
	struct run_value dots = run_arg(run, call, 0), sums = run_arg(run, call, 1);

	(void) code;
	dots.element = element;
	sums.element = vector_of(element);
	for (int i = 0; i < 4 && !run->has_stopped; i++) {
		const struct run_value vector = vector_at(run, sums, i), at = run_at(run, dots, i);

		if (!run->has_stopped)
			run_store(run, &at, sum_of_lanes(&vector), false);
	}
	return dots;
}

/* Zero in lanes whose cells the vector before has. */
static struct run_value call_once(struct run *run, const struct k_expr *call, int element, int code)
{
	const int64_t n = run_arg_int(run, call, 0), vector = run_arg_int(run, call, 1);
	struct run_value value = run_converted(run, run_arg(run, call, 2), vector_of(element));

	(void) code;
	for (int i = 0; i < value.lanes; i++)
		if (i < vector*value.lanes - start_of(value.lanes, n, vector))
			value.lane[i] = 0;
	return value;
}

static struct run_value call_reciprocal(struct run *run, const struct k_expr *call, int element, int code)
{
	(void) code;
	return run_binary(run, K_DIV, run_filled(run, vector_of(element), run_int(1)), run_arg(run, call, 0));
}

/* ---- masks ---- */

static struct run_value mask_of(const struct run *run, int element, uint64_t bits)
{
	struct run_value mask = { .kind = RUN_MASK, .element = vector_of(element) };

	mask.lanes = run_lanes(run, mask.element);
	mask.integer = (int64_t) (bits & ((UINT64_C(1) << mask.lanes) - 1));
	return mask;
}

static struct run_value call_where(struct run *run, const struct k_expr *call, int element, int code)
{
	const int64_t bits = run_arg_int(run, call, 0), lane = run_arg_int(run, call, 1);

	(void) code;
	return mask_of(run, element, (uint64_t) bits >> (lane & 63));
}

static struct run_value call_has_rows(struct run *run, const struct k_expr *call, int element, int code)
{
	struct run_value rows = run_arg(run, call, 0), mask = mask_of(run, element, 0);
	const int64_t lane = run_arg_int(run, call, 1), n = run_arg_int(run, call, 2);

	(void) code;
	for (int i = 0; i < mask.lanes && !run->has_stopped; i++) {
		const struct run_value at = run_at(run, rows, lane + i), length = run_load(run, &at, RUN_READ);

		mask.integer |= (int64_t) (run_integer(run, &length) >= n) << i;
	}
	return mask;
}

static struct run_value picked(const struct run_value *where, struct run_value value, const struct run_value *other)
{
	for (int i = 0; i < value.lanes; i++)
		if (!(where->integer >> i & 1)) {
			value.lane[i] = other->lane[i];
			value.unset = (value.unset & ~(UINT32_C(1) << i)) | (other->unset & UINT32_C(1) << i);
		}
	return value;
}

static struct run_value call_choose(struct run *run, const struct k_expr *call, int element, int code)
{
	const struct run_value where = run_arg(run, call, 0), other = run_arg(run, call, 2);

	(void) code;
	if (where.is_unset || where.kind != RUN_MASK)
		run_fault(run, "lanes are chosen by values that were never written");
	return picked(&where, run_converted(run, run_arg(run, call, 1), vector_of(element)), &other);
}

enum { ADD_LANE, SET_LANE };

/* (vectors, n, lane, is_there, value) */
static struct run_value call_one_lane(struct run *run, const struct k_expr *call, int element, int code)
{
	struct run_value vectors = run_arg(run, call, 0), value = run_arg(run, call, 4);
	const struct run_value is_there = run_arg(run, call, 3);
	const int64_t n = run_arg_int(run, call, 1), lane = run_arg_int(run, call, 2);

	if (vectors.kind != RUN_ADDRESS || !run_truth(run, &is_there) || run->has_stopped)
		return value;
	if (lane < 0 || lane >= n)
		run_fault(run, "%s: lane %lld of %lld", call->text, (long long) lane, (long long) n);
	vectors.element = element;
	vectors = run_at(run, vectors, lane);
	if (code == ADD_LANE)
		value = run_binary(run, K_ADD, run_load(run, &vectors, RUN_READ), value);
	if (!run->has_stopped)
		run_store(run, &vectors, value, false);
	return value;
}

static struct run_value call_kin(struct run *run, const struct k_expr *call, int element, int code)
{
	struct run_value rows = run_arg(run, call, 0), at = run_at(run, rows, run_arg_int(run, call, 1));
	const struct run_value first = run->has_stopped ? run_int(0) : run_load(run, &at, RUN_READ);

	(void) element, (void) code;
	rows = run_at(run, rows, run_integer(run, &first));
	rows.element = RUN_KIN;
	return rows;
}

static struct run_value call_has_lane(struct run *run, const struct k_expr *call, int element, int code)
{
	(void) element, (void) code;
	return run_of_element(TYPE_BOOL, 0, run_arg_int(run, call, 0) >> (run_arg_int(run, call, 1) & 63) & 1);
}

/* ---- pivots: of each lane that exists the host is told if it is bad ---- */

static bool is_bad(double pivot)
{
	return !(fabs(pivot) > pivot - pivot);
}

static void tell_bad(struct run *run, double pivot, int64_t at, int64_t row, int64_t system)
{
	const struct k_run_number args[] = {
		{ 0 }, { .integer = at }, { .integer = row }, { .integer = system }, { .is_float = true, .real = pivot }
	};
	struct k_run_number result;

	if (!run->host->call(run->host->user, "pmg_bad_pivot", args, 5, &result))
		run_unknown(run, "pmg_bad_pivot");
}

/* (plan, pivot, at, row, system) */
static struct run_value call_check_pivot(struct run *run, const struct k_expr *call, int element, int code)
{
	const struct run_value pivot = run_arg(run, call, 1);

	(void) element, (void) code;
	if (pivot.is_unset)
		run_fault(run, "%s: of a value that was never written", call->text);
	if (!run->has_stopped && is_bad(run_real(&pivot)))
		tell_bad(run, run_real(&pivot), run_arg_int(run, call, 2), run_arg_int(run, call, 3),
			 run_arg_int(run, call, 4));
	return pivot;
}

/* (plan, pivots, n, at, row, system, stride) */
static struct run_value call_check_pivots(struct run *run, const struct k_expr *call, int element, int code)
{
	const struct run_value pivots = run_arg(run, call, 1);
	const int64_t n = run_arg_int(run, call, 2), at = run_arg_int(run, call, 3), row = run_arg_int(run, call, 4);
	const int64_t system = run_arg_int(run, call, 5), stride = run_arg_int(run, call, 6);

	(void) element, (void) code;
	for (int i = 0; i < pivots.lanes && i < n && !run->has_stopped; i++) {
		if (pivots.unset >> i & 1)
			run_fault(run, "%s: of a value that was never written", call->text);
		if (is_bad(pivots.lane[i]))
			tell_bad(run, pivots.lane[i], at, row, system < 0 ? system : system + i*stride);
	}
	return pivots;
}

/* (plan, pivots, at, row, begin, rows): lanes that have this row. */
static struct run_value call_check_ragged(struct run *run, const struct k_expr *call, int element, int code)
{
	const struct run_value pivots = run_arg(run, call, 1), begin = run_arg(run, call, 4), rows = run_arg(run, call, 5);
	const int64_t at = run_arg_int(run, call, 2), row = run_arg_int(run, call, 3);

	(void) element, (void) code;
	for (int i = 0; i < pivots.lanes && !run->has_stopped; i++) {
		const struct run_value at_rows = run_at(run, rows, i), at_begin = run_at(run, begin, i);
		const struct run_value length = run_load(run, &at_rows, RUN_READ);
		const struct run_value first = run_load(run, &at_begin, RUN_READ);

		if (length.integer > row && is_bad(pivots.lane[i]))
			tell_bad(run, pivots.lane[i], at, first.integer + row, -1);
	}
	return pivots;
}

enum { FIRST_BAD, PIVOT_AT };

static struct run_value call_first_bad(struct run *run, const struct k_expr *call, int element, int code)
{
	const int64_t limit = INT64_C(1) << 62, first = run_arg_int(run, call, 0);
	struct run_value pivot;
	int64_t here;

	(void) element;
	if (code == PIVOT_AT)
		return run_of_element(TYPE_F64, first >= limit ? (double) NAN : 0.0, 0);
	pivot = run_arg(run, call, 1);
	here = run_arg_int(run, call, 2) + (run_real(&pivot) == 0 ? 0 : limit);
	return run_int(is_bad(run_real(&pivot)) && here < first ? here : first);
}

const struct run_call run_vector_calls[] = {
	{ "PMG_LANES", call_lanes, 0 }, { "PMG_VECTORS", call_n_vectors, 0 }, { "PMG_VECTOR_START", call_start, 0 },
	{ "PMG_READ_", call_read, 0 }, { "PMG_WRITE_", call_write, 0 }, { "PMG_STREAM_", call_stream, 0 },
	{ "PMG_READ_F64_AS_F32", call_read_kept, AS_F32 }, { "PMG_READ_F64_AS_TOP", call_read_kept, AS_TOP },
	{ "PMG_READ_F64_TO_F32", call_read_narrow, 0 }, { "PMG_READ_F64_AS_F32_TO_F32", call_read_kept_f32, AS_F32 },
	{ "PMG_READ_F64_AS_TOP_TO_F32", call_read_kept_f32, AS_TOP }, { "pmg_f64_of_top", call_top, 0 },
	{ "PMG_WRITE_F64_TO_F32", call_write_wide, 0 }, { "PMG_WIDEN", call_widen, 0 }, { "PMG_FILL_", call_fill, 0 }, { "PMG_SUM_", call_sum, 0 }, { "PMG_SUM_DOTS_", call_sum_dots, 0 },
	{ "PMG_ONCE_", call_once, 0 }, { "PMG_RECIPROCAL_", call_reciprocal, 0 },
	{ "PMG_WHERE_", call_where, 0 }, { "PMG_HAS_ROWS_", call_has_rows, 0 }, { "PMG_CHOOSE_", call_choose, 0 },
	{ "PMG_ADD_LANE_", call_one_lane, ADD_LANE }, { "PMG_SET_LANE_", call_one_lane, SET_LANE },
	{ "pmg_block_kin", call_kin, 0 }, { "pmg_has_lane", call_has_lane, 0 },
	{ "pmg_check_pivot", call_check_pivot, 0 }, { "PMG_CHECK_PIVOTS_", call_check_pivots, 0 },
	{ "PMG_CHECK_RAGGED_", call_check_ragged, 0 }, { "pmg_first_bad", call_first_bad, FIRST_BAD },
	{ "pmg_pivot_at", call_first_bad, PIVOT_AT },
	{ NULL, NULL, 0 }
};
