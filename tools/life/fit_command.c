/* SPDX-License-Identifier: MIT
 *
 * `pmg life fit`: tells what memory and time a fit takes, then iterates, tells how it goes, and writes weights.
 * Progress goes to the standard error: one line that is overwritten on a terminal, else a line from time to time. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "life/fit.h"

enum { SECONDS_BETWEEN_LINES = 10, FIRST_ITERATIONS = 4, STEPS_OF_DEVICE = 16 };

/* So long is measured before the time is told. */
static const double first_seconds = 0.2;

struct values {
	const char *output, *start, *history, *tolerance, *precision, *max_memory, *cc, *state, *resume;
	const char *target, *nvcc, *arch, *l1, *penalty, *signals;
	int64_t iterations, threads, checkpoint, steps;
	bool is_plain, is_deterministic, is_by_threads;
};

struct fitting {
	struct fit fit;
	struct problem problem;
	const char *path;       /* of the problem */
	struct arena *arena;
	const struct values *values;
	FILE *history;          /* NULL: none is asked for */
	double started, told;   /* when the loop began, when it was told last */
	double saved;           /* when its state was */
	double earlier;         /* seconds of the run that is gone on from */
	bool is_saved;
	bool is_forecast;       /* the time has been told */
	int64_t first;          /* iterations that were complete then */
	int64_t max_memory;
};

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double) time.tv_sec + 1e-9 * (double) time.tv_nsec;
}

static bool is_on_device(const struct values *values)
{
	return strcmp(values->target, "openmp") != 0;
}

/* ---- Telling ------------------------------------------------------------------------------- */

static double seconds_left(const struct fitting *f)
{
	const struct fit_state *state = &f->fit.state;
	double each = (now() - f->started) / (double) (state->iteration - f->first);
	return state->iteration > f->first ? each * (double) (f->values->iterations - state->iteration) : 0;
}

static double relative(double violation, double scale)
{
	return scale > 0 ? violation / scale : violation;
}

static void tell_progress(struct fitting *f)
{
	const struct fit_state *state = &f->fit.state;
	bool is_terminal = isatty(STDERR_FILENO);
	double time = now();
	if (time - f->told < (is_terminal ? 0.1 : SECONDS_BETWEEN_LINES))
		return;
	f->told = time;
	fprintf(stderr, "%siteration %" PRId64 " of %" PRId64 ": objective %.9g, %" PRId64
		" live fibers, violation %.2g, at most %.0f s left%s",
		is_terminal ? "\r" : "", state->iteration, f->values->iterations, state->objective, state->live,
		relative(state->violation, state->scale), seconds_left(f), is_terminal ? "\033[K" : "\n");
	fflush(stderr);
}

