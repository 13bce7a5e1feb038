/* SPDX-License-Identifier: MIT
 *
 * What follows from the parameters alone: that they are sizes, that the extents of all arrays are, that no
 * product overflows, and how much memory a plan will hold. Also the small questions about descriptions of
 * arrays.
 *
 * After sizes_check, shapes are valid and every array has fewer than PMG_MAX_BYTES bytes. Nothing is
 * allocated here: a forecast must be possible when there is no memory. */
#include "plan/plan.h"

#include <string.h>

/* ---- Descriptions ---- */

const pmg_buffer *array_argument(const pmg_array_desc *array, const void *args)
{
	return (const pmg_buffer *) (const void *) ((const char *) args + array->offset);
}

int64_t param_integer(const pmg_param_desc *param, const void *args)
{
	int64_t value;

	memcpy(&value, (const char *) args + param->offset, sizeof value);
	return value;
}

bool array_is_internal(const pmg_array_desc *array)
{
	return array->offset == SIZE_MAX;
}

bool array_has_limit(const pmg_array_desc *array)
{
	if (array->role == PMG_INSPECTED)
		return array->storage == PMG_AS_NARROW;
	return (array->facts & (PMG_FACT_INDEX | PMG_FACT_OFFSETS)) != 0;
}

bool array_is_rebased(const pmg_array_desc *array)
{
	return (array->facts & PMG_FACT_TREE) != 0 && array->segments >= 0;
}

bool array_is_written(const pmg_array_desc *array)
{
	return array->role == PMG_OUT || array->role == PMG_INOUT;
}

int64_t array_elements(const pmg_array_desc *array, const int64_t *extents)
{
	int64_t n = 1;

	for (int32_t d = 0; d < array->rank; d++)
		if (extents[array->first_extent + d] == 0)
			return 0;
	for (int32_t d = 0; d < array->rank; d++)
		n *= extents[array->first_extent + d];
	return n;
}

pmg_type array_kept_type(const pmg_array_desc *array)
{
	if (array->storage == PMG_AS_IT_IS)
		return array->type;
	return array->storage == PMG_AS_F32 ? PMG_F32 : PMG_U32;
}

int64_t memory_bytes(int64_t n, pmg_type type)
{
	int64_t bytes = n * (int64_t) pmg_type_size(type);

	return bytes == 0 ? PMG_ALIGNMENT : (bytes + PMG_ALIGNMENT - 1) / PMG_ALIGNMENT * PMG_ALIGNMENT;
}

int64_t array_bytes(const pmg_array_desc *array, const int64_t *extents)
{
	return memory_bytes(array_elements(array, extents), array->type);
}

int64_t array_kept_bytes(const pmg_array_desc *array, const int64_t *extents)
{
	return memory_bytes(array_elements(array, extents), array_kept_type(array));
}

pmg_buffer array_dense(const pmg_array_desc *array, const int64_t *extents, void *data)
{
	return pmg_dense(data, array->type, array->rank, extents + array->first_extent);
}

pmg_buffer array_kept(const pmg_array_desc *array, const int64_t *extents, void *data)
{
	return pmg_dense(data, array_kept_type(array), array->rank, extents + array->first_extent);
}

/* ---- Is the description consistent? ---- */

static bool is_array_number(const pmg_pipeline_desc *desc, int32_t number)
{
	return 0 <= number && number < desc->n_arrays;
}

static bool inspected_is_consistent(const pmg_pipeline_desc *desc, const pmg_array_desc *array)
{
	if (!array_is_internal(array) || pmg_type_size(array->type) == 0 || array->rank != 0)
		return false;
	if (array->n_factors < 0 || (array->n_factors > 0 && !element_is_integer(array->type)))
		return false;
	if (array->first_factor < 0 || array->first_factor > desc->n_extents - array->n_factors)
		return false;
	if (array->storage == PMG_AS_IT_IS)
		return true;
	return array->storage == PMG_AS_NARROW && array->type == PMG_I32
		&& array->first_extent >= 0 && array->first_extent < desc->n_extents;
}

static bool extent_is_consistent(const pmg_pipeline_desc *desc, const pmg_extent *extent)
{
	return extent->param < 0 || (extent->param < desc->n_params && desc->params[extent->param].type == PMG_I64);
}

