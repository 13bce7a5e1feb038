/* SPDX-License-Identifier: MIT
 *
 * One execution: check and bind what is not fixed, run the kernel, report, hand back what was computed in
 * scratch. Until the kernel starts nothing of the caller is written. After it, `inout` goes back whatever
 * happened (the kernel leaves it as after the last whole iteration, unless a pivot was bad), `out` only if it is
 * defined. */
#include "plan/plan.h"

#ifdef _OPENMP
#include <omp.h>
#endif

/* ---- Before the kernel ---- */

static pmg_status params_compare(const struct plan *plan, const void *args)
{
	for (int32_t i = 0; i < plan->desc->n_params; i++) {
		const pmg_param_desc *param = &plan->desc->params[i];
		int64_t value;

		if (param->type != PMG_I64)
			continue;
		value = param_integer(param, args);
		if (value != plan->params[i])
			return pmg_fail(plan->context, PMG_BAD_CALL,
					"parameter '%s' is %lld, but the plan was made for %lld (%s)",
					param->name,
					(long long) value, (long long) plan->params[i], param->place);
	}
	return PMG_OK;
}

static pmg_status arguments_check(const struct plan *plan, const void *args)
{
	const pmg_pipeline_desc *desc = plan->desc;
	pmg_status status = PMG_OK;

	for (int32_t i = 0; i < desc->n_arrays && status == PMG_OK; i++)
		if (!array_is_internal(&desc->arrays[i]) && !desc->arrays[i].is_fixed)
			status = argument_check(plan->context, desc, i, args, plan->extents);
	return status;
}

/* Does each argument lie where it lay in the last execution? Then all that can be said of it without its elements has
 * been said. States that change places with their next values are placed anew. */
static bool is_bound(const struct plan *plan, const void *args)
{
	const pmg_pipeline_desc *desc = plan->desc;
	bool is = plan->is_bound && !desc->has_loop && !desc->device;

	for (int32_t i = 0; i < desc->n_arrays && is; i++)
		is = array_is_internal(&desc->arrays[i]) || desc->arrays[i].is_fixed ||
		     buffers_are_equal(array_argument(&desc->arrays[i], args), &plan->bindings[i].buffer);
	return is;
}

static bool are_at_rest(const struct plan *plan)
{
	bool are = true;

	for (int32_t i = 0; i < plan->desc->n_arrays && are; i++) {
		const pmg_array_desc *array = &plan->desc->arrays[i];

		are = array_is_internal(array) || array->is_fixed ||
		      (plan->bindings[i].is_borrowed && (array->role == PMG_OUT || !values_are_checked(plan, i)));
	}
	return are;
}

static pmg_status arguments_bind(struct plan *plan, const void *args)
{
	pmg_status status = arguments_check(plan, args);

	plan->is_bound = false;
	if (status == PMG_OK)
		status = arrays_place(plan, args, false);
	if (status == PMG_OK)
		status = aliasing_check(plan);
	plan->is_bound = status == PMG_OK;
	plan->is_at_rest = plan->is_bound && are_at_rest(plan);
	return status;
}

static pmg_status execution_bind(struct plan *plan, const void *args, bool resume)
{
	pmg_status status = params_compare(plan, args);

	if (status == PMG_OK && resume && !plan->progress.has_state)
		status = pmg_fail(plan->context, PMG_BAD_CALL, "pipeline '%s' has no stopped run to resume",
				  plan->desc->name);
	if (status == PMG_OK && !is_bound(plan, args))
		status = arguments_bind(plan, args);
	if (status == PMG_OK && !plan->is_at_rest)
		status = arrays_inspect(plan, false, resume);
	return status;
}

/* ---- The kernel ---- */

/* OpenMP's default number of threads belongs to the calling thread and is given back. */
static pmg_status kernel_call(struct plan *plan, const void *args, pmg_control *control)
{
	const pmg_device_part *device = plan->desc->device;
	pmg_status status;
#ifdef _OPENMP
	const int before = omp_get_max_threads();

	omp_set_num_threads(plan->kernel.threads);
#endif
	blas_enter(plan->desc->blas);
	status = device ? device->begin(&plan->kernel, control) : PMG_OK;
	if (status == PMG_OK) {
		status = plan->run(&plan->kernel, args, control);
		status = device ? device->end(&plan->kernel, status) : status;
		nontemporal_stores_end();
	}
	blas_leave(plan->desc->blas);
#ifdef _OPENMP
	omp_set_num_threads(before);
#endif
	return status;
}

static pmg_status kernel_report(struct plan *plan, pmg_status status)
{
	if (pmg_failed(&plan->kernel))
		return fault_report(plan);
	if (plan->has_message)
		return status;
	if (plan->progress.is_elsewhere)
		return pmg_fail(plan->context, PMG_BAD_DATA,
				"the loop of pipeline '%s' begins at %lld, but its state is of a loop from %lld on",
				plan->desc->name, (long long) plan->progress.begin, (long long) plan->progress.first);
	if (status != PMG_OK)
		return pmg_fail(plan->context, status, "the kernel of pipeline '%s' failed with status %d",
				plan->desc->name, (int) status);
	if (plan->progress.is_cancelled)
		return pmg_fail(plan->context, PMG_CANCELLED,
				"pipeline '%s' was cancelled after %lld iterations",
				plan->desc->name, (long long) (plan->progress.next - plan->progress.first));
	return PMG_OK;
}

static pmg_status kernel_run(struct plan *plan, const void *args, pmg_control *control, bool resume)
{
	pmg_status status;

	fault_forget(plan);
	plan->args = args;
	plan->has_message = false;
	plan->progress.has_state = resume;
	plan->progress.is_cancelled = false;
	plan->progress.is_finished = plan->progress.is_elsewhere = false;
	status = kernel_call(plan, args, control);
	states_settle(plan);
	if (status == PMG_OK)
		results_look(plan, PMG_AT_END);
	status = kernel_report(plan, status);
	if (control && !plan->desc->has_loop)
		control->finished = status == PMG_OK;
	return status;
}

/* ---- After it ---- */

static void outputs_return(struct plan *plan, pmg_status status)
{
	const bool is_defined = status == PMG_OK || status == PMG_CANCELLED;

	for (int32_t i = 0; i < plan->desc->n_arrays; i++) {
		const pmg_array_desc *array = &plan->desc->arrays[i];
		const struct binding *binding = &plan->bindings[i];
		pmg_buffer own;

		if (array_is_internal(array) || !array_is_written(array) || binding->is_borrowed)
			continue;
		if (array->role == PMG_OUT && !is_defined)
			continue;
		own = array_dense(array, plan->extents, binding->own);
		argument_copy(plan, i, &binding->buffer, &own);
	}
}

pmg_status pmg_plan_execute(pmg_plan *handle, const void *args, pmg_control *control)
{
	struct plan *plan = plan_of(handle);
	const bool resume = control && control->resume;
	pmg_status status;

	if (!plan)
		return PMG_BAD_CALL;
	if (!args)
		return pmg_fail(plan->context, PMG_BAD_CALL, "an execution needs args, not NULL");
	if (control) {
		control->done = resume ? plan->progress.next - plan->progress.first : 0;
		control->finished = false;
	}
	status = execution_bind(plan, args, resume);
	if (status != PMG_OK)
		return status;
	status = kernel_run(plan, args, control, resume);
	if (!plan->is_at_rest)
		outputs_return(plan, status);
	return status;
}
