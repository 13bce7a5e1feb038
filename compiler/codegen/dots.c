/* SPDX-License-Identifier: MIT
 *
 * Dot products: a vector loop of known length that adds to an accumulator adds vectors of runtime/pmgrt_row.h, two sums
 * in turn, and their lanes once. Factors that an enclosing loop does not move are read into vectors above that loop: C
 * compilers cannot do so where the loop stores something, since they do not see that it is stored elsewhere.
 *
 * Such a row is read if the enclosing loop has an iteration, below which no condition stands before the dot product:
 * then the dot product reads it too. No statement of the loop writes the array. Where the last vector overlaps the one
 * before, what both have is added once. Long rows are taken in blocks (row_blocks.c), of which the factors are read
 * again for each batch.
 *
 * Adding up the lanes of a vector takes as long as several products. So PMG_DOTS iterations of the enclosing loop make
 * their dot products together, whose lanes are added up at once, ahead of what else they do: where these iterations
 * write nothing that the dot products, or the indices in them, read. */
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

/* On a device, lanes behind the end of the row leave it out. */
static bool length_fits(const struct emit *e, int64_t length, int64_t size)
{
	if (e->grid)
		return !e->grid->in_lanes && length*size <= ROW_LANES*ROW_LONGEST;
	return length*size >= ROW_SHORTEST && row_has_blocks(length, size);
}

/* Conditions of sizes and of the number of an iteration stand above all loops. */
static bool is_guarded(const struct stage *stage)
{
	return stage->guard && expr_last_dim(stage->guard) >= 0;
}

/* Is this the loop of a dot product? `node` is isl's loop. */
static bool find_dot(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark, struct dot *dot)
{
	const struct stage *stage = mark->stage;
	enum scalar_type type = stage->write.array->type, sums = stage->write.array->sums;
	isl_ast_expr *instance = ast_first_instance(node, stage, false);
	bool is = instance && mark->kind == MARK_LOOP && mark->direction > 0 && stage->op == REDUCE_ADD &&
		  !is_guarded(stage) && type_is_float(type) && row_length(e, mark->dim, &dot->length) &&
		  expr_uses_dim(stage->value, mark_dim_number(mark)) &&
		  expr_is_vector(stage->value, mark_dim_number(mark), type);

	isl_ast_expr_free(instance);
	dot->stage = stage;
	dot->loop = mark;
	return is && length_fits(e, dot->length, type_size(sums)) && row_is_whole_loop(e, node, mark->dim);
}

/* Where products are added: to the vector of `sums` at `place`, or, where that is NULL, to two in turn; on a device,
 * to sums. */
struct products {
	isl_ast_node *loop;
	const char *sums, *place;
};

/* What is zero where a cell of the vector, which may be the last one, is one of the vector before, too. */
static struct k_expr *once(struct emit *e, const struct row *row, struct k_expr *value)
{
	enum scalar_type type = row->stage->write.array->sums;

	if (row->length*type_size(type) % ROW_SHORTEST == 0)
		return value;
	return K_CALL(e->arena, arena_printf(e->arena, "PMG_ONCE_%s", row_suffix(type)),
		      k_int(e->arena, row->length), k_name(e->arena, row->index), value);
}

/* Are the terms products of what is kept and another read along the row? Then each factor is set to zero in lanes that
 * count elsewhere, the kept one above the loop: a processor that multiplies and adds at once does so still. */
static bool is_product_with(const struct row *row, const struct access *kept)
{
	const struct expr *value = row->stage->value, *const *args = (const struct expr *const *) value->args;

	return value->kind == EXPR_OP && value->op == OP_MUL && args[0]->kind == EXPR_READ &&
	       args[1]->kind == EXPR_READ && (kept == &args[0]->access || kept == &args[1]->access) &&
	       expr_uses_dim(args[0], row->dim) && expr_uses_dim(args[1], row->dim);
}

static struct k_expr *product_of(struct emit *e, const struct row *row, const struct point *point)
{
	struct expr *const *args = row->stage->value->args;
	struct k_expr *factors[2];

