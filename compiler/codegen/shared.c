/* SPDX-License-Identifier: MIT
 *
 * Shared loops inside of serial ones. To start threads for each iteration of a loop takes longer than a short sum or a
 * few cells of a stencil, so such a loop is written twice, shared and not, and the work that it has is asked for first:
 *     if ((double) (n - k)*(double) m >= 8192) { … } else { … }
 * Of loops inside of it the longest ranges count that the sizes allow, or the mean (work.c) where data bound them. */
#include "codegen/codegen_private.h"

/* ---- how long ranges can be ---- */

static struct expr *extreme(struct emit *e, const struct stage *stage, struct expr *expr, bool is_most);

/* The largest or least value of a dim; NULL: not told by sizes. */
static struct expr *extreme_of_dim(struct emit *e, const struct stage *stage, const struct dim *dim, bool is_most)
{
	struct expr *bound;

	if (dim->kind != DIM_RANGE)
		return NULL;
	bound = extreme(e, stage, is_most ? dim->hi : dim->lo, is_most);
	if (!bound || !is_most)
		return bound;
	return expr_binary(e->arena, OP_SUB, TYPE_I64, bound, expr_int(e->arena, 1, dim->span));
}

static struct expr *extreme(struct emit *e, const struct stage *stage, struct expr *expr, bool is_most)
{
	struct expr *a, *b;

	if (expr_last_dim(expr) < 0)
		return expr;
	if (expr->kind == EXPR_DIM)
		return extreme_of_dim(e, stage, &stage->dims.items[expr->index], is_most);
	if (expr->kind != EXPR_OP || (expr->op != OP_ADD && expr->op != OP_SUB))
		return NULL;
	a = extreme(e, stage, expr->args[0], is_most);
	b = extreme(e, stage, expr->args[1], expr->op == OP_ADD ? is_most : !is_most);
	return a && b ? expr_binary(e->arena, expr->op, TYPE_I64, a, b) : NULL;
}

/* ---- the condition ---- */

const char *most_iterations(struct emit *e, const struct stage *stage, const struct dim *dim)
{
	struct expr *most = extreme_of_dim(e, stage, dim, true), *least = extreme_of_dim(e, stage, dim, false);
	struct affine first, last, length;

	if (!most || !least)
		return mean_iterations(e, stage, dim);
	last = affine_of_expr(e, NULL, most);
	first = affine_of_expr(e, NULL, least);
	length = affine_combine(e->arena, 1, &last, -1, &first);
	length.constant++;
	return arena_printf(e->arena, "(double) %s",
			    x_text(e, k_at_least(e->arena, affine_expr(e->arena, &length), K_LEVEL_UNARY)));
}

/* The stage below the loop that has most loops, of its group. */
static const struct stage *deepest(const struct mark *loop)
{
	const struct group *group = loop->stage->group;
	const struct stage *most = loop->stage;

	for (int i = 0; i < group->stages.n && mark_dim_number(loop) < group->n_common; i++)
		if (group->stages.items[i]->dims.n > most->dims.n)
			most = group->stages.items[i];
	return most;
}

/* The points of a stage below the loop. */
static const char *points_text(struct emit *e, const struct range *range, const struct mark *loop,
			       const struct stage *stage)
{
	struct affine length = affine_combine(e->arena, loop->direction, &range->end, -loop->direction, &range->first);
	const char *own = x_text(e, k_at_least(e->arena, affine_expr(e->arena, &length), K_LEVEL_UNARY));
	struct str others = str_new(e->arena);

	for (int d = mark_dim_number(loop) + 1; d < stage->dims.n; d++)
		if (stage->dims.items[d].kind != DIM_BIND)
			str_add(&others, "*%s", most_iterations(e, stage, &stage->dims.items[d]));
	return others.length ? arena_printf(e->arena, "(double) %s%s", own, str_text(&others))
			     : affine_plain(e->arena, &length);
}

static const char *condition_text(struct emit *e, const struct range *range, const struct loop_use *use)
{
	const struct stage *stage = deepest(use->mark);
	const int flops = flops_of_stage(stage);

	return arena_printf(e->arena, "%s >= %lld", points_text(e, range, use->mark, stage),
			    (long long) use->least/(flops > 1 ? flops : 1));
}

bool emit_shared_if_long(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use)
{
	const struct range range = range_of(e, node, use.mark->direction);
	struct loop_use shared = use, serial = use;
	int names;

	if (range.is_single || range.step != 1 || e->team || e->in_region || e->part)
		return false;
	shared.least = serial.least = 0;
	serial.is_parallel = serial.is_dynamic = false;
	serial.parts = 0;
	names = block_open(e, "if (%s) {", condition_text(e, &range, &use));
	emit_for(e, node, shared);
	block_otherwise(e, names);
	emit_for(e, node, serial);
	block_close(e, names);
	return true;
}
