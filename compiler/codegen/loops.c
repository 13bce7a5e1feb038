/* SPDX-License-Identifier: MIT
 *
 * The walk over isl's AST that prints loops. A mark of a loop makes a `loop_use` pending; what isl generated for the
 * band below follows: one `for`, several (the dim is cut into ranges), under `if`s, or none where the dim has only
 * one value. The variable of a loop has the name of the dim and its value; a dim that runs backwards is scheduled
 * negated, so that isl's iterator is minus the variable. */
#include "codegen/codegen_private.h"

void emit_fail(struct emit *e, const char *format, ...)
{
	va_list args;

	if (e->failed)
		return;
	va_start(args, format);
	diag_error(e->module->diags, DIAG_INTERNAL, e->module->span, "target '%s': %s", e->target->name,
		   arena_vprintf(e->arena, format, args));
	va_end(args);
	e->failed = true;
}

void check_built(struct emit *e, const struct k_builder *builder)
{
	if (builder->error)
		emit_fail(e, "a kernel cannot be built: %s", builder->error);
}

/* ---- loops ---- */

struct k_stmt *open_for(struct emit *e, const struct range *range, const char *name, int direction)
{
	struct arena *a = e->arena;

	return k_for_at(e->b, EMITTER, "int64_t", name, affine_expr(a, &range->first),
			affine_expr(a, direction > 0 ? &range->end : &range->last),
			range->step == 1 ? NULL : k_int(a, range->step), direction < 0);
}

void open_between(struct emit *e, const char *name, struct k_expr *begin, struct k_expr *end, int direction)
{
	if (direction > 0)
		k_begin_for(e->b, "int64_t", name, begin, end, NULL);
	else
		k_begin_down(e->b, "int64_t", name, k_binary(e->arena, K_SUB, end, k_int(e->arena, 1)), begin, NULL);
}

/* What is printed without a loop is run by every thread of a team. */
static void check_is_shared(struct emit *e, const struct loop_use *use)
{
	if (e->threads.team && use->is_parallel)
		emit_fail(e, "the loop that a team shares has one iteration");
}

static bool is_divided(const struct emit *e, const struct loop_use *use)
{
	return loop_is_shared(e, use) || loop_is_of_lanes(e, use);
}

static void open_loop(struct emit *e, const struct range *range, const char *name, const struct loop_use *use)
{
	struct k_stmt *loop;

	if (is_divided(e, use)) {
		open_divided(e, range, name, use);
		return;
	}
	if (e->threads.part && use->is_parallel) {
		open_part(e, range, name, *use);
		return;
	}
	if (e->threads.team && use->is_parallel) {
		open_of_team(e, range, name, *use);
		return;
	}
	if (range->is_single) {
		k_begin(e->b);
		k_const(e->b, k_scalar("int64_t"), name, affine_expr(e->arena, &range->first));
		return;
	}
	loop = open_for(e, range, name, use->mark->direction);
	if ((use->is_parallel || use->is_vector) && e->target->share)
		e->target->share(e, loop, use);
	loop->loop.is_short = use->mark->dim->is_short;
	loop->loop.row = row_known(e, range, use);
}

static void emit_iterations(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use, struct range range)
{
	struct scope scope = scope_enter(e);
	int visible = e->names.visible.n;
	const char *dim = use.mark->dim->name;
	const char *name = names_declare(&e->names, use.mark->kind == MARK_TILE ? arena_printf(e->arena, "%s_tile", dim)
									       : dim);
	struct affine variable = affine_name(e->arena, name);
	isl_ast_node *body = ast_body(node);
	bool is_shared = loop_is_shared(e, &use), is_of_lanes = loop_is_of_lanes(e, &use);
	const bool waits = is_of_lanes && !sum_is_known(e, &range, &use);
	int depth;

	if (waits)
		emit_team_sync(e);
	depth = depth_here(e);
	if (!open_block_short(e, body, &range, name, &use))
		open_loop(e, &range, name, &use);
	prefetch_emit(e, use.mark, name);
	iterator_push(e, node, &variable, use.mark->direction);
	range_facts(e, &range, &variable, use.mark->direction);
	if (rows_are_of(e, use.mark))
		rows_enter(e, body);
	enter_divided(e, is_shared, is_of_lanes, true);
	emit_node(e, body, (struct loop_use) { 0 });
	enter_divided(e, is_shared, is_of_lanes, false);
	while (depth_here(e) > depth)
		k_end(e->b);
	e->names.visible.n = visible;
	if (waits)
		emit_team_sync(e);
	scope_leave(e, scope);
}

