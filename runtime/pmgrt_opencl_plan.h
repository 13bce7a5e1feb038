/* SPDX-License-Identifier: MIT
 *
 * The functions of pmg_device_part for OpenCL, read by pmgrt_opencl.h. */
#ifndef PMGRT_OPENCL_PLAN_H
#define PMGRT_OPENCL_PLAN_H

static inline void pmg_opencl_close(pmg_plan *plan)
{
	pmg_opencl_plan *cl = pmg_opencl_of(plan);

	if (!cl)
		return;
	for (int i = 0; i < cl->n_kernels; i++)
		(void) clReleaseKernel(cl->kernels[i].kernel);
	for (int32_t i = 0; cl->data && i < pmg_plan_arrays(plan) + 3; i++)
		if (cl->data[i])
			(void) clReleaseMemObject(cl->data[i]);
	if (cl->program)
		(void) clReleaseProgram(cl->program);
	if (cl->queue)
		(void) clReleaseCommandQueue(cl->queue);
	if (cl->context)
		(void) clReleaseContext(cl->context);
	free(cl->kernels);
	free(cl->data);
	free(cl->taken);
	free(cl);
	plan->device = NULL;
	plan->device_bytes = 0;
}

/* ---- Opening ---- */

static inline pmg_status pmg_opencl_open_device(pmg_plan *plan)
{
	pmg_opencl_plan *cl = pmg_opencl_of(plan);
	cl_device_fp_config doubles = 0;
	cl_platform_id platform;
	char name[128] = "";
	cl_int error;

	if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
	    clGetDeviceIDs(platform, CL_DEVICE_TYPE_DEFAULT, 1, &cl->device, NULL) != CL_SUCCESS)
		return cl->status = pmg_plan_fail(plan, PMG_NO_RESOURCES, "pipeline '%s': there is no device of OpenCL",
						  pmg_plan_name(plan));
	(void) clGetDeviceInfo(cl->device, CL_DEVICE_NAME, sizeof name - 1, name, NULL);
	(void) clGetDeviceInfo(cl->device, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof doubles, &doubles, NULL);
	if (!doubles)
		return cl->status = pmg_plan_fail(plan, PMG_NO_RESOURCES, "pipeline '%s': the device '%s' has no "
						  "doubles (cl_khr_fp64)", pmg_plan_name(plan), name);
	cl->context = clCreateContext(NULL, 1, &cl->device, NULL, NULL, &error);
	if (pmg_opencl_check(plan, error, "opening the device") != PMG_OK)
		return cl->status;
	cl->queue = clCreateCommandQueue(cl->context, cl->device, 0, &error);
	return pmg_opencl_check(plan, error, "a queue");
}

static inline bool pmg_opencl_has(const pmg_opencl_plan *cl, const char *extension)
{
	char all[8192] = "";

	return clGetDeviceInfo(cl->device, CL_DEVICE_EXTENSIONS, sizeof all - 1, all, NULL) == CL_SUCCESS &&
	       strstr(all, extension);
}

/* Of a text that it does not compile, the compiler's first words. */
static inline pmg_status pmg_opencl_compile_failed(pmg_plan *plan)
{
	pmg_opencl_plan *cl = pmg_opencl_of(plan);
	static const char atomics[] = "cl_khr_int64_base_atomics";
	const bool lacks = !pmg_opencl_has(cl, atomics);
	size_t n = 0;
	char *log;

	(void) clGetProgramBuildInfo(cl->program, cl->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &n);
	log = calloc(1, n + 1);
	if (log)
		(void) clGetProgramBuildInfo(cl->program, cl->device, CL_PROGRAM_BUILD_LOG, n, log, NULL);
	cl->status = pmg_plan_fail(plan, PMG_NO_RESOURCES,
				   "pipeline '%s': the device does not compile its kernels%s%s: %.*s",
				   pmg_plan_name(plan), lacks ? ", and lacks " : "", lacks ? atomics : "",
				   PMG_OPENCL_LOG, log ? log : "");
	free(log);
	return cl->status;
}

