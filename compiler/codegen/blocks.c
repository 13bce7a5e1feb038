/* SPDX-License-Identifier: MIT
 *
 * Loops that run in blocks (ir/block.h). The loop goes from block to block; at its begin, copies of the parts of arrays
 * are filled (runtime/pmgrt_block.h), and at its end those that were written go back. In between each statement, or as
 * many as stand together, is a loop over the lanes (lanes.c). */
#include "codegen/codegen_private.h"

const struct array *block_array(const struct emit *e, const struct array *array)
{
	for (int i = 0; e->block && i < e->block->arrays.n; i++)
		if (e->block->arrays.items[i]->owner == array || e->block->arrays.items[i] == array->stands_in)
			return e->block->arrays.items[i];
	return array;
}

/* ---- parts of arrays ---- */

static void find_read(struct access *access, void *user)
{
	struct finding *finding = user;

	if (access->array == finding->array)
		finding->access = access;
}

static void find_in_stage(struct stage *stage, void *user)
{
	struct finding *finding = user;
	struct access *before = finding->access;

	stage_reads(stage, find_read, finding);
	if (stage->write.array == finding->array) {
		finding->access = &stage->write;
		finding->is_written = true;
	}
	if (finding->access != before)
		finding->stage = stage;
}

/* Does each cell of the block get its value here, or is not read anywhere? Then it need not be read before. */
static bool is_made_here(const struct emit *e, __isl_keep isl_ast_node *node, const struct array *array)
{
	bool is_made = array->role == ROLE_OUT || array->role == ROLE_TEMP;

	for (int i = 0; i < e->module->stages.n && is_made; i++) {
		struct stage *stage = e->module->stages.items[i];
		isl_ast_expr *instance = stage->write.array == array ? ast_first_instance(node, stage, false) : NULL;

		is_made = stage->write.array != array || (instance && stage->op == REDUCE_SET);
		isl_ast_expr_free(instance);
	}
	return is_made;
}

/* Of an array, what a block has of it: its first element, its lanes with their distance, its rows with theirs. */
struct part {
	struct affine start, rows, row_distance, distance;
};

static struct part part_of(struct emit *e, const struct array *copy, const struct finding *found)
{
	const struct array *array = copy->owner;
	struct point point = { found->stage, found->instance };
	const struct affine one = affine_constant(1);
	struct part part = { affine_constant(0), one, one, one };

	for (int d = 0; d < array->rank; d++) {
		struct affine extent = affine_of_range(e, array, d), lo = affine_of_expr(e, NULL, array->lo[d]);
		bool is_row = !(copy->folded >> d & 1U), is_lane = found->access->subs[d]->kind == EXPR_DIM &&
			      found->access->subs[d]->index == mark_dim_number(e->block);
		struct affine sub = is_row ? affine_constant(0)
					   : affine_of_expr(e, &point, found->access->subs[d]);

		if (array->folded >> d & 1U)
			continue;
		part.start = affine_multiply(e, &part.start, &extent);
		if (!is_row) {
			sub = affine_combine(e->arena, 1, &sub, -1, &lo);
			part.start = affine_combine(e->arena, 1, &part.start, 1, &sub);
		}
		part.rows = is_row ? affine_multiply(e, &part.rows, &extent) : part.rows;
		part.row_distance = is_row ? one : affine_multiply(e, &part.row_distance, &extent);
		part.distance = is_lane ? one : affine_multiply(e, &part.distance, &extent);
	}
	return part;
}

/* "b_block, 16, b + s_block*n, lanes, n, n, 1" */
static const char *part_text(struct emit *e, const struct array *copy, const struct finding *found, const char *n_lanes)
{
	struct part part = part_of(e, copy, found);

	return arena_printf(e->arena, "%s, %s, %s, %s, %s, %s, %s", copy->c_name, lanes_text(e),
			    x_text(e, c_offset(e, copy->owner->c_name, &part.start)), n_lanes,
			    affine_plain(e->arena, &part.distance), affine_plain(e->arena, &part.rows),
			    affine_plain(e->arena, &part.row_distance));
}

