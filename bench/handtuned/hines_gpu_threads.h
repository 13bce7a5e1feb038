/* SPDX-License-Identifier: MIT
 *
 * A thread for each Hines system: the papers' algorithm in place, from flat or interleaved arrays (cuHinesBatch,
 * Valero-Lara et al. 2017), with the right-hand sides of a block of systems in its memory, or with a launch for each
 * level of branches, as they do it for many morphologies (2018); and, for one tree, with what a node leaves in
 * registers. */
#ifndef BENCH_HANDTUNED_HINES_GPU_THREADS_H
#define BENCH_HANDTUNED_HINES_GPU_THREADS_H

/* ---- The papers' algorithm ---- */

template <class T> struct hines_arrays {
	T *upper, *lower, *diag, *rhs;
};

struct hines_parents {
	const int *parent;
	bool is_one;                            /* of all systems; else of each, laid out as the values are */
};

/* Node i of a system is at begin + i*step. */
struct hines_thread {
	int64_t begin, step;
	int n;
};

static __device__ __forceinline__ hines_thread hines_thread_of(const gpu_shape &s, int64_t p)
{
	if (s.lanes == 0)
		return { s.offset[p], 1, gpu_length(s, p) };
	return { gpu_place(s, p, 0), s.lanes, gpu_length(s, p) };
}

static __device__ __forceinline__ int hines_parent(const hines_parents &t, const hines_thread &own, int i)
{
	return t.parent[t.is_one ? i : own.begin + i*own.step];
}

template <class T> static __global__ void hines_kernel(gpu_shape s, hines_arrays<T> a, hines_parents t)
{
	const int64_t p = (int64_t) blockIdx.x*blockDim.x + threadIdx.x;

	if (p >= s.n_systems)
		return;
	const hines_thread own = hines_thread_of(s, p);

	for (int i = own.n - 1; i >= 0; i--) {
		const int parent = hines_parent(t, own, i);
		const int64_t at = own.begin + i*own.step, above = own.begin + parent*own.step;

		if (parent < 0)
			continue;
		const T factor = a.upper[at]/a.diag[at];

		a.diag[above] -= factor*a.lower[at];
		a.rhs[above] -= factor*a.rhs[at];
	}
	for (int i = 0; i < own.n; i++) {
		const int parent = hines_parent(t, own, i);
		const int64_t at = own.begin + i*own.step, above = own.begin + parent*own.step;
		const T known = parent < 0 ? (T) 0 : a.lower[at]*a.rhs[above];

		a.rhs[at] = (a.rhs[at] - known)/a.diag[at];
	}
}

/* The same with the right-hand sides of the block in its memory. */
template <class T> static __global__ void hines_kernel_shared(gpu_shape s, hines_arrays<T> a, hines_parents t, T *x)
{
	GPU_SHARED(memory);
	const int64_t p = (int64_t) blockIdx.x*blockDim.x + threadIdx.x;
	const int lanes = blockDim.x;
	T *rhs = (T *) memory + threadIdx.x;

	if (p >= s.n_systems)
		return;
	const hines_thread own = hines_thread_of(s, p);

	for (int i = 0; i < own.n; i++)
		rhs[i*lanes] = a.rhs[own.begin + i*own.step];
	for (int i = own.n - 1; i >= 0; i--) {
		const int parent = hines_parent(t, own, i);
		const int64_t at = own.begin + i*own.step;

		if (parent < 0)
			continue;
		const T factor = a.upper[at]/a.diag[at];

		a.diag[own.begin + parent*own.step] -= factor*a.lower[at];
		rhs[parent*lanes] -= factor*rhs[i*lanes];
	}
	for (int i = 0; i < own.n; i++) {
		const int parent = hines_parent(t, own, i);
		const int64_t at = own.begin + i*own.step;
		const T known = parent < 0 ? (T) 0 : a.lower[at]*rhs[parent*lanes];

		rhs[i*lanes] = (rhs[i*lanes] - known)/a.diag[at];
		x[at] = rhs[i*lanes];
	}
}

/* ---- Level by level ---- */

/* Nodes top .. bottom, each the parent of the next; branches first_child .. last_child begin below the last one. */
struct hines_branch {
	int top, bottom, first_child, last_child;
};

/* From the bottom to the top, after what its branches have left. diag and rhs become what elimination leaves. */
template <class T> static __global__ void
hines_kernel_up(gpu_shape s, hines_arrays<T> a, const hines_branch *branches, int first, int64_t blocks)
{
	const hines_branch branch = branches[first + (int) (blockIdx.x/blocks)];
	const int64_t p = blockIdx.x % blocks*blockDim.x + threadIdx.x;

	if (p >= s.n_systems)
		return;
	const int64_t begin = gpu_place(s, p, 0), end = begin + branch.bottom*s.lanes;
	T diag = a.diag[end], rhs = a.rhs[end];

	for (int c = branch.first_child; c < branch.last_child; c++) {
		const int64_t at = begin + branches[c].top*s.lanes;
		const T factor = a.upper[at]*gpu_reciprocal(a.diag[at]);

		diag -= factor*a.lower[at];
		rhs -= factor*a.rhs[at];
	}
	for (int64_t at = end; at >= begin + branch.top*s.lanes; at -= s.lanes) {
		a.diag[at] = diag;
		a.rhs[at] = rhs;
		if (at == begin + branch.top*s.lanes)
			return;
		const T factor = a.upper[at]*gpu_reciprocal(diag);

		diag = a.diag[at - s.lanes] - factor*a.lower[at];
		rhs = a.rhs[at - s.lanes] - factor*rhs;
	}
}

