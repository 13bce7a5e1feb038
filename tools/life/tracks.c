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

/* ---- Space ------------------------------------------------------------------------------ */

const struct frame frame_of_one_voxel = { .extent = { 1, 1, 1 },
					   .to_mm = { { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 } } };

struct box {
	double low[3], high[3];
};

static void box_add(struct box *box, const double *point, bool is_first)
{
	for (int k = 0; k < 3; k++) {
		box->low[k] = is_first || point[k] < box->low[k] ? point[k] : box->low[k];
		box->high[k] = is_first || point[k] > box->high[k] ? point[k] : box->high[k];
	}
}

static struct box box_of_tracks(const struct tracks *tracks)
{
	struct box box = { { 0 }, { 0 } };
	for (int64_t i = 0; i < tracks->n_points; i++) {
		const float *p = tracks->points + 3 * i;
		box_add(&box, (double[]){ (double) p[0], (double) p[1], (double) p[2] }, i == 0);
	}
	return box;
}

/* Of the corners of its voxels. */
static struct box box_of_image(const struct image *image)
{
	struct box box = { { 0 }, { 0 } };
	for (int corner = 0; corner < 8; corner++) {
		double point[3];
		for (int k = 0; k < 3; k++) {
			point[k] = image->to_mm[k][3];
			for (int j = 0; j < 3; j++)
				point[k] += image->to_mm[k][j] *
					    (corner >> j & 1 ? (double) image->extent[j] - 0.5 : -0.5);
		}
		box_add(&box, point, corner == 0);
	}
	return box;
}

static void print_box(const struct box *box, char *text, size_t size)
{
	snprintf(text, size, "(%.4g, %.4g, %.4g) to (%.4g, %.4g, %.4g) mm", box->low[0], box->low[1], box->low[2],
		 box->high[0], box->high[1], box->high[2]);
}

const char *tracks_place_text(const struct tracks *tracks, const struct image *image, char *text, size_t size)
{
	char streamlines[160], voxels[160];
	struct box box = box_of_tracks(tracks), other = box_of_image(image);
	print_box(&box, streamlines, sizeof(streamlines));
	print_box(&other, voxels, sizeof(voxels));
	snprintf(text, size, "the streamlines lie from %s, the image from %s", streamlines, voxels);
	return text;
}

/* ---- Writing ---------------------------------------------------------------------------- */

static bool select_tracks(const struct tracks *tracks, const bool *is_kept, const double *numbers,
			  struct tracks *selected, double **selected_numbers, struct failure *failure)
{
	*selected = (struct tracks){ .stated = -1, .frame = tracks->frame };
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

static bool is_of(const char *path, bool (*read)(struct tracks *, const char *, struct failure *))
{
	struct failure ignored = { 0 };
	const struct track_format *format = find_format(path, &ignored);
	return format && format->read == read;
}

bool tracks_keep_data(const char *from, const char *to)
{
	return is_of(from, trk_read) && is_of(to, trk_read);
}

bool tracks_have_grid(const char *path)
{
	return !is_of(path, tck_read);
}

bool tracks_write(const struct tracks *tracks, const char *from, const bool *is_kept, const double *numbers,
		  const char *path, struct failure *failure)
{
	const struct track_format *format = find_format(path, failure);
	struct tracks selected;
	double *selected_numbers;
	if (!format)
		return false;
	if (tracks_keep_data(from, path))
		return trk_prune(from, is_kept, numbers, path, failure);
	bool ok = select_tracks(tracks, is_kept, numbers, &selected, &selected_numbers, failure) &&
		  format->write(&selected, selected_numbers, path, failure);
	tracks_free(&selected);
	free(selected_numbers);
	return ok;
}
