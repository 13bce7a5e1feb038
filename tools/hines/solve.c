/* SPDX-License-Identifier: MIT
 *
 * Solving cells: the pipeline hines_forest of dsl_examples/hines.pmg, compiled once and kept. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hines/cells.h"
#include "life/programs.h"
#include "run/run.h"

static bool bind_list(struct session *s, const char *name, pmg_type type, int64_t n, void *data,
		      struct failure *failure)
{
	const struct ndarray array = { .type = type, .rank = 1, .shape = { n }, .data = data };
	return bind_memory(s, name, &array, failure);
}

static bool bind_forest(struct session *s, const struct forest *f, struct failure *failure)
{
	word_list none = { 0 };
	const struct cell *all = &f->all;
	return bind_list(s, "F.offset", PMG_I64, f->n + 1, f->offset, failure) &&
	       bind_list(s, "F.parent", PMG_I32, all->n, all->parent, failure) &&
	       bind_list(s, "upper", PMG_F64, all->n, all->upper, failure) &&
	       bind_list(s, "lower", PMG_F64, all->n, all->lower, failure) &&
	       bind_list(s, "diag", PMG_F64, all->n, all->diag, failure) &&
	       bind_list(s, "rhs", PMG_F64, all->n, all->rhs, failure) && session_bind(s, &none, 0, failure);
}

static void take_result(const struct session *s, const struct results *results, int64_t n, double *x)
{
	for (int i = 0; i < s->arguments.n; i++)
		if (argument_is_written(&s->arguments.items[i]))
			memcpy(x, results->arrays[i].data, (size_t) n * sizeof(*x));
}

/* Solves several times, at least once, and tells the shortest: the first time, nothing is in the caches. */
static bool solve_often(struct execution *execution, double *seconds, struct failure *failure)
{
	enum { TIMES = 20 };
	const double enough = 0.05;
	double each, sum = 0;
	*seconds = INFINITY;
	for (int i = 0; i < TIMES && sum < enough; i++, sum += each) {
		if (!library_execute(execution, &each, failure))
			return false;
		*seconds = fmin(*seconds, each);
	}
	return true;
}

bool forest_solve(struct arena *arena, const struct forest *forest, int64_t threads, const char *cc,
		  double *x, double *seconds, struct failure *failure)
{
	struct session s = { .arena = arena, .text = program_hines, .values = run_values_default() };
	struct results results = { 0 };
	struct execution execution = { 0 };
	s.values.pipeline = "hines_forest";
	/* A thread takes whole trees: more of them would only be waited for. */
	s.values.threads = threads > forest->n && forest->n > 0 ? forest->n : threads;
	s.values.cc = cc;
	bool ok = session_open(&s, "hines.pmg", failure) && bind_forest(&s, forest, failure) &&
		  results_new(&s, &results, failure) && cache_load(&s, &results, &execution, failure) &&
		  library_plan(&execution, failure) && solve_often(&execution, seconds, failure);
	if (ok)
		take_result(&s, &results, forest->all.n, x);
	library_close(&execution);
	results_free(&s, &results);
	session_free(&s);
	return ok;
}

double forest_backward_error(const struct forest *forest, const double *x)
{
	const struct cell *a = &forest->all;
	double worst = 0, *residual = calloc((size_t) a->n + 1, sizeof(double));
	double *size = calloc((size_t) a->n + 1, sizeof(double));
	for (int64_t s = 0; residual && size && s < forest->n; s++)
		for (int64_t i = forest->offset[s]; i < forest->offset[s + 1]; i++) {
			int64_t parent = a->parent[i] < 0 ? -1 : forest->offset[s] + a->parent[i];
			residual[i] += a->diag[i] * x[i] - a->rhs[i];
			size[i] += fabs(a->diag[i] * x[i]) + fabs(a->rhs[i]);
			if (parent < 0)
				continue;
			residual[i] += a->lower[i] * x[parent];
			size[i] += fabs(a->lower[i] * x[parent]);
			residual[parent] += a->upper[i] * x[i];
			size[parent] += fabs(a->upper[i] * x[i]);
		}
	for (int64_t i = 0; residual && size && i < a->n; i++)
		if (!isfinite(residual[i]))
			worst = INFINITY;
		else if (fabs(residual[i]) > worst * size[i])
			worst = fabs(residual[i]) / size[i];
	bool ok = residual && size;
	free(residual);
	free(size);
	return ok ? worst : NAN;
}
