/* SPDX-License-Identifier: MIT
 *
 * Hines systems as they lie: some whole systems come into the memory of a block by bulk copies, are solved there by W
 * lanes each, and their unknowns go back. Branches are cut into chains of at most R nodes; a chain ends at a fork.
 *
 * A lane eliminates a chain's nodes but the last down to x[i] = e[i] - f[i]*before - g[i]*last, where `last` is the
 * unknown of its last node and `before` that of the chain above: as rows of tridiagonal systems (tri_gpu_hybrid.h).
 * What is left is a Hines system on the tree of chains, solved level by level: a chain adds up what those below it have
 * left. Chains are numbered by levels, those below one chain next to each other, in tables of 16 bits, one for all
 * systems or one for each.
 *   held       a chain for each lane, its coefficients in registers
 *   staged     chains as many as there are, coefficients in the place of the rows
 *   nodes      chains of one node: elimination level by level, all in the place of the rows */
#ifndef BENCH_HANDTUNED_HINES_GPU_CHAINS_H
#define BENCH_HANDTUNED_HINES_GPU_CHAINS_H

/* Nodes up to `last`; below it chains child .. end-1; all by their numbers. */
struct alignas(GPU_BANK) chain_row {
	unsigned short last, length, above, child, end, level, unused[2];
};

enum { CHAIN_ROOT = 0xffff, CHAIN_NUMBERS = 6, CHAIN_HELD = 3, NODE_BELOW = 3 };

/* A chain of one node, and the first of those below; all but `child` are numbers of nodes. */
struct alignas(GPU_BANK) node_row {
	unsigned short node, above, child, n_below, below[NODE_BELOW], unused;
};

/* Of system s: chains from chain[s] on, levels from level[s] on (each where it begins, and where the last ends). */
template <class Row> struct chain_tables {
	const Row *rows;
	const unsigned short *levels;
	const int *chain, *level;
	bool is_one;
	int most_chains, most_levels;
};

template <class T> struct chain_batch {
	int64_t n_systems;
	int n, lanes, each;                     /* nodes of the longest; lanes of a system; systems of a block */
	const int64_t *offset;                  /* NULL: all have n nodes */
	const T *upper, *lower, *diag, *rhs;
	T *x;
};

/* ---- Systems in and out ---- */

/* Nodes of the block's systems, one after the other, and where they begin in the batch. */
struct chain_share {
	int64_t first, at;
	int n_systems, n;
};

template <class T> static __device__ __forceinline__ int64_t chain_offset(const chain_batch<T> &b, int64_t system)
{
	return b.offset ? b.offset[system] : system*b.n;
}

template <class T> static __device__ __forceinline__ chain_share chain_share_of(const chain_batch<T> &b)
{
	const int64_t first = (int64_t) blockIdx.x*b.each, left = b.n_systems - first;
	const int n = left < b.each ? (int) left : b.each;
	const int64_t at = chain_offset(b, first);

	return { first, at, n, (int) (chain_offset(b, first + n) - at) };
}

/* By bulk copies where the ends are at multiples of 16 bytes, else by copies of the lanes. The barrier of the first;
 * NULL for the second. */
template <class T> static __device__ __forceinline__ unsigned long long *
chain_fetch(const chain_batch<T> &b, const chain_share &share, T *stage, int room)
{
	const T *const from[] = { b.upper + share.at, b.lower + share.at, b.diag + share.at, b.rhs + share.at };
	enum { ARRAYS = 4 };

#ifdef __NVCC__
	__shared__ __align__(8) unsigned long long barrier;
	const unsigned bytes = (unsigned) (share.n*sizeof(T));

	/* The arrays begin at multiples of 16 bytes. */
	if (share.at*sizeof(T) % GPU_BANK == 0 && bytes % GPU_BANK == 0) {
		if (threadIdx.x == 0)
			gpu_bulk_open(&barrier);
		__syncthreads();
		if (threadIdx.x == 0) {
			gpu_bulk_expect(&barrier, ARRAYS*bytes);
			for (int k = 0; k < ARRAYS; k++)
				gpu_bulk_begin(stage + k*room, from[k], bytes, &barrier);
		}
		return &barrier;
	}
#endif
	for (int k = 0; k < ARRAYS; k++)
		for (int i = threadIdx.x; i < share.n; i += blockDim.x)
			gpu_copy_begin<sizeof(T)>(stage + k*room + i, from[k] + i);
	return NULL;
}

