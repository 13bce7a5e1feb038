/* SPDX-License-Identifier: MIT
 *
 * Fitting: min 0.5 |M w - y|^2, w >= 0 (Caiafa and Pestilli 2017; the steps are those of SBBNNLS, Kim, Sra and
 * Dhillon 2013). The scale of the tolerance is the violation for weights of 0, which an execution without iterations
 * gives. */
#include "life/fit.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "life/programs.h"

/* ---- Binding ------------------------------------------------------------------------------- */

static bool bind_list(struct fit *fit, const char *name, pmg_type type, int64_t n, void *data,
		      struct failure *failure)
{
	const struct ndarray array = { .type = type, .rank = 1, .shape = { n }, .data = data };
	return bind_memory(&fit->session, name, &array, failure);
}

static bool bind_matrix(struct fit *fit, const char *name, int64_t rows, int64_t columns, void *data,
			struct failure *failure)
{
	const struct ndarray array = { .type = PMG_F64, .rank = 2, .shape = { rows, columns }, .data = data };
	return bind_memory(&fit->session, name, &array, failure);
}

static bool bind_signals(struct fit *fit, struct failure *failure)
{
	const struct problem *p = fit->problem;
	const int64_t n = fit->options.n_signals;
	const struct ndarray b = { .type = PMG_F64, .rank = 3, .shape = { n, p->n_voxels, p->n_theta },
				   .data = fit->options.signals };
	return bind_memory(&fit->session, "b", &b, failure) &&
	       bind_matrix(fit, "w0", n, p->n_fibers, fit->w0, failure) &&
	       bind_list(fit, "tolGradient", PMG_F64, n, fit->tolerances, failure);
}

/* So that voxels near to each other follow one another. */
static bool bind_places(struct fit *fit, struct failure *failure)
{
	const struct problem *p = fit->problem;
	const struct ndarray places = { .type = PMG_I32, .rank = 2, .shape = { p->n_voxels, 3 },
					.data = p->voxel_coords };
	return !p->voxel_coords || bind_memory(&fit->session, "voxel_coords", &places, failure);
}

static bool bind_number(struct fit *fit, const char *name, double value, struct failure *failure)
{
	return bind_word(&fit->session, arena_printf(fit->session.arena, "%s=%.17g", name, value), failure);
}

static bool bind_y(struct fit *fit, struct failure *failure)
{
	const struct problem *p = fit->problem;
	return bind_matrix(fit, "b", p->n_voxels, p->n_theta, p->y, failure) &&
	       bind_list(fit, "w0", PMG_F64, p->n_fibers, fit->w0, failure) &&
	       (!fit->options.penalty ||
		bind_list(fit, "penalty", PMG_F64, p->n_fibers, fit->options.penalty, failure)) &&
	       bind_number(fit, "tolGradient", 0, failure) && bind_number(fit, "tolObjective", -1, failure);
}

static bool bind_problem(struct fit *fit, struct failure *failure)
{
	const struct problem *p = fit->problem;
	word_list none = { 0 };
	return bind_list(fit, "PHI.atom", PMG_I32, p->n_coeffs, p->atom, failure) &&
	       bind_list(fit, "PHI.voxel", PMG_I32, p->n_coeffs, p->voxel, failure) &&
	       bind_list(fit, "PHI.fiber", PMG_I32, p->n_coeffs, p->fiber, failure) &&
	       bind_list(fit, "PHI.value", PMG_F64, p->n_coeffs, p->value, failure) &&
	       bind_matrix(fit, "D", p->n_atoms, p->n_theta, p->D, failure) &&
	       bind_places(fit, failure) &&
	       (fit->options.n_signals ? bind_signals(fit, failure) : bind_y(fit, failure)) &&
	       bind_number(fit, "maxIter", (double) fit->options.iterations, failure) &&
	       bind_number(fit, "preconditioned", !fit->options.is_plain, failure) &&
	       session_bind(&fit->session, &none, 0, failure);
}

/* ---- Outputs ---------------------------------------------------------------------------------- */

static const struct ndarray *output(const struct fit *fit, const char *name)
{
	const struct session *s = &fit->session;
	for (int i = 0; i < s->arguments.n; i++)
		if (strcmp(s->arguments.items[i].array->name, name) == 0)
			return &fit->results.arrays[i];
	return NULL;
}

int64_t fit_rows(const struct fit *fit)
{
	return fit->options.n_signals ? fit->options.n_signals : 1;
}

double fit_objective(const struct fit *fit, int64_t signal)
{
	return ndarray_real(output(fit, "reached"), signal);
}

static double sum_of_objectives(const struct fit *fit)
{
	double sum = 0;
	for (int64_t q = 0; q < fit_rows(fit); q++)
		sum += fit_objective(fit, q);
	return sum;
}

/* Of the signal that is the farthest from its optimum; before there are scales, of the largest. */
static void take_violation(struct fit *fit)
{
	const struct ndarray *violation = output(fit, "violation");
	double most = -1;
	for (int64_t q = 0; q < fit_rows(fit); q++) {
		double now = ndarray_real(violation, q), share = fit->scales[q] > 0 ? now / fit->scales[q] : now;
		if (share <= most)
			continue;
		most = share;
		fit->state.violation = now;
		fit->state.scale = fit->scales[q];
	}
}

static int64_t count_live(const struct fit *fit)
{
	int64_t live = 0;
	for (int64_t f = 0; f < fit_rows(fit) * fit->problem->n_fibers; f++)
		live += fit->w[f] > 0;
	return live;
}

