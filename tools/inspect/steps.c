/* SPDX-License-Identifier: MIT
 *
 * Files that the steps of `pmg life`, `pmg hines` and `pmg import` read: streamlines, scans, gradient tables, shapes of
 * neurons and systems of cells. They are read as those steps read them, so that what is refused there is refused here,
 * with the same sentence; a few lines tell what a user wants to know before. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hines/cells.h"
#include "inspect/inspect.h"
#include "life/connectome.h"

static bool has_suffix(const char *path, const char *suffix)
{
	size_t length = strlen(path), n = strlen(suffix);
	return length > n && strcmp(path + length - n, suffix) == 0;
}

/* ---- Space --------------------------------------------------------------------------------- */

/* "RAS": where the axes of voxels lead, by the largest share of each. */
static void orientation_text(const double to_mm[3][4], char text[4])
{
	static const char *const ends[3] = { "LR", "PA", "IS" };
	for (int j = 0; j < 3; j++) {
		int most = 0;
		for (int k = 1; k < 3; k++)
			if (fabs(to_mm[k][j]) > fabs(to_mm[most][j]))
				most = k;
		text[j] = ends[most][to_mm[most][j] > 0];
	}
	text[3] = '\0';
}

static void print_grid(const int64_t *extent, const double to_mm[3][4])
{
	char orientation[4];
	double size[3];
	orientation_text(to_mm, orientation);
	for (int j = 0; j < 3; j++)
		size[j] = sqrt(to_mm[0][j] * to_mm[0][j] + to_mm[1][j] * to_mm[1][j] + to_mm[2][j] * to_mm[2][j]);
	printf("  voxels %" PRId64 " x %" PRId64 " x %" PRId64 " of %.4g x %.4g x %.4g mm, axes to %s\n", extent[0],
	       extent[1], extent[2], size[0], size[1], size[2], orientation);
	for (int k = 0; k < 3; k++)
		printf("  %s %10.5g %10.5g %10.5g  %10.5g\n", k ? "          " : "to mm     ", to_mm[k][0],
		       to_mm[k][1], to_mm[k][2], to_mm[k][3]);
}

/* The least and the largest of `stride` numbers apart. */
struct range {
	double low, high;
};

static void range_add(struct range *range, double value)
{
	range->low = fmin(range->low, value);
	range->high = fmax(range->high, value);
}

static const struct range no_range = { HUGE_VAL, -HUGE_VAL };

static void print_box(const struct range *box, const char *unit)
{
	printf("  from (%.5g, %.5g, %.5g) to (%.5g, %.5g, %.5g) %s\n", box[0].low, box[1].low, box[2].low, box[0].high,
	       box[1].high, box[2].high, unit);
}

/* ---- Streamlines --------------------------------------------------------------------------- */

static void print_streamlines(const struct tracks *tracks)
{
	struct range box[3] = { no_range, no_range, no_range }, points = no_range;
	for (int64_t i = 0; i < tracks->n; i++)
		range_add(&points, (double) (tracks->offsets[i + 1] - tracks->offsets[i]));
	for (int64_t i = 0; i < 3 * tracks->n_points; i++)
		range_add(&box[i % 3], (double) tracks->points[i]);
	printf("  %" PRId64 " streamlines of %g to %g points, %" PRId64 " in all", tracks->n, points.low, points.high,
	       tracks->n_points);
	if (tracks->stated >= 0 && tracks->stated != tracks->n)
		printf("; the header says %" PRId64, tracks->stated);
	if (tracks->n_left_over)
		printf("; %" PRId64 " points belong to none", tracks->n_left_over);
	printf("%s\n", tracks->has_data ? "; with values of points or streamlines" : "");
	print_box(box, "mm, in the scanner's space (RAS)");
	if (tracks->frame.is_known)
		print_grid(tracks->frame.extent, tracks->frame.to_mm);
}

static bool inspect_tracks(const char *path, struct failure *failure)
{
	struct tracks tracks;
	if (!tracks_read(&tracks, path, failure))
		return false;
	printf("%s: streamlines\n", path);
	print_streamlines(&tracks);
	tracks_free(&tracks);
	return true;
}

/* ---- Scans ------------------------------------------------------------------------------------ */

static bool inspect_image(const char *path, struct failure *failure)
{
	struct image image;
	if (!image_open(&image, path, failure))
		return false;
	printf("%s: NIfTI\n  %" PRId64 " volume%s\n", path, image.n_volumes, image.n_volumes == 1 ? "" : "s");
	print_grid(image.extent, image.to_mm);
	return true;
}

/* As text, whatever the suffix. */
static bool read_table(const char *path, struct content *content, struct failure *failure)
{
	struct location location = { .path = (char *) (uintptr_t) path, .rank = -1, .base = -1 };
	return file_is_readable(path, failure) && text_read(&location, NULL, content, failure);
}