static void emit_loop(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use)
{
	struct range range = range_of(e, node, use.mark->direction);

	if (!emit_warp_loop(e, node, &use, &range))
		emit_iterations(e, node, use, range);
}

static void emit_plain_for(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use)
{
	const struct prefetching outer = e->windows.prefetching;

	prefetch_open(e, node, use.mark);
	if (!variable_length_loop(e, node, use) && !emit_carried_loop(e, node, use))
		emit_loop(e, node, use);
	e->windows.prefetching = outer;
}

/* Does it add to accumulators of which threads and lanes have parts (kernel/lower/thread_sums.c)? */
static bool is_sum_of_threads(const struct emit *e, const struct loop_use *use)
{
	return use->is_parallel && use->is_vector && e->accumulators.n && !e->threads.part && e->target->share;
}

/* Can the loop be cut in parts for threads? Else each thread adds to its one sum, without vectors. */
static bool is_cut_for_threads(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *loop)
{
	const struct range range = range_of(e, node, loop->direction);
	const bool is_cut = !range.is_single && range.step == 1 && loop->direction > 0;

	note_loop_followed(e, DECISION_VECTOR, loop, is_cut);
	return is_cut;
}

static void emit_for_of_kind(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use)
{
	if (is_sum_of_threads(e, &use))
		use.is_vector = is_cut_for_threads(e, node, use.mark);
	if (use.mark->kind == MARK_BIND)
		emit_bind_for(e, node, use);
	else if (use.mark->kind == MARK_CHILDREN)
		emit_children_for(e, node, use);
	else if (use.block)
		emit_block_loop(e, node, use);
	else
		emit_plain_for(e, node, use);
}

void emit_for(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use)
{
	if (!use.mark)
		emit_fail(e, "a loop has no mark");
	else if (use.least && emit_shared_if_long(e, node, use))
		return;
	else if (use.parts && use.is_parallel && !e->threads.part)
		emit_parts(e, node, use);
	else
		emit_for_of_kind(e, node, use);
}

/* ---- the other nodes ---- */

static void emit_else(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use, struct condition *condition,
		      struct k_expr *test)
{
		if (condition->names < 0) {
		condition_close(e, *condition);
		test = k_unary(e->arena, K_NOT, k_at_least(e->arena, test, K_LEVEL_PRIMARY));
		*condition = condition_open(e, test, e->facts.n);
	} else {
		block_otherwise(e, condition->names);
	}
	emit_node(e, ast_child(node, 1), use);
}

static void emit_if(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use)
{
	struct k_expr *test = condition_of_ast(e, isl_ast_node_if_get_cond(node));
	struct scope scope = scope_enter(e);
	bool is_said = facts_of_ast(e, isl_ast_node_if_get_cond(node));
	struct condition condition = condition_open(e, test, is_said ? scope.facts : e->facts.n);

	warp_loop_breaks(e);
	emit_node(e, ast_child(node, 0), use);
	scope_leave(e, scope);
	if (ast_n_children(node) > 1)
		emit_else(e, node, use, &condition, test);
	condition_close(e, condition);
}

static void emit_block(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use)
{
	const int n = ast_n_children(node), outer = e->statement.shared_depth;

	if (n > 1)
		e->statement.shared_depth = depth_here(e);
	for (int i = 0; i < n; i++)
		emit_node(e, ast_child(node, i), use);
	e->statement.shared_depth = outer;
}

static void emit_atomic(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark)
{
	const struct stage *outer = e->statement.atomic;

	e->statement.atomic = mark->stage;
	emit_node(e, node, (struct loop_use) { 0 });
	e->statement.atomic = outer;
}

