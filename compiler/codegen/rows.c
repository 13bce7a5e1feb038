/* SPDX-License-Identifier: MIT
 *
 * Rows of accumulators, the cells of a target below a ROW mark that lie along one dim, and sums of known length. Their
 * loop is built as it is, with what is known of the cells or terms, and lowerings keep rows in vectors and make dot
 * products (kernel/lower/rows.c, dots.c). Where the length is not known, in the copy of a kernel for sizes that it was
 * not specialised for, nothing is said of the loop, nor where isl made of a row's loops something else than they were.
 * Cells to which several groups of a team come, or several teams, are updated atomically; row_parts.c says which a part
 * has alone. */
#include "codegen/codegen_private.h"

/* ---- the length ---- */

static bool known_value(const struct emit *e, const struct expr *expr, int64_t *value)
{
	return (expr->kind != EXPR_PARAM || e->function.is_specialized) && expr_is_known(e->module, expr, value);
}

static bool row_length(const struct emit *e, const struct dim *dim, int64_t *length)
{
	int64_t lo, hi;

	if (!known_value(e, dim->lo, &lo) || !known_value(e, dim->hi, &hi))
		return false;
	*length = hi - lo;
	return true;
}

/* ---- the loop over the cells in isl's AST ---- */

static bool row_is_loop(const struct mark *mark, const struct stage *stage, int dim)
{
	return mark->kind == MARK_LOOP && mark_dim_number(mark) == dim &&
	       (mark->stage == stage || (mark->stage->group == stage->group && dim < stage->group->n_common));
}

struct search {
	const struct mark *row, *over;  /* that of the loop */
	isl_ast_node *loop;
	int n;
};

static isl_bool find_loop(__isl_keep isl_ast_node *node, void *user)
{
	struct search *search = user;
	const struct mark *mark = ast_mark(node);

	if (!mark || !row_is_loop(mark, search->row->stage, mark_dim_number(search->row)))
		return isl_bool_true;
	search->n++;
	search->over = mark;
	search->loop = ast_below(node);
	return isl_bool_true;
}

/* Only the statement itself stands below. */
static bool is_statement(__isl_keep isl_ast_node *node)
{
	while (ast_next_mark(&node))
		;
	return isl_ast_node_get_type(node) == isl_ast_node_user;
}

bool loop_is_whole(struct emit *e, __isl_keep isl_ast_node *loop, const struct dim *dim)
{
	struct affine lo = affine_of_expr(e, NULL, dim->lo), hi = affine_of_expr(e, NULL, dim->hi);
	struct range range;

	if (isl_ast_node_get_type(loop) != isl_ast_node_for)
		return false;
	range = range_of(e, loop, 1);
	return !range.is_single && range.step == 1 && affine_is_equal(e->arena, &range.first, &lo) &&
	       affine_is_equal(e->arena, &range.end, &hi);
}

bool row_is_whole_loop(struct emit *e, __isl_keep isl_ast_node *loop, const struct dim *dim)
{
	return loop_is_whole(e, loop, dim) && is_statement(ast_body(loop));
}

const char *row_suffix(enum scalar_type type)
{
	return type == TYPE_F32 ? "F32" : "F64";
}

/* ---- sums ---- */

/* Conditions of sizes and of the number of an iteration stand above all loops. */
static bool is_guarded(const struct stage *stage)
{
	return stage->guard && expr_last_dim(stage->guard) >= 0;
}

/* Is the mark that of a loop of known length over terms that can be computed as vectors? */
static bool has_terms(const struct emit *e, const struct mark *mark, int64_t *length)
{
	const struct stage *stage = mark->stage;
	enum scalar_type type = stage->write.array->type;

	return mark->kind == MARK_LOOP && mark->direction > 0 && stage->op == REDUCE_ADD && !is_guarded(stage) &&
	       type_is_float(type) && row_length(e, mark->dim, length) &&
	       expr_uses_dim(stage->value, mark_dim_number(mark)) &&
	       expr_is_vector(stage->value, mark_dim_number(mark), type);
}

/* Of a loop of vectors: how many terms it adds to an accumulator. A lowering makes dot products of such loops
 * (kernel/lower/dots.c). Where a condition says for which points terms are added, it has become bounds of the loops
 * around, which may have few iterations: of triangles, vectors of 12 cells took twice as long as the loop. */
static struct k_row sum_known(struct emit *e, const struct range *range, const struct loop_use *use)
{
	const struct dim *dim = use->mark->dim;
	const struct array *array = use->mark->stage->write.array;
	struct affine lo, hi;
	int64_t length;

	if (!use->is_vector || use->is_parallel || !accumulator_of(e, use->mark->stage) ||
	    !has_terms(e, use->mark, &length))
		return (struct k_row) { 0 };
	lo = affine_of_expr(e, NULL, dim->lo);
	hi = affine_of_expr(e, NULL, dim->hi);
	if (!affine_is_equal(e->arena, &range->first, &lo) || !affine_is_equal(e->arena, &range->end, &hi))
		return (struct k_row) { 0 };
	return (struct k_row) { .length = k_int(e->arena, length), .is_narrow = array->sums != array->type };
}

