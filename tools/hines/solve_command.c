/* SPDX-License-Identifier: MIT
 *
 * `pmg hines solve FILE…`: solves the systems of files by the compiled program and tells how right the result is. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "formats/streams.h"
#include "hines/cells.h"

struct values {
	struct cell_request request;
	const char *format, *cc, *output;
	int64_t threads;
	bool check;
};

static const double most_error = 1e-11, most_eps = 10;

/* ---- Checking ------------------------------------------------------------------------------ */

/* Largest difference over the largest value; infinite where one is not a number. */
static double distance_of(const double *x, const double *reference, int64_t n)
{
	double distance = 0, size = 0;
	for (int64_t i = 0; i < n; i++) {
		double here = fabs(x[i] - reference[i]);
		if (!(here <= distance))
			distance = isnan(here) ? INFINITY : here;
		size = fmax(size, fabs(reference[i]));
	}
	return size > 0 ? distance / size : distance;
}

static bool print_errors(const struct values *v, const char *path, const struct forest *f, const double *x,
			 struct failure *failure)
{
	double backward = forest_backward_error(f, x) / (DBL_EPSILON / 2);
	bool has_reference = f->all.reference != NULL;
	double error = has_reference ? distance_of(x, f->all.reference, f->all.n) : 0;
	if (has_reference)
		printf("%s: largest error against the reference %.3g, backward error %.2g eps\n", path, error,
		       backward);
	else
		printf("%s: backward error %.2g eps; there is no reference\n", path, backward);
	if (!v->check || (backward <= most_eps && error <= most_error))
		return true;
	return fail(failure, OUTCOME_NUMERICAL,
		    "%s: the error is above %g of the largest value, or the backward error "
		    "above %g eps",
		    path, most_error, most_eps);
}

/* ---- One file ---------------------------------------------------------------------------------- */

struct solution {
	struct location target;
	struct content content;         /* borrows x */
};

/* Before the work: can it be written there? Nothing to do without an output. */
static bool solution_place(struct solution *solution, struct arena *arena, const struct values *v, double *x, int64_t n,
			   struct failure *failure)
{
	*solution = (struct solution) { .content = { .kind = CONTENT_ARRAY } };
	return !v->output || (location_parse(&solution->target, arena, v->output, failure) &&
			      content_borrow(&solution->content, "x", PMG_F64, 1, n, 0, x, failure) &&
			      content_fits(&solution->target, &solution->content, failure) &&
			      output_is_possible(solution->target.path, failure));
}

static void solution_free(struct solution *solution)
{
	for (int i = 0; i < solution->content.n_members; i++)
		solution->content.members[i].array.data = NULL;
	content_free(&solution->content);
}

static bool solve_forest(struct arena *arena, const struct values *v, const char *path,
			 const struct forest *f, struct failure *failure)
{
	double seconds = 0, *x = malloc(((size_t) f->all.n + 1) * sizeof(*x));
	if (!x)
		return fail_memory(failure, "the solution");
	struct solution solution;
	bool ok = solution_place(&solution, arena, v, x, f->all.n, failure) &&
		  forest_solve(arena, f, v->threads, v->cc, x, &seconds, failure);
	if (!ok && failure->outcome == OUTCOME_NUMERICAL)
		fail_help(failure, "the systems are those of %s", path);
	if (ok)
		printf("%s: %" PRId64 " system%s, %" PRId64 " node%s, %.3g ms at best\n", path, f->n,
		       s_of(f->n), f->all.n, s_of(f->all.n), 1e3 * seconds);
	ok = ok && print_errors(v, path, f, x, failure) &&
	     (!v->output || content_write(&solution.target, &solution.content, failure));
	solution_free(&solution);
	free(x);
	return ok;
}

static bool solve_file(struct arena *arena, const struct values *v, const char *path, struct failure *failure)
{
	struct notes notes = { .arena = arena };
	cell_list cells = { 0 };
	struct forest forest = { 0 };
	bool ok = cells_read(&cells, path, v->format, &v->request, &notes, failure) &&
		  forest_of_cells(&forest, &cells, failure);
	for (int i = 0; ok && i < notes.lines.n; i++)
		printf("%s: %s\n", path, notes.lines.items[i]);
	ok = ok && solve_forest(arena, v, path, &forest, failure);
	forest_free(&forest);
	for (int i = 0; i < cells.n; i++)
		cell_free(&cells.items[i]);
	return ok;
}

