/* SPDX-License-Identifier: MIT
 *
 * Values in memory: every scalar type as double or int64_t, and updates of accumulations.
 *
 * Sums and products of floats run in long double in `exact`; `data` is its rounded value after each update, so that
 * a read needs no care. Integers of 64 bits must not overflow; narrower ones wrap modulo 2^bits. Minimum and maximum
 * let NaN through. */
#include "ir/interp/interp_private.h"

#include <math.h>

/* All types but BOOL, a byte that is not 0 for true whoever wrote it. */
#define TYPES(ROW) \
	ROW(F32, float) ROW(F64, double) ROW(I8, int8_t) ROW(I16, int16_t) ROW(I32, int32_t) ROW(I64, int64_t) \
	ROW(U8, uint8_t) ROW(U16, uint16_t) ROW(U32, uint32_t)

double slot_real(const struct slot *slot, int64_t offset)
{
#define LOAD(id, type) case TYPE_##id: return (double) ((const type *) slot->data)[offset];
	switch (slot->type) {
	TYPES(LOAD)
	case TYPE_BOOL:
		return ((const unsigned char *) slot->data)[offset] != 0;
	case TYPE_N:
		break;
	}
#undef LOAD
	return 0;
}

int64_t slot_integer(const struct slot *slot, int64_t offset)
{
#define LOAD(id, type) case TYPE_##id: return (int64_t) ((const type *) slot->data)[offset];
	switch (slot->type) {
	TYPES(LOAD)
	case TYPE_BOOL:
		return ((const unsigned char *) slot->data)[offset] != 0;
	case TYPE_N:
		break;
	}
#undef LOAD
	return 0;
}

static void store_real(struct slot *slot, int64_t offset, double value)
{
	if (slot->type == TYPE_F64)
		((double *) slot->data)[offset] = value;
	else
		((float *) slot->data)[offset] = (float) value;
}

void slot_set_real(struct slot *slot, int64_t offset, double value)
{
	store_real(slot, offset, value);
	if (slot->exact)
		slot->exact[offset] = value;
}

void slot_set_integer(struct slot *slot, int64_t offset, int64_t value)
{
#define STORE(id, type) \
	case TYPE_##id: \
		((type *) slot->data)[offset] = (type) value; \
		break;
	switch (slot->type) {
	TYPES(STORE)
	case TYPE_BOOL:
		((unsigned char *) slot->data)[offset] = value != 0;
		break;
	case TYPE_N:
		break;
	}
#undef STORE
}

/* ---- updates ---- */

static double select_real(enum reduce_op op, double a, double b)
{
	if (isnan(a) || isnan(b))
		return NAN;
	return (op == REDUCE_MIN ? a < b : a > b) ? a : b;
}

static void store_exact(struct slot *slot, int64_t offset, long double value)
{
	slot->exact[offset] = value;
	if (slot->type == TYPE_F64)
		((double *) slot->data)[offset] = (double) value;
	else
		((float *) slot->data)[offset] = (float) value;
}

void slot_update_real(struct slot *slot, int64_t offset, enum reduce_op op, double value)
{
	if (op == REDUCE_ADD)
		store_exact(slot, offset, slot->exact[offset] + value);
	else if (op == REDUCE_MUL)
		store_exact(slot, offset, slot->exact[offset] * value);
	else
		store_real(slot, offset, select_real(op, slot_real(slot, offset), value));
}

static bool combine(enum reduce_op op, enum scalar_type type, int64_t a, int64_t b, int64_t *result)
{
	const uint64_t x = (uint64_t) a, y = (uint64_t) b;

	*result = b;
	if (op == REDUCE_MIN || op == REDUCE_MAX)
		*result = (op == REDUCE_MIN) == (a < b) ? a : b;
	else if (op != REDUCE_SET && type == TYPE_I64)
		return op == REDUCE_ADD ? !__builtin_add_overflow(a, b, result) : !__builtin_mul_overflow(a, b, result);
	else if (op != REDUCE_SET)
		*result = (int64_t) (op == REDUCE_ADD ? x + y : x * y);
	return true;
}

bool slot_update_integer(struct slot *slot, int64_t offset, enum reduce_op op, int64_t value)
{
	int64_t result;

	value = type_wrap(slot->type, value);
	if (!combine(op, slot->type, slot_integer(slot, offset), value, &result))
		return false;
	slot_set_integer(slot, offset, type_wrap(slot->type, result));
	return true;
}

/* ---- integers of all widths ---- */

static int64_t saturate(enum scalar_type type, int64_t value)
{
	int64_t smallest, largest;

	type_limits(type, &smallest, &largest);
	return value > largest ? largest : value < smallest ? smallest : value;
}

int64_t integer_of_real(enum scalar_type type, double value)
{
	if (type == TYPE_BOOL)
		return value != 0;
	if (isnan(value))
		return 0;
	if (value >= 9223372036854775808.0)
		return saturate(type, INT64_MAX);
	if (value < -9223372036854775808.0)
		return saturate(type, INT64_MIN);
	return saturate(type, (int64_t) value);
}

/* ---- text ---- */

const char *slot_cell_text(struct arena *arena, const struct slot *slot, int64_t offset)
{
	struct str text = str_new(arena);

	str_add(&text, "%s", slot->array->name);
	for (int i = 0; i < slot->array->rank; i++) {
		str_add(&text, "%s%lld", i ? ", " : "[", (long long) (slot->lo[i] + offset / slot->stride[i]));
		offset %= slot->stride[i];
	}
	if (slot->array->rank)
		str_add(&text, "]");
	return str_text(&text);
}
