/* SPDX-License-Identifier: MIT
 *
 * Generated code against the interpreter. Sums may be added in another order, so a result may differ by as much as
 * n * eps times the magnitude that the interpreter has recorded for the cell: of a sum that of |terms| (Higham 2002,
 * section 4.2), of what is computed from others what their errors come to (ir/interp/magnitude.c). n is the number of
 * operations recorded there, and LEAST_TERMS more. eps is that of single precision also for what is computed from
 * values, or sums, of that. Recurrences and loops count as exact there; where a difference exceeds this bound, further
 * runs tell what errors come to (rounding.c).
 * Integers must be equal, but where rounding decides what they are. */
#include "run/compare.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { LEAST_TERMS = 64 };

/* A difference that four runs do not come near is not of rounding. */
enum { RUNS_THAT_TELL = 4, FAR_SHARE = 1000 };

struct difference {
	double absolute, relative, ulp, share; /* the largest of each; share: of the bound */
	int64_t worst;                         /* where the share is largest */
	bool differs_in_kind;                  /* NaN or infinity on one side only */
};

static double eps_of(pmg_type type)
{
	return type == PMG_F64 ? 0x1p-52 : type == PMG_F32 ? 0x1p-23 : 0;
}

/* The distance between neighbours of the type at x. */
static double spacing(pmg_type type, double x)
{
	double magnitude = fabs(x);
	if (type == PMG_F32)
		return (double) (nextafterf((float) magnitude, INFINITY) - (float) magnitude);
	return nextafter(magnitude, INFINITY) - magnitude;
}

static bool is_same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static void add_difference(struct difference *d, pmg_type type, int64_t i, double value, double reference,
			   double bound)
{
	if (is_same(value, reference) || bound == INFINITY)
		return;
	if (!isfinite(value) || !isfinite(reference)) {
		d->worst = d->differs_in_kind ? d->worst : i;
		d->differs_in_kind = true;
		return;
	}
	double absolute = fabs(value - reference), share = bound > 0 ? absolute / bound : INFINITY;
	d->absolute = fmax(d->absolute, absolute);
	d->relative = fmax(d->relative, reference != 0 ? absolute / fabs(reference) : INFINITY);
	if (!type_holds_integers(type))
		d->ulp = fmax(d->ulp, absolute / spacing(type, reference));
	if (share > d->share && !d->differs_in_kind)
		d->worst = i;
	d->share = fmax(d->share, share);
}

static struct difference compare_arrays(const struct ndarray *value, const struct ndarray *reference,
					const double *bounds)
{
	struct difference d = { 0 };
	int64_t n = ndarray_count(value);
	for (int64_t i = 0; i < n; i++)
		add_difference(&d, value->type, i, ndarray_real(value, i), ndarray_real(reference, i), bounds[i]);
	return d;
}

/* ---- Bounds -------------------------------------------------------------------------------------- */

/* Of which type the sums are, says `sums`. What is next to zero is rounded to multiples of its least value. */
static double *bounds_new(struct session *s, int64_t n, pmg_type sums, const struct interp_weight *weights)
{
	double *bounds = arena_new_array(s->arena, double, n);
	double eps = eps_of(sums), least = sums == PMG_F32 ? FLT_TRUE_MIN : DBL_TRUE_MIN;
	for (int64_t i = 0; weights && i < n; i++)
		bounds[i] = (LEAST_TERMS + weights[i].terms) * (eps * weights[i].magnitude + least);
	return bounds;
}

/* A magnitude beyond all numbers tells nothing. */
static void drop_infinite(double *bounds, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		bounds[i] = isfinite(bounds[i]) ? bounds[i] : 0;
}