static __device__ __forceinline__ void chain_fetch_wait(unsigned long long *barrier)
{
#ifdef __NVCC__
	if (barrier) {
		gpu_bulk_wait(barrier);
		return;
	}
#endif
	(void) barrier;
	gpu_copies_wait();
	__syncthreads();
}

template <class T> static __device__ __forceinline__ void
chain_store(const chain_batch<T> &b, const chain_share &share, const T *stage)
{
	enum { WIDTH = GPU_BANK/sizeof(T) };
	T *to = b.x + share.at;
	const int wide = share.at*sizeof(T) % GPU_BANK == 0 ? share.n/WIDTH : 0;

	for (int i = threadIdx.x; i < wide; i += blockDim.x)
		*(gpu_vector<T> *) (to + i*WIDTH) = *(const gpu_vector<T> *) (stage + i*WIDTH);
	for (int i = wide*WIDTH + threadIdx.x; i < share.n; i += blockDim.x)
		to[i] = stage[i];
}

/* Lanes of one system; those of several blocks' worth of warps wait for all. */
static __device__ __forceinline__ void chain_wait(int lanes)
{
	if (lanes <= GPU_WARP)
		__syncwarp();
	else
		__syncthreads();
}

/* ---- The system of a lane ---- */

template <class T, class Row> struct chain_lane {
	T *upper, *lower, *diag, *rhs;          /* of its system */
	int lane, n_chains;
	bool is_in;                             /* is there a system for it? */
	const Row *rows;
	const unsigned short *levels;
	int n_levels;
};

template <class T, class Row> static __device__ __forceinline__ chain_lane<T, Row>
chain_lane_of(const chain_batch<T> &b, const chain_tables<Row> &t, const chain_share &share, T *stage, int room)
{
	const int own = threadIdx.x/b.lanes, lane = threadIdx.x % b.lanes;
	const bool is_in = own < share.n_systems;
	const int64_t system = share.first + (is_in ? own : 0);
	const int at = (int) (chain_offset(b, system) - share.at);
	const int64_t table = t.is_one ? 0 : system;
	T *const from = stage + at;

	return { from, from + room, from + 2*room, from + 3*room, lane, is_in ? t.chain[table + 1] - t.chain[table] : 0,
		 is_in, t.rows + t.chain[table], t.levels + t.level[table],
		 is_in ? t.level[table + 1] - t.level[table] - 1 : 0 };
}

/* ---- The tree of chains ---- */

/* Of a chain: before*p + last*q + below = t, and what its first node is, times its coefficient in the row above. */
template <class T> struct chain_left {
	T p, q, t, e, f, g;
};

template <class T> struct chain_solved {
	T p, t;                                 /* last = t - p*before */
	T more, sum;                            /* for the row above: its own coefficient, its right-hand side */
};

template <class T> static __device__ __forceinline__ chain_solved<T>
chain_close(const chain_left<T> &c, T more, T sum)
{
	const T inverse = gpu_reciprocal(c.q - more), p = c.p*inverse, t = (c.t - sum)*inverse;

	return { p, t, c.f - c.g*p, c.e - c.g*t };
}

/* ---- Chains in registers ---- */

