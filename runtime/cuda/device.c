/* SPDX-License-Identifier: MIT
 *
 * What the device part of a generated library asks of its plan. An array that the plan makes on the host (what
 * restructurings and lists of children hold) goes to the device once; a temporary lives there only, so that the host
 * has no memory for it. */
#include "inspect/restructure.h"

#include <stdarg.h>
#include <stdio.h>

static bool is_of_branches(const pmg_branches_desc *branches, int32_t number)
{
	return branches->depth == number || branches->levels == number || branches->begins == number ||
	       branches->ends == number;
}

static bool is_of_chunks(const pmg_chunks_desc *chunks, int32_t number)
{
	return chunks->offsets == number || chunks->above == number || chunks->child == number ||
	       chunks->sibling == number || chunks->turn == number || chunks->order == number ||
	       chunks->turns == number;
}

/* The parent of a list of children or of what tells branches or chunks; -1: the array is none of these. */
static int32_t parent_of(const pmg_pipeline_desc *desc, int32_t number)
{
	for (int32_t i = 0; i < desc->n_children; i++)
		if (desc->children[i].offsets == number || desc->children[i].list == number)
			return desc->children[i].parent;
	for (int32_t i = 0; i < desc->n_branches; i++)
		if (is_of_branches(&desc->branches[i], number))
			return desc->branches[i].parent;
	for (int32_t i = 0; i < desc->n_chunks; i++)
		if (is_of_chunks(&desc->chunks[i], number))
			return desc->chunks[i].parent;
	return -1;
}

bool array_is_of_device(const pmg_pipeline_desc *desc, int32_t number)
{
	return desc->device && desc->arrays[number].role == PMG_TEMP && parent_of(desc, number) < 0;
}

int32_t pmg_plan_arrays(const pmg_plan *plan)
{
	return plan_of_const(plan)->desc->n_arrays;
}

const char *pmg_plan_name(const pmg_plan *plan)
{
	return plan_of_const(plan)->desc->name;
}

/* Arrays that restructurings made have the size that was allocated. */
static int64_t bytes_of(const struct plan *plan, int32_t number)
{
	const pmg_array_desc *array = &plan->desc->arrays[number];

	if (array->role == PMG_INSPECTED)
		return plan->bindings[number].own_bytes + plan->bindings[number].device_bytes;
	if (!plan->kernel.data[number] && !array_is_of_device(plan->desc, number) && array->is_for_inspection)
		return 0;
	return array_kept_bytes(array, plan->extents);
}

/* The elements themselves: allocations are rounded up, the caller's memory is not. */
static int64_t elements_bytes(const struct plan *plan, int32_t number)
{
	const pmg_array_desc *array = &plan->desc->arrays[number];

	return array_elements(array, plan->extents) * (int64_t) pmg_type_size(array_kept_type(array));
}

pmg_array_use pmg_plan_array(const pmg_plan *handle, int32_t number)
{
	const struct plan *plan = plan_of_const(handle);
	const pmg_array_desc *array = &plan->desc->arrays[number];
	const bool is_internal = array_is_internal(array);
	const int32_t parent = parent_of(plan->desc, number);
	pmg_array_use use = { .bytes = bytes_of(plan, number), .place = PMG_HOST, .is_internal = is_internal };

	use.type = array_kept_type(array);
	use.storage = array->storage;
	use.is_input = !is_internal && array->role != PMG_OUT;
	use.is_output = !is_internal && array_is_written(array);
	use.is_fixed = array->is_fixed;
	use.is_made = is_internal && array->role != PMG_STATE && !array_is_of_device(plan->desc, number) &&
		      plan->bindings[number].device_bytes == 0;
	use.is_remade = parent >= 0 && !plan->desc->arrays[parent].is_fixed;
	if (!is_internal && use.bytes > 0)
		use.bytes = elements_bytes(plan, number);
	if (!is_internal && plan->bindings[number].is_borrowed)
		use.place = plan->bindings[number].buffer.device;
	return use;
}

int32_t pmg_plan_restructurings(const pmg_plan *plan)
{
	return plan_of_const(plan)->desc->n_restructurings;
}

pmg_live_use pmg_plan_live(const pmg_plan *handle, int32_t restructuring)
{
	const struct plan *plan = plan_of_const(handle);
	const pmg_restructure_desc *desc = &plan->desc->restructurings[restructuring];
	pmg_live_use use = { .n = points_of(plan->desc, desc, plan->extents) };
	int32_t from = -1;

	for (int32_t i = 0; i < desc->n_copies && desc->parts; i++)
		if (desc->copies[i].to == desc->parts->by)
			from = desc->copies[i].from;
	if (from >= 0 && array_has_limit(&plan->desc->arrays[from])) {
		use.n_weights = array_limit(&plan->desc->arrays[from], plan->extents);
		use.desc = nonzero_points_pay(use.n, use.n_weights) ? desc : NULL;
	}
	return use;
}

pmg_status pmg_plan_fail(pmg_plan *handle, pmg_status status, const char *format, ...)
{
	struct plan *plan = plan_of(handle);
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	plan->has_message = true;
	return pmg_fail(plan->context, status, "%s", text);
}
