/* SPDX-License-Identifier: MIT
 *
 * Private copies: below a PRIVATE mark all threads share a loop, and updates of a stage go to a copy of its target that
 * belongs to the thread, or to the part of the loop: a row of the plan's array of copies. Behind the loop, threads
 * share the cells of the target and add the copies to it, in the order of the threads or parts. */
#include "codegen/codegen_private.h"

static const struct array *copies_of(const struct module *module, const struct array *target)
{
	for (int i = 0; i < module->arrays.n; i++)
		if (module->arrays.items[i]->role == ROLE_PRIVATE && module->arrays.items[i]->owner == target)
			return module->arrays.items[i];
	return NULL;
}

int private_parts(const struct array *copies)
{
	return (int) copies->hi[0]->integer;
}

/* How many cells the target has, as text that may be multiplied. */
static const char *cells_text(struct emit *e, const struct array *target)
{
	struct affine cells = affine_constant(1);

	for (int d = 0; d < target->rank; d++) {
		struct affine lo = affine_of_expr(e, NULL, target->lo[d]), hi = affine_of_expr(e, NULL, target->hi[d]);
		struct affine extent = affine_combine(e->arena, 1, &hi, -1, &lo);
		int64_t value;

		if (affine_is_constant(&cells, &value))
			cells = affine_scale(e->arena, &extent, value, 0);
		else if (affine_is_constant(&extent, &value))
			cells = affine_scale(e->arena, &cells, value, 0);
		else
			cells = affine_product(e->arena, affine_expr(e->arena, &cells), affine_expr(e->arena, &extent));
	}
	return x_text(e, k_at_least(e->arena, affine_expr(e->arena, &cells), K_LEVEL_PRODUCT));
}

struct k_expr *private_cell(struct emit *e, const struct stage *stage, const struct point *point)
{
	struct affine index;

	if (!e->private_copy.of || e->private_copy.of != stage)
		return NULL;
	index = c_index(e, point, &stage->write);
	return k_load(e->arena, k_name(e->arena, e->private_copy.name), affine_expr(e->arena, &index));
}

/* The copies, as what numbers them and how many there are. */
static void emit_sum(struct emit *e, const struct stage *stage, const struct array *copies, const char *cells)
{
	const struct array *target = stage->write.array;
	int visible = e->names.visible.n, parts = private_parts(copies);
	const char *i = names_declare(&e->names, "i");
	const char *number = names_declare(&e->names, parts > 1 ? "part" : "thread");
	const char *n = parts > 1 ? int_text(e->arena, parts) : names_declare(&e->names, "n_threads");
	const char *sum = names_declare(&e->names, stage->op == REDUCE_MUL ? "product" : "sum");
	const char *type = type_c_name(target->type);
	struct k_expr *value;

	if (parts == 1)
		quote(e->b, "const int64_t %s = pmg_threads();", n);
	e->target->above_loop(e, &(struct loop_use) { .is_parallel = true });
	quote_open(e->b, "for (int64_t %s = 0; %s < %s; %s++) {", i, i, cells, i);
	quote(e->b, "%s %s = %s;", type, sum, x_text(e, c_identity(e->arena, stage->op, target->type)));
	quote_open(e->b, "for (int64_t %s = 0; %s < %s; %s++) {", number, number, n, number);
	value = quote_expr(e->arena, arena_printf(e->arena, "%s[%s*%s + %s]", copies->c_name, number, cells, i));
	emit_update(e, &(struct update) { .op = stage->op, .type = target->type, .target = k_name(e->arena, sum),
					  .value = value });
	quote_close(e->b, "}");
	value = k_load(e->arena, k_name(e->arena, target->c_name), k_name(e->arena, i));
	emit_update(e, &(struct update) { .op = stage->op, .type = target->type, .target = value,
					  .value = k_name(e->arena, sum) });
	quote_close(e->b, "}");
	e->names.visible.n = visible;
}

static void emit_start(struct emit *e, const struct stage *stage, const char *own, const char *cells)
{
	int visible = e->names.visible.n;
	const char *i = names_declare(&e->names, "i");

	e->target->above_loop(e, &(struct loop_use) { .is_vector = true });
	quote_open(e->b, "for (int64_t %s = 0; %s < %s; %s++) {", i, i, cells, i);
	quote(e->b, "%s[%s] = %s;", own, i, x_text(e, c_identity(e->arena, stage->op, stage->write.array->type)));
	quote_close(e->b, "}");
	e->names.visible.n = visible;
}

/* The loop, with its updates in the copy of this number. */
static void emit_into_copy(struct emit *e, __isl_keep isl_ast_node *node, const struct stage *stage,
			   const struct array *copies, const char *number, const char *cells)
{
	const char *own = names_declare(&e->names, arena_printf(e->arena, "%s_own", stage->write.array->c_name));

	quote(e->b, "%s *%s = %s + %s*%s;", type_c_name(copies->type), own, copies->c_name, number, cells);
	emit_start(e, stage, own, cells);
	e->private_copy = (struct cell) { .of = stage, .name = own };
	emit_node(e, node, (struct loop_use) { 0 });
	e->private_copy = (struct cell) { 0 };
}

static void emit_copies_of_parts(struct emit *e, __isl_keep isl_ast_node *node, const struct stage *stage,
		       const struct array *copies, const char *cells)
{
	int visible;

	e->n_parts = int_text(e->arena, private_parts(copies));
	e->target->above_loop(e, &(struct loop_use) { .is_parallel = true });
	e->part = open_parts(e);
	visible = e->names.visible.n;
	emit_into_copy(e, node, stage, copies, e->part, cells);
	e->part = NULL;
	block_close(e, visible);
}

void emit_private(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark)
{
	const struct stage *stage = mark->stage;
	const struct array *target = stage->write.array, *copies = copies_of(e->module, target);
	const char *cells = cells_text(e, target);
	int visible = e->names.visible.n;

	if (!copies) {
		emit_fail(e, "there are no private copies of '%s'", target->name);
		return;
	}
	region_count(e, node, NULL);
	e->in_region = true;
	e->target->open_team(e);
	if (private_parts(copies) > 1)
		emit_copies_of_parts(e, node, stage, copies, cells);
	else
		emit_into_copy(e, node, stage, copies, "pmg_thread()", cells);
	emit_sum(e, stage, copies, cells);
	block_close(e, visible);
	e->in_region = false;
	note_write(e, target);
	note_write(e, copies);
}
