/* SPDX-License-Identifier: MIT
 *
 * Copies of a few rows of a block (a window of them, passes/map/blocks.c): those that a loop over rows is at. Where it
 * comes to others, they are brought there, for all arrays that are read in one loop together; then a pointer to the row
 * of each is declared, which what reads it uses. A loop that runs row by row is one over windows around one over the
 * rows of each. Where isl made several loops of one, or took an iteration out, each array is looked after by itself:
 * its rows may come in any order.
 *
 * A result whose rows are complete when a loop over them, upwards or downwards, has been there goes to its place window
 * by window as well, while the rows are in the nearest cache; the block keeps all of them, for what reads them later.
 * Its windows end where lines of the place do, if stores to it are non-temporal. */
#include "codegen/codegen_private.h"
#include "ir/match/block.h"

/* ---- which loop reads an array ---- */

struct search {
	const struct emit *e;
	const struct array *array;
	int n_loops, n_found, last;     /* loops over it; those that read the array, the last one's number */
	int n_inside;                   /* statements that do so there */
};

bool rows_are_of(const struct emit *e, const struct mark *loop)
{
	return e->block.mark && loop->kind == MARK_LOOP && mark_dim_number(loop) == block_row_level(e->block.mark);
}

static void count_reader(struct stage *stage, void *user)
{
	struct search *search = user;

	search->n_inside += stage_reads_array(stage, search->array);
}

static int n_readers(__isl_keep isl_ast_node *node, const struct array *array)
{
	struct search search = { .array = array };

	ast_each_stage(node, count_reader, &search);
	return search.n_inside;
}

/* Of segments, a loop with one iteration is none: its row may be another one in each lane. */
static bool is_walkable(const struct search *search, __isl_keep isl_ast_node *loop)
{
	return isl_ast_node_get_type(loop) == isl_ast_node_for &&
	       (!search->e->variable_length || isl_ast_node_for_is_degenerate(loop) == isl_bool_false);
}

static isl_bool look_at_loop(__isl_keep isl_ast_node *node, void *user)
{
	struct search *search = user;
	const struct mark *mark = ast_mark(node);
	isl_ast_node *loop;
	int n;

	if (!mark || !rows_are_of(search->e, mark))
		return isl_bool_true;
	loop = ast_below(node);
	n = is_walkable(search, loop) ? n_readers(loop, search->array) : 0;
	search->n_inside += n;
	search->n_found += n > 0;
	search->last = n > 0 ? search->n_loops : search->last;
	search->n_loops++;
	return isl_bool_true;
}

/* The number of the loop that has all that read the array; -1: there is none. */
static int loop_of(const struct emit *e, __isl_keep isl_ast_node *body, const struct array *array)
{
	struct search search = { .e = e, .array = array };

	isl_ast_node_foreach_descendant_top_down(body, look_at_loop, &search);
	return search.n_found == 1 && search.n_inside == n_readers(body, array) ? search.last : -1;
}

/* Where isl has taken rows out of the loop all the same, segments are copied as a whole. */
void rows_resolve(struct emit *e, __isl_keep isl_ast_node *body)
{
	for (int i = 0; i < e->block.mark->arrays.n; i++) {
		struct array *copy = e->block.mark->arrays.items[i];

		if (copy->stored.window && copy->segments && loop_of(e, body, copy->owner) < 0)
			copy->stored.window = 0;
	}
}

/* ---- the rows that are there ---- */

static const struct block_rows *of_loop(const struct emit *e, int loop)
{
	for (int i = 0; i < e->windows.rows.n && loop >= 0; i++)
		if (e->windows.rows.items[i].loop == loop)
			return &e->windows.rows.items[i];
	return NULL;
}

struct block_rows *rows_declare(struct emit *e, __isl_keep isl_ast_node *body, const struct array *copy)
{
	struct block_rows rows = { .copy = copy, .loop = loop_of(e, body, copy->owner) };
	const struct block_rows *other = of_loop(e, rows.loop);

