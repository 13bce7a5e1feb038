/* SPDX-License-Identifier: MIT
 *
 * `pmg life fit --history`: a row of numbers for each iteration, which a run that is gone on from has begun. */
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "life/fitting.h"

void fit_add_history(struct fitting *f)
{
	const struct fit_state *state = &f->fit.state;
	if (!f->history)
		return;
	fprintf(f->history, "%" PRId64 ",%.17g,%.17g,%" PRId64 ",%.6f", state->iteration, state->objective,
		state->violation, state->live, f->earlier + clock_now() - f->started);
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

bool fit_begin_history(struct fitting *f, struct failure *failure)
{
	f->started = f->told = f->saved = clock_now();
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
	fit_add_history(f);
	return true;
}

bool fit_close_history(struct fitting *f, struct failure *failure)
{
	bool is_good = !f->history || !ferror(f->history);
	if (f->history && fclose(f->history) != 0)
		is_good = false;
	f->history = NULL;
	return is_good || fail_file(failure, f->values->history, "cannot write:");
}
