/* SPDX-License-Identifier: MIT
 *
 * What the caller binds: sizes, assumptions, shapes, types and the facts of index arrays. Everything is checked
 * before anything is computed. A parent array that is local to each segment is rebased into a copy: value v >= 0 of
 * segment s becomes v + segments[s], so that the rest of the interpreter sees one array of nodes. */
#include "ir/interp/interp_private.h"

#include <math.h>

#include "pmgrt_storage.h"
#include "words.h"

/* ---- sizes ---- */

static void check_size(struct run *run, const struct param *param, int64_t value)
{
	if (!param->is_scalar && !param->is_loop && value < 0)
		run_fail(run, param->span, "the size '%s' is %lld, it must not be negative", param->name,
			 (long long) value);
}

static void check_assumptions(struct run *run)
{
	const struct module *module = run->module;

	for (int i = 0; i < module->assumptions.n && run->stop == RUN_GOES; i++) {
		const struct expr *condition = module->assumptions.items[i];

		if (!eval_integer(run, compile_expr(run, condition)) && run->stop == RUN_GOES)
			run_fail(run, condition->span, "the assumption '%s' does not hold",
				 expr_text(run->arena, module, NULL, condition));
	}
}

void bind_params(struct run *run, const struct interp_input *input)
{
	const struct module *module = run->module;

	run->sizes = arena_new_array(run->scratch, int64_t, module->params.n);
	run->scalars = arena_new_array(run->scratch, double, module->params.n);
	for (int i = 0; i < module->params.n; i++) {
		const struct param *param = &module->params.items[i];

		if (param->is_scalar)
			run->scalars[i] = param->type == TYPE_F32 ? (float) input->scalars[i] : input->scalars[i];
		else if (param_is_argument(param))
			run->sizes[i] = input->sizes[i];
		else if (param->is_inspected && param->of)
			run->sizes[i] = eval_integer(run, compile_expr(run, param->of));
		else if (param->derivation)
			run->sizes[i] = param_derived(param, eval_integer(run, compile_expr(run, param->of)));
		check_size(run, param, run->sizes[i]);
	}
	check_assumptions(run);
}

/* ---- shapes and memory ---- */

static int64_t extent_of(struct run *run, const struct array *array, struct slot *slot, int dim)
{
	int64_t hi = eval_integer(run, compile_expr(run, array->hi[dim])), extent = 0;

	slot->lo[dim] = eval_integer(run, compile_expr(run, array->lo[dim]));
	if (hi > slot->lo[dim] && __builtin_sub_overflow(hi, slot->lo[dim], &extent))
		run_fail(run, array->span, "'%s' is too large", array->name);
	return extent;
}

static void shape_slot(struct run *run, const struct array *array, struct slot *slot)
{
	slot->array = array;
	slot->type = array->type;
	slot->n = 1;
	if (array->rank > ARRAY_MAX_RANK) {
		run_fail(run, array->span, "'%s' has more than %d dimensions", array->name, ARRAY_MAX_RANK);
		return;
	}
	for (int i = array->rank - 1; i >= 0; i--) {
		slot->extent[i] = extent_of(run, array, slot, i);
		slot->stride[i] = slot->n ? slot->n : 1;
		if (__builtin_mul_overflow(slot->n, slot->extent[i], &slot->n) || slot->n > INT64_MAX / 16)
			run_fail(run, array->span, "'%s' is too large", array->name);
	}
	if (array->limit)
		slot->limit = eval_integer(run, compile_expr(run, array->limit));
}

static const struct interp_array *find_input(const struct interp_input *input, const struct array *array)
{
	for (int i = 0; i < input->arrays.n; i++)
		if (input->arrays.items[i].array == array)
			return &input->arrays.items[i];
	return NULL;
}

static bool type_is_accepted(const struct array *array, enum scalar_type type)
{
	return type == array->type || (array->facts && type_is_integer(type));
}

static const char *shape_text(struct arena *arena, const int64_t *shape, int rank)
{
	struct str text = str_new(arena);

	for (int i = 0; i < rank; i++)
		str_add(&text, "%s%lld", i ? ", " : "", (long long) shape[i]);
	return str_text(&text);
}

/* Values as the plan keeps them, in a copy. */
static void round_values(struct run *run, struct slot *slot)
{
	const double *values = slot->data;
	double *rounded = arena_new_array(run->scratch, double, slot->n);

	for (int64_t i = 0; i < slot->n; i++)
		rounded[i] = slot->array->storage == STORAGE_F32 ? (double) (float) values[i]
								 : pmg_f64_of_top(pmg_top_of_f64(values[i]));
	slot->data = rounded;
}

