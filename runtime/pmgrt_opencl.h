/* SPDX-License-Identifier: MIT
 *
 * How kernels of the OpenCL target are started: what a generated C file includes beside its own header. A plan has all
 * of its arrays as buffers of the device from when it is made: fixed arrays and what inspectors found go there once,
 * other arguments with each execution, unless they are there already. The text of the kernels, behind that of
 * pmgrt_opencl.cl, is compiled when the plan is made, for the first device of the first platform. Kernels run one after
 * the other in the plan's queue. A failure of OpenCL is a status of the plan; what follows does nothing. */
#ifndef PMGRT_OPENCL_H
#define PMGRT_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <pmgrt.h>
#include <pmgrt_opencl_shared.h>

/* For the device's compiler: -DPMG_OPENCL_OPTIONS=-cl-mad-enable. */
#ifndef PMG_OPENCL_OPTIONS
#define PMG_OPENCL_OPTIONS
#endif
#define PMG_OPENCL_TEXT_(options) #options
#define PMG_OPENCL_TEXT(options) PMG_OPENCL_TEXT_(options)

enum { PMG_OPENCL_GROUP = 64, PMG_OPENCL_LOG = 400 };
#define PMG_OPENCL_BEHIND ((size_t) 1 << 48)    /* numbers of items from here on have no iterations */

typedef struct pmg_opencl_kernel {
	const char *name;
	cl_kernel kernel;
	size_t group;                   /* work items that run together */
} pmg_opencl_kernel;

typedef struct pmg_opencl_plan {
	cl_device_id device;
	cl_context context;
	cl_command_queue queue;
	cl_program program;
	pmg_opencl_kernel *kernels;     /* those that were started, n_kernels */
	int n_kernels;
	cl_mem *data;                   /* by array; NULL: of no bytes */
	const void **taken;             /* by array: the host's memory that has the same values; NULL: none */
	cl_mem parts, bad_index, loop;
	int64_t batch_end;              /* iterations are started up to here without a look at the device */
	struct timespec start;          /* of the execution */
	pmg_status status;              /* of the execution */
} pmg_opencl_plan;

static inline pmg_opencl_plan *pmg_opencl_of(const pmg_plan *plan)
{
	return (pmg_opencl_plan *) plan->device;
}

/* PMG_OK, or the failure as the status of the execution. */
static inline pmg_status pmg_opencl_check(pmg_plan *plan, cl_int error, const char *what)
{
	pmg_opencl_plan *cl = pmg_opencl_of(plan);
	const bool lacks = error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_OUT_OF_RESOURCES ||
			   error == CL_OUT_OF_HOST_MEMORY || error == CL_INVALID_BUFFER_SIZE;

	if (error == CL_SUCCESS)
		return PMG_OK;
	if (cl->status == PMG_OK)
		cl->status = pmg_plan_fail(plan, lacks ? PMG_NO_RESOURCES : PMG_INTERNAL,
					   "pipeline '%s': %s: error %d of OpenCL", pmg_plan_name(plan), what,
					   (int) error);
	return cl->status;
}

/* ---- Starts ---- */

typedef struct pmg_opencl_argument {
	size_t bytes;
	const void *value;
} pmg_opencl_argument;

#define PMG_OPENCL_ARGUMENT(x) ((pmg_opencl_argument) { sizeof(x), (__typeof__(x)[1]) { x } })

/* The kernel of this name; NULL: a failure. */
static inline pmg_opencl_kernel *pmg_opencl_find(pmg_plan *plan, const char *name)
{
	pmg_opencl_plan *cl = pmg_opencl_of(plan);
	pmg_opencl_kernel *kernel;
	cl_int error;

	for (int i = 0; i < cl->n_kernels; i++)
		if (!strcmp(cl->kernels[i].name, name))
			return &cl->kernels[i];
	kernel = realloc(cl->kernels, ((size_t) cl->n_kernels + 1)*sizeof *kernel);
	if (!kernel) {
		(void) pmg_opencl_check(plan, CL_OUT_OF_HOST_MEMORY, name);
		return NULL;
	}
	cl->kernels = kernel;
	kernel += cl->n_kernels;
	*kernel = (pmg_opencl_kernel) { .name = name, .kernel = clCreateKernel(cl->program, name, &error) };
	if (pmg_opencl_check(plan, error, name) != PMG_OK)
		return NULL;
	cl->n_kernels++;
	error = clGetKernelWorkGroupInfo(kernel->kernel, cl->device, CL_KERNEL_WORK_GROUP_SIZE, sizeof kernel->group,
					 &kernel->group, NULL);
	if (kernel->group > PMG_OPENCL_GROUP)
		kernel->group = PMG_OPENCL_GROUP;
	return pmg_opencl_check(plan, error, name) == PMG_OK ? kernel : NULL;
}

