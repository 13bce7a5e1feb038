/* SPDX-License-Identifier: MIT
 *
 * Proofs on accesses, for all parameters: every subscript stays inside its array, no undefined cell of a function is
 * read. What cannot be proved has a counterexample, and the smallest one is shown.
 * Subscripts that come from index arrays are inside by the facts of the array, which the runtime checks. */
#include "ir/ir.h"

#include <isl/point.h>

/* ---- inside the array ---- */

/* Sizes for which an access goes wrong, and with it others: what is to be excluded is told once. Where none are to be
 * excluded, { [S[i] -> [cell]] } outside of the array, for others in this stage with the same subscripts. */
struct cause {
	isl_set *sizes;
	const struct stage *stage;      /* NULL: these are sizes */
	struct diag *diag;
	enum diag_code code;
	const struct access *other;     /* the first of those that are not told; NULL: there is none */
	int n_others;
};

struct check {
	struct module *module;
	struct stage *stage;
	const char *verb;               /* "reads" or "writes" */
	isl_set **boxes;                /* by number of array, of those that were asked for */
	isl_set **defined;              /* by number of array: the cells that are set; NULL: no need to ask */
	VEC(struct cause) causes;
};

/* "'t[i]' reads [0] of 't', which"; of a scalar its name. */
static const char *cell_text(struct check *check, const struct access *access, __isl_keep isl_map *pairs,
			     __isl_keep isl_point *point)
{
	struct arena *arena = check->module->arena;
	struct str text = str_new(arena);

	if (access->array->rank == 0)
		return arena_printf(arena, "'%s'", array_title(arena, access->array));
	str_add(&text, "'%s' %s [", access_text(arena, check->module, check->stage, access), check->verb);
	for (int i = 0; i < access->array->rank; i++)
		str_add(&text, "%s%ld", i ? ", " : "",
			witness_value(pairs, point, isl_dim_out, (unsigned) i));
	str_add(&text, "] of '%s', which", array_title(arena, access->array));
	return str_text(&text);
}

/* All that the access reads or writes. */
static __isl_give isl_map *possible_cells(const struct check *check, const struct access *access)
{
	isl_map *cells = access_map(check->module, check->stage, access);

	cells = isl_map_intersect_params(cells, isl_set_copy(check->module->context));
	return map_with_possible_sizes(check->module, cells);
}

/* Those for which it has points, in any iteration of the loop. */
static __isl_give isl_set *sizes_of(const struct module *module, __isl_take isl_map *map)
{
	isl_set *sizes = isl_set_intersect_params(isl_map_params(map), isl_set_copy(module->context));
	int loop = module->loop.var ? isl_set_find_dim_by_name(sizes, isl_dim_param, module->loop.var) : -1;

	return loop < 0 ? sizes : isl_set_project_out(sizes, isl_dim_param, (unsigned) loop, 1);
}

/* Are there sizes for which the access is made, and never goes wrong? */
static bool has_good_sizes(const struct check *check, const struct access *access, __isl_keep isl_map *bad)
{
	isl_set *sizes = sizes_of(check->module, possible_cells(check, access));
	isl_bool is_empty;

	sizes = isl_set_subtract(sizes, sizes_of(check->module, isl_map_copy(bad)));
	is_empty = isl_set_is_empty(sizes);
	isl_set_free(sizes);
	return is_empty == isl_bool_false;
}

/* "T.parent[i]" where that is -1 in the counterexample: a root's. NULL: there is none. */
static const char *parent_of_root(const struct check *check, __isl_keep isl_map *bad, __isl_keep isl_point *point)
{
	for (int i = 0; i < check->stage->dims.n; i++) {
		const struct dim *dim = &check->stage->dims.items[i];

		if (dim->kind == DIM_BIND && dim->source.array->facts & FACT_TREE &&
		    witness_value(bad, point, isl_dim_in, (unsigned) i) == -1)
			return dim_title(check->module, check->stage, i);
	}
	return NULL;
}

static void add_help(struct check *check, struct diag *diag, bool sizes_help, enum diag_code code, const char *root)
{
	const char *help = "shorten the range, or choose with 'case'";

	if (code == DIAG_READ_UNDEFINED)
		help = "define this cell too, or choose with 'case' where to read";
	else if (root)
		help = arena_printf(check->module->arena, "a root has the parent -1: choose with "
				    "case { %s < 0 : ...; else : ...; }", root);
	else if (!check->stage->dims.n)
		help = sizes_help ? "exclude such sizes with 'assume'" : "subscripts go from 0 to the size less 1";
	else if (sizes_help)
		help = "shorten the range, choose with 'case', or exclude such sizes with 'assume'";
	diag_help(check->module->diags, diag, (struct span) { 0 }, "%s", help);
}

