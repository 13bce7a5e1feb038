/* SPDX-License-Identifier: MIT
 *
 * Accumulator tiles that begin at zero. A sum is a nest that sets its cells to zero and one that adds to them, often
 * directly after it. If the second one keeps a row of the cells that the first one sets, the row begins at zero, and
 * the first nest remains for the case that nothing is added.
 *
 * Whether the row stands under no other condition, and is of these cells and no fewer, shows when it is built: so the
 * second nest is built in a block of its own, which is added if the row has begun at zero. */
#include "codegen/codegen_private.h"

/* The innermost loop below marks that do not change what it does; NULL: something else. */
static __isl_give isl_ast_node *loop_below(__isl_take isl_ast_node *node, const struct mark **mark)
{
	const struct mark *next;

	while ((next = ast_strip_mark(&node))) {
		if (next->kind == MARK_LOOP)
			*mark = next;
		else if (next->kind != MARK_VECTOR && next->kind != MARK_GROUP)
			*mark = NULL;
	}
	if (*mark && isl_ast_node_get_type(node) == isl_ast_node_for)
		return node;
	return isl_ast_node_free(node);
}

static bool sets_to_zero(const struct stage *stage)
{
	return stage->op == REDUCE_SET && !stage->guard && type_is_float(stage->write.array->type) &&
	       expr_is_zero(stage->value);
}

/* Does a nest set cells of a stage's target to zero, in a loop over all of a dim? */
static bool find_start(struct emit *e, __isl_keep isl_ast_node *node, struct row_start *start)
{
	const struct mark *mark = NULL;

	start->node = node;
	start->loop = loop_below(isl_ast_node_copy(node), &mark);
	start->stage = mark ? mark->stage : NULL;
	start->dim = mark ? mark->dim : NULL;
	start->depth = depth_here(e);
	return start->loop && sets_to_zero(start->stage) && row_is_whole_loop(e, start->loop, mark->dim);
}

/* The array of which a ROW mark below, with nothing but BINDs above it, keeps cells; NULL. */
static const struct array *array_of_row(__isl_take isl_ast_node *node)
{
	const struct mark *mark = ast_strip_mark(&node);

	while (mark && mark->kind == MARK_BIND) {
		isl_ast_node *loop = node;

		if (isl_ast_node_get_type(loop) == isl_ast_node_for) {
			node = isl_ast_node_for_get_body(loop);
			isl_ast_node_free(loop);
		}
		mark = ast_strip_mark(&node);
	}
	isl_ast_node_free(node);
	return mark && mark->kind == MARK_ROW ? mark->stage->write.array : NULL;
}

/* Builds the nest of the row; false: it does not begin at zero, and is left out. */
static bool build_row(struct emit *e, __isl_keep isl_ast_node *node, struct row_start *start)
{
	struct k_block row = { 0 }, *outer = elsewhere_begin(e, &row);
	int visible = e->names.visible.n;

	start->is_used = false;
	e->start = start;
	emit_node(e, node, (struct loop_use) { 0 });
	e->start = NULL;
	elsewhere_end(e, outer);
	if (start->is_used)
		block_append(e, &row);
	else
		e->names.visible.n = visible;
	return start->is_used;
}

bool emit_row_from_zero(struct emit *e, __isl_keep isl_ast_node *first, __isl_keep isl_ast_node *second)
{
	const struct array *array = e->grid || e->start || e->batch || e->deferral || e->block
				    ? NULL : array_of_row(isl_ast_node_copy(second));
	struct row_start start = { 0 };
	bool is_zero = array && find_start(e, first, &start) && start.stage->write.array == array;

	is_zero = is_zero && build_row(e, second, &start);
	isl_ast_node_free(start.loop);
	return is_zero;
}

static bool is_same_end(struct emit *e, const struct expr *a, const struct expr *b)
{
	struct affine first = affine_of_expr(e, NULL, a), second = affine_of_expr(e, NULL, b);

	return affine_is_equal(e->arena, &first, &second);
}

bool start_is_of(struct emit *e, const struct k_expr *cell, const struct row *row)
{
	const struct row_start *start = e->start;
	struct affine variable = e->iterators.items[e->iterators.n - 1].value;
	struct point point = { start->stage, NULL };
	const struct dim *dim = &row->stage->dims.items[row->dim];
	bool is_same;

	if (start->stage->write.array != row->stage->write.array || !is_same_end(e, start->dim->lo, dim->lo) ||
	    !is_same_end(e, start->dim->hi, dim->hi))
		return false;
	iterator_push(e, start->loop, &variable, 1);
	point.instance = ast_first_instance(start->loop, start->stage, false);
	is_same = point.instance && k_expr_is_equal(cell, c_target(e, start->stage, &point, NULL));
	e->iterators.n--;
	isl_ast_expr_free(point.instance);
	return is_same;
}

void emit_start_otherwise(struct emit *e, int names)
{
	struct row_start *start = e->start;

	block_otherwise(e, names);
	e->start = NULL;
	emit_node(e, start->node, (struct loop_use) { 0 });
	e->start = start;
	start->is_used = true;
}
