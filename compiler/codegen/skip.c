/* SPDX-License-Identifier: MIT
 *
 * Loops below a SKIP mark run only if the factor of their terms is not zero, or if an array of another factor has
 * values that are not finite. The kernel reads from its plan once whether it has. */
#include "codegen/codegen_private.h"

struct k_expr *or_not_finite(const struct emit *e, struct k_expr *condition, const struct array *const *factors, int n)
{
	const struct layout *layout = e->layout;

	for (int i = 0; i < n; i++) {
		const char *finite = layout->slots.items[layout->slot_of[factors[i]->number]].finite;
		struct k_expr *is_not = k_unary(e->arena, K_NOT, k_name(e->arena, finite));

		condition = k_operate(e->arena, condition, K_OR, is_not);
	}
	return condition;
}

struct k_expr *skip_condition(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark)
{
	struct point point = { mark->stage, ast_instance_below(node, mark->stage, false) };
	struct k_expr *condition;
	struct zero_factor factor;

	if (!point.instance)
		return NULL;
	if (!stage_zero_factor(mark->stage, &factor)) {
		emit_fail(e, "a loop is skipped without a factor");
		return NULL;
	}
	condition = k_operate(e->arena, c_expr(e, &point, factor.factor), K_NE,
			      c_identity(e->arena, REDUCE_ADD, factor.factor->type));
	if (mark->kind == MARK_SKIP)
		condition = or_not_finite(e, condition, factor.finite, factor.n_finite);
	return condition;
}

void emit_skip(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark, struct loop_use use)
{
	struct k_expr *condition;
	int names;

	condition = skip_condition(e, node, mark);
	if (!condition)
		return;
	names = block_of(e, k_begin_if(e->b, condition));
	emit_node(e, node, use);
	block_close(e, names);
}
