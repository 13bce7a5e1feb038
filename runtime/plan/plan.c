/* SPDX-License-Identifier: MIT
 *
 * Plans: made of one block (the plan and the arrays it indexes) and one allocation for each array that is
 * not the caller's memory as it lies. All of it goes through plan_allocate, which counts and keeps within
 * max_memory, and is released by pmg_plan_destroy, also when a plan fails half-way.
 *
 * Nothing is allocated before the sizes, the fixed arguments and the forecast have been checked. */
#include "plan/plan.h"

#include <string.h>
#include <time.h>

#ifdef _OPENMP
#include <omp.h>
#endif

struct plan *plan_of(pmg_plan *plan)
{
	return (struct plan *) (void *) plan;
}

const struct plan *plan_of_const(const pmg_plan *plan)
{
	return (const struct plan *) (const void *) plan;
}

/* ---- Memory ---- */

pmg_status limit_fail(pmg_context *context, const char *name, int64_t bytes, int64_t max_memory)
{
	return pmg_fail(context, PMG_NO_RESOURCES, "pipeline '%s' needs %lld bytes, but the limit is %lld",
			name, (long long) bytes, (long long) max_memory);
}

static pmg_status memory_fail(pmg_context *context, const char *name, int64_t bytes)
{
	return pmg_fail(context, PMG_NO_RESOURCES, "no memory for %lld bytes of pipeline '%s'",
			(long long) bytes, name);
}

void *plan_allocate(struct plan *plan, int64_t bytes)
{
	void *memory;

	if (plan->max_memory > 0 && bytes > plan->max_memory - plan->bytes) {
		limit_fail(plan->context, plan->desc->name, plan->bytes + bytes, plan->max_memory);
		return NULL;
	}
	memory = context_allocate(plan->context, (size_t) bytes);
	if (!memory)
		memory_fail(plan->context, plan->desc->name, bytes);
	else
		plan->bytes += bytes;
	if (plan->bytes > plan->peak)
		plan->peak = plan->bytes;
	return memory;
}

void plan_release(struct plan *plan, void *memory, int64_t bytes)
{
	if (!memory)
		return;
	context_release(plan->context, memory, (size_t) bytes);
	plan->bytes -= bytes;
}

/* ---- Places of arrays ---- */

static pmg_status own_allocate(struct plan *plan, int32_t number)
{
	struct binding *binding = &plan->bindings[number];
	const int64_t bytes = array_kept_bytes(&plan->desc->arrays[number], plan->extents);

	if (!binding->own) {
		binding->own = plan_allocate(plan, bytes);
		if (!binding->own)
			return PMG_NO_RESOURCES;
		binding->own_bytes = bytes;
		memset(binding->own, 0, (size_t) bytes);
	}
	plan->kernel.data[number] = binding->own;
	return PMG_OK;
}

static void place_in(struct plan *plan, int32_t number, const pmg_buffer *buffer)
{
	(void) parts_find(&plan->desc->arrays[number], buffer, &plan->places[number]);
}

static pmg_status array_place(struct plan *plan, int32_t number, const void *args)
{
	const pmg_array_desc *array = &plan->desc->arrays[number];
	struct binding *binding = &plan->bindings[number];
	pmg_status status;
	pmg_buffer own;

	binding->buffer = *array_argument(array, args);
	binding->is_borrowed = true;
	if (is_in_segments(plan->desc, array, &binding->buffer)) {
		status = argument_segments(plan, number, args);
		if (status != PMG_OK)
			return status;
	}
	if (argument_is_direct(array, &binding->buffer)) {
		plan->kernel.data[number] = binding->buffer.data;
		place_in(plan, number, &binding->buffer);
		return PMG_OK;
	}
	if (argument_is_inspectable(array))
		return PMG_OK;
	binding->is_borrowed = false;
	status = own_allocate(plan, number);
	own = array_kept(array, plan->extents, binding->own);
	place_in(plan, number, &own);
	return status;
}

