/* SPDX-License-Identifier: MIT
 *
 * Tridiagonal systems as they lie, one after the other: a lane has R rows of one, a system as many lanes as it needs.
 *
 * A lane eliminates its rows but the last down to x[i] = e[i] - f[i]*before - g[i]*last, where `last` is the unknown of
 * its last row and `before` that of the lane before; what is left, one row for each lane, is tridiagonal again and
 * solved by parallel cyclic reduction (Hockney and Jesshope 1981) by shuffles. Of a system of several warps, each
 * reduces its lanes' rows to one in the same way; these are exchanged once, through memory of the block, or of several
 * blocks where one has not enough for a system, and every warp solves them. Rows come and go through memory of the
 * block, in accesses of 16 bytes by lanes next to each other; there, a lane's rows are an odd number of such accesses
 * apart from the next one's, so that lanes meet different banks. */
#ifndef BENCH_HANDTUNED_TRI_GPU_HYBRID_H
#define BENCH_HANDTUNED_TRI_GPU_HYBRID_H

#ifdef __NVCC__
#include <cooperative_groups.h>
#endif

enum hybrid_reach { HYBRID_WARP, HYBRID_BLOCK, HYBRID_CLUSTER };
enum { HYBRID_WARPS = 4, HYBRID_LANES = 512 };

/* Rows of a lane and of no lane, in elements of the memory of a block. */
template <class T, int R> struct hybrid_pitch {
	enum { WIDTH = GPU_BANK/sizeof(T), BANKS = R/WIDTH, PITCH = (BANKS + (BANKS % 2 == 0))*WIDTH };
};

template <class T> struct hybrid_batch {
	int64_t n_systems;
	int n, lanes, blocks;                   /* of one system: rows at most, lanes in a block, blocks */
	const int64_t *offset;                  /* NULL: all have n rows */
	const T *lower, *diag, *upper, *rhs;
	T *x;
};

/* ---- Rows in and out ---- */

/* The lanes of a group: a warp, or a block. */
template <int reach> static __device__ __forceinline__ void hybrid_wait()
{
	if (reach == HYBRID_WARP)
		__syncwarp();
	else
		__syncthreads();
}

template <class T, int R> static __device__ __forceinline__ int hybrid_at(int row)
{
	return row/R*hybrid_pitch<T, R>::PITCH + row % R;
}

template <class T, int R> static __device__ void hybrid_fetch(T *stage, const T *from, int n, int lane, int n_lanes)
{
	enum { WIDTH = GPU_BANK/sizeof(T) };
	const int wide = (uintptr_t) from % GPU_BANK == 0 ? n/WIDTH : 0;

	for (int i = lane; i < wide; i += n_lanes)
		gpu_copy_begin<GPU_BANK>(stage + hybrid_at<T, R>(i*WIDTH), from + i*WIDTH);
	for (int i = wide*WIDTH + lane; i < n; i += n_lanes)
		gpu_copy_begin<sizeof(T)>(stage + hybrid_at<T, R>(i), from + i);
}

template <class T, int R> static __device__ void hybrid_store(T *to, const T *stage, int n, int lane, int n_lanes)
{
	enum { WIDTH = GPU_BANK/sizeof(T) };
	const int wide = (uintptr_t) to % GPU_BANK == 0 ? n/WIDTH : 0;

	for (int i = lane; i < wide; i += n_lanes)
		*(gpu_vector<T> *) (to + i*WIDTH) =
			*(const gpu_vector<T> *) (stage + hybrid_at<T, R>(i*WIDTH));
	for (int i = wide*WIDTH + lane; i < n; i += n_lanes)
		to[i] = stage[hybrid_at<T, R>(i)];
}

/* Rows that a system of n does not have are those of the unit matrix. */
template <class T, int R> static __device__ void hybrid_fill(T *const *stage, int n, int all, int lane, int n_lanes)
{
	for (int i = n + lane; i < all; i += n_lanes) {
		const int at = hybrid_at<T, R>(i);

		stage[0][at] = stage[2][at] = stage[3][at] = 0;
		stage[1][at] = 1;
	}
}

/* ---- The rows of a lane ---- */

template <class T> static __device__ __forceinline__ void hybrid_read(const T *cells, T (&values)[GPU_BANK/sizeof(T)])
{
	const gpu_vector<T> v = *(const gpu_vector<T> *) cells;

#pragma unroll
	for (int i = 0; i < (int) (GPU_BANK/sizeof(T)); i++)
		values[i] = v.at[i];
}

