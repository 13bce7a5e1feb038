/* SPDX-License-Identifier: MIT
 *
 * Which loops a cell tells the iteration of, though no subscript is their dim. An element of a segment,
 *
 *     for tree in 0..trees, begin = offset[tree], end = offset[tree + 1], for i in begin..end: e[i]
 *
 * is of one tree. With T = { S[D] -> cell } for all accesses, a cell tells dim d if D_d = D'_d in all pairs
 * { S[D] -> S'[D'] : T(D) = T(D') } that the facts of index arrays leave possible (ir/axioms.c). */
#include "passes/pass_private.h"

struct telling {
	struct module *module;
	const struct array *array;
	unsigned level;
	const struct stage *stage;
	isl_union_map *cells;
	bool is_told;
};

static void look_at_access(struct access *access, void *user)
{
	struct telling *telling = user;
	isl_map *cells;

	if (access->array != telling->array)
		return;
	cells = access_map(telling->module, telling->stage, access);
	telling->cells = isl_union_map_union(telling->cells, isl_union_map_from_map(cells));
}

static bool look_at_group(struct telling *telling, const struct group *group)
{
	if (!group_touches(group, telling->array))
		return true;
	for (int i = 0; i < group->stages.n; i++) {
		telling->stage = group->stages.items[i];
		look_at_access(&group->stages.items[i]->write, telling);
		stage_reads(group->stages.items[i], look_at_access, telling);
	}
	return group_shift(group, (int) telling->level) == 0;
}

static isl_stat look_at_pairs(__isl_take isl_map *pairs, void *user)
{
	struct telling *telling = user;
	const struct stage *a = stage_of_id(isl_map_get_tuple_id(pairs, isl_dim_in));
	const struct stage *b = stage_of_id(isl_map_get_tuple_id(pairs, isl_dim_out));
	const int level = (int) telling->level;
	isl_map *same = isl_map_universe(isl_map_get_space(pairs));

	pairs = isl_map_intersect_params(pairs, isl_set_copy(telling->module->context));
	same = isl_map_equate(same, isl_dim_in, level, isl_dim_out, level);
	pairs = isl_map_subtract(isl_map_subtract(pairs, same), axioms_impossible(telling->module, a, b));
	telling->is_told = telling->is_told && isl_map_is_empty(pairs) == isl_bool_true;
	isl_map_free(pairs);
	return isl_stat_ok;
}

bool cells_tell_dim(struct module *module, const struct region *region, int first, int last, const struct array *array,
		    int level)
{
	struct telling telling = { .module = module, .array = array, .level = (unsigned) level, .is_told = true };
	isl_union_map *touching, *pairs;

	telling.cells = isl_union_map_empty_ctx(module->ctx);
	for (int g = first; g <= last; g++)
		telling.is_told = look_at_group(&telling, region->groups.items[g]) && telling.is_told;
	touching = isl_union_map_reverse(isl_union_map_copy(telling.cells));
	pairs = isl_union_map_apply_range(telling.cells, touching);
	if (telling.is_told && isl_union_map_foreach_map(pairs, look_at_pairs, &telling) < 0)
		telling.is_told = false;
	isl_union_map_free(pairs);
	return telling.is_told;
}
