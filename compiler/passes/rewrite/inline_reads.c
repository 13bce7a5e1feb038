/* SPDX-License-Identifier: MIT
 *
 * The value in the place of a read: that of the definition at the subscripts of the read. Of a definition by cases it
 * is chosen by their guards there. Only cells that are defined are read, so that the last case needs no condition; of
 * the others, what holds wherever the read is made is left out. A read in the interior of a domain thus becomes the
 * value of the interior. */
#include "passes/rewrite/inline_private.h"

struct reading {
	const struct use *use;
	const struct stage *reader;
	struct expr *dims[8];           /* of the definition, at the subscripts of a read */
};

/* ---- conditions ---- */

static bool holds_at_all(const struct reading *r, const struct expr *condition, __isl_keep isl_set *points)
{
	isl_set *where = expr_set(r->use->module, r->reader, condition);
	bool holds = isl_set_is_subset(points, where) == isl_bool_true;

	isl_set_free(where);
	return holds;
}

/* The parts of the condition that do not hold at all of the points anyway; NULL: none. */
static struct expr *needed_part(const struct reading *r, struct expr *condition, __isl_keep isl_set *points)
{
	struct expr *a, *b;

	if (condition->kind != EXPR_OP || condition->op != OP_AND)
		return holds_at_all(r, condition, points) ? NULL : condition;
	a = needed_part(r, condition->args[0], points);
	b = needed_part(r, condition->args[1], points);
	if (!a || !b)
		return a ? a : b;
	return expr_binary(r->use->module->arena, OP_AND, TYPE_BOOL, a, b);
}

static struct expr *choice(struct arena *arena, struct expr *condition, struct expr *a, struct expr *b)
{
	struct expr **args = arena_new_array(arena, struct expr *, 3);

	args[0] = condition;
	args[1] = a;
	args[2] = b;
	return expr_call(arena, OP_CHOOSE, a->type, args, a->span);
}

/* ---- values ---- */

static struct expr *shifted(struct arena *arena, struct expr *expr, int64_t by)
{
	return by ? expr_binary(arena, OP_ADD, TYPE_I64, expr, expr_int(arena, by, expr->span)) : expr;
}

static struct expr *value_of(const struct reading *r, const struct stage *stage)
{
	struct arena *arena = r->use->module->arena;

	return expr_as(arena, r->use->array->type, expr_substitute(arena, stage->value, r->dims));
}

/* The value at `points` by the cases from `first` on; NULL: no case is for any of them. */
static struct expr *value_by_cases(const struct reading *r, int first, __isl_take isl_set *points)
{
	const stage_list *cases = &r->use->definition->stages;
	struct arena *arena = r->use->module->arena;
	struct expr *condition = NULL, *value = NULL, *other = NULL;

	for (int i = first; i < cases->n && !value; i++) {
		const struct stage *stage = cases->items[i];
		isl_set *where;

		condition = stage->guard ? expr_substitute(arena, stage->guard, r->dims) : NULL;
		where = condition ? expr_set(r->use->module, r->reader, condition) : isl_set_copy(points);
		condition = condition ? needed_part(r, condition, points) : NULL;
		if (isl_set_is_disjoint(points, where) != isl_bool_true)
			value = value_of(r, stage);
		points = isl_set_subtract(points, where);
		first = i + 1;
	}
	if (value && condition && first < cases->n)
		other = value_by_cases(r, first, isl_set_copy(points));
	isl_set_free(points);
	return other && !expr_equal(value, other) ? choice(arena, condition, value, other) : value;
}

/* What is not read at any point has any value. */
static struct expr *value_at(struct reading *r, const struct access *access, __isl_keep isl_set *points)
{
	const struct use *use = r->use;
	struct expr *value;

	for (int i = 0; i < use->array->rank; i++)
		r->dims[use->dim_of[i]] = shifted(use->module->arena, access->subs[i], -use->offset[i]);
	value = value_by_cases(r, 0, isl_set_copy(points));
	return value ? value : value_of(r, use->definition->stages.items[0]);
}

static struct expr *with_values(struct reading *r, struct expr *expr, __isl_keep isl_set *points);

/* The operands, of which those of a choice are read at the points where they are chosen. */
static void args_with_values(struct reading *r, struct expr *expr, __isl_keep isl_set *points)
{
	isl_set *where = expr_is_choice(expr) ? expr_set(r->use->module, r->reader, expr->args[0]) : NULL;

	for (int i = where ? 1 : 0; i < expr_n_args(expr); i++) {
		isl_set *here = isl_set_copy(points);

		if (where && i == 1)
			here = isl_set_intersect(here, isl_set_copy(where));
		else if (where)
			here = isl_set_subtract(here, isl_set_copy(where));
		expr->args[i] = with_values(r, expr->args[i], here);
		isl_set_free(here);
	}
	isl_set_free(where);
}

static struct expr *with_values(struct reading *r, struct expr *expr, __isl_keep isl_set *points)
{
	struct expr *copy;
	int n = expr_n_args(expr);

	if (expr->kind == EXPR_READ && expr->access.array == r->use->array)
		return value_at(r, &expr->access, points);
	if (!n)
		return expr;
	copy = arena_new(r->use->module->arena, struct expr);
	*copy = *expr;
	copy->args = arena_new_array(r->use->module->arena, struct expr *, n);
	for (int i = 0; i < n; i++)
		copy->args[i] = expr->args[i];
	args_with_values(r, copy, points);
	return copy;
}

void inline_reads(const struct use *use)
{
	for (int i = 0; i < use->readers->n; i++) {
		struct stage *stage = use->readers->items[i];
		struct reading reading = { .use = use, .reader = stage };

		stage->value = with_values(&reading, stage->value, stage->domain);
	}
}
