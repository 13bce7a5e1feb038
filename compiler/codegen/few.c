/* SPDX-License-Identifier: MIT
 *
 * Few weights. Where most of them are zero, but other ones in each call (`live X : few`), so that a copy of what counts
 * is not worth its making (live.c), lanes of a deal look at the weights of their iterations first, and read and compute
 * the rest only if one of them is not zero. Not in a loop that they share with what goes by other weights. */
#include <string.h>

#include "codegen/codegen_private.h"
#include "codegen/streams.h"

static bool find_few(const struct emit *e, const struct group *group, struct live_points *live)
{
	return group->is_few && module_live_points(e->module, group, live);
}

/* Does it read the weights, or, before them, where they are? */
static bool is_of_weights(const struct emit *e, const struct stream *stream, const struct live_points *live)
{
	if (stream->by < 0)
		return !strcmp(stream->array, live->by->c_name);
	return !strcmp(stream->array, live->weights->c_name) &&
	       !strcmp(e->streams.items[stream->by].array, live->by->c_name);
}

/* Weights that the kernel itself computes are not read ahead. */
static bool is_late(const struct emit *e, const struct live_points *live)
{
	const int slot = e->layout->slot_of[live->weights->number];

	return slot < 0 || e->is_written[slot];
}

bool few_waits(const struct emit *e, const struct stream *stream)
{
	struct live_points live;

	return find_few(e, stream->deal->stage->group, &live) && !is_of_weights(e, stream, &live) &&
	       !is_late(e, &live);
}

/* ---- the look ---- */

struct look {
	const struct emit *e;
	const struct live_points *live;
	bool is_shared;
};

static void look_at_stage(struct stage *stage, void *user)
{
	struct look *look = user;
	struct live_points live;

	look->is_shared |= !find_few(look->e, stage->group, &live) || live.weights != look->live->weights ||
			   live.by != look->live->by;
}

static bool is_for_few_alone(struct emit *e, __isl_keep isl_ast_node *body, const struct live_points *live)
{
	struct look look = { e, live, false };

	ast_each_stage(body, look_at_stage, &look);
	return !look.is_shared;
}

/* Does the weight of a lane differ from zero? NULL: it is not read ahead. What is read ahead is not known yet when the
 * kernel is printed first. */
static const char *has_weight(const struct emit *e, const struct live_points *live)
{
	const char *zero = x_text(e, c_identity(e->arena, REDUCE_ADD, live->weights->type)), *now = NULL;
	bool is_first = true;

	for (int i = 0; i < e->streams.n; i++) {
		const struct stream *stream = &e->streams.items[i];

		if (!is_stream_of(e, stream, e->deal->mark))
			continue;
		is_first = false;
		if (stream->by >= 0 && stream->is_ahead && is_of_weights(e, stream, live))
			now = stream->now;
	}
	if (is_first)
		return "true";
	return now ? arena_printf(e->arena, "%s != %s", now, zero) : NULL;
}

/* Factors that points have themselves are taken to be finite: they are not read. */
int few_open(struct emit *e, __isl_keep isl_ast_node *body)
{
	struct live_points live;
	struct str condition = str_new(e->arena);
	const char *has, *any;

	if (!find_few(e, e->deal->mark->stage->group, &live) || !is_for_few_alone(e, body, &live))
		return -1;
	has = has_weight(e, &live);
	if (!has)
		return -1;
	str_add(&condition, "%s", has);
	add_unless_finite(&condition, e, live.finite, live.n_finite);
	any = names_declare(&e->names, "any");
	quote(e->b, "const unsigned %s = pmg_cuda_ballot<pmg_team>(%s && (%s));", any, e->deal->is_in,
	     str_text(&condition));
	return block_open(e, "if (%s) {", any);
}

void few_close(struct emit *e, int names)
{
	if (names >= 0)
		block_close(e, names);
}
