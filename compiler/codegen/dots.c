/* SPDX-License-Identifier: MIT
 *
 * Dot products: a vector loop of known length that adds to an accumulator adds vectors of runtime/pmgrt_row.h, two sums
 * in turn, and their lanes once. Factors that an enclosing loop does not move are read into vectors above that loop: C
 * compilers cannot do so where the loop stores something, since they do not see that it is stored elsewhere.
 *
 * Such a row is read if the enclosing loop has an iteration, below which no condition stands before the dot product:
 * then the dot product reads it too. No statement of the loop writes the array. The length is a multiple of the
 * longest vector's, so that no lane is added twice. */
#include "codegen/codegen_private.h"

enum { LONGEST = 12*64, VECTOR = 64 };  /* bytes of what is kept at most, and of the longest vector */

struct dot {
	const struct stage *stage;
	const struct mark *loop;        /* over the cells */
	int64_t length;
};

/* On a device, the vectors of the row are as long as a team. */
static bool fills_lanes(const struct emit *e, int64_t length)
{
	return !e->grid || (!e->grid->in_lanes && length % e->grid->team == 0);
}

/* Is this the loop of a dot product? `node` is isl's loop. */
static bool find_dot(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark, struct dot *dot)
{
	const struct stage *stage = mark->stage;
	enum scalar_type type = stage->write.array->type, sums = stage->write.array->sums;
	isl_ast_expr *instance = ast_first_instance(node, stage, false);
	int64_t bytes;
	bool is = instance && mark->kind == MARK_LOOP && mark->direction > 0 && stage->op == REDUCE_ADD &&
		  !stage->guard && type_is_float(type) && row_length(e, mark->dim, &dot->length) &&
		  expr_uses_dim(stage->value, mark_dim_number(mark)) &&
		  expr_is_vector(stage->value, mark_dim_number(mark), type);

	isl_ast_expr_free(instance);
	dot->stage = stage;
	dot->loop = mark;
	bytes = is ? dot->length*type_size(sums) : 0;
	return is && bytes > 0 && bytes <= LONGEST && bytes % VECTOR == 0 && fills_lanes(e, dot->length) &&
	       row_is_whole_loop(e, node, mark->dim);
}

bool emit_dot_loop(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use)
{
	int visible = e->names.visible.n;
	struct scope scope = scope_enter(e);
	struct row row = { 0 };
	struct point point;
	const char *sums, *type, *sum = use.is_vector && !use.is_parallel ? accumulator_of(e, use.mark->stage) : NULL;
	struct dot dot;

	if (!sum || !find_dot(e, node, use.mark, &dot))
		return false;
	type = type_name(dot.stage->write.array->sums);
	sums = names_declare(&e->names, "sums");
	line(e->w, "pmg_vector_%s %s[2] = { { 0 }, { 0 } };", type, sums);
	row = (struct row) { dot.stage, mark_dim_number(use.mark), dot.length, NULL, NULL };
	row.index = row_open(e, node, &row, true);
	point = (struct point) { row.stage, ast_first_instance(node, row.stage, false) };
	e->vector = &row;
	line(e->w, "%s[%s %% 2] += %s;", sums, row.index, c_expr(e, &point, row.stage->value).text);
	e->vector = NULL;
	close_block(e->w, "}");
	line(e->w, "%s += PMG_SUM_%s(%s);", sum, row_suffix(dot.stage->write.array->sums), sums);
	e->names.visible.n = visible;
	scope_leave(e, scope);
	isl_ast_expr_free(point.instance);
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

/* The loop over the cells below an ACCUMULATE mark. */
static void look_at_accumulate(struct search *search, __isl_take isl_ast_node *node)
{
	const struct mark *mark = NULL, *accumulate = mark_of(isl_ast_node_mark_get_id(node));
	bool is_vector = false;

	while (isl_ast_node_get_type(node) == isl_ast_node_mark) {
		isl_ast_node *below = isl_ast_node_mark_get_node(node);

		mark = mark_of(isl_ast_node_mark_get_id(node));
		is_vector = is_vector || mark->kind == MARK_VECTOR;
		isl_ast_node_free(node);
		node = below;
	}
	if (!search->loop && is_vector && mark->stage == accumulate->stage &&
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
	const struct mark *mark;

	if (isl_ast_node_get_type(node) == isl_ast_node_if)
		return isl_bool_false;
	if (isl_ast_node_get_type(node) != isl_ast_node_mark)
		return isl_bool_true;
	mark = mark_of(isl_ast_node_mark_get_id(node));
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

static void emit_kept(struct emit *e, __isl_keep isl_ast_node *node, const struct search *search)
{
	const struct access *access = search->access;
	const struct array *array = search->dot.stage->write.array;
	struct row row = { search->dot.stage, mark_dim_number(search->dot.loop), search->dot.length, NULL, NULL };
	struct point point = { row.stage, ast_first_instance(node, row.stage, false) };
	const char *name = names_declare(&e->names, arena_printf(e->arena, "%s_row", access->array->c_name)), *j;
	struct scope scope = scope_enter(e);
	int visible = e->names.visible.n;

	line(e->w, "pmg_vector_%s %s[PMG_VECTORS(%s, %s)];", type_name(array->sums), name, type_c_name(array->sums),
	     int_text(e->arena, row.length));
	j = row_open(e, search->loop, &row, true);
	e->vector = &row;
	line(e->w, "%s[%s] = %s;", name, j, row_read(e, access, c_access(e, &point, access)));
	e->vector = NULL;
	block_close(e, visible);
	scope_leave(e, scope);
	vec_push(e->arena, &e->kept, ((struct kept) { access, name }));
	isl_ast_expr_free(point.instance);
}

int dots_keep(struct emit *e, __isl_keep isl_ast_node *node, const struct loop_use *use, const struct range *range)
{
	struct search search = { .e = e, .around = use->mark };
	isl_ast_node *body = isl_ast_node_for_get_body(node);
	int names = -1;

	if (use->mark->kind == MARK_LOOP && !use->is_parallel && !use->is_vector && !range->is_single &&
	    use->mark->direction > 0)
		isl_ast_node_foreach_descendant_top_down(body, look_for_dot, &search);
	if (search.loop)
		expr_reads(search.dot.stage->value, look_at_access, &search);
	if (search.access && !is_written_below(e, node, search.access->array)) {
		names = block_open(e, "if (%s) {", affine_comparison(e->arena, &range->first, "<", &range->end).text);
		emit_kept(e, node, &search);
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
