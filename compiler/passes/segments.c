/* SPDX-License-Identifier: MIT
 *
 * Recurrences over many trees, tree by tree. A tree that is cut into segments is a forest: parents and children do not
 * leave their segment (runtime/facts.c checks it). So a recurrence over all of its nodes,
 *
 *     for i in 0..n, …                      becomes
 *     for tree in 0..trees, begin = offset[tree], end = offset[tree + 1], for i in begin..end, …
 *
 * which visits the same points. That trees need nothing from each other then follows from the facts of both arrays
 * (ir/access.c, ir/axioms.c), and they run side by side. */
#include "passes/pass_private.h"

/* The loop over the nodes of a forest. */
struct cut {
	struct module *module;
	struct group *group;
	int level;                      /* of the loop among the common dims */
	const struct array *tree;
};

enum { N_NEW = 3 };                     /* tree, begin, end */

/* ---- is there one ---- */

static bool runs_over_all(const struct dim *dim, const struct array *offsets)
{
	int64_t lo;

	return dim->kind == DIM_RANGE && expr_is_constant(dim->lo, &lo) && lo == 0 &&
	       expr_equal(dim->hi, offsets->limit);
}

/* Does this dim find nodes of a forest from the node that a common loop is at? */
static bool dim_follows(struct cut *cut, const struct stage *stage, const struct dim *dim)
{
	const struct array *tree = dim->source.array;
	const struct expr *node;

	if (dim->kind == DIM_RANGE || !(tree->facts & FACT_TREE) || !tree->segments)
		return false;
	node = dim->source.subs[0];
	if (node->kind != EXPR_DIM || node->index >= cut->group->n_common ||
	    !runs_over_all(&stage->dims.items[node->index], tree->segments))
		return false;
	cut->level = node->index;
	cut->tree = tree;
	return true;
}

static bool find_cut(struct cut *cut)
{
	bool found = false;

	for (int s = 0; s < cut->group->stages.n && !found; s++) {
		const struct stage *stage = cut->group->stages.items[s];

		for (int d = 0; d < stage->dims.n && !found; d++)
			found = dim_follows(cut, stage, &stage->dims.items[d]);
	}
	return found && cut->group->is_recurrence;
}

/* ---- the new loops ---- */

static struct expr *add_bind(const struct cut *cut, dim_list *dims, const char *what, struct expr *at)
{
	struct arena *arena = cut->module->arena;
	struct array *offsets = cut->tree->segments;
	struct dim dim = { .kind = DIM_BIND, .span = at->span, .source = { .array = offsets, .span = at->span } };

	dim.name = arena_printf(arena, "%s_%s", array_member_name(offsets), what);
	dim.source.subs = arena_new_array(arena, struct expr *, 1);
	dim.source.subs[0] = at;
	vec_push(arena, dims, dim);
	return expr_dim(arena, dims->n - 1, at->span);
}

static struct expr *plus(struct arena *arena, struct expr *expr, int64_t value)
{
	int64_t present;

	if (expr->kind == EXPR_OP && expr->op == OP_ADD && expr_is_constant(expr->args[1], &present) &&
	    present == -value)
		return expr->args[0];
	return expr_binary(arena, OP_ADD, TYPE_I64, expr, expr_int(arena, value, expr->span));
}

/* The dims of a stage up to and with the loop over nodes, which becomes that over the nodes of a tree. */
static void add_loops(const struct cut *cut, const struct stage *stage, dim_list *dims)
{
	struct arena *arena = cut->module->arena;
	const struct dim *old = &stage->dims.items[cut->level];
	struct dim tree = { .kind = DIM_RANGE, .name = "tree", .span = old->span }, node = *old;
	struct expr *number;

	for (int d = 0; d < cut->level; d++)
		vec_push(arena, dims, stage->dims.items[d]);
	tree.lo = expr_int(arena, 0, old->span);
	tree.hi = plus(arena, cut->tree->segments->hi[0], -1);
	vec_push(arena, dims, tree);
	number = expr_dim(arena, cut->level, old->span);
	node.lo = add_bind(cut, dims, "begin", number);
	node.hi = add_bind(cut, dims, "end", plus(arena, number, 1));
	vec_push(arena, dims, node);
}

static void substitute_access(struct arena *arena, struct access *access, struct expr *const *map)
{
	struct expr **subs = arena_new_array(arena, struct expr *, access->array->rank);

	for (int i = 0; i < access_n_subs(access); i++)
		subs[i] = expr_substitute(arena, access->subs[i], map);
	access->subs = subs;
}

static void cut_stage(const struct cut *cut, struct stage *stage)
{
	struct arena *arena = cut->module->arena;
	struct expr **map = arena_new_array(arena, struct expr *, stage->dims.n);
	dim_list dims = { 0 };

	for (int d = cut->level; d < stage->dims.n; d++)
		map[d] = expr_dim(arena, d + N_NEW, stage->dims.items[d].span);
	add_loops(cut, stage, &dims);
	for (int d = cut->level + 1; d < stage->dims.n; d++) {
		struct dim dim = stage->dims.items[d];

		if (dim.kind == DIM_RANGE) {
			dim.lo = expr_substitute(arena, dim.lo, map);
			dim.hi = expr_substitute(arena, dim.hi, map);
		} else {
			substitute_access(arena, &dim.source, map);
		}
		vec_push(arena, &dims, dim);
	}
	stage->dims = dims;
	substitute_access(arena, &stage->write, map);
	stage->value = expr_substitute(arena, stage->value, map);
	stage->guard = stage->guard ? expr_substitute(arena, stage->guard, map) : NULL;
}

bool pass_segments(struct module *module, const struct pass_options *options)
{
	bool has_cut = false;

	(void) options;
	for (int g = 0; g < module->groups.n; g++) {
		struct cut cut = { .module = module, .group = module->groups.items[g] };

		if (!find_cut(&cut))
			continue;
		for (int s = 0; s < cut.group->stages.n; s++)
			cut_stage(&cut, cut.group->stages.items[s]);
		cut.group->n_common += N_NEW;
		module_decide(module, "segments", cut.group->name, "tree by tree", "all nodes", cut.group->span,
			      "nodes of '%s' have parents and children in their own segment", cut.tree->name);
		has_cut = true;
	}
	if (!has_cut)
		return true;
	module_analyse(module);
	return module_order_recurrences(module);
}
