/* SPDX-License-Identifier: MIT
 *
 * The functions of pmgrt_block.h for one type of real numbers, read by pmgrt_each_real.h. */

/* ---- Lanes that begin at different places of a line ---- */

/* Where lanes begin at different places of a line, pmg_uneven_write_TYPE brings those lines of each lane that the rows
 * from `begin` to `end` make whole, and what is left at both ends: a loop that goes up has made all rows before `end`,
 * one that goes down all from `begin` on. pmg_line_at_TYPE is where the next line that it makes begins. */
static inline int64_t PMG_NAME(pmg_line_at)(const PMG_REAL *lane, int64_t row, bool is_down)
{
	const int64_t into = (int64_t) ((uintptr_t) (lane + row) % PMG_CACHE_LINE/sizeof(PMG_REAL));

	return row - into + (is_down && into > 0 ? PMG_MACRO(PMG_PUT) : 0);
}

static inline void PMG_NAME(pmg_uneven_rows)(const PMG_REAL *restrict block, int64_t width, PMG_REAL *restrict to,
					     int64_t distance, int64_t begin, int64_t end, int64_t rows,
					     bool is_down)
{
	for (int64_t lane = 0; lane < width; lane++) {
		PMG_REAL *const lane_rows = to + lane*distance;
		const int64_t first = begin > 0 ? PMG_NAME(pmg_line_at)(lane_rows, begin, is_down) : 0;
		const int64_t last = end < rows ? PMG_NAME(pmg_line_at)(lane_rows, end, is_down) : rows;
		for (int64_t row = first; row < last; row++)
			lane_rows[row] = block[row*width + lane];
	}
}

static inline void PMG_NAME(pmg_uneven_lines)(const PMG_REAL *restrict block, int64_t width, PMG_REAL *restrict to,
					      int64_t distance, int64_t begin, bool is_down)
{
	const int64_t top = is_down ? begin : begin - PMG_MACRO(PMG_PUT);

	for (int64_t lane = 0; lane < width; lane += PMG_SIDE) {
		PMG_REAL rows[PMG_SIDE][2*PMG_MACRO(PMG_PUT)];
		for (int64_t at = 0; at < 2*PMG_MACRO(PMG_PUT); at += PMG_SIDE) {
			PMG_LINE lines[PMG_SIDE];
			PMG_LINES_OF_BLOCK(lines, &block[(top + at)*width + lane], width)
			PMG_UNROLL
			for (int i = 0; i < PMG_SIDE; i++)
				*(PMG_LINE *) &rows[i][at] = lines[i];
		}
		for (int i = 0; i < PMG_SIDE; i++) {
			PMG_REAL *const lane_rows = to + (lane + i)*distance;
			const int64_t row = PMG_NAME(pmg_line_at)(lane_rows, begin, is_down);
			const PMG_REAL *const line = &rows[i][row - top];
			for (int64_t j = 0; j < PMG_MACRO(PMG_PUT); j += PMG_LANES(PMG_REAL))
				PMG_MACRO(PMG_STREAM)(lane_rows[row + j], PMG_MACRO(PMG_READ)(line[j]));
		}
	}
}

static inline void PMG_NAME(pmg_uneven_write)(const PMG_REAL *restrict block, int64_t width, PMG_REAL *restrict to,
					      int64_t distance, int64_t begin, int64_t end, int64_t rows,
					      bool is_down)
{
	const int64_t behind = is_down ? rows - end : begin, left = is_down ? begin : rows - end;

	if (end - begin == PMG_MACRO(PMG_PUT) && behind >= PMG_MACRO(PMG_PUT) && left > 0)
		PMG_NAME(pmg_uneven_lines)(block, width, to, distance, begin, is_down);
	else
		PMG_NAME(pmg_uneven_rows)(block, width, to, distance, begin, end, rows, is_down);
}

/* ---- Blocks from lanes, and back ---- */