pmg_status arrays_place(struct plan *plan, const void *args, bool fixed)
{
	pmg_status status = PMG_OK;

	for (int32_t i = 0; i < plan->desc->n_arrays && status == PMG_OK; i++) {
		const pmg_array_desc *array = &plan->desc->arrays[i];

		if (!array_is_internal(array) && array->is_fixed == fixed)
			status = array_place(plan, i, args);
	}
	return status;
}

/* What the plan itself knows to need: internal arrays, and copies of trees that will be rebased. */
static pmg_status internal_allocate(struct plan *plan)
{
	pmg_status status = PMG_OK;

	for (int32_t i = 0; i < plan->desc->n_arrays && status == PMG_OK; i++) {
		const pmg_array_desc *array = &plan->desc->arrays[i];

		if (array->role == PMG_INSPECTED || array_is_of_device(plan->desc, i))
			continue;
		if (array_is_internal(array) || array_is_rebased(array))
			status = own_allocate(plan, i);
	}
	return status;
}

/* ---- Life of a plan ---- */

int32_t threads_of(int32_t threads)
{
	if (threads > 0)
		return threads;
#ifdef _OPENMP
	return omp_get_max_threads();
#else
	return 1;
#endif
}

pmg_status threads_check(pmg_context *context, int32_t threads)
{
	if (threads >= 0 && threads <= PMG_MAX_THREADS)
		return PMG_OK;
	return pmg_fail(context, PMG_BAD_CALL, "threads is %d, but must be 0 to %d", (int) threads, PMG_MAX_THREADS);
}

/* The block of a plan, its arrays carved from what follows the structure in the order of decreasing
 * alignment. */
static struct plan *block_new(const pmg_pipeline_desc *desc, const void *args, const pmg_options *options,
			      const int64_t *extents)
{
	const int64_t bytes = plan_block_bytes(desc);
	struct plan *plan = context_allocate(options->context, (size_t) bytes);

	if (!plan)
		return NULL;
	memset(plan, 0, (size_t) bytes);
	plan->bindings = (struct binding *) (void *) (plan + 1);
	plan->places = (pmg_place *) (void *) (plan->bindings + desc->n_arrays);
	plan->kernel.places = plan->places;
	plan->live = (struct live *) (void *) (plan->places + desc->n_arrays);
	plan->kernel.data = (void **) (void *) (plan->live + desc->n_restructurings);
	plan->extents = (int64_t *) (void *) (plan->kernel.data + desc->n_arrays);
	plan->params = plan->extents + desc->n_extents;
	plan->sizes = plan->params + desc->n_params;
	plan->kernel.sizes = plan->sizes;
	plan->kernel.threads = threads_of(options->threads);
	plan->desc = desc;
	plan->context = options->context;
	plan->max_memory = options->max_memory;
	plan->check_finite = options->check_finite;
	plan->is_deterministic = options->deterministic;
	plan->bytes = plan->peak = plan->block_bytes = bytes;
	for (int32_t i = 0; i < desc->n_extents; i++)
		plan->extents[i] = extents[i];
	for (int32_t i = 0; i < desc->n_params; i++)
		if (desc->params[i].type == PMG_I64)
			plan->params[i] = param_integer(&desc->params[i], args);
	return plan;
}

static pmg_status fixed_check(pmg_context *context, const pmg_pipeline_desc *desc, const void *args,
			      const int64_t *extents)
{
	pmg_status status = PMG_OK;

	for (int32_t i = 0; i < desc->n_arrays && status == PMG_OK; i++)
		if (desc->arrays[i].is_fixed)
			status = argument_check(context, desc, i, args, extents);
	return status;
}

static pmg_status forecast_check(const pmg_pipeline_desc *desc, const void *args, const pmg_options *options,
				 const int64_t *extents)
{
	int64_t peak = 0;
	const int64_t bytes = plan_forecast(desc, args, extents, true, &peak);

	if (bytes < 0)
		return pmg_fail(options->context, PMG_NO_RESOURCES,
				"pipeline '%s' needs more memory than can be addressed", desc->name);
	if (options->max_memory > 0 && peak > options->max_memory)
		return limit_fail(options->context, desc->name, peak, options->max_memory);
	return PMG_OK;
}

