/* SPDX-License-Identifier: MIT
 *
 * What the kernels of the CUDA target are written with, and how they are started: the first header of a generated .cu
 * file behind its own, in CUDA C++. A plan keeps all of its arrays on the device from when it is made: fixed arrays and
 * what inspectors found go there once, other arguments with each execution, unless they are there already. Kernels run
 * one after the other in the plan's stream. A failure of CUDA is a status of the plan with CUDA's words; what follows
 * does nothing.
 *
 * A team is `pmg_team` lanes of a warp, of which a thread is number `pmg_lane`; teams are numbered by `pmg_index`. */
#ifndef PMGRT_CUDA_H
#define PMGRT_CUDA_H

#include <cuda_runtime.h>
#include <stdlib.h>
#include <string.h>

#include <pmgrt_generated.h>

#ifndef PMG_CUDA_START
#define PMG_CUDA_START(kernel, blocks, threads, shared, stream, ...) \
	kernel<<<blocks, threads, shared, stream>>>(__VA_ARGS__)
#endif

/* Threads of a block, at most; warps of one whose teams are warps, and where their rows are long. */
enum {
	PMG_CUDA_THREADS = 256, PMG_CUDA_WARP = 32, PMG_CUDA_WARPS = 4, PMG_CUDA_WARPS_LONG = 8,
	PMG_CUDA_MOST_PARTS = 1024
};

/* ---- In kernels: teams ------------------------------------------------------------------------------- */

/* Teams of a block wait for the slowest one before another block takes their place: fewer of those that are warps. But
 * they are next to each other in the order of their loop, and share a cache: more where that is what counts, which is
 * with long rows, those of doubles. Of warps a multiprocessor is to have as many as its registers suffice for: a thread
 * needs some for what it has of rows and sums, and about 20 more. With more than 1024 threads it would lack those that
 * doubles need on their way. */
enum {
	PMG_CUDA_BLOCKS = 6, PMG_CUDA_MOST_BLOCKS = 16, PMG_CUDA_REGISTERS = 65536,
	PMG_CUDA_MOST_AT_ONCE = 1024, PMG_CUDA_MOST_AT_ONCE_F32 = 1280          /* threads */
};

/* Of a block of so many warps; 0: as many as teams of so many lanes take. */
static constexpr __host__ __device__ int pmg_cuda_most_threads(int lanes, int warps)
{
	return warps > 0 ? warps*PMG_CUDA_WARP : lanes == PMG_CUDA_WARP ? PMG_CUDA_WARPS*PMG_CUDA_WARP
	     : PMG_CUDA_THREADS;
}

/* As many as have room, registers coming by eight. */
static constexpr int pmg_cuda_blocks_with(int threads, int bytes)
{
	return PMG_CUDA_REGISTERS/threads/((20 + bytes/4 + 7)/8*8);
}

static constexpr int pmg_cuda_least(int a, int b)
{
	return a < b ? a : b;
}

/* PMG_CUDA_BLOCKS: of PMG_CUDA_WARPS warps. */
static constexpr int pmg_cuda_blocks(int threads, int lanes, int bytes, int most)
{
	return lanes != PMG_CUDA_WARP ? 1
	     : bytes == 0 ? pmg_cuda_least(PMG_CUDA_BLOCKS*PMG_CUDA_WARPS*PMG_CUDA_WARP/threads, PMG_CUDA_MOST_BLOCKS)
	     : pmg_cuda_least(pmg_cuda_least(pmg_cuda_blocks_with(threads, bytes), most/threads), PMG_CUDA_MOST_BLOCKS);
}

#define PMG_BOUNDS_(warps, lanes, bytes, most) \
	__launch_bounds__(pmg_cuda_most_threads(lanes, warps), \
			  pmg_cuda_blocks(pmg_cuda_most_threads(lanes, warps), lanes, bytes, most))

/* Teams of so many lanes, each with so many bytes of rows and sums (0: not known); rows of doubles; all of floats; in
 * blocks of so many warps. */
