/* SPDX-License-Identifier: MIT
 *
 * The functions of pmgrt_ragged.h for one type of real numbers, read by pmgrt_each_real.h. */

/* pmg_ragged_read_TYPE: block[row*width + lane] = from[begin[lane] + row]; pmg_ragged_write_TYPE is the reverse, past
 * the caches if `is_nontemporal`; pmg_ragged_rows_TYPE reads the rows from `row` to `end` only, and
 * pmg_ragged_window_TYPE PMG_ROWS that all lanes have. Lanes come the longest first.
 * A square has `n` rows, and is whole if all its lanes have all of PMG_SQUARE. What reads one is part of the loop
 * around it, which knows whether it is whole. What is read is hidden from the C compiler, as PMG_LINES_OF_LANES does
 * it: else it computes eight pointers ahead of each square, and spills them. */
static inline __attribute__((always_inline)) void
PMG_NAME(pmg_square_read)(PMG_REAL *restrict square, int64_t width, const PMG_REAL *restrict from,
			  const int64_t *begin, const int64_t *rows, int64_t row, int64_t n, bool is_whole)
{
	const pmg_ends ends = pmg_ends_of(rows, row);
	PMG_LINE lines[PMG_SIDE];

	from += row;
	__asm__ ("" : "+r" (from), "+r" (begin));
	PMG_UNROLL
	for (int i = 0; i < PMG_SIDE; i++)
		lines[i] = is_whole ? *(const PMG_LINE *) &from[begin[i]]
				    : PMG_NAME(pmg_line_read)(&from[begin[i]], ends, i);
	PMG_MACRO(PMG_TRANSPOSE)(lines)
	PMG_UNROLL
	for (int i = 0; i < PMG_SIDE; i++)
		if (is_whole || i < n)
			*(PMG_LINE *) &square[i*width] = lines[i];
}

static inline void PMG_NAME(pmg_square_write)(const PMG_REAL *restrict square, int64_t width, PMG_REAL *restrict to,
					      const int64_t *begin, const int64_t *rows, int64_t row, int64_t n)
{
	const pmg_ends ends = pmg_ends_of(rows, row);
	PMG_LINE lines[PMG_SIDE];

	PMG_UNROLL
	for (int i = 0; i < PMG_SIDE; i++)
		lines[i] = *(const PMG_LINE *) &square[(i < n ? i : n - 1)*width];
	PMG_MACRO(PMG_TRANSPOSE)(lines)
	PMG_UNROLL
	for (int i = 0; i < PMG_SIDE; i++)
		PMG_NAME(pmg_line_write)(&to[begin[i] + row], lines[i], ends, i);
}

static inline void PMG_NAME(pmg_ragged_rows)(PMG_REAL *restrict own, int64_t width, const PMG_REAL *restrict from,
					     const int64_t *begin, const int64_t *rows, int64_t row, int64_t end)
{
	const int64_t square = width % PMG_SIDE == 0 ? PMG_SIDE : 1;

	for (int64_t lane = 0; lane < width; lane += square) {
		const int64_t shortest = rows[lane + square - 1], whole = shortest < end ? shortest : end;
		int64_t at = row;
		for (; square > 1 && at + square <= whole; at += square)
			PMG_NAME(pmg_square_read)(&own[(at - row)*width + lane], width, from, &begin[lane],
						  &rows[lane], at, square, true);
		for (; square > 1 && at < end; at += square)
			PMG_NAME(pmg_square_read)(&own[(at - row)*width + lane], width, from, &begin[lane],
						  &rows[lane], at, end - at, false);
		for (; at < end; at++)
			own[(at - row)*width + lane] = at < rows[lane] ? from[begin[lane] + at] : 0;
	}
}

static inline __attribute__((always_inline)) void
PMG_NAME(pmg_ragged_window)(PMG_REAL *restrict own, int64_t width, const PMG_REAL *restrict from,
			    const int64_t *begin, const int64_t *rows, int64_t row)
{
	for (int64_t lane = 0; lane < width; lane += PMG_SIDE)
		for (int64_t at = 0; at < PMG_ROWS; at += PMG_SIDE)
			PMG_NAME(pmg_square_read)(&own[at*width + lane], width, from, &begin[lane], &rows[lane],
						  row + at, PMG_SIDE, true);
}

static inline void PMG_NAME(pmg_ragged_read)(PMG_REAL *restrict block, int64_t width, const PMG_REAL *restrict from,
					     const int64_t *begin, const int64_t *rows, int64_t longest)
{
	PMG_NAME(pmg_ragged_rows)(block, width, from, begin, rows, 0, longest);
}

