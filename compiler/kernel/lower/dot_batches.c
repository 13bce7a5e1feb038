/* SPDX-License-Identifier: MIT
 *
 * Dot products of several iterations of a loop. To add up the lanes of a vector takes as long as several products. So
 * PMG_DOTS iterations make their dot products first, each with a vector of its own, whose lanes are added up together;
 * then they do all else:
 *
 *     loop p_batch … step PMG_DOTS
 *         loop i from 0 below PMG_DOTS, unrolled
 *             let p = PMG_UP_TO(p_batch + i, end - 1)
 *             loop j over vectors …
 *                 sums[i] += PMG_READ_F64(D[…])*Y_row[j]
 *         PMG_SUM_DOTS_F64(dots, sums)
 *         loop p …
 *             sum += dots[p - p_batch]
 *
 * Of a long row, what is kept is read block after block, for each batch: one read in five. */
#include "kernel/lower/dots_private.h"

struct batches {
	struct dot *dot;
	const char *first, *dots, *place;       /* the first iteration of a batch; the dot products; one of them */
};

/* What a dot product is made of: the declarations ahead, and its loop. */
static struct k_stmt *parts_of(const struct dot *dot)
{
	struct k_stmt *parts = k_stmt(dot->row.arena, KS_BLOCK);

	for (int i = 0; i < dot->row.lets.n; i++)
		vec_push(dot->row.arena, &parts->body.stmts, (struct k_stmt *) dot->row.lets.items[i]);
	vec_push(dot->row.arena, &parts->body.stmts, dot->row.cells);
	return parts;
}

/* The last iteration: its bound less one. */
static struct k_expr *last_of(struct arena *arena, const struct k_expr *bound)
{
	struct k_expr *copy = k_copy_expr(arena, bound, &(struct k_replacing) { 0 });
	const struct k_expr *end = bound->kind == KE_BINARY ? bound->args.items[1] : NULL;
	const int64_t number = end && bound->op == K_SUB ? -1 : 1;

	if (bound->kind == KE_INT)
		return k_int(arena, bound->integer - 1);
	if (!end || end->kind != KE_INT || (bound->op != K_ADD && bound->op != K_SUB))
		return k_operate(arena, copy, K_SUB, k_int(arena, 1));
	if (number*end->integer == 1)
		return copy->args.items[0];
	copy->op = number*end->integer > 1 ? K_ADD : K_SUB;
	copy->args.items[1] = k_int(arena, copy->op == K_ADD ? number*end->integer - 1 : 1 - number*end->integer);
	return copy;
}

/* ---- the dot products ---- */

/* What the iteration declares that the terms read; they stand behind it. */
static void add_lets(struct k_builder *b, const struct dot *dot)
{
	struct k_block *open = b->open.items[b->open.n - 1];

	for (int i = 0; i < dot->row.lets.n; i++) {
		struct k_stmt *let = k_copy_stmt(b->arena, dot->row.lets.items[i], &(struct k_replacing) { 0 });

		let->let.is_joined = false;
		if (let_is_constant(&let->let))
			vec_push(b->arena, &open->stmts, let);
	}
}

static void add_block(struct k_builder *b, const struct row *part, void *user)
{
	const struct batches *batches = user;
	struct dot *dot = batches->dot;
	const struct k_loop *around = &dot->row.around->loop;
	struct row block = *part;
	struct k_expr *iteration = k_binary(b->arena, K_ADD, k_name(b->arena, batches->first),
					    k_name(b->arena, batches->place));
	struct k_stmt *loop;

	if (!block.name)
		dot_keep_read(b, dot, &block);
	loop = k_begin_for(b, "int64_t", batches->place, k_int(b->arena, 0), k_name(b->arena, "PMG_DOTS"), NULL);
	loop->loop.kind = K_LOOP_UNROLLED;
	k_const(b, k_scalar("int64_t"), around->name,
		K_CALL(b->arena, "PMG_UP_TO", iteration, last_of(b->arena, around->bound)));
	vec_push(b->arena, &block.visible, around->name);
	for (int i = 0; i < dot->row.lets.n; i++)
		vec_push(b->arena, &block.visible, dot->row.lets.items[i]->let.name);
	add_lets(b, dot);
	dot_add_terms(b, &block, dot);
	k_end(b);
	k_drop_unread(b->arena, &loop->loop.body);
}

