/* SPDX-License-Identifier: MIT
 *
 * The arrays of a pipeline as its descriptor numbers them: the caller's in the order of the module, then those
 * internal to the plan, then for each tree whose children are visited two arrays that list them. LOCAL arrays are
 * variables of the kernel and have no number. */
#include <string.h>

#include "codegen/codegen_private.h"
#include "ir/match/block.h"

bool slot_is_made(const struct slot *slot)
{
	return slot->is_offsets || slot->is_list || slot->is_order;
}

enum scalar_type slot_type(const struct slot *slot)
{
	bool is_index = array_is_index(slot->array) && slot->array->role != ROLE_INSPECTED;

	if (slot->is_list && slot->is_of_blocks)
		return TYPE_I32;
	if (slot_is_made(slot) || is_index)
		return TYPE_I64;
	if (slot->array->storage == STORAGE_F32)
		return TYPE_F32;
	return slot->array->storage == STORAGE_F64TOP ? TYPE_U32 : slot->array->type;
}

bool slot_is_narrow(const struct slot *slot)
{
	return !slot_is_made(slot) && slot->array->storage == STORAGE_NARROW;
}

static int n_extents_of(const struct slot *slot)
{
	if (slot_is_made(slot))
		return 1;
	if (slot->array->role == ROLE_INSPECTED)
		return slot_is_narrow(slot);
	return array_n_stored(slot->array) + slot->array->stored.is_per_thread + (slot->array->stored.lanes ? 1 : 0) +
	       (slot->array->facts & (FACT_INDEX | FACT_OFFSETS) ? 1 : 0);
}

static int add_slot(struct layout *layout, struct slot slot)
{
	slot.first_extent = layout->n_extents;
	layout->n_extents += n_extents_of(&slot);
	vec_push(layout->module->arena, &layout->slots, slot);
	return layout->slots.n - 1;
}

static const char *finite_name(struct layout *layout, const struct array *array)
{
	if (!array->is_fixed || array->role != ROLE_IN || !type_is_float(array->type))
		return NULL;
	return names_declare(&layout->names, arena_printf(layout->module->arena, "%s_is_finite", array->c_name));
}

static void add_arrays(struct layout *layout, bool arguments)
{
	const struct module *module = layout->module;

	for (int i = 0; i < module->arrays.n; i++) {
		const struct array *array = module->arrays.items[i];

		if (array_is_argument(array) != arguments || array_is_local(array) ||
		    array->stored.stands_in || block_hides(layout->module, array))
			continue;
		layout->slot_of[i] = add_slot(layout, (struct slot) { .array = array, .name = array->name,
								      .c_name = array->c_name,
								      .lanes = block_held(layout->module, array),
								      .finite = finite_name(layout, array) });
	}
}

bool layout_is_hidden(const struct layout *layout, const struct array *array)
{
	return layout->slot_of[array->number] < 0;
}

/* ---- segments ---- */

static int order_slot(const struct layout *layout, const struct array *offsets, int lanes)
{
	for (int i = 0; i < layout->slots.n; i++)
		if (layout->slots.items[i].is_order && layout->slots.items[i].array == offsets &&
		    layout->slots.items[i].lanes == lanes)
			return i;
	return -1;
}

const char *layout_order(const struct layout *layout, const struct array *offsets, int lanes)
{
	int slot = order_slot(layout, offsets, lanes);

	return slot < 0 ? NULL : layout->slots.items[slot].c_name;
}

static void add_orders(struct layout *layout)
{
	const struct module *module = layout->module;

	for (int i = 0; i < module->arrays.n; i++) {
		const struct array *copy = module->arrays.items[i], *offsets = copy->segments;
		struct slot slot = { .array = offsets, .is_order = true, .lanes = copy->stored.lanes };

		if (copy->role != ROLE_BLOCK || !offsets || layout_order(layout, offsets, copy->stored.lanes))
			continue;
		slot.name = arena_printf(module->arena, "%s.by_length", offsets->name);
		slot.c_name = names_declare(&layout->names, arena_printf(module->arena, "%s_by_length",
									 offsets->c_name));
		add_slot(layout, slot);
	}
}

/* ---- children ---- */

