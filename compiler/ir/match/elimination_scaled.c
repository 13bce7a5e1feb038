/* SPDX-License-Identifier: MIT
 *
 * Elimination whose rows are divided by their pivots at once:
 *
 *     u[i] = upper[i]/(diag[i] - lower[i] u[i-1])
 *     z[i] = (rhs[i] - lower[i] z[i-1])/(diag[i] - lower[i] u[i-1])
 *     x[i] = z[i] - u[i] x[i+1]
 *
 * The pivots are what both divide by; u is taken for their recurrence. */
#include "ir/match/elimination_private.h"

bool match_is_scaled(struct match *m)
{
	const struct stage *step = m->solution.step;
	term_list terms = terms_of(m->arena, m->solution.step->value, m->solution.array);
	struct array *reduced, *coupling;

	if (!terms_split(&terms, m->solution.array) || terms.items[0].is_negative || !terms.items[1].is_negative ||
	    terms.items[0].under.n || terms.items[1].under.n)
		return false;
	reduced = factor_here(&terms.items[0].over, step);
	if (!reduced || !factors_take_read(&terms.items[1].over, m->solution.array))
		return false;
	coupling = factor_here(&terms.items[1].over, step);
	return coupling && sweep_find(m->module, reduced, &m->reduced) &&
	       sweep_find(m->module, coupling, &m->pivot);
}

/* Takes the factor out of the list; false: it is not there. */
static bool take_factor(factor_list *factors, const struct expr *factor)
{
	for (int i = 0; i < factors->n; i++)
		if (expr_same(factors->items[i], factor)) {
			factors->items[i] = factors->items[--factors->n];
			return true;
		}
	return false;
}

/* u = upper/(diag - lower*u'); what it is divided by. NULL after a problem. */
static struct expr *match_coupling(struct match *m)
{
	const struct sweep *sweep = &m->pivot;
	term_list terms = terms_of(m->arena, m->pivot.step->value, sweep->array);
	struct expr *pivot = terms.n == 1 && terms.items[0].under.n == 1 ? terms.items[0].under.items[0] : NULL;

	if (!pivot || !expr_reads_array(pivot, sweep->array))
		return match_fail(m, "'%s' is not divided by a pivot with its value of the row before",
				  sweep->array->name), NULL;
	m->upper = terms.items[0];
	m->upper.under.n = 0;
	m->diag = terms_of(m->arena, pivot, sweep->array);
	if (!terms_take(&m->diag, sweep->array, &m->lower) ||
	    !match_is_before(m, factors_take_read(&m->lower.over, sweep->array), sweep->step))
		return match_fail(m, "the pivots of '%s' do not take its value of the row before once",
				  sweep->array->name), NULL;
	m->lower.is_negative = !m->lower.is_negative;
	return pivot;
}

/* z = (rhs - lower*z')/pivot */
static bool match_reduced(struct match *m, const struct expr *pivot)
{
	const struct sweep *sweep = &m->reduced;
	struct term lower;

	m->rhs = terms_of(m->arena, m->reduced.step->value, sweep->array);
	for (int i = 0; i < m->rhs.n; i++)
		if (!take_factor(&m->rhs.items[i].under, pivot))
			return match_fail(m, "'%s' is not divided by the pivot of '%s'", sweep->array->name,
					  m->pivot.array->name);
	if (!terms_take(&m->rhs, sweep->array, &lower) || !factors_take_read(&lower.over, sweep->array))
		return match_fail(m, "'%s' does not take its value of the row before once", sweep->array->name);
	lower.is_negative = !lower.is_negative;
	return term_equal(&lower, &m->lower) ||
	       match_fail(m, "'%s' takes another share of the row before than the pivots", sweep->array->name);
}

/* Where they begin: u = upper/diag, z = rhs/diag, x = z. */
static bool match_bases(struct match *m)
{
	for (int i = 0; i < m->pivot.bases.n; i++) {
		struct stage *u = m->pivot.bases.items[i], *z = m->reduced.bases.items[i];
		struct term first = terms_of(m->arena, u->value, m->pivot.array).items[0];
		struct term second = terms_of(m->arena, z->value, m->reduced.array).items[0];
		struct expr *diag = first.under.n == 1 ? first.under.items[0] : NULL;

		first.under.n = 0;
		if (!diag || u->dims.n != m->pivot.step->dims.n || !term_equal(&first, &m->upper) ||
		    !take_factor(&second.under, diag))
			return match_fail(m, "'%s' and '%s' do not begin with values of a row over its diagonal",
					  m->pivot.array->name, m->reduced.array->name);
		vec_push(m->arena, &m->diag_bases, diag);
		vec_push(m->arena, &m->rhs_bases, term_expr(m->arena, &second, z->value->type));
	}
	for (int i = 0; i < m->solution.bases.n; i++) {
		struct stage *x = m->solution.bases.items[i];
		struct term only = terms_of(m->arena, x->value, m->solution.array).items[0];

		if (only.is_negative || only.under.n || factor_here(&only.over, x) != m->reduced.array)
			return match_fail(m, "where it begins it is not '%s'", m->reduced.array->name);
	}
	return true;
}

bool match_scaled(struct match *m)
{
	struct expr *pivot = match_coupling(m);

	return pivot && match_reduced(m, pivot) && match_bases(m);
}