/* Does the failure leave the other files to be solved? */
static bool is_of_file(const struct values *v, const struct failure *failure)
{
	return failure->outcome == OUTCOME_DATA || failure->outcome == OUTCOME_IO ||
	       failure->outcome == OUTCOME_NUMERICAL || (failure->outcome == OUTCOME_USAGE && !v->format);
}

/* What is wrong with a file is told at once; the outcome is that of the first. */
static bool solve_files(struct arena *arena, const struct values *v, const word_list *files, struct failure *failure)
{
	enum outcome first = OUTCOME_OK;
	int n_wrong = 0;
	for (int i = 0; i < files->n; i++) {
		if (solve_file(arena, v, files->items[i], failure))
			continue;
		if (files->n == 1 || !is_of_file(v, failure))
			return false;
		failure_report(failure, "hines solve");
		first = n_wrong++ ? first : failure->outcome;
	}
	return n_wrong == 0 || fail(failure, first, "%d of %d files failed", n_wrong, files->n);
}

static bool solve(void *values, const word_list *operands, struct arena *arena, struct failure *failure)
{
	struct values *v = values;
	if (operands->n == 0) {
		fail(failure, OUTCOME_USAGE, "a file is needed");
		fail_help(failure, "pmg hines solve FILE.hines.tsv --check");
		return false;
	}
	if (v->output && operands->n > 1)
		return fail(failure, OUTCOME_USAGE, "--output is for one file");
	if (v->output && !location_spares(arena, v->output, operands->items[0], failure))
		return false;
	return cell_options_apply(&v->request, operands->items, operands->n, v->format, failure) &&
	       cell_request_complete(&v->request, failure) && solve_files(arena, v, operands, failure);
}

/* ---- The command ---------------------------------------------------------------------------------- */

static const struct option_row rows[] = {
	{ .name = "check",
	  .offset = offsetof(struct values, check),
	  .text = "fail (6), and write nothing, where the error is above 1e-11 or the backward error above 10 eps" },
	CELL_TEXT(format, "format", "NAME", "swc, tsv, bsc or coreneuron (default: by the file's name)"),
	{ .name = "output",
	  .letter = 'o',
	  .kind = OPTION_TEXT,
	  .offset = offsetof(struct values, output),
	  .operand = "FILE",
	  .text = "write the solution" },
	{ .name = "threads",
	  .kind = OPTION_INTEGER,
	  .offset = offsetof(struct values, threads),
	  .low = 1,
	  .high = 4096,
	  .operand = "N",
	  .text = "threads, one for each system at most (default: all)" },
	CELL_TEXT(cc, "cc", "COMMAND", "the C compiler"),
	CELL_OPTIONS(request),
};

static int run_solve(const struct command *command, struct arena *arena, int argc, char **argv)
{
	struct values values = { .request = cell_request_default(), .threads = omp_get_max_threads() };
	return command_do(command, arena, argc, argv, &values, solve);
}

static const struct command solve_command = {
	.name = "hines solve",
	.operands = "FILE…",
	.sentence = "solve Hines systems of files and tell the error",
	.details = "The program is the pipeline hines_forest of dsl_examples/hines.pmg, compiled once and "
		   "kept.\nThe solution is in the order of nodes of 'pmg import' with the same options, whose "
		   "id names their points.\n",
	.options = rows,
	.n_options = sizeof(rows) / sizeof(rows[0]),
	.run = run_solve,
};

static const struct command *const steps[] = { &solve_command };

const struct command hines_command = {
	.name = "hines",
	.operands = "STEP …",
	.sentence = "solve Hines systems of neurons",
	.details = "",
	.has_threads = true,
	.steps = steps,
	.n_steps = sizeof(steps) / sizeof(steps[0]),
	.run = command_step,
};
