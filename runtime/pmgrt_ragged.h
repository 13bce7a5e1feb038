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

#define PMG_TEMPLATE "pmgrt_ragged_real.h"
#include "pmgrt_each_real.h"

#ifdef __cplusplus
#define restrict __restrict__
#endif

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
