/* SPDX-License-Identifier: MIT
 *
 * pmgrt_math.h: values at the edges of each type, exprelr against its series and an independent form, and
 * atomic updates from many threads. */
#include "runtime/check.h"

#include <float.h>

static void test_division(struct tests *tests)
{
	for (int64_t a = -13; a <= 13; a++)
		for (int64_t b = -5; b <= 5; b++) {
			if (b == 0)
				continue;
			CHECK(tests, pmg_div(a, b) == (int64_t) floor((double) a / (double) b));
			CHECK(tests, pmg_mod(a, b) == a - b * (int64_t) floor((double) a / (double) b));
		}
	CHECK(tests, pmg_div(7, 0) == 0 && pmg_mod(7, 0) == 0);
	CHECK(tests, pmg_div(INT64_MIN, -1) == INT64_MIN && pmg_mod(INT64_MIN, -1) == 0);
	CHECK(tests, pmg_div(INT64_MIN, 2) == INT64_MIN / 2 && pmg_div(INT64_MIN, INT64_MAX) == -2);
	CHECK(tests, pmg_mod(INT64_MAX, INT64_MIN) == -1 && pmg_mod(INT64_MIN, INT64_MAX) == INT64_MAX - 1);
	CHECK(tests, pmg_div((int8_t) -7, (uint8_t) 2) == -4 && pmg_div(UINT32_MAX, 2) == INT32_MAX);
}

static void test_min_max(struct tests *tests)
{
	CHECK(tests, pmg_min_f64(1, 2) == 1 && pmg_max_f64(1, 2) == 2 && pmg_min_f32(2, 1) == 1);
	CHECK(tests, isnan(pmg_min_f64((double) NAN, 1)) && isnan(pmg_min_f64(1, (double) NAN)));
	CHECK(tests, isnan(pmg_max_f64((double) NAN, 1)) && isnan(pmg_max_f64(1, (double) NAN)));
	CHECK(tests, isnan(pmg_min_f32(NAN, 1)) && isnan(pmg_min_f32(1, NAN)));
	CHECK(tests, isnan(pmg_max_f32(NAN, INFINITY)) && isnan(pmg_max_f32(INFINITY, NAN)));
	CHECK(tests, pmg_max_f64(-(double) INFINITY, -DBL_MAX) == -DBL_MAX);
	CHECK(tests,
	      pmg_min_i64(INT64_MIN, INT64_MAX) == INT64_MIN && pmg_max_u32(0, UINT32_MAX) == UINT32_MAX);
	CHECK(tests, pmg_min_i8(-128, 127) == -128 && pmg_max_u8(1, 255) == 255);
	CHECK(tests, !pmg_min_bool(true, false) && pmg_max_bool(true, false));
}

/* Each cell has one part, which begins with a line. */
static void test_parts(struct tests *tests)
{
	for (int64_t n = 0; n < 50; n++)
		for (int64_t parts = 1; parts < 9; parts++) {
			CHECK(tests, pmg_part_begin(n, 0, parts, 8) == 0 && pmg_part_begin(n, parts, parts, 8) == n);
			for (int64_t part = 0; part < parts; part++) {
				const int64_t begin = pmg_part_begin(n, part, parts, 8);

				CHECK(tests, begin % 8 == 0 || begin == n);
				CHECK(tests, begin <= pmg_part_begin(n, part + 1, parts, 8));
			}
		}
	CHECK(tests, pmg_part_begin(20, 1, 2, 8) == 8 && pmg_part_begin(30, 1, 2, 8) == 16);
	CHECK(tests, pmg_part_begin(-3, 0, 2, 8) == -3 && pmg_part_begin(-3, 2, 2, 8) == -3);
}

static void test_casts(struct tests *tests)
{
	const double huge = 1e300, nan = (double) NAN, infinity = (double) INFINITY;

	CHECK(tests, pmg_to_i32(2.9) == 2 && pmg_to_i32(-2.9) == -2 && pmg_to_i64(-0.5) == 0);
	CHECK(tests, pmg_to_i8(127.9) == 127 && pmg_to_i8(128) == 127 && pmg_to_i8(-128.9) == -128);
	CHECK(tests, pmg_to_i16(huge) == INT16_MAX && pmg_to_i16(-huge) == INT16_MIN);
	CHECK(tests, pmg_to_i32(2147483647.5) == INT32_MAX && pmg_to_i32(-infinity) == INT32_MIN);
	CHECK(tests, pmg_to_i64(9223372036854775807.0) == INT64_MAX && pmg_to_i64(-huge) == INT64_MIN);
	CHECK(tests, pmg_to_i64(9223372036854774784.0) == 9223372036854774784);
	CHECK(tests, pmg_to_u8(-1) == 0 && pmg_to_u8(255.5) == 255 && pmg_to_u8(256) == 255);
	CHECK(tests, pmg_to_u16(65535.9) == UINT16_MAX && pmg_to_u32(infinity) == UINT32_MAX);
	CHECK(tests, pmg_to_u32(4294967295.0) == UINT32_MAX && pmg_to_u32(-infinity) == 0);
	CHECK(tests, pmg_to_i8(nan) == 0 && pmg_to_i64(nan) == 0 && pmg_to_u32(nan) == 0);
	CHECK(tests, pmg_to_i32((double) 16777217.0f) == 16777216);
}

