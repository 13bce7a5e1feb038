/* SPDX-License-Identifier: MIT
 *
 * The way from the first GPU code to the thesis' best, one step at a time (K. Aggarwal, IISc 2020, figure 4.3, 4.2.2
 * and figure 6.3), and what ReAl-LiFE does (6.4.1, 7.1), after their descriptions:
 *   ref          a thread for each coefficient, one direction after another, atomic updates
 *   partitioned  a block for each voxel, or coefficient: no atomics for y = M w; sums of a block in shared memory,
 *                which its first thread adds up (the thesis does not say how)
 *   shared       the row of a voxel in shared memory, waited for at each coefficient; sums by shuffles
 *   warp         blocks of one warp, which waits by __syncwarp
 *   warps        four warps in a block, each for itself
 *   opt          for y = M w, the loop over coefficients unrolled by eight
 *   opt_cut      the same with voxels cut, in both products, so that no warp has all of a long one: parts of a voxel
 *                add their rows by atomics
 *   real         blocks of one warp for each voxel in both products, the row in shared memory, __syncthreads at each
 *                coefficient, nothing left out where a weight is zero
 * (`restructured` is ref on coefficients sorted by voxel.) */
#ifndef BENCH_HANDTUNED_LIFE_GPU_STEPS_H
#define BENCH_HANDTUNED_LIFE_GPU_STEPS_H

enum { STEP_WARP = 32, STEP_WARPS = 4, STEP_UNROLLED = 8, STEP_THREADS = 256 };
typedef unsigned long step_number;      /* of an atom, a voxel, a fiber: the thesis' ULong */

struct step_tensor {
	int64_t n;
	int n_theta, n_parts;
	const int *part_voxel, *part_begin;     /* by block, or warp */
	const bool *part_is_whole;
	const step_number *atom, *voxel, *fiber;
	const double *value, *D;
};

static __device__ double step_warp_sum(double x)
{
	for (int lanes = STEP_WARP/2; lanes > 0; lanes /= 2)
		x += __shfl_xor_sync(0xffffffffu, x, lanes);
	return x;
}

/* The sum over a block, in its first thread, by shuffles or (is_by_first) by itself. */
static __device__ double step_block_sum(double x, bool is_by_first)
{
	__shared__ double sums[1024];

	if (!is_by_first)
		x = step_warp_sum(x);
	sums[threadIdx.x] = x;
	__syncthreads();
	if (threadIdx.x == 0)
		for (unsigned i = is_by_first ? 1 : STEP_WARP; i < blockDim.x; i += is_by_first ? 1 : STEP_WARP)
			x += sums[i];
	__syncthreads();
	return x;
}

/* ---- y = M w ---- */

static __global__ void ref_dsc(step_tensor s, const double *w, double *Y)
{
	const int64_t stride = (int64_t) gridDim.x*blockDim.x;

	for (int64_t k = (int64_t) blockIdx.x*blockDim.x + threadIdx.x; k < s.n; k += stride) {
		const double weight = w[s.fiber[k]], value = s.value[k], *atom = s.D + (int64_t) s.atom[k]*s.n_theta;
		double *row = Y + (int64_t) s.voxel[k]*s.n_theta;

		for (int t = 0; t < s.n_theta; t++)
			atomicAdd(&row[t], atom[t]*weight*value);
	}
}

static __global__ void partitioned_dsc(step_tensor s, const double *w, double *Y)
{
	const int part = blockIdx.x;
	double *row = Y + (int64_t) s.part_voxel[part]*s.n_theta;

	for (int k = s.part_begin[part]; k < s.part_begin[part + 1]; k++) {
		const double factor = w[s.fiber[k]]*s.value[k];

		for (int t = threadIdx.x; factor != 0 && t < s.n_theta; t += blockDim.x)
			row[t] += s.D[(int64_t) s.atom[k]*s.n_theta + t]*factor;
	}
}

