/* SPDX-License-Identifier: MIT
 *
 * libFuzzer: any bytes as a file that `pmg life` reads, of the kind KIND and with the suffix SUFFIX. What is read must
 * be whole, streamlines must come back as they were written; what is refused must say why. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/put_file.h"
#include "life/connectome.h"

#ifndef KIND
#define KIND "tracks"
#define SUFFIX ".trk"
#endif

enum { N_VOXELS = 2, N_THETA = 3, N_VOLUMES = 6, MOST_VOLUMES = 1000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds)
{
	if (!holds)
		abort();
}

static bool is_told(bool ok, const struct failure *failure)
{
	demand(ok || (failure->text[0] && failure->outcome != OUTCOME_OK));
	return ok;
}

/* ---- streamlines ---- */

static void check_tracks(const struct tracks *tracks)
{
	demand(tracks->n > 0 && tracks->offsets[0] == 0 && tracks->offsets[tracks->n] == tracks->n_points);
	for (int64_t i = 0; i < tracks->n; i++)
		demand(tracks->offsets[i] <= tracks->offsets[i + 1]);
	for (int64_t i = 0; i < 3 * tracks->n_points; i++)
		demand(isfinite(tracks->points[i]));
}

/* Every second streamline, written in the same format and read again. */
static void write_some(const struct tracks *tracks, const char *path)
{
	struct failure failure = { 0 };
	struct tracks again;
	char copy[64];
	bool *is_kept = calloc((size_t) tracks->n, sizeof(bool));
	double *numbers = calloc((size_t) tracks->n, sizeof(double));
	demand(is_kept && numbers);
	for (int64_t i = 0; i < tracks->n; i += 2)
		is_kept[i] = true;
	snprintf(copy, sizeof(copy), "/tmp/pmg-fuzz-copy-%ld%s", (long) getpid(), SUFFIX);
	demand(tracks_write(tracks, path, is_kept, numbers, copy, &failure));
	demand(tracks_read(&again, copy, &failure));
	check_tracks(&again);
	demand(again.n == (tracks->n + 1) / 2);
	unlink(copy);
	tracks_free(&again);
	free(is_kept);
	free(numbers);
}

static void read_tracks(const char *path)
{
	struct failure failure = { 0 };
	struct tracks tracks;
	if (!is_told(tracks_read(&tracks, path, &failure), &failure))
		return;
	check_tracks(&tracks);
	if (tracks.n_points % 4 == 0)
		write_some(&tracks, path);
	tracks_free(&tracks);
}

/* ---- the scan ---- */

static void read_image(const char *path)
{
	struct failure failure = { 0 };
	struct image image;
	if (!is_told(image_open(&image, path, &failure), &failure) || image.n_volumes > MOST_VOLUMES)
		return;
	const int64_t places[2] = { 0, image.extent[0] * image.extent[1] * image.extent[2] - 1 };
	double *values = calloc(2 * (size_t) image.n_volumes, sizeof(double));
	demand(values);
	is_told(image_gather(&image, path, places, 2, values, &failure), &failure);
	free(values);
}

/* The file has the b-values, and behind a line with "#" the directions. */
static void read_gradients(const char *path)
{
	const struct image image = { .n_volumes = N_VOLUMES, .determinant = 1, .voxel_size = { 1, 1, 1 },
				     .to_mm = { { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 } } };
	FILE *file = fopen(path, "rb");
	char text[1 << 13], bvals[64], bvecs[64];
	demand(file);
	size_t n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	const char *end = memmem(text, n, "#\n", 2);
	size_t n_bvals = end ? (size_t) (end - text) : n, begin = end ? n_bvals + 2 : n;
	snprintf(bvals, sizeof(bvals), "%s.bval", path);
	snprintf(bvecs, sizeof(bvecs), "%s.bvec", path);
	put_file(bvals, (const uint8_t *) text, n_bvals);
	put_file(bvecs, (const uint8_t *) text + begin, n - begin);
	for (int space = BVECS_VOXEL; space <= BVECS_SCANNER; space++) {
		struct failure failure = { 0 };
		struct gradients gradients;
		bool ok = gradients_read(&gradients, bvals, bvecs, &image, (enum bvec_space) space, 50, 100, &failure);
		if (is_told(ok, &failure))
			for (int64_t t = 0; t < gradients.n; t++)
				demand(gradients.shell[t] >= (gradients.is_b0[t] ? -1 : 0) &&
				       gradients.shell[t] < gradients.n_shells && isfinite(gradients.bvecs[3 * t]));
		gradients_free(&gradients);
	}
	unlink(bvals);
	unlink(bvecs);
}

static void read_signals(const char *path)
{
	const struct problem problem = { .n_voxels = N_VOXELS, .n_theta = N_THETA };
	struct failure failure = { 0 };
	struct arena arena = { 0 };
	int64_t n = 0;
	double *values = signals_read(&arena, path, &problem, &n, &failure);
	is_told(values, &failure);
	for (int64_t i = 0; values && i < n * N_VOXELS * N_THETA; i++)
		demand(isfinite(values[i]));
	free(values);
	arena_release(&arena);
}

static void read_sphere(const char *path)
{
	static const double directions[][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0.6, 0, -0.8 } };
	struct failure failure = { 0 };
	struct arena arena = { 0 };
	struct sphere sphere;
	bool ok = is_told(sphere_read(&sphere, &arena, path, &failure), &failure);
	for (int i = 0; ok && i < 3; i++) {
		int32_t nearest = sphere_nearest(&sphere, directions[i]);
		demand(nearest >= 0 && nearest < sphere.n);
	}
	sphere_free(&sphere);
	arena_release(&arena);
}

static const struct {
	const char *name;
	void (*read)(const char *path);
} kinds[] = {
	{ "tracks", read_tracks },   { "image", read_image },   { "gradients", read_gradients },
	{ "signals", read_signals }, { "sphere", read_sphere },
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	snprintf(path, sizeof(path), "/tmp/pmg-fuzz-life-%ld%s", (long) getpid(), SUFFIX);
	put_file(path, data, size);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, KIND) == 0)
			kinds[i].read(path);
	unlink(path);
	return 0;
}
