/* SPDX-License-Identifier: MIT
 *
 * Medians and their 95 % intervals. Of one sample the interval is that of two order statistics, which hold the median
 * whatever the distribution (the number of values below it is binomial, p = 1/2); of the ratio of two medians it is the
 * percentile interval of the bootstrap (Efron and Tibshirani 1993, chapter 13), with numbers that are the same in each
 * run. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

enum { RESAMPLES = 1000 };

static int compare_numbers(const void *a, const void *b)
{
	double x = *(const double *) a, y = *(const double *) b;
	return (x > y) - (x < y);
}

static double middle_of_sorted(const double *values, int n)
{
	return n % 2 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

double median_of(double *times, int n)
{
	qsort(times, (size_t) n, sizeof(*times), compare_numbers);
	return middle_of_sorted(times, n);
}

/* The largest rank r, from 0, such that fewer than r+1 of n values are below the median in at most 2.5 of 100 cases. */
static int lower_rank(int n)
{
	double term = 1, sum = 0;
	int rank = -1;
	for (int i = 0; i < n && term > 0; i++)
		term *= 0.5;
	for (int i = 0; i < n && sum + term <= 0.025; i++) {
		sum += term;
		rank = i;
		term *= (double) (n - i) / (i + 1);
	}
	return rank;
}

struct interval median_interval(double *times, int n)
{
	int used = n < 1000 ? n : 1000;
	struct interval interval = { .middle = median_of(times, n) };
	int rank = lower_rank(used);
	rank = rank < 0 ? 0 : (int) ((int64_t) rank * n / used);
	interval.low = times[rank];
	interval.high = times[n - 1 - rank];
	return interval;
}

/* ---- Ratios ------------------------------------------------------------------------ */

static uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static double resampled_median(uint64_t *state, const double *values, int n, double *scratch)
{
	for (int i = 0; i < n; i++)
		scratch[i] = values[next_random(state) % (uint64_t) n];
	return median_of(scratch, n);
}

struct interval ratio_interval(struct arena *arena, const double *base, int n_base, const double *times, int n)
{
	double *scratch = arena_new_array(arena, double, n_base > n ? n_base : n);
	double *ratios = arena_new_array(arena, double, RESAMPLES);
	uint64_t state = 1;
	struct interval interval;
	for (int i = 0; i < RESAMPLES; i++) {
		double above = resampled_median(&state, base, n_base, scratch);
		ratios[i] = above / resampled_median(&state, times, n, scratch);
	}
	qsort(ratios, RESAMPLES, sizeof(*ratios), compare_numbers);
	interval.low = ratios[RESAMPLES * 25 / 1000];
	interval.high = ratios[RESAMPLES - 1 - RESAMPLES * 25 / 1000];
	memcpy(scratch, base, (size_t) n_base * sizeof(*base));
	interval.middle = median_of(scratch, n_base);
	memcpy(scratch, times, (size_t) n * sizeof(*times));
	interval.middle /= median_of(scratch, n);
	return interval;
}
