/* SPDX-License-Identifier: MIT
 *
 * Which loops are shared by threads. In each nest it is the outermost loop that carries no strict dependence. Where
 * it carries updates of one cell by several iterations, they end in an accumulator of the loop (OpenMP's reduction)
 * if there is one, and are atomic otherwise, unless a team can do without (team.c). Where sums must not depend on the
 * threads, accumulators are of parts of the loop. A loop that stays serial because of a dependence gets a remark with a
 * pair of iterations, also inside of one that is shared; there, vector.c tells of all others. */
#include "passes/pass_private.h"

const char serial_for_children[] = "it runs over the children of one node";
/* Those of `meeting` that no accumulator of the loop keeps apart. */
static stage_list need_atomics(struct module *module, __isl_keep isl_schedule_node *node, const stage_list *meeting)
{
	stage_list list = { 0 };

	for (int i = 0; i < meeting->n; i++)
		if (!schedule_has_mark_above(node, MARK_ACCUMULATE, meeting->items[i]))
			vec_push(module->arena, &list, meeting->items[i]);
	return list;
}

void loop_remark_serial(struct module *module, const struct mark *mark, const char *why, const char *sample)
{
	struct diag *diag = diag_remark(module->diags, DIAG_LOOP_SERIAL, mark->dim->span,
					"the loop over '%s' of '%s' stays serial: %s", mark->dim->name,
					mark->stage->group->name, why);

	if (sample)
		diag_label(module->diags, diag, (struct span) { 0 }, "%s", sample);
}

static void decide_serial(struct module *module, const struct mark *mark, const char *why, const char *sample)
{
	loop_remark_serial(module, mark, why, sample);
	module_decide(module, DECISION_PARALLEL_SERIAL, mark->stage->group->name, mark->dim->span,
		      "the loop over '%s': %s%s%s", mark->dim->name, why, sample ? ", " : "",
		      sample ? sample : "")->loop = mark->dim;
}

/* Because of the order of updates: the pair is for those who ask for remarks. */
static void decide_in_order(const struct tree_walk *walk, const struct mark *mark, const char *why,
			    __isl_keep isl_union_map *updates)
{
	struct module *module = walk->module;

	if (walk_remarks(walk))
		loop_remark_serial(module, mark, why, dependence_sample(module, isl_union_map_copy(updates)));
	module_decide(module, DECISION_PARALLEL_SERIAL, mark->stage->group->name, mark->dim->span,
		      "the loop over '%s': %s", mark->dim->name, why)->loop = mark->dim;
}

/* A loop over children is never shared; there is nothing to decide. */
static void remark_children(struct tree_walk *walk, __isl_keep isl_schedule_node *node, const struct mark *mark)
{
	isl_union_map *pairs;

	if (!walk_remarks(walk))
		return;
	pairs = isl_union_map_union(tree_carried(node, walk->region->strict),
				    tree_carried(node, walk->region->reduction));
	loop_remark_serial(walk->module, mark, serial_for_children, dependence_sample(walk->module, pairs));
}

struct inside {
	struct module *module;
	const struct region *region;
	const struct mark *shared;
};

static isl_bool remark_inner(__isl_keep isl_schedule_node *node, void *user)
{
	const struct inside *inside = user;
	const struct mark *mark = mark_of_node(node);
	isl_union_map *strict;

	if (mark && mark->kind == MARK_BLOCK)
		return isl_bool_false;
	if (!mark || mark == inside->shared || mark->kind != MARK_LOOP)
		return isl_bool_true;
	strict = tree_carried(node, inside->region->strict);
	if (isl_union_map_is_empty(strict) == isl_bool_false)
		loop_remark_serial(inside->module, mark, "it carries a dependence",
				   dependence_sample(inside->module, isl_union_map_copy(strict)));
	isl_union_map_free(strict);
	return isl_bool_true;
}

/* Loops below one that is shared, which each thread runs in order. */
static void remark_inside(const struct tree_walk *walk, __isl_keep isl_schedule_node *node, const struct mark *shared)
{
	struct inside inside = { walk->module, walk->region, shared };

	if (walk_remarks(walk) && isl_union_map_is_empty(walk->region->strict) == isl_bool_false)
		isl_schedule_node_foreach_descendant_top_down(node, remark_inner, &inside);
}

