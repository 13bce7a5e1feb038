/* SPDX-License-Identifier: MIT
 *
 * Pivots of eliminations in generated kernels: one that is zero, infinite or NaN is told to the plan. `at` is
 * the number of the elimination, `row` and `system` say which pivot it is. In blocks of segments, `row` is that of the
 * block, and `begin` and `rows` say where those of each lane are.
 *
 * Of a vector of lanes a word is made first, a bit for each bad pivot: macros, since their width is that of the
 * instruction set where they are used (pmgrt_isa_begin.h). Lanes that do not exist are copies of the last one in
 * blocks of equal systems. In blocks of segments, the longest of which come first, there is none where there is no
 * row; so the first bad lane tells whether one that exists is bad.
 *
 * Included by pmgrt_generated.h; C11, C++ and CUDA. */
#ifndef PMGRT_PIVOT_H
#define PMGRT_PIVOT_H

static inline void pmg_check_pivot(pmg_plan *plan, double pivot, int32_t at, int64_t row, int64_t system)
{
	if (__builtin_expect(!(fabs(pivot) > pivot - pivot), 0))
		pmg_bad_pivot(plan, at, row, system, pivot);
}

/* Of a loop that the compiler makes vectors of: the number of the first pivot that is zero, else PMG_NOT_FINITE and
 * that of the first one that is not finite, which may be no mistake. */
#define PMG_NOT_FINITE (INT64_C(1) << 62)

static inline int64_t pmg_first_bad(int64_t first, double pivot, int64_t at)
{
	const int64_t here = pivot == 0 ? at : PMG_NOT_FINITE + at;

	return !(fabs(pivot) > pivot - pivot) && here < first ? here : first;
}

static inline double pmg_pivot_at(int64_t first)
{
	return first >= PMG_NOT_FINITE ? (double) NAN : 0.0;
}

#ifndef __CUDACC__
/* The bits of bad pivots in a vector: p - p is 0, or NaN where p is not finite. What fpclass looks for: NaN of both
 * kinds, zeros and infinities of both signs. */
