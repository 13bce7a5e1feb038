/* SPDX-License-Identifier: MIT
 *
 * Orders of the coefficients by stable counting sorts, the partitions of the thesis (section 4.1.3 and, for borders
 * that no two threads share, 4.2.1.2: a cut moves to the nearest end of a voxel), and the layouts of the naive and the
 * optimised versions. */
#include "life_layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pmgrt.h"

double life_now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double) time.tv_sec + 1e-9 * (double) time.tv_nsec;
}

/* As plans take memory: all versions have the same. */
void *life_memory(int64_t n, size_t element)
{
	return pmg_memory((size_t) n * element + 1);
}

/* ---- Orders ------------------------------------------------------------------------- */

static int32_t *identity(int64_t n)
{
	int32_t *order = life_memory(n, sizeof(*order));
	for (int64_t k = 0; order && k < n; k++)
		order[k] = (int32_t) k;
	return order;
}

/* The places of `from` in a stable order by key, keys in 0..limit; takes `from`. */
static int32_t *sort_by(const int32_t *key, int64_t n, int64_t limit, int32_t *from)
{
	int64_t *next = calloc((size_t) limit + 2, sizeof(*next));
	int32_t *to = life_memory(n, sizeof(*to));
	if (from && next && to) {
		for (int64_t k = 0; k < n; k++)
			next[key[k] + 1]++;
		for (int64_t i = 0; i < limit; i++)
			next[i + 1] += next[i];
		for (int64_t i = 0; i < n; i++)
			to[next[key[from[i]]]++] = from[i];
	} else {
		free(to);
		to = NULL;
	}
	free(next);
	free(from);
	return to;
}

int32_t *life_order(const struct life_tensor *t, enum life_order order)
{
	int32_t *places = identity(t->n_coeffs);
	switch (order) {
	case LIFE_UNSORTED:
		return places;
	case LIFE_BY_ATOM:
		return sort_by(t->atom, t->n_coeffs, t->n_atoms, places);
	case LIFE_HYBRID:
		places = sort_by(t->atom, t->n_coeffs, t->n_atoms, places);
		return sort_by(t->voxel, t->n_coeffs, t->n_voxels, places);
	case LIFE_BY_VOXEL:
		return sort_by(t->voxel, t->n_coeffs, t->n_voxels, places);
	case LIFE_ORDERS:
		break;
	}
	free(places);
	return NULL;
}

/* ---- Partitions ----------------------------------------------------------------------- */

/* first[i]: the place where the coefficients of i begin in a sorted order. */
static int64_t *first_places(const int32_t *key, int64_t n, int64_t limit)
{
	int64_t *first = calloc((size_t) limit + 1, sizeof(*first));
	for (int64_t k = 0; first && k < n; k++)
		first[key[k] + 1]++;
	for (int64_t i = 0; first && i < limit; i++)
		first[i + 1] += first[i];
	return first;
}

/* The border of segments nearest to a place. */
static int64_t nearest(const int64_t *first, int64_t n, int64_t place)
{
	int64_t low = 0, high = n;
	while (low < high) {
		int64_t middle = (low + high) / 2;
		if (first[middle] < place)
			low = middle + 1;
		else
			high = middle;
	}
	if (low > 0 && place - first[low - 1] < first[low] - place)
		low--;
	return first[low];
}

int64_t *life_bounds(const struct life_tensor *t, enum life_partition partition, int threads)
{
	bool by_atom = partition == LIFE_ATOM;
	int64_t n = t->n_coeffs, limit = by_atom ? t->n_atoms : t->n_voxels;
	int64_t *bounds = calloc((size_t) threads + 1, sizeof(*bounds));
	int64_t *first = first_places(by_atom ? t->atom : t->voxel, n, limit);
	for (int i = 0; bounds && first && i <= threads; i++) {
		bounds[i] = n * i / threads;
		if (partition == LIFE_COEFF_EXCLUSIVE)
			bounds[i] = nearest(first, limit, bounds[i]);
		else if (partition != LIFE_COEFF)
			bounds[i] = first[limit * i / threads];
	}
	free(first);
	return bounds;
}

/* ---- The original code's arrays ------------------------------------------------------------ */

