/* SPDX-License-Identifier: MIT
 *
 * Work-shared loops in serial ones. Starting threads for each iteration of a loop takes longer than a short sum or a
 * few cells of a stencil, so such a loop is written twice, work-shared and serial, below a test of its work:
 *     if ((double) (n - k)*(double) m >= 8192) { … } else { … }
 * Loops in it count with the longest ranges that the sizes allow, or with the mean (work.c) if data bound them. */
#include "codegen/codegen_private.h"

/* ---- how long ranges can be ---- */

static struct expr *extreme(struct emit *e, const struct stage *stage, struct expr *expr, bool is_most);

/* The largest or least value of a dim; NULL: it does not depend on sizes alone. */
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

static struct k_expr *real(struct arena *arena, const struct affine *value)
{
	return k_cast(arena, k_scalar("double"), k_at_least(arena, affine_expr(arena, value), K_LEVEL_UNARY));
}

struct k_expr *most_iterations(struct emit *e, const struct stage *stage, const struct dim *dim)
{
	struct expr *most = extreme_of_dim(e, stage, dim, true), *least = extreme_of_dim(e, stage, dim, false);
	struct affine first, last, length;

	if (!most || !least)
		return mean_iterations(e, stage, dim);
	last = affine_of_expr(e, NULL, most);
	first = affine_of_expr(e, NULL, least);
	length = affine_combine(e->arena, 1, &last, -1, &first);
	length.constant++;
	return real(e->arena, &length);
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
static struct k_expr *points_of(struct emit *e, const struct range *range, const struct mark *loop,
				const struct stage *stage)
{
	struct affine length = affine_combine(e->arena, loop->direction, &range->end, -loop->direction, &range->first);
	struct k_expr *points = NULL;

	for (int d = mark_dim_number(loop) + 1; d < stage->dims.n; d++)
		if (stage->dims.items[d].kind != DIM_BIND)
			points = k_times(e->arena, points ? points : real(e->arena, &length),
				       most_iterations(e, stage, &stage->dims.items[d]));
	return points ? points : affine_expr(e->arena, &length);
}

static struct k_expr *is_long(struct emit *e, const struct range *range, const struct loop_use *use)
{
	const struct stage *stage = deepest(use->mark);
	const int flops = flops_of_stage(stage);

	return k_operate(e->arena, points_of(e, range, use->mark, stage), K_GE,
			 k_int(e->arena, use->least/(flops > 1 ? flops : 1)));
}

bool emit_shared_if_long(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use)
{
	const struct range range = range_of(e, node, use.mark->direction);
	struct loop_use shared = use, serial = use;
	int names;

	if (range.is_single || range.step != 1 || e->threads.team || e->threads.in_region || e->threads.part)
		return false;
	shared.least = serial.least = 0;
	serial.is_parallel = serial.is_dynamic = false;
	serial.parts = 0;
	names = block_of(e, k_begin_if(e->b, is_long(e, &range, &use)));
	emit_for(e, node, shared);
	block_otherwise(e, names);
	emit_for(e, node, serial);
	block_close(e, names);
	return true;
}
