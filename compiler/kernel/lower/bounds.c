/* SPDX-License-Identifier: MIT
 *
 * Launch bounds. How many teams of a device run side by side follows from the registers that their lanes take
 * (registers.c): a kernel is bounded by that, begins with what it says of its teams, and is started by as many. Rows of
 * long cells have other ones, if the number of warps of a block is not given. */
#include <string.h>

#include "kernel/lower/lower_private.h"

struct kernel {
	struct arena *arena;
	const char *name;
	struct k_team team;
	struct k_registers registers;
};

/* The macro that a kernel has in the place of this one, and its arguments. */
static struct k_expr *macro_of(const struct kernel *kernel, const char *name, const k_expr_list *args)
{
	const char *of = arena_printf(kernel->arena, "%s_OF", name);
	const char *of_long = arena_printf(kernel->arena, "%s_LONG", name);

	if (kernel->team.warps)
		return k_with_args(kernel->arena, K_CALL(kernel->arena, of, k_int(kernel->arena, kernel->team.warps)),
				   args->items, args->n);
	return k_call_of(kernel->arena, kernel->registers.is_long && k_callee_find(of_long) ? of_long : name,
			 args->items, args->n);
}

static struct k_expr *numbers_of(const struct kernel *kernel, const char *name, int64_t a, int64_t b)
{
	const struct k_expr *numbers = K_LIST(kernel->arena, k_int(kernel->arena, a), k_int(kernel->arena, b));

	return macro_of(kernel, name, &numbers->args);
}

/* By the bytes that each lane has of rows and sums; 0: no row of known length is read. */
static struct k_expr *bounds_of(const struct kernel *kernel)
{
	const struct k_registers *registers = &kernel->registers;
	const bool is_of_floats = registers->read > 0 && !registers->is_long && !registers->has_long_sums;

	return numbers_of(kernel, is_of_floats ? "PMG_BOUNDS_F32" : "PMG_BOUNDS", kernel->team.lanes,
			  registers->read > 0 ? registers->held + registers->read : 0);
}

/* ---- the head of the kernel ---- */

static void add_team(const struct kernel *kernel, struct k_function *function)
{
	const struct k_team *team = &kernel->team;
	const struct k_expr *numbers = K_LIST(kernel->arena, k_int(kernel->arena, team->lanes),
					      k_int(kernel->arena, team->group), k_int(kernel->arena, team->width));
	struct k_block body = { 0 };
	struct k_builder b = k_builder_new(kernel->arena, &body);

	b.span = function->head.span;
	k_do(&b, macro_of(kernel, "PMG_TEAM", &numbers->args));
	k_add_from(&b, &function->body, 0);
	function->body = body;
}

/* ---- what starts it ---- */

static bool size_launch(const struct k_stmt *stmt, void *user)
{
	const struct kernel *kernel = user;
	struct k_stmt *launch = (struct k_stmt *) stmt;

	if (stmt->kind == KS_CALL && k_effects(stmt->value) & K_CALL_IS_LAUNCH && stmt->value->args.n > 1 &&
	    stmt->value->args.items[1]->kind == KE_NAME && !strcmp(stmt->value->args.items[1]->text, kernel->name))
		launch->value = macro_of(kernel, stmt->value->text, &stmt->value->args);
	return true;
}

static void size_launches(const struct k_program *program, struct kernel *kernel)
{
	for (int i = 0; i < program->functions.n; i++)
		if (program->functions.items[i]->kind != K_FUNCTION_DEVICE)
			k_walk_block(&program->functions.items[i]->body,
				     &(struct k_visitor) { .stmt = size_launch, .user = kernel });
}

/* From here on the calls say what its teams are. */
static void lower_function(const struct k_lowered *lowered, struct k_function *function)
{
	struct kernel kernel = { .arena = lowered->arena, .name = function->name, .team = function->team };

	if (!function->team.lanes)
		return;
	kernel.registers = k_registers_count(&function->team, &function->body);
	if (lowered->target->has_launch_bounds)
		function->bounds = bounds_of(&kernel);
	add_team(&kernel, function);
	size_launches(lowered->program, &kernel);
	function->team = (struct k_team) { 0 };
}

void lower_bounds(struct k_lowered *lowered)
{
	for (int i = 0; i < lowered->program->functions.n; i++)
		lower_function(lowered, lowered->program->functions.items[i]);
}
