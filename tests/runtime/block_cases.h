/* SPDX-License-Identifier: MIT
 *
 * Parts of arrays, interleaved and back: every element at its place, for sizes around those of the squares that are
 * transposed in registers, systems that do not exist, rows that do not lie next to each other, segments, and windows of
 * rows. The definition of BLOCK_TESTS for the instruction set of the file that includes this: no include guard. */
#include "runtime/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef BLOCK_BYTES
_Static_assert(PMG_VECTOR_BYTES == BLOCK_BYTES, "these are the vectors of another instruction set");
#endif

enum { MOST_ROWS = 37, MOST_LANES = 17, WIDTH = 64, MOST_GAP = 8, MOST_SKEW = 2 };

struct part {
	int64_t width, n_lanes, distance, rows, row_distance, skew;
};

/* One type's test: values are numbered, and what is not to be written is kept. */
#define ROUND_TRIP(name, type) \
	static bool round_trip_##name(const struct part *p) \
	{ \
		static type from[(MOST_ROWS + MOST_GAP)*(WIDTH + 3)]; \
		static _Alignas(64) type there[sizeof from/sizeof from[0] + MOST_SKEW]; \
		static type block[MOST_ROWS*WIDTH + 1]; \
		const size_t n = sizeof from / sizeof from[0]; \
		type *const to = there + p->skew; \
		bool ok = true; \
		for (size_t i = 0; i < n; i++) { \
			from[i] = (type) i; \
			to[i] = -1; \
		} \
		block[p->rows*p->width] = -2; \
		pmg_block_read_##name(block, p->width, from, p->n_lanes, p->distance, p->rows, p->row_distance); \
		for (int64_t row = 0; row < p->rows; row++) \
			for (int64_t lane = 0; lane < p->width; lane++) { \
				int64_t real = lane < p->n_lanes ? lane : p->n_lanes - 1; \
				int64_t at = real*p->distance + row*p->row_distance; \
				ok = ok && memcmp(&block[row*p->width + lane], &from[at], sizeof(type)) == 0; \
			} \
		ok = ok && block[p->rows*p->width] < -1; \
		for (int is_nontemporal = 0; is_nontemporal <= (p->row_distance == 1 && \
				p->n_lanes == p->width); is_nontemporal++) { \
			if (is_nontemporal) \
				pmg_block_stream_##name(block, p->width, to, p->distance, p->rows); \
			else \
				pmg_block_write_##name(block, p->width, to, p->n_lanes, p->distance, p->rows, \
						       p->row_distance); \
			for (int64_t row = 0; row < p->rows; row++) \
				for (int64_t lane = 0; lane < p->n_lanes; lane++) { \
					int64_t at = lane*p->distance + row*p->row_distance; \
					ok = ok && memcmp(&to[at], &from[at], sizeof(type)) == 0; \
					to[at] = -1; \
				} \
			for (size_t i = 0; i < n; i++) \
				ok = ok && to[i] < 0; \
		} \
		return ok; \
	}
ROUND_TRIP(f64, double)
ROUND_TRIP(f32, float)

/* Systems one behind the other, with a gap of `gap`, or their rows, `skew` values behind the begin of a vector. */
static bool try_part(int64_t width, int64_t n_lanes, int64_t rows, int64_t gap, int64_t skew)
{
	const struct part flat = { width, n_lanes, rows + gap, rows, 1, skew };
	const struct part full = { width, n_lanes, 1, rows, n_lanes + gap, skew };

	return round_trip_f64(&flat) && round_trip_f32(&flat) && round_trip_f64(&full) && round_trip_f32(&full);
}

enum { SEGMENTS = 11, ROOM = 800 };