static inline void PMG_NAME(pmg_ragged_write)(const PMG_REAL *restrict block, int64_t width, PMG_REAL *restrict to,
					      const int64_t *begin, const int64_t *rows, bool is_nontemporal)
{
	const int64_t square = width % PMG_SIDE == 0 ? PMG_SIDE : 1;

	for (int64_t lane = 0; lane < width; lane += square) {
		const int64_t shortest = pmg_shortest(&rows[lane], square);
		const int64_t longest = pmg_longest(&rows[lane], square);
		int64_t at = 0;
		if (square > 1 && is_nontemporal)
			at = PMG_NAME(pmg_runs_write)(&block[lane], width, to, &begin[lane], shortest);
		if (square > 1)
			at += PMG_NAME(pmg_lanes_write)(&block[at*width + lane], width, to + at, &begin[lane],
							shortest - at);
		for (; square > 1 && at < longest; at += square)
			PMG_NAME(pmg_square_write)(&block[at*width + lane], width, to, &begin[lane],
						   &rows[lane], at, longest - at);
		for (; at < longest; at++)
			to[begin[lane] + at] = block[at*width + lane];
	}
}

static inline PMG_REAL *PMG_NAME(pmg_segments_take)(PMG_REAL *own, int64_t width, const PMG_REAL *from,
						    const pmg_place *place, int64_t start, const int64_t *begin,
						    const int64_t *rows, int64_t longest)
{
	if (pmg_segments_lie(place, longest))
		return (PMG_REAL *) (uintptr_t) (from + start*width);
	PMG_NAME(pmg_ragged_read)(own, width, from, begin, rows, longest);
	return own;
}

static inline pmg_prefetch PMG_NAME(pmg_prefetch_segments)(int64_t width, const PMG_REAL *from, int64_t start,
							   const pmg_lying *later, int64_t rows, int direction)
{
	const uintptr_t row = (uintptr_t) width*sizeof(PMG_REAL), first = (uintptr_t) from;
	const int64_t next = later->start + (direction < 0 ? later->rows : -rows);

	return (pmg_prefetch) { first + (uintptr_t) start*row, first + (uintptr_t) next*row, 0, 0, 0 };
}

static inline const PMG_REAL *PMG_NAME(pmg_segments_rows)(PMG_REAL *own, int64_t width, const PMG_REAL *from,
							  const pmg_place *place, int64_t start,
							  const int64_t *begin, const int64_t *rows,
							  int64_t longest, int64_t row, int64_t end, int64_t ahead,
							  const int64_t *next)
{
	if (pmg_segments_lie(place, longest))
		return from + (start + row)*width;
	if (place->is_memory_resident)
		pmg_prefetch_segment_rows(from, (int64_t) sizeof(PMG_REAL), width, begin, longest, row, ahead,
					  next);
	if (end - row == PMG_ROWS && rows[width - 1] >= end && width % PMG_SIDE == 0)
		PMG_NAME(pmg_ragged_window)(own, width, from, begin, rows, row);
	else
		PMG_NAME(pmg_ragged_rows)(own, width, from, begin, rows, row, end);
	return own;
}

static inline PMG_REAL *PMG_NAME(pmg_segments_open)(PMG_REAL *own, int64_t width, PMG_REAL *to, const pmg_place *place,
						    int64_t start, int64_t longest)
{
	return pmg_segments_lie(place, longest) && !place->is_nontemporal ? to + start*width : own;
}

static inline PMG_REAL *PMG_NAME(pmg_segments_nontemporal)(int64_t width, PMG_REAL *to, const pmg_place *place,
							   int64_t start, int64_t longest)
{
	return pmg_segments_lie(place, longest) && place->is_nontemporal ? to + start*width : (PMG_REAL *) 0;
}

static inline void PMG_NAME(pmg_segments_put)(const PMG_REAL *block, int64_t width, PMG_REAL *to,
					      const pmg_place *place, int64_t start, const int64_t *begin,
					      const int64_t *rows, int64_t longest, bool is_nontemporal)
{
	PMG_REAL *const there = to + start*width;

	if (!pmg_segments_lie(place, longest))
		PMG_NAME(pmg_ragged_write)(block, width, to, begin, rows, is_nontemporal &&
					   !pmg_segment_is_short(longest*(int64_t) sizeof(PMG_REAL)));
	else if (block != there)
		for (int64_t i = 0; i < longest*width; i += PMG_LANES(PMG_REAL))
			PMG_MACRO(PMG_STREAM)(there[i], PMG_MACRO(PMG_READ)(block[i]));
}
