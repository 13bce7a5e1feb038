/* SPDX-License-Identifier: MIT
 *
 * Arguments for trials. Inputs are the caller's where he gives them, and are only read; what is written, and what he
 * does not give, is made here: numbers between 1/2 and 3/2, since zeros may be fast where nothing else is, and index
 * arrays that hold their facts. What is made lies in blocks if the caller's buffer does; `in_blocks`, all that the
 * kernel takes so. */
#include "plan/plan.h"

#include <string.h>

static bool is_given(const struct scratch *scratch, int32_t number)
{
	const pmg_array_desc *array = &scratch->desc->arrays[number];
	const pmg_buffer *buffer = array_argument(array, scratch->caller);

	return buffer->data
		&& argument_check(NULL, scratch->desc, number, scratch->caller, scratch->extents) == PMG_OK;
}

static bool becomes_blocks(const struct scratch *scratch, int32_t number)
{
	return scratch->in_blocks && scratch->desc->arrays[number].lanes > 0;
}

/* Is the argument replaced? */
static bool is_made(const struct scratch *scratch, int32_t number)
{
	const pmg_array_desc *array = &scratch->desc->arrays[number];

	if (array_is_internal(array) || array->is_fixed)
		return false;
	return array_is_written(array) || becomes_blocks(scratch, number) || !is_given(scratch, number);
}

static pmg_buffer *buffer_of(const struct scratch *scratch, int32_t number)
{
	return (pmg_buffer *) (void *) (scratch->args + scratch->desc->arrays[number].offset);
}

/* ---- Values ---- */

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void fill_plain(const pmg_array_desc *array, void *data, int64_t n)
{
	uint64_t state = 0x9e3779b97f4a7c15u;
	double *wide = data;
	float *narrow = data;
	unsigned char *bytes = data;

	if (array->type == PMG_F64)
		for (int64_t i = 0; i < n; i++)
			wide[i] = 0.5 + 0x1p-53 * (double) (next_random(&state) >> 11);
	else if (array->type == PMG_F32)
		for (int64_t i = 0; i < n; i++)
			narrow[i] = 0.5f + 0x1p-24f * (float) (next_random(&state) >> 40);
	else
		memset(bytes, 1, (size_t) n * pmg_type_size(array->type));
}

/* Distinct and ascending where they can be. */
static void fill_spread(int64_t *values, int64_t n, int64_t last)
{
	for (int64_t i = 0; i < n; i++)
		values[i] = n > 1 ? (int64_t) ((double) last * (double) i / (double) (n - 1)) : 0;
	if (n > 0 && last < n)
		for (int64_t i = 0; i < n; i++)
			values[i] = i < last ? i : last;
}

static void fill_random(int64_t *values, int64_t n, int64_t limit)
{
	uint64_t state = 0x2545f4914f6cdd1du;

	for (int64_t i = 0; i < n; i++)
		values[i] = limit > 0 ? (int64_t) (next_random(&state) % (uint64_t) limit) : 0;
}

/* Each node follows the one before it. */
static void fill_tree(const struct scratch *scratch, const pmg_array_desc *array, int64_t *parent, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		parent[i] = array->segments < 0 ? i - 1 : -1;
	(void) scratch;
}

static void fill_index(const struct scratch *scratch, const pmg_array_desc *array, int64_t *values, int64_t n)
{
	const int64_t limit = array_has_limit(array) ? scratch->extents[array->first_extent + array->rank] : 0;

	if ((array->facts & PMG_FACT_TREE) != 0)
		fill_tree(scratch, array, values, n);
	else if ((array->facts & PMG_FACT_OFFSETS) != 0)
		fill_spread(values, n, limit);
	else if ((array->facts & (PMG_FACT_SORTED | PMG_FACT_UNIQUE)) != 0)
		fill_spread(values, n, limit > 0 ? limit - 1 : 0);
	else
		fill_random(values, n, limit);
}

/* ---- Buffers ---- */

static void list_close(struct scratch *scratch)
{
	scratch->bytes -= (int64_t) scratch->list.bytes;
	segment_list_close(scratch->context, &scratch->list);
	scratch->list = (struct segment_list) { 0 };
}

/* The segments of fixed offsets, which a plan has checked; false: no memory. */
static bool list_open(struct scratch *scratch, int32_t offsets)
{
	const pmg_array_desc *array = &scratch->desc->arrays[offsets];

	if (scratch->list.offsets && scratch->listed == offsets)
		return true;
	list_close(scratch);
	scratch->listed = offsets;
	if (segment_list_open(scratch->context, array_argument(array, scratch->caller), &scratch->list) != PMG_OK)
		return false;
	scratch->bytes += (int64_t) scratch->list.bytes;
	return true;
}

static int64_t most_rows(const struct scratch *scratch, const pmg_array_desc *array)
{
	const pmg_pipeline_desc *desc = scratch->desc;
	const int64_t longest = segments_longest(desc, array->segments, scratch->caller, scratch->extents);

	return segments_most_rows(array_elements(array, scratch->extents),
				  array_elements(&desc->arrays[array->segments], scratch->extents) - 1, longest,
				  array->lanes);
}

/* What is made, without its memory: of segments in blocks, with the rows that their list has, or, while there is none,
 * with as many as they may be. */
