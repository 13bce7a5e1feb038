/* SPDX-License-Identifier: MIT
 *
 * One tree or chains of one length in each block of 8, 16 or 32 lanes: all lanes take the same steps. One division a
 * row; what a row leaves for its parent stays in registers where that is the row before; factors are kept in scratch
 * that stays in the cache, so that memory is read and written once. */
#include <omp.h>

#include "systems_kernels.h"
#include "vectors.h"

/* Vectors of a row: at most 32 doubles or 64 floats. */
enum { PRECISION(MOST) = 8 };

INLINE vector PRECISION(load)(const REAL *from)
{
	return *(const loose_vector *) (const void *) from;
}

INLINE void PRECISION(store)(REAL *to, vector value)
{
	*(loose_vector *) (void *) to = value;
}

INLINE vector PRECISION(all)(REAL value)
{
	return (vector){ 0 } + value;
}

/* Past the caches; `to` is aligned. */
INLINE void PRECISION(put)(REAL *to, vector value, bool streams)
{
	if (!streams) {
		PRECISION(store)(to, value);
		return;
	}
#if defined(__clang__)
	__builtin_nontemporal_store(value, (vector *) (void *) to);
#elif defined(__AVX512F__)
	__builtin_ia32_movntdq512((__attribute__((vector_size(64))) long long *) (void *) to,
				  (__attribute__((vector_size(64))) long long) value);
#elif defined(__AVX__)
	__builtin_ia32_movntdq256((__attribute__((vector_size(32))) long long *) (void *) to,
				  (__attribute__((vector_size(32))) long long) value);
#else
	PRECISION(store)(to, value);
#endif
}

/* Where a block is. The coefficients of shared systems are one for all lanes. */
struct PRECISION(block) {
	const REAL *upper, *lower, *diag, *rhs;
	REAL *g, *h, *x;
	int64_t n;
	const uint8_t *rows;
};

INLINE vector PRECISION(coefficient)(const REAL *from, int64_t i, int v, int nv, bool is_shared)
{
	return is_shared ? PRECISION(all)(from[i]) : PRECISION(load)(from + (i * nv + v) * WIDTH);
}

/* x[i] = h[i] - g[i]*x[i+1] */
INLINE void PRECISION(chain_block)(const struct PRECISION(block) *b, int nv, bool is_shared, bool streams)
{
	vector g[PRECISION(MOST)], h[PRECISION(MOST)];
	for (int v = 0; v < nv; v++)
		g[v] = h[v] = (vector){ 0 };
	for (int64_t i = 0; i < b->n; i++)
		for (int v = 0; v < nv; v++) {
			int64_t at = (i * nv + v) * WIDTH;
			vector e = PRECISION(load)(b->diag + at), r = PRECISION(load)(b->rhs + at);
			if (i > 0) {
				vector lower = PRECISION(coefficient)(b->lower, i, v, nv, is_shared);
				e -= lower * g[v];
				r -= lower * h[v];
			}
			vector inverse = (REAL) 1 / e;
			g[v] = PRECISION(coefficient)(b->upper, i, v, nv, is_shared) * inverse;
			h[v] = r * inverse;
			PRECISION(store)(b->g + at, g[v]);
			PRECISION(store)(b->h + at, h[v]);
		}
	for (int v = 0; v < nv; v++)
		PRECISION(put)(b->x + ((b->n - 1) * nv + v) * WIDTH, h[v], streams);
	for (int64_t i = b->n - 2; i >= 0; i--)
		for (int v = 0; v < nv; v++) {
			int64_t at = (i * nv + v) * WIDTH;
			h[v] = PRECISION(load)(b->h + at) - PRECISION(load)(b->g + at) * h[v];
			PRECISION(put)(b->x + at, h[v], streams);
		}
}

/* The scratch of a row that is not yet eliminated holds what was added to it: g to the diagonal, h to the right-hand
 * side. */
INLINE void PRECISION(tree_up)(const struct PRECISION(block) *b, const int32_t *parent, int nv, bool is_shared)
{
	vector to_diag[PRECISION(MOST)], to_rhs[PRECISION(MOST)];
	for (int v = 0; v < nv; v++)
		to_diag[v] = to_rhs[v] = (vector){ 0 };
	for (int64_t i = b->n - 1; i >= 0; i--) {
		int row = b->rows[i];
		for (int v = 0; v < nv; v++) {
			int64_t at = (i * nv + v) * WIDTH;
			vector e = PRECISION(load)(b->diag + at), r = PRECISION(load)(b->rhs + at);
			if (row & ROW_ADDED) {
				e += PRECISION(load)(b->g + at);
				r += PRECISION(load)(b->h + at);
			}
			if (row & ROW_NEXT) {
				e += to_diag[v];
				r += to_rhs[v];
			}
			vector inverse = (REAL) 1 / e, h = r * inverse;
			PRECISION(store)(b->h + at, h);
			if (row & ROW_ROOT)
				continue;
			vector g = PRECISION(coefficient)(b->lower, i, v, nv, is_shared) * inverse;
			vector upper = PRECISION(coefficient)(b->upper, i, v, nv, is_shared);
			PRECISION(store)(b->g + at, g);
			to_diag[v] = -upper * g;
			to_rhs[v] = -upper * h;
		}
		if (row & (ROW_ROOT | ROW_CHAIN))
			continue;
		for (int v = 0; v < nv; v++) {
			int64_t at = (parent[i] * (int64_t) nv + v) * WIDTH;
			bool is_first = row & ROW_FIRST;
			PRECISION(store)(b->g + at, is_first ? to_diag[v] : PRECISION(load)(b->g + at) + to_diag[v]);
			PRECISION(store)(b->h + at, is_first ? to_rhs[v] : PRECISION(load)(b->h + at) + to_rhs[v]);
		}
	}
}

