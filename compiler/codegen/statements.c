/* SPDX-License-Identifier: MIT
 *
 * What runs at one point: the statements of stages, the variables that hold LOCAL arrays of a group, and those in
 * which a loop accumulates what is added to a cell once, behind the loop. */
#include "codegen/codegen_private.h"
#include "codegen/extremes.h"

/* ---- stages below a node ---- */

struct below {
	struct emit *e;
	const struct array *array;
	bool is_written, is_read;
};

static void note_read(struct access *access, void *user)
{
	struct below *below = user;

	below->is_read |= access->array == below->array;
}

static void note_stage(struct stage *stage, void *user)
{
	struct below *below = user;

	below->is_written |= stage->write.array == below->array;
	expr_reads(stage->value, note_read, below);
}

static struct below look_below(struct emit *e, __isl_keep isl_ast_node *node, const struct array *array)
{
	struct below below = { e, array, false, false };

	ast_each_stage(node, note_stage, &below);
	return below;
}

bool is_written_below(struct emit *e, __isl_keep isl_ast_node *node, const struct array *array)
{
	return look_below(e, node, array).is_written;
}

/* ---- groups and their LOCAL arrays ---- */

static const char *accumulator_name(enum reduce_op op)
{
	static const char *const names[] = {
		[REDUCE_SET] = "value", [REDUCE_ADD] = "sum", [REDUCE_MUL] = "product", [REDUCE_MIN] = "smallest",
		[REDUCE_MAX] = "largest"
	};

	return names[op];
}

/* The stage of the statement that stands here, below GROUP marks at most; NULL. */
static const struct stage *stage_of_node(__isl_keep isl_ast_node *node)
{
	const struct mark *mark;

	do
		mark = ast_next_mark(&node);
	while (mark && mark->kind == MARK_GROUP);
	return !mark && isl_ast_node_get_type(node) == isl_ast_node_user ? ast_stage(ast_instance(node)) : NULL;
}

/* The stage that sets `local` first, if it stands in `block` itself; NULL: the variable is declared ahead. */
static const struct stage *declaring_stage(struct emit *e, __isl_keep isl_ast_node *block, const struct array *local)
{
	const struct mark *mark = ast_mark(block);
	const struct stage *stage = NULL;
	bool is_found = false;

	if (mark)
		return mark->kind == MARK_STORAGE || mark->kind == MARK_GROUP
		       ? declaring_stage(e, ast_below(block), local) : NULL;
	if (isl_ast_node_get_type(block) != isl_ast_node_block)
		return NULL;
	for (int i = 0; !is_found && i < ast_n_children(block); i++) {
		is_found = look_below(e, ast_child(block, i), local).is_written;
		stage = is_found ? stage_of_node(ast_child(block, i)) : NULL;
	}
	return stage && stage->op == REDUCE_SET ? stage : NULL;
}

static void mark_as_used(struct emit *e, const struct cell *cell)
{
	if (!cell->is_read)
		k_unused(e->b, cell->name);
}

/* What a sum is called in the language need not be a name in C. */
static const char *local_base(const struct module *module, const struct array *local)
{
	const char *name = names_last_member(module->arena, local->name);
	enum reduce_op op = module_op_of_updates(module, local);

	return name_is_reserved_in_c(name) && op != REDUCE_SET ? accumulator_name(op) : name;
}

/* Where values are read and nothing has written them, no data let the program come; but it compiles. */
static bool is_used(struct below below)
{
	return below.is_written || below.is_read;
}

static void declare_local(struct emit *e, __isl_keep isl_ast_node *node, const struct array *local)
{
	struct below below = look_below(e, node, local);
	struct cell cell = { .of = local, .is_read = below.is_read };

	if (!is_used(below))
		return;
	cell.name = names_declare(&e->names, local_base(e->module, local));
	cell.has_lanes = e->block.mark && !e->block.in_lanes;
	cell.declared_by = cell.has_lanes ? NULL : declaring_stage(e, node, local);
	if (cell.has_lanes) {
		lane_declare(e, local->type, cell.name, !declaring_stage(e, node, local));
		mark_as_used(e, &cell);
	} else if (!cell.declared_by) {
		k_var(e->b, k_scalar(lane_type(e, local->type)), cell.name,
		      lane_fill(e, local->type, c_identity(e->arena, REDUCE_ADD, local->type)));
		mark_as_used(e, &cell);
	}
	vec_push(e->arena, &e->locals, cell);
}