/* Below which child the stage runs: a sequence has several. */
static int child_with(struct module *module, __isl_keep isl_schedule_node *node, const struct stage *stage)
{
	int child = 0;

	for (int i = 1; i < isl_schedule_node_n_children(node); i++) {
		isl_schedule_node *behind = isl_schedule_node_get_child(node, i);
		stage_list below;

		behind = isl_schedule_node_first_child(behind);         /* where the filter holds */
		below = tree_stages(module, behind);
		for (int s = 0; s < below.n; s++)
			child = below.items[s] == stage ? i : child;
		isl_schedule_node_free(behind);
	}
	return child;
}

/* Goes down to the one stage of each list item and makes its updates atomic; back to the same place. */
static __isl_give isl_schedule_node *insert_atomic(struct module *module, __isl_take isl_schedule_node *node,
						   struct stage *stage)
{
	isl_size depth = isl_schedule_node_get_tree_depth(node);

	while (isl_schedule_node_n_children(node) > 0)
		node = isl_schedule_node_child(node, child_with(module, node, stage));
	node = tree_insert_mark(module, node, MARK_ATOMIC, "parallel", stage);
	return isl_schedule_node_ancestor(node, isl_schedule_node_get_tree_depth(node) - depth);
}

static const char *names_of(struct module *module, const stage_list *list)
{
	struct str text = str_new(module->arena);

	for (int i = 0; i < list->n; i++)
		str_add(&text, "%s'%s'", i ? ", " : "", list->items[i]->write.array->name);
	return str_text(&text);
}

/* Lets threads share the loop, each with a copy of what they update, if that is wanted and possible. */
static __isl_give isl_schedule_node *share_with_copies(struct tree_walk *walk, __isl_take isl_schedule_node *node,
						       const struct mark *mark, const stage_list *updates, bool *done)
{
	*done = false;
	if (updates->n != 1)
		return node;
	node = tree_insert_mark(walk->module, node, MARK_PARALLEL, "parallel", NULL);
	node = private_try(walk, node, mark, updates->items[0], done);
	return *done ? node : isl_schedule_node_delete(node);
}

/* Operations that take as long as it takes to start threads and to wait for them. */
enum { LEAST_SHARED = 1 << 16 };

static bool is_inside_loop(__isl_keep isl_schedule_node *node)
{
	return schedule_has_mark_above(node, MARK_LOOP, NULL) || schedule_has_mark_above(node, MARK_CHILDREN, NULL) ||
	       schedule_has_mark_above(node, MARK_TILE, NULL);
}

/* For each iteration of a serial loop threads are started where there is enough to do. */
static __isl_give isl_schedule_node *insert_parallel(const struct tree_walk *walk, __isl_take isl_schedule_node *node)
{
	struct mark *mark = mark_new(walk->module, MARK_PARALLEL, "parallel", (struct span) { 0 });

	if (!walk->options->is_device && is_inside_loop(node))
		mark->least_operations = LEAST_SHARED;
	return isl_schedule_node_insert_mark(node, mark_id(walk->module, mark));
}

static __isl_give isl_schedule_node *share(struct tree_walk *walk, __isl_take isl_schedule_node *node,
					   const struct mark *mark, __isl_keep isl_union_map *updates)
{
	struct module *module = walk->module;
	stage_list meeting = tree_meeting(module, updates);
	stage_list atomic = need_atomics(module, node, &meeting);
	bool is_private;

	node = share_with_copies(walk, node, mark, &atomic, &is_private);
	if (is_private)
		return node;
	node = insert_parallel(walk, node);
	for (int i = 0; i < atomic.n; i++)
		node = insert_atomic(module, node, atomic.items[i]);
	updates_become_atomic(module, &atomic);
	if (atomic.n)
		module_decide(module, DECISION_PARALLEL_ATOMIC, mark->stage->group->name, mark->dim->span,
			      "iterations of '%s' may update the same cell of %s", mark->dim->name,
			      names_of(module, &atomic));
	else
		module_decide(module, DECISION_PARALLEL, mark->stage->group->name, mark->dim->span,
			      meeting.n ? "the loop over '%s' ends in a reduction of the threads' sums"
			      : "no two iterations of '%s' touch the same cell", mark->dim->name)->loop = mark->dim;
	if (!meeting.n && loop_is_over_chunks(module, mark->dim))
		node = tree_insert_mark(module, node, MARK_DYNAMIC, "parallel", NULL);
	return node;
}

