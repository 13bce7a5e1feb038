/* SPDX-License-Identifier: MIT
 *
 * Blocks for generated kernels: `width` lanes next to each other for each row, from arrays in which each lane has its
 * rows next to each other, and back, in squares (pmgrt_square.h). Lanes behind the last one that exists are copies of
 * it, so that whatever is computed from them is as harmless; they are not written back.
 *
 * Included by pmgrt_math.h; C11 and C++ with the vector types of gcc and clang. */
#ifndef PMGRT_BLOCK_H
#define PMGRT_BLOCK_H

#include "pmgrt_square.h"

#ifndef __CUDACC__
static inline int64_t pmg_lane_place(int64_t lane, int64_t n_lanes, int64_t distance)
{
	return (lane < n_lanes ? lane : n_lanes - 1)*distance;
}

/* Blocks of arrays as the caller holds them (pmg_place): block number first/width, `part` from its first element.
 * pmg_block_take_TYPE gives a block with the values: where it lies, if its lanes stand next to each other there, or in
 * `own`; pmg_block_open_TYPE one to be written; pmg_block_put_TYPE brings what was written to its place. What is also
 * written to pmg_block_nontemporal_TYPE, non-temporally, if that is not NULL, is opened by pmg_block_keep_TYPE: in
 * `own`. pmg_block_rows_TYPE takes the rows from `begin` to `end` only, and pmg_block_put_rows_TYPE brings only those
 * to their place. PMG_ROWS at a time, of all lanes, are whole squares, and so few that it pays to let the C compiler
 * know the numbers. Fewer, which an end leaves, are brought with rows beside them, which a result has all of by then.
 *
 * Processors read ahead of what goes through memory in its order, but of few rows at a time. So where a place asks
 * ahead, a window asks for the rows that will be read or written PMG_PREFETCH_WINDOW rows later: row `ahead` of this
 * block, or, where that is behind the last of its `rows` or before the first, of one that follows; PMG_NO_ROW: for
 * none. Where blocks lie, a loop may ask for a row of this block or the next one by pmg_prefetch_row, as
 * pmg_prefetch_block_TYPE tells where they are. It may do so, too, where whole lanes lie one behind the other: the
 * next block is asked for line after line, as the processor foresees best, and its windows find it in the caches; of
 * blocks that are too large for that, a run of each lane in turn. pmg_block_prefetches tells which of these.
 *
 * The window of a result that begins with row `begin` ends before pmg_put_end_TYPE, one that ends before `end` begins
 * with pmg_put_begin_TYPE. Those of lanes that are stored non-temporally are lines, if row 0 has the same place in a
 * line of all of them, pmg_block_skew_TYPE; if not, pmg_block_is_uneven_TYPE, as many rows as a line has; else
 * (PMG_NO_ROW) the windows go through the caches. Results that are near go to their place as a whole downwards, which
 * the loop before is the faster for, and upwards where squares are joined (pmg_block_joins_TYPE): where lanes begin
 * with other values than vectors do. `ahead` is further on in the direction of the loop than any window is high. */
enum { PMG_ROWS = 8 };
#define PMG_NO_ROW INT64_MIN

/* What loops may ask for, as bits, to be intersected for all arrays that they read. */
enum { PMG_PREFETCH_NONE = 0, PMG_PREFETCH_ROWS = 1, PMG_PREFETCH_LINES = 2, PMG_PREFETCH_RUNS = 4,
		PMG_PREFETCH_FLAT = 6 };

static inline bool pmg_block_lies(const pmg_place *place, int64_t width, int64_t n_lanes)
{
	return place->lane == 1 && place->row == width && (n_lanes == width || place->is_padded);
}

/* Lanes whose block is not prefetched as a whole are, in runs, if a row is not larger than a run. Where arrays of
 * several types are on both sides of that, the windows prefetch. */
static inline bool pmg_lanes_have_runs(const pmg_place *place, int64_t rows, int64_t bytes)
{
	return place->row == 1 && !pmg_prefetches_whole_block(rows*bytes);
}

static inline int pmg_block_prefetches(const pmg_place *place, int64_t width, int64_t n_lanes, int64_t rows,
		int64_t bytes)
{
	const bool are_whole = place->row == 1 && place->lane == rows && n_lanes == width;

	if (!place->is_memory_resident)
		return PMG_PREFETCH_NONE;
	if (pmg_block_lies(place, width, n_lanes))
		return PMG_PREFETCH_ROWS;
	if (!are_whole || bytes > PMG_RUN_BYTES)
		return PMG_PREFETCH_NONE;
	return pmg_lanes_have_runs(place, rows, bytes) ? PMG_PREFETCH_RUNS : PMG_PREFETCH_LINES;
}

