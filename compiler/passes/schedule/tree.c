/* SPDX-License-Identifier: MIT
 *
 * Walking and changing schedule trees. A walk goes down from the root through sequences and marks; a visitor gets
 * each mark of a loop and may insert marks above or below it, as long as it returns to its place. */
#include <string.h>

#include "passes/pass_private.h"

typedef isl_schedule_node node;

static __isl_give node *walk_node(struct tree_walk *walk, __isl_take node *at);

static __isl_give node *walk_children(struct tree_walk *walk, __isl_take node *at)
{
	isl_size n = isl_schedule_node_n_children(at);

	for (int i = 0; i < n; i++)
		at = isl_schedule_node_parent(walk_node(walk, isl_schedule_node_child(at, i)));
	return at;
}

/* The visitor may leave us above the mark it was given: its children are reached through what was inserted. */
static __isl_give node *walk_node(struct tree_walk *walk, __isl_take node *at)
{
	const struct mark *mark = mark_of_node(at);
	isl_size depth = isl_schedule_node_get_tree_depth(at);
	bool descend = true;

	if (mark && mark->kind == MARK_BLOCK && !walk->enters_blocks)
		return at;
	if (mark_is_loop(mark))
		at = walk->visit(walk, at, mark, &descend);
	if (!descend)
		return at;
	while (mark_is_loop(mark) && mark_of_node(at) != mark)
		at = isl_schedule_node_first_child(at);
	at = walk_children(walk, at);
	return isl_schedule_node_ancestor(at, isl_schedule_node_get_tree_depth(at) - depth);
}

static bool walk_region(struct tree_walk *walk, struct region *region)
{
	node *root = isl_schedule_get_root(region->schedule);
	isl_schedule *changed;

	walk->region = region;
	root = isl_schedule_node_root(walk_children(walk, root));
	changed = isl_schedule_node_get_schedule(root);
	isl_schedule_node_free(root);
	isl_schedule_free(region->schedule);
	region->schedule = changed;
	return changed;
}

bool module_walk(struct tree_walk *walk)
{
	bool ok = true;

	for (int i = 0; ok && i < REGION_N; i++)
		if (walk->module->regions[i].schedule)
			ok = walk_region(walk, &walk->module->regions[i]);
	return ok;
}

bool walk_remarks(const struct tree_walk *walk)
{
	return walk->options->remarks && !walk->module->choice.items;
}

__isl_give node *tree_insert_mark(struct module *module, __isl_take node *at, enum mark_kind kind, const char *pass,
				  struct stage *stage)
{
	struct mark *mark = mark_new(module, kind, pass, stage ? stage->span : (struct span) { 0 });

	mark->stage = stage;
	return isl_schedule_node_insert_mark(at, mark_id(module, mark));
}

__isl_give isl_union_map *tree_carried(__isl_keep node *mark, __isl_keep isl_union_map *deps)
{
	node *band = isl_schedule_node_first_child(isl_schedule_node_copy(mark));
	isl_union_map *carried = deps ? schedule_carried(band, deps) : NULL;

	isl_schedule_node_free(band);
	return carried;
}

struct search {
	const struct mark *not;         /* the mark the search began at */
	bool found;
};

static bool is_unrolled(__isl_keep node *loop)
{
	const struct mark *above = mark_above(loop);

	return above && above->kind == MARK_UNROLL;
}

static isl_bool search_node(__isl_keep node *at, void *user)
{
	struct search *search = user;
	const struct mark *mark = mark_of_node(at);

	search->found |= mark && mark != search->not && (mark->kind == MARK_LOOP || mark->kind == MARK_CHILDREN) &&
			 !is_unrolled(at);
	return search->found ? isl_bool_false : isl_bool_true;
}

bool tree_has_loop_below(__isl_keep node *mark)
{
	struct search search = { mark_of_node(mark), false };

	isl_schedule_node_foreach_descendant_top_down(mark, search_node, &search);
	return search.found;
}

bool group_defines(const struct group *group, const char *name)
{
	for (int i = 0; i < group->stages.n && !group->is_apart; i++) {
		const struct stage *stage = group->stages.items[i];
		const struct array *array = stage->write.array->owner ? stage->write.array->owner : stage->write.array;

		if (!stage->is_commit && !strcmp(array_item_name(array), name))
			return true;
	}
	return false;
}

/* ---- stages of a set or relation ---- */

struct stage_set {
	struct module *module;
	bool *is_in;
};

static isl_stat add_set(__isl_take isl_set *set, void *user)
{
	struct stage_set *set_of = user;

	set_of->is_in[stage_of_id(isl_set_get_tuple_id(set))->number] = true;
	isl_set_free(set);
	return isl_stat_ok;
}

static isl_stat add_map(__isl_take isl_map *map, void *user)
{
	struct stage_set *set_of = user;

	set_of->is_in[stage_of_id(isl_map_get_tuple_id(map, isl_dim_in))->number] = true;
	set_of->is_in[stage_of_id(isl_map_get_tuple_id(map, isl_dim_out))->number] = true;
	isl_map_free(map);
	return isl_stat_ok;
}

static stage_list stages_in(const struct stage_set *set)
{
	stage_list list = { 0 };

	for (int i = 0; i < set->module->stages.n; i++)
		if (set->is_in[i])
			vec_push(set->module->arena, &list, set->module->stages.items[i]);
	return list;
}

stage_list tree_stages(struct module *module, __isl_keep node *at)
{
	struct stage_set set = { module, arena_new_array(module->arena, bool, module->stages.n) };
	isl_union_set *domain = isl_schedule_node_get_domain(at);

	isl_union_set_foreach_set(domain, add_set, &set);
	isl_union_set_free(domain);
	return stages_in(&set);
}

stage_list tree_meeting(struct module *module, __isl_keep isl_union_map *carried)
{
	struct stage_set set = { module, arena_new_array(module->arena, bool, module->stages.n) };

	isl_union_map_foreach_map(carried, add_map, &set);
	return stages_in(&set);
}

__isl_give node *tree_climb(__isl_take node *at, bool (*is_wanted)(const struct mark *mark), int *steps)
{
	const struct mark *above = mark_above(at);

	for (*steps = 0; above && is_wanted(above); ++*steps) {
		at = isl_schedule_node_parent(at);
		above = mark_above(at);
	}
	return at;
}

__isl_give node *tree_descend(__isl_take node *at, int steps)
{
	while (steps--)
		at = isl_schedule_node_first_child(at);
	return at;
}
