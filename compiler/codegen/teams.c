/* SPDX-License-Identifier: MIT
 *
 * Teams: loops inside of another one, which threads share, each of them running all of the outer one. A thread has a
 * part of the inner range, and takes it in blocks that stay in a near cache while the outer loop goes over them:
 *     for part of threads { for j_begin in part { for i { for j in j_begin..j_stop { y[j] += x[i, j] } } } }
 * No cell that the outer loop carries leaves its j (passes/team.c), which allows this order.
 *
 * Where all iterations of the outer loop update the same row, as above, parts are whole cache lines: two threads that
 * write to one line all the time take longer than one alone. */
#include "codegen/codegen_private.h"

enum { BLOCK = 16384 };

static const struct mark *loop_below(__isl_keep isl_ast_node *node, int *chunk)
{
	isl_ast_node *at = isl_ast_node_copy(node);
	const struct mark *mark;

	while ((mark = ast_strip_mark(&at)) && mark->kind != MARK_LOOP)
		if (mark->kind == MARK_VECTOR)
			*chunk = (int) mark->chunk;
	isl_ast_node_free(at);
	return mark;
}

/* The mark of the loop below a PARALLEL mark; NULL: there is none below the node. `chunk` is that of its vectors. */
static const struct mark *find_shared(__isl_keep isl_ast_node *node, int *chunk)
{
	isl_ast_node_list *children = ast_children(node);
	int n = isl_ast_node_list_n_ast_node(children);
	const struct mark *mark = ast_mark(node), *found = NULL;

	if (mark && mark->kind == MARK_PARALLEL)
		found = loop_below(node, chunk);
	for (int i = 0; i < n && !found; i++) {
		isl_ast_node *child = isl_ast_node_list_get_at(children, i);

		found = find_shared(child, chunk);
		isl_ast_node_free(child);
	}
	isl_ast_node_list_free(children);
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
	const char *end = names_declare(&e->names, arena_printf(e->arena, "%s_end", dim)), *part;

	e->target->above_loop(e, &(struct loop_use) { .is_parallel = true });
	part = open_parts(e);
	quote(e->b, "const int64_t %s = %s;", end, part_end(e, &team->cut, part));
	quote_blank(e->b);
	quote_open(e->b, "for (int64_t %s = %s; %s < %s; %s += %d) {", team->begin,
		   part_begin(e, &team->cut, part), team->begin, end, team->begin, BLOCK);
	quote(e->b, "const int64_t %s = pmg_min_i64(%s + %d, %s);", team->stop, team->begin, BLOCK, end);
	quote_blank(e->b);
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
	e->n_parts = threads;
	team.begin = names_declare(&e->names, arena_printf(e->arena, "%s_begin", dim->name));
	team.stop = names_declare(&e->names, arena_printf(e->arena, "%s_stop", dim->name));
	open_blocks(e, &team, dim->name);
	e->team = &team;
	emit_node(e, node, use);
	e->team = NULL;
	quote_close(e->b, "}");
	quote_close(e->b, "}");
	e->names.visible.n = visible;
}

/* What the loop has of the block: all of it, or as far as its own range goes. */
static const char *bound_text(struct emit *e, const struct affine *own, const struct affine *whole, const char *block,
			      const char *function)
{
	if (affine_is_equal(e->arena, own, whole))
		return block;
	return arena_printf(e->arena, "%s(%s, %s)", function, affine_plain(e->arena, own), block);
}

/* The part of the loop that is in the block. */
static void open_in_block(struct emit *e, const struct range *range, const char *name, struct loop_use use)
{
	const struct team *team = e->team;

	if (use.is_vector)
		e->target->above_loop(e, &(struct loop_use) { .is_vector = true });
	quote_open(e->b, "for (int64_t %s = %s; %s < %s; %s++) {", name,
		   bound_text(e, &range->first, &team->cut.first, team->begin, "pmg_max_i64"), name,
		   bound_text(e, &range->end, &team->cut.end, team->stop, "pmg_min_i64"), name);
}

/* Where iterations are not one apart, the first block has all. */
void open_of_team(struct emit *e, const struct range *range, const char *name, struct loop_use use)
{
	const char *is_first = arena_printf(e->arena, "if (%s == %s)", e->team->begin,
					    affine_plain(e->arena, &e->team->cut.first));

	if (range->is_single) {
		quote_open(e->b, "%s {", is_first);
		quote(e->b, "const int64_t %s = %s;", name, affine_plain(e->arena, &range->first));
	} else if (range->step != 1 || use.mark->direction < 0) {
		quote_open(e->b, "%s {", is_first);
		quote_open(e->b, "%s", for_text(e, range, name, use.mark->direction));
	} else {
		open_in_block(e, range, name, use);
	}
}
