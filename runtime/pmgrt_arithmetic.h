/* SPDX-License-Identifier: MIT
 *
 * The arithmetic of the language where C differs from it or leaves it open, for every generated kernel.
 * Included by pmgrt_math.h; C11, C++, CUDA and, as a text of the runtime, OpenCL C.
 *
 * No function here has undefined behaviour for any argument: integers wrap, and division by zero, which the
 * reference interpreter reports, gives 0. Selections are written without branches between memory accesses, so
 * that gcc and clang vectorise loops over them. */
#ifndef PMGRT_ARITHMETIC_H
#define PMGRT_ARITHMETIC_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define PMG_INLINE static inline __host__ __device__
#else
#define PMG_INLINE static inline
#endif

/* ---- Powers ----------------------------------------------------------------
 * pmg_pow_f64(x, y): pow. gcc computes it as sqrt(x) in vectors where y is known to be 0.5, which is NaN at minus
 * infinity, for +inf, and -0 at -0, for 0. */

#if defined(__GNUC__) && !defined(__CUDACC__) && !defined(__OPENCL_C_VERSION__)
#define PMG_IS_HALF(y) (__builtin_constant_p(y) && (y) == 0.5f)
#else
#define PMG_IS_HALF(y) 0
#endif

PMG_INLINE double pmg_pow_f64(double x, double y)
{
	return PMG_IS_HALF(y) ? sqrt((x < -DBL_MAX ? -x : x) + 0.0) : pow(x, y);
}

PMG_INLINE float pmg_pow_f32(float x, float y)
{
	return PMG_IS_HALF(y) ? sqrtf((x < -FLT_MAX ? -x : x) + 0.0f) : powf(x, y);
}

/* ---- Levels ---------------------------------------------------------------- */

/* How often n is halved, rounded down, until it is at most `limit` >= 1. */
PMG_INLINE int64_t pmg_halvings(int64_t n, int64_t limit)
{
	int64_t halvings = 0;

	for (; n > limit; n /= 2)
		halvings++;
	return halvings;
}

/* How often `limit` >= 1 is doubled until it is at least n. */
PMG_INLINE int64_t pmg_doublings(int64_t n, int64_t limit)
{
	int64_t doublings = 0;

	for (; limit < n && doublings < 62; limit *= 2)
		doublings++;
	return doublings;
}

/* ---- Integers -----------------------------------------------------------------
 * Narrower operands are promoted to int64_t by the call. The tests on `b` vanish where it is a constant. */

/* The quotient rounded towards minus infinity; 0 for b = 0; INT64_MIN / -1 wraps. */
PMG_INLINE int64_t pmg_div(int64_t a, int64_t b)
{
	if (b == 0)
		return 0;
	if (b == -1)
		return (int64_t) (0 - (uint64_t) a);
	return a / b - (int64_t) ((a % b != 0) & ((a ^ b) < 0));
}

/* a - pmg_div(a, b)*b, which has the sign of b; 0 for b = 0. */
PMG_INLINE int64_t pmg_mod(int64_t a, int64_t b)
{
	int64_t rest;

	if (b == 0 || b == -1)
		return 0;
	rest = a % b;
	return rest + (((rest != 0) & ((rest ^ b) < 0)) ? b : 0);
}

/* ---- Minimum and maximum ---------------------------------------------------------
 * pmg_min_f64(a, b), pmg_max_i32(a, b), …: NaN if one of the operands is. A comparison with NaN is false, so that of
 * floats `b` needs no test. `a` is no result of a choice, such as another minimum: gcc makes branches of what it knows
 * of that. pmg_min_both_f64(a, b) is for two of them: its test is no choice.
 *
 * Several at a time: pmg_least_f64(a, b) and pmg_greatest_f64(a, b) are of numbers, any value if an operand is NaN.
 * pmg_or_nan_f64(value, is_nan) is NaN in the place of such a value; pmg_are_nan_f64(a, b), of any two operands, is one
 * instruction. */

#define PMG_FLOATS(X) X(f32, float) X(f64, double)
#define PMG_INTEGERS(X) X(i8, int8_t) X(i16, int16_t) X(i32, int32_t) X(i64, int64_t) \
	X(u8, uint8_t) X(u16, uint16_t) X(u32, uint32_t)

/* Of a number that is NaN or not: clang has fewer instructions for the first form, gcc for the second one. */
#ifdef __clang__
#define PMG_TESTED(a, chosen) ((a) == (a) ? (chosen) : (a))
#else
#define PMG_TESTED(a, chosen) ((a) != (a) ? (a) : (chosen))
#endif

