/* SPDX-License-Identifier: MIT
 *
 * Updates that get private copies: below a PRIVATE mark all threads share a loop, or its parts, and update the target
 * of a stage as they come to its cells. A call says so, which names the plan's array that has room for copies: the
 * lowering `privatise` makes them. */
#include "codegen/codegen_private.h"

static const struct array *copies_of(const struct module *module, const struct array *target)
{
	for (int i = 0; i < module->arrays.n; i++)
		if (module->arrays.items[i]->role == ROLE_PRIVATE && module->arrays.items[i]->owner == target)
			return module->arrays.items[i];
	return NULL;
}

int n_private_copies(const struct array *copies)
{
	return (int) copies->hi[0]->integer;
}

/* How many cells the target has, as a factor. */
static struct k_expr *cells_of(struct emit *e, const struct array *target)
{
	struct affine cells = affine_constant(1);

	for (int d = 0; d < target->rank; d++) {
		struct affine extent = affine_of_range(e, target, d);

		cells = affine_multiply(e, &cells, &extent);
	}
	return k_at_least(e->arena, affine_expr(e->arena, &cells), K_LEVEL_PRODUCT);
}

/* PMG_PRIVATE_ADD(target, copies, cells, identity, parts), or by a function of both values. */
static struct k_expr *private_call(struct emit *e, const struct stage *stage, const struct array *copies)
{
	struct arena *a = e->arena;
	const enum scalar_type type = stage->write.array->type;
	struct k_expr *target = k_name(a, stage->write.array->c_name);
	const struct update update = { .op = stage->op, .type = type, .target = target, .value = target };
	const bool is_function = stage->op == REDUCE_MIN || stage->op == REDUCE_MAX;
	struct k_expr *call = k_call(a, is_function ? "PMG_PRIVATE_BY" : stage->op == REDUCE_MUL ? "PMG_PRIVATE_MUL"
												 : "PMG_PRIVATE_ADD",
													 0);

	if (is_function)
		vec_push(a, &call->args, k_name(a, update_result(e, &update)->text));
	return K_WITH(a, call, target, k_name(a, copies->c_name), cells_of(e, stage->write.array),
		      c_identity(a, stage->op, type), k_int(a, n_private_copies(copies)));
}

static void emit_in_parts(struct emit *e, __isl_keep isl_ast_node *node, const struct array *copies)
{
	const int visible = e->names.visible.n;

	e->threads.n_parts = k_int(e->arena, n_private_copies(copies));
	e->threads.part = open_parts(e, true);
	emit_node(e, node, (struct loop_use) { 0 });
	e->threads.part = NULL;
	block_close(e, visible);
}

void emit_private(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark)
{
	const struct array *target = mark->stage->write.array, *copies = copies_of(e->module, target);
	int visible = e->names.visible.n;

	if (!copies) {
		emit_fail(e, "there are no private copies of '%s'", target->name);
		return;
	}
	region_count(e, node, NULL);
	e->threads.in_region = true;
	e->target->open_team(e);
	k_do(e->b, private_call(e, mark->stage, copies));
	if (n_private_copies(copies) > 1)
		emit_in_parts(e, node, copies);
	else
		emit_node(e, node, (struct loop_use) { 0 });
	block_close(e, visible);
	e->threads.in_region = false;
	note_write(e, target);
	note_write(e, copies);
}
