/* SPDX-License-Identifier: MIT
 *
 * Copies of a few rows of a block (a window of them, passes/blocks.c): those that a loop over rows is at. Where it
 * comes to others, they are brought there, for all arrays that are read in one loop together; then a pointer to the row
 * of each is declared, which what reads it uses. A loop that runs row by row is one over windows around one over the
 * rows of each. Where isl made several loops of one, or took an iteration out, each array is looked after by itself:
 * its rows may come in any order.
 *
 * A result whose rows are complete when a loop over them, upwards or downwards, has been there goes to its place window
 * by window as well, while the rows are in the nearest cache; the block keeps all of them, for what reads them later.
 * Its windows end where lines of the place do, if those go past the caches. */
#include "codegen/codegen_private.h"
#include "ir/block.h"

/* ---- which loop reads an array ---- */

struct search {
	const struct emit *e;
	const struct array *array;
	int n_loops, n_found, last;     /* loops over it; those that read the array, the last one's number */
	int n_inside;                   /* statements that do so there */
};

bool rows_are_of(const struct emit *e, const struct mark *loop)
{
	return e->block && loop->kind == MARK_LOOP && mark_dim_number(loop) == block_row_level(e->block);
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
	       (!search->e->ragged || isl_ast_node_for_is_degenerate(loop) == isl_bool_false);
}

static isl_bool look_at_loop(__isl_keep isl_ast_node *node, void *user)
{
	struct search *search = user;
	const struct mark *mark = ast_mark(node);
	isl_ast_node *loop;
	int n;

	if (!mark || !rows_are_of(search->e, mark))
		return isl_bool_true;
	loop = isl_ast_node_mark_get_node(node);
	n = is_walkable(search, loop) ? n_readers(loop, search->array) : 0;
	isl_ast_node_free(loop);
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
void rows_settle(struct emit *e, __isl_keep isl_ast_node *body)
{
	for (int i = 0; i < e->block->arrays.n; i++) {
		struct array *copy = e->block->arrays.items[i];

		if (copy->window && copy->segments && loop_of(e, body, copy->owner) < 0)
			copy->window = 0;
	}
}

/* ---- the rows that are there ---- */

static const struct block_rows *of_loop(const struct emit *e, int loop)
{
	for (int i = 0; i < e->block_rows.n && loop >= 0; i++)
		if (e->block_rows.items[i].loop == loop)
			return &e->block_rows.items[i];
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
		quote(e->b, "int64_t %s = 0, %s = 0;", rows.begin, rows.end);
	}
	rows.rows = names_declare(&e->names, arena_printf(e->arena, "%s_rows", copy->owner->c_name));
	quote(e->b, "const %s *%s = %s;", type_c_name(copy->type), rows.rows, copy->c_name);
	vec_push(e->arena, &e->block_rows, rows);
	return &e->block_rows.items[e->block_rows.n - 1];
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
	for (int i = e->rows_at.n - 1; i >= 0; i--)
		if (e->rows_at.items[i].copy == copy && is_visible(e, &e->rows_at.items[i]) &&
		    is_same(e, &e->rows_at.items[i].row, row))
			return e->rows_at.items[i].name;
	return NULL;
}

static void push_row(struct emit *e, const struct block_row *row)
{
	while (e->rows_at.n && !is_visible(e, &e->rows_at.items[e->rows_at.n - 1]))
		e->rows_at.n--;
	vec_push(e->arena, &e->rows_at, *row);
}

