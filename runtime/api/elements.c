/* SPDX-License-Identifier: MIT
 *
 * Elements of one-dimensional arrays of any type and stride, by blocks: read as 64-bit integers, gathered, written
 * where the type holds them, or moved as they are. A block fits into the nearest cache, so that what reads one type
 * and what writes another are two loops, not a loop for each pair of types.
 *
 * Elements may lie at any address: they are moved by memcpy of a constant size, which compiles to a plain move. */
#include "plan/plan.h"

#include <string.h>

#define READ(type, place) \
	for (int64_t i = 0; i < n; i++) { \
		type value; \
		memcpy(&value, from->data + (place) * from->stride, sizeof value); \
		values[i] = (int64_t) value; \
	}

#define OTHER_TYPES case PMG_F32: case PMG_F64: case PMG_BOOL: break;

void elements_read(const struct elements *from, int64_t first, int64_t n, int64_t *values)
{
#define CASE(id, type) case PMG_##id: READ(type, first + i) break;
	switch (from->type) {
	INTEGER_TYPES(CASE)
	OTHER_TYPES
	}
#undef CASE
}

void elements_gather(const struct elements *from, const int64_t *at, int64_t n, int64_t *values)
{
#define CASE(id, type) case PMG_##id: READ(type, at[i]) break;
	switch (from->type) {
	INTEGER_TYPES(CASE)
	OTHER_TYPES
	}
#undef CASE
}

#define WRITE(type) \
	for (int64_t i = 0; i < n; i++) { \
		const type value = (type) values[i]; \
		lost |= (uint64_t) (int64_t) value ^ (uint64_t) values[i]; \
		memcpy(to->data + (first + i) * to->stride, &value, sizeof value); \
	}

bool elements_write(const struct elements *to, int64_t first, int64_t n, const int64_t *values)
{
	uint64_t lost = 0;

#define CASE(id, type) case PMG_##id: WRITE(type) break;
	switch (to->type) {
	INTEGER_TYPES(CASE)
	OTHER_TYPES
	}
#undef CASE
	return lost == 0;
}

#define MOVE(type) \
	for (int64_t i = 0; i < n; i++) \
		memcpy(to->data + (first + i) * to->stride, from->data + at[i] * from->stride, sizeof(type));

void elements_move(const struct elements *to, int64_t first, const struct elements *from, const int64_t *at,
		   int64_t n)
{
	switch (to->stride) {
	case 1:
		MOVE(uint8_t)
		break;
	case 2:
		MOVE(uint16_t)
		break;
	case 4:
		MOVE(uint32_t)
		break;
	default:
		MOVE(uint64_t)
		break;
	}
}

struct elements elements_dense(void *data, pmg_type type)
{
	return (struct elements) { data, (int64_t) pmg_type_size(type), type };
}

struct elements elements_of(const pmg_buffer *buffer)
{
	return (struct elements) { buffer->data, buffer->strides[0], buffer->type };
}
