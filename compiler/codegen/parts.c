/* SPDX-License-Identifier: MIT
 *
 * Loops that are cut into parts. Either into as many whatever the number of threads, so that what they add up does not
 * depend on it: threads share the parts, each part adds to accumulators of its own (or to a copy of the target,
 * privates.c), and behind the loop these are added in the order of the parts. Or one for each thread, where a sum is
 * both shared and in vectors: a thread's sum is one variable for OpenMP, and the lanes of its part are added to that.
 * (As one `for simd`, clang takes lanes to be apart that are not.) */
#include "codegen/codegen_private.h"

/* ---- the share of a part ---- */

/* `next` is the part itself, or the one behind it. */
static const char *cut_text(struct emit *e, const struct cut *cut, const char *next)
{
	struct affine length = affine_combine(e->arena, 1, &cut->end, -1, &cut->first);
	int64_t constant;
	const char *begin;

	if (cut->chunk)
		begin = arena_printf(e->arena, "pmg_part_begin(%s, %s, %s, %d)", affine_plain(e->arena, &length), next,
				     e->n_parts, cut->chunk);
	else
		begin = arena_printf(e->arena, "%s*%s/%s", next,
				     x_text(e, k_at_least(e->arena, affine_expr(e->arena, &length), K_LEVEL_UNARY)),
				     e->n_parts);
	if (affine_is_constant(&cut->first, &constant) && constant == 0)
		return begin;
	return arena_printf(e->arena, "%s + %s", affine_plain(e->arena, &cut->first), begin);
}

const char *part_begin(struct emit *e, const struct cut *cut, const char *part)
{
	return cut_text(e, cut, part);
}

const char *part_end(struct emit *e, const struct cut *cut, const char *part)
{
	return cut_text(e, cut, arena_printf(e->arena, cut->chunk ? "%s + 1" : "(%s + 1)", part));
}

/* Where the iterations are not one apart, the first part has all. */
void open_part(struct emit *e, const struct range *range, const char *name, struct loop_use use)
{
	const struct cut cut = { range->first, range->end, use.chunk };

	if (range->is_single) {
		quote_open(e->b, "if (%s == 0) {", e->part);
		quote(e->b, "const int64_t %s = %s;", name, affine_plain(e->arena, &range->first));
	} else if (range->step == 1 && use.mark->direction > 0) {
		if (use.is_vector)
			e->target->above_loop(e, &(struct loop_use) { .is_vector = true });
		quote_open(e->b, "for (int64_t %s = %s; %s < %s; %s++) {", name,
			   part_begin(e, &cut, e->part), name, part_end(e, &cut, e->part), name);
	} else {
		quote_open(e->b, "if (%s == 0)\n\t%s", e->part, for_text(e, range, name, use.mark->direction));
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
		quote(e->b, "%s %s[%s];", type_c_name(stage->write.array->type), arrays[i], e->n_parts);
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
		quote(e->b, "%s %s = %s;", type_c_name(type), cell->name,
		      x_text(e, c_identity(e->arena, cell->op, type)));
	}
	return names;
}

static void keep_parts(struct emit *e, const char **arrays, const char **names)
{
	for (int i = 0; i < e->accumulators.n; i++) {
		struct cell *cell = &e->accumulators.items[i];

		quote(e->b, "%s[%s] = %s;", arrays[i], e->part, cell->name);
		cell->name = names[i];
		cell->value = k_name(e->arena, cell->name);
	}
}

const char *open_parts(struct emit *e)
{
	const char *part = names_declare(&e->names, "part");

	quote_open(e->b, "for (int64_t %s = 0; %s < %s; %s++) {", part, part, e->n_parts, part);
	return part;
}

static void add_parts(struct emit *e, const char **arrays)
{
	int visible = e->names.visible.n;
	const char *part = open_parts(e);

	for (int i = 0; i < e->accumulators.n; i++) {
		const struct cell *cell = &e->accumulators.items[i];
		const struct stage *stage = cell->of;

		emit_update(e, &(struct update) { .op = cell->op, .type = stage->write.array->type,
						  .target = cell->value,
						  .value = k_load(e->arena, k_name(e->arena, arrays[i]),
								  k_name(e->arena, part)) });
	}
	block_close(e, visible);
}

void emit_parts(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use)
{
	int n = e->accumulators.n, visible;
	const char **arrays, **names;

	e->n_parts = int_text(e->arena, use.parts);
	arrays = declare_parts(e);
	e->accumulators.n = 0;
	e->target->above_loop(e, &(struct loop_use) { .is_parallel = true });
	e->accumulators.n = n;
	visible = e->names.visible.n;
	e->part = open_parts(e);
	names = rename_accumulators(e);
	use.parts = use.chunk = 0;
	emit_for(e, node, use);
	keep_parts(e, arrays, names);
	e->part = NULL;
	block_close(e, visible);
	add_parts(e, arrays);
}

bool emit_sum_of_threads(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use)
{
	const struct range range = range_of(e, node, use.mark->direction);
	const char *work = e->region;
	int visible;

	if (range.is_single || range.step != 1 || use.mark->direction < 0)
		return false;
	e->n_parts = region_declare(e);
	visible = e->names.visible.n;
	e->target->above_loop(e, &(struct loop_use) { .is_parallel = true });
	e->part = open_parts(e);
	emit_for(e, node, use);
	e->part = NULL;
	e->region = work;
	block_close(e, visible);
	return true;
}
