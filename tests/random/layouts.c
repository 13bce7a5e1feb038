/* SPDX-License-Identifier: MIT
 *
 * The same arrays in other layouts: turned around, as strides, or in blocks, along the first dimension or of segments.
 * Every element is put at its place and taken from there by its subscripts, so that nothing of the runtime is used that
 * is tested. What is around elements is NaN. */
#include "random/layouts.h"

#include <string.h>

enum { SPARE = 64, SPARE_BYTE = 0xff };

static uint64_t mixed(uint64_t seed, uint64_t number)
{
	uint64_t z = seed + number*0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static int64_t size_of(const pmg_buffer *buffer)
{
	int64_t n = (int64_t) pmg_type_size(buffer->type);

	for (int32_t d = 0; d < buffer->rank; d++)
		n *= buffer->shape[d];
	return n;
}

/* The last dimension is the one of the largest stride. */
static void turn_around(pmg_buffer *buffer)
{
	int64_t stride = (int64_t) pmg_type_size(buffer->type);

	for (int32_t d = 0; d < buffer->rank; d++) {
		buffer->strides[d] = stride;
		stride *= buffer->shape[d];
	}
}

static void cut_into_blocks(pmg_buffer *buffer, int64_t block)
{
	int64_t shape[PMG_MAX_RANK + 1];

	memcpy(shape, buffer->shape, sizeof buffer->shape);
	shape[0] = (shape[0] + block - 1)/block;
	shape[buffer->rank] = block;
	*buffer = pmg_dense(NULL, buffer->type, buffer->rank + 1, shape);
}

/* ---- blocks of segments ---- */

static int64_t length_of(const int64_t *offsets, int64_t segment)
{
	return offsets[segment + 1] - offsets[segment];
}

/* How many segments are before this one: all windows of so many neighbours before its own, and of its own the longer
 * ones. */
static int64_t rank_of(const int64_t *offsets, int64_t n, int64_t window, int64_t segment)
{
	const int64_t first = segment - segment % window;
	int64_t rank = first;

	for (int64_t s = first; s < n && s < first + window; s++) {
		int64_t longer = length_of(offsets, s) - length_of(offsets, segment);

		rank += longer > 0 || (longer == 0 && s < segment);
	}
	return rank;
}

/* by_rank[0..n]: the segments in the order of blocks. */
static void put_in_order(const int64_t *offsets, int64_t n, int64_t window, int64_t *by_rank)
{
	for (int64_t s = 0; s < n; s++)
		by_rank[rank_of(offsets, n, window, s)] = s;
}

/* Rows of the blocks before this one. Its first segment is its longest one, as no block has segments of two windows. */
static int64_t rows_before(const int64_t *offsets, const int64_t *by_rank, int64_t n, int64_t width, int64_t block)
{
	int64_t rows = 0;

	for (int64_t b = 0; b < block && b*width < n; b++)
		rows += length_of(offsets, by_rank[b*width]);
	return rows;
}

/* docs/layouts.md: windows are of 256, 1024, ... neighbours, the shortest with which blocks of 16 have at most one row
 * in 32 more than by one window of all. */
static void choose_order(const int64_t *offsets, int64_t n, int64_t *by_rank)
{
	int64_t least;

	put_in_order(offsets, n, n + 1, by_rank);
	least = rows_before(offsets, by_rank, n, 16, n);
	for (int64_t window = 256; window < n; window *= 4) {
		put_in_order(offsets, n, window, by_rank);
		if (32*(rows_before(offsets, by_rank, n, 16, n) - least) <= least)
			return;
	}
	put_in_order(offsets, n, n + 1, by_rank);
}

/* Of each element its place, in a buffer of so many lanes that is made here. */
static void cut_into_segments(struct arena *arena, pmg_buffer *buffer, struct layout *layout, const pmg_buffer *offsets)
{
	const int64_t n = offsets->shape[0] - 1, width = layout->block, *at = offsets->data;
	int64_t *by_rank = arena_new_array(arena, int64_t, n + 1);
	int64_t shape[2] = { 0, width };

	choose_order(at, n, by_rank);
	shape[0] = rows_before(at, by_rank, n, width, n);
	layout->places = arena_new_array(arena, int64_t, buffer->shape[0] + 1);
	for (int64_t rank = 0; rank < n; rank++) {
		int64_t s = by_rank[rank], start = rows_before(at, by_rank, n, width, rank/width);

		for (int64_t r = 0; r < length_of(at, s); r++)
			layout->places[at[s] + r] = (start + r)*width + rank % width;
	}
	*buffer = pmg_dense(NULL, buffer->type, 2, shape);
}

/* The offsets over which an argument is, 64-bit integers without gaps as all are here; NULL: there are none. */
static const pmg_buffer *offsets_of(const pmg_pipeline_desc *desc, const pmg_array_desc *array, const char *args)
{
	return array->segments < 0 ? NULL
	       : (const pmg_buffer *) (const void *) (args + desc->arrays[array->segments].offset);
}

/* ---- elements ---- */

/* Where element number `i` of the array, in row-major order, is. */
static char *element_at(const pmg_buffer *buffer, const struct layout *layout, int64_t i)
{
	int64_t offset = 0, block = layout->block;

	if (layout->places)
		return (char *) buffer->data + (size_t) layout->places[i]*pmg_type_size(buffer->type);
	for (int32_t d = layout->rank - 1; d >= 0; d--) {
		int64_t at = d ? i % layout->extents[d] : i;

		i = d ? i/layout->extents[d] : 0;
		offset += (block && !d ? at/block : at)*buffer->strides[d];
		offset += block && !d ? at % block*buffer->strides[layout->rank] : 0;
	}
	return (char *) buffer->data + offset;
}

static void move(const pmg_buffer *buffer, const struct layout *layout, bool back)
{
	size_t size = pmg_type_size(buffer->type);
	int64_t n = 1;

	for (int32_t d = 0; d < layout->rank; d++)
		n *= layout->extents[d];
	for (int64_t i = 0; i < n; i++) {
		char *flat = (char *) layout->flat + (size_t) i*size;

		memcpy(back ? flat : element_at(buffer, layout, i), back ? element_at(buffer, layout, i) : flat, size);
	}
}

static pmg_buffer *buffer_of(char *args, const pmg_array_desc *array)
{
	return (pmg_buffer *) (void *) (args + array->offset);
}

static void give(struct arena *arena, pmg_buffer *buffer, struct layout *layout, const pmg_buffer *offsets,
		 uint64_t choice)
{
	static const int64_t blocks[] = { 1, 2, 8, 16, 16, 32 };
	size_t bytes;

	*layout = (struct layout) { .flat = buffer->data, .rank = buffer->rank };
	memcpy(layout->extents, buffer->shape, sizeof layout->extents);
	if (choice % 2 && buffer->rank < PMG_MAX_RANK) {
		layout->block = blocks[choice/2 % (sizeof blocks / sizeof blocks[0])];
		if (offsets)
			cut_into_segments(arena, buffer, layout, offsets);
		else
			cut_into_blocks(buffer, layout->block);
	} else {
		turn_around(buffer);
	}
	bytes = (size_t) size_of(buffer);
	buffer->data = (char *) arena_alloc(arena, bytes + 2*SPARE) + SPARE;
	memset((char *) buffer->data - SPARE, SPARE_BYTE, bytes + 2*SPARE);
	move(buffer, layout, false);
}

struct layout *layouts_give(struct arena *arena, const pmg_pipeline_desc *desc, void *args, uint64_t seed)
{
	struct layout *layouts = arena_new_array(arena, struct layout, desc->n_arrays + 1);

	for (int32_t i = 0; i < desc->n_arrays; i++) {
		const pmg_array_desc *array = &desc->arrays[i];
		bool is_float = (array->type == PMG_F64 || array->type == PMG_F32) && array->storage == PMG_AS_IT_IS;
		uint64_t choice = mixed(seed, (uint64_t) i);

		if (array->offset != SIZE_MAX && is_float && array->rank && choice % 2)
			give(arena, buffer_of(args, array), &layouts[i], offsets_of(desc, array, args), choice/2);
	}
	return layouts;
}

static bool is_fenced(const pmg_buffer *buffer)
{
	const unsigned char *data = buffer->data;
	bool is_whole = true;

	for (int64_t k = 0; k < SPARE; k++)
		is_whole = is_whole && *(data - 1 - k) == SPARE_BYTE && data[size_of(buffer) + k] == SPARE_BYTE;
	return is_whole;
}

bool layouts_return(const pmg_pipeline_desc *desc, void *args, const struct layout *layouts)
{
	bool is_whole = true;

	for (int32_t i = 0; i < desc->n_arrays; i++) {
		const pmg_buffer *buffer = layouts[i].flat ? buffer_of(args, &desc->arrays[i]) : NULL;

		if (buffer)
			move(buffer, &layouts[i], true);
		is_whole = is_whole && (!buffer || is_fenced(buffer));
	}
	return is_whole;
}
