/* SPDX-License-Identifier: MIT
 *
 * Many tridiagonal systems by hand for a GPU (systems_gpu.h): a thread for each, interleaved (tri_gpu_thomas.h),
 * cuSPARSE (tri_gpu_sparse.h), lanes that share a system as it lies (tri_gpu_hybrid.h). Here a method is made ready:
 * which layout, how many lanes and rows, what to bring back before it runs again. */
extern "C" {
#include "systems_gpu.h"
}

#include <cuda_runtime.h>

#include "systems_gpu_batch.h"
#include "tri_gpu_hybrid.h"
#include "tri_gpu_thomas.h"
#ifdef __NVCC__
#include "tri_gpu_sparse.h"
#endif

/* ---- A thread for each system ---- */

template <class T> static bool prepare_thomas(systems_gpu *gpu, const systems_gpu_method *method, systems_gpu_call *call)
{
	const gpu_layout *layout = gpu_layout_of(gpu, gpu->batch.n_systems, method->is_sorted);
	const bool has_own_length = method->code == SYSTEMS_GPU_THOMAS_NCP;
	const int threads = thomas_threads(gpu->batch.n_systems);
	const int64_t blocks = gpu_ceiling(gpu->batch.n_systems, threads);

	if (!layout)
		return false;
	const thomas_arrays<T> a = { (T *) gpu->work[SYSTEMS_GPU_UPPER], (T *) layout->in[SYSTEMS_GPU_LOWER],
				     (T *) layout->in[SYSTEMS_GPU_DIAG], (T *) gpu->work[SYSTEMS_GPU_RHS], NULL };
	const gpu_shape shape = layout->shape;

	call->state->layout = layout;
	call->state->x = a.rhs;
	call->state->restore = [=] {
		return gpu_restore(gpu, layout->in, gpu_layout_bytes(gpu, layout->shape),
				   1u << SYSTEMS_GPU_UPPER | 1u << SYSTEMS_GPU_RHS);
	};
	call->state->start = [=] {
		GPU_START(thomas_kernel<T>, blocks, threads, 0, shape, a, has_own_length);
		return true;
	};
	snprintf(call->layout, sizeof(call->layout), "interleaved%s, blocks of %d threads",
		 method->is_sorted ? " by size" : "", threads);
	return true;
}

template <class T> static bool
prepare_registers(systems_gpu *gpu, const systems_gpu_method *method, systems_gpu_call *call)
{
	const gpu_layout *layout = gpu_layout_of(gpu, gpu->batch.n_systems, method->is_sorted);
	const int threads = thomas_threads(gpu->batch.n_systems);
	const int64_t blocks = gpu_ceiling(gpu->batch.n_systems, threads);

	if (!layout)
		return false;
	const thomas_arrays<T> a = { (T *) layout->in[SYSTEMS_GPU_UPPER], (T *) layout->in[SYSTEMS_GPU_LOWER],
				     (T *) layout->in[SYSTEMS_GPU_DIAG], (T *) layout->in[SYSTEMS_GPU_RHS],
				     (T *) layout->x };
	T *const upper = (T *) gpu->work[SYSTEMS_GPU_UPPER];
	const gpu_shape shape = layout->shape;

	call->state->layout = layout;
	call->state->x = layout->x;
	call->state->start = [=] {
		GPU_START(thomas_kernel_registers<T>, blocks, threads, 0, shape, a, upper);
		return true;
	};
	snprintf(call->layout, sizeof(call->layout), "interleaved, blocks of %d threads", threads);
	return true;
}

/* ---- Lanes that share a system ---- */

/* Rows of a lane; lanes of a system in a block, and the blocks that share it. */
struct hybrid_choice {
	int rows, lanes, blocks;
};

