/* SPDX-License-Identifier: MIT
 *
 * cuSPARSE's solvers for many tridiagonal systems of one length: gtsv2StridedBatch, which takes them one after the
 * other (cyclic and parallel cyclic reduction), and gtsvInterleavedBatch with its algorithms 0 (Thomas), 1 (LU with
 * pivots) and 2 (QR). */
#ifndef BENCH_HANDTUNED_TRI_GPU_SPARSE_H
#define BENCH_HANDTUNED_TRI_GPU_SPARSE_H

#include <cusparse.h>

static cusparseStatus_t sparse_strided(cusparseHandle_t h, int n, int count, const double *l, const double *d,
				       const double *u, double *x, void *scratch)
{
	return cusparseDgtsv2StridedBatch(h, n, l, d, u, x, count, n, scratch);
}

static cusparseStatus_t sparse_strided(cusparseHandle_t h, int n, int count, const float *l, const float *d,
				       const float *u, float *x, void *scratch)
{
	return cusparseSgtsv2StridedBatch(h, n, l, d, u, x, count, n, scratch);
}

static cusparseStatus_t sparse_strided_bytes(cusparseHandle_t h, int n, int count, const double *a, size_t *bytes)
{
	return cusparseDgtsv2StridedBatch_bufferSizeExt(h, n, a, a, a, a, count, n, bytes);
}

static cusparseStatus_t sparse_strided_bytes(cusparseHandle_t h, int n, int count, const float *a, size_t *bytes)
{
	return cusparseSgtsv2StridedBatch_bufferSizeExt(h, n, a, a, a, a, count, n, bytes);
}

static cusparseStatus_t sparse_interleaved(cusparseHandle_t h, int code, int n, int count, double *l, double *d,
					   double *u, double *x, void *scratch)
{
	return cusparseDgtsvInterleavedBatch(h, code, n, l, d, u, x, count, scratch);
}

static cusparseStatus_t sparse_interleaved(cusparseHandle_t h, int code, int n, int count, float *l, float *d, float *u,
					   float *x, void *scratch)
{
	return cusparseSgtsvInterleavedBatch(h, code, n, l, d, u, x, count, scratch);
}

static cusparseStatus_t sparse_interleaved_bytes(cusparseHandle_t h, int code, int n, int count, const double *a,
						 size_t *bytes)
{
	return cusparseDgtsvInterleavedBatch_bufferSizeExt(h, code, n, a, a, a, a, count, bytes);
}

static cusparseStatus_t sparse_interleaved_bytes(cusparseHandle_t h, int code, int n, int count, const float *a,
						 size_t *bytes)
{
	return cusparseSgtsvInterleavedBatch_bufferSizeExt(h, code, n, a, a, a, a, count, bytes);
}

/* A handle, and scratch memory, which end with the call. */
struct sparse_use {
	cusparseHandle_t handle;
	void *scratch;
};

static bool sparse_open(systems_gpu_call *call, sparse_use *use)
{
	cusparseHandle_t handle;

	if (cusparseCreate(&handle) != CUSPARSE_STATUS_SUCCESS)
		return false;
	use->handle = handle;
	call->state->close = [=] { cusparseDestroy(handle); };
	return true;
}

static bool sparse_scratch(systems_gpu_call *call, sparse_use *use, cusparseStatus_t status, size_t bytes)
{
	const cusparseHandle_t handle = use->handle;

	if (status != CUSPARSE_STATUS_SUCCESS || !gpu_is_ok(cudaMalloc(&use->scratch, bytes + 1))) {
		(void) cudaGetLastError();
		return false;
	}
	void *const scratch = use->scratch;

	call->state->close = [=] {
		cudaFree(scratch);
		cusparseDestroy(handle);
	};
	return true;
}

template <class T> static bool sparse_prepare_strided(systems_gpu *gpu, systems_gpu_call *call)
{
	const int n = (int) gpu->batch.n, count = (int) gpu->batch.n_systems;
	const T *upper = (const T *) gpu->array[SYSTEMS_GPU_UPPER], *lower = (const T *) gpu->array[SYSTEMS_GPU_LOWER];
	const T *diag = (const T *) gpu->array[SYSTEMS_GPU_DIAG];
	T *x = (T *) gpu->work[SYSTEMS_GPU_RHS];
	sparse_use use;
	size_t bytes = 0;

	if (!sparse_open(call, &use))
		return false;
	const cusparseStatus_t status = sparse_strided_bytes(use.handle, n, count, diag, &bytes);

	if (!sparse_scratch(call, &use, status, bytes))
		return false;
	call->state->x = x;
	call->state->restore = [=] {
		return gpu_restore(gpu, gpu->array, (size_t) gpu->batch.n_rows*sizeof(T), 1u << SYSTEMS_GPU_RHS);
	};
	call->state->start = [=] {
		return sparse_strided(use.handle, n, count, lower, diag, upper, x, use.scratch) ==
		       CUSPARSE_STATUS_SUCCESS;
	};
	return true;
}

/* All four arrays may be overwritten. */
template <class T> static bool sparse_prepare_interleaved(systems_gpu *gpu, systems_gpu_call *call, int code)
{
	const int n = (int) gpu->batch.n, count = (int) gpu->batch.n_systems;
	const gpu_layout *layout = gpu_layout_of(gpu, count, false);
	sparse_use use;
	size_t bytes = 0;

	if (!layout || !sparse_open(call, &use))
		return false;
	T *const upper = (T *) gpu->work[SYSTEMS_GPU_UPPER], *const lower = (T *) gpu->work[SYSTEMS_GPU_LOWER];
	T *const diag = (T *) gpu->work[SYSTEMS_GPU_DIAG], *const x = (T *) gpu->work[SYSTEMS_GPU_RHS];
	const cusparseStatus_t status = sparse_interleaved_bytes(use.handle, code, n, count, diag, &bytes);

	if (!sparse_scratch(call, &use, status, bytes))
		return false;
	call->state->layout = layout;
	call->state->x = x;
	call->state->restore = [=] {
		return gpu_restore(gpu, layout->in, gpu_layout_bytes(gpu, layout->shape), (1u << GPU_INPUTS) - 1);
	};
	call->state->start = [=] {
		return sparse_interleaved(use.handle, code, n, count, lower, diag, upper, x, use.scratch) ==
		       CUSPARSE_STATUS_SUCCESS;
	};
	return true;
}

#endif