/* ---- many accesses, one cause ---- */

static bool is_joined(const struct cause *cause, const struct stage *stage, __isl_keep isl_set *sizes)
{
	if (cause->stage != stage || isl_set_has_equal_space(sizes, cause->sizes) != isl_bool_true)
		return false;
	if (stage)
		return isl_set_is_equal(sizes, cause->sizes) == isl_bool_true;
	return isl_set_is_subset(sizes, cause->sizes) == isl_bool_true;
}

/* Without the sizes of an access that was told, or its cells in this stage, would this one be right, too? Then it is
 * counted there. */
static bool join_cause(struct check *check, const struct access *access, enum diag_code code,
		       const struct stage *stage, __isl_keep isl_set *sizes)
{
	for (int i = 0; i < check->causes.n; i++) {
		struct cause *cause = &check->causes.items[i];

		if (cause->code != code || !is_joined(cause, stage, sizes))
			continue;
		cause->other = cause->other ? cause->other : access;
		cause->n_others++;
		return true;
	}
	return false;
}

static void note_cause(struct check *check, struct diag *diag, enum diag_code code, const struct stage *stage,
		       __isl_take isl_set *sizes)
{
	struct cause cause = { .sizes = sizes, .stage = stage, .diag = diag, .code = code };

	if (sizes)
		vec_push(check->module->arena, &check->causes, cause);
}

static void tell_others(struct check *check)
{
	for (int i = 0; i < check->causes.n; i++) {
		struct cause *cause = &check->causes.items[i];
		const char *where = cause->stage ? "at the same points" : "for the same sizes";

		if (cause->n_others == 1)
			diag_label(check->module->diags, cause->diag, cause->other->span,
				   "this access goes wrong %s", where);
		else if (cause->other)
			diag_label(check->module->diags, cause->diag, cause->other->span,
				   "this access and %d more go wrong %s", cause->n_others - 1, where);
		isl_set_free(cause->sizes);
	}
}

/* { [S[i] -> [cell]] } of { S[i] -> A[cell] }, whichever array that is. */
static __isl_give isl_set *cells_of(__isl_keep isl_map *bad)
{
	return isl_map_wrap(isl_map_reset_tuple_id(isl_map_copy(bad), isl_dim_out));
}

static void report_cell(struct check *check, const struct access *access, __isl_take isl_map *bad,
			enum diag_code code, const char *problem)
{
	struct module *module = check->module;
	bool sizes_help = has_good_sizes(check, access, bad);
	const struct stage *stage = sizes_help || code != DIAG_OUT_OF_BOUNDS ? NULL : check->stage;
	isl_set *sizes = sizes_help ? sizes_of(module, isl_map_copy(bad)) : stage ? cells_of(bad) : NULL;
	isl_point *point;
	struct diag *diag;

	if (diag_was_reported(module->diags, code, access->span) ||     /* as when all reads of a stencil go wrong */
	    diag_was_reported(module->diags, DIAG_DEFINED_TWICE, access->span) ||
	    (sizes && join_cause(check, access, code, stage, sizes))) {
		isl_set_free(sizes);
		isl_map_free(bad);
		return;
	}
	bad = witness_of_access(module, check->stage, access, possible_cells(check, access), bad);
	bad = witness_relation(module, bad);
	point = witness_smallest(bad);
	diag = diag_error(module->diags, code, access->span, "%s is %s%s", cell_text(check, access, bad, point),
			  problem, witness_text(module, check->stage, bad, point));
	diag_label(module->diags, diag, access->array->span, "'%s' is declared here",
		   array_title(module->arena, access->array));
	add_help(check, diag, sizes_help, code, parent_of_root(check, bad, point));
	note_cause(check, diag, code, stage, sizes);
	isl_point_free(point);
	isl_map_free(bad);
}

/* What the loop defines is read behind it, or in the same iteration. */
static __isl_give isl_set *cells_for(const struct check *check, __isl_keep isl_set *defined)
{
	isl_set *cells = isl_set_copy(defined);

	return stage_is_in_loop(check->module, check->stage) ? cells : set_of_iterations(check->module, cells);
}

static __isl_give isl_set *box_of(struct check *check, const struct array *array)
{
	isl_set **box = &check->boxes[array->number];

	if (!*box)
		*box = array_box(check->module, array);
	return isl_set_copy(*box);
}