static inline pmg_status pmg_opencl_compile(pmg_plan *plan, const char *kernels)
{
	pmg_opencl_plan *cl = pmg_opencl_of(plan);
	const char *texts[] = { pmg_opencl_text, kernels };
	cl_int error;

	cl->program = clCreateProgramWithSource(cl->context, 2, texts, NULL, &error);
	if (pmg_opencl_check(plan, error, "the kernels") != PMG_OK)
		return cl->status;
	error = clBuildProgram(cl->program, 1, &cl->device, PMG_OPENCL_TEXT(PMG_OPENCL_OPTIONS), NULL, NULL);
	return error == CL_SUCCESS ? PMG_OK : pmg_opencl_compile_failed(plan);
}

static inline pmg_status pmg_opencl_open(pmg_plan *plan, const char *kernels)
{
	const size_t n = (size_t) pmg_plan_arrays(plan) + 3;
	pmg_opencl_plan *cl = calloc(1, sizeof *cl);
	pmg_status status;

	plan->device = cl;
	if (cl) {
		cl->data = calloc(n, sizeof *cl->data);
		cl->taken = calloc(n, sizeof *cl->taken);
	}
	if (!cl || !cl->data || !cl->taken)
		return pmg_plan_fail(plan, PMG_NO_RESOURCES, "no memory for a plan of '%s'", pmg_plan_name(plan));
	status = pmg_opencl_open_device(plan);
	return status == PMG_OK ? pmg_opencl_compile(plan, kernels) : status;
}

/* ---- Buffers ---- */

/* A buffer of zeros. */
static inline cl_mem pmg_opencl_buffer(pmg_plan *plan, int32_t number, int64_t bytes)
{
	pmg_opencl_plan *cl = pmg_opencl_of(plan);
	const cl_uchar zero = 0;
	cl_int error;

	cl->data[number] = clCreateBuffer(cl->context, CL_MEM_READ_WRITE, (size_t) bytes, NULL, &error);
	plan->device_bytes += bytes;
	if (pmg_opencl_check(plan, error, "memory") == PMG_OK)
		(void) pmg_opencl_check(plan, clEnqueueFillBuffer(cl->queue, cl->data[number], &zero, 1, 0,
								  (size_t) bytes, 0, NULL, NULL), "zeros");
	return cl->data[number];
}

/* Memory of an array, and its values if it has some that stay. */
static inline pmg_status pmg_opencl_open_array(pmg_plan *plan, int32_t i)
{
	pmg_opencl_plan *cl = pmg_opencl_of(plan);
	const pmg_array_use use = pmg_plan_array(plan, i);

	if (use.place != PMG_HOST)
		return pmg_plan_fail(plan, PMG_BAD_CALL, "pipeline '%s': an array is on a device of CUDA",
				     pmg_plan_name(plan));
	if (use.bytes > 0)
		(void) pmg_opencl_buffer(plan, i, use.bytes);
	if (use.bytes > 0 && cl->status == PMG_OK &&
	    ((use.is_made && !use.is_remade) || (use.is_fixed && use.is_input)))
		(void) pmg_opencl_to_device(plan, cl->data[i], plan->data[i], use.bytes);
	return cl->status;
}

static inline pmg_status pmg_opencl_fill(pmg_plan *plan)
{
	pmg_opencl_plan *cl = pmg_opencl_of(plan);
	const int32_t n = pmg_plan_arrays(plan);
	pmg_status status = PMG_OK;

	cl->parts = pmg_opencl_buffer(plan, n, sizeof(pmg_opencl_parts));
	cl->bad_index = pmg_opencl_buffer(plan, n + 1, sizeof(pmg_opencl_bad_index));
	cl->loop = pmg_opencl_buffer(plan, n + 2, sizeof(pmg_opencl_loop));
	status = cl->status;
	for (int32_t i = 0; i < n && status == PMG_OK; i++)
		status = pmg_opencl_open_array(plan, i);
	return status == PMG_OK ? pmg_opencl_check(plan, clFinish(cl->queue), "copies to the device") : status;
}

/* ---- Executions ---- */

