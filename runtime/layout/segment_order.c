/* SPDX-License-Identifier: MIT
 *
 * The order in which blocks take the segments of offsets: stretches of neighbours, in each the longest first. So the
 * segments of a block are about equally long, and where a thread takes all blocks of a stretch, it alone writes there,
 * as segments begin and end anywhere in a cache line. The order follows from the offsets. */
#include "plan/plan.h"

#include <string.h>

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

/* ---- Stretches ---- */

/* One digit of how much shorter a segment is than the longest. */
static int digit_of(const int64_t *offsets, int64_t segment, int64_t longest, int shift)
{
	return (int) ((longest - segment_length(offsets, segment)) >> shift & (DIGITS - 1));
}

/* order[0..n]: the segments from `first` on. */
static void stretch_sort(const int64_t *offsets, int64_t first, int64_t n, int64_t *order, int64_t *spare)
{
	int64_t longest = 0, *from = order, *to = spare;

	for (int64_t i = 0; i < n; i++) {
		order[i] = first + i;
		longest = segment_length(offsets, first + i) > longest ? segment_length(offsets, first + i) : longest;
	}
	for (int shift = 0; longest >> shift > 0; shift += DIGIT_BITS) {
		int64_t begin[DIGITS + 1] = { 0 }, *sorted = to;

		for (int64_t i = 0; i < n; i++)
			begin[digit_of(offsets, from[i], longest, shift) + 1]++;
		for (int d = 0; d < DIGITS; d++)
			begin[d + 1] += begin[d];
		for (int64_t i = 0; i < n; i++)
			to[begin[digit_of(offsets, from[i], longest, shift)]++] = from[i];
		to = from;
		from = sorted;
	}
	if (from != order)
		memcpy(order, from, (size_t) n * sizeof *order);
}

int64_t segments_rows(const int64_t *offsets, const int64_t *order, int64_t n, int64_t width)
{
	int64_t rows = 0;

	for (int64_t first = 0; first < n; first += width)
		rows += segment_length(offsets, order[first]);
	return rows;
}

/* Returns the rows of all blocks. */
static int64_t sort_in(const int64_t *offsets, int64_t n, int64_t stretch, int64_t *order, int64_t *spare)
{
	for (int64_t first = 0; first < n; first += stretch)
		stretch_sort(offsets, first, n - first < stretch ? n - first : stretch, order + first, spare);
	return segments_rows(offsets, order, n, SEGMENTS_MEASURED);
}

int64_t segments_sort(const int64_t *offsets, int64_t n, int64_t *order, int64_t *spare)
{
	const int64_t whole = (n / SEGMENTS_STRETCH + 1) * SEGMENTS_STRETCH;
	const int64_t least = sort_in(offsets, n, whole, order, spare);

	for (int64_t stretch = SEGMENTS_STRETCH; stretch < n; stretch *= 4)
		if (sort_in(offsets, n, stretch, order, spare) <= least + least / SEGMENTS_PADDING)
			return stretch;
	if (n > SEGMENTS_STRETCH)
		sort_in(offsets, n, whole, order, spare);
	return whole;
}

static int64_t least_of(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Of blocks in one order of length, all but the first have no more rows than a mean segment of the block before, in a
 * stretch as in the whole. Of narrower blocks than are measured, each has at most the rows of the one that it is in,
 * and those of one together its rows and a mean segment's of each; wider blocks begin as measured ones do. */
int64_t segments_most_rows(int64_t n_elements, int64_t n_segments, int64_t longest, int64_t width)
{
	const int64_t n_stretches = n_segments / SEGMENTS_STRETCH + 1;
	int64_t rows = n_elements / SEGMENTS_MEASURED + longest, wide;

	if (n_segments <= SEGMENTS_STRETCH)
		return n_elements / width + longest;
	rows += rows / SEGMENTS_PADDING;
	if (width <= SEGMENTS_MEASURED)
		return least_of(rows * (SEGMENTS_MEASURED / width), rows + n_elements / width);
	wide = rows / (width / SEGMENTS_MEASURED);
	return longest > (rows - wide) / n_stretches ? rows : wide + n_stretches * longest;
}

/* ---- Blocks ---- */

void segment_starts(const int64_t *offsets, const int64_t *order, int64_t n, int64_t width, int64_t *starts)
{
	int64_t rows = 0;

	for (int64_t first = 0; first < n; first += width) {
		*starts++ = rows;
		rows += segment_length(offsets, order[first]);
	}
}

/* The rows of the blocks that a thread takes. */
static int64_t rows_taken(const struct segment_shares *shares, int64_t turn, int64_t thread)
{
	const int64_t step = shares->width * turn;
	int64_t rows = 0;

	for (int64_t begin = thread * step; begin < shares->n; begin += shares->threads * step) {
		const int64_t left = shares->n - begin;

		rows += segments_rows(shares->offsets, shares->order + begin, left < step ? left : step,
				      shares->width);
	}
	return rows;
}

/* No thread has more than a sixteenth above its share. */
static bool is_even(const struct segment_shares *shares, int64_t turn, int64_t rows)
{
	const int64_t share = rows / shares->threads, most = share + share / 16;
	bool is = true;

	for (int64_t thread = 0; thread < shares->threads && is; thread++)
		is = rows_taken(shares, turn, thread) <= most;
	return is;
}

int64_t segments_turn(const struct segment_shares *shares)
{
	const int64_t rows = segments_rows(shares->offsets, shares->order, shares->n, shares->width);
	int64_t turn = shares->stretch / shares->width;

	while (turn > 1 && !is_even(shares, turn, rows))
		turn /= 2;
	return turn;
}
