/* SPDX-License-Identifier: MIT
 *
 * Which loops a cell tells the iteration of, though no subscript is their dim. An element of a segment,
 *
 *     for tree in 0..trees, begin = offset[tree], end = offset[tree + 1], for i in begin..end: e[i]
 *
 * is of one tree. With W, A = { S[D] -> cell } for what is written, and for all accesses, a cell tells dim d if
 * D_d = D'_d in all pairs { S[D] -> S'[D'] : W(D) = A(D') } that the facts of index arrays leave possible
 * (ir/isl/axioms.c). (What is read of a cell is what was written there: all its readers are in the iteration of its
 * writer.) */
#include "passes/pass_private.h"

/* No more statements are asked about: each takes isl some thousands of operations, and what is not known is no harm. */
enum { MOST_STAGES = 24 };

struct telling {
	struct module *module;
	const struct array *array;
	const struct stage *stage;
	isl_union_map *writes, *all;
	int n_stages, n_dims;
	unsigned told;                  /* bit d: dim d, as far as is known */
	bool has_offsets;
};

static __isl_give isl_union_map *with_access(const struct telling *telling, __isl_take isl_union_map *accesses,
					     const struct access *access)
{
	isl_map *cells = access_map(telling->module, telling->stage, access);

	return isl_union_map_union(accesses, isl_union_map_from_map(cells));
}

static void look_at_access(struct access *access, void *user)
{
	struct telling *telling = user;

	if (access->array == telling->array)
		telling->all = with_access(telling, telling->all, access);
}

static void look_at_stage(struct telling *telling, struct stage *stage)
{
	telling->stage = stage;
	look_at_access(&stage->write, telling);
	stage_reads(stage, look_at_access, telling);
	if (stage->write.array == telling->array)
		telling->writes = with_access(telling, telling->writes, &stage->write);
}

static void look_at_group(struct telling *telling, const struct group *group)
{
	if (!group_touches(group, telling->array))
		return;
	for (int d = 0; d < telling->n_dims; d++) {
		const struct dim *dim = &group->stages.items[0]->dims.items[d];

		if (group_shift(group, d))
			telling->told &= ~(1U << d);
		telling->has_offsets |= dim->kind == DIM_BIND && dim->source.array->facts & FACT_OFFSETS;
	}
	telling->n_stages += group->stages.n;
}

static isl_stat look_at_pairs(__isl_take isl_map *pairs, void *user)
{
	struct telling *telling = user;
	const struct stage *a = stage_of_id(isl_map_get_tuple_id(pairs, isl_dim_in));
	const struct stage *b = stage_of_id(isl_map_get_tuple_id(pairs, isl_dim_out));

	pairs = isl_map_intersect_params(pairs, isl_set_copy(telling->module->context));
	pairs = isl_map_subtract(pairs, axioms_impossible(telling->module, a, b));
	for (int d = 0; d < telling->n_dims && telling->told; d++) {
		isl_map *same = isl_map_universe(isl_map_get_space(pairs));

		same = isl_map_equate(same, isl_dim_in, d, isl_dim_out, d);
		if (isl_map_is_subset(pairs, same) != isl_bool_true)
			telling->told &= ~(1U << d);
		isl_map_free(same);
	}
	isl_map_free(pairs);
	return telling->told ? isl_stat_ok : isl_stat_error;
}

static void look_at_cells(struct telling *telling, const struct region *region, int first, int last)
{
	isl_union_map *pairs;

	telling->writes = isl_union_map_empty_ctx(telling->module->ctx);
	telling->all = isl_union_map_empty_ctx(telling->module->ctx);
	for (int g = first; g <= last; g++)
		for (int s = 0; s < region->groups.items[g]->stages.n; s++)
			look_at_stage(telling, region->groups.items[g]->stages.items[s]);
	pairs = isl_union_map_apply_range(telling->writes, isl_union_map_reverse(telling->all));
	if (isl_union_map_foreach_map(pairs, look_at_pairs, telling) < 0)
		telling->told = 0;
	isl_union_map_free(pairs);
}

unsigned cells_tell_dims(struct module *module, const struct region *region, int first, int last,
			 const struct array *array, int n_dims)
{
	struct telling telling = { .module = module, .array = array, .n_dims = n_dims, .told = (1U << n_dims) - 1 };

	for (int g = first; g <= last; g++)
		look_at_group(&telling, region->groups.items[g]);
	if (!telling.has_offsets || telling.n_stages > MOST_STAGES)
		return 0;
	look_at_cells(&telling, region, first, last);
	return telling.told;
}