static pmg_status options_check(const pmg_options *options)
{
	if (threads_check(options->context, options->threads) != PMG_OK)
		return PMG_BAD_CALL;
	if (options->max_memory < 0)
		return pmg_fail(options->context, PMG_BAD_CALL, "max_memory is %lld, but must be 0 or more",
				(long long) options->max_memory);
	if ((unsigned int) options->tune > PMG_TUNE_MEASURE)
		return pmg_fail(options->context, PMG_BAD_CALL, "tune is %d, but must be one of PMG_TUNE_…",
				(int) options->tune);
	return PMG_OK;
}

pmg_status call_check(const pmg_pipeline_desc *desc, const void *args, const pmg_options *options)
{
	pmg_status status = options_check(options);

	if (status == PMG_OK && (!desc || !args))
		status = pmg_fail(options->context, PMG_BAD_CALL,
				  "a plan needs a description and args, not NULL");
	return status == PMG_OK ? description_check(options->context, desc) : status;
}

static pmg_status plan_check(const pmg_pipeline_desc *desc, const void *args, const pmg_options *options,
			     int64_t *extents)
{
	pmg_status status = sizes_check(options->context, desc, args, options->threads, extents);

	if (status == PMG_OK)
		status = segments_check(options->context, desc, args, extents);
	if (status == PMG_OK)
		status = fixed_check(options->context, desc, args, extents);
	if (status == PMG_OK)
		status = forecast_check(desc, args, options, extents);
	return status;
}

double seconds_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double) time.tv_sec + 1e-9 * (double) time.tv_nsec;
}

static pmg_status plan_fill(struct plan *plan, const void *args)
{
	pmg_status status = internal_allocate(plan);

	if (status == PMG_OK)
		status = arrays_place(plan, args, true);
	if (status == PMG_OK)
		status = arrays_inspect(plan, true, false);
	if (status == PMG_OK && plan->desc->device)
		status = plan->desc->device->open(&plan->kernel);
	if (status == PMG_OK)
		status = segments_inspect(plan);
	if (status == PMG_OK)
		status = restructurings_inspect(plan);
	if (status == PMG_OK && plan->desc->device)
		status = plan->desc->device->fill(&plan->kernel);
	return status;
}

pmg_status plan_make(const pmg_pipeline_desc *desc, const void *args, const pmg_options *options,
		     struct plan **result)
{
	const double start = seconds_now();
	int64_t extents[PMG_MAX_EXTENTS];
	pmg_status status = plan_check(desc, args, options, extents);
	struct plan *plan;

	if (status != PMG_OK)
		return status;
	plan = block_new(desc, args, options, extents);
	if (!plan)
		return memory_fail(options->context, desc->name, plan_block_bytes(desc));
	plan->report.choice = desc->choice ? desc->choice : "";
	plan->report.reason = "the first";
	status = isa_choose(options->context, desc, &plan->run, &plan->report.isa);
	if (status == PMG_OK)
		status = plan_fill(plan, args);
	plan->report.inspection = seconds_now() - start;
	if (status == PMG_OK)
		*result = plan;
	else
		pmg_plan_destroy(&plan->kernel);
	return status;
}

void pmg_plan_destroy(pmg_plan *handle)
{
	struct plan *plan = plan_of(handle);

	if (!plan)
		return;
	nonzero_points_release(plan);
	if (plan->desc->device)
		plan->desc->device->close(&plan->kernel);
	for (int32_t i = 0; i < plan->desc->n_arrays; i++) {
		plan_release(plan, plan->bindings[i].own, plan->bindings[i].own_bytes);
		segment_list_close(plan->context, &plan->bindings[i].list);
	}
	context_release(plan->context, (void *) (uintptr_t) plan->report.trials, (size_t) plan->trials_bytes);
	context_release(plan->context, plan, (size_t) plan->block_bytes);
}

int64_t pmg_plan_bytes(const pmg_plan *plan)
{
	return plan ? plan_of_const(plan)->bytes : 0;
}

int64_t pmg_plan_peak(const pmg_plan *plan)
{
	return plan ? plan_of_const(plan)->peak : 0;
}
