/* SPDX-License-Identifier: MIT
 *
 * Blocks whose lanes have trees of their own. Roots, and rows that a lane does not have, have coefficients of 0, so
 * that it does not matter what they are told to add to.
 *
 * `gathered` is the papers' interleaved algorithm: each lane reads and writes the row that its parent table says.
 * `masked` keeps what rows leave for the row before in registers, and follows the table only for the other lanes. */
#include <omp.h>
#include <string.h>

#include "systems_kernels.h"
#include "vectors.h"

/* One block: coefficients, and scratch for what is left of diagonal and right-hand side. */
struct PRECISION(grove) {
	const REAL *upper, *lower;
	REAL *e, *r, *x;
	int64_t n;
	const int32_t *parents, *links;
	const uint32_t *jumps;
	int64_t n_links;
};

INLINE void PRECISION(gather_grove)(const struct PRECISION(grove) *b, int lanes)
{
	for (int64_t i = b->n - 1; i >= 0; i--) {
		const int32_t *parent = b->parents + i * lanes;
#pragma omp simd
		for (int lane = 0; lane < lanes; lane++) {
			int64_t at = i * lanes + lane, above = (int64_t) parent[lane] * lanes + lane;
			REAL factor = b->upper[at] / b->e[at];
			b->e[above] -= factor * b->lower[at];
			b->r[above] -= factor * b->r[at];
		}
	}
	for (int64_t i = 0; i < b->n; i++) {
		const int32_t *parent = b->parents + i * lanes;
#pragma omp simd
		for (int lane = 0; lane < lanes; lane++) {
			int64_t at = i * lanes + lane, above = (int64_t) parent[lane] * lanes + lane;
			b->r[at] = (b->r[at] - b->lower[at] * b->r[above]) / b->e[at];
			b->x[at] = b->r[at];
		}
	}
}

/* ---- Masked -------------------------------------------------------------------------------------- */

/* The value where the lane's bit is not set, else 0. */
INLINE vector PRECISION(without)(vector value, uint32_t bits)
{
	lane_bits lanes;
	for (int lane = 0; lane < WIDTH; lane++)
		lanes[lane] = 1 << lane;
	lanes &= (lane_bits){ 0 } + (lane_bit) (bits & ((1u << WIDTH) - 1));
	return (vector) ((lane_bits) value & (lane_bits) (lanes == 0));
}

INLINE void PRECISION(mask_up)(const struct PRECISION(grove) *b, int nv)
{
	const int lanes = nv * WIDTH;
	vector to_diag[4], to_rhs[4];
	int64_t link = b->n_links;
	for (int v = 0; v < nv; v++)
		to_diag[v] = to_rhs[v] = (vector){ 0 };
	for (int64_t i = b->n - 1; i >= 0; i--) {
		uint32_t bits = b->jumps[i];
		for (int v = 0; v < nv; v++) {
			int64_t at = i * lanes + v * WIDTH;
			vector *e = (vector *) (void *) (b->e + at), *r = (vector *) (void *) (b->r + at);
			vector inverse = (REAL) 1 / (*e + to_diag[v]);
			vector upper = *(const loose_vector *) (const void *) (b->upper + at);
			*r = (*r + to_rhs[v]) * inverse;
			*e = *(const loose_vector *) (const void *) (b->lower + at) * inverse;
			to_diag[v] = -upper * *e;
			to_rhs[v] = -upper * *r;
		}
		if (!bits)
			continue;
		link -= __builtin_popcount(bits);
		const REAL *diag = (const REAL *) (const void *) to_diag, *rhs = (const REAL *) (const void *) to_rhs;
		const int32_t *parent = b->links + link;
		for (uint32_t left = bits; left; left &= left - 1, parent++) {
			int lane = __builtin_ctz(left);
			int64_t above = (int64_t) *parent * lanes + lane;
			b->e[above] += diag[lane];
			b->r[above] += rhs[lane];
		}
		for (int v = 0; v < nv; v++) {
			to_diag[v] = PRECISION(without)(to_diag[v], bits >> (v * WIDTH));
			to_rhs[v] = PRECISION(without)(to_rhs[v], bits >> (v * WIDTH));
		}
	}
}

