/* SPDX-License-Identifier: MIT
 *
 * Squares of values for generated kernels: PMG_SQUARE rows of a block, in which lanes stand next to each other, are a
 * line of each of as many lanes, which have their rows next to each other. They are transposed in registers: in step k,
 * values change places whose row and lane differ in bit k. Lanes are written through the caches, in vectors that lie
 * where the processor's do if squares can be joined, or past them, in runs of a cache line or more.
 *
 * Included by pmgrt_block.h; C11 and C++ with the vector types of gcc and clang. */
#ifndef PMGRT_SQUARE_H
#define PMGRT_SQUARE_H

#include <stddef.h>
#include <stdint.h>

#include "pmgrt_row.h"

#ifndef __CUDACC__
#ifdef __clang__
#define PMG_SHUFFLE(bits, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define PMG_SHUFFLE(bits, a, b, ...) __builtin_shuffle(a, b, (bits) { __VA_ARGS__ })
#endif

typedef int64_t pmg_places_f64 __attribute__((vector_size(PMG_VECTOR_BYTES)));
#if PMG_VECTOR_BYTES == 64
#define PMG_SQUARE 8
typedef float pmg_line_f32 __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t pmg_places_f32 __attribute__((vector_size(32)));
#else
typedef float pmg_line_f32 __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t pmg_places_f32 __attribute__((vector_size(16)));
#if PMG_VECTOR_BYTES == 32
#define PMG_SQUARE 4
#else
#define PMG_SQUARE 2
#endif
#endif
typedef pmg_cells_f64 pmg_line_f64;
enum { PMG_SQUARE_F64 = PMG_SQUARE, PMG_SQUARE_F32 = PMG_VECTOR_BYTES == 64 ? 8 : 4 };

/* In headers for each type (pmgrt_each_real.h). */
#define PMG_LINE PMG_NAME(pmg_line)
#define PMG_SIDE PMG_MACRO(PMG_SQUARE)

/* Exchanges the values of two lines, `a` above `b`, that stand in the wrong one. */
#define PMG_EXCHANGE(line, bits, a, b, low, high) \
	do { \
		const line a_ = a, b_ = b; \
		a = PMG_SHUFFLE(bits, a_, b_, low); \
		b = PMG_SHUFFLE(bits, a_, b_, high); \
	} while (0)
#define PMG_LIST(...) __VA_ARGS__
#define PMG_TRANSPOSE_2(line, bits, r) \
	PMG_EXCHANGE(line, bits, r[0], r[1], PMG_LIST(0, 2), PMG_LIST(1, 3));
#define PMG_TRANSPOSE_4(line, bits, r) \
	PMG_UNROLL \
	for (int i_ = 0; i_ < 4; i_ += 2) \
		PMG_EXCHANGE(line, bits, r[i_], r[i_ + 1], PMG_LIST(0, 4, 2, 6), PMG_LIST(1, 5, 3, 7)); \
	PMG_UNROLL \
	for (int i_ = 0; i_ < 2; i_++) \
		PMG_EXCHANGE(line, bits, r[i_], r[i_ + 2], PMG_LIST(0, 1, 4, 5), PMG_LIST(2, 3, 6, 7));
#define PMG_TRANSPOSE_8(line, bits, r) \
	PMG_UNROLL \
	for (int i_ = 0; i_ < 8; i_ += 2) \
		PMG_EXCHANGE(line, bits, r[i_], r[i_ + 1], PMG_LIST(0, 8, 2, 10, 4, 12, 6, 14), \
			     PMG_LIST(1, 9, 3, 11, 5, 13, 7, 15)); \
	PMG_UNROLL \
	for (int i_ = 0; i_ < 4; i_++) \
		PMG_EXCHANGE(line, bits, r[i_ + (i_ & 2)], r[i_ + (i_ & 2) + 2], PMG_LIST(0, 1, 8, 9, 4, 5, 12, 13), \
			     PMG_LIST(2, 3, 10, 11, 6, 7, 14, 15)); \
	PMG_UNROLL \
	for (int i_ = 0; i_ < 4; i_++) \
		PMG_EXCHANGE(line, bits, r[i_], r[i_ + 4], PMG_LIST(0, 1, 2, 3, 8, 9, 10, 11), \
			     PMG_LIST(4, 5, 6, 7, 12, 13, 14, 15));

#define PMG_TRANSPOSE_OF_(line, bits, r, square) PMG_TRANSPOSE_##square(line, bits, r)
#define PMG_TRANSPOSE_OF(line, bits, r, square) PMG_TRANSPOSE_OF_(line, bits, r, square)
#if PMG_VECTOR_BYTES == 64
#define PMG_TRANSPOSE_F32(r) PMG_TRANSPOSE_8(pmg_line_f32, pmg_places_f32, r)
#else
#define PMG_TRANSPOSE_F32(r) PMG_TRANSPOSE_4(pmg_line_f32, pmg_places_f32, r)
#endif
#define PMG_TRANSPOSE_F64(r) PMG_TRANSPOSE_OF(pmg_line_f64, pmg_places_f64, r, PMG_SQUARE)

/* A square of a block that begins at `from`: a line for each of its lanes. */
#define PMG_LINES_OF_BLOCK(lines, from, width) \
	PMG_UNROLL \
	for (int i_ = 0; i_ < PMG_SIDE; i_++) \
		(lines)[i_] = *(const PMG_LINE *) ((from) + i_*(width)); \
	PMG_MACRO(PMG_TRANSPOSE)(lines)

/* A line of each lane of a square, as they lie. Where they are is hidden from the C compiler, which would else have
 * a pointer to each lane of each array before a loop over rows, more than there are registers. */
#define PMG_LINES_OF_LANES(lines, from, distance) \
	do { \
		uintptr_t at_ = (uintptr_t) (from), step_ = (uintptr_t) (distance)*sizeof *(from); \
		__asm__ ("" : "+r" (at_), "+r" (step_)); \
		const uintptr_t steps_[4] = { 0, step_, 2*step_, 3*step_ }; \
		PMG_UNROLL \
		for (size_t i_ = 0; i_ < PMG_SIDE; i_++) \
			(lines)[i_] = *(const PMG_LINE *) (at_ + i_/4*4*step_ + steps_[i_%4]); \
	} while (0)

/* Can two vectors be joined, the last values of one and the first of the next? `from`: which values. */
#if PMG_VECTOR_BYTES == 64 && defined(__AVX512VL__)
#define PMG_JOINS 1
#define PMG_ALL_OF_SECOND { 8, 9, 10, 11, 12, 13, 14, 15 }
#ifdef __clang__
#define PMG_JOIN_F64(a, b, from) (pmg_line_f64) __builtin_ia32_vpermi2varpd512(a, from, b)
#define PMG_JOIN_F32(a, b, from) (pmg_line_f32) __builtin_ia32_vpermi2varps256(a, from, b)
#else
#define PMG_JOIN_F64(a, b, from) __builtin_shuffle(a, b, from)
#define PMG_JOIN_F32(a, b, from) __builtin_shuffle(a, b, from)
#endif
#else
#define PMG_JOINS 0
#endif

/* Values of a run, and rows that a line of each lane has. */
enum { PMG_RUN = 16, PMG_PUT_F64 = 8, PMG_PUT_F32 = 16 };

#define PMG_TEMPLATE "pmgrt_square_real.h"
#include "pmgrt_each_real.h"
#endif

#endif
