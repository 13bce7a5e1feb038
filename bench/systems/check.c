/* SPDX-License-Identifier: MIT
 *
 * No time counts without a right result. Two questions: how far is x from what elimination in long double gives, and
 * of how nearly the given system is it the solution: max |A x - b|_i / (|A| |x| + |b|)_i (Higham 2002, theorem 7.3),
 * which may be 10 eps for diagonally dominant systems, and 50 for each level of algorithms that have levels. */
#include "systems/systems.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_EPS = 10, LEVEL_EPS = 50 };

struct error {
	double distance, size;  /* largest |x - reference| and |reference| */
	double backward;
};

/* One system, in long double where it is wanted. */
struct reference {
	const struct system_batch *batch;
	int64_t at, own, n;
	const int32_t *parent;  /* NULL: a chain */
	const void *x;
	long double *diag, *solution, *residual, *magnitude;
};

static long double value_of(const struct system_batch *b, const void *values, int64_t i)
{
	return b->is_single ? ((const float *) values)[i] : ((const double *) values)[i];
}

/* The row above in the tree; a chain is a tree whose root is the first row. */
static int64_t above(const struct reference *r, int64_t i)
{
	return r->parent ? r->parent[i] : i - 1;
}

/* Of row i and its parent: the coefficient in the row of the parent, and that in its own. */
static long double upper_of(const struct reference *r, int64_t i)
{
	return value_of(r->batch, r->batch->upper, r->own + (r->parent ? i : i - 1));
}

static long double lower_of(const struct reference *r, int64_t i)
{
	return value_of(r->batch, r->batch->lower, r->own + i);
}

static void eliminate(struct reference *r)
{
	for (int64_t i = 0; i < r->n; i++) {
		r->diag[i] = value_of(r->batch, r->batch->diag, r->at + i);
		r->solution[i] = value_of(r->batch, r->batch->rhs, r->at + i);
	}
	for (int64_t i = r->n - 1; i >= 0; i--) {
		int64_t parent = above(r, i);
		if (parent < 0)
			continue;
		long double factor = upper_of(r, i) / r->diag[i];
		r->diag[parent] -= factor * lower_of(r, i);
		r->solution[parent] -= factor * r->solution[i];
	}
	for (int64_t i = 0; i < r->n; i++) {
		int64_t parent = above(r, i);
		long double known = parent >= 0 ? lower_of(r, i) * r->solution[parent] : 0;
		r->solution[i] = (r->solution[i] - known) / r->diag[i];
	}
}

static void add_term(struct reference *r, int64_t row, long double term)
{
	r->residual[row] += term;
	r->magnitude[row] += fabsl(term);
}

static void find_residual(struct reference *r)
{
	for (int64_t i = 0; i < r->n; i++)
		r->residual[i] = r->magnitude[i] = 0;
	for (int64_t i = 0; i < r->n; i++) {
		long double x = value_of(r->batch, r->x, r->at + i);
		int64_t parent = above(r, i);
		add_term(r, i, -value_of(r->batch, r->batch->rhs, r->at + i));
		add_term(r, i, value_of(r->batch, r->batch->diag, r->at + i) * x);
		if (parent < 0)
			continue;
		add_term(r, i, lower_of(r, i) * value_of(r->batch, r->x, r->at + parent));
		add_term(r, parent, upper_of(r, i) * x);
	}
}

/* NaN counts as an error. */
static void raise(double *most, double value)
{
	if (!(value <= *most))
		*most = value;
}

static void check_system(struct reference *r, int64_t s, struct error *error)
{
	const struct system_batch *b = r->batch;
	r->at = b->offset[s];
	r->n = b->offset[s + 1] - r->at;
	r->own = b->is_shared ? 0 : r->at;
	r->parent = b->is_chain ? NULL : b->parent + (b->has_one_tree ? 0 : r->at);
	eliminate(r);
	find_residual(r);
	for (int64_t i = 0; i < r->n; i++) {
		double distance = (double) fabsl(value_of(b, r->x, r->at + i) - r->solution[i]);
		raise(&error->distance, distance);
		raise(&error->size, (double) fabsl(r->solution[i]));
		raise(&error->backward,
		      r->magnitude[i] > 0 ? (double) (fabsl(r->residual[i]) / r->magnitude[i]) : distance);
	}
}

static bool measure_errors(const struct system_batch *batch, const void *x, struct error *error)
{
	bool ok = true;
#pragma omp parallel
	{
		struct error own = { 0 };
		long double *memory = malloc((4 * (size_t) batch->n + 4) * sizeof(*memory));
		struct reference r = { .batch = batch, .x = x, .diag = memory };
		if (memory) {
			r.solution = memory + batch->n;
			r.residual = r.solution + batch->n;
			r.magnitude = r.residual + batch->n;
		}
#pragma omp for schedule(static)
		for (int64_t s = 0; s < batch->n_systems; s++)
			if (memory)
				check_system(&r, s, &own);
#pragma omp critical
		{
			ok = ok && memory;
			raise(&error->distance, own.distance);
			raise(&error->size, own.size);
			raise(&error->backward, own.backward);
		}
		free(memory);
	}
	return ok;
}

/* What is shorter than a millisecond is run several times at once. */
static bool set_repeats(struct systems_row *row, struct failure *failure)
{
	double seconds;
	if (!row->row.run(row->row.state, &seconds, failure))
		return false;
	row->row.repeats = seconds < 1e-5 ? 100 : (int) (1e-3 / seconds);
	return true;
}

/* Runs it once, into row->out. */
static bool make_result(const struct systems_values *values, struct systems_row *row, struct failure *failure)
{
	const struct system_batch *batch = &row->problem->batch;
	double seconds;
	if (systems_is_on_gpu(values))
		return systems_gpu_result(values, row, failure);
	if (!row->is_generated)
		memset(row->out, 0, (size_t) batch->n_rows * (batch->is_single ? 4 : 8));
	if (!row->row.run(row->row.state, &seconds, failure))
		return false;
	if (row->is_generated)
		return systems_generated_fetch(row, failure);
	system_call_fetch(&row->call, row->out);
	return true;
}

bool systems_check(const struct systems_values *values, struct systems_row *row, struct failure *failure)
{
	const struct system_batch *batch = &row->problem->batch;
	struct record *record = &row->row.record;
	struct error error = { 0 };
	double eps = batch->is_single ? FLT_EPSILON / 2 : DBL_EPSILON / 2;
	bool is_on_gpu = systems_is_on_gpu(values);
	if (row->is_stream || row->is_copy || (row->call.version && row->call.version->code == SYSTEM_MOVED))
		return is_on_gpu || set_repeats(row, failure);
	if (!make_result(values, row, failure))
		return false;
	if (!measure_errors(batch, row->out, &error))
		return fail_memory(failure, "the reference");
	record->error = error.distance / error.size;
	record->bound = error.backward / (MOST_EPS * eps);
	if (row->is_foreign || record->bound <= 1 || MOST_EPS * record->bound <= (double) (LEVEL_EPS * row->levels))
		return is_on_gpu || set_repeats(row, failure);
	return fail(failure, OUTCOME_NUMERICAL, "%s: the result of %s is wrong: its backward error is %.3g eps",
		    row->problem->name, record->version, error.backward / eps);
}
