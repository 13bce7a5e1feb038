/* SPDX-License-Identifier: MIT
 *
 * The best version of both products, for REAL = double or float, NAME being the suffix of its functions. One voxel at
 * a time: a row of Y lives in registers, in blocks of at most BLOCK vectors, while the rows of D of its pairs pass by;
 * a pair has one factor, the sum of value * w over its coefficients, or one dot product, which its coefficients share.
 * Four dot products are made at once. Threads take chunks of voxels as they come; each has its own w. */
#include "kernels.h"
#include "vectors.h"

#include <omp.h>
#include <string.h>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

/* Below this share of fibers with a weight, pairs with a factor are listed first. */
#define SPARSE 0.4
/* A result larger than this is written past the caches. */
#define LARGE (16 << 20)

struct scratch {
	double *w;              /* by new numbers, or [threads, n_fibers] */
	REAL *factors;          /* of this thread: [most_pairs + 8] */
	uint16_t *atoms;        /* of this thread: those of the factors that are not zero */
};

static struct scratch scratch_of(const struct life_best *m, const struct life_share *share, int threads, int thread)
{
	struct scratch s = { .w = share->scratch };
	int64_t n = (m->most_pairs + 15) & ~INT64_C(7);
	double *own = s.w + m->n_fibers * (threads + 1) + 2 * n * thread;
	s.factors = (REAL *) (void *) own;
	s.atoms = (uint16_t *) (void *) (own + n);
	return s;
}

/* ---- Factors of pairs ------------------------------------------------------------------- */

static void find_factors(const struct life_best *m, int64_t u, const double *restrict w, REAL *restrict factors)
{
	int64_t first = m->first_pair[u], end = m->first_pair[u + 1], ones = m->ones[u];
	int64_t k = m->first_coeff[first];
	for (int64_t i = 0; i < ones; i++) {
		__builtin_prefetch(&w[m->fiber[k + i + LIFE_AHEAD]]);
		factors[i] = (REAL) (m->value[k + i] * w[m->fiber[k + i]]);
	}
	for (int64_t p = first + ones; p < end; p++) {
		double sum = 0;
		for (k = m->first_coeff[p]; k < m->first_coeff[p + 1]; k++) {
			__builtin_prefetch(&w[m->fiber[k + LIFE_AHEAD]]);
			sum += m->value[k] * w[m->fiber[k]];
		}
		factors[p - first] = (REAL) sum;
	}
}

/* Keeps those that are not zero, with their atoms; how many. */
static int64_t list_factors(const struct life_best *m, int64_t u, struct scratch *s)
{
	int64_t first = m->first_pair[u], n = m->first_pair[u + 1] - first, kept = 0;
	for (int64_t i = 0; i < n; i++) {
		REAL factor = s->factors[i];
		s->factors[kept] = factor;
		s->atoms[kept] = m->atom[first + i];
		kept += factor != 0;
	}
	return kept;
}

/* ---- A row of Y ------------------------------------------------------------------------------ */

INLINE void store_block(const vector *sum, int n, double *to, int64_t left, bool is_large)
{
	const REAL *from = (const REAL *) (const void *) sum;
	(void) is_large;
#ifdef __AVX512F__
	if (sizeof(REAL) == sizeof(double) && is_large && left >= n * WIDTH && ((uintptr_t) to & 63) == 0) {
		for (int b = 0; b < n; b++)
			_mm512_stream_pd(to + b * WIDTH, *(const __m512d *) (const void *) &sum[b]);
		return;
	}
#endif
	for (int i = 0; i < n * WIDTH && i < left; i++)
		to[i] = (double) from[i];
}

/* The sum of n vectors of the rows of some pairs, each with its factor. Short blocks have several sums, since an
 * addition waits for the one before. */