static void forget_progress(void)
{
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

/* What a GPU holds, and what has been moved between it and this machine. */
static void tell_device(const struct fitting *f)
{
	char held[32], to[32], from[32];
	const pmg_report *report = pmg_plan_report(f->fit.execution.plan);
	if (!is_on_device(f->values) || !report)
		return;
	printf("GPU: %s held, %s moved to it, %s from it\n", bytes_text(report->device_bytes, held, sizeof(held)),
	       bytes_text(report->to_device, to, sizeof(to)), bytes_text(report->from_device, from, sizeof(from)));
	fflush(stdout);
}

static bool tell_forecast(const struct fitting *f, struct failure *failure)
{
	char problem[32], plan[32], peak[32];
	const struct fit *fit = &f->fit;
	const struct problem *p = &f->problem;
	int64_t bytes = problem_bytes(p) +
			fit->options.n_signals * p->n_voxels * p->n_theta * (int64_t) sizeof(double);
	printf("%s: %" PRId64 " fibers, %" PRId64 " voxels, %" PRId64 " directions, %" PRId64 " atoms, %" PRId64
	       " coefficients\n", f->path, p->n_fibers, p->n_voxels, p->n_theta, p->n_atoms, p->n_coeffs);
	printf("memory: %s for the problem, %s for the plan, %s more while it is made\n",
	       bytes_text(bytes, problem, sizeof(problem)), bytes_text(fit->plan_bytes, plan, sizeof(plan)),
	       bytes_text(fit->peak_bytes - fit->plan_bytes, peak, sizeof(peak)));
	fflush(stdout);
	if (!f->max_memory || bytes + fit->peak_bytes <= f->max_memory)
		return true;
	fail(failure, OUTCOME_RESOURCES, "%s are needed, --max-mem allows %s",
	     bytes_text(bytes + fit->peak_bytes, plan, sizeof(plan)), f->values->max_memory);
	fail_help(failure, "--precision=f32 keeps the dictionary in half of its memory");
	return false;
}

/* Not by the first iterations alone, in which threads and memory are new. */
static void tell_time(struct fitting *f)
{
	const struct fit_state *state = &f->fit.state;
	if (f->is_forecast || state->is_finished || state->iteration - f->first < FIRST_ITERATIONS ||
	    now() - f->started < first_seconds)
		return;
	f->is_forecast = true;
	double each = (now() - f->started) / (double) (state->iteration - f->first);
	printf("time: %.3g s an iteration, at most %.0f s in all\n", each,
	       ceil(each * (double) (f->values->iterations - f->first)));
	fflush(stdout);
}

static bool is_at_optimum(const struct fitting *f)
{
	const struct fit_state *state = &f->fit.state;
	return state->violation < f->fit.options.tolerance * state->scale || state->violation == 0;
}

static bool is_zero(const double *values, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		if (values[i] != 0)
			return false;
	return true;
}

/* Where the gradient for weights of 0 is none, they are the optimum, whatever else is in the problem. */
static void tell_hopeless(const struct fitting *f)
{
	const struct problem *p = &f->problem;
	const struct fit_options *options = &f->fit.options;
	const double *y = options->signals ? options->signals : p->y;
	if (f->fit.state.scale >= DBL_MIN)
		return;
	fprintf(stderr, "pmg life fit: warning: %s: all weights will be 0: %s\n", f->path,
		is_zero(y, fit_rows(&f->fit) * p->n_voxels * p->n_theta) ? "the signal is 0" :
		is_zero(p->D, p->n_atoms * p->n_theta) ? "the dictionary is 0" :
		is_zero(p->value, p->n_coeffs) ? "the coefficients are 0" :
		options->penalty ? "the penalty is more than any fiber explains" :
				   "no fiber explains any of the signal, or numbers are too small or too large");
}

static void tell_end(const struct fitting *f)
{
	const struct fit_state *state = &f->fit.state;
	bool is_early = state->is_finished && state->iteration < f->values->iterations;
	printf("%s after %" PRId64 " iterations, %.2f s\n",
	       is_at_optimum(f) || is_early ? "the tolerance is reached" : "stopped by --iterations", state->iteration,
	       now() - f->started);
	printf("objective %.12g; %" PRId64 " of %" PRId64 " fibers live\n", state->objective, state->live,
	       fit_rows(&f->fit) * f->problem.n_fibers);
	printf("KKT violation %.3g, %.3g of that of weights 0\n", state->violation,
	       relative(state->violation, state->scale));
}

/* ---- The history ------------------------------------------------------------------------------ */

static void add_history(struct fitting *f)
{
	const struct fit_state *state = &f->fit.state;
	if (!f->history)
		return;
	fprintf(f->history, "%" PRId64 ",%.17g,%.17g,%" PRId64 ",%.6f", state->iteration, state->objective,
		state->violation, state->live, f->earlier + now() - f->started);
	for (int64_t q = 0; q < f->fit.options.n_signals; q++)
		fprintf(f->history, ",%.17g", fit_objective(&f->fit, q));
	fputc('\n', f->history);
}

/* A run that goes on keeps the rows up to its state. */
static bool cut_history(struct fitting *f, struct failure *failure)
{
	char *line = NULL;
	size_t size = 0;
	long end = 0;
	long long iteration;
	double seconds;
	for (int i = 0; getline(&line, &size, f->history) > 0; i++, end = ftell(f->history)) {
		bool is_row = sscanf(line, "%lld,%*f,%*f,%*d,%lf", &iteration, &seconds) == 2;
		if (i > 0 && (!is_row || iteration > f->fit.state.iteration))
			break;
		f->earlier = i > 0 ? seconds : 0;
	}
	free(line);
	if (fseek(f->history, end, SEEK_SET) == 0 && ftruncate(fileno(f->history), end) == 0)
		return true;
	return fail_file(failure, f->values->history, "cannot write:");
}

static bool begin_history(struct fitting *f, struct failure *failure)
{
	f->started = f->told = f->saved = now();
	f->first = f->fit.state.iteration;
	if (!f->values->history)
		return true;
	f->history = f->values->resume ? fopen(f->values->history, "r+e") : NULL;
	if (f->history)
		return cut_history(f, failure);
	f->history = fopen(f->values->history, "we");
	if (!f->history)
		return fail_file(failure, f->values->history, "cannot write:");
	fputs("iteration,objective,violation,live,seconds", f->history);
	for (int64_t q = 0; q < f->fit.options.n_signals; q++)
		fprintf(f->history, ",objective_%" PRId64, q);
	fputc('\n', f->history);
	add_history(f);
	return true;
}

static bool close_history(struct fitting *f, struct failure *failure)
{
	bool is_good = !f->history || !ferror(f->history);
	if (f->history && fclose(f->history) != 0)
		is_good = false;
	f->history = NULL;
	return is_good || fail_file(failure, f->values->history, "cannot write:");
}

/* ---- Running ------------------------------------------------------------------------------------ */

static bool save(struct fitting *f, struct failure *failure)
{
	f->saved = now();
	/* Before the state, so that no row is missing up to it. */
	if (f->history)
		fflush(f->history);
	f->is_saved = fit_save(&f->fit, failure);
	return f->is_saved;
}

/* What was computed is in a file, and nowhere else. */
static bool stop(struct fitting *f, struct failure *failure)
{
	forget_progress();
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
		add_history(f);
		tell_time(f);
		tell_progress(f);
		if (now() - f->saved >= (double) f->values->checkpoint && !save(f, failure))
			return false;
	}
	if (*signal)
		return stop(f, failure);
	forget_progress();
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
	if (f->values->state && !is_at_optimum(f))
		return save(f, failure);
	if (f->is_saved)
		remove(f->fit.options.state);
	return true;
}