static void bind_argument(struct run *run, struct slot *slot, const struct interp_array *input)
{
	const struct array *array = slot->array;

	if (!input) {
		run_fail(run, array->span, "'%s' is not bound", array->name);
		return;
	}
	if (!type_is_accepted(array, input->type))
		run_fail(run, array->span, "'%s' is bound to %s, it must be %s", array->name, type_name(input->type),
			 array->facts ? "of an integer type" : type_name(array->type));
	for (int i = 0; i < array->rank; i++)
		if (input->shape[i] != slot->extent[i]) {
			run_fail(run, array->span, "'%s' has the shape [%s], it must be [%s]", array->name,
				 shape_text(run->arena, input->shape, array->rank),
				 shape_text(run->arena, slot->extent, array->rank));
			return;
		}
	slot->type = input->type;
	slot->data = input->data;
	if (array->storage != STORAGE_F64)
		round_values(run, slot);
}

/* ---- accumulations ---- */

static bool is_target_of(const struct run *run, const struct array *array, enum reduce_op op)
{
	for (int i = 0; i < run->module->stages.n; i++) {
		const struct stage *stage = run->module->stages.items[i];

		if (stage->write.array == array && stage->op == op)
			return true;
	}
	return false;
}

static bool needs_exact(const struct run *run, const struct array *array)
{
	if (run->arithmetic != INTERP_WORKING)
		return array->role != ROLE_IN;
	return is_target_of(run, array, REDUCE_ADD) || is_target_of(run, array, REDUCE_MUL);
}

static void prepare_exact(struct run *run, struct slot *slot)
{
	if (!needs_exact(run, slot->array))
		return;
	slot->exact = arena_new_array(run->scratch, long double, slot->n);
	for (int64_t i = 0; slot->array->role == ROLE_INOUT && i < slot->n; i++)
		slot->exact[i] = slot_real(slot, i);
}

static bool needs_weight(const struct run *run, const struct array *array)
{
	if (run->arithmetic == INTERP_SHAKEN)
		return is_target_of(run, array, REDUCE_ADD);
	return run->weighs && array->role != ROLE_IN;
}

/* Those of the caller's arrays go to the caller. */
static void prepare_weight(struct run *run, struct slot *slot)
{
	struct arena *arena = run->weighs && array_is_argument(slot->array) ? run->arena : run->scratch;

	if (!needs_weight(run, slot->array))
		return;
	slot->weight = arena_new_array(arena, struct interp_weight, slot->n);
	for (int64_t i = 0; slot->array->role == ROLE_INOUT && i < slot->n; i++)
		slot->weight[i].magnitude = fabs(slot_real(slot, i));
}

static void bind_slot(struct run *run, struct slot *slot, const struct interp_input *input)
{
	if (array_is_argument(slot->array))
		bind_argument(run, slot, find_input(input, slot->array));
	else
		slot->data = arena_alloc_array(run->scratch, (size_t) slot->n, (size_t) type_size(slot->type));
	if (run->stop != RUN_GOES || !type_is_float(slot->array->type))
		return;
	prepare_exact(run, slot);
	prepare_weight(run, slot);
}

void bind_slots(struct run *run, const struct interp_input *input)
{
	const struct module *module = run->module;

	run->slots = arena_new_array(run->scratch, struct slot, module->arrays.n);
	for (int i = 0; i < module->arrays.n && run->stop == RUN_GOES; i++) {
		if (module->arrays.items[i]->role == ROLE_INSPECTED)
			continue;
		shape_slot(run, module->arrays.items[i], &run->slots[i]);
		if (run->stop == RUN_GOES)
			bind_slot(run, &run->slots[i], input);
	}
}

struct slot *bind_inspected(struct run *run, const struct array *array)
{
	struct slot *slot = &run->slots[array->number];

	shape_slot(run, array, slot);
	slot->data = arena_alloc_array(run->scratch, (size_t) slot->n, (size_t) type_size(slot->type));
	return slot;
}

/* ---- facts ---- */

static void report_value(struct run *run, const struct slot *slot, int64_t i, int64_t lo, int64_t hi)
{
	const char *cell = slot_cell_text(run->arena, slot, i);
	const long long value = (long long) slot_integer(slot, i);

	if (lo > hi)
		run_fail(run, slot->array->span, "%s is %lld, but no index is allowed there", cell, value);
	else
		run_fail(run, slot->array->span, "%s is %lld, allowed are %lld to %lld", cell, value, (long long) lo,
			 (long long) hi);
}

static bool check_range(struct run *run, const struct slot *slot, int64_t i, int64_t lo, int64_t hi)
{
	const int64_t value = slot_integer(slot, i);

	if (value < lo || value > hi)
		report_value(run, slot, i, lo, hi);
	return run->stop == RUN_GOES;
}

static void check_index(struct run *run, const struct slot *slot)
{
	for (int64_t i = 0; i < slot->n && check_range(run, slot, i, 0, slot->limit - 1); i++)
		;
}