void emit_group(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark)
{
	int outer = e->locals.n;

	e->b->span = mark->group->span;
	for (int i = 0; i < e->module->arrays.n; i++) {
		const struct array *array = e->module->arrays.items[i];

		if (array->role == ROLE_LOCAL && array->group == mark->group)
			declare_local(e, node, array);
	}
	emit_node(e, node, (struct loop_use) { 0 });
	e->locals.n = outer;
}

struct k_expr *part_of_thread(struct emit *e, const struct array *array)
{
	struct k_expr *offset = k_call(e->arena, "pmg_thread", 0);
	struct k_expr *data = k_member(e->arena, k_name(e->arena, "plan"), "data", true);
	struct k_expr *all = k_load(e->arena, data, k_int(e->arena, e->layout->slot_of[array->number]));

	for (int d = 0; d < array_n_stored(array) + (array->stored.lanes > 0); d++) {
		struct affine extent = part_extent(e, array, d);

		offset = k_join(e->arena, K_MUL, offset, affine_expr(e->arena, &extent));
	}
	all = k_cast(e->arena, k_pointer(type_c_name(array->type), false), all);
	return k_binary(e->arena, K_ADD, all, offset);
}

void take_part(struct emit *e, const struct array *array)
{
	k_var(e->b, k_buffer(type_c_name(array->type), false, true), array->c_name, part_of_thread(e, array));
}

static void declare_storage(struct emit *e, __isl_keep isl_ast_node *node, const struct array *array)
{
	if (array_is_variable(array))
		declare_local(e, node, array);
	else if (array->stored.is_per_thread && !array->stored.stands_in && is_used(look_below(e, node, array)))
		take_part(e, array);
}

void emit_storage(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark)
{
	/* The name of a part is that of its array: what isl has made of one loop may declare it several times. */
	bool needs_block = e->statement.shared_depth == depth_here(e) && !array_is_variable(mark->array) &&
			   mark->array->stored.is_per_thread;
	int outer = e->locals.n, visible = 0;

	e->b->span = mark->array->span;
	warp_loop_breaks(e);
	if (needs_block)
		visible = block_of(e, k_begin(e->b));
	declare_storage(e, node, mark->array);
	emit_node(e, node, (struct loop_use) { 0 });
	if (needs_block)
		block_close(e, visible);
	e->locals.n = outer;
}

/* ---- updates ---- */

struct k_expr *update_result(struct emit *e, const struct update *update)
{
	if (update->op == REDUCE_SET)
		return update->value;
	if (update->op == REDUCE_MIN || update->op == REDUCE_MAX)
		return extreme_of(e, update->op == REDUCE_MIN, update->type, update->order, update->target,
				  update->value);
	return c_narrow(e->arena, update->type, k_binary(e->arena, update->op == REDUCE_ADD ? K_ADD : K_MUL,
							 update->target, update->value));
}

static bool has_compound_operator(const struct update *update)
{
	bool is_wide = type_is_float(update->type) || type_size(update->type) >= 4;

	return is_wide && (update->op == REDUCE_ADD || update->op == REDUCE_MUL);
}

void emit_update(struct emit *e, const struct update *update)
{
	struct k_expr *positive = update->op == REDUCE_ADD && type_is_float(update->type)
				  ? k_without_minus(e->arena, update->value) : NULL;

	if (!has_compound_operator(update))
		k_set(e->b, update->target, update_result(e, update));
	else if (positive)
		k_update(e->b, K_SUB, update->target, positive);
	else
		k_update(e->b, update->op == REDUCE_ADD ? K_ADD : K_MUL, update->target, update->value);
}