enum { LARGEST_B0 = 20 };       /* s/mm^2, as `pmg life encode` takes them unless told otherwise */

static bool inspect_bvals(const char *path, struct failure *failure)
{
	struct content content = { 0 };
	struct range b = no_range;
	int64_t n, n_low = 0;
	if (!read_table(path, &content, failure))
		return false;
	n = ndarray_count(&content.members[0].array);
	for (int64_t t = 0; t < n; t++) {
		double value = ndarray_real(&content.members[0].array, t);
		n_low += value <= LARGEST_B0;
		range_add(&b, value);
	}
	content_free(&content);
	printf("%s: b-values\n  %" PRId64 " volumes, b from %g to %g s/mm^2, %" PRId64 " of them up to %d\n", path, n,
	       b.low, b.high, n_low, LARGEST_B0);
	return true;
}

static bool inspect_bvecs(const char *path, struct failure *failure)
{
	struct content content = { 0 };
	const struct ndarray *array;
	struct range length = no_range;
	char shape[64];
	bool has_rows, is_table, ok = true;
	if (!read_table(path, &content, failure))
		return false;
	array = &content.members[0].array;
	has_rows = array->rank == 2 && array->shape[0] == 3;
	is_table = has_rows || (array->rank == 2 && array->shape[1] == 3);
	int64_t n = is_table ? ndarray_count(array) / 3 : 0;
	for (int64_t t = 0; t < n; t++) {
		double sum = 0;
		for (int64_t k = 0; k < 3; k++)
			sum += pow(ndarray_real(array, has_rows ? k * n + t : 3 * t + k), 2);
		range_add(&length, sqrt(sum));
	}
	if (is_table)
		printf("%s: directions of gradients\n  %" PRId64 " volumes, lengths from %g to %g, %s\n", path, n,
		       length.low, length.high, has_rows ? "a row for each axis" : "a row for each volume");
	else
		ok = fail_file(failure, path, "its shape is %s; three numbers for each volume are needed",
			       extents_text(array->rank, array->shape, shape, sizeof(shape)));
	content_free(&content);
	return ok;
}

/* ---- Shapes of neurons ------------------------------------------------------------------------- */

enum { N_TYPES = 5 };

static const char *const type_names[N_TYPES] = { "of other types", "soma", "axon", "basal dendrite",
						    "apical dendrite" };

static void print_notes(const struct notes *notes)
{
	for (int i = 0; i < notes->lines.n; i++)
		printf("  note: %s\n", notes->lines.items[i]);
}

/* Branches are runs of points of which each has one child; roots, ends and forks as `parent` tells. */
static void print_tree(const int32_t *parent, const int32_t *n_children, int64_t n)
{
	int64_t n_roots = 0, n_ends = 0, n_forks = 0, n_branches = 0;
	for (int64_t i = 0; i < n; i++) {
		n_roots += parent[i] < 0;
		n_ends += n_children[i] == 0;
		n_forks += n_children[i] > 1;
		n_branches += parent[i] < 0 || n_children[parent[i]] > 1;
	}
	printf("  %" PRId64 " root%s, %" PRId64 " branches, %" PRId64 " forks, %" PRId64 " ends\n", n_roots,
	       n_roots == 1 ? "" : "s", n_branches, n_forks, n_ends);
}

static bool describe_tree(const int32_t *parent, int64_t n, struct failure *failure)
{
	int32_t *n_children = calloc((size_t) n + 1, sizeof(int32_t));
	if (!n_children)
		return fail_memory(failure, "the tree");
	for (int64_t i = 0; i < n; i++)
		if (parent[i] >= 0)
			n_children[parent[i]]++;
	print_tree(parent, n_children, n);
	free(n_children);
	return true;
}

static void print_points(const struct morphology *m)
{
	struct range box[3] = { no_range, no_range, no_range }, radius = no_range;
	int64_t of_type[N_TYPES] = { 0 };
	for (int64_t i = 0; i < m->n; i++) {
		const struct point *p = &m->points[i];
		of_type[p->type > 0 && p->type < N_TYPES ? p->type : 0]++;
		range_add(&radius, p->radius);
		for (int k = 0; k < 3; k++)
			range_add(&box[k], p->place[k]);
	}
	printf("  %" PRId64 " points:", m->n);
	for (int t = 1, n = 0; t <= N_TYPES; t++)
		if (of_type[t % N_TYPES])
			printf("%s %" PRId64 " %s", n++ ? "," : "", of_type[t % N_TYPES], type_names[t % N_TYPES]);
	putchar('\n');
	print_box(box, "um");
	printf("  radii from %g to %g um\n", radius.low, radius.high);
}