static bool shape_is_consistent(const pmg_pipeline_desc *desc, const pmg_array_desc *array)
{
	bool is = !array_has_limit(array) || extent_is_consistent(desc, &array->limit);

	for (int32_t d = 0; d < array->rank; d++)
		is = is && extent_is_consistent(desc, &array->shape[d]);
	return is;
}

static bool array_is_consistent(const pmg_pipeline_desc *desc, const pmg_array_desc *array)
{
	const uint32_t ranged = PMG_FACT_INDEX | PMG_FACT_OFFSETS | PMG_FACT_TREE;
	const int32_t n_extents = array->rank + (array_has_limit(array) ? 1 : 0);
	const bool is_callers = array->role == PMG_IN || array_is_written(array);

	if (array->role == PMG_INSPECTED)
		return inspected_is_consistent(desc, array);
	if ((array->is_for_inspection || array->is_optional) && !array->is_fixed)
		return false;
	if (array->is_optional && array->is_index)
		return false;
	if (array->lanes != 0 && (array->lanes < 0 || array->is_index || array->rank < 1 ||
				  (array_is_internal(array) && array->segments < 0) || array->storage != PMG_AS_IT_IS))
		return false;
	if (array->is_per_thread && (!array_is_internal(array) || array->rank < 1))
		return false;
	if (pmg_type_size(array->type) == 0 || array->rank < 0 || array->rank > PMG_MAX_RANK)
		return false;
	if (array->first_extent < 0 || array->first_extent > desc->n_extents - n_extents)
		return false;
	if (!shape_is_consistent(desc, array))
		return false;
	if (array_is_internal(array) == is_callers || (array->is_fixed && array->role != PMG_IN))
		return false;
	if ((array->is_index || array->facts != 0) && array->type != PMG_I64)
		return false;
	if ((array->facts & PMG_FACT_UNIQUE) != 0 && (array->facts & ranged) == 0)
		return false;
	if (array_is_internal(array) && array->segments >= 0)
		return is_array_number(desc, array->segments) && desc->arrays[array->segments].is_fixed &&
		       (desc->arrays[array->segments].facts & PMG_FACT_OFFSETS) != 0 &&
		       array->rank == (array->is_per_thread ? 3 : 1);
	if (!array_is_rebased(array))
		return true;
	return array->role == PMG_IN
		&& is_array_number(desc, array->segments)
		&& desc->arrays[array->segments].role == PMG_IN
		&& (desc->arrays[array->segments].facts & PMG_FACT_OFFSETS) != 0
		&& (desc->arrays[array->segments].is_fixed || !array->is_fixed);
}

/* Blocks are of a fixed tree whose segments are listed. */
static bool lanes_are_consistent(const pmg_pipeline_desc *desc, const pmg_children_desc *children)
{
	const pmg_array_desc *parent = &desc->arrays[children->parent];

	return !children->lanes
		|| (children->lanes > 0 && children->lanes <= 64 && (children->lanes & (children->lanes - 1)) == 0
		    && parent->is_fixed && parent->segments >= 0 && is_array_number(desc, children->order)
		    && array_is_internal(&desc->arrays[children->order])
		    && desc->arrays[children->order].segments == parent->segments);
}

static bool children_are_consistent(const pmg_pipeline_desc *desc, const pmg_children_desc *children)
{
	return is_array_number(desc, children->parent)
		&& is_array_number(desc, children->offsets)
		&& is_array_number(desc, children->list)
		&& (desc->arrays[children->parent].facts & PMG_FACT_TREE) != 0
		&& !array_is_internal(&desc->arrays[children->parent])
		&& desc->arrays[children->parent].role != PMG_OUT
		&& array_is_internal(&desc->arrays[children->offsets])
		&& array_is_internal(&desc->arrays[children->list])
		&& desc->arrays[children->offsets].type == PMG_I64
		&& desc->arrays[children->list].type == (children->lanes ? PMG_I32 : PMG_I64)
		&& lanes_are_consistent(desc, children);
}

static bool is_made_index(const pmg_pipeline_desc *desc, int32_t number)
{
	return is_array_number(desc, number) && array_is_internal(&desc->arrays[number]) &&
	       desc->arrays[number].type == PMG_I64 && desc->arrays[number].rank == 1;
}

