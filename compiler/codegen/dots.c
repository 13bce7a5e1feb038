/* SPDX-License-Identifier: MIT
 *
 * Dot products. For a processor their loops are built as they are, with what is known of them, and a lowering makes
 * vectors of them (kernel/lower/dots.c). Those of a device are made here, since how many registers a lane has for what
 * is kept, and whether lanes of a team have rows in common, is decided while its kernel is built (grids.c,
 * warp_loops.c): a loop of known length adds cells of runtime/pmgrt_cuda_row.h to two sums in turn, and factors that an
 * enclosing loop does not move are read above that loop.
 *
 * Such a row is read if the enclosing loop has an iteration, below which no condition stands before the dot product:
 * then the dot product reads it too. No statement of the loop writes the array. */
#include "codegen/codegen_private.h"

struct dot {
	const struct stage *stage;
	const struct mark *loop;        /* over the cells */
	int64_t length;
};

static struct row row_of_dot(const struct dot *dot)
{
	return (struct row) { .stage = dot->stage, .dim = mark_dim_number(dot->loop), .length = dot->length };
}

/* Lanes behind the end of the row leave it out. */
static bool length_fits(const struct emit *e, int64_t length, int64_t size)
{
	return !e->grid->in_lanes && length*size <= ROW_LANES*ROW_LONGEST;
}

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

/* Is this the loop of a dot product? `node` is isl's loop. */
static bool find_dot(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark, struct dot *dot)
{
	const struct stage *stage = mark->stage;
	enum scalar_type sums = stage->write.array->sums;
	const bool is = ast_instance_below(node, stage, false) && has_terms(e, mark, &dot->length);

	dot->stage = stage;
	dot->loop = mark;
	return is && length_fits(e, dot->length, type_size(sums)) && row_is_whole_loop(e, node, mark->dim);
}

static const struct kept *kept_of(const struct emit *e, const struct access *access)
{
	for (int i = 0; i < e->rows.kept.n; i++)
		if (e->rows.kept.items[i].access == access)
			return &e->rows.kept.items[i];
	return NULL;
}

struct along {
	const struct emit *e;
	int dim;
	bool needs_cell;
};

static void look_along(struct access *access, void *user)
{
	struct along *along = user;

	along->needs_cell |= access_uses_dim(access, along->dim) && !kept_of(along->e, access);
}

/* Are there other reads along the row than of what is kept? */
static bool needs_cell(const struct emit *e, const struct row *row)
{
	struct along along = { e, row->dim, false };

	expr_reads(row->stage->value, look_along, &along);
	return along.needs_cell;
}

static void emit_products(struct emit *e, __isl_keep isl_ast_node *loop, struct row *row, const char *sums)
{
	int visible = e->names.visible.n;
	struct scope scope = scope_enter(e);
	struct point point;

	row->index = row_open(e, loop, row, needs_cell(e, row));
	point = (struct point) { row->stage, ast_instance_below(loop, row->stage, false) };
	e->rows.vector = row;
	if (!row_fills_team(e, row->length))
		k_only_if(e->b, row_is_own(e, row, row->index));
	k_do(e->b, K_CALL(e->arena, runtime_name(e, "add_cells"), k_name(e->arena, sums), k_name(e->arena, row->index),
			  c_expr(e, &point, row->stage->value)));
	e->rows.vector = NULL;
	k_end(e->b);
	e->names.visible.n = visible;
	scope_leave(e, scope);
}

/* Two sums, the first one from what the accumulator has. */
static void emit_dot(struct emit *e, __isl_keep isl_ast_node *node, const struct dot *dot, struct k_expr *sum)
{
	const struct array *array = dot->stage->write.array;
	const char *sums = names_declare(&e->names, "sums");
	struct k_expr *first = array->sums == array->type ? sum : k_cast(e->arena, k_scalar("float"), sum);
	struct row row = row_of_dot(dot);

	k_array(e->b, k_scalar(type_c_name(array->sums)), sums, k_int(e->arena, 2), K_LIST(e->arena, first));
	emit_products(e, node, &row, sums);
	k_set(e->b, sum, k_binary(e->arena, K_ADD, k_at(e->arena, sums, k_int(e->arena, 0)),
				  k_at(e->arena, sums, k_int(e->arena, 1))));
}

bool emit_dot_loop(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use)
{
	struct k_expr *sum = e->grid && use.is_vector && !use.is_parallel ? accumulator_of(e, use.mark->stage) : NULL;
	struct dot dot;

	if (!sum || !find_dot(e, node, use.mark, &dot))
		return false;
	warp_loop_breaks_beside(e);
	emit_dot(e, node, &dot, sum);
	return true;
}

/* ---- what a loop does not move ---- */

struct search {
	struct emit *e;
	const struct mark *around;      /* the loop above which it would be kept */
	struct dot dot;
	isl_ast_node *loop;             /* of the dot product: owned */
	VEC(const struct mark *) binds;
	const struct access *access;
};

