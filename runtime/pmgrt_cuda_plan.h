/* SPDX-License-Identifier: MIT
 *
 * The host's side of pmgrt_cuda.h: memory of a plan on the device, transfers, starts of kernels, and the functions of
 * pmg_device_part. All of an array's memory is taken when the plan is made, after a comparison of what is needed with
 * what is free. */
#ifndef PMGRT_CUDA_PLAN_H
#define PMGRT_CUDA_PLAN_H

#include <pmgrt_cuda_graph.h>

enum { PMG_CUDA_SUMS = 8 };             /* sums of an iteration that may run side by side */

struct pmg_cuda_live;

struct pmg_cuda_plan {
	cudaStream_t stream;
	cudaEvent_t start, end;         /* of the kernels of an execution */
	void **data;                    /* by array: where kernels find it */
	void **own;                     /* by array: memory of the plan; NULL */
	const void **taken;             /* by array: the host's memory that has the same values; NULL: none */
	pmg_cuda_parts *parts;          /* PMG_CUDA_SUMS */
	int n_sums;                     /* started in this iteration */
	pmg_cuda_bad_index *bad_index;
	pmg_cuda_loop *loop;
	int64_t most_shared;            /* bytes that threads of a block can share */
	int64_t batch_end;              /* iterations are started up to here without a look at the device */
	pmg_cuda_starts *starts;
	pmg_cuda_live *live;            /* by restructuring; NULL: the program leaves out no points */
	void (*close_live)(pmg_plan *plan);
	pmg_status status;              /* of the present execution */
};

static inline pmg_cuda_plan *pmg_cuda_of(pmg_plan *plan)
{
	return (pmg_cuda_plan *) plan->device;
}

/* PMG_OK, or the failure of CUDA as the status of the execution. */
static inline pmg_status pmg_cuda_check(pmg_plan *plan, cudaError_t error, const char *what)
{
	pmg_cuda_plan *cuda = pmg_cuda_of(plan);
	pmg_status status = error == cudaErrorMemoryAllocation ? PMG_NO_RESOURCES : PMG_INTERNAL;

	if (error == cudaSuccess)
		return PMG_OK;
	if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver) {
		status = PMG_NO_RESOURCES;
		what = "there is no GPU, or its driver is too old";
	}
	status = pmg_plan_fail(plan, status, "pipeline '%s': %s: %s (CUDA)", pmg_plan_name(plan), what,
			       cudaGetErrorString(error));
	if (cuda && cuda->status == PMG_OK)
		cuda->status = status;
	return status;
}

/* ---- Starts ---- */

/* Threads of a block for so many teams: a power of two from a warp on. */
static inline unsigned pmg_cuda_threads(int64_t count, int team, int warps)
{
	unsigned n = PMG_CUDA_WARP;

	while (n < (unsigned) pmg_cuda_most_threads(team, warps) && n < count*team)
		n *= 2;
	return n;
}

/* So many blocks of so many threads, which share so many bytes. */
template <class... P, class... A>
static inline void pmg_cuda_start(pmg_plan *plan, const char *name, void (*kernel)(P...), int64_t blocks,
				  unsigned threads, unsigned shared, A... arguments)
{
	pmg_cuda_plan *cuda = pmg_cuda_of(plan);

	if (blocks <= 0 || cuda->status != PMG_OK)
		return;
	if (blocks > 0x7fffffff) {
		(void) pmg_cuda_check(plan, cudaErrorInvalidValue, name);
		return;
	}
	switch (cuda->starts->mode) {
	case PMG_CUDA_NOTED:
		pmg_cuda_note(cuda->starts, kernel, (unsigned) blocks, threads, shared, ((P) arguments)...);
		return;
	case PMG_CUDA_AS_NODE:
		(void) pmg_cuda_check(plan, pmg_cuda_node(cuda->starts, kernel, (unsigned) blocks, threads, shared,
							  ((P) arguments)...), name);
		return;
	case PMG_CUDA_NOW:
		PMG_CUDA_START(kernel, (unsigned) blocks, threads, shared, cuda->stream, ((P) arguments)...);
		(void) pmg_cuda_check(plan, cudaGetLastError(), name);
	}
}

