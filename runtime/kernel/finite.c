/* SPDX-License-Identifier: MIT
 *
 * Results that are not finite, with options.check_finite: behind each iteration of a loop, what goes on to the
 * next one (states, `inout`); when the kernel has returned, all that it has written. The first one in the order of
 * the arrays ends the execution. What is on a device is copied to the host to be looked at (pmgrt_cuda_plan.h). */
#include "plan/plan.h"

static bool is_float(const pmg_array_desc *array)
{
	return array->type == PMG_F32 || array->type == PMG_F64;
}

static bool is_checked(const struct plan *plan)
{
	return plan->check_finite && !plan->is_tried && !pmg_failed(&plan->kernel);
}

/* Before the loop nothing has been computed; what an `out` array holds before its end may not have been written. */
static bool is_there(const struct plan *plan, const pmg_array_desc *array, int64_t it)
{
	if (array->role == PMG_STATE || array->role == PMG_INOUT)
		return it == PMG_AT_END || it > plan->progress.begin;
	return it == PMG_AT_END && array->role == PMG_OUT && (!plan->desc->has_loop || plan->progress.is_finished);
}

bool pmg_looks_at(const pmg_plan *handle, int32_t array, int64_t it)
{
	const struct plan *plan = plan_of_const(handle);

	return is_checked(plan) && is_float(&plan->desc->arrays[array]) &&
	       is_there(plan, &plan->desc->arrays[array], it);
}

void pmg_look_at(pmg_plan *handle, int32_t array, const void *values, int64_t it)
{
	struct plan *plan = plan_of(handle);
	struct fault result = { .array = array, .is_last = it == PMG_AT_END };

	if (!result.is_last)
		result.iteration = it - 1;
	if (!values_are_finite(plan, array, values, &result.position, &result.pivot))
		fault_result(plan, result);
}

void results_look(struct plan *plan, int64_t it)
{
	for (int32_t i = 0; i < plan->desc->n_arrays && !plan->desc->device; i++)
		if (pmg_looks_at(&plan->kernel, i, it))
			pmg_look_at(&plan->kernel, i, plan->kernel.data[i], it);
}