	if (other) {
		rows.begin = other->begin;
		rows.end = other->end;
		rows.height = other->height;
	} else {
		rows.begin = names_declare(&e->names, "begin");
		rows.end = names_declare(&e->names, "end");
		rows.height = names_declare(&e->names, "height");
		k_var(e->b, k_scalar("int64_t"), rows.begin, k_int(e->arena, 0));
		k_var(e->b, k_scalar("int64_t"), rows.end, k_int(e->arena, 0))->let.is_joined = true;
	}
	rows.rows = names_declare(&e->names, arena_printf(e->arena, "%s_rows", copy->owner->c_name));
	k_var(e->b, k_buffer(type_c_name(copy->type), true, false), rows.rows, k_name(e->arena, copy->c_name));
	vec_push(e->arena, &e->windows.rows, rows);
	return &e->windows.rows.items[e->windows.rows.n - 1];
}

/* ---- where a loop is ---- */

static bool is_visible(const struct emit *e, const struct block_row *at)
{
	return at->place < e->names.visible.n && e->names.visible.items[at->place] == at->name;
}

static bool is_same(const struct emit *e, const struct affine *a, const struct affine *b)
{
	struct affine above = affine_combine(e->arena, 1, a, -1, b), below = affine_combine(e->arena, 1, b, -1, a);

	return affine_is_equal(e->arena, a, b) || (facts_imply(e->module->ctx, e->arena, &e->facts, &above) &&
						   facts_imply(e->module->ctx, e->arena, &e->facts, &below));
}

/* The name of the row, if it is there; NULL. */
static const char *find_row(const struct emit *e, const struct array *copy, const struct affine *row)
{
	for (int i = e->windows.found.n - 1; i >= 0; i--)
		if (e->windows.found.items[i].copy == copy && is_visible(e, &e->windows.found.items[i]) &&
		    is_same(e, &e->windows.found.items[i].row, row))
			return e->windows.found.items[i].name;
	return NULL;
}

static void push_row(struct emit *e, const struct block_row *row)
{
	while (e->windows.found.n && !is_visible(e, &e->windows.found.items[e->windows.found.n - 1]))
		e->windows.found.n--;
	vec_push(e->arena, &e->windows.found, *row);
}

static struct affine row_of(struct emit *e, const struct array *copy, const struct point *point,
			    const struct access *access)
{
	struct affine lo = affine_of_expr(e, NULL, copy->lo[copy->stored.windowed]);
	struct affine row = affine_of_expr(e, point, access->subs[copy->stored.windowed]), begin;

	if (copy->segments) {
		begin = affine_atom(e->arena, e->variable_length->begin);
		row = affine_combine(e->arena, 1, &row, -1, &begin);
	}
	return affine_combine(e->arena, 1, &row, -1, &lo);
}

/* The row of what is read below; false: nothing is. */
static bool row_below(struct emit *e, __isl_keep isl_ast_node *node, const struct block_rows *rows, struct affine *row)
{
	struct finding found = find_part(node, rows->copy->owner);
	struct point point = { found.stage, found.instance };

	if (found.stage)
		*row = row_of(e, rows->copy, &point, found.access);
	return found.stage;
}

/* row + PMG_PREFETCH_WINDOW; downwards, before it. */
static struct k_expr *window_ahead(const struct emit *e, const char *row, int direction)
{
	return k_binary(e->arena, direction > 0 ? K_ADD : K_SUB, k_name(e->arena, row),
			k_name(e->arena, "PMG_PREFETCH_WINDOW"));
}

/* The row that a window prefetches, unless the loop itself prefetches lines of the next block. */
static struct k_expr *row_ahead(struct emit *e, const struct block_rows *rows, int direction)
{
	struct k_expr *row = window_ahead(e, rows->begin, direction);
	const char *distance = rows->copy->segments ? NULL : prefetch_distance(e, rows->copy);

