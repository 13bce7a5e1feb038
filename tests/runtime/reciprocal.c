/* SPDX-License-Identifier: MIT
 *
 * Reciprocals of pivots: within two units in the last place of the quotient, from the least normal numbers to the
 * largest, and the quotient itself in a vector with a bad pivot. */
#include "runtime/check.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { ROUNDS = 2000 };

/* A number whose exponent is `exponent` and whose fraction changes from call to call. */
static double number(uint64_t *seed, int exponent)
{
	*seed = *seed*6364136223846793005U + 1442695040888963407U;
	return ldexp(1 + (double) (*seed >> 12)/0x1p52, exponent)*(*seed >> 11 & 1 ? -1 : 1);
}

/* What is left of the fraction where a quotient is denormal has steps of its own. */
static bool is_near(double value, double pivot, double eps, double step)
{
	const double quotient = 1/pivot;

	if (isnan(quotient))
		return isnan(value) != 0;
	return value == quotient || fabs(value - quotient) <= 2*eps*fabs(quotient) + 2*step;
}

/* ROUNDS vectors of each kind: all good, and with one bad lane. */
#define CHECK_WIDTH(name, target, TYPE, type, c_type, bytes, least, most, eps, step) \
	target static bool name(void) \
	{ \
		enum { LANES = bytes/sizeof(c_type) }; \
		static const c_type bad[] = { 0, -0.0F, INFINITY, -INFINITY, NAN }; \
		uint64_t seed = 1; \
		bool ok = true; \
		for (int round = 0; round < ROUNDS; round++) { \
			c_type in[LANES], out[LANES]; \
			pmg_vector_##type##_##bytes pivots, values; \
			for (int i = 0; i < LANES; i++) \
				in[i] = (c_type) number(&seed, least + (round + 7*i)%(most - least)); \
			if (round & 1) \
				in[round/2%LANES] = bad[round/2%5]; \
			memcpy(&pivots, in, sizeof pivots); \
			values = PMG_RECIPROCAL_##TYPE##_##bytes(pivots); \
			memcpy(out, &values, sizeof out); \
			for (int i = 0; i < LANES; i++) \
				ok = ok && is_near((double) out[i], (double) in[i], eps, step); \
		} \
		return ok; \
	}
#define CHECK_F64(bytes, target) \
	CHECK_WIDTH(check_f64_##bytes, target, F64, f64, double, bytes, DBL_MIN_EXP, DBL_MAX_EXP - 1, DBL_EPSILON, \
		    0x1p-1074)
#define CHECK_F32(bytes, target) \
	CHECK_WIDTH(check_f32_##bytes, target, F32, f32, float, bytes, FLT_MIN_EXP, FLT_MAX_EXP - 1, \
		    (double) FLT_EPSILON, 0x1p-149)

CHECK_F64(16,)
CHECK_F32(16,)
#ifdef __x86_64__
#define AVX2 __attribute__((target("avx2,fma")))
#define AVX512 __attribute__((target("avx512f,avx512dq,avx512vl")))
CHECK_F64(32, AVX2)
CHECK_F32(32, AVX2)
CHECK_F64(64, AVX512)
CHECK_F32(64, AVX512)
#endif

void test_reciprocals(struct tests *tests)
{
	CHECK(tests, check_f64_16() && check_f32_16());
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		CHECK(tests, check_f64_32() && check_f32_32());
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
		CHECK(tests, check_f64_64() && check_f32_64());
#endif
}
