/* SPDX-License-Identifier: MIT
 *
 * Temporaries that stand in the block of a result. A recurrence that eliminates keeps a value for each row, and what
 * substitutes makes the result of a row of it, and does not read it again. Then both may have one cell:
 * with T = { S[D] -> cell } for all accesses of the temporary and W for the writes of the result, each pair of
 * { S[D] -> S'[D'] : T(D) = W(D') } runs in this order, or is one instance, which reads before it writes. */
#include "ir/match/block.h"

struct sharing {
	struct module *module;
	const struct array *array;      /* the temporary */
	struct array *result;
	const struct stage *stage;
	isl_union_map *uses, *makes;    /* the temporary's cells as if they were those of the result */
};

static __isl_give isl_union_map *with_access(const struct sharing *sharing, __isl_take isl_union_map *accesses,
					     const struct access *access)
{
	struct access as_result = *access;

	as_result.array = sharing->result;
	return isl_union_map_union(accesses, isl_union_map_from_map(access_map(sharing->module, sharing->stage,
										&as_result)));
}

static void look_at_access(struct access *access, void *user)
{
	struct sharing *sharing = user;

	if (access->array == sharing->array)
		sharing->uses = with_access(sharing, sharing->uses, access);
}

/* Is the temporary used here only, and the result made here only, and not added up? */
static bool look_at_stages(struct sharing *sharing, __isl_keep isl_union_set *domain)
{
	bool are_here = true;

	for (int i = 0; i < sharing->module->stages.n && are_here; i++) {
		struct stage *stage = sharing->module->stages.items[i];
		const bool is_here = domain_has_stage(domain, stage);

		are_here = is_here || (stage->write.array != sharing->array &&
				       !stage_reads_array(stage, sharing->array));
		sharing->stage = stage;
		look_at_access(&stage->write, sharing);
		stage_reads(stage, look_at_access, sharing);
		if (stage->write.array != sharing->result)
			continue;
		are_here = is_here && stage->op == REDUCE_SET;
		sharing->makes = with_access(sharing, sharing->makes, &stage->write);
	}
	return are_here;
}

/* Would a part of the temporary have the cells that the copy has: the same rows, of as many lanes? */
static bool has_such_cells(struct module *module, __isl_keep isl_schedule_node *loop, const struct array *array,
			   const struct array *copy)
{
	block_use_list uses;

	if (!copy->segments)
		return array->stored.folded == copy->stored.folded && array->stored.lanes == copy->stored.lanes;
	uses = block_uses(module, loop);
	for (int i = 0; i < uses.n; i++)
		if (uses.items[i].array == array)
			return uses.items[i].segments == copy->segments && !array->stored.folded;
	return false;
}

static bool is_like(const struct array *array, const struct array *copy)
{
	bool is = array->role == ROLE_TEMP && array->type == copy->type && array->storage == copy->storage &&
		  array->rank == copy->rank && !array->stored.window && !copy->stored.window;

	for (int i = 0; is && i < array->rank; i++)
		is = array->stored.folded >> i & 1U ||
		     (expr_equal(array->lo[i], copy->lo[i]) && expr_equal(array->hi[i], copy->hi[i]));
	return is;
}

struct pairs {
	const struct module *module;
	bool are_none;
};

static isl_stat look_at_pairs(__isl_take isl_map *map, void *user)
{
	struct pairs *pairs = user;
	const struct stage *a = stage_of_id(isl_map_get_tuple_id(map, isl_dim_in));
	const struct stage *b = stage_of_id(isl_map_get_tuple_id(map, isl_dim_out));

	map = isl_map_subtract(map, axioms_impossible(pairs->module, a, b));
	pairs->are_none = pairs->are_none && isl_map_is_empty(map) == isl_bool_true;
	isl_map_free(map);
	return isl_stat_ok;
}

/* But for pairs that cannot exist, whatever the data, does each run in its order? */
static bool are_ordered(struct module *module, __isl_keep isl_schedule_node *node, __isl_take isl_union_map *pairs)
{
	isl_schedule *schedule = isl_schedule_node_get_schedule(node);
	struct pairs others = { module, true };

	pairs = isl_union_map_intersect_params(pairs, isl_set_copy(module->context));
	pairs = schedule_ordered(module->arena, schedule, pairs, false);
	pairs = isl_union_map_subtract(pairs, isl_union_set_identity(isl_schedule_node_get_domain(node)));
	if (isl_union_map_foreach_map(pairs, look_at_pairs, &others) < 0)
		others.are_none = false;
	isl_union_map_free(pairs);
	isl_schedule_free(schedule);
	return others.are_none;
}

bool block_may_hold(struct module *module, __isl_keep isl_schedule_node *loop, const struct array *array,
		    const struct array *copy)
{
	struct sharing sharing = { .module = module, .array = array, .result = copy->owner };
	isl_union_set *domain;
	bool may;

	if (!is_like(array, copy) || (copy->owner->role != ROLE_OUT && copy->owner->role != ROLE_TEMP) ||
	    !has_such_cells(module, loop, array, copy))
		return false;
	domain = isl_schedule_node_get_domain(loop);
	sharing.uses = isl_union_map_empty_ctx(module->ctx);
	sharing.makes = isl_union_map_empty_ctx(module->ctx);
	may = look_at_stages(&sharing, domain);
	isl_union_set_free(domain);
	sharing.uses = isl_union_map_apply_range(sharing.uses, isl_union_map_reverse(sharing.makes));
	if (may)
		return are_ordered(module, loop, sharing.uses);
	isl_union_map_free(sharing.uses);
	return false;
}