#define PMG_EQUAL_OR_NAN 8
#define PMG_BAD_LANES_(type, pivots) \
	(((pivots) - (pivots) != (pmg_vector_##type) { 0 }) | ((pivots) == (pmg_vector_##type) { 0 }))
#ifdef __SSE2__
#define PMG_BAD_PIVOTS_F64_16(pivots) \
	((unsigned) __builtin_ia32_movmskpd((pmg_vector_f64_16) PMG_BAD_LANES_(f64, pivots)))
#define PMG_BAD_PIVOTS_F64_32(pivots) \
	((unsigned) __builtin_ia32_movmskpd256(__builtin_ia32_cmppd256(pivots, (pivots) - (pivots), PMG_EQUAL_OR_NAN)))
#define PMG_BAD_PIVOTS_F32_16(pivots) \
	((unsigned) __builtin_ia32_movmskps((pmg_vector_f32_16) PMG_BAD_LANES_(f32, pivots)))
#define PMG_BAD_PIVOTS_F32_32(pivots) \
	((unsigned) __builtin_ia32_movmskps256(__builtin_ia32_cmpps256(pivots, (pivots) - (pivots), PMG_EQUAL_OR_NAN)))
#define PMG_BAD_PIVOTS_F64_64(pivots) \
	((unsigned) (unsigned char) __builtin_ia32_fpclasspd512_mask(pivots, 0x9f, 0xff))
#define PMG_BAD_PIVOTS_F32_64(pivots) \
	((unsigned) (unsigned short) __builtin_ia32_fpclassps512_mask(pivots, 0x9f, 0xffff))
#define PMG_BAD_PIVOTS_F64(pivots) PMG_OF_BYTES(PMG_BAD_PIVOTS_F64, PMG_VECTOR_BYTES)(pivots)
#define PMG_BAD_PIVOTS_F32(pivots) PMG_OF_BYTES(PMG_BAD_PIVOTS_F32, PMG_VECTOR_BYTES)(pivots)
#else
static inline unsigned pmg_bad_pivots_f64(pmg_vector_f64 pivots)
{
	unsigned bits = 0;

	for (int i = 0; i < PMG_LANES(double); i++)
		bits |= (unsigned) !(fabs(pivots[i]) > pivots[i] - pivots[i]) << i;
	return bits;
}

static inline unsigned pmg_bad_pivots_f32(pmg_vector_f32 pivots)
{
	unsigned bits = 0;

	for (int i = 0; i < PMG_LANES(float); i++)
		bits |= (unsigned) !(fabsf(pivots[i]) > pivots[i] - pivots[i]) << i;
	return bits;
}
#define PMG_BAD_PIVOTS_F64(pivots) pmg_bad_pivots_f64(pivots)
#define PMG_BAD_PIVOTS_F32(pivots) pmg_bad_pivots_f32(pivots)
#endif

/* 1/p but for the last bit or two; infinite or NaN where p is denormal. Of no bad pivot it is y(1 + h)(1 + h*h) with
 * an estimate y of 14 bits and h = 1 - p*y, which leaves an error of h to the fourth power; of floats y(1 + h). It is
 * there sooner than a quotient, and does not occupy the unit that divides. */
#define PMG_RECIPROCAL_F64_16(pivots) (1.0/(pivots))
#define PMG_RECIPROCAL_F64_32(pivots) (1.0/(pivots))
#define PMG_RECIPROCAL_F32_16(pivots) (1.0F/(pivots))
#define PMG_RECIPROCAL_F32_32(pivots) (1.0F/(pivots))
#if defined(__AVX512F__) && (defined(__znver3__) || defined(__znver4__) || defined(__znver5__))
#define PMG_RECIPROCAL_F64_64(pivots) (1.0/(pivots))
#define PMG_RECIPROCAL_F32_64(pivots) (1.0F/(pivots))
#else
#define PMG_RECIPROCAL_F64_64(pivots) \
	(__builtin_expect(PMG_BAD_PIVOTS_F64_64(pivots) != 0, 0) ? 1.0/(pivots) : __extension__ ({ \
		const pmg_vector_f64_64 y_ = __builtin_ia32_rcp14pd512_mask(pivots, pivots, 0xff); \
		const pmg_vector_f64_64 h_ = 1.0 - (pivots)*y_, first_ = y_ + y_*h_; \
		first_ + first_*(h_*h_); \
	}))
#define PMG_RECIPROCAL_F32_64(pivots) \
	(__builtin_expect(PMG_BAD_PIVOTS_F32_64(pivots) != 0, 0) ? 1.0F/(pivots) : __extension__ ({ \
		const pmg_vector_f32_64 y_ = __builtin_ia32_rcp14ps512_mask(pivots, pivots, 0xffff); \
		y_ + y_*(1.0F - (pivots)*y_); \
	}))
#endif
#define PMG_RECIPROCAL_F64(pivots) PMG_OF_BYTES(PMG_RECIPROCAL_F64, PMG_VECTOR_BYTES)(pivots)
#define PMG_RECIPROCAL_F32(pivots) PMG_OF_BYTES(PMG_RECIPROCAL_F32, PMG_VECTOR_BYTES)(pivots)

/* Of the first `n` lanes of a vector, or all, at one row; systems of lanes are `stride` apart. */
#define PMG_CHECK_PIVOTS_(TYPE, type, plan, pivots, n, at, row, system, stride) \
	do { \
		if (__builtin_expect(PMG_BAD_PIVOTS_##TYPE(pivots) != 0, 0)) { \
			const pmg_vector_##type bad_ = pivots; \
			pmg_bad_pivots(plan, &bad_, n, at, row, system, stride); \
		} \
	} while (0)
#define PMG_CHECK_PIVOTS_F64(plan, pivots, n, at, row, system, stride) \
	PMG_CHECK_PIVOTS_(F64, f64, plan, pivots, pmg_min_i64(n, PMG_LANES(double)), at, row, system, stride)
#define PMG_CHECK_PIVOTS_F32(plan, pivots, n, at, row, system, stride) \
	PMG_CHECK_PIVOTS_(F32, f32, plan, pivots, pmg_min_i64(n, PMG_LANES(float)), at, row, system, stride)

/* The same in a block of segments: `row` is that of the block. */
#define PMG_CHECK_RAGGED_(TYPE, type, n, plan, pivots, at, row, begin, rows) \
	do { \
		const unsigned bits_ = PMG_BAD_PIVOTS_##TYPE(pivots); \
		if (__builtin_expect(bits_ != 0, 0) && (rows)[__builtin_ctz(bits_)] > (row)) { \
			const pmg_vector_##type bad_ = pivots; \
			pmg_bad_ragged_pivots(plan, &bad_, n, at, row, begin, rows); \
		} \
	} while (0)
#define PMG_CHECK_RAGGED_F64(plan, pivots, at, row, begin, rows) \
	PMG_CHECK_RAGGED_(F64, f64, PMG_LANES(double), plan, pivots, at, row, begin, rows)
#define PMG_CHECK_RAGGED_F32(plan, pivots, at, row, begin, rows) \
	PMG_CHECK_RAGGED_(F32, f32, PMG_LANES(float), plan, pivots, at, row, begin, rows)
#endif

#endif
