/* SPDX-License-Identifier: MIT
 *
 * A batch on the device, and what is the same for all methods: its arrays as they come, system after system, and
 * interleaved by `lanes` systems (value (row, lane) of a block is at row*lanes + lane; full interleaving has one
 * block), room for what a method overwrites, times by events. Lanes and rows that no system has are those of the unit
 * matrix. */
#ifndef BENCH_HANDTUNED_SYSTEMS_GPU_BATCH_H
#define BENCH_HANDTUNED_SYSTEMS_GPU_BATCH_H

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <functional>
#include <numeric>
#include <vector>

#include "systems_gpu_device.h"

enum { GPU_INPUTS = 4, GPU_TILE = 32, GPU_TILE_THREADS = 256, GPU_SKEW = 256, GPU_MOST_LANES = 512 };

/* Where the systems are: position p of a layout has system order[p], or p. */
struct gpu_shape {
	int64_t n_systems, lanes;
	int n;
	const int64_t *offset;
	const int *order;
};

struct gpu_layout {
	gpu_shape shape;
	bool is_sorted;
	void *in[GPU_INPUTS], *x;
};

struct systems_gpu {
	system_batch batch;
	size_t element;
	bool is_equal;                          /* all systems have n rows */
	void *array[SYSTEMS_GPU_ARRAYS];
	int64_t *offset;
	std::vector<int64_t> lengths;
	std::vector<gpu_layout *> layouts;
	void *work[SYSTEMS_GPU_ARRAYS];         /* for what is overwritten; as large as any layout */
	size_t work_bytes;
	std::vector<void *> memory;
	cudaEvent_t begin, end;
};

struct systems_gpu_state {
	std::function<bool()> restore, start;   /* before the time that counts, and in it */
	std::function<void()> close;
	const gpu_layout *layout;               /* of the result; NULL: as the batch */
	const void *x;
};

static bool gpu_is_ok(cudaError_t error)
{
	return error == cudaSuccess;
}

static bool gpu_fail(char *error, size_t size, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(error, size, format, arguments);
	va_end(arguments);
	return false;
}

static void *gpu_memory(systems_gpu *gpu, size_t bytes)
{
	void *memory = NULL;

	if (!gpu_is_ok(cudaMalloc(&memory, std::max<size_t>(bytes, 1)))) {
		(void) cudaGetLastError();
		return NULL;
	}
	gpu->memory.push_back(memory);
	return memory;
}

template <class T> static T *gpu_on_device(systems_gpu *gpu, const std::vector<T> &host)
{
	T *memory = (T *) gpu_memory(gpu, host.size()*sizeof(T));

	const size_t bytes = host.size()*sizeof(T);
	const bool ok = memory && gpu_is_ok(cudaMemcpyAsync(memory, host.data(), bytes, cudaMemcpyHostToDevice, 0));

	return ok && gpu_is_ok(cudaStreamSynchronize(0)) ? memory : NULL;
}

static bool gpu_move(void *to, const void *from, size_t bytes)
{
	return gpu_is_ok(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, 0));
}

/* Lets the kernel have as much memory of a block as there is, since calls of other sizes share it; is it enough? */
template <class K> static bool gpu_allow_shared(K kernel, size_t bytes)
{
	size_t most = GPU_MOST_SHARED;
#ifdef __NVCC__
	cudaFuncAttributes attributes;

	if (!gpu_is_ok(cudaFuncGetAttributes(&attributes, kernel)) || attributes.sharedSizeBytes > most)
		return false;
	most -= attributes.sharedSizeBytes;
	if (!gpu_is_ok(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int) most))) {
		(void) cudaGetLastError();
		return false;
	}
#else
	(void) kernel;
#endif
	return bytes <= most;
}

/* ---- Layouts ---- */

/* Where (row, position) is; blocks are one after the other. */
static __host__ __device__ __forceinline__ int64_t gpu_place(const gpu_shape &s, int64_t position, int row)
{
	return (position/s.lanes*s.n + row)*s.lanes + position % s.lanes;
}

static __device__ __forceinline__ int64_t gpu_system(const gpu_shape &s, int64_t position)
{
	return s.order ? s.order[position] : position;
}

static __device__ __forceinline__ int gpu_length(const gpu_shape &s, int64_t position)
{
	const int64_t system = gpu_system(s, position);

	return (int) (s.offset[system + 1] - s.offset[system]);
}