static void fill_naive(const struct life_tensor *t, const int32_t *places, struct life_naive *layout)
{
	for (int64_t i = 0; i < t->n_coeffs; i++) {
		int32_t k = places[i];
		layout->atoms[i] = (double) t->atom[k] + 1;
		layout->voxels[i] = (double) t->voxel[k] + 1;
		layout->fibers[i] = (double) t->fiber[k] + 1;
		layout->values[i] = t->value[k];
	}
}

struct life_naive *life_naive_new(const struct life_tensor *t, enum life_order order, char *error, size_t size)
{
	double start = life_now();
	int64_t n = t->n_coeffs;
	struct life_naive *layout = calloc(1, sizeof(*layout));
	int32_t *places = life_order(t, order);
	if (layout) {
		layout->atoms = life_memory(n, sizeof(double));
		layout->voxels = life_memory(n, sizeof(double));
		layout->fibers = life_memory(n, sizeof(double));
		layout->values = life_memory(n, sizeof(double));
	}
	if (!layout || !places || !layout->atoms || !layout->voxels || !layout->fibers || !layout->values) {
		free(places);
		life_naive_free(layout);
		snprintf(error, size, "not enough memory");
		return NULL;
	}
	layout->n_voxels = t->n_voxels, layout->n_fibers = t->n_fibers, layout->n_theta = t->n_theta;
	layout->n_coeffs = n, layout->D = t->D;
	fill_naive(t, places, layout);
	free(places);
	layout->bytes = (size_t) n * 4 * sizeof(double);
	layout->seconds = life_now() - start;
	return layout;
}

void life_naive_free(struct life_naive *layout)
{
	if (!layout)
		return;
	free(layout->atoms);
	free(layout->voxels);
	free(layout->fibers);
	free(layout->values);
	free(layout);
}

/* ---- The thesis' arrays ---------------------------------------------------------------------- */

static void fill_opt(const struct life_tensor *t, const int32_t *places, struct life_opt *layout)
{
	int32_t n_theta = (int32_t) t->n_theta;
	for (int64_t i = 0; i < t->n_coeffs; i++) {
		int32_t k = places[i];
		layout->row_of_D[i] = t->atom[k] * n_theta;
		layout->row_of_Y[i] = t->voxel[k] * n_theta;
		layout->fiber[i] = t->fiber[k];
		layout->value[i] = t->value[k];
	}
}

static bool offsets_fit(const struct life_tensor *t, char *error, size_t size)
{
	int64_t rows = t->n_voxels > t->n_atoms ? t->n_voxels : t->n_atoms;
	if (rows <= INT32_MAX / (t->n_theta > 0 ? t->n_theta : 1))
		return true;
	snprintf(error, size, "rows of 32-bit offsets cannot hold this size");
	return false;
}

struct life_opt *life_opt_new(const struct life_tensor *t, enum life_order order, char *error, size_t size)
{
	double start = life_now();
	int64_t n = t->n_coeffs;
	if (!offsets_fit(t, error, size))
		return NULL;
	struct life_opt *layout = calloc(1, sizeof(*layout));
	int32_t *places = life_order(t, order);
	if (layout) {
		layout->row_of_D = life_memory(n, sizeof(int32_t));
		layout->row_of_Y = life_memory(n, sizeof(int32_t));
		layout->fiber = life_memory(n, sizeof(int32_t));
		layout->value = life_memory(n, sizeof(double));
	}
	if (!layout || !places || !layout->row_of_D || !layout->row_of_Y || !layout->fiber || !layout->value) {
		free(places);
		life_opt_free(layout);
		snprintf(error, size, "not enough memory");
		return NULL;
	}
	layout->n_voxels = t->n_voxels, layout->n_fibers = t->n_fibers, layout->n_theta = t->n_theta;
	layout->n_coeffs = n, layout->D = t->D;
	fill_opt(t, places, layout);
	free(places);
	layout->bytes = (size_t) n * (3 * sizeof(int32_t) + sizeof(double));
	layout->seconds = life_now() - start;
	return layout;
}

void life_opt_free(struct life_opt *layout)
{
	if (!layout)
		return;
	free(layout->row_of_D);
	free(layout->row_of_Y);
	free(layout->fiber);
	free(layout->value);
	free(layout);
}
