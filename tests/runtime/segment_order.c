/* SPDX-License-Identifier: MIT
 *
 * In which order blocks take segments, of any lengths: stretches of neighbours, each the longest first; how much is
 * padded; how many rows there may be; and which thread takes which blocks. */
#include "plan/plan.h"
#include "runtime/check.h"

#include <stdlib.h>

enum { MOST = 5000, WIDTH = 16 };

struct segments {
	int64_t n, longest, stretch;
	int64_t offsets[MOST + 1], order[MOST], spare[MOST];
};

enum kind { EQUAL, EVEN, WIDE, RISING, FEW_LONG, EMPTY, N_KINDS };

static int64_t length_of(enum kind kind, int64_t n, int64_t i)
{
	const int64_t lengths[N_KINDS] = {
		[EQUAL] = 40, [EVEN] = 64 + rand()%65, [WIDE] = rand()%1000, [RISING] = 100 + 400*i/n,
		[FEW_LONG] = rand()%100 ? 1 + rand()%20 : 3000
	};

	return lengths[kind];
}

static void draw(struct segments *s, enum kind kind, int64_t n)
{
	s->n = n;
	s->longest = 0;
	for (int64_t i = 0; i < n; i++) {
		const int64_t rows = length_of(kind, n, i);

		s->offsets[i + 1] = s->offsets[i] + rows;
		s->longest = rows > s->longest ? rows : s->longest;
	}
	s->stretch = segments_sort(s->offsets, n, s->order, s->spare);
}

static int64_t rows_of(const struct segments *s, int64_t segment)
{
	return s->offsets[segment + 1] - s->offsets[segment];
}

/* Every segment once, in its stretch, behind longer ones and those of its length with smaller numbers. */
static bool is_in_order(const struct segments *s)
{
	bool is = s->stretch % SEGMENTS_STRETCH == 0;

	for (int64_t i = 0; i < s->n; i++) {
		const int64_t before = i % s->stretch > 0 ? rows_of(s, s->order[i - 1]) : INT64_MAX;
		const int64_t rows = rows_of(s, s->order[i]);

		is = is && s->order[i]/s->stretch == i/s->stretch &&
		     (rows < before || (rows == before && s->order[i] > s->order[i - 1]));
	}
	return is;
}

static int by_length(const void *a, const void *b)
{
	return (*(const int64_t *) a < *(const int64_t *) b) - (*(const int64_t *) a > *(const int64_t *) b);
}

/* The rows of blocks of WIDTH, all segments being sorted as a whole. */
static int64_t least_rows(const struct segments *s)
{
	static int64_t lengths[MOST];
	int64_t rows = 0;

	for (int64_t i = 0; i < s->n; i++)
		lengths[i] = rows_of(s, i);
	qsort(lengths, (size_t) s->n, sizeof lengths[0], by_length);
	for (int64_t i = 0; i < s->n; i += WIDTH)
		rows += lengths[i];
	return rows;
}

/* In blocks of all widths, but not far more than is needed in those that kernels have by themselves. */
static bool has_room(const struct segments *s)
{
	bool has = true;

	for (int64_t width = 1; width <= SEGMENTS_STRETCH; width *= 2) {
		const int64_t rows = segments_rows(s->offsets, s->order, s->n, width);
		const int64_t most = segments_most_rows(s->offsets[s->n], s->n, s->longest, width);

		has = has && rows <= most && (width > 32 || most <= 2*rows + s->longest);
	}
	return has;
}

static struct segment_shares shares_in(const struct segments *s, int64_t threads)
{
	return (struct segment_shares) { s->offsets, s->order, s->n, s->stretch, WIDTH, threads };
}

/* No thread has more than a sixteenth above its share of the rows, or blocks are taken one at a time. */
static bool is_dealt_evenly(const struct segments *s, int64_t threads)
{
	const struct segment_shares shares = shares_in(s, threads);
	const int64_t turn = segments_turn(&shares), share = segments_rows(s->offsets, s->order, s->n, WIDTH)/threads;
	int64_t rows[MOST] = { 0 };
	bool is = turn >= 1;

	for (int64_t i = 0; i < s->n; i += WIDTH)
		rows[i/WIDTH/turn % threads] += rows_of(s, s->order[i]);
	for (int64_t thread = 0; thread < threads; thread++)
		is = is && (turn == 1 || rows[thread] <= share + share/16);
	return is;
}

static void test_all_kinds(struct tests *tests, struct segments *s)
{
	static const int64_t counts[] = { 0, 1, 17, 255, 256, 257, 1024, 3001, MOST };

	for (enum kind kind = EQUAL; kind < N_KINDS; kind++)
		for (size_t n = 0; n < sizeof counts/sizeof counts[0]; n++) {
			draw(s, kind, counts[n]);
			CHECK(tests, is_in_order(s));
			CHECK(tests, segments_rows(s->offsets, s->order, s->n, WIDTH) <= least_rows(s)*33/32);
			CHECK(tests, has_room(s));
			for (int64_t threads = 1; threads <= 16; threads += threads < 4 ? 1 : 4)
				CHECK(tests, is_dealt_evenly(s, threads));
		}
}

static int64_t turn_of(const struct segments *s, int64_t threads)
{
	const struct segment_shares shares = shares_in(s, threads);

	return segments_turn(&shares);
}

/* Sizes of which nothing is known but that they can be. */
static void test_largest(struct tests *tests)
{
	const int64_t n = (int64_t) 1 << 40;

	for (int64_t width = 1; width <= SEGMENTS_STRETCH; width *= 2) {
		const int64_t rows = segments_most_rows(n, 1 << 24, n, width);

		CHECK(tests, rows >= n && rows <= 3*n);
	}
}

/* Lengths of one kind everywhere are sorted in short stretches, which threads have to themselves; where long segments
 * are few, all are sorted; where those of one stretch are much longer than those of another, threads share them. */
static void test_choices(struct tests *tests, struct segments *s)
{
	draw(s, EVEN, 4096);
	CHECK(tests, s->stretch == SEGMENTS_STRETCH && turn_of(s, 2) == SEGMENTS_STRETCH/WIDTH);
	draw(s, EVEN, 512);
	CHECK(tests, s->stretch == SEGMENTS_STRETCH && turn_of(s, 2) == SEGMENTS_STRETCH/WIDTH);
	CHECK(tests, turn_of(s, 1) == SEGMENTS_STRETCH/WIDTH && turn_of(s, 16) < SEGMENTS_STRETCH/WIDTH);
	draw(s, FEW_LONG, 4096);
	CHECK(tests, s->stretch > SEGMENTS_STRETCH);
	draw(s, RISING, 512);
	CHECK(tests, s->stretch == SEGMENTS_STRETCH && turn_of(s, 2) < SEGMENTS_STRETCH/WIDTH);
}

void test_segment_order(struct tests *tests)
{
	struct segments *s = calloc(1, sizeof *s);

	CHECK(tests, s != NULL);
	if (!s)
		return;
	test_all_kinds(tests, s);
	test_choices(tests, s);
	test_largest(tests);
	free(s);
}
