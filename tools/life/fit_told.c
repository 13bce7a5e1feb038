/* SPDX-License-Identifier: MIT
 *
 * What `pmg life fit` says: memory and time ahead, progress, and how it ended. Progress goes to the standard error: one
 * line that is overwritten on a terminal, else a line from time to time. */
#include <float.h>
#include <inttypes.h>
#include <math.h>

#include "life/fitting.h"

enum { SECONDS_BETWEEN_LINES = 10, FIRST_ITERATIONS = 4 };

/* So long is measured before the time is told. */
static const double first_seconds = 0.2;

static double seconds_left(const struct fitting *f)
{
	const struct fit_state *state = &f->fit.state;
	double each = (clock_now() - f->started) / (double) (state->iteration - f->first);
	return state->iteration > f->first ? each * (double) (f->values->iterations - state->iteration) : 0;
}

static double relative(double violation, double scale)
{
	return scale > 0 ? violation / scale : violation;
}

void fit_tell_progress(struct fitting *f)
{
	const struct fit_state *state = &f->fit.state;
	double time = clock_now();
	if (time - f->told < (progress_is_overwritten() ? 0.1 : SECONDS_BETWEEN_LINES))
		return;
	f->told = time;
	progress_tell("iteration %" PRId64 " of %" PRId64 ": objective %.9g, %" PRId64
		      " live fibers, violation %.2g, %.0f s for all that are left",
		      state->iteration, f->values->iterations, state->objective, state->live,
		      relative(state->violation, state->scale), seconds_left(f));
}

/* What a GPU holds, and what has been moved between it and this machine. */
void fit_tell_device(const struct fitting *f)
{
	char held[32], to[32], from[32];
	const pmg_report *report = pmg_plan_report(f->fit.execution.plan);
	if (!fit_is_on_device(f->values) || !report)
		return;
	printf("GPU: %s held, %s moved to it, %s from it\n", bytes_text(report->device_bytes, held, sizeof(held)),
	       bytes_text(report->to_device, to, sizeof(to)), bytes_text(report->from_device, from, sizeof(from)));
	fflush(stdout);
}

bool fit_tell_forecast(const struct fitting *f, struct failure *failure)
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
	if (memory_suffices(bytes + fit->peak_bytes, f->max_memory, f->values->max_memory, failure))
		return true;
	fail_help(failure, "--precision=f32 keeps the dictionary in half of its memory");
	return false;
}

/* Not by the first iterations alone, in which threads and memory are new. */
void fit_tell_time(struct fitting *f)
{
	const struct fit_state *state = &f->fit.state;
	if (f->is_forecast || state->is_finished || state->iteration - f->first < FIRST_ITERATIONS ||
	    clock_now() - f->started < first_seconds)
		return;
	f->is_forecast = true;
	double each = (clock_now() - f->started) / (double) (state->iteration - f->first);
	printf("time: %.3g s an iteration, %.0f s if all %" PRId64 " are needed\n", each,
	       ceil(each * (double) (f->values->iterations - f->first)), f->values->iterations);
	fflush(stdout);
}

bool fit_is_at_optimum(const struct fitting *f)
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
void fit_tell_hopeless(const struct fitting *f)
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

/* Fibers that will get no weight may still have some. */
static void tell_unfinished(void)
{
	fflush(stdout);
	fprintf(stderr, "pmg life fit: warning: the tolerance is not reached; it may need a higher --iterations=N\n");
}

void fit_tell_end(const struct fitting *f)
{
	const struct fit_state *state = &f->fit.state;
	bool is_early = state->is_finished && state->iteration < f->values->iterations;
	bool is_reached = fit_is_at_optimum(f) || is_early;
	printf("%s after %" PRId64 " iterations, %.2f s\n",
	       is_reached ? "the tolerance is reached" : "stopped by --iterations", state->iteration,
	       clock_now() - f->started);
	printf("objective %.12g; %" PRId64 " of %" PRId64 " fibers live\n", state->objective, state->live,
	       fit_rows(&f->fit) * f->problem.n_fibers);
	printf("KKT violation %.3g, %.3g of that of weights 0\n", state->violation,
	       relative(state->violation, state->scale));
	if (!is_reached && f->fit.options.tolerance > 0)
		tell_unfinished();
}
