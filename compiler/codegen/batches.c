/* SPDX-License-Identifier: MIT
 *
 * Dot products of several iterations of a loop: PMG_DOTS of them are made first, each with a vector of its own, whose
 * lanes are added up together; then the iterations do all the rest. What they share is read into vectors above the
 * loop (dots.c), or, where it is a long row, block after block for each batch: one read in five. */
#include "codegen/codegen_private.h"

bool batch_is_made(const struct emit *e)
{
	return e->rows.batch && e->rows.batch->sums;
}

bool batch_leaves_out(const struct emit *e, __isl_keep isl_ast_node *node)
{
	return batch_is_made(e) && !ast_has_mark(node, MARK_ACCUMULATE, e->rows.batch->stage);
}

void emit_iteration(struct emit *e, __isl_keep isl_ast_node *node, const char *name, const struct range *range)
{
	isl_ast_node *body = isl_ast_node_for_get_body(node);
	struct affine variable = affine_name(e->arena, name);
	struct scope scope = scope_enter(e);
	int visible = e->names.visible.n;

	iterator_push(e, node, &variable, 1);
	range_facts(e, range, &variable, 1);
	emit_node(e, body, (struct loop_use) { 0 });
	e->names.visible.n = visible;
	scope_leave(e, scope);
	isl_ast_node_free(body);
}

static void emit_body(struct emit *e, __isl_keep isl_ast_node *node, const char *name, const struct range *range,
		      const struct batch *batch)
{
	e->rows.batch = batch;
	emit_iteration(e, node, name, range);
	e->rows.batch = NULL;
}

struct sums {
	isl_ast_node *node;
	const struct range *range;
	const char *dim, *first;
	struct batch batch;
	int kept;
};

/* Iterations behind the last one are made as the last one, and not used. */
static void emit_sums_of_block(struct emit *e, const struct row *block, void *user)
{
	const struct sums *sums = user;
	struct batch batch = sums->batch;
	struct k_expr *iteration = k_binary(e->arena, K_ADD, k_name(e->arena, sums->first),
					    k_name(e->arena, batch.place));
	const char *name;
	int names;

	if (block->block)
		dot_read_kept(e, sums->kept, block);
	batch.block = block;
	k_begin_for(e->b, "int64_t", batch.place, k_int(e->arena, 0), k_name(e->arena, "PMG_DOTS"), NULL)->loop.kind =
		K_LOOP_UNROLLED;
	names = e->names.visible.n;
	name = names_declare(&e->names, sums->dim);
	k_const(e->b, k_scalar("int64_t"), name,
		K_CALL(e->arena, "PMG_UP_TO", iteration, affine_expr(e->arena, &sums->range->last)));
	emit_body(e, sums->node, name, sums->range, &batch);
	block_close(e, names);
}

static void emit_sums(struct emit *e, struct sums *sums)
{
	const struct row row = e->rows.kept.items[sums->kept].row;
	enum scalar_type type = row.stage->write.array->sums;
	int visible = e->names.visible.n;

	sums->batch.sums = names_declare(&e->names, "sums");
	sums->batch.place = names_declare(&e->names, "i");
	k_array(e->b, row_type(e->arena, type), sums->batch.sums, k_name(e->arena, "PMG_DOTS"),
		k_name(e->arena, "PMG_NO_DOTS"));
	emit_row_blocks(e, &row, emit_sums_of_block, sums);
	k_do(e->b, K_CALL(e->arena, arena_printf(e->arena, "PMG_SUM_DOTS_%s", row_suffix(type)),
			  k_name(e->arena, sums->batch.dots), k_name(e->arena, sums->batch.sums)));
	e->names.visible.n = visible;
	vec_push(e->arena, &e->names.visible, sums->batch.sums);
	sums->batch.sums = NULL;
}

/* The loop over the iterations of a batch, fewer in the last one. */
static int open_batch(struct emit *e, const char *name, const char *first, struct k_expr *end)
{
	struct k_expr *iteration = k_name(e->arena, name), *begin = k_name(e->arena, first);
	struct k_expr *behind = k_binary(e->arena, K_ADD, begin, k_name(e->arena, "PMG_DOTS"));
	struct k_stmt *loop = k_begin_while(e->b, k_binary(e->arena, K_AND,
							   k_binary(e->arena, K_LT, iteration, end),
							   k_binary(e->arena, K_LT, iteration, behind)));

	vec_push(e->arena, &loop->repeat.before.stmts, k_let_of(e->arena, k_scalar("int64_t"), name, begin));
	loop->repeat.after = k_step_of(e->arena, K_ADD, iteration);
	return e->names.visible.n;
}

bool emit_batches(struct emit *e, __isl_keep isl_ast_node *node, const struct loop_use *use,
		  const struct range *range)
{
	int kept = e->rows.kept.n - 1, outer, inner;
	struct batch batch = { .stage = e->rows.kept.items[kept].row.stage };
	const char *dim = use->mark->dim->name, *first, *name;
	struct k_expr *end = affine_expr(e->arena, &range->end);

	if (!e->rows.kept.items[kept].is_batched)
		return false;
	first = names_declare(&e->names, arena_printf(e->arena, "%s_batch", dim));
	outer = block_of(e, k_begin_for(e->b, "int64_t", first, affine_expr(e->arena, &range->first), end,
					k_name(e->arena, "PMG_DOTS")));
	batch.dots = names_declare(&e->names, "dots");
	k_array(e->b, k_scalar(type_c_name(batch.stage->write.array->sums)), batch.dots,
		k_name(e->arena, "PMG_DOTS"), NULL);
	emit_sums(e, &(struct sums) { node, range, dim, first, batch, kept });
	name = names_declare(&e->names, dim);
	inner = open_batch(e, name, first, end);
	batch.number = k_binary(e->arena, K_SUB, k_name(e->arena, name), k_name(e->arena, first));
	emit_body(e, node, name, range, &batch);
	block_close(e, inner);
	block_close(e, outer);
	return true;
}
