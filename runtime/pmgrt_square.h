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
#define PMG_LINES_OF_BLOCK(name, NAME, lines, from, width) \
	PMG_UNROLL \
	for (int i_ = 0; i_ < PMG_SQUARE_##NAME; i_++) \
		(lines)[i_] = *(const pmg_line_##name *) ((from) + i_*(width)); \
	PMG_TRANSPOSE_##NAME(lines)

/* A line of each lane of a square, as they lie. Where they are is hidden from the C compiler, which would else have
 * a pointer to each lane of each array before a loop over rows, more than there are registers. */
#define PMG_LINES_OF_LANES(name, NAME, lines, from, distance) \
	do { \
		uintptr_t at_ = (uintptr_t) (from), step_ = (uintptr_t) (distance)*sizeof *(from); \
		__asm__ ("" : "+r" (at_), "+r" (step_)); \
		const uintptr_t steps_[4] = { 0, step_, 2*step_, 3*step_ }; \
		PMG_UNROLL \
		for (size_t i_ = 0; i_ < PMG_SQUARE_##NAME; i_++) \
			(lines)[i_] = *(const pmg_line_##name *) (at_ + i_/4*4*step_ + steps_[i_%4]); \
	} while (0)

/* In the caches, as many rows of PMG_SQUARE lanes as make whole squares, to[begin[lane] + row], and their number. A
 * vector that lies in two cache lines takes as long as several that do not: where two vectors can be joined, the last
 * values of one and the first of the next, all but the first and the last of a lane are written where vectors lie. */
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
#define PMG_LANES_FUNCTION(type, name, NAME, number) \
	static inline int64_t pmg_lanes_write_##name(const type *restrict block, int64_t width, type *restrict to, \
						     const int64_t *begin, int64_t rows) \
	{ \
		const int64_t whole = rows/PMG_SQUARE_##NAME*PMG_SQUARE_##NAME; \
		pmg_line_##name before[PMG_SQUARE_##NAME], lines[PMG_SQUARE_##NAME]; \
		pmg_places_##name from[PMG_SQUARE_##NAME]; \
		type *at[PMG_SQUARE_##NAME]; \
		if (whole == 0) \
			return 0; \
		PMG_LINES_OF_BLOCK(name, NAME, before, block, width) \
		PMG_UNROLL \
		for (int i = 0; i < PMG_SQUARE_##NAME; i++) { \
			const uintptr_t into = (uintptr_t) &to[begin[i]] % sizeof lines[0]/sizeof(type); \
			*(pmg_line_##name *) &to[begin[i]] = before[i]; \
			at[i] = &to[begin[i]] - into; \
			from[i] = (pmg_places_##name) PMG_ALL_OF_SECOND - (number) into; \
		} \
		for (int64_t row = PMG_SQUARE_##NAME; row < whole; row += PMG_SQUARE_##NAME) { \
			PMG_LINES_OF_BLOCK(name, NAME, lines, &block[row*width], width) \
			PMG_UNROLL \
			for (int i = 0; i < PMG_SQUARE_##NAME; i++) { \
				*(pmg_line_##name *) &at[i][row] = PMG_JOIN_##NAME(before[i], lines[i], from[i]); \
				before[i] = lines[i]; \
			} \
		} \
		PMG_UNROLL \
		for (int i = 0; i < PMG_SQUARE_##NAME; i++) \
			*(pmg_line_##name *) &to[begin[i] + whole - PMG_SQUARE_##NAME] = before[i]; \
		return whole; \
	}
#else
#define PMG_JOINS 0
#define PMG_LANES_FUNCTION(type, name, NAME, number) \
	static inline int64_t pmg_lanes_write_##name(const type *restrict block, int64_t width, type *restrict to, \
						     const int64_t *begin, int64_t rows) \
	{ \
		const int64_t whole = rows/PMG_SQUARE_##NAME*PMG_SQUARE_##NAME; \
		for (int64_t row = 0; row < whole; row += PMG_SQUARE_##NAME) { \
			pmg_line_##name lines[PMG_SQUARE_##NAME]; \
			PMG_LINES_OF_BLOCK(name, NAME, lines, &block[row*width], width) \
			PMG_UNROLL \
			for (int i = 0; i < PMG_SQUARE_##NAME; i++) \
				*(pmg_line_##name *) &to[begin[i] + row] = lines[i]; \
		} \
		return whole; \
	}
#endif

/* Past the caches, where rows begin anywhere in a vector. Rows of a lane on their way to memory stand in a run that
 * begins where their vector does, `before` values ahead of them. Those behind its last whole vector move to the front,
 * for the next one (pmg_run_write_TYPE). pmg_runs_write_TYPE brings as many rows of PMG_SQUARE lanes as make whole
 * runs, to[begin[lane] + row], and gives their number; pmg_lines_stream_TYPE PMG_PUT_TYPE rows of all lanes, which are
 * a line of each. */
enum { PMG_RUN = 16, PMG_PUT_F64 = 8, PMG_PUT_F32 = 16 };

#define PMG_RUN_FUNCTIONS(type, name, NAME) \
	static inline void pmg_run_write_##name(type *restrict run, int64_t before, type *restrict to, int64_t at) \
	{ \
		int64_t i = 0; \
		if (before) \
			for (i = before; i < PMG_LANES(type); i++) \
				to[at + i] = run[i]; \
		for (; i < PMG_RUN; i += PMG_LANES(type)) \
			PMG_STREAM_##NAME(to[at + i], PMG_READ_##NAME(run[i])); \
		PMG_WRITE_##NAME(run[0]) = PMG_READ_##NAME(run[PMG_RUN]); \
	} \
	static inline void pmg_lines_stream_##name(const type *restrict block, int64_t width, type *restrict to, \
						   int64_t distance) \
	{ \
		for (int64_t lane = 0; lane < width; lane += PMG_SQUARE_##NAME) { \
			type rows[PMG_SQUARE_##NAME][PMG_PUT_##NAME]; \
			for (int64_t first = 0; first < PMG_PUT_##NAME; first += PMG_SQUARE_##NAME) { \
				pmg_line_##name lines[PMG_SQUARE_##NAME]; \
				PMG_LINES_OF_BLOCK(name, NAME, lines, &block[first*width + lane], width) \
				PMG_UNROLL \
				for (int i = 0; i < PMG_SQUARE_##NAME; i++) \
					*(pmg_line_##name *) &rows[i][first] = lines[i]; \
			} \
			PMG_UNROLL \
			for (int i = 0; i < PMG_SQUARE_##NAME; i++) \
				for (int64_t j = 0; j < PMG_PUT_##NAME; j += PMG_LANES(type)) \
					PMG_STREAM_##NAME(to[(lane + i)*distance + j], PMG_READ_##NAME(rows[i][j])); \
		} \
	} \
	static inline int64_t pmg_runs_write_##name(const type *restrict block, int64_t width, type *restrict to, \
						    const int64_t *begin, int64_t shortest) \
	{ \
		const int64_t whole = shortest/PMG_RUN*PMG_RUN; \
		type runs[PMG_SQUARE_##NAME][PMG_RUN + PMG_VECTOR_BYTES/sizeof(type)]; \
		int64_t before[PMG_SQUARE_##NAME]; \
		for (int i = 0; i < PMG_SQUARE_##NAME; i++) \
			before[i] = (int64_t) ((uintptr_t) &to[begin[i]] % PMG_VECTOR_BYTES/sizeof(type)); \
		for (int64_t row = 0; row < whole; row += PMG_RUN) { \
			for (int64_t first = 0; first < PMG_RUN; first += PMG_SQUARE_##NAME) { \
				pmg_line_##name lines[PMG_SQUARE_##NAME]; \
				PMG_LINES_OF_BLOCK(name, NAME, lines, &block[(row + first)*width], width) \
				PMG_UNROLL \
				for (int i = 0; i < PMG_SQUARE_##NAME; i++) \
					*(pmg_line_##name *) &runs[i][before[i] + first] = lines[i]; \
			} \
			for (int i = 0; i < PMG_SQUARE_##NAME; i++) \
				pmg_run_write_##name(runs[i], row ? 0 : before[i], to, begin[i] - before[i] + row); \
		} \
		for (int i = 0; whole && i < PMG_SQUARE_##NAME; i++) \
			for (int64_t j = 0; j < before[i]; j++) \
				to[begin[i] + whole - before[i] + j] = runs[i][j]; \
		return whole; \
	}

#ifdef __cplusplus
#define restrict __restrict__
#endif
PMG_LANES_FUNCTION(double, f64, F64, int64_t)
PMG_LANES_FUNCTION(float, f32, F32, int32_t)
PMG_RUN_FUNCTIONS(double, f64, F64)
PMG_RUN_FUNCTIONS(float, f32, F32)
#ifdef __cplusplus
#undef restrict
#endif
#endif

#endif
