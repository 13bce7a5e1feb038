/* SPDX-License-Identifier: MIT
 *
 * Dot products: a vector loop of known length that adds to an accumulator adds vectors of runtime/pmgrt_row.h, two sums
 * in turn, and their lanes once. Factors that an enclosing loop does not move are read into vectors above that loop: C
 * compilers cannot do so where the loop stores something, since they do not see that it is stored elsewhere.
 *
 * Such a row is read if the enclosing loop has an iteration, below which no condition stands before the dot product:
 * then the dot product reads it too. No statement of the loop writes the array. The length is a multiple of the
 * longest vector's, so that no lane is added twice.
 *
 * Adding up the lanes of a vector takes as long as several products. So PMG_DOTS iterations of the enclosing loop make
 * their dot products together, whose lanes are added up at once, ahead of what else they do: where these iterations
 * write nothing that the dot products, or the indices in them, read. */
#include "codegen/codegen_private.h"

/* Bytes of what is kept at most, and of the longest vector; of a device, times LANES. */
enum { LONGEST = 12*64, VECTOR = 64, LANES = 4 };

struct dot {
	const struct stage *stage;
	const struct mark *loop;        /* over the cells */
	int64_t length;
};

/* On a device, lanes behind the end of the row leave it out. */
static bool length_fits(const struct emit *e, int64_t bytes)
{
	if (e->grid)
		return !e->grid->in_lanes && bytes <= LANES*LONGEST;
	return bytes <= LONGEST && bytes % VECTOR == 0;
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
	int64_t bytes;
	bool is = instance && mark->kind == MARK_LOOP && mark->direction > 0 && stage->op == REDUCE_ADD &&
		  !is_guarded(stage) && type_is_float(type) && row_length(e, mark->dim, &dot->length) &&
		  expr_uses_dim(stage->value, mark_dim_number(mark)) &&
		  expr_is_vector(stage->value, mark_dim_number(mark), type);

	isl_ast_expr_free(instance);
	dot->stage = stage;
	dot->loop = mark;
	bytes = is ? dot->length*type_size(sums) : 0;
	return is && length_fits(e, bytes) && row_is_whole_loop(e, node, mark->dim);
}

/* Adds to vectors of `sums`: to the one at `place`, or, where that is NULL, to two in turn; on a device, to sums. */
static void emit_products(struct emit *e, __isl_keep isl_ast_node *node, const struct dot *dot, const char *sums,
			  const char *place)
{
	int visible = e->names.visible.n;
	struct scope scope = scope_enter(e);
	struct row row = { .stage = dot->stage, .dim = mark_dim_number(dot->loop), .length = dot->length };
	struct point point;
	const char *value;

	row.index = row_open(e, node, &row, true);
	point = (struct point) { row.stage, ast_first_instance(node, row.stage, false) };
	e->vector = &row;
	value = c_expr(e, &point, row.stage->value).text;
	if (!row_fills_team(e, dot->length))
		line(e->w, "if (PMG_VECTOR_IS_OWN(%s, %s))", int_text(e->arena, dot->length), row.index);
	if (e->grid)
		line(e->w, "%spmg_cuda_add_cells(%s, %s, %s);", row_fills_team(e, dot->length) ? "" : "\t", sums,
		     row.index, value);
	else
		line(e->w, "%s[%s] += %s;", sums, place ? place : arena_printf(e->arena, "%s %% 2", row.index), value);
	e->vector = NULL;
	close_block(e->w, "}");
	e->names.visible.n = visible;
	scope_leave(e, scope);
	isl_ast_expr_free(point.instance);
}

static void emit_dot(struct emit *e, __isl_keep isl_ast_node *node, const struct dot *dot, const char *sum)
{
	enum scalar_type type = dot->stage->write.array->sums;
	int visible = e->names.visible.n;
	const char *sums = names_declare(&e->names, "sums");

	if (e->grid)
		line(e->w, "%s %s[2] = { %s };", type_c_name(type), sums, sum);
	else
		line(e->w, "pmg_vector_%s %s[2] = { { 0 }, { 0 } };", type_name(type), sums);
	emit_products(e, node, dot, sums, NULL);
	if (e->grid)
		line(e->w, "%s = %s[0] + %s[1];", sum, sums, sums);
	else
		line(e->w, "%s += PMG_SUM_%s(%s);", sum, row_suffix(type), sums);
	e->names.visible.n = visible;
}

