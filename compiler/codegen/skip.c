/* SPDX-License-Identifier: MIT
 *
 * Loops below a SKIP mark run only where the factor of their terms is not zero, or where an array of another factor
 * holds something that is not finite, which the kernel asks its plan once. */
#include "codegen/codegen_private.h"

void add_unless_finite(struct str *condition, const struct emit *e, const struct array *const *factors, int n)
{
	const struct layout *layout = e->layout;

	for (int i = 0; i < n; i++)
		str_add(condition, " || !%s", layout->slots.items[layout->slot_of[factors[i]->number]].finite);
}

const char *skip_condition(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark)
{
	struct point point = { mark->stage, ast_first_instance(node, mark->stage, false) };
	struct str condition = str_new(e->arena);
	struct zero_factor factor;

	if (!point.instance)
		return NULL;
	if (!stage_zero_factor(mark->stage, &factor)) {
		emit_fail(e, "a loop is skipped without a factor");
		return NULL;
	}
	str_add(&condition, "%s != %s", x_text(e, c_expr(e, &point, factor.factor)),
		x_text(e, c_identity(e->arena, REDUCE_ADD, factor.factor->type)));
	if (mark->kind == MARK_SKIP)
		add_unless_finite(&condition, e, factor.finite, factor.n_finite);
	isl_ast_expr_free(point.instance);
	return str_text(&condition);
}

void emit_skip(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark, struct loop_use use)
{
	const char *condition;
	int names;

	if (deferral_is_unconditional(e, mark->stage)) {
		emit_node(e, node, use);
		return;
	}
	condition = skip_condition(e, node, mark);
	if (!condition)
		return;
	names = block_open(e, "if (%s) {", condition);
	emit_node(e, node, use);
	block_close(e, names);
}