/* An array of the host, unless the device has its values. */
static inline pmg_status pmg_opencl_take(pmg_plan *plan, int32_t i, int64_t bytes, bool is_same)
{
	pmg_opencl_plan *cl = pmg_opencl_of(plan);

	if (is_same && cl->taken[i] == plan->data[i])
		return PMG_OK;
	cl->taken[i] = plan->data[i];
	return pmg_opencl_to_device(plan, cl->data[i], plan->data[i], bytes);
}

/* What the caller gives each time; what is left of a stopped run in its outputs. */
static inline pmg_status pmg_opencl_begin(pmg_plan *plan, const pmg_control *control)
{
	const bool resume = control && control->resume, is_same = control && control->same_buffers;
	const pmg_opencl_bad_index none = { 0 };
	pmg_opencl_plan *cl = pmg_opencl_of(plan);
	pmg_status status = PMG_OK;

	cl->status = PMG_OK;
	(void) pmg_opencl_to_device(plan, cl->bad_index, &none, sizeof none);
	for (int32_t i = 0; i < pmg_plan_arrays(plan) && cl->status == PMG_OK && status == PMG_OK; i++) {
		const pmg_array_use use = pmg_plan_array(plan, i);
		const bool is_given = !use.is_fixed && !use.is_internal && (use.is_input || resume);

		if (use.place != PMG_HOST)
			status = pmg_plan_fail(plan, PMG_BAD_CALL, "pipeline '%s': an array is on a device of CUDA",
					       pmg_plan_name(plan));
		else if (use.bytes > 0 && (use.is_remade || is_given))
			status = pmg_opencl_take(plan, i, use.bytes, is_same);
		if (use.is_output)
			cl->taken[i] = NULL;
	}
	(void) timespec_get(&cl->start, TIME_UTC);
	return cl->status != PMG_OK ? cl->status : status;
}

static inline double pmg_opencl_seconds_since(const struct timespec *start)
{
	struct timespec now;

	(void) timespec_get(&now, TIME_UTC);
	return (double) (now.tv_sec - start->tv_sec) + 1e-9*(double) (now.tv_nsec - start->tv_nsec);
}

static inline pmg_status pmg_opencl_end(pmg_plan *plan, pmg_status status)
{
	pmg_opencl_plan *cl = pmg_opencl_of(plan);

	(void) pmg_opencl_failed(plan);
	plan->device_seconds = pmg_opencl_seconds_since(&cl->start);
	if (status == PMG_OK)
		pmg_opencl_look_at(plan, PMG_AT_END);
	for (int32_t i = 0; i < pmg_plan_arrays(plan) && cl->status == PMG_OK; i++) {
		const pmg_array_use use = pmg_plan_array(plan, i);

		if (use.is_output && use.bytes > 0 &&
		    pmg_opencl_to_host(plan, plan->data[i], cl->data[i], use.bytes) == PMG_OK)
			cl->taken[i] = plan->data[i];
	}
	return cl->status != PMG_OK ? cl->status : status;
}

static inline pmg_status pmg_opencl_load(pmg_plan *plan, int32_t array)
{
	pmg_opencl_of(plan)->status = PMG_OK;
	return pmg_opencl_to_host(plan, plan->data[array], pmg_opencl_of(plan)->data[array],
				  pmg_plan_array(plan, array).bytes);
}

static inline pmg_status pmg_opencl_store(pmg_plan *plan, int32_t array)
{
	pmg_opencl_of(plan)->status = PMG_OK;
	return pmg_opencl_to_device(plan, pmg_opencl_of(plan)->data[array], plan->data[array],
				    pmg_plan_array(plan, array).bytes);
}

/* Of the pipeline whose kernels are the text NAME_kernels. */
#define PMG_DEVICE_PART(name) \
	static pmg_status name##_open(pmg_plan *plan) \
	{ \
		return pmg_opencl_open(plan, name##_kernels); \
	} \
	static const pmg_device_part name##_device = { \
		name##_open, NULL, pmg_opencl_fill, pmg_opencl_close, pmg_opencl_begin, pmg_opencl_end, \
		pmg_opencl_load, pmg_opencl_store \
	};

#endif
