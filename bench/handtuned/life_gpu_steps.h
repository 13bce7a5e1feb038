/* SPDX-License-Identifier: MIT
 *
 * The way from the first GPU code to the thesis' best, one step at a time (K. Aggarwal, IISc 2020, 4.2.2 and figure
 * 6.3), and what ReAl-LiFE does (6.4.1, 7.1), after their descriptions:
 *   partitioned  a block for each voxel, or for 32 coefficients: no atomics for y = M w; sums of a block in shared
 *                memory
 *   shared       the row of a voxel in shared memory; sums by shuffles
 *   warp         blocks of one warp, which waits by __syncwarp
 *   warps        four warps in a block, each for itself
 *   real         a block for each voxel in both products, the row in shared memory, __syncthreads at each coefficient,
 *                nothing left out where a weight is zero
 * (The step before, `restructured`, is the first code on coefficients sorted by voxel; the one behind unrolls.) */
#ifndef BENCH_HANDTUNED_LIFE_GPU_STEPS_H
#define BENCH_HANDTUNED_LIFE_GPU_STEPS_H

enum { STEP_WARP = 32, STEP_EACH = 32 };
typedef unsigned long step_number;      /* of an atom, a voxel, a fiber: the thesis' ULong */

struct step_tensor {
	int n, n_theta, n_parts;
	const int *part_voxel, *part_begin;     /* by block, or warp */
	const step_number *atom, *voxel, *fiber;
	const double *value, *D;
};

static __device__ void step_wait(bool is_warp)
{
	if (is_warp)
		__syncwarp();
	else
		__syncthreads();
}

static __device__ double step_warp_sum(double x)
{
	for (int lanes = STEP_WARP/2; lanes > 0; lanes /= 2)
		x += __shfl_xor_sync(0xffffffffu, x, lanes);
	return x;
}

/* The sum over a block, in its first thread, by shuffles or (is_tree) in shared memory. */
static __device__ double step_block_sum(double x, bool is_tree)
{
	__shared__ double sums[1024];

	if (!is_tree)
		x = step_warp_sum(x);
	sums[threadIdx.x] = x;
	__syncthreads();
	if (threadIdx.x == 0)
		for (unsigned i = is_tree ? 1 : STEP_WARP; i < blockDim.x; i += is_tree ? 1 : STEP_WARP)
			x += sums[i];
	__syncthreads();
	return x;
}

/* ---- y = M w ---- */

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

/* `warps` of a block have each a voxel of their own, or, where there are none, all threads one. */
template <int warps, bool skips> static __global__ void shared_dsc(step_tensor s, const double *w, double *Y)
{
	extern __shared__ double rows[];
	const int width = warps ? STEP_WARP : blockDim.x, lane = threadIdx.x % width, group = threadIdx.x/width;
	const int part = blockIdx.x*(warps ? warps : 1) + group;
	double *row = rows + group*(s.n_theta + 1), *factor = row + s.n_theta;

	if (part >= s.n_parts)
		return;
	for (int t = lane; t < s.n_theta; t += width)
		row[t] = 0;
	for (int k = s.part_begin[part]; k < s.part_begin[part + 1]; k++) {
		if (lane == 0)
			*factor = w[s.fiber[k]]*s.value[k];
		step_wait(warps);
		for (int t = lane; (!skips || *factor != 0) && t < s.n_theta; t += width)
			row[t] += s.D[(int64_t) s.atom[k]*s.n_theta + t]**factor;
		step_wait(warps);
	}
	for (int t = lane; t < s.n_theta; t += width)
		Y[(int64_t) s.part_voxel[part]*s.n_theta + t] = row[t];
}

/* ---- w = M'y ---- */

template <bool is_tree> static __global__ void partitioned_wc(step_tensor s, const double *Y, double *w)
{
	const int64_t begin = (int64_t) blockIdx.x*STEP_EACH;

	for (int64_t k = begin; k < begin + STEP_EACH && k < s.n; k++) {
		double sum = 0;

		for (int t = threadIdx.x; t < s.n_theta; t += blockDim.x)
			sum += s.D[(int64_t) s.atom[k]*s.n_theta + t]*Y[(int64_t) s.voxel[k]*s.n_theta + t];
		sum = step_block_sum(sum, is_tree);
		if (threadIdx.x == 0)
			atomicAdd(&w[s.fiber[k]], sum*s.value[k]);
	}
}

template <int warps> static __global__ void warp_wc(step_tensor s, const double *Y, double *w)
{
	const int lane = threadIdx.x % STEP_WARP;
	const int64_t begin = ((int64_t) blockIdx.x*warps + threadIdx.x/STEP_WARP)*STEP_EACH;

	for (int64_t k = begin; k < begin + STEP_EACH && k < s.n; k++) {
		double sum = 0;

		for (int t = lane; t < s.n_theta; t += STEP_WARP)
			sum += s.D[(int64_t) s.atom[k]*s.n_theta + t]*Y[(int64_t) s.voxel[k]*s.n_theta + t];
		sum = step_warp_sum(sum);
		if (lane == 0)
			atomicAdd(&w[s.fiber[k]], sum*s.value[k]);
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
		double sum = 0;

		for (int t = threadIdx.x; t < s.n_theta; t += blockDim.x)
			sum += s.D[(int64_t) s.atom[k]*s.n_theta + t]*rows[t];
		sum = step_block_sum(sum, false);
		if (threadIdx.x == 0)
			atomicAdd(&w[s.fiber[k]], sum*s.value[k]);
	}
}

/* ---- Running ---- */

enum step { STEP_PARTITIONED, STEP_SHARED, STEP_WARPS_1, STEP_WARPS_4, STEP_REAL };

static void step_run_dsc(const step_tensor &s, enum step step, const double *w, double *Y)
{
	const int threads = (s.n_theta + STEP_WARP - 1)/STEP_WARP*STEP_WARP, n = s.n_parts;
	const size_t shared = (size_t) (s.n_theta + 1)*sizeof(double);

	switch (step) {
	case STEP_PARTITIONED:
		partitioned_dsc<<<n, threads>>>(s, w, Y);
		break;
	case STEP_SHARED:
		shared_dsc<0, true><<<n, threads, shared>>>(s, w, Y);
		break;
	case STEP_WARPS_1:
		shared_dsc<1, true><<<n, STEP_WARP, shared>>>(s, w, Y);
		break;
	case STEP_WARPS_4:
		shared_dsc<4, true><<<(n + 3)/4, 4*STEP_WARP, 4*shared>>>(s, w, Y);
		break;
	case STEP_REAL:
		shared_dsc<0, false><<<n, threads, shared>>>(s, w, Y);
		break;
	}
}

static void step_run_wc(const step_tensor &s, enum step step, const double *Y, double *w)
{
	const int threads = (s.n_theta + STEP_WARP - 1)/STEP_WARP*STEP_WARP, n = (s.n + STEP_EACH - 1)/STEP_EACH;

	switch (step) {
	case STEP_PARTITIONED:
		partitioned_wc<true><<<n, threads>>>(s, Y, w);
		break;
	case STEP_SHARED:
		partitioned_wc<false><<<n, threads>>>(s, Y, w);
		break;
	case STEP_WARPS_1:
		warp_wc<1><<<n, STEP_WARP>>>(s, Y, w);
		break;
	case STEP_WARPS_4:
		warp_wc<4><<<(n + 3)/4, 4*STEP_WARP>>>(s, Y, w);
		break;
	case STEP_REAL:
		real_wc<<<s.n_parts, threads, (size_t) s.n_theta*sizeof(double)>>>(s, Y, w);
		break;
	}
}

#endif
