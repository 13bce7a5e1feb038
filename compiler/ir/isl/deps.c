/* SPDX-License-Identifier: MIT
 *
 * Dependences of a region: which instances must keep their order.
 *
 * They are memory-based: any two accesses to one cell, one of them a write, in the textual order
 * (schedule_ordered). Between two updates of one array by the same operator the order is
 * free, but they may not run at once: these are kept apart in `reduction`. What the axioms of index arrays rule
 * out is subtracted. When isl's quota runs out the region has no dependences at all to offer (NULL), and nothing
 * may be reordered. */
#include "ir/schedule.h"

/* ---- accesses of a region as union maps ---- */

struct collect {
	const struct module *module;
	const struct stage *stage;
	isl_union_map *accesses;
};

static void collect_access(struct access *access, void *user)
{
	struct collect *collect = user;
	isl_map *map = access_map(collect->module, collect->stage, access);

	collect->accesses = isl_union_map_union(collect->accesses, isl_union_map_from_map(map));
}

static __isl_give isl_union_map *region_accesses(const struct module *module, const struct region *region,
						 bool writes)
{
	struct collect collect = { .module = module };
	isl_union_map *all = isl_union_map_empty_ctx(module->ctx);

	for (int g = 0; g < region->groups.n; g++) {
		const stage_list *stages = &region->groups.items[g]->stages;

		for (int s = 0; s < stages->n; s++) {
			collect.stage = stages->items[s];
			collect.accesses = isl_union_map_empty_ctx(module->ctx);
			if (writes)
				collect_access(&stages->items[s]->write, &collect);
			else
				stage_reads(stages->items[s], collect_access, &collect);
			all = isl_union_map_union(all, isl_union_map_coalesce(collect.accesses));
		}
	}
	return all;
}

/* ---- dependences ---- */

/* Pairs source -> sink of accesses to one cell, in either order. */
static __isl_give isl_union_map *meeting(__isl_keep isl_union_map *source, __isl_keep isl_union_map *sink)
{
	return isl_union_map_apply_range(isl_union_map_copy(source), isl_union_map_reverse(isl_union_map_copy(sink)));
}

/* isl compares each piece of a relation with each other one, and finds hardly any of many that are one. */
enum { MOST_COMPARED = 8 };

/* What index arrays rule out between two stages. */
struct ruled_out {
	const struct stage *a, *b;
	isl_map *impossible;
};

struct split {
	struct module *module;
	isl_union_map *strict, *reduction;
	VEC(struct ruled_out) ruled_out;        /* asked for once by each kind of dependence */
};

static bool stages_commute(const struct stage *a, const struct stage *b)
{
	return a->op != REDUCE_SET && a->op == b->op && a->write.array == b->write.array;
}

/* What is impossible of a before b is so of b after a. */
static __isl_give isl_map *impossible_of(struct split *split, const struct stage *a, const struct stage *b)
{
	struct ruled_out new = { a, b, NULL };

	for (int i = 0; i < split->ruled_out.n; i++) {
		const struct ruled_out *old = &split->ruled_out.items[i];

		if (old->a == a && old->b == b)
			return isl_map_copy(old->impossible);
		if (old->a == b && old->b == a)
			return isl_map_reverse(isl_map_copy(old->impossible));
	}
	new.impossible = axioms_impossible(split->module, a, b);
	vec_push(split->module->arena, &split->ruled_out, new);
	return isl_map_copy(new.impossible);
}

static __isl_give isl_map *drop_impossible(struct split *split, __isl_take isl_map *deps, const struct stage *a,
					   const struct stage *b)
{
	return isl_map_subtract(deps, impossible_of(split, a, b));
}

/* `output` dependences between commuting updates go to `reduction`, everything else to `strict`. */
static isl_stat split_output(__isl_take isl_map *deps, void *user)
{
	struct split *split = user;
	const struct stage *a = stage_of_id(isl_map_get_tuple_id(deps, isl_dim_in));
	const struct stage *b = stage_of_id(isl_map_get_tuple_id(deps, isl_dim_out));

	deps = drop_impossible(split, deps, a, b);
	if (stages_commute(a, b))
		split->reduction = isl_union_map_union(split->reduction, isl_union_map_from_map(deps));
	else
		split->strict = isl_union_map_union(split->strict, isl_union_map_from_map(deps));
	return isl_stat_ok;
}

