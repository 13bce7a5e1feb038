/* SPDX-License-Identifier: MIT
 *
 * Tridiagonal systems as they lie, one after the other: a lane has R rows of one, a system as many lanes as it needs.
 *
 * A lane eliminates its rows but the last down to x[i] = e[i] - f[i]*before - g[i]*last, where `last` is the unknown of
 * its last row and `before` that of the lane before; what is left, one row for each lane, is tridiagonal again and
 * solved by parallel cyclic reduction (Hockney and Jesshope 1981): by shuffles inside a warp, through memory of the
 * block above, through that of several blocks where one has not enough. Rows come and go through memory of the block,
 * in accesses of 16 bytes by lanes next to each other; there, a lane's rows are an odd number of such accesses apart
 * from the next one's, so that lanes meet different banks. */
#ifndef BENCH_HANDTUNED_TRI_GPU_HYBRID_H
#define BENCH_HANDTUNED_TRI_GPU_HYBRID_H

#ifdef __NVCC__
#include <cooperative_groups.h>
#endif

enum hybrid_reach { HYBRID_WARP, HYBRID_BLOCK, HYBRID_CLUSTER };
enum { HYBRID_WARPS = 4, HYBRID_LANES = 512, HYBRID_EQUATION = 3 };

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

/* before*P + own + next*S = T, of a lane. */
template <class T> struct hybrid_row {
	T p, s, t;
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

/* Three numbers of each lane, in two sets that take turns, where other lanes of the system read them. */
template <class T, int reach> struct hybrid_exchange {
	T *own;                                 /* [2][HYBRID_EQUATION][lanes] */
	int lanes, member;                      /* in a block; of the system */

	__device__ __forceinline__ void put(int set, T p, T s, T t) const
	{
		T *to = own + set*HYBRID_EQUATION*lanes + member % lanes;

		to[0] = p;
		to[lanes] = s;
		to[2*lanes] = t;
	}

	__device__ __forceinline__ hybrid_row<T> get(int set, int other) const
	{
		const T *from = own + set*HYBRID_EQUATION*lanes + other % lanes;

#ifdef __NVCC__
		if constexpr (reach == HYBRID_CLUSTER)
			from = cooperative_groups::this_cluster().map_shared_rank(from, (unsigned) (other/lanes));
#endif
		return { from[0], from[lanes], from[2*lanes] };
	}

	__device__ __forceinline__ void wait() const
	{
#ifdef __NVCC__
		if constexpr (reach == HYBRID_CLUSTER) {
			cooperative_groups::this_cluster().sync();
			return;
		}
#endif
		__syncthreads();
	}
};

/* With the row `stride` lanes before and after put into it; those that are not there are 0. */
template <class T> static __device__ __forceinline__ hybrid_row<T>
hybrid_reduced(const hybrid_row<T> &own, const hybrid_row<T> &before, const hybrid_row<T> &after)
{
	const T inverse = gpu_reciprocal(1 - own.p*before.s - own.s*after.p);

	return { -own.p*before.p*inverse, -own.s*after.s*inverse, (own.t - own.p*before.t - own.s*after.t)*inverse };
}

/* What lane + 1 has of its first row, put into this lane's last one, whose own coefficient becomes 1. */
template <class T> static __device__ __forceinline__ hybrid_row<T>
hybrid_closed(T p, T q, T s, T t, const hybrid_row<T> &next)
{
	const T inverse = gpu_reciprocal(q - s*next.s);

	return { p*inverse, -s*next.p*inverse, (t - s*next.t)*inverse };
}

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

/* The unknowns of this lane's last row and of the one before. `first`: g, f and e of the lane's row 0. */
template <class T> static __device__ __forceinline__ void
hybrid_solve_warp(int lanes, int member, T p, T q, T s, T t, const hybrid_row<T> &first, T &before, T &last)
{
	hybrid_row<T> row = hybrid_closed(member ? p : (T) 0, q, member < lanes - 1 ? s : (T) 0, t,
					  hybrid_shuffled(first, 1, lanes, false));

	for (int stride = 1; stride < lanes; stride *= 2) {
		const hybrid_row<T> above = hybrid_shuffled(row, stride, lanes, true);
		const hybrid_row<T> below = hybrid_shuffled(row, stride, lanes, false);

		row = hybrid_reduced(row, above, below);
	}
	const T shifted = __shfl_up_sync(gpu_all_lanes, row.t, 1, lanes);

	last = row.t;
	before = member ? shifted : (T) 0;
}

template <class T, int reach> static __device__ __forceinline__ void
hybrid_solve_block(const hybrid_exchange<T, reach> &x, int all, T p, T q, T s, T t, const hybrid_row<T> &first,
		   T &before, T &last)
{
	const hybrid_row<T> none = { 0, 0, 0 };
	const int member = x.member;
	int set = 0;

	x.put(set, first.p, first.s, first.t);
	x.wait();
	hybrid_row<T> row = hybrid_closed(member ? p : (T) 0, q, member < all - 1 ? s : (T) 0, t,
					  member < all - 1 ? x.get(set, member + 1) : none);

	for (int stride = 1; stride < all; stride *= 2) {
		set = 1 - set;
		x.put(set, row.p, row.s, row.t);
		x.wait();
		row = hybrid_reduced(row, member >= stride ? x.get(set, member - stride) : none,
				     member + stride < all ? x.get(set, member + stride) : none);
	}
	set = 1 - set;
	x.put(set, row.p, row.s, row.t);
	x.wait();
	last = row.t;
	before = member ? x.get(set, member - 1).t : (T) 0;
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
	T *own = (T *) memory + group*4*n_lanes*PITCH, *exchange = own + 4*n_lanes*PITCH;
	T *const stage[] = { own, own + n_lanes*PITCH, own + 2*n_lanes*PITCH, own + 3*n_lanes*PITCH };
	const int at = lane*PITCH;
	T e[R], f[R], g[R], p, q, s, t, before, last;

	hybrid_move<T, R, reach>(b, share, stage, lane, n_lanes, false);
	gpu_copies_wait();
	hybrid_wait<reach>();
	hybrid_down<T, R>(stage[0] + at, stage[1] + at, stage[2] + at, stage[3] + at, e, f, g, p, q, s, t);
	hybrid_up<T, R>(e, f, g);
	const hybrid_row<T> first = { g[0], f[0], e[0] };

	if (reach == HYBRID_WARP)
		hybrid_solve_warp(b.lanes, member, p, q, s, t, first, before, last);
	else
		hybrid_solve_block<T, reach>({ exchange, b.lanes, member }, b.lanes*b.blocks, p, q, s, t, first,
					     before, last);
	hybrid_fill_in<T, R>(stage[0] + at, e, f, g, before, last);
	hybrid_wait<reach>();
	hybrid_move<T, R, reach>(b, share, stage, lane, n_lanes, true);
#ifdef __NVCC__
	/* Memory of a block is there until no other one reads it. */
	if constexpr (reach == HYBRID_CLUSTER)
		cooperative_groups::this_cluster().sync();
#endif
}

#endif
