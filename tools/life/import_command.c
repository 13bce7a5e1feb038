/* SPDX-License-Identifier: MIT
 *
 * `pmg life import`: a problem from what other software exports. What the operand is tells how it is read: a folder is
 * COMMIT's, a .mat may hold ENCODE's structure, all else holds coefficients and perhaps further arrays; --dictionary
 * and --y come before what the file has of them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "life/import.h"

struct values {
	const char *output, *dictionary, *y, *hindered, *isotropic;
	int64_t fibers;
	bool is_one_based;
};

/* ---- Options that are files ------------------------------------------------------------------- */

static bool read_array(struct arena *arena, const char *text, const char *name, int least_rank, int most_rank,
		       const char *needed, struct ndarray *array, struct failure *failure)
{
	const struct wish wish = { .name = name };
	struct location location;
	struct content content = { 0 };
	bool ok = location_parse(&location, arena, text, failure) && content_read(&location, &wish, &content, failure);
	if (ok && (content.kind != CONTENT_ARRAY || content.members[0].array.rank < least_rank ||
		   content.members[0].array.rank > most_rank)) {
		ok = fail_file(failure, text, "%s is needed", needed);
		fail_help(failure, "bare numbers need their shape: FILE.f64[ROWS,COLUMNS]");
	}
	if (ok) {
		*array = content.members[0].array;
		content.members[0].array.data = NULL;
	}
	content_free(&content);
	return ok;
}

static bool read_matrix(struct arena *arena, const char *text, const char *name, struct parts *parts,
			struct failure *failure)
{
	struct ndarray array = { 0 };
	const char *needed = *name == 'D' ? "a matrix, a row for each atom," : "a matrix, a row for each voxel,";
	bool ok = !text || (read_array(arena, text, name, 2, 2, needed, &array, failure) &&
			    parts_put(parts, name, &array, failure));
	ndarray_free(&array);
	return ok;
}

/* ---- Kinds of sources ---------------------------------------------------------------------------- */