#define PMG_BOUNDS(lanes, bytes) PMG_BOUNDS_OF(0, lanes, bytes)
#define PMG_BOUNDS_LONG(lanes, bytes) PMG_BOUNDS_OF(PMG_CUDA_WARPS_LONG, lanes, bytes)
#define PMG_BOUNDS_F32(lanes, bytes) PMG_BOUNDS_F32_OF(0, lanes, bytes)
#define PMG_BOUNDS_F32_OF(warps, lanes, bytes) PMG_BOUNDS_(warps, lanes, bytes, PMG_CUDA_MOST_AT_ONCE_F32)
#define PMG_BOUNDS_OF(warps, lanes, bytes) PMG_BOUNDS_(warps, lanes, bytes, PMG_CUDA_MOST_AT_ONCE)

/* Of `lanes` lanes, `group` share a row, and each has `width` cells of it side by side. */
#define PMG_TEAM(lanes, group, width) PMG_TEAM_OF(0, lanes, group, width)
#define PMG_TEAM_LONG(lanes, group, width) PMG_TEAM_OF(PMG_CUDA_WARPS_LONG, lanes, group, width)
#define PMG_TEAM_OF(warps, lanes, group, width) \
	constexpr int pmg_team = (lanes), pmg_group = (group), pmg_width = (width), pmg_groups = pmg_team/pmg_group; \
	constexpr int pmg_most_threads = pmg_cuda_most_threads(pmg_team, warps); \
	constexpr bool pmg_once = false; \
	const int pmg_lane = (int) (threadIdx.x % pmg_team), pmg_member = pmg_lane % pmg_group; \
	const int pmg_group_number = pmg_lane/pmg_group; \
	const int64_t pmg_index = ((int64_t) blockIdx.x*blockDim.x + threadIdx.x)/pmg_team; \
	const int64_t pmg_teams = (int64_t) gridDim.x*blockDim.x/pmg_team; \
	(void) pmg_lane, (void) pmg_member, (void) pmg_group_number, (void) pmg_groups, (void) pmg_index; \
	(void) pmg_teams, (void) pmg_width, (void) pmg_once, (void) pmg_most_threads

template <int team> static __device__ unsigned pmg_cuda_mask()
{
	if (team == PMG_CUDA_WARP)
		return 0xffffffffu;
	return ((1u << team % PMG_CUDA_WARP) - 1u) << (threadIdx.x % PMG_CUDA_WARP/team*team);
}

#define PMG_TEAM_SYNC __syncwarp(pmg_cuda_mask<pmg_team>())

/* ---- In kernels: reductions -------------------------------------------------------------------------------- */

struct pmg_cuda_add {
	template <class T> static __device__ T identity() { return (T) 0; }
	template <class T> static __device__ T of(T a, T b) { return (T) (a + b); }
};

struct pmg_cuda_prod {
	template <class T> static __device__ T identity() { return (T) 1; }
	template <class T> static __device__ T of(T a, T b) { return (T) (a*b); }
};

/* NaN if one of the two is. */
struct pmg_cuda_min {
	template <class T> static __device__ T of(T a, T b) { return (a < b) | (a != a) ? a : b; }
};

struct pmg_cuda_max {
	template <class T> static __device__ T of(T a, T b) { return (a > b) | (a != a) ? a : b; }
};

/* Values of any size, as words that shuffles know. */
template <class T> static __device__ T pmg_cuda_shuffle_xor(unsigned mask, T value, int lanes, int width)
{
	if (sizeof(T) == 8) {
		unsigned long long bits;

		memcpy(&bits, &value, sizeof(T));
		bits = __shfl_xor_sync(mask, bits, lanes, width);
		memcpy(&value, &bits, sizeof(T));
	} else {
		unsigned bits = 0;

		memcpy(&bits, &value, sizeof(T));
		bits = __shfl_xor_sync(mask, bits, lanes, width);
		memcpy(&value, &bits, sizeof(T));
	}
	return value;
}