/* Warps of a block (0: the usual number); not if there are too few teams for all multiprocessors to have some. */
struct pmg_cuda_manner {
	int warps;
	bool is_for_many, sums_up;
};

template <class... P, class... A>
static inline void pmg_cuda_launch(pmg_plan *plan, const char *name, void (*kernel)(P...), int64_t count, int team,
				   const pmg_cuda_manner &manner, A... arguments)
{
	const bool is_few = manner.is_for_many && count < plan->device_teams;
	const unsigned threads = pmg_cuda_threads(count, team, is_few ? 0 : manner.warps);
	int64_t blocks = count > 0 ? (count*team + threads - 1)/threads : 0;

	if (blocks > PMG_CUDA_MOST_PARTS && manner.sums_up)
		blocks = PMG_CUDA_MOST_PARTS;
	pmg_cuda_start(plan, name, kernel, blocks, threads, 0, arguments...);
}

/* Teams that are blocks or, of a warp at most, parts of them. */
template <class... P, class... A>
static inline void pmg_cuda_launch_block(pmg_plan *plan, const char *name, void (*kernel)(P...), int64_t count,
					 int lanes, int64_t bytes, A... arguments)
{
	const int teams = pmg_cuda_teams_of_block(lanes, bytes, pmg_cuda_of(plan)->most_shared);
	const unsigned shared = (unsigned) (teams*bytes);

	if (shared > PMG_CUDA_SHARED)
		(void) pmg_cuda_check(plan, cudaFuncSetAttribute((const void *) kernel,
								 cudaFuncAttributeMaxDynamicSharedMemorySize,
								 (int) shared), name);
	pmg_cuda_start(plan, name, kernel, count > 0 ? (count + teams - 1)/teams : 0, (unsigned) (teams*lanes), shared,
		       arguments...);
}

/* Can teams of so many lanes share so many bytes? */
static inline bool pmg_cuda_fits(const pmg_plan *plan, int lanes, int64_t bytes)
{
	return lanes > 0 && bytes <= ((const pmg_cuda_plan *) plan->device)->most_shared;
}

