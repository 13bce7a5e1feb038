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

/* How many cells the target has, as a factor. */
static struct k_expr *cells_of(struct emit *e, const struct array *target)
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
	return k_at_least(e->arena, affine_expr(e->arena, &cells), K_LEVEL_PRODUCT);
}

struct k_expr *private_cell(struct emit *e, const struct stage *stage, const struct point *point)
{
	struct affine index;

	if (!e->private_copy.of || e->private_copy.of != stage)
		return NULL;
	index = c_index(e, point, &stage->write);
	return k_load(e->arena, k_name(e->arena, e->private_copy.name), affine_expr(e->arena, &index));
}

static struct k_stmt *open_cells(struct emit *e, const char *i, struct k_expr *n)
{
	return k_begin_for(e->b, "int64_t", i, k_int(e->arena, 0), n, NULL);
}

/* The sum of a cell over all copies: its name. */
static const char *emit_sum_of_cell(struct emit *e, const struct stage *stage, const struct array *copies,
				    const char *number, struct k_expr *n, struct k_expr *cells, const char *i)
{
	struct arena *a = e->arena;
	const enum scalar_type type = stage->write.array->type;
	const char *sum = names_declare(&e->names, stage->op == REDUCE_MUL ? "product" : "sum");
	struct k_expr *place = k_binary(a, K_ADD, k_join(a, K_MUL, k_name(a, number), cells), k_name(a, i));

	k_var(e->b, k_scalar(type_c_name(type)), sum, c_identity(a, stage->op, type));
	open_cells(e, number, n);
	emit_update(e, &(struct update) { .op = stage->op, .type = type, .target = k_name(a, sum),
					  .value = k_at(a, copies->c_name, place) });
	k_end(e->b);
	return sum;
}

/* Threads share the cells of the target, and add the copies to each. */
static void emit_sum(struct emit *e, const struct stage *stage, const struct array *copies, struct k_expr *cells)
{
	struct arena *a = e->arena;
	const struct array *target = stage->write.array;
	const int visible = e->names.visible.n, parts = private_parts(copies);
	const char *i = names_declare(&e->names, "i");
	const char *number = names_declare(&e->names, parts > 1 ? "part" : "thread"), *sum;
	struct k_expr *n = parts > 1 ? k_int(a, parts) : k_name(a, names_declare(&e->names, "n_threads"));

	if (parts == 1)
		k_const(e->b, k_scalar("int64_t"), n->text, k_call_of(a, "pmg_threads", NULL, 0));
	e->target->share(e, open_cells(e, i, cells), &(struct loop_use) { .is_parallel = true });
	sum = emit_sum_of_cell(e, stage, copies, number, n, cells, i);
	emit_update(e, &(struct update) { .op = stage->op, .type = target->type,
					  .target = k_at(a, target->c_name, k_name(a, i)), .value = k_name(a, sum) });
	k_end(e->b);
	e->names.visible.n = visible;
}

static void emit_start(struct emit *e, const struct stage *stage, const char *own, struct k_expr *cells)
{
	int visible = e->names.visible.n;
	const char *i = names_declare(&e->names, "i");

	e->target->share(e, open_cells(e, i, cells), &(struct loop_use) { .is_vector = true });
	k_set(e->b, k_at(e->arena, own, k_name(e->arena, i)),
	      c_identity(e->arena, stage->op, stage->write.array->type));
	k_end(e->b);
	e->names.visible.n = visible;
}

/* The loop, with its updates in the copy of this number. */
static void emit_into_copy(struct emit *e, __isl_keep isl_ast_node *node, const struct stage *stage,
			   const struct array *copies, struct k_expr *number, struct k_expr *cells)
{
	struct arena *a = e->arena;
	const char *own = names_declare(&e->names, arena_printf(a, "%s_own", stage->write.array->c_name));

	k_var(e->b, k_pointer(type_c_name(copies->type), false), own,
	      k_binary(a, K_ADD, k_name(a, copies->c_name), k_join(a, K_MUL, number, cells)));
	emit_start(e, stage, own, cells);
	e->private_copy = (struct cell) { .of = stage, .name = own };
	emit_node(e, node, (struct loop_use) { 0 });
	e->private_copy = (struct cell) { 0 };
}

static void emit_copies_of_parts(struct emit *e, __isl_keep isl_ast_node *node, const struct stage *stage,
				 const struct array *copies, struct k_expr *cells)
{
	int visible;

	e->n_parts = k_int(e->arena, private_parts(copies));
	e->part = open_parts(e, true);
	visible = e->names.visible.n;
	emit_into_copy(e, node, stage, copies, k_name(e->arena, e->part), cells);
	e->part = NULL;
	block_close(e, visible);
}

void emit_private(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark)
{
	const struct stage *stage = mark->stage;
	const struct array *target = stage->write.array, *copies = copies_of(e->module, target);
	struct k_expr *cells = cells_of(e, target);
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
		emit_into_copy(e, node, stage, copies, k_call_of(e->arena, "pmg_thread", NULL, 0), cells);
	emit_sum(e, stage, copies, cells);
	block_close(e, visible);
	e->in_region = false;
	note_write(e, target);
	note_write(e, copies);
}
