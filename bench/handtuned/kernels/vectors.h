/* SPDX-License-Identifier: MIT
 *
 * Vectors of REAL (double or float) as gcc and clang offer them, as wide as the instruction set has them, and a pointer
 * type for vectors that are not aligned. BLOCK vectors are kept in registers at once. */
#ifndef BENCH_HANDTUNED_VECTORS_H
#define BENCH_HANDTUNED_VECTORS_H

#include <stdint.h>

#ifdef __AVX512F__
#define VECTOR_BYTES 64
#else
#define VECTOR_BYTES 32
#endif
#define BLOCK 12

typedef REAL vector __attribute__((vector_size(VECTOR_BYTES)));
typedef REAL loose_vector __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(REAL)), may_alias));
typedef REAL four __attribute__((vector_size(4 * sizeof(REAL))));

enum { WIDTH = VECTOR_BYTES / sizeof(REAL) };

/* Integers as wide as a REAL. */
typedef __typeof__(_Generic((REAL) 0, double: (int64_t) 0, float: (int32_t) 0)) lane_bit;
typedef lane_bit lane_bits __attribute__((vector_size(VECTOR_BYTES)));

/* Functions on vectors are inlined, so that it does not matter how vectors are passed. */
#pragma GCC diagnostic ignored "-Wpsabi"

#define INLINE static inline __attribute__((always_inline))

/* One call of `code` for each number n of vectors, so that n is a constant in each. */
#define FOR_EACH_CONSTANT(n, code) \
	switch (n) { \
	case 1: { enum { n_ = 1 }; code; break; } \
	case 2: { enum { n_ = 2 }; code; break; } \
	case 3: { enum { n_ = 3 }; code; break; } \
	case 4: { enum { n_ = 4 }; code; break; } \
	case 5: { enum { n_ = 5 }; code; break; } \
	case 6: { enum { n_ = 6 }; code; break; } \
	case 7: { enum { n_ = 7 }; code; break; } \
	case 8: { enum { n_ = 8 }; code; break; } \
	case 9: { enum { n_ = 9 }; code; break; } \
	case 10: { enum { n_ = 10 }; code; break; } \
	case 11: { enum { n_ = 11 }; code; break; } \
	default: { enum { n_ = 12 }; code; break; } \
	}

/* sum[0] becomes (sum of s0, …, sum of s3): halves are added until four elements are left of each, which are then
 * transposed while they are added. */
INLINE void add_up_four(const vector *s0, const vector *s1, const vector *s2, const vector *s3, four *sum)
{
	const vector *from[4] = { s0, s1, s2, s3 };
	four part[4];
	for (int j = 0; j < 4; j++) {
		const four *quarters = (const four *) (const void *) from[j];
		part[j] = quarters[0];
		for (int q = 1; q < WIDTH / 4; q++)
			part[j] += quarters[q];
	}
	four low = __builtin_shufflevector(part[0], part[1], 0, 4, 2, 6) +
		   __builtin_shufflevector(part[0], part[1], 1, 5, 3, 7);
	four high = __builtin_shufflevector(part[2], part[3], 0, 4, 2, 6) +
		    __builtin_shufflevector(part[2], part[3], 1, 5, 3, 7);
	*sum = __builtin_shufflevector(low, high, 0, 1, 4, 5) + __builtin_shufflevector(low, high, 2, 3, 6, 7);
}

#endif
