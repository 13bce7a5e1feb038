/* SPDX-License-Identifier: MIT
 *
 * Index arrays of restructurings that hold offsets of rows: where all that PHI.run_atom[run] is for is D[atom, t], the
 * plan can keep atom*nTheta, and D[atom_row + t] takes no product. Only where an item asks for it, since offsets take
 * more bits than indices. The module means the same: how an inspected array is stored is marked on it (`row_of`), as
 * its width is, and whoever prints a subscript leaves the product out.
 *
 * The variable must be the first subscript of arrays that have rows of one length, stored as they are declared, and
 * nothing else. What is renumbered or compared by the runtime has to stay as it is, too. */
#include <string.h>

#include "passes/pass_private.h"

/* An array of a restructuring that holds values of a mode. */
struct held {
	struct array *array, *mode;
	const char *problem;            /* why it must hold them as they are; NULL */
};
typedef VEC(struct held) held_list;

/* ---- what restructurings keep ---- */

static bool is_renumbered(const struct restructuring *r, const struct array *mode)
{
	bool is = false;

	for (int i = 0; i < r->renumberings.n; i++)
		is = is || r->renumberings.items[i].mode == mode;
	return is;
}

static held_list held_by(struct arena *arena, const struct restructuring *r)
{
	held_list list = { 0 };

	for (int i = 0; i < r->copies.n; i++) {
		const struct inspected_copy *copy = &r->copies.items[i];

		if (copy->from && array_is_index(copy->from))
			vec_push(arena, &list, ((struct held) { copy->to, copy->from, is_renumbered(r, copy->from) ?
								"its values are new numbers" : NULL }));
	}
	if (r->order)
		vec_push(arena, &list, ((struct held) { r->order, r->keys.items[0], NULL }));
	if (r->part_values)
		vec_push(arena, &list, ((struct held) { r->part_values, r->keys.items[0],
							"parts of a segment are told by it" }));
	for (int i = 0; i < r->renumberings.n; i++)
		vec_push(arena, &list, ((struct held) { r->renumberings.items[i].order, r->renumberings.items[i].mode,
							NULL }));
	return list;
}

static bool is_bound_to(const struct dim *dim, const struct array *array)
{
	return dim->kind == DIM_BIND && dim->source.array == array;
}

/* Does the item speak of the array: of its mode, or of a variable that it gives its value to? */
static bool is_meant(const struct module *module, const struct override *override, const struct held *held)
{
	bool is_named = !strcmp(override_choice(override), array_member_name(held->mode));
	bool is_subject = override_names(override, held->mode);

	for (int i = 0; i < module->stages.n; i++) {
		const struct stage *stage = module->stages.items[i];
		const stage_list *stages = &stage->group->stages;

		for (int d = 0; d < stage->dims.n; d++) {
			if (!is_bound_to(&stage->dims.items[d], held->array))
				continue;
			is_named = is_named || !strcmp(override_choice(override), stage->dims.items[d].name);
			is_subject = is_subject || override_names(override, stages->items[stages->n - 1]->write.array);
		}
	}
	return is_named && is_subject;
}

/* ---- how they are used ---- */

struct search {
	struct arena *arena;
	const char *name;               /* of the variable */
	int dim;
	struct array *row_of;           /* the first array of whose rows it is the number */
	const char *problem;
};

static bool rows_are_equal(const struct array *a, const struct array *b)
{
	bool are = a->rank == b->rank;

	for (int i = 1; are && i < a->rank; i++)
		are = expr_equal(a->hi[i], b->hi[i]);
	return are;
}

static bool is_first_alone(const struct access *access, int dim)
{
	bool is = access->subs[0]->kind == EXPR_DIM && access->subs[0]->index == dim;

	for (int i = 1; is && i < access->array->rank; i++)
		is = !expr_uses_dim(access->subs[i], dim);
	return is;
}

static const char *access_problem(const struct search *search, const struct access *access)
{
	const struct array *array = access->array;

	if (!is_first_alone(access, search->dim))
		return arena_printf(search->arena, "'%s' is not just the first subscript of '%s'", search->name,
				    array->name);
	if (!array_is_argument(array) && array->role != ROLE_STATE)
		return arena_printf(search->arena, "'%s', of which '%s' is a row, may be stored otherwise than "
				    "declared", array->name, search->name);
	if (array->rank < 2)
		return arena_printf(search->arena, "a row of '%s' is one element, so that nothing is multiplied",
				    array->name);
	if (search->row_of && !rows_are_equal(search->row_of, array))
		return arena_printf(search->arena, "rows of '%s' and '%s' have different lengths",
				    search->row_of->name, array->name);
	return NULL;
}

static void look_at_access(struct access *access, void *user)
{
	struct search *search = user;

	if (search->problem || !access_uses_dim(access, search->dim))
		return;
	search->problem = access_problem(search, access);
	if (!search->row_of)
		search->row_of = access->array;
}

