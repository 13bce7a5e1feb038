/* SPDX-License-Identifier: MIT
 *
 * One system after the other where the caller has them: algorithm 1 of Valero-Lara et al. (Hines, without its read of
 * p[0]) and Thomas' algorithm, with two divisions a row as they are printed. They work on copies of diagonal and
 * right-hand side, in the cache, so that they can run again. */
#include <omp.h>
#include <string.h>

#include "systems_kernels.h"
#include "vectors.h"

static void PRECISION(hines_flat)(int64_t n, const int32_t *p, const REAL *u, const REAL *l, REAL *d, REAL *x)
{
	for (int64_t i = n - 1; i >= 0; i--) {
		if (p[i] < 0)
			continue;
		REAL factor = u[i] / d[i];
		d[p[i]] -= factor * l[i];
		x[p[i]] -= factor * x[i];
	}
	for (int64_t i = 0; i < n; i++) {
		if (p[i] >= 0)
			x[i] -= l[i] * x[p[i]];
		x[i] /= d[i];
	}
}

static void PRECISION(thomas_flat)(int64_t n, const REAL *u, const REAL *l, REAL *d, REAL *x)
{
	for (int64_t i = 1; i < n; i++) {
		REAL factor = l[i] / d[i - 1];
		d[i] -= factor * u[i - 1];
		x[i] -= factor * x[i - 1];
	}
	x[n - 1] /= d[n - 1];
	for (int64_t i = n - 2; i >= 0; i--)
		x[i] = (x[i] - u[i] * x[i + 1]) / d[i];
}

void ISA_NAME(PRECISION(system_flat))(const struct system_call *call, void *out)
{
	const struct system_batch *b = call->batch;
	const REAL *upper = b->upper, *lower = b->lower, *diag = b->diag, *rhs = b->rhs;
#pragma omp parallel for num_threads(call->threads) schedule(static) if (call->threads > 1)
	for (int64_t s = 0; s < b->n_systems; s++) {
		int64_t at = b->offset[s], n = b->offset[s + 1] - at, shared = b->is_shared ? 0 : at;
		char *scratch = (char *) call->scratch + (size_t) omp_get_thread_num() * call->scratch_bytes;
		REAL *d = (REAL *) (void *) scratch, *x = (REAL *) out + at;
		if (n == 0)
			continue;
		memcpy(d, diag + at, (size_t) n * sizeof(REAL));
		memcpy(x, rhs + at, (size_t) n * sizeof(REAL));
		if (b->is_chain)
			PRECISION(thomas_flat)(n, upper + shared, lower + shared, d, x);
		else
			PRECISION(hines_flat)(n, b->parent + (b->has_one_tree ? 0 : at), upper + shared,
					      lower + shared, d, x);
	}
}