/* e, f, g of rows 0 .. R-2; of the last row: p before + q last + s next = t. */
template <class T, int R> static __device__ __forceinline__ void
hybrid_down(const T *a, const T *b, const T *c, const T *d, T (&e)[R], T (&f)[R], T (&g)[R], T &p, T &q, T &s, T &t)
{
	enum { WIDTH = GPU_BANK/sizeof(T) };
	T lower[WIDTH], diag[WIDTH], upper[WIDTH], rhs[WIDTH];

#pragma unroll
	for (int i = 0; i < R; i++) {
		if (i % WIDTH == 0) {
			hybrid_read(a + i, lower);
			hybrid_read(b + i, diag);
			hybrid_read(c + i, upper);
			hybrid_read(d + i, rhs);
		}
		const T l = lower[i % WIDTH], r = rhs[i % WIDTH], u = upper[i % WIDTH];
		const T pivot = i ? diag[i % WIDTH] - l*g[i ? i - 1 : 0] : diag[0];
		const T rest = i ? r - l*e[i ? i - 1 : 0] : r, own = i ? -l*f[i ? i - 1 : 0] : l;

		if (i == R - 1) {
			p = own;
			q = pivot;
			s = u;
			t = rest;
		} else {
			const T inverse = gpu_reciprocal(pivot);

			e[i] = rest*inverse;
			f[i] = own*inverse;
			g[i] = u*inverse;
		}
	}
}

template <class T, int R> static __device__ __forceinline__ void hybrid_up(T (&e)[R], T (&f)[R], T (&g)[R])
{
#pragma unroll
	for (int i = R - 3; i >= 0; i--) {
		e[i] -= g[i]*e[i + 1];
		f[i] -= g[i]*f[i + 1];
		g[i] *= -g[i + 1];
	}
}

template <class T, int R> static __device__ __forceinline__ void
hybrid_fill_in(T *stage, const T (&e)[R], const T (&f)[R], const T (&g)[R], T before, T last)
{
	enum { WIDTH = GPU_BANK/sizeof(T) };

#pragma unroll
	for (int i = 0; i < R; i += WIDTH) {
		gpu_vector<T> v;

#pragma unroll
		for (int j = 0; j < WIDTH; j++)
			v.at[j] = i + j < R - 1 ? e[i + j] - f[i + j]*before - g[i + j]*last : last;
		*(gpu_vector<T> *) (stage + i) = v;
	}
}

/* ---- The rows that are left ---- */

/* before*p + own + next*s = t. */
template <class T> struct hybrid_row {
	T p, s, t;
};

template <class T> static __device__ __forceinline__ hybrid_row<T>
hybrid_shuffled(const hybrid_row<T> &row, int lanes, int width, bool is_up)
{
	if (is_up)
		return { __shfl_up_sync(gpu_all_lanes, row.p, lanes, width),
			 __shfl_up_sync(gpu_all_lanes, row.s, lanes, width),
			 __shfl_up_sync(gpu_all_lanes, row.t, lanes, width) };
	return { __shfl_down_sync(gpu_all_lanes, row.p, lanes, width),
		 __shfl_down_sync(gpu_all_lanes, row.s, lanes, width),
		 __shfl_down_sync(gpu_all_lanes, row.t, lanes, width) };
}

/* What the next lane has of its first row (g, f, e), put into this lane's last one, whose own coefficient becomes 1. */
template <class T> static __device__ __forceinline__ hybrid_row<T>
hybrid_closed(T p, T q, T s, T t, const hybrid_row<T> &next)
{
	const T inverse = gpu_reciprocal(q - s*next.s);

	return { p*inverse, -s*next.p*inverse, (t - s*next.t)*inverse };
}

/* Parallel cyclic reduction of rows 0 .. n-1 of `width` lanes. What row 0 has of an unknown before it, and row n-1 of
 * one behind it, stays: in the end own = t - p*before_all - s*behind_all. */
template <class T> static __device__ __forceinline__ hybrid_row<T>
hybrid_reduced(hybrid_row<T> own, int lane, int n, int width)
{
	for (int stride = 1; stride < n; stride *= 2) {
		const hybrid_row<T> above = hybrid_shuffled(own, stride, width, true);
		const hybrid_row<T> below = hybrid_shuffled(own, stride, width, false);
		const T p = lane >= stride ? own.p : (T) 0, s = lane + stride < n ? own.s : (T) 0;
		const T inverse = gpu_reciprocal(1 - p*above.s - s*below.p);

		own = { (lane >= stride ? -p*above.p : own.p)*inverse,
			(lane + stride < n ? -s*below.s : own.s)*inverse,
			(own.t - p*above.t - s*below.t)*inverse };
	}
	return own;
}

/* The unknowns of this lane's last row and of the one before, where the lanes of a system are of one warp. `first`:
 * g, f and e of the lane's row 0. */