/* Is the value of the dim needed, elsewhere than in a subscript? */
static bool expr_computes(const struct expr *expr, int dim)
{
	bool does = expr->kind == EXPR_DIM && expr->index == dim;

	for (int i = 0; expr->kind != EXPR_READ && i < expr_n_args(expr); i++)
		does = does || expr_computes(expr->args[i], dim);
	return does;
}

static void look_at_dim(struct search *search, struct dim *dim)
{
	if (dim->kind == DIM_BIND)
		look_at_access(&dim->source, search);
	else if (dim_uses_dim(dim, search->dim))
		search->problem = arena_printf(search->arena, "the loop over '%s' needs '%s'", dim->name, search->name);
}

static void look_at_stage(struct search *search, struct stage *stage)
{
	for (int d = search->dim + 1; d < stage->dims.n; d++)
		look_at_dim(search, &stage->dims.items[d]);
	if (stage->guard && expr_uses_dim(stage->guard, search->dim))
		search->problem = arena_printf(search->arena, "a condition needs '%s'", search->name);
	if (expr_computes(stage->value, search->dim))
		search->problem = arena_printf(search->arena, "'%s' is a number that is computed with", search->name);
	expr_reads(stage->value, look_at_access, search);
	look_at_access(&stage->write, search);
}

/* The first stage in which it cannot be done, or else which uses the array. */
static const struct stage *look_at_uses(const struct module *module, const struct held *held, struct search *search)
{
	const struct stage *found = NULL;

	for (int i = 0; i < module->stages.n && !search->problem; i++) {
		struct stage *stage = module->stages.items[i];
		bool uses = expr_reads_array(stage->value, held->array);

		if (uses)
			search->problem = arena_printf(search->arena, "elements of '%s' are numbers that are computed "
						       "with", held->mode->name);
		for (int d = 0; d < stage->dims.n && !search->problem; d++)
			if (is_bound_to(&stage->dims.items[d], held->array)) {
				uses = true;
				search->dim = d;
				search->name = stage->dims.items[d].name;
				look_at_stage(search, stage);
			}
		if (uses && (!found || search->problem))
			found = stage;
	}
	if (!search->problem && !search->row_of)
		search->problem = "no rows are found by it";
	return found;
}

/* ---- the decision ---- */

/* What one item has come to. */
struct outcome {
	int n_done;
	const struct stage *stage;      /* of the first array that stays as it is */
	const char *problem;
	bool is_of_copy;                /* not of its uses */
};

static void decide(struct module *module, const struct held *held, struct outcome *outcome)
{
	struct search search = { .arena = module->arena };
	const struct stage *stage = look_at_uses(module, held, &search);
	struct span span = stage ? stage->span : held->array->span;

	if (held->problem)
		search.problem = held->problem;
	if (!search.problem) {
		held->array->row_of = search.row_of;
		outcome->n_done++;
		module_decide(module, DECISION_PREMULTIPLY, held->array->name, span,
			      "all it is for is to find rows of '%s'", search.row_of->name);
		return;
	}
	if (!outcome->problem) {
		outcome->stage = stage;
		outcome->problem = search.problem;
		outcome->is_of_copy = held->problem;
	}
	module_decide(module, DECISION_PREMULTIPLY_NOT, held->array->name, span, "%s", search.problem);
}

static bool refuse(struct module *module, const struct override *override, const struct outcome *outcome)
{
	struct diag *diag = diag_error(module->diags, DIAG_BAD_ITEM, override->span,
				       "'%s' cannot be premultiplied by '%s'", override->subjects.items[0],
				       override_choice(override));

	if (outcome->stage)
		diag_label(module->diags, diag, outcome->stage->span, "%s", outcome->problem);
	if (outcome->is_of_copy)
		return false;
	diag_help(module->diags, diag, (struct span) { 0 }, outcome->problem
		  ? "it must be a mode that only subscripts, alone, the first dimension of arrays with rows of one "
		    "length"
		  : "it must be a mode of which the restructuring keeps a copy; of one that loops run over there is "
		    "none");
	return false;
}

static bool premultiply(struct module *module, struct override *override)
{
	struct outcome outcome = { 0 };

	for (int i = 0; i < module->restructurings.n; i++) {
		held_list list = held_by(module->arena, &module->restructurings.items[i]);

		for (int h = 0; h < list.n; h++)
			if (is_meant(module, override, &list.items[h]))
				decide(module, &list.items[h], &outcome);
	}
	override->is_used = true;
	return outcome.n_done || refuse(module, override, &outcome);
}

bool pass_premultiply(struct module *module, const struct pass_options *options)
{
	bool ok = true;

	(void) options;
	for (int i = 0; i < module->overrides.n && module->restructurings.n; i++) {
		struct override *override = &module->overrides.items[i];

		if (override->verb == VERB_PREMULTIPLY && !override->is_used)
			ok = premultiply(module, override) && ok;
	}
	return ok;
}
