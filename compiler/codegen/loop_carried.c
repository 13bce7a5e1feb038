/* SPDX-License-Identifier: MIT
 *
 * Loops over rows of blocks whose lanes are vectors. A recurrence that runs row by row, i after i - 1 or after i + 1,
 * reads what the iteration before has written. Ahead of such a loop stands a call for each array that it writes row by
 * row (PMG_CARRIED of kernel/calls.def), which says where the rows lie and which one is before the first;
 * kernel/lower/forward.c keeps those in registers that are read.
 *
 * What was in the row before is what the loop wrote there, if it writes each of its rows, or if nothing else writes the
 * array. No loop is announced of which it is not known whether there is a row before its first one. */
#include "codegen/codegen_private.h"

/* ---- the statements that write an array ---- */

struct writers {
	const struct array *array;
	unsigned folded;                /* subscripts that take no room in the block */
	int level;                      /* of the loop's dim */
	const isl_ast_node *until;      /* only those that run before this loop; NULL: all */
	bool is_over, is_sure;          /* it was found; it runs whenever what is looked at does */
	int n_around;                   /* loops and conditions around what is looked at */
	int n, n_under_condition;
	bool are_of_row;                /* each writes the row that the loop is at */
	const struct stage *stage;      /* one of them */
	int row;                        /* the subscript that is the loop's dim */
};

static void note_writer(struct writers *writers, __isl_keep isl_ast_expr *instance, bool is_conditional)
{
	const struct stage *stage = ast_stage(instance);
	int n_rows = 0;

	if (stage->write.array != writers->array || writers->is_over)
		return;
	writers->n++;
	writers->n_under_condition += is_conditional;
	writers->stage = stage;
	for (int i = 0; i < writers->array->rank; i++)
		if (!(writers->folded >> i & 1U) && stage->write.subs[i]->kind == EXPR_DIM &&
		    stage->write.subs[i]->index == writers->level) {
			writers->row = i;
			n_rows++;
		}
	writers->are_of_row = writers->are_of_row && n_rows == 1 && stage->op == REDUCE_SET;
}

static void find_writers(struct writers *writers, __isl_keep isl_ast_node *node, bool is_conditional)
{
	enum isl_ast_node_type type = isl_ast_node_get_type(node);
	const struct mark *mark = ast_mark(node);

	if (node == writers->until) {
		writers->is_over = true;
		writers->is_sure = writers->n_around == 0;
	}
	writers->n_around += type == isl_ast_node_for || type == isl_ast_node_if;
	is_conditional |= type == isl_ast_node_for || type == isl_ast_node_if || (mark && mark_is_loop(mark));
	if (type == isl_ast_node_user)
		note_writer(writers, ast_instance(node), is_conditional);
	for (int i = 0; i < ast_n_children(node); i++)
		find_writers(writers, ast_child(node, i), is_conditional);
	writers->n_around -= type == isl_ast_node_for || type == isl_ast_node_if;
}

static int n_writing_stages(const struct emit *e, const struct array *array)
{
	int n = 0;

	for (int i = 0; i < e->module->stages.n; i++)
		n += e->module->stages.items[i]->write.array == array;
	return n;
}

/* Is what an iteration writes all that is written to its row? */
static bool is_whole(const struct emit *e, const struct writers *writers)
{
	struct writers all = { .array = writers->array, .level = writers->level };

	if (!writers->n_under_condition)
		return true;
	find_writers(&all, e->block.body, false);
	return all.n == writers->n && writers->n == n_writing_stages(e, writers->array);
}

/* ---- what is carried ---- */

struct carried_value {                  /* an array of which a loop writes the row that it is at */
	const struct array *array;
	const char *variable;           /* of the loop */
	int direction;
	struct affine index, first;     /* of the row it is at; of the row before the first one */
	bool has_first;                 /* there is a row before the first one */
	bool is_conditional;            /* it is not written in each iteration */
};

static bool is_in_memory(const struct emit *e, const struct array *array)
{
	bool is = false;

	for (int g = 0; g < e->module->groups.n; g++)
		is = is || (e->module->groups.items[g]->is_in_memory &&
			    group_writes(e->module->groups.items[g], array));
	return is;
}

