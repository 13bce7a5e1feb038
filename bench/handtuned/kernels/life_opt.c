/* SPDX-License-Identifier: MIT
 *
 * The optimised code of the thesis (sections 4.1 and 4.2.1): integer offsets multiplied beforehand, factors hoisted,
 * threads with parts of the sorted coefficients, rows by daxpy (not called where the factor is zero) and ddot. Without
 * BLAS the same as loops (L6); rows of Y that threads share are updated atomically (L5), and so is w always. */
#include "kernels.h"

#include <omp.h>
#include <string.h>

/* Each thread clears its part. */
static void clear(double *values, int64_t n, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static)
	for (int64_t i = 0; i < n; i++)
		values[i] = 0;
}

static void part_dsc_blas(const struct life_opt *m, const struct blas *blas, int64_t low, int64_t high,
			  const double *w, double *Y)
{
	int n_theta = (int) m->n_theta;
	for (int64_t k = low; k < high; k++) {
		double factor = w[m->fiber[k]] * m->value[k];
		if (factor != 0)
			blas->daxpy(n_theta, factor, m->D + m->row_of_D[k], 1, Y + m->row_of_Y[k], 1);
	}
}

static void part_dsc(const struct life_opt *m, int64_t low, int64_t high, const double *w, double *Y)
{
	int32_t n_theta = (int32_t) m->n_theta;
	for (int64_t k = low; k < high; k++) {
		const double *restrict from = m->D + m->row_of_D[k];
		double *restrict to = Y + m->row_of_Y[k], factor = w[m->fiber[k]] * m->value[k];
		for (int32_t i = 0; i < n_theta; i++)
			to[i] += factor * from[i];
	}
}

static void part_dsc_atomic(const struct life_opt *m, int64_t low, int64_t high, const double *w, double *Y)
{
	int32_t n_theta = (int32_t) m->n_theta;
	for (int64_t k = low; k < high; k++) {
		const double *restrict from = m->D + m->row_of_D[k];
		double *restrict to = Y + m->row_of_Y[k], factor = w[m->fiber[k]] * m->value[k];
		for (int32_t i = 0; i < n_theta; i++) {
#pragma omp atomic
			to[i] += factor * from[i];
		}
	}
}

void ISA_NAME(opt_dsc)(const struct life_opt *m, const struct life_share *share, const double *w, double *Y)
{
	clear(Y, m->n_voxels * m->n_theta, share->threads);
#pragma omp parallel num_threads(share->threads)
	for (int part = omp_get_thread_num(); part < share->threads; part += omp_get_num_threads()) {
		int64_t low = share->bounds[part], high = share->bounds[part + 1];
		if (!share->is_exclusive)
			part_dsc_atomic(m, low, high, w, Y);
		else if (share->blas)
			part_dsc_blas(m, share->blas, low, high, w, Y);
		else
			part_dsc(m, low, high, w, Y);
	}
}

static double dot(int32_t n, const double *restrict x, const double *restrict y)
{
	double sum = 0;
#pragma omp simd reduction(+ : sum)
	for (int32_t i = 0; i < n; i++)
		sum += x[i] * y[i];
	return sum;
}

static void part_wc(const struct life_opt *m, const struct blas *blas, int64_t low, int64_t high, const double *Y,
		    double *w)
{
	int32_t n_theta = (int32_t) m->n_theta;
	for (int64_t k = low; k < high; k++) {
		const double *x = m->D + m->row_of_D[k], *y = Y + m->row_of_Y[k];
		double sum = blas ? blas->ddot(n_theta, x, 1, y, 1) : dot(n_theta, x, y);
		double *cell = &w[m->fiber[k]];
#pragma omp atomic
		*cell += m->value[k] * sum;
	}
}

void ISA_NAME(opt_wc)(const struct life_opt *m, const struct life_share *share, const double *Y, double *w)
{
	clear(w, m->n_fibers, share->threads);
#pragma omp parallel num_threads(share->threads)
	for (int part = omp_get_thread_num(); part < share->threads; part += omp_get_num_threads())
		part_wc(m, share->blas, share->bounds[part], share->bounds[part + 1], Y, w);
}