/* Each group of `width` threads of a block (0: all) has a part of its own. */
template <int width, int unrolled, bool is_warp, bool skips> static __global__ void
shared_dsc(step_tensor s, const double *w, double *Y)
{
	extern __shared__ double rows[];
	const int n = width ? width : blockDim.x, lane = threadIdx.x % n, group = threadIdx.x/n;
	const int part = blockIdx.x*(blockDim.x/n) + group;
	double *row = rows + group*s.n_theta;

	if (part >= s.n_parts)
		return;
	for (int t = lane; t < s.n_theta; t += n)
		row[t] = s.part_is_whole[part] ? Y[(int64_t) s.part_voxel[part]*s.n_theta + t] : 0;
#pragma unroll unrolled
	for (int k = s.part_begin[part]; k < s.part_begin[part + 1]; k++) {
		const double weight = w[s.fiber[k]];

		if (!skips || weight != 0) {
			const double factor = weight*s.value[k];
			const double *atom = s.D + (int64_t) s.atom[k]*s.n_theta;

			for (int t = lane; t < s.n_theta; t += n)
				row[t] += atom[t]*factor;
		}
		if (is_warp)
			__syncwarp();
		else
			__syncthreads();
	}
	for (int t = lane; t < s.n_theta; t += n) {
		double *cell = &Y[(int64_t) s.part_voxel[part]*s.n_theta + t];

		if (s.part_is_whole[part])
			*cell = row[t];
		else
			atomicAdd(cell, row[t]);
	}
}

/* ---- w = M'y ---- */

static __global__ void ref_wc(step_tensor s, const double *Y, double *w)
{
	const int64_t stride = (int64_t) gridDim.x*blockDim.x;

	for (int64_t k = (int64_t) blockIdx.x*blockDim.x + threadIdx.x; k < s.n; k += stride) {
		double sum = 0;

		for (int t = 0; t < s.n_theta; t++)
			sum += s.D[(int64_t) s.atom[k]*s.n_theta + t]*Y[(int64_t) s.voxel[k]*s.n_theta + t];
		atomicAdd(&w[s.fiber[k]], sum*s.value[k]);
	}
}

/* What a thread has of the product of coefficient k; n threads share it. */
static __device__ double step_dot(const step_tensor &s, int64_t k, int lane, int n, const double *row)
{
	double sum = 0;

	for (int t = lane; t < s.n_theta; t += n)
		sum += s.D[(int64_t) s.atom[k]*s.n_theta + t]*row[t];
	return sum;
}

template <bool is_by_first> static __global__ void partitioned_wc(step_tensor s, const double *Y, double *w)
{
	const int64_t k = blockIdx.x;
	const double *row = Y + (int64_t) s.voxel[k]*s.n_theta;
	const double sum = step_block_sum(step_dot(s, k, threadIdx.x, blockDim.x, row), is_by_first);

	if (threadIdx.x == 0)
		atomicAdd(&w[s.fiber[k]], sum*s.value[k]);
}

static __global__ void warp_wc(step_tensor s, const double *Y, double *w)
{
	const int lane = threadIdx.x % STEP_WARP;
	const int64_t k = (int64_t) blockIdx.x*(blockDim.x/STEP_WARP) + threadIdx.x/STEP_WARP;

	if (k >= s.n)
		return;
	const double sum = step_warp_sum(step_dot(s, k, lane, STEP_WARP, Y + (int64_t) s.voxel[k]*s.n_theta));
	if (lane == 0)
		atomicAdd(&w[s.fiber[k]], sum*s.value[k]);
}

static __global__ void cut_wc(step_tensor s, const double *Y, double *w)
{
	const int lane = threadIdx.x % STEP_WARP;
	const int part = blockIdx.x*(blockDim.x/STEP_WARP) + threadIdx.x/STEP_WARP;

	if (part >= s.n_parts)
		return;
	for (int k = s.part_begin[part]; k < s.part_begin[part + 1]; k++) {
		const double *row = Y + (int64_t) s.part_voxel[part]*s.n_theta;
		const double sum = step_warp_sum(step_dot(s, k, lane, STEP_WARP, row));

		if (lane == 0)
			atomicAdd(&w[s.fiber[k]], sum*s.value[k]);
		__syncwarp();
	}
}

