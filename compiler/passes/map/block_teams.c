/* SPDX-License-Identifier: MIT
 *
 * Where a team of a device is a block, or a part of one. Below one iteration of a shared loop there may be several
 * stages, each with a concurrent loop of its own, over rows, chunks or cells: one kernel runs all of them, the lanes of
 * the team share each of these loops (the mark LANES), and whatever is inside of them runs in each lane. What stages
 * hand on then need not go through memory (passes/map/team_storage.c).
 *
 * Lanes share the outermost loops that carry nothing, unless there is a long loop of vectors inside. A loop that
 * carries a dependence, as that over the levels of a reduction, runs in all lanes together. The host must know how many
 * iterations the loops have, and there must be a temporary that two of them touch: without one, a warp serves as
 * well. */
#include "passes/pass_private.h"

enum { SHORT = 32 };

static const char pass_name[] = "block_teams";

/* ---- is it worth a block ---- */

static bool is_known_to_host(const struct expr *expr)
{
	if (expr->kind == EXPR_DIM || expr->kind == EXPR_READ)
		return false;
	for (int i = 0; i < expr_n_args(expr); i++)
		if (!is_known_to_host(expr->args[i]))
			return false;
	return true;
}

struct assigning {
	struct tree_walk *walk;
	int *loop_of;                   /* by number of stage: which of these loops; 0: none */
	int n_loops, shared_dim;        /* number of the dim of the shared loop */
	bool is_possible;
};

struct touching {
	const struct assigning *assigning;
	const struct array *array;
	int first;                      /* the loop that was seen first; 0: none */
	unsigned own;                   /* subscripts that are the dim of the shared loop in all accesses */
	bool is_here, are_several, is_outside;
};

static void look_at_access(struct access *access, void *user)
{
	struct touching *touching = user;

	if (access->array != touching->array)
		return;
	touching->is_here = true;
	for (int i = 0; i < access->array->rank; i++)
		if (access->subs[i]->kind != EXPR_DIM || access->subs[i]->index != touching->assigning->shared_dim)
			touching->own &= ~(1U << i);
}

static void look_at_stage(struct touching *touching, struct stage *stage)
{
	const int loop = touching->assigning->loop_of[stage->number];

	touching->is_here = false;
	look_at_access(&stage->write, touching);
	stage_reads(stage, look_at_access, touching);
	if (!touching->is_here)
		return;
	touching->is_outside |= loop == 0;
	touching->are_several |= touching->first && loop != touching->first;
	touching->first = touching->first ? touching->first : loop;
}

/* Is it a temporary of one iteration of the shared loop that only the loops of the lanes touch, and several of them? */
static bool is_handed_on(const struct assigning *assigning, const struct array *array)
{
	struct module *module = assigning->walk->module;
	struct touching touching = { .assigning = assigning, .array = array, .own = (1U << array->rank) - 1 };

	if (array->role != ROLE_TEMP || array_is_index(array) || array->rank == 0)
		return false;
	for (int i = 0; i < module->stages.n; i++)
		look_at_stage(&touching, module->stages.items[i]);
	return touching.are_several && touching.own && !touching.is_outside;
}

static bool hands_on(const struct assigning *assigning)
{
	struct module *module = assigning->walk->module;

	for (int i = 0; i < module->arrays.n; i++)
		if (is_handed_on(assigning, module->arrays.items[i]))
			return true;
	return false;
}

/* ---- the loops of the lanes ---- */

static bool carries_nothing(const struct assigning *assigning, __isl_keep isl_schedule_node *loop)
{
	isl_union_map *strict = tree_carried(loop, assigning->walk->region->strict);
	isl_union_map *updates = tree_carried(loop, assigning->walk->region->reduction);
	const bool nothing = isl_union_map_is_empty(strict) == isl_bool_true &&
			     isl_union_map_is_empty(updates) == isl_bool_true;

	isl_union_map_free(strict);
	isl_union_map_free(updates);
	return nothing;
}

/* As many as a warp has lanes, or fewer. */
static bool is_short(const struct dim *dim)
{
	int64_t n;

	return dim->kind == DIM_RANGE && range_is_constant(dim->lo, dim->hi, &n) && n <= SHORT;
}

static isl_bool find_long(__isl_keep isl_schedule_node *node, void *user)
{
	const struct mark *mark = mark_of_node(node), *below = mark_below(node);
	bool *has_long = user;

	if (!mark || mark->kind != MARK_VECTOR)
		return isl_bool_true;
	*has_long |= below && below->kind == MARK_LOOP && !is_short(below->dim);
	return isl_bool_false;
}

/* Lanes that share a long loop of vectors inside have cells next to each other. */
static bool has_long_vectors(__isl_keep isl_schedule_node *loop)
{
	bool has = false;

	isl_schedule_node_foreach_descendant_top_down(loop, find_long, &has);
	return has;
}

static bool can_be_assigned(const struct assigning *assigning, __isl_keep isl_schedule_node *loop,
			    const struct mark *mark)
{
	return mark->kind == MARK_LOOP && mark->direction > 0 && is_known_to_host(mark->dim->lo) &&
	       is_known_to_host(mark->dim->hi) && !has_long_vectors(loop) && carries_nothing(assigning, loop);
}

static __isl_give isl_schedule_node *drop_vector(__isl_take isl_schedule_node *node, void *unused)
{
	const struct mark *mark = mark_of_node(node);

	(void) unused;
	return mark && mark->kind == MARK_VECTOR ? isl_schedule_node_delete(node) : node;
}

