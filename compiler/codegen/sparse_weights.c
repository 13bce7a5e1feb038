/* SPDX-License-Identifier: MIT
 *
 * Sparse weights. Most of them are zero, but other ones in each call (`live X : few`), so that a copy of the active
 * points is not worth its making (active_points.c). Lanes of a warp-cooperative loop read the weights of their
 * iterations first, and read and compute the rest only if one of them is not zero. Not in a loop that also goes by
 * other weights. */
#include <string.h>

#include "codegen/codegen_private.h"
#include "codegen/streams.h"

static bool find_sparse(const struct emit *e, const struct group *group, struct live_points *live)
{
	return group->has_sparse_weights && module_live_points(e->module, group, live);
}

/* Does it read the weights, or, before them, their subscripts? */
static bool is_of_weights(const struct emit *e, const struct stream *stream, const struct live_points *live)
{
	if (stream->by < 0)
		return !strcmp(stream->array, live->by->c_name);
	return !strcmp(stream->array, live->weights->c_name) &&
	       !strcmp(e->device.streams.items[stream->by].array, live->by->c_name);
}

/* Weights that the kernel itself computes are not read ahead. */
static bool are_computed(const struct emit *e, const struct live_points *live)
{
	const int slot = e->layout->slot_of[live->weights->number];

	return slot < 0 || e->function.is_written[slot];
}

bool sparse_waits(const struct emit *e, const struct stream *stream)
{
	struct live_points live;

	return find_sparse(e, stream->warp_loop->stage->group, &live) && !is_of_weights(e, stream, &live) &&
	       !are_computed(e, &live);
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

/* Does the weight of a lane differ from zero? NULL: it is not prefetched. When the kernel is built for the first time,
 * it is not known yet what is. */
static struct k_expr *has_weight(const struct emit *e, const struct live_points *live)
{
	struct k_expr *zero = c_identity(e->arena, REDUCE_ADD, live->weights->type);
	const char *now = NULL;
	bool is_first = true;

	for (int i = 0; i < e->device.streams.n; i++) {
		const struct stream *stream = &e->device.streams.items[i];

		if (!is_stream_of(e, stream, e->warp_loop->mark))
			continue;
		is_first = false;
		if (stream->by >= 0 && stream->is_ahead && is_of_weights(e, stream, live))
			now = stream->now;
	}
	if (is_first)
		return k_bool(e->arena, true);
	return now ? k_binary(e->arena, K_NE, k_name(e->arena, now), zero) : NULL;
}

/* Factors that points have themselves are taken to be finite: they are not read. */
int sparse_open(struct emit *e, __isl_keep isl_ast_node *body)
{
	struct live_points live;
	struct k_expr *condition;
	const char *any;

	if (!find_sparse(e, e->warp_loop->mark->stage->group, &live) || !is_for_sparse_alone(e, body, &live))
		return -1;
	condition = has_weight(e, &live);
	if (!condition)
		return -1;
	condition = k_at_least(e->arena, or_not_finite(e, condition, live.finite, live.n_finite), K_LEVEL_PRIMARY);
	condition = k_binary(e->arena, K_AND, k_name(e->arena, e->warp_loop->is_in), condition);
	any = names_declare(&e->names, "any");
	k_const(e->b, k_scalar("unsigned"), any, of_team(e->arena, K_CALL(e->arena, "pmg_cuda_ballot", condition)));
	return block_of(e, k_begin_if(e->b, k_name(e->arena, any)));
}

void sparse_close(struct emit *e, int names)
{
	if (names >= 0)
		block_close(e, names);
}
