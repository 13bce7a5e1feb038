/* SPDX-License-Identifier: MIT
 *
 * Rows of accumulators that take more registers than there are: in blocks (row_blocks.c), each with the whole loop over
 * what is added. What else the iterations of this loop do is done once: PMG_DEFERRED of them do all but add to the row,
 * and keep the values of variables that their terms read; then they add, for one block after the other. So they may
 * write no array that the terms, or the indices in them, read. */
#include "codegen/codegen_private.h"

/* ---- what iterations do ahead ---- */

struct waits {
	struct emit *e;
	isl_ast_node *node;
	bool can_wait;
};

static void need_unchanged(struct waits *waits, const struct array *array)
{
	waits->can_wait = waits->can_wait && (array_is_local(array) || !is_written_below(waits->e, waits->node, array));
}

static void look_at_read(struct access *access, void *user)
{
	need_unchanged(user, access->array);
}

struct others {
	const struct stage *stage;
	bool has;
};

static void look_for_other(struct stage *stage, void *user)
{
	struct others *others = user;

	others->has |= stage != others->stage;
}

static bool has_others(__isl_keep isl_ast_node *node, const struct stage *stage)
{
	struct others others = { stage, false };

	ast_each_stage(node, look_for_other, &others);
	return others.has;
}

static bool runs_step_by_step(struct emit *e, __isl_keep isl_ast_node *node)
{
	const struct mark *mark = ast_mark(node);
	isl_ast_node *loop = isl_ast_node_mark_get_node(node);
	bool does = mark->kind == MARK_LOOP && mark->direction > 0 &&
		    isl_ast_node_get_type(loop) == isl_ast_node_for && range_of(e, loop, 1).step == 1;

	isl_ast_node_free(loop);
	return does;
}

bool row_can_be_kept(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark, int64_t length)
{
	const struct stage *stage = mark->stage;
	struct row row = { .stage = stage, .dim = mark_dim_number(mark), .length = length };
	struct waits waits = { e, node, !e->block && !e->batch && row_has_blocks(length, row_cell_size(&row)) };

	if (!row_is_long(e, &row))
		return true;
	expr_reads(stage->value, look_at_read, &waits);
	for (int i = 0; i < stage->dims.n; i++)
		if (stage->dims.items[i].kind == DIM_BIND)
			need_unchanged(&waits, stage->dims.items[i].source.array);
	return waits.can_wait && (!has_others(node, stage) || runs_step_by_step(e, node));
}

/* ---- a row ---- */

struct long_row {
	isl_ast_node *node, *loop;      /* below the ROW mark; over the cells */
	bool is_zero;
	const struct range *range;      /* of the iterations, and what stands for them; NULL: all that is below */
	const char *end, *dim;
	struct deferral *deferral;
};

static void emit_iterations(struct emit *e, const struct long_row *row)
{
	isl_ast_node *loop = isl_ast_node_mark_get_node(row->node);
	int names = e->names.visible.n;

	row->deferral->variable = names_declare(&e->names, row->dim);
	k_begin_for(e->b, "int64_t", row->deferral->variable, k_name(e->arena, row->deferral->first),
		    k_name(e->arena, row->end), NULL);
	e->deferral = row->deferral;
	emit_iteration(e, loop, row->deferral->variable, row->range);
	e->deferral = NULL;
	block_close(e, names);
	isl_ast_node_free(loop);
}

static struct k_expr *kept_value(struct emit *e, const struct deferral *deferral, const struct cell *value)
{
	struct arena *a = e->arena;

	return k_at(a, value->name, k_binary(a, K_SUB, k_name(a, deferral->variable), k_name(a, deferral->first)));
}

static void emit_later(struct emit *e, const struct long_row *row)
{
	int outer = e->locals.n;

	row->deferral->variable = row->dim;
	for (int i = 0; i < row->deferral->values.n; i++) {
		struct cell value = row->deferral->values.items[i];

		value.value = kept_value(e, row->deferral, &value);
		vec_push(e->arena, &e->locals, value);
	}
	emit_iterations(e, row);
	e->locals.n = outer;
}

/* In the first of the parts it begins at zero, in the others at what is in memory. */
static void begin_at_zero(struct emit *e, const struct long_row *row, const struct row *block)
{
	struct k_expr *first = affine_expr(e->arena, &row->range->first);
	int names = block_of(e, k_begin_if(e->b, k_binary(e->arena, K_EQ, k_name(e->arena, row->deferral->first),
							  first)));

	row_begin(e, row->node, row->loop, block, true);
	block_otherwise(e, names);
	row_begin(e, row->node, row->loop, block, false);
	block_close(e, names);
}

