/* SPDX-License-Identifier: MIT
 *
 * `pmg life fit`: tells what memory and time a fit takes, then iterates, tells how it goes, and writes weights. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "life/fitting.h"

/* ---- Running ------------------------------------------------------------------------------------ */

static bool save(struct fitting *f, struct failure *failure)
{
	f->saved = clock_now();
	/* Before the state, so that no row is missing up to it. */
	if (f->history)
		fflush(f->history);
	f->is_saved = fit_save(&f->fit, failure);
	return f->is_saved;
}

/* What was computed is in a file, and nowhere else. */
static bool stop(struct fitting *f, struct failure *failure)
{
	progress_forget();
	if (!save(f, failure))
		return false;
	fail(failure, OUTCOME_INTERRUPTED, "stopped after %" PRId64 " iterations; no weights are written",
	     f->fit.state.iteration);
	fail_help(failure, "the same command with --resume=%s goes on from here", f->fit.options.state);
	return false;
}

static bool iterate(struct fitting *f, struct failure *failure)
{
	struct fit *fit = &f->fit;
	const volatile int *signal = state_catch_signals();
	while (!*signal && !fit->state.is_finished && fit->state.iteration < f->values->iterations) {
		if (!fit_iterate(fit, failure))
			return false;
		fit_add_history(f);
		fit_tell_time(f);
		fit_tell_progress(f);
		if (clock_now() - f->saved >= (double) f->values->checkpoint && !save(f, failure))
			return false;
	}
	if (*signal)
		return stop(f, failure);
	progress_forget();
	return true;
}

/* What cannot be written is in the state, if that can. */
static bool write_weights(struct fitting *f, struct failure *failure)
{
	struct failure ignored = { 0 };
	if (weights_write(f->arena, f->values->output, f->fit.w, f->fit.options.n_signals, f->problem.n_fibers,
			  failure))
		return true;
	if (save(f, &ignored))
		fail_help(failure, "the same command with --resume=%s writes them", f->fit.options.state);
	return false;
}

/* Once there are weights, a state is of use to go on for more iterations, if it has been asked for. */
static bool end_state(struct fitting *f, struct failure *failure)
{
	if (f->values->state && !fit_is_at_optimum(f))
		return save(f, failure);
	if (f->is_saved)
		remove(f->fit.options.state);
	return true;
}

static bool run_fit(struct fitting *f, struct failure *failure)
{
	struct fit_options options = { .penalty = NULL };
	struct location target;
	double *start = NULL;
	struct failure of_history = { 0 };
	bool ok = fit_read_options(f, &options, failure) &&
		  output_target(f->arena, f->values->output, "/w", &target, failure) &&
		  (!f->values->resume || file_is_readable(f->values->resume, failure)) &&
		  fit_check_files(f, options.state = fit_state_file(f, &target), failure) &&
		  problem_read(&f->problem, f->path, failure) && problem_check(&f->problem, f->path, failure);
	if (ok && f->values->start) {
		options.start = start = weights_read(f->arena, f->values->start, SIGNAL_ALONE, &f->problem.n_fibers,
						     failure);
		ok = start != NULL;
	}
	ok = ok && fit_read_penalty(f, &options, failure) && fit_read_signals(f, &options, failure) &&
	     weights_write(f->arena, f->values->output, NULL, options.n_signals, f->problem.n_fibers, failure) &&
	     fit_open(&f->fit, f->arena, &f->problem, &options, failure) && fit_tell_forecast(f, failure) &&
	     fit_plan(&f->fit, failure) && fit_begin(&f->fit, failure) && fit_begin_history(f, failure);
	if (ok)
		fit_tell_hopeless(f);
	ok = ok && iterate(f, failure);
	bool has_history = fit_close_history(f, &of_history);
	if (ok)
		fit_tell_end(f);
	if (ok)
		fit_tell_device(f);
	ok = ok && write_weights(f, failure);
	state_was_interrupted();
	ok = ok && end_state(f, failure);
	if (ok && !has_history) {
		*failure = of_history;
		ok = false;
	}
	fit_close(&f->fit);
	problem_free(&f->problem);
	free(start);
	free(options.penalty);
	free(options.signals);
	return ok;
}

/* ---- The command ----------------------------------------------------------------------------------- */

#define TEXT_ROW(option, member, what, help) \
	{ .name = option, .kind = OPTION_TEXT, .offset = offsetof(struct fit_values, member), .operand = what, \
	  .text = help }

