/* SPDX-License-Identifier: MIT
 *
 * The files of one step, asked about before anything is computed: no output may be what the step reads or another
 * output, each must be of a format that is written, and where it can be written. Members of an HDF5 file are places of
 * their own: new ones may be added to a problem. */
#include "formats/streams.h"
#include "life/connectome.h"

#include <sys/stat.h>
#include <unistd.h>

static bool is_output(const struct step_file *file)
{
	return file->use >= WRITES_ARRAY;
}

static bool is_array(const struct step_file *file)
{
	return file->use == READS_ARRAY || file->use == WRITES_ARRAY;
}

/* Of an array in HDF5 the text may leave out which: it is `inner` then. */
static bool place_array(struct arena *arena, const char *text, const char *inner, struct location *place,
			struct failure *failure)
{
	if (!location_parse(place, arena, text, failure))
		return false;
	if (inner && place->format && place->format->write == hdf5_write && !place->inner)
		place->inner = arena_string(arena, inner);
	return true;
}

static bool locate(struct arena *arena, const struct step_file *file, struct location *place, struct failure *failure)
{
	if (is_array(file))
		return place_array(arena, file->text, file->inner, place, failure);
	*place = (struct location){ .path = arena_string(arena, file->text), .rank = -1, .base = -1 };
	place->format = format_of(place->path);
	return true;
}

/* ---- Places ----------------------------------------------------------------------------------- */

static bool overlap(const struct location *a, const struct location *b)
{
	return location_covers(a, b) || location_covers(b, a);
}

/* In the file of a problem only what is its own counts. */
static bool meets_problem(const struct location *target, const struct location *problem)
{
	const char *own;
	for (int i = 0; (own = problem_object(i)); i++) {
		const struct location object = { .path = problem->path, .inner = (char *) (uintptr_t) own };
		if (overlap(target, &object))
			return true;
	}
	return false;
}

/* A run goes on from a state and saves to the same file. */
static bool meets(const struct step_file *output, const struct location *target, const struct step_file *file,
		  const struct location *place)
{
	if (output->use == WRITES_STATE && file->use == READS_STATE)
		return false;
	return file->use == READS_PROBLEM ? meets_problem(target, place) : overlap(target, place);
}

static bool is_alone(const struct step_file *files, const struct location *places, int n, int output,
		     struct failure *failure)
{
	for (int i = 0; i < n; i++)
		if (i != output && files[i].text && meets(&files[output], &places[output], &files[i], &places[i]))
			return fail(failure, OUTCOME_USAGE, "%s: that is %s of this step", files[output].text,
				    is_output(&files[i]) ? "another output" : "the input");
	return true;
}

/* ---- Formats ------------------------------------------------------------------------------------ */

static bool has_format(const struct location *target, bool is_written, const char *text, const char *help,
		       struct failure *failure)
{
	if (is_written)
		return true;
	fail(failure, OUTCOME_USAGE, "%s: %s", text,
	     target->format ? "it is not written in this format" : "unknown format");
	fail_help(failure, "%s", help);
	return false;
}

static bool is_array_format(const char *text, const struct location *target, struct failure *failure)
{
	const struct format *format = target->format;
	bool holds_reals = format && (format->write != raw_write || raw_holds_reals(target->path));
	return has_format(target, format && format->write && format->write != coordinates_write && holds_reals, text,
			  "arrays are written as .txt, .npy, .f64 or .h5:/NAME", failure);
}

bool output_target(struct arena *arena, const char *text, const char *inner, struct location *target,
		   struct failure *failure)
{
	return place_array(arena, text, inner, target, failure) && is_array_format(text, target, failure);
}

/* A history goes to what is there, which may be a pipe. */
static bool is_writable(const char *path, struct failure *failure)
{
	struct stat status;
	if (stat(path, &status) != 0)
		return output_is_possible(path, failure);
	return access(path, W_OK) == 0 || fail_file(failure, path, "cannot write:");
}

static bool can_be_written(const struct step_file *file, const struct location *target, struct failure *failure)
{
	if (file->use == WRITES_ROWS)
		return is_writable(target->path, failure);
	bool is_hdf5 = target->format && target->format->write == hdf5_write;
	bool is_known = file->use == WRITES_ARRAY ? is_array_format(file->text, target, failure) :
			file->use == WRITES_PROBLEM ? has_format(target, is_hdf5, file->text,
								 "problems are written as .h5", failure) :
			file->use == WRITES_TRACKS ? tracks_have_format(file->text, failure) : true;
	return is_known && output_is_possible(target->path, failure) &&
	       (file->use != WRITES_ARRAY || location_has_room(target, true, failure));
}

/* ---- All of them --------------------------------------------------------------------------------- */

bool files_check(struct arena *arena, const struct step_file *files, int n, struct failure *failure)
{
	struct location *places = arena_new_array(arena, struct location, n + 1);
	for (int i = 0; i < n; i++)
		if (files[i].text && !locate(arena, &files[i], &places[i], failure))
			return false;
	for (int i = 0; i < n; i++)
		if (files[i].text && is_output(&files[i]) && !is_alone(files, places, n, i, failure))
			return false;
	for (int i = 0; i < n; i++)
		if (files[i].text && is_output(&files[i]) && !can_be_written(&files[i], &places[i], failure))
			return false;
	return true;
}
