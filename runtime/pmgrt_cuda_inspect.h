/* SPDX-License-Identifier: MIT
 *
 * The inspector of restructurings on a device, included where a program has some: the points are sorted by words of 64
 * bits that hold their keys and, in the low bits, their numbers, as runtime/inspect/sort.c does it on the host (the
 * sort itself is CUB's). Offsets of segments are found by search in the sorted words, copies by the numbers in them.
 * What does not fit in one word, runs and new numbers are for the host, and so is what a narrow type cannot hold, since
 * the host says which value that is. */
#ifndef PMGRT_CUDA_INSPECT_H
#define PMGRT_CUDA_INSPECT_H

#include <cub/device/device_radix_sort.cuh>

#include <time.h>

/* ---- In kernels ---- */

static __device__ int64_t pmg_cuda_element(const void *data, int type, int64_t i)
{
	switch (type) {
	case PMG_I8: return ((const int8_t *) data)[i];
	case PMG_I16: return ((const int16_t *) data)[i];
	case PMG_I32: return ((const int32_t *) data)[i];
	case PMG_BOOL:
	case PMG_U8: return ((const uint8_t *) data)[i];
	case PMG_U16: return ((const uint16_t *) data)[i];
	case PMG_U32: return ((const uint32_t *) data)[i];
	default: return ((const int64_t *) data)[i];
	}
}

template <class T> static __device__ bool pmg_cuda_store(void *data, int64_t i, int64_t value)
{
	((T *) data)[i] = (T) value;
	return (int64_t) (T) value == value;
}

/* False where the type does not hold the value. */
static __device__ bool pmg_cuda_put(void *data, int type, int64_t i, int64_t value)
{
	switch (type) {
	case PMG_I8: return pmg_cuda_store<int8_t>(data, i, value);
	case PMG_I16: return pmg_cuda_store<int16_t>(data, i, value);
	case PMG_I32: return pmg_cuda_store<int32_t>(data, i, value);
	case PMG_BOOL:
	case PMG_U8: return pmg_cuda_store<uint8_t>(data, i, value);
	case PMG_U16: return pmg_cuda_store<uint16_t>(data, i, value);
	case PMG_U32: return pmg_cuda_store<uint32_t>(data, i, value);
	default: return pmg_cuda_store<int64_t>(data, i, value);
	}
}

#define PMG_POINT(name, n) \
	const int64_t name = (int64_t) blockIdx.x*blockDim.x + threadIdx.x; \
	if (name >= (n)) \
		return

struct pmg_cuda_keys {
	const void *data[PMG_MAX_RANK];
	int type[PMG_MAX_RANK], bits[PMG_MAX_RANK];
	int n_keys, index_bits;
	const int64_t *rank;            /* of the values of the first key; NULL: themselves */
};

static __global__ void pmg_cuda_words(pmg_cuda_keys keys, int64_t n, uint64_t *words)
{
	PMG_POINT(i, n);
	uint64_t word = 0;

	for (int k = 0; k < keys.n_keys; k++) {
		int64_t value = pmg_cuda_element(keys.data[k], keys.type[k], i);

		if (k == 0 && keys.rank)
			value = keys.rank[value];
		word = word << keys.bits[k] | (uint64_t) value;
	}
	words[i] = word << keys.index_bits | (uint64_t) i;
}

enum { PMG_CUDA_COUNTING = 1 << 18 };   /* threads that count */

/* What is known of the sorted points. */
struct pmg_cuda_order {
	const uint64_t *words;
	int64_t n;
	int index_bits, segment_shift;
	int *fails;                     /* a type cannot hold a value */
};

static __device__ void pmg_cuda_set(const pmg_cuda_order &order, void *data, int type, int64_t i, int64_t value)
{
	if (!pmg_cuda_put(data, type, i, value))
		*order.fails = 1;
}

/* How many runs there are: words that differ, but for the number, from the one before. */
static __global__ void pmg_cuda_count_runs(pmg_cuda_order order, int64_t n_threads, unsigned long long *n_runs)
{
	PMG_POINT(first, n_threads);
	unsigned long long n = 0;

	for (int64_t i = first; i < order.n; i += n_threads)
		n += i == 0 || (order.words[i] ^ order.words[i - 1]) >> order.index_bits != 0;
	atomicAdd(n_runs, n);
}

