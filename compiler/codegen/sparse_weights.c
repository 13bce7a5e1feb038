/* SPDX-License-Identifier: MIT
 *
 * Sparse weights. Most of them are zero, but other ones in each call (`live X : few`), so that a copy of the active
 * points is not worth its making (active_points.c). Lanes of a warp-cooperative loop read the weights of their
 * iterations first, and read and compute the rest only if one of them is not zero. Not in a loop that also goes by
 * other weights. */
#include "codegen/codegen_private.h"

static bool find_sparse(const struct emit *e, const struct group *group, struct live_points *live)
{
	return group->has_sparse_weights && module_live_points(e->module, group, live);
}

/* ---- the test ---- */

struct sharing {
	const struct emit *e;
	const struct live_points *live;
	bool is_shared;
};

static void note_other_weights(struct stage *stage, void *user)
{
	struct sharing *sharing = user;
	struct live_points live;

	sharing->is_shared |= !find_sparse(sharing->e, stage->group, &live) ||
			      live.weights != sharing->live->weights || live.by != sharing->live->by;
}

static bool is_for_sparse_alone(struct emit *e, __isl_keep isl_ast_node *body, const struct live_points *live)
{
	struct sharing sharing = { e, live, false };

	ast_each_stage(body, note_other_weights, &sharing);
	return !sharing.is_shared;
}

/* The dim that is read from `by` for the iteration of the loop; NULL: there is none. */
static const struct dim *dim_by(const struct mark *loop, const struct array *by)
{
	const dim_list *dims = &loop->stage->dims;

	for (int d = 0; d < dims->n; d++) {
		const struct access *source = &dims->items[d].source;

		if (dims->items[d].kind == DIM_BIND && source->array == by && source->subs[0]->kind == EXPR_DIM &&
		    source->subs[0]->index == mark_dim_number(loop))
			return &dims->items[d];
	}
	return NULL;
}

/* weights[by[k]], which is loaded one round ahead (kernel/lower/lane_loads.c). */
static struct k_expr *weight_of(struct emit *e, __isl_keep isl_ast_node *body, const struct live_points *live,
				const struct dim *by)
{
	const struct stage *stage = e->warp_loop->mark->stage;
	struct point point = { stage, ast_instance_below(body, stage, false) };
	struct affine at, lo = affine_of_expr(e, NULL, live->weights->lo[0]);

	at = affine_atom(e->arena, warp_loop_read(e, &by->source, c_access(e, &point, &by->source)));
	at = affine_combine(e->arena, 1, &at, -1, &lo);
	return K_CALL(e->arena, "PMG_ONCE", k_at(e->arena, live->weights->c_name, affine_expr(e->arena, &at)));
}

/* Factors that points have themselves are taken to be finite: they are not read. */
int sparse_open(struct emit *e, __isl_keep isl_ast_node *body)
{
	struct live_points live;
	const struct dim *by = NULL;
	struct k_expr *condition;
	const char *any;

	if (find_sparse(e, e->warp_loop->mark->stage->group, &live) && is_for_sparse_alone(e, body, &live))
		by = dim_by(e->warp_loop->mark, live.by);
	if (!by)
		return -1;
	condition = k_binary(e->arena, K_NE, weight_of(e, body, &live, by),
			     c_identity(e->arena, REDUCE_ADD, live.weights->type));
	condition = k_at_least(e->arena, or_not_finite(e, condition, live.finite, live.n_finite), K_LEVEL_PRIMARY);
	condition = k_binary(e->arena, K_AND, k_name(e->arena, e->warp_loop->is_in), condition);
	any = names_declare(&e->names, "any");
	k_const(e->b, k_scalar("unsigned"), any,
		of_team(e->arena, K_CALL(e->arena, runtime_name(e, "ballot"), condition)));
	return block_of(e, k_begin_if(e->b, k_name(e->arena, any)));
}

void sparse_close(struct emit *e, int names)
{
	if (names >= 0)
		block_close(e, names);
}