/* Does an update below need atomics in each iteration of an inner loop? */
static bool is_atomic_inside(struct tree_walk *walk, __isl_keep isl_schedule_node *node, const stage_list *meeting)
{
	stage_list atomic = need_atomics(walk->module, node, meeting);
	bool inside = false;

	for (int i = 0; i < atomic.n; i++)
		inside = inside || !schedule_has_mark_below(node, MARK_ACCUMULATE, atomic.items[i]);
	return inside && tree_has_loop_below(node);
}

/* Are floats updated in the order in which threads come to it? */
static bool is_order_lost(const stage_list *meeting)
{
	for (int i = 0; i < meeting->n; i++)
		if (type_is_float(meeting->items[i]->write.array->type))
			return true;
	return false;
}

/* What the loop accumulates is accumulated by parts of it. */
static __isl_give isl_schedule_node *share_by_parts(struct tree_walk *walk, __isl_take isl_schedule_node *node,
						    const struct mark *mark)
{
	struct mark *parts = mark_new(walk->module, MARK_PARTS, "parallel", (struct span) { 0 });

	parts->parts = LOOP_PARTS;
	module_decide(walk->module, DECISION_PARALLEL_PARTS, mark->stage->group->name, mark->dim->span,
		      "%d parts of the loop over '%s' have sums of their own, which are added in the order of the "
		      "parts", LOOP_PARTS, mark->dim->name)->loop = mark->dim;
	node = insert_parallel(walk, node);
	return isl_schedule_node_insert_mark(node, mark_id(walk->module, parts));
}

static bool is_shared_by_parts(const struct tree_walk *walk, __isl_keep isl_schedule_node *node,
			       const struct mark *mark, const stage_list *meeting)
{
	stage_list updates = need_atomics(walk->module, node, meeting);

	return loop_has_parts(walk->options, mark) && updates.n == 0 && is_order_lost(meeting);
}

/* Copies are added in the order of the threads, and a team updates each cell by one thread. */
static __isl_give isl_schedule_node *share_in_order(struct tree_walk *walk, __isl_take isl_schedule_node *node,
						    const struct mark *mark, __isl_keep isl_union_map *carried,
						    bool *descend)
{
	stage_list meeting = tree_meeting(walk->module, carried);
	stage_list updates = need_atomics(walk->module, node, &meeting);
	bool done = false;

	*descend = false;
	if (updates.n == meeting.n)
		node = share_with_copies(walk, node, mark, &updates, &done);
	if (done)
		return node;
	node = team_form(walk, node, mark, descend);
	if (*descend)
		decide_in_order(walk, mark, "threads would add in any order", carried);
	return node;
}

static __isl_give isl_schedule_node *visit(struct tree_walk *walk, __isl_take isl_schedule_node *node,
					   const struct mark *mark, bool *descend)
{
	isl_union_map *strict, *updates;
	stage_list meeting;

	if ((mark->kind != MARK_LOOP && mark->kind != MARK_TILE) || !walk->region->strict) {
		*descend = walk->region->strict != NULL;
		if (*descend && mark->kind == MARK_CHILDREN)
			remark_children(walk, node, mark);
		return node;
	}
	strict = tree_carried(node, walk->region->strict);
	updates = tree_carried(node, walk->region->reduction);
	meeting = tree_meeting(walk->module, updates);
	*descend = false;
	if (isl_union_map_is_empty(strict) != isl_bool_true) {
		node = team_form(walk, node, mark, descend);
		if (*descend)
			decide_serial(walk->module, mark, "it carries a dependence",
				      dependence_sample(walk->module, isl_union_map_copy(strict)));
	} else if (is_shared_by_parts(walk, node, mark, &meeting)) {
		node = share_by_parts(walk, node, mark);
	} else if (walk->options->deterministic && is_order_lost(&meeting)) {
		node = share_in_order(walk, node, mark, updates, descend);
	} else {
		*descend = true;
		if (is_atomic_inside(walk, node, &meeting) && !updates_are_asked_for(walk->module, &meeting))
			node = team_form(walk, node, mark, descend);
		if (*descend)
			node = share(walk, node, mark, updates);
		*descend = false;
	}
	if (!*descend)
		remark_inside(walk, node, mark);
	isl_union_map_free(strict);
	isl_union_map_free(updates);
	return node;
}

bool pass_parallel(struct module *module, const struct pass_options *options)
{
	struct tree_walk walk = { .module = module, .options = options, .visit = visit };

	return (!options->parallel || module_walk(&walk)) && partitions_check(module, options);
}