bool emit_atomic_store(struct emit *e, const struct update *update)
{
	const bool is_sum = update->op == REDUCE_ADD;

	if (!is_sum && update->op != REDUCE_MUL)
		return false;
	k_update(e->b, is_sum ? K_ADD : K_MUL, update->target, update->value)->store.mode = K_STORE_ATOMIC;
	return true;
}

/* x = condition ? value : x, with the value computed for all lanes. */
static void emit_where(struct emit *e, const struct update *update, struct k_expr *conditions)
{
	const char *value = names_declare(&e->names, "value");
	struct update named = *update;
	struct k_expr *result;

	k_const(e->b, k_scalar(lane_type(e, update->type)), value, update->value);
	named.value = k_name(e->arena, value);
	result = update_result(e, &named);
	if (e->block.has_vectors)
		result = K_CALL(e->arena, arena_printf(e->arena, "PMG_CHOOSE_%s", row_suffix(update->type)),
				conditions, result, update->before ? update->before : update->target);
	else
		result = k_select(e->arena, conditions, k_at_least(e->arena, result, K_LEVEL_OR), update->target);
	k_set(e->b, update->target, result);
}

/* Is it a row of the block that the loop is at? */
static bool writes_row(const struct emit *e, const struct stage *stage)
{
	const struct access *write = &stage->write;

	return block_array(e, write->array)->segments && write->subs[0]->kind == EXPR_DIM &&
	       stage->dims.items[write->subs[0]->index].kind == DIM_RANGE;
}

/* Threads come in any order: sums and products of floats have other last bits then, and where the target does not order
 * extremes, so does the least and largest one of the zeros of both signs. */
void emit_atomic_update(struct emit *e, const struct update *update)
{
	const bool is_sum = update->op == REDUCE_ADD || update->op == REDUCE_MUL;

	if (type_is_float(update->type) && (is_sum || !e->target->orders_extremes))
		*e->layout->is_unordered = true;
	e->target->atomic_update(e, update);
}

static void emit_possibly_atomic(struct emit *e, const struct stage *stage, const struct update *update,
				 bool is_atomic)
{
	int names = one_lane_open(e);
	struct k_expr *conditions = e->block.in_lanes ? lane_conditions(e, writes_row(e, stage)) : NULL;

	if (conditions)
		emit_where(e, update, conditions);
	else if (is_atomic && update->op != REDUCE_SET)
		emit_atomic_update(e, update);
	else
		emit_update(e, update);
	one_lane_close(e, names);
}

void note_write(struct emit *e, const struct array *array)
{
	if (!array_is_local(array))
		e->function.is_written[e->layout->slot_of[array->number]] = true;
}

struct k_expr *c_target(struct emit *e, const struct stage *stage, const struct point *point)
{
	return lane_write(e, &stage->write, c_access(e, point, &stage->write));
}

static struct k_expr *c_before(struct emit *e, const struct stage *stage, const struct point *point)
{
	return lane_before(e, &stage->write, c_access(e, point, &stage->write));
}

/* ---- accumulators ---- */

/* Declares the variable in which a loop accumulates, one for each lane of a block. */
static void declare_accumulator(struct emit *e, const struct stage *stage, struct cell *cell)
{
	enum scalar_type type = stage->write.array->type;
	struct k_expr *identity = c_identity(e->arena, stage->op, type);
	int names;

	cell->name = names_declare(&e->names, accumulator_name(stage->op));
	cell->value = k_name(e->arena, cell->name);
	if (!e->block.mark || e->block.in_lanes) {
		k_var(e->b, k_scalar(lane_type(e, type)), cell->name, lane_fill(e, type, identity));
		return;
	}
	lane_declare(e, type, cell->name, false);
	cell->value = lane_of(e, cell->name);
	names = lanes_open(e);
	k_set(e->b, cell->value, lane_fill(e, type, identity));
	lanes_close(e, names);
}