/* The loop over the cells below an ACCUMULATE mark, unless the BLAS is called for it. */
static void look_at_accumulate(struct search *search, __isl_keep isl_ast_node *node)
{
	const struct mark *mark = NULL, *accumulate = ast_mark(node);
	bool is_vector = false, is_called = false;

	for (const struct mark *next = accumulate; (next = ast_next_mark(&node)); mark = next) {
		is_vector = is_vector || next->kind == MARK_VECTOR;
		is_called = is_called || next->kind == MARK_BLAS;
	}
	if (!search->loop && is_vector && !is_called && mark->stage == accumulate->stage &&
	    isl_ast_node_get_type(node) == isl_ast_node_for &&
	    row_is_loop(search->around, mark->stage, mark_dim_number(search->around)) &&
	    find_dot(search->e, node, mark, &search->dot))
		search->loop = node;
}

static isl_bool look_for_dot(__isl_keep isl_ast_node *node, void *user)
{
	struct search *search = user;
	const struct mark *mark = ast_mark(node);

	if (isl_ast_node_get_type(node) == isl_ast_node_if)
		return isl_bool_false;
	if (!mark)
		return isl_bool_true;
	if (mark->kind == MARK_ACCUMULATE)
		look_at_accumulate(search, node);
	if (mark->kind == MARK_BIND)
		vec_push(search->e->arena, &search->binds, mark);
	return mark->kind == MARK_BIND || mark->kind == MARK_GROUP ? isl_bool_true : isl_bool_false;
}

static void look_at_access(struct access *access, void *user)
{
	struct search *search = user;
	bool is = !search->access && access->array->role != ROLE_LOCAL &&
		  access_uses_dim(access, mark_dim_number(search->dot.loop)) &&
		  !access_uses_dim(access, mark_dim_number(search->around));

	for (int i = 0; is && i < search->binds.n; i++)
		is = search->binds.items[i]->stage->group == search->dot.stage->group &&
		     !access_uses_dim(access, mark_dim_number(search->binds.items[i]));
	if (is)
		search->access = access;
}

/* Reads what was kept last. */
static void read_kept(struct emit *e, struct row *row)
{
	struct kept *kept = &e->rows.kept.items[e->rows.kept.n - 1];
	enum scalar_type sums = row->stage->write.array->sums;
	struct point point = { row->stage, ast_instance_below(kept->around, row->stage, false) };
	const char *name = names_declare(&e->names, arena_printf(e->arena, "%s_row", kept->access->array->c_name)), *j;
	struct scope scope = scope_enter(e);
	int visible = e->names.visible.n;

	row_array(e, sums, name, row->length);
	j = row_open(e, kept->loop, row, true);
	if (e->grid->has_warp_loops)
		k_macro(e->b, "PMG_READ_ONCE");
	e->rows.vector = row;
	k_set(e->b, k_at(e->arena, name, k_name(e->arena, j)),
	      row_read(e, kept->access, c_access(e, &point, kept->access)));
	e->rows.vector = NULL;
	block_close(e, visible);
	scope_leave(e, scope);
	kept->name = name;
}

int dots_keep(struct emit *e, __isl_keep isl_ast_node *node, const struct loop_use *use, const struct range *range)
{
	struct search search = { .e = e, .around = use->mark };
	struct row row;
	int names;

	if (e->grid && use->mark->kind == MARK_LOOP && !use->is_parallel && !use->is_vector && !range->is_single &&
	    use->mark->direction > 0)
		isl_ast_node_foreach_descendant_top_down(ast_body(node), look_for_dot, &search);
	if (search.loop)
		expr_reads(search.dot.stage->value, look_at_access, &search);
	if (!search.access || is_written_below(e, node, search.access->array))
		return -1;
	row = row_of_dot(&search.dot);
	vec_push(e->arena, &e->rows.kept, ((struct kept) { search.access, NULL, node, search.loop }));
	names = block_of(e, k_begin_if(e->b, affine_comparison(e->arena, &range->first, K_LT, &range->end)));
	read_kept(e, &row);
	return names;
}

void dots_release(struct emit *e, int names)
{
	if (names < 0)
		return;
	e->rows.kept.n--;
	block_close(e, names);
}

struct k_expr *dot_kept(const struct emit *e, const struct access *access)
{
	const struct kept *kept = e->rows.vector && e->rows.vector->index ? kept_of(e, access) : NULL;

	return kept ? k_at(e->arena, kept->name, k_name(e->arena, e->rows.vector->index)) : NULL;
}

/* ---- for a processor ---- */

/* Where a condition says for which points terms are added, it has become bounds of the loops around, which may have few
 * iterations: of triangles, vectors of 12 cells took twice as long as the loop. */
struct k_row sum_row(struct emit *e, const struct range *range, const struct loop_use *use)
{
	const struct dim *dim = use->mark->dim;
	const struct array *array = use->mark->stage->write.array;
	struct affine lo, hi;
	int64_t length;

	if (e->grid || !use->is_vector || use->is_parallel || !accumulator_of(e, use->mark->stage) ||
	    !has_terms(e, use->mark, &length))
		return (struct k_row) { 0 };
	lo = affine_of_expr(e, NULL, dim->lo);
	hi = affine_of_expr(e, NULL, dim->hi);
	if (!affine_is_equal(e->arena, &range->first, &lo) || !affine_is_equal(e->arena, &range->end, &hi))
		return (struct k_row) { 0 };
	return (struct k_row) { .length = k_int(e->arena, length), .is_narrow = array->sums != array->type };
}
