/* SPDX-License-Identifier: MIT
 *
 * Several signals of the voxels and directions of one problem, demeaned as its y is: an array with one more dimension
 * in front, in any format. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "life/connectome.h"

static bool check_signals(const struct ndarray *array, const char *text, const struct problem *p,
			  struct failure *failure)
{
	char shape[200];
	const double *values = array->data;
	int inner = array->rank - 2;
	if (inner < 0 || inner > 1 || array->shape[0] == 0 || array->shape[inner] != p->n_voxels ||
	    array->shape[inner + 1] != p->n_theta)
		return fail_file(failure, text, "its shape is %s, not [signals, %" PRId64 ", %" PRId64 "]",
				 extents_text(array->rank, array->shape, shape, sizeof(shape)), p->n_voxels,
				 p->n_theta);
	for (int64_t i = 0, n = ndarray_count(array); i < n; i++)
		if (!isfinite(values[i]))
			return fail_file(failure, text, "[%" PRId64 ", %" PRId64 ", %" PRId64 "] is %g",
					 i / p->n_theta / p->n_voxels, i / p->n_theta % p->n_voxels, i % p->n_theta,
					 values[i]);
	return true;
}

double *signals_read(struct arena *arena, const char *text, const struct problem *p, int64_t *n,
		     struct failure *failure)
{
	const struct wish wish = { .name = "signals" };
	struct location location;
	struct content content = { 0 };
	double *values = NULL;
	if (!location_parse(&location, arena, text, failure) || !content_read(&location, &wish, &content, failure))
		return NULL;
	struct ndarray *array = content.n_members ? &content.members[0].array : NULL;
	if (!array || content.kind != CONTENT_ARRAY)
		fail_file(failure, text, "an array [signals, voxels, directions] is needed");
	else if (ndarray_convert(array, PMG_F64, text, failure) && check_signals(array, text, p, failure)) {
		*n = array->rank == 3 ? array->shape[0] : 1;
		values = array->data;
		array->data = NULL;
	}
	content_free(&content);
	return values;
}

/* That of a row, if it is more than what rounding leaves, of files in f32 too; else 0. */
static double mean_of(const double *row, int64_t n)
{
	double sum = 0, most = 0;
	for (int64_t t = 0; t < n; t++) {
		sum += row[t];
		most = fmax(most, fabs(row[t]));
	}
	return fabs(sum) > 1e-3 * most * (double) n ? sum / (double) n : 0;
}

void signals_tell_mean(const struct problem *p, const double *y, int64_t n, const char *command, const char *text)
{
	for (int64_t a = 0; a < p->n_atoms; a++)
		if (mean_of(p->D + a * p->n_theta, p->n_theta) != 0)
			return;
	for (int64_t i = 0; i < n * p->n_voxels; i++) {
		const double mean = mean_of(y + i * p->n_theta, p->n_theta);
		if (mean == 0)
			continue;
		fprintf(stderr,
			"pmg %s: warning: %s: voxel %" PRId64 " of signal %" PRId64 " has the mean %.6g, which the "
			"dictionary, without means, cannot explain\n",
			command, text, i % p->n_voxels, i / p->n_voxels, mean);
		return;
	}
}

bool signals_take(struct arena *arena, const char *text, int64_t signal, struct problem *p, struct failure *failure)
{
	int64_t n, size = p->n_voxels * p->n_theta;
	double *values = signals_read(arena, text, p, &n, failure);
	bool ok = values && (signal < n || fail_file(failure, text, "there is no signal %" PRId64 " of %" PRId64,
						     signal, n));
	if (ok && signal < 0 && n > 1) {
		ok = fail_file(failure, text, "it has %" PRId64 " signals", n);
		fail_help(failure, "--signal=N takes one of them, counting from 0");
	}
	if (ok) {
		memcpy(p->y, values + (signal < 0 ? 0 : signal) * size, (size_t) size * sizeof(double));
		free(p->signal);
		p->signal = NULL;
	}
	free(values);
	return ok;
}