	return distance ? K_CALL(e->arena, "pmg_prefetch_window_row", k_name(e->arena, distance), row) : row;
}

static void emit_fill(struct emit *e, const struct block_rows *rows, int direction)
{
	if (rows->ahead)
		k_set(e->b, k_name(e->arena, rows->rows),
		      K_WITH(e->arena, rows->fill, row_ahead(e, rows, direction), rows->ahead));
	else
		k_do(e->b, rows->fill);
}

/* All rows with the same borders move together. */
static void emit_fills(struct emit *e, const struct block_rows *first, int direction)
{
	for (int i = 0; i < e->windows.rows.n; i++)
		if (e->windows.rows.items[i].begin == first->begin)
			emit_fill(e, &e->windows.rows.items[i], direction);
}

static void emit_move(struct emit *e, const struct block_rows *first, const struct affine *row)
{
	struct arena *arena = e->arena;
	struct k_expr *at = affine_expr(arena, row), *begin = k_name(arena, first->begin);
	struct k_expr *end = k_name(arena, first->end), *height = k_name(arena, "PMG_ROWS");
	struct k_expr *window = k_operate(arena, at, K_DIV, height);

	k_begin_if(e->b, k_binary(arena, K_OR, k_binary(arena, K_LT, at, begin), k_binary(arena, K_GE, at, end)));
	k_set(e->b, begin, k_binary(arena, K_MUL, window, height));
	k_set(e->b, end, K_CALL(arena, "pmg_min_i64", k_binary(arena, K_ADD, begin, height), first->n_rows));
	emit_fills(e, first, 1);
	k_end(e->b);
}

static void emit_row_name(struct emit *e, const struct block_rows *rows, const struct affine *row)
{
	struct block_row there = { .copy = rows->copy, .row = *row };
	struct affine begin = affine_name(e->arena, rows->begin), at = affine_combine(e->arena, 1, row, -1, &begin);

	at = affine_scale(e->arena, &at, rows->copy->stored.lanes, 0);
	there.place = e->names.visible.n;
	there.name = names_declare(&e->names, arena_printf(e->arena, "%s_row", rows->copy->owner->c_name));
	k_var(e->b, k_buffer(type_c_name(rows->copy->type), true, false), there.name,
	      k_address(e->arena, k_at(e->arena, rows->rows, affine_expr(e->arena, &at))));
	push_row(e, &there);
}

void rows_enter(struct emit *e, __isl_keep isl_ast_node *node)
{
	const char *moved = NULL;
	struct affine row;

	for (int i = 0; e->block.mark && !e->block.in_lanes && i < e->windows.rows.n; i++) {
		const struct block_rows *rows = &e->windows.rows.items[i];

		if (!row_below(e, node, rows, &row) || find_row(e, rows->copy, &row))
			continue;
		if (rows->begin != moved && rows->begin != e->windows.walked)
			emit_move(e, rows, &row);
		moved = rows->begin;
		emit_row_name(e, rows, &row);
	}
}

/* ---- a loop over rows, window by window ---- */

/* Of those that the loop over `variable` reads, the first, if all are at the loop's row; NULL. */
static const struct block_rows *rows_of_loop(struct emit *e, __isl_keep isl_ast_node *body, const char *variable)
{
	const struct affine here = affine_name(e->arena, variable);
	const struct block_rows *first = NULL;
	struct affine row;

	for (int i = 0; i < e->windows.rows.n; i++) {
		const struct block_rows *rows = &e->windows.rows.items[i];

		if (!row_below(e, body, rows, &row))
			continue;
		if (rows->loop < 0 || !affine_is_equal(e->arena, &row, &here))
			return NULL;
		first = first ? first : rows;
	}
	return first;
}

