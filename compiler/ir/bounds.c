/* SPDX-License-Identifier: MIT
 *
 * Proofs on accesses, for all parameters: every subscript stays inside its array, no cell is defined twice, no
 * undefined cell of a function is read. What cannot be proved has a counterexample, and the smallest one is shown.
 * Subscripts that come from index arrays are inside by the facts of the array, which the runtime checks. */
#include "ir/schedule.h"

#include <isl/point.h>

/* ---- counterexamples ---- */

static unsigned n_params(__isl_keep isl_map *map)
{
	return (unsigned) isl_map_dim(map, isl_dim_param);
}

/* The lexicographically smallest point of { [params, D, cell] }, as values. */
static __isl_give isl_point *smallest(__isl_keep isl_map *pairs)
{
	isl_set *all = isl_set_flatten(isl_map_wrap(isl_map_copy(pairs)));

	all = isl_set_move_dims(all, isl_dim_set, 0, isl_dim_param, 0, n_params(pairs));
	return isl_set_sample_point(isl_set_lexmin(all));
}

static long coordinate(__isl_keep isl_point *point, unsigned position)
{
	isl_val *value = isl_point_get_coordinate_val(point, isl_dim_set, (int) position);
	long number = isl_val_get_num_si(value);

	isl_val_free(value);
	return number;
}

/* "i = 7, n = 8" of a smallest point; names that play no part in `pairs` are left out. */
static const char *witness_text(struct module *module, const struct stage *stage, __isl_keep isl_map *pairs,
				__isl_keep isl_point *point)
{
	struct str text = str_new(module->arena);
	unsigned n = n_params(pairs);

	for (int i = 0; i < stage->dims.n; i++)
		if (isl_map_involves_dims(pairs, isl_dim_in, (unsigned) i, 1) == isl_bool_true)
			str_add(&text, "%s%s = %ld", text.length ? ", " : "", stage->dims.items[i].name,
				coordinate(point, n + (unsigned) i));
	for (unsigned i = 0; i < n; i++)
		if (isl_map_involves_dims(pairs, isl_dim_param, i, 1) == isl_bool_true)
			str_add(&text, "%s%s = %ld", text.length ? ", " : "",
				isl_map_get_dim_name(pairs, isl_dim_param, i), coordinate(point, i));
	return str_text(&text);
}

static const char *cell_text(struct module *module, const struct stage *stage, __isl_keep isl_map *pairs,
			     __isl_keep isl_point *point, int rank)
{
	struct str text = str_new(module->arena);
	unsigned first = n_params(pairs) + (unsigned) stage->dims.n;

	for (int i = 0; i < rank; i++)
		str_add(&text, "%s%ld", i ? ", " : "", coordinate(point, first + (unsigned) i));
	return str_text(&text);
}

/* ---- inside the array ---- */

struct check {
	struct module *module;
	struct stage *stage;
	const char *verb;               /* "reads" or "writes" */
	isl_set **defined;              /* by number of array: the cells that are set; NULL: no need to ask */
};

static void report_cell(struct check *check, const struct access *access, __isl_take isl_map *bad,
			enum diag_code code, const char *problem)
{
	struct module *module = check->module;
	isl_point *point = smallest(bad);
	struct diag *diag;

	diag = diag_error(module->diags, code, access->span, "'%s' %s [%s] of '%s', which is %s, when %s",
			  access_text(module->arena, module, check->stage, access), check->verb,
			  cell_text(module, check->stage, bad, point, access->array->rank), access->array->name,
			  problem, witness_text(module, check->stage, bad, point));
	diag_label(module->diags, diag, access->array->span, "'%s' is declared here", access->array->name);
	isl_point_free(point);
	isl_map_free(bad);
}

/* { : extent > 0 implies limit > 0 }: an index array with elements has values to choose from. */
static __isl_give isl_set *array_has_values(const struct module *module, const struct array *array)
{
	isl_pw_aff *extent = expr_pw_aff(module, NULL, array->hi[0]), *limit = expr_pw_aff(module, NULL, array->limit);
	isl_pw_aff *zero = isl_pw_aff_sub(isl_pw_aff_copy(extent), isl_pw_aff_copy(extent));
	isl_set *is_empty = isl_pw_aff_le_set(extent, isl_pw_aff_copy(zero));

	return isl_set_union(is_empty, isl_pw_aff_gt_set(limit, zero));
}

