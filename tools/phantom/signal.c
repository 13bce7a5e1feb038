/* SPDX-License-Identifier: MIT
 *
 * The measurement: y = M w_true plus Gaussian noise, demeaned over the directions as LiFE demeans the data.
 *
 * True weights are positive for a random subset of the fibers and scaled so that those that pass a voxel of
 * average density sum to about 1, as the signal of a voxel is S0 times a mean of the signals of what is in
 * it. Sums over voxels are made in the order of the voxels, each voxel's by one thread. */
#include "anatomy.h"

#include <stdlib.h>
#include <string.h>

/* Fibers per voxel, on average. */
static double mean_visits(const struct crumbs *crumbs)
{
	int64_t visits = 0;
	for (int64_t k = 0; k < crumbs->n; k++) {
		const struct crumb *crumb = &crumbs->items[k];
		visits += k == 0 || crumb[-1].voxel != crumb->voxel || crumb[-1].fiber != crumb->fiber;
	}
	return (double) visits / (double) crumbs->n_voxels;
}

/* A share above 0 makes at least one fiber active. */
static void draw_weights(const struct life_phantom_options *options, double visits,
			 struct life_problem *problem)
{
	double scale = 1 / fmax(options->active * visits, 1);
	bool any = false;
	for (int64_t f = 0; f < problem->n_fibers; f++) {
		struct random_stream true_random = random_stream_of(options->seed, RANDOM_W_TRUE, f);
		struct random_stream random = random_stream_of(options->seed, RANDOM_W, f);
		bool is_active = random_uniform(&true_random) < options->active;
		double weight = scale * (0.5 + random_uniform(&true_random));
		problem->w_true[f] = is_active ? weight : 0;
		problem->w[f] = scale * (0.5 + random_uniform(&random));
		any = any || is_active;
	}
	if (!any && options->active > 0)
		problem->w_true[0] = scale;
}

/* The row of M w_true of one voxel; returns the sum of its squares. */
static double predict_voxel(const struct crumbs *crumbs, int64_t voxel, const struct life_problem *problem)
{
	double *row = problem->y + voxel * problem->n_theta, squares = 0;
	for (int64_t k = crumbs->first[voxel]; k < crumbs->first[voxel + 1]; k++) {
		const struct crumb *crumb = &crumbs->items[k];
		const double *atom = problem->D + crumb->atom * problem->n_theta;
		double factor = problem->w_true[crumb->fiber] * crumb_value(crumb, problem->S0[voxel]);
		if (factor > 0)
			for (int64_t t = 0; t < problem->n_theta; t++)
				row[t] += factor * atom[t];
	}
	for (int64_t t = 0; t < problem->n_theta; t++)
		squares += row[t] * row[t];
	return squares;
}

static void disturb_voxel(const struct life_phantom_options *options, int64_t voxel, double sigma,
			  struct life_problem *problem)
{
	struct random_stream random = random_stream_of(options->seed, RANDOM_NOISE, voxel);
	double *row = problem->y + voxel * problem->n_theta, mean = 0;
	for (int64_t t = 0; t < problem->n_theta; t++) {
		if (sigma > 0)
			row[t] += sigma * random_normal(&random);
		mean += row[t];
	}
	mean /= (double) problem->n_theta;
	for (int64_t t = 0; t < problem->n_theta; t++)
		row[t] -= mean;
}

pmg_status signal_fill(const struct life_phantom_options *options, const struct crumbs *crumbs,
		       struct life_problem *problem, char *error, size_t size)
{
	double *squares = calloc((size_t) problem->n_voxels, sizeof(*squares)), sum = 0;
	if (!squares)
		return phantom_no_memory(error, size);
	draw_weights(options, mean_visits(crumbs), problem);
	#pragma omp parallel for schedule(dynamic, 64) num_threads(phantom_threads(options))
	for (int64_t v = 0; v < problem->n_voxels; v++)
		squares[v] = predict_voxel(crumbs, v, problem);
	for (int64_t v = 0; v < problem->n_voxels; v++)
		sum += squares[v];
	double mean = sum / ((double) problem->n_voxels * (double) problem->n_theta);
	double sigma = options->snr > 0 ? sqrt(mean) / options->snr : 0;
	#pragma omp parallel for schedule(dynamic, 64) num_threads(phantom_threads(options))
	for (int64_t v = 0; v < problem->n_voxels; v++)
		disturb_voxel(options, v, sigma, problem);
	free(squares);
	return PMG_OK;
}
