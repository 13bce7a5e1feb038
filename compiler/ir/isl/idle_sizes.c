/* SPDX-License-Identifier: MIT
 *
 * Which sizes play a part in a stage: those that its domain mentions, those of the arrays that it reads and writes, and
 * what assumptions tie to them. Of the others it is only known that they are not negative, and that there are such as
 * the assumptions on them ask for: a set that does not mention them is the same for all of them. isl's operations take
 * time with the number of constraints. */
#include "ir/ir.h"

void sizes_of_expr(const struct expr *expr, bool *are_used)
{
	if (!expr)
		return;
	if (expr->kind == EXPR_PARAM)
		are_used[expr->index] = true;
	for (int i = 0; i < expr_n_args(expr); i++)
		sizes_of_expr(expr->args[i], are_used);
}

static void sizes_of_access(const struct access *access, bool *are_used)
{
	for (int i = 0; i < access_n_subs(access); i++) {
		sizes_of_expr(access->subs[i], are_used);
		sizes_of_expr(access->array->lo[i], are_used);
		sizes_of_expr(access->array->hi[i], are_used);
	}
	sizes_of_expr(access->array->limit, are_used);
}

void sizes_of_domain(const struct stage *stage, bool *are_used)
{
	sizes_of_expr(stage->guard, are_used);
	for (int i = 0; i < stage->dims.n; i++) {
		const struct dim *dim = &stage->dims.items[i];

		sizes_of_expr(dim->lo, are_used);
		sizes_of_expr(dim->hi, are_used);
		if (dim->kind != DIM_RANGE)
			sizes_of_access(&dim->source, are_used);
	}
}

void sizes_of_loop(const struct module *module, bool *are_used)
{
	if (!module->loop.var)
		return;
	are_used[module->loop.param] = true;
	sizes_of_expr(module->loop.lo, are_used);
	sizes_of_expr(module->loop.hi, are_used);
}

static void sizes_of_value(const struct expr *expr, bool *are_used)
{
	if (!expr)
		return;
	if (expr->kind == EXPR_PARAM)
		are_used[expr->index] = true;
	if (expr->kind == EXPR_READ)
		sizes_of_access(&expr->access, are_used);
	for (int i = 0; i < expr_n_args(expr); i++)
		sizes_of_value(expr->args[i], are_used);
}

/* Does an expression mention a size that is used? */
static bool is_tied(const struct expr *expr, const bool *are_used)
{
	bool is = expr->kind == EXPR_PARAM && are_used[expr->index];

	for (int i = 0; !is && i < expr_n_args(expr); i++)
		is = is_tied(expr->args[i], are_used);
	return is;
}

static int count(const struct module *module, const bool *are_used)
{
	int n = 0;

	for (int i = 0; i < module->params.n; i++)
		n += are_used[i];
	return n;
}

/* What assumptions tie to those that are used. */
static void add_tied(const struct module *module, bool *are_used)
{
	int before = -1, now = count(module, are_used);

	while (now != before) {
		for (int i = 0; i < module->assumptions.n; i++)
			if (is_tied(module->assumptions.items[i], are_used))
				sizes_of_expr(module->assumptions.items[i], are_used);
		before = now;
		now = count(module, are_used);
	}
}

bool *sizes_of_stage(const struct module *module, const struct stage *stage)
{
	bool *are_used = arena_new_array(module->arena, bool, module->params.n + 1);

	sizes_of_domain(stage, are_used);
	sizes_of_access(&stage->write, are_used);
	sizes_of_value(stage->value, are_used);
	if (group_region(module, stage->group) == REGION_BODY)
		sizes_of_loop(module, are_used);
	add_tied(module, are_used);
	return are_used;
}

bool sizes_are_tied(const struct expr *assumption, const bool *are_used)
{
	return !are_used || is_tied(assumption, are_used);
}
