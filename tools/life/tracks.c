/* SPDX-License-Identifier: MIT
 *
 * Streamlines in memory: one list of points, and where each streamline begins in it. */
#include "life/connectome.h"

#include <stdlib.h>
#include <string.h>

struct track_format {
	const char *suffix;
	bool (*read)(struct tracks *tracks, const char *path, struct failure *failure);
	bool (*write)(const struct tracks *tracks, const double *numbers, const char *path, struct failure *failure);
};

static const struct track_format formats[] = {
	{ ".tck", tck_read, tck_write },
	{ ".trk", trk_read, trk_write },
	{ ".trx", trx_read, trx_write },
};

static const struct track_format *find_format(const char *path, struct failure *failure)
{
	const char *dot = strrchr(path, '.');
	for (size_t i = 0; dot && i < sizeof(formats) / sizeof(formats[0]); i++)
		if (strcmp(dot, formats[i].suffix) == 0)
			return &formats[i];
	fail(failure, OUTCOME_USAGE, "%s: no format of streamlines has this suffix", path);
	fail_help(failure, "there are .tck, .trk and .trx");
	return NULL;
}

/* ---- Growing ------------------------------------------------------------------------- */

static bool grow(void *list, int64_t *capacity, size_t element, struct failure *failure)
{
	void **memory = list;
	int64_t wanted = *capacity ? 2 * *capacity : 4096;
	void *larger = realloc(*memory, (size_t) wanted * element);
	if (!larger)
		return fail_memory(failure, "the streamlines");
	*memory = larger;
	*capacity = wanted;
	return true;
}

bool tracks_point(struct tracks *tracks, const float *point, struct failure *failure)
{
	if (tracks->n_points == tracks->points_capacity &&
	    !grow(&tracks->points, &tracks->points_capacity, 3 * sizeof(float), failure))
		return false;
	memcpy(tracks->points + 3 * tracks->n_points++, point, 3 * sizeof(float));
	return true;
}

bool tracks_end(struct tracks *tracks, struct failure *failure)
{
	if (tracks->n + 1 >= tracks->capacity &&
	    !grow(&tracks->offsets, &tracks->capacity, sizeof(int64_t), failure))
		return false;
	if (tracks->n == 0)
		tracks->offsets[0] = 0;
	tracks->offsets[++tracks->n] = tracks->n_points;
	return true;
}

/* ---- Files ------------------------------------------------------------------------------ */

bool tracks_read(struct tracks *tracks, const char *path, struct failure *failure)
{
	const struct track_format *format = find_format(path, failure);
	*tracks = (struct tracks){ .stated = -1 };
	if (!format)
		return false;
	if (!format->read(tracks, path, failure)) {
		tracks_free(tracks);
		return false;
	}
	if (tracks->n == 0) {
		tracks_free(tracks);
		return fail_file(failure, path, "it has no streamline");
	}
	return true;
}

bool tracks_have_format(const char *path, struct failure *failure)
{
	return find_format(path, failure) != NULL;
}

void tracks_free(struct tracks *tracks)
{
	free(tracks->points);
	free(tracks->offsets);
	*tracks = (struct tracks){ .stated = -1 };
}

static bool select_tracks(const struct tracks *tracks, const bool *is_kept, const double *numbers,
			  struct tracks *selected, double **selected_numbers, struct failure *failure)
{
	*selected = (struct tracks){ .stated = -1 };
	*selected_numbers = numbers ? calloc((size_t) tracks->n + 1, sizeof(double)) : NULL;
	if (numbers && !*selected_numbers)
		return fail_memory(failure, "the weights");
	for (int64_t i = 0; i < tracks->n; i++) {
		if (is_kept && !is_kept[i])
			continue;
		for (int64_t p = tracks->offsets[i]; p < tracks->offsets[i + 1]; p++)
			if (!tracks_point(selected, tracks->points + 3 * p, failure))
				return false;
		if (numbers)
			(*selected_numbers)[selected->n] = numbers[i];
		if (!tracks_end(selected, failure))
			return false;
	}
	return true;
}

bool tracks_write(const struct tracks *tracks, const bool *is_kept, const double *numbers, const char *path,
		  struct failure *failure)
{
	const struct track_format *format = find_format(path, failure);
	struct tracks selected;
	double *selected_numbers;
	if (!format)
		return false;
	bool ok = select_tracks(tracks, is_kept, numbers, &selected, &selected_numbers, failure) &&
		  format->write(&selected, selected_numbers, path, failure);
	tracks_free(&selected);
	free(selected_numbers);
	return ok;
}