/* Adds to the target what a loop has accumulated; a variable of each lane is not memory. What the target is called
 * depends on whether it is one of a vector. */
static void emit_spread_update(struct emit *e, struct update *update, const struct point *point,
			       const struct cell *cell, bool is_of_grid, bool is_atomic)
{
	const struct array *target = ((const struct stage *) cell->of)->write.array;
	bool is_local = array_is_local(target);
	bool is_given = is_local && e->warp_loop;
	bool is_one = cell->is_spread && !is_given && emit_spread_sum(e, cell, is_of_grid);
	bool has_lanes = e->block.mark && !e->block.in_lanes;
	int names = has_lanes ? lanes_open(e) : 0;

	if (has_lanes)
		update->target = c_target(e, cell->of, point);
	if (is_given)
		emit_given_sum(e, update);
	else if (is_one || is_local)
		emit_update(e, update);
	else
		emit_possibly_atomic(e, cell->of, update, is_atomic);
	if (has_lanes)
		lanes_close(e, names);
	if (is_one)
		k_end(e->b);
}

static void emit_accumulated(struct emit *e, __isl_keep isl_ast_node *node, const struct stage *stage,
			     const struct point *point)
{
	struct cell cell = { .of = stage, .op = stage->op };
	enum scalar_type type = stage->write.array->type;
	bool is_of_grid = is_above_teams(e);
	struct update update = { .op = stage->op, .type = type,
				 .order = array_is_local(stage->write.array) ? NEITHER_FIRST : TARGET_FIRST };

	update.target = c_target(e, stage, point);
	cell.is_spread = accumulation_is_spread(e, node);
	declare_accumulator(e, stage, &cell);
	vec_push(e->arena, &e->accumulators, cell);
	emit_node(e, node, (struct loop_use) { 0 });
	e->accumulators.n--;
	update.value = cell.value;
	note_write(e, block_array(e, stage->write.array));
	emit_spread_update(e, &update, point, &cell, is_of_grid,
			   e->statement.atomic == stage || ast_has_mark(node, MARK_ATOMIC, stage));
}

/* The target is a variable that lives no longer than the loop needs it. */
static bool accumulates_in_place(const struct emit *e, __isl_keep isl_ast_node *node, const struct stage *stage)
{
	bool is_local = array_is_local(stage->write.array);

	return is_local && !accumulation_is_spread(e, node);
}

static void emit_accumulated_in_place(struct emit *e, __isl_keep isl_ast_node *node, const struct stage *stage,
				      const struct point *point)
{
	const struct cell *local = cell_find(e->locals.items, e->locals.n, stage->write.array);
	struct cell cell = { .of = stage, .op = stage->op, .value = c_target(e, stage, point) };

	cell.name = local ? local->name : stage->write.array->c_name;
	vec_push(e->arena, &e->accumulators, cell);
	emit_node(e, node, (struct loop_use) { 0 });
	e->accumulators.n--;
}

/* Where the stage has no points, others may have some that share its loop. */
void emit_accumulate(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark)
{
	struct point point = { mark->stage, ast_instance_below(node, mark->stage, false) };

	e->b->span = mark->stage->span;
	if (!point.instance)
		emit_node(e, node, (struct loop_use) { 0 });
	else if (accumulates_in_place(e, node, mark->stage))
		emit_accumulated_in_place(e, node, mark->stage, &point);
	else
		emit_accumulated(e, node, mark->stage, &point);
}

const struct cell *cell_find(const struct cell *cells, int n, const void *of)
{
	for (int i = 0; i < n; i++)
		if (cells[i].of == of)
			return &cells[i];
	return NULL;
}

static const struct cell *accumulator_cell(const struct emit *e, const struct stage *stage)
{
	return cell_find(e->accumulators.items, e->accumulators.n, stage);
}

struct k_expr *accumulator_of(const struct emit *e, const struct stage *stage)
{
	const struct cell *cell = accumulator_cell(e, stage);

	return cell ? cell->value : NULL;
}