/* Registers k .. R-1 are the chain's nodes; those before are `before` itself. */
template <class T, int R> static __device__ __forceinline__ chain_left<T>
chain_held_down(const chain_lane<T, chain_row> &own, const chain_row &row, T (&e)[R], T (&f)[R], T (&g)[R])
{
	const int first = R - row.length, base = row.last - (R - 1);
	T p = 0, q = 1, t = 0;

#pragma unroll
	for (int k = 0; k < R; k++) {
		const bool is_in = k >= first;
		const int i = base + k;
		const T l = is_in ? own.lower[i] : (T) 0, d = is_in ? own.diag[i] : (T) 1;
		const T r = is_in ? own.rhs[i] : (T) 0, u = is_in && k < R - 1 ? own.upper[i + 1] : (T) 0;
		const T pivot = k ? d - l*g[k ? k - 1 : 0] : d, rest = k ? r - l*e[k ? k - 1 : 0] : r;
		const T passed = k ? -l*f[k ? k - 1 : 0] : l;

		if (k == R - 1) {
			p = passed;
			q = pivot;
			t = rest;
			continue;
		}
		const T inverse = is_in ? gpu_reciprocal(pivot) : (T) 1;

		e[k] = rest*inverse;
		f[k] = is_in ? passed*inverse : (T) -1;
		g[k] = u*inverse;
	}
	/* Of the first node. */
	T head_e = 0, head_f = 0, head_g = -1;

#pragma unroll
	for (int k = R - 2; k >= 0; k--) {
		if (k < R - 2) {
			e[k] -= g[k]*e[k + 1];
			f[k] -= g[k]*f[k + 1];
			g[k] *= -g[k + 1];
		}
		head_e = k == first ? e[k] : head_e;
		head_f = k == first ? f[k] : head_f;
		head_g = k == first ? g[k] : head_g;
	}
	const bool is_root = row.above == CHAIN_ROOT;
	const T above = is_root ? (T) 0 : own.upper[row.last - row.length + 1];

	return { is_root ? (T) 0 : p, q, t, above*head_e, above*head_f, above*head_g };
}

template <class T, int R> static __device__ __forceinline__ void
chain_held_fill(const chain_lane<T, chain_row> &own, const chain_row &row, const T (&e)[R], const T (&f)[R],
		const T (&g)[R], T before, T last)
{
	const int first = R - row.length, base = row.last - (R - 1);

#pragma unroll
	for (int k = 0; k < R; k++)
		if (k >= first)
			own.upper[base + k] = k < R - 1 ? e[k < R - 1 ? k : 0] - f[k < R - 1 ? k : 0]*before -
								   g[k < R - 1 ? k : 0]*last
							: last;
}

/* `kept`: for each chain `more`, `sum` and its unknown. */
template <class T> static __device__ __forceinline__ void
chain_held_levels(const chain_row &row, bool is_in, const chain_left<T> &left, int lane, int lanes, int n_levels,
		  T *kept, T &before, T &last)
{
	chain_solved<T> solved = { 0, 0, 0, 0 };

	for (int level = n_levels - 1; level >= 0; level--) {
		if (is_in && row.level == level) {
			T more = 0, sum = 0;

			for (int c = row.child; c < row.end; c++) {
				more += kept[c];
				sum += kept[lanes + c];
			}
			solved = chain_close(left, more, sum);
			kept[lane] = solved.more;
			kept[lanes + lane] = solved.sum;
		}
		chain_wait(lanes);
	}
	for (int level = 0; level < n_levels; level++) {
		if (is_in && row.level == level) {
			before = row.above == CHAIN_ROOT ? (T) 0 : kept[2*lanes + row.above];
			last = solved.t - solved.p*before;
			kept[2*lanes + lane] = last;
		}
		chain_wait(lanes);
	}
}

/* Threads of a block and blocks of a multiprocessor, for the registers that R nodes take. */
template <int R> struct chain_bounds {
	enum { THREADS = R > 8 ? 256 : 512, BLOCKS = R == 4 || R == 16 ? 2 : 1 };
};

template <class T, int R> static __global__ void __launch_bounds__(chain_bounds<R>::THREADS, chain_bounds<R>::BLOCKS)
chain_kernel_held(chain_batch<T> b, chain_tables<chain_row> t, int room)
{
	GPU_SHARED(memory);
	T *stage = (T *) memory;
	const chain_share share = chain_share_of(b);

	unsigned long long *barrier = chain_fetch(b, share, stage, room);
	const chain_lane<T, chain_row> own = chain_lane_of(b, t, share, stage, room);
	T *kept = stage + 4*room + threadIdx.x/b.lanes*CHAIN_HELD*b.lanes;
	const bool is_in = own.lane < own.n_chains;
	const chain_row row = is_in ? own.rows[own.lane] : chain_row{ R - 1, 0, CHAIN_ROOT, 0, 0, 0, {} };
	T e[R], f[R], g[R], before = 0, last = 0;

	chain_fetch_wait(barrier);
	const chain_left<T> left = chain_held_down<T, R>(own, row, e, f, g);

	chain_held_levels(row, is_in, left, own.lane, b.lanes, t.most_levels, kept, before, last);
	/* Coefficients are read no more: upper is where the unknowns go. */
	chain_wait(b.lanes);
	chain_held_fill<T, R>(own, row, e, f, g, before, last);
	__syncthreads();
	chain_store(b, share, stage);
}

