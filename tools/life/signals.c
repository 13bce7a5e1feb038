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

bool signals_take(struct arena *arena, const char *text, int64_t signal, struct problem *p, struct failure *failure)
{
	int64_t n, size = p->n_voxels * p->n_theta;
	double *values = signals_read(arena, text, p, &n, failure);
	bool ok = values && (signal < n || fail_file(failure, text, "there is no signal %" PRId64 " of %" PRId64,
						     signal, n));
	if (ok) {
		memcpy(p->y, values + signal * size, (size_t) size * sizeof(double));
		free(p->signal);
		p->signal = NULL;
	}
	free(values);
	return ok;
}