static bool branches_are_consistent(const pmg_pipeline_desc *desc, const pmg_branches_desc *branches)
{
	return is_array_number(desc, branches->parent)
		&& (desc->arrays[branches->parent].facts & PMG_FACT_TREE) != 0
		&& !array_is_internal(&desc->arrays[branches->parent])
		&& desc->arrays[branches->parent].role != PMG_OUT
		&& is_made_index(desc, branches->depth) && is_made_index(desc, branches->levels)
		&& is_made_index(desc, branches->begins) && is_made_index(desc, branches->ends);
}

bool is_size_number(const pmg_pipeline_desc *desc, int32_t number)
{
	return 0 <= number && number < desc->n_sizes;
}

static bool chunks_are_consistent(const pmg_pipeline_desc *desc, const pmg_chunks_desc *chunks)
{
	return is_array_number(desc, chunks->parent)
		&& (desc->arrays[chunks->parent].facts & PMG_FACT_TREE) != 0
		&& !array_is_internal(&desc->arrays[chunks->parent])
		&& desc->arrays[chunks->parent].role != PMG_OUT
		&& chunks->rows >= 1
		&& is_size_number(desc, chunks->n_chunks) && is_size_number(desc, chunks->n_turns)
		&& is_made_index(desc, chunks->offsets) && is_made_index(desc, chunks->above)
		&& is_made_index(desc, chunks->child) && is_made_index(desc, chunks->sibling)
		&& is_made_index(desc, chunks->turn)
		&& (chunks->order < 0 ? chunks->turns < 0
				      : is_made_index(desc, chunks->order) && is_made_index(desc, chunks->turns));
}

/* Rows are in systems by offsets of the caller. */
static bool pivots_are_consistent(const pmg_pipeline_desc *desc, const pmg_pivot_desc *pivots)
{
	return pivots->segments < 0
		|| (is_array_number(desc, pivots->segments)
		    && desc->arrays[pivots->segments].role == PMG_IN
		    && (desc->arrays[pivots->segments].facts & PMG_FACT_OFFSETS) != 0);
}

/* Does it change places with an array of the plan's own? */
static bool next_is_consistent(const pmg_pipeline_desc *desc, const pmg_array_desc *array)
{
	const pmg_array_desc *next = &desc->arrays[array->next];

	return !array->next ||
	       (is_array_number(desc, array->next) && (array->role == PMG_STATE || array->role == PMG_INOUT) &&
		next->role == PMG_TEMP && array_is_internal(next) && next->type == array->type &&
		next->rank == array->rank && !next->is_per_thread);
}

static bool description_is_consistent(const pmg_pipeline_desc *desc)
{
	if (desc->n_extents < 0 || desc->n_extents > PMG_MAX_EXTENTS || !desc->kernel)
		return false;
	for (int32_t i = 0; i < desc->n_arrays; i++)
		if (!array_is_consistent(desc, &desc->arrays[i]) || !next_is_consistent(desc, &desc->arrays[i]))
			return false;
	for (int32_t i = 0; i < desc->n_children; i++)
		if (!children_are_consistent(desc, &desc->children[i]))
			return false;
	for (int32_t i = 0; i < desc->n_branches; i++)
		if (!branches_are_consistent(desc, &desc->branches[i]))
			return false;
	for (int32_t i = 0; i < desc->n_chunks; i++)
		if (!chunks_are_consistent(desc, &desc->chunks[i]))
			return false;
	for (int32_t i = 0; i < desc->n_pivots; i++)
		if (!pivots_are_consistent(desc, &desc->pivots[i]))
			return false;
	return restructurings_are_consistent(desc);
}

/* ---- Parameters and extents ---- */

static pmg_status params_check(pmg_context *context, const pmg_pipeline_desc *desc, const void *args)
{
	for (int32_t i = 0; i < desc->n_params; i++) {
		const pmg_param_desc *param = &desc->params[i];
		int64_t value;

		if (param->type != PMG_I64)
			continue;
		value = param_integer(param, args);
		if (value < 0 || value >= PMG_MAX_SIZE)
			return pmg_fail(context, PMG_BAD_DATA,
					"parameter '%s' is %lld, but must be 0 or more and below 2^40 (%s)",
					param->name, (long long) value, param->place);
	}
	return PMG_OK;
}

