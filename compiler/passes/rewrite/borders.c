/* SPDX-License-Identifier: MIT
 *
 * What neighbours read of short rows. Of a temporary X[s, k, r] with a short range of r, iteration k computes a row,
 * and other iterations may read one element of it, X[s, k + 1, 0]. Where lanes of a device have iterations k, that
 * alone would keep X from registers. So such elements are copied to a temporary of their own, X.border[s, k] =
 * X[s, k, 0], when they are computed, and read there; what is left of the reads of X is of the row's own iteration.
 *
 * Only where each other read has the same dims in all subscripts but the last, as rows of the program have; where not
 * every read of a neighbour is of one element of its row, X stays as it is. */
#include "passes/pass_private.h"

enum { MOST_BORDERS = 2 };

struct border {
	int64_t at;                     /* the last subscript */
	struct array *array;            /* NULL: not made yet */
};

struct rows {
	struct module *module;
	struct array *array;
	int n_borders;
	struct border borders[MOST_BORDERS];
	bool is_possible;
};

/* ---- who reads what ---- */

static bool has_short_rows(const struct array *array)
{
	const int last = array->rank - 1;
	int64_t n;

	return array->role == ROLE_TEMP && !array_is_index(array) && last > 0 &&
	       range_is_constant(array->lo[last], array->hi[last], &n) && n > 1 && n <= MOST_UNROLLED;
}

/* Is it of the row of its own point: are all subscripts but the last dims in their order? */
static bool is_of_own_row(const struct access *access)
{
	bool is = true;

	for (int i = 0; i < access->array->rank - 1; i++)
		is = is && access->subs[i]->kind == EXPR_DIM && access->subs[i]->index == i;
	return is;
}

static struct border *find_border(struct rows *rows, int64_t at)
{
	for (int i = 0; i < rows->n_borders; i++)
		if (rows->borders[i].at == at)
			return &rows->borders[i];
	return NULL;
}

static void note_read(struct access *access, void *user)
{
	struct rows *rows = user;
	int64_t at;

	if (access->array != rows->array || is_of_own_row(access))
		return;
	if (!expr_is_constant(access->subs[access->array->rank - 1], &at)) {
		rows->is_possible = false;
		return;
	}
	if (find_border(rows, at))
		return;
	rows->is_possible = rows->is_possible && rows->n_borders < MOST_BORDERS;
	if (rows->is_possible)
		rows->borders[rows->n_borders++] = (struct border) { at, NULL };
}

/* The group that computes the array, if it is one, row by row; NULL. */
static struct group *writer_of(const struct module *module, const struct array *array)
{
	struct group *group = NULL;

	for (int i = 0; i < module->stages.n; i++) {
		const struct stage *stage = module->stages.items[i];

		if (stage->write.array != array)
			continue;
		if ((group && stage->group != group) || !is_of_own_row(&stage->write) || stage->op != REDUCE_SET)
			return NULL;
		group = stage->group;
	}
	return group;
}

/* ---- copies ---- */

static struct array *add_array(const struct rows *rows, const struct border *border)
{
	const struct array *array = rows->array;
	struct module *module = rows->module;
	const char *name = arena_printf(module->arena, "%s.border%s", array->name,
					border == rows->borders ? "" : "_2");
	struct array *copy = module_add_array(module, name, ROLE_TEMP, array->type, array->rank - 1, array->span);

	for (int i = 0; i < copy->rank; i++) {
		copy->lo[i] = array->lo[i];
		copy->hi[i] = array->hi[i];
	}
	return copy;
}

static dim_list dims_of(const struct rows *rows, const struct group *writer)
{
	dim_list dims = { 0 };

	for (int i = 0; i < rows->array->rank - 1; i++) {
		struct dim dim = { .kind = DIM_RANGE, .name = writer->stages.items[0]->dims.items[i].name,
				   .span = rows->array->span, .lo = rows->array->lo[i], .hi = rows->array->hi[i] };

		vec_push(rows->module->arena, &dims, dim);
	}
	return dims;
}

static void add_group(struct rows *rows, struct border *border, const struct group *writer)
{
	struct arena *arena = rows->module->arena;
	const struct span span = rows->array->span;
	const int rank = rows->array->rank;
	const dim_list dims = dims_of(rows, writer);
	struct expr **to = arena_new_array(arena, struct expr *, rank);
	struct expr **from = arena_new_array(arena, struct expr *, rank);
	const enum region_kind kind = group_region(rows->module, writer);
	struct region *region = &rows->module->regions[kind];
	struct group *group;
	struct stage *stage;

	border->array = add_array(rows, border);
	group = module_add_group(rows->module, kind, border->array->name, span);
	region_move_last(region, region_place_of(region, writer) + 1);
	stage = module_add_stage(rows->module, group, &dims, span);
	for (int i = 0; i < rank; i++)
		to[i] = from[i] = i < rank - 1 ? expr_dim(arena, i, span) : expr_int(arena, border->at, span);
	stage->write = (struct access) { .array = border->array, .subs = to };
	stage->value = expr_read(arena, rows->array, from, span);
	stage->op = REDUCE_SET;
}

static void redirect(struct access *access, void *user)
{
	struct rows *rows = user;
	int64_t at;

	if (access->array == rows->array && !is_of_own_row(access) &&
	    expr_is_constant(access->subs[access->array->rank - 1], &at))
		access->array = find_border(rows, at)->array;
}

static bool try_array(struct module *module, struct array *array)
{
	struct rows rows = { .module = module, .array = array, .is_possible = has_short_rows(array) };
	const int n_stages = module->stages.n;
	struct group *writer = rows.is_possible ? writer_of(module, array) : NULL;

	for (int i = 0; writer && i < n_stages; i++)
		stage_reads(module->stages.items[i], note_read, &rows);
	if (!writer || !rows.is_possible || rows.n_borders == 0 ||
	    (module->loop.until && expr_reads_array(module->loop.until, array)))
		return false;
	for (int i = 0; i < rows.n_borders; i++)
		add_group(&rows, &rows.borders[i], writer);
	for (int i = 0; i < n_stages; i++)
		stage_reads(module->stages.items[i], redirect, &rows);
	module_decide(module, DECISION_BORDERS, array->name, array->span, "other iterations read %s of each row",
		      rows.n_borders == 1 ? "one element" : "two elements");
	return true;
}

bool pass_borders(struct module *module, const struct pass_options *options)
{
	const int n_arrays = module->arrays.n;
	bool any = false;

	for (int i = 0; options->is_device && options->block_teams && i < n_arrays; i++)
		any |= try_array(module, module->arrays.items[i]);
	if (!any)
		return true;
	module_analyse(module);
	return module_order_recurrences(module);
}
