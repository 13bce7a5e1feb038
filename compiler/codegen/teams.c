/* SPDX-License-Identifier: MIT
 *
 * Work-shared inner loops: each thread runs all of the outer loop, and has a part of the inner range. It takes its part
 * in blocks that stay in its cache while the outer loop goes over them:
 *     for part of threads { for j_begin in part { for i { for j in j_begin..j_stop { y[j] += x[i, j] } } } }
 * No cell that the outer loop carries leaves its j (passes/map/team.c), which allows this order.
 *
 * If all iterations of the outer loop update the same row, as above, parts are whole cache lines: false sharing makes
 * two threads slower than one alone. */
#include "codegen/codegen_private.h"

static const struct mark *loop_below(__isl_keep isl_ast_node *node, int *chunk)
{
	const struct mark *mark;

	while ((mark = ast_next_mark(&node)) && mark->kind != MARK_LOOP)
		if (mark->kind == MARK_VECTOR)
			*chunk = (int) mark->chunk;
	return mark;
}

/* The mark of the loop below a PARALLEL mark; NULL: there is none below the node. `chunk` is that of its vectors. */
static const struct mark *find_shared(__isl_keep isl_ast_node *node, int *chunk)
{
	const struct mark *mark = ast_mark(node), *found = NULL;

	if (mark && mark->kind == MARK_PARALLEL)
		found = loop_below(node, chunk);
	for (int i = 0; i < ast_n_children(node) && !found; i++)
		found = find_shared(ast_child(node, i), chunk);
	return found;
}

/* ---- blocks ---- */

/* Does the stage update a row that no other loop moves? */
static bool is_one_row(const struct stage *stage, int dim)
{
	const struct access *write = &stage->write;
	const int last = access_n_subs(write) - 1;
	int row = -1;
	int64_t offset;
	bool is = dim == stage->dims.n - 1 && last >= 0 && expr_is_shifted_dim(write->subs[last], &row, &offset) &&
		  row == dim;

	for (int i = 0; i < last && is; i++)
		is = expr_last_dim(write->subs[i]) < 0;
	return is;
}

/* 0: threads do not meet in lines all the time. */
static int cells_of_line(const struct mark *shared)
{
	const struct stage *stage = shared->stage;

	return is_one_row(stage, mark_dim_number(shared)) ? PMG_CACHE_LINE/array_cell_size(stage->write.array) : 0;
}

static void open_blocks(struct emit *e, const struct team *team, const char *dim)
{
	struct arena *a = e->arena;
	const char *end = names_declare(&e->names, arena_printf(a, "%s_end", dim)), *part = open_parts(e, true);
	struct k_expr *next = k_binary(a, K_ADD, k_name(a, team->begin), k_int(a, PMG_SECOND_CACHE_ELEMENTS));

	k_const(e->b, k_scalar("int64_t"), end, cut_end(a, &team->cut, part));
	k_blank(e->b);
	k_begin_for(e->b, "int64_t", team->begin, cut_begin(a, &team->cut, part), k_name(a, end),
		    k_int(a, PMG_SECOND_CACHE_ELEMENTS));
	k_const(e->b, k_scalar("int64_t"), team->stop, K_CALL(a, "pmg_min_i64", next, k_name(a, end)));
	k_blank(e->b);
}

void emit_team(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use)
{
	const char *threads = region_declare_of(e, node);
	const int visible = e->names.visible.n;
	int chunk = 0;
	const struct mark *shared = find_shared(node, &chunk);
	const struct dim *dim = shared ? shared->dim : NULL;
	struct team team = { 0 };

	if (!dim) {
		emit_fail(e, "a team has no loop to share");
		return;
	}
	team.cut.first = affine_of_expr(e, NULL, dim->lo);
	team.cut.end = affine_of_expr(e, NULL, dim->hi);
	team.cut.chunk = chunk ? chunk : cells_of_line(shared);
	e->threads.n_parts = team.cut.n_parts = k_name(e->arena, threads);
	team.begin = names_declare(&e->names, arena_printf(e->arena, "%s_begin", dim->name));
	team.stop = names_declare(&e->names, arena_printf(e->arena, "%s_stop", dim->name));
	open_blocks(e, &team, dim->name);
	e->threads.team = &team;
	emit_node(e, node, use);
	e->threads.team = NULL;
	k_end(e->b);
	k_end(e->b);
	e->names.visible.n = visible;
}

/* What the loop has of the block: all of it, or as far as its own range goes. */
static struct k_expr *bound_of(struct emit *e, const struct affine *own, const struct affine *whole, const char *block,
			       const char *function)
{
	struct k_expr *bound = k_name(e->arena, block);

	if (affine_is_equal(e->arena, own, whole))
		return bound;
	return K_CALL(e->arena, function, affine_expr(e->arena, own), bound);
}

/* The part of the loop that is in the block. */
static void open_in_block(struct emit *e, const struct range *range, const char *name, struct loop_use use)
{
	const struct team *team = e->threads.team;
	struct k_expr *first = bound_of(e, &range->first, &team->cut.first, team->begin, "pmg_max_i64");
	struct k_expr *end = bound_of(e, &range->end, &team->cut.end, team->stop, "pmg_min_i64");
	struct k_stmt *loop = k_begin_for(e->b, "int64_t", name, first, end, NULL);

	if (use.is_vector)
		e->target->share(e, loop, &(struct loop_use) { .is_vector = true });
}

/* If iterations are not one apart, the first block has all. */
void open_of_team(struct emit *e, const struct range *range, const char *name, struct loop_use use)
{
	struct k_expr *is_first = k_operate(e->arena, k_name(e->arena, e->threads.team->begin), K_EQ,
					    affine_expr(e->arena, &e->threads.team->cut.first));

	if (range->is_single) {
		k_begin_if(e->b, is_first);
		k_const(e->b, k_scalar("int64_t"), name, affine_expr(e->arena, &range->first));
	} else if (range->step != 1 || use.mark->direction < 0) {
		k_begin_if(e->b, is_first);
		open_for(e, range, name, use.mark->direction);
	} else {
		open_in_block(e, range, name, use);
	}
}
