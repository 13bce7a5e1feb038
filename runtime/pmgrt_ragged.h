/* SPDX-License-Identifier: MIT
 *
 * Blocks of segments for generated kernels: the rows of `width` segments of different lengths next to each other, as
 * many as the longest has, and back. Squares are transposed as in pmgrt_square.h; behind the end of its segment a lane
 * has zeros, and what is there is not written back. Before the first row of a block, and behind the last, there is
 * room for one row more, which nobody sees.
 *
 * Segments begin anywhere in a cache line. Past the caches they are written in the aligned vectors that lie in them as
 * a whole, which need no line to be read first, and at their two ends by elements or masks: no two threads write one
 * vector. In the caches, squares of rows that all lanes have are written as pmgrt_square.h does it, those at the ends
 * by masks where there are some.
 *
 * Included by pmgrt_math.h; C11 and C++ with the vector types of gcc and clang. */
#ifndef PMGRT_RAGGED_H
#define PMGRT_RAGGED_H

#include "pmgrt_block.h"
#include "pmgrt_lanes.h"

#ifndef __CUDACC__
/* Where the segments order[0..n_lanes] begin and how long they are; lanes that do not exist are empty. Returns the
 * length of the longest. */
static inline int64_t pmg_block_segments(const int64_t *offsets, const int64_t *order, int64_t width, int64_t n_lanes,
					 int64_t *begin, int64_t *rows)
{
	int64_t longest = 0;

	for (int64_t lane = 0; lane < width; lane++) {
		const int64_t segment = order[lane < n_lanes ? lane : n_lanes - 1];

		begin[lane] = offsets[segment];
		rows[lane] = lane < n_lanes ? offsets[segment + 1] - offsets[segment] : 0;
		longest = rows[lane] > longest ? rows[lane] : longest;
	}
	return longest;
}

/* How many blocks a thread takes in its turn, which stands behind the order and where the blocks begin. */
static inline int64_t pmg_turn(const int64_t *order, int64_t n, int64_t width)
{
	return order[n + (n + width - 1)/width];
}

/* The place in the order from which on the thread takes its next block. */
static inline int64_t pmg_next_first(const int64_t *order, int64_t n, int64_t first, int64_t width, int64_t threads)
{
	const int64_t block = first/width + 1, turn = pmg_turn(order, n, width);

	return (block % turn == 0 ? block + (threads - 1)*turn : block)*width;
}

/* Where the lanes begin of the block that the thread takes next. */
static inline void pmg_block_next(const int64_t *offsets, const int64_t *order, int64_t n, int64_t first, int64_t width,
				  int64_t threads, int64_t *next)
{
	const int64_t begin = pmg_next_first(order, n, first, width, threads);

	for (int64_t lane = 0; lane < width; lane++) {
		const int64_t at = begin + lane;

		next[lane] = offsets[order[at < n ? at : n - 1]];
	}
}

/* Where a block of segments lies, and its rows: of the one that the thread takes next; of the last one, the same. */
typedef struct pmg_lying {
	int64_t start, rows;
} pmg_lying;

static inline pmg_lying pmg_block_later(const int64_t *offsets, const int64_t *order, int64_t n, int64_t first,
					int64_t width, int64_t threads)
{
	const int64_t next = pmg_next_first(order, n, first, width, threads), at = next < n ? next : first;

	return (pmg_lying) { order[n + at/width], offsets[order[at] + 1] - offsets[order[at]] };
}

static inline int64_t pmg_shortest(const int64_t *rows, int64_t n)
{
	int64_t shortest = rows[0];

	for (int64_t lane = 1; lane < n; lane++)
		shortest = rows[lane] < shortest ? rows[lane] : shortest;
	return shortest;
}

static inline int64_t pmg_longest(const int64_t *rows, int64_t n)
{
	int64_t longest = rows[0];

	for (int64_t lane = 1; lane < n; lane++)
		longest = rows[lane] > longest ? rows[lane] : longest;
	return longest;
}

/* What one lane has in a square from `row` on: a line of as many values as there are before its end, which pmg_ends
 * tells of all lanes, and zeros behind them. */
