/* SPDX-License-Identifier: MIT
 *
 * Arguments in blocks of segments (segment_blocks.c): the list of the segments, which a plan makes of its offsets when
 * the first such argument is bound and keeps, and what follows from it: how many rows there are, where an element is,
 * how the plan's own copy is filled, where it needs one. */
#include "plan/plan.h"

bool is_in_segments(const pmg_pipeline_desc *desc, const pmg_array_desc *array, const pmg_buffer *buffer)
{
	const bool has_segments = !array_is_internal(array) && !array->is_index && array->rank == 1 &&
				  array->segments >= 0 && array->segments < desc->n_arrays;
	const pmg_array_desc *offsets = has_segments ? &desc->arrays[array->segments] : NULL;

	return offsets && offsets->is_fixed && (offsets->facts & PMG_FACT_OFFSETS) != 0 &&
	       buffer_is_in_blocks(buffer, 1);
}

/* ---- The list ---- */

static pmg_buffer offsets_of(const struct plan *plan, const pmg_array_desc *array, const void *args)
{
	const pmg_array_desc *offsets = &plan->desc->arrays[array->segments];

	return array->is_fixed ? *array_argument(offsets, args)
			       : array_dense(offsets, plan->extents, plan->kernel.data[array->segments]);
}

static pmg_status list_make(struct plan *plan, const pmg_array_desc *array, const void *args)
{
	struct segment_list *list = &plan->bindings[array->segments].list;
	const pmg_buffer offsets = offsets_of(plan, array, args);
	const int64_t bytes = segment_list_bytes(offsets.shape[0] - 1);
	pmg_status status;

	if (plan->max_memory > 0 && bytes > plan->max_memory - plan->bytes)
		return limit_fail(plan->context, plan->desc->name, plan->bytes + bytes, plan->max_memory);
	status = segment_list_open(plan->context, &offsets, list);
	plan->bytes += (int64_t) list->bytes;
	plan->peak = plan->bytes > plan->peak ? plan->bytes : plan->peak;
	return status;
}

static pmg_status rows_check(const struct plan *plan, const pmg_array_desc *array, const pmg_buffer *buffer,
			     const struct segment_list *list)
{
	const int64_t rows = segment_list_rows(list, buffer->shape[1]), n = plan->extents[array->first_extent];
	char given[LIST_TEXT_SIZE];

	if (!is_segment_width(buffer->shape[1]))
		return pmg_fail(plan->context, PMG_BAD_DATA,
				"array '%s' lies in blocks of %lld segments, but they can be of 1, 2, 4, ... %d (%s)",
				array->name, (long long) buffer->shape[1], SEGMENTS_STRETCH, array->place);
	if (list->offsets[list->n] != n)
		return pmg_fail(plan->context, PMG_BAD_DATA,
				"the segments of '%s' have %lld elements, but array '%s' has %lld (%s)",
				plan->desc->arrays[array->segments].name, (long long) list->offsets[list->n],
				array->name, (long long) n, array->place);
	if (buffer->shape[0] == rows)
		return PMG_OK;
	list_text(given, 2, buffer->shape);
	return pmg_fail(plan->context, PMG_BAD_DATA,
			"array '%s' has shape %s, blocks of %lld segments, but those of '%s' have %lld rows (%s)",
			array->name, given, (long long) buffer->shape[1], plan->desc->arrays[array->segments].name,
			(long long) rows, array->place);
}

pmg_status argument_segments(struct plan *plan, int32_t number, const void *args)
{
	const pmg_array_desc *array = &plan->desc->arrays[number];
	const struct segment_list *list = &plan->bindings[array->segments].list;
	pmg_status status = list->offsets ? PMG_OK : list_make(plan, array, args);

	return status == PMG_OK ? rows_check(plan, array, &plan->bindings[number].buffer, list) : status;
}

int64_t segments_forecast(const pmg_pipeline_desc *desc, const void *args, const int64_t *extents)
{
	int64_t bytes = 0;

	for (int32_t offsets = 0; offsets < desc->n_arrays; offsets++) {
		bool is_needed = false;

		for (int32_t i = 0; i < desc->n_arrays; i++)
			is_needed = is_needed || (desc->arrays[i].is_fixed && desc->arrays[i].segments == offsets &&
						  is_in_segments(desc, &desc->arrays[i],
								 array_argument(&desc->arrays[i], args)));
		if (is_needed)
			bytes += segment_list_bytes(array_elements(&desc->arrays[offsets], extents) - 1);
	}
	return bytes;
}

/* ---- Elements ---- */

void argument_copy(struct plan *plan, int32_t number, const pmg_buffer *to, const pmg_buffer *from)
{
	const pmg_array_desc *array = &plan->desc->arrays[number];

	if (is_in_segments(plan->desc, array, &plan->bindings[number].buffer))
		segments_copy(&plan->bindings[array->segments].list, 1, &to, &from, plan->kernel.threads);
	else
		buffer_copy(to, from, plan->kernel.threads);
}

/* The segment that has element i, one that is not empty. */
static int64_t segment_of(const struct segment_list *list, int64_t i)
{
	int64_t low = 0, high = list->n;

	while (high - low > 1) {
		const int64_t middle = low + (high - low) / 2;

		if (list->offsets[middle] <= i)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* In its stretch; segments of one length stand there in the order of their numbers. */
static int64_t rank_of(const struct segment_list *list, int64_t segment)
{
	int64_t low = segment / list->stretch * list->stretch;
	int64_t high = low + list->stretch < list->n ? low + list->stretch : list->n;

	while (high - low > 1) {
		const int64_t middle = low + (high - low) / 2, other = list->order[middle];
		const int64_t longer = segment_length(list->offsets, other) - segment_length(list->offsets, segment);

		if (longer > 0 || (longer == 0 && other <= segment))
			low = middle;
		else
			high = middle;
	}
	return low;
}

int64_t segments_place(const struct segment_list *list, int64_t lanes, int64_t i)
{
	const int64_t segment = segment_of(list, i), rank = rank_of(list, segment);
	const int64_t start = segments_rows(list->offsets, list->order, rank / lanes * lanes, lanes);

	return (start + i - list->offsets[segment]) * lanes + rank % lanes;
}

static bool is_finite_at(const void *data, pmg_type type, int64_t i)
{
	return type == PMG_F32 ? isfinite(((const float *) data)[i]) : isfinite(((const double *) data)[i]);
}

int64_t segments_first_infinite(const struct segment_list *list, int64_t lanes, const void *data, pmg_type type)
{
	int64_t found = list->offsets[list->n], start = 0;

	for (int64_t rank = 0; rank < list->n; rank++) {
		const int64_t segment = list->order[rank], begin = list->offsets[segment];

		for (int64_t row = 0; row < segment_length(list->offsets, segment) && begin + row < found; row++)
			if (!is_finite_at(data, type, (start + row) * lanes + rank % lanes))
				found = begin + row;
		if (rank % lanes == lanes - 1)
			start += segment_length(list->offsets, list->order[rank - lanes + 1]);
	}
	return found;
}
