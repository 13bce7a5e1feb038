/* SPDX-License-Identifier: MIT
 *
 * Parts of arrays, interleaved and back: every element at its place, for sizes around those of the squares that are
 * transposed in registers, systems that do not exist, and rows that do not lie next to each other. */
#include "runtime/check.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 19, MOST_LANES = 17, WIDTH = 64 };

struct part {
	int64_t width, n_lanes, distance, rows, row_distance;
};

/* One type's test: values are numbered, and what is not to be written is kept. */
#define ROUND_TRIP(name, type) \
	static bool round_trip_##name(const struct part *p) \
	{ \
		static type from[(MOST_ROWS + 3)*(MOST_LANES + 3)], to[(MOST_ROWS + 3)*(MOST_LANES + 3)]; \
		static type block[MOST_ROWS*WIDTH + 1]; \
		const size_t n = sizeof from / sizeof from[0]; \
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
		pmg_block_write_##name(block, p->width, to, p->n_lanes, p->distance, p->rows, p->row_distance); \
		for (int64_t row = 0; row < p->rows; row++) \
			for (int64_t lane = 0; lane < p->n_lanes; lane++) { \
				int64_t at = lane*p->distance + row*p->row_distance; \
				ok = ok && memcmp(&to[at], &from[at], sizeof(type)) == 0; \
				to[at] = -1; \
			} \
		for (size_t i = 0; i < n; i++) \
			ok = ok && to[i] < 0; \
		return ok; \
	}
ROUND_TRIP(f64, double)
ROUND_TRIP(f32, float)

/* Systems one behind the other, with a gap of `gap`, or their rows. */
static bool try_part(int64_t width, int64_t n_lanes, int64_t rows, int64_t gap)
{
	const struct part flat = { width, n_lanes, rows + gap, rows, 1 };
	const struct part full = { width, n_lanes, 1, rows, n_lanes + gap };

	return round_trip_f64(&flat) && round_trip_f32(&flat) && round_trip_f64(&full) && round_trip_f32(&full);
}

void test_blocks(struct tests *tests)
{
	for (int64_t width = 2; width <= WIDTH; width *= 2)
		for (int64_t n_lanes = 1; n_lanes <= width && n_lanes <= MOST_LANES; n_lanes++)
			for (int64_t rows = 0; rows <= MOST_ROWS; rows += 1 + (rows > 9))
				CHECK(tests, try_part(width, n_lanes, rows, rows % 3));
}