/* "16, b, &plan->places[1], s_block, lanes": an array whose blocks are where the caller has them. */
static const char *held_text(struct emit *e, const struct array *copy, const char *first, const char *n_lanes)
{
	return arena_printf(e->arena, "%s, %s, &plan->places[%d], %s, %s", lanes_text(e), copy->owner->c_name,
			    e->layout->slot_of[copy->owner->number], first, n_lanes);
}

/* The same and all of its rows. */
static const char *place_text(struct emit *e, const struct array *copy, const struct finding *found,
			      const char *first, const char *n_lanes)
{
	struct part part = part_of(e, copy, found);

	return arena_printf(e->arena, "%s, %s", held_text(e, copy, first, n_lanes),
			    affine_plain(e->arena, &part.rows));
}

static const char *lies_text(struct emit *e, const struct array *copy, const char *n_lanes)
{
	return arena_printf(e->arena, "pmg_block_lies(&plan->places[%d], %s, %s)",
			    e->layout->slot_of[copy->owner->number], lanes_text(e), n_lanes);
}

static void note_result(struct emit *e, const struct array *copy, const struct finding *found, const char *first,
			const char *n_lanes)
{
	struct block_result result = { .copy = copy, .place = held_text(e, copy, first, n_lanes),
				       .n_rows = part_of(e, copy, found).rows };

	note_write(e, copy->owner);
	vec_push(e->arena, &e->results, result);
}

static bool is_put(const struct emit *e, const struct array *copy)
{
	bool is = false;

	for (int i = 0; i < e->results.n; i++)
		is = is || (e->results.items[i].copy == copy && e->results.items[i].is_put);
	return is;
}

/* The block of an array is used where it is, if it can be: else it is a copy. */
static void take_held(struct emit *e, const struct array *copy, const struct finding *found, bool is_read,
		      const char *first, const char *n_lanes)
{
	const char *type = type_name(copy->type);
	const char *place = place_text(e, copy, found, first, n_lanes);
	bool is_past = goes_past(e, found->is_written, is_read);

	quote(e->b, "%s%s *restrict %s = pmg_block_%s_%s(%s, %s);", found->is_written ? "" : "const ",
	     type_c_name(copy->type), copy->c_name, is_read ? "take" : is_past ? "keep" : "open", type,
	     part_of_thread(e, copy), place);
	if (is_past)
		declare_past(e, copy, arena_printf(e->arena, "pmg_block_nontemporal_%s(%s)", type, place));
	if (found->is_written)
		note_result(e, copy, found, first, n_lanes);
}

struct finding find_part(__isl_keep isl_ast_node *node, const struct array *array)
{
	struct finding finding = { .array = array };

	ast_each_stage(node, find_in_stage, &finding);
	if (finding.stage)
		finding.instance = ast_first_instance(node, finding.stage, false);
	return finding;
}

/* "b_rows = pmg_block_rows_f64(b_block, 16, b, &plan->places[1], s_block, lanes, begin, end, " */
static const char *rows_fill_text(struct emit *e, const struct block_rows *rows, const struct part *part,
				  const char *first, const char *n_lanes)
{
	const struct array *copy = rows->copy;
	struct affine begin = affine_name(e->arena, rows->begin), from;

	if (part_is_held(e, copy))
		return arena_printf(e->arena, "%s = pmg_block_rows_%s(%s, %s, %s, %s, ", rows->rows,
				    type_name(copy->type), copy->c_name, held_text(e, copy, first, n_lanes),
				    rows->begin, rows->end);
	from = affine_multiply(e, &begin, &part->row_distance);
	from = affine_combine(e->arena, 1, &part->start, 1, &from);
	return arena_printf(e->arena, "pmg_block_read_%s(%s, %s, %s, %s, %s, %s - %s, %s);", type_name(copy->type),
			    copy->c_name, lanes_text(e), x_text(e, c_offset(e, copy->owner->c_name, &from)), n_lanes,
			    affine_plain(e->arena, &part->distance), rows->end, rows->begin,
			    affine_plain(e->arena, &part->row_distance));
}

