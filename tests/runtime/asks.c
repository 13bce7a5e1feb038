/* SPDX-License-Identifier: MIT
 *
 * Rows that are asked for ahead: which blocks are, where their rows are taken to be, and which row each iteration asks
 * for, so that of all blocks but the first every row is asked for once, early enough. */
#include "runtime/check.h"

#include <string.h>

enum { N_LANES = 16, ROWS = 5, PART = N_LANES*ROWS + 8, MOST_ROWS = 5000, BYTES = 128, WHOLE_BLOCK = 1 << 16 };

static bool only_whole_blocks_are_far(void)
{
	pmg_place place = { .block = PART, .row = N_LANES, .lane = 1 };
	bool ok = pmg_block_prefetches(&place, N_LANES, N_LANES, ROWS, BYTES) == PMG_PREFETCH_NONE &&
		  pmg_segments_prefetches(&place, ROWS) == PMG_PREFETCH_NONE;

	place.is_memory_resident = true;
	ok = ok && pmg_block_prefetches(&place, N_LANES, N_LANES, ROWS, BYTES) == PMG_PREFETCH_ROWS &&
	     pmg_block_prefetches(&place, N_LANES, N_LANES - 1, ROWS, BYTES) == PMG_PREFETCH_NONE &&
	     pmg_block_prefetches(&place, 2*N_LANES, 2*N_LANES, ROWS, BYTES) == PMG_PREFETCH_NONE &&
	     pmg_segments_prefetches(&place, ROWS) == PMG_PREFETCH_ROWS &&
			pmg_segments_prefetches(&place, 0) == PMG_PREFETCH_NONE;
	place.lane = ROWS;
	return ok && pmg_block_prefetches(&place, N_LANES, N_LANES, ROWS, BYTES) == PMG_PREFETCH_NONE &&
	       pmg_segments_prefetches(&place, ROWS) == PMG_PREFETCH_NONE;
}

/* Lanes are, too, if the next block begins where these end; in runs, if it is too large to be there before its turn. */
static bool only_whole_lanes_are_far(void)
{
	const int64_t most = WHOLE_BLOCK/BYTES;
	pmg_place place = { .block = N_LANES*most, .row = 1, .lane = most, .is_memory_resident = true };
	bool ok = pmg_block_prefetches(&place, N_LANES, N_LANES, most, BYTES) == PMG_PREFETCH_LINES &&
		  pmg_block_prefetches(&place, N_LANES, N_LANES - 1, most, BYTES) == PMG_PREFETCH_NONE &&
		  pmg_block_prefetches(&place, N_LANES, N_LANES, most - 1, BYTES) == PMG_PREFETCH_NONE;

	place.is_memory_resident = false;
	ok = ok && pmg_block_prefetches(&place, N_LANES, N_LANES, most, BYTES) == PMG_PREFETCH_NONE;
	place = (pmg_place) { .block = N_LANES*(most + 1), .row = 1, .lane = most + 1, .is_memory_resident = true };
	return ok && pmg_block_prefetches(&place, N_LANES, N_LANES, most + 1, BYTES) == PMG_PREFETCH_RUNS &&
	       pmg_block_prefetches(&place, N_LANES, N_LANES - 1, most + 1, BYTES) == PMG_PREFETCH_NONE;
}

static bool segments_are_short_by_bytes(void)
{
	return pmg_segment_is_short(1023) && !pmg_segment_is_short(1024) && pmg_segment_is_short(0);
}

/* A window asks where its loop does not. */
static bool distances_follow(void)
{
	return pmg_prefetch_distance(PMG_PREFETCH_NONE, 100) == 0 &&
			pmg_prefetch_distance(PMG_PREFETCH_ROWS, 100) == PMG_PREFETCH_BLOCK &&
	       pmg_prefetch_distance(PMG_PREFETCH_ROWS, 60) == 30 &&
			pmg_prefetch_distance(PMG_PREFETCH_RUNS, 600) == PMG_PREFETCH_RUN &&
	       pmg_prefetch_distance(PMG_PREFETCH_LINES, 100) == 100 &&
			pmg_prefetch_distance(PMG_PREFETCH_FLAT & PMG_PREFETCH_ROWS, 100) == 0 &&
	       PMG_PREFETCH_FLAT == (PMG_PREFETCH_LINES | PMG_PREFETCH_RUNS) &&
	       pmg_prefetch_window_row(0, 48) == 48 && pmg_prefetch_window_row(75, 48) == PMG_NO_ROW;
}

