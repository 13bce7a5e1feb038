/* SPDX-License-Identifier: MIT
 *
 * The brain that the fibers run in: an ellipsoid whose surface is folded, filled by three families of fibers
 * that cross everywhere, and the clusters in which part of the seeds lie.
 *
 * The three fields stand for commissural fibers (left to right, bending down), association fibers (front to
 * back, bending down) and the corona radiata (upwards, fanning out). They live in coordinates relative to the
 * half axes, so a brain of another scale has the same shape; folds and clusters have their size in mm, as
 * voxels have. The numbers below are set so that scale 1 has the statistics of DS1 (tests/phantom). */
#include "anatomy.h"

#include <stdlib.h>
#include <string.h>

#define PI 3.141592653589793
#define FILLED_BY_FOLDS 0.542 /* white matter's share of the ellipsoid */
#define FOLD_DEPTH 0.35
#define FOLD_LENGTH 14.0 /* mm */
#define WAVES 0.12       /* of the fields, relative to the bends */
#define CLUSTERS_OF_DS1 120.0
#define LEAST_CLUSTER_RADIUS 0.5 /* mm */

static const double axis_ratio[3] = { 0.86, 1.14, 1.02 };

static const double tract_bend[N_TRACTS][3][4] = {
	{ { 0.35, 0, 0, 1.0 }, { 0.20, 0.2, 0, 0 }, { 0, -1.0, 0, 0 } },
	{ { 0.20, 0, 0.3, 0 }, { 0.35, 0, 0, 1.0 }, { 0, 0, -1.0, 0 } },
	{ { 0, 1.0, 0, 0 }, { 0, 0, 0.8, 0 }, { 0.9, 0, 0, 0 } },
};

/* ---- Shape --------------------------------------------------------------------- */

double white_matter_volume(const struct life_phantom_options *options)
{
	const double ds1 = 190589 * 1.5 * 1.5 * 1.5, least = 1000;
	return fmax(options->scale * ds1, least);
}

static void set_shape(const struct life_phantom_options *options, struct white_matter *brain)
{
	double volume = white_matter_volume(options) / FILLED_BY_FOLDS;
	double product = axis_ratio[0] * axis_ratio[1] * axis_ratio[2];
	double radius = cbrt(volume * 3 / (4 * PI * product));
	brain->voxel_size = options->voxel_size;
	for (int i = 0; i < 3; i++) {
		brain->half[i] = radius * axis_ratio[i];
		brain->shape[i] = 2 * (int32_t) ceil(brain->half[i] / brain->voxel_size) + 3;
	}
}

static int64_t box_volume(const struct white_matter *brain)
{
	return (int64_t) brain->shape[0] * brain->shape[1] * brain->shape[2];
}

void white_matter_coordinates(const struct white_matter *brain, int32_t place, int32_t coordinates[3])
{
	coordinates[2] = place % brain->shape[2];
	coordinates[1] = place / brain->shape[2] % brain->shape[1];
	coordinates[0] = place / brain->shape[2] / brain->shape[1];
}

static void centre_of(const struct white_matter *brain, int32_t place, double position[3])
{
	int32_t coordinates[3];
	white_matter_coordinates(brain, place, coordinates);
	for (int i = 0; i < 3; i++)
		position[i] = (coordinates[i] - brain->shape[i] / 2) * brain->voxel_size;
}

/* The surface is at 1 in relative radius, less a fold; the middle voxel is inside whatever its size. */
static bool is_inside(const struct white_matter *brain, const double position[3])
{
	double squares = 0, fold = 1;
	for (int i = 0; i < 3; i++) {
		double relative = position[i] / brain->half[i];
		squares += relative * relative;
		fold *= cos(2 * PI / FOLD_LENGTH * position[i]);
	}
	double surface = 1 - FOLD_DEPTH * (0.5 - 0.5 * fold);
	return squares <= surface * surface;
}

static pmg_status mark_inside(struct white_matter *brain, char *error, size_t size)
{
	int64_t volume = box_volume(brain);
	brain->inside = calloc((size_t) volume, 1);
	brain->places = calloc((size_t) volume, sizeof(*brain->places));
	if (!brain->inside || !brain->places)
		return phantom_no_memory(error, size);
	for (int32_t place = 0; place < volume; place++) {
		double position[3];
		centre_of(brain, place, position);
		if (is_inside(brain, position)) {
			brain->inside[place] = 1;
			brain->places[brain->n_places++] = place;
		}
	}
	return PMG_OK;
}

/* ---- Fields and clusters --------------------------------------------------------- */