static void check_access(const struct access *access, struct check *check)
{
	isl_set *defined;
	isl_map *map, *bad;

	if (access->array->role == ROLE_LOCAL)
		return;
	map = access_map(check->module, check->stage, access);
	bad = isl_map_subtract_range(isl_map_copy(map), box_of(check, access->array));
	defined = check->defined[access->array->number];
	if (!is_impossible(check->module, &bad)) {
		isl_map_free(map);
		report_cell(check, access, bad, DIAG_OUT_OF_BOUNDS, "outside of it");
		return;
	}
	if (!defined) {
		isl_map_free(map);
		return;
	}
	bad = isl_map_subtract_range(map, cells_for(check, defined));
	if (!is_impossible(check->module, &bad))
		report_cell(check, access, bad, DIAG_READ_UNDEFINED, "not defined");
}

static void check_reads(struct expr *expr, struct check *check);

/* What is read below a choice is read at the points where it is chosen. */
static void check_choice(struct expr *expr, struct check *check)
{
	struct stage *stage = check->stage;
	isl_set *domain = stage->domain, *chosen = expr_set(check->module, stage, expr->args[0]);

	stage->domain = isl_set_intersect(isl_set_copy(domain), isl_set_copy(chosen));
	check_reads(expr->args[1], check);
	isl_set_free(stage->domain);
	stage->domain = isl_set_subtract(isl_set_copy(domain), chosen);
	check_reads(expr->args[2], check);
	isl_set_free(stage->domain);
	stage->domain = domain;
}

static void check_reads(struct expr *expr, struct check *check)
{
	if (expr->kind == EXPR_READ)
		check_access(&expr->access, check);
	if (expr_is_choice(expr))
		check_choice(expr, check);
	for (int i = 0; !expr_is_choice(expr) && i < expr_n_args(expr); i++)
		check_reads(expr->args[i], check);
}

static void check_stage_reads(struct check *check)
{
	const dim_list *dims = &check->stage->dims;

	check_reads(check->stage->value, check);
	for (int i = 0; i < dims->n; i++)
		if (dims->items[i].kind != DIM_RANGE)
			check_access(&dims->items[i].source, check);
}

/* ---- what is defined ---- */

/* Only functions and temporaries that nothing else fills: the others start with values. */
static isl_set **defined_cells(struct module *module)
{
	isl_set **defined = arena_new_array(module->arena, isl_set *, module->arrays.n);

	for (int i = 0; i < module->stages.n; i++) {
		struct stage *stage = module->stages.items[i];
		struct array *array = stage->write.array;
		isl_set *cells;

		if (array->role != ROLE_TEMP)
			continue;
		cells = isl_map_range(access_map(module, stage, &stage->write));
		cells = isl_set_coalesce(cells);
		module_note_quota(module, stage->span);
		defined[array->number] = defined[array->number] ? isl_set_union(defined[array->number], cells) : cells;
	}
	return defined;
}

/* Of arrays whose cells are all set there is nothing to ask. */
static void forget_complete(struct check *check)
{
	for (int i = 0; i < check->module->arrays.n; i++) {
		isl_set **defined = &check->defined[i], *all;

		if (!*defined)
			continue;
		all = box_of(check, check->module->arrays.items[i]);
		all = isl_set_intersect_params(all, isl_set_copy(check->module->context));
		if (isl_set_is_subset(all, *defined) == isl_bool_true)
			*defined = isl_set_free(*defined);
		isl_set_free(all);
	}
}

static void check_until(struct check *check)
{
	struct module *module = check->module;
	struct stage until = { .name = "until" };

	if (!module->loop.until)
		return;
	until.domain = until_domain(module, &until);
	check->stage = &until;
	check->verb = "reads";
	check_reads(module->loop.until, check);
	isl_set_free(until.domain);
}

bool module_check_accesses(struct module *module)
{
	isl_set **none = arena_new_array(module->arena, isl_set *, module->arrays.n);
	isl_set **boxes = arena_new_array(module->arena, isl_set *, module->arrays.n);
	isl_set **defined = defined_cells(module);
	struct check check = { .module = module, .boxes = boxes, .defined = defined };
	int before = module->diags->n_errors;

	module_check_single_definition(module);
	forget_complete(&check);
	for (int i = 0; i < module->stages.n; i++) {
		check.stage = module->stages.items[i];
		check.verb = "reads";
		check.defined = defined;
		check_stage_reads(&check);
		check.verb = "writes";
		check.defined = none;
		check_access(&check.stage->write, &check);
		module_note_quota(module, check.stage->span);
	}
	check.defined = defined;
	check_until(&check);
	tell_others(&check);
	for (int i = 0; i < module->arrays.n; i++) {
		isl_set_free(defined[i]);
		isl_set_free(boxes[i]);
	}
	return module->diags->n_errors == before;
}
