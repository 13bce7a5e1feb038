/* SPDX-License-Identifier: MIT
 *
 * The term of a restructured accumulation, cut at the loops that its factors need. With C the common dims, K those of
 * the points of a run and T the others,
 *
 *     target[C, T] += sum over K of f(C, K) * g(C, T)    =    (sum over K of f) * g
 *     target[C, K] += sum over T of f(C, K) * g(C, T)    =    f * (sum over T of g)
 *
 * so that the inner sum, which is kept in a local variable, is computed once for each point of C: points of equal keys
 * share the factors that depend on the keys alone, and what does not move in an inner loop is computed outside. The
 * factors of a term may be associated anew, as its sums may (docs/language.md).
 *
 * A loop that a factor of the points moves with, or the target together with a point, is made common where another one
 * is left for T: Y[q, voxel[k], t] += D[atom[k], t] * w[q, fiber[k]] for each q as if there were no other. */
#include "passes/restructure/restructure_private.h"

typedef VEC(struct expr *) factor_list;

/* ---- who needs what ---- */

static bool uses_dims(const struct expr *expr, int first, int last)
{
	bool uses = false;

	for (int d = first; !uses && d < last; d++)
		uses = expr_uses_dim(expr, d);
	return uses;
}

static int end_of_points(const struct rewriting *rewriting)
{
	return rewriting->n_common + rewriting->n_points;
}

static bool expr_needs_points(const struct rewriting *rewriting, const struct expr *expr)
{
	return uses_dims(expr, rewriting->n_common, end_of_points(rewriting));
}

static bool expr_needs_others(const struct rewriting *rewriting, const struct expr *expr)
{
	return uses_dims(expr, end_of_points(rewriting), rewriting->dims.n);
}

static bool dims_are_independent(const struct rewriting *rewriting)
{
	bool are = true;

	for (int d = end_of_points(rewriting); are && d < rewriting->dims.n; d++) {
		const struct dim *dim = &rewriting->dims.items[d];

		if (dim->kind == DIM_RANGE)
			are = !expr_needs_points(rewriting, dim->lo) && !expr_needs_points(rewriting, dim->hi);
		else
			for (int i = 0; are && i < dim->source.array->rank; i++)
				are = !expr_needs_points(rewriting, dim->source.subs[i]);
	}
	return are;
}

static bool target_needs(const struct rewriting *rewriting,
			 bool (*needs)(const struct rewriting *rewriting, const struct expr *expr))
{
	bool any = false;

	for (int i = 0; !any && i < access_n_subs(&rewriting->write); i++)
		any = needs(rewriting, rewriting->write.subs[i]);
	return any;
}

static void collect(struct arena *arena, struct expr *expr, factor_list *list)
{
	if (expr->kind == EXPR_OP && expr->op == OP_MUL) {
		collect(arena, expr->args[0], list);
		collect(arena, expr->args[1], list);
	} else {
		vec_push(arena, list, expr);
	}
}

/* ---- loops that are made common ---- */

static bool uses_any(const struct expr *expr, const bool *dims, int n)
{
	bool uses = false;

	for (int d = 0; !uses && d < n; d++)
		uses = dims[d] && expr_uses_dim(expr, d);
	return uses;
}

static bool access_uses(const struct access *access, const bool *dims, int n)
{
	bool uses = false;

	for (int i = 0; !uses && i < access_n_subs(access); i++)
		uses = uses_any(access->subs[i], dims, n);
	return uses;
}

/* Is there something that moves both with the dim and with a point? */
static bool moves_with_points(const struct stage *stage, const factor_list *factors, const bool *is_of_point, int dim)
{
	bool moves = access_uses_dim(&stage->write, dim) && access_uses(&stage->write, is_of_point, stage->dims.n);

	for (int i = 0; !moves && i < factors->n; i++)
		moves = expr_uses_dim(factors->items[i], dim) &&
			uses_any(factors->items[i], is_of_point, stage->dims.n);
	return moves;
}

struct row_search {
	int dim;
	bool is_along;
};

static void look_along(struct access *access, void *user)
{
	struct row_search *search = user;
	int n = access_n_subs(access);

	search->is_along = search->is_along || (n && expr_uses_dim(access->subs[n - 1], search->dim));
}

/* Does the dim move the last subscript of anything? Such loops stay inside: vectors are along them. */
static bool is_along_rows(const struct stage *stage, int dim)
{
	struct access write = stage->write;
	struct row_search search = { dim, false };

	expr_reads(stage->value, look_along, &search);
	look_along(&write, &search);
	return search.is_along;
}