#if PMG_VECTOR_BYTES == 64 && defined(__AVX512VL__)
typedef int8_t pmg_bytes_8 __attribute__((vector_size(8)));
typedef uint64_t pmg_ends;
/* A byte for each lane, and in it a bit for each of its values: 0 to 8. */
static inline pmg_ends pmg_ends_of(const int64_t *rows, int64_t row)
{
	const pmg_lengths_64 n = PMG_LENGTHS_(64, rows, 0) - row, some = n & ~(n >> 63);
	const pmg_lengths_64 more = some - 8, up_to_8 = some - (more & ~(more >> 63));
	const pmg_lengths_64 one = (pmg_lengths_64) { 0 } + 1;

	return (pmg_ends) __builtin_convertvector((one << up_to_8) - one, pmg_bytes_8);
}
#ifdef __clang__
typedef pmg_vector_f32_32 pmg_masked_f32;
#else
typedef float pmg_masked_f32;
#endif
#define PMG_LINE_FUNCTIONS(type, name, suffix, masked) \
	static inline pmg_line_##name pmg_line_read_##name(const type *from, pmg_ends ends, int lane) \
	{ \
		const pmg_line_##name zeros = { 0 }; \
		return __builtin_ia32_loadu##suffix##_mask((const masked *) from, zeros, (uint8_t) (ends >> 8*lane)); \
	} \
	static inline void pmg_line_write_##name(type *to, pmg_line_##name line, pmg_ends ends, int lane) \
	{ \
		__builtin_ia32_storeu##suffix##_mask((masked *) to, line, (uint8_t) (ends >> 8*lane)); \
	}
