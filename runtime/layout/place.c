/* SPDX-License-Identifier: MIT
 *
 * Arrays as the caller holds them: in blocks along the first dimension, or with strides. Kernels that take blocks of
 * the first dimension find their parts by three distances; for others the plan keeps a row-major copy (relayout.c). */
#include "plan/plan.h"

#include <string.h>

/* ---- Buffers in blocks ---- */

bool buffer_is_in_blocks(const pmg_buffer *buffer, int32_t rank)
{
	return rank >= 1 && rank < PMG_MAX_RANK && buffer->rank == rank + 1 && buffer->shape[rank] >= 1 &&
	       (buffer->type == PMG_F64 || buffer->type == PMG_F32);
}

const pmg_buffer *argument_in_blocks(const pmg_array_desc *array, const void *args)
{
	const pmg_buffer *buffer = array_is_internal(array) ? NULL : array_argument(array, args);

	return buffer && buffer->data && buffer_is_in_blocks(buffer, array->rank) ? buffer : NULL;
}

int64_t pmg_blocks_bytes(const pmg_buffer *flat, int64_t block)
{
	const pmg_buffer blocks = pmg_in_blocks(NULL, flat, block);
	int64_t bytes;

	return blocks.rank >= 0 && shape_bytes(blocks.type, blocks.rank, blocks.shape, &bytes) ? bytes : -1;
}

pmg_buffer pmg_in_blocks(void *data, const pmg_buffer *flat, int64_t block)
{
	int64_t shape[PMG_MAX_RANK] = { 0 };
	const int32_t rank = flat ? flat->rank : -1;
	bool is_one = rank >= (block >= 1) && rank <= PMG_MAX_RANK - (block >= 1);

	for (int32_t d = 0; is_one && d < rank; d++) {
		shape[d] = flat->shape[d];
		is_one = shape[d] >= 0;
	}
	if (!is_one)
		return (pmg_buffer) { .rank = -1 };
	if (block < 1)
		return pmg_dense(data, flat->type, rank, shape);
	shape[0] = blocks_of(flat->shape[0], block);
	shape[rank] = block;
	return pmg_dense(data, flat->type, rank + 1, shape);
}

/* ---- Where a kernel finds its parts ---- */

/* The distance from row to row, what follows the first dimension being rows, if there is one. */
static bool rows_are_even(const pmg_buffer *buffer, int32_t rank, int64_t size, int64_t *row)
{
	int64_t next = 0;

	*row = 1;
	for (int32_t d = rank - 1; d >= 1; d--) {
		if (buffer->shape[d] == 1)
			continue;
		if (buffer->strides[d] % size != 0 || (next != 0 && buffer->strides[d] != next))
			return false;
		*row = next != 0 ? *row : buffer->strides[d] / size;
		next = buffer->strides[d] * buffer->shape[d];
	}
	return true;
}

bool argument_has_lanes(const pmg_array_desc *array)
{
	return !array_is_internal(array) && array->lanes > 0;
}

int64_t bytes_with_lanes(const pmg_pipeline_desc *desc, const int64_t *extents)
{
	int64_t bytes = 0;

	for (int32_t i = 0; i < desc->n_arrays; i++)
		if (argument_has_lanes(&desc->arrays[i]))
			bytes += array_bytes(&desc->arrays[i], extents);
	return bytes;
}

/* Bytes from the first element to behind the last, gaps between parts included. */
static int64_t span_of(const pmg_buffer *buffer)
{
	const int64_t n = buffer->shape[0], stride = buffer->strides[0];

	if (n <= 0 || stride <= 0)
		return 0;
	return stride > INT64_MAX / n ? INT64_MAX : stride * n;
}

bool lanes_are_whole(const void *data, int64_t lane_bytes)
{
	return (uintptr_t) data % PMG_CACHE_LINE == 0 && lane_bytes % PMG_CACHE_LINE == 0;
}