static double **bounds_of(struct session *s, const struct results *results, struct interp_weight *const *weights)
{
	const bool *is_single = module_singles(s->module);
	double **bounds = arena_new_array(s->arena, double *, s->arguments.n + 1);
	for (int i = 0; i < s->arguments.n; i++) {
		const struct array *array = s->arguments.items[i].array;
		pmg_type type = results->arrays[i].type;
		int64_t n = ndarray_count(&results->arrays[i]);
		if (!argument_is_written(&s->arguments.items[i]))
			continue;
		bounds[i] = bounds_new(s, n, is_single[array->number] && type == PMG_F64 ? PMG_F32 : type, weights[i]);
		drop_infinite(bounds[i], n);
	}
	return bounds;
}

/* ---- Comparing ----------------------------------------------------------------------------------- */

struct comparison {
	struct session *s;
	const struct results *results, *reference;
	double **bounds;
	struct difference *differences;         /* by argument */
	struct rounding *rounding;              /* NULL: the first bounds suffice */
};

static bool is_explained(const struct difference *d)
{
	return !d->differs_in_kind && d->share <= 1;
}

static bool compare_all(struct comparison *c)
{
	bool ok = true;
	for (int i = 0; i < c->s->arguments.n; i++) {
		if (!c->bounds[i])
			continue;
		c->differences[i] = compare_arrays(&c->results->arrays[i], &c->reference->arrays[i], c->bounds[i]);
		ok = is_explained(&c->differences[i]) && ok;
	}
	return ok;
}

static bool is_hopeless(const struct comparison *c)
{
	double most = 0;
	for (int i = 0; i < c->s->arguments.n; i++)
		most = fmax(most, c->differences[i].share);
	return most > FAR_SHARE && !rounding_has_undecided(c->rounding);
}

static void explain_by_runs(struct comparison *c)
{
	bool ok = false;
	c->rounding = rounding_new(c->s);
	for (int n = 0; !ok && (n < RUNS_THAT_TELL || !is_hopeless(c)); n++) {
		if (!rounding_raise(c->rounding, c->reference, c->bounds))
			return;
		ok = compare_all(c);
	}
}

static bool judge(const struct comparison *c, int i, struct failure *failure)
{
	const struct difference *d = &c->differences[i];
	const struct ndarray *value = &c->results->arrays[i], *fine = rounding_fine(c->rounding, i);
	char place[200], extended[64] = "";
	if (is_explained(d))
		return true;
	if (fine)
		snprintf(extended, sizeof(extended), " and %.17g in extended precision", ndarray_real(fine, d->worst));
	return fail(failure, OUTCOME_NUMERICAL,
		    "%s%s is %.17g, but %.17g by the interpreter%s: more than rounding explains",
		    c->s->arguments.items[i].array->name, position_text(value, d->worst, place, sizeof(place)),
		    ndarray_real(value, d->worst), ndarray_real(&c->reference->arrays[i], d->worst), extended);
}

static void print_all(const struct comparison *c)
{
	printf("%-12s %14s %14s %14s %14s\n", "difference", "absolute", "relative", "ulp", "of the bound");
	for (int i = 0; i < c->s->arguments.n; i++) {
		const struct difference *d = &c->differences[i];
		if (c->bounds[i])
			printf("%-12s %14.3g %14.3g %14.3g %14.3g\n", c->s->arguments.items[i].array->name,
			       d->absolute, d->relative, d->ulp, d->share);
	}
	for (int i = 0; i < c->s->arguments.n; i++)
		if (c->bounds[i] && c->differences[i].absolute > 0)
			rounding_print(c->rounding, i, &c->results->arrays[i], &c->reference->arrays[i]);
	rounding_print_undecided(c->rounding);
}

bool results_compare(struct session *s, const struct results *results, const struct results *reference,
		     struct interp_weight *const *weights, struct failure *failure)
{
	struct comparison c = { .s = s, .results = results, .reference = reference,
				.bounds = bounds_of(s, results, weights),
				.differences = arena_new_array(s->arena, struct difference, s->arguments.n + 1) };
	bool ok = true;
	if (!compare_all(&c))
		explain_by_runs(&c);
	print_all(&c);
	for (int i = 0; i < s->arguments.n && ok; i++)
		ok = !c.bounds[i] || judge(&c, i, failure);
	rounding_free(c.rounding);
	return ok;
}
