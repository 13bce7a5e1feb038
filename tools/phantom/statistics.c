/* SPDX-License-Identifier: MIT
 *
 * What decides the speed of the two products: how many coefficients a voxel has and how unevenly, and how
 * many share their (atom, voxel) pair. One pass over the coefficients, as the sorting puts a pair's side by
 * side. */
#include "phantom.h"

#include <inttypes.h>
#include <stdlib.h>

static int compare_counts(const void *left, const void *right)
{
	int32_t a = *(const int32_t *) left, b = *(const int32_t *) right;
	return (a > b) - (a < b);
}

static int32_t quantile(const int32_t *sorted, int64_t n, double share)
{
	return sorted[(int64_t) (share * (double) (n - 1))];
}

static double share_with_half(const int32_t *sorted, int64_t n, int64_t total)
{
	int64_t sum = 0, taken = 0;
	while (taken < n && 2 * sum < total)
		sum += sorted[n - ++taken];
	return (double) taken / (double) n;
}

static void count(const struct life_problem *problem, int32_t *coeffs, int32_t *pairs)
{
	for (int64_t k = 0; k < problem->n_coeffs; k++) {
		int32_t voxel = problem->voxel[k];
		coeffs[voxel]++;
		pairs[voxel] +=
			k == 0 || problem->voxel[k - 1] != voxel || problem->atom[k - 1] != problem->atom[k];
	}
}

static void summarise(const struct life_problem *problem, int32_t *coeffs, int32_t *pairs,
		      struct life_statistics *statistics)
{
	int64_t n = problem->n_voxels;
	*statistics = (struct life_statistics){ 0 };
	qsort(coeffs, (size_t) n, sizeof(*coeffs), compare_counts);
	qsort(pairs, (size_t) n, sizeof(*pairs), compare_counts);
	for (int64_t v = 0; v < n; v++)
		statistics->n_pairs += pairs[v];
	statistics->coeffs_per_pair = (double) problem->n_coeffs / (double) statistics->n_pairs;
	statistics->coeffs_q10 = quantile(coeffs, n, 0.10);
	statistics->coeffs_q50 = quantile(coeffs, n, 0.50);
	statistics->coeffs_q90 = quantile(coeffs, n, 0.90);
	statistics->coeffs_q99 = quantile(coeffs, n, 0.99);
	statistics->coeffs_max = coeffs[n - 1];
	statistics->pairs_q50 = quantile(pairs, n, 0.50);
	statistics->pairs_q90 = quantile(pairs, n, 0.90);
	statistics->pairs_max = pairs[n - 1];
	statistics->half_in_voxels = share_with_half(coeffs, n, problem->n_coeffs);
}

pmg_status life_statistics_compute(const struct life_problem *problem, struct life_statistics *statistics,
				   char *error, size_t size)
{
	int32_t *coeffs = calloc((size_t) problem->n_voxels, sizeof(*coeffs));
	int32_t *pairs = calloc((size_t) problem->n_voxels, sizeof(*pairs));
	pmg_status status = PMG_OK;
	if (coeffs && pairs) {
		count(problem, coeffs, pairs);
		summarise(problem, coeffs, pairs, statistics);
	} else {
		snprintf(error, size, "not enough memory");
		status = PMG_NO_RESOURCES;
	}
	free(coeffs);
	free(pairs);
	return status;
}

void life_statistics_print(FILE *stream, const struct life_problem *problem,
			   const struct life_statistics *statistics)
{
	const struct life_statistics *s = statistics;
	fprintf(stream, "coefficients                         %" PRId64 "\n", problem->n_coeffs);
	fprintf(stream, "fibers, directions, atoms            %" PRId64 ", %" PRId64 ", %" PRId64 "\n",
		problem->n_fibers, problem->n_theta, problem->n_atoms);
	fprintf(stream, "voxels                               %" PRId64 "\n", problem->n_voxels);
	fprintf(stream, "distinct (atom, voxel) pairs         %" PRId64 "\n", s->n_pairs);
	fprintf(stream, "coefficients per pair                %.2f\n", s->coeffs_per_pair);
	fprintf(stream, "coefficients/voxel q10 q50 q90 q99   %d, %d, %d, %d\n", s->coeffs_q10, s->coeffs_q50,
		s->coeffs_q90, s->coeffs_q99);
	fprintf(stream, "coefficients/voxel max               %d\n", s->coeffs_max);
	fprintf(stream, "pairs/voxel q50 q90 max              %d, %d, %d\n", s->pairs_q50, s->pairs_q90,
		s->pairs_max);
	fprintf(stream, "half of all coefficients in the top  %.1f %% of the voxels\n",
		100 * s->half_in_voxels);
}