static bool rows_are_whole(const pmg_array_desc *array, const pmg_buffer *blocks, const pmg_place *place, int64_t size)
{
	return place->lane == 1 && place->row == array->lanes && (uintptr_t) blocks->data % PMG_ALIGNMENT == 0 &&
	       array->lanes * size % PMG_ALIGNMENT == 0 && place->block * size % PMG_ALIGNMENT == 0;
}

static bool lanes_are_nontemporal(const pmg_buffer *flat, const pmg_place *place, int64_t size)
{
	const bool are_whole = lanes_are_whole(flat->data, place->lane * size);

	return place->row == 1 &&
			pmg_uses_nontemporal(span_of(flat), pmg_lanes_are_whole_lines(place->lane, are_whole));
}

static bool lanes_find(const pmg_array_desc *array, const pmg_buffer *buffer, pmg_place *place)
{
	const int64_t size = (int64_t) pmg_type_size(array->type);
	const bool has_blocks = buffer_is_in_blocks(buffer, array->rank);
	const int64_t lane = buffer->strides[has_blocks ? array->rank : 0];

	if (!buffer->data || buffer->type != array->type ||
	    (!has_blocks && buffer->rank != array->rank) || (uintptr_t) buffer->data % (size_t) size != 0 ||
	    lane % size != 0 || buffer->strides[0] % size != 0)
		return false;
	if ((has_blocks && buffer->shape[array->rank] != array->lanes) ||
	    !rows_are_even(buffer, array->rank, size, &place->row))
		return false;
	place->lane = lane / size;
	place->block = buffer->strides[0] / size * (has_blocks ? 1 : array->lanes);
	place->is_padded = has_blocks;
	place->is_nontemporal = has_blocks
			  ? pmg_uses_nontemporal(span_of(buffer), rows_are_whole(array, buffer, place, size))
			  : lanes_are_nontemporal(buffer, place, size);
	place->is_memory_resident = has_blocks ? place->lane == 1 && place->row == array->lanes &&
						 pmg_is_memory_resident(span_of(buffer))
					       : place->row == 1 && pmg_lanes_are_memory_resident(
							span_of(buffer), place->lane * array->lanes * size);
	return true;
}

/* Blocks of segments are found by the list of these, and are row-major; so are flat arrays that have some. */
static bool segments_find(const pmg_array_desc *array, const pmg_buffer *buffer, pmg_place *place)
{
	const bool has_blocks = buffer_is_in_blocks(buffer, 1);
	const int64_t row = array->lanes * (int64_t) pmg_type_size(array->type);

	if (!buffer->data || buffer->type != array->type || !buffer_is_row_major(buffer) ||
	    (has_blocks ? buffer->shape[1] != array->lanes : buffer->rank != 1))
		return false;
	*place = (pmg_place) { .is_memory_resident = pmg_is_memory_resident(span_of(buffer)) };
	if (!has_blocks)
		return true;
	place->lane = 1;
	place->row = array->lanes;
	place->is_padded = true;
	place->is_nontemporal = pmg_uses_nontemporal(span_of(buffer), (uintptr_t) buffer->data % PMG_ALIGNMENT == 0 &&
								row % PMG_ALIGNMENT == 0);
	return true;
}

bool parts_find(const pmg_array_desc *array, const pmg_buffer *buffer, pmg_place *place)
{
	if (array->lanes == 0)
		return false;
	return array->segments >= 0 ? segments_find(array, buffer, place)
				    : lanes_find(array, buffer, place);
}

bool parts_are_found(const pmg_array_desc *array, const pmg_buffer *buffer)
{
	pmg_place place;

	return parts_find(array, buffer, &place);
}

int32_t pmg_plan_lanes(const pmg_plan *handle, const char *argument)
{
	const pmg_pipeline_desc *desc = handle && argument ? plan_of_const(handle)->desc : NULL;

	for (int32_t i = 0; desc && i < desc->n_arrays; i++)
		if (!array_is_internal(&desc->arrays[i]) && strcmp(desc->arrays[i].name, argument) == 0)
			return desc->arrays[i].is_fixed || desc->arrays[i].rank == PMG_MAX_RANK
			       ? 0 : desc->arrays[i].lanes;
	return -1;
}
