/* SPDX-License-Identifier: MIT
 *
 * New numbers for the values of a mode, by first use in the new order, so that neighbouring points use neighbouring
 * cells: w[fiber[k]] jumps through memory, since fibers are numbered by whoever traced them. An array that is read at
 * the mode is copied into the new order before the accumulation; one that is updated there is accumulated in the new
 * order and added to the old one behind it. Both go through order[new] = old, a permutation. */
#include <string.h>

#include "passes/restructure/restructure_private.h"

struct renumberer {
	struct rewriting *rewriting;
	struct module *module;
	struct renumbering renumbering;
	int dim;                        /* of the rewriting: the new number */
	enum region_kind region;
	VEC(struct array *) from, to;
};

/* ---- where it can be done ---- */

static bool access_is_by_mode(const struct access *access, int mode)
{
	return access_n_subs(access) && access->subs[0]->kind == EXPR_DIM && access->subs[0]->index == mode;
}

static bool access_allows(const struct access *access, int mode)
{
	bool allows = true;

	for (int i = access_is_by_mode(access, mode) ? 1 : 0; allows && i < access_n_subs(access); i++)
		allows = !expr_uses_dim(access->subs[i], mode);
	return allows;
}

/* Is the mode used as the first subscript and nowhere else? */
static bool expr_allows(const struct expr *expr, int mode)
{
	bool allows = expr->kind != EXPR_DIM || expr->index != mode;

	if (expr->kind == EXPR_READ)
		allows = access_allows(&expr->access, mode);
	for (int i = 0; allows && i < expr_n_args(expr); i++)
		allows = expr_allows(expr->args[i], mode);
	return allows;
}

static bool array_is_whole(const struct accumulation *accumulation, const struct array *array, int mode)
{
	int64_t lo;

	return expr_is_constant(array->lo[0], &lo) && lo == 0 &&
	       expr_equal(array->hi[0], accumulation->stage->dims.items[mode].source.array->limit);
}

struct extent_search {
	const struct accumulation *accumulation;
	int mode;
	bool all_whole, is_used;
};

static void look_at_access(struct access *access, void *user)
{
	struct extent_search *search = user;

	if (!access_is_by_mode(access, search->mode))
		return;
	search->is_used = true;
	search->all_whole = search->all_whole &&
			    array_is_whole(search->accumulation, access->array, search->mode);
}

bool renumbering_is_possible(const struct accumulation *accumulation, int mode)
{
	struct stage *stage = accumulation->stage;
	struct extent_search search = { accumulation, mode, true, false };
	bool possible = expr_allows(stage->value, mode) && access_allows(&stage->write, mode);

	for (int d = mode + 1; possible && d < stage->dims.n; d++) {
		const struct dim *dim = &stage->dims.items[d];

		if (dim->kind == DIM_RANGE)
			possible = !expr_uses_dim(dim->lo, mode) && !expr_uses_dim(dim->hi, mode);
		else
			possible = !access_uses_dim(&dim->source, mode);
	}
	expr_reads(stage->value, look_at_access, &search);
	look_at_access(&stage->write, &search);
	return possible && search.is_used && search.all_whole;
}

/* ---- groups that copy ---- */

/* for new in 0..limit, old = order[new], and the other dimensions of `array` */
static dim_list copy_dims(struct renumberer *r, const struct array *array)
{
	struct arena *arena = r->module->arena;
	struct span span = r->rewriting->accumulation->stage->span;
	const char *mode = r->rewriting->dims.items[r->dim].name;
	struct dim number = { .kind = DIM_RANGE, .span = span, .lo = array->lo[0], .hi = array->hi[0] };
	struct dim old = { .kind = DIM_BIND, .name = mode, .span = span };
	dim_list dims = { 0 };

	number.name = arena_printf(arena, "new_%s", mode);
	old.source = (struct access) { .array = r->renumbering.order, .span = span };
	old.source.subs = arena_new_array(arena, struct expr *, 1);
	old.source.subs[0] = expr_dim(arena, 0, span);
	vec_push(arena, &dims, number);
	vec_push(arena, &dims, old);
	for (int i = 1; i < array->rank; i++) {
		struct dim dim = { .kind = DIM_RANGE, .name = arena_printf(arena, "i%d", i), .span = span,
				   .lo = array->lo[i], .hi = array->hi[i] };

		vec_push(arena, &dims, dim);
	}
	return dims;
}

