/* SPDX-License-Identifier: MIT
 *
 * Pivots of eliminations. A statement that computes one keeps it in a variable, and reports one that is zero or not
 * finite to the plan before it goes on (runtime/pmgrt_pivot.h): if lanes are vectors, for all lanes of one at once.
 * Loops that the C compiler makes vectors of report behind the loop (kernel/lower/bad_pivots.c). */
#include "codegen/codegen_private.h"
#include "ir/match/elimination.h"

/* By how much `expr`, linear in `dim`, which stands on one side of its sums and products, grows with it; NULL: not at
 * all. */
static struct expr *slope(struct arena *arena, const struct expr *expr, int dim)
{
	struct expr *a, *b;

	if (expr->kind == EXPR_DIM && expr->index == dim)
		return expr_int(arena, 1, expr->span);
	if (expr->kind != EXPR_OP || op_arity(expr->op) != 2 || !expr_uses_dim(expr, dim))
		return NULL;
	a = slope(arena, expr->args[0], dim);
	b = slope(arena, expr->args[1], dim);
	if (expr->op == OP_MUL)
		return expr_binary(arena, OP_MUL, TYPE_I64, a ? a : expr->args[0], b ? b : expr->args[1]);
	if (expr->op == OP_SUB && b)
		return expr_binary(arena, OP_SUB, TYPE_I64, expr_int(arena, 0, expr->span), b);
	return a ? a : b;
}

/* ---- the table of eliminations ---- */

/* The first stages that compute their pivots. */
static stage_list stages_of_pivots(const struct module *module)
{
	stage_list list = { 0 };

	for (int i = 0; i < module->stages.n; i++) {
		struct stage *stage = module->stages.items[i];
		bool is_new = expr_find_pivot(stage->value);

		for (int j = 0; j < list.n; j++)
			is_new = is_new && list.items[j]->write.array != stage->write.array;
		if (is_new)
			vec_push(module->arena, &list, stage);
	}
	return list;
}

static int number_of(const struct module *module, const struct stage *stage)
{
	stage_list list = stages_of_pivots(module);
	int number = 0;

	while (list.items[number]->write.array != stage->write.array)
		number++;
	return number;
}

/* -1: rows are counted in each system. */
static int segments_slot(const struct layout *layout, const struct stage *stage)
{
	const struct array *segments = stage_segments(stage);
	int64_t system;

	if (!segments || segments->role != ROLE_IN ||
	    !expr_is_constant(expr_find_pivot(stage->value)->args[2], &system))
		return -1;
	return layout->slot_of[segments->number];
}

void emit_pivot_table(struct writer *w, const struct layout *layout, const struct target *target)
{
	const struct module *module = layout->module;
	stage_list list = stages_of_pivots(module);

	(void) target;
	if (!list.n)
		return;
	open_block(w, "static const pmg_pivot_desc %s_pivots[] = {", layout->prefix);
	for (int i = 0; i < list.n; i++)
		line(w, "{ %s, %s, %d, %s },",
		     c_string(module->arena, pivots_name(module->arena, list.items[i]->write.array)),
		     type_abi_name(list.items[i]->write.array->type), segments_slot(layout, list.items[i]),
		     c_string(module->arena, source_place(module, list.items[i]->span)));
	close_block(w, "};");
}

int layout_n_pivots(const struct layout *layout)
{
	return stages_of_pivots(layout->module).n;
}

/* ---- statements ---- */

/* The row of the present lane, counted from the begin of its segment. */
static struct k_expr *row_of_segment(struct emit *e, const struct point *point, const struct expr *row)
{
	struct affine at = affine_of_expr(e, point, row), begin = affine_atom(e->arena, e->variable_length->begin);

	at = affine_combine(e->arena, 1, &at, -1, &begin);
	return affine_expr(e->arena, &at);
}

/* Lanes without a system, whose segment has no such row, or for which the statement is not, have any value. NULL: there
 * are none. */
