/* SPDX-License-Identifier: MIT
 *
 * Which differences rounding explains. The program as written is run again: in extended precision, then in its own
 * arithmetic, then a few times with roundings moved at random (ir/interp/fine.c). How far these runs are from the first
 * one is the size of rounding errors, through recurrences, quotients, loops and decisions. A difference of up to SLACK
 * times the largest of these distances is explained, and so is any difference of a cell that is finite in one run and
 * not in another. Integers may differ by up to SLACK_OF_INTEGERS times the largest distance, which mostly is 0. */
#include "run/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SLACK = 32, SLACK_OF_INTEGERS = 2 };

struct rounding {
	struct session *s;
	struct module *module;          /* as no pass has seen it */
	struct results fine;
	struct interp_decisions decisions;      /* of the run in extended precision */
	const struct interp_decision *undecided;        /* the first that another run takes otherwise */
	int n_runs;
	bool has_fine;
};

/* ---- running again ---- */

static struct module *lower_again(struct compilation *c, const struct module *module)
{
	struct diags *diags = arena_new(&c->arena, struct diags);
	int first = c->others.n;

	diags->arena = &c->arena;
	diags->sources = &c->sources;
	compilation_lower_again(c, diags);
	for (int i = first; i < c->others.n; i++)
		if (!strcmp(c->others.items[i]->name, module->name))
			return c->others.items[i];
	return NULL;
}

struct rounding *rounding_new(struct session *s)
{
	struct rounding *r = arena_new(s->arena, struct rounding);

	r->s = s;
	r->module = lower_again(s->c, s->module);
	return r;
}

static void find_undecided(struct rounding *r, const struct interp_decisions *other)
{
	for (int i = 0; i < other->items.n && i < r->decisions.items.n && !r->undecided; i++) {
		const struct interp_decision *a = r->decisions.items.items[i], *b = other->items.items[i];

		if (a->n != b->n || a->sum != b->sum)
			r->undecided = a;
	}
}

static bool run_again(struct rounding *r, struct results *results, struct interp_decisions *decisions)
{
	struct interp_input how = {
		.arithmetic = r->n_runs == 0 ? INTERP_FINE : r->n_runs == 1 ? INTERP_PLAIN : INTERP_SHAKEN,
		.seed = (uint64_t) r->n_runs,
		.decisions = decisions,
	};
	struct failure failure = { 0 };

	r->n_runs++;
	return results_new(r->s, results, &failure) && !interpreter_run_again(r->s, r->module, results, &how);
}

/* ---- bounds ---- */

static void raise_bounds(double *bounds, const struct ndarray *a, const struct ndarray *fine)
{
	const double slack = type_holds_integers(a->type) ? SLACK_OF_INTEGERS : SLACK;

	for (int64_t i = 0, n = ndarray_count(a); i < n; i++) {
		const double x = ndarray_real(a, i), y = ndarray_real(fine, i);

		if (x == y || (isnan(x) && isnan(y)))
			continue;
		bounds[i] = isfinite(x) && isfinite(y) ? fmax(bounds[i], slack * fabs(x - y)) : INFINITY;
	}
}

static void raise_all(const struct rounding *r, const struct results *results, double **bounds)
{
	for (int i = 0; i < r->s->arguments.n; i++)
		if (bounds[i])
			raise_bounds(bounds[i], &results->arrays[i], &r->fine.arrays[i]);
}

static bool run_fine(struct rounding *r, const struct results *reference, double **bounds)
{
	r->has_fine = run_again(r, &r->fine, &r->decisions);
	if (r->has_fine)
		raise_all(r, reference, bounds);
	return r->has_fine;
}

bool rounding_raise(struct rounding *r, const struct results *reference, double **bounds)
{
	struct interp_decisions decisions = { { 0 } };
	struct results results = { 0 };

	if (!r->module || r->n_runs == ROUNDING_MOST_RUNS || (r->n_runs && !r->has_fine))
		return false;
	if (!r->n_runs)
		return run_fine(r, reference, bounds);
	if (run_again(r, &results, &decisions)) {
		raise_all(r, &results, bounds);
		find_undecided(r, &decisions);
	}
	results_free(r->s, &results);
	return true;
}

/* ---- telling ---- */

const struct ndarray *rounding_fine(const struct rounding *r, int argument)
{
	return r && r->has_fine ? &r->fine.arrays[argument] : NULL;
}

/* Of cells that are finite in both. */
static double largest_difference(const struct ndarray *a, const struct ndarray *b)
{
	double largest = 0;

	for (int64_t i = 0, n = ndarray_count(a); i < n; i++) {
		const double x = ndarray_real(a, i), y = ndarray_real(b, i);

		if (isfinite(x) && isfinite(y))
			largest = fmax(largest, fabs(x - y));
	}
	return largest;
}

void rounding_print(const struct rounding *r, int argument, const struct ndarray *value,
		    const struct ndarray *reference)
{
	const struct ndarray *fine = rounding_fine(r, argument);
	double of_value, of_reference;

	if (!fine)
		return;
	of_value = largest_difference(value, fine);
	of_reference = largest_difference(reference, fine);
	printf("%s: a run in extended precision differs by %.3g at most from what was compiled, by %.3g from the "
	       "interpreter: %s\n", r->s->arguments.items[argument].array->name, of_value, of_reference,
	       of_value < of_reference ? "what was compiled is nearer"
	       : of_value > of_reference ? "the interpreter is nearer" : "both are equally near");
}

void rounding_print_undecided(const struct rounding *r)
{
	if (r && r->undecided)
		printf("rounding decides the condition or conversion at %s: what follows from it may be either\n",
		       span_place(&r->s->c->sources, r->s->arena, r->undecided->span));
}

bool rounding_has_undecided(const struct rounding *r)
{
	return r->undecided;
}

void rounding_free(struct rounding *r)
{
	if (r)
		results_free(r->s, &r->fine);
}