bool sum_is_known(struct emit *e, const struct range *range, const struct loop_use *use)
{
	return sum_known(e, range, use).length;
}

/* ---- cells ---- */

/* What writes the target before `stage`, or in its group, last in the order of the text. */
static const struct stage *writer_before(const struct emit *e, const struct stage *stage)
{
	const struct region *region = &e->module->regions[group_region(e->module, stage->group)];
	const struct stage *last = NULL;

	for (int g = 0; g < region->groups.n; g++) {
		const struct group *group = region->groups.items[g];

		for (int s = 0; s < group->stages.n; s++) {
			const struct stage *other = group->stages.items[s];

			last = other != stage && other->write.array == stage->write.array ? other : last;
		}
		if (group == stage->group)
			break;
	}
	return last;
}

bool target_is_neutral(const struct emit *e, const struct stage *stage)
{
	const struct stage *last = writer_before(e, stage);

	return last && last->is_init && !last->guard && last->value->kind == EXPR_FLOAT;
}

static const struct row *row_of_loop(const struct emit *e, const struct mark *mark)
{
	for (int i = e->rows.list.n - 1; i >= 0; i--)
		if (row_is_loop(mark, e->rows.list.items[i].stage, e->rows.list.items[i].dim))
			return &e->rows.list.items[i];
	return NULL;
}

struct k_row row_known(struct emit *e, const struct range *range, const struct loop_use *use)
{
	const struct row *row = row_of_loop(e, use->mark);

	return row ? row->known : sum_known(e, range, use);
}

static const struct row *row_of_stage(const struct emit *e, const struct stage *stage)
{
	for (int i = e->rows.list.n - 1; i >= 0; i--)
		if (e->rows.list.items[i].stage == stage)
			return &e->rows.list.items[i];
	return NULL;
}

/* Groups of one team are added up in an order; teams come as they come. */
bool emit_row_update(struct emit *e, const struct stage *stage, const struct update *update)
{
	const struct row *row = row_of_stage(e, stage);

	if (!row)
		return false;
	if (row->is_atomic && !(row->known.alone && row->known.alone->kind == KE_BOOL))
		emit_atomic_update(e, update);
	else if (!row->is_atomic || !emit_atomic_store(e, update))
		emit_update(e, update);
	return true;
}

/* ---- the row ---- */

/* Is the loop directly below one of which each lane has an iteration? */
static bool is_of_warp_loop(const struct emit *e, __isl_keep isl_ast_node *node)
{
	const struct mark *mark = ast_mark(node);

	return mark->kind == MARK_LOOP && loop_is_of_warp(e, mark);
}

static void emit_below(struct emit *e, __isl_keep isl_ast_node *node, const struct row *row)
{
	vec_push(e->arena, &e->rows.list, *row);
	emit_node(e, node, (struct loop_use) { 0 });
	e->rows.list.n--;
	note_write(e, row->stage->write.array);
}

/* Does the loop directly below run under a condition? */
static bool runs_at_times(struct emit *e, __isl_keep isl_ast_node *node)
{
	const struct mark *mark = ast_mark(node);
	isl_ast_node *loop = ast_below(node);

	return mark_is_loop(mark) && isl_ast_node_get_type(loop) == isl_ast_node_for &&
	       !range_of(e, loop, mark->direction).is_single;
}

/* Groups of a team that has several meet in the cells; so do teams below an ATOMIC mark. */
static void emit_known(struct emit *e, __isl_keep isl_ast_node *node, const struct search *cells, struct row *row)
{
	const bool is_atomic = ast_has_mark(node, MARK_ATOMIC, row->stage), is_of_warp = is_of_warp_loop(e, node);
	const struct array *array = row->stage->write.array;

	row->is_atomic = is_atomic || is_of_warp;
	row->known = (struct k_row) { .length = k_int(e->arena, row->length), .is_narrow = array->sums != array->type,
				      .is_neutral = row->is_atomic && target_is_neutral(e, row->stage),
				      .alone = is_atomic ? row_is_alone(e, node, row->stage, row->dim)
					       : is_of_warp ? k_bool(e->arena, true) : NULL };
	if (!is_of_warp)
		warp_loop_breaks_beside(e);
	if (row_sets_cells(e, node, row))
		emit_set_cells(e, node, cells->loop, row, cells->over);
	emit_below(e, node, row);
}

void emit_row(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark)
{
	struct search search = { .row = mark };
	struct row row = { .stage = mark->stage, .dim = mark_dim_number(mark) };

	if (row_length(e, mark->dim, &row.length) && isl_ast_node_get_type(node) == isl_ast_node_mark &&
	    runs_at_times(e, node))
		isl_ast_node_foreach_descendant_top_down(node, find_loop, &search);
	if (search.n == 1 && row_is_whole_loop(e, search.loop, mark->dim))
		emit_known(e, node, &search, &row);
	else
		emit_node(e, node, (struct loop_use) { 0 });
}
