/* SPDX-License-Identifier: MIT
 *
 * Loops that run in blocks (ir/match/block.h). The loop goes from block to block; at its begin, copies of the parts of
 * arrays are filled (runtime/pmgrt_block.h), and at its end those that were written go back. In between each statement,
 * or as many as stand together, is a loop over the lanes (lanes.c). */
#include "codegen/codegen_private.h"

const struct array *block_array(const struct emit *e, const struct array *array)
{
	for (int i = 0; e->block.mark && i < e->block.mark->arrays.n; i++)
		if (e->block.mark->arrays.items[i]->owner == array ||
		    e->block.mark->arrays.items[i] == array->stored.stands_in)
			return e->block.mark->arrays.items[i];
	return block_kernel_array(e, array);
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
		isl_ast_expr *instance = stage->write.array == array ? ast_instance_below(node, stage, false) : NULL;

		is_made = stage->write.array != array || (instance && stage->op == REDUCE_SET);
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
		bool is_row = !(copy->stored.folded >> d & 1U), is_lane = found->access->subs[d]->kind == EXPR_DIM &&
			      found->access->subs[d]->index == mark_dim_number(e->block.mark);
		struct affine sub = is_row ? affine_constant(0)
					   : affine_of_expr(e, &point, found->access->subs[d]);

		if (array->stored.folded >> d & 1U)
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

const char *typed_function(const struct emit *e, const char *function, enum scalar_type type)
{
	return arena_printf(e->arena, "%s_%s", function, type_name(type));
}

struct k_expr *place_in_plan(const struct emit *e, const struct array *copy)
{
	struct k_expr *places = k_member(e->arena, k_name(e->arena, "plan"), "places", true);
	struct k_expr *slot = k_int(e->arena, e->layout->slot_of[copy->owner->number]);

	return k_address(e->arena, k_load(e->arena, places, slot));
}

/* f(b_block, 16, b + s_block*n, lanes, n, n, 1): copies `n_rows` of the rows of a block, from row `begin` on. */
static struct k_expr *copy_call(struct emit *e, const char *function, const struct array *copy,
				const struct part *part, const struct affine *begin, struct k_expr *n_rows)
{
	struct affine from = affine_multiply(e, begin, &part->row_distance);

	from = affine_combine(e->arena, 1, &part->start, 1, &from);
	return K_CALL(e->arena, typed_function(e, function, copy->type), k_name(e->arena, copy->c_name), lanes_expr(e),
		      c_offset(e, copy->owner->c_name, &from), e->block.n_lanes, affine_expr(e->arena, &part->distance),
		      n_rows, affine_expr(e->arena, &part->row_distance));
}

static struct k_expr *copy_all(struct emit *e, const char *function, const struct array *copy,
			       const struct finding *found)
{
	const struct part part = part_of(e, copy, found);
	const struct affine begin = affine_constant(0);

	return copy_call(e, function, copy, &part, &begin, affine_expr(e->arena, &part.rows));
}

/* { 16, b, &plan->places[1], s_block, lanes }: an array whose blocks are where the caller has them. */
static struct k_expr *place_of_block(struct emit *e, const struct array *copy, struct k_expr *first)
{
	return K_LIST(e->arena, lanes_expr(e), k_name(e->arena, copy->owner->c_name), place_in_plan(e, copy), first,
		      e->block.n_lanes);
}

/* The same and all of its rows. */
static struct k_expr *whole_place(struct emit *e, const struct array *copy, const struct finding *found,
				  struct k_expr *first)
{
	const struct part part = part_of(e, copy, found);

	return K_WITH(e->arena, place_of_block(e, copy, first), affine_expr(e->arena, &part.rows));
}

static struct k_expr *is_in_place(struct emit *e, const struct array *copy)
{
	return K_CALL(e->arena, "pmg_block_lies", place_in_plan(e, copy), lanes_expr(e), e->block.n_lanes);
}

static void note_result(struct emit *e, const struct array *copy, const struct finding *found, struct k_expr *first)
{
	struct block_result result = { .copy = copy, .place = place_of_block(e, copy, first),
				       .n_rows = part_of(e, copy, found).rows };

	note_write(e, copy->owner);
	vec_push(e->arena, &e->windows.results, result);
}

static bool is_put(const struct emit *e, const struct array *copy)
{
	bool is = false;

	for (int i = 0; i < e->windows.results.n; i++)
		is = is || (e->windows.results.items[i].copy == copy && e->windows.results.items[i].is_put);
	return is;
}

/* The block of an array is used where it is, if it can be: else it is a copy. */
static void take_of_caller(struct emit *e, const struct array *copy, const struct finding *found, bool is_read,
		      struct k_expr *first)
{
	struct k_expr *place = whole_place(e, copy, found, first);
	const char *take = is_read ? "pmg_block_take" : "pmg_block_open";
	struct k_expr *call = K_CALL(e->arena, typed_function(e, take, copy->type),
				     part_of_thread(e, copy));

	k_var(e->b, k_buffer(type_c_name(copy->type), !found->is_written, true), copy->c_name,
	      k_with_list(e->arena, call, place));
	if (found->is_written)
		note_result(e, copy, found, first);
}

struct finding find_part(__isl_keep isl_ast_node *node, const struct array *array)
{
	struct finding finding = { .array = array };

	ast_each_stage(node, find_in_stage, &finding);
	if (finding.stage)
		finding.instance = ast_instance_below(node, finding.stage, false);
	return finding;
}

/* pmg_block_rows_f64(b_block, 16, b, &plan->places[1], s_block, lanes, begin, end, …), or of a copy. */
static struct k_expr *rows_fill(struct emit *e, const struct block_rows *rows, const struct part *part,
				struct k_expr *first)
{
	const struct array *copy = rows->copy;
	const struct affine from = affine_name(e->arena, rows->begin);
	struct k_expr *begin = k_name(e->arena, rows->begin), *end = k_name(e->arena, rows->end), *call;

	if (!is_blocked_by_caller(e, copy))
		return copy_call(e, "pmg_block_read", copy, part, &from, k_binary(e->arena, K_SUB, end, begin));
	call = K_CALL(e->arena, typed_function(e, "pmg_block_rows", copy->type), k_name(e->arena, copy->c_name));
	return K_WITH(e->arena, k_with_list(e->arena, call, place_of_block(e, copy, first)), begin, end);
}

static void open_rows(struct emit *e, __isl_keep isl_ast_node *body, const struct array *copy,
		      const struct finding *found, struct k_expr *first)
{
	struct part part;
	struct block_rows *rows;

	if (copy->stored.is_per_thread)
		take_part(e, copy);
	note_write(e, copy);
	rows = rows_declare(e, body, copy);
	if (copy->segments) {
		variable_length_rows(e, rows);
		return;
	}
	part = part_of(e, copy, found);
	rows->n_rows = affine_expr(e->arena, &part.rows);
	rows->fill = rows_fill(e, rows, &part, first);
	if (!is_blocked_by_caller(e, copy))
		return;
	rows->ahead = rows->n_rows;
	rows->is_in_place = is_in_place(e, copy);
}

static void note_prefetch(struct emit *e, const struct array *copy, const struct finding *found, struct k_expr *first)
{
	struct block_prefetch prefetch = { .copy = copy };
	struct k_expr *place = place_in_plan(e, copy);
	struct part part;

	if (copy->segments) {
		variable_length_note_prefetch(e, copy);
		return;
	}
	part = part_of(e, copy, found);
	prefetch.n_rows = affine_expr(e->arena, &part.rows);
	prefetch.kinds = K_CALL(e->arena, "pmg_block_prefetches", place, lanes_expr(e), e->block.n_lanes,
			 prefetch.n_rows, k_int(e->arena, prefetch_row_bytes(&prefetch)));
	prefetch.place = K_CALL(e->arena, typed_function(e, "pmg_prefetch_block", copy->type), lanes_expr(e),
			   k_name(e->arena, copy->owner->c_name), place, first, prefetch.n_rows);
	prefetch_note(e, &prefetch);
}

static void emit_filling_of(struct emit *e, __isl_keep isl_ast_node *body, const struct array *copy,
			    const struct finding *found, struct k_expr *first)
{
	bool is_read;

	if (copy->stored.window) {
		open_rows(e, body, copy, found, first);
		return;
	}
	is_read = !is_made_here(e, body, copy->owner);
	if (copy->segments) {
		variable_length_fill(e, copy, found, is_read);
		return;
	}
	if (is_blocked_by_caller(e, copy)) {
		take_of_caller(e, copy, found, is_read, first);
		return;
	}
	if (copy->stored.is_per_thread)
		take_part(e, copy);
	note_write(e, copy);
	if (is_read)
		k_do(e->b, copy_all(e, "pmg_block_read", copy, found));
}

static void emit_filling(struct emit *e, __isl_keep isl_ast_node *body, struct k_expr *first)
{
	for (int i = 0; i < e->block.mark->arrays.n; i++) {
		const struct array *copy = e->block.mark->arrays.items[i];
		struct finding found = find_part(body, copy->owner);

		if (found.stage && copy->stored.is_prefetched && is_blocked_by_caller(e, copy))
			note_prefetch(e, copy, &found, first);
		if (found.stage)
			emit_filling_of(e, body, copy, &found, first);
	}
}

/* What has been written goes back to its place. */
static struct k_expr *put_call(struct emit *e, const struct array *copy, const struct finding *found,
			       struct k_expr *first)
{
	struct k_expr *call = K_CALL(e->arena, typed_function(e, "pmg_block_put", copy->type),
				     k_name(e->arena, copy->c_name));

	return is_blocked_by_caller(e, copy) ? k_with_list(e->arena, call, whole_place(e, copy, found, first))
				     : copy_all(e, "pmg_block_write", copy, found);
}

static void emit_emptying(struct emit *e, __isl_keep isl_ast_node *body, struct k_expr *first)
{
	for (int i = 0; i < e->block.mark->arrays.n; i++) {
		const struct array *copy = e->block.mark->arrays.items[i];
		struct finding found = find_part(body, copy->owner);

		if (found.is_written && copy->segments) {
			variable_length_empty(e, copy);
		} else if (found.is_written && !is_put(e, copy)) {
			note_write(e, copy->owner);
			k_do(e->b, put_call(e, copy, &found, first));
		}
	}
}

/* ---- the loop ---- */

static void emit_body(struct emit *e, __isl_keep isl_ast_node *body, __isl_keep isl_ast_node *loop,
		      const struct affine *start)
{
	const struct affine variable = affine_name(e->arena, e->block.variable);
	struct k_expr *first = affine_expr(e->arena, start);
	int iterators = e->iterators.n;

	lanes_begin(e, body);
	if (loop)
		iterator_push(e, loop, &variable, 1);
	variable_length_resolve(e, body);
	e->iterators.n = iterators;
	if (loop)
		iterator_push(e, loop, start, 1);
	emit_filling(e, body, first);
	e->iterators.n = iterators;
	if (loop)
		iterator_push(e, loop, &variable, 1);
	emit_node(e, body, (struct loop_use) { 0 });
	e->iterators.n = iterators;
	if (loop)
		iterator_push(e, loop, start, 1);
	emit_emptying(e, body, first);
}

static void begin_block(struct emit *e, const struct loop_use *use)
{
	const char *dim = use->mark->dim->name;

	e->block.mark = use->block;
	e->block.variable = names_declare(&e->names, dim);
	e->block.first = names_declare(&e->names, arena_printf(e->arena, "%s_block", dim));
	e->block.lane = names_declare(&e->names, "lane");
	e->variable_length = NULL;
}

/* The blocks of arrays that the caller has blocked begin at multiples of the lanes. */
static void check_first(struct emit *e, const struct range *range)
{
	int64_t first;

	for (int i = 0; i < e->block.mark->arrays.n; i++)
		if (is_blocked_by_caller(e, e->block.mark->arrays.items[i]) &&
		    (!affine_is_constant(&range->first, &first) || first != 0))
			emit_fail(e, "a loop in blocks does not begin at 0");
}

/* Goes from block to block, and declares how many lanes each has. */
static void open_blocks(struct emit *e, const struct range *range, const struct loop_use *use, const char *lanes)
{
	struct affine start = affine_name(e->arena, e->block.first);
	struct affine rest = affine_combine(e->arena, 1, &range->end, -1, &start);
	struct k_stmt *loop;

	loop = k_begin_for(e->b, "int64_t", e->block.first, affine_expr(e->arena, &range->first),
			   affine_expr(e->arena, &range->end), lanes_expr(e));
	if (use->is_parallel)
		e->target->share(e, loop, use);
	k_const(e->b, k_scalar("int64_t"), lanes,
		K_CALL(e->arena, "pmg_min_i64", lanes_expr(e), affine_expr(e->arena, &rest)));
}

void emit_block_loop(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use)
{
	struct range range = range_of(e, node, 1);
	struct scope scope = scope_enter(e);
	int visible = e->names.visible.n;
	isl_ast_node *body = ast_body(node);
	const char *lanes, *threads = NULL;
	struct k_expr *work = e->threads.n;
	struct affine start;

	begin_block(e, &use);
	lanes = names_declare(&e->names, "lanes");
	e->block.n_lanes = k_name(e->arena, lanes);
	start = affine_name(e->arena, e->block.first);
	if (range.is_single)
		range.end = affine_scale(e->arena, &range.first, 1, 1);
	if (range.step != 1)
		emit_fail(e, "a loop in blocks has steps");
	check_first(e, &range);
	use.turn = variable_length_turn(e);
	if (use.is_parallel && use.turn)
		threads = region_declare(e);
	open_blocks(e, &range, &use, lanes);
	range_facts(e, &range, &start, 1);
	e->block.n_turns = threads ? k_name(e->arena, threads) : k_int(e->arena, 1);
	variable_length_open(e, body, k_name(e->arena, e->block.first));
	emit_body(e, body, node, &start);
	block_close(e, visible);
	if (threads)
		vec_push(e->arena, &e->names.visible, threads);
	e->threads.n = work;
	scope_leave(e, scope);
	lanes_end(e);
}

/* The loop has one iteration, whose value stands in the instances below. */
void emit_block_single(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use)
{
	struct point point = { use.mark->stage, ast_instance_below(node, use.mark->stage, true) };
	int visible = e->names.visible.n;
	struct affine value;

	if (!point.instance)    /* of a stage that shares the loop: it has the same dim there */
		point.instance = ast_instance_below(node, NULL, false);
	point.stage = ast_stage(point.instance);
	value = affine_of_dim(e, &point, mark_dim_number(use.mark));
	begin_block(e, &use);
	e->block.n_lanes = e->block.n_turns = k_int(e->arena, 1);
	k_begin(e->b);
	variable_length_open(e, node, affine_expr(e->arena, &value));
	emit_body(e, node, NULL, &value);
	block_close(e, visible);
	lanes_end(e);
}