/* The sum of what the lanes of each group of a team have, the same in each of them. */
template <int team, int group, class operation, class T> static __device__ T pmg_cuda_team(T value)
{
	for (int lanes = group/2; lanes > 0; lanes /= 2)
		value = operation::of(value, pmg_cuda_shuffle_xor(pmg_cuda_mask<team>(), value, lanes, team));
	return value;
}

/* Of a kernel that ends in a reduction: what each block has found, and how many have. */
struct pmg_cuda_parts {
	double values[PMG_CUDA_MOST_PARTS];     /* of 8 bytes, whatever their type */
	unsigned n_done;
};

/* Adds up what the first `n` threads of a block have, at least one, with `of`, in an order that depends on their
 * numbers alone; true in the first one. The number of threads is a power of two. */
template <class operation, class T> static __device__ bool pmg_cuda_block(T *value, unsigned n)
{
	__shared__ double shared[PMG_CUDA_THREADS];
	const unsigned thread = threadIdx.x;
	T other;

	memcpy(&shared[thread], value, sizeof(T));
	for (unsigned half = blockDim.x/2; half > 0; half /= 2) {
		__syncthreads();
		if (thread < half && thread + half < n) {
			memcpy(&other, &shared[thread + half], sizeof(T));
			*value = operation::of(*value, other);
			memcpy(&shared[thread], value, sizeof(T));
		}
	}
	__syncthreads();
	return thread == 0;
}

/* Sums of all threads: of blocks first, then by the block that is the last to come, in an order of the blocks that
 * does not depend on who comes when. True in one thread of all, which has the sum. */
template <class operation, class T> static __device__ bool pmg_cuda_grid(T *value, pmg_cuda_parts *parts)
{
	__shared__ unsigned before[1];
	const unsigned n = gridDim.x, thread = threadIdx.x;
	const bool is_first = pmg_cuda_block<operation>(value, blockDim.x);
	T part;

	if (is_first) {
		memcpy(&parts->values[blockIdx.x], value, sizeof(T));
		__threadfence();
		before[0] = atomicAdd(&parts->n_done, 1u);
	}
	__syncthreads();
	if (before[0] != n - 1)
		return false;
	__threadfence();
	for (unsigned i = thread; i < n; i += blockDim.x) {
		memcpy(&part, (const char *) &parts->values[i], sizeof(T));
		*value = i == thread ? part : operation::of(*value, part);
	}
	if (!pmg_cuda_block<operation>(value, n < blockDim.x ? n : blockDim.x))
		return false;
	parts->n_done = 0;
	return true;
}

/* ---- In kernels: updates that may meet ------------------------------------------------------------------------ */

/* By compare and exchange of the word around the cell. */
template <class operation, class T> static __device__ void pmg_cuda_exchange(T *target, T value)
{
	if (sizeof(T) == 8) {
		unsigned long long *word = (unsigned long long *) (void *) target, seen = *word, before, after;

		do {
			T cell;

			before = seen;
			memcpy(&cell, &before, sizeof(T));
			cell = operation::of(cell, value);
			memcpy(&after, &cell, sizeof(T));
			seen = after == before ? before : atomicCAS(word, before, after);
		} while (seen != before);
	} else {
		const uintptr_t at = (uintptr_t) target;
		unsigned *word = (unsigned *) (at & ~(uintptr_t) 3), seen = *word, before, after;
		const unsigned shift = (unsigned) (at & 3)*8;
		const unsigned cell_bits = sizeof(T) == 4 ? 0xffffffffu : (1u << sizeof(T)*8 % 32) - 1u;

		do {
			unsigned bits;
			T cell;

			before = seen;
			bits = before >> shift;
			memcpy(&cell, &bits, sizeof(T));
			cell = operation::of(cell, value);
			bits = 0;
			memcpy(&bits, &cell, sizeof(T));
			after = (before & ~(cell_bits << shift)) | bits << shift;
			seen = after == before ? before : atomicCAS(word, before, after);
		} while (seen != before);
	}
}

template <class T> static __device__ void pmg_cuda_atomic_add(T *target, T value)
{
	pmg_cuda_exchange<pmg_cuda_add>(target, value);
}