/* Of windows, too: of one of the blocks behind this one, as far as there are rows between. */
static bool rows_are_found(void)
{
	const pmg_place place = { .block = PART, .row = N_LANES, .lane = 1 };
	bool ok = true;

	for (int64_t row = -2*ROWS; row < 3*ROWS; row++) {
		const int64_t inside = (row + 2*ROWS)%ROWS;
		const int64_t next = row < 0 ? (-row + ROWS - 1)/ROWS*PART : row/ROWS*PART;

		ok = ok && pmg_row_from(&place, row, ROWS) == next + inside*N_LANES;
	}
	return ok;
}

/* Rows before the first, or behind the last, are those of the block that lies behind this one. */
static bool rows_go_on(int direction)
{
	static const double array[3*PART];
	const pmg_place place = { .block = PART, .row = N_LANES, .lane = 1 };
	const pmg_prefetch asked = pmg_prefetch_block_f64(N_LANES, array, &place, N_LANES, ROWS, direction);
	const int64_t bytes = N_LANES*(int64_t) sizeof array[0];
	bool ok = !asked.lane;

	for (int64_t row = direction < 0 ? -ROWS : 0; row < (direction < 0 ? ROWS : 2*ROWS); row++) {
		const int64_t inside = (row + ROWS)%ROWS, block = row < 0 || row >= ROWS ? 2 : 1;

		ok = ok &&
				pmg_prefetch_address(&asked, row, ROWS,
						bytes) == (uintptr_t) &array[block*PART + inside*N_LANES];
	}
	return ok;
}

/* Lanes that are short, or blocks, have none; where a row is larger than a run, windows ask. */
static bool long_lanes_have_runs(void)
{
	static const float array[1];
	const int64_t most = WHOLE_BLOCK/64;
	const pmg_place lies = { .block = 32*most, .row = 16, .lane = 1 }, lanes = { .block = 16*most, .row = 1,
										     .lane = most };
	const pmg_place large = { .block = 64*256, .row = 1, .lane = 256, .is_memory_resident = true };

	return !pmg_prefetch_block_f32(16, array, &lies, 0, 2*most, 1).lane &&
	       !pmg_prefetch_block_f32(16, array, &lanes, 0, most, 1).lane &&
	       pmg_prefetch_block_f32(16, array, &lanes, 0, most + 1, 1).lane == (uintptr_t) most*sizeof array[0] &&
	       PMG_PREFETCH_RUN > PMG_RUN_BYTES/(int64_t) sizeof array[0] &&
	       pmg_block_prefetches(&large, 64, 64, 256, 64*8) == PMG_PREFETCH_NONE &&
	       pmg_block_prefetches(&large, 64, 64, 257, 64*4) == PMG_PREFETCH_NONE &&
	       pmg_block_prefetches(&large, 64, 64, 256, 64*4) == PMG_PREFETCH_LINES;
}

/* Of long lanes, rows stand for lines in runs of each lane in turn: all of a run's rows before the first of the next,
 * each line of a block once, whichever way the loop goes, and behind the last row, or before the first, the same of the
 * next block. */
static bool runs_go_on(int64_t width, int64_t rows, int direction)
{
	static const double array[WHOLE_BLOCK];
	const uintptr_t begin = (uintptr_t) array, block = (uintptr_t) (width*rows)*sizeof array[0];
	const pmg_place place = { .block = width*rows, .row = 1, .lane = rows, .is_memory_resident = true };
	const int64_t bytes = width*(int64_t) sizeof array[0], rows_of_run = PMG_RUN_BYTES/(int64_t) sizeof array[0];
	const pmg_prefetch asked = pmg_prefetch_block_f64(width, array, &place, width, rows, direction);
	static bool is_asked[WHOLE_BLOCK];
	bool ok = asked.lane;

	memset(is_asked, 0, sizeof is_asked);
	for (int64_t row = 0; row < rows; row++) {
		const uintptr_t from = pmg_prefetch_address(&asked, row, rows, bytes) - begin - block;

		ok = ok && from + (uintptr_t) bytes <= block &&
		     pmg_prefetch_address(&asked, row - rows, rows, bytes) == begin + 2*block + from &&
		     pmg_prefetch_address(&asked, row + rows, rows, bytes) == begin + 2*block + from;
		ok = ok && (int64_t) (from/sizeof array[0])%rows/rows_of_run == row/rows_of_run;
		for (uintptr_t at = from; ok && at < from + (uintptr_t) bytes; at += PMG_CACHE_LINE) {
			ok = !is_asked[at/PMG_CACHE_LINE];
			is_asked[at/PMG_CACHE_LINE] = true;
		}
	}
	return ok;
}