/* pmg_block_read_TYPE(block, width, from, n_lanes, distance, rows, row_distance): block[row*width + lane] =
 * from[lane*distance + row*row_distance]; pmg_block_write_TYPE is the reverse, for the lanes that exist;
 * pmg_block_stream_TYPE the same non-temporally, of rows next to each other and all lanes, which pays if a vector is
 * a cache line. Rows that are left over at the end are part of a square, too, if there are enough for one: its other
 * rows are copied twice. Windows that are read are part of their loop, and so are the squares of whole ones, however
 * much else the file has: as calls, which gcc makes of them where there are many, they take up to 1.6 times as long. */
static inline int64_t PMG_NAME(pmg_in_squares)(int64_t width, int64_t rows, int64_t row_distance)
{
	return row_distance == 1 && width % PMG_SIDE == 0 ? rows/PMG_SIDE*PMG_SIDE : 0;
}

static inline bool PMG_NAME(pmg_lanes_join)(const PMG_REAL *to, int64_t distance)
{
	const bool is_even = distance % PMG_SIDE == 0;

	return PMG_JOINS && !(is_even && (uintptr_t) to % sizeof(PMG_LINE) == 0);
}

static inline __attribute__((always_inline)) void
PMG_NAME(pmg_squares_read)(PMG_REAL *restrict block, int64_t width, const PMG_REAL *restrict from, int64_t n_lanes,
			   int64_t distance, int64_t rows)
{
	for (int64_t lane = 0; lane < width; lane += PMG_SIDE)
		for (int64_t row = 0; row < rows; row += PMG_SIDE) {
			PMG_LINE lines[PMG_SIDE];
			if (lane + PMG_SIDE <= n_lanes) {
				PMG_LINES_OF_LANES(lines, &from[lane*distance + row], distance);
			} else {
				PMG_UNROLL
				for (int i = 0; i < PMG_SIDE; i++)
					lines[i] = *(const PMG_LINE *)
						&from[pmg_lane_place(lane + i, n_lanes, distance) + row];
			}
			PMG_MACRO(PMG_TRANSPOSE)(lines)
			PMG_UNROLL
			for (int i = 0; i < PMG_SIDE; i++)
				*(PMG_LINE *) &block[(row + i)*width + lane] = lines[i];
		}
}

static inline __attribute__((always_inline)) void
PMG_NAME(pmg_squares_write)(const PMG_REAL *restrict block, int64_t width, PMG_REAL *restrict to, int64_t n_lanes,
			    int64_t distance, int64_t rows)
{
	for (int64_t lane = 0; lane < n_lanes; lane += PMG_SIDE)
		for (int64_t row = 0; row < rows; row += PMG_SIDE) {
			PMG_LINE lines[PMG_SIDE];
			PMG_LINES_OF_BLOCK(lines, &block[row*width + lane], width)
			PMG_UNROLL
			for (int i = 0; i < PMG_SIDE; i++)
				if (lane + i < n_lanes)
					*(PMG_LINE *) &to[(lane + i)*distance + row] = lines[i];
		}
}

static inline void PMG_NAME(pmg_block_lanes_write)(const PMG_REAL *restrict block, int64_t width, PMG_REAL *restrict to,
						   int64_t n_lanes, int64_t distance, int64_t rows)
{
	const bool joins = PMG_NAME(pmg_lanes_join)(to, distance);
	int64_t begin[PMG_SIDE], lane = 0;

	for (; joins && lane + PMG_SIDE <= n_lanes; lane += PMG_SIDE) {
		for (int64_t i = 0; i < PMG_SIDE; i++)
			begin[i] = (lane + i)*distance;
		PMG_NAME(pmg_lanes_write)(&block[lane], width, to, begin, rows);
	}
	if (lane < n_lanes)
		PMG_NAME(pmg_squares_write)(&block[lane], width, to + lane*distance, n_lanes - lane, distance,
					    rows);
}