template <class T> static __device__ __forceinline__ void
hybrid_solve_warp(int lanes, int member, T p, T q, T s, T t, const hybrid_row<T> &first, T &before, T &last)
{
	const hybrid_row<T> next = hybrid_shuffled(first, 1, lanes, false);
	const hybrid_row<T> closed = hybrid_closed(member ? p : (T) 0, q, member < lanes - 1 ? s : (T) 0, t, next);

	last = hybrid_reduced(closed, member, lanes, lanes).t;
	const T shifted = __shfl_up_sync(gpu_all_lanes, last, 1, lanes);

	before = member ? shifted : (T) 0;
}

/* Of a warp: its last row, of the unknowns of the warps' last rows before and its own, and its first one. */
template <class T> struct hybrid_edge {
	T p, q, s, t, e, f, g;
};

/* Reduces a warp's rows but the last one to the unknown of that, and the one of the warp before: lane 31 has p, q, s
 * and t of the result, lane 0 e, f and g. */
template <class T> static __device__ __forceinline__ hybrid_edge<T>
hybrid_reduce_warp(int lane, T p, T q, T s, T t, const hybrid_row<T> &first, hybrid_row<T> &row)
{
	enum { LAST = GPU_WARP - 1 };
	const hybrid_row<T> next = hybrid_shuffled(first, 1, GPU_WARP, false);

	row = hybrid_reduced(hybrid_closed(p, q, lane < LAST ? s : (T) 0, t, next), lane, LAST, GPU_WARP);
	const hybrid_row<T> above = hybrid_shuffled(row, 1, GPU_WARP, true);

	return { -p*above.p, q - p*above.s, s, t - p*above.t,
		 first.t - first.p*row.t, first.s - first.p*row.p, -first.p*row.s };
}

/* Where all warps of a system find the edges of all. */
template <class T, int reach> static __device__ __forceinline__ void
hybrid_publish(const hybrid_edge<T> &edge, int lane, int warp, int blocks, hybrid_edge<T> *edges)
{
	for (int k = 0; k < blocks; k++) {
		hybrid_edge<T> *to = edges + warp;

#ifdef __NVCC__
		if constexpr (reach == HYBRID_CLUSTER)
			to = cooperative_groups::this_cluster().map_shared_rank(to, (unsigned) k);
#endif
		if (lane == GPU_WARP - 1) {
			to->p = edge.p;
			to->q = edge.q;
			to->s = edge.s;
			to->t = edge.t;
		} else if (lane == 0) {
			to->e = edge.e;
			to->f = edge.f;
			to->g = edge.g;
		}
	}
}

/* As hybrid_solve_warp, for a system of several warps: each solves the rows that warps have left. */
template <class T, int reach> static __device__ __forceinline__ void
hybrid_solve_block(int member, int n_warps, int blocks, T p, T q, T s, T t, const hybrid_row<T> &first,
		   hybrid_edge<T> *edges, T &before, T &last)
{
	const int lane = member % GPU_WARP, warp = member/GPU_WARP;
	hybrid_row<T> row;

	p = member ? p : (T) 0;
	s = member < n_warps*GPU_WARP - 1 ? s : (T) 0;
	const hybrid_edge<T> edge = hybrid_reduce_warp(lane, p, q, s, t, first, row);

	/* The memory of blocks that have begun is there. */
	if (reach == HYBRID_CLUSTER)
		gpu_cluster_wait();
	hybrid_publish<T, reach>(edge, lane, warp, blocks, edges);
	if (reach == HYBRID_CLUSTER) {
		gpu_cluster_arrive();
		gpu_cluster_wait();
	} else {
		__syncthreads();
	}
	const hybrid_edge<T> own = edges[lane % n_warps], after = edges[(lane + 1) % n_warps];
	const hybrid_row<T> closed = hybrid_closed(own.p, own.q, own.s, own.t, { after.g, after.f, after.e });
	const T ends = hybrid_reduced(closed, lane % n_warps, n_warps, n_warps).t;
	const T end = __shfl_sync(gpu_all_lanes, ends, warp);
	const T begin = __shfl_sync(gpu_all_lanes, ends, warp ? warp - 1 : 0);
	const T start = warp ? begin : (T) 0;

	last = lane == GPU_WARP - 1 ? end : row.t - row.p*start - row.s*end;
	const T shifted = __shfl_up_sync(gpu_all_lanes, last, 1);

	before = lane ? shifted : start;
}

/* ---- The kernel ---- */

/* Systems from `first` on that the group has, and the rows of one that this block has. */
struct hybrid_share {
	int64_t first;
	int n_systems, rank;
};

template <class T, int reach> static __device__ __forceinline__ hybrid_share hybrid_share_of(const hybrid_batch<T> &b)
{
	if (reach != HYBRID_WARP)
		return { blockIdx.x/b.blocks, 1, (int) (blockIdx.x % b.blocks) };
	const int each = GPU_WARP/b.lanes;
	const int64_t first = ((int64_t) blockIdx.x*(blockDim.x/GPU_WARP) + threadIdx.x/GPU_WARP)*each;
	const int64_t left = b.n_systems - first;

	return { first, left > each ? each : left < 0 ? 0 : (int) left, 0 };
}

