/* SPDX-License-Identifier: MIT
 *
 * Operations of algorithms for tridiagonal systems, counted as their stages have them (docs/eliminations.md): sums,
 * products and quotients of one system of n rows with one right-hand side. */
#include "systems/systems.h"

#include <math.h>
#include <string.h>

enum {
	OF_THOMAS = 9,          /* pivot, right-hand side, solution: three each */
	OF_REDUCTION = 12,      /* a row freed of two others */
	OF_FILLING_IN = 5,      /* a row between two that are known */
	OF_SCALING = 4,         /* a row by a power of two, for all but elimination */
	OF_PARTITION = 18,      /* a row of a chunk: 14 down, 4 up */
	OF_CONDENSING = 5,      /* the row that is left of a chunk */
	OF_DOUBLING = 25,       /* two matrices multiplied and scaled, and two linear recurrences */
	OF_DOUBLING_ENDS = 5    /* what these begin with, and the pivot */
};

static double halved(int64_t *n, int64_t limit)
{
	double operations = 0;
	for (; *n > limit; *n /= 2)
		operations += (double) (OF_REDUCTION * (*n / 2) + OF_FILLING_IN * (*n - *n / 2));
	return operations;
}

static int64_t doublings(int64_t n)
{
	int64_t steps = 0;
	for (int64_t rows = 1; rows < n; rows *= 2)
		steps++;
	return steps;
}

static double partitioned(int64_t n, int64_t rows)
{
	int64_t chunks = (n + rows - 1) / rows;
	return (double) (OF_PARTITION * n + (OF_CONDENSING + OF_REDUCTION * doublings(chunks) + 1) * chunks);
}

static double scaled_operations(const char *algorithm, int64_t n)
{
	int64_t left = n;
	double operations;
	if (strcmp(algorithm, "cr") == 0) {
		operations = halved(&left, 1);
		return operations + (double) left;
	}
	if (strcmp(algorithm, "crpcr") == 0) {
		operations = halved(&left, 32);
		return operations + (double) (OF_REDUCTION * 5 * left + left);
	}
	if (strcmp(algorithm, "pcr") == 0)
		return (double) (OF_REDUCTION * doublings(n) * n + n);
	if (strcmp(algorithm, "stone") == 0)
		return (double) ((OF_DOUBLING * doublings(n) + OF_DOUBLING_ENDS) * n);
	if (strcmp(algorithm, "partition") == 0)
		return partitioned(n, 64);
	if (strcmp(algorithm, "pcr_thomas") == 0)
		return (double) (OF_REDUCTION * 4 * n + OF_THOMAS * n);
	return NAN;
}

double systems_operations(const char *algorithm, int64_t n)
{
	if (strcmp(algorithm, "thomas") == 0)
		return (double) (OF_THOMAS * n);
	return scaled_operations(algorithm, n) + (double) (OF_SCALING * n);
}

int64_t systems_levels(const char *algorithm, int64_t n)
{
	static const char *const as_written[] = { "thomas", "chains", "hines", "level_batches" };
	for (size_t i = 0; i < sizeof(as_written) / sizeof(as_written[0]); i++)
		if (strcmp(algorithm, as_written[i]) == 0)
			return 0;
	return doublings(n);
}
