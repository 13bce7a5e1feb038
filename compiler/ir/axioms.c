/* SPDX-License-Identifier: MIT
 *
 * What index arrays promise, as relations.
 *
 * isl knows nothing of the values of an index array. Each bound dim is a pair (subscript, value) of its array, and
 * so is a child c of a node i: (c, i) of the parent array. For two such pairs (x, v), (y, w) of one array
 *     function   x = y  implies  v = w
 *     sorted     x <= y implies  v <= w      (offsets too: segments do not overlap)
 *     unique     x != y implies  v != w      (but for the -1 of roots)
 * Pairs of instances that break an implication cannot exist in any data and are taken out of dependences. The
 * runtime checks each fact when the array is bound (runtime/bind.c); for trees, parent[i] < i is in the domains. */
#include "ir/ir.h"

/* One read of an index array by a dim: { S[D] -> [subscripts] } and { S[D] -> [value] }. */
struct binding {
	const struct array *array;
	isl_map *subscript, *value;
};

static __isl_give isl_map *dim_map(const struct module *module, const struct stage *stage, int number)
{
	const struct expr dim = { .kind = EXPR_DIM, .type = TYPE_I64, .index = number };

	return isl_map_from_pw_aff(expr_pw_aff(module, stage, &dim));
}

static __isl_give isl_map *subscript_map(const struct module *module, const struct stage *stage,
					 const struct access *source)
{
	isl_map *map = isl_map_from_domain(isl_set_universe(isl_set_get_space(stage->domain)));

	for (int i = 0; i < source->array->rank; i++)
		map = isl_map_flat_range_product(map, isl_map_from_pw_aff(expr_pw_aff(module, stage,
										      source->subs[i])));
	return map;
}

static bool dim_binding(const struct module *module, const struct stage *stage, int number, struct binding *binding)
{
	const struct dim *dim = &stage->dims.items[number];

	if (dim->kind == DIM_RANGE)
		return false;
	binding->array = dim->source.array;
	binding->subscript = subscript_map(module, stage, &dim->source);
	binding->value = dim_map(module, stage, number);
	if (dim->kind == DIM_CHILDREN) {
		isl_map *node = binding->subscript;

		binding->subscript = binding->value;
		binding->value = node;
	}
	return true;
}

static void binding_free(struct binding *binding)
{
	isl_map_free(binding->subscript);
	isl_map_free(binding->value);
}

enum relation { LESS, EQUAL, UNEQUAL, GREATER };

/* { [x] -> [y] : x relation y }; LESS and GREATER of single numbers. */
static __isl_give isl_map *relation_map(__isl_take isl_space *value_space, enum relation relation)
{
	isl_space *space = isl_space_map_from_set(value_space);
	isl_map *equal = isl_map_identity(isl_space_copy(space));
	isl_map *all = isl_map_universe(space);

	if (relation == EQUAL) {
		isl_map_free(all);
		return equal;
	}
	if (relation == UNEQUAL)
		return isl_map_subtract(all, equal);
	isl_map_free(equal);
	return relation == LESS ? isl_map_order_lt(all, isl_dim_in, 0, isl_dim_out, 0)
				: isl_map_order_gt(all, isl_dim_in, 0, isl_dim_out, 0);
}

/* { S[D] -> T[E] : a(D) relation b(E) } */
static __isl_give isl_map *pairs(__isl_keep isl_map *a, __isl_keep isl_map *b, enum relation relation)
{
	isl_map *between = relation_map(isl_space_range(isl_map_get_space(a)), relation);

	between = isl_map_apply_range(isl_map_copy(a), between);
	return isl_map_apply_range(between, isl_map_reverse(isl_map_copy(b)));
}

static __isl_give isl_map *pairs_both(const struct binding *a, const struct binding *b, enum relation subscripts,
				      enum relation values)
{
	return isl_map_intersect(pairs(a->subscript, b->subscript, subscripts), pairs(a->value, b->value, values));
}

/* One value, which is not that of roots, at two subscripts. */
static __isl_give isl_map *values_twice(const struct binding *a, const struct binding *b)
{
	isl_map *not_root = isl_map_lower_bound_si(isl_map_copy(a->value), isl_dim_out, 0, 0);

	return isl_map_intersect_domain(pairs_both(a, b, UNEQUAL, EQUAL), isl_map_domain(not_root));
}

static __isl_give isl_map *binding_impossible(const struct binding *a, const struct binding *b)
{
	isl_map *impossible = pairs_both(a, b, EQUAL, UNEQUAL);

	if (a->array->rank == 1 && a->array->facts & (FACT_SORTED | FACT_OFFSETS)) {
		impossible = isl_map_union(impossible, pairs_both(a, b, LESS, GREATER));
		impossible = isl_map_union(impossible, pairs_both(a, b, GREATER, LESS));
	}
	if (a->array->facts & FACT_UNIQUE)
		impossible = isl_map_union(impossible, values_twice(a, b));
	return impossible;
}

static __isl_give isl_map *no_pairs(const struct stage *a, const struct stage *b)
{
	isl_space *space = isl_space_map_from_domain_and_range(isl_set_get_space(a->domain),
							       isl_set_get_space(b->domain));

	return isl_map_empty(space);
}

/* What the binding promises where the loop's variable is `name`; false when it promises nothing. */
static bool binding_in_iteration(const struct module *module, struct binding *binding, const char *name)
{
	if (binding->array->role != ROLE_IN)
		return false;
	binding->subscript = map_in_iteration(module, binding->subscript, name);
	binding->value = map_in_iteration(module, binding->value, name);
	return true;
}

/* `later`: the variable of the loop for `b`; NULL: both are in one iteration. */
static __isl_give isl_map *dim_impossible(const struct module *module, const struct stage *a, int i,
					  const struct stage *b, const char *later, __isl_take isl_map *impossible)
{
	struct binding first, second;

	if (!dim_binding(module, a, i, &first))
		return impossible;
	for (int j = 0; j < b->dims.n; j++) {
		if (!dim_binding(module, b, j, &second))
			continue;
		if (first.array == second.array && (!later || binding_in_iteration(module, &second, later)))
			impossible = isl_map_union(impossible, binding_impossible(&first, &second));
		binding_free(&second);
	}
	binding_free(&first);
	return impossible;
}

static __isl_give isl_map *stages_impossible(const struct module *module, const struct stage *a,
					     const struct stage *b, const char *later)
{
	isl_map *impossible = no_pairs(a, b);

	for (int i = 0; i < a->dims.n; i++)
		impossible = dim_impossible(module, a, i, b, later, impossible);
	return impossible;
}

__isl_give isl_map *axioms_impossible(const struct module *module, const struct stage *a, const struct stage *b)
{
	return stages_impossible(module, a, b, NULL);
}

__isl_give isl_map *axioms_impossible_apart(const struct module *module, const struct stage *a, const struct stage *b,
					    const char *name)
{
	return stages_impossible(module, a, b, name);
}