static bool may_be_carried(const struct emit *e, const struct array *array)
{
	const struct array *cells = block_array(e, array);

	return !is_in_memory(e, array) && !array_is_local(array) && cells->stored.lanes > 0 &&
	       array_n_stored(cells) == 1;
}

/* The row before the one that is at `row`. */
static struct affine row_before(struct emit *e, const struct carried_value *carried_value, const struct affine *row)
{
	return affine_scale(e->arena, row, 1, -carried_value->direction);
}

static bool is_known(struct emit *e, const struct affine *fact)
{
	return facts_imply(e->module->ctx, e->arena, &e->facts, fact);
}

/* In a block of segments there is surely none, or one that is inside, or, in a copy, perhaps the room for one more. */
static bool resolve_segments(struct emit *e, struct carried_value *carried_value, const struct affine *row)
{
	const struct array *copy = block_array(e, carried_value->array);
	struct affine longest = affine_name(e->arena, e->variable_length->longest), inside = row_inside(e, copy, row);
	struct affine above = affine_scale(e->arena, row, 1, 1);
	struct affine below = affine_combine(e->arena, 1, &longest, -1, row);
	int64_t from_first = 1, from_last = 1;

	if ((affine_is_constant(&above, &from_first) && from_first == 0) ||
	    (affine_is_constant(&below, &from_last) && from_last == 0))
		return true;
	carried_value->has_first = affine_is_equal(e->arena, &inside, row) && affine_is_never_negative(&above) &&
			   affine_is_never_negative(&below);
	return carried_value->has_first;
}

/* Is there surely no row before the first one, or surely one? Else no value is carried. `row` is subscript number `i`,
 * which need not be the variable of a loop that several statements share. */
static bool resolve_first(struct emit *e, struct carried_value *carried_value, const struct range *range, int i,
			  const struct affine *row)
{
	struct k_expr *variable = k_name(e->arena, carried_value->variable);
	struct affine lo = affine_of_expr(e, NULL, carried_value->array->lo[i]);
	struct affine hi = affine_of_expr(e, NULL, carried_value->array->hi[i]);
	struct affine ahead = row_before(e, carried_value, &range->first), is_none;
	struct affine before = affine_with(e->arena, row, variable, &ahead);
	struct affine above = affine_combine(e->arena, 1, &before, -1, &lo);
	struct affine below = affine_combine(e->arena, 1, &hi, -1, &before);

	carried_value->first = affine_with(e->arena, &carried_value->index, variable, &ahead);
	if (e->variable_length)
		return resolve_segments(e, carried_value, &ahead);
	below = affine_scale(e->arena, &below, 1, -1);
	is_none = affine_scale(e->arena, carried_value->direction > 0 ? &above : &below, -1, -1);
	carried_value->has_first = is_known(e, &above) && is_known(e, &below);
	return carried_value->has_first || is_known(e, &is_none);
}

/* Not where a statement runs at the first row alone: isl puts that row in the iterator's place. */
static bool is_of_iterator(const struct carried_value *carried_value)
{
	for (int i = 0; i < carried_value->index.terms.n; i++)
		if (term_is_name(&carried_value->index.terms.items[i], carried_value->variable))
			return true;
	return false;
}

/* Reads of an array, in statements of a loop. */
struct readers {
	const struct writers *writers;
	bool is_of_others;              /* one is at another row than the loop */
};

static void note_read(struct access *access, void *user)
{
	struct readers *readers = user;
	const struct writers *writers = readers->writers;
	const struct expr *row = access->array == writers->array ? access->subs[writers->row] : NULL;

	readers->is_of_others |= row && (row->kind != EXPR_DIM || row->index != writers->level);
}

static void note_reads(struct stage *stage, void *readers)
{
	stage_reads(stage, note_read, readers);
}

/* Does the loop read any row but the one that it is at? */
static bool reads_others(__isl_keep isl_ast_node *body, const struct writers *writers)
{
	struct readers readers = { writers, false };

	ast_each_stage(body, note_reads, &readers);
	return readers.is_of_others;
}

