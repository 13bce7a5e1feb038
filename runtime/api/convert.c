/* SPDX-License-Identifier: MIT
 *
 * Copies of strided buffers, with conversion between PMG_I64 and the other integer types, and from PMG_F64 to what a
 * plan keeps of it. Elements may lie at any address, so they are read and written by memcpy of a constant
 * size, which compiles to a plain move.
 *
 * The elements are numbered in row-major order and cut into pieces of equal length, which threads copy on
 * their own; a piece is a sequence of (parts of) rows, a row runs along the last dimension. */
#include "plan/plan.h"

#include <string.h>

#define PIECE ((int64_t) 1 << 15)

struct row {
	char *to;
	const char *from;
	int64_t to_stride, from_stride, n;
};

#define COPY_BY(type_to, type_from, convert) \
	for (int64_t i = 0; i < row->n; i++) { \
		type_from value; \
		type_to converted; \
		memcpy(&value, row->from + i * row->from_stride, sizeof value); \
		converted = convert(value); \
		memcpy(row->to + i * row->to_stride, &converted, sizeof converted); \
	}

#define COPY(type_to, type_from) COPY_BY(type_to, type_from, (type_to))

static void row_copy_same(const struct row *row, size_t size)
{
	if (row->to_stride == (int64_t) size && row->from_stride == (int64_t) size)
		memcpy(row->to, row->from, (size_t) row->n * size);
	else if (size == 1)
		COPY(uint8_t, uint8_t)
	else if (size == 2)
		COPY(uint16_t, uint16_t)
	else if (size == 4)
		COPY(uint32_t, uint32_t)
	else
		COPY(uint64_t, uint64_t)
}

#define WIDEN(id, type) case PMG_##id: COPY(int64_t, type) break;
#define NARROW(id, type) case PMG_##id: COPY(type, int64_t) break;
#define OTHER_TYPES case PMG_F32: case PMG_F64: case PMG_BOOL: break;

static void row_widen(const struct row *row, pmg_type from)
{
	switch (from) {
	INTEGER_TYPES(WIDEN)
	OTHER_TYPES
	}
}

static void row_narrow(const struct row *row, pmg_type to)
{
	switch (to) {
	INTEGER_TYPES(NARROW)
	OTHER_TYPES
	}
}

/* Doubles in a storage of half the size (pmg_storage). */
static void row_round(const struct row *row, pmg_type to)
{
	if (to == PMG_F32)
		COPY(float, double)
	else
		COPY_BY(uint32_t, double, pmg_top_of_f64)
}

static void row_copy(const struct row *row, pmg_type to, pmg_type from)
{
	if (to == from)
		row_copy_same(row, pmg_type_size(to));
	else if (from == PMG_F64)
		row_round(row, to);
	else if (to == PMG_I64)
		row_widen(row, from);
	else
		row_narrow(row, to);
}

static int64_t offset_of(const pmg_buffer *buffer, const int64_t *at)
{
	int64_t offset = 0;

	for (int32_t d = 0; d < buffer->rank; d++)
		offset += at[d] * buffer->strides[d];
	return offset;
}

/* Sets `at` to the position of element `number`. */
static void position_of(const pmg_buffer *buffer, int64_t number, int64_t *at)
{
	for (int32_t d = buffer->rank - 1; d >= 0; d--) {
		at[d] = number % buffer->shape[d];
		number /= buffer->shape[d];
	}
}

static void piece_copy(const pmg_buffer *to, const pmg_buffer *from, int64_t first, int64_t last)
{
	const int32_t inner = to->rank - 1;
	int64_t at[PMG_MAX_RANK] = { 0 };

	for (int64_t done = first; done < last;) {
		struct row row;

		position_of(to, done, at);
		row.to = (char *) to->data + offset_of(to, at);
		row.from = (const char *) from->data + offset_of(from, at);
		row.to_stride = to->strides[inner];
		row.from_stride = from->strides[inner];
		row.n = to->shape[inner] - at[inner];
		row.n = row.n < last - done ? row.n : last - done;
		row_copy(&row, to->type, from->type);
		done += row.n;
	}
}

/* A scalar is copied as an array of one element. */
static pmg_buffer with_dimension(const pmg_buffer *buffer)
{
	const int64_t one = 1;

	return buffer->rank > 0 ? *buffer : pmg_dense(buffer->data, buffer->type, 1, &one);
}

void buffer_copy(const pmg_buffer *to, const pmg_buffer *from, int32_t threads)
{
	const pmg_buffer target = with_dimension(to), source = with_dimension(from);
	const int64_t n = buffer_elements(to);

	if (to->rank != from->rank) {
		blocks_copy(to, from, threads);
		return;
	}
	if (n == 0)
		return;
	PARALLEL(threads, n, schedule(static))
	for (int64_t first = 0; first < n; first += PIECE)
		piece_copy(&target, &source, first, n - first < PIECE ? n : first + PIECE);
}
