/* SPDX-License-Identifier: MIT
 *
 * The directions that atoms have, from a file or a grid of angles, and the nearest one to a direction up to its sign:
 * of a file by trying each, of a grid among the neighbours of the rounded angles, in the order of their numbers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "life/connectome.h"

static bool make_sphere(struct sphere *sphere, int64_t n, struct failure *failure)
{
	*sphere = (struct sphere){ .n = n,
				   .vertices = calloc(3 * (size_t) n + 1, sizeof(double)),
				   .planes = calloc(3 * (size_t) n + 1, sizeof(double)) };
	return (sphere->vertices && sphere->planes) || fail_memory(failure, "the sphere");
}

static void make_planes(struct sphere *sphere)
{
	for (int64_t i = 0; i < sphere->n; i++)
		for (int64_t k = 0; k < 3; k++)
			sphere->planes[k * sphere->n + i] = sphere->vertices[3 * i + k];
}

static bool take_vertices(struct sphere *sphere, const struct ndarray *array, const char *path, struct failure *failure)
{
	if (array->rank != 2 || array->shape[1] != 3 || array->shape[0] < 1)
		return fail_file(failure, path, "a list of directions, [N, 3], is needed");
	if (array->shape[0] > INT32_MAX)
		return fail_file(failure, path, "more than 2^31 directions");
	if (!make_sphere(sphere, array->shape[0], failure))
		return false;
	for (int64_t i = 0; i < sphere->n; i++) {
		double *v = sphere->vertices + 3 * i;
		for (int k = 0; k < 3; k++)
			v[k] = ndarray_real(array, 3 * i + k);
		double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
		if (!(fabs(length - 1) < 1e-3))
			return fail_file(failure, path, "direction %lld has length %g", (long long) i, length);
	}
	make_planes(sphere);
	return true;
}

bool sphere_read(struct sphere *sphere, struct arena *arena, const char *path, struct failure *failure)
{
	struct location location;
	struct content content = { 0 };
	*sphere = (struct sphere){ 0 };
	bool ok = location_parse(&location, arena, path, failure) &&
		  content_read(&location, NULL, &content, failure);
	if (ok)
		ok = content.n_members == 1 ? take_vertices(sphere, &content.members[0].array, path, failure)
					    : fail_file(failure, path, "one list of directions, [N, 3], is needed");
	content_free(&content);
	return ok;
}

bool sphere_grid(struct sphere *sphere, int64_t n, struct failure *failure)
{
	if (!make_sphere(sphere, (n - 1) * n + 1, failure))
		return false;
	sphere->grid = n;
	sphere->vertices[2] = 1;
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 1; j < n; j++) {
			double azimuth = M_PI * (double) i / (double) n, elevation = M_PI * (double) j / (double) n;
			double *v = sphere->vertices + 3 * (1 + i * (n - 1) + j - 1);
			v[0] = cos(azimuth) * sin(elevation);
			v[1] = sin(azimuth) * sin(elevation);
			v[2] = cos(elevation);
		}
	make_planes(sphere);
	return true;
}

/* ---- The nearest ------------------------------------------------------------------------------ */

static double likeness(const double *v, const double *d)
{
	return fabs(v[0] * d[0] + v[1] * d[1] + v[2] * d[2]);
}

static int64_t grid_number(const struct sphere *sphere, int64_t azimuth, int64_t elevation)
{
	int64_t n = sphere->grid;
	if (elevation <= 0 || elevation >= n)
		return 0;
	if (azimuth < 0 || azimuth >= n)
		elevation = n - elevation;
	return 1 + (azimuth + n) % n * (n - 1) + elevation - 1;
}

/* On circles of one elevation the nearest azimuth is the rounded one; the neighbours make up for the rounding. */
static int32_t grid_nearest(const struct sphere *sphere, const double *d)
{
	int64_t n = sphere->grid, best = 0;
	double sign = d[1] < 0 || (d[1] == 0 && d[0] < 0) ? -1 : 1;
	double x = sign * d[0], y = sign * d[1], z = sign * d[2];
	int64_t azimuth = llround(atan2(y, x) / M_PI * (double) n);
	int64_t elevation = llround(atan2(hypot(x, y), z) / M_PI * (double) n);
	double most = likeness(sphere->vertices, d);
	for (int64_t a = azimuth - 1; a <= azimuth + 1; a++)
		for (int64_t e = elevation - 1; e <= elevation + 1; e++) {
			int64_t number = grid_number(sphere, a, e);
			double like = likeness(sphere->vertices + 3 * number, d);
			if (like > most || (like >= most && number < best)) {
				most = like;
				best = number;
			}
		}
	return (int32_t) best;
}

enum { BLOCK = 256 };

int32_t sphere_nearest(const struct sphere *sphere, const double *d)
{
	const double *x = sphere->planes, *y = x + sphere->n, *z = y + sphere->n;
	double most = -1, like[BLOCK];
	int64_t best = 0;
	if (d[0] == 0 && d[1] == 0 && d[2] == 0)
		return 0;
	if (sphere->grid)
		return grid_nearest(sphere, d);
	for (int64_t begin = 0; begin < sphere->n; begin += BLOCK) {
		int64_t count = sphere->n - begin < BLOCK ? sphere->n - begin : BLOCK;
		double block_most = -1;
		#pragma omp simd reduction(max : block_most)
		for (int64_t i = 0; i < count; i++) {
			like[i] = fabs(x[begin + i] * d[0] + y[begin + i] * d[1] + z[begin + i] * d[2]);
			block_most = like[i] > block_most ? like[i] : block_most;
		}
		if (block_most <= most)
			continue;
		most = block_most;
		for (best = begin; like[best - begin] < most; best++)
			;
	}
	return (int32_t) best;
}

void sphere_free(struct sphere *sphere)
{
	free(sphere->vertices);
	free(sphere->planes);
	*sphere = (struct sphere){ 0 };
}