/* ---- Chains in the memory of the block ---- */

/* e in the place of rhs, f of lower, g of the next node's upper; what is left of chain c in kept[c], of each number. */
template <class T> static __device__ __forceinline__ void
chain_staged_down(const chain_lane<T, chain_row> &own, const chain_row &row, T *kept, int most)
{
	const int first = row.last - row.length + 1;
	T e = 0, f = -1, g = 0;

	for (int i = first; i < row.last; i++) {
		const T l = own.lower[i], inverse = gpu_reciprocal(own.diag[i] - l*g);

		e = (own.rhs[i] - l*e)*inverse;
		f = -l*f*inverse;
		g = own.upper[i + 1]*inverse;
		own.rhs[i] = e;
		own.lower[i] = f;
		own.upper[i + 1] = g;
	}
	const T l = own.lower[row.last], q = own.diag[row.last] - l*g, t = own.rhs[row.last] - l*e, p = -l*f;
	T head_e = row.length > 1 ? e : (T) 0, head_f = row.length > 1 ? f : (T) 0;
	T head_g = row.length > 1 ? g : (T) -1;

	for (int i = row.last - 2; i >= first; i--) {
		const T factor = own.upper[i + 1];

		head_e = own.rhs[i] - factor*head_e;
		head_f = own.lower[i] - factor*head_f;
		head_g = -factor*head_g;
		own.rhs[i] = head_e;
		own.lower[i] = head_f;
		own.upper[i + 1] = head_g;
	}
	const bool is_root = row.above == CHAIN_ROOT;
	const T above = is_root ? (T) 0 : own.upper[first];

	kept[0] = is_root ? (T) 0 : p;
	kept[most] = q;
	kept[2*most] = t;
	kept[3*most] = above*head_e;
	kept[4*most] = above*head_f;
	kept[5*most] = above*head_g;
}

/* Then: p, its unknown in the place of q, t; `sum` and `more` in the places of e and f. */
template <class T> static __device__ __forceinline__ void
chain_staged_levels(const chain_lane<T, chain_row> &own, int lanes, int n_levels, T *kept, int most)
{
	for (int level = n_levels - 1; level >= 0; level--) {
		const int end = level < own.n_levels ? own.levels[level + 1] : 0;

		for (int c = level < own.n_levels ? own.levels[level] + own.lane : 0; c < end; c += lanes) {
			const chain_row row = own.rows[c];
			T *k = kept + c, more = 0, sum = 0;

			for (int d = row.child; d < row.end; d++) {
				sum += kept[3*most + d];
				more += kept[4*most + d];
			}
			const chain_left<T> left = { k[0], k[most], k[2*most], k[3*most], k[4*most], k[5*most] };
			const chain_solved<T> solved = chain_close(left, more, sum);

			k[0] = solved.p;
			k[2*most] = solved.t;
			k[3*most] = solved.sum;
			k[4*most] = solved.more;
		}
		chain_wait(lanes);
	}
	for (int level = 0; level < n_levels; level++) {
		const int end = level < own.n_levels ? own.levels[level + 1] : 0;

		for (int c = level < own.n_levels ? own.levels[level] + own.lane : 0; c < end; c += lanes) {
			const int above = own.rows[c].above;
			const T before = above == CHAIN_ROOT ? (T) 0 : kept[most + above];

			kept[most + c] = kept[2*most + c] - kept[c]*before;
		}
		chain_wait(lanes);
	}
}

/* Unknowns go to the place of diag. */
template <class T> static __device__ __forceinline__ void
chain_staged_fill(const chain_lane<T, chain_row> &own, const chain_row &row, T before, T last)
{
	own.diag[row.last] = last;
	for (int i = row.last - row.length + 1; i < row.last; i++)
		own.diag[i] = own.rhs[i] - own.lower[i]*before - own.upper[i + 1]*last;
}