/* Sizes for which no data can exist prove nothing. */
static __isl_give isl_map *with_possible_sizes(const struct module *module, __isl_take isl_map *bad)
{
	for (int i = 0; i < module->arrays.n; i++) {
		const struct array *array = module->arrays.items[i];

		if (array_is_argument(array) && array->rank == 1 && array->facts & FACT_INDEX &&
		    !(array->facts & FACT_TREE))
			bad = isl_map_intersect_params(bad, array_has_values(module, array));
	}
	return bad;
}

/* True when the difference is empty, and frees it then. */
static bool is_proved(const struct module *module, isl_map **bad)
{
	if (isl_map_is_empty(*bad) == isl_bool_false)
		*bad = with_possible_sizes(module, *bad);
	if (isl_map_is_empty(*bad) == isl_bool_false)
		return false;
	isl_map_free(*bad);
	return true;
}

static void check_access(struct access *access, void *user)
{
	struct check *check = user;
	isl_set *defined;
	isl_map *map, *bad;

	if (access->array->role == ROLE_LOCAL || access->array->rank == 0)
		return;
	map = access_map(check->module, check->stage, access);
	bad = isl_map_subtract_range(isl_map_copy(map), array_box(check->module, access->array));
	defined = check->defined[access->array->number];
	if (!is_proved(check->module, &bad)) {
		isl_map_free(map);
		report_cell(check, access, bad, DIAG_OUT_OF_BOUNDS, "outside of it");
		return;
	}
	if (!defined) {
		isl_map_free(map);
		return;
	}
	bad = isl_map_subtract_range(map, isl_set_copy(defined));
	if (!is_proved(check->module, &bad))
		report_cell(check, access, bad, DIAG_READ_UNDEFINED, "not defined");
}

/* ---- what is defined ---- */

static bool is_plain_definition(const struct stage *stage)
{
	return stage->op == REDUCE_SET && !stage->is_init && !stage->is_commit &&
	       stage->write.array->role != ROLE_LOCAL;
}

/* Only functions and temporaries that nothing else fills: the others start with values. */
static isl_set **defined_cells(struct module *module)
{
	isl_set **defined = arena_new_array(module->arena, isl_set *, module->arrays.n);

	for (int i = 0; i < module->stages.n; i++) {
		struct stage *stage = module->stages.items[i];
		struct array *array = stage->write.array;
		isl_set *cells;

		if (array->role != ROLE_TEMP || array->rank == 0)
			continue;
		cells = isl_map_range(access_map(module, stage, &stage->write));
		cells = isl_set_coalesce(cells);
		defined[array->number] = defined[array->number] ? isl_set_union(defined[array->number], cells) : cells;
	}
	return defined;
}

/* ---- defined at most once ---- */

static void check_once(struct module *module, struct stage *a, struct stage *b)
{
	isl_map *both = access_map(module, a, &a->write);

	both = isl_map_apply_range(both, isl_map_reverse(access_map(module, b, &b->write)));
	both = isl_map_subtract(both, axioms_impossible(module, a, b));
	if (a == b)
		both = isl_map_subtract(both, isl_map_identity(isl_map_get_space(both)));
	if (!is_proved(module, &both)) {
		const char *sample = dependence_sample(module, isl_union_map_from_map(both));
		struct diag *diag = diag_error(module->diags, DIAG_DEFINED_TWICE, b->span,
					       "cells of '%s' may be defined twice", b->write.array->name);

		diag_label(module->diags, diag, a->span, a == b ? "two points of this definition meet" :
			   "the other definition is here");
		diag_label(module->diags, diag, (struct span) { 0 }, "for example %s", sample ? sample : "(not found)");
	}
}

static void check_definitions(struct module *module)
{
	for (int i = 0; i < module->stages.n; i++)
		for (int j = i; j < module->stages.n; j++) {
			struct stage *a = module->stages.items[i], *b = module->stages.items[j];

			if (a->write.array == b->write.array && is_plain_definition(a) && is_plain_definition(b))
				check_once(module, a, b);
		}
}

bool module_check_accesses(struct module *module)
{
	struct check check = { .module = module, .defined = defined_cells(module) };
	isl_set **none = arena_new_array(module->arena, isl_set *, module->arrays.n);
	isl_set **defined = check.defined;
	int before = module->diags->n_errors;

	for (int i = 0; i < module->stages.n; i++) {
		check.stage = module->stages.items[i];
		check.verb = "reads";
		check.defined = defined;
		stage_reads(check.stage, check_access, &check);
		check.verb = "writes";
		check.defined = none;
		check_access(&check.stage->write, &check);
	}
	for (int i = 0; i < module->arrays.n; i++)
		isl_set_free(defined[i]);
	check_definitions(module);
	return module->diags->n_errors == before;
}
