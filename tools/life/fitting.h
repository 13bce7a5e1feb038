/* SPDX-License-Identifier: MIT
 *
 * The command `pmg life fit`, in parts: what is asked for (fit_request.c), what is said (fit_told.c), the history
 * (fit_history.c), and the loop (fit_command.c) around the solver of fit.h. */
#ifndef TOOLS_LIFE_FITTING_H
#define TOOLS_LIFE_FITTING_H

#include <stdio.h>

#include "life/fit.h"

struct fit_values {
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
	const struct fit_values *values;
	FILE *history;          /* NULL: none is asked for */
	double started, told;   /* when the loop began, when it was told last */
	double saved;           /* when its state was */
	double earlier;         /* seconds of the run that is gone on from */
	bool is_saved;
	bool is_forecast;       /* the time has been told */
	int64_t first;          /* iterations that were complete then */
	int64_t max_memory;
};

/* ---- What is asked for. Penalties and signals are the caller's to free ---- */

bool fit_is_on_device(const struct fit_values *values);
const char *fit_state_file(struct fitting *f, const struct location *target);
bool fit_check_files(struct fitting *f, const char *state, struct failure *failure);
bool fit_read_options(struct fitting *f, struct fit_options *options, struct failure *failure);
bool fit_read_penalty(struct fitting *f, struct fit_options *options, struct failure *failure);
bool fit_read_signals(struct fitting *f, struct fit_options *options, struct failure *failure);

/* ---- What is said. The forecast fails where more memory is needed than is allowed ---- */

bool fit_is_at_optimum(const struct fitting *f);
bool fit_tell_forecast(const struct fitting *f, struct failure *failure);
void fit_tell_hopeless(const struct fitting *f);
void fit_tell_time(struct fitting *f);
void fit_tell_progress(struct fitting *f);
void fit_tell_end(const struct fitting *f);
void fit_tell_device(const struct fitting *f);

/* ---- The history. Opened by the first, written and closed, if there is one, by the others ---- */

bool fit_begin_history(struct fitting *f, struct failure *failure);
void fit_add_history(struct fitting *f);
bool fit_close_history(struct fitting *f, struct failure *failure);

#endif