/* The program: its text, and its name in messages. */
static const char *choose_program(struct fit *fit)
{
	const struct fit_options *options = &fit->options;
	fit->session.text = options->n_signals ? program_sbbnnls_signals :
			    options->penalty ? program_sbbnnls_l1 : program_sbbnnls;
	return options->n_signals ? "sbbnnls_signals.pmg" : options->penalty ? "sbbnnls_l1.pmg" : "sbbnnls.pmg";
}

static bool allocate(struct fit *fit, struct failure *failure)
{
	size_t rows = (size_t) fit_rows(fit);
	fit->w0 = calloc(rows * (size_t) fit->problem->n_fibers + 1, sizeof(double));
	fit->scales = calloc(rows, sizeof(double));
	fit->tolerances = calloc(rows, sizeof(double));
	return (fit->w0 && fit->scales && fit->tolerances) || fail_memory(failure, "the weights");
}

/* Options by which a state goes on otherwise than it began. Inputs, and whether there are penalties or several signals,
 * show without them. */
static const char *state_words(struct arena *arena, const struct fit_options *options)
{
	const char *signals = options->n_signals ? arena_printf(arena, " --tolerance=%g", options->tolerance) : "";
	return arena_printf(arena, "--%spreconditioner --precision=%s%s", options->is_plain ? "no-" : "",
			    options->precision ? options->precision : "f64", signals);
}

/* ---- Steps ------------------------------------------------------------------------------------- */

bool fit_open(struct fit *fit, struct arena *arena, const struct problem *problem, const struct fit_options *options,
	      struct failure *failure)
{
	struct session *s = &fit->session;
	pmg_options plan_options = { .threads = (int32_t) options->threads };
	*fit = (struct fit){ .problem = problem, .options = *options };
	*s = (struct session){ .arena = arena, .values = run_values_default() };
	s->building = arena_printf(arena, "compiling the solver for %lld directions, once, which takes some seconds",
				   (long long) problem->n_theta);
	s->values.threads = options->threads;
	s->values.cc = options->cc;
	s->values.target = options->target;
	s->values.nvcc = options->nvcc;
	s->values.arch = options->arch;
	s->values.state = options->state;
	s->values.resume = options->resume;
	s->values.state_words = state_words(arena, options);
	s->values.deterministic = options->is_deterministic;
	if (options->precision)
		s->values.with = arena_printf(arena, "precision D : %s", options->precision);
	bool ok = allocate(fit, failure) && session_open(s, choose_program(fit), failure) &&
		  bind_problem(fit, failure) &&
		  results_new(s, &fit->results, failure) &&
		  cache_load(s, &fit->results, &fit->execution, failure);
	if (!ok)
		return false;
	fit->w = output(fit, "w")->data;
	plan_options.context = fit->execution.context;
	fit->plan_bytes = pmg_plan_forecast_with(fit->execution.desc, fit->execution.args, &plan_options,
						 &fit->peak_bytes);
	return true;
}

bool fit_plan(struct fit *fit, struct failure *failure)
{
	return library_plan(&fit->execution, failure);
}

static bool step(struct fit *fit, pmg_control *control, struct failure *failure)
{
	struct fit_state *state = &fit->state;
	if (!library_step(&fit->execution, control, failure))
		return false;
	state->iteration = control->done;
	state->is_finished = control->finished;
	state->objective = sum_of_objectives(fit);
	take_violation(fit);
	state->live = count_live(fit);
	if (isfinite(state->objective) && isfinite(state->violation))
		return true;
	return fail(failure, OUTCOME_NUMERICAL,
		    "after %lld iterations the objective is %g, its gradient %g: the numbers of the problem are "
		    "too large",
		    (long long) state->iteration, state->objective, state->violation);
}

bool fit_save(struct fit *fit, struct failure *failure)
{
	return state_save(&fit->execution, failure);
}

/* By the violations, which are those for weights 0. */
static void set_tolerances(struct fit *fit)
{
	for (int64_t q = 0; q < fit_rows(fit); q++) {
		fit->scales[q] = ndarray_real(output(fit, "violation"), q);
		if (fit->options.tolerance > 0)
			fit->tolerances[q] = fmax(fit->options.tolerance * fit->scales[q], DBL_MIN);
	}
	if (fit->options.n_signals == 0)
		library_set_scalar(&fit->execution, "tolGradient", fit->tolerances[0]);
}

/* From the state in a file. */
static bool go_on(struct fit *fit, struct failure *failure)
{
	pmg_control control = { .budget = 0, .resume = true };
	if (state_load(&fit->execution, failure))
		return step(fit, &control, failure);
	if (failure->outcome == OUTCOME_DATA)
		fail_help(failure,
			  "a state is WEIGHTS.state, or what --state named; --start, --l1, --penalty and --signals "
			  "have to be as they were, --iterations not less");
	return false;
}

bool fit_begin(struct fit *fit, struct failure *failure)
{
	pmg_control control = { .budget = 0 };
	const double *start = fit->options.start;
	if (!step(fit, &control, failure))
		return false;
	set_tolerances(fit);
	for (int64_t q = 0; start && q < fit_rows(fit); q++)
		memcpy(fit->w0 + q * fit->problem->n_fibers, start, (size_t) fit->problem->n_fibers * sizeof(double));
	if (fit->options.resume)
		return go_on(fit, failure);
	control = (pmg_control){ .budget = 0 };
	return step(fit, &control, failure);
}

bool fit_iterate(struct fit *fit, struct failure *failure)
{
	pmg_control control = { .budget = fit->options.steps, .check_every = fit->options.steps,
				.resume = true, .same_buffers = true };
	return step(fit, &control, failure);
}

void fit_close(struct fit *fit)
{
	library_close(&fit->execution);
	results_free(&fit->session, &fit->results);
	session_free(&fit->session);
	free(fit->w0);
	free(fit->scales);
	free(fit->tolerances);
}