/* Segments of lengths that follow from `seed`, up to `most` longer than `least`, longest first. */
static void lengths(int64_t seed, int64_t least, int64_t most, int64_t *offsets, int64_t *order)
{
	for (int64_t s = 0; s < SEGMENTS; s++)
		offsets[s + 1] = offsets[s] + least + (s*7 + seed)*(s + 3) % (most + 1);
	for (int64_t s = 0; s < SEGMENTS; s++) {
		int64_t at = s, rows = offsets[s + 1] - offsets[s];

		for (; at > 0 && offsets[order[at - 1] + 1] - offsets[order[at - 1]] < rows; at--)
			order[at] = order[at - 1];
		order[at] = s;
	}
}

/* Windows of a block, which ask ahead upwards or downwards, have its rows. */
#define WINDOWS_AGREE(name, type) \
	static bool windows_agree_##name(const type *block, int64_t width, const type *from, const int64_t *begin, \
					 const int64_t *rows, int64_t longest, int64_t first) \
	{ \
		static type own[PMG_ROWS*WIDTH]; \
		const pmg_place place = { .is_memory_resident = true }; \
		bool ok = true; \
		for (int64_t row = first, end; row < longest; row = end) { \
			const int64_t ahead = row + (row % 2 ? PMG_PREFETCH_WINDOW : -PMG_PREFETCH_WINDOW); \
			end = row + PMG_ROWS < longest ? row + PMG_ROWS : longest; \
			ok = ok && pmg_segments_rows_##name(own, width, from, &place, 0, begin, rows, longest, row, \
							    end, ahead, begin) == own && \
			     !memcmp(own, &block[row*width], (size_t) ((end - row)*width)*sizeof(type)); \
		} \
		return ok; \
	}
WINDOWS_AGREE(f64, double)
WINDOWS_AGREE(f32, float)

#define RAGGED_TRIP(name, type) \
	static bool ragged_trip_##name(const int64_t *offsets, const int64_t *order, int64_t width, int64_t n_lanes, \
				       bool is_nontemporal) \
	{ \
		static type from[ROOM], to[ROOM], block[ROOM*WIDTH]; \
		int64_t begins[WIDTH], rows_of[WIDTH], *begin = begins + WIDTH - width, \
			*rows = rows_of + WIDTH - width;        /* nothing behind the last lane may be read */ \
		int64_t longest = pmg_block_segments(offsets, order, width, n_lanes, begin, rows); \
		bool ok = longest == offsets[order[0] + 1] - offsets[order[0]]; \
		for (int64_t i = 0; i < ROOM; i++) { \
			from[i] = (type) (i + 1); \
			to[i] = -1; \
		} \
		block[longest*width] = -2; \
		pmg_ragged_read_##name(block, width, from, begin, rows, longest); \
		ok = ok && block[longest*width] < -1; \
		for (int64_t lane = 0; lane < width; lane++) \
			for (int64_t row = 0; row < longest; row++) \
				ok = ok && fabs((double) (block[row*width + lane] - \
						(row < rows[lane] ? from[begin[lane] + row] : 0))) < 0.5; \
		ok = ok && windows_agree_##name(block, width, from, begin, rows, longest, longest > 1) && \
		     windows_agree_##name(block, width, from, begin, rows, longest, 0); \
		pmg_ragged_write_##name(block, width, to, begin, rows, is_nontemporal); \
		for (int64_t s = 0; s < n_lanes; s++) \
			for (int64_t i = offsets[order[s]]; i < offsets[order[s] + 1]; i++) { \
				ok = ok && fabs((double) (to[i] - from[i])) < 0.5; \
				to[i] = -1; \
			} \
		for (int64_t i = 0; i < ROOM; i++) \
			ok = ok && to[i] < 0; \
		return ok; \
	}
RAGGED_TRIP(f64, double)
RAGGED_TRIP(f32, float)