/* The variable is the iterator of the loop, which is known already. */
static bool find_carried_value(struct emit *e, __isl_keep isl_ast_node *body, const struct loop_use *use,
			       const struct range *range, struct carried_value *carried_value)
{
	struct writers writers = { .array = carried_value->array, .level = mark_dim_number(use->mark),
				   .are_of_row = true,
				   .folded = block_array(e, carried_value->array)->stored.folded };
	struct point point;
	struct affine row;

	find_writers(&writers, body, false);
	if (!writers.n || !writers.are_of_row || !is_whole(e, &writers) || !reads_others(body, &writers))
		return false;
	point = (struct point) { writers.stage, ast_instance_below(body, writers.stage, false) };
	carried_value->index = c_index(e, &point, &writers.stage->write);
	row = affine_of_expr(e, &point, writers.stage->write.subs[writers.row]);
	carried_value->is_conditional = writers.n_under_condition > 0;
	return is_of_iterator(carried_value) && resolve_first(e, carried_value, range, writers.row, &row);
}

static bool shares_cells(const struct emit *e, const struct array *array)
{
	const struct array *cells = block_array(e, array);
	bool shares = false;

	for (int i = 0; i < e->module->arrays.n; i++)
		shares = shares || (e->module->arrays.items[i]->stored.stands_in == cells);
	return shares;
}

/* Rows that are written in parts, by those alone, hold nothing before the first. Where a temporary stands in the cells
 * of a result, each lane keeps what it has there. */
static bool begins_empty(const struct emit *e, const struct carried_value *carried_value)
{
	return carried_value->is_conditional && carried_value->array->role != ROLE_INOUT &&
	       !shares_cells(e, carried_value->array);
}

/* ---- the call that says so ---- */

/* The cell of the first lane. */
static struct affine without_lane(const struct emit *e, const struct affine *index)
{
	const struct affine lane = affine_name(e->arena, e->block.lane);

	return affine_combine(e->arena, 1, index, -1, &lane);
}

static void announce(struct emit *e, const struct carried_value *carried_value)
{
	const struct affine variable = affine_name(e->arena, carried_value->variable), zero = affine_constant(0);
	const struct affine row = without_lane(e, &carried_value->index);
	const struct affine first = without_lane(e, &carried_value->first);
	const struct affine at_zero = affine_with(e->arena, &row, variable.terms.items[0].atom, &zero);
	const struct affine step = affine_combine(e->arena, 1, &row, -1, &at_zero);
	struct k_expr *name = k_string(e->arena, arena_printf(e->arena, "\"%s\"", carried_value->array->c_name));
	struct k_expr *call = K_CALL(e->arena, carried_value->has_first ? "PMG_CARRIED_FROM" : "PMG_CARRIED", name,
				     k_name(e->arena, block_array(e, carried_value->array)->c_name),
				     affine_expr(e->arena, &at_zero), k_int(e->arena, step.terms.items[0].factor),
				     k_bool(e->arena, begins_empty(e, carried_value)));

	if (carried_value->has_first)
		call = K_WITH(e->arena, call, affine_expr(e->arena, &first));
	k_do(e->b, call);
}

bool carried_announce(struct emit *e, __isl_keep isl_ast_node *body, const struct loop_use *use,
		      const struct range *range, const char *variable)
{
	bool has_any = false;

	for (int i = 0; i < e->module->arrays.n; i++) {
		struct carried_value carried_value = { .array = e->module->arrays.items[i], .variable = variable,
						       .direction = use->mark->direction };

		if (!may_be_carried(e, carried_value.array) ||
		    !find_carried_value(e, body, use, range, &carried_value))
			continue;
		announce(e, &carried_value);
		has_any = true;
	}
	return has_any;
}

/* ---- the loop ---- */

void carried_body(struct emit *e, __isl_keep isl_ast_node *body, const struct mark *loop)
{
	if (rows_are_of(e, loop))
		rows_enter(e, body);
	emit_node(e, body, (struct loop_use) { 0 });
}

static int n_writers(__isl_keep isl_ast_node *node, struct writers *writers)
{
	find_writers(writers, node, false);
	return writers->n;
}