static __global__ void real_wc(step_tensor s, const double *Y, double *w)
{
	extern __shared__ double rows[];
	const int part = blockIdx.x;

	for (int t = threadIdx.x; t < s.n_theta; t += blockDim.x)
		rows[t] = Y[(int64_t) s.part_voxel[part]*s.n_theta + t];
	__syncthreads();
	for (int k = s.part_begin[part]; k < s.part_begin[part + 1]; k++) {
		const double sum = step_warp_sum(step_dot(s, k, threadIdx.x, STEP_WARP, rows));

		if (threadIdx.x == 0)
			atomicAdd(&w[s.fiber[k]], sum*s.value[k]);
		__syncthreads();
	}
}

/* ---- Running ---- */

enum step {
	STEP_REF, STEP_PARTITIONED, STEP_SHARED, STEP_WARPS_1, STEP_WARPS_4, STEP_OPT, STEP_OPT_CUT, STEP_REAL
};

static int step_blocks(int64_t n, int each)
{
	return (int) ((n + each - 1)/each);
}

static void step_run_dsc(const step_tensor &s, enum step step, const double *w, double *Y)
{
	const int threads = step_blocks(s.n_theta, STEP_WARP)*STEP_WARP, n = s.n_parts;
	const int blocks = step_blocks(n, STEP_WARPS);
	const size_t shared = (size_t) s.n_theta*sizeof(double);

	switch (step) {
	case STEP_REF:
		ref_dsc<<<step_blocks(s.n, STEP_THREADS), STEP_THREADS>>>(s, w, Y);
		break;
	case STEP_PARTITIONED:
		partitioned_dsc<<<n, threads>>>(s, w, Y);
		break;
	case STEP_SHARED:
		shared_dsc<0, 1, false, true><<<n, threads, shared>>>(s, w, Y);
		break;
	case STEP_WARPS_1:
		shared_dsc<STEP_WARP, 1, true, true><<<n, STEP_WARP, shared>>>(s, w, Y);
		break;
	case STEP_WARPS_4:
		shared_dsc<STEP_WARP, 1, true, true><<<blocks, STEP_WARPS*STEP_WARP, STEP_WARPS*shared>>>(s, w, Y);
		break;
	case STEP_OPT: case STEP_OPT_CUT:
		shared_dsc<STEP_WARP, STEP_UNROLLED, true, true>
			<<<blocks, STEP_WARPS*STEP_WARP, STEP_WARPS*shared>>>(s, w, Y);
		break;
	case STEP_REAL:
		shared_dsc<STEP_WARP, 1, false, false><<<n, STEP_WARP, shared>>>(s, w, Y);
		break;
	}
}

static void step_run_wc(const step_tensor &s, enum step step, const double *Y, double *w)
{
	const int threads = step_blocks(s.n_theta, STEP_WARP)*STEP_WARP, n = (int) s.n;

	switch (step) {
	case STEP_REF:
		ref_wc<<<step_blocks(n, STEP_THREADS), STEP_THREADS>>>(s, Y, w);
		break;
	case STEP_PARTITIONED:
		partitioned_wc<true><<<n, threads>>>(s, Y, w);
		break;
	case STEP_SHARED:
		partitioned_wc<false><<<n, threads>>>(s, Y, w);
		break;
	case STEP_WARPS_1:
		warp_wc<<<n, STEP_WARP>>>(s, Y, w);
		break;
	case STEP_WARPS_4: case STEP_OPT:
		warp_wc<<<step_blocks(n, STEP_WARPS), STEP_WARPS*STEP_WARP>>>(s, Y, w);
		break;
	case STEP_OPT_CUT:
		cut_wc<<<step_blocks(s.n_parts, STEP_WARPS), STEP_WARPS*STEP_WARP>>>(s, Y, w);
		break;
	case STEP_REAL:
		real_wc<<<s.n_parts, STEP_WARP, (size_t) s.n_theta*sizeof(double)>>>(s, Y, w);
		break;
	}
}

#endif