static __isl_give isl_schedule_node *assign_loop(struct assigning *assigning, __isl_take isl_schedule_node *node)
{
	struct module *module = assigning->walk->module;
	const stage_list below = tree_stages(module, node);

	assigning->n_loops++;
	for (int i = 0; i < below.n; i++) {
		assigning->loop_of[below.items[i]->number] = assigning->n_loops;
		assigning->is_possible = assigning->is_possible && !stage_checks_index(below.items[i]);
	}
	node = isl_schedule_node_map_descendant_bottom_up(node, drop_vector, NULL);
	return tree_insert_mark(module, node, MARK_LANES, pass_name, NULL);
}

static __isl_give isl_schedule_node *assign(struct assigning *assigning, __isl_take isl_schedule_node *node);

static __isl_give isl_schedule_node *assign_children(struct assigning *assigning, __isl_take isl_schedule_node *node)
{
	const isl_size n = isl_schedule_node_n_children(node);

	for (int i = 0; i < n; i++)
		node = isl_schedule_node_parent(assign(assigning, isl_schedule_node_child(node, i)));
	return node;
}

/* Marks that say otherwise how loops run, or that accumulate, keep a team what it was. */
static bool may_stand_around(const struct mark *mark)
{
	return mark->kind == MARK_LOOP || mark->kind == MARK_BIND || mark->kind == MARK_GROUP;
}

/* Returns the node at the same depth; a statement that no loop of lanes is around is none for a block. */
static __isl_give isl_schedule_node *assign(struct assigning *assigning, __isl_take isl_schedule_node *node)
{
	const struct mark *mark = mark_of_node(node);

	if (mark && mark->kind == MARK_VECTOR) {
		node = isl_schedule_node_delete(node);
		return assign(assigning, node);
	}
	if (isl_schedule_node_get_type(node) == isl_schedule_node_leaf)
		assigning->is_possible = false;
	if (mark && can_be_assigned(assigning, node, mark))
		return assign_loop(assigning, node);
	assigning->is_possible = assigning->is_possible && (!mark || may_stand_around(mark));
	return assign_children(assigning, node);
}

/* ---- shared loops ---- */

static const enum mark_kind others[] = { MARK_ROW, MARK_WARP_LOOP, MARK_ATOMIC, MARK_ACCUMULATE, MARK_SKIP,
					 MARK_SKIP_ALWAYS, MARK_CHILDREN, MARK_TILE, MARK_UNROLL };

static bool is_plain(__isl_keep isl_schedule_node *node)
{
	for (size_t i = 0; i < sizeof others/sizeof others[0]; i++)
		if (schedule_has_mark_below(node, others[i], NULL))
			return false;
	return true;
}

/* A shared loop above which nothing but PARALLEL says how it runs. */
static bool is_shared(__isl_keep isl_schedule_node *loop)
{
	isl_schedule_node *above = isl_schedule_node_parent(isl_schedule_node_copy(loop));
	const struct mark *parallel = mark_of_node(above), *around = parallel ? mark_above(above) : NULL;
	const bool is = parallel && parallel->kind == MARK_PARALLEL &&
			(!around || (around->kind != MARK_ACCUMULATE && around->kind != MARK_DYNAMIC));

	isl_schedule_node_free(above);
	return is;
}

/* Loops of vectors below are none any more. */
static isl_bool take_back_vector(__isl_keep isl_schedule_node *node, void *user)
{
	const struct mark *mark = mark_of_node(node), *below = mark_below(node);

	if (mark && mark->kind == MARK_VECTOR && mark_is_loop(below))
		module_take_back(user, DECISION_VECTOR, below->stage->group->name, below->dim->span);
	return isl_bool_true;
}

static __isl_give isl_schedule_node *visit(struct tree_walk *walk, __isl_take isl_schedule_node *node,
					   const struct mark *mark, bool *descend)
{
	struct module *module = walk->module;
	struct assigning assigning = { .walk = walk, .is_possible = true,
				   .shared_dim = mark->dim ? mark_dim_number(mark) : -1,
				   .loop_of = arena_new_array(module->arena, int, module->stages.n) };
	isl_schedule_node *assigned;

	*descend = !is_shared(node);
	if (*descend || !walk->region->strict || mark->kind != MARK_LOOP || !is_plain(node))
		return node;
	assigned = isl_schedule_node_first_child(isl_schedule_node_first_child(isl_schedule_node_copy(node)));
	assigned = isl_schedule_node_ancestor(assign(&assigning, assigned), 2);
	if (!assigning.is_possible || !hands_on(&assigning)) {
		isl_schedule_node_free(assigned);
		return node;
	}
	isl_schedule_node_foreach_descendant_top_down(node, take_back_vector, module);
	isl_schedule_node_free(node);
	module_decide(module, DECISION_BLOCK_TEAMS, mark->stage->group->name, mark->dim->span,
		      "an iteration of '%s' has %d loops that lanes share, which hand on values", mark->dim->name,
		      assigning.n_loops)->loop = mark->dim;
	return assigned;
}

bool pass_block_teams(struct module *module, const struct pass_options *options)
{
	struct tree_walk walk = { .module = module, .options = options, .visit = visit };

	return !options->is_device || !options->block_teams || !options->vector || module_walk(&walk);
}