/* array[dim, the other dimensions] at the dims above */
static struct access copy_access(struct renumberer *r, struct array *array, int dim)
{
	struct arena *arena = r->module->arena;
	struct span span = r->rewriting->accumulation->stage->span;
	struct access access = { .array = array, .span = span };

	access.subs = arena_new_array(arena, struct expr *, array->rank);
	for (int i = 0; i < array->rank; i++)
		access.subs[i] = expr_dim(arena, i ? i + 1 : dim, span);
	return access;
}

static struct stage *add_copy(struct renumberer *r, const char *name, struct access to, enum reduce_op op,
			      struct expr *value, int after)
{
	struct region *region = &r->module->regions[r->region];
	dim_list dims = copy_dims(r, to.array);
	struct group *group = module_add_group(r->module, r->region, name, r->rewriting->accumulation->stage->span);
	struct stage *stage = module_add_stage(r->module, group, &dims, group->span);

	region_move_last(region, after);
	stage->guard = r->rewriting->accumulation->stage->guard;
	stage->write = to;
	stage->op = op;
	stage->value = value;
	return stage;
}

static int position(const struct renumberer *r)
{
	return region_place_of(&r->module->regions[r->region], r->rewriting->accumulation->group);
}

static struct expr *read_of(struct renumberer *r, struct access access)
{
	return expr_read(r->module->arena, access.array, access.subs, access.span);
}

/* ---- arrays in the new order ---- */

static struct array *add_array_like(struct renumberer *r, struct array *array)
{
	const char *base = arena_printf(r->module->arena, "%s.renumbered", array->name), *name = base;
	struct array *copy;

	for (int i = 2; module_find_array(r->module, name); i++)
		name = arena_printf(r->module->arena, "%s_%d", base, i);
	copy = module_add_array(r->module, name, ROLE_TEMP, array->type, array->rank, array->span);
	for (int i = 0; i < array->rank; i++) {
		copy->lo[i] = array->lo[i];
		copy->hi[i] = array->hi[i];
	}
	copy->stands_for = array;
	return copy;
}

static struct array *copy_of(struct renumberer *r, struct array *array)
{
	struct array *copy;

	for (int i = 0; i < r->from.n; i++)
		if (r->from.items[i] == array)
			return r->to.items[i];
	copy = add_array_like(r, array);
	add_copy(r, copy->name, copy_access(r, copy, 0), REDUCE_SET, read_of(r, copy_access(r, array, 1)),
		 position(r));
	vec_push(r->module->arena, &r->from, array);
	vec_push(r->module->arena, &r->to, copy);
	return copy;
}

static void read_copy(struct access *access, void *user)
{
	struct renumberer *r = user;

	if (access_is_by_mode(access, r->dim))
		access->array = copy_of(r, access->array);
}

static struct expr *start_value(struct renumberer *r, const struct stage *stage)
{
	enum scalar_type type = stage->write.array->type;

	(void) r;
	if (type_is_float(type))
		return expr_float(r->module->arena, 0, type, stage->span);
	return expr_cast(r->module->arena, type, expr_int(r->module->arena, 0, stage->span));
}

/* The target itself: zeroed, accumulated and added to the old one. */
static void redirect_target(struct renumberer *r)
{
	struct access *write = &r->rewriting->write;
	struct array *target = write->array, *copy = add_array_like(r, target);
	struct stage *start = add_copy(r, copy->name, copy_access(r, copy, 0), REDUCE_SET,
				       start_value(r, r->rewriting->accumulation->stage), position(r));

	start->is_init = true;
	add_copy(r, target->name, copy_access(r, target, 1), REDUCE_ADD, read_of(r, copy_access(r, copy, 0)),
		 position(r) + 1);
	write->array = copy;
}

void renumber_mode(struct rewriting *rewriting, int mode)
{
	struct renumberer r = { .rewriting = rewriting, .module = rewriting->accumulation->module,
				.renumbering = rewriting->restructuring->renumberings.items[0],
				.dim = rewriting->map[mode]->index };

	r.region = group_region(r.module, rewriting->accumulation->group);
	expr_reads(rewriting->value, read_copy, &r);
	if (access_is_by_mode(&rewriting->write, r.dim))
		redirect_target(&r);
}
