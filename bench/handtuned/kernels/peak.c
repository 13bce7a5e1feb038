/* SPDX-License-Identifier: MIT
 *
 * What the machine can do at most, on some threads: memory streams (the triad of McCalpin's STREAM, and reading), and
 * multiply-adds of registers. */
#include "kernels.h"

#include <omp.h>

void ISA_NAME(triad)(int threads, int64_t n, double *a, const double *b, const double *c)
{
#pragma omp parallel for simd num_threads(threads) schedule(static)
	for (int64_t i = 0; i < n; i++)
		a[i] = b[i] + 3.0 * c[i];
}

void ISA_NAME(read)(int threads, int64_t n, const double *a)
{
	double sum = 0;
#pragma omp parallel for simd num_threads(threads) schedule(static) reduction(+ : sum)
	for (int64_t i = 0; i < n; i++)
		sum += a[i];
	volatile double sink = sum;
	(void) sink;
}

/* ---- Arithmetic ----------------------------------------------------------------------------- */

#if defined(__AVX512F__)
#define BYTES 64
#elif defined(__AVX2__)
#define BYTES 32
#else
#define BYTES 16
#endif

enum { SUMS = 12, TURNS = 4000000 };

typedef double doubles __attribute__((vector_size(BYTES)));
typedef float floats __attribute__((vector_size(BYTES)));

/* Independent sums, so that none waits; the factor keeps them finite. */
#define MULTIPLY_AND_ADD(type, element) \
	type sum[SUMS]; \
	volatile element given = (element) 0.999; \
	element factor = given; \
	for (int s = 0; s < SUMS; s++) \
		sum[s] = (type){ 0 } + (element) s; \
	for (int turn = 0; turn < TURNS; turn++) \
		for (int s = 0; s < SUMS; s++) \
			sum[s] = sum[s] * factor + factor; \
	for (int s = 1; s < SUMS; s++) \
		sum[0] += sum[s]; \
	volatile element sink = sum[0][0]; \
	(void) sink

static void turn_doubles(void)
{
	MULTIPLY_AND_ADD(doubles, double);
}

static void turn_floats(void)
{
	MULTIPLY_AND_ADD(floats, float);
}

static double turn_all(int threads, void (*turn)(void), double elements)
{
#pragma omp parallel num_threads(threads)
	turn();
	return 2 * elements * SUMS * TURNS * threads;
}

double ISA_NAME(fma_f64)(int threads)
{
	return turn_all(threads, turn_doubles, BYTES / sizeof(double));
}

double ISA_NAME(fma_f32)(int threads)
{
	return turn_all(threads, turn_floats, BYTES / sizeof(float));
}
