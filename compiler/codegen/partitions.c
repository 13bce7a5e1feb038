/* SPDX-License-Identifier: MIT
 *
 * Loops that are partitioned into a fixed number of parts, so that sums do not depend on the number of threads: threads
 * share the parts, each part adds to accumulators of its own (or to a private copy of the target, privates.c), and
 * behind the loop these are added in the order of the parts. */
#include "codegen/codegen_private.h"

/* ---- the share of a part ---- */

static void open_share(struct emit *e, const struct range *range, const char *name, const struct loop_use *use)
{
	const struct cut cut = { range->first, range->end, e->threads.n_parts, use->chunk };
	struct k_stmt *loop = k_begin_for(e->b, "int64_t", name, cut_begin(e->arena, &cut, e->threads.part),
					  cut_end(e->arena, &cut, e->threads.part), NULL);

	if (use->is_vector)
		e->target->share(e, loop, &(struct loop_use) { .is_vector = true });
}

/* If the iterations are not one apart, the first part has all. */
void open_part(struct emit *e, const struct range *range, const char *name, struct loop_use use)
{
	struct k_expr *is_first = k_binary(e->arena, K_EQ, k_name(e->arena, e->threads.part), k_int(e->arena, 0));

	if (range->is_single) {
		k_begin_if(e->b, is_first);
		k_const(e->b, k_scalar("int64_t"), name, affine_expr(e->arena, &range->first));
	} else if (range->step == 1 && use.mark->direction > 0) {
		open_share(e, range, name, &use);
	} else {
		k_only_if(e->b, is_first);
		open_for(e, range, name, use.mark->direction);
	}
}

/* ---- accumulators ---- */

/* Names of arrays with a cell for each part, one for each accumulator. */
static const char **declare_parts(struct emit *e)
{
	const char **arrays = arena_new_array(e->arena, const char *, e->accumulators.n);

	for (int i = 0; i < e->accumulators.n; i++) {
		const struct cell *cell = &e->accumulators.items[i];
		const struct stage *stage = cell->of;

		arrays[i] = names_declare(&e->names, arena_printf(e->arena, "%s_parts", cell->name));
		k_array(e->b, k_scalar(type_c_name(stage->write.array->type)), arrays[i], e->threads.n_parts, NULL);
	}
	return arrays;
}

/* Gives each accumulator a name for the part; the names that they had. */
static const char **rename_accumulators(struct emit *e)
{
	const char **names = arena_new_array(e->arena, const char *, e->accumulators.n);

	for (int i = 0; i < e->accumulators.n; i++) {
		struct cell *cell = &e->accumulators.items[i];
		enum scalar_type type = ((const struct stage *) cell->of)->write.array->type;

		names[i] = cell->name;
		cell->name = names_declare(&e->names, arena_printf(e->arena, "%s_part", cell->name));
		cell->value = k_name(e->arena, cell->name);
		k_var(e->b, k_scalar(type_c_name(type)), cell->name, c_identity(e->arena, cell->op, type));
	}
	return names;
}

static void keep_parts(struct emit *e, const char **arrays, const char **names)
{
	for (int i = 0; i < e->accumulators.n; i++) {
		struct cell *cell = &e->accumulators.items[i];

		k_set(e->b, k_at(e->arena, arrays[i], k_name(e->arena, e->threads.part)), k_name(e->arena, cell->name));
		cell->name = names[i];
		cell->value = k_name(e->arena, cell->name);
	}
}

const char *open_parts(struct emit *e, bool is_shared)
{
	const char *part = names_declare(&e->names, "part");
	struct k_stmt *loop = k_begin_for(e->b, "int64_t", part, k_int(e->arena, 0), e->threads.n_parts, NULL);

	if (is_shared)
		e->target->share(e, loop, &(struct loop_use) { .is_parallel = true });
	return part;
}

static void add_parts(struct emit *e, const char **arrays)
{
	int visible = e->names.visible.n;
	const char *part = open_parts(e, false);

	for (int i = 0; i < e->accumulators.n; i++) {
		const struct cell *cell = &e->accumulators.items[i];
		const struct stage *stage = cell->of;

		emit_update(e, &(struct update) { .op = cell->op, .type = stage->write.array->type,
						  .target = cell->value,
						  .value = k_at(e->arena, arrays[i], k_name(e->arena, part)) });
	}
	block_close(e, visible);
}

void emit_parts(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use)
{
	int n = e->accumulators.n, visible;
	const char **arrays, **names;

	e->threads.n_parts = k_int(e->arena, use.parts);
	arrays = declare_parts(e);
	visible = e->names.visible.n;
	e->accumulators.n = 0;
	e->threads.part = open_parts(e, true);
	e->accumulators.n = n;
	names = rename_accumulators(e);
	use.parts = use.chunk = 0;
	emit_for(e, node, use);
	keep_parts(e, arrays, names);
	e->threads.part = NULL;
	block_close(e, visible);
	add_parts(e, arrays);
}