static void check_sorted(struct run *run, const struct slot *slot)
{
	for (int64_t i = 1; i < slot->n && run->stop == RUN_GOES; i++)
		if (slot_integer(slot, i) < slot_integer(slot, i - 1))
			run_fail(run, slot->array->span, "%s is %lld, less than %lld before it: '%s' must not decrease",
				 slot_cell_text(run->arena, slot, i), (long long) slot_integer(slot, i),
				 (long long) slot_integer(slot, i - 1), slot->array->name);
}

static void check_offsets(struct run *run, const struct slot *slot)
{
	for (int64_t i = 0; i < slot->n && check_range(run, slot, i, 0, slot->limit); i++)
		;
	check_sorted(run, slot);
	if (slot->n && run->stop == RUN_GOES && check_range(run, slot, 0, 0, 0))
		check_range(run, slot, slot->n - 1, slot->limit, slot->limit);
}

/* Values are in 0..limit-1 by now. */
static void check_unique(struct run *run, const struct slot *slot)
{
	int64_t *seen;

	if (slot->n > slot->limit) {
		run_fail(run, slot->array->span, "'%s' cannot have %lld different values below %lld",
			 slot->array->name, (long long) slot->n, (long long) slot->limit);
		return;
	}
	seen = arena_new_array(run->scratch, int64_t, slot->limit);
	for (int64_t i = 0; i < slot->n; i++) {
		int64_t *first = &seen[slot_integer(slot, i)];

		if (*first) {
			run_fail(run, slot->array->span, "%s is %lld, as %s is: the values of '%s' must be unique",
				 slot_cell_text(run->arena, slot, i), (long long) slot_integer(slot, i),
				 slot_cell_text(run->arena, slot, *first - 1), slot->array->name);
			return;
		}
		*first = i + 1;
	}
}

/* A parent counts from the first node of its tree. */
static bool check_parent(struct run *run, const struct slot *slot, int64_t i, int64_t first, const char *rule)
{
	const int64_t parent = slot_integer(slot, i);

	if (parent < -1 || parent >= i - first)
		run_fail(run, slot->array->span, "%s is %lld, but %s", slot_cell_text(run->arena, slot, i),
			 (long long) parent, rule);
	return run->stop == RUN_GOES;
}

static void check_tree(struct run *run, const struct slot *slot)
{
	for (int64_t i = 0; i < slot->n && check_parent(run, slot, i, 0, WORDS_OF_TREE); i++)
		;
}

/* Checks the values of each segment and replaces them by numbers of nodes in the whole array. */
static void rebase_tree(struct run *run, struct slot *slot, const struct slot *segments)
{
	int64_t *nodes = arena_new_array(run->scratch, int64_t, slot->n);

	if (segments->limit != slot->n) {
		run_fail(run, slot->array->span, "'%s' has %lld cells, but the segments of '%s' end at %lld",
			 slot->array->name, (long long) slot->n, segments->array->name, (long long) segments->limit);
		return;
	}
	for (int64_t s = 0; s + 1 < segments->n; s++) {
		const int64_t first = slot_integer(segments, s);

		for (int64_t i = first; i < slot_integer(segments, s + 1); i++) {
			if (!check_parent(run, slot, i, first, WORDS_OF_LOCAL_TREE))
				return;
			nodes[i] = slot_integer(slot, i) < 0 ? -1 : slot_integer(slot, i) + first;
		}
	}
	slot->type = TYPE_I64;
	slot->data = nodes;
}

/* By number of fact, in the order in which the checks rely on each other. */
static void check_facts(struct run *run, struct slot *slot)
{
	const unsigned facts = slot->array->facts;

	if (facts & FACT_OFFSETS)
		check_offsets(run, slot);
	else if ((facts & FACT_TREE) && slot->array->segments)
		rebase_tree(run, slot, &run->slots[slot->array->segments->number]);
	else if (facts & FACT_TREE)
		check_tree(run, slot);
	else if (facts & FACT_INDEX)
		check_index(run, slot);
	if ((facts & FACT_SORTED) && run->stop == RUN_GOES)
		check_sorted(run, slot);
	if ((facts & FACT_UNIQUE) && run->stop == RUN_GOES)
		check_unique(run, slot);
}

/* Offsets first: segments are read by those that come after. */
void bind_facts(struct run *run)
{
	for (int offsets = 1; offsets >= 0; offsets--)
		for (int i = 0; i < run->module->arrays.n && run->stop == RUN_GOES; i++) {
			const struct array *array = run->module->arrays.items[i];

			if (array->role == ROLE_IN && !(array->facts & FACT_OFFSETS) == !offsets)
				check_facts(run, &run->slots[i]);
		}
}