static void open_rows(struct emit *e, __isl_keep isl_ast_node *body, const struct array *copy,
		      const struct finding *found, const char *first, const char *n_lanes)
{
	struct part part;
	struct block_rows *rows;

	if (copy->is_per_thread)
		take_part(e, copy);
	note_write(e, copy);
	rows = rows_declare(e, body, copy);
	if (copy->segments) {
		ragged_rows(e, rows);
		return;
	}
	part = part_of(e, copy, found);
	rows->n_rows = affine_plain(e->arena, &part.rows);
	rows->fill = rows_fill_text(e, rows, &part, first, n_lanes);
	rows->ahead = part_is_held(e, copy) ? rows->n_rows : NULL;
	rows->lies = part_is_held(e, copy) ? lies_text(e, copy, n_lanes) : NULL;
}

static void note_ask(struct emit *e, const struct array *copy, const struct finding *found, const char *first,
		     const char *n_lanes)
{
	int slot = e->layout->slot_of[copy->owner->number];
	struct block_ask ask = { .copy = copy };
	struct part part;

	if (copy->segments) {
		ragged_note_ask(e, copy);
		return;
	}
	part = part_of(e, copy, found);
	ask.n_rows = affine_plain(e->arena, &part.rows);
	ask.far = arena_printf(e->arena, "pmg_block_prefetches(&plan->places[%d], %s, %s, %s, %d)", slot, lanes_text(e),
			       n_lanes, ask.n_rows, asks_row_bytes(&ask));
	ask.where = arena_printf(e->arena, "pmg_prefetch_block_%s(%s, %s, &plan->places[%d], %s, %s",
				 type_name(copy->type), lanes_text(e), copy->owner->c_name, slot, first, ask.n_rows);
	asks_note(e, &ask);
}

static void emit_filling_of(struct emit *e, __isl_keep isl_ast_node *body, const struct array *copy,
			    const struct finding *found, const char *first, const char *n_lanes)
{
	bool is_read;

	if (copy->window) {
		open_rows(e, body, copy, found, first, n_lanes);
		return;
	}
	is_read = !is_made_here(e, body, copy->owner);
	if (copy->segments) {
		ragged_fill(e, copy, found, is_read);
		return;
	}
	if (part_is_held(e, copy)) {
		take_held(e, copy, found, is_read, first, n_lanes);
		return;
	}
	if (copy->is_per_thread)
		take_part(e, copy);
	note_write(e, copy);
	if (is_read)
		quote(e->b, "pmg_block_read_%s(%s);", type_name(copy->type), part_text(e, copy, found, n_lanes));
}

static void emit_filling(struct emit *e, __isl_keep isl_ast_node *body, const char *first, const char *n_lanes)
{
	for (int i = 0; i < e->block->arrays.n; i++) {
		const struct array *copy = e->block->arrays.items[i];
		struct finding found = find_part(body, copy->owner);

		if (found.stage && copy->is_prefetched && part_is_held(e, copy))
			note_ask(e, copy, &found, first, n_lanes);
		if (found.stage)
			emit_filling_of(e, body, copy, &found, first, n_lanes);
		isl_ast_expr_free(found.instance);
	}
}

static void emit_emptying(struct emit *e, __isl_keep isl_ast_node *body, const char *first, const char *n_lanes)
{
	for (int i = 0; i < e->block->arrays.n; i++) {
		const struct array *copy = e->block->arrays.items[i];
		struct finding found = find_part(body, copy->owner);

		if (found.is_written && copy->segments) {
			ragged_empty(e, copy);
		} else if (found.is_written && !is_put(e, copy)) {
			note_write(e, copy->owner);
			quote(e->b, part_is_held(e, copy) ? "pmg_block_put_%s(%s%s);" : "pmg_block_write_%s(%s%s);",
			     type_name(copy->type),
			     part_is_held(e, copy) ? arena_printf(e->arena, "%s, ", copy->c_name) : "",
			     part_is_held(e, copy) ? place_text(e, copy, &found, first, n_lanes)
					      : part_text(e, copy, &found, n_lanes));
		}
		isl_ast_expr_free(found.instance);
	}
}

/* ---- the loop ---- */