/* `count` iterations by teams of so many lanes. */
#define PMG_LAUNCH(plan, kernel, count, team, ...) \
	PMG_LAUNCH_OF(0, plan, kernel, count, team, ##__VA_ARGS__)
#define PMG_LAUNCH_OF(warps, plan, kernel, count, team, ...) \
	pmg_cuda_launch(plan, #kernel, kernel, count, team, { warps, false, false }, ##__VA_ARGS__)
#define PMG_LAUNCH_LONG(plan, kernel, count, team, ...) \
	pmg_cuda_launch(plan, #kernel, kernel, count, team, { PMG_CUDA_WARPS_LONG, true, false }, ##__VA_ARGS__)
#define PMG_LAUNCH_SUM(plan, kernel, count, team, ...) \
	PMG_LAUNCH_SUM_OF(0, plan, kernel, count, team, ##__VA_ARGS__)
#define PMG_LAUNCH_SUM_OF(warps, plan, kernel, count, team, ...) \
	pmg_cuda_launch(plan, #kernel, kernel, count, team, { warps, false, true }, ##__VA_ARGS__)

#define PMG_LAUNCH_BLOCK(plan, kernel, count, lanes, bytes, ...) \
	pmg_cuda_launch_block(plan, #kernel, kernel, count, lanes, bytes, ##__VA_ARGS__)

/* Before a kernel that writes the rows of values that one part has. `loop`: of an `iterate` around; NULL. */
template <class T, class V>
static inline void pmg_cuda_set_cut(pmg_plan *plan, int64_t n, const V *values, T *cells, int64_t row, T value,
				    const pmg_cuda_loop *loop)
{
	pmg_cuda_launch(plan, "pmg_cuda_cut_rows", pmg_cuda_cut_rows<T, V>, (n + PMG_CUDA_WARP - 1)/PMG_CUDA_WARP,
			PMG_CUDA_WARP, { }, n, values, cells, row, value, loop);
}

/* ---- What kernels and the host's code ask for ---- */

static inline void *pmg_cuda_data(pmg_plan *plan, int32_t array)
{
	return pmg_cuda_of(plan)->data[array];
}

/* Other ones for each sum, so that it does not wait for the one before. */
static inline pmg_cuda_parts *pmg_cuda_parts_of(pmg_plan *plan)
{
	pmg_cuda_plan *cuda = pmg_cuda_of(plan);

	return &cuda->parts[cuda->n_sums++ % PMG_CUDA_SUMS];
}

static inline pmg_cuda_bad_index *pmg_cuda_bad_index_of(pmg_plan *plan)
{
	return pmg_cuda_of(plan)->bad_index;
}

static inline pmg_status pmg_cuda_to_host(pmg_plan *plan, void *to, const void *from, int64_t bytes)
{
	pmg_cuda_plan *cuda = pmg_cuda_of(plan);
	pmg_status status = pmg_cuda_check(plan, cudaMemcpyAsync(to, from, (size_t) bytes, cudaMemcpyDeviceToHost,
								  cuda->stream), "a copy from the device");

	if (status == PMG_OK)
		status = pmg_cuda_check(plan, cudaStreamSynchronize(cuda->stream), "a kernel");
	plan->from_device += status == PMG_OK ? bytes : 0;
	return status;
}

static inline pmg_status pmg_cuda_to_device(pmg_plan *plan, void *to, const void *from, int64_t bytes)
{
	pmg_status status = pmg_cuda_check(plan, cudaMemcpyAsync(to, from, (size_t) bytes, cudaMemcpyHostToDevice,
								  pmg_cuda_of(plan)->stream), "a copy to the device");

	plan->to_device += status == PMG_OK ? bytes : 0;
	return status;
}

static inline void pmg_cuda_tell_pivot(pmg_plan *plan, const pmg_cuda_bad_pivot *bad)
{
	if (bad->is_claimed)
		pmg_bad_pivot(plan, bad->elimination, bad->row, bad->system, bad->pivot);
}

/* Has an index or a pivot been bad, or CUDA failed? Waits for all kernels. */
static inline bool pmg_cuda_failed(pmg_plan *plan)
{
	pmg_cuda_plan *cuda = pmg_cuda_of(plan);
	pmg_cuda_bad_index bad = { };

	if (cuda->status == PMG_OK)
		(void) pmg_cuda_to_host(plan, &bad, cuda->bad_index, sizeof bad);
	pmg_cuda_tell_pivot(plan, &bad.zero);
	if (bad.is_claimed && !bad.zero.is_claimed)
		pmg_bad_index(plan, bad.array, bad.position, bad.value);
	pmg_cuda_tell_pivot(plan, &bad.infinite);
	return cuda->status != PMG_OK || pmg_failed(plan);
}

/* With options.check_finite; values are copied to the host, one array at a time. */
static inline void pmg_cuda_look_at(pmg_plan *plan, int64_t it)
{
	pmg_cuda_plan *cuda = pmg_cuda_of(plan);

	for (int32_t i = 0; i < pmg_plan_arrays(plan) && cuda->status == PMG_OK; i++) {
		const int64_t bytes = pmg_plan_array(plan, i).bytes;
		const bool looks = bytes > 0 && pmg_looks_at(plan, i, it);
		void *values = looks ? malloc((size_t) bytes) : NULL;

		if (looks && !values)
			cuda->status = pmg_plan_fail(plan, PMG_NO_RESOURCES,
						     "no memory for a copy of an array whose values are looked at");
		if (values && pmg_cuda_to_host(plan, values, cuda->data[i], bytes) == PMG_OK)
			pmg_look_at(plan, i, values, it);
		free(values);
	}
}

/* Are iterations looked at one by one? */
static inline bool pmg_cuda_looks(const pmg_plan *plan)
{
	bool does = false;

	for (int32_t i = 0; i < pmg_plan_arrays(plan) && !does; i++)
		does = pmg_looks_at(plan, i, INT64_MAX);
	return does;
}

#include <pmgrt_cuda_loop.h>

/* ---- Life of a plan ---- */

static inline void pmg_cuda_close(pmg_plan *plan)
{
	pmg_cuda_plan *cuda = pmg_cuda_of(plan);

	for (int32_t i = 0; cuda && cuda->own && i < pmg_plan_arrays(plan); i++)
		(void) cudaFree(cuda->own[i]);
	if (cuda) {
		if (cuda->starts)
			pmg_cuda_forget_graphs(cuda->starts);
		if (cuda->live)
			cuda->close_live(plan);
		(void) cudaFree(cuda->parts);
		(void) cudaFree(cuda->bad_index);
		(void) cudaFree(cuda->loop);
		if (cuda->start)
			(void) cudaEventDestroy(cuda->start);
		if (cuda->end)
			(void) cudaEventDestroy(cuda->end);
		if (cuda->stream)
			(void) cudaStreamDestroy(cuda->stream);
		free(cuda->data);
		free(cuda->own);
		free(cuda->taken);
		free(cuda->starts);
	}
	free(cuda);
	plan->device = NULL;
	plan->device_bytes = 0;
}

static inline pmg_status pmg_cuda_forecast(pmg_plan *plan)
{
	size_t available = 0, all = 0;
	int64_t bytes = (int64_t) (PMG_CUDA_SUMS*sizeof(pmg_cuda_parts) + sizeof(pmg_cuda_bad_index) +
				   sizeof(pmg_cuda_loop)), held = 0;

	for (int32_t i = 0; i < pmg_plan_arrays(plan); i++)
		if (pmg_plan_array(plan, i).place == PMG_HOST) {
			bytes += pmg_plan_array(plan, i).bytes;
			held += pmg_cuda_of(plan)->own[i] ? pmg_plan_array(plan, i).bytes : 0;
		}
	if (pmg_cuda_check(plan, cudaMemGetInfo(&available, &all), "the memory of the device") != PMG_OK)
		return PMG_NO_RESOURCES;
	available += (size_t) held;
	if ((size_t) bytes > available)
		return pmg_plan_fail(plan, PMG_NO_RESOURCES,
				     "pipeline '%s' needs %.1f MiB on the device, of whose %.1f MiB %.1f are free",
				     pmg_plan_name(plan), (double) bytes/0x1p20, (double) all/0x1p20,
				     (double) available/0x1p20);
	plan->device_bytes = bytes;
	return PMG_OK;
}

static inline pmg_status pmg_cuda_allocate(pmg_plan *plan, void **memory, int64_t bytes)
{
	pmg_status status = pmg_cuda_check(plan, cudaMalloc(memory, (size_t) bytes), "memory");

	if (status == PMG_OK)
		status = pmg_cuda_check(plan, cudaMemsetAsync(*memory, 0, (size_t) bytes, pmg_cuda_of(plan)->stream),
					"zeros");
	return status;
}

/* Kernels read rows by 16 bytes. */
static inline pmg_status pmg_cuda_check_place(pmg_plan *plan, int32_t i, const pmg_array_use *use)
{
	if (use->place != PMG_CUDA || (uintptr_t) plan->data[i] % 16 == 0)
		return PMG_OK;
	return pmg_plan_fail(plan, PMG_BAD_CALL, "pipeline '%s': the data of an array on the device do not begin at a "
			     "multiple of 16 bytes", pmg_plan_name(plan));
}

/* Memory of an array, and its values if it has some that stay. */
static inline pmg_status pmg_cuda_open_array(pmg_plan *plan, int32_t i)
{
	pmg_cuda_plan *cuda = pmg_cuda_of(plan);
	const pmg_array_use use = pmg_plan_array(plan, i);
	pmg_status status = PMG_OK;

	if (cuda->own[i]) {
		cuda->data[i] = cuda->own[i];
		return PMG_OK;
	}
	if (use.bytes == 0 || use.place == PMG_CUDA) {
		cuda->data[i] = use.place == PMG_CUDA ? plan->data[i] : NULL;
		return pmg_cuda_check_place(plan, i, &use);
	}
	status = pmg_cuda_allocate(plan, &cuda->own[i], use.bytes);
	cuda->data[i] = cuda->own[i];
	if (status == PMG_OK && ((use.is_made && !use.is_remade) || (use.is_fixed && use.is_input)))
		status = pmg_cuda_to_device(plan, cuda->own[i], plan->data[i], use.bytes);
	return status;
}

static inline pmg_status pmg_cuda_open_parts(pmg_plan *plan)
{
	pmg_cuda_plan *cuda = pmg_cuda_of(plan);
	pmg_status status = pmg_cuda_forecast(plan);

	if (status == PMG_OK)
		status = pmg_cuda_allocate(plan, (void **) &cuda->parts, PMG_CUDA_SUMS*sizeof *cuda->parts);
	if (status == PMG_OK)
		status = pmg_cuda_allocate(plan, (void **) &cuda->bad_index, sizeof *cuda->bad_index);
	if (status == PMG_OK)
		status = pmg_cuda_allocate(plan, (void **) &cuda->loop, sizeof *cuda->loop);
	return status;
}

/* Teams of a warp that work side by side. */
static inline pmg_status pmg_cuda_count_teams(pmg_plan *plan)
{
	int device = 0, n = 0, shared = 0;
	pmg_status status = pmg_cuda_check(plan, cudaGetDevice(&device), "the device");

	if (status == PMG_OK)
		status = pmg_cuda_check(plan, cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, device),
					"the device");
	if (status == PMG_OK)
		status = pmg_cuda_check(plan, cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin,
								     device), "the device");
	pmg_cuda_of(plan)->most_shared = shared;
	plan->device_teams = (int64_t) n*PMG_CUDA_BLOCKS*pmg_cuda_most_threads(PMG_CUDA_WARP, 0)/PMG_CUDA_WARP;
	return status;
}

static inline pmg_status pmg_cuda_open(pmg_plan *plan)
{
	const size_t n = (size_t) pmg_plan_arrays(plan) + 1;
	pmg_cuda_plan *cuda = (pmg_cuda_plan *) calloc(1, sizeof *cuda);

	plan->device = cuda;
	if (cuda) {
		cuda->data = (void **) calloc(n, sizeof(void *));
		cuda->own = (void **) calloc(n, sizeof(void *));
		cuda->taken = (const void **) calloc(n, sizeof(void *));
		cuda->starts = (pmg_cuda_starts *) calloc(1, sizeof *cuda->starts);
	}
	if (!cuda || !cuda->data || !cuda->own || !cuda->taken || !cuda->starts)
		return pmg_plan_fail(plan, PMG_NO_RESOURCES, "no memory for a plan of '%s'", pmg_plan_name(plan));
	if (pmg_cuda_check(plan, cudaStreamCreate(&cuda->stream), "opening the device") != PMG_OK ||
	    pmg_cuda_check(plan, cudaEventCreate(&cuda->start), "an event") != PMG_OK)
		return cuda->status;
	if (pmg_cuda_check(plan, cudaEventCreate(&cuda->end), "an event") != PMG_OK)
		return cuda->status;
	return pmg_cuda_count_teams(plan);
}

static inline pmg_status pmg_cuda_fill(pmg_plan *plan)
{
	pmg_status status = pmg_cuda_open_parts(plan);

	for (int32_t i = 0; i < pmg_plan_arrays(plan) && status == PMG_OK; i++)
		status = pmg_cuda_open_array(plan, i);
	if (status == PMG_OK)
		status = pmg_cuda_check(plan, cudaStreamSynchronize(pmg_cuda_of(plan)->stream), "copies to the device");
	return status;
}

/* ---- Executions ---- */

/* An array of the host, unless the device has its values. */
static inline pmg_status pmg_cuda_take(pmg_plan *plan, int32_t i, int64_t bytes, bool is_same)
{
	pmg_cuda_plan *cuda = pmg_cuda_of(plan);

	if (is_same && cuda->taken[i] == plan->data[i])
		return PMG_OK;
	cuda->taken[i] = plan->data[i];
	return pmg_cuda_to_device(plan, cuda->own[i], plan->data[i], bytes);
}

/* What the caller gives each time; what is left of a stopped run in its outputs. */
static inline pmg_status pmg_cuda_begin(pmg_plan *plan, const pmg_control *control)
{
	const bool resume = control && control->resume, is_same = control && control->same_buffers;
	pmg_cuda_plan *cuda = pmg_cuda_of(plan);
	pmg_status status;

	cuda->status = PMG_OK;
	cuda->starts->mode = PMG_CUDA_NOW;
	/* Nothing runs any more. */
	if (cuda->starts->n_graphs == PMG_CUDA_MOST_GRAPHS)
		pmg_cuda_forget_graphs(cuda->starts);
	status = pmg_cuda_check(plan, cudaMemsetAsync(cuda->bad_index, 0, sizeof *cuda->bad_index, cuda->stream),
				"zeros");
	for (int32_t i = 0; i < pmg_plan_arrays(plan) && status == PMG_OK; i++) {
		const pmg_array_use use = pmg_plan_array(plan, i);

		if (use.is_remade)
			status = pmg_cuda_take(plan, i, use.bytes, is_same);
		if (use.is_fixed || use.is_internal)
			continue;
		cuda->data[i] = use.place == PMG_CUDA ? plan->data[i] : cuda->own[i];
		if (status == PMG_OK)
			status = pmg_cuda_check_place(plan, i, &use);
		if (use.place == PMG_HOST && use.bytes > 0 && (use.is_input || resume))
			status = pmg_cuda_take(plan, i, use.bytes, is_same);
		if (status != PMG_OK || use.is_output)
			cuda->taken[i] = NULL;
	}
	if (status == PMG_OK)
		status = pmg_cuda_check(plan, cudaEventRecord(cuda->start, cuda->stream), "an event");
	if (status != PMG_OK)
		(void) cudaStreamSynchronize(cuda->stream);     /* no copy of the caller's is under way */
	return status;
}

/* Waits for all kernels; how long they took. */
static inline void pmg_cuda_finish(pmg_plan *plan)
{
	pmg_cuda_plan *cuda = pmg_cuda_of(plan);
	float milliseconds = 0;

	if (cuda->status == PMG_OK)
		(void) pmg_cuda_check(plan, cudaEventRecord(cuda->end, cuda->stream), "an event");
	(void) pmg_cuda_failed(plan);
	if (cuda->status == PMG_OK)
		(void) pmg_cuda_check(plan, cudaEventElapsedTime(&milliseconds, cuda->start, cuda->end), "an event");
	plan->device_seconds = 1e-3*(double) milliseconds;
}

static inline pmg_status pmg_cuda_end(pmg_plan *plan, pmg_status status)
{
	pmg_cuda_plan *cuda = pmg_cuda_of(plan);

	pmg_cuda_finish(plan);
	if (status == PMG_OK)
		pmg_cuda_look_at(plan, PMG_AT_END);
	for (int32_t i = 0; i < pmg_plan_arrays(plan) && cuda->status == PMG_OK; i++) {
		const pmg_array_use use = pmg_plan_array(plan, i);

		if (use.is_output && use.place == PMG_HOST && use.bytes > 0 &&
		    pmg_cuda_to_host(plan, plan->data[i], cuda->own[i], use.bytes) == PMG_OK)
			cuda->taken[i] = plan->data[i];
	}
	return cuda->status != PMG_OK ? cuda->status : status;
}

static inline pmg_status pmg_cuda_load(pmg_plan *plan, int32_t array)
{
	pmg_cuda_of(plan)->status = PMG_OK;
	return pmg_cuda_to_host(plan, plan->data[array], pmg_cuda_of(plan)->own[array],
				pmg_plan_array(plan, array).bytes);
}

static inline pmg_status pmg_cuda_store(pmg_plan *plan, int32_t array)
{
	pmg_cuda_of(plan)->status = PMG_OK;
	return pmg_cuda_to_device(plan, pmg_cuda_of(plan)->own[array], plan->data[array],
				  pmg_plan_array(plan, array).bytes);
}

/* `inspect`: pmg_cuda_inspect of pmgrt_cuda_inspect.h, or NULL. `fill`: pmg_cuda_fill, or that of pmgrt_cuda_live.h. */
#define PMG_DEVICE_PART(name, inspect, fill) \
	extern "C" { \
	extern const pmg_device_part name; \
	const pmg_device_part name = { \
		pmg_cuda_open, inspect, fill, pmg_cuda_close, pmg_cuda_begin, pmg_cuda_end, \
		pmg_cuda_load, pmg_cuda_store \
	}; \
	}

#endif