/* Of a variable: a sum takes conditions only where lanes have terms that others have not. */
static void emit_local_update(struct emit *e, const struct update *update)
{
	bool selects = e->block.in_lanes && e->variable_length && e->variable_length->selects;
	struct k_expr *conditions = selects ? lane_conditions(e, false) : NULL;

	if (e->variable_length && e->variable_length->adds_to_vectors && sum_is_in_vectors(update->target))
		children_add(e, update);
	else if (conditions)
		emit_where(e, update, conditions);
	else
		emit_update(e, update);
}

/* What all lanes compute goes into the sum of their parts once. */
static void emit_accumulation(struct emit *e, const struct update *update, const struct cell *cell)
{
	bool is_one = cell->is_spread && lanes_compute_alike(e);
	int names = 0;

	if (is_one)
		names = block_of(e, k_begin_if(e->b, k_binary(e->arena, K_EQ, k_name(e->arena, "pmg_lane"),
							      k_int(e->arena, 0))));
	emit_local_update(e, update);
	if (is_one)
		block_close(e, names);
}

/* ---- statements ---- */

static struct cell *declared_here(struct emit *e, const struct stage *stage)
{
	for (int i = 0; i < e->locals.n; i++)
		if (e->locals.items[i].declared_by == stage)
			return &e->locals.items[i];
	return NULL;
}

static void emit_stage(struct emit *e, const struct stage *stage, const struct point *point)
{
	enum scalar_type type = stage->write.array->type;
	struct expr *args[] = { stage->value };
	const struct expr cast = { .kind = EXPR_CAST, .type = type, .args = args };
	struct k_expr *accumulator = accumulator_of(e, stage);
	struct update update = { .op = stage->op, .type = type, .target = accumulator };
	struct cell *local = declared_here(e, stage);
	struct k_expr *untested;

	if (local && (untested = extreme_untested(e, stage, point, &local->untested))) {
		k_const(e->b, k_scalar(type_c_name(type)), local->name, untested);
		mark_as_used(e, local);
		local->declared_by = NULL;
		return;
	}
	e->statement.pivot = emit_pivot(e, stage, point);
	e->statement.may_name = true;
	update.value = lane_value(e, stage->value,
				  c_expr(e, point, type == stage->value->type ? stage->value : &cast));
	e->statement.pivot = NULL;
	e->statement.may_name = false;
	update.order = expr_is_unchosen(stage->value) ? VALUE_FIRST
		     : accumulator || array_is_local(stage->write.array) ? NEITHER_FIRST : TARGET_FIRST;
	if (!accumulator) {
		update.target = c_target(e, stage, point);
		update.before = c_before(e, stage, point);
	}
	if (local) {
		k_var(e->b, k_scalar(lane_type(e, type)), local->name, update.value);
		mark_as_used(e, local);
		local->declared_by = NULL;
		return;
	}
	if (accumulator) {
		emit_accumulation(e, &update, accumulator_cell(e, stage));
		return;
	}
	note_write(e, block_array(e, stage->write.array));
	if (array_is_local(stage->write.array)) {
		emit_local_update(e, &update);
		return;
	}
	if (emit_row_update(e, stage, &update))
		return;
	if (e->statement.atomic != stage)
		warp_loop_breaks_at_update(e);
	emit_possibly_atomic(e, stage, &update, e->statement.atomic == stage);
	lane_note_interim(e, stage->write.array);
}

void emit_instance(struct emit *e, __isl_keep isl_ast_node *node)
{
	struct point point = { NULL, ast_instance(node) };
	const struct stage *stage = point.stage = ast_stage(point.instance);
	bool is_guarded = e->function.guards_starts && e->layout->is_of_start[stage->write.array->number];
	int names = 0;

	e->b->span = stage->span;
	if (is_guarded) {
		warp_loop_breaks(e);
		names = block_of(e, k_begin_if(e->b, k_name(e->arena, e->function.starts)));
	}
	emit_stage(e, stage, &point);
	if (is_guarded)
		block_close(e, names);
}
