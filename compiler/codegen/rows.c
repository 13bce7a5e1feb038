/* SPDX-License-Identifier: MIT
 *
 * Rows of accumulators: the cells of a target below a ROW mark that lie along one dim. On a device they are kept in
 * vectors of runtime/pmgrt_row.h: the loop over the cells becomes one over vectors, and so do its reads, which lie
 * along the dim as the cells do. For a processor the loop is built as it is, and a lowering keeps the row
 * (kernel/lower/rows.c). Where the length of the row is not known, in the copy of a kernel for sizes that it was not
 * specialised for, nothing is kept, and where isl made of the loops something else than they were. The row is read and
 * written only if the loop between has an iteration: other cells may be another thread's. If they may be in any case,
 * the row begins with the neutral element, and its cells are updated atomically, unless they are a part's alone
 * (row_parts.c). */
#include "codegen/codegen_private.h"

/* ---- the length ---- */

static bool known_value(const struct emit *e, const struct expr *expr, int64_t *value)
{
	return (expr->kind != EXPR_PARAM || e->function.is_specialized) && expr_is_known(e->module, expr, value);
}

bool row_length(const struct emit *e, const struct dim *dim, int64_t *length)
{
	int64_t lo, hi;

	if (!known_value(e, dim->lo, &lo) || !known_value(e, dim->hi, &hi))
		return false;
	*length = hi - lo;
	return true;
}

/* ---- the loop over the cells in isl's AST ---- */

bool row_is_loop(const struct mark *mark, const struct stage *stage, int dim)
{
	return mark->kind == MARK_LOOP && mark_dim_number(mark) == dim &&
	       (mark->stage == stage || (mark->stage->group == stage->group && dim < stage->group->n_common));
}

struct search {
	const struct mark *row;
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

/* ---- vectors ---- */

const char *row_suffix(enum scalar_type type)
{
	return type == TYPE_F32 ? "F32" : "F64";
}

/* Behind the name of what reads or writes cells of a type: cells of doubles as floats. */
static const char *narrowing(enum scalar_type cells, enum scalar_type row)
{
	return cells != row ? "_TO_F32" : "";
}

bool row_is_along(const struct emit *e, const struct access *access)
{
	return e->rows.vector && access_uses_dim(access, e->rows.vector->dim);
}

struct k_expr *row_read(struct emit *e, const struct access *access, struct k_expr *element)
{
	static const char *const readers[] = {
		[STORAGE_F64] = "", [STORAGE_F32] = "_AS_F32", [STORAGE_F64TOP] = "_AS_TOP"
	};
	const enum scalar_type sums = e->rows.vector->stage->write.array->sums;
	struct k_expr *kept = dot_kept(e, access);

	if (kept)
		return kept;
	return k_call(e->arena, arena_printf(e->arena, "PMG_READ_%s%s%s", row_suffix(access->array->type),
					     readers[access->array->storage], narrowing(access->array->type, sums)),
		      1, element);
}

/* The first cell of vector number `j`. */
static struct k_expr *start_of(struct emit *e, const struct row *row, const char *j)
{
	struct k_expr *type = c_type(e->arena, row->stage->write.array->sums);
	const char *macro = row->is_shared ? "PMG_SHARE_START" : "PMG_VECTOR_START";
	struct affine start = affine_atom(e->arena, K_CALL(e->arena, macro, type, k_int(e->arena, row->length),
							   k_name(e->arena, j)));
	struct affine lo = affine_of_expr(e, NULL, row->stage->dims.items[row->dim].lo);