INLINE void PRECISION(mask_down)(const struct PRECISION(grove) *b, int nv)
{
	const int lanes = nv * WIDTH;
	const int32_t *parent = b->links;
	vector x[4];
	for (int v = 0; v < nv; v++)
		x[v] = (vector){ 0 };
	for (int64_t i = 0; i < b->n; i++) {
		REAL *above = (REAL *) (void *) x;
		for (uint32_t left = b->jumps[i]; left; left &= left - 1, parent++) {
			int lane = __builtin_ctz(left);
			above[lane] = b->r[(int64_t) *parent * lanes + lane];
		}
		for (int v = 0; v < nv; v++) {
			int64_t at = i * lanes + v * WIDTH;
			vector *r = (vector *) (void *) (b->r + at);
			x[v] = *r - *(const vector *) (const void *) (b->e + at) * x[v];
			*r = x[v];
			*(loose_vector *) (void *) (b->x + at) = x[v];
		}
	}
}

/* ---- All blocks -------------------------------------------------------------------------------------- */

/* A block, with copies of diagonal and right-hand side. */
INLINE struct PRECISION(grove) PRECISION(grove_of)(const struct system_call *call, int64_t number)
{
	const struct system_blocks *blocks = &call->blocks;
	int64_t lanes = blocks->lanes, start = blocks->start[number], n = blocks->start[number + 1] - start;
	REAL *scratch = (REAL *) (void *) ((char *) call->scratch +
					   (size_t) omp_get_thread_num() * call->scratch_bytes);
	struct PRECISION(grove) grove = {
		.upper = (const REAL *) blocks->upper + start * lanes,
		.lower = (const REAL *) blocks->lower + start * lanes, .x = (REAL *) blocks->x + start * lanes,
		.e = scratch, .r = scratch + (blocks->n + 2) * lanes, .n = n,
		.parents = blocks->parents + start * lanes, .jumps = blocks->jumps + start,
		.links = blocks->links + blocks->link[number],
		.n_links = blocks->link[number + 1] - blocks->link[number],
	};
	memcpy(grove.e, (const REAL *) blocks->diag + start * lanes, (size_t) (n * lanes) * sizeof(REAL));
	memcpy(grove.r, (const REAL *) blocks->rhs + start * lanes, (size_t) (n * lanes) * sizeof(REAL));
	return grove;
}

void ISA_NAME(PRECISION(system_gathered))(const struct system_call *call, void *x)
{
	(void) x;
#pragma omp parallel for num_threads(call->threads) schedule(static)
	for (int64_t number = 0; number < call->blocks.n_blocks; number++) {
		struct PRECISION(grove) grove = PRECISION(grove_of)(call, number);
		if (call->blocks.lanes == 64 / sizeof(REAL))
			PRECISION(gather_grove)(&grove, 64 / sizeof(REAL));
		else
			PRECISION(gather_grove)(&grove, 128 / sizeof(REAL));
	}
}

static void PRECISION(mask_grove)(const struct PRECISION(grove) *grove, int64_t lanes)
{
	switch (lanes / WIDTH) {
	case 1:
		PRECISION(mask_up)(grove, 1);
		PRECISION(mask_down)(grove, 1);
		break;
	case 2:
		PRECISION(mask_up)(grove, 2);
		PRECISION(mask_down)(grove, 2);
		break;
	default:
		PRECISION(mask_up)(grove, 4);
		PRECISION(mask_down)(grove, 4);
	}
}

void ISA_NAME(PRECISION(system_masked))(const struct system_call *call, void *x)
{
	(void) x;
#pragma omp parallel for num_threads(call->threads) schedule(static)
	for (int64_t number = 0; number < call->blocks.n_blocks; number++) {
		struct PRECISION(grove) grove = PRECISION(grove_of)(call, number);
		PRECISION(mask_grove)(&grove, call->blocks.lanes);
	}
}
