/* SPDX-License-Identifier: MIT
 *
 * Rows of parts, on a device: segments of a restructuring are cut into parts (PARTITION_PARTS), and a kernel gives each
 * part a team, which keeps a row of the cells of its segment. Where the segment has one part only, nobody else updates
 * these cells. Since every segment has a part, if of no points, a nest ahead that sets all cells to the neutral element
 * is then needed only for segments of several parts: where that is all it does, it becomes pmg_cuda_set_cut, and the
 * kernel of the parts writes all other rows, those of nothing too.
 *
 * Whether the row is kept, and under no condition, shows when it is printed, to nowhere first (nests.c). */
#include "codegen/codegen_private.h"

/* ---- rows that one part has ---- */

static const struct restructuring *parts_with(const struct module *module, const struct array *values)
{
	for (int i = 0; i < module->restructurings.n; i++)
		if (module->restructurings.items[i].part_values == values)
			return &module->restructurings.items[i];
	return NULL;
}

/* The dim that is the only subscript of what the stage writes besides that along its row, and the value of the segment
 * of a part of `parts`; NULL. */
static const struct dim *segment_dim(const struct emit *e, const struct stage *stage, int along,
				     const struct restructuring **parts)
{
	const struct dim *dim = NULL;
	int n = 0;

	for (int i = 0; i < stage->write.array->rank; i++) {
		const struct expr *sub = stage->write.subs[i];

		if (sub->kind == EXPR_DIM && sub->index == along)
			continue;
		n++;
		dim = sub->kind == EXPR_DIM ? &stage->dims.items[sub->index] : NULL;
	}
	*parts = n == 1 && dim && dim->kind == DIM_BIND ? parts_with(e->module, dim->source.array) : NULL;
	return *parts ? dim : NULL;
}

struct k_expr *row_is_alone(struct emit *e, __isl_keep isl_ast_node *node, const struct stage *stage, int along)
{
	struct point point = { stage, ast_instance_below(node, stage, false) };
	const struct restructuring *parts;
	const struct dim *dim = segment_dim(e, stage, along, &parts);
	struct affine part;

	if (!dim || !point.instance)
		return NULL;
	part = affine_of_expr(e, &point, dim->source.subs[0]);
	return K_CALL(e->arena, "PMG_IS_ALONE", k_name(e->arena, parts->part_values->c_name),
		      affine_expr(e->arena, &part), k_name(e->arena, e->layout->params[parts->n_parts]));
}

/* ---- the nest ahead ---- */

/* Behind marks that a kernel has at its head and above its loops. */
static isl_ast_node *below_marks(__isl_keep isl_ast_node *node)
{
	const struct mark *mark = ast_mark(node);

	while (mark && (mark->kind == MARK_GRID || mark->kind == MARK_PARALLEL || mark->kind == MARK_VECTOR ||
			mark->kind == MARK_LOOP)) {
		ast_next_mark(&node);
		mark = ast_mark(node);
	}
	return node;
}

/* Two loops, over all of the stage's two dims, around nothing but the stage. */
static bool is_whole_nest(struct emit *e, __isl_keep isl_ast_node *node, const struct stage *stage)
{
	isl_ast_node *outer = below_marks(node);
	bool is = stage->dims.n == 2 && loop_is_whole(e, outer, &stage->dims.items[0]);

	if (is) {
		struct affine variable = affine_name(e->arena, stage->dims.items[0].name);

		iterator_push(e, outer, &variable, 1);
		is = row_is_whole_loop(e, below_marks(ast_body(outer)), &stage->dims.items[1]);
		e->iterators.n--;
	}
	return is;
}

static bool is_grid(__isl_keep isl_ast_node *node)
{
	const struct mark *mark = ast_mark(node);

	return mark && mark->kind == MARK_GRID;
}

/* The stage that a kernel sets all cells of a matrix with; NULL. */
static const struct stage *setter_of(struct emit *e, __isl_keep isl_ast_node *node)
{
	isl_ast_expr *instance = is_grid(node) ? ast_instance_below(node, NULL, false) : NULL;
	const struct stage *stage = instance ? ast_stage(instance) : NULL;

	if (!stage || !stage->is_init || stage->guard || stage->dims.n != 2 || stage->write.array->rank != 2)
		return NULL;
	for (int i = 0; i < 2; i++)
		if (stage->write.subs[i]->kind != EXPR_DIM || stage->write.subs[i]->index != i)
			return NULL;
	return is_whole_nest(e, node, stage) ? stage : NULL;
}