	start = affine_combine(e->arena, 1, &start, 1, &lo);
	return affine_expr(e->arena, &start);
}

const char *row_open(struct emit *e, __isl_keep isl_ast_node *loop, const struct row *row, bool needs_cell)
{
	struct k_expr *type = c_type(e->arena, row->stage->write.array->sums);
	const char *j = names_declare(&e->names, "j");
	const char *t = names_declare(&e->names, row->stage->dims.items[row->dim].name);
	struct k_expr *n = K_CALL(e->arena, row->is_shared ? "PMG_SHARES" : "PMG_VECTORS", type,
				  k_int(e->arena, row->length));
	struct affine variable = affine_name(e->arena, t);

	k_begin_for(e->b, "int64_t", j, k_int(e->arena, 0), n, NULL)->loop.kind = K_LOOP_UNROLLED;
	if (needs_cell)
		k_const(e->b, k_scalar("int64_t"), t, start_of(e, row, j));
	iterator_push(e, loop, &variable, 1);
	return j;
}

void row_array(struct emit *e, enum scalar_type type, const char *name, int64_t length)
{
	const char *vector = arena_printf(e->arena, "pmg_vector_%s", type_name(type));

	k_array(e->b, k_scalar(vector), name,
		K_CALL(e->arena, "PMG_VECTORS", c_type(e->arena, type), k_int(e->arena, length)), NULL);
}

struct k_expr *row_vector(struct emit *e, const struct row *row, const char *j)
{
	return k_at(e->arena, row->name, k_name(e->arena, j));
}

struct k_expr *row_is_own(struct emit *e, const struct row *row, const char *j)
{
	return K_CALL(e->arena, "PMG_VECTOR_IS_OWN", k_int(e->arena, row->length), k_name(e->arena, j));
}

bool row_fills_team(const struct emit *e, int64_t length)
{
	return length % (e->grid->team.group*e->grid->team.width) == 0;
}

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

/* Sums to the cells, those of several groups by the group that has them. */
static void emit_row_update(struct emit *e, const struct row *row, const char *j, struct k_expr *cell)
{
	const char *suffix = target_is_neutral(e, row->stage) ? "_first" : "";
	const char *operation = device_operation(row->stage->op);
	const char *function = runtime_name(e, arena_printf(e->arena, "row_%s%s", operation, suffix));
	struct k_expr *type = c_type(e->arena, row->stage->write.array->sums), *sums = row_vector(e, row, j);

	if (row->is_shared) {
		k_only_if(e->b, K_CALL(e->arena, "PMG_SHARE_IS_OWN", type, k_int(e->arena, row->length),
				       k_name(e->arena, j)));
		sums = k_with_constant(e->arena, K_CALL(e->arena, runtime_name(e, "begin"), sums),
				       k_name(e->arena, "PMG_SHARE_CELLS"));
	} else if (!row_fills_team(e, row->length)) {
		k_only_if(e->b, row_is_own(e, row, j));
	}
	k_do(e->b, K_CALL(e->arena, function, k_address(e->arena, cell), sums, row->is_alone));
}

enum transfer { TRANSFER_READ, TRANSFER_WRITE, TRANSFER_START, TRANSFER_UPDATE };

/* A macro of vectors: PMG_READ_F64_TO_F32. */
static const char *transfer_macro(struct emit *e, const char *word, enum scalar_type type, const char *of)
{
	return arena_printf(e->arena, "PMG_%s_%s%s", word, row_suffix(type), of);
}

static void print_transfer(struct emit *e, const struct row *row, enum transfer transfer, const char *j,
			   struct k_expr *cell)
{
	const struct array *array = row->stage->write.array;
	const char *of = narrowing(array->type, array->sums);
	struct k_expr *vector = row_vector(e, row, j);

