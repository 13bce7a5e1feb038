/* SPDX-License-Identifier: MIT
 *
 * Generated code against the interpreter. Sums may be added in another order, so a result may differ by as much as
 * n * eps times the magnitude that the interpreter has recorded: of a sum that of |terms| (Higham 2002, section 4.2),
 * of what is computed from others what their errors come to (ir/interp_magnitude.c). The number n of terms is that of
 * the elements of the largest argument, at least 64. Where an output is not the target of an accumulation, its own
 * largest absolute value counts, too. eps is that of single precision also for what is computed from values, or sums,
 * of that.
 * Integers must be equal. */
#include "run/run.h"

#include <math.h>
#include <string.h>

#define LEAST_TERMS 64

struct difference {
	double absolute, relative, ulp, share; /* the largest of each; share: of the bound */
	int64_t worst;                         /* where the share is largest */
	bool differs_in_kind;                  /* NaN or infinity on one side only */
};

static double eps_of(pmg_type type)
{
	return type == PMG_F64 ? 0x1p-52 : type == PMG_F32 ? 0x1p-23 : 0;
}

static double terms(const struct session *s)
{
	int64_t most = LEAST_TERMS;
	for (int i = 0; i < s->arguments.n; i++) {
		const struct ndarray *value = &s->arguments.items[i].value;
		int64_t n = value->data ? ndarray_count(value) : 0;
		most = n > most ? n : most;
	}
	return (double) most;
}

static double largest(const struct ndarray *array)
{
	struct summary s = ndarray_summary(array);
	return s.min <= s.max ? fmax(fabs(s.min), fabs(s.max)) : 0;
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
	if (is_same(value, reference))
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

/* Of which type the sums are, says `sums`. */
static struct difference compare_arrays(const struct ndarray *value, const struct ndarray *reference, pmg_type sums,
					const double *magnitude, double whole, double n_terms)
{
	struct difference d = { 0 };
	double eps = n_terms * eps_of(sums);
	int64_t n = ndarray_count(value);
	for (int64_t i = 0; i < n; i++)
		add_difference(&d, value->type, i, ndarray_real(value, i), ndarray_real(reference, i),
			       eps * fmax(magnitude ? magnitude[i] : 0, whole));
	return d;
}

static bool judge(const char *name, const struct ndarray *value, const struct ndarray *reference,
		  const struct difference *d, struct failure *failure)
{
	char place[200];
	printf("%-12s %14.3g %14.3g %14.3g %14.3g\n", name, d->absolute, d->relative, d->ulp, d->share);
	if (!d->differs_in_kind && d->share <= 1)
		return true;
	return fail(failure, OUTCOME_NUMERICAL,
		    "%s%s is %.17g, but %.17g by the interpreter: more than rounding explains", name,
		    position_text(value, d->worst, place, sizeof(place)), ndarray_real(value, d->worst),
		    ndarray_real(reference, d->worst));
}

bool results_compare(struct session *s, const struct results *results, const struct results *reference,
		     double *const *magnitude, struct failure *failure)
{
	const bool *is_single = module_singles(s->module);
	double n_terms = terms(s);
	bool ok = true;
	printf("%-12s %14s %14s %14s %14s\n", "difference", "absolute", "relative", "ulp", "of the bound");
	for (int i = 0; i < s->arguments.n; i++) {
		const struct array *array = s->arguments.items[i].array;
		if (!argument_is_written(&s->arguments.items[i]))
			continue;
		bool is_summed = module_op_of_updates(s->module, array) != REDUCE_SET;
		double whole = is_summed ? 0 : largest(&reference->arrays[i]);
		struct difference d = compare_arrays(&results->arrays[i], &reference->arrays[i],
						     is_single[array->number] && results->arrays[i].type == PMG_F64
							     ? PMG_F32
							     : results->arrays[i].type,
						     magnitude[i], whole, n_terms);
		ok = judge(array->name, &results->arrays[i], &reference->arrays[i], &d, failure) && ok;
	}
	return ok;
}
