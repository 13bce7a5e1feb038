/* SPDX-License-Identifier: MIT
 *
 * Counterexamples in the words of the program: the smallest point of a relation between instances and cells, as
 * "i = 1, row[i] = 0" and "n = 2". What plays no part in the relation is left out. */
#include "ir/ir.h"

#include <isl/point.h>

/* 0 of a relation that isl's quota has kept from being. */
static unsigned dims_of(__isl_keep isl_map *map, enum isl_dim_type type)
{
	isl_size n = isl_map_dim(map, type);

	return n < 0 ? 0 : (unsigned) n;
}

static bool plays_part(__isl_keep isl_map *map, enum isl_dim_type type, unsigned dim)
{
	return isl_map_involves_dims(map, type, dim, 1) == isl_bool_true;
}

/* The number among the params of `sizes` of a size that plays a part there, or -1. */
static int size_dim(const struct param *param, __isl_keep isl_set *sizes)
{
	int at = isl_set_find_dim_by_name(sizes, isl_dim_param, param->name);

	if (param->is_scalar || param->is_loop || at < 0)
		return -1;
	return isl_set_involves_dims(sizes, isl_dim_param, (unsigned) at, 1) == isl_bool_true ? at : -1;
}

/* Those of `sizes` that are `least` at least; all of them if there are none such. */
static __isl_give isl_set *prefer_from(__isl_take isl_set *sizes, int at, int least, bool *has_some)
{
	isl_set *some = isl_set_lower_bound_si(isl_set_copy(sizes), isl_dim_param, (unsigned) at, least);

	*has_some = isl_set_is_empty(some) == isl_bool_false;
	isl_set_free(*has_some ? sizes : some);
	return *has_some ? some : sizes;
}

/* What goes wrong in a loop that runs once, or not at all, says little. */
__isl_give isl_set *witness_sizes(const struct module *module, __isl_take isl_set *sizes)
{
	for (int i = 0; i < module->params.n; i++) {
		int at = size_dim(&module->params.items[i], sizes);
		bool done = at < 0;

		for (int least = 2; least > 0 && !done; least--)
			sizes = prefer_from(sizes, at, least, &done);
	}
	return sizes;
}

__isl_give isl_map *witness_relation(const struct module *module, __isl_take isl_map *map)
{
	isl_map *telling = isl_map_gist_params(isl_map_copy(map), isl_set_copy(module->context));

	for (unsigned i = 0; i < dims_of(map, isl_dim_param); i++)
		if (!plays_part(telling, isl_dim_param, i))
			map = isl_map_eliminate(map, isl_dim_param, i, 1);
	isl_map_free(telling);
	return isl_map_intersect_params(map, witness_sizes(module, isl_map_params(isl_map_copy(map))));
}

/* ---- what an access that goes wrong has to do with ---- */

struct concerns {
	const struct module *module;
	const struct stage *stage;
	bool *params, *dims;            /* by number: of what is read, or where */
	bool *ranges;                   /* by number of dim: its bounds, too */
};

static void concern(struct concerns *c, const struct expr *expr, bool with_ranges)
{
	if (expr->kind == EXPR_PARAM)
		c->params[expr->index] = true;
	if (expr->kind == EXPR_DIM) {
		c->dims[expr->index] = true;
		c->ranges[expr->index] = c->ranges[expr->index] || with_ranges;
	}
	for (int i = 0; i < expr_n_args(expr); i++)
		concern(c, expr->args[i], with_ranges);
}

/* What is read from an index array is told with where, whatever range that has. */
static void concern_dim(struct concerns *c, const struct dim *dim, bool with_range)
{
	if (dim->kind == DIM_RANGE && with_range) {
		concern(c, dim->lo, true);
		concern(c, dim->hi, true);
	}
	for (int i = 0; dim->kind != DIM_RANGE && i < dim->source.array->rank; i++)
		concern(c, dim->source.subs[i], false);
	if (dim->kind != DIM_RANGE && dim->source.array->limit)
		concern(c, dim->source.array->limit, false);
}

static struct concerns concerns_of(const struct module *module, const struct stage *stage, const struct access *access)
{
	struct concerns c = { module, stage, arena_new_array(module->arena, bool, module->params.n + 1),
			      arena_new_array(module->arena, bool, stage->dims.n + 1),
			      arena_new_array(module->arena, bool, stage->dims.n + 1) };

	for (int i = 0; i < access->array->rank; i++) {
		concern(&c, access->subs[i], true);
		concern(&c, access->array->lo[i], false);
		concern(&c, access->array->hi[i], false);
	}
	for (int i = stage->dims.n - 1; i >= 0; i--)
		if (c.dims[i])
			concern_dim(&c, &stage->dims.items[i], c.ranges[i]);
	if (module->loop.var && c.params[module->loop.param]) {
		concern(&c, module->loop.lo, false);
		concern(&c, module->loop.hi, false);
	}
	return c;
}