static const struct option_row rows[] = {
	{ .name = "output", .letter = 'o', .kind = OPTION_TEXT, .offset = offsetof(struct fit_values, output),
	  .operand = "FILE", .text = "the weights: .txt, .npy, .f64 or .h5:/NAME" },
	{ .name = "iterations", .kind = OPTION_INTEGER, .offset = offsetof(struct fit_values, iterations), .low = 0,
	  .high = 100000000, .operand = "N", .text = "at most so many (default: 1000)" },
	TEXT_ROW("tolerance", tolerance, "T",
		 "stop where the KKT violation is below T times that of weights 0 (default: 1e-6)"),
	TEXT_ROW("signals", signals, "FILE",
		 "fit each of these instead of y, [signals, voxels, directions], all at once: a row of weights each"),
	TEXT_ROW("start", start, "FILE", "weights to start from (default: 0)"),
	TEXT_ROW("l1", l1, "LAMBDA", "add LAMBDA times the sum of the weights: fewer fibers live"),
	TEXT_ROW("penalty", penalty, "FILE", "with --l1: a factor of LAMBDA for each fiber (default: 1)"),
	{ .name = "no-preconditioner", .offset = offsetof(struct fit_values, is_plain),
	  .text = "steps in the weights themselves, as in the original" },
	TEXT_ROW("precision", precision, "f64|f64top|f32", "how the dictionary is kept (default: f64)"),
	{ .name = "deterministic", .offset = offsetof(struct fit_values, is_deterministic),
	  .text = "the same bits in each run, for any number of threads (default)" },
	{ .name = "no-deterministic", .offset = offsetof(struct fit_values, is_by_threads),
	  .text = "sums by thread: for more than 16 threads" },
	{ .name = "threads", .kind = OPTION_INTEGER, .offset = offsetof(struct fit_values, threads), .low = 1,
	  .high = 4096, .operand = "N", .text = "threads (default: as OpenMP sees fit)" },
	TEXT_ROW("target", target, "openmp|cuda|opencl",
		 "what runs the kernels: this processor, a GPU, or a device of OpenCL"),
	TEXT_ROW("nvcc", nvcc, "COMMAND", "for --target=cuda, CUDA's compiler and further flags (default: nvcc)"),
	TEXT_ROW("arch", arch, "sm_80,sm_90,…|native", "GPUs to compile for (default: that which is here)"),
	{ .name = "check-every", .kind = OPTION_INTEGER, .offset = offsetof(struct fit_values, steps), .low = 1,
	  .high = 1000000, .operand = "N",
	  .text = "iterations from one look at progress and signals, and row of the history, to the next (default: 1, "
		  "on a GPU 16)" },
	TEXT_ROW("history", history, "FILE.csv", "objective, violation, live fibers and time after each iteration"),
	{ .name = "checkpoint", .kind = OPTION_INTEGER, .offset = offsetof(struct fit_values, checkpoint), .low = 0,
	  .high = 1000000000, .operand = "SECONDS", .text = "save the state so often (default: 300)" },
	TEXT_ROW("state", state, "FILE",
		 "where the state goes, also when a signal comes (default: WEIGHTS.state); kept where --iterations "
		 "ends the fit"),
	TEXT_ROW("resume", resume, "FILE", "go on from such a state, with the same result as if nothing had happened"),
	TEXT_ROW("max-mem", max_memory, "BYTES", "refuse what needs more memory: 500M, 4G"),
	TEXT_ROW("cc", cc, "COMMAND", "the C compiler (default: gcc)"),
};

static bool fit(void *values, const word_list *operands, struct arena *arena, struct failure *failure)
{
	struct fitting f = { .arena = arena, .values = values, .path = operands->n ? operands->items[0] : NULL };
	if (operands->n == 1 && f.values->output)
		return run_fit(&f, failure);
	fail(failure, OUTCOME_USAGE, operands->n == 0 ? "a problem is needed" :
	     operands->n > 1 ? "one problem is fitted at a time" : "--output is needed");
	fail_help(failure, "pmg life fit problem.h5 -o weights.txt");
	return false;
}

static int fit_main(const struct command *command, struct arena *arena, int argc, char **argv)
{
	struct fit_values values = { .iterations = 1000, .checkpoint = 300, .target = "openmp" };
	return command_do(command, arena, argc, argv, &values, fit);
}

const struct command life_fit_command = {
	.name = "life fit",
	.operands = "PROBLEM.h5 -o WEIGHTS",
	.sentence = "find the weights of its streamlines",
	.details = "",
	.options = rows,
	.n_options = sizeof(rows) / sizeof(rows[0]),
	.run = fit_main,
};