static bool bounds_use(const struct dim *dim, const bool *dims, int n)
{
	return uses_any(dim->lo, dims, n) || uses_any(dim->hi, dims, n);
}

bool factors_find_common(const struct accumulation *accumulation, const bool *is_of_point, bool *is_common)
{
	const struct stage *stage = accumulation->stage;
	struct arena *arena = accumulation->module->arena;
	bool *stays = arena_new_array(arena, bool, stage->dims.n), has_others = false;
	factor_list factors = { 0 };

	collect(arena, stage->value, &factors);
	for (int d = 1; d < stage->dims.n; d++) {
		if (is_of_point[d] || stage->dims.items[d].kind != DIM_RANGE)
			continue;
		is_common[d] = moves_with_points(stage, &factors, is_of_point, d);
		stays[d] = !is_common[d];
		has_others |= stays[d];
	}
	for (int d = 1; d < stage->dims.n; d++)
		if (is_common[d] && (is_along_rows(stage, d) ||
				     bounds_use(&stage->dims.items[d], is_of_point, stage->dims.n) ||
				     bounds_use(&stage->dims.items[d], stays, stage->dims.n)))
			return false;
	return has_others && stage->op == REDUCE_ADD && type_is_float(stage->value->type);
}

static factor_list all_factors(const struct rewriting *rewriting)
{
	factor_list list = { 0 };

	collect(rewriting->accumulation->module->arena, rewriting->value, &list);
	return list;
}

bool factors_separate(const struct rewriting *rewriting)
{
	factor_list all = all_factors(rewriting);
	bool separate = rewriting->accumulation->stage->op == REDUCE_ADD && dims_are_independent(rewriting) &&
			!(target_needs(rewriting, expr_needs_points) && target_needs(rewriting, expr_needs_others));

	for (int i = 0; separate && i < all.n; i++)
		separate = !(expr_needs_points(rewriting, all.items[i]) && expr_needs_others(rewriting, all.items[i]));
	return separate;
}

/* ---- new stages ---- */

static struct expr *product(struct arena *arena, const factor_list *list)
{
	struct expr *value = list->n ? list->items[0] : NULL;

	for (int i = 1; i < list->n; i++)
		value = expr_binary(arena, OP_MUL, value->type, value, list->items[i]);
	return value;
}

/* The common dims, then dims first..last-1. */
static dim_list dims_of(const struct rewriting *rewriting, int first, int last)
{
	dim_list list = { 0 };

	for (int d = 0; d < rewriting->dims.n; d++)
		if (d < rewriting->n_common || (d >= first && d < last))
			vec_push(rewriting->accumulation->module->arena, &list, rewriting->dims.items[d]);
	return list;
}

/* `expr` for a stage that has the common dims and those from `first` on. */
static struct expr *renumber(const struct rewriting *rewriting, struct expr *expr, int first)
{
	struct arena *arena = rewriting->accumulation->module->arena;
	struct expr **dims = arena_new_array(arena, struct expr *, rewriting->dims.n);

	for (int d = first; d < rewriting->dims.n; d++)
		dims[d] = expr_dim(arena, d - first + rewriting->n_common, rewriting->dims.items[d].span);
	return expr_substitute(arena, expr, dims);
}

static void renumber_dims(const struct rewriting *rewriting, dim_list *dims, int first)
{
	struct arena *arena = rewriting->accumulation->module->arena;

	for (int d = rewriting->n_common; d < dims->n; d++) {
		struct dim *dim = &dims->items[d];
		struct expr **subs;

		if (dim->kind == DIM_RANGE) {
			dim->lo = renumber(rewriting, dim->lo, first);
			dim->hi = renumber(rewriting, dim->hi, first);
			continue;
		}
		subs = arena_new_array(arena, struct expr *, dim->source.array->rank);
		for (int i = 0; i < dim->source.array->rank; i++)
			subs[i] = renumber(rewriting, dim->source.subs[i], first);
		dim->source.subs = subs;
	}
}

/* A stage of the common dims and dims first..last-1. */
static struct stage *add_stage(const struct rewriting *rewriting, int first, int last, struct access write,
			       enum reduce_op op, struct expr *value)
{
	const struct accumulation *accumulation = rewriting->accumulation;
	struct stage *stage = accumulation->stage, *old = stage;
	struct group *group = accumulation->group;
	dim_list dims = dims_of(rewriting, first, last);
	struct expr **subs = arena_new_array(accumulation->module->arena, struct expr *, access_n_subs(&write));