INLINE void PRECISION(tree_down)(const struct PRECISION(block) *b, const int32_t *parent, int nv, bool streams)
{
	vector x[PRECISION(MOST)];
	for (int v = 0; v < nv; v++)
		x[v] = (vector){ 0 };
	for (int64_t i = 0; i < b->n; i++) {
		int row = b->rows[i];
		int64_t above = parent[i] * (int64_t) nv * WIDTH;
		for (int v = 0; v < nv; v++) {
			int64_t at = (i * nv + v) * WIDTH;
			vector h = PRECISION(load)(b->h + at);
			if (!(row & ROW_ROOT)) {
				vector from = row & ROW_CHAIN ? x[v] : PRECISION(load)(b->h + above + v * WIDTH);
				h -= PRECISION(load)(b->g + at) * from;
			}
			x[v] = h;
			if (row & ROW_ADDED)
				PRECISION(store)(b->h + at, h);
			PRECISION(put)(b->x + at, h, streams);
		}
	}
}

/* What a solve by two loops over a block takes and leaves, and nothing else: four values a row are read and two
 * written, which the second loop reads; it writes one. */
INLINE void PRECISION(move_block)(const struct PRECISION(block) *b, int nv, bool is_shared, bool streams)
{
	REAL *kept = streams ? b->h : b->x;
	for (int64_t i = b->n - 1; i >= 0; i--)
		for (int v = 0; v < nv; v++) {
			int64_t at = (i * nv + v) * WIDTH;
			PRECISION(store)(b->g + at, PRECISION(coefficient)(b->upper, i, v, nv, is_shared) +
						    PRECISION(coefficient)(b->lower, i, v, nv, is_shared));
			PRECISION(store)(kept + at, PRECISION(load)(b->diag + at) + PRECISION(load)(b->rhs + at));
		}
	for (int64_t at = 0; at < b->n * nv * WIDTH; at += WIDTH)
		PRECISION(put)(b->x + at, PRECISION(load)(kept + at) + PRECISION(load)(b->g + at), streams);
}

INLINE void PRECISION(solve_block)(const struct system_call *call, int64_t number, int nv)
{
	const struct system_blocks *blocks = &call->blocks;
	const struct system_batch *batch = call->batch;
	int64_t at = blocks->start[number] * nv * WIDTH, own = batch->is_shared ? 0 : at;
	REAL *scratch = (REAL *) (void *) ((char *) call->scratch +
					   (size_t) omp_get_thread_num() * call->scratch_bytes);
	const struct PRECISION(block) block = {
		.upper = (const REAL *) blocks->upper + own, .lower = (const REAL *) blocks->lower + own,
		.diag = (const REAL *) blocks->diag + at, .rhs = (const REAL *) blocks->rhs + at,
		.x = (REAL *) blocks->x + at, .g = scratch, .h = scratch + (blocks->n * nv + 1) * WIDTH,
		.n = blocks->start[number + 1] - blocks->start[number], .rows = call->rows,
	};
	if (block.n == 0)
		return;
	if (call->version->code == SYSTEM_MOVED) {
		PRECISION(move_block)(&block, nv, batch->is_shared, call->streams);
		return;
	}
	if (batch->is_chain && batch->is_shared)
		PRECISION(chain_block)(&block, nv, true, call->streams);
	else if (batch->is_chain)
		PRECISION(chain_block)(&block, nv, false, call->streams);
	else if (batch->is_shared)
		PRECISION(tree_up)(&block, batch->parent, nv, true);
	else
		PRECISION(tree_up)(&block, batch->parent, nv, false);
	if (!batch->is_chain && call->streams)
		PRECISION(tree_down)(&block, batch->parent, nv, true);
	else if (!batch->is_chain)
		PRECISION(tree_down)(&block, batch->parent, nv, false);
}

/* Vectors of a row: a constant in each call. */
static void PRECISION(solve_any)(const struct system_call *call, int64_t block)
{
	switch (call->blocks.lanes / WIDTH) {
	case 1:
		PRECISION(solve_block)(call, block, 1);
		break;
	case 2:
		PRECISION(solve_block)(call, block, 2);
		break;
	case 4:
		PRECISION(solve_block)(call, block, 4);
		break;
	default:
		PRECISION(solve_block)(call, block, 8);
	}
}

void ISA_NAME(PRECISION(system_interleaved))(const struct system_call *call, void *x)
{
	(void) x;
#pragma omp parallel for num_threads(call->threads) schedule(static)
	for (int64_t block = 0; block < call->blocks.n_blocks; block++)
		PRECISION(solve_any)(call, block);
}