/* Trees of 7, 5, 5 and 3 nodes, in blocks of one for two threads that take one at a time: behind the first lies the
 * second one, but its thread takes the third next. */
static bool segments_go_on(void)
{
	static const double array[20];
	static const int64_t offsets[] = { 0, 5, 8, 15, 20 }, order[] = { 2, 0, 3, 1, 0, 7, 12, 17, 1 };
	const pmg_lying later = pmg_block_later(offsets, order, 4, 0, 1, 2);
	const pmg_lying last = pmg_block_later(offsets, order, 4, 2, 1, 2);
	const pmg_prefetch down = pmg_prefetch_segments_f64(1, array, 0, &later, 7, -1);
	const pmg_prefetch up = pmg_prefetch_segments_f64(1, array, 0, &later, 7, 1);

	return later.start == 12 && later.rows == 5 && last.start == 12 && last.rows == 5 &&
	       down.here == (uintptr_t) array && down.later == (uintptr_t) &array[17] &&
	       up.later + 7*sizeof array[0] == (uintptr_t) &array[12];
}

/* Which of 11 segments in blocks of two, for two threads that take two blocks in their turn, come next: 0 1 behind each
 * other, 4 5, and then 2 3 on the other thread. */
static bool turns_go_on(void)
{
	static const int64_t order[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 1, 2, 3, 4, 5, 2 };
	static const int64_t next[] = { 2, 8, 6, 12, 10, 16 };
	bool ok = pmg_turn(order, 11, 2) == 2;

	for (int64_t block = 0; block < 6; block++)
		ok = ok && pmg_next_first(order, 11, 2*block, 2, 2) == next[block];
	return ok && pmg_next_first(order, 11, 2, 2, 1) == 4;
}

/* All rows of the second and third block are asked for once, by the rows of the loops over the first three. */
static bool rows_are_asked_once(int64_t n, int far)
{
	static int times[5*MOST_ROWS];
	const int64_t ahead = pmg_prefetch_distance(far, n);
	bool ok = ahead <= n;

	memset(times, 0, sizeof times);
	for (int64_t row = 0; row < 3*n; row++)
		times[row + ahead]++;
	for (int64_t row = n; row < 3*n; row++)
		ok = ok && times[row] == 1;
	return ok;
}

void test_asks(struct tests *tests)
{
	CHECK(tests, only_whole_blocks_are_far());
	CHECK(tests, only_whole_lanes_are_far());
	CHECK(tests, distances_follow());
	CHECK(tests, segments_are_short_by_bytes());
	CHECK(tests, rows_are_found());
	CHECK(tests, rows_go_on(-1) && rows_go_on(1));
	CHECK(tests, runs_go_on(16, 544, 1) && runs_go_on(16, 2048, -1) && runs_go_on(8, 1056, 1) &&
		     runs_go_on(32, 288, -1));
	CHECK(tests, long_lanes_have_runs());
	CHECK(tests, segments_go_on());
	CHECK(tests, turns_go_on());
	for (int64_t n = 1; n <= MOST_ROWS; n += 1 + n/50*7)
		CHECK(tests, rows_are_asked_once(n, PMG_PREFETCH_ROWS) && rows_are_asked_once(n, PMG_PREFETCH_LINES));
	for (int64_t n = WHOLE_BLOCK/BYTES + 1; n <= MOST_ROWS; n += n/50*7)
		CHECK(tests, rows_are_asked_once(n, PMG_PREFETCH_RUNS));
}