/* As many work items as `count` says, in whole groups. A sum is found by items behind them (pmgrt_opencl.cl). */
static inline void pmg_opencl_start(pmg_plan *plan, const char *name, int64_t count, bool sums_up,
				    const pmg_opencl_argument *arguments, size_t n)
{
	pmg_opencl_plan *cl = pmg_opencl_of(plan);
	const pmg_opencl_kernel *kernel = count > 0 && cl->status == PMG_OK ? pmg_opencl_find(plan, name) : NULL;
	const size_t behind = PMG_OPENCL_BEHIND;
	size_t items;

	for (size_t i = 0; kernel && i < n && cl->status == PMG_OK; i++)
		(void) pmg_opencl_check(plan, clSetKernelArg(kernel->kernel, (cl_uint) i, arguments[i].bytes,
							     arguments[i].value), name);
	if (!kernel || cl->status != PMG_OK)
		return;
	if (sums_up && count > PMG_OPENCL_MOST_PARTS)
		count = PMG_OPENCL_MOST_PARTS;
	items = (size_t) count/kernel->group*kernel->group;
	items += items < (size_t) count && !(sums_up && items > 0) ? kernel->group : 0;
	(void) pmg_opencl_check(plan, clEnqueueNDRangeKernel(cl->queue, kernel->kernel, 1, NULL, &items,
							     &kernel->group, 0, NULL, NULL), name);
	if (sums_up)
		(void) pmg_opencl_check(plan, clEnqueueNDRangeKernel(cl->queue, kernel->kernel, 1, &behind,
								     &kernel->group, &kernel->group, 0, NULL, NULL),
					name);
}

/* `count` iterations, each of a work item. */
#define PMG_LAUNCH_(plan, kernel, count, sums_up, ...) \
	pmg_opencl_start(plan, #kernel, count, sums_up, (const pmg_opencl_argument[]) { __VA_ARGS__ }, \
			 sizeof((const pmg_opencl_argument[]) { __VA_ARGS__ })/sizeof(pmg_opencl_argument))
#define PMG_LAUNCH(plan, kernel, count, team, ...) PMG_LAUNCH_(plan, kernel, count, false, __VA_ARGS__)
#define PMG_LAUNCH_SUM(plan, kernel, count, team, ...) PMG_LAUNCH_(plan, kernel, count, true, __VA_ARGS__)

/* ---- What the host's code asks for ---- */

static inline cl_mem pmg_opencl_data(pmg_plan *plan, int32_t array)
{
	return pmg_opencl_of(plan)->data[array];
}

static inline pmg_opencl_argument pmg_opencl_parts_of(const pmg_plan *plan)
{
	return (pmg_opencl_argument) { sizeof(cl_mem), &pmg_opencl_of(plan)->parts };
}

static inline pmg_opencl_argument pmg_opencl_bad_index_of(const pmg_plan *plan)
{
	return (pmg_opencl_argument) { sizeof(cl_mem), &pmg_opencl_of(plan)->bad_index };
}

static inline pmg_opencl_argument pmg_opencl_loop_of(const pmg_plan *plan)
{
	return (pmg_opencl_argument) { sizeof(cl_mem), &pmg_opencl_of(plan)->loop };
}

/* Both wait for what is under way. */
static inline pmg_status pmg_opencl_to_host(pmg_plan *plan, void *to, cl_mem from, int64_t bytes)
{
	pmg_opencl_plan *cl = pmg_opencl_of(plan);

	plan->from_device += bytes;
	return pmg_opencl_check(plan, clEnqueueReadBuffer(cl->queue, from, CL_TRUE, 0, (size_t) bytes, to, 0, NULL,
							  NULL), "a copy from the device");
}

static inline pmg_status pmg_opencl_to_device(pmg_plan *plan, cl_mem to, const void *from, int64_t bytes)
{
	pmg_opencl_plan *cl = pmg_opencl_of(plan);

	plan->to_device += bytes;
	return pmg_opencl_check(plan, clEnqueueWriteBuffer(cl->queue, to, CL_TRUE, 0, (size_t) bytes, from, 0, NULL,
							   NULL), "a copy to the device");
}

static inline void pmg_opencl_tell_pivot(pmg_plan *plan, const pmg_opencl_bad_pivot *bad)
{
	if (bad->is_claimed)
		pmg_bad_pivot(plan, bad->elimination, bad->row, bad->system, bad->pivot);
}