PMG_LINE_FUNCTIONS(double, f64, pd512, double)
PMG_LINE_FUNCTIONS(float, f32, ps256, pmg_masked_f32)
#else
typedef struct pmg_ends {
	const int64_t *rows;
	int64_t row;
} pmg_ends;
static inline pmg_ends pmg_ends_of(const int64_t *rows, int64_t row)
{
	return (pmg_ends) { rows, row };
}
#define PMG_LINE_FUNCTIONS(type, name, NAME) \
	static inline pmg_line_##name pmg_line_read_##name(const type *from, pmg_ends ends, int lane) \
	{ \
		type values[PMG_SQUARE_##NAME] = { 0 }; \
		for (int64_t i = 0; i < ends.rows[lane] - ends.row && i < PMG_SQUARE_##NAME; i++) \
			values[i] = from[i]; \
		return *(const pmg_line_##name *) values; \
	} \
	static inline void pmg_line_write_##name(type *to, pmg_line_##name line, pmg_ends ends, int lane) \
	{ \
		for (int64_t i = 0; i < ends.rows[lane] - ends.row && i < PMG_SQUARE_##NAME; i++) \
			to[i] = line[i]; \
	}
PMG_LINE_FUNCTIONS(double, f64, F64)
PMG_LINE_FUNCTIONS(float, f32, F32)
#endif

/* pmg_ragged_read_TYPE: block[row*width + lane] = from[begin[lane] + row]; pmg_ragged_write_TYPE is the reverse, past
 * the caches if `is_nontemporal`; pmg_ragged_rows_TYPE reads the rows from `row` to `end` only, and
 * pmg_ragged_window_TYPE PMG_ROWS that all lanes have. Lanes come the longest first.
 * A square has `n` rows, and is whole if all its lanes have all of PMG_SQUARE. What reads one is part of the loop
 * around it, which knows whether it is whole. What is read is hidden from the C compiler, as PMG_LINES_OF_LANES does
 * it: else it computes eight pointers ahead of each square, and spills them. */
#define PMG_RAGGED_FUNCTIONS(type, name, NAME) \
	static inline __attribute__((always_inline)) void \
	pmg_square_read_##name(type *restrict square, int64_t width, const type *restrict from, const int64_t *begin, \
			       const int64_t *rows, int64_t row, int64_t n, bool is_whole) \
	{ \
		const pmg_ends ends = pmg_ends_of(rows, row); \
		pmg_line_##name lines[PMG_SQUARE_##NAME]; \
		from += row; \
		__asm__ ("" : "+r" (from), "+r" (begin)); \
		PMG_UNROLL \
		for (int i = 0; i < PMG_SQUARE_##NAME; i++) \
			lines[i] = is_whole ? *(const pmg_line_##name *) &from[begin[i]] \
					    : pmg_line_read_##name(&from[begin[i]], ends, i); \
		PMG_TRANSPOSE_##NAME(lines) \
		PMG_UNROLL \
		for (int i = 0; i < PMG_SQUARE_##NAME; i++) \
			if (is_whole || i < n) \
				*(pmg_line_##name *) &square[i*width] = lines[i]; \
	} \
	static inline void pmg_square_write_##name(const type *restrict square, int64_t width, type *restrict to, \
						   const int64_t *begin, const int64_t *rows, int64_t row, int64_t n) \
	{ \
		const pmg_ends ends = pmg_ends_of(rows, row); \
		pmg_line_##name lines[PMG_SQUARE_##NAME]; \
		PMG_UNROLL \
		for (int i = 0; i < PMG_SQUARE_##NAME; i++) \
			lines[i] = *(const pmg_line_##name *) &square[(i < n ? i : n - 1)*width]; \
		PMG_TRANSPOSE_##NAME(lines) \
		PMG_UNROLL \
		for (int i = 0; i < PMG_SQUARE_##NAME; i++) \
			pmg_line_write_##name(&to[begin[i] + row], lines[i], ends, i); \
	} \
	static inline void pmg_ragged_rows_##name(type *restrict own, int64_t width, const type *restrict from, \
						  const int64_t *begin, const int64_t *rows, int64_t row, int64_t end) \
	{ \
		const int64_t square = width % PMG_SQUARE_##NAME == 0 ? PMG_SQUARE_##NAME : 1; \
		for (int64_t lane = 0; lane < width; lane += square) { \
			const int64_t shortest = rows[lane + square - 1], whole = shortest < end ? shortest : end; \
			int64_t at = row; \
			for (; square > 1 && at + square <= whole; at += square) \
				pmg_square_read_##name(&own[(at - row)*width + lane], width, from, &begin[lane], \
						       &rows[lane], at, square, true); \
			for (; square > 1 && at < end; at += square) \
				pmg_square_read_##name(&own[(at - row)*width + lane], width, from, &begin[lane], \
						       &rows[lane], at, end - at, false); \
			for (; at < end; at++) \
				own[(at - row)*width + lane] = at < rows[lane] ? from[begin[lane] + at] : 0; \
		} \
	} \
	static inline __attribute__((always_inline)) void \
	pmg_ragged_window_##name(type *restrict own, int64_t width, const type *restrict from, const int64_t *begin, \
				 const int64_t *rows, int64_t row) \
	{ \
		for (int64_t lane = 0; lane < width; lane += PMG_SQUARE_##NAME) \
			for (int64_t at = 0; at < PMG_ROWS; at += PMG_SQUARE_##NAME) \
				pmg_square_read_##name(&own[at*width + lane], width, from, &begin[lane], &rows[lane], \
						       row + at, PMG_SQUARE_##NAME, true); \
	} \
	static inline void pmg_ragged_read_##name(type *restrict block, int64_t width, const type *restrict from, \
						  const int64_t *begin, const int64_t *rows, int64_t longest) \
	{ \
		pmg_ragged_rows_##name(block, width, from, begin, rows, 0, longest); \
	} \
	static inline void pmg_ragged_write_##name(const type *restrict block, int64_t width, type *restrict to, \
						   const int64_t *begin, const int64_t *rows, bool is_nontemporal) \
	{ \
		const int64_t square = width % PMG_SQUARE_##NAME == 0 ? PMG_SQUARE_##NAME : 1; \
		for (int64_t lane = 0; lane < width; lane += square) { \
			const int64_t shortest = pmg_shortest(&rows[lane], square); \
			const int64_t longest = pmg_longest(&rows[lane], square); \
			int64_t at = 0; \
			if (square > 1 && is_nontemporal) \
				at = pmg_runs_write_##name(&block[lane], width, to, &begin[lane], shortest); \
			if (square > 1) \
				at += pmg_lanes_write_##name(&block[at*width + lane], width, to + at, &begin[lane], \
							     shortest - at); \
			for (; square > 1 && at < longest; at += square) \
				pmg_square_write_##name(&block[at*width + lane], width, to, &begin[lane], \
							&rows[lane], at, longest - at); \
			for (; at < longest; at++) \
				to[begin[lane] + at] = block[at*width + lane]; \
		} \
	}
#ifdef __cplusplus
#define restrict __restrict__
#endif
PMG_RAGGED_FUNCTIONS(double, f64, F64)
PMG_RAGGED_FUNCTIONS(float, f32, F32)

/* Blocks of arrays that the caller may hold in blocks of segments, which begin `start` rows from the first one's begin.
 * pmg_segments_take_TYPE gives a block with the values: where it lies, or in `own`; pmg_segments_open_TYPE one to be
 * written; pmg_segments_put_TYPE brings what was written to its place. What is too large for the caches is written in
 * `own` and goes past them: then, or before, where it is also written to pmg_segments_nontemporal_TYPE, unless that
 * is NULL. A block without rows lies nowhere. pmg_segments_rows_TYPE takes a window of rows, and where a place asks
 * ahead, asks for those of row `ahead` (see pmgrt_block.h), or of the block whose lanes begin at `next`. Where the
 * rows of a block that lies are, and those of the next one, which is `later`, tells pmg_prefetch_segments_TYPE;
 * whether they may be asked
 * for, pmg_segments_prefetches. */
static inline bool pmg_segments_lie(const pmg_place *place, int64_t longest)
{
	return place->lane == 1 && longest > 0;
}

static inline int pmg_segments_prefetches(const pmg_place *place, int64_t longest)
{
	return place->is_memory_resident && pmg_segments_lie(place, longest) ? PMG_PREFETCH_ROWS : PMG_PREFETCH_NONE;
}

/* Row `ahead` of each lane; behind the longest, or before the first, of the next block, which has about as many. Of
 * short ones, those of the next block that stand where this one's window does. */
PMG_PREFETCHES pmg_prefetch_segment_rows(const void *from, int64_t size, int64_t width, const int64_t *begin,
		int64_t longest,
			    int64_t row, int64_t ahead, const int64_t *next)
{
	const bool are_short = pmg_segment_is_short(longest*size);
	const int64_t *lanes = are_short || ahead < 0 || ahead >= longest ? next : begin;

	if (are_short)
		ahead = row;
	else if (ahead >= longest)
		ahead = ahead - longest < row ? ahead - longest : row;
	else if (ahead < 0)
		ahead = ahead + longest > row ? ahead + longest : row;
	for (int64_t lane = 0; lane < width; lane++)
		__builtin_prefetch((const void *) ((uintptr_t) from + (uintptr_t) ((lanes[lane] + ahead)*size)), 0, 2);
}

#define PMG_SEGMENT_FUNCTIONS(type, name, NAME) \
	static inline type *pmg_segments_take_##name(type *own, int64_t width, const type *from, \
						     const pmg_place *place, int64_t start, const int64_t *begin, \
						     const int64_t *rows, int64_t longest) \
	{ \
		if (pmg_segments_lie(place, longest)) \
			return (type *) (uintptr_t) (from + start*width); \
		pmg_ragged_read_##name(own, width, from, begin, rows, longest); \
		return own; \
	} \
	static inline pmg_prefetch pmg_prefetch_segments_##name(int64_t width, const type *from, int64_t start, \
							  const pmg_lying *later, int64_t rows, int direction) \
	{ \
		const uintptr_t row = (uintptr_t) width*sizeof(type), first = (uintptr_t) from; \
		const int64_t next = later->start + (direction < 0 ? later->rows : -rows); \
		return (pmg_prefetch) { first + (uintptr_t) start*row, first + (uintptr_t) next*row, 0, 0, 0 }; \
	} \
	static inline const type *pmg_segments_rows_##name(type *own, int64_t width, const type *from, \
							   const pmg_place *place, int64_t start, \
							   const int64_t *begin, const int64_t *rows, \
							   int64_t longest, int64_t row, int64_t end, int64_t ahead, \
							   const int64_t *next) \
	{ \
		if (pmg_segments_lie(place, longest)) \
			return from + (start + row)*width; \
		if (place->is_memory_resident) \
			pmg_prefetch_segment_rows(from, (int64_t) sizeof(type), width, begin, longest, row, ahead, \
					next); \
		if (end - row == PMG_ROWS && rows[width - 1] >= end && width % PMG_SQUARE_##NAME == 0) \
			pmg_ragged_window_##name(own, width, from, begin, rows, row); \
		else \
			pmg_ragged_rows_##name(own, width, from, begin, rows, row, end); \
		return own; \
	} \
	static inline type *pmg_segments_open_##name(type *own, int64_t width, type *to, const pmg_place *place, \
						     int64_t start, int64_t longest) \
	{ \
		return pmg_segments_lie(place, longest) && !place->is_nontemporal ? to + start*width : own; \
	} \
	static inline type *pmg_segments_nontemporal_##name(int64_t width, type *to, const pmg_place *place, \
			int64_t start, \
						     int64_t longest) \
	{ \
		return pmg_segments_lie(place, longest) && place->is_nontemporal ? to + start*width : (type *) 0; \
	} \
	static inline void pmg_segments_put_##name(const type *block, int64_t width, type *to, \
						   const pmg_place *place, int64_t start, const int64_t *begin, \
						   const int64_t *rows, int64_t longest, bool is_nontemporal) \
	{ \
		type *const there = to + start*width; \
		if (!pmg_segments_lie(place, longest)) \
			pmg_ragged_write_##name(block, width, to, begin, rows, is_nontemporal && \
						!pmg_segment_is_short(longest*(int64_t) sizeof(type))); \
		else if (block != there) \
			for (int64_t i = 0; i < longest*width; i += PMG_LANES(type)) \
				PMG_STREAM_##NAME(there[i], PMG_READ_##NAME(block[i])); \
	}
PMG_SEGMENT_FUNCTIONS(double, f64, F64)
PMG_SEGMENT_FUNCTIONS(float, f32, F32)

/* Parents, as numbers of rows: -1 of a root and behind the end. */
static inline void pmg_ragged_parents(int64_t *restrict block, int64_t width, const int64_t *restrict parent,
				      const int64_t *begin, const int64_t *rows, int64_t longest)
{
	for (int64_t lane = 0; lane < width; lane++) {
		for (int64_t row = 0; row < rows[lane]; row++) {
			const int64_t of = parent[begin[lane] + row];

			block[row*width + lane] = of < 0 ? -1 : of - begin[lane];
		}
		for (int64_t row = rows[lane]; row < longest; row++)
			block[row*width + lane] = -1;
	}
}
#ifdef __cplusplus
#undef restrict
#endif
#endif

#endif