static pmg_status extent_check(pmg_context *context, const pmg_array_desc *array, const pmg_extent *extent,
			       int64_t value)
{
	if (value < 0)
		return pmg_fail(context, PMG_BAD_DATA, "size %s = %lld of array '%s' is negative (%s)",
				extent->text, (long long) value, array->name, array->place);
	if (value > PMG_MAX_SIZE)
		return pmg_fail(context, PMG_BAD_DATA, "size %s = %lld of array '%s' is above 2^40 (%s)",
				extent->text, (long long) value, array->name, array->place);
	return PMG_OK;
}

static pmg_status shape_check(pmg_context *context, const pmg_array_desc *array, const int64_t *extents)
{
	const int64_t *shape = extents + array->first_extent;
	char text[LIST_TEXT_SIZE];
	pmg_status status = PMG_OK;
	int64_t bytes;

	for (int32_t d = 0; d < array->rank && status == PMG_OK; d++)
		status = extent_check(context, array, &array->shape[d], shape[d]);
	if (status == PMG_OK && array_has_limit(array))
		status = extent_check(context, array, &array->limit, shape[array->rank]);
	if (status == PMG_OK && (!shape_bytes(array->type, array->rank, shape, &bytes) || bytes >= PMG_MAX_BYTES))
		status = pmg_fail(context, PMG_BAD_DATA, "array '%s' of shape %s is too large (%s)",
				  array->name, list_text(text, array->rank, shape), array->place);
	return status;
}

static bool children_fit(const pmg_pipeline_desc *desc, const int64_t *extents)
{
	for (int32_t i = 0; i < desc->n_children; i++) {
		const pmg_children_desc *children = &desc->children[i];
		int64_t n = array_elements(&desc->arrays[children->parent], extents);

		if (children->lanes)
			continue;
		if (array_elements(&desc->arrays[children->offsets], extents) != n + 1)
			return false;
		if (array_elements(&desc->arrays[children->list], extents) != n)
			return false;
	}
	return true;
}

static bool nexts_fit(const pmg_pipeline_desc *desc, const int64_t *extents)
{
	for (int32_t i = 0; i < desc->n_arrays; i++) {
		const pmg_array_desc *array = &desc->arrays[i], *next = &desc->arrays[array->next];

		if (array->next && array_elements(array, extents) != array_elements(next, extents))
			return false;
	}
	return true;
}

static pmg_status contradiction(pmg_context *context, const pmg_pipeline_desc *desc)
{
	return pmg_fail(context, PMG_INTERNAL, "the description of pipeline '%s' contradicts itself",
			desc->name);
}

pmg_status description_check(pmg_context *context, const pmg_pipeline_desc *desc)
{
	if (desc->abi_version != PMG_ABI_VERSION)
		return pmg_fail(context, PMG_BAD_CALL,
				"pipeline '%s' was compiled for ABI version %u, but this runtime has %u",
				desc->name, (unsigned) desc->abi_version, (unsigned) PMG_ABI_VERSION);
	return description_is_consistent(desc) ? PMG_OK : contradiction(context, desc);
}

static pmg_status extents_check(pmg_context *context, const pmg_pipeline_desc *desc, const int64_t *extents)
{
	pmg_status status = PMG_OK;

	for (int32_t i = 0; i < desc->n_arrays && status == PMG_OK; i++)
		if (desc->arrays[i].role != PMG_INSPECTED)
			status = shape_check(context, &desc->arrays[i], extents);
	if (status == PMG_OK &&
	    (!children_fit(desc, extents) || !nexts_fit(desc, extents) || !restructurings_fit(desc, extents)))
		status = contradiction(context, desc);
	return status;
}

static int64_t extent_value(const pmg_pipeline_desc *desc, const void *args, const pmg_extent *extent)
{
	const int64_t value = extent->param < 0 ? extent->constant
		: param_integer(&desc->params[extent->param], args) + extent->constant;

	return value < 0 ? 0 : value;
}

