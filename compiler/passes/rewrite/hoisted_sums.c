/* SPDX-License-Identifier: MIT
 *
 * Sums that are the same for all values of a dim, added up once. y[i, k] = x[i, k]/sqrt(sum(j) x[i, j]*x[i, j]) as it
 * is written adds up a row for each k; it is a temporary of the dims that the sum needs, computed before. Where these
 * loops are shared with what reads it, it is a variable. There is a sum only where there are values of the other dims:
 * subscripts inside of it may have been proved by that. */
#include "passes/pass_private.h"

/* The common dims that the sum needs, and those that these need. */
struct needs {
	const struct local_sum *sum;
	bool *dims;                     /* by number */
};

static void need_dims_of(struct needs *needs, const struct dim *dim)
{
	for (int d = 0; d < needs->sum->group->n_common; d++)
		needs->dims[d] = needs->dims[d] || dim_uses_dim(dim, d);
}

static void find_needs(struct needs *needs)
{
	const struct local_sum *sum = needs->sum;

	for (int d = 0; d < sum->group->n_common; d++)
		needs->dims[d] = expr_uses_dim(sum->add->value, d);
	for (int d = sum->add->dims.n - 1; d >= 0; d--)
		if (d >= sum->group->n_common || needs->dims[d])
			need_dims_of(needs, &sum->add->dims.items[d]);
}

/* ---- what can be done ---- */

/* Is the range of a dim that is left out told by those that are not? */
static bool is_told(const struct needs *needs, const struct dim *dim)
{
	bool is = dim->kind == DIM_RANGE;

	for (int d = 0; d < needs->sum->group->n_common && is; d++)
		is = needs->dims[d] || !dim_uses_dim(dim, d);
	return is;
}

static bool can_be_once(const struct needs *needs)
{
	const struct local_sum *sum = needs->sum;
	bool can = true, leaves_any = false;

	for (int d = 0; d < sum->group->n_common && can; d++) {
		const struct dim *dim = &sum->add->dims.items[d];

		leaves_any |= dim->kind == DIM_RANGE && !needs->dims[d];
		if (needs->dims[d])
			can = dim->kind == DIM_BIND || dim_is_fixed(dim);
		else
			can = dim->kind == DIM_BIND || is_told(needs, dim);
	}
	return can && leaves_any;
}

/* ---- how it is done ---- */

static struct access add_temporary(const struct needs *needs)
{
	const struct local_sum *sum = needs->sum;
	struct arena *arena = sum->module->arena;
	struct access access = { .span = sum->array->span };
	int rank = 0;

	access.subs = arena_new_array(arena, struct expr *, sum->group->n_common);
	for (int d = 0; d < sum->group->n_common; d++)
		if (needs->dims[d] && sum->add->dims.items[d].kind == DIM_RANGE)
			access.subs[rank++] = expr_dim(arena, d, sum->array->span);
	access.array = local_sum_array(sum, "once", rank);
	for (int i = 0; i < rank; i++) {
		access.array->lo[i] = sum->add->dims.items[access.subs[i]->index].lo;
		access.array->hi[i] = sum->add->dims.items[access.subs[i]->index].hi;
	}
	return access;
}

/* There are values of the dims that are left out. */
static struct expr *guard_of(const struct needs *needs)
{
	const struct local_sum *sum = needs->sum;
	struct arena *arena = sum->module->arena;
	struct expr *guard = NULL;

	for (int d = 0; d < sum->group->n_common; d++) {
		const struct dim *dim = &sum->add->dims.items[d];
		struct expr *has;

		if (needs->dims[d] || dim->kind != DIM_RANGE)
			continue;
		has = expr_binary(arena, OP_LT, TYPE_BOOL, dim->lo, dim->hi);
		guard = guard ? expr_binary(arena, OP_AND, TYPE_BOOL, guard, has) : has;
	}
	return guard;
}

static const char *names_of_others(const struct needs *needs)
{
	struct str text = str_new(needs->sum->module->arena);

	for (int d = 0; d < needs->sum->group->n_common; d++)
		if (!needs->dims[d] && needs->sum->add->dims.items[d].kind == DIM_RANGE)
			str_add(&text, "%s'%s'", text.length ? ", " : "", needs->sum->add->dims.items[d].name);
	return str_text(&text);
}

static void add_up_once(const struct needs *needs)
{
	const struct local_sum *sum = needs->sum;
	const struct access to = add_temporary(needs);
	int *order = arena_new_array(sum->module->arena, int, sum->add->dims.n), n = 0;

	module_decide_that(sum->module, DECISION_ONCE, sum->last->write.array->name, NULL,
		      arena_printf(sum->module->arena, "for each %s", names_of_others(needs)), sum->add->span,
		      "the sum is the same for all");
	for (int d = 0; d < sum->add->dims.n; d++)
		if (d >= sum->group->n_common || needs->dims[d])
			order[n++] = d;
	sum->begin->guard = sum->add->guard = guard_of(needs);
	local_sum_take_out(sum, &to, order, n);
}

bool pass_once(struct module *module, const struct pass_options *options)
{
	const int n_arrays = module->arrays.n;
	bool has_any = false;

	(void) options;
	for (int i = 0; i < n_arrays; i++) {
		struct local_sum sum;
		struct needs needs = { .sum = &sum };

		if (!local_sum_find(module, module->arrays.items[i], &sum))
			continue;
		needs.dims = arena_new_array(module->arena, bool, sum.group->n_common + 1);
		find_needs(&needs);
		if (can_be_once(&needs)) {
			add_up_once(&needs);
			has_any = true;
		}
	}
	return !has_any || local_sums_are_out(module);
}
