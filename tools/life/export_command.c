/* SPDX-License-Identifier: MIT
 *
 * `pmg life export`: weights in another format, and the streamlines that have one above a threshold. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "life/connectome.h"

struct values {
	const char *output, *tracks, *pruned, *above, *reference;
	int64_t signal;
};

/* Of an option that would change nothing. */
static bool needs_reference(const struct values *v, struct failure *failure)
{
	if (!v->reference || (v->pruned && tracks_have_grid(v->pruned) && !tracks_have_grid(v->tracks)))
		return true;
	return fail(failure, OUTCOME_USAGE, "--reference is for streamlines of a .tck that go to a .trk or .trx");
}

/* The streamlines' own file tells of no voxels, an image does. */
static bool take_reference(const struct values *v, struct tracks *tracks, struct failure *failure)
{
	struct image image;
	if (!v->reference)
		return true;
	if (!image_open(&image, v->reference, failure))
		return false;
	tracks->frame.is_known = true;
	memcpy(tracks->frame.extent, image.extent, sizeof(image.extent));
	memcpy(tracks->frame.to_mm, image.to_mm, sizeof(image.to_mm));
	return true;
}

static bool write_pruned(const struct values *v, const double *w, int64_t n, double above, struct failure *failure)
{
	struct tracks tracks = { 0 };
	bool *is_kept = calloc((size_t) n + 1, sizeof(bool));
	int64_t kept = 0;
	for (int64_t f = 0; is_kept && f < n; f++)
		kept += is_kept[f] = w[f] > above;
	bool ok = (is_kept || fail_memory(failure, "the weights")) && tracks_read(&tracks, v->tracks, failure);
	if (ok && tracks.n != n)
		ok = fail_file(failure, v->tracks, "it has %" PRId64 " streamlines, there are %" PRId64 " weights",
			       tracks.n, n);
	ok = ok && take_reference(v, &tracks, failure) &&
	     tracks_write(&tracks, v->tracks, is_kept, w, v->pruned, failure);
	if (ok)
		printf("%s: %" PRId64 " of %" PRId64 " streamlines\n", v->pruned, kept, n);
	if (ok && tracks.has_data && !tracks_keep_data(v->tracks, v->pruned))
		printf("scalars and properties of %s are left out\n", v->tracks);
	tracks_free(&tracks);
	free(is_kept);
	return ok;
}

static bool check_files(struct arena *arena, const struct values *v, const char *weights, struct failure *failure)
{
	const struct step_file files[] = {
		{ READS_ARRAY, weights, "/w" },
		{ READS_FILE, v->tracks, NULL },
		{ READS_FILE, v->reference, NULL },
		{ WRITES_ARRAY, v->output, "/w" },
		{ WRITES_TRACKS, v->pruned, NULL },
	};
	return files_check(arena, files, sizeof(files) / sizeof(files[0]), failure);
}

static bool run_export(struct arena *arena, const struct values *v, const char *weights, struct failure *failure)
{
	double above = 0, *w = NULL;
	int64_t n = -1;
	if (!v->tracks != !v->pruned)
		return fail(failure, OUTCOME_USAGE, "--tracks and --pruned go together");
	if (!v->output && !v->pruned)
		return fail(failure, OUTCOME_USAGE, "--output or --pruned is needed");
	if (v->above && !v->pruned)
		return fail(failure, OUTCOME_USAGE, "--above is of --tracks and --pruned, which are not given");
	bool ok = needs_reference(v, failure) && take_real("above", v->above, &above, failure) &&
		  check_files(arena, v, weights, failure) &&
		  (w = weights_read(arena, weights, v->signal, &n, failure)) &&
		  (!v->output || weights_write(arena, v->output, w, 0, n, failure)) &&
		  (!v->pruned || write_pruned(v, w, n, above, failure));
	free(w);
	return ok;
}

static const struct option_row rows[] = {
	{ .name = "output", .letter = 'o', .kind = OPTION_TEXT, .offset = offsetof(struct values, output),
	  .operand = "FILE", .text = "the weights: .txt (as MRtrix takes them), .npy, .f64 or .h5:/NAME" },
	{ .name = "tracks", .kind = OPTION_TEXT, .offset = offsetof(struct values, tracks), .operand = "FILE",
	  .text = "the streamlines that were encoded: .tck, .trk or .trx" },
	{ .name = "pruned", .kind = OPTION_TEXT, .offset = offsetof(struct values, pruned), .operand = "FILE",
	  .text = "those with a weight: .tck, or .trk and .trx with the weight of each" },
	{ .name = "above", .kind = OPTION_TEXT, .offset = offsetof(struct values, above), .operand = "W",
	  .text = "keep those with a weight above W (default: 0)" },
	{ .name = "reference", .kind = OPTION_TEXT, .offset = offsetof(struct values, reference), .operand = "SCAN.nii",
	  .text = "to a .trk or .trx from a .tck: the image whose voxels its header tells" },
	{ .name = "signal", .kind = OPTION_INTEGER, .offset = offsetof(struct values, signal), .low = 0,
	  .high = INT32_MAX, .operand = "N", .text = "of weights of several signals, those of this one, from 0" },
};

static bool export(void *values, const word_list *operands, struct arena *arena, struct failure *failure)
{
	if (operands->n == 1)
		return run_export(arena, values, operands->items[0], failure);
	fail(failure, OUTCOME_USAGE, "weights are needed");
	fail_help(failure, "pmg life export weights.txt --tracks=all.tck --pruned=pruned.trk");
	return false;
}

static int export_main(const struct command *command, struct arena *arena, int argc, char **argv)
{
	struct values values = { .signal = SIGNAL_UNSAID };
	return command_do(command, arena, argc, argv, &values, export);
}

const struct command life_export_command = {
	.name = "life export",
	.operands = "WEIGHTS [-o FILE] [--tracks=FILE --pruned=FILE]",
	.sentence = "write weights in other formats, and the streamlines they keep",
	.details = "",
	.options = rows,
	.n_options = sizeof(rows) / sizeof(rows[0]),
	.run = export_main,
};