	switch (transfer) {
	case TRANSFER_READ:
		k_set(e->b, vector, K_CALL(e->arena, transfer_macro(e, "READ", array->type, of), cell));
		break;
	case TRANSFER_WRITE:
		if (!row_fills_team(e, row->length))
			k_only_if(e->b, row_is_own(e, row, j));
		k_set(e->b, K_CALL(e->arena, transfer_macro(e, "WRITE", array->type, of), cell),
		      array->type != array->sums ? K_CALL(e->arena, "PMG_WIDEN", vector) : vector);
		break;
	case TRANSFER_START:
		k_set(e->b, vector, K_CALL(e->arena, transfer_macro(e, "FILL", array->sums, ""),
					   c_identity(e->arena, row->stage->op, array->sums)));
		break;
	case TRANSFER_UPDATE:
		emit_row_update(e, row, j, cell);
		break;
	}
}

/* Reads the row from its cells, writes it, or starts it anew and brings it to its cells. */
static void emit_transfer(struct emit *e, __isl_keep isl_ast_node *below, __isl_keep isl_ast_node *loop,
			  const struct row *row, enum transfer transfer)
{
	int visible = e->names.visible.n;
	struct point point = { row->stage, ast_instance_below(below, row->stage, false) };
	struct scope scope = scope_enter(e);
	const char *j = row_open(e, loop, row, transfer != TRANSFER_START);

	print_transfer(e, row, transfer, j, c_target(e, row->stage, &point));
	k_end(e->b);
	scope_leave(e, scope);
	e->names.visible.n = visible;
}

static const struct row *row_of_loop(const struct emit *e, const struct mark *mark)
{
	for (int i = e->rows.list.n - 1; i >= 0; i--)
		if (row_is_loop(mark, e->rows.list.items[i].stage, e->rows.list.items[i].dim))
			return &e->rows.list.items[i];
	return NULL;
}

/* Vectors are made of the loop by a lowering (kernel/lower/rows.c). */
static void emit_plain_loop(struct emit *e, __isl_keep isl_ast_node *node, const struct row *row)
{
	const struct array *array = row->stage->write.array;
	const struct range range = range_of(e, node, 1);
	const char *t = names_declare(&e->names, row->stage->dims.items[row->dim].name);
	struct affine variable = affine_name(e->arena, t);
	struct point point = { row->stage, ast_instance_below(node, row->stage, false) };
	struct k_loop *loop = &open_for(e, &range, t, 1)->loop;

	loop->kind = K_LOOP_SIMD;
	loop->row = (struct k_row) { k_int(e->arena, row->length), array->sums != array->type };
	iterator_push(e, node, &variable, 1);
	emit_update(e, &(struct update) { .op = row->stage->op, .type = array->type,
					  .target = c_target(e, row->stage, &point),
					  .value = c_expr(e, &point, row->stage->value) });
}

bool emit_row_loop(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark)
{
	const struct row *row = row_of_loop(e, mark);
	int visible = e->names.visible.n;
	const char *j;
	struct scope scope = scope_enter(e);
	struct point point;

	if (!row)
		return false;
	if (!e->grid) {
		emit_plain_loop(e, node, row);
		block_close(e, visible);
		scope_leave(e, scope);
		return true;
	}
	j = row_open(e, node, row, expr_uses_dim(row->stage->value, row->dim));
	point = (struct point) { row->stage, ast_instance_below(node, row->stage, false) };
	e->rows.vector = row;
	emit_update(e, &(struct update) { .op = row->stage->op, .type = row->stage->write.array->sums,
					  .target = row_vector(e, row, j),
					  .value = c_expr(e, &point, row->stage->value) });
	e->rows.vector = NULL;
	block_close(e, visible);
	scope_leave(e, scope);
	return true;
}

/* ---- the row ---- */

/* Is the loop directly below one of which each lane has an iteration? */
static bool is_of_warp_loop(const struct emit *e, __isl_keep isl_ast_node *node)
{
	const struct mark *mark = ast_mark(node);

	return mark->kind == MARK_LOOP && loop_is_of_warp(e, mark);
}

/* What the groups of a team have added goes to the shares of the groups. */
static void emit_share(struct emit *e, const struct row *row)
{
	struct k_expr *call = K_CALL(e->arena, runtime_name(e, "share"), k_name(e->arena, row->name));

	k_with_constant(e->arena, call, k_name(e->arena, "pmg_team"));
	k_with_constant(e->arena, call, k_name(e->arena, "pmg_group"));
	k_with_constant(e->arena, call, spread_operation(e, row->stage->op));
	k_do(e->b, call);
}

/* Sums to the cells of a row that began with the neutral element. What other sums are in stays where nothing is added,
 * and is not read. */
static void emit_sums_to_cells(struct emit *e, __isl_keep isl_ast_node *node, __isl_keep isl_ast_node *loop,
			       struct row *row)
{
	if (row->added)
		k_begin_if(e->b, k_name(e->arena, row->added));
	row->is_shared = e->grid->has_warp_loops;
	if (row->is_shared)
		emit_share(e, row);
	emit_transfer(e, node, loop, row, TRANSFER_UPDATE);
	if (row->added)
		k_end(e->b);
}

static void emit_below(struct emit *e, __isl_keep isl_ast_node *node, const struct row *row)
{
	vec_push(e->arena, &e->rows.list, *row);
	emit_node(e, node, (struct loop_use) { 0 });
	e->rows.list.n--;
	note_write(e, row->stage->write.array);
}

/* The row, read before what is below and brought to its cells behind it; or updates are added to it. */
static void emit_in_registers(struct emit *e, __isl_keep isl_ast_node *node, __isl_keep isl_ast_node *loop,
			      struct row *row, bool starts_anew)
{
	const bool is_atomic = ast_has_mark(node, MARK_ATOMIC, row->stage);
	enum scalar_type sums = row->stage->write.array->sums;

