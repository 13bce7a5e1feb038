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

/* Where lanes begin at different places of a line, pmg_uneven_write_TYPE brings those lines of each lane that the rows
 * from `begin` to `end` make whole, and what is left at both ends: a loop that goes up has made all rows before `end`,
 * one that goes down all from `begin` on. pmg_line_at_TYPE is where the next line that it makes begins. */
#define PMG_UNEVEN_FUNCTIONS(type, name, NAME) \
	static inline int64_t pmg_line_at_##name(const type *lane, int64_t row, bool is_down) \
	{ \
		const int64_t into = (int64_t) ((uintptr_t) (lane + row) % PMG_CACHE_LINE/sizeof(type)); \
		return row - into + (is_down && into > 0 ? PMG_PUT_##NAME : 0); \
	} \
	static inline void pmg_uneven_rows_##name(const type *restrict block, int64_t width, type *restrict to, \
						  int64_t distance, int64_t begin, int64_t end, int64_t rows, \
						  bool is_down) \
	{ \
		for (int64_t lane = 0; lane < width; lane++) { \
			type *const lane_rows = to + lane*distance; \
			const int64_t first = begin > 0 ? pmg_line_at_##name(lane_rows, begin, is_down) : 0; \
			const int64_t last = end < rows ? pmg_line_at_##name(lane_rows, end, is_down) : rows; \
			for (int64_t row = first; row < last; row++) \
				lane_rows[row] = block[row*width + lane]; \
		} \
	} \
	static inline void pmg_uneven_lines_##name(const type *restrict block, int64_t width, type *restrict to, \
						   int64_t distance, int64_t begin, bool is_down) \
	{ \
		const int64_t top = is_down ? begin : begin - PMG_PUT_##NAME; \
		for (int64_t lane = 0; lane < width; lane += PMG_SQUARE_##NAME) { \
			type rows[PMG_SQUARE_##NAME][2*PMG_PUT_##NAME]; \
			for (int64_t at = 0; at < 2*PMG_PUT_##NAME; at += PMG_SQUARE_##NAME) { \
				pmg_line_##name lines[PMG_SQUARE_##NAME]; \
				PMG_LINES_OF_BLOCK(name, NAME, lines, &block[(top + at)*width + lane], width) \
				PMG_UNROLL \
				for (int i = 0; i < PMG_SQUARE_##NAME; i++) \
					*(pmg_line_##name *) &rows[i][at] = lines[i]; \
			} \
			for (int i = 0; i < PMG_SQUARE_##NAME; i++) { \
				type *const lane_rows = to + (lane + i)*distance; \
				const int64_t row = pmg_line_at_##name(lane_rows, begin, is_down); \
				const type *const line = &rows[i][row - top]; \
				for (int64_t j = 0; j < PMG_PUT_##NAME; j += PMG_LANES(type)) \
					PMG_STREAM_##NAME(lane_rows[row + j], PMG_READ_##NAME(line[j])); \
			} \
		} \
	} \
	static inline void pmg_uneven_write_##name(const type *restrict block, int64_t width, type *restrict to, \
						   int64_t distance, int64_t begin, int64_t end, int64_t rows, \
						   bool is_down) \
	{ \
		const int64_t behind = is_down ? rows - end : begin, left = is_down ? begin : rows - end; \
		if (end - begin == PMG_PUT_##NAME && behind >= PMG_PUT_##NAME && left > 0) \
			pmg_uneven_lines_##name(block, width, to, distance, begin, is_down); \
		else \
			pmg_uneven_rows_##name(block, width, to, distance, begin, end, rows, is_down); \
	}

/* pmg_block_read_TYPE(block, width, from, n_lanes, distance, rows, row_distance): block[row*width + lane] =
 * from[lane*distance + row*row_distance]; pmg_block_write_TYPE is the reverse, for the lanes that exist;
 * pmg_block_stream_TYPE the same past the caches, of rows next to each other and all lanes, which pays if a vector is
 * a cache line. Rows that are left over at the end are part of a square, too, if there are enough for one: its other
 * rows are copied twice. Windows that are read are part of their loop, and so are the squares of whole ones, however
 * much else the file has: as calls, which gcc makes of them where there are many, they take up to 1.6 times as long. */
#define PMG_BLOCK_FUNCTIONS(type, name, NAME) \
	static inline int64_t pmg_in_squares_##name(int64_t width, int64_t rows, int64_t row_distance) \
	{ \
		return row_distance == 1 && width % PMG_SQUARE_##NAME == 0 ? rows/PMG_SQUARE_##NAME*PMG_SQUARE_##NAME \
									   : 0; \
	} \
	static inline bool pmg_lanes_join_##name(const type *to, int64_t distance) \
	{ \
		const bool is_even = distance % PMG_SQUARE_##NAME == 0; \
		return PMG_JOINS && !(is_even && (uintptr_t) to % sizeof(pmg_line_##name) == 0); \
	} \
	static inline __attribute__((always_inline)) void \
	pmg_squares_read_##name(type *restrict block, int64_t width, const type *restrict from, int64_t n_lanes, \
				int64_t distance, int64_t rows) \
	{ \
		for (int64_t lane = 0; lane < width; lane += PMG_SQUARE_##NAME) \
			for (int64_t row = 0; row < rows; row += PMG_SQUARE_##NAME) { \
				pmg_line_##name lines[PMG_SQUARE_##NAME]; \
				if (lane + PMG_SQUARE_##NAME <= n_lanes) { \
					PMG_LINES_OF_LANES(name, NAME, lines, &from[lane*distance + row], distance); \
				} else { \
					PMG_UNROLL \
					for (int i = 0; i < PMG_SQUARE_##NAME; i++) \
						lines[i] = *(const pmg_line_##name *) \
							&from[pmg_lane_place(lane + i, n_lanes, distance) + row]; \
				} \
				PMG_TRANSPOSE_##NAME(lines) \
				PMG_UNROLL \
				for (int i = 0; i < PMG_SQUARE_##NAME; i++) \
					*(pmg_line_##name *) &block[(row + i)*width + lane] = lines[i]; \
			} \
	} \
	static inline __attribute__((always_inline)) void \
	pmg_squares_write_##name(const type *restrict block, int64_t width, type *restrict to, int64_t n_lanes, \
				 int64_t distance, int64_t rows) \
	{ \
		for (int64_t lane = 0; lane < n_lanes; lane += PMG_SQUARE_##NAME) \
			for (int64_t row = 0; row < rows; row += PMG_SQUARE_##NAME) { \
				pmg_line_##name lines[PMG_SQUARE_##NAME]; \
				PMG_LINES_OF_BLOCK(name, NAME, lines, &block[row*width + lane], width) \
				PMG_UNROLL \
				for (int i = 0; i < PMG_SQUARE_##NAME; i++) \
					if (lane + i < n_lanes) \
						*(pmg_line_##name *) &to[(lane + i)*distance + row] = lines[i]; \
			} \
	} \
	static inline void pmg_block_lanes_write_##name(const type *restrict block, int64_t width, type *restrict to, \
							int64_t n_lanes, int64_t distance, int64_t rows) \
	{ \
		const bool joins = pmg_lanes_join_##name(to, distance); \
		int64_t begin[PMG_SQUARE_##NAME], lane = 0; \
		for (; joins && lane + PMG_SQUARE_##NAME <= n_lanes; lane += PMG_SQUARE_##NAME) { \
			for (int64_t i = 0; i < PMG_SQUARE_##NAME; i++) \
				begin[i] = (lane + i)*distance; \
			pmg_lanes_write_##name(&block[lane], width, to, begin, rows); \
		} \
		if (lane < n_lanes) \
			pmg_squares_write_##name(&block[lane], width, to + lane*distance, n_lanes - lane, distance, \
						 rows); \
	} \
	static inline void pmg_block_read_##name(type *restrict block, int64_t width, const type *restrict from, \
						 int64_t n_lanes, int64_t distance, int64_t rows, \
						 int64_t row_distance) \
	{ \
		const int64_t whole = pmg_in_squares_##name(width, rows, row_distance); \
		const int64_t last = rows - PMG_SQUARE_##NAME; \
		if (whole) \
			pmg_squares_read_##name(block, width, from, n_lanes, distance, whole); \
		if (whole && whole < rows) \
			pmg_squares_read_##name(&block[last*width], width, from + last, n_lanes, distance, \
						PMG_SQUARE_##NAME); \
		for (int64_t row = 0; row < rows && !whole; row++) \
			for (int64_t lane = 0; lane < width; lane++) \
				block[row*width + lane] = from[pmg_lane_place(lane, n_lanes, distance) \
							       + row*row_distance]; \
	} \
	static inline void pmg_block_write_##name(const type *restrict block, int64_t width, type *restrict to, \
						  int64_t n_lanes, int64_t distance, int64_t rows, \
						  int64_t row_distance) \
	{ \
		const int64_t whole = pmg_in_squares_##name(width, rows, row_distance); \
		const int64_t last = rows - PMG_SQUARE_##NAME; \
		if (whole) \
			pmg_block_lanes_write_##name(block, width, to, n_lanes, distance, whole); \
		if (whole && whole < rows) \
			pmg_squares_write_##name(&block[last*width], width, to + last, n_lanes, distance, \
						 PMG_SQUARE_##NAME); \
		for (int64_t row = 0; row < rows && !whole; row++) \
			for (int64_t lane = 0; lane < n_lanes; lane++) \
				to[lane*distance + row*row_distance] = block[row*width + lane]; \
	} \
	static inline void pmg_block_stream_##name(const type *restrict block, int64_t width, type *restrict to, \
						   int64_t distance, int64_t rows) \
	{ \
		int64_t begin[PMG_SQUARE_##NAME], whole = 0; \
		for (int64_t lane = 0; width % PMG_SQUARE_##NAME == 0 && lane < width; lane += PMG_SQUARE_##NAME) { \
			for (int64_t i = 0; i < PMG_SQUARE_##NAME; i++) \
				begin[i] = (lane + i)*distance; \
			whole = pmg_runs_write_##name(&block[lane], width, to, begin, rows); \
		} \
		pmg_block_write_##name(&block[whole*width], width, to + whole, width, distance, rows - whole, 1); \
	}

/* Blocks of arrays as the caller holds them (pmg_place): block number first/width, `part` from its first element.
 * pmg_block_take_TYPE gives a block with the values: where it lies, if its lanes stand next to each other there, or in
 * `own`; pmg_block_open_TYPE one to be written; pmg_block_put_TYPE brings what was written to its place. What is also
 * written to pmg_block_nontemporal_TYPE, past the caches, if that is not NULL, is opened by pmg_block_keep_TYPE: in
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
 * with pmg_put_begin_TYPE. Those of lanes that go past the caches are lines, if row 0 has the same place in a line of
 * all of them, pmg_block_skew_TYPE; if not, pmg_block_is_uneven_TYPE, as many rows as a line has; else (PMG_NO_ROW)
 * the windows go through the caches. Results that are near go to their place as a whole downwards, which the loop
 * before is the faster for, and upwards where squares are joined (pmg_block_joins_TYPE): where lanes begin with other
 * values than vectors do. `ahead` is further on in the direction of the loop than any window is high. */
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

/* Lanes that lie one behind the other, past the caches, as far as all exist. */
static inline bool pmg_block_is_nontemporal(const pmg_place *place, int64_t width, int64_t n_lanes)
{
	return PMG_VECTOR_BYTES == PMG_CACHE_LINE && place->is_nontemporal && n_lanes == width &&
	       !pmg_block_lies(place, width, n_lanes);
}

#define PMG_PLACE_FUNCTIONS(type, name, NAME) \
	static inline type *pmg_block_open_##name(type *own, int64_t width, const type *from, const pmg_place *place, \
						  int64_t first, int64_t n_lanes, int64_t rows) \
	{ \
		(void) rows; \
		return pmg_block_lies(place, width, n_lanes) \
		       ? (type *) (uintptr_t) (from + first/width*place->block) : own; \
	} \
	static inline type *pmg_block_nontemporal_##name(int64_t width, const type *from, const pmg_place *place, \
						  int64_t first, int64_t n_lanes, int64_t rows) \
	{ \
		return place->is_nontemporal ? pmg_block_open_##name(NULL, width, from, place, first, n_lanes, rows) \
				       : NULL; \
	} \
	static inline type *pmg_block_keep_##name(type *own, int64_t width, const type *from, const pmg_place *place, \
						  int64_t first, int64_t n_lanes, int64_t rows) \
	{ \
		return place->is_nontemporal ? own : pmg_block_open_##name(own, width, from, place, first, n_lanes, \
				rows); \
	} \
	static inline type *pmg_block_take_##name(type *own, int64_t width, const type *from, const pmg_place *place, \
						  int64_t first, int64_t n_lanes, int64_t rows) \
	{ \
		if (!pmg_block_lies(place, width, n_lanes)) \
			pmg_block_read_##name(own, width, from + first/width*place->block, n_lanes, place->lane, rows, \
					      place->row); \
		return pmg_block_open_##name(own, width, from, place, first, n_lanes, rows); \
	} \
	static inline pmg_prefetch pmg_prefetch_block_##name(int64_t width, const type *from, const pmg_place *place, \
						       int64_t first, int64_t rows, int direction) \
	{ \
		const int64_t here = first/width*place->block, next = here + place->block; \
		const int64_t later = direction < 0 ? next + rows*width : next - rows*width; \
		const uintptr_t begin = (uintptr_t) from, size = sizeof(type); \
		if (pmg_lanes_have_runs(place, rows, width*(int64_t) size)) \
			return (pmg_prefetch) { begin + (uintptr_t) here*size, begin + (uintptr_t) next*size, \
					     (uintptr_t) place->lane*size, size, (uintptr_t) (width - 1) }; \
		return (pmg_prefetch) { begin + (uintptr_t) here*size, begin + (uintptr_t) later*size, 0, 0, 0 }; \
	} \
	static inline bool pmg_is_window_##name(int64_t width, const pmg_place *place, int64_t n_lanes, int64_t begin, \
						int64_t end, int64_t rows) \
	{ \
		return n_lanes == width && width % PMG_SQUARE_##NAME == 0 && place->row == 1 && \
		       end - begin <= PMG_ROWS && rows >= PMG_ROWS && PMG_ROWS % PMG_SQUARE_##NAME == 0; \
	} \
	static inline __attribute__((always_inline)) const type * \
	pmg_block_rows_##name(type *own, int64_t width, const type *from, const pmg_place *place, int64_t first, \
			      int64_t n_lanes, int64_t begin, int64_t end, int64_t ahead, int64_t rows) \
	{ \
		from += first/width*place->block; \
		if (pmg_block_lies(place, width, n_lanes)) \
			return from + begin*place->row; \
		if (place->is_memory_resident && ahead != PMG_NO_ROW) \
			pmg_prefetch_lanes(from, (int64_t) sizeof(type), place, n_lanes, ahead, rows, false); \
		if (!pmg_is_window_##name(width, place, n_lanes, begin, end, rows)) { \
			pmg_block_read_##name(own, width, from + begin*place->row, n_lanes, place->lane, end - begin, \
					      place->row); \
			return own; \
		} \
		const int64_t top = pmg_min_i64(begin, rows - PMG_ROWS); \
		pmg_squares_read_##name(own, width, from + top, width, place->lane, PMG_ROWS); \
		return own + (begin - top)*width; \
	} \
	static inline bool pmg_block_is_uneven_##name(int64_t width, const pmg_place *place, int64_t n_lanes) \
	{ \
		return pmg_block_is_nontemporal(place, width, n_lanes) && place->is_memory_resident && \
		       width % PMG_SQUARE_##NAME == 0 && place->lane*(int64_t) sizeof(type) % PMG_CACHE_LINE != 0; \
	} \
	static inline int64_t pmg_block_skew_##name(int64_t width, const type *to, const pmg_place *place, \
						    int64_t first, int64_t n_lanes) \
	{ \
		const bool are_alike = place->lane*(int64_t) sizeof(type) % PMG_CACHE_LINE == 0 && \
				       width % PMG_SQUARE_##NAME == 0; \
		const uintptr_t begin = (uintptr_t) (to + first/width*place->block); \
		return !pmg_block_is_nontemporal(place, width, n_lanes) || !are_alike ? PMG_NO_ROW \
		       : (int64_t) (begin % PMG_CACHE_LINE/sizeof(type)); \
	} \
	static inline bool pmg_block_joins_##name(int64_t width, const type *to, const pmg_place *place, \
						  int64_t first, int64_t n_lanes, int64_t rows) \
	{ \
		return !place->is_memory_resident && !pmg_block_is_nontemporal(place, width, n_lanes) && \
		       n_lanes >= PMG_SQUARE_##NAME && pmg_in_squares_##name(width, rows, place->row) > 0 && \
		       pmg_lanes_join_##name(to + first/width*place->block, place->lane); \
	} \
	static inline int64_t pmg_put_end_##name(int64_t begin, int64_t width, const type *to, const pmg_place *place, \
						 int64_t first, int64_t n_lanes, int64_t rows) \
	{ \
		const int64_t skew = pmg_block_skew_##name(width, to, place, first, n_lanes); \
		if (pmg_block_lies(place, width, n_lanes)) \
			return rows; \
		if (pmg_block_joins_##name(width, to, place, first, n_lanes, rows)) \
			return rows; \
		if (pmg_block_is_uneven_##name(width, place, n_lanes)) \
			return pmg_min_i64(begin + PMG_PUT_##NAME, rows); \
		if (skew == PMG_NO_ROW) \
			return pmg_min_i64(begin + PMG_ROWS, rows); \
		return pmg_min_i64((begin + skew)/PMG_PUT_##NAME*PMG_PUT_##NAME + PMG_PUT_##NAME - skew, rows); \
	} \
	static inline int64_t pmg_put_begin_##name(int64_t end, int64_t width, const type *to, const pmg_place *place, \
						   int64_t first, int64_t n_lanes) \
	{ \
		const int64_t skew = pmg_block_skew_##name(width, to, place, first, n_lanes); \
		if (pmg_block_lies(place, width, n_lanes) || !place->is_memory_resident) \
			return 0; \
		if (pmg_block_is_uneven_##name(width, place, n_lanes)) \
			return pmg_max_i64(end - PMG_PUT_##NAME, 0); \
		if (skew == PMG_NO_ROW) \
			return pmg_max_i64(end - PMG_ROWS, 0); \
		return pmg_max_i64((end - 1 + skew)/PMG_PUT_##NAME*PMG_PUT_##NAME - skew, 0); \
	} \
	static inline void pmg_block_put_rows_##name(const type *block, int64_t width, type *to, \
						     const pmg_place *place, int64_t first, int64_t n_lanes, \
						     int64_t begin, int64_t end, int64_t ahead, int64_t rows) \
	{ \
		const int64_t skew = pmg_block_skew_##name(width, to, place, first, n_lanes); \
		if (pmg_block_lies(place, width, n_lanes)) \
			return; \
		to += first/width*place->block; \
		if (pmg_block_is_uneven_##name(width, place, n_lanes)) { \
			pmg_uneven_write_##name(block, width, to, place->lane, begin, end, rows, ahead < begin); \
			return; \
		} \
		if (place->is_memory_resident && skew == PMG_NO_ROW) \
			pmg_prefetch_lanes(to, (int64_t) sizeof(type), place, n_lanes, ahead, rows, true); \
		if (skew == PMG_NO_ROW && pmg_is_window_##name(width, place, n_lanes, begin, end, rows)) { \
			const int64_t top = pmg_min_i64(begin, rows - PMG_ROWS); \
			pmg_squares_write_##name(block + top*width, width, to + top, width, place->lane, PMG_ROWS); \
			return; \
		} \
		block += begin*width; \
		to += begin*place->row; \
		if (skew != PMG_NO_ROW && end - begin == PMG_PUT_##NAME && (begin + skew) % PMG_PUT_##NAME == 0) \
			pmg_lines_stream_##name(block, width, to, place->lane); \
		else \
			pmg_block_write_##name(block, width, to, n_lanes, place->lane, end - begin, place->row); \
	} \
	static inline void pmg_block_put_##name(const type *block, int64_t width, type *to, const pmg_place *place, \
						int64_t first, int64_t n_lanes, int64_t rows) \
	{ \
		if (pmg_block_lies(place, width, n_lanes)) \
			return; \
		to += first/width*place->block; \
		if (pmg_block_is_nontemporal(place, width, n_lanes)) \
			pmg_block_stream_##name(block, width, to, place->lane, rows); \
		else \
			pmg_block_write_##name(block, width, to, n_lanes, place->lane, rows, place->row); \
	}
#ifdef __cplusplus
#define restrict __restrict__
#endif
PMG_UNEVEN_FUNCTIONS(double, f64, F64)
PMG_UNEVEN_FUNCTIONS(float, f32, F32)
PMG_BLOCK_FUNCTIONS(double, f64, F64)
PMG_BLOCK_FUNCTIONS(float, f32, F32)
PMG_PLACE_FUNCTIONS(double, f64, F64)
PMG_PLACE_FUNCTIONS(float, f32, F32)
#ifdef __cplusplus
#undef restrict
#endif
#endif

#endif
