/* SPDX-License-Identifier: MIT
 *
 * The gradient table: b-values and directions as FSL has them, either way round. A volume is b = 0 up to a threshold;
 * the others are shells, b-values within a tolerance of the one before. Directions come out along the axes of voxels:
 * as they stand, by FSL's rule (the first one flipped where the matrix does not mirror), or turned from the scanner. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "life/connectome.h"

enum { MAX_SHELLS = 64 };

/* Up to here they are in ms/um^2, or all of a scan without diffusion. */
static const double least_b = 20;

static bool read_numbers(const char *path, struct ndarray *array, struct failure *failure)
{
	struct content content = { 0 };
	struct location location = { .path = (char *) (uintptr_t) path, .rank = -1, .base = -1 };
	bool ok = file_is_readable(path, failure) && text_read(&location, NULL, &content, failure);
	if (ok) {
		*array = content.members[0].array;
		content.members[0].array = (struct ndarray){ 0 };
	}
	content_free(&content);
	return ok;
}

static bool has_unit(double most, const char *path, struct failure *failure)
{
	if (most == 0 || most > least_b)
		return true;
	fail_file(failure, path, "the largest b-value is %g: they are needed in s/mm^2", most);
	fail_help(failure, "b-values in ms/um^2 are to be multiplied by 1000");
	return false;
}

static bool take_bvals(struct gradients *g, const struct ndarray *array, const char *path, double threshold,
		       struct failure *failure)
{
	if (ndarray_count(array) != g->n) {
		fail_file(failure, path, "%lld b-values for the %lld volumes of the scan",
			  (long long) ndarray_count(array), (long long) g->n);
		if (ndarray_count(array) == 3 * g->n)
			fail_help(failure, "are these the directions? They are --bvecs");
		return false;
	}
	for (int64_t t = 0; t < g->n; t++) {
		g->bvals[t] = ndarray_real(array, t);
		if (!isfinite(g->bvals[t]) || g->bvals[t] < 0)
			return fail_file(failure, path, "b-value %lld is %g", (long long) t, g->bvals[t]);
		g->is_b0[t] = g->bvals[t] <= threshold;
		g->n_diffusion += !g->is_b0[t];
		g->largest_b = fmax(g->largest_b, g->bvals[t]);
	}
	if (!has_unit(g->largest_b, path, failure))
		return false;
	if (g->n_diffusion == g->n)
		return fail_file(failure, path, "no volume has b <= %g, and so none is b = 0", threshold);
	if (g->n_diffusion >= 2)
		return true;
	fail_file(failure, path, "%lld volumes have b > %g; two are needed at least", (long long) g->n_diffusion,
		  threshold);
	fail_help(failure, "the largest b-value is %g", g->largest_b);
	return false;
}

static bool take_direction(struct gradients *g, int64_t t, const char *path, struct failure *failure)
{
	double *v = g->bvecs + 3 * t, length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
	if (g->is_b0[t]) {
		v[0] = v[1] = v[2] = 0;
		return true;
	}
	if (!isfinite(length) || fabs(length - 1) > 0.05)
		return fail_file(failure, path, "direction %lld (%g %g %g) has length %g, but b = %g", (long long) t,
				 v[0], v[1], v[2], length, g->bvals[t]);
	return true;
}

static bool take_bvecs(struct gradients *g, const struct ndarray *array, const char *path, struct failure *failure)
{
	bool has_rows = array->rank == 2 && array->shape[0] == 3 && array->shape[1] == g->n;
	bool has_columns = array->rank == 2 && array->shape[0] == g->n && array->shape[1] == 3;
	char shape[64];
	if (!has_rows && !has_columns)
		return fail_file(failure, path, "its shape is %s; [3, %lld] or [%lld, 3] is needed",
				 extents_text(array->rank, array->shape, shape, sizeof(shape)), (long long) g->n,
				 (long long) g->n);
	for (int64_t t = 0; t < g->n; t++) {
		for (int64_t k = 0; k < 3; k++)
			g->bvecs[3 * t + k] = ndarray_real(array, has_rows ? k * g->n + t : 3 * t + k);
		if (!take_direction(g, t, path, failure))
			return false;
	}
	return true;
}

