/* SPDX-License-Identifier: MIT
 *
 * The same arrays in other layouts: turned around, as strides, or in blocks along the first dimension. Every element is
 * put at its place and taken from there by its subscripts, so that nothing of the runtime is used that is tested. */
#include "random/layouts.h"

#include <string.h>

enum { SPARE = 64, SPARE_BYTE = 0x7e };

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

/* Where element number `i` of the array, in row-major order, is. */
static char *element_at(const pmg_buffer *buffer, const struct layout *layout, int64_t i)
{
	int64_t offset = 0, block = layout->block;

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

static void give(struct arena *arena, pmg_buffer *buffer, struct layout *layout, uint64_t choice)
{
	static const int64_t blocks[] = { 1, 2, 8, 16, 16, 32 };
	size_t bytes;

	*layout = (struct layout) { .flat = buffer->data, .rank = buffer->rank };
	memcpy(layout->extents, buffer->shape, sizeof layout->extents);
	if (choice % 2) {
		layout->block = blocks[choice/2 % (sizeof blocks / sizeof blocks[0])];
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
			give(arena, buffer_of(args, array), &layouts[i], choice/2);
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
