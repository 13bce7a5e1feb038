/* SPDX-License-Identifier: MIT
 *
 * Arguments for trials. Inputs are the caller's where he gives them, and are only read; what is written, and what he
 * does not give, is made here: numbers between 1/2 and 3/2, since zeros may be fast where nothing else is, and index
 * arrays that hold their facts. */
#include "plan.h"

#include <string.h>

static bool is_given(const struct scratch *scratch, int32_t number)
{
	const pmg_array_desc *array = &scratch->desc->arrays[number];
	const pmg_buffer *buffer = array_argument(array, scratch->caller);

	return buffer->data
		&& argument_check(NULL, scratch->desc, number, scratch->caller, scratch->extents) == PMG_OK;
}

/* Is the argument replaced? */
static bool is_made(const struct scratch *scratch, int32_t number)
{
	const pmg_array_desc *array = &scratch->desc->arrays[number];

	if (array_is_internal(array) || array->is_fixed)
		return false;
	return array_is_written(array) || !is_given(scratch, number);
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

static const pmg_buffer *offsets_of(const struct scratch *scratch, const pmg_array_desc *array)
{
	return array_argument(&scratch->desc->arrays[array->segments], scratch->caller);
}

/* Blocks whose segments cannot be listed, or are others, hold nothing that trials need. */
static void given_copy(const struct scratch *scratch, int32_t number)
{
	const pmg_array_desc *array = &scratch->desc->arrays[number];
	const pmg_buffer *from = array_argument(array, scratch->caller), *to = buffer_of(scratch, number);
	struct segment_list list;

	if (!is_in_segments(scratch->desc, array, from)) {
		buffer_copy(to, from, 1);
		return;
	}
	fill_plain(array, to->data, to->shape[0]);
	if (segment_list_open(scratch->context, offsets_of(scratch, array), &list) != PMG_OK)
		return;
	if (list.offsets[list.n] == to->shape[0] && segment_list_rows(&list, from->shape[1]) == from->shape[0])
		segments_copy(&list, to, from, 1);
	segment_list_close(scratch->context, &list);
}

static void fill(const struct scratch *scratch, int32_t number)
{
	const pmg_array_desc *array = &scratch->desc->arrays[number];
	const pmg_buffer *buffer = buffer_of(scratch, number);
	const int64_t n = array_elements(array, scratch->extents);

	if (array->role != PMG_OUT && is_given(scratch, number))
		given_copy(scratch, number);
	else if (array->is_index)
		fill_index(scratch, array, buffer->data, n);
	else
		fill_plain(array, buffer->data, n);
}

/* ---- Memory ---- */

int64_t scratch_forecast(const pmg_pipeline_desc *desc, const void *args, const int64_t *extents)
{
	const struct scratch scratch = { .desc = desc, .extents = extents, .caller = args };
	int64_t bytes = (int64_t) desc->args_size;

	for (int32_t i = 0; i < desc->n_arrays; i++)
		if (is_made(&scratch, i))
			bytes += array_bytes(&desc->arrays[i], extents);
	return bytes;
}

static bool buffer_open(struct scratch *scratch, int32_t number)
{
	const pmg_array_desc *array = &scratch->desc->arrays[number];
	const int64_t bytes = array_bytes(array, scratch->extents);
	void *data = context_allocate(scratch->context, (size_t) bytes);

	*buffer_of(scratch, number) = array_dense(array, scratch->extents, data);
	scratch->bytes += data ? bytes : 0;
	return data;
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
					(size_t) array_bytes(&scratch->desc->arrays[i], scratch->extents));
	context_release(scratch->context, scratch->args, scratch->desc->args_size);
	scratch->args = NULL;
}
