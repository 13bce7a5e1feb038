/* SPDX-License-Identifier: MIT
 *
 * Lanes of vectors for generated kernels, where something holds for some lanes of a block only. Words have a bit for
 * each lane of a block (pmg_lane_masks, pmgrt_generated.h); a mask says it of the lanes of one vector, and masks are
 * put together by & and ~. With AVX-512 a mask is a word, too, as the processor's own are; else it is a vector of -1
 * and 0.
 *
 * Included by pmgrt_ragged.h; C11 and C++ with the vector types of gcc and clang. */
#ifndef PMGRT_LANES_H
#define PMGRT_LANES_H

#include "pmgrt_row.h"

#ifndef __CUDACC__
/* What the rows of a block of trees say of parents and children (pmg_lane_masks, pmgrt_generated.h), and one bit of
 * it. */
static inline const pmg_lane_masks *pmg_block_lane_masks(const int64_t *rows, int64_t block)
{
	return (const pmg_lane_masks *) &rows[rows[block]];
}

static inline bool pmg_has_lane(int64_t lanes, int64_t lane)
{
	return lanes >> lane & 1;
}

/* ---- masks: the lanes from `lane` on that have a bit ---- */

#define PMG_BITS_2 1, 2
#define PMG_BITS_4 PMG_BITS_2, 4, 8
#define PMG_BITS_8 PMG_BITS_4, 16, 32, 64, 128
#define PMG_WHERE_(type, bit, numbers, bits, lane) \
	(((pmg_numbers_##type) { numbers } & ((pmg_numbers_##type) { 0 } + (bit) ((bits) >> (lane)))) != 0)
#define PMG_WHERE_F64_16(bits, lane) PMG_WHERE_(f64_16, int64_t, PMG_BITS_2, bits, lane)
#define PMG_WHERE_F64_32(bits, lane) PMG_WHERE_(f64_32, int64_t, PMG_BITS_4, bits, lane)
#define PMG_WHERE_F64_64(bits, lane) ((uint8_t) ((bits) >> (lane)))
#define PMG_WHERE_F32_16(bits, lane) PMG_WHERE_(f32_16, int32_t, PMG_BITS_4, bits, lane)
#define PMG_WHERE_F32_32(bits, lane) PMG_WHERE_(f32_32, int32_t, PMG_BITS_8, bits, lane)
#define PMG_WHERE_F32_64(bits, lane) ((uint16_t) ((bits) >> (lane)))
#define PMG_WHERE_F64(bits, lane) PMG_OF_BYTES(PMG_WHERE_F64, PMG_VECTOR_BYTES)(bits, lane)
#define PMG_WHERE_F32(bits, lane) PMG_OF_BYTES(PMG_WHERE_F32, PMG_VECTOR_BYTES)(bits, lane)

/* ---- masks: the lanes from `lane` on whose segments have at least `n` rows ---- */

#define PMG_LENGTHS_TYPE(bytes) \
	typedef int64_t pmg_lengths_##bytes __attribute__((vector_size(bytes), aligned(8)));
PMG_LENGTHS_TYPE(16)
PMG_LENGTHS_TYPE(32)
PMG_LENGTHS_TYPE(64)
#define PMG_LENGTHS_(bytes, rows, lane) (*(const pmg_lengths_##bytes *) &(rows)[lane])
#define PMG_HAS_ROWS_(type, bytes, rows, lane, n) \
	__builtin_convertvector(PMG_LENGTHS_(bytes, rows, lane) >= (n), pmg_numbers_##type)
/* The comparison a >= b of the processor's instruction, and the type of its operands. */
#define PMG_NOT_LESS 5
typedef long long pmg_words __attribute__((vector_size(64)));
#define PMG_HAS_ROWS_F64_16(rows, lane, n) PMG_HAS_ROWS_(f64_16, 16, rows, lane, n)
#define PMG_HAS_ROWS_F64_32(rows, lane, n) PMG_HAS_ROWS_(f64_32, 32, rows, lane, n)
#define PMG_HAS_ROWS_F64_64(rows, lane, n) \
	((uint8_t) __builtin_ia32_cmpq512_mask((pmg_words) PMG_LENGTHS_(64, rows, lane), \
					       (pmg_words) { 0 } + (long long) (n), PMG_NOT_LESS, (uint8_t) -1))
#define PMG_HAS_ROWS_F32_16(rows, lane, n) PMG_HAS_ROWS_(f32_16, 32, rows, lane, n)
#define PMG_HAS_ROWS_F32_32(rows, lane, n) PMG_HAS_ROWS_(f32_32, 64, rows, lane, n)
#define PMG_HAS_ROWS_F32_64(rows, lane, n) \
	((uint16_t) (PMG_HAS_ROWS_F64_64(rows, lane, n) | PMG_HAS_ROWS_F64_64(rows, (lane) + 8, n) << 8))
#define PMG_HAS_ROWS_F64(rows, lane, n) PMG_OF_BYTES(PMG_HAS_ROWS_F64, PMG_VECTOR_BYTES)(rows, lane, n)
#define PMG_HAS_ROWS_F32(rows, lane, n) PMG_OF_BYTES(PMG_HAS_ROWS_F32, PMG_VECTOR_BYTES)(rows, lane, n)

/* ---- a value where the mask says so, another elsewhere ---- */

#define PMG_CHOOSE_(type, where, value, other) \
	((pmg_vector_##type) (((pmg_numbers_##type) (value) & (where)) | ((pmg_numbers_##type) (other) & ~(where))))
#define PMG_CHOOSE_F64_16(where, value, other) PMG_CHOOSE_(f64_16, where, value, other)
#define PMG_CHOOSE_F64_32(where, value, other) PMG_CHOOSE_(f64_32, where, value, other)
#define PMG_CHOOSE_F32_16(where, value, other) PMG_CHOOSE_(f32_16, where, value, other)
#define PMG_CHOOSE_F32_32(where, value, other) PMG_CHOOSE_(f32_32, where, value, other)
#ifdef __clang__
#define PMG_CHOOSE_F64_64(where, value, other) __builtin_ia32_selectpd_512((uint8_t) (where), value, other)
#define PMG_CHOOSE_F32_64(where, value, other) __builtin_ia32_selectps_512((uint16_t) (where), value, other)
#else
#define PMG_CHOOSE_F64_64(where, value, other) __builtin_ia32_blendmpd_512_mask(other, value, (uint8_t) (where))
#define PMG_CHOOSE_F32_64(where, value, other) __builtin_ia32_blendmps_512_mask(other, value, (uint16_t) (where))
#endif
#define PMG_CHOOSE_F64(where, value, other) PMG_OF_BYTES(PMG_CHOOSE_F64, PMG_VECTOR_BYTES)(where, value, other)
#define PMG_CHOOSE_F32(where, value, other) PMG_OF_BYTES(PMG_CHOOSE_F32, PMG_VECTOR_BYTES)(where, value, other)

/* ---- one lane of those in `n` lanes of vectors, if it `is_there`: adds to it, or sets it, in registers ---- */

/* The mask of vector `i` for a lane, or for none. */
#define PMG_ONE_LANE_(type, c_type, bit, numbers, i, lane, is_there) \
	((pmg_numbers_##type) { numbers } + (i)*(bit) (sizeof(pmg_numbers_##type)/sizeof(c_type)) == \
	 (pmg_numbers_##type) { 0 } + (bit) ((is_there) ? (lane) : -1))
#define PMG_ONE_LANE_F64_16(i, lane, is_there) PMG_ONE_LANE_(f64_16, double, int64_t, PMG_FIRST_2, i, lane, is_there)
#define PMG_ONE_LANE_F64_32(i, lane, is_there) PMG_ONE_LANE_(f64_32, double, int64_t, PMG_FIRST_4, i, lane, is_there)
#define PMG_ONE_LANE_F64_64(i, lane, is_there) PMG_WHERE_F64_64((uint64_t) (is_there) << (lane), 8*(i))
#define PMG_ONE_LANE_F32_16(i, lane, is_there) PMG_ONE_LANE_(f32_16, float, int32_t, PMG_FIRST_4, i, lane, is_there)
#define PMG_ONE_LANE_F32_32(i, lane, is_there) PMG_ONE_LANE_(f32_32, float, int32_t, PMG_FIRST_8, i, lane, is_there)
#define PMG_ONE_LANE_F32_64(i, lane, is_there) PMG_WHERE_F32_64((uint64_t) (is_there) << (lane), 16*(i))

#define PMG_SUM_(type, where, value, to) ((to) + (pmg_vector_##type) ((pmg_numbers_##type) (value) & (where)))
#define PMG_SUM_F64_16(where, value, to) PMG_SUM_(f64_16, where, value, to)
#define PMG_SUM_F64_32(where, value, to) PMG_SUM_(f64_32, where, value, to)
#define PMG_SUM_F64_64(where, value, to) PMG_CHOOSE_F64_64(where, (to) + (value), to)
#define PMG_SUM_F32_16(where, value, to) PMG_SUM_(f32_16, where, value, to)
#define PMG_SUM_F32_32(where, value, to) PMG_SUM_(f32_32, where, value, to)
#define PMG_SUM_F32_64(where, value, to) PMG_CHOOSE_F32_64(where, (to) + (value), to)
#define PMG_EACH_VECTOR_(TYPE, type, c_type, operation, vectors, n, lane, is_there, value) \
	do { \
		const pmg_vector_##type value_ = PMG_FILL_##TYPE(value); \
		const int64_t lane_ = (lane); \
		const bool is_there_ = (is_there); \
		PMG_UNROLL \
		for (int i_ = 0; i_ < (int) PMG_VECTORS(c_type, n); i_++) \
			(vectors)[i_] = PMG_OF_BYTES(operation, PMG_VECTOR_BYTES) \
				(PMG_OF_BYTES(PMG_ONE_LANE_##TYPE, PMG_VECTOR_BYTES)(i_, lane_, is_there_), value_, \
				 (vectors)[i_]); \
	} while (0)
#define PMG_ADD_LANE_F64(...) PMG_EACH_VECTOR_(F64, f64, double, PMG_SUM_F64, __VA_ARGS__)
#define PMG_ADD_LANE_F32(...) PMG_EACH_VECTOR_(F32, f32, float, PMG_SUM_F32, __VA_ARGS__)
#define PMG_SET_LANE_F64(...) PMG_EACH_VECTOR_(F64, f64, double, PMG_CHOOSE_F64, __VA_ARGS__)
#define PMG_SET_LANE_F32(...) PMG_EACH_VECTOR_(F32, f32, float, PMG_CHOOSE_F32, __VA_ARGS__)
#endif

#endif
