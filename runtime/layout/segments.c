/* SPDX-License-Identifier: MIT
 *
 * What kernels that take segments in blocks need of their offsets, which are fixed: parts as long as the longest
 * segment, and the segments by length. */
#include "plan/plan.h"

static bool is_part(const pmg_array_desc *array)
{
	return array_is_internal(array) && array->segments >= 0 && array->is_per_thread;
}

static bool is_order(const pmg_array_desc *array)
{
	return array_is_internal(array) && array->segments >= 0 && !array->is_per_thread;
}

int64_t segments_longest(const pmg_pipeline_desc *desc, int32_t offsets, const void *args, const int64_t *extents)
{
	const pmg_array_desc *array = &desc->arrays[offsets];
	const int64_t n = extents[array->first_extent], limit = extents[array->first_extent + 1];
	struct elements values;
	int64_t longest = 0, before = 0, at[BLOCK];

	if (!array_argument(array, args)->data || argument_check(NULL, desc, offsets, args, extents) != PMG_OK)
		return limit;
	values = elements_of(array_argument(array, args));
	for (int64_t first = 0; first < n; first += BLOCK) {
		const int64_t count = block_size(first, n);

		elements_read(&values, first, count, at);
		for (int64_t i = 0; i < count; i++) {
			longest = at[i] - before > longest ? at[i] - before : longest;
			before = at[i];
		}
	}
	return longest < limit ? longest : limit;
}

static void parts_measure(const pmg_pipeline_desc *desc, const void *args, int64_t *extents)
{
	int64_t longest = 0;
	int32_t known = -1;

	for (int32_t i = 0; i < desc->n_arrays; i++) {
		if (!is_part(&desc->arrays[i]))
			continue;
		if (desc->arrays[i].segments != known)
			longest = segments_longest(desc, desc->arrays[i].segments, args, extents);
		known = desc->arrays[i].segments;
		extents[desc->arrays[i].first_extent + 1] += longest;
	}
}

/* Behind the list is where its blocks begin, and how many of them a thread takes in its turn. */
static void orders_measure(const pmg_pipeline_desc *desc, int64_t *extents)
{
	for (int32_t i = 0; i < desc->n_arrays; i++) {
		const pmg_array_desc *array = &desc->arrays[i];
		int64_t *n = &extents[array->first_extent];

		if (is_order(array) && array->lanes > 0)
			*n += blocks_of(*n, array->lanes) + 1;
	}
}

static int64_t longest_tree(const pmg_pipeline_desc *desc, const pmg_children_desc *children, const void *args,
			    const int64_t *extents)
{
	return segments_longest(desc, desc->arrays[children->parent].segments, args, extents);
}

void segments_measure(const pmg_pipeline_desc *desc, const void *args, int64_t *extents)
{
	parts_measure(desc, args, extents);
	orders_measure(desc, extents);
	for (int32_t i = 0; i < desc->n_children; i++)
		if (desc->children[i].lanes)
			forest_measure(desc, &desc->children[i], args, extents,
				       longest_tree(desc, &desc->children[i], args, extents));
}

pmg_status segments_check(pmg_context *context, const pmg_pipeline_desc *desc, const void *args,
			  const int64_t *extents)
{
	pmg_status status = PMG_OK;

	for (int32_t i = 0; i < desc->n_children && status == PMG_OK; i++)
		if (desc->children[i].lanes)
			status = forest_check(context, desc, &desc->children[i],
					      longest_tree(desc, &desc->children[i], args, extents));
	return status;
}

/* A value for each offset. */
static int64_t spare_bytes(const pmg_pipeline_desc *desc, const pmg_array_desc *order, const int64_t *extents)
{
	return array_elements(&desc->arrays[order->segments], extents) * (int64_t) sizeof(int64_t);
}

int64_t segments_spare(const pmg_pipeline_desc *desc, const int64_t *extents)
{
	int64_t most = 0;

	for (int32_t i = 0; i < desc->n_arrays; i++) {
		const pmg_array_desc *array = &desc->arrays[i];
		const int64_t bytes = is_order(array) ? spare_bytes(desc, array, extents) : 0;

		most = bytes > most ? bytes : most;
	}
	return most;
}

static pmg_status order_fill(struct plan *plan, int32_t number)
{
	const pmg_array_desc *array = &plan->desc->arrays[number];
	const int64_t *offsets = plan->kernel.data[array->segments];
	const int64_t n = array_elements(&plan->desc->arrays[array->segments], plan->extents) - 1;
	const int64_t bytes = spare_bytes(plan->desc, array, plan->extents);
	int64_t *order = plan->kernel.data[number], *spare = plan_allocate(plan, bytes);
	struct segment_shares shares = { offsets, order, n, 0, array->lanes, plan->kernel.threads };

	if (!spare)
		return PMG_NO_RESOURCES;
	shares.stretch = segments_sort(offsets, n, order, spare);
	plan_release(plan, spare, bytes);
	if (array->lanes > 0) {
		segment_starts(offsets, order, n, array->lanes, order + n);
		order[n + blocks_of(n, array->lanes)] = segments_turn(&shares);
	}
	return PMG_OK;
}

pmg_status segments_inspect(struct plan *plan)
{
	pmg_status status = PMG_OK;

	for (int32_t i = 0; i < plan->desc->n_arrays && status == PMG_OK; i++) {
		const pmg_array_desc *array = &plan->desc->arrays[i];

		if (is_order(array))
			status = order_fill(plan, i);
		if (array->is_per_thread)
			plan->places[i].block = array_elements(array, plan->extents) / plan->kernel.threads;
	}
	for (int32_t i = 0; i < plan->desc->n_children && status == PMG_OK; i++)
		if (plan->desc->children[i].lanes)
			forest_inspect(plan, &plan->desc->children[i]);
	return status;
}