/* What was best on an H200. Below `FEW` unknowns more lanes are worth more than what they cost. */
template <class T> static hybrid_choice hybrid_best(const systems_gpu *gpu)
{
	enum { FEW = 300000, MANY_32 = 2000000, MEDIUM = 1024, LONG = 4096, BATCH = 100, FULL = 1000 };
	const system_batch &b = gpu->batch;
	const int n = (int) b.n;

	if (sizeof(T) == sizeof(double)) {
		if (n > LONG)
			return { 16, b.n_systems < BATCH ? 64 : 128, 0 };
		if (n > LONG/2 && b.n_systems >= BATCH)
			return { 16, b.n_systems < FULL ? 256 : 128, 0 };
		return { n <= MEDIUM && b.n_rows < FEW ? 8 : 16, 0, 1 };
	}
	if (n > LONG)
		return b.n_systems >= FULL ? hybrid_choice{ 32, 128, 0 } : hybrid_choice{ 32, 0, 1 };
	if (n >= LONG/2 && b.n_rows >= MANY_32)
		return { 32, 0, 1 };
	return { b.n_rows < FEW ? 8 : 16, 0, 1 };
}

/* Lanes are a power of 2, so that shuffles stay within a system. */
static void hybrid_complete(hybrid_choice *choice, int64_t n)
{
	const int64_t needed = gpu_ceiling(n, choice->rows);
	int lanes = 1;

	while (lanes < needed && (choice->lanes == 0 || lanes < choice->lanes))
		lanes *= 2;
	choice->lanes = lanes;
	choice->blocks = 1;
	while ((int64_t) choice->blocks*lanes < needed)
		choice->blocks *= 2;
}

static hybrid_choice hybrid_choose(const systems_gpu *gpu, const systems_gpu_method *method)
{
	hybrid_choice choice = gpu->element == sizeof(double) ? hybrid_best<double>(gpu) : hybrid_best<float>(gpu);

	if (method->variant)
		choice = { method->variant, method->lanes, 0 };
	hybrid_complete(&choice, gpu->batch.n);
	return choice;
}

template <class T, int R, int reach> static bool
prepare_reach(systems_gpu *gpu, const hybrid_choice &choice, const hybrid_batch<T> &b, systems_gpu_call *call)
{
	const int threads = reach == HYBRID_WARP ? HYBRID_WARPS*GPU_WARP : choice.lanes;
	const size_t stage = 4*(size_t) threads*hybrid_pitch<T, R>::PITCH*sizeof(T);
	const size_t n_warps = (size_t) (choice.lanes*choice.blocks)/GPU_WARP;
	const size_t shared = stage + (reach == HYBRID_WARP ? 0 : n_warps*sizeof(hybrid_edge<T>));
	const int64_t each = reach == HYBRID_WARP ? (int64_t) threads/choice.lanes : 1;
	const int64_t blocks = gpu_ceiling(gpu->batch.n_systems, each)*choice.blocks;

#ifdef __NVCC__
	const auto kernel = hybrid_kernel<T, R, reach>;

	if (!gpu_allow_shared(kernel, shared))
		return false;
	if (reach == HYBRID_CLUSTER) {
		call->state->start = [=] {
			cudaLaunchConfig_t config = {};
			cudaLaunchAttribute attribute = {};

			attribute.id = cudaLaunchAttributeClusterDimension;
			attribute.val.clusterDim = { (unsigned) choice.blocks, 1, 1 };
			config.gridDim = dim3((unsigned) blocks);
			config.blockDim = dim3((unsigned) threads);
			config.dynamicSmemBytes = shared;
			config.attrs = &attribute;
			config.numAttrs = 1;
			return gpu_is_ok(cudaLaunchKernelEx(&config, kernel, b));
		};
		return true;
	}
#endif
	call->state->start = [=] {
		GPU_START((hybrid_kernel<T, R, reach>), blocks, threads, shared, b);
		return true;
	};
	return true;
}