/* Without the dim, if it has no say in which of the points of `all` are in `bad`. */
static __isl_give isl_map *drop_idle(__isl_take isl_map *bad, __isl_keep isl_map *all, enum isl_dim_type type,
				     unsigned dim)
{
	isl_map *free = isl_map_eliminate(isl_map_copy(bad), type, dim, 1);
	isl_map *same = isl_map_intersect(isl_map_copy(free), isl_map_copy(all));
	bool is_idle = isl_map_is_subset(same, bad) == isl_bool_true;

	isl_map_free(same);
	isl_map_free(is_idle ? bad : free);
	return is_idle ? free : bad;
}

__isl_give isl_map *witness_of_access(const struct module *module, const struct stage *stage,
				      const struct access *access, __isl_take isl_map *all, __isl_take isl_map *bad)
{
	struct concerns c = concerns_of(module, stage, access);

	for (int i = 0; i < stage->dims.n; i++)
		if (!c.dims[i])
			bad = drop_idle(bad, all, isl_dim_in, (unsigned) i);
	for (int i = 0; i < module->params.n; i++) {
		int at = isl_map_find_dim_by_name(bad, isl_dim_param, module->params.items[i].name);

		if (at >= 0 && !c.params[i])
			bad = drop_idle(bad, all, isl_dim_param, (unsigned) at);
	}
	isl_map_free(all);
	return bad;
}

/* ---- the smallest point ---- */

/* What plays no part, and may have no smallest value, is 0. */
__isl_give isl_point *witness_smallest(__isl_keep isl_map *map)
{
	isl_set *all = isl_set_flatten(isl_map_wrap(isl_map_copy(map)));
	unsigned n = dims_of(map, isl_dim_param), n_in = dims_of(map, isl_dim_in);

	for (unsigned i = 0; i < n; i++)
		if (!plays_part(map, isl_dim_param, i))
			all = isl_set_fix_si(all, isl_dim_param, i, 0);
	for (unsigned i = 0; i < n_in; i++)
		if (!plays_part(map, isl_dim_in, i))
			all = isl_set_fix_si(all, isl_dim_set, i, 0);
	all = isl_set_move_dims(isl_set_reset_tuple_id(all), isl_dim_set, 0, isl_dim_param, 0, n);
	return isl_set_sample_point(isl_set_lexmin(all));
}

static unsigned first_of(__isl_keep isl_map *map, enum isl_dim_type type)
{
	unsigned n = type == isl_dim_param ? 0 : dims_of(map, isl_dim_param);

	return type == isl_dim_out ? n + dims_of(map, isl_dim_in) : n;
}

long witness_value(__isl_keep isl_map *map, __isl_keep isl_point *point, enum isl_dim_type type, unsigned dim)
{
	isl_val *value = isl_point_get_coordinate_val(point, isl_dim_set, (int) (first_of(map, type) + dim));
	long number = isl_val_get_num_si(value);

	isl_val_free(value);
	return number;
}

const char *witness_params(struct module *module, __isl_keep isl_map *map, __isl_keep isl_point *point)
{
	struct str text = str_new(module->arena);

	for (unsigned i = 0; i < dims_of(map, isl_dim_param); i++)
		if (plays_part(map, isl_dim_param, i))
			str_add(&text, "%s%s = %ld", text.length ? ", " : "",
				isl_map_get_dim_name(map, isl_dim_param, i),
				witness_value(map, point, isl_dim_param, i));
	return str_text(&text);
}

const char *dim_title(const struct module *module, const struct stage *stage, int number)
{
	const struct dim *dim = &stage->dims.items[number];

	return dim->kind == DIM_BIND ? access_text(module->arena, module, stage, &dim->source) : dim->name;
}

const char *witness_dims(struct module *module, const struct stage *stage, int n, __isl_keep isl_map *map,
			 __isl_keep isl_point *point, enum isl_dim_type type, unsigned first)
{
	struct str text = str_new(module->arena);

	for (int i = 0; i < n; i++) {
		unsigned at = first + (unsigned) i;

		if (plays_part(map, type, at))
			str_add(&text, "%s%s = %ld", text.length ? ", " : "", dim_title(module, stage, i),
				witness_value(map, point, type, at));
	}
	return str_text(&text);
}

const char *array_title(struct arena *arena, const struct array *array)
{
	return array->owner ? arena_printf(arena, "next %s", array->owner->name) : array->name;
}

const char *witness_text(struct module *module, const struct stage *stage, __isl_keep isl_map *pairs,
			 __isl_keep isl_point *point)
{
	const char *dims = witness_dims(module, stage, stage->dims.n, pairs, point, isl_dim_in, 0);
	const char *params = witness_params(module, pairs, point);

	return arena_printf(module->arena, "%s%s%s%s", *dims || *params ? ", when " : "", dims,
			    *dims && *params ? ", " : "", params);
}