template <class T> static __global__ void
hines_kernel_down(gpu_shape s, hines_arrays<T> a, const int *parent, const hines_branch *branches, int first,
		  int64_t blocks)
{
	const hines_branch branch = branches[first + (int) (blockIdx.x/blocks)];
	const int64_t p = blockIdx.x % blocks*blockDim.x + threadIdx.x;

	if (p >= s.n_systems)
		return;
	const int64_t begin = gpu_place(s, p, 0);
	const int above = parent[branch.top];
	T x = above < 0 ? (T) 0 : a.rhs[begin + above*s.lanes];

	for (int i = branch.top; i <= branch.bottom; i++) {
		const int64_t at = begin + i*s.lanes;

		x = (a.rhs[at] - (i > branch.top || above >= 0 ? a.lower[at]*x : (T) 0))*gpu_reciprocal(a.diag[at]);
		a.rhs[at] = x;
	}
}

/* ---- One tree, in registers ---- */

/* What a node asks for (ROW_… of systems.h), and where what branches leave for it, and later its own unknown, is kept
 * while it is needed: slots of the node and of its parent. */
struct hines_step {
	unsigned char flags, slot, above, unused;
};

/* upper and lower of a node by those of its row: parent*known + own = value. */
template <class T> static __device__ __forceinline__ void
hines_up(const thomas_arrays<T> &a, T *coefficient, const hines_step *steps, T *kept, int64_t at, int64_t step, int n)
{
	const int lanes = blockDim.x;
	thomas_rows<T> now, next;
	T more = 0, sum = 0;

	now.read(a, at, step, n);
	for (int i = n - 1; i >= 0; i -= THOMAS_AHEAD) {
		next.read(a, at + THOMAS_AHEAD*step, step, i + 1 - THOMAS_AHEAD);
#pragma unroll
		for (int j = 0; j < THOMAS_AHEAD; j++, at += step) {
			if (i - j < 0)
				break;
			const hines_step own = steps[i - j];
			T diag = now.diag[j] - more, rhs = now.rhs[j] - sum;

			if (own.flags & ROW_ADDED) {
				diag -= kept[2*own.slot*lanes];
				rhs -= kept[(2*own.slot + 1)*lanes];
			}
			const T inverse = gpu_reciprocal(diag), c = own.flags & ROW_ROOT ? (T) 0 : now.lower[j]*inverse;
			const T value = rhs*inverse;

			coefficient[at] = c;
			a.x[at] = value;
			more = own.flags & ROW_CHAIN ? now.upper[j]*c : (T) 0;
			sum = own.flags & ROW_CHAIN ? now.upper[j]*value : (T) 0;
			if (own.flags & (ROW_CHAIN | ROW_ROOT))
				continue;
			T *to = kept + 2*own.above*lanes;

			to[0] = now.upper[j]*c + (own.flags & ROW_FIRST ? (T) 0 : to[0]);
			to[lanes] = now.upper[j]*value + (own.flags & ROW_FIRST ? (T) 0 : to[lanes]);
		}
		now = next;
	}
}

template <class T> static __device__ __forceinline__ void
hines_down(const thomas_arrays<T> &a, const T *coefficient, const hines_step *steps, T *kept, int64_t at, int64_t step,
	   int n)
{
	const int lanes = blockDim.x;
	thomas_left<T> now, next;
	T x = 0;

	now.read(coefficient, a.x, at, -step, n);
	for (int i = 0; i < n; i += THOMAS_AHEAD) {
		next.read(coefficient, a.x, at + THOMAS_AHEAD*step, -step, n - i - THOMAS_AHEAD);
#pragma unroll
		for (int j = 0; j < THOMAS_AHEAD; j++, at += step) {
			if (i + j >= n)
				break;
			const hines_step own = steps[i + j];

			if (own.flags & ROW_ROOT)
				x = 0;
			else if (!(own.flags & ROW_CHAIN))
				x = kept[2*own.above*lanes];
			x = now.rhs[j] - now.upper[j]*x;
			a.x[at] = x;
			if (own.flags & ROW_ADDED)
				kept[2*own.slot*lanes] = x;
		}
		now = next;
	}
}

template <class T> static __global__ void
hines_kernel_registers(gpu_shape s, thomas_arrays<T> a, T *coefficient, const hines_step *steps)
{
	GPU_SHARED(memory);
	const int64_t p = (int64_t) blockIdx.x*blockDim.x + threadIdx.x;
	T *kept = (T *) memory + threadIdx.x;

	if (p >= s.n_systems)
		return;
	hines_up(a, coefficient, steps, kept, gpu_place(s, p, s.n - 1), -s.lanes, s.n);
	hines_down(a, coefficient, steps, kept, gpu_place(s, p, 0), s.lanes, s.n);
}

#endif