/* Does the loop run from the first row upwards, or down to it? */
static bool is_over_rows(const struct emit *e, const struct loop_use *use, const struct range *range)
{
	const struct affine *lowest = use->mark->direction > 0 ? &range->first : &range->last;
	int64_t value;

	return rows_are_of(e, use->mark) && affine_is_constant(lowest, &value) && value == 0;
}

/* How many of the result's rows are behind those of the loop; negative: it is not known, or its rows are not the values
 * of one subscript from 0. */
static int64_t rows_behind(struct emit *e, const struct block_result *result, const struct writers *here,
			   const struct range *range, int direction)
{
	const struct affine end = rows_end(e, range, direction);
	const struct affine behind = affine_combine(e->arena, 1, &result->n_rows, -1, &end);
	const struct affine lowest = affine_of_expr(e, NULL, result->copy->lo[here->row]);
	int64_t n, lo;

	if (array_n_stored(result->copy) != 1 || !affine_is_constant(&lowest, &lo) || lo != 0)
		return -1;
	return affine_is_constant(&behind, &n) ? n : -1;
}

/* Is the result complete, in the rows up to the one that this loop is at, when its iteration is? No iteration writes
 * another row, and what else writes has done so before, as where isl has taken the last row out of the loop; then the
 * loop must run whenever that did. */
static bool is_complete(struct emit *e, const struct block_result *result, __isl_keep isl_ast_node *loop,
			const struct loop_use *use, const struct range *range)
{
	isl_ast_node *body = ast_body(loop);
	struct writers here = { .array = result->copy->owner, .level = mark_dim_number(use->mark),
				.are_of_row = true, .folded = result->copy->stored.folded };
	struct writers all = here, before = here;
	int64_t behind;

	before.until = loop;
	n_writers(body, &here);
	if (!here.n || !here.are_of_row)
		return false;
	if (n_writers(e->block.body, &all) != here.n + n_writers(e->block.body, &before))
		return false;
	behind = rows_behind(e, result, &here, range, use->mark->direction);
	return before.n ? before.is_sure && (behind == 0 || behind == 1) : behind == 0;
}

static struct block_result *result_of_loop(struct emit *e, __isl_keep isl_ast_node *loop, const struct loop_use *use,
					   const struct range *range)
{
	if (!is_over_rows(e, use, range))
		return NULL;
	for (int i = 0; i < e->windows.results.n; i++)
		if (is_complete(e, &e->windows.results.items[i], loop, use, range))
			return &e->windows.results.items[i];
	return NULL;
}

static bool emit_loop(struct emit *e, __isl_keep isl_ast_node *node, const struct loop_use *use,
		      const struct range *range, const char *name)
{
	struct affine variable = affine_name(e->arena, name);
	isl_ast_node *body = ast_body(node);
	struct range rows = *range;
	struct block_result *result;
	bool is_carried, is_walked;
	int names;

	iterator_push(e, node, &variable, use->mark->direction);
	is_carried = carried_announce(e, body, use, range, name);
	range_facts(e, range, &variable, use->mark->direction);
	if (is_carried) {
		is_walked = rows_are_of(e, use->mark) && rows_walk(e, body, name, &rows, use->mark->direction);
		result = is_walked ? NULL : result_of_loop(e, node, use, range);
		if (result)
			rows_put_open(e, result, &rows, use->mark->direction);
		names = block_of(e, open_for(e, &rows, name, use->mark->direction));
		prefetch_emit(e, use->mark, name);
		carried_body(e, body, use->mark);
		block_close(e, names);
		if (result)
			rows_put_close(e, result, use->mark->direction);
		if (is_walked)
			rows_walk_end(e);
	}
	return is_carried;
}

bool emit_carried_loop(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use)
{
	const int visible = e->names.visible.n;
	struct scope scope = scope_enter(e);
	struct range range;
	bool is_carried;

	if (!e->block.has_vectors || e->block.in_lanes)
		return false;
	range = range_of(e, node, use.mark->direction);
	if (range.is_single || range.step != 1)
		return false;
	is_carried = emit_loop(e, node, &use, &range, names_declare(&e->names, use.mark->dim->name));
	e->names.visible.n = visible;
	scope_leave(e, scope);
	return is_carried;
}