static struct affine row_of(struct emit *e, const struct array *copy, const struct point *point,
			    const struct access *access)
{
	struct affine lo = affine_of_expr(e, NULL, copy->lo[copy->windowed]);
	struct affine row = affine_of_expr(e, point, access->subs[copy->windowed]), begin;

	if (copy->segments) {
		begin = affine_name(e->arena, e->ragged->begin);
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
	isl_ast_expr_free(found.instance);
	return found.stage;
}

/* "begin + PMG_PREFETCH_WINDOW": the row that a window asks for, unless the loop itself asks for lines of the next
 * block. */
static const char *row_ahead(struct emit *e, const struct block_rows *rows, int direction)
{
	const char *row = arena_printf(e->arena, "%s %c PMG_PREFETCH_WINDOW", rows->begin, direction > 0 ? '+' : '-');
	const char *ahead = rows->copy->segments ? NULL : asks_of(e, rows->copy);

	return ahead ? arena_printf(e->arena, "pmg_prefetch_window_row(%s, %s)", ahead, row) : row;
}

/* All rows with the same borders move together. */
static void emit_fills(struct emit *e, const struct block_rows *first, int direction)
{
	for (int i = 0; i < e->block_rows.n; i++) {
		const struct block_rows *rows = &e->block_rows.items[i];

		if (rows->begin == first->begin && rows->ahead)
			quote(e->b, "%s%s, %s);", rows->fill, row_ahead(e, rows, direction), rows->ahead);
		else if (rows->begin == first->begin)
			quote(e->b, "%s", rows->fill);
	}
}

static void emit_move(struct emit *e, const struct block_rows *first, const struct affine *row)
{
	const char *text = affine_plain(e->arena, row);
	const char *factor = x_text(e, k_at_least(e->arena, affine_expr(e->arena, row), K_LEVEL_PRODUCT));

	quote_open(e->b, "if (%s < %s || %s >= %s) {", text, first->begin, text, first->end);
	quote(e->b, "%s = %s/PMG_ROWS*PMG_ROWS;", first->begin, factor);
	quote(e->b, "%s = pmg_min_i64(%s + PMG_ROWS, %s);", first->end, first->begin, first->n_rows);
	emit_fills(e, first, 1);
	quote_close(e->b, "}");
}

static void emit_row_name(struct emit *e, const struct block_rows *rows, const struct affine *row)
{
	struct block_row there = { .copy = rows->copy, .row = *row };
	struct affine begin = affine_name(e->arena, rows->begin), at = affine_combine(e->arena, 1, row, -1, &begin);

	at = affine_scale(e->arena, &at, rows->copy->lanes, 0);
	there.place = e->names.visible.n;
	there.name = names_declare(&e->names, arena_printf(e->arena, "%s_row", rows->copy->owner->c_name));
	quote(e->b, "const %s *%s = &%s[%s];", type_c_name(rows->copy->type), there.name, rows->rows,
	     affine_plain(e->arena, &at));
	push_row(e, &there);
}

void rows_enter(struct emit *e, __isl_keep isl_ast_node *node)
{
	const char *moved = NULL;
	struct affine row;

	for (int i = 0; e->block && !e->in_lanes && i < e->block_rows.n; i++) {
		const struct block_rows *rows = &e->block_rows.items[i];

		if (!row_below(e, node, rows, &row) || find_row(e, rows->copy, &row))
			continue;
		if (rows->begin != moved && rows->begin != e->walked_rows)
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

	for (int i = 0; i < e->block_rows.n; i++) {
		const struct block_rows *rows = &e->block_rows.items[i];

		if (!row_below(e, body, rows, &row))
			continue;
		if (rows->loop < 0 || !affine_is_equal(e->arena, &row, &here))
			return NULL;
		first = first ? first : rows;
	}
	return first;
}

/* "pmg_block_lies(&plan->places[3], 16, lanes) && ...": is nothing copied? NULL: something always is. */
static const char *none_is_copied(struct emit *e, const struct block_rows *first)
{
	struct str text = str_new(e->arena);

	for (int i = 0; i < e->block_rows.n; i++) {
		const struct block_rows *rows = &e->block_rows.items[i];

		if (rows->begin == first->begin && !rows->lies)
			return NULL;
		if (rows->begin == first->begin)
			str_add(&text, "%s%s", rows == first ? "" : " && ", rows->lies);
	}
	return str_text(&text);
}

/* How many rows a window has: all of them where they are read from where they lie. */
static const char *declare_height(struct emit *e, const struct block_rows *first)
{
	const char *lies = none_is_copied(e, first);

	if (!lies)
		return "PMG_ROWS";
	quote(e->b, "const int64_t %s = %s ? %s : PMG_ROWS;", first->height, lies, first->n_rows);
	return first->height;
}

static void emit_windows(struct emit *e, const struct block_rows *rows, const struct range *range, int direction)
{
	const char *height = declare_height(e, rows), *begin = rows->begin, *end = rows->end;
	const char *bound = affine_plain(e->arena, direction > 0 ? &range->end : &range->last);
	struct affine behind = affine_scale(e->arena, &range->first, 1, 1);

	if (direction > 0) {
		quote_open(e->b, "for (%s = %s; %s < %s; %s = %s) {", begin, affine_plain(e->arena, &range->first),
			   begin, bound, begin, end);
		quote(e->b, "%s = pmg_min_i64(%s + %s, %s);", end, begin, height, bound);
	} else {
		quote_open(e->b, "for (%s = %s; %s > %s; %s = %s) {", end, affine_plain(e->arena, &behind), end,
			   bound, end, begin);
		quote(e->b, "%s = pmg_max_i64(%s - %s, %s);", begin, end, height, bound);
	}
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
	e->walked_rows = rows->begin;
	return true;
}

void rows_walk_end(struct emit *e)
{
	quote_close(e->b, "}");
	e->walked_rows = NULL;
}

/* ---- results, window by window ---- */

struct affine rows_end(struct emit *e, const struct range *range, int direction)
{
	return direction > 0 ? range->end : affine_scale(e->arena, &range->first, 1, 1);
}

/* Over all rows, those of the loop among them: from the first or, downwards, from the last. */
static void open_put_windows(struct emit *e, const struct block_result *result, int direction)
{
	const char *n_rows = affine_plain(e->arena, &result->n_rows), *begin = result->begin, *end = result->end;

	if (direction > 0) {
		quote_open(e->b, "for (int64_t %s = 0, %s; %s < %s; %s = %s) {", begin, end, begin, n_rows, begin, end);
		quote(e->b, "%s = pmg_put_end_%s(%s, %s, %s);", end, type_name(result->copy->type), begin,
		     result->place, n_rows);
	} else {
		quote_open(e->b, "for (int64_t %s, %s = %s; %s > 0; %s = %s) {", begin, end, n_rows, end, end, begin);
		quote(e->b, "%s = pmg_put_begin_%s(%s, %s);", begin, type_name(result->copy->type), end, result->place);
	}
}

void rows_put_open(struct emit *e, struct block_result *result, struct range *range, int direction)
{
	const struct affine all = rows_end(e, range, direction);

	result->begin = names_declare(&e->names, "begin");
	result->end = names_declare(&e->names, "end");
	open_put_windows(e, result, direction);
	range->end = affine_name(e->arena, result->end);
	if (!affine_is_equal(e->arena, &all, &result->n_rows)) {
		range->end = affine_name(e->arena, names_declare(&e->names, "behind"));
		quote(e->b, "const int64_t %s = pmg_min_i64(%s, %s);", affine_plain(e->arena, &range->end), result->end,
		     affine_plain(e->arena, &all));
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
	const char *at = direction > 0 ? result->begin : result->end;

	quote(e->b, "pmg_block_put_rows_%s(%s, %s, %s, %s, %s %c PMG_PREFETCH_WINDOW, %s);",
			type_name(result->copy->type),
	     result->copy->c_name, result->place, result->begin, result->end, at, direction > 0 ? '+' : '-',
	     affine_plain(e->arena, &result->n_rows));
	quote_close(e->b, "}");
	result->is_put = true;
}

struct k_expr *rows_access(struct emit *e, const struct point *point, const struct access *access)
{
	const struct array *copy = block_array(e, access->array);
	const char *name;
	struct affine row;

	if (copy->role != ROLE_BLOCK || !copy->window)
		return NULL;
	row = row_of(e, copy, point, access);
	name = e->ragged && !e->ragged->is_settled ? copy->c_name : find_row(e, copy, &row);
	if (!name) {
		emit_fail(e, "a row of '%s' is read where it was not looked up", copy->owner->name);
		name = copy->c_name;
	}
	return k_load(e->arena, k_name(e->arena, name), k_name(e->arena, e->lane));
}
