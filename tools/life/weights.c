/* SPDX-License-Identifier: MIT
 *
 * Weights, one for each fiber, or for each signal and fiber, in any format of an array. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "life/connectome.h"

/* Of numbers that do not tell their shape, where rows of n are possible. */
static void help_rows(const struct location *location, const struct ndarray *array, int64_t n, struct failure *failure)
{
	const int64_t count = ndarray_count(array);
	if (location->format->read == raw_read && array->rank == 1 && n > 0 && count > n && count % n == 0)
		fail_help(failure, "%s[%" PRId64 ",%" PRId64 "] says that it has rows of %" PRId64, location->path,
			  count / n, n, n);
}

static bool check_weights(const struct location *location, const struct ndarray *array, const char *text, int64_t n,
			  struct failure *failure)
{
	char shape[200];
	const double *w = array->data;
	int64_t count = ndarray_count(array);
	if (n >= 0 && count != n) {
		fail_file(failure, text, "its shape is %s; there are %lld fibers",
			  extents_text(array->rank, array->shape, shape, sizeof(shape)), (long long) n);
		return help_rows(location, array, n, failure), false;
	}
	if (count == 0)
		return fail_file(failure, text, "it has no numbers");
	for (int64_t f = 0; f < count; f++)
		if (!isfinite(w[f]) || w[f] < 0)
			return fail_file(failure, text, "the weight of fiber %lld is %g", (long long) f, w[f]);
	return true;
}

/* Keeps the row of one signal. */
static bool take_signal(const struct location *location, struct ndarray *array, const char *text, int64_t signal,
			int64_t n, struct failure *failure)
{
	char shape[200];
	bool is_matrix = array->rank == 2 && array->shape[0] > 1 && array->shape[1] > 1;
	if (is_matrix && n >= 0 && array->shape[1] != n)
		return fail_file(failure, text, "its shape is %s: rows of %" PRId64 ", there are %" PRId64 " fibers",
				 extents_text(array->rank, array->shape, shape, sizeof(shape)), array->shape[1], n);
	if (signal < 0 && is_matrix) {
		fail_file(failure, text, "its shape is %s, not a list",
			  extents_text(array->rank, array->shape, shape, sizeof(shape)));
		if (signal == SIGNAL_UNSAID)
			fail_help(failure, "of weights of several signals, --signal=N takes those of one, from 0");
		return false;
	}
	if (signal < 0)
		return true;
	if (array->rank != 2 || signal >= array->shape[0]) {
		fail_file(failure, text, "its shape is %s: there are no weights of a signal %" PRId64,
			  extents_text(array->rank, array->shape, shape, sizeof(shape)), signal);
		return help_rows(location, array, n, failure), false;
	}
	array->rank = 1;
	array->shape[0] = array->shape[1];
	memmove(array->data, (double *) array->data + signal * array->shape[0], ndarray_bytes(array));
	return true;
}

double *weights_read(struct arena *arena, const char *text, int64_t signal, int64_t *n, struct failure *failure)
{
	const struct wish wish = { .name = "w" };
	struct location location;
	struct content content = { 0 };
	double *w = NULL;
	if (!location_parse(&location, arena, text, failure) || !content_read(&location, &wish, &content, failure))
		return NULL;
	struct ndarray *array = content.n_members ? &content.members[0].array : NULL;
	if (!array || (content.kind != CONTENT_ARRAY && content.kind != CONTENT_FLAT))
		fail_file(failure, text, "an array is needed, a number for each fiber");
	else if (ndarray_convert(array, PMG_F64, text, failure) &&
		 take_signal(&location, array, text, signal, *n, failure) &&
		 check_weights(&location, array, text, *n, failure)) {
		*n = ndarray_count(array);
		w = array->data;
		array->data = NULL;
	}
	content_free(&content);
	return w;
}

bool weights_write(struct arena *arena, const char *text, const double *w, int64_t signals, int64_t n,
		   struct failure *failure)
{
	struct location target;
	struct member member = { .array = { .type = PMG_F64, .rank = signals ? 2 : 1,
					    .shape = { signals ? signals : n, n } } };
	struct content content = { .kind = CONTENT_ARRAY, .n_members = 1, .members = &member };
	member.array.data = (void *) (uintptr_t) w;
	return output_target(arena, text, "/w", &target, failure) &&
	       (w ? content_write : content_fits)(&target, &content, failure);
}