template <> __device__ void pmg_cuda_atomic_add<double>(double *target, double value)
{
	atomicAdd(target, value);
}

template <> __device__ void pmg_cuda_atomic_add<float>(float *target, float value)
{
	atomicAdd(target, value);
}

template <> __device__ void pmg_cuda_atomic_add<int64_t>(int64_t *target, int64_t value)
{
	atomicAdd((unsigned long long *) (void *) target, (unsigned long long) value);
}

template <> __device__ void pmg_cuda_atomic_add<int32_t>(int32_t *target, int32_t value)
{
	atomicAdd(target, value);
}

template <class T> static __device__ void pmg_cuda_atomic_prod(T *target, T value)
{
	pmg_cuda_exchange<pmg_cuda_prod>(target, value);
}

template <class T> static __device__ void pmg_cuda_atomic_min(T *target, T value)
{
	pmg_cuda_exchange<pmg_cuda_min>(target, value);
}

template <class T> static __device__ void pmg_cuda_atomic_max(T *target, T value)
{
	pmg_cuda_exchange<pmg_cuda_max>(target, value);
}

/* ---- In kernels: bad values: the first one is kept -------------------------------------------------------------- */

/* A pivot of an elimination (pmgrt_pivot.h). */
struct pmg_cuda_bad_pivot {
	int is_claimed;
	int32_t elimination;
	int64_t row, system;
	double pivot;
};

/* What ends an execution: an index, or a pivot that is zero; a pivot that is not finite is noted for the host, which
 * knows whether that is an error. */
struct pmg_cuda_bad_index {
	int is_claimed;
	int32_t array;
	int64_t position, value;
	pmg_cuda_bad_pivot zero, infinite;
};

static inline __device__ void pmg_bad_index(pmg_cuda_bad_index *bad, int32_t array, int64_t position, int64_t value)
{
	if (atomicExch(&bad->is_claimed, 1) != 0)
		return;
	bad->array = array;
	bad->position = position;
	bad->value = value;
}

static inline __device__ void pmg_cuda_note_pivot(pmg_cuda_bad_pivot *bad, double pivot, int32_t elimination,
						  int64_t row, int64_t system)
{
	if (atomicExch(&bad->is_claimed, 1) != 0)
		return;
	bad->elimination = elimination;
	bad->row = row;
	bad->system = system;
	bad->pivot = pivot;
}

static inline __device__ void pmg_check_pivot(pmg_cuda_bad_index *bad, double pivot, int32_t elimination, int64_t row,
					      int64_t system)
{
	if (fabs(pivot) > pivot - pivot)
		return;
	pmg_cuda_note_pivot(pivot == 0 ? &bad->zero : &bad->infinite, pivot, elimination, row, system);
	if (pivot == 0)
		bad->is_claimed = 1;
}

/* ---- In kernels: loops of the host ------------------------------------------------------------------------------ */

/* Where an `iterate` stands. The host starts iterations ahead of what it knows: those that are not to be do nothing. */
struct pmg_cuda_loop {
	int64_t it;                     /* the iteration that runs, or would be next */
	int is_over;                    /* `until` holds, or a value was bad */
};

/* At the head of kernels of its body. */
#define PMG_IN_LOOP \
	if (pmg_loop->is_over) \
		return

static __global__ void pmg_cuda_stop_if_bad(pmg_cuda_loop *loop, const pmg_cuda_bad_index *bad)
{
	if (threadIdx.x == 0 && bad->is_claimed)
		loop->is_over = 1;
}

/* Goes `advance` iterations on; false: it is over. */
static inline __device__ bool pmg_cuda_advance(pmg_cuda_loop *loop, const pmg_cuda_bad_index *bad, int64_t advance)
{
	if (threadIdx.x > 0 || loop->is_over)
		return false;
	loop->is_over = bad->is_claimed;
	loop->it += loop->is_over ? 0 : advance;
	return !loop->is_over;
}

#include <pmgrt_cuda_block.h>
#include <pmgrt_cuda_row.h>
#include <pmgrt_cuda_plan.h>

#endif
