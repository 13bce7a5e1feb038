/* SPDX-License-Identifier: MIT
 *
 * The solver of `pmg life fit`: the program sbbnnls or, with penalties or several signals, a variant, compiled as
 * `pmg run` does, in the loop of its plan. One call of fit_iterate is one iteration, or as many as are asked for, after
 * which all outputs are as if the program had ended there. On a GPU everything stays where it is meanwhile, but for the
 * weights. */
#ifndef TOOLS_LIFE_FIT_H
#define TOOLS_LIFE_FIT_H

#include "life/connectome.h"
#include "run/run.h"

struct fit_options {
	int64_t iterations, threads; /* threads 0: OpenMP's default */
	int64_t steps;               /* iterations of one call of fit_iterate, at most */
	double tolerance;            /* of the violation, relative to its value for weights of 0 */
	bool is_plain;               /* no preconditioner */
	bool is_deterministic;
	const char *precision, *cc;  /* of D: f64, f64top, f32; NULL: the default */
	const char *target, *nvcc, *arch; /* as in struct run_values */
	const char *state, *resume;  /* where fit_save writes; from where fit_begin goes on, NULL: from the start */
	const double *start;         /* [n_fibers]; NULL: 0 */
	double *penalty;             /* [n_fibers]: what a weight adds to the objective, times it; NULL: nothing */
	double *signals;             /* [n_signals, n_voxels, n_theta], instead of y; NULL: y */
	int64_t n_signals;           /* 0: y */
};

/* What holds after an iteration. Of several signals, objectives are added, and the violation is that of the signal
 * that is the farthest from its optimum. */
struct fit_state {
	int64_t iteration, live; /* complete since the start; weights above 0 */
	double objective, violation, scale; /* half the sum of squares; largest projected gradient, now and for 0 */
	bool is_finished;
};

struct fit {
	const struct problem *problem;
	struct fit_options options;
	struct session session;
	struct results results;
	struct execution execution;
	double *w0;
	const double *w;         /* [n_fibers], or [n_signals, n_fibers] */
	double *scales;          /* violations of each signal for weights 0 */
	double *tolerances;      /* of several signals */
	int64_t plan_bytes, peak_bytes; /* forecast */
	struct fit_state state;
};

/* Compiles and forecasts; then makes the plan; then goes to the start. Closed by the caller in any case. */
bool fit_open(struct fit *fit, struct arena *arena, const struct problem *problem, const struct fit_options *options,
	      struct failure *failure);
bool fit_plan(struct fit *fit, struct failure *failure);
bool fit_begin(struct fit *fit, struct failure *failure);
bool fit_iterate(struct fit *fit, struct failure *failure);
int64_t fit_rows(const struct fit *fit);  /* signals, 1 if it is y */
double fit_objective(const struct fit *fit, int64_t signal);
bool fit_save(struct fit *fit, struct failure *failure);
void fit_close(struct fit *fit);

#endif