template <class T, int R> static bool
prepare_rows(systems_gpu *gpu, const hybrid_choice &choice, systems_gpu_call *call)
{
	const hybrid_batch<T> b = {
		gpu->batch.n_systems, (int) gpu->batch.n, choice.lanes, choice.blocks,
		gpu->is_equal ? NULL : gpu->offset, (const T *) gpu->array[SYSTEMS_GPU_LOWER],
		(const T *) gpu->array[SYSTEMS_GPU_DIAG], (const T *) gpu->array[SYSTEMS_GPU_UPPER],
		(const T *) gpu->array[SYSTEMS_GPU_RHS], (T *) gpu->array[SYSTEMS_GPU_X]
	};

	if (choice.lanes <= GPU_WARP && choice.blocks == 1)
		return prepare_reach<T, R, HYBRID_WARP>(gpu, choice, b, call);
	if (choice.blocks == 1)
		return prepare_reach<T, R, HYBRID_BLOCK>(gpu, choice, b, call);
	return prepare_reach<T, R, HYBRID_CLUSTER>(gpu, choice, b, call);
}

template <class T> static bool
prepare_hybrid(systems_gpu *gpu, const systems_gpu_method *method, systems_gpu_call *call, char *error, size_t size)
{
	enum { MOST_BLOCKS = 8 };
	const hybrid_choice choice = hybrid_choose(gpu, method);

	for (call->levels = 1; 1 << call->levels < choice.lanes*choice.blocks; call->levels++)
		;
	snprintf(call->layout, sizeof(call->layout), "%d rows, %d lanes, %d block%s", choice.rows, choice.lanes,
		 choice.blocks, choice.blocks > 1 ? "s" : "");
	if (choice.blocks > MOST_BLOCKS || choice.lanes > (choice.rows > 8 ? HYBRID_LANES/2 : HYBRID_LANES))
		return gpu_fail(error, size, "%d rows for a lane are too few for systems of %d", choice.rows,
				(int) gpu->batch.n);
	if (choice.rows == 8)
		return prepare_rows<T, 8>(gpu, choice, call);
	if (choice.rows == 16)
		return prepare_rows<T, 16>(gpu, choice, call);
	if constexpr (sizeof(T) == sizeof(float))
		return prepare_rows<T, 32>(gpu, choice, call);
	return gpu_fail(error, size, "32 rows for a lane are written for f32");
}

/* ---- What the C side calls ---- */

template <class T> static bool prepare_code(systems_gpu *gpu, const systems_gpu_method *method, systems_gpu_call *call,
					    char *error, size_t size)
{
	switch (method->code) {
	case SYSTEMS_GPU_COPY:
		return gpu_prepare_copy(gpu, call);
	case SYSTEMS_GPU_CONVERT:
		return gpu_prepare_convert(gpu, call);
	case SYSTEMS_GPU_THOMAS: case SYSTEMS_GPU_THOMAS_CP: case SYSTEMS_GPU_THOMAS_NCP:
		return prepare_thomas<T>(gpu, method, call);
	case SYSTEMS_GPU_THOMAS_REGISTERS:
		return prepare_registers<T>(gpu, method, call);
	case SYSTEMS_GPU_HYBRID:
		return prepare_hybrid<T>(gpu, method, call, error, size);
#ifdef __NVCC__
	case SYSTEMS_GPU_GTSV_STRIDED:
		for (call->levels = 1; 1 << call->levels < gpu->batch.n; call->levels++)
			;
		return sparse_prepare_strided<T>(gpu, call);
	case SYSTEMS_GPU_GTSV_INTERLEAVED:
		call->levels = 1;
		return sparse_prepare_interleaved<T>(gpu, call, method->variant);
#endif
	default:
		return gpu_fail(error, size, "it is not for tridiagonal systems");
	}
}

static bool needs_equal(enum systems_gpu_code code)
{
	return code == SYSTEMS_GPU_GTSV_STRIDED || code == SYSTEMS_GPU_GTSV_INTERLEAVED || code == SYSTEMS_GPU_THOMAS;
}

static bool is_for_lengths(enum systems_gpu_code code)
{
	return code == SYSTEMS_GPU_THOMAS_CP || code == SYSTEMS_GPU_THOMAS_NCP;
}

static const char *refusal(const systems_gpu *gpu, enum systems_gpu_code code)
{
	if (needs_equal(code) && !gpu->is_equal)
		return "it is for systems of one length";
	return is_for_lengths(code) && gpu->is_equal ? "it is for systems of several lengths" : NULL;
}
