/* SPDX-License-Identifier: MIT
 *
 * Types, and the geometry of strided buffers: which memory one touches, whether two share some. Every answer
 * is on the safe side: buffers that interlace in a way not understood here count as overlapping.
 *
 * No stride or shape is trusted: all sums are checked for overflow before a buffer counts as addressable,
 * and only addressable buffers are given to what follows. */
#include "plan/plan.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	size_t size;
	bool is_integer;
	int64_t smallest, largest;
} types[] = {
	[PMG_F32] = { "f32", 4, false, 0, 0 },
	[PMG_F64] = { "f64", 8, false, 0, 0 },
	[PMG_I8] = { "i8", 1, true, INT8_MIN, INT8_MAX },
	[PMG_I16] = { "i16", 2, true, INT16_MIN, INT16_MAX },
	[PMG_I32] = { "i32", 4, true, INT32_MIN, INT32_MAX },
	[PMG_I64] = { "i64", 8, true, INT64_MIN, INT64_MAX },
	[PMG_U8] = { "u8", 1, true, 0, UINT8_MAX },
	[PMG_U16] = { "u16", 2, true, 0, UINT16_MAX },
	[PMG_U32] = { "u32", 4, true, 0, UINT32_MAX },
	[PMG_BOOL] = { "bool", 1, false, 0, 0 },
};

static bool type_exists(pmg_type type)
{
	return (size_t) type < sizeof types / sizeof types[0];
}

size_t pmg_type_size(pmg_type type)
{
	return type_exists(type) ? types[type].size : 0;
}

const char *pmg_type_name(pmg_type type)
{
	return type_exists(type) ? types[type].name : "?";
}

bool element_is_integer(pmg_type type)
{
	return type_exists(type) && types[type].is_integer;
}

bool type_holds(pmg_type type, int64_t value)
{
	return element_is_integer(type) && types[type].smallest <= value && value <= types[type].largest;
}

pmg_buffer pmg_dense(void *data, pmg_type type, int32_t rank, const int64_t *shape)
{
	pmg_buffer buffer = { .data = data, .type = type, .device = PMG_HOST, .rank = rank };
	uint64_t stride = pmg_type_size(type);

	for (int32_t d = (rank < PMG_MAX_RANK ? rank : PMG_MAX_RANK) - 1; d >= 0; d--) {
		buffer.shape[d] = shape[d];
		buffer.strides[d] = (int64_t) stride;
		stride *= (uint64_t) shape[d];
	}
	return buffer;
}

const char *list_text(char *text, int32_t rank, const int64_t *values)
{
	int length = 0;

	text[length++] = '[';
	for (int32_t d = 0; d < rank && d < PMG_MAX_RANK; d++)
		length += sprintf(text + length, "%s%lld", d > 0 ? ", " : "", (long long) values[d]);
	text[length++] = ']';
	text[length] = '\0';
	return text;
}

bool shapes_are_equal(const pmg_buffer *a, const pmg_buffer *b)
{
	bool are = a->rank == b->rank;

	for (int32_t d = 0; are && d < a->rank; d++)
		are = a->shape[d] == b->shape[d];
	return are;
}

bool buffer_is_empty(const pmg_buffer *buffer)
{
	for (int32_t d = 0; d < buffer->rank; d++)
		if (buffer->shape[d] == 0)
			return true;
	return false;
}

int64_t buffer_elements(const pmg_buffer *buffer)
{
	int64_t n = 1;

	if (buffer_is_empty(buffer))
		return 0;
	for (int32_t d = 0; d < buffer->rank; d++)
		n *= buffer->shape[d];
	return n;
}

bool shape_bytes(pmg_type type, int32_t rank, const int64_t *shape, int64_t *bytes)
{
	bool is_empty = false, fits = true;

	for (int32_t d = 0; d < rank; d++)
		is_empty = is_empty || shape[d] == 0;
	*bytes = is_empty ? 0 : (int64_t) pmg_type_size(type);
	for (int32_t d = 0; fits && d < rank; d++)
		fits = is_empty || !__builtin_mul_overflow(*bytes, shape[d], bytes);
	return fits;
}

bool buffer_lacks_data(const pmg_buffer *buffer)
{
	return !buffer->data && !buffer_is_empty(buffer);
}

bool buffer_is_row_major(const pmg_buffer *buffer)
{
	uint64_t size = pmg_type_size(buffer->type);
	uint64_t stride = size;

	if ((uintptr_t) buffer->data % size != 0)
		return false;
	if (buffer_is_empty(buffer))
		return true;
	for (int32_t d = buffer->rank - 1; d >= 0; d--) {
		if (buffer->shape[d] > 1 && buffer->strides[d] != (int64_t) stride)
			return false;
		stride *= (uint64_t) buffer->shape[d];
	}
	return true;
}

/* Offsets in bytes, from `data`, of the first byte and behind the last one; false if they are out of all
 * bounds. */