INLINE void sum_rows(int n, const REAL *D, int64_t row, const uint16_t *atom, const REAL *factors, int64_t n_pairs,
		     double *to, int64_t left, bool is_large)
{
	enum { MOST = 2 * BLOCK };
	const int sets = n <= BLOCK / 2 ? 2 : 1;
	vector sum[MOST];
	int64_t p = 0;
#pragma GCC unroll 24
	for (int b = 0; b < sets * n; b++)
		sum[b] = (vector){ 0 };
	for (; p + sets <= n_pairs; p += sets) {
#pragma GCC unroll 2
		for (int s = 0; s < sets; s++) {
			const REAL *from = D + atom[p + s] * row;
#pragma GCC unroll 12
			for (int b = 0; b < n; b++)
				sum[s * n + b] += factors[p + s] * *(const loose_vector *) (from + b * WIDTH);
		}
	}
	for (; p < n_pairs; p++) {
		const REAL *from = D + atom[p] * row;
#pragma GCC unroll 12
		for (int b = 0; b < n; b++)
			sum[b] += factors[p] * *(const loose_vector *) (from + b * WIDTH);
	}
#pragma GCC unroll 12
	for (int b = 0; sets == 2 && b < n; b++)
		sum[b] += sum[n + b];
	store_block(sum, n, to, left, is_large);
}

/* Blocks of about equal size. */
static int block_end(int vectors, int i)
{
	int n_blocks = (vectors + BLOCK - 1) / BLOCK;
	return vectors * i / n_blocks;
}

static void write_row(const struct life_best *m, const REAL *D, int64_t row, const uint16_t *atom,
		      const REAL *factors, int64_t n_pairs, double *to, bool is_large)
{
	int vectors = (int) (row / WIDTH);
	for (int i = 0, from = 0; from < vectors; i++) {
		int n = block_end(vectors, i + 1) - from;
		const REAL *part = D + from * WIDTH;
		double *there = to + from * WIDTH;
		int64_t left = m->n_theta - from * WIDTH;
		FOR_EACH_CONSTANT(n, sum_rows(n_, part, row, atom, factors, n_pairs, there, left, is_large))
		from += n;
	}
}

static void clear_empty(const struct life_best *m, double *Y)
{
#pragma omp for schedule(static) nowait
	for (int64_t i = 0; i < m->n_empty; i++)
		memset(Y + m->empty[i] * m->n_theta, 0, (size_t) m->n_theta * sizeof(double));
}

static void dsc_voxel(const struct life_best *m, const REAL *D, int64_t row, int64_t u, bool is_sparse,
		      struct scratch *s, double *Y)
{
	int64_t first = m->first_pair[u], n = m->first_pair[u + 1] - first;
	bool is_large = m->n_voxels * m->n_theta > LARGE / (int64_t) sizeof(double);
	double *to = Y + m->used[u] * m->n_theta;
	find_factors(m, u, s->w, s->factors);
	if (is_sparse)
		write_row(m, D, row, s->atoms, s->factors, list_factors(m, u, s), to, is_large);
	else
		write_row(m, D, row, m->atom + first, s->factors, n, to, is_large);
}

void ISA_NAME(NAME(best_dsc))(const struct life_best *m, const struct life_share *share, const double *w, double *Y)
{
	const REAL *D = ROWS(m);
	int64_t row = ROW(m), n_active = 0;
#pragma omp parallel num_threads(share->threads)
	{
		int threads = omp_get_num_threads();
		struct scratch s = scratch_of(m, share, threads, omp_get_thread_num());
#pragma omp for schedule(static) reduction(+ : n_active)
		for (int64_t i = 0; i < m->n_fibers; i++) {
			s.w[i] = w[m->old_fiber[i]];
			n_active += s.w[i] != 0;
		}
		bool is_sparse = (double) n_active < SPARSE * (double) m->n_fibers;
		clear_empty(m, Y);
#pragma omp for schedule(dynamic, 1) nowait
		for (int64_t c = 0; c < m->n_chunks; c++)
			for (int64_t u = m->chunk[c]; u < m->chunk[c + 1]; u++)
				dsc_voxel(m, D, row, u, is_sparse, &s, Y);
	}
}

/* ---- Dot products ------------------------------------------------------------------------------- */

INLINE void load_block(const double *from, int n, int64_t left, vector *y)
{
	REAL *to = (REAL *) (void *) y;
	for (int i = 0; i < n * WIDTH; i++)
		to[i] = i < left ? (REAL) from[i] : 0;
}

