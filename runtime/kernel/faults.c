/* SPDX-License-Identifier: MIT
 *
 * What a kernel finds that ends the execution: a computed index out of range, a pivot of an elimination that is
 * zero or not finite; and results that are not finite, where that is asked for (finite.c). The first one wins,
 * from any thread; it is reported when the kernel has returned.
 *
 * A pivot that is not finite is a value like others where some float that the caller gave is not finite either. That is
 * looked up when there is such a pivot, once for an execution, and only of `in` arrays: what the kernel writes may have
 * been written already. Where there are others, or an array is only on a device, it counts as not finite. */
#include "plan/plan.h"
#include "words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the arguments ---- */

enum { NOT_KNOWN, LOOKING, FINITE, NOT_FINITE };

static bool scalars_are_finite(const struct plan *plan)
{
	bool are = true;

	for (int32_t i = 0; i < plan->desc->n_params && are; i++) {
		const pmg_param_desc *param = &plan->desc->params[i];
		const char *at = (const char *) plan->args + param->offset;
		double wide = 0;
		float single = 0;

		if (param->type == PMG_F64)
			memcpy(&wide, at, sizeof wide);
		if (param->type == PMG_F32)
			memcpy(&single, at, sizeof single);
		are = isfinite(wide) && isfinite(single);
	}
	return are;
}

static bool arrays_are_finite(struct plan *plan)
{
	bool are = true;

	for (int32_t i = 0; i < plan->desc->n_arrays && are; i++) {
		const pmg_array_desc *array = &plan->desc->arrays[i];
		const bool is_float = array->type == PMG_F32 || array->type == PMG_F64;

		if (is_float && (array->role == PMG_INOUT || array->role == PMG_STATE))
			are = false;
		else if (is_float && array->role == PMG_IN && plan->kernel.data[i])
			are = pmg_is_finite(&plan->kernel, i);
	}
	return are;
}

/* One thread looks, the others wait. */
static bool arguments_are_finite(struct plan *plan)
{
	int are = NOT_KNOWN;

	if (__atomic_compare_exchange_n(&plan->arguments_are, &are, LOOKING, false, __ATOMIC_ACQUIRE,
					__ATOMIC_ACQUIRE)) {
		are = scalars_are_finite(plan) && arrays_are_finite(plan) ? FINITE : NOT_FINITE;
		__atomic_store_n(&plan->arguments_are, are, __ATOMIC_RELEASE);
	}
	do
		are = __atomic_load_n(&plan->arguments_are, __ATOMIC_ACQUIRE);
	while (are == LOOKING);
	return are == FINITE;
}

/* ---- in kernels ---- */

/* The value, for the thread that is to describe it; NULL: another one has. */
static struct fault *bad_claim(struct plan *plan)
{
	return __atomic_exchange_n(&plan->bad.is_claimed, 1, __ATOMIC_RELAXED) == 0 ? &plan->bad : NULL;
}

void pmg_bad_index(pmg_plan *handle, int32_t array, int64_t position, int64_t value)
{
	struct fault *bad = bad_claim(plan_of(handle));

	if (!bad)
		return;
	bad->elimination = BAD_INDEX;
	bad->array = array;
	bad->position = position;
	bad->value = value;
}

void pmg_bad_pivot(pmg_plan *handle, int32_t elimination, int64_t row, int64_t system, double pivot)
{
	struct plan *plan = plan_of(handle);
	struct fault *bad = NULL;

	if (!pmg_failed(handle) && (pivot == 0 || arguments_are_finite(plan)))
		bad = bad_claim(plan);
	if (!bad)
		return;
	bad->elimination = elimination;
	bad->row = row;
	bad->system = system;
	bad->pivot = pivot;
}

static double pivot_at(const struct plan *plan, int32_t elimination, const void *pivots, int64_t i)
{
	return plan->desc->pivots[elimination].type == PMG_F32 ? (double) ((const float *) pivots)[i]
							 : ((const double *) pivots)[i];
}