static void test_unit_scale(struct tests *tests)
{
	static const double doubles[] = { 0, 1, 1.5, -1.999, 1e-300, DBL_MIN, 1e-320, 1e300, DBL_MAX };
	static const float floats[] = { 0, 1, -1.5f, FLT_MIN, 1e-40f, 1e38f, FLT_MAX };

	for (size_t i = 0; i < sizeof doubles / sizeof doubles[0]; i++) {
		double x = doubles[i], scale = pmg_unit_scale_f64(x), scaled = fabs(x) * scale;
		int exponent;

		CHECK(tests, frexp(scale, &exponent) == 0.5 && isnormal(scale) && scaled < 8);
		CHECK(tests, scaled >= 1 || fabs(x) < DBL_MIN);
		CHECK(tests, scaled < 2 || fabs(x) >= 0x1p1021);
	}
	for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++) {
		float x = floats[i], scale = pmg_unit_scale_f32(x), scaled = fabsf(x) * scale;
		int exponent;

		CHECK(tests, frexp((double) scale, &exponent) == 0.5 && isnormal(scale) && scaled < 8);
		CHECK(tests, scaled >= 1 || fabsf(x) < FLT_MIN);
		CHECK(tests, scaled < 2 || fabsf(x) >= 0x1p125f);
	}
	CHECK(tests, isnormal(pmg_unit_scale_f64((double) NAN)) && isnormal(pmg_unit_scale_f32(INFINITY)));
}

/* The first terms of the series, exact to rounding below 1e-3: 1 - x/2 + x^2/12 - x^4/720. */
static double exprelr_series(double x)
{
	return 1 + x * (-0.5 + x * (1.0 / 12 - x * x / 720));
}

static bool is_near(double given, double wanted, double tolerance)
{
	return fabs(given - wanted) <= tolerance * fabs(wanted);
}

static void test_exprelr(struct tests *tests)
{
	static const double small[] = { 1e-320, 1e-300, 1e-17, 1e-12, 1e-8, 1e-5, 1e-3 };
	static const double large[] = { 0.1, 1, 3.7, 20, 300, 700, 708 };

	CHECK(tests, pmg_exprelr_f64(0.0) == 1 && pmg_exprelr_f64(-0.0) == 1 && pmg_exprelr_f32(0) == 1);
	for (size_t i = 0; i < sizeof small / sizeof small[0]; i++) {
		CHECK(tests, is_near(pmg_exprelr_f64(small[i]), exprelr_series(small[i]), 4 * DBL_EPSILON));
		CHECK(tests, is_near(pmg_exprelr_f64(-small[i]), exprelr_series(-small[i]), 4 * DBL_EPSILON));
	}
	for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
		const double x = large[i], wanted = x * exp(-x) / -expm1(-x);

		CHECK(tests, is_near(pmg_exprelr_f64(x), wanted, 8 * DBL_EPSILON));
		CHECK(tests, is_near(pmg_exprelr_f64(-x), x / -expm1(-x), 4 * DBL_EPSILON));
		if (x < 80)
			CHECK(tests, is_near((double) pmg_exprelr_f32((float) x), wanted, 1e-5));
	}
	CHECK(tests, pmg_exprelr_f64((double) INFINITY) == 0 && pmg_exprelr_f64(1e300) == 0);
	CHECK(tests, isinf(pmg_exprelr_f64(-(double) INFINITY)) && isnan(pmg_exprelr_f64((double) NAN)));
	CHECK(tests, pmg_exprelr_f32(INFINITY) == 0 && isinf(pmg_exprelr_f32(-INFINITY)));
	CHECK(tests, isnan(pmg_exprelr_f32(NAN)));
}

static void test_atomics(struct tests *tests)
{
	double low = 1e9, high = -1e9, product = 1, poisoned = 5;
	int32_t least = INT32_MAX;
	int64_t factorial = 1, wrapped = INT64_MAX;
	float largest = -INFINITY;
	uint8_t small = 200;
	bool all = true, any = false;

#ifdef _OPENMP
#pragma omp parallel for num_threads(4)
#endif
	for (int i = 0; i < 1000; i++) {
		pmg_atomic_min_f64(&low, fabs(i - 500.5));
		pmg_atomic_max_f64(&high, i);
		pmg_atomic_prod_f64(&product, i % 2 == 0 ? 2.0 : 0.5);
		pmg_atomic_min_f64(&poisoned, i == 700 ? (double) NAN : i);
		pmg_atomic_min_i32(&least, (i * 37) % 1000 - 3);
		pmg_atomic_prod_i64(&factorial, i < 20 ? i + 1 : 1);
		pmg_atomic_max_f32(&largest, (float) -i);
		pmg_atomic_min_u8(&small, (uint8_t) (i % 100 + 7));
		pmg_atomic_min_bool(&all, i != 999);
		pmg_atomic_max_bool(&any, i == 999);
	}
	CHECK(tests, low == 0.5 && high == 999 && product == 1 && isnan(poisoned));
	CHECK(tests, least == -3 && factorial == 2432902008176640000 && largest == 0 && small == 7);
	CHECK(tests, !all && any);
	pmg_atomic_prod_i64(&wrapped, 2);
	CHECK(tests, wrapped == -2);
}

void test_math(struct tests *tests)
{
	test_division(tests);
	test_min_max(tests);
	test_parts(tests);
	test_casts(tests);
	test_unit_scale(tests);
	test_exprelr(tests);
	test_atomics(tests);
}