static void emit_body(struct emit *e, __isl_keep isl_ast_node *body, __isl_keep isl_ast_node *loop,
		      const struct affine *start, const char *n_lanes)
{
	const struct affine variable = affine_name(e->arena, e->lane_variable);
	const char *first = affine_plain(e->arena, start);
	int iterators = e->iterators.n;

	lanes_begin(e, body);
	if (loop)
		iterator_push(e, loop, &variable, 1);
	ragged_settle(e, body);
	e->iterators.n = iterators;
	if (loop)
		iterator_push(e, loop, start, 1);
	emit_filling(e, body, first, n_lanes);
	e->iterators.n = iterators;
	if (loop)
		iterator_push(e, loop, &variable, 1);
	emit_node(e, body, (struct loop_use) { 0 });
	e->iterators.n = iterators;
	if (loop)
		iterator_push(e, loop, start, 1);
	emit_emptying(e, body, first, n_lanes);
}

static void begin_block(struct emit *e, const struct loop_use *use)
{
	const char *dim = use->mark->dim->name;

	e->block = use->block;
	e->lane_variable = names_declare(&e->names, dim);
	e->lane_start = names_declare(&e->names, arena_printf(e->arena, "%s_block", dim));
	e->lane = names_declare(&e->names, "lane");
	e->ragged = NULL;
}

/* The blocks of arrays that are used where they lie begin at multiples of the lanes. */
static void check_first(struct emit *e, const struct range *range)
{
	int64_t first;

	for (int i = 0; i < e->block->arrays.n; i++)
		if (part_is_held(e, e->block->arrays.items[i]) &&
		    (!affine_is_constant(&range->first, &first) || first != 0))
			emit_fail(e, "a loop in blocks does not begin at 0");
}

void emit_block_loop(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use)
{
	struct range range = range_of(e, node, 1);
	struct scope scope = scope_enter(e);
	int visible = e->names.visible.n;
	isl_ast_node *body = isl_ast_node_for_get_body(node);
	const char *lanes, *threads = NULL, *work = e->region;
	struct affine start, rest;

	begin_block(e, &use);
	e->n_lanes = lanes = names_declare(&e->names, "lanes");
	start = affine_name(e->arena, e->lane_start);
	if (range.is_single)
		range.end = affine_scale(e->arena, &range.first, 1, 1);
	if (range.step != 1)
		emit_fail(e, "a loop in blocks has steps");
	check_first(e, &range);
	use.turn = ragged_turn(e);
	if (use.is_parallel && use.turn)
		threads = region_declare(e);
	if (use.is_parallel)
		e->target->above_loop(e, &use);
	quote_open(e->b, "for (int64_t %s = %s; %s < %s; %s += %s) {", e->lane_start,
		   affine_plain(e->arena, &range.first), e->lane_start, affine_plain(e->arena, &range.end),
		   e->lane_start, lanes_text(e));
	rest = affine_combine(e->arena, 1, &range.end, -1, &start);
	quote(e->b, "const int64_t %s = pmg_min_i64(%s, %s);", lanes, lanes_text(e), affine_plain(e->arena, &rest));
	range_facts(e, &range, &start, 1);
	e->n_turns = threads ? threads : "1";
	ragged_open(e, body, e->lane_start, lanes);
	emit_body(e, body, node, &start, lanes);
	if (e->ragged && e->ragged->later)
		declaration_drop_unread(&e->ragged->later_declared, e->ragged->later);
	block_close(e, visible);
	if (threads)
		vec_push(e->arena, &e->names.visible, threads);
	e->region = work;
	scope_leave(e, scope);
	lanes_end(e);
	isl_ast_node_free(body);
}

/* The loop has one iteration, whose value stands in the instances below. */
void emit_block_single(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use)
{
	struct point point = { use.mark->stage, ast_first_instance(node, use.mark->stage, true) };
	int visible = e->names.visible.n;
	struct affine value;

	if (!point.instance)
		return;
	value = affine_of_dim(e, &point, mark_dim_number(use.mark));
	begin_block(e, &use);
	e->n_lanes = e->n_turns = "1";
	quote_open(e->b, "{");
	ragged_open(e, node, affine_plain(e->arena, &value), "1");
	emit_body(e, node, NULL, &value, "1");
	block_close(e, visible);
	lanes_end(e);
	isl_ast_expr_free(point.instance);
}
