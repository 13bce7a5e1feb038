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

/* The index array that a dim reads; NULL: none. */
static const struct array *dim_array(const struct stage *stage, int number)
{
	const struct dim *dim = &stage->dims.items[number];

	return dim->kind == DIM_RANGE ? NULL : dim->source.array;
}

static struct binding dim_binding(const struct module *module, const struct stage *stage, int number)
{
	const struct dim *dim = &stage->dims.items[number];
	struct binding binding = { dim->source.array, subscript_map(module, stage, &dim->source),
				   dim_map(module, stage, number) };

	if (dim->kind == DIM_CHILDREN) {
		isl_map *node = binding.subscript;

		binding.subscript = binding.value;
		binding.value = node;
	}
	return binding;
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

/* What both promise; `later`: the variable of the loop for the second; NULL: both are in one iteration. */
static __isl_give isl_map *pair_impossible(const struct module *module, const struct binding *first,
					   struct binding second, const char *later)
{
	isl_map *impossible;

	if (later) {
		second.subscript = map_in_iteration(module, second.subscript, later);
		second.value = map_in_iteration(module, second.value, later);
	}
	impossible = binding_impossible(first, &second);
	binding_free(&second);
	return impossible;
}

static __isl_give isl_map *dim_impossible(const struct module *module, const struct stage *a, int i,
					  const struct stage *b, const char *later, __isl_take isl_map *impossible)
{
	const struct array *array = dim_array(a, i);
	struct binding first = { 0 };

	for (int j = 0; array && j < b->dims.n; j++) {
		/* What is computed may differ in the other iteration. */
		if (dim_array(b, j) != array || (later && array->role != ROLE_IN))
			continue;
		if (!first.array)
			first = dim_binding(module, a, i);
		impossible = isl_map_union(impossible, pair_impossible(module, &first, dim_binding(module, b, j),
								       later));
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