/* A tile of rows and positions, through the memory of the block, so that both sides are accessed in order. */
template <class T> static __global__ void gpu_transpose(gpu_shape s, T *flat, T *blocks, T fill, bool is_back)
{
	__shared__ T tile[GPU_TILE][GPU_TILE + 1];
	const int64_t tiles = (s.n + GPU_TILE - 1)/GPU_TILE, first = blockIdx.x/tiles*GPU_TILE;
	const int begin = (int) (blockIdx.x % tiles)*GPU_TILE, lane = threadIdx.x % GPU_TILE;
	const int64_t padded = (s.n_systems + s.lanes - 1)/s.lanes*s.lanes;

	for (int i = threadIdx.x/GPU_TILE; i < GPU_TILE; i += GPU_TILE_THREADS/GPU_TILE) {
		const int64_t p = is_back ? first + lane : first + i;
		const int row = is_back ? begin + i : begin + lane;

		if (p >= padded || row >= s.n)
			continue;
		if (is_back)
			tile[lane][i] = blocks[gpu_place(s, p, row)];
		else
			tile[i][lane] = p < s.n_systems && row < gpu_length(s, p) ?
						flat[s.offset[gpu_system(s, p)] + row] : fill;
	}
	__syncthreads();
	for (int i = threadIdx.x/GPU_TILE; i < GPU_TILE; i += GPU_TILE_THREADS/GPU_TILE) {
		const int64_t p = is_back ? first + i : first + lane;
		const int row = is_back ? begin + lane : begin + i;

		if (p >= padded || row >= s.n)
			continue;
		if (!is_back)
			blocks[gpu_place(s, p, row)] = tile[lane][i];
		else if (p < s.n_systems && row < gpu_length(s, p))
			flat[s.offset[gpu_system(s, p)] + row] = tile[i][lane];
	}
}

static int64_t gpu_padded(const gpu_shape &s)
{
	return gpu_ceiling(s.n_systems, s.lanes)*s.lanes;
}

static size_t gpu_layout_bytes(const systems_gpu *gpu, const gpu_shape &s)
{
	return (size_t) (gpu_padded(s)*s.n)*gpu->element;
}

template <class T> static bool gpu_relayout(const gpu_shape &s, void *flat, void *blocks, T fill, bool is_back)
{
	const int64_t tiles = gpu_ceiling(s.n, GPU_TILE)*gpu_ceiling(gpu_padded(s), GPU_TILE);

	GPU_START(gpu_transpose<T>, tiles, GPU_TILE_THREADS, 0, s, (T *) flat, (T *) blocks, fill, is_back);
	return gpu_is_ok(cudaGetLastError());
}

static bool gpu_into(const systems_gpu *gpu, const gpu_layout *layout, int which)
{
	const bool is_one = which == SYSTEMS_GPU_DIAG;

	return gpu->element == sizeof(double) ?
		       gpu_relayout<double>(layout->shape, gpu->array[which], layout->in[which], is_one, false) :
		       gpu_relayout<float>(layout->shape, gpu->array[which], layout->in[which], is_one, false);
}

static bool gpu_out_of(const systems_gpu *gpu, const gpu_layout *layout, const void *x)
{
	return gpu->element == sizeof(double) ?
		       gpu_relayout<double>(layout->shape, gpu->array[SYSTEMS_GPU_X], (void *) x, 0, true) :
		       gpu_relayout<float>(layout->shape, gpu->array[SYSTEMS_GPU_X], (void *) x, 0, true);
}

/* Systems from the longest to the shortest, so that threads next to each other end together. */
static const int *gpu_order(systems_gpu *gpu)
{
	std::vector<int> order((size_t) gpu->batch.n_systems);

	std::iota(order.begin(), order.end(), 0);
	std::stable_sort(order.begin(), order.end(), [=](int a, int b) {
		return gpu->lengths[(size_t) a] > gpu->lengths[(size_t) b];
	});
	return gpu_on_device(gpu, order);
}

/* Blocks of so many systems; made once. */
static gpu_layout *gpu_layout_of(systems_gpu *gpu, int64_t lanes, bool is_sorted)
{
	for (gpu_layout *layout : gpu->layouts)
		if (layout->shape.lanes == lanes && layout->is_sorted == is_sorted)
			return layout;
	gpu_layout *layout = new gpu_layout();
	bool ok = true;

	layout->is_sorted = is_sorted;
	layout->shape = { gpu->batch.n_systems, lanes, (int) gpu->batch.n, gpu->offset, NULL };
	if (is_sorted)
		ok = (layout->shape.order = gpu_order(gpu)) != NULL;
	const size_t bytes = gpu_layout_bytes(gpu, layout->shape);

	for (int i = 0; i < GPU_INPUTS && ok; i++)
		ok = (layout->in[i] = gpu_memory(gpu, bytes)) && gpu_into(gpu, layout, i);
	ok = ok && (layout->x = gpu_memory(gpu, bytes));
	if (!ok) {
		delete layout;
		return NULL;
	}
	gpu->layouts.push_back(layout);
	return layout;
}