static isl_stat split_flow(__isl_take isl_map *deps, void *user)
{
	struct split *split = user;
	const struct stage *a = stage_of_id(isl_map_get_tuple_id(deps, isl_dim_in));
	const struct stage *b = stage_of_id(isl_map_get_tuple_id(deps, isl_dim_out));

	deps = drop_impossible(split, deps, a, b);
	split->strict = isl_union_map_union(split->strict, isl_union_map_from_map(deps));
	return isl_stat_ok;
}

static void split_all(struct split *split, __isl_take isl_union_map *deps,
		      isl_stat (*to)(__isl_take isl_map *deps, void *user))
{
	if (isl_union_map_foreach_map(deps, to, split) < 0) {
		isl_union_map_free(split->strict);
		split->strict = NULL;
	}
	isl_union_map_free(deps);
}

static isl_stat add_coalesced(__isl_take isl_map *deps, void *user)
{
	isl_union_map **all = user;

	if (isl_map_n_basic_map(deps) <= MOST_COMPARED)
		deps = isl_map_coalesce(deps);
	*all = isl_union_map_add_map(*all, deps);
	return *all ? isl_stat_ok : isl_stat_error;
}

/* Of pieces that may be one. */
static __isl_give isl_union_map *coalesced(__isl_take isl_union_map *deps)
{
	isl_union_map *all = isl_union_map_empty(isl_union_map_get_space(deps));

	if (isl_union_map_foreach_map(deps, add_coalesced, &all) < 0)
		all = isl_union_map_free(all);
	isl_union_map_free(deps);
	return all;
}

static void region_forget(struct region *region)
{
	region->strict = isl_union_map_free(region->strict);
	region->reduction = isl_union_map_free(region->reduction);
}

bool region_dependences(struct module *module, struct region *region)
{
	isl_union_map *writes = region_accesses(module, region, true);
	isl_union_map *reads = region_accesses(module, region, false);
	isl_union_map *written_read = meeting(writes, reads), *written_twice = meeting(writes, writes);
	isl_union_map *read_written = isl_union_map_reverse(isl_union_map_copy(written_read));
	isl_schedule *order = schedule_textual(module, region);
	struct split split = { .module = module, .strict = isl_union_map_empty_ctx(module->ctx),
			       .reduction = isl_union_map_empty_ctx(module->ctx) };

	split_all(&split, schedule_ordered(module->arena, order, written_read, true), split_flow);
	split_all(&split, schedule_ordered(module->arena, order, read_written, true), split_flow);
	split_all(&split, schedule_ordered(module->arena, order, written_twice, true), split_output);
	for (int i = 0; i < split.ruled_out.n; i++)
		isl_map_free(split.ruled_out.items[i].impossible);
	isl_schedule_free(order);
	isl_union_map_free(writes);
	isl_union_map_free(reads);
	region_forget(region);
	region->strict = coalesced(split.strict);
	region->reduction = coalesced(split.reduction);
	if (region->strict && region->reduction)
		return true;
	region_forget(region);
	return false;
}

/* ---- of a module that has the same stages ---- */

struct transfer {
	const struct module *to;
	isl_union_map *moved;
};

static __isl_give isl_id *id_in(const struct module *module, __isl_take isl_id *id)
{
	return isl_set_get_tuple_id(module->stages.items[stage_of_id(id)->number]->domain);
}

static isl_stat move_map(__isl_take isl_map *deps, void *user)
{
	struct transfer *transfer = user;
	isl_id *from = id_in(transfer->to, isl_map_get_tuple_id(deps, isl_dim_in));
	isl_id *to = id_in(transfer->to, isl_map_get_tuple_id(deps, isl_dim_out));

	deps = isl_map_set_tuple_id(isl_map_set_tuple_id(deps, isl_dim_in, from), isl_dim_out, to);
	transfer->moved = isl_union_map_add_map(transfer->moved, deps);
	return isl_stat_ok;
}

static __isl_give isl_union_map *moved_to(const struct module *module, __isl_keep isl_union_map *deps)
{
	struct transfer transfer = { module, isl_union_map_empty(isl_union_map_get_space(deps)) };

	if (isl_union_map_foreach_map(deps, move_map, &transfer) < 0)
		transfer.moved = isl_union_map_free(transfer.moved);
	return transfer.moved;
}

bool module_copy_dependences(struct module *module, const struct module *other)
{
	for (int i = 0; i < REGION_N; i++)
		if (other->regions[i].groups.n && !other->regions[i].strict)
			return false;
	for (int i = 0; i < REGION_N; i++) {
		struct region *region = &module->regions[i];

		if (!region->groups.n)
			continue;
		region_forget(region);
		region->strict = moved_to(module, other->regions[i].strict);
		region->reduction = moved_to(module, other->regions[i].reduction);
	}
	return true;
}
