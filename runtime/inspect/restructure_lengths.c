/* SPDX-License-Identifier: MIT
 *
 * Runs of one segment, in the order of their lengths: a loop over the points of a run then ends after as many
 * iterations as the one before it, nearly always, which is what a processor expects. Of runs of one or two points each,
 * in random order, about every second one would cost a misprediction.
 *
 * Runs change places within windows of about BLOCK points, so that a window stays in the cache and long segments cost
 * no more than short ones. Within a run the points stay in their order, and so do runs of one length. */
#include "inspect/restructure.h"

#include <string.h>

/* Runs that follow each other in one segment. All of them begin within BLOCK points; the last may be longer. */
struct window {
	struct order *order;
	int64_t starts[BLOCK + 1];      /* of the runs; then where the last one ends */
	int64_t n_runs;
};

static int64_t length_class(int64_t length)
{
	return length < BLOCK ? length : BLOCK;
}

static void window_order(struct window *window)
{
	const uint64_t *points = window->order->points;
	const int64_t begin = window->starts[0], end = window->starts[window->n_runs];
	uint64_t *spare = window->order->spare;
	int64_t next[BLOCK + 2] = { 0 };

	for (int64_t run = 0; run < window->n_runs; run++) {
		const int64_t length = window->starts[run + 1] - window->starts[run];

		next[length_class(length) + 1] += length;
	}
	for (int64_t class = 1; class <= BLOCK; class++)
		next[class] += next[class - 1];
	for (int64_t run = 0; run < window->n_runs; run++) {
		const int64_t start = window->starts[run], length = window->starts[run + 1] - start;
		int64_t *to = &next[length_class(length)];

		memcpy(spare + begin + *to, points + start, (size_t) length * sizeof *spare);
		*to += length;
	}
	memcpy(window->order->points + begin, spare + begin, (size_t) (end - begin) * sizeof *spare);
}

/* A new run begins at `at`, or nothing does: the window is put in order. */
static void window_end(struct window *window, int64_t at)
{
	window->starts[window->n_runs] = at;
	if (window->n_runs > 1)
		window_order(window);
	window->n_runs = 0;
}

static void share_order(struct inspection *in, int64_t begin, int64_t end)
{
	struct window window = { .order = &in->order };
	int64_t segment = -1;

	for (int64_t i = begin; i < end; i++) {
		int64_t here;

		if (i > begin && !is_border(in, i))
			continue;
		here = segment_at(in, i);
		if (i > begin && (here != segment || i - window.starts[0] >= BLOCK))
			window_end(&window, i);
		segment = here;
		window.starts[window.n_runs++] = i;
	}
	if (begin < end)
		window_end(&window, end);
}

/* The first point from `i` on that begins a segment. */
static int64_t segment_from(const struct inspection *in, int64_t i)
{
	while (0 < i && i < in->order.n && segment_at(in, i) == segment_at(in, i - 1))
		i++;
	return i;
}

void runs_order(struct inspection *in)
{
	int64_t borders[PMG_MAX_SHARES + 1] = { 0 };

	for (int32_t s = 1; s <= in->n_shares; s++) {
		const int64_t begin = share_begin(in->order.n, in->n_shares, s);

		borders[s] = begin <= borders[s - 1] ? borders[s - 1] : segment_from(in, begin);
	}
	PARALLEL(in->n_shares, in->order.n, schedule(static))
	for (int32_t s = 0; s < in->n_shares; s++)
		share_order(in, borders[s], borders[s + 1]);
}
