/* SPDX-License-Identifier: MIT
 *
 * Arguments for trials. Inputs are the caller's where he gives them, and are only read; what is written, and what he
 * does not give, is made here: numbers between 1/2 and 3/2, since zeros may be fast where nothing else is, and index
 * arrays that hold their facts. What is made lies in blocks if the caller's buffer does; `in_blocks`, all that the
 * kernel takes so. */
#include "plan.h"

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

static const pmg_buffer *offsets_of(const struct scratch *scratch, const pmg_array_desc *array)
{
	return array_argument(&scratch->desc->arrays[array->segments], scratch->caller);
}

/* What is made, without its memory. */
static pmg_status buffer_find(const struct scratch *scratch, int32_t number, pmg_buffer *buffer)
{
	const pmg_array_desc *array = &scratch->desc->arrays[number];
	const pmg_buffer *given = array_argument(array, scratch->caller);
	const pmg_buffer flat = array_dense(array, scratch->extents, NULL);

	*buffer = flat;
	if (becomes_blocks(scratch, number) && array->segments >= 0)
		return pmg_in_segments(scratch->context, NULL, &flat, offsets_of(scratch, array), array->lanes, buffer);
	if (becomes_blocks(scratch, number))
		*buffer = pmg_in_blocks(NULL, &flat, array->lanes);
	else if (buffer_is_in_blocks(given, array->rank) && is_given(scratch, number))
		*buffer = pmg_dense(NULL, given->type, given->rank, given->shape);
	return PMG_OK;
}

static int64_t elements_of_buffer(const pmg_buffer *buffer)
{
	int64_t n = 1;

	for (int32_t d = 0; d < buffer->rank; d++)
		n *= buffer->shape[d];
	return n;
}

static int64_t buffer_bytes(const pmg_buffer *buffer)
{
	const int64_t bytes = elements_of_buffer(buffer) * (int64_t) pmg_type_size(buffer->type);

	return bytes > 0 ? (bytes + PMG_ALIGNMENT - 1) / PMG_ALIGNMENT * PMG_ALIGNMENT : PMG_ALIGNMENT;
}

/* Blocks hold numbers behind the ends of systems, too. Those of the caller that have another width are not read. */
static void given_copy(const struct scratch *scratch, int32_t number)
{
	const pmg_array_desc *array = &scratch->desc->arrays[number];
	const pmg_buffer *from = array_argument(array, scratch->caller), *to = buffer_of(scratch, number);

	if (to->rank == from->rank && to->shape[to->rank - 1] == from->shape[to->rank - 1]) {
		buffer_copy(to, from, 1);
		return;
	}
	fill_plain(array, to->data, elements_of_buffer(to));
	if (to->rank == from->rank)
		return;
	if (array->segments >= 0)
		pmg_relayout_segments(scratch->context, to, from, offsets_of(scratch, array), 1);
	else
		buffer_copy(to, from, 1);
}

static void fill(const struct scratch *scratch, int32_t number)
{
	const pmg_array_desc *array = &scratch->desc->arrays[number];
	const pmg_buffer *buffer = buffer_of(scratch, number);
	const int64_t n = elements_of_buffer(buffer);

	if (array->role != PMG_OUT && is_given(scratch, number))
		given_copy(scratch, number);
	else if (array->is_index)
		fill_index(scratch, array, buffer->data, n);
	else
		fill_plain(array, buffer->data, n);
}

/* ---- Memory ---- */

int64_t scratch_forecast(const struct scratch *scratch)
{
	int64_t bytes = (int64_t) scratch->desc->args_size;

	for (int32_t i = 0; i < scratch->desc->n_arrays; i++) {
		pmg_buffer buffer;

		if (is_made(scratch, i) && buffer_find(scratch, i, &buffer) == PMG_OK)
			bytes += buffer_bytes(&buffer);
	}
	return bytes;
}

static bool buffer_open(struct scratch *scratch, int32_t number)
{
	pmg_buffer *const buffer = buffer_of(scratch, number);
	int64_t bytes;

	if (buffer_find(scratch, number, buffer) != PMG_OK)
		return false;
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
	scratch->args = NULL;
	scratch->bytes = 0;
}