static bool is_from_zero_to(struct emit *e, const struct dim *dim, const struct expr *hi)
{
	struct affine of_dim, of_array;
	int64_t lo;

	if (dim->kind != DIM_RANGE || !expr_is_constant(dim->lo, &lo) || lo != 0)
		return false;
	of_dim = affine_of_expr(e, NULL, dim->hi);
	of_array = affine_of_expr(e, NULL, hi);
	return affine_is_equal(e->arena, &of_dim, &of_array);
}

bool row_sets_cells(struct emit *e, __isl_keep isl_ast_node *node, const struct row *row)
{
	const struct stage *setter = e->rows.of_parts ? e->rows.of_parts->setter : NULL, *stage = row->stage;
	const struct restructuring *parts;
	const int along = row->dim;
	const struct dim *dim = setter ? segment_dim(e, stage, along, &parts) : NULL;

	if (!dim || stage->write.array != setter->write.array || !is_in_loop_of_teams(e) ||
	    !ast_has_mark(node, MARK_ATOMIC, stage) || !target_is_neutral(e, stage) ||
	    !is_from_zero_to(e, &setter->dims.items[0], parts->keys.items[0]->limit) ||
	    !is_from_zero_to(e, &setter->dims.items[1], setter->write.array->hi[1]) ||
	    !is_from_zero_to(e, &stage->dims.items[along], setter->write.array->hi[1]) ||
	    stage->write.subs[1]->kind != EXPR_DIM || stage->write.subs[1]->index != along)
		return false;
	e->rows.of_parts->parts = parts;
	e->rows.of_parts->adder = stage;
	e->rows.of_parts->length = row->length;
	return true;
}

void emit_set_cells(struct emit *e, __isl_keep isl_ast_node *node, __isl_keep isl_ast_node *loop,
		    const struct row *row, const struct mark *over)
{
	const struct range range = range_of(e, loop, 1);
	const int names = block_of(e, k_begin_if(e->b, row->known.alone));
	struct scope scope = scope_enter(e);
	const char *t = names_declare(&e->names, row->stage->dims.items[row->dim].name);
	struct affine variable = affine_name(e->arena, t);
	struct point point = { row->stage, ast_instance_below(node, row->stage, false) };

	open_divided(e, &range, t, &(struct loop_use) { .mark = over, .is_vector = true });
	iterator_push(e, loop, &variable, 1);
	k_set(e->b, c_target(e, row->stage, &point),
	      c_identity(e->arena, row->stage->op, row->stage->write.array->type));
	k_end(e->b);
	scope_leave(e, scope);
	block_close(e, names);
	emit_team_sync(e);
}

/* ---- both ---- */

/* Not where isl has cut the loop over the parts. */
static bool has_all_parts(struct emit *e, __isl_keep isl_ast_node *node, const struct stage *stage)
{
	return stage->dims.items[0].kind == DIM_RANGE && loop_is_whole(e, below_marks(node), &stage->dims.items[0]);
}

bool part_rows_find(struct emit *e, __isl_keep isl_ast_node *node, struct part_rows *rows)
{
	*rows = (struct part_rows) { .setter = setter_of(e, node) };
	return rows->setter;
}

bool part_rows_are_set(struct emit *e, __isl_keep isl_ast_node *node, const struct part_rows *rows)
{
	return rows->parts && is_grid(node) && has_all_parts(e, node, rows->adder);
}

void emit_set_cut(struct emit *e)
{
	const struct part_rows *rows = e->rows.of_parts;
	const struct array *array = rows->setter->write.array;
	struct k_expr *plan = k_name(e->arena, "plan"), *loop = k_name(e->arena, "NULL");

	if (!rows->parts)
		return;
	if (e->function.in_loop)
		loop = K_CALL(e->arena, runtime_name(e, "loop_of"), plan);
	k_do(e->b, K_CALL(e->arena, runtime_name(e, "set_cut"), plan,
			  k_name(e->arena, e->layout->params[rows->parts->n_parts]),
			  k_name(e->arena, rows->parts->part_values->c_name), k_name(e->arena, array->c_name),
			  k_int(e->arena, rows->length), c_identity(e->arena, rows->adder->op, array->type), loop));
	note_write(e, array);
}