	renumber_dims(rewriting, &dims, first);
	if (op != REDUCE_ADD || write.array->role == ROLE_LOCAL)
		stage = module_add_stage(accumulation->module, group, &dims, old->span);
	else
		vec_push(accumulation->module->arena, &group->stages, stage);
	for (int i = 0; i < access_n_subs(&write); i++)
		subs[i] = renumber(rewriting, write.subs[i], first);
	write.subs = subs;
	stage->dims = dims;
	stage->guard = old->guard;
	stage->write = write;
	stage->op = op;
	stage->value = renumber(rewriting, value, first);
	return stage;
}

static struct access local_sum(const struct rewriting *rewriting)
{
	const struct accumulation *accumulation = rewriting->accumulation;
	struct module *module = accumulation->module;
	const char *base = arena_printf(module->arena, "%s.sum", accumulation->stage->write.array->name), *name = base;
	struct array *array;

	for (int i = 2; module_find_array(module, name); i++)
		name = arena_printf(module->arena, "%s_%d", base, i);
	array = module_add_array(module, name, ROLE_LOCAL, accumulation->stage->value->type, 0,
				 accumulation->stage->span);
	array->group = accumulation->group;
	if (array->type == accumulation->stage->write.array->type)
		array->sums = accumulation->stage->write.array->sums;
	return (struct access) { .array = array, .span = accumulation->stage->span };
}

/* local = sum over the dims first..last-1 of `inner`; a product if there are none. */
static struct expr *add_local(const struct rewriting *rewriting, int first, int last, struct expr *inner)
{
	struct arena *arena = rewriting->accumulation->module->arena;
	struct access local = local_sum(rewriting);
	struct span span = rewriting->accumulation->stage->span;

	if (first == last) {
		add_stage(rewriting, first, last, local, REDUCE_SET, inner);
	} else {
		struct stage *init = add_stage(rewriting, first, first, local, REDUCE_SET,
					       expr_float(arena, 0, inner->type, span));

		init->is_init = true;
		add_stage(rewriting, first, last, local, REDUCE_ADD, inner);
	}
	return expr_read(arena, local.array, NULL, span);
}

static void add_whole(const struct rewriting *rewriting)
{
	struct group *group = rewriting->accumulation->group;
	struct stage *stage = rewriting->accumulation->stage;

	group->n_common = rewriting->dims.n;
	vec_push(rewriting->accumulation->module->arena, &group->stages, stage);
	stage->dims = rewriting->dims;
	stage->write = rewriting->write;
	stage->value = rewriting->value;
}

/* What is summed in the local variable: dims first..last-1, none for a mere product. */
struct cut {
	int first, last;
	bool is_inner_others;           /* its factors are those that need dims of T; else those that do not */
	bool exists;
};

static struct cut find_cut(const struct rewriting *rewriting)
{
	int points = rewriting->n_common, others = end_of_points(rewriting), end = rewriting->dims.n;
	bool needs_points = target_needs(rewriting, expr_needs_points);
	bool needs_others = target_needs(rewriting, expr_needs_others);

	if (points < others && !needs_points)
		return (struct cut) { points, others, false, true };
	if (others < end && !needs_others)
		return (struct cut) { others, end, true, true };
	return (struct cut) { others, others, false, points == others && others < end };
}

void factor_stages(const struct rewriting *rewriting)
{
	struct arena *arena = rewriting->accumulation->module->arena;
	struct cut cut = find_cut(rewriting);
	factor_list all = all_factors(rewriting), inner = { 0 }, outer = { 0 };
	int others = end_of_points(rewriting);

	for (int i = 0; i < all.n; i++)
		if (expr_needs_others(rewriting, all.items[i]) == cut.is_inner_others)
			vec_push(arena, &inner, all.items[i]);
		else
			vec_push(arena, &outer, all.items[i]);
	rewriting->accumulation->group->stages.n = 0;
	rewriting->accumulation->group->direction = NULL;
	rewriting->accumulation->group->n_common = rewriting->n_common;
	if (!factors_separate(rewriting) || !type_is_float(rewriting->value->type) || !cut.exists || !inner.n) {
		add_whole(rewriting);
		return;
	}
	vec_push(arena, &outer, add_local(rewriting, cut.first, cut.last, product(arena, &inner)));
	if (cut.is_inner_others)
		add_stage(rewriting, rewriting->n_common, others, rewriting->write, REDUCE_ADD,
			  product(arena, &outer));
	else
		add_stage(rewriting, others, rewriting->dims.n, rewriting->write, REDUCE_ADD,
			  product(arena, &outer));
}