static struct k_expr *has_pivot(struct emit *e, const struct point *point, const struct expr *pivot)
{
	struct k_expr *conditions = lane_conditions(e, true), *is_there = NULL;

	if (e->variable_length)
		is_there = k_operate(e->arena, row_of_segment(e, point, pivot->args[1]), K_LT,
				     e->variable_length->rows);
	else if (e->block.mark && e->block.in_lanes)
		is_there = k_binary(e->arena, K_LT, k_name(e->arena, e->block.lane), e->block.n_lanes);
	return conditions ? k_join(e->arena, K_AND, is_there, conditions) : is_there;
}

static void check_lane(struct emit *e, const struct point *point, const struct expr *pivot, const char *name,
		       int number)
{
	struct k_expr *condition = has_pivot(e, point, pivot);
	struct arena *a = e->arena;

	if (condition)
		k_only_if(e->b, condition);
	k_do(e->b, K_CALL(a, "pmg_check_pivot", k_name(a, "plan"), k_name(a, name), k_int(a, number),
			  c_expr(e, point, pivot->args[1]), c_expr(e, point, pivot->args[2])));
}

/* Of lanes that each have a system: how many of them there are, and how far apart the systems are. */
static void check_systems(struct emit *e, const struct point *point, const struct expr *pivot, const char *name,
			  int number)
{
	struct arena *a = e->arena;
	const struct expr *system = pivot->args[2], *stride = slope(a, system, mark_dim_number(e->block.mark));
	const char *macro = arena_printf(a, "PMG_CHECK_PIVOTS_%s", row_suffix(pivot->type));
	struct k_expr *n_lanes = k_binary(a, K_SUB, e->block.n_lanes, k_name(a, e->block.lane));
	struct k_expr *row = c_expr(e, point, pivot->args[1]), *first = c_expr(e, point, system);

	k_do(e->b, K_CALL(a, macro, k_name(a, "plan"), k_name(a, name), n_lanes, k_int(a, number), row, first,
			  stride ? c_expr(e, point, stride) : k_int(a, 0)));
}

/* Of lanes that each have a segment. Those for which the statement is not pass a good pivot. */
static void check_segments(struct emit *e, const struct point *point, const struct expr *pivot, const char *name,
			   int number)
{
	struct arena *a = e->arena;
	const char *suffix = row_suffix(pivot->type);
	struct k_expr *conditions = lane_conditions(e, true), *value = k_name(a, name), *good;

	if (conditions) {
		good = K_CALL(a, arena_printf(a, "PMG_FILL_%s", suffix), k_int(a, 1));
		value = K_CALL(a, arena_printf(a, "PMG_CHOOSE_%s", suffix), conditions, value, good);
	}
	k_do(e->b, K_CALL(a, arena_printf(a, "PMG_CHECK_RAGGED_%s", suffix), k_name(a, "plan"), value,
			  k_int(a, number), row_of_segment(e, point, pivot->args[1]),
			  k_address(a, e->variable_length->begin), k_address(a, e->variable_length->rows)));
}

static void check_vector(struct emit *e, const struct point *point, const struct expr *pivot, const char *name,
			 int number)
{
	if (e->variable_length)
		check_segments(e, point, pivot, name, number);
	else
		check_systems(e, point, pivot, name, number);
}

const char *emit_pivot(struct emit *e, const struct stage *stage, const struct point *point)
{
	const struct expr *pivot = expr_find_pivot(stage->value);
	const char *name;
	struct k_expr *value;
	int number;

	if (!pivot)
		return NULL;
	value = lane_value(e, pivot->args[0], c_expr(e, point, pivot->args[0]));
	name = names_declare(&e->names, "pivot");
	k_const(e->b, k_scalar(lane_type(e, pivot->type)), name, value);
	number = number_of(e->module, stage);
	if (e->block.in_lanes && e->block.has_vectors)
		check_vector(e, point, pivot, name, number);
	else
		check_lane(e, point, pivot, name, number);
	return name;
}