/* Has an index or a pivot been bad, or OpenCL failed? Waits for all kernels. */
static inline bool pmg_opencl_failed(pmg_plan *plan)
{
	pmg_opencl_plan *cl = pmg_opencl_of(plan);
	pmg_opencl_bad_index bad = { 0 };

	if (cl->status == PMG_OK)
		(void) pmg_opencl_to_host(plan, &bad, cl->bad_index, sizeof bad);
	pmg_opencl_tell_pivot(plan, &bad.zero);
	if (bad.is_claimed && !bad.zero.is_claimed)
		pmg_bad_index(plan, bad.array, bad.position, bad.value);
	pmg_opencl_tell_pivot(plan, &bad.infinite);
	return cl->status != PMG_OK || pmg_failed(plan);
}

/* With options.check_finite: values are copied to the host, one array at a time. */
static inline void pmg_opencl_look_at(pmg_plan *plan, int64_t it)
{
	pmg_opencl_plan *cl = pmg_opencl_of(plan);

	for (int32_t i = 0; i < pmg_plan_arrays(plan) && cl->status == PMG_OK; i++) {
		const int64_t bytes = cl->data[i] && pmg_looks_at(plan, i, it) ? pmg_plan_array(plan, i).bytes : 0;
		void *values = bytes > 0 ? malloc((size_t) bytes) : NULL;

		if (bytes > 0 && !values)
			(void) pmg_opencl_check(plan, CL_OUT_OF_HOST_MEMORY, "values that are looked at");
		if (values && pmg_opencl_to_host(plan, values, cl->data[i], bytes) == PMG_OK)
			pmg_look_at(plan, i, values, it);
		free(values);
	}
}

/* ---- Loops: the host starts control->check_every iterations, then looks how far they came ---- */

#define PMG_STOP_IF_BAD(plan) \
	PMG_LAUNCH(plan, pmg_opencl_stop_if_bad, 1, 1, pmg_opencl_loop_of(plan), pmg_opencl_bad_index_of(plan))

static inline int64_t pmg_opencl_loop_begin(pmg_plan *plan, pmg_control *control, int64_t lo)
{
	pmg_opencl_plan *cl = pmg_opencl_of(plan);
	pmg_opencl_loop loop = { .is_over = pmg_opencl_failed(plan) };

	loop.it = pmg_loop_begin(plan, control, lo);
	cl->batch_end = loop.it;
	if (cl->status == PMG_OK)
		(void) pmg_opencl_to_device(plan, cl->loop, &loop, sizeof loop);
	return loop.it;
}

/* Iterations that may be started now: as many as are told, left, and allowed by the budget. */
static inline int64_t pmg_opencl_batch(const pmg_plan *plan, const pmg_control *control, int64_t it, int64_t hi)
{
	int64_t n = control && control->check_every > 0 ? control->check_every : PMG_CHECK_EVERY;

	for (int32_t i = 0; i < pmg_plan_arrays(plan); i++)
		n = pmg_looks_at(plan, i, INT64_MAX) ? 1 : n;
	if (n > hi - it)
		n = hi - it;
	/* pmg_loop_next has allowed one at least. */
	if (control && control->budget >= 0 && n > pmg_loop_budget(plan, control, it))
		n = pmg_loop_budget(plan, control, it);
	return n;
}

static inline bool pmg_opencl_loop_next(pmg_plan *plan, pmg_control *control, int64_t *it, int64_t hi)
{
	pmg_opencl_plan *cl = pmg_opencl_of(plan);
	pmg_opencl_bad_index bad = { 0 };
	pmg_opencl_loop loop = { 0 };
	bool goes_on;

	if (*it < cl->batch_end && ++*it < cl->batch_end)
		return cl->status == PMG_OK;
	if (cl->status != PMG_OK || pmg_opencl_to_host(plan, &loop, cl->loop, sizeof loop) != PMG_OK)
		return false;
	if (loop.is_over && pmg_opencl_to_host(plan, &bad, cl->bad_index, sizeof bad) != PMG_OK)
		return false;
	if (!bad.is_claimed)
		pmg_opencl_look_at(plan, loop.it);
	goes_on = pmg_loop_next(plan, control, loop.it, hi, loop.is_over && !bad.is_claimed);
	if (bad.is_claimed)
		(void) pmg_opencl_failed(plan);
	*it = loop.it;
	cl->batch_end = loop.it + pmg_opencl_batch(plan, control, loop.it, hi);
	return goes_on && !bad.is_claimed;
}

#include <pmgrt_opencl_plan.h>

#endif