static bool parents_are_rows(const int64_t *offsets, const int64_t *order)
{
	static int64_t parent[ROOM], block[ROOM*WIDTH];
	int64_t begin[WIDTH], rows[WIDTH], longest = pmg_block_segments(offsets, order, 4, 3, begin, rows);
	bool ok = true;

	for (int64_t s = 0; s < SEGMENTS; s++)
		for (int64_t i = offsets[s]; i < offsets[s + 1]; i++)
			parent[i] = i % 5 == 0 || i == offsets[s] ? -1 : i - 1;
	pmg_ragged_parents(block, 4, parent, begin, rows, longest);
	for (int64_t lane = 0; lane < 4; lane++)
		for (int64_t row = 0; row < longest; row++) {
			int64_t of = row < rows[lane] ? parent[begin[lane] + row] : -1;

			ok = ok && block[4*row + lane] == (of < 0 ? -1 : of - begin[lane]);
		}
	return ok;
}

static bool try_segments(const int64_t *offsets, const int64_t *order, bool is_nontemporal)
{
	bool ok = parents_are_rows(offsets, order);

	for (int64_t width = 2; width <= 16; width *= 2)
		for (int64_t n_lanes = 1; n_lanes <= width && n_lanes <= SEGMENTS; n_lanes++)
			ok = ok && ragged_trip_f64(offsets, order, width, n_lanes, is_nontemporal) &&
			     ragged_trip_f32(offsets, order, width, n_lanes, is_nontemporal);
	return ok;
}

static void test_ragged(struct tests *tests)
{
	for (int64_t seed = 0; seed < 6; seed++)
		for (int64_t least = 0; least <= 32; least += 16)
			for (int64_t most = 0; most < 30; most += 7) {
				int64_t offsets[SEGMENTS + 1] = { 0 }, order[SEGMENTS];

				lengths(seed, least, most, offsets, order);
				CHECK(tests, try_segments(offsets, order, (seed + most) % 2));
			}
}

/* What is written to an array that is too large for caches stays in a part of one's own, and goes to its place. */
static bool large_ones_are_kept(void)
{
	static double own[64], array[256];
	pmg_place place = { .block = 64, .row = 16, .lane = 1, .is_padded = true };
	bool ok = !pmg_block_nontemporal_f64(16, array, &place, 16, 3, 4) &&
		  pmg_block_keep_f64(own, 16, array, &place, 16, 3, 4) == &array[64];

	place.is_nontemporal = true;
	return ok && pmg_block_nontemporal_f64(16, array, &place, 16, 3, 4) == &array[64] &&
	       pmg_block_keep_f64(own, 16, array, &place, 16, 3, 4) == own;
}

/* A place that asks for later rows gives the same ones: upwards and downwards, of few rows, of the last block too. */
static bool asking_ahead_changes_nothing(int64_t n_rows, int64_t ahead)
{
	enum { MOST_AT_ALL = 60, N_LANES = 16 };
	static double own[PMG_ROWS*N_LANES], array[2*N_LANES*MOST_AT_ALL];
	const pmg_place place = { .block = N_LANES*n_rows, .row = 1, .lane = n_rows, .is_memory_resident = true };
	bool ok = true;

	for (int i = 0; i < 2*N_LANES*n_rows; i++)
		array[i] = i;
	for (int64_t at = 0; at < 2*n_rows; at++) {
		const int64_t first = at/n_rows*N_LANES, i = at%n_rows, begin = i/PMG_ROWS*PMG_ROWS;
		const int64_t end = begin + PMG_ROWS < n_rows ? begin + PMG_ROWS : n_rows;
		const double *rows = pmg_block_rows_f64(own, N_LANES, array, &place, first, N_LANES, begin, end,
							ahead == PMG_NO_ROW ? ahead : begin + ahead, n_rows);

		for (int64_t lane = 0; lane < N_LANES; lane++)
			ok = ok && (int64_t) rows[(i - begin)*N_LANES + lane] == (first + lane)*n_rows + i;
	}
	return ok;
}