static void add_dots(struct k_builder *b, struct batches *batches, name_list *visible)
{
	struct dot *dot = batches->dot;
	const struct row *row = &dot->row;
	const int outer = visible->n;

	dot->sums = name_list_new(b->arena, visible, row->around, "sums");
	batches->place = name_list_new(b->arena, visible, parts_of(dot), "i");
	dot->place = k_name(b->arena, batches->place);
	k_array(b, vectors_type(row), dot->sums, k_name(b->arena, "PMG_DOTS"), k_name(b->arena, "PMG_NO_DOTS"));
	dot->row.visible = *visible;
	row_add_blocks(b, row, dot->limits, &(struct row_block_adder) { add_block, batches });
	k_do(b, K_CALL(b->arena, vectors_macro(row, "SUM_DOTS"), k_name(b->arena, batches->dots),
		       k_name(b->arena, dot->sums)));
	visible->n = outer;
	vec_push(b->arena, visible, dot->sums);
}

/* ---- the iterations ---- */

/* The loop over the iterations of a batch, fewer in the last one. */
static struct k_stmt *open_iterations(struct k_builder *b, const struct batches *batches)
{
	const struct k_loop *around = &batches->dot->row.around->loop;
	struct k_expr *iteration = k_name(b->arena, around->name), *first = k_name(b->arena, batches->first);
	struct k_expr *behind = k_binary(b->arena, K_ADD, first, k_name(b->arena, "PMG_DOTS"));
	struct k_stmt *loop = k_begin_while(b, k_binary(b->arena, K_AND,
							k_operate(b->arena, iteration, K_LT, around->bound),
							k_binary(b->arena, K_LT, iteration, behind)));

	vec_push(b->arena, &loop->repeat.before.stmts, k_let_of(b->arena, k_scalar("int64_t"), around->name, first));
	loop->repeat.after = k_step_of(b->arena, K_ADD, iteration);
	return loop;
}

/* The body of the loop around; its dot product is there. */
static void add_iteration(struct k_builder *b, const struct batches *batches)
{
	const struct row *row = &batches->dot->row;
	const struct k_block *body = &row->around->loop.body;
	struct k_expr *number = k_binary(b->arena, K_SUB, k_name(b->arena, row->around->loop.name),
					 k_name(b->arena, batches->first));

	for (int i = 0; i < body->stmts.n; i++)
		if (body->stmts.items[i] == row->cells)
			k_update(b, K_ADD, (struct k_expr *) row->cell, k_at(b->arena, batches->dots, number));
		else
			k_add_as_it_is(b, body->stmts.items[i]);
}

struct k_stmt *dot_add_batches(struct k_builder *b, struct dot *dot, name_list *visible)
{
	struct batches batches = { .dot = dot };
	struct k_stmt *around = dot->row.around, *loop;

	batches.first = name_list_new(b->arena, visible, around, arena_printf(b->arena, "%s_batch", around->loop.name));
	k_begin_for(b, "int64_t", batches.first, around->loop.first, around->loop.bound,
		    k_name(b->arena, "PMG_DOTS"));
	batches.dots = name_list_new(b->arena, visible, around, "dots");
	k_array(b, k_scalar(vectors_element(&dot->row)), batches.dots, k_name(b->arena, "PMG_DOTS"), NULL);
	add_dots(b, &batches, visible);
	loop = open_iterations(b, &batches);
	vec_push(b->arena, visible, around->loop.name);
	add_iteration(b, &batches);
	k_end(b);
	k_end(b);
	return loop;
}