	for (int i = 0; i < e->rows.kept.n; i++)
		if (is_product_with(row, e->rows.kept.items[i].access)) {
			for (int a = 0; a < 2; a++) {
				factors[a] = c_expr(e, point, args[a]);
				if (&args[a]->access != e->rows.kept.items[i].access)
					factors[a] = once(e, row, factors[a]);
			}
			return k_binary(e->arena, K_MUL, factors[0], factors[1]);
		}
	return once(e, row, c_expr(e, point, row->stage->value));
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

static void add_products(struct emit *e, const struct products *products, const struct row *row,
			 const struct point *point)
{
	struct k_expr *index = k_name(e->arena, row->index);
	struct k_expr *place = products->place ? k_name(e->arena, products->place)
					       : k_binary(e->arena, K_REM, index, k_int(e->arena, 2));

	if (!row_fills_team(e, row->length))
		k_only_if(e->b, row_is_own(e, row, row->index));
	if (e->grid)
		k_do(e->b, K_CALL(e->arena, "pmg_cuda_add_cells", k_name(e->arena, products->sums), index,
				  c_expr(e, point, row->stage->value)));
	else
		k_update(e->b, K_ADD, k_at(e->arena, products->sums, place), product_of(e, row, point));
}

static void emit_products(struct emit *e, const struct row *block, void *user)
{
	const struct products *products = user;
	int visible = e->names.visible.n;
	struct scope scope = scope_enter(e);
	struct row row = *block;
	struct point point;

	row.index = row_open(e, products->loop, &row, needs_cell(e, &row));
	point = (struct point) { row.stage, ast_first_instance(products->loop, row.stage, false) };
	e->rows.vector = &row;
	add_products(e, products, &row, &point);
	e->rows.vector = NULL;
	k_end(e->b);
	e->names.visible.n = visible;
	scope_leave(e, scope);
	isl_ast_expr_free(point.instance);
}

/* Two sums: of vectors from zero, or, on a device, of cells, the first one from what the accumulator has. */
static void declare_sums(struct emit *e, const struct dot *dot, const char *name, struct k_expr *sum)
{
	enum scalar_type type = dot->stage->write.array->sums;
	struct k_expr *two = k_int(e->arena, 2), *zero = K_LIST(e->arena, k_int(e->arena, 0));

	if (e->grid && type != dot->stage->write.array->type)
		sum = k_cast(e->arena, k_scalar("float"), sum);
	if (e->grid)
		k_array(e->b, k_scalar(type_c_name(type)), name, two, K_LIST(e->arena, sum));
	else
		k_array(e->b, row_type(e->arena, type), name, two, K_LIST(e->arena, zero, zero));
}

static void emit_dot(struct emit *e, __isl_keep isl_ast_node *node, const struct dot *dot, struct k_expr *sum)
{
	const char *macro = arena_printf(e->arena, "PMG_SUM_%s", row_suffix(dot->stage->write.array->sums));
	struct products products = { node, names_declare(&e->names, "sums"), NULL };
	struct row row = row_of_dot(dot);

	declare_sums(e, dot, products.sums, sum);
	emit_row_blocks(e, &row, emit_products, &products);
	if (e->grid)
		k_set(e->b, sum, k_binary(e->arena, K_ADD, k_at(e->arena, products.sums, k_int(e->arena, 0)),
					  k_at(e->arena, products.sums, k_int(e->arena, 1))));
	else
		k_update(e->b, K_ADD, sum, K_CALL(e->arena, macro, k_name(e->arena, products.sums)));
}

/* The products of the present block for one iteration of a batch. */
static void emit_of_batch(struct emit *e, __isl_keep isl_ast_node *node, const struct batch *batch)
{
	struct products products = { node, batch->sums, batch->place };

	emit_products(e, batch->block, &products);
}

bool emit_dot_loop(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use)
{
	const struct batch *batch = e->rows.batch;
	struct k_expr *sum = use.is_vector && !use.is_parallel ? accumulator_of(e, use.mark->stage) : NULL;
	struct dot dot;

	if (!(sum || batch_is_made(e)) || !find_dot(e, node, use.mark, &dot))
		return false;
	warp_loop_breaks_beside(e);
	if (batch_is_made(e))
		emit_of_batch(e, node, batch);
	else if (batch && batch->stage == dot.stage)
		k_update(e->b, K_ADD, sum, k_at(e->arena, batch->dots, batch->number));
	else
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
static void look_at_accumulate(struct search *search, __isl_take isl_ast_node *node)
{
	const struct mark *mark = NULL, *accumulate = ast_mark(node);
	bool is_vector = false, is_called = false;

	for (const struct mark *next = accumulate; (next = ast_strip_mark(&node)); mark = next) {
		is_vector = is_vector || next->kind == MARK_VECTOR;
		is_called = is_called || next->kind == MARK_BLAS;
	}
	if (!search->loop && is_vector && !is_called && mark->stage == accumulate->stage &&
	    isl_ast_node_get_type(node) == isl_ast_node_for &&
	    row_is_loop(search->around, mark->stage, mark_dim_number(search->around)) &&
	    find_dot(search->e, node, mark, &search->dot))
		search->loop = node;
	else
		isl_ast_node_free(node);
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
		look_at_accumulate(search, isl_ast_node_copy(node));
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

struct batching {
	struct emit *e;
	isl_ast_node *node;
	bool is_possible;
};

static void need_unchanged(struct batching *batching, const struct array *array)
{
	batching->is_possible = batching->is_possible && !array_is_local(array) &&
				!is_written_below(batching->e, batching->node, array);
}

static void look_at_operand(struct access *access, void *user)
{
	need_unchanged(user, access->array);
}

/* Otherwise all iterations have the same dot product. */
static bool is_moved(const struct search *search)
{
	const int dim = mark_dim_number(search->around);
	bool is = expr_uses_dim(search->dot.stage->value, dim);

	for (int i = 0; i < search->binds.n && !is; i++)
		is = access_uses_dim(&search->binds.items[i]->dim->source, dim);
	return is;
}

/* Can the dot products of several iterations be made before the rest of these iterations? */
static bool can_be_batched(struct emit *e, __isl_keep isl_ast_node *node, const struct search *search)
{
	struct batching batching = { e, node, !e->grid && !e->rows.batch && is_moved(search) };

	expr_reads(search->dot.stage->value, look_at_operand, &batching);
	for (int i = 0; i < search->binds.n; i++)
		need_unchanged(&batching, search->binds.items[i]->dim->source.array);
	return batching.is_possible;
}

void dot_read_kept(struct emit *e, int number, const struct row *block)
{
	const struct kept kept = e->rows.kept.items[number];
	const struct array *array = block->stage->write.array;
	struct row row = *block;
	struct point point = { row.stage, ast_first_instance(kept.around, row.stage, false) };
	const char *name = names_declare(&e->names, arena_printf(e->arena, "%s_row", kept.access->array->c_name)), *j;
	struct scope scope = scope_enter(e);
	int visible = e->names.visible.n;
	struct k_expr *vector;

	row_array(e, array->sums, name, row.length, NULL);
	grid_holds_row(e, row.length, type_size(array->sums));
	j = row_open(e, kept.loop, &row, true);
	if (e->grid && e->grid->has_warp_loops)
		k_macro(e->b, "PMG_READ_ONCE");
	e->rows.vector = &row;
	vector = row_read(e, kept.access, c_access(e, &point, kept.access));
	row.index = j;
	if (!e->grid && is_product_with(&row, kept.access))
		vector = once(e, &row, vector);
	k_set(e->b, k_at(e->arena, name, k_name(e->arena, j)), vector);
	e->rows.vector = NULL;
	block_close(e, visible);
	scope_leave(e, scope);
	e->rows.kept.items[number].name = name;
	isl_ast_expr_free(point.instance);
}

/* The number of what is kept; -1: nothing is. Takes search->loop. */
static int find_kept(struct emit *e, __isl_keep isl_ast_node *node, struct search *search, const struct range *range)
{
	struct kept kept = { .access = search->access, .around = node, .loop = search->loop };
	bool is_kept = search->access && !is_written_below(e, node, search->access->array);

	if (is_kept) {
		kept.row = row_of_dot(&search->dot);
		kept.is_batched = range->step == 1 && can_be_batched(e, node, search);
		is_kept = kept.is_batched || !row_is_long(e, &kept.row);
	}
	if (is_kept)
		vec_push(e->arena, &e->rows.kept, kept);
	else
		isl_ast_node_free(search->loop);
	return is_kept ? e->rows.kept.n - 1 : -1;
}

int dots_keep(struct emit *e, __isl_keep isl_ast_node *node, const struct loop_use *use, const struct range *range)
{
	struct search search = { .e = e, .around = use->mark };
	isl_ast_node *body = isl_ast_node_for_get_body(node);
	int names = -1, kept;

	if (use->mark->kind == MARK_LOOP && !use->is_parallel && !use->is_vector && !range->is_single &&
	    use->mark->direction > 0)
		isl_ast_node_foreach_descendant_top_down(body, look_for_dot, &search);
	if (search.loop)
		expr_reads(search.dot.stage->value, look_at_access, &search);
	kept = find_kept(e, node, &search, range);
	if (kept >= 0 && row_is_long(e, &e->rows.kept.items[kept].row)) {
		names = e->names.visible.n;
	} else if (kept >= 0) {
		names = block_of(e, k_begin_if(e->b, affine_comparison(e->arena, &range->first, K_LT, &range->end)));
		dot_read_kept(e, kept, &e->rows.kept.items[kept].row);
	}
	isl_ast_node_free(body);
	return names;
}

void dots_release(struct emit *e, int names)
{
	const struct kept *kept;

	if (names < 0)
		return;
	kept = &e->rows.kept.items[--e->rows.kept.n];
	isl_ast_node_free(kept->loop);
	if (!row_is_long(e, &kept->row))
		block_close(e, names);
}

struct k_expr *dot_kept(const struct emit *e, const struct access *access)
{
	const struct kept *kept = e->rows.vector && e->rows.vector->index ? kept_of(e, access) : NULL;

	return kept ? k_at(e->arena, kept->name, k_name(e->arena, e->rows.vector->index)) : NULL;
}