static void turn(struct gradients *g, const struct image *image, enum bvec_space space)
{
	for (int64_t t = 0; t < g->n; t++) {
		double *v = g->bvecs + 3 * t, turned[3] = { v[0], v[1], v[2] };
		if (space == BVECS_FSL && image->determinant > 0)
			turned[0] = -v[0];
		for (int j = 0; j < 3 && space == BVECS_SCANNER; j++)
			turned[j] = (image->to_mm[0][j] * v[0] + image->to_mm[1][j] * v[1] +
				     image->to_mm[2][j] * v[2]) / image->voxel_size[j];
		memcpy(v, turned, sizeof(turned));
	}
}

static int compare_reals(const void *a, const void *b)
{
	double x = *(const double *) a, y = *(const double *) b;
	return (x > y) - (x < y);
}

/* Sorted b-values make a new shell where they step by more than the tolerance. */
static bool find_shells(struct gradients *g, double tolerance, const char *path, struct failure *failure)
{
	double *sorted = malloc(((size_t) g->n + 1) * sizeof(double)), upper[MAX_SHELLS];
	int64_t n = 0, in_shell = 0;
	if (!sorted)
		return fail_memory(failure, "the b-values");
	for (int64_t t = 0; t < g->n; t++)
		if (!g->is_b0[t])
			sorted[n++] = g->bvals[t];
	qsort(sorted, (size_t) n, sizeof(double), compare_reals);
	for (int64_t i = 0; i < n && g->n_shells <= MAX_SHELLS; i++) {
		if (i == 0 || sorted[i] - sorted[i - 1] > tolerance) {
			in_shell = 0;
			if (g->n_shells++ == MAX_SHELLS)
				break;
			g->shell_b[g->n_shells - 1] = 0;
		}
		upper[g->n_shells - 1] = sorted[i];
		g->shell_b[g->n_shells - 1] += (sorted[i] - g->shell_b[g->n_shells - 1]) / (double) ++in_shell;
	}
	free(sorted);
	if (g->n_shells > MAX_SHELLS)
		return fail_file(failure, path, "more than %d shells of b-values; raise --shell-tolerance", MAX_SHELLS);
	for (int64_t t = 0; t < g->n; t++) {
		g->shell[t] = g->is_b0[t] ? -1 : 0;
		while (!g->is_b0[t] && g->bvals[t] > upper[g->shell[t]])
			g->shell[t]++;
	}
	return true;
}

static bool make_table(struct gradients *g, int64_t n, struct failure *failure)
{
	size_t count = (size_t) n;
	*g = (struct gradients){ .n = n,
				 .bvals = calloc(count, sizeof(double)),
				 .bvecs = calloc(3 * count, sizeof(double)),
				 .is_b0 = calloc(count, sizeof(bool)),
				 .shell = calloc(count, sizeof(int32_t)) };
	return (g->bvals && g->bvecs && g->is_b0 && g->shell) || fail_memory(failure, "the gradients");
}

bool gradients_read(struct gradients *g, const char *bvals, const char *bvecs, const struct image *image,
		    enum bvec_space space, double threshold, double tolerance, struct failure *failure)
{
	struct ndarray values = { 0 }, vectors = { 0 };
	bool ok = make_table(g, image->n_volumes, failure) && read_numbers(bvals, &values, failure) &&
		  read_numbers(bvecs, &vectors, failure) && take_bvals(g, &values, bvals, threshold, failure) &&
		  take_bvecs(g, &vectors, bvecs, failure) && find_shells(g, tolerance, bvals, failure);
	if (ok)
		turn(g, image, space);
	ndarray_free(&values);
	ndarray_free(&vectors);
	return ok;
}

void gradients_free(struct gradients *g)
{
	free(g->bvals);
	free(g->bvecs);
	free(g->is_b0);
	free(g->shell);
	*g = (struct gradients){ 0 };
}