static bool inspect_swc(struct arena *arena, const char *path, struct failure *failure)
{
	struct notes notes = { .arena = arena };
	struct morphology m;
	int32_t *parent;
	bool ok;
	if (!swc_read(&m, path, &notes, failure))
		return false;
	parent = malloc((size_t) m.n * sizeof(int32_t));
	printf("%s: SWC, the shape of a neuron\n", path);
	print_points(&m);
	for (int64_t i = 0; parent && i < m.n; i++)
		parent[i] = m.points[i].parent;
	ok = parent ? describe_tree(parent, m.n, failure) : fail_memory(failure, "the tree");
	print_notes(&notes);
	free(parent);
	morphology_free(&m);
	return ok;
}

/* ---- Systems of cells ---------------------------------------------------------------------------- */

static void print_version(const char *path)
{
	char line[32] = "";
	FILE *file = fopen(path, "rb");
	if (file && fgets(line, sizeof(line), file))
		printf(", version %.*s", (int) strcspn(line, "\r\n"), line);
	if (file)
		fclose(file);
}

static bool inspect_cells(struct arena *arena, const char *path, const char *format, struct failure *failure)
{
	struct notes notes = { .arena = arena };
	struct cell_request request = cell_request_default();
	cell_list cells = { 0 };
	bool is_coreneuron = strcmp(format, "coreneuron") == 0;
	bool ok = cell_request_complete(&request, failure) &&
		  cells_read(&cells, path, format, &request, &notes, failure);
	if (ok) {
		printf("%s: %s", path, is_coreneuron ? "CoreNEURON's cells" : "systems of cells");
		if (is_coreneuron)
			print_version(path);
		putchar('\n');
	}
	for (int i = 0; i < cells.n; i++) {
		if (ok)
			printf("  %" PRId64 " nodes%s\n", cells.items[i].n,
			       cells.items[i].reference ? ", with a solution" : "");
		ok = ok && describe_tree(cells.items[i].parent, cells.items[i].n, failure);
		cell_free(&cells.items[i]);
	}
	if (ok)
		print_notes(&notes);
	return ok;
}

/* ---- Which of them ---------------------------------------------------------------------------------- */

static bool of_cells(struct arena *arena, const char *path, struct failure *failure)
{
	if (has_suffix(path, ".swc"))
		return inspect_swc(arena, path, failure);
	return inspect_cells(arena, path, has_suffix(path, ".dat") ? "coreneuron" : "tsv", failure);
}

static bool of_scans(struct arena *arena, const char *path, struct failure *failure)
{
	(void) arena;
	if (has_suffix(path, ".nii") || has_suffix(path, ".nii.gz"))
		return inspect_image(path, failure);
	if (has_suffix(path, ".bval") || has_suffix(path, ".bvals"))
		return inspect_bvals(path, failure);
	if (has_suffix(path, ".bvec") || has_suffix(path, ".bvecs"))
		return inspect_bvecs(path, failure);
	return inspect_tracks(path, failure);
}

static const struct step_format {
	const char *suffixes, *sentence;
	bool (*inspect)(struct arena *arena, const char *path, struct failure *failure);
} step_formats[] = {
	{ ".tck .trk .trx", "streamlines", of_scans },
	{ ".nii .nii.gz", "a scan, NIfTI", of_scans },
	{ ".bval .bvals .bvec .bvecs", "b-values, and directions of gradients, as FSL has them", of_scans },
	{ ".swc", "the shape of a neuron", of_cells },
	{ "_2.dat", "cells of CoreNEURON", of_cells },
	{ ".hines.tsv", "systems of cells", of_cells },
};

enum { N_STEP_FORMATS = sizeof(step_formats) / sizeof(step_formats[0]) };

static bool is_of(const struct step_format *format, const char *path)
{
	char suffix[16];
	for (const char *at = format->suffixes; *at; at += *at == ' ') {
		size_t n = strcspn(at, " ");
		snprintf(suffix, sizeof(suffix), "%.*s", (int) n, at);
		if (has_suffix(path, suffix))
			return true;
		at += n;
	}
	return false;
}

bool step_file_inspect(struct arena *arena, const char *path, bool *is_one, struct failure *failure)
{
	int i = 0;
	while (i < N_STEP_FORMATS && !is_of(&step_formats[i], path))
		i++;
	*is_one = i < N_STEP_FORMATS;
	return *is_one && step_formats[i].inspect(arena, path, failure);
}

void step_files_list(FILE *stream)
{
	for (int i = 0; i < N_STEP_FORMATS; i++)
		fprintf(stream, "  %-26s  %s\n", step_formats[i].suffixes, step_formats[i].sentence);
}