static inline void PMG_NAME(pmg_block_read)(PMG_REAL *restrict block, int64_t width, const PMG_REAL *restrict from,
					    int64_t n_lanes, int64_t distance, int64_t rows,
					    int64_t row_distance)
{
	const int64_t whole = PMG_NAME(pmg_in_squares)(width, rows, row_distance);
	const int64_t last = rows - PMG_SIDE;

	if (whole)
		PMG_NAME(pmg_squares_read)(block, width, from, n_lanes, distance, whole);
	if (whole && whole < rows)
		PMG_NAME(pmg_squares_read)(&block[last*width], width, from + last, n_lanes, distance,
					   PMG_SIDE);
	for (int64_t row = 0; row < rows && !whole; row++)
		for (int64_t lane = 0; lane < width; lane++)
			block[row*width + lane] = from[pmg_lane_place(lane, n_lanes, distance)
						       + row*row_distance];
}

static inline void PMG_NAME(pmg_block_write)(const PMG_REAL *restrict block, int64_t width, PMG_REAL *restrict to,
					     int64_t n_lanes, int64_t distance, int64_t rows,
					     int64_t row_distance)
{
	const int64_t whole = PMG_NAME(pmg_in_squares)(width, rows, row_distance);
	const int64_t last = rows - PMG_SIDE;

	if (whole)
		PMG_NAME(pmg_block_lanes_write)(block, width, to, n_lanes, distance, whole);
	if (whole && whole < rows)
		PMG_NAME(pmg_squares_write)(&block[last*width], width, to + last, n_lanes, distance,
					    PMG_SIDE);
	for (int64_t row = 0; row < rows && !whole; row++)
		for (int64_t lane = 0; lane < n_lanes; lane++)
			to[lane*distance + row*row_distance] = block[row*width + lane];
}

static inline void PMG_NAME(pmg_block_stream)(const PMG_REAL *restrict block, int64_t width, PMG_REAL *restrict to,
					      int64_t distance, int64_t rows)
{
	int64_t begin[PMG_SIDE], whole = 0;

	for (int64_t lane = 0; width % PMG_SIDE == 0 && lane < width; lane += PMG_SIDE) {
		for (int64_t i = 0; i < PMG_SIDE; i++)
			begin[i] = (lane + i)*distance;
		whole = PMG_NAME(pmg_runs_write)(&block[lane], width, to, begin, rows);
	}
	PMG_NAME(pmg_block_write)(&block[whole*width], width, to + whole, width, distance, rows - whole, 1);
}

/* ---- Blocks of arrays as the caller holds them ---- */

static inline PMG_REAL *PMG_NAME(pmg_block_open)(PMG_REAL *own, int64_t width, const PMG_REAL *from,
						 const pmg_place *place, int64_t first, int64_t n_lanes, int64_t rows)
{
	(void) rows;
	return pmg_block_lies(place, width, n_lanes)
	       ? (PMG_REAL *) (uintptr_t) (from + first/width*place->block) : own;
}

static inline PMG_REAL *PMG_NAME(pmg_block_nontemporal)(int64_t width, const PMG_REAL *from, const pmg_place *place,
							int64_t first, int64_t n_lanes, int64_t rows)
{
	return place->is_nontemporal ? PMG_NAME(pmg_block_open)(NULL, width, from, place, first, n_lanes, rows)
				     : NULL;
}

static inline PMG_REAL *PMG_NAME(pmg_block_keep)(PMG_REAL *own, int64_t width, const PMG_REAL *from,
						 const pmg_place *place, int64_t first, int64_t n_lanes, int64_t rows)
{
	return place->is_nontemporal ? own
				     : PMG_NAME(pmg_block_open)(own, width, from, place, first, n_lanes, rows);
}

static inline PMG_REAL *PMG_NAME(pmg_block_take)(PMG_REAL *own, int64_t width, const PMG_REAL *from,
						 const pmg_place *place, int64_t first, int64_t n_lanes, int64_t rows)
{
	if (!pmg_block_lies(place, width, n_lanes))
		PMG_NAME(pmg_block_read)(own, width, from + first/width*place->block, n_lanes, place->lane, rows,
					 place->row);
	return PMG_NAME(pmg_block_open)(own, width, from, place, first, n_lanes, rows);
}