/* pmg_block_lies(&plan->places[3], 16, lanes) && …: is nothing copied? NULL: something always is. */
static struct k_expr *none_is_copied(struct emit *e, const struct block_rows *first)
{
	struct k_expr *all = NULL;

	for (int i = 0; i < e->windows.rows.n; i++) {
		const struct block_rows *rows = &e->windows.rows.items[i];

		if (rows->begin == first->begin && !rows->is_in_place)
			return NULL;
		if (rows->begin == first->begin)
			all = k_join(e->arena, K_AND, all, rows->is_in_place);
	}
	return all;
}

/* How many rows a window has: all of them where nothing is copied. */
static struct k_expr *declare_height(struct emit *e, const struct block_rows *first)
{
	struct k_expr *all = none_is_copied(e, first), *few = k_name(e->arena, "PMG_ROWS");

	if (!all)
		return few;
	k_const(e->b, k_scalar("int64_t"), first->height, k_select(e->arena, all, first->n_rows, few));
	return k_name(e->arena, first->height);
}

/* for (…; begin < bound; begin = end) {, or, downwards, for (…; end > bound; end = begin) {: what it begins with is
 * left to the caller. */
static struct k_block *open_windows(struct emit *e, struct k_expr *begin, struct k_expr *end, struct k_expr *bound,
				    int direction)
{
	struct k_expr *from = direction > 0 ? begin : end, *to = direction > 0 ? end : begin;
	struct k_stmt *stmt = k_begin_while(e->b, k_binary(e->arena, direction > 0 ? K_LT : K_GT, from, bound));

	stmt->repeat.after = k_store_of(e->arena, K_OP_N, from, to);
	return &stmt->repeat.before;
}

static void emit_windows(struct emit *e, const struct block_rows *rows, const struct range *range, int direction)
{
	struct arena *arena = e->arena;
	struct k_expr *height = declare_height(e, rows), *begin = k_name(arena, rows->begin);
	struct k_expr *end = k_name(arena, rows->end);
	struct k_expr *bound = affine_expr(arena, direction > 0 ? &range->end : &range->last);
	const struct affine first = affine_scale(arena, &range->first, 1, direction > 0 ? 0 : 1);
	struct k_block *before = open_windows(e, begin, end, bound, direction);

	vec_push(arena, &before->stmts, k_store_of(arena, K_OP_N, direction > 0 ? begin : end,
						   affine_expr(arena, &first)));
	if (direction > 0)
		k_set(e->b, end, K_CALL(arena, "pmg_min_i64", k_binary(arena, K_ADD, begin, height), bound));
	else
		k_set(e->b, begin, K_CALL(arena, "pmg_max_i64", k_binary(arena, K_SUB, end, height), bound));
	emit_fills(e, rows, direction);
}

bool rows_walk(struct emit *e, __isl_keep isl_ast_node *body, const char *variable, struct range *range, int direction)
{
	const struct block_rows *rows = rows_of_loop(e, body, variable);
	struct affine begin, end;

	if (!rows)
		return false;
	emit_windows(e, rows, range, direction);
	begin = affine_name(e->arena, rows->begin);
	end = affine_name(e->arena, rows->end);
	range->first = direction > 0 ? begin : affine_scale(e->arena, &end, 1, -1);
	range->last = direction > 0 ? affine_scale(e->arena, &end, 1, -1) : begin;
	range->end = direction > 0 ? end : affine_scale(e->arena, &begin, 1, -1);
	e->windows.walked = rows->begin;
	return true;
}

void rows_walk_end(struct emit *e)
{
	k_end(e->b);
	e->windows.walked = NULL;
}

/* ---- results, window by window ---- */

struct affine rows_end(struct emit *e, const struct range *range, int direction)
{
	return direction > 0 ? range->end : affine_scale(e->arena, &range->first, 1, 1);
}

/* for (int64_t begin = 0, end; begin < n; begin = end) {, or, downwards,
 * for (int64_t begin, end = n; end > 0; end = begin) { */