/* Results go to their place window by window, upwards or downwards, past the caches or not, wherever lines begin: all
 * rows of the lanes that exist, none before it is made, and nothing else. Past the caches, windows end where lines do,
 * if those of all lanes are alike. */
struct put {
	int64_t width, n_lanes, rows, gap, skew;
	int direction;
	bool is_nontemporal;
};

enum { PUT_ROWS = 45, PUT_GAP = 8, PUT_WIDTH = 32, PUT_ROOM = 2*PUT_WIDTH*(PUT_ROWS + PUT_GAP) + 16 };

#define PUT(name, type) \
	static bool rows_are_left_##name(const struct put *p, const type *to, int64_t first, int64_t last) \
	{ \
		bool are = true; \
		for (int64_t lane = p->width; lane < p->width + p->n_lanes; lane++) \
			for (int64_t row = first; row < last; row++) \
				are = are && (int) to[lane*(p->rows + p->gap) + row] == -1; \
		return are; \
	} \
	static bool put_##name(const struct put *p) \
	{ \
		static _Alignas(64) type array[PUT_ROOM]; \
		static type block[PUT_ROWS*PUT_WIDTH]; \
		type *const to = &array[p->skew]; \
		const int64_t lane_rows = p->rows + p->gap, line = PMG_CACHE_LINE/(int64_t) sizeof(type); \
		const pmg_place place = { .block = p->width*lane_rows, .row = 1, .lane = lane_rows, \
					  .is_nontemporal = p->is_nontemporal, \
							.is_memory_resident = p->is_nontemporal }; \
		const bool is_nontemporal = p->is_nontemporal && p->n_lanes == p->width && \
				PMG_VECTOR_BYTES == PMG_CACHE_LINE && \
				     p->width % PMG_SQUARE == 0; \
		int64_t begin = 0, end = p->rows, n_put = 0; \
		bool ok = true; \
		for (int64_t i = 0; i < PUT_ROOM; i++) \
			array[i] = -1; \
		for (int64_t i = 0; i < p->rows*p->width; i++) \
			block[i] = -2; \
		while (n_put < p->rows) { \
			if (p->direction > 0) \
				end = pmg_put_end_##name(begin, p->width, to, &place, p->width, p->n_lanes, p->rows); \
			else \
				begin = pmg_put_begin_##name(end, p->width, to, &place, p->width, p->n_lanes); \
			ok = ok && 0 <= begin && begin < end && end <= p->rows; \
			if (is_nontemporal && lane_rows % line == 0 && end < p->rows) \
				ok = ok && (p->skew + p->width*lane_rows + end) % line == 0; \
			for (int64_t i = begin*p->width; i < end*p->width; i++) \
				block[i] = (type) (i + 1); \
			pmg_block_put_rows_##name(block, p->width, to, &place, p->width, p->n_lanes, begin, end, \
						  p->direction > 0 ? begin + PMG_PREFETCH_WINDOW \
								: end - PMG_PREFETCH_WINDOW, \
						  p->rows); \
			n_put += end - begin; \
			ok = ok && rows_are_left_##name(p, to, p->direction > 0 ? end : 0, \
							p->direction > 0 ? p->rows : begin); \
			*(p->direction > 0 ? &begin : &end) = p->direction > 0 ? end : begin; \
		} \
		for (int64_t lane = 0; lane < p->n_lanes; lane++) \
			for (int64_t row = 0; row < p->rows; row++) { \
				type *const cell = &to[(p->width + lane)*lane_rows + row]; \
				ok = ok && (int64_t) *cell == row*p->width + lane + 1; \
				*cell = -1; \
			} \
		for (int64_t i = 0; i < PUT_ROOM; i++) \
			ok = ok && array[i] < 0; \
		return ok && n_put == p->rows; \
	}
PUT(f64, double)
PUT(f32, float)