static inline pmg_prefetch PMG_NAME(pmg_prefetch_block)(int64_t width, const PMG_REAL *from, const pmg_place *place,
							int64_t first, int64_t rows, int direction)
{
	const int64_t here = first/width*place->block, next = here + place->block;
	const int64_t later = direction < 0 ? next + rows*width : next - rows*width;
	const uintptr_t begin = (uintptr_t) from, size = sizeof(PMG_REAL);

	if (pmg_lanes_have_runs(place, rows, width*(int64_t) size))
		return (pmg_prefetch) { begin + (uintptr_t) here*size, begin + (uintptr_t) next*size,
					(uintptr_t) place->lane*size, size, (uintptr_t) (width - 1) };
	return (pmg_prefetch) { begin + (uintptr_t) here*size, begin + (uintptr_t) later*size, 0, 0, 0 };
}

static inline bool PMG_NAME(pmg_is_window)(int64_t width, const pmg_place *place, int64_t n_lanes, int64_t begin,
					   int64_t end, int64_t rows)
{
	return n_lanes == width && width % PMG_SIDE == 0 && place->row == 1 &&
	       end - begin <= PMG_ROWS && rows >= PMG_ROWS && PMG_ROWS % PMG_SIDE == 0;
}

static inline __attribute__((always_inline)) const PMG_REAL *
PMG_NAME(pmg_block_rows)(PMG_REAL *own, int64_t width, const PMG_REAL *from, const pmg_place *place, int64_t first,
			 int64_t n_lanes, int64_t begin, int64_t end, int64_t ahead, int64_t rows)
{
	from += first/width*place->block;
	if (pmg_block_lies(place, width, n_lanes))
		return from + begin*place->row;
	if (place->is_memory_resident && ahead != PMG_NO_ROW)
		pmg_prefetch_lanes(from, (int64_t) sizeof(PMG_REAL), place, n_lanes, ahead, rows, false);
	if (!PMG_NAME(pmg_is_window)(width, place, n_lanes, begin, end, rows)) {
		PMG_NAME(pmg_block_read)(own, width, from + begin*place->row, n_lanes, place->lane, end - begin,
					 place->row);
		return own;
	}
	const int64_t top = pmg_min_i64(begin, rows - PMG_ROWS);
	PMG_NAME(pmg_squares_read)(own, width, from + top, width, place->lane, PMG_ROWS);
	return own + (begin - top)*width;
}

static inline bool PMG_NAME(pmg_block_is_uneven)(int64_t width, const pmg_place *place, int64_t n_lanes)
{
	return pmg_block_is_nontemporal(place, width, n_lanes) && place->is_memory_resident &&
	       width % PMG_SIDE == 0 && place->lane*(int64_t) sizeof(PMG_REAL) % PMG_CACHE_LINE != 0;
}

static inline int64_t PMG_NAME(pmg_block_skew)(int64_t width, const PMG_REAL *to, const pmg_place *place,
					       int64_t first, int64_t n_lanes)
{
	const bool are_alike = place->lane*(int64_t) sizeof(PMG_REAL) % PMG_CACHE_LINE == 0 &&
			       width % PMG_SIDE == 0;
	const uintptr_t begin = (uintptr_t) (to + first/width*place->block);

	return !pmg_block_is_nontemporal(place, width, n_lanes) || !are_alike ? PMG_NO_ROW
	       : (int64_t) (begin % PMG_CACHE_LINE/sizeof(PMG_REAL));
}

static inline bool PMG_NAME(pmg_block_joins)(int64_t width, const PMG_REAL *to, const pmg_place *place,
					     int64_t first, int64_t n_lanes, int64_t rows)
{
	return !place->is_memory_resident && !pmg_block_is_nontemporal(place, width, n_lanes) &&
	       n_lanes >= PMG_SIDE && PMG_NAME(pmg_in_squares)(width, rows, place->row) > 0 &&
	       PMG_NAME(pmg_lanes_join)(to + first/width*place->block, place->lane);
}