static const char *state_file(struct fitting *f, const struct location *target)
{
	return f->values->state ? f->values->state : arena_printf(f->arena, "%s.state", target->path);
}

static bool read_options(struct fitting *f, struct fit_options *options, struct failure *failure)
{
	static const char *const precisions[] = { "f64", "f64top", "f32", NULL };
	const struct values *v = f->values;
	const char *of_device = v->nvcc ? "nvcc" : "arch";
	if (v->is_deterministic && v->is_by_threads)
		return fail(failure, OUTCOME_USAGE, "--deterministic and --no-deterministic exclude each other");
	if (!is_on_device(v) && (v->nvcc || v->arch))
		return fail(failure, OUTCOME_USAGE, "--%s is of --target=cuda, which is not given", of_device);
	*options = (struct fit_options){ .iterations = v->iterations, .threads = v->threads, .tolerance = 1e-6,
					 .is_plain = v->is_plain,
					 .is_deterministic = v->is_deterministic ||
							     (!v->is_by_threads && !is_on_device(v)),
					 .cc = v->cc, .resume = v->resume, .steps = v->steps,
					 .target = v->target, .nvcc = v->nvcc, .arch = v->arch };
	if (!options->steps)
		options->steps = is_on_device(v) ? STEPS_OF_DEVICE : 1;
	if (v->precision && take_word("precision", v->precision, precisions, failure) < 0)
		return false;
	options->precision = v->precision && strcmp(v->precision, "f64") != 0 ? v->precision : NULL;
	return take_real("tolerance", v->tolerance, &options->tolerance, failure) &&
	       take_memory(v->max_memory, &f->max_memory, failure);
}

/* LAMBDA for each fiber, times its factor in a file; the caller frees it. */
static bool read_penalty(struct fitting *f, struct fit_options *options, struct failure *failure)
{
	const struct values *v = f->values;
	int64_t n = f->problem.n_fibers;
	double lambda = 0;
	if (!v->l1 && v->penalty)
		return fail(failure, OUTCOME_USAGE, "--penalty is of --l1=LAMBDA, which is not given");
	if (!v->l1)
		return true;
	if (!take_real("l1", v->l1, &lambda, failure))
		return false;
	options->penalty = v->penalty ? weights_read(f->arena, v->penalty, SIGNAL_ALONE, &n, failure)
				      : calloc((size_t) n + 1, sizeof(double));
	if (!options->penalty)
		return v->penalty ? false : fail_memory(failure, "the penalties");
	for (int64_t i = 0; i < n; i++)
		options->penalty[i] = lambda * (v->penalty ? options->penalty[i] : 1);
	return true;
}

static bool read_signals(struct fitting *f, struct fit_options *options, struct failure *failure)
{
	const struct values *v = f->values;
	if (v->signals && v->l1)
		return fail(failure, OUTCOME_USAGE, "--signals and --l1 do not go together");
	if (v->signals)
		options->signals = signals_read(f->arena, v->signals, &f->problem, &options->n_signals, failure);
	if (v->signals && !options->signals)
		return false;
	if (v->signals)
		signals_tell_mean(&f->problem, options->signals, options->n_signals, "life fit", v->signals);
	else
		signals_tell_mean(&f->problem, f->problem.y, 1, "life fit", f->path);
	return true;
}

static bool check_files(struct fitting *f, const char *state, struct failure *failure)
{
	const struct values *v = f->values;
	const struct step_file files[] = {
		{ READS_PROBLEM, f->path, NULL },
		{ READS_ARRAY, v->start, "/w" },
		{ READS_ARRAY, v->penalty, "/w" },
		{ READS_ARRAY, v->signals, "/signals" },
		{ READS_STATE, v->resume, NULL },
		{ WRITES_ARRAY, v->output, "/w" },
		{ WRITES_ROWS, v->history, NULL },
		{ WRITES_STATE, state, NULL },
	};
	return files_check(f->arena, files, sizeof(files) / sizeof(files[0]), failure);
}

