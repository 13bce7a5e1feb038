/* SPDX-License-Identifier: MIT
 *
 * Sums down columns, row by row. y[k] = sum(j) e[j]*V[j, k] as it is written goes down one column of V after the other,
 * a line of memory for each term; next to each other are the terms of neighbouring k. So all y[k] are added up at once,
 * y[k] += e[j]*V[j, k] for each j, the loop over k innermost: in y itself where it is just the sum, else in a temporary
 * of its shape, of which a row is stored where the loops around are shared with what reads it. Maxima likewise. Each
 * sum has its terms in their order, as in the loop over j.
 *
 * What the steps of a loop cost (ir/match/steps.c) tells which loop is the better one inside: a step to the next place
 * costs STEP_SCALAR if the range is too short for vectors, rows cost STEP_ACCUMULATOR for y[k]. Where rows may be
 * short, the group is marked `is_by_rows`: a plan then has columns as they are (codegen/abi/work.c). A device has a
 * thread for each y[k], and those of neighbouring cells read neighbouring ones anyway. */
#include "ir/match/blas.h"
#include "passes/pass_private.h"

struct column {
	struct local_sum sum;
	int row;                        /* dim that is the last subscript of what is defined */
};

/* ---- steps through memory ---- */

struct cost {
	const struct stage *stage;
	int dim, next, all, most;       /* next: what a step to the next element costs */
};

static void add_step(struct access *access, void *user)
{
	struct cost *cost = user;
	const int near = access_step(cost->stage, access, cost->dim), step = near == 1 ? cost->next : near;

	cost->all += step;
	cost->most = step > cost->most ? step : cost->most;
}

/* -1: not known. */
static int64_t length_of(const struct module *module, const struct dim *dim)
{
	int64_t length;

	return dim_has_known_length(module, dim, &length) ? length : -1;
}

static struct cost cost_of(const struct module *module, struct stage *stage, int dim)
{
	const int64_t length = length_of(module, &stage->dims.items[dim]);
	struct cost cost = { stage, dim, length >= 0 && length < STEP_SHORT ? STEP_SCALAR : 1, 0, 0 };

	stage_reads(stage, add_step, &cost);
	return cost;
}

/* ---- what can be done ---- */

/* Loops over ranges, of data or not, that run alike for all values of the dim `row`. */
static bool has_plain_loops(const struct column *column)
{
	const struct stage *add = column->sum.add;
	bool has = add->dims.n > column->sum.group->n_common;

	for (int d = 0; d < add->dims.n && has; d++)
		has = add->dims.items[d].kind != DIM_CHILDREN && !dim_uses_dim(&add->dims.items[d], column->row);
	return has;
}

/* The dim of the loops of the group whose neighbouring values stand next to each other in what is defined. */
static bool find_row(struct column *column)
{
	const struct access *write = &column->sum.last->write;
	const int n_common = column->sum.group->n_common, n = access_n_subs(write);
	int64_t offset;

	if (n == 0 || !expr_is_shifted_dim(write->subs[n - 1], &column->row, &offset) || column->row >= n_common)
		return false;
	for (int i = 0; i < n; i++)
		if (expr_last_dim(write->subs[i]) >= n_common ||
		    (i < n - 1 && expr_uses_dim(write->subs[i], column->row)))
			return false;
	return true;
}

/* Loops that the user speaks of stay as they are. */
static bool is_asked_for(const struct local_sum *sum)
{
	const struct module *module = sum->module;

	for (int i = 0; i < module->overrides.n; i++) {
		const struct override *item = &module->overrides.items[i];

		if ((item->verb == VERB_TILE || item->verb == VERB_FUSE) &&
		    override_names(item, sum->last->write.array))
			return true;
	}
	return false;
}

static int innermost_loop(const struct stage *stage)
{
	int loop = stage->dims.n - 1;

	while (loop > 0 && stage->dims.items[loop].kind == DIM_BIND)
		loop--;
	return loop;
}

static int64_t length_of_row(const struct column *column)
{
	return length_of(column->sum.module, &column->sum.begin->dims.items[column->row]);
}

static bool pays(const struct column *column)
{
	const int64_t length = length_of_row(column);
	const struct cost down = cost_of(column->sum.module, column->sum.add, innermost_loop(column->sum.add));
	const struct cost along = cost_of(column->sum.module, column->sum.add, column->row);

	return (length < 0 || length >= SUM_LEAST_ROW) && down.most > 1 && along.all + STEP_ACCUMULATOR < down.all;
}

static bool can_be_rows(struct column *column, const struct pass_options *options)
{
	return find_row(column) && has_plain_loops(column) && !is_asked_for(&column->sum) && pays(column) &&
	       !blas_takes_sums(column->sum.module, options, column->sum.group);
}

/* ---- how it is done ---- */

/* Other definitions may update what they share with this one otherwise, and a loop defines it again. */
static bool is_defined_alone(const struct local_sum *sum)
{
	const struct module *module = sum->module;
	bool is = group_region(module, sum->group) == REGION_PROLOGUE;

	for (int i = 0; i < module->stages.n && is; i++)
		is = module->stages.items[i] == sum->last ||
		     module->stages.items[i]->write.array != sum->last->write.array;
	return is;
}

/* What is defined is the sum, and can be added to: nothing but the sum needs it before it is complete. */
static bool is_sum(const struct local_sum *sum)
{
	const struct stage *last = sum->last;
	const struct array *array = last->write.array;

	return last->value->kind == EXPR_READ && last->value->access.array == sum->array && !last->guard &&
	       !last->is_commit && !last->is_next && !array->facts &&
	       (array->role == ROLE_OUT || array->role == ROLE_TEMP) &&
	       array->type == sum->array->type && array->sums == sum->array->sums && sum->group->stages.n == 3 &&
	       !stage_reads_array(sum->add, array) && is_defined_alone(sum);
}

static struct access add_temporary(const struct local_sum *sum)
{
	struct access access = sum->last->write;
	const struct array *like = access.array;

	access.array = local_sum_array(sum, "row", like->rank);
	for (int i = 0; i < like->rank; i++) {
		access.array->lo[i] = like->lo[i];
		access.array->hi[i] = like->hi[i];
	}
	return access;
}

static void add_by_rows(const struct column *column)
{
	const struct local_sum *sum = &column->sum;
	const struct stage *add = sum->add;
	const int n = add->dims.n;
	const bool is_for_long = length_of_row(column) < 0, is_itself = is_sum(sum);
	const struct access to = is_itself ? sum->last->write : add_temporary(sum);
	int *order = arena_new_array(column->sum.module->arena, int, n);

	module_decide(sum->module, DECISION_COLUMNS, sum->last->write.array->name, add->span,
		      "terms of neighbouring '%s' stand next to each other, those of '%s' do not",
		      add->dims.items[column->row].name, add->dims.items[innermost_loop(add)].name);
	for (int d = 0; d < n; d++)
		order[d < column->row ? d : d == column->row ? n - 1 : d - 1] = d;
	local_sum_take_out(sum, &to, order, n)->is_by_rows = is_for_long;
	if (is_itself)
		sum->group->stages.n = 0;
}

bool pass_columns(struct module *module, const struct pass_options *options)
{
	const int n_arrays = module->arrays.n;
	bool has_any = false;

	for (int i = 0; i < n_arrays && options->columns && !options->is_device; i++) {
		struct column column = { 0 };

		if (local_sum_find(module, module->arrays.items[i], &column.sum) && can_be_rows(&column, options)) {
			add_by_rows(&column);
			has_any = true;
		}
	}
	return !has_any || local_sums_are_out(module);
}
