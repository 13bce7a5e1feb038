/* SPDX-License-Identifier: MIT
 *
 * What a recurrence divides by. A temporary that is read as a divisor only, at several places and in a recurrence, is
 * kept as its reciprocal: one quotient for each of its values, in the place of one for each read. Quotients are what
 * such recurrences wait for (Thomas' algorithm divides four times by each pivot). x*(1/p) differs from x/p in the last
 * bit or two; docs/language.md, "Numbers", allows it. */
#include "passes/pass_private.h"

enum { FEWEST_READS = 2 };

bool expr_is_quotient_by(const struct expr *expr, const struct array *array)
{
	return expr->kind == EXPR_OP && expr->op == OP_DIV && expr->args[1]->kind == EXPR_READ &&
	       expr->args[1]->access.array == array;
}

/* The reads of it as a divisor. */
static int count_quotients(const struct expr *expr, const struct array *array)
{
	int n = expr_is_quotient_by(expr, array);

	for (int i = 0; i < expr_n_args(expr); i++)
		n += count_quotients(expr->args[i], array);
	return n;
}

bool array_is_only_divisor(struct module *module, struct array *array)
{
	int n_quotients = 0;
	bool in_recurrence = false;

	if (array->role != ROLE_TEMP || !type_is_float(array->type) || array_is_index(array))
		return false;
	for (int i = 0; i < module->stages.n; i++) {
		struct stage *stage = module->stages.items[i];

		if (stage->write.array == array && (stage->op != REDUCE_SET || stage->is_init || stage->is_commit))
			return false;
		n_quotients += count_quotients(stage->value, array);
		in_recurrence |= stage->group->is_recurrence && stage_reads_array(stage, array);
	}
	return in_recurrence && n_quotients >= FEWEST_READS && n_quotients == module_count_reads(module, array);
}

static void multiply(struct expr *expr, const struct array *array)
{
	if (expr_is_quotient_by(expr, array))
		expr->op = OP_MUL;
	for (int i = 0; i < expr_n_args(expr); i++)
		multiply(expr->args[i], array);
}

static void keep_reciprocal(struct module *module, struct array *array)
{
	for (int i = 0; i < module->stages.n; i++) {
		struct stage *stage = module->stages.items[i];

		multiply(stage->value, array);
		if (stage->write.array == array)
			stage->value = expr_binary(module->arena, OP_DIV, array->type,
						   expr_float(module->arena, 1.0, array->type, stage->value->span),
						   stage->value);
	}
	module_decide(module, DECISION_RECIPROCALS, array->name, array->span,
		      "a recurrence divides by it in several places");
}

bool pass_reciprocals(struct module *module, const struct pass_options *options)
{
	for (int i = 0; options->reciprocals && i < module->arrays.n; i++)
		if (array_is_only_divisor(module, module->arrays.items[i]))
			keep_reciprocal(module, module->arrays.items[i]);
	return true;
}