static void extents_find(const pmg_pipeline_desc *desc, const void *args, int64_t *extents)
{
	for (int32_t i = 0; i < desc->n_arrays; i++) {
		const pmg_array_desc *array = &desc->arrays[i];
		int64_t *own = extents + array->first_extent;

		for (int32_t d = 0; d < array->rank; d++)
			own[d] = extent_value(desc, args, &array->shape[d]);
		if (array_has_limit(array))
			own[array->rank] = extent_value(desc, args, &array->limit);
	}
	if (desc->extents)
		desc->extents(args, extents);
}

static void rows_of_threads(const pmg_pipeline_desc *desc, int32_t threads, int64_t *extents)
{
	for (int32_t i = 0; i < desc->n_arrays; i++)
		if (desc->arrays[i].is_per_thread)
			extents[desc->arrays[i].first_extent] = threads_of(threads);
}

pmg_status sizes_check(pmg_context *context, const pmg_pipeline_desc *desc, const void *args, int32_t threads,
		       int64_t *extents)
{
	const char *assumption;
	pmg_status status = description_check(context, desc);

	if (status == PMG_OK)
		status = params_check(context, desc, args);
	if (status != PMG_OK)
		return status;
	assumption = desc->assumption ? desc->assumption(args) : NULL;
	if (assumption)
		return pmg_fail(context, PMG_BAD_DATA, "pipeline '%s' assumes %s, which does not hold",
				desc->name, assumption);
	extents_find(desc, args, extents);
	rows_of_threads(desc, threads, extents);
	status = extents_check(context, desc, extents);
	if (status == PMG_OK)
		segments_measure(desc, args, extents);
	return status;
}

/* ---- Memory ---- */

int64_t plan_block_bytes(const pmg_pipeline_desc *desc)
{
	size_t bytes = sizeof(struct plan);

	bytes += (size_t) desc->n_arrays * (sizeof(struct binding) + sizeof(pmg_place) + sizeof(void *));
	bytes += (size_t) desc->n_restructurings * sizeof(struct live);
	bytes += (size_t) desc->n_extents * sizeof(int64_t);
	bytes += (size_t) desc->n_params * sizeof(int64_t);
	bytes += (size_t) desc->n_sizes * sizeof(int64_t);
	return (int64_t) bytes;
}

static bool needs_memory(const pmg_array_desc *array, const void *args)
{
	if (array->role == PMG_INSPECTED || array->is_for_inspection)
		return false;
	if (array_is_internal(array) || array_is_rebased(array))
		return true;
	return array->is_fixed && !argument_is_direct(array, array_argument(array, args));
}

/* For a while only. */
static bool is_converted_for_inspection(const pmg_array_desc *array, const void *args)
{
	return array->is_for_inspection && !argument_is_inspectable(array)
		&& !argument_is_direct(array, array_argument(array, args));
}

int64_t plan_forecast(const pmg_pipeline_desc *desc, const void *args, const int64_t *extents, bool certain,
		      int64_t *peak)
{
	int64_t at_once, spare;
	const int64_t inspected = restructurings_forecast(desc, args, extents, certain, &at_once);
	int64_t bytes = plan_block_bytes(desc) + inspected;

	if (inspected < 0)
		return -1;
	for (int32_t i = 0; i < desc->n_arrays; i++) {
		const pmg_array_desc *array = &desc->arrays[i];

		if (is_converted_for_inspection(array, args))
			at_once += array_kept_bytes(array, extents);
		if (needs_memory(array, args))
			bytes += array_kept_bytes(array, extents);
		if (bytes >= PMG_MAX_BYTES || at_once >= PMG_MAX_BYTES)
			return -1;
	}
	bytes += segments_forecast(desc, args, extents);
	spare = segments_spare(desc, extents);
	*peak = bytes + (at_once - inspected > spare ? at_once - inspected : spare);
	return bytes;
}

int64_t args_forecast(const pmg_pipeline_desc *desc, const void *args, int64_t *peak)
{
	int64_t extents[PMG_MAX_EXTENTS];

	if (!desc || !args || sizes_check(NULL, desc, args, 0, extents) != PMG_OK)
		return -1;
	return plan_forecast(desc, args, extents, false, peak);
}

int64_t pmg_plan_forecast(const pmg_pipeline_desc *desc, const void *args)
{
	int64_t peak;

	return args_forecast(desc, args, &peak);
}
