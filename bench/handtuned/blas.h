/* SPDX-License-Identifier: MIT
 *
 * The two BLAS functions that the thesis' versions call, from the library that is installed. It is looked for when a
 * version needs it, so that nothing else depends on it, and told to use one thread: the versions have their own. */
#ifndef BENCH_HANDTUNED_BLAS_H
#define BENCH_HANDTUNED_BLAS_H

#include <stdbool.h>

struct blas {
	void *library;  /* NULL: none */
	void (*daxpy)(int n, double a, const double *x, int x_step, double *y, int y_step);
	double (*ddot)(int n, const double *x, int x_step, const double *y, int y_step);
};

bool blas_open(struct blas *blas);      /* false: none is installed */
void blas_close(struct blas *blas);

#endif