	row_array(e, sums, row->name, row->length);
	if (starts_anew)
		row->is_alone = is_atomic ? row_is_alone(e, node, row->stage, row->dim) : k_bool(e->arena, true);
	emit_transfer(e, node, loop, row, starts_anew ? TRANSFER_START : TRANSFER_READ);
	if (!starts_anew && !row_fills_team(e, row->length))
		emit_team_sync(e);      /* the last cells are read by several lanes */
	if (is_of_warp_loop(e, node) && !target_is_neutral(e, row->stage)) {
		row->added = names_declare(&e->names, "added");
		k_var(e->b, k_scalar("unsigned"), row->added, k_int(e->arena, 0));
	}
	emit_below(e, node, row);
	if (starts_anew)
		emit_sums_to_cells(e, node, loop, row);
	else
		emit_transfer(e, node, loop, row, TRANSFER_WRITE);
	emit_team_sync(e);
}

static void emit_kept(struct emit *e, __isl_keep isl_ast_node *node, __isl_keep isl_ast_node *loop, struct row *row)
{
	bool starts_anew = ast_has_mark(node, MARK_ATOMIC, row->stage);

	if (is_of_warp_loop(e, node))
		starts_anew = true;
	else
		warp_loop_breaks_beside(e);
	row->name = names_declare(&e->names, arena_printf(e->arena, "%s_row", row->stage->write.array->c_name));
	emit_in_registers(e, node, loop, row, starts_anew);
}

/* The condition under which the loop directly below runs; NULL: there is none. */
static struct k_expr *runs_condition(struct emit *e, __isl_keep isl_ast_node *node)
{
	const struct mark *mark = ast_mark(node);
	isl_ast_node *loop = ast_below(node);
	struct k_expr *condition = NULL;
	struct range range;

	if (mark_is_loop(mark) && isl_ast_node_get_type(loop) == isl_ast_node_for) {
		range = range_of(e, loop, mark->direction);
		if (!range.is_single && mark->direction > 0)
			condition = affine_comparison(e->arena, &range.first, K_LT, &range.end);
		else if (!range.is_single)
			condition = affine_comparison(e->arena, &range.last, K_LE, &range.first);
	}
	return condition;
}

void emit_row(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark)
{
	struct search search = { mark, NULL, 0 };
	struct row row = { .stage = mark->stage, .dim = mark_dim_number(mark) };
	struct k_expr *condition = NULL;
	int names;

	if (row_length(e, mark->dim, &row.length) && isl_ast_node_get_type(node) == isl_ast_node_mark &&
	    (e->grid || !ast_has_mark(node, MARK_ATOMIC, mark->stage))) {
		isl_ast_node_foreach_descendant_top_down(node, find_loop, &search);
		condition = runs_condition(e, node);
	}
	if (search.n != 1 || !condition || !row_is_whole_loop(e, search.loop, mark->dim)) {
		emit_node(e, node, (struct loop_use) { 0 });
	} else if (!e->grid) {
		emit_below(e, node, &row);
	} else if (row_sets_cells(e, node, mark, row.length)) {
		emit_kept(e, node, search.loop, &row);
	} else {
		names = block_of(e, k_begin_if(e->b, condition));
		emit_kept(e, node, search.loop, &row);
		block_close(e, names);
	}
}