static pmg_buffer buffer_find(const struct scratch *scratch, int32_t number)
{
	const pmg_array_desc *array = &scratch->desc->arrays[number];
	const pmg_buffer *given = array_argument(array, scratch->caller);
	const pmg_buffer flat = array_dense(array, scratch->extents, NULL);
	const bool has_list = scratch->list.offsets && scratch->listed == array->segments;

	if (becomes_blocks(scratch, number) && array->segments >= 0)
		return pmg_dense(NULL, flat.type, 2, (int64_t[]) {
			has_list ? segment_list_rows(&scratch->list, array->lanes) : most_rows(scratch, array),
			array->lanes });
	if (becomes_blocks(scratch, number))
		return pmg_in_blocks(NULL, &flat, array->lanes);
	if (buffer_is_in_blocks(given, array->rank) && is_given(scratch, number))
		return pmg_dense(NULL, given->type, given->rank, given->shape);
	return flat;
}

static int64_t buffer_bytes(const pmg_buffer *buffer)
{
	return memory_bytes(buffer_elements(buffer), buffer->type);
}

/* Blocks hold numbers behind the ends of systems, too. Those of the caller that have another shape are not read. */
static void given_copy(struct scratch *scratch, int32_t number)
{
	const pmg_array_desc *array = &scratch->desc->arrays[number];
	const pmg_buffer *from = array_argument(array, scratch->caller), *to = buffer_of(scratch, number);

	if (shapes_are_equal(to, from)) {
		buffer_copy(to, from, 1);
		return;
	}
	fill_plain(array, to->data, buffer_elements(to));
	if (to->rank == from->rank)
		return;
	if (array->segments >= 0)
		segments_copy(&scratch->list, 1, &to, &from, 1);
	else
		buffer_copy(to, from, 1);
}

static bool needs_list(const struct scratch *scratch, int32_t number)
{
	return becomes_blocks(scratch, number) && scratch->desc->arrays[number].segments >= 0;
}

/* Its segments, if it needs them. */
static bool is_listed(struct scratch *scratch, int32_t number)
{
	return !needs_list(scratch, number) || list_open(scratch, scratch->desc->arrays[number].segments);
}

static void fill(struct scratch *scratch, int32_t number)
{
	const pmg_array_desc *array = &scratch->desc->arrays[number];
	const pmg_buffer *buffer = buffer_of(scratch, number);
	const int64_t n = buffer_elements(buffer);

	if (array->role != PMG_OUT && is_given(scratch, number) && is_listed(scratch, number))
		given_copy(scratch, number);
	else if (array->is_index)
		fill_index(scratch, array, buffer->data, n);
	else
		fill_plain(array, buffer->data, n);
}

/* ---- Memory ---- */

static int64_t most_of(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

int64_t scratch_forecast(const struct scratch *scratch)
{
	int64_t bytes = (int64_t) scratch->desc->args_size, list = 0;

	for (int32_t i = 0; i < scratch->desc->n_arrays; i++) {
		const pmg_array_desc *array = &scratch->desc->arrays[i];
		pmg_buffer buffer;

		if (!is_made(scratch, i))
			continue;
		buffer = buffer_find(scratch, i);
		bytes += buffer_bytes(&buffer);
		if (needs_list(scratch, i))
			list = most_of(list, segment_list_bytes(array_elements(&scratch->desc->arrays[array->segments],
									       scratch->extents)));
	}
	return bytes + list;
}

static bool buffer_open(struct scratch *scratch, int32_t number)
{
	pmg_buffer *const buffer = buffer_of(scratch, number);
	int64_t bytes;

	if (!is_listed(scratch, number))
		return false;
	*buffer = buffer_find(scratch, number);
	bytes = buffer_bytes(buffer);
	buffer->data = context_allocate(scratch->context, (size_t) bytes);
	scratch->bytes += buffer->data ? bytes : 0;
	return buffer->data;
}

bool scratch_open(struct scratch *scratch)
{
	const pmg_pipeline_desc *desc = scratch->desc;
	bool ok = true;

	scratch->args = context_allocate(scratch->context, desc->args_size);
	if (!scratch->args)
		return false;
	memcpy(scratch->args, scratch->caller, desc->args_size);
	scratch->bytes = (int64_t) desc->args_size;
	for (int32_t i = 0; i < desc->n_arrays; i++)
		if (is_made(scratch, i))
			buffer_of(scratch, i)->data = NULL;
	for (int32_t i = 0; i < desc->n_arrays && ok; i++)
		if (is_made(scratch, i))
			ok = buffer_open(scratch, i);
	for (int32_t i = 0; i < desc->n_arrays && ok; i++)
		if (is_made(scratch, i))
			fill(scratch, i);
	if (!ok)
		scratch_close(scratch);
	return ok;
}

void scratch_fill(struct scratch *scratch)
{
	for (int32_t i = 0; i < scratch->desc->n_arrays; i++)
		if (scratch->desc->arrays[i].role == PMG_INOUT)
			fill(scratch, i);
}

void scratch_close(struct scratch *scratch)
{
	for (int32_t i = 0; i < scratch->desc->n_arrays; i++)
		if (is_made(scratch, i))
			context_release(scratch->context, buffer_of(scratch, i)->data,
					(size_t) buffer_bytes(buffer_of(scratch, i)));
	context_release(scratch->context, scratch->args, scratch->desc->args_size);
	list_close(scratch);
	scratch->args = NULL;
	scratch->bytes = 0;
}