static void emit_row_block(struct emit *e, const struct row *block, void *user)
{
	const struct long_row *row = user;

	row_declare(e, block);
	if (row->is_zero && row->deferral) {
		begin_at_zero(e, row, block);
	} else {
		row_begin(e, row->node, row->loop, block, row->is_zero);
	}
	vec_push(e->arena, &e->rows, *block);
	if (row->deferral)
		emit_later(e, row);
	else
		emit_node(e, row->node, (struct loop_use) { 0 });
	e->rows.n--;
	row_end(e, row->node, row->loop, block);
}

struct search {
	struct emit *e;
	isl_ast_node *node;
	struct deferral *deferral;
};

/* A variable that the terms read, and an iteration sets. */
static void find_value(struct access *access, void *user)
{
	struct search *search = user;
	const struct array *array = access->array;
	struct cell value = { .of = array, .is_read = true };

	if (!array_is_local(array) || !is_written_below(search->e, search->node, array) ||
	    cell_find(search->deferral->values.items, search->deferral->values.n, array))
		return;
	value.name = names_declare(&search->e->names,
				   arena_printf(search->e->arena, "%s_ahead",
						names_last_member(search->e->arena, array->name)));
	k_array(search->e->b, k_scalar(type_c_name(array->type)), value.name,
		k_name(search->e->arena, "PMG_DEFERRED"), NULL);
	vec_push(search->e->arena, &search->deferral->values, value);
}

static void emit_in_parts(struct emit *e, const struct row *row, struct long_row *parts)
{
	const struct mark *mark = ast_mark(parts->node);
	isl_ast_node *loop = isl_ast_node_mark_get_node(parts->node);
	struct range range = range_of(e, loop, 1);
	struct deferral deferral = { .row = row };
	struct k_expr *end = affine_expr(e->arena, &range.end), *length = k_name(e->arena, "PMG_DEFERRED"), *behind;
	int names;

	isl_ast_node_free(loop);
	parts->range = &range;
	parts->dim = mark->dim->name;
	parts->deferral = &deferral;
	deferral.first = names_declare(&e->names, arena_printf(e->arena, "%s_first", parts->dim));
	names = block_of(e, k_begin_for(e->b, "int64_t", deferral.first, affine_expr(e->arena, &range.first), end,
					length));
	parts->end = names_declare(&e->names, arena_printf(e->arena, "%s_stop", parts->dim));
	behind = k_binary(e->arena, K_ADD, k_name(e->arena, deferral.first), length);
	k_const(e->b, k_scalar("int64_t"), parts->end, K_CALL(e->arena, "PMG_UP_TO", behind, end));
	expr_reads(row->stage->value, find_value, &(struct search) { e, parts->node, &deferral });
	emit_iterations(e, parts);
	deferral.is_later = true;
	emit_row_blocks(e, row, emit_row_block, parts);
	block_close(e, names);
}

void emit_long_row(struct emit *e, __isl_keep isl_ast_node *node, __isl_keep isl_ast_node *loop,
		   const struct row *row, bool is_zero)
{
	struct long_row parts = { .node = node, .loop = loop, .is_zero = is_zero };

	if (has_others(node, row->stage))
		emit_in_parts(e, row, &parts);
	else
		emit_row_blocks(e, row, emit_row_block, &parts);
}

/* ---- what is printed of the iterations ---- */

bool row_is_deferred(struct emit *e, const struct mark *mark)
{
	const struct deferral *deferral = e->deferral;

	if (!deferral || deferral->is_later || !row_is_loop(mark, deferral->row->stage, deferral->row->dim))
		return false;
	for (int i = 0; i < deferral->values.n; i++)
		k_set(e->b, kept_value(e, deferral, &deferral->values.items[i]),
		      k_name(e->arena, cell_find(e->locals.items, e->locals.n, deferral->values.items[i].of)->name));
	return true;
}

bool deferral_leaves_out(const struct emit *e, __isl_keep isl_ast_node *node)
{
	isl_ast_expr *instance;

	if (!deferral_has_variables(e))
		return false;
	instance = ast_first_instance(node, e->deferral->row->stage, false);
	isl_ast_expr_free(instance);
	return !instance;
}

bool deferral_is_unconditional(const struct emit *e, const struct stage *stage)
{
	return e->deferral && !e->deferral->is_later && e->deferral->row->stage == stage;
}

bool deferral_has_variables(const struct emit *e)
{
	return e->deferral && e->deferral->is_later;
}