/* Brings arrays to where a method overwrites them; those that are named as bits. */
static bool gpu_restore(const systems_gpu *gpu, void *const *in, size_t bytes, unsigned arrays)
{
	bool ok = true;

	for (int i = 0; i < GPU_INPUTS; i++)
		if (arrays >> i & 1)
			ok = gpu_move(gpu->work[i], in[i], bytes) && ok;
	return ok;
}

/* ---- The batch ---- */

static void gpu_close(systems_gpu *gpu)
{
	for (void *memory : gpu->memory)
		cudaFree(memory);
	for (gpu_layout *layout : gpu->layouts)
		delete layout;
	cudaEventDestroy(gpu->begin);
	cudaEventDestroy(gpu->end);
	delete gpu;
}

/* The arrays are in one piece, each a little further than the end of the one before. */
static bool gpu_bring(systems_gpu *gpu)
{
	const system_batch &b = gpu->batch;
	const void *from[] = { b.upper, b.lower, b.diag, b.rhs };
	const size_t bytes = (size_t) b.n_rows*gpu->element, room = (bytes/GPU_SKEW + 2)*GPU_SKEW;
	char *all = (char *) gpu_memory(gpu, SYSTEMS_GPU_ARRAYS*room);
	bool ok = all;

	gpu->work_bytes = (size_t) (gpu_ceiling(b.n_systems, GPU_MOST_LANES)*GPU_MOST_LANES*b.n)*gpu->element;
	for (int i = 0; i < SYSTEMS_GPU_ARRAYS && ok; i++) {
		gpu->array[i] = all + i*room;
		ok = (gpu->work[i] = gpu_memory(gpu, gpu->work_bytes)) && ok;
		if (i < GPU_INPUTS && ok)
			ok = gpu_is_ok(cudaMemcpyAsync(gpu->array[i], from[i], bytes, cudaMemcpyHostToDevice, 0));
	}
	gpu->offset = gpu_on_device(gpu, std::vector<int64_t>(b.offset, b.offset + b.n_systems + 1));
	return ok && gpu->offset && gpu_is_ok(cudaStreamSynchronize(0));
}

static systems_gpu *gpu_open(const system_batch *batch, char *error, size_t size)
{
	systems_gpu *gpu = new systems_gpu();

	gpu->batch = *batch;
	gpu->element = batch->is_single ? sizeof(float) : sizeof(double);
	gpu->is_equal = batch->n_rows == batch->n*batch->n_systems;
	for (int64_t s = 0; s < batch->n_systems; s++)
		gpu->lengths.push_back(batch->offset[s + 1] - batch->offset[s]);
	cudaEventCreate(&gpu->begin);
	cudaEventCreate(&gpu->end);
	if (gpu_bring(gpu))
		return gpu;
	gpu_fail(error, size, "there is not the memory on the device");
	gpu_close(gpu);
	return NULL;
}

static void *gpu_array(systems_gpu *gpu, int which)
{
	return gpu->array[which];
}

static bool gpu_poison(systems_gpu *gpu)
{
	const size_t bytes = (size_t) gpu->batch.n_rows*gpu->element;
	bool ok = gpu_is_ok(cudaMemsetAsync(gpu->array[SYSTEMS_GPU_X], 0xff, bytes, 0));

	for (gpu_layout *layout : gpu->layouts)
		ok = gpu_is_ok(cudaMemsetAsync(layout->x, 0xff, gpu_layout_bytes(gpu, layout->shape), 0)) && ok;
	for (void *work : gpu->work)
		ok = gpu_is_ok(cudaMemsetAsync(work, 0xff, gpu->work_bytes, 0)) && ok;
	return ok && gpu_is_ok(cudaStreamSynchronize(0));
}

/* Work for the device, so that it finds all of a solve ahead of it when it begins with the first kernel. */
static __global__ void gpu_spin()
{
#ifdef __NVCC__
	enum { CYCLES = 40000 };
	const long long begin = clock64();

	while (clock64() - begin < CYCLES)
		;
#endif
}

/* What is started in another stream waits for it, too. */
static bool gpu_busy()
{
	GPU_START(gpu_spin, 1, 1, 0);
	return gpu_is_ok(cudaGetLastError());
}

static bool gpu_run(systems_gpu *gpu, systems_gpu_call *call, double *seconds)
{
	float milliseconds = 0;
	bool ok = (!call->state->restore || call->state->restore()) && gpu_busy();

	ok = gpu_is_ok(cudaEventRecord(gpu->begin, 0)) && ok;
	ok = call->state->start() && ok;
	ok = gpu_is_ok(cudaEventRecord(gpu->end, 0)) && gpu_is_ok(cudaStreamSynchronize(0)) && ok;
	ok = gpu_is_ok(cudaGetLastError()) && ok;
	ok = gpu_is_ok(cudaEventElapsedTime(&milliseconds, gpu->begin, gpu->end)) && ok;
	*seconds = 1e-3*milliseconds;
	return ok;
}