static bool is_bad(double pivot)
{
	return pivot == 0 || !isfinite(pivot);
}

void pmg_bad_pivots(pmg_plan *handle, const void *pivots, int64_t n, int32_t elimination, int64_t row,
		    int64_t system, int64_t stride)
{
	for (int64_t i = 0; i < n; i++) {
		const double pivot = pivot_at(plan_of_const(handle), elimination, pivots, i);

		if (is_bad(pivot))
			pmg_bad_pivot(handle, elimination, row, system + i * stride, pivot);
	}
}

void pmg_bad_ragged_pivots(pmg_plan *handle, const void *pivots, int64_t n, int32_t elimination, int64_t row,
			   const int64_t *begin, const int64_t *rows)
{
	for (int64_t i = 0; i < n && rows[i] > row; i++) {
		const double pivot = pivot_at(plan_of_const(handle), elimination, pivots, i);

		if (is_bad(pivot))
			pmg_bad_pivot(handle, elimination, begin[i] + row, -1, pivot);
	}
}

void fault_result(struct plan *plan, struct fault result)
{
	struct fault *bad = bad_claim(plan);

	if (!bad)
		return;
	result.is_claimed = 1;
	result.elimination = BAD_RESULT;
	*bad = result;
}

bool pmg_failed(const pmg_plan *handle)
{
	return __atomic_load_n(&plan_of_const(handle)->bad.is_claimed, __ATOMIC_RELAXED) != 0;
}

/* ---- the report ---- */

/* The system of a row that is counted through all of them, which becomes the row of the system. Index arrays of the
 * caller are on the host. */
static void find_system(const struct plan *plan, int32_t segments, struct fault *bad)
{
	const int64_t *offsets = plan->kernel.data[segments];
	int64_t low = 0, high = plan->extents[plan->desc->arrays[segments].first_extent] - 1;

	while (high - low > 1) {
		const int64_t middle = low + (high - low) / 2;

		if (offsets[middle] <= bad->row)
			low = middle;
		else
			high = middle;
	}
	bad->system = low;
	bad->row -= offsets[low];
}

/* "row 5 of system 3", in `text`. */
static const char *row_text(const struct fault *bad, char *text, size_t size)
{
	if (bad->system < 0)
		snprintf(text, size, "row %lld", (long long) bad->row);
	else
		snprintf(text, size, "row %lld of system %lld", (long long) bad->row, (long long) bad->system);
	return text;
}

static pmg_status pivot_fail(const struct plan *plan, struct fault bad)
{
	const pmg_pivot_desc *pivots = &plan->desc->pivots[bad.elimination];
	char text[64];

	if (pivots->segments >= 0)
		find_system(plan, pivots->segments, &bad);
	return pmg_fail(plan->context, PMG_NUMERICAL,
			"the pivot of '%s' in %s is %s (%s); " WORDS_OF_PIVOTS,
			pivots->name, row_text(&bad, text, sizeof text),
			bad.pivot == 0 ? "zero" : "not finite", pivots->place);
}

static pmg_status result_fail(const struct plan *plan, const struct fault *bad)
{
	char when[64] = "";

	if (!bad->is_last)
		snprintf(when, sizeof when, " after iteration %lld", (long long) bad->iteration);
	return finite_fail(plan, PMG_NUMERICAL, bad->array, bad->position, bad->pivot, when);
}

void fault_forget(struct plan *plan)
{
	plan->bad.is_claimed = 0;
	plan->arguments_are = NOT_KNOWN;
}

pmg_status fault_report(struct plan *plan)
{
	const struct fault *bad = &plan->bad;

	if (bad->elimination >= 0) {
		plan->progress.has_state = false;
		return pivot_fail(plan, *bad);
	}
	if (bad->elimination == BAD_RESULT) {
		plan->progress.has_state = false;
		return result_fail(plan, bad);
	}
	return index_fail(plan, PMG_NUMERICAL, bad->array, bad->position, bad->value);
}