static bool try_puts(int64_t width, int64_t rows, int64_t gap)
{
	bool ok = true;

	for (int64_t skew = 0; skew < 16; skew += 1 + skew/3)
		for (int way = 0; way < 8; way++) {
			const struct put put = { width, way & 4 ? width - 1 : width, rows, gap, skew, way & 1 ? 1 : -1,
						 way & 2 };

			ok = ok && put_f64(&put) && put_f32(&put);
		}
	return ok;
}

/* Into how many windows rows go back upwards. */
static int64_t n_windows_up(const double *to, const pmg_place *place, int64_t width, int64_t n_lanes, int64_t rows)
{
	int64_t n = 0;

	for (int64_t begin = 0; begin < rows; n++)
		begin = pmg_put_end_f64(begin, width, to, place, 0, n_lanes, rows);
	return n;
}

/* Of n rows, downwards from memory: as few windows as there are lines. */
static int64_t n_windows(const double *to, const pmg_place *place, int64_t rows)
{
	int64_t n = 0;

	for (int64_t end = rows; end > 0; end = pmg_put_begin_f64(end, 8, to, place, 0, 8))
		n++;
	return n;
}

static bool windows_are_lines(void)
{
	static _Alignas(64) double array[16];
	pmg_place far = { .row = 1, .lane = 64, .is_nontemporal = true, .is_memory_resident = true }, near = far;

	near.is_memory_resident = near.is_nontemporal = false;
	return n_windows(array, &far, 64) == 8 && n_windows(array, &near, 64) == 1 &&
	       n_windows(&array[3], &far, 64) == (PMG_VECTOR_BYTES == PMG_CACHE_LINE ? 9 : 8);
}

/* Near results go back as a whole where vectors are joined for it: not if they lie as vectors do, have no squares or
 * too few lanes for one, or no vectors are joined. */
static bool joined_ones_are_whole(void)
{
	static _Alignas(64) double array[16];
	const pmg_place even = { .row = 1, .lane = 64 }, uneven = { .row = 1, .lane = 65 };
	const pmg_place strided = { .row = 100, .lane = 1 };
	const int64_t whole = PMG_JOINS ? 1 : 8;

	return n_windows_up(array, &even, 8, 8, 64) == 8 && n_windows_up(&array[2], &even, 8, 8, 64) == whole &&
	       n_windows_up(array, &uneven, 8, 8, 64) == whole && n_windows_up(array, &strided, 8, 8, 64) == 8 &&
	       n_windows_up(array, &uneven, 8, 1, 64) == 8;
}

void BLOCK_TESTS(struct tests *tests)
{
	CHECK(tests, joined_ones_are_whole());
	CHECK(tests, large_ones_are_kept());
	CHECK(tests, windows_are_lines());
	for (int64_t rows = 1; rows <= 60; rows += 1 + rows/3)
		CHECK(tests, asking_ahead_changes_nothing(rows, PMG_PREFETCH_WINDOW) &&
			     asking_ahead_changes_nothing(rows, -PMG_PREFETCH_WINDOW) &&
			     asking_ahead_changes_nothing(rows, PMG_NO_ROW));
	for (int64_t width = 4; width <= PUT_WIDTH; width *= 2)
		for (int64_t rows = 1; rows <= PUT_ROWS; rows += 1 + rows/8)
			CHECK(tests, try_puts(width, rows, 0) && try_puts(width, rows, 3) &&
				     try_puts(width, rows, PUT_GAP - rows % PUT_GAP));
	test_ragged(tests);
	for (int64_t width = 2; width <= WIDTH; width *= 2)
		for (int64_t n_lanes = 1; n_lanes <= width; n_lanes = n_lanes == MOST_LANES ? width : n_lanes + 1)
			for (int64_t rows = 0; rows <= MOST_ROWS; rows += 1 + (rows > 9 && rows < 31))
				CHECK(tests, try_part(width, n_lanes, rows, rows % 3, 0) &&
					     try_part(width, n_lanes, rows, -rows & 7, MOST_SKEW));
}
