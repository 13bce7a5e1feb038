/* SPDX-License-Identifier: MIT
 *
 * A thread for each tridiagonal system, interleaved so that threads next to each other read numbers next to each other:
 * cuThomasBatch and cuThomasVBatch (Valero-Lara et al. 2018), and the same with what a row leaves in registers, one
 * reciprocal for a row, and rows read a few ahead. */
#ifndef BENCH_HANDTUNED_TRI_GPU_THOMAS_H
#define BENCH_HANDTUNED_TRI_GPU_THOMAS_H

enum { THOMAS_THREADS = 128, THOMAS_FEW = 2560, THOMAS_AHEAD = 4 };

template <class T> struct thomas_arrays {
	T *upper, *lower, *diag, *rhs, *x;
};

/* In place, as published: upper and rhs become what elimination leaves, rhs the solution. */
template <class T> static __global__ void thomas_kernel(gpu_shape s, thomas_arrays<T> a, bool has_own_length)
{
	const int64_t p = (int64_t) blockIdx.x*blockDim.x + threadIdx.x;

	if (p >= s.n_systems)
		return;
	const int n = has_own_length ? gpu_length(s, p) : s.n;
	int64_t at = gpu_place(s, p, 0);

	a.upper[at] = a.upper[at]/a.diag[at];
	a.rhs[at] = a.rhs[at]/a.diag[at];
	for (int i = 1; i < n; i++) {
		const int64_t above = at;

		at += s.lanes;
		const T pivot = a.diag[at] - a.lower[at]*a.upper[above];

		a.upper[at] = a.upper[at]/pivot;
		a.rhs[at] = (a.rhs[at] - a.lower[at]*a.rhs[above])/pivot;
	}
	for (int i = n - 2; i >= 0; i--) {
		at -= s.lanes;
		a.rhs[at] -= a.upper[at]*a.rhs[at + s.lanes];
	}
}

/* Rows from `at` on, each so far from the one before; those past the end are of the unit matrix. */
template <class T> struct thomas_rows {
	T lower[THOMAS_AHEAD], diag[THOMAS_AHEAD], upper[THOMAS_AHEAD], rhs[THOMAS_AHEAD];

	__device__ __forceinline__ void read(const thomas_arrays<T> &a, int64_t at, int64_t step, int left)
	{
#pragma unroll
		for (int i = 0; i < THOMAS_AHEAD; i++, at += step) {
			const bool is_in = i < left;

			lower[i] = is_in ? a.lower[at] : (T) 0;
			diag[i] = is_in ? a.diag[at] : (T) 1;
			upper[i] = is_in ? a.upper[at] : (T) 0;
			rhs[i] = is_in ? a.rhs[at] : (T) 0;
		}
	}
};

template <class T> static __device__ __forceinline__ void
thomas_down(const thomas_arrays<T> &a, T *__restrict__ upper, int64_t at, int64_t step, int n)
{
	thomas_rows<T> now, next;
	T u = 0, r = 0;

	now.read(a, at, step, n);
	for (int i = 0; i < n; i += THOMAS_AHEAD) {
		next.read(a, at + THOMAS_AHEAD*step, step, n - i - THOMAS_AHEAD);
#pragma unroll
		for (int j = 0; j < THOMAS_AHEAD; j++, at += step) {
			const T inverse = gpu_reciprocal(now.diag[j] - now.lower[j]*u);

			u = now.upper[j]*inverse;
			r = (now.rhs[j] - now.lower[j]*r)*inverse;
			if (i + j < n) {
				upper[at] = u;
				a.x[at] = r;
			}
		}
		now = next;
	}
}

template <class T> struct thomas_left {
	T upper[THOMAS_AHEAD], rhs[THOMAS_AHEAD];

	__device__ __forceinline__ void read(const T *u, const T *x, int64_t at, int64_t step, int left)
	{
#pragma unroll
		for (int i = 0; i < THOMAS_AHEAD; i++, at -= step) {
			upper[i] = i < left ? u[at] : (T) 0;
			rhs[i] = i < left ? x[at] : (T) 0;
		}
	}
};

template <class T> static __device__ __forceinline__ void
thomas_up(const thomas_arrays<T> &a, const T *__restrict__ upper, int64_t at, int64_t step, int n)
{
	thomas_left<T> now, next;
	T x = 0;

	now.read(upper, a.x, at, step, n);
	for (int i = 0; i < n; i += THOMAS_AHEAD) {
		next.read(upper, a.x, at - THOMAS_AHEAD*step, step, n - i - THOMAS_AHEAD);
#pragma unroll
		for (int j = 0; j < THOMAS_AHEAD; j++, at -= step) {
			x = now.rhs[j] - now.upper[j]*x;
			if (i + j < n)
				a.x[at] = x;
		}
		now = next;
	}
}

/* Not in place: `upper` is room for what elimination leaves of it. */
template <class T> static __global__ void thomas_kernel_registers(gpu_shape s, thomas_arrays<T> a, T *upper)
{
	const int64_t p = (int64_t) blockIdx.x*blockDim.x + threadIdx.x;

	if (p >= s.n_systems)
		return;
	const int n = gpu_length(s, p);

	if (n == 0)
		return;
	thomas_down(a, upper, gpu_place(s, p, 0), s.lanes, n);
	thomas_up(a, upper, gpu_place(s, p, n - 1), s.lanes, n);
}

/* Warps, so that there are blocks for all multiprocessors, or the blocks of the papers. */
static int thomas_threads(int64_t n_systems)
{
	return n_systems <= THOMAS_FEW ? (int) GPU_WARP : (int) THOMAS_THREADS;
}

#endif
