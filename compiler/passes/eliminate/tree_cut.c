/* SPDX-License-Identifier: MIT
 *
 * The loop over the nodes of trees, one of the common dims of a recurrence, in parts: several loops and index arrays
 * take its place, of which the last visits the nodes. */
#include "passes/pass_private.h"

static bool runs_over_nodes(const struct dim *dim, const struct array *tree)
{
	int64_t lo;

	return dim->kind == DIM_RANGE && expr_is_constant(dim->lo, &lo) && lo == 0 && expr_equal(dim->hi, tree->hi[0]);
}

/* Does this dim find nodes of a tree from the node that a common loop is at? */
static bool dim_follows(struct tree_cut *cut, const struct stage *stage, const struct dim *dim)
{
	const struct expr *node;

	if (dim->kind == DIM_RANGE || !(dim->source.array->facts & FACT_TREE) ||
	    !array_is_argument(dim->source.array) || (cut->is_of_segments && !dim->source.array->segments))
		return false;
	node = dim->source.subs[0];
	if (node->kind != EXPR_DIM || node->index >= cut->group->n_common ||
	    !runs_over_nodes(&stage->dims.items[node->index], dim->source.array))
		return false;
	cut->level = node->index;
	cut->tree = dim->source.array;
	return true;
}

bool tree_cut_find(struct tree_cut *cut)
{
	bool found = false;

	for (int s = 0; s < cut->group->stages.n && !found; s++) {
		const struct stage *stage = cut->group->stages.items[s];

		for (int d = 0; d < stage->dims.n && !found; d++)
			found = dim_follows(cut, stage, &stage->dims.items[d]);
	}
	return found && cut->group->is_recurrence;
}

struct expr *tree_cut_bind(const struct tree_cut *cut, dim_list *dims, struct array *array, const char *name,
			   struct expr *at)
{
	struct arena *arena = cut->module->arena;
	struct dim dim = { .kind = DIM_BIND, .name = name, .span = at->span,
			   .source = { .array = array, .span = at->span } };

	dim.source.subs = arena_new_array(arena, struct expr *, 1);
	dim.source.subs[0] = at;
	vec_push(arena, dims, dim);
	return expr_dim(arena, dims->n - 1, at->span);
}

struct expr *tree_cut_range(const struct tree_cut *cut, dim_list *dims, const char *name, struct expr *lo,
			    struct expr *hi)
{
	struct dim dim = { .kind = DIM_RANGE, .name = name, .span = cut->nodes->span, .lo = lo, .hi = hi };

	vec_push(cut->module->arena, dims, dim);
	return expr_dim(cut->module->arena, dims->n - 1, dim.span);
}

struct expr *tree_cut_plus(const struct tree_cut *cut, struct expr *expr, int64_t value)
{
	struct arena *arena = cut->module->arena;
	int64_t present;

	if (expr->kind == EXPR_OP && expr->op == OP_ADD && expr_is_constant(expr->args[1], &present) &&
	    present == -value)
		return expr->args[0];
	return expr_binary(arena, OP_ADD, TYPE_I64, expr, expr_int(arena, value, expr->span));
}

/* How many dims stand in the place of one before. */
static int cut_stage(struct tree_cut *cut, struct stage *stage)
{
	struct arena *arena = cut->module->arena;
	struct expr **map = arena_new_array(arena, struct expr *, stage->dims.n);
	dim_list dims = { 0 };
	int n_more;

	for (int d = 0; d < cut->level; d++)
		vec_push(arena, &dims, stage->dims.items[d]);
	cut->nodes = &stage->dims.items[cut->level];
	cut->add_loops(cut, &dims);
	n_more = dims.n - cut->level - 1;
	for (int d = cut->level; d < stage->dims.n; d++)
		map[d] = expr_dim(arena, d + n_more, stage->dims.items[d].span);
	for (int d = cut->level + 1; d < stage->dims.n; d++) {
		struct dim dim = dim_substitute(arena, &stage->dims.items[d], map);

		vec_push(arena, &dims, dim);
	}
	stage->dims = dims;
	stage->write = access_substitute(arena, &stage->write, map);
	stage->value = expr_substitute(arena, stage->value, map);
	stage->guard = stage->guard ? expr_substitute(arena, stage->guard, map) : NULL;
	return n_more;
}

void tree_cut_apply(struct tree_cut *cut)
{
	int n_more = 0;

	for (int s = 0; s < cut->group->stages.n; s++)
		n_more = cut_stage(cut, cut->group->stages.items[s]);
	cut->group->n_common += n_more;
}
