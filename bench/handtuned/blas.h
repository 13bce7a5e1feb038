/* SPDX-License-Identifier: MIT
 *
 * The two BLAS functions that the thesis' versions call, and LAPACK's for tridiagonal systems, from the library that is
 * installed. It is looked for when a version needs it, so that nothing else depends on it, and told to use one thread:
 * the versions have their own. */
#ifndef BENCH_HANDTUNED_BLAS_H
#define BENCH_HANDTUNED_BLAS_H

#include <stdbool.h>

struct blas {
	void *library;  /* NULL: none */
	void (*daxpy)(int n, double a, const double *x, int x_step, double *y, int y_step);
	double (*ddot)(int n, const double *x, int x_step, const double *y, int y_step);
};

/* Tridiagonal systems, by LAPACK's Fortran names; the diagonals and the right-hand side are overwritten. */
struct lapack {
	void *library;  /* NULL: none */
	void (*dgtsv)(const int *n, const int *n_rhs, double *lower, double *diag, double *upper, double *x,
		      const int *leading, int *info);
	void (*dptsv)(const int *n, const int *n_rhs, double *diag, double *upper, double *x, const int *leading,
		      int *info);
	void (*sgtsv)(const int *n, const int *n_rhs, float *lower, float *diag, float *upper, float *x,
		      const int *leading, int *info);
	void (*sptsv)(const int *n, const int *n_rhs, float *diag, float *upper, float *x, const int *leading,
		      int *info);
};

bool lapack_open(struct lapack *lapack);        /* false: none is installed */
void lapack_close(struct lapack *lapack);
bool blas_open(struct blas *blas);      /* false: none is installed */
void blas_close(struct blas *blas);

#endif
