/* SPDX-License-Identifier: MIT
 *
 * Which values are pivots of eliminations, over chains and over trees: they become as_pivot(value, row, system), which
 * reports a value that is zero or not finite. Nothing else changes. Where rows of many systems lie one behind another,
 * the row tells the system (stage_segments). */
#include "ir/match/elimination.h"
#include "ir/match/terms.h"
#include "passes/pass_private.h"

enum { NO_SYSTEM = -1 };

/* `expr` with `other` in the place of the node `part`. */
static struct expr *with_part(struct arena *arena, struct expr *expr, const struct expr *part, struct expr *other)
{
	struct expr *copy;

	if (expr == part)
		return other;
	if (!expr_n_args(expr))
		return expr;
	copy = arena_new(arena, struct expr);
	*copy = *expr;
	copy->args = arena_new_array(arena, struct expr *, expr_n_args(expr));
	for (int i = 0; i < expr_n_args(expr); i++)
		copy->args[i] = with_part(arena, expr->args[i], part, other);
	return copy;
}

/* The number of the system in row-major order. */
static struct expr *system_of(struct module *module, const struct stage *stage, int row)
{
	const struct array *array = stage->write.array;
	struct arena *arena = module->arena;
	struct expr *system = NULL, *extent, *from;

	for (int d = 0; d < array->rank; d++) {
		if (d == row)
			continue;
		from = stage->write.subs[d];
		if (!expr_is_zero(array->lo[d]))
			from = expr_binary(arena, OP_SUB, TYPE_I64, from, array->lo[d]);
		if (system) {
			extent = expr_binary(arena, OP_SUB, TYPE_I64, array->hi[d], array->lo[d]);
			system = expr_binary(arena, OP_MUL, TYPE_I64, system, extent);
			system = expr_binary(arena, OP_ADD, TYPE_I64, system, from);
		} else {
			system = from;
		}
	}
	return system ? system : expr_int(arena, NO_SYSTEM, stage->span);
}

/* What stands for the pivot in the value of the stage. */
static struct expr *pivot_of(struct module *module, const struct stage *stage, bool is_scaled)
{
	term_list terms;

	if (!is_scaled)
		return stage->value;
	terms = terms_of(module->arena, stage->value, stage->write.array);
	return terms.items[0].under.items[0];
}

static void mark(struct module *module, const struct array *pivots, int row, bool is_scaled)
{
	for (int i = 0; i < module->stages.n; i++) {
		struct stage *stage = module->stages.items[i];
		struct expr **args;

		if (stage->write.array != pivots || expr_find_pivot(stage->value))
			continue;
		args = arena_new_array(module->arena, struct expr *, 3);
		args[0] = pivot_of(module, stage, is_scaled);
		args[1] = stage->write.subs[row];
		args[2] = system_of(module, stage, row);
		stage->value = with_part(module->arena, stage->value, args[0],
					 expr_call(module->arena, OP_PIVOT, args[0]->type, args, args[0]->span));
	}
}

static void look_at(struct module *module, struct array *solution)
{
	struct elimination elimination;
	int row;
	struct array *pivots = tree_elimination_pivots(module, solution, &row);

	if (pivots)
		mark(module, pivots, row, false);
	else if (!elimination_problem(module, solution, &elimination))
		mark(module, elimination.pivot, elimination.row, elimination.is_scaled);
}

void module_mark_pivots(struct module *module)
{
	for (int i = 0; i < module->arrays.n; i++)
		look_at(module, module->arrays.items[i]);
}

bool pass_pivots(struct module *module, const struct pass_options *options)
{
	(void) options;
	module_mark_pivots(module);
	return true;
}
