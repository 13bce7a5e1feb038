/* SPDX-License-Identifier: MIT
 *
 * The code that LiFE was published with (figure 2.6 of the thesis), retold: one coefficient after the other, numbers
 * from 1 kept as doubles, nothing hoisted, no promise that arrays are apart (L1); the inner loop by BLAS, which is not
 * called where its factor is zero (L2); the outer loop parallel, with atomic updates where threads may meet (L3). */
#include "kernels.h"

#include <omp.h>
#include <string.h>

/* ---- L1 ------------------------------------------------------------------------- */

static void coefficient_dsc(double Y[], const double atoms[], const double voxels[], const double fibers[],
			    const double values[], const double D[], const double w[], int n_theta, int k)
{
	int atom = (int) (atoms[k] - 1) * n_theta, voxel = (int) (voxels[k] - 1) * n_theta;
	for (int i = 0; i < n_theta; i++) {
		Y[voxel] = Y[voxel] + D[atom] * w[(int) fibers[k] - 1] * values[k];
		atom++;
		voxel++;
	}
}

static double coefficient_wc(const double Y[], const double atoms[], const double voxels[], const double D[],
			     int n_theta, int k)
{
	int atom = (int) (atoms[k] - 1) * n_theta, voxel = (int) (voxels[k] - 1) * n_theta;
	double sum = 0;
	for (int i = 0; i < n_theta; i++)
		sum += D[atom++] * Y[voxel++];
	return sum;
}

void ISA_NAME(naive_dsc)(const struct life_naive *m, const double *w, double *Y)
{
	memset(Y, 0, (size_t) (m->n_voxels * m->n_theta) * sizeof(double));
	for (int k = 0; k < (int) m->n_coeffs; k++)
		coefficient_dsc(Y, m->atoms, m->voxels, m->fibers, m->values, m->D, w, (int) m->n_theta, k);
}

void ISA_NAME(naive_wc)(const struct life_naive *m, const double *Y, double *w)
{
	memset(w, 0, (size_t) m->n_fibers * sizeof(double));
	for (int k = 0; k < (int) m->n_coeffs; k++) {
		double sum = coefficient_wc(Y, m->atoms, m->voxels, m->D, (int) m->n_theta, k);
		w[(int) m->fibers[k] - 1] += sum * m->values[k];
	}
}

/* ---- L2 ------------------------------------------------------------------------------ */

void ISA_NAME(naive_dsc_blas)(const struct life_naive *m, const struct blas *blas, const double *w, double *Y)
{
	int n_theta = (int) m->n_theta;
	memset(Y, 0, (size_t) (m->n_voxels * m->n_theta) * sizeof(double));
	for (int k = 0; k < (int) m->n_coeffs; k++) {
		double factor = w[(int) m->fibers[k] - 1] * m->values[k];
		if (factor != 0)
			blas->daxpy(n_theta, factor, m->D + (int) (m->atoms[k] - 1) * n_theta, 1,
				    Y + (int) (m->voxels[k] - 1) * n_theta, 1);
	}
}

void ISA_NAME(naive_wc_blas)(const struct life_naive *m, const struct blas *blas, const double *Y, double *w)
{
	int n_theta = (int) m->n_theta;
	memset(w, 0, (size_t) m->n_fibers * sizeof(double));
	for (int k = 0; k < (int) m->n_coeffs; k++)
		w[(int) m->fibers[k] - 1] += m->values[k] * blas->ddot(n_theta,
								       m->D + (int) (m->atoms[k] - 1) * n_theta, 1,
								       Y + (int) (m->voxels[k] - 1) * n_theta, 1);
}

/* ---- L3 --------------------------------------------------------------------------------- */

static void atomic_dsc(double Y[], const struct life_naive *m, const double w[], int k)
{
	int n_theta = (int) m->n_theta;
	int atom = (int) (m->atoms[k] - 1) * n_theta, voxel = (int) (m->voxels[k] - 1) * n_theta;
	for (int i = 0; i < n_theta; i++) {
#pragma omp atomic
		Y[voxel] += m->D[atom] * w[(int) m->fibers[k] - 1] * m->values[k];
		atom++;
		voxel++;
	}
}

void ISA_NAME(naive_dsc_par)(const struct life_naive *m, const struct life_share *share, const double *w, double *Y)
{
	memset(Y, 0, (size_t) (m->n_voxels * m->n_theta) * sizeof(double));
#pragma omp parallel num_threads(share->threads)
	for (int part = omp_get_thread_num(); part < share->threads; part += omp_get_num_threads())
		for (int k = (int) share->bounds[part]; k < (int) share->bounds[part + 1]; k++)
			if (share->is_exclusive)
				coefficient_dsc(Y, m->atoms, m->voxels, m->fibers, m->values, m->D, w,
						(int) m->n_theta, k);
			else
				atomic_dsc(Y, m, w, k);
}

void ISA_NAME(naive_wc_par)(const struct life_naive *m, const struct life_share *share, const double *Y, double *w)
{
	memset(w, 0, (size_t) m->n_fibers * sizeof(double));
#pragma omp parallel num_threads(share->threads)
	for (int part = omp_get_thread_num(); part < share->threads; part += omp_get_num_threads())
		for (int k = (int) share->bounds[part]; k < (int) share->bounds[part + 1]; k++) {
			double sum = coefficient_wc(Y, m->atoms, m->voxels, m->D, (int) m->n_theta, k);
			double *cell = &w[(int) m->fibers[k] - 1];
#pragma omp atomic
			*cell += sum * m->values[k];
		}
}