#define PMG_FLOAT_MIN_MAX(id, type, bits) \
	PMG_INLINE type pmg_least_##id(type a, type b) { return a < b ? a : b; } \
	PMG_INLINE type pmg_greatest_##id(type a, type b) { return a > b ? a : b; } \
	PMG_INLINE int pmg_are_nan_##id(type a, type b) { return (a != a) | (b != b); } \
	PMG_INLINE type pmg_or_nan_##id(type value, int is_nan) \
	{ \
		bits all; \
		memcpy(&all, &value, sizeof all); \
		all |= -(bits) is_nan; \
		memcpy(&value, &all, sizeof all); \
		return value; \
	} \
	PMG_INLINE type pmg_min_##id(type a, type b) \
	{ \
		const type chosen = pmg_least_##id(a, b); \
		return PMG_TESTED(a, chosen); \
	} \
	PMG_INLINE type pmg_max_##id(type a, type b) \
	{ \
		const type chosen = pmg_greatest_##id(a, b); \
		return PMG_TESTED(a, chosen); \
	} \
	PMG_INLINE type pmg_min_both_##id(type a, type b) { return pmg_or_nan_##id(pmg_least_##id(a, b), a != a); } \
	PMG_INLINE type pmg_max_both_##id(type a, type b) { return pmg_or_nan_##id(pmg_greatest_##id(a, b), a != a); }
#define PMG_INTEGER_MIN_MAX(id, type) \
	PMG_INLINE type pmg_min_##id(type a, type b) { return a < b ? a : b; } \
	PMG_INLINE type pmg_max_##id(type a, type b) { return a > b ? a : b; }

PMG_FLOAT_MIN_MAX(f32, float, int32_t)
PMG_FLOAT_MIN_MAX(f64, double, int64_t)
PMG_INTEGERS(PMG_INTEGER_MIN_MAX)
PMG_INTEGER_MIN_MAX(bool, bool)

/* Where a part of n cells begins, and the one before it ends: at a multiple of `line`, so that no two write to a line
 * if the first cell begins one. Of the part behind the last one it is n. */
PMG_INLINE int64_t pmg_part_begin(int64_t n, int64_t part, int64_t parts, int64_t line)
{
	return part < parts ? pmg_min_i64((part*n/parts + line/2)/line*line, n) : n;
}

/* ---- Scales ------------------------------------------------------------------
 * pmg_unit_scale_f64(x): the power of two by which |x| comes into 1..2 (subnormal x into 0..2, those near infinity
 * into 1..8). It is a normal number for any x, NaN too, so that products with it are exact unless they are subnormal.
 * Its exponent is that of x taken from twice the bias. */

PMG_INLINE double pmg_unit_scale_f64(double x)
{
	double size = fabs(x) < 0x1p1021 ? fabs(x) : 0x1p1021;
	uint64_t bits;

	memcpy(&bits, &size, sizeof bits);
	bits = 0x7fe0000000000000 - (bits & 0x7ff0000000000000);
	memcpy(&size, &bits, sizeof size);
	return size;
}

PMG_INLINE float pmg_unit_scale_f32(float x)
{
	float size = fabsf(x) < 0x1p125f ? fabsf(x) : 0x1p125f;
	uint32_t bits;

	memcpy(&bits, &size, sizeof bits);
	bits = 0x7f000000 - (bits & 0x7f800000);
	memcpy(&size, &bits, sizeof size);
	return size;
}

/* ---- Casts from floating point to integers ------------------------------------------
 * pmg_to_i32(x), …: truncates, saturates, NaN gives 0. An f32 is promoted by the call, which is exact.
 * `above` is the first power of two that the type does not hold, exact in double for all types. */

#define PMG_TO_INTEGER(id, type, smallest, largest, above) \
	PMG_INLINE type pmg_to_##id(double x) \
	{ \
		if (x != x) \
			return 0; \
		return x >= above ? largest : x <= (double) smallest ? smallest : (type) x; \
	}

PMG_TO_INTEGER(i8, int8_t, INT8_MIN, INT8_MAX, 128.0)
PMG_TO_INTEGER(i16, int16_t, INT16_MIN, INT16_MAX, 32768.0)
PMG_TO_INTEGER(i32, int32_t, INT32_MIN, INT32_MAX, 2147483648.0)
PMG_TO_INTEGER(i64, int64_t, INT64_MIN, INT64_MAX, 9223372036854775808.0)
PMG_TO_INTEGER(u8, uint8_t, 0, UINT8_MAX, 256.0)
PMG_TO_INTEGER(u16, uint16_t, 0, UINT16_MAX, 65536.0)
PMG_TO_INTEGER(u32, uint32_t, 0, UINT32_MAX, 4294967296.0)

/* ---- exprelr ---------------------------------------------------------------------------
 * x/(exp(x) - 1), 1 at 0, accurate near it, 0 where exp overflows. The bound, where it has overflowed
 * already, keeps infinity from being divided by infinity; `zero` keeps 0 from being divided by 0. */

PMG_INLINE double pmg_exprelr_f64(double x)
{
	double bounded = x > 800.0 ? 800.0 : x;
	double zero = (double) (x == 0.0);

	return (bounded + zero) / (expm1(bounded) + zero);
}

PMG_INLINE float pmg_exprelr_f32(float x)
{
	float bounded = x > 100.0f ? 100.0f : x;
	float zero = (float) (x == 0.0f);

	return (bounded + zero) / (expm1f(bounded) + zero);
}

#endif