template <class T> static __global__ void chain_kernel_staged(chain_batch<T> b, chain_tables<chain_row> t, int room)
{
	GPU_SHARED(memory);
	T *stage = (T *) memory;
	const chain_share share = chain_share_of(b);
	const int most = t.most_chains;

	unsigned long long *barrier = chain_fetch(b, share, stage, room);
	const chain_lane<T, chain_row> own = chain_lane_of(b, t, share, stage, room);
	T *kept = stage + 4*room + threadIdx.x/b.lanes*CHAIN_NUMBERS*most;

	chain_fetch_wait(barrier);
	for (int c = own.lane; c < own.n_chains; c += b.lanes)
		chain_staged_down(own, own.rows[c], kept + c, most);
	chain_wait(b.lanes);
	chain_staged_levels(own, b.lanes, t.most_levels, kept, most);
	for (int c = own.lane; c < own.n_chains; c += b.lanes) {
		const chain_row row = own.rows[c];

		chain_staged_fill(own, row, row.above == CHAIN_ROOT ? (T) 0 : kept[most + row.above], kept[most + c]);
	}
	__syncthreads();
	chain_store(b, share, stage + 2*room);
}

/* ---- Nodes ---- */

/* Then: p in the place of lower, t of rhs, `more` and later the unknown of diag, `sum` of upper. */
template <class T> static __device__ __forceinline__ void
chain_node_up(const chain_lane<T, node_row> &own, const node_row &row)
{
	const T upper = own.upper[row.node], lower = own.lower[row.node];
	T diag = own.diag[row.node], rhs = own.rhs[row.node];

#pragma unroll
	for (int k = 0; k < NODE_BELOW; k++)
		if (k < row.n_below) {
			diag -= own.diag[row.below[k]];
			rhs -= own.upper[row.below[k]];
		}
	for (int k = NODE_BELOW; k < row.n_below; k++) {
		const int below = own.rows[row.child + k].node;

		diag -= own.diag[below];
		rhs -= own.upper[below];
	}
	const T inverse = gpu_reciprocal(diag);
	const T p = row.above == CHAIN_ROOT ? (T) 0 : lower*inverse, t = rhs*inverse;

	own.lower[row.node] = p;
	own.rhs[row.node] = t;
	own.diag[row.node] = upper*p;
	own.upper[row.node] = upper*t;
}

template <class T> static __device__ __forceinline__ void
chain_node_down(const chain_lane<T, node_row> &own, const node_row &row)
{
	const T known = row.above == CHAIN_ROOT ? (T) 0 : own.diag[row.above];

	own.diag[row.node] = own.rhs[row.node] - own.lower[row.node]*known;
}

/* The lane's first row of a level, which is read while the level before is worked at. */
template <class T> static __device__ __forceinline__ int
chain_node_ahead(const chain_lane<T, node_row> &own, int level, node_row *row)
{
	if (level < 0 || level >= own.n_levels)
		return 0;
	const int c = own.levels[level] + own.lane, end = own.levels[level + 1];

	if (c < end)
		*row = own.rows[c];
	return end - c;
}

template <class T> static __global__ void
chain_kernel_nodes(chain_batch<T> b, chain_tables<node_row> t, int room)
{
	GPU_SHARED(memory);
	T *stage = (T *) memory;
	const chain_share share = chain_share_of(b);
	unsigned long long *barrier = chain_fetch(b, share, stage, room);
	const chain_lane<T, node_row> own = chain_lane_of(b, t, share, stage, room);
	node_row next;
	int left = chain_node_ahead(own, t.most_levels - 1, &next);

	chain_fetch_wait(barrier);
	for (int level = t.most_levels - 1; level >= 0; level--) {
		const node_row row = next;
		const int n = left;

		left = chain_node_ahead(own, level - 1, &next);
		if (n > 0)
			chain_node_up(own, row);
		for (int k = b.lanes; k < n; k += b.lanes)
			chain_node_up(own, own.rows[own.levels[level] + own.lane + k]);
		chain_wait(b.lanes);
	}
	left = chain_node_ahead(own, 0, &next);
	for (int level = 0; level < t.most_levels; level++) {
		const node_row row = next;
		const int n = left;

		left = chain_node_ahead(own, level + 1, &next);
		if (n > 0)
			chain_node_down(own, row);
		for (int k = b.lanes; k < n; k += b.lanes)
			chain_node_down(own, own.rows[own.levels[level] + own.lane + k]);
		chain_wait(b.lanes);
	}
	__syncthreads();
	chain_store(b, share, stage + 2*room);
}

#endif