static void open_put_windows(struct emit *e, const struct block_result *result, int direction)
{
	const bool is_up = direction > 0;
	const struct k_type type = k_scalar("int64_t");
	struct k_expr *zero = k_int(e->arena, 0), *n_rows = affine_expr(e->arena, &result->n_rows);
	struct k_stmt *begin = k_let_of(e->arena, type, result->begin, is_up ? zero : NULL);
	struct k_stmt *end = k_let_of(e->arena, type, result->end, is_up ? NULL : n_rows);
	struct k_block *before = open_windows(e, k_name(e->arena, result->begin), k_name(e->arena, result->end),
					      is_up ? n_rows : zero, direction);

	end->let.is_joined = true;
	vec_push(e->arena, &before->stmts, begin);
	vec_push(e->arena, &before->stmts, end);
}

/* The other border of the window: over all rows, those of the loop among them, from the first or, downwards, from the
 * last. */
static void emit_put_border(struct emit *e, const struct block_result *result, int direction)
{
	const bool is_up = direction > 0;
	const char *from = is_up ? result->begin : result->end, *to = is_up ? result->end : result->begin;
	struct k_expr *call = K_CALL(e->arena, typed_function(e, is_up ? "pmg_put_end" : "pmg_put_begin",
							      result->copy->type), k_name(e->arena, from));

	call = k_with_list(e->arena, call, result->place);
	if (is_up)
		call = K_WITH(e->arena, call, affine_expr(e->arena, &result->n_rows));
	k_set(e->b, k_name(e->arena, to), call);
}

void rows_put_open(struct emit *e, struct block_result *result, struct range *range, int direction)
{
	const struct affine all = rows_end(e, range, direction);

	result->begin = names_declare(&e->names, "begin");
	result->end = names_declare(&e->names, "end");
	open_put_windows(e, result, direction);
	emit_put_border(e, result, direction);
	range->end = affine_name(e->arena, result->end);
	if (!affine_is_equal(e->arena, &all, &result->n_rows)) {
		const char *behind = names_declare(&e->names, "behind");

		range->end = affine_name(e->arena, behind);
		k_const(e->b, k_scalar("int64_t"), behind,
			K_CALL(e->arena, "pmg_min_i64", k_name(e->arena, result->end), affine_expr(e->arena, &all)));
	}
	range->first = affine_name(e->arena, result->begin);
	range->last = affine_scale(e->arena, &range->end, 1, -1);
	if (direction < 0) {
		const struct affine first = range->first;

		range->first = range->last;
		range->last = first;
		range->end = affine_scale(e->arena, &first, 1, -1);
	}
}

void rows_put_close(struct emit *e, struct block_result *result, int direction)
{
	struct k_expr *call = K_CALL(e->arena, typed_function(e, "pmg_block_put_rows", result->copy->type),
				     k_name(e->arena, result->copy->c_name));
	const char *at = direction > 0 ? result->begin : result->end;

	call = k_with_list(e->arena, call, result->place);
	k_do(e->b, K_WITH(e->arena, call, k_name(e->arena, result->begin), k_name(e->arena, result->end),
			  window_ahead(e, at, direction), affine_expr(e->arena, &result->n_rows)));
	k_end(e->b);
	result->is_put = true;
}

struct k_expr *rows_access(struct emit *e, const struct point *point, const struct access *access)
{
	const struct array *copy = block_array(e, access->array);
	const char *name;
	struct affine row;

	if (copy->role != ROLE_BLOCK || !copy->stored.window)
		return NULL;
	row = row_of(e, copy, point, access);
	name = e->variable_length && !e->variable_length->is_resolved ? copy->c_name : find_row(e, copy, &row);
	if (!name) {
		emit_fail(e, "a row of '%s' is read where it was not looked up", copy->owner->name);
		name = copy->c_name;
	}
	return k_at(e->arena, name, k_name(e->arena, e->block.lane));
}