/* Rows of the block from *at on, in the arrays of the batch. */
template <class T> static __device__ __forceinline__ int
hybrid_rows(const hybrid_batch<T> &b, int64_t system, int begin, int most, int64_t *at)
{
	const int64_t start = b.offset ? b.offset[system] : system*b.n;
	const int n = (b.offset ? (int) (b.offset[system + 1] - start) : b.n) - begin;

	*at = start + begin;
	return n < 0 ? 0 : n < most ? n : most;
}

template <class T, int R, int reach> static __device__ void
hybrid_move(const hybrid_batch<T> &b, const hybrid_share &share, T *const *stage, int lane, int n_lanes, bool is_back)
{
	const int most = b.lanes*R, n_pieces = GPU_WARP/b.lanes;
	/* Systems without a gap are one piece. */
	const bool is_one = reach == HYBRID_WARP && !b.offset && b.n == most && share.n_systems == n_pieces;
	const int pieces = reach != HYBRID_WARP || is_one ? 1 : n_pieces;

	for (int i = 0; i < pieces; i++) {
		int64_t at = share.first*b.n;
		int n = is_one ? n_pieces*most : 0;
		T *moved[4] = { stage[0] + hybrid_at<T, R>(i*most), stage[1] + hybrid_at<T, R>(i*most),
				stage[2] + hybrid_at<T, R>(i*most), stage[3] + hybrid_at<T, R>(i*most) };

		if (!is_one && i < share.n_systems)
			n = hybrid_rows(b, share.first + i, share.rank*most, most, &at);
		if (is_back) {
			hybrid_store<T, R>(b.x + at, moved[0], n, lane, n_lanes);
			continue;
		}
		hybrid_fetch<T, R>(moved[0], b.lower + at, n, lane, n_lanes);
		hybrid_fetch<T, R>(moved[1], b.diag + at, n, lane, n_lanes);
		hybrid_fetch<T, R>(moved[2], b.upper + at, n, lane, n_lanes);
		hybrid_fetch<T, R>(moved[3], b.rhs + at, n, lane, n_lanes);
		if (!is_one)
			hybrid_fill<T, R>(moved, n, most, lane, n_lanes);
	}
}

template <int R, int reach> struct hybrid_threads {
	enum { MOST = reach == HYBRID_WARP ? HYBRID_WARPS*GPU_WARP : R > 8 ? HYBRID_LANES/2 : HYBRID_LANES };
};

template <class T, int R, int reach> static __global__ void __launch_bounds__(hybrid_threads<R, reach>::MOST)
hybrid_kernel(hybrid_batch<T> b)
{
	GPU_SHARED(memory);
	enum { PITCH = hybrid_pitch<T, R>::PITCH };
	const int n_lanes = reach == HYBRID_WARP ? GPU_WARP : b.lanes, group = threadIdx.x/n_lanes;
	const int lane = threadIdx.x % n_lanes;
	const hybrid_share share = hybrid_share_of<T, reach>(b);
	const int member = reach == HYBRID_WARP ? lane % b.lanes : share.rank*b.lanes + lane;
	T *own = (T *) memory + group*4*n_lanes*PITCH;
	T *const stage[] = { own, own + n_lanes*PITCH, own + 2*n_lanes*PITCH, own + 3*n_lanes*PITCH };
	const int at = lane*PITCH;
	T e[R], f[R], g[R], p, q, s, t, before, last;

	if (reach == HYBRID_CLUSTER)
		gpu_cluster_arrive();
	hybrid_move<T, R, reach>(b, share, stage, lane, n_lanes, false);
	gpu_copies_wait();
	hybrid_wait<reach>();
	hybrid_down<T, R>(stage[0] + at, stage[1] + at, stage[2] + at, stage[3] + at, e, f, g, p, q, s, t);
	hybrid_up<T, R>(e, f, g);
	const hybrid_row<T> first = { g[0], f[0], e[0] };

	if (reach == HYBRID_WARP)
		hybrid_solve_warp(b.lanes, member, p, q, s, t, first, before, last);
	else
		hybrid_solve_block<T, reach>(member, b.lanes*b.blocks/GPU_WARP, b.blocks, p, q, s, t, first,
					     (hybrid_edge<T> *) (own + 4*n_lanes*PITCH), before, last);
	hybrid_fill_in<T, R>(stage[0] + at, e, f, g, before, last);
	hybrid_wait<reach>();
	hybrid_move<T, R, reach>(b, share, stage, lane, n_lanes, true);
}

#endif
