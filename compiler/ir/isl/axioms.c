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
 * runtime checks each fact when the array is bound (runtime/plan/bind.c); for trees, parent[i] < i is in the domains.
 *
 * Of stages that go along branches of a tree, at (level l, branch b, node k):
 *     placed     k = k' implies l = l' and b = b'
 *     children   c a child of k' and k = c implies l < l', or l = l', b = b' and k = k' + 1
 *     parents    p the parent of k' and k = p implies l > l', or l = l', b = b' and k = k' - 1 */
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

enum relation { LESS, NOT_MORE, EQUAL, UNEQUAL, NOT_LESS, GREATER, NEXT, BEFORE };

/* { [x] -> [y] : y = x + by } */
static __isl_give isl_map *distance_map(__isl_take isl_space *space, long by)
{
	isl_ctx *ctx = isl_space_get_ctx(space);
	isl_multi_aff *shift = isl_multi_aff_identity(space);

	return isl_map_from_multi_aff(isl_multi_aff_add_constant_val(shift, isl_val_int_from_si(ctx, by)));
}

/* { [x] -> [y] : x relation y }; all but EQUAL and UNEQUAL of single numbers; NEXT: x = y + 1, BEFORE: x = y - 1. */
static __isl_give isl_map *relation_map(__isl_take isl_space *value_space, enum relation relation)
{
	isl_space *space = isl_space_map_from_set(value_space);
	isl_map *equal, *all;

	if (relation == NEXT || relation == BEFORE)
		return distance_map(space, relation == NEXT ? -1 : 1);
	equal = isl_map_identity(isl_space_copy(space));
	all = isl_map_universe(space);
	if (relation == EQUAL) {
		isl_map_free(all);
		return equal;
	}
	if (relation == UNEQUAL)
		return isl_map_subtract(all, equal);
	isl_map_free(equal);
	if (relation == NOT_MORE)
		return isl_map_order_le(all, isl_dim_in, 0, isl_dim_out, 0);
	if (relation == NOT_LESS)
		return isl_map_order_ge(all, isl_dim_in, 0, isl_dim_out, 0);
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
	bool is_sorted = a->array->rank == 1 && a->array->facts & (FACT_SORTED | FACT_OFFSETS);
	isl_map *impossible = is_sorted ? isl_map_union(pairs_both(a, b, NOT_MORE, GREATER),
							pairs_both(a, b, NOT_LESS, LESS))
					: pairs_both(a, b, EQUAL, UNEQUAL);

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

/* ---- branches ---- */

/* Where a stage is among the branches of a tree: { S[D] -> [number] } each; no branching: nowhere. */
struct place {
	const struct branching *branching;
	int node_dim;
	isl_map *level, *branch, *node;
};

static const struct branching *branching_of(const struct module *module, const struct array *begins)
{
	for (int i = 0; i < module->branchings.n; i++)
		if (module->branchings.items[i].begins == begins)
			return &module->branchings.items[i];
	return NULL;
}

/* The dim that an expression is; -1: another one. */
static int dim_of(const struct expr *expr)
{
	return expr && expr->kind == EXPR_DIM ? expr->index : -1;
}

/* The dim that an index array is read at to give dim `number`; -1: there is none. */
static int source_dim(const struct stage *stage, int number)
{
	const struct dim *dim = number < 0 ? NULL : &stage->dims.items[number];

	return dim && dim->kind == DIM_BIND && dim->source.array->rank == 1 ? dim_of(dim->source.subs[0]) : -1;
}

/* `for k in begins[b]..ends[b]`, b of `for b in levels[l]..levels[l + 1]`. */
static struct place place_of(const struct module *module, const struct stage *stage)
{
	struct place place = { 0 };

	for (int d = 0; d < stage->dims.n && !place.branching; d++) {
		const struct dim *dim = &stage->dims.items[d];
		int begin = dim->kind == DIM_RANGE ? dim_of(dim->lo) : -1, branch = source_dim(stage, begin);
		int level = branch < 0 ? -1 : source_dim(stage, dim_of(stage->dims.items[branch].lo));
		const struct branching *branching = level < 0 ? NULL :
			branching_of(module, stage->dims.items[begin].source.array);

		if (!branching)
			continue;
		place = (struct place) { branching, d, dim_map(module, stage, level), dim_map(module, stage, branch),
					 dim_map(module, stage, d) };
	}
	return place;
}

static void place_free(struct place *place)
{
	isl_map_free(place->level);
	isl_map_free(place->branch);
	isl_map_free(place->node);
}

static __isl_give isl_map *of_one_branch(const struct place *a, const struct place *b)
{
	return isl_map_intersect(pairs(a->level, b->level, EQUAL), pairs(a->branch, b->branch, EQUAL));
}

/* Pairs at which a dim of b's stage, a relative of its node, is a's node, and a is not where such relatives are. */
static __isl_give isl_map *relative_elsewhere(const struct module *module, const struct place *a,
					      const struct place *b, const struct stage *stage, int number)
{
	bool is_child = stage->dims.items[number].kind == DIM_CHILDREN;
	isl_map *relative = dim_map(module, stage, number);
	isl_map *elsewhere = pairs(a->node, relative, EQUAL);
	isl_map *along = isl_map_intersect(of_one_branch(a, b), pairs(a->node, b->node, is_child ? NEXT : BEFORE));

	isl_map_free(relative);
	elsewhere = isl_map_subtract(elsewhere, pairs(a->level, b->level, is_child ? LESS : GREATER));
	return isl_map_subtract(elsewhere, along);
}

/* The same for all such dims of b's stage, whatever stands on which side. */
static __isl_give isl_map *relatives_elsewhere(const struct module *module, const struct place *a,
					       const struct place *b, const struct stage *stage, bool is_reversed,
					       __isl_take isl_map *impossible)
{
	for (int d = 0; d < stage->dims.n; d++) {
		const struct dim *dim = &stage->dims.items[d];
		isl_map *elsewhere;

		if (dim_array(stage, d) != b->branching->tree || dim_of(dim->source.subs[0]) != b->node_dim)
			continue;
		elsewhere = relative_elsewhere(module, a, b, stage, d);
		impossible = isl_map_union(impossible, is_reversed ? isl_map_reverse(elsewhere) : elsewhere);
	}
	return impossible;
}

static __isl_give isl_map *branches_impossible(const struct module *module, const struct stage *a,
					       const struct stage *b, __isl_take isl_map *impossible)
{
	struct place first = place_of(module, a), second = place_of(module, b);

	if (first.branching && first.branching == second.branching) {
		isl_map *twice = isl_map_subtract(pairs(first.node, second.node, EQUAL),
						  of_one_branch(&first, &second));

		impossible = isl_map_union(impossible, twice);
		impossible = relatives_elsewhere(module, &first, &second, b, false, impossible);
		impossible = relatives_elsewhere(module, &second, &first, a, true, impossible);
	}
	place_free(&first);
	place_free(&second);
	return impossible;
}

/* ---- all of them ---- */

static __isl_give isl_map *stages_impossible(const struct module *module, const struct stage *a,
					     const struct stage *b, const char *later)
{
	isl_map *impossible = no_pairs(a, b);

	for (int i = 0; i < a->dims.n; i++)
		impossible = dim_impossible(module, a, i, b, later, impossible);
	return later ? impossible : branches_impossible(module, a, b, impossible);
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