static bool gpu_fetch(systems_gpu *gpu, systems_gpu_call *call, void *x)
{
	const size_t bytes = (size_t) gpu->batch.n_rows*gpu->element;
	const void *from = gpu->array[SYSTEMS_GPU_X];
	bool ok = true;

	if (call && call->state->layout)
		ok = gpu_out_of(gpu, call->state->layout, call->state->x);
	else if (call && call->state->x)
		from = call->state->x;
	return gpu_is_ok(cudaMemcpyAsync(x, from, bytes, cudaMemcpyDeviceToHost, 0)) &&
	       gpu_is_ok(cudaStreamSynchronize(0)) && ok;
}

static void gpu_release(systems_gpu_call *call)
{
	if (call->state && call->state->close)
		call->state->close();
	delete call->state;
	call->state = NULL;
}

/* ---- The device ---- */

static const char *gpu_device_name()
{
#ifdef __NVCC__
	static cudaDeviceProp properties;

	return gpu_is_ok(cudaGetDeviceProperties(&properties, 0)) ? properties.name : NULL;
#else
	return "emulated";
#endif
}

static double gpu_copy_rate()
{
	enum { TIMES = 9 };
#ifdef __NVCC__
	const size_t bytes = (size_t) 1 << 31;
#else
	const size_t bytes = (size_t) 1 << 16;
#endif
	systems_gpu scratch = systems_gpu();
	void *from = gpu_memory(&scratch, bytes), *to = gpu_memory(&scratch, bytes);
	std::vector<float> times(TIMES, 0);
	cudaEvent_t begin, end;

	cudaEventCreate(&begin);
	cudaEventCreate(&end);
	bool ok = from && to && gpu_is_ok(cudaMemsetAsync(from, 0x3f, bytes, 0)) && gpu_move(to, from, bytes);

	for (float &time : times) {
		ok = ok && gpu_is_ok(cudaEventRecord(begin, 0)) && gpu_move(to, from, bytes) &&
		     gpu_is_ok(cudaEventRecord(end, 0)) && gpu_is_ok(cudaStreamSynchronize(0)) &&
		     gpu_is_ok(cudaEventElapsedTime(&time, begin, end));
	}
	std::sort(times.begin(), times.end());
	cudaEventDestroy(begin);
	cudaEventDestroy(end);
	cudaFree(from);
	cudaFree(to);
	return ok ? 2*(double) bytes/(1e-3*times[TIMES/2]) : 0;
}

/* ---- Methods that solve nothing ---- */

/* As many bytes read and written as a solve has: five arrays, one written. */
static bool gpu_prepare_copy(systems_gpu *gpu, systems_gpu_call *call)
{
	const size_t half = (size_t) gpu->batch.n_rows*gpu->element/2*5, room = (half/GPU_SKEW + 1)*GPU_SKEW;
	void *to = gpu_memory(gpu, room);

	call->state->start = [=] { return gpu_move(to, gpu->array[0], half); };
	return to != NULL;
}

static bool gpu_prepare_convert(systems_gpu *gpu, systems_gpu_call *call)
{
	const gpu_layout *layout = gpu_layout_of(gpu, gpu->batch.n_systems, false);

	call->state->start = [=] {
		bool ok = true;

		for (int i = 0; i < GPU_INPUTS; i++)
			ok = gpu_into(gpu, layout, i) && ok;
		return gpu_out_of(gpu, layout, layout->in[SYSTEMS_GPU_RHS]) && ok;
	};
	return layout != NULL;
}

/* ---- What the C side calls ---- */

/* Of the file that reads this one: why the method is not for such a batch, or NULL; makes it ready for one. */
static const char *refusal(const systems_gpu *gpu, enum systems_gpu_code code);
template <class T> static bool prepare_code(systems_gpu *gpu, const systems_gpu_method *method, systems_gpu_call *call,
					    char *error, size_t size);

static bool gpu_prepare(systems_gpu *gpu, const systems_gpu_method *method, systems_gpu_call *call, char *error,
			size_t size)
{
	const char *why = refusal(gpu, method->code);

	gpu_fail(error, size, "%s", why ? why : "there is not the memory on the device");
	call->state = new systems_gpu_state();
	call->levels = 0;
	call->layout[0] = '\0';
	if (why)
		return false;
	return gpu->element == sizeof(double) ? prepare_code<double>(gpu, method, call, error, size)
					      : prepare_code<float>(gpu, method, call, error, size);
}

extern "C" const struct systems_gpu_functions *systems_gpu_functions_of(void)
{
	static const struct systems_gpu_functions functions = {
		gpu_device_name, gpu_copy_rate, gpu_open, gpu_array, gpu_prepare, gpu_poison, gpu_busy, gpu_run,
		gpu_fetch, gpu_release, gpu_close
	};

	return &functions;
}

#endif