static inline int64_t PMG_NAME(pmg_put_end)(int64_t begin, int64_t width, const PMG_REAL *to, const pmg_place *place,
					    int64_t first, int64_t n_lanes, int64_t rows)
{
	const int64_t skew = PMG_NAME(pmg_block_skew)(width, to, place, first, n_lanes);

	if (pmg_block_lies(place, width, n_lanes))
		return rows;
	if (PMG_NAME(pmg_block_joins)(width, to, place, first, n_lanes, rows))
		return rows;
	if (PMG_NAME(pmg_block_is_uneven)(width, place, n_lanes))
		return pmg_min_i64(begin + PMG_MACRO(PMG_PUT), rows);
	if (skew == PMG_NO_ROW)
		return pmg_min_i64(begin + PMG_ROWS, rows);
	return pmg_min_i64((begin + skew)/PMG_MACRO(PMG_PUT)*PMG_MACRO(PMG_PUT) + PMG_MACRO(PMG_PUT) - skew, rows);
}

static inline int64_t PMG_NAME(pmg_put_begin)(int64_t end, int64_t width, const PMG_REAL *to, const pmg_place *place,
					      int64_t first, int64_t n_lanes)
{
	const int64_t skew = PMG_NAME(pmg_block_skew)(width, to, place, first, n_lanes);

	if (pmg_block_lies(place, width, n_lanes) || !place->is_memory_resident)
		return 0;
	if (PMG_NAME(pmg_block_is_uneven)(width, place, n_lanes))
		return pmg_max_i64(end - PMG_MACRO(PMG_PUT), 0);
	if (skew == PMG_NO_ROW)
		return pmg_max_i64(end - PMG_ROWS, 0);
	return pmg_max_i64((end - 1 + skew)/PMG_MACRO(PMG_PUT)*PMG_MACRO(PMG_PUT) - skew, 0);
}

static inline void PMG_NAME(pmg_block_put_rows)(const PMG_REAL *block, int64_t width, PMG_REAL *to,
						const pmg_place *place, int64_t first, int64_t n_lanes,
						int64_t begin, int64_t end, int64_t ahead, int64_t rows)
{
	const int64_t skew = PMG_NAME(pmg_block_skew)(width, to, place, first, n_lanes);

	if (pmg_block_lies(place, width, n_lanes))
		return;
	to += first/width*place->block;
	if (PMG_NAME(pmg_block_is_uneven)(width, place, n_lanes)) {
		PMG_NAME(pmg_uneven_write)(block, width, to, place->lane, begin, end, rows, ahead < begin);
		return;
	}
	if (place->is_memory_resident && skew == PMG_NO_ROW)
		pmg_prefetch_lanes(to, (int64_t) sizeof(PMG_REAL), place, n_lanes, ahead, rows, true);
	if (skew == PMG_NO_ROW && PMG_NAME(pmg_is_window)(width, place, n_lanes, begin, end, rows)) {
		const int64_t top = pmg_min_i64(begin, rows - PMG_ROWS);
		PMG_NAME(pmg_squares_write)(block + top*width, width, to + top, width, place->lane, PMG_ROWS);
		return;
	}
	block += begin*width;
	to += begin*place->row;
	if (skew != PMG_NO_ROW && end - begin == PMG_MACRO(PMG_PUT) && (begin + skew) % PMG_MACRO(PMG_PUT) == 0)
		PMG_NAME(pmg_lines_stream)(block, width, to, place->lane);
	else
		PMG_NAME(pmg_block_write)(block, width, to, n_lanes, place->lane, end - begin, place->row);
}

static inline void PMG_NAME(pmg_block_put)(const PMG_REAL *block, int64_t width, PMG_REAL *to, const pmg_place *place,
					   int64_t first, int64_t n_lanes, int64_t rows)
{
	if (pmg_block_lies(place, width, n_lanes))
		return;
	to += first/width*place->block;
	if (pmg_block_is_nontemporal(place, width, n_lanes))
		PMG_NAME(pmg_block_stream)(block, width, to, place->lane, rows);
	else
		PMG_NAME(pmg_block_write)(block, width, to, n_lanes, place->lane, rows, place->row);
}