static bool run_fit(struct fitting *f, struct failure *failure)
{
	struct fit_options options = { .penalty = NULL };
	struct location target;
	double *start = NULL;
	struct failure of_history = { 0 };
	bool ok = read_options(f, &options, failure) &&
		  output_target(f->arena, f->values->output, "/w", &target, failure) &&
		  (!f->values->resume || file_is_readable(f->values->resume, failure)) &&
		  check_files(f, options.state = state_file(f, &target), failure) &&
		  problem_read(&f->problem, f->path, failure) && problem_check(&f->problem, f->path, failure);
	if (ok && f->values->start) {
		options.start = start = weights_read(f->arena, f->values->start, SIGNAL_ALONE, &f->problem.n_fibers,
						     failure);
		ok = start != NULL;
	}
	ok = ok && read_penalty(f, &options, failure) && read_signals(f, &options, failure) &&
	     weights_write(f->arena, f->values->output, NULL, options.n_signals, f->problem.n_fibers, failure) &&
	     fit_open(&f->fit, f->arena, &f->problem, &options, failure) && tell_forecast(f, failure) &&
	     fit_plan(&f->fit, failure) && fit_begin(&f->fit, failure) && begin_history(f, failure);
	if (ok)
		tell_hopeless(f);
	ok = ok && iterate(f, failure);
	bool has_history = close_history(f, &of_history);
	if (ok)
		tell_end(f);
	if (ok)
		tell_device(f);
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

#define TEXT_ROW(option, member, what, help)                                                                           \
	{ .name = option, .kind = OPTION_TEXT, .offset = offsetof(struct values, member), .operand = what,             \
	  .text = help }

static const struct option_row rows[] = {
	{ .name = "output", .letter = 'o', .kind = OPTION_TEXT, .offset = offsetof(struct values, output),
	  .operand = "FILE", .text = "the weights: .txt, .npy, .f64 or .h5:/NAME" },
	{ .name = "iterations", .kind = OPTION_INTEGER, .offset = offsetof(struct values, iterations), .low = 0,
	  .high = 100000000, .operand = "N", .text = "at most so many (default: 1000)" },
	TEXT_ROW("tolerance", tolerance, "T",
		 "stop where the KKT violation is below T times that of weights 0 (default: 1e-6)"),
	TEXT_ROW("signals", signals, "FILE",
		 "fit each of these instead of y, [signals, voxels, directions], all at once: a row of weights each"),
	TEXT_ROW("start", start, "FILE", "weights to start from (default: 0)"),
	TEXT_ROW("l1", l1, "LAMBDA", "add LAMBDA times the sum of the weights: fewer fibers live"),
	TEXT_ROW("penalty", penalty, "FILE", "with --l1: a factor of LAMBDA for each fiber (default: 1)"),
	{ .name = "no-preconditioner", .offset = offsetof(struct values, is_plain),
	  .text = "steps in the weights themselves, as in the original" },
	TEXT_ROW("precision", precision, "f64|f64top|f32", "how the dictionary is kept (default: f64)"),
	{ .name = "deterministic", .offset = offsetof(struct values, is_deterministic),
	  .text = "the same bits in each run, for any number of threads (default)" },
	{ .name = "no-deterministic", .offset = offsetof(struct values, is_by_threads),
	  .text = "sums by thread: for more than 16 threads" },
	{ .name = "threads", .kind = OPTION_INTEGER, .offset = offsetof(struct values, threads), .low = 1,
	  .high = 4096, .operand = "N", .text = "threads (default: as OpenMP sees fit)" },
	TEXT_ROW("target", target, "openmp|cuda", "what runs the kernels: this processor, or a GPU"),
	TEXT_ROW("nvcc", nvcc, "COMMAND", "for --target=cuda, CUDA's compiler and further flags (default: nvcc)"),
	TEXT_ROW("arch", arch, "sm_80,sm_90,…|native", "GPUs to compile for (default: that which is here)"),
	{ .name = "check-every", .kind = OPTION_INTEGER, .offset = offsetof(struct values, steps), .low = 1,
	  .high = 1000000, .operand = "N",
	  .text = "iterations from one look at progress and signals, and row of the history, to the next (default: 1, "
		  "on a GPU 16)" },
	TEXT_ROW("history", history, "FILE.csv", "objective, violation, live fibers and time after each iteration"),
	{ .name = "checkpoint", .kind = OPTION_INTEGER, .offset = offsetof(struct values, checkpoint), .low = 0,
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
	struct values values = { .iterations = 1000, .checkpoint = 300, .target = "openmp" };
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
