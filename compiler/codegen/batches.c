/* SPDX-License-Identifier: MIT
 *
 * Dot products of several iterations of a loop: PMG_DOTS of them are made ahead, each with a vector of its own, whose
 * lanes are added up together; then the iterations do all the rest. What they share is read into vectors above the
 * loop (dots.c), or, where it is a long row, block after block for each batch: one read in five. */
#include "codegen/codegen_private.h"

bool batch_is_made(const struct emit *e)
{
	return e->batch && e->batch->sums;
}

bool batch_leaves_out(const struct emit *e, __isl_keep isl_ast_node *node)
{
	return batch_is_made(e) && !ast_has_mark(node, MARK_ACCUMULATE, e->batch->stage);
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
	e->batch = batch;
	emit_iteration(e, node, name, range);
	e->batch = NULL;
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
	const char *name;
	int names;

	if (block->block)
		dot_read_kept(e, sums->kept, block);
	batch.block = block;
	quote(e->b, "PMG_UNROLL");
	names = block_open(e, "for (int64_t %s = 0; %s < PMG_DOTS; %s++) {", batch.place, batch.place, batch.place);
	name = names_declare(&e->names, sums->dim);
	quote(e->b, "const int64_t %s = PMG_UP_TO(%s + %s, %s);", name, sums->first, batch.place,
	     affine_plain(e->arena, &sums->range->last));
	emit_body(e, sums->node, name, sums->range, &batch);
	block_close(e, names);
}

static void emit_sums(struct emit *e, struct sums *sums)
{
	const struct row row = e->kept.items[sums->kept].row;
	enum scalar_type type = row.stage->write.array->sums;
	int visible = e->names.visible.n;

	sums->batch.sums = names_declare(&e->names, "sums");
	sums->batch.place = names_declare(&e->names, "i");
	quote(e->b, "pmg_vector_%s %s[PMG_DOTS] = PMG_NO_DOTS;", type_name(type), sums->batch.sums);
	emit_row_blocks(e, &row, emit_sums_of_block, sums);
	quote(e->b, "PMG_SUM_DOTS_%s(%s, %s);", row_suffix(type), sums->batch.dots, sums->batch.sums);
	e->names.visible.n = visible;
	vec_push(e->arena, &e->names.visible, sums->batch.sums);
	sums->batch.sums = NULL;
}

bool emit_batches(struct emit *e, __isl_keep isl_ast_node *node, const struct loop_use *use,
		  const struct range *range)
{
	int kept = e->kept.n - 1, outer, inner;
	struct batch batch = { .stage = e->kept.items[kept].row.stage };
	const char *dim = use->mark->dim->name, *end = affine_plain(e->arena, &range->end), *first, *name;

	if (!e->kept.items[kept].is_ahead)
		return false;
	first = names_declare(&e->names, arena_printf(e->arena, "%s_batch", dim));
	outer = block_open(e, "for (int64_t %s = %s; %s < %s; %s += PMG_DOTS) {", first,
			   affine_plain(e->arena, &range->first), first, end, first);
	batch.dots = names_declare(&e->names, "dots");
	quote(e->b, "%s %s[PMG_DOTS];", type_c_name(batch.stage->write.array->sums), batch.dots);
	emit_sums(e, &(struct sums) { node, range, dim, first, batch, kept });
	name = names_declare(&e->names, dim);
	inner = block_open(e, "for (int64_t %s = %s; %s < %s && %s < %s + PMG_DOTS; %s++) {", name, first, name, end,
			   name, first, name);
	batch.number = arena_printf(e->arena, "%s - %s", name, first);
	emit_body(e, node, name, range, &batch);
	block_close(e, inner);
	block_close(e, outer);
	return true;
}