static void set_tracts(const struct life_phantom_options *options, struct white_matter *brain)
{
	for (int t = 0; t < N_TRACTS; t++) {
		struct tract *tract = &brain->tracts[t];
		struct random_stream random = random_stream_of(options->seed, RANDOM_TRACTS, t);
		memcpy(tract->bend, tract_bend[t], sizeof(tract->bend));
		tract->amplitude = WAVES;
		for (int i = 0; i < 3; i++) {
			tract->phase[i] = 2 * PI * random_uniform(&random);
			for (int j = 0; j < 3; j++)
				tract->wave[i][j] = 4 * (2 * random_uniform(&random) - 1);
		}
	}
}

/* Shares fall as k^-0.75 and radii grow as k^0.43: a few dense bundles, the tail, and many loose ones. */
static pmg_status set_clusters(const struct life_phantom_options *options, struct white_matter *brain,
			       char *error, size_t size)
{
	double total = 0;
	brain->n_clusters = (int32_t) ceil(CLUSTERS_OF_DS1 * options->scale);
	brain->clusters = calloc((size_t) brain->n_clusters, sizeof(*brain->clusters));
	if (!brain->clusters)
		return phantom_no_memory(error, size);
	for (int32_t k = 0; k < brain->n_clusters; k++) {
		struct random_stream random = random_stream_of(options->seed, RANDOM_CLUSTERS, k);
		struct cluster *cluster = &brain->clusters[k];
		white_matter_draw(brain, &random, cluster->centre);
		cluster->radius = LEAST_CLUSTER_RADIUS * pow(k + 1, 0.43);
		cluster->tract = (int) random_below(&random, N_TRACTS);
		total += pow(k + 1, -0.75);
		cluster->cumulative = total;
	}
	for (int32_t k = 0; k < brain->n_clusters; k++)
		brain->clusters[k].cumulative /= total;
	return PMG_OK;
}

void white_matter_direction(const struct white_matter *brain, int number, const double position[3],
			    double direction[3])
{
	const struct tract *tract = &brain->tracts[number];
	double u[3], squares = 0;
	for (int i = 0; i < 3; i++)
		u[i] = position[i] / brain->half[i];
	for (int i = 0; i < 3; i++) {
		const double *bend = tract->bend[i], *wave = tract->wave[i];
		double phase = tract->phase[i] + wave[0] * u[0] + wave[1] * u[1] + wave[2] * u[2];
		double relative = bend[0] + bend[1] * u[0] + bend[2] * u[1] + bend[3] * u[2] +
				  tract->amplitude * sin(phase);
		direction[i] = relative * brain->half[i];
		squares += direction[i] * direction[i];
	}
	for (int i = 0; i < 3; i++)
		direction[i] /= sqrt(squares);
}

/* ---- The brain ---------------------------------------------------------------------- */

int32_t white_matter_place(const struct white_matter *brain, const double position[3])
{
	int32_t place = 0;
	for (int i = 0; i < 3; i++) {
		double coordinate = floor(position[i] / brain->voxel_size + brain->shape[i] / 2 + 0.5);
		if (!(coordinate >= 0 && coordinate < brain->shape[i]))
			return -1;
		place = place * brain->shape[i] + (int32_t) coordinate;
	}
	return brain->inside[place] ? place : -1;
}

void white_matter_draw(const struct white_matter *brain, struct random_stream *random, double position[3])
{
	centre_of(brain, brain->places[random_below(random, brain->n_places)], position);
	for (int i = 0; i < 3; i++)
		position[i] += (random_uniform(random) - 0.5) * brain->voxel_size;
}

double white_matter_S0(const struct white_matter *brain, int64_t seed, int32_t place)
{
	struct random_stream random = random_stream_of(seed, RANDOM_S0, place);
	double position[3], smooth = 1;
	centre_of(brain, place, position);
	for (int i = 0; i < 3; i++)
		smooth += 0.08 * sin(2 * position[i] / brain->half[i] + i);
	return 1000 * smooth * (0.95 + 0.1 * random_uniform(&random));
}

pmg_status white_matter_new(const struct life_phantom_options *options, struct white_matter *brain,
			    char *error, size_t size)
{
	memset(brain, 0, sizeof(*brain));
	set_shape(options, brain);
	if (box_volume(brain) > INT32_MAX) {
		snprintf(error, size, "the brain has more than 2^31 voxels; take a larger --voxel-size");
		return PMG_BAD_CALL;
	}
	set_tracts(options, brain);
	pmg_status status = mark_inside(brain, error, size);
	if (status == PMG_OK)
		status = set_clusters(options, brain, error, size);
	if (status != PMG_OK)
		white_matter_free(brain);
	return status;
}

void white_matter_free(struct white_matter *brain)
{
	free(brain->inside);
	free(brain->places);
	free(brain->clusters);
	memset(brain, 0, sizeof(*brain));
}