/* From the first row of a block to a row of it, or, before the first and behind the last, of one that follows. */
static inline int64_t pmg_row_from(const pmg_place *place, int64_t row, int64_t rows)
{
	int64_t from = 0;

	for (; row >= rows; row -= rows)
		from += place->block;
	for (; row < 0; row += rows)
		from += place->block;
	return from + row*place->row;
}

/* Where row 0 of a block lies, and where it would lie if the rows behind the last one, or before the first, were those
 * of the block that the thread takes next: then `row` is asked for by its number. Of lanes in runs, row 0 of both, how
 * many bytes lanes are apart, what a value has, and the number of the last lane, which is a power of two less one. */
typedef struct pmg_prefetch {
	uintptr_t here, later;
	uintptr_t lane, size, last_lane;
} pmg_prefetch;

/* Lanes have runs of PMG_RUN_BYTES bytes in turn; what stands for a row is as large as one of a block, in one run. Of
 * the last runs, if they are shorter, the first lanes have theirs and as much behind it; others do not, which
 * processors that read ahead make up for. */
static inline uintptr_t pmg_run_from(const pmg_prefetch *asked, uintptr_t first, uintptr_t row, uintptr_t bytes)
{
	const uintptr_t at = row*bytes, run = row*asked->size & -(uintptr_t) PMG_RUN_BYTES;

	return first + run + (at/PMG_RUN_BYTES & asked->last_lane)*asked->lane + at%PMG_RUN_BYTES;
}

/* Where what is asked for by the number of a row begins, which is of this block or the next one. */
static inline uintptr_t pmg_prefetch_address(const pmg_prefetch *asked, int64_t row, int64_t rows, int64_t bytes)
{
	const bool is_here = (uint64_t) row < (uint64_t) rows;
	const uintptr_t first = is_here ? asked->here : asked->later;
	const int64_t inside = is_here ? row : row < 0 ? row + rows : row - rows;

	return asked->lane ? pmg_run_from(asked, first, (uintptr_t) inside, (uintptr_t) bytes)
			   : first + (uintptr_t) (row*bytes);
}

/* A function that only asks for memory has no effect that gcc knows of: it leaves out calls of it, unless the function
 * is part of what calls it. */
#define PMG_PREFETCHES static inline __attribute__((always_inline)) void

/* Into the second cache: the nearest one has few requests under way at a time. */
PMG_PREFETCHES pmg_prefetch_row(const pmg_prefetch *asked, int64_t row, int64_t rows, int64_t bytes)
{
	const uintptr_t from = pmg_prefetch_address(asked, row, rows, bytes);

	for (uintptr_t byte = 0; byte < (uintptr_t) bytes; byte += PMG_CACHE_LINE)
		__builtin_prefetch((const void *) (from + byte), 0, 2);
}

/* How many rows further on a loop prefetches one; 0: it does not. What it prefetches is here or in the next block: of
 * few rows of blocks half. Of lanes as a whole, so many that it is the next block's. */
static inline int64_t pmg_prefetch_distance(int far, int64_t rows)
{
	if (far & PMG_PREFETCH_LINES)
		return rows;
	if (far & PMG_PREFETCH_RUNS)
		return PMG_PREFETCH_RUN;
	if (!(far & PMG_PREFETCH_ROWS))
		return 0;
	return PMG_PREFETCH_BLOCK < rows/2 ? (int64_t) PMG_PREFETCH_BLOCK : rows/2;
}

/* The row that a window asks for in a loop that asks for one itself, so many rows further on. */
static inline int64_t pmg_prefetch_window_row(int64_t ahead, int64_t row)
{
	return ahead ? PMG_NO_ROW : row;
}

PMG_PREFETCHES pmg_prefetch_lanes(const void *block, int64_t size, const pmg_place *place, int64_t n_lanes,
		int64_t ahead,
			 int64_t rows, bool is_written)
{
	uintptr_t lane_row = (uintptr_t) block + (uintptr_t) pmg_row_from(place, ahead, rows)*(uintptr_t) size;

	for (int64_t lane = 0; lane < n_lanes; lane++, lane_row += (uintptr_t) place->lane*(uintptr_t) size)
		if (is_written)
			__builtin_prefetch((const void *) lane_row, 1, 2);
		else
			__builtin_prefetch((const void *) lane_row, 0, 2);
}

/* Lanes one after the other, non-temporally, as far as all exist. */
static inline bool pmg_block_is_nontemporal(const pmg_place *place, int64_t width, int64_t n_lanes)
{
	return PMG_VECTOR_BYTES == PMG_CACHE_LINE && place->is_nontemporal && n_lanes == width &&
	       !pmg_block_lies(place, width, n_lanes);
}

#define PMG_TEMPLATE "pmgrt_block_real.h"
#include "pmgrt_each_real.h"
#endif

#endif
