/* SPDX-License-Identifier: MIT
 *
 * What `pmg life fit` is asked for: options that fit together, files that can be read and written, and the arrays that
 * they hold. */
#include <stdlib.h>
#include <string.h>

#include "life/fitting.h"

enum { STEPS_OF_DEVICE = 16 };

bool fit_is_on_device(const struct fit_values *values)
{
	return strcmp(values->target, "openmp") != 0;
}

const char *fit_state_file(struct fitting *f, const struct location *target)
{
	return f->values->state ? f->values->state : arena_printf(f->arena, "%s.state", target->path);
}

bool fit_read_options(struct fitting *f, struct fit_options *options, struct failure *failure)
{
	static const char *const precisions[] = { "f64", "f64top", "f32", NULL };
	const struct fit_values *v = f->values;
	const char *of_device = v->nvcc ? "nvcc" : "arch";
	if (v->is_deterministic && v->is_by_threads)
		return fail(failure, OUTCOME_USAGE, "--deterministic and --no-deterministic exclude each other");
	if (!fit_is_on_device(v) && (v->nvcc || v->arch))
		return fail(failure, OUTCOME_USAGE, "--%s is of --target=cuda, which is not given", of_device);
	*options = (struct fit_options){ .iterations = v->iterations, .threads = v->threads, .tolerance = 1e-6,
					 .is_plain = v->is_plain,
					 .is_deterministic = v->is_deterministic ||
							     (!v->is_by_threads && !fit_is_on_device(v)),
					 .cc = v->cc, .resume = v->resume, .steps = v->steps,
					 .target = v->target, .nvcc = v->nvcc, .arch = v->arch };
	if (!options->steps)
		options->steps = fit_is_on_device(v) ? STEPS_OF_DEVICE : 1;
	if (v->precision && take_word("precision", v->precision, precisions, failure) < 0)
		return false;
	options->precision = v->precision && strcmp(v->precision, "f64") != 0 ? v->precision : NULL;
	return take_real("tolerance", v->tolerance, &options->tolerance, failure) &&
	       take_memory(v->max_memory, &f->max_memory, failure);
}

/* LAMBDA for each fiber, times its factor in a file; the caller frees it. */
bool fit_read_penalty(struct fitting *f, struct fit_options *options, struct failure *failure)
{
	const struct fit_values *v = f->values;
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

bool fit_read_signals(struct fitting *f, struct fit_options *options, struct failure *failure)
{
	const struct fit_values *v = f->values;
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

bool fit_check_files(struct fitting *f, const char *state, struct failure *failure)
{
	const struct fit_values *v = f->values;
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