bool emit_dot_loop(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use)
{
	const struct batch *batch = e->batch;
	const char *sum = use.is_vector && !use.is_parallel ? accumulator_of(e, use.mark->stage) : NULL;
	struct dot dot;

	if (!(sum || batch_is_made(e)) || !find_dot(e, node, use.mark, &dot))
		return false;
	deal_breaks_beside(e);
	if (batch_is_made(e))
		emit_products(e, node, &dot, batch->sums, batch->place);
	else if (batch && batch->stage == dot.stage)
		line(e->w, "%s += %s[%s];", sum, batch->dots, batch->number);
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

static bool moves(const struct access *access, const struct mark *loop)
{
	bool moves = false;

	for (int i = 0; i < access->array->rank; i++)
		moves = moves || expr_uses_dim(access->subs[i], mark_dim_number(loop));
	return moves;
}

static void look_at_access(struct access *access, void *user)
{
	struct search *search = user;
	bool is = !search->access && access->array->role != ROLE_LOCAL && moves(access, search->dot.loop) &&
		  !moves(access, search->around);

	for (int i = 0; is && i < search->binds.n; i++)
		is = search->binds.items[i]->stage->group == search->dot.stage->group &&
		     !moves(access, search->binds.items[i]);
	if (is)
		search->access = access;
}

struct ahead {
	struct emit *e;
	isl_ast_node *node;
	bool is_possible;
};

static void need_unchanged(struct ahead *ahead, const struct array *array)
{
	ahead->is_possible = ahead->is_possible && array->role != ROLE_LOCAL && !array_is_variable(array) &&
			     !is_written_below(ahead->e, ahead->node, array);
}

static void look_ahead(struct access *access, void *user)
{
	need_unchanged(user, access->array);
}

/* Can the dot products of several iterations be made ahead of what else these iterations do? */
static bool runs_ahead(struct emit *e, __isl_keep isl_ast_node *node, const struct search *search)
{
	struct ahead ahead = { e, node, !e->grid && !e->batch };

	expr_reads(search->dot.stage->value, look_ahead, &ahead);
	for (int i = 0; i < search->binds.n; i++)
		need_unchanged(&ahead, search->binds.items[i]->dim->source.array);
	return ahead.is_possible;
}

static void emit_kept(struct emit *e, __isl_keep isl_ast_node *node, const struct search *search, bool is_ahead)
{
	const struct access *access = search->access;
	const struct array *array = search->dot.stage->write.array;
	struct row row = { .stage = search->dot.stage, .dim = mark_dim_number(search->dot.loop),
			   .length = search->dot.length };
	struct point point = { row.stage, ast_first_instance(node, row.stage, false) };
	const char *name = names_declare(&e->names, arena_printf(e->arena, "%s_row", access->array->c_name)), *j;
	struct scope scope = scope_enter(e);
	int visible = e->names.visible.n;

	line(e->w, "pmg_vector_%s %s[PMG_VECTORS(%s, %s)];", type_name(array->sums), name, type_c_name(array->sums),
	     int_text(e->arena, row.length));
	grid_holds_row(e, row.length*type_size(array->sums));
	j = row_open(e, search->loop, &row, true);
	if (e->grid && e->grid->has_deals)
		line(e->w, "PMG_READ_ONCE;");
	e->vector = &row;
	line(e->w, "%s[%s] = %s;", name, j, row_read(e, access, c_access(e, &point, access)));
	e->vector = NULL;
	block_close(e, visible);
	scope_leave(e, scope);
	vec_push(e->arena, &e->kept, ((struct kept) { access, name, is_ahead ? search->dot.stage : NULL }));
	isl_ast_expr_free(point.instance);
}

int dots_keep(struct emit *e, __isl_keep isl_ast_node *node, const struct loop_use *use, const struct range *range)
{
	struct search search = { .e = e, .around = use->mark };
	isl_ast_node *body = isl_ast_node_for_get_body(node);
	int names = -1;
	bool is_ahead;

	if (use->mark->kind == MARK_LOOP && !use->is_parallel && !use->is_vector && !range->is_single &&
	    use->mark->direction > 0)
		isl_ast_node_foreach_descendant_top_down(body, look_for_dot, &search);
	if (search.loop)
		expr_reads(search.dot.stage->value, look_at_access, &search);
	if (search.access && !is_written_below(e, node, search.access->array)) {
		is_ahead = range->step == 1 && runs_ahead(e, node, &search);
		names = block_open(e, "if (%s) {", affine_comparison(e->arena, &range->first, "<", &range->end).text);
		emit_kept(e, node, &search, is_ahead);
	}
	isl_ast_node_free(search.loop);
	isl_ast_node_free(body);
	return names;
}

void dots_release(struct emit *e, int names)
{
	if (names < 0)
		return;
	e->kept.n--;
	block_close(e, names);
}

const char *dot_kept(const struct emit *e, const struct access *access)
{
	for (int i = 0; e->vector && e->vector->index && i < e->kept.n; i++)
		if (e->kept.items[i].access == access)
			return arena_printf(e->arena, "%s[%s]", e->kept.items[i].name, e->vector->index);
	return NULL;
}

/* ---- several iterations at once ---- */

bool batch_is_made(const struct emit *e)
{
	return e->batch && e->batch->sums;
}

bool batch_leaves_out(const struct emit *e, __isl_keep isl_ast_node *node)
{
	return batch_is_made(e) && !ast_has_mark(node, MARK_ACCUMULATE, e->batch->stage);
}

/* Prints until it is known which variables nothing reads; this half of the iterations has its own. */
static void emit_half(struct emit *e, __isl_keep isl_ast_node *body)
{
	bool_list *outer = e->is_dead, is_dead = { 0 };
	int before;

	e->is_dead = &is_dead;
	do {
		struct writer scratch = writer_new(e->arena);

		before = n_true(&is_dead);
		e->n_bound = 0;
		print_elsewhere(e, &scratch, body);
	} while (n_true(&is_dead) > before && !e->failed);
	e->n_bound = 0;
	print_elsewhere(e, e->w, body);
	e->is_dead = outer;
}

/* The body of the loop, in which its dim is called `name`. What it binds counts once, as in a loop without batches. */
static void emit_body(struct emit *e, __isl_keep isl_ast_node *node, const char *name, const struct range *range,
		      const struct batch *batch)
{
	isl_ast_node *body = isl_ast_node_for_get_body(node);
	struct affine variable = affine_name(e->arena, name);
	struct scope scope = scope_enter(e);
	int bound = e->n_bound;

	iterator_push(e, node, &variable, 1);
	range_facts(e, range, &variable, 1);
	e->batch = batch;
	emit_half(e, body);
	e->n_bound = batch->sums ? bound : bound + e->n_bound;
	e->batch = NULL;
	scope_leave(e, scope);
	isl_ast_node_free(body);
}

/* Iterations behind the last one are made as the last one, and not used. */
static void emit_sums(struct emit *e, __isl_keep isl_ast_node *node, const struct range *range, const char *dim,
		      const char *first, struct batch batch)
{
	enum scalar_type type = batch.stage->write.array->sums;
	int visible = e->names.visible.n, names;
	const char *name;

	batch.sums = names_declare(&e->names, "sums");
	batch.place = names_declare(&e->names, "i");
	line(e->w, "pmg_vector_%s %s[PMG_DOTS] = PMG_NO_DOTS;", type_name(type), batch.sums);
	line(e->w, "PMG_UNROLL");
	names = block_open(e, "for (int64_t %s = 0; %s < PMG_DOTS; %s++) {", batch.place, batch.place, batch.place);
	name = names_declare(&e->names, dim);
	line(e->w, "const int64_t %s = PMG_UP_TO(%s + %s, %s);", name, first, batch.place,
	     affine_plain(e->arena, &range->last));
	emit_body(e, node, name, range, &batch);
	block_close(e, names);
	line(e->w, "PMG_SUM_DOTS_%s(%s, %s);", row_suffix(type), batch.dots, batch.sums);
	e->names.visible.n = visible;
}

bool emit_batches(struct emit *e, __isl_keep isl_ast_node *node, const struct loop_use *use,
		  const struct range *range)
{
	struct batch batch = { .stage = e->kept.items[e->kept.n - 1].ahead };
	const char *dim = use->mark->dim->name, *end = affine_plain(e->arena, &range->end), *first, *name;
	int outer, inner;

	if (!batch.stage)
		return false;
	first = names_declare(&e->names, arena_printf(e->arena, "%s_batch", dim));
	outer = block_open(e, "for (int64_t %s = %s; %s < %s; %s += PMG_DOTS) {", first,
			   affine_plain(e->arena, &range->first), first, end, first);
	batch.dots = names_declare(&e->names, "dots");
	line(e->w, "%s %s[PMG_DOTS];", type_c_name(batch.stage->write.array->sums), batch.dots);
	emit_sums(e, node, range, dim, first, batch);
	name = names_declare(&e->names, dim);
	inner = block_open(e, "for (int64_t %s = %s; %s < %s && %s < %s + PMG_DOTS; %s++) {", name, first, name, end,
			   name, first, name);
	batch.number = arena_printf(e->arena, "%s - %s", name, first);
	emit_body(e, node, name, range, &batch);
	block_close(e, inner);
	block_close(e, outer);
	return true;
}