static bool buffer_span(const pmg_buffer *buffer, int64_t *first, int64_t *last)
{
	*first = 0;
	*last = (int64_t) pmg_type_size(buffer->type);
	for (int32_t d = 0; d < buffer->rank; d++) {
		int64_t reach;

		if (__builtin_mul_overflow(buffer->shape[d] - 1, buffer->strides[d], &reach))
			return false;
		if (__builtin_add_overflow(*first, reach < 0 ? reach : 0, first))
			return false;
		if (__builtin_add_overflow(*last, reach > 0 ? reach : 0, last))
			return false;
	}
	return *first > -PMG_MAX_BYTES && *last < PMG_MAX_BYTES;
}

bool buffer_is_addressable(const pmg_buffer *buffer)
{
	uintptr_t data = (uintptr_t) buffer->data;
	int64_t first, last;

	if (buffer_is_empty(buffer))
		return true;
	if (!buffer_span(buffer, &first, &last))
		return false;
	return (uintptr_t) -first <= data && (uintptr_t) last <= UINTPTR_MAX - data;
}

static int64_t magnitude(int64_t stride)
{
	return stride < 0 ? -stride : stride;
}

/* The strides of dimensions that have more than one element, as magnitudes, ascending, with their reach. */
static int32_t strides_sorted(const pmg_buffer *buffer, int64_t *strides, int64_t *reaches)
{
	int32_t n = 0;

	for (int32_t d = 0; d < buffer->rank; d++) {
		int64_t stride;
		int32_t at = n;

		if (buffer->shape[d] <= 1)
			continue;
		stride = magnitude(buffer->strides[d]);
		for (; at > 0 && strides[at - 1] > stride; at--) {
			strides[at] = strides[at - 1];
			reaches[at] = reaches[at - 1];
		}
		strides[at] = stride;
		reaches[at] = stride * (buffer->shape[d] - 1);
		n++;
	}
	return n;
}

bool buffer_is_injective(const pmg_buffer *buffer)
{
	int64_t strides[PMG_MAX_RANK], reaches[PMG_MAX_RANK];
	int64_t extent = (int64_t) pmg_type_size(buffer->type);
	int32_t n;

	if (buffer_is_empty(buffer))
		return true;
	n = strides_sorted(buffer, strides, reaches);
	for (int32_t d = 0; d < n; d++) {
		if (strides[d] < extent)
			return false;
		extent += reaches[d];
	}
	return true;
}

/* The bytes of the buffer modulo `modulus` lie in start .. start + length. Dimensions whose stride is a
 * multiple of the modulus do not count. */
static void residues(const pmg_buffer *buffer, int64_t modulus, uint64_t *start, int64_t *length)
{
	uint64_t lowest = (uint64_t) (uintptr_t) buffer->data;

	*length = (int64_t) pmg_type_size(buffer->type);
	for (int32_t d = 0; d < buffer->rank; d++) {
		int64_t reach = buffer->strides[d] * (buffer->shape[d] - 1);

		if (buffer->strides[d] % modulus == 0)
			continue;
		lowest += reach < 0 ? (uint64_t) reach : 0;
		*length += magnitude(reach);
	}
	*start = lowest % (uint64_t) modulus;
}

/* Columns of one matrix interlace without sharing a byte: modulo the length of a row they lie apart. */
static bool are_apart_modulo(const pmg_buffer *one, const pmg_buffer *other, int64_t modulus)
{
	uint64_t start_one, start_other;
	int64_t length_one, length_other, distance;

	residues(one, modulus, &start_one, &length_one);
	residues(other, modulus, &start_other, &length_other);
	distance = (int64_t) start_other - (int64_t) start_one;
	distance += distance < 0 ? modulus : 0;
	return distance >= length_one && modulus - distance >= length_other;
}

static bool are_apart_by_a_stride(const pmg_buffer *one, const pmg_buffer *other)
{
	for (int32_t d = 0; d < one->rank; d++) {
		if (one->shape[d] <= 1 || one->strides[d] == 0)
			continue;
		if (are_apart_modulo(one, other, magnitude(one->strides[d])))
			return true;
	}
	return false;
}

struct reach buffer_reach(const pmg_buffer *buffer)
{
	const uintptr_t data = (uintptr_t) buffer->data;
	int64_t first = 0, last = 0;

	if (!buffer_is_empty(buffer))
		buffer_span(buffer, &first, &last);
	return (struct reach) { data + (uintptr_t) first, data + (uintptr_t) last };
}

bool buffers_overlap(const pmg_buffer *one, const pmg_buffer *other)
{
	return reaches_meet(buffer_reach(one), buffer_reach(other)) && !are_apart_by_a_stride(one, other) &&
	       !are_apart_by_a_stride(other, one);
}

bool buffers_are_equal(const pmg_buffer *one, const pmg_buffer *other)
{
	bool are = one->data == other->data && one->type == other->type && one->device == other->device &&
		   one->rank == other->rank;

	for (int32_t d = 0; d < one->rank && are; d++)
		are = one->shape[d] == other->shape[d] && one->strides[d] == other->strides[d];
	return are;
}