const struct children *layout_children(const struct layout *layout, const struct array *parent, int lanes)
{
	for (int i = 0; i < layout->children.n; i++) {
		const struct children *children = &layout->children.items[i];

		if (layout->slots.items[children->parent].array == parent && children->lanes == lanes)
			return children;
	}
	return NULL;
}

static int add_child_slot(struct layout *layout, const struct array *parent, const char *what, struct slot slot)
{
	struct arena *arena = layout->module->arena;

	slot.array = parent;
	slot.name = arena_printf(arena, "%s.%s", parent->name, what);
	slot.c_name = names_declare(&layout->names, arena_printf(arena, "%s_%s", parent->c_name, what));
	return add_slot(layout, slot);
}

static void add_children(struct layout *layout, const struct array *parent)
{
	struct children children = { .parent = layout->slot_of[parent->number] };

	if (layout_children(layout, parent, 0))
		return;
	children.offsets = add_child_slot(layout, parent, "children_offsets", (struct slot) { .is_offsets = true });
	children.list = add_child_slot(layout, parent, "children", (struct slot) { .is_list = true });
	vec_push(layout->module->arena, &layout->children, children);
}

/* Of the trees that have a part in blocks. */
static void add_masks(struct layout *layout)
{
	const struct module *module = layout->module;

	for (int a = 0; a < module->arrays.n; a++) {
		const struct array *copy = module->arrays.items[a];
		struct children children = { .lanes = copy->stored.lanes };

		if (copy->role != ROLE_BLOCK || !(copy->owner->facts & FACT_TREE) ||
		    layout_children(layout, copy->owner, copy->stored.lanes))
			continue;
		children.parent = layout->slot_of[copy->owner->number];
		children.order = order_slot(layout, copy->segments, copy->stored.lanes);
		children.offsets = add_child_slot(layout, copy->owner, "rows", (struct slot) {
						  .is_offsets = true, .is_of_blocks = true });
		children.list = add_child_slot(layout, copy->owner, "cells", (struct slot) {
					       .is_list = true, .is_of_blocks = true });
		vec_push(module->arena, &layout->children, children);
	}
}

static void visit_dims(struct layout *layout)
{
	const struct module *module = layout->module;

	for (int s = 0; s < module->stages.n; s++) {
		layout->has_checks |= stage_is_checked(module->stages.items[s]);
		for (int d = 0; d < module->stages.items[s]->dims.n; d++) {
			const struct dim *dim = &module->stages.items[s]->dims.items[d];

			if (dim->kind == DIM_CHILDREN &&
			    !block_has_tree(layout->module, s, dim->source.array))
				add_children(layout, dim->source.array);
		}
	}
}

/* ---- names and parameters ---- */

static void declare_names(struct layout *layout)
{
	const struct module *module = layout->module;

	layout->names.arena = module->arena;
	for (int i = 0; i < module->arrays.n; i++)
		if (!array_is_local(module->arrays.items[i]))
			vec_push(module->arena, &layout->names.visible, module->arrays.items[i]->c_name);
	layout->params = arena_new_array(module->arena, const char *, module->params.n);
	layout->param_number = arena_new_array(module->arena, int, module->params.n);
	for (int i = 0; i < module->params.n; i++) {
		const struct param *param = &module->params.items[i];

		layout->params[i] = names_declare(&layout->names, param->name);
		layout->param_number[i] = param->is_inspected ? layout->n_sizes++
					  : param_is_argument(param) ? layout->n_params++ : -1;
	}
}

struct layout *layout_new(struct module *module, const char *prefix)
{
	struct layout *layout = arena_new(module->arena, struct layout);

	layout->module = module;
	layout->prefix = prefix;
	layout->is_unordered = arena_new(module->arena, bool);
	layout->slot_of = arena_new_array(module->arena, int, module->arrays.n);
	for (int i = 0; i < module->arrays.n; i++)
		layout->slot_of[i] = -1;
	declare_names(layout);
	add_arrays(layout, true);
	layout->n_arguments = layout->slots.n;
	add_arrays(layout, false);
	add_orders(layout);
	add_masks(layout);
	visit_dims(layout);
	layout->is_carried = module_carried(module);
	layout->is_of_start = module_set_at_start(module);
	return layout;
}

int layout_param(const struct layout *layout, const char *name)
{
	for (int i = 0; name && i < layout->module->params.n; i++)
		if (!strcmp(layout->params[i], name))
			return i;
	return -1;
}