/* Dot products of n vectors of y with the rows of all pairs; what `dots` has is added to, except at first. */
INLINE void dot_rows(int n, const REAL *D, int64_t row, const uint16_t *atom, int64_t n_pairs, const double *from,
		     int64_t left, bool is_first, REAL *dots)
{
	vector y[BLOCK];
	load_block(from, n, left, y);
	for (int64_t p = 0; p < n_pairs; p += 4) {
		const REAL *d[4];
		vector sum[4] = { { 0 }, { 0 }, { 0 }, { 0 } };
		for (int64_t j = 0; j < 4; j++)
			d[j] = D + atom[p + j < n_pairs ? p + j : p] * row;
#pragma GCC unroll 12
		for (int b = 0; b < n; b++) {
#pragma GCC unroll 4
			for (int j = 0; j < 4; j++)
				sum[j] += y[b] * *(const loose_vector *) (d[j] + b * WIDTH);
		}
		four all;
		add_up_four(&sum[0], &sum[1], &sum[2], &sum[3], &all);
		for (int j = 0; j < 4; j++)
			dots[p + j] = is_first ? all[j] : dots[p + j] + all[j];
	}
}

static void find_dots(const struct life_best *m, const REAL *D, int64_t row, int64_t u, const double *y, REAL *dots)
{
	int64_t first = m->first_pair[u], n_pairs = m->first_pair[u + 1] - first;
	const uint16_t *atom = m->atom + first;
	int vectors = (int) (row / WIDTH);
	for (int i = 0, from = 0; from < vectors; i++) {
		int n = block_end(vectors, i + 1) - from;
		const REAL *part = D + from * WIDTH;
		const double *there = y + from * WIDTH;
		int64_t left = m->n_theta - from * WIDTH;
		FOR_EACH_CONSTANT(n, dot_rows(n_, part, row, atom, n_pairs, there, left, from == 0, dots))
		from += n;
	}
}

static void scatter_dots(const struct life_best *m, int64_t u, const REAL *restrict dots, double *restrict w)
{
	int64_t first = m->first_pair[u], end = m->first_pair[u + 1], ones = m->ones[u];
	int64_t k = m->first_coeff[first];
	for (int64_t i = 0; i < ones; i++) {
		__builtin_prefetch(&w[m->fiber[k + i + LIFE_AHEAD]]);
		w[m->fiber[k + i]] += m->value[k + i] * (double) dots[i];
	}
	for (int64_t p = first + ones; p < end; p++) {
		double d = (double) dots[p - first];
		for (k = m->first_coeff[p]; k < m->first_coeff[p + 1]; k++) {
			__builtin_prefetch(&w[m->fiber[k + LIFE_AHEAD]]);
			w[m->fiber[k]] += m->value[k] * d;
		}
	}
}

/* The sum of the threads' own w, under the old numbers. */
static void add_up_threads(const struct life_best *m, const double *own, int threads, double *w)
{
#pragma omp for schedule(static) nowait
	for (int64_t i = 0; i < m->n_fibers; i++) {
		double sum = own[i];
		for (int t = 1; t < threads; t++)
			sum += own[t * m->n_fibers + i];
		w[m->old_fiber[i]] = sum;
	}
}

void ISA_NAME(NAME(best_wc))(const struct life_best *m, const struct life_share *share, const double *Y, double *w)
{
	const REAL *D = ROWS(m);
	int64_t row = ROW(m);
#pragma omp parallel num_threads(share->threads)
	{
		int threads = omp_get_num_threads(), thread = omp_get_thread_num();
		struct scratch s = scratch_of(m, share, threads, thread);
		double *own = s.w + m->n_fibers * thread;
		memset(own, 0, (size_t) m->n_fibers * sizeof(*own));
#pragma omp for schedule(dynamic, 1)
		for (int64_t c = 0; c < m->n_chunks; c++)
			for (int64_t u = m->chunk[c]; u < m->chunk[c + 1]; u++) {
				find_dots(m, D, row, u, Y + m->used[u] * m->n_theta, s.factors);
				scatter_dots(m, u, s.factors, own);
			}
		add_up_threads(m, s.w, threads, w);
	}
}
