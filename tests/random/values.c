/* SPDX-License-Identifier: MIT
 *
 * Elements of random arrays: small whole numbers, of which any sum is exact, or what values.def says of the array's
 * name. */
#include "random/values.h"

#include <float.h>
#include <math.h>
#include <string.h>

int64_t random_below(uint64_t *random, int64_t n)
{
	uint64_t z = *random += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (int64_t) ((z ^ (z >> 31)) % (uint64_t) n);
}

static const char *const beginnings[] = {
#define VALUES(beginning, what) beginning,
#include "random/values.def"
#undef VALUES
};

enum class { TIE, WIDE, NAN_AMONG, HALF, PLAIN };

static enum class class_of(const struct array *array)
{
	for (int i = 0; i < PLAIN; i++)
		if (!strncmp(array->name, beginnings[i], strlen(beginnings[i])))
			return (enum class) i;
	return PLAIN;
}

/* Diagonals of systems, by the names that the field gives them, are large enough for the systems to be well posed. */
static int64_t dominance(const struct array *array)
{
	static const char *const diagonals[] = { "diag", "diag2", "b", "cm", "axial" };
	bool is_one = false;

	for (size_t i = 0; i < sizeof diagonals / sizeof diagonals[0]; i++)
		is_one = is_one || !strcmp(array->name, diagonals[i]);
	return is_one ? 60 : 0;
}

/* ---- one element ---- */

static void set_integer(enum scalar_type type, void *data, int64_t i, int64_t value)
{
	switch (type) {
	case TYPE_F64: ((double *) data)[i] = (double) value; break;
	case TYPE_F32: ((float *) data)[i] = (float) value; break;
	case TYPE_I64: ((int64_t *) data)[i] = value; break;
	case TYPE_I32: ((int32_t *) data)[i] = (int32_t) value; break;
	case TYPE_I16: ((int16_t *) data)[i] = (int16_t) value; break;
	case TYPE_I8: ((int8_t *) data)[i] = (int8_t) value; break;
	case TYPE_U32: ((uint32_t *) data)[i] = (uint32_t) value; break;
	case TYPE_U16: ((uint16_t *) data)[i] = (uint16_t) value; break;
	case TYPE_U8: ((uint8_t *) data)[i] = (uint8_t) value; break;
	case TYPE_BOOL: ((bool *) data)[i] = value > 0; break;
	case TYPE_N: break;
	}
}

static void set_real(enum scalar_type type, void *data, int64_t i, double value)
{
	if (type == TYPE_F64)
		((double *) data)[i] = value;
	else
		((float *) data)[i] = (float) value;
}

static int64_t pick_integer(const struct array *array, uint64_t *random)
{
	const bool is_unsigned = array->type == TYPE_U8 || array->type == TYPE_U16 || array->type == TYPE_U32;

	return random_below(random, 7) - 3 + dominance(array) + (is_unsigned ? 8 : 0);
}

/* Limits of the type and what is next to them, every other time; else any bits. Fewer bits of I64 too, so that not all
 * of them are huge. */
static int64_t pick_wide(enum scalar_type type, uint64_t *random)
{
	const int bits = 8*type_size(type);
	const bool is_unsigned = type == TYPE_U8 || type == TYPE_U16 || type == TYPE_U32;
	const int64_t hi = is_unsigned ? (INT64_C(1) << bits) - 1 : (int64_t) (UINT64_MAX >> (65 - bits));
	const int64_t lo = is_unsigned ? 0 : -hi - 1, ends[] = { lo, lo + 1, -1, 0, 1, hi/2 + 1, hi - 1, hi };
	const int64_t any = (int64_t) ((uint64_t) random_below(random, INT64_MAX) << 1);

	if (random_below(random, 2))
		return ends[random_below(random, 8)];
	return is_unsigned ? any >> 1 & hi : any >> (64 - bits + (bits == 64 ? 8*random_below(random, 8) : 0));
}

static double pick_real(enum scalar_type type, uint64_t *random)
{
	const bool is_single = type == TYPE_F32;
	const double least = is_single ? (double) FLT_MIN : DBL_MIN, most = is_single ? (double) FLT_MAX : DBL_MAX;
	const double classes[] = { 0, -0.0, (double) INFINITY, -(double) INFINITY, (double) NAN, least, -least/8,
				   is_single ? 0x1p-149 : 0x1p-1074, most, -most, most/3, 1/most, 1e-5, -1e10,
				   0x1p53 + 2, 0x1p24 + 1, -0x1p63, 0x1p63, 4294967295.0, -129 };

	if (random_below(random, 3))
		return classes[random_below(random, (int64_t) (sizeof classes / sizeof classes[0]))];
	return (double) (random_below(random, 2001) - 1000) / 7;
}

static double pick_special(uint64_t *random)
{
	const double classes[] = { 0, -0.0, (double) INFINITY, -(double) INFINITY, (double) NAN };

	if (random_below(random, 4) == 0)
		return classes[random_below(random, 5)];
	return (double) (random_below(random, 7) - 3);
}

static double pick_fraction(uint64_t *random)
{
	const double near[] = { 0, 0, 0, 127, -128, 255, 32767, -32768, 65535, 2147483647.0,
				-2147483648.0, 4294967295.0, 9223372036854774784.0, -9223372036854775808.0,
				1e19, -1e30 };

	return near[random_below(random, (int64_t) (sizeof near / sizeof near[0]))] +
	       (double) (random_below(random, 17) - 8) / 4;
}

/* ---- arrays ---- */

static double pick_of_class(enum class class, enum scalar_type type, uint64_t *random)
{
	if (class == WIDE)
		return pick_real(type, random);
	return class == HALF ? pick_fraction(random) : pick_special(random);
}

void values_fill(const struct array *array, void *data, int64_t n, uint64_t *random)
{
	const enum class class = class_of(array);
	/* Of some draws all is one class: one with NaN everywhere, or all of one value, is seldom drawn otherwise. */
	const bool is_even = class == TIE && random_below(random, 4) == 0;

	for (int64_t i = 0; i < n; i++)
		if (class == PLAIN)
			set_integer(array->type, data, i, pick_integer(array, random));
		else if (class == TIE)
			set_integer(array->type, data, i, is_even ? 1 : random_below(random, 5)/2);
		else if (type_is_float(array->type))
			set_real(array->type, data, i, pick_of_class(class, array->type, random));
		else
			set_integer(array->type, data, i, pick_wide(array->type, random));
}