/* The first point of segment `segment` or a later one. */
static __device__ int64_t pmg_cuda_segment_point(const pmg_cuda_order &order, int64_t segment)
{
	int64_t low = 0, high = order.n;

	while (low < high) {
		const int64_t middle = low + (high - low)/2;

		if ((int64_t) (order.words[middle] >> order.segment_shift) < segment)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The second key, `key_bits` wide, of points in segments. */
static __global__ void pmg_cuda_samples(pmg_cuda_order order, int64_t n_values, int key_bits, int64_t *begins,
					int64_t *quartiles)
{
	PMG_POINT(s, n_values + 1);
	const int64_t begin = pmg_cuda_segment_point(order, s);
	const int64_t n = s < n_values ? pmg_cuda_segment_point(order, s + 1) - begin : 0;
	const int shift = order.segment_shift - key_bits;
	const uint64_t mask = ((uint64_t) 1 << key_bits) - 1;

	begins[s] = begin;
	if (s == n_values)
		return;
	quartiles[2*s] = n > 0 ? (int64_t) (order.words[begin + n/4] >> shift & mask) : 0;
	quartiles[2*s + 1] = n > 0 ? (int64_t) (order.words[begin + n*3/4] >> shift & mask) : 0;
}

static __global__ void pmg_cuda_segments(pmg_cuda_order order, int64_t n_values, void *segments, int type)
{
	PMG_POINT(s, n_values + 1);

	pmg_cuda_set(order, segments, type, s, pmg_cuda_segment_point(order, s));
}

/* The first segment that begins at `point` or behind it. */
static __device__ int64_t pmg_cuda_segment_find(const pmg_cuda_order &order, int64_t point)
{
	return point == 0 ? 0 : (int64_t) (order.words[point - 1] >> order.segment_shift) + 1;
}

static __global__ void pmg_cuda_chunks(pmg_cuda_order order, int64_t n_values, int64_t n_chunks, void *chunks, int type)
{
	PMG_POINT(c, n_chunks + 1);
	const int64_t point = order.n/n_chunks*c + order.n%n_chunks*c/n_chunks;
	const int64_t behind = pmg_cuda_segment_find(order, point);
	const int64_t before = behind > 0 ? pmg_cuda_segment_point(order, behind - 1) : 0;
	const bool is_behind = behind == 0 || point - before > pmg_cuda_segment_point(order, behind) - point;
	const int64_t border = is_behind ? behind : pmg_cuda_segment_find(order, before);

	pmg_cuda_set(order, chunks, type, c, c == n_chunks ? n_values : border);
}

struct pmg_cuda_copy {
	const void *from;               /* NULL: the number of the point */
	void *to;
	int from_type, to_type;
};

static __global__ void pmg_cuda_copies(pmg_cuda_order order, pmg_cuda_copy copy)
{
	PMG_POINT(i, order.n);
	const int64_t point = (int64_t) (order.words[i] & (((uint64_t) 1 << order.index_bits) - 1));

	if (copy.from_type == PMG_F64)
		((double *) copy.to)[i] = ((const double *) copy.from)[point];
	else if (copy.from_type == PMG_F32)
		((float *) copy.to)[i] = ((const float *) copy.from)[point];
	else
		pmg_cuda_set(order, copy.to, copy.to_type, i,
			     copy.from ? pmg_cuda_element(copy.from, copy.from_type, point) : point);
}

/* ---- On the host ---- */

/* Memory of an inspection: one piece, of which parts are taken. */
struct pmg_cuda_pool {
	char *memory;
	size_t used, room;
};

static inline void *pmg_cuda_part(pmg_cuda_pool *pool, size_t bytes)
{
	void *part = pool->memory ? pool->memory + pool->used : NULL;

	pool->used += (bytes + 255)/256*256;
	return part;
}

struct pmg_cuda_inspecting {
	pmg_plan *plan;
	pmg_device_inspection *in;
	pmg_cuda_pool pool;
	pmg_cuda_keys keys;
	const void **from;              /* by copy */
	int64_t *rank;
	uint64_t *words, *spare;
	int *fails;
	unsigned long long *n_runs;
	int64_t *begins, *quartiles;
	void *scratch;
	size_t scratch_bytes;
	pmg_status status;
};

static inline void pmg_cuda_inspect_check(pmg_cuda_inspecting *g, cudaError_t error, const char *what)
{
	if (g->status == PMG_OK)
		g->status = pmg_cuda_check(g->plan, error, what);
}

#define PMG_INSPECT(g, kernel, count, ...) \
	do { \
		const int64_t pmg_blocks = ((count) + PMG_CUDA_THREADS - 1)/PMG_CUDA_THREADS; \
		if ((g)->status == PMG_OK && pmg_blocks > 0) { \
			PMG_CUDA_START(kernel, (unsigned) pmg_blocks, (unsigned) PMG_CUDA_THREADS, 0, \
				       pmg_cuda_of((g)->plan)->stream, __VA_ARGS__); \
			pmg_cuda_inspect_check(g, cudaGetLastError(), #kernel); \
		} \
	} while (0)

static inline cudaError_t pmg_cuda_sort(pmg_cuda_inspecting *g, void *scratch, size_t *bytes)
{
	const pmg_device_inspection *in = g->in;
	cub::DoubleBuffer<uint64_t> words(g->words, g->spare);
	int bits = in->index_bits;
	cudaError_t error;

	for (int k = 0; k < in->desc->n_keys; k++)
		bits += in->keys[k].bits;
	if (scratch && bits == in->index_bits)
		return cudaSuccess;
	error = cub::DeviceRadixSort::SortKeys(scratch, *bytes, words, (int) in->n, in->index_bits, bits,
					       pmg_cuda_of(g->plan)->stream);
	g->words = words.Current();
	g->spare = words.Alternate();
	return error;
}

/* Takes all parts; twice, first to find out how much that is. */
static inline void pmg_cuda_inspect_parts(pmg_cuda_inspecting *g)
{
	const pmg_device_inspection *in = g->in;
	const size_t n = (size_t) in->n;

	g->pool.used = 0;
	for (int k = 0; k < in->desc->n_keys; k++)
		g->keys.data[k] = pmg_cuda_part(&g->pool, n*pmg_type_size(in->keys[k].type));
	for (int i = 0; i < in->desc->n_copies; i++)
		g->from[i] = in->from[i].data ? pmg_cuda_part(&g->pool, n*pmg_type_size(in->from[i].type)) : NULL;
	g->rank = in->rank ? (int64_t *) pmg_cuda_part(&g->pool, (size_t) in->n_values*sizeof(int64_t)) : NULL;
	g->words = (uint64_t *) pmg_cuda_part(&g->pool, n*sizeof(uint64_t));
	g->spare = (uint64_t *) pmg_cuda_part(&g->pool, n*sizeof(uint64_t));
	g->fails = (int *) pmg_cuda_part(&g->pool, sizeof(int));
	g->n_runs = (unsigned long long *) pmg_cuda_part(&g->pool, sizeof *g->n_runs);
	if (in->begins)
		g->begins = (int64_t *) pmg_cuda_part(&g->pool, (size_t) (3*in->n_values + 1)*sizeof(int64_t));
	g->quartiles = in->begins ? g->begins + in->n_values + 1 : NULL;
	g->scratch = pmg_cuda_part(&g->pool, g->scratch_bytes);
}

static inline void pmg_cuda_inspect_open(pmg_cuda_inspecting *g)
{
	size_t available = 0, all = 0;

	pmg_cuda_inspect_parts(g);
	pmg_cuda_inspect_check(g, pmg_cuda_sort(g, NULL, &g->scratch_bytes), "a sort");
	pmg_cuda_inspect_parts(g);
	pmg_cuda_inspect_check(g, cudaMemGetInfo(&available, &all), "the memory of the device");
	/* What is made takes about as much as what it is made of. */
	if (g->status != PMG_OK || 2*g->pool.used > available)
		return;
	g->pool.room = g->pool.used;
	pmg_cuda_inspect_check(g, cudaMalloc((void **) &g->pool.memory, g->pool.room), "memory");
	if (g->status == PMG_OK)
		pmg_cuda_inspect_parts(g);
}

static inline void pmg_cuda_inspect_take(pmg_cuda_inspecting *g, const void *to, const void *from, size_t bytes)
{
	if (g->status == PMG_OK && to && bytes > 0)
		g->status = pmg_cuda_to_device(g->plan, (void *) (uintptr_t) to, from, (int64_t) bytes);
}

/* The data is on the device from here on. */
static inline void pmg_cuda_inspect_data(pmg_cuda_inspecting *g)
{
	const pmg_device_inspection *in = g->in;

	g->keys.n_keys = in->desc->n_keys;
	g->keys.index_bits = in->index_bits;
	g->keys.rank = g->rank;
	for (int k = 0; k < in->desc->n_keys; k++) {
		g->keys.type[k] = in->keys[k].type;
		g->keys.bits[k] = in->keys[k].bits;
		pmg_cuda_inspect_take(g, g->keys.data[k], in->keys[k].data,
				      (size_t) in->n*pmg_type_size(in->keys[k].type));
	}
	for (int i = 0; i < in->desc->n_copies; i++)
		pmg_cuda_inspect_take(g, g->from[i], in->from[i].data,
				      (size_t) in->n*pmg_type_size(in->from[i].type));
	pmg_cuda_inspect_take(g, g->rank, in->rank, (size_t) in->n_values*sizeof(int64_t));
	pmg_cuda_inspect_check(g, cudaMemsetAsync(g->fails, 0, sizeof(int), pmg_cuda_of(g->plan)->stream), "zeros");
	pmg_cuda_inspect_check(g, cudaMemsetAsync(g->n_runs, 0, sizeof *g->n_runs, pmg_cuda_of(g->plan)->stream),
			       "zeros");
	pmg_cuda_inspect_check(g, cudaStreamSynchronize(pmg_cuda_of(g->plan)->stream), "copies to the device");
}

/* Memory of an array that is made, with what may be read behind its end; NULL: it is none, or there is none. */
static inline void *pmg_cuda_inspect_new(pmg_cuda_inspecting *g, int32_t array, int64_t n, int *type)
{
	const int64_t bytes = array < 0 ? 0 : pmg_plan_inspected(g->plan, array, n);
	void **own = array < 0 ? NULL : &pmg_cuda_of(g->plan)->own[array];

	if (!own || g->status != PMG_OK)
		return NULL;
	*type = pmg_plan_array(g->plan, array).type;
	g->status = pmg_cuda_allocate(g->plan, own, bytes);
	return *own;
}

static inline void pmg_cuda_inspect_order(pmg_cuda_inspecting *g, pmg_cuda_order *order)
{
	const pmg_device_inspection *in = g->in;

	PMG_INSPECT(g, pmg_cuda_words, in->n, g->keys, in->n, g->words);
	if (g->status == PMG_OK)
		pmg_cuda_inspect_check(g, pmg_cuda_sort(g, g->scratch, &g->scratch_bytes), "a sort");
	*order = pmg_cuda_order { g->words, in->n, in->index_bits, in->index_bits, g->fails };
	for (int k = 1; k < in->desc->n_keys; k++)
		order->segment_shift += in->keys[k].bits;
	if (in->desc->n_runs >= 0)
		PMG_INSPECT(g, pmg_cuda_count_runs, (int64_t) PMG_CUDA_COUNTING, *order, (int64_t) PMG_CUDA_COUNTING,
			    g->n_runs);
}

static inline void pmg_cuda_inspect_offsets(pmg_cuda_inspecting *g, const pmg_cuda_order *order)
{
	const pmg_device_inspection *in = g->in;
	int type = 0;
	void *array = pmg_cuda_inspect_new(g, in->desc->segments, in->n_values + 1, &type);

	if (array)
		PMG_INSPECT(g, pmg_cuda_segments, in->n_values + 1, *order, in->n_values, array, type);
	array = pmg_cuda_inspect_new(g, in->desc->chunks, in->n_chunks + 1, &type);
	if (array)
		PMG_INSPECT(g, pmg_cuda_chunks, in->n_chunks + 1, *order, in->n_values, in->n_chunks, array, type);
}

static inline void pmg_cuda_inspect_copies(pmg_cuda_inspecting *g, const pmg_cuda_order *order)
{
	const pmg_device_inspection *in = g->in;

	for (int i = 0; i < in->desc->n_copies; i++) {
		pmg_cuda_copy copy = { g->from[i], NULL, in->from[i].type, 0 };

		copy.to = pmg_cuda_inspect_new(g, in->desc->copies[i].to, in->n, &copy.to_type);
		if (copy.to)
			PMG_INSPECT(g, pmg_cuda_copies, in->n, *order, copy);
	}
}

static inline void pmg_cuda_inspect_samples(pmg_cuda_inspecting *g, const pmg_cuda_order *order)
{
	const pmg_device_inspection *in = g->in;

	if (!in->begins)
		return;
	PMG_INSPECT(g, pmg_cuda_samples, in->n_values + 1, *order, in->n_values,
		    in->desc->n_keys > 1 ? in->keys[1].bits : 0, g->begins, g->quartiles);
	if (g->status == PMG_OK)
		g->status = pmg_cuda_to_host(g->plan, in->begins, g->begins,
					     (3*in->n_values + 1)*(int64_t) sizeof(int64_t));
}

/* Nothing was made. */
static inline void pmg_cuda_inspect_undo(pmg_cuda_inspecting *g)
{
	const pmg_restructure_desc *desc = g->in->desc;
	const int32_t offsets[] = { desc->segments, desc->chunks };
	void **own = pmg_cuda_of(g->plan)->own;

	for (int i = 0; i < 2 + desc->n_copies; i++) {
		const int32_t array = i < 2 ? offsets[i] : desc->copies[i - 2].to;

		if (array < 0)
			continue;
		(void) cudaFree(own[array]);
		own[array] = NULL;
	}
}

static inline double pmg_cuda_seconds()
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double) time.tv_sec + 1e-9*(double) time.tv_nsec;
}

static inline bool pmg_cuda_inspect_all(pmg_cuda_inspecting *g)
{
	pmg_cuda_order order;
	int fails = 0;
	double start = pmg_cuda_seconds();

	pmg_cuda_inspect_order(g, &order);
	pmg_cuda_inspect_offsets(g, &order);
	pmg_cuda_inspect_copies(g, &order);
	pmg_cuda_inspect_samples(g, &order);
	if (g->status == PMG_OK)
		g->status = pmg_cuda_to_host(g->plan, &fails, g->fails, sizeof fails);
	if (g->status == PMG_OK)
		g->status = pmg_cuda_to_host(g->plan, &g->in->n_runs, g->n_runs, sizeof g->in->n_runs);
	g->in->seconds += pmg_cuda_seconds() - start;
	return !fails;
}

/* Makes all arrays of a restructuring on the device, or none: then the host has to. */
static inline pmg_status pmg_cuda_inspect(pmg_plan *plan, pmg_device_inspection *in, bool *is_made)
{
	pmg_cuda_inspecting g = pmg_cuda_inspecting();

	g.plan = plan;
	g.in = in;
	g.from = (const void **) calloc((size_t) in->desc->n_copies + 1, sizeof *g.from);
	g.status = g.from ? PMG_OK : pmg_plan_fail(plan, PMG_NO_RESOURCES, "no memory for a plan of '%s'",
						   pmg_plan_name(plan));
	pmg_cuda_of(plan)->status = PMG_OK;
	if (g.status == PMG_OK)
		pmg_cuda_inspect_open(&g);
	if (g.status == PMG_OK && g.pool.memory) {
		pmg_cuda_inspect_data(&g);
		*is_made = g.status == PMG_OK && pmg_cuda_inspect_all(&g) && g.status == PMG_OK;
		if (!*is_made)
			pmg_cuda_inspect_undo(&g);
	}
	(void) cudaFree(g.pool.memory);
	free(g.from);
	return g.status;
}

#endif
