/* SPDX-License-Identifier: MIT
 *
 * The functions of pmgrt_square.h for one type of real numbers, read by pmgrt_each_real.h. */

/* In the caches, as many rows of PMG_SQUARE lanes as make whole squares, to[begin[lane] + row], and their number. A
 * vector that lies in two cache lines takes as long as several that do not: where two vectors can be joined, the last
 * values of one and the first of the next, all but the first and the last of a lane are written where vectors lie. */
#if PMG_JOINS
static inline int64_t PMG_NAME(pmg_lanes_write)(const PMG_REAL *restrict block, int64_t width, PMG_REAL *restrict to,
						const int64_t *begin, int64_t rows)
{
	const int64_t whole = rows/PMG_SIDE*PMG_SIDE;
	PMG_LINE before[PMG_SIDE], lines[PMG_SIDE];
	PMG_NAME(pmg_places) from[PMG_SIDE];
	PMG_REAL *at[PMG_SIDE];

	if (whole == 0)
		return 0;
	PMG_LINES_OF_BLOCK(before, block, width)
	PMG_UNROLL
	for (int i = 0; i < PMG_SIDE; i++) {
		const uintptr_t into = (uintptr_t) &to[begin[i]] % sizeof lines[0]/sizeof(PMG_REAL);
		*(PMG_LINE *) &to[begin[i]] = before[i];
		at[i] = &to[begin[i]] - into;
		from[i] = (PMG_NAME(pmg_places)) PMG_ALL_OF_SECOND - (PMG_NUMBER) into;
	}
	for (int64_t row = PMG_SIDE; row < whole; row += PMG_SIDE) {
		PMG_LINES_OF_BLOCK(lines, &block[row*width], width)
		PMG_UNROLL
		for (int i = 0; i < PMG_SIDE; i++) {
			*(PMG_LINE *) &at[i][row] = PMG_MACRO(PMG_JOIN)(before[i], lines[i], from[i]);
			before[i] = lines[i];
		}
	}
	PMG_UNROLL
	for (int i = 0; i < PMG_SIDE; i++)
		*(PMG_LINE *) &to[begin[i] + whole - PMG_SIDE] = before[i];
	return whole;
}
#else
static inline int64_t PMG_NAME(pmg_lanes_write)(const PMG_REAL *restrict block, int64_t width, PMG_REAL *restrict to,
						const int64_t *begin, int64_t rows)
{
	const int64_t whole = rows/PMG_SIDE*PMG_SIDE;

	for (int64_t row = 0; row < whole; row += PMG_SIDE) {
		PMG_LINE lines[PMG_SIDE];
		PMG_LINES_OF_BLOCK(lines, &block[row*width], width)
		PMG_UNROLL
		for (int i = 0; i < PMG_SIDE; i++)
			*(PMG_LINE *) &to[begin[i] + row] = lines[i];
	}
	return whole;
}
#endif

/* Past the caches, where rows begin anywhere in a vector. Rows of a lane on their way to memory stand in a run that
 * begins where their vector does, `before` values ahead of them. Those behind its last whole vector move to the front,
 * for the next one (pmg_run_write_TYPE). pmg_runs_write_TYPE brings as many rows of PMG_SQUARE lanes as make whole
 * runs, to[begin[lane] + row], and gives their number; pmg_lines_stream_TYPE PMG_PUT_TYPE rows of all lanes, which are
 * a line of each. */
static inline void PMG_NAME(pmg_run_write)(PMG_REAL *restrict run, int64_t before, PMG_REAL *restrict to, int64_t at)
{
	int64_t i = 0;

	if (before)
		for (i = before; i < PMG_LANES(PMG_REAL); i++)
			to[at + i] = run[i];
	for (; i < PMG_RUN; i += PMG_LANES(PMG_REAL))
		PMG_MACRO(PMG_STREAM)(to[at + i], PMG_MACRO(PMG_READ)(run[i]));
	PMG_MACRO(PMG_WRITE)(run[0]) = PMG_MACRO(PMG_READ)(run[PMG_RUN]);
}

static inline void PMG_NAME(pmg_lines_stream)(const PMG_REAL *restrict block, int64_t width, PMG_REAL *restrict to,
					      int64_t distance)
{
	for (int64_t lane = 0; lane < width; lane += PMG_SIDE) {
		PMG_REAL rows[PMG_SIDE][PMG_MACRO(PMG_PUT)];
		for (int64_t first = 0; first < PMG_MACRO(PMG_PUT); first += PMG_SIDE) {
			PMG_LINE lines[PMG_SIDE];
			PMG_LINES_OF_BLOCK(lines, &block[first*width + lane], width)
			PMG_UNROLL
			for (int i = 0; i < PMG_SIDE; i++)
				*(PMG_LINE *) &rows[i][first] = lines[i];
		}
		PMG_UNROLL
		for (int i = 0; i < PMG_SIDE; i++)
			for (int64_t j = 0; j < PMG_MACRO(PMG_PUT); j += PMG_LANES(PMG_REAL))
				PMG_MACRO(PMG_STREAM)(to[(lane + i)*distance + j], PMG_MACRO(PMG_READ)(rows[i][j]));
	}
}

static inline int64_t PMG_NAME(pmg_runs_write)(const PMG_REAL *restrict block, int64_t width, PMG_REAL *restrict to,
					       const int64_t *begin, int64_t shortest)
{
	const int64_t whole = shortest/PMG_RUN*PMG_RUN;
	PMG_REAL runs[PMG_SIDE][PMG_RUN + PMG_VECTOR_BYTES/sizeof(PMG_REAL)];
	int64_t before[PMG_SIDE];

	for (int i = 0; i < PMG_SIDE; i++)
		before[i] = (int64_t) ((uintptr_t) &to[begin[i]] % PMG_VECTOR_BYTES/sizeof(PMG_REAL));
	for (int64_t row = 0; row < whole; row += PMG_RUN) {
		for (int64_t first = 0; first < PMG_RUN; first += PMG_SIDE) {
			PMG_LINE lines[PMG_SIDE];
			PMG_LINES_OF_BLOCK(lines, &block[(row + first)*width], width)
			PMG_UNROLL
			for (int i = 0; i < PMG_SIDE; i++)
				*(PMG_LINE *) &runs[i][before[i] + first] = lines[i];
		}
		for (int i = 0; i < PMG_SIDE; i++)
			PMG_NAME(pmg_run_write)(runs[i], row ? 0 : before[i], to, begin[i] - before[i] + row);
	}
	for (int i = 0; whole && i < PMG_SIDE; i++)
		for (int64_t j = 0; j < before[i]; j++)
			to[begin[i] + whole - before[i] + j] = runs[i][j];
	return whole;
}
