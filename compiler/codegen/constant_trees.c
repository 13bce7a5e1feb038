/* SPDX-License-Identifier: MIT
 *
 * Trees that are known when the program is compiled: tables of their parents and children, in the place of the plan's
 * in the kernels that run where the caller's tree is that one. A device has the plan's, and only the sizes are
 * known there. */
#include <inttypes.h>
#include <string.h>

#include "codegen/codegen_private.h"

const char *constant_table(const struct layout *layout, const struct slot *slot)
{
	if (!slot->array->known.parents || slot->is_of_blocks || slot->is_order || slot_is_narrow(slot))
		return NULL;
	return arena_printf(layout->module->arena, "%s_known_%d", layout->module->name,
			    (int) (slot - layout->slots.items));
}

/* ---- tables ---- */

/* offsets[i]: how many nodes have parents before i. */
static void count_children(const struct array *tree, int64_t *offsets)
{
	memset(offsets, 0, (size_t) (tree->known.n + 1) * sizeof *offsets);
	for (int64_t i = 0; i < tree->known.n; i++)
		if (tree->known.parents[i] >= 0)
			offsets[tree->known.parents[i] + 1]++;
	for (int64_t i = 0; i < tree->known.n; i++)
		offsets[i + 1] += offsets[i];
}

/* As the runtime lists children: by parent, ascending. Those that have none leave the end free. */
static void list_children(const struct array *tree, int64_t *next, int64_t *list)
{
	memset(list, 0, (size_t) tree->known.n * sizeof *list);
	for (int64_t i = 0; i < tree->known.n; i++)
		if (tree->known.parents[i] >= 0)
			list[next[tree->known.parents[i]]++] = i;
}

static const int64_t *values_of(struct arena *arena, const struct slot *slot, int64_t *n)
{
	const struct array *tree = slot->array;
	int64_t *offsets, *list;

	*n = tree->known.n + slot->is_offsets;
	if (!slot_is_made(slot))
		return tree->known.parents;
	offsets = arena_new_array(arena, int64_t, tree->known.n + 1);
	count_children(tree, offsets);
	if (slot->is_offsets)
		return offsets;
	list = arena_new_array(arena, int64_t, tree->known.n);
	list_children(tree, offsets, list);
	return list;
}

static void emit_values(struct writer *w, struct arena *arena, const int64_t *values, int64_t n)
{
	enum { WIDTH = 100 };
	struct str row = str_new(arena);

	for (int64_t i = 0; i < n; i++) {
		str_add(&row, "%s%" PRId64 "%s", row.length ? " " : "", values[i], i + 1 < n ? "," : "");
		if (row.length < WIDTH && i + 1 < n)
			continue;
		line(w, "%s", str_text(&row));
		row = str_new(arena);
	}
}

static void emit_table(struct writer *w, struct arena *arena, const struct slot *slot, const char *name)
{
	int64_t n;
	const int64_t *values = values_of(arena, slot, &n);

	w->span = slot->array->span;
	open_block(w, "static const int64_t %s[] = {", name);
	emit_values(w, arena, values, n);
	close_block(w, "};");
	writer_blank(w);
}

void declare_constant_tables(struct k_program *program, const struct layout *layout)
{
	struct arena *arena = layout->module->arena;

	for (int i = 0; i < layout->slots.n; i++) {
		const char *name = constant_table(layout, &layout->slots.items[i]);

		if (name)
			vec_push(arena, &program->globals, ((struct k_param) { k_pointer("int64_t", true), name }));
	}
}

void emit_constant_tables(struct writer *w, struct layout *const *layouts, int n)
{
	struct names printed = { .arena = layouts[0]->module->arena };

	for (int l = 0; l < n; l++)
		for (int i = 0; i < layouts[l]->slots.n; i++) {
			const struct slot *slot = &layouts[l]->slots.items[i];
			const char *name = constant_table(layouts[l], slot);

			if (!name || names_have(&printed, name))
				continue;
			vec_push(printed.arena, &printed.visible, name);
			emit_table(w, printed.arena, slot, name);
		}
}

/* ---- the choice ---- */

struct k_expr *with_constant_conditions(const struct layout *layout, struct k_expr *condition)
{
	struct arena *arena = layout->module->arena;

	for (int i = 0; i < layout->slots.n; i++) {
		const struct slot *slot = &layout->slots.items[i];
		const char *name = constant_table(layout, slot);

		if (name && !slot_is_made(slot))
			condition = k_join(arena, K_AND, condition,
					   K_CALL(arena, "pmg_has_values", k_name(arena, "plan"), k_int(arena, i),
						  k_name(arena, name), k_int(arena, slot->array->known.n)));
	}
	return condition;
}