static bool is_folder(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool needs(const char *text, const char *option, const char *what, const char *kind, struct failure *failure)
{
	return text || fail(failure, OUTCOME_USAGE, "%s needs --%s, %s", kind, option, what);
}

static bool read_folder(struct arena *arena, const struct values *v, const char *folder, struct parts *parts,
			struct failure *failure)
{
	struct commit_kernels kernels = { 0 };
	const char *kind = "a folder of COMMIT";
	bool ok = import_counts_itself(folder, v->is_one_based, failure) &&
		  needs(v->dictionary, "dictionary", "the kernels of streamlines", kind, failure) &&
		  needs(v->y, "y", "the signal", kind, failure) && read_matrix(arena, v->y, "y", parts, failure) &&
		  read_array(arena, v->dictionary, "wmr", 2, 3, "an array [radii, directions, samples]", &kernels.wmr,
			     failure) &&
		  (!v->hindered || read_array(arena, v->hindered, "wmh", 3, 3,
					      "an array [kernels, directions, samples]", &kernels.wmh, failure)) &&
		  (!v->isotropic || read_array(arena, v->isotropic, "iso", 2, 2, "a matrix [kernels, samples]",
					       &kernels.iso, failure)) &&
		  import_commit(arena, folder, &kernels, parts, failure);
	ndarray_free(&kernels.wmr);
	ndarray_free(&kernels.wmh);
	ndarray_free(&kernels.iso);
	return ok;
}

static bool read_file(struct arena *arena, const struct values *v, const char *text, struct parts *parts,
		      struct failure *failure)
{
	struct location location;
	bool is_other;
	if (v->hindered || v->isotropic)
		return fail(failure, OUTCOME_USAGE, "--hindered and --isotropic are for a folder of COMMIT");
	if (!read_matrix(arena, v->dictionary, "D", parts, failure) || !read_matrix(arena, v->y, "y", parts, failure) ||
	    !location_parse(&location, arena, text, failure) ||
	    !import_arrays(&location, v->is_one_based, parts, &is_other, failure))
		return false;
	if (is_other && location.format->read == mat_read)
		return import_counts_itself(text, v->is_one_based, failure) &&
		       import_fe(arena, &location, v->y != NULL, v->dictionary != NULL, parts, failure);
	if (is_other)
		return fail_file(failure, text, "it has no arrays of coefficients: atom, voxel, fiber, value");
	if (parts->matrix.n_members > 0 && v->dictionary)
		return fail_file(failure, text, "a sparse tensor of three modes is needed: atom, voxel, fiber");
	return parts->matrix.n_members == 0 || import_matrix(parts, text, failure);
}

/* ---- All of it -------------------------------------------------------------------------------------- */

/* Comes before what the file states. */
static bool set_fibers(struct content *phi, int64_t n, struct failure *failure)
{
	for (int i = 0; i < phi->n_attributes; i++)
		if (strcmp(phi->attributes[i].name, "nFibers") == 0) {
			phi->attributes[i].value = n;
			return true;
		}
	return content_add_attribute(phi, "nFibers", n, failure);
}

/* The parts that no file gave. */
static bool is_whole(const struct parts *parts, const char *text, struct failure *failure)
{
	bool has_D = content_find(&parts->group, "D"), has_y = content_find(&parts->group, "y");
	if (has_D && has_y)
		return true;
	fail(failure, OUTCOME_USAGE, "%s holds no %s; --%s is needed", text, has_D ? "signal" : "dictionary",
	     has_D ? "y" : "dictionary");
	fail_help(failure, "pmg life import phi.tns --dictionary=D.npy --y=y.npy -o problem.h5");
	return false;
}

static bool check_files(struct arena *arena, const struct values *v, const char *text, struct failure *failure)
{
	struct location source;
	if (!location_parse(&source, arena, text, failure))
		return false;
	const struct step_file files[] = {
		{ READS_FILE, source.path, NULL },
		{ READS_ARRAY, v->dictionary, NULL },
		{ READS_ARRAY, v->y, NULL },
		{ READS_ARRAY, v->hindered, NULL },
		{ READS_ARRAY, v->isotropic, NULL },
		{ WRITES_PROBLEM, v->output, NULL },
	};
	return files_check(arena, files, sizeof(files) / sizeof(files[0]), failure);
}

static bool run_import(struct arena *arena, const struct values *v, const char *text, struct failure *failure)
{
	struct parts parts = { 0 };
	struct problem problem = { 0 };
	bool ok = check_files(arena, v, text, failure) &&
		  (is_folder(text) ? read_folder : read_file)(arena, v, text, &parts, failure) &&
		  is_whole(&parts, text, failure) &&
		  (v->fibers == 0 || set_fibers(&parts.phi, v->fibers, failure)) &&
		  problem_assemble(&problem, &parts.group, &parts.phi, text, failure) &&
		  problem_check(&problem, text, failure) && problem_write(&problem, v->output, failure);
	if (ok)
		signals_tell_mean(&problem, problem.y, 1, "life import", v->y ? v->y : text);
	if (ok)
		printf("%s: %" PRId64 " fibers, %" PRId64 " voxels, %" PRId64 " directions, %" PRId64 " atoms, %" PRId64
		       " coefficients\n",
		       v->output, problem.n_fibers, problem.n_voxels, problem.n_theta, problem.n_atoms,
		       problem.n_coeffs);
	problem_free(&problem);
	parts_free(&parts);
	return ok;
}

/* ---- The command ----------------------------------------------------------------------------- */

static const struct option_row rows[] = {
	{ .name = "output", .letter = 'o', .kind = OPTION_TEXT, .offset = offsetof(struct values, output),
	  .operand = "FILE.h5", .text = "the problem: a new file" },
	{ .name = "dictionary", .kind = OPTION_TEXT, .offset = offsetof(struct values, dictionary), .operand = "FILE",
	  .text = "D, [atoms, directions], without its mean; COMMIT's kernels of streamlines" },
	{ .name = "y", .kind = OPTION_TEXT, .offset = offsetof(struct values, y), .operand = "FILE",
	  .text = "the signal, [voxels, directions], without its mean" },
	{ .name = "fibers", .kind = OPTION_INTEGER, .offset = offsetof(struct values, fibers), .low = 1,
	  .high = INT32_MAX, .operand = "N", .text = "how many there are, if the last have no coefficients" },
	{ .name = "one-based", .offset = offsetof(struct values, is_one_based),
	  .text = "atoms, voxels, fibers in arrays of a .mat, .npz or .h5 count from 1" },
	{ .name = "hindered", .kind = OPTION_TEXT, .offset = offsetof(struct values, hindered), .operand = "FILE",
	  .text = "COMMIT's kernels of peaks, [kernels, directions, samples]" },
	{ .name = "isotropic", .kind = OPTION_TEXT, .offset = offsetof(struct values, isotropic), .operand = "FILE",
	  .text = "COMMIT's isotropic kernels, [kernels, samples]" },
};

static const char details[] =
	"SOURCE is ENCODE's structure (fe.mat, or FILE.mat:/NAME); arrays atoms, voxels, fibers and vals in a .mat,\n"
	".npz or .h5, perhaps with D (or DictSig) and y (or dSig); a sparse tensor (.tns, .tsv, .h5:/PHI); a sparse\n"
	"matrix (SciPy's .npz, .mtx); or the folder of COMMIT's dictionary. --dictionary and --y come before what is\n"
	"in it.\n";

static bool import(void *values, const word_list *operands, struct arena *arena, struct failure *failure)
{
	const struct values *v = values;
	if (operands->n == 1 && v->output)
		return run_import(arena, v, operands->items[0], failure);
	fail(failure, OUTCOME_USAGE, "one source and --output are needed");
	fail_help(failure, "pmg life import phi.tns --dictionary=D.npy --y=y.npy -o problem.h5");
	return false;
}

static int import_main(const struct command *command, struct arena *arena, int argc, char **argv)
{
	struct values values = { 0 };
	return command_do(command, arena, argc, argv, &values, import);
}

const struct command life_import_command = {
	.name = "life import",
	.operands = "SOURCE -o FILE.h5",
	.sentence = "make a problem of what other software exports",
	.details = details,
	.options = rows,
	.n_options = sizeof(rows) / sizeof(rows[0]),
	.run = import_main,
};