static void emit_below_mark(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark,
			    struct loop_use use)
{
	if (emit_warp_vectors(e, node, mark, use))
		return;
	switch (mark->kind) {
	case MARK_PARALLEL:
		use.is_parallel = true;
		use.least = mark->least_operations;
		region_count(e, node, &use);
		break;
	case MARK_VECTOR:
		use.is_vector = true;
		use.chunk = (int) mark->chunk;
		break;
	case MARK_BLOCK:
		use.block = mark;
		break;
	case MARK_LOOP: case MARK_TILE: case MARK_BIND: case MARK_CHILDREN:
		use.mark = mark;
		break;
	case MARK_TEAM:
		emit_team(e, node, use);
		return;
	case MARK_GRID:
		emit_grid(e, node, mark);
		return;
	case MARK_GROUP:
		emit_group(e, node, mark);
		return;
	case MARK_ATOMIC:
		emit_atomic(e, node, mark);
		return;
	case MARK_ACCUMULATE:
		emit_accumulate(e, node, mark);
		return;
	case MARK_BLAS:
		emit_blas(e, node, mark);
		return;
	case MARK_PARTS:
		use.parts = (int) mark->parts;
		break;
	case MARK_UNROLL:
		break;
	case MARK_DYNAMIC:
		use.is_dynamic = true;
		break;
	case MARK_SKIP: case MARK_SKIP_ALWAYS:
		emit_skip(e, node, mark, use);
		return;
	case MARK_PRIVATE:
		emit_private(e, node, mark);
		return;
	case MARK_LANES:
		use.is_vector = true;
		break;
	case MARK_STORAGE:
		emit_storage(e, node, mark);
		return;
	case MARK_TEAM_STORAGE:
		emit_team_storage(e, node, mark);
		return;
	case MARK_WARP_LOOP:
		emit_below_warp_mark(e, node, mark, use);
		return;
	case MARK_ROW:
		emit_row(e, node, mark);
		return;
	case MARK_N:
		break;
	}
	emit_node(e, node, use);
}

static void emit_mark(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use)
{
	const struct mark *mark = ast_mark(node);

	if (!mark)
		emit_fail(e, "a mark is not one of ours");
	else if (!e->target->prints[mark->kind])
		emit_fail(e, "it cannot print the mark '%s' that pass '%s' made", mark_name(mark->kind), mark->pass);
	else
		emit_below_mark(e, ast_below(node), mark, use);
}

/* The one iteration of a loop that isl made none of; where teams would share it, of the first. */
static void emit_one_iteration(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use)
{
	bool is_shared = loop_is_shared(e, &use);
	int names = 0;

	if (emit_lane_single(e, node, &use))
		return;
	if (is_shared)
		names = block_of(e, k_begin_if(e->b, k_binary(e->arena, K_EQ, k_name(e->arena, "pmg_index"),
							      k_int(e->arena, 0))));
	enter_divided(e, is_shared, false, true);
	emit_single(e, node, use);
	enter_divided(e, is_shared, false, false);
	if (is_shared)
		block_close(e, names);
}

static bool is_single(enum isl_ast_node_type type, const struct loop_use *use)
{
	return use->mark && (type == isl_ast_node_mark || type == isl_ast_node_user);
}

static void emit_any_node(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use)
{
	enum isl_ast_node_type type = isl_ast_node_get_type(node);

	if (e->failed || e->arena->is_exhausted)
		return;
	if (use.mark && use.mark->kind == MARK_BIND && !use.bound && bind_goes_before(e, node, use.mark)) {
		emit_bind(e, node, use);
		return;
	}
	if (is_single(type, &use)) {
		check_is_shared(e, &use);
		emit_one_iteration(e, node, use);
		return;
	}
	if (!use.mark && lanes_are_wanted(e, node)) {
		emit_lanes(e, node);
		return;
	}
	switch (type) {
	case isl_ast_node_for:
		emit_for(e, node, use);
		break;
	case isl_ast_node_if:
		emit_if(e, node, use);
		break;
	case isl_ast_node_block:
		emit_block(e, node, use);
		break;
	case isl_ast_node_mark:
		emit_mark(e, node, use);
		break;
	case isl_ast_node_user:
		emit_instance(e, node);
		break;
	case isl_ast_node_error:
		emit_fail(e, "isl made no node");
		break;
	}
}

/* A loop comes from its statement, and so does what closes it. */
void emit_node(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use)
{
	struct span outer = e->b->span;

	if (!node_is_here(e, node))
		return;
	if (use.mark)
		e->b->span = use.mark->stage->span;
	emit_any_node(e, node, use);
	e->b->span = outer;
}
