/* SPDX-License-Identifier: MIT
 *
 * What the inspectors of restructurings find, computed in the plainest way: a stable sort by comparison, then one pass
 * over the points for each array. Chunks are of one thread. Any order of the segments is right: where the program gives
 * coordinates, that of the last value comes first. */
#include "ir/interp/interp_private.h"

#include <stdlib.h>

enum { MOST_CHUNKS = 256, PART_POINTS = 3 };

struct inspection {
	struct run *run;
	const struct restructuring *what;
	int64_t n, n_values;            /* points; values of the first key */
	int64_t *order;                 /* by new place: the caller's point */
	int64_t *starts;                /* by run: its first place; then n */
	int64_t n_runs;
};

/* The segment of a value of the first key, and the value of a segment. */
static int64_t place_of(const struct inspection *in, int64_t value)
{
	return in->what->coordinates ? in->n_values - 1 - value : value;
}

static int64_t key_of(const struct inspection *in, int key, int64_t point)
{
	int64_t value = slot_integer(&in->run->slots[in->what->keys.items[key]->number], point);

	return key ? value : place_of(in, value);
}

static int compare_keys(const struct inspection *in, int64_t a, int64_t b)
{
	for (int i = 0; i < in->what->keys.n; i++) {
		int64_t x = key_of(in, i, a), y = key_of(in, i, b);

		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

static int compare_points(const void *a, const void *b, void *user)
{
	const int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;
	int by_keys = compare_keys(user, x, y);

	return by_keys ? by_keys : x < y ? -1 : x > y;
}

static void find_order(struct inspection *in)
{
	in->order = arena_new_array(in->run->scratch, int64_t, in->n + 1);
	in->starts = arena_new_array(in->run->scratch, int64_t, in->n + 1);
	for (int64_t i = 0; i < in->n; i++)
		in->order[i] = i;
	qsort_r(in->order, (size_t) in->n, sizeof *in->order, compare_points, in);
	for (int64_t i = 0; i < in->n; i++)
		if (!i || compare_keys(in, in->order[i - 1], in->order[i]))
			in->starts[in->n_runs++] = i;
	in->starts[in->n_runs] = in->n;
}

static void fill_order(const struct inspection *in)
{
	struct slot *order = bind_inspected(in->run, in->what->order);

	for (int64_t s = 0; s < order->n; s++)
		slot_set_integer(order, s, place_of(in, s));
}

/* offsets[s] = the number of the places, or runs, of segments before s. */
static void fill_segments(const struct inspection *in)
{
	struct slot *segments = bind_inspected(in->run, in->what->segments);
	int64_t n = in->what->runs ? in->n_runs : in->n, at = 0;

	for (int64_t s = 0; s < segments->n; s++) {
		while (at < n && key_of(in, 0, in->order[in->what->runs ? in->starts[at] : at]) < s)
			at++;
		slot_set_integer(segments, s, at);
	}
}

static void fill_runs(const struct inspection *in)
{
	struct slot *runs = bind_inspected(in->run, in->what->runs);

	for (int64_t r = 0; r < runs->n; r++)
		slot_set_integer(runs, r, in->starts[r]);
}

/* The first place of segment s. */
static int64_t segment_begin(const struct inspection *in, int64_t s)
{
	int64_t at = slot_integer(&in->run->slots[in->what->segments->number], s);

	return in->what->runs ? in->starts[at] : at;
}

/* The border of segments nearest to place c * n / n_chunks. */
static void fill_chunks(const struct inspection *in)
{
	struct slot *chunks = bind_inspected(in->run, in->what->chunks);
	int64_t n_segments = in->run->slots[in->what->segments->number].n - 1, s = 0;

	for (int64_t c = 0; c < chunks->n; c++) {
		int64_t place = chunks->n > 1 ? in->n * c / (chunks->n - 1) : 0;

		while (s < n_segments && segment_begin(in, s + 1) <= place)
			s++;
		if (s < n_segments && segment_begin(in, s + 1) - place < place - segment_begin(in, s))
			s++;
		slot_set_integer(chunks, c, c == 0 ? 0 : c == chunks->n - 1 ? n_segments : s);
	}
}

static void fill_part(const struct inspection *in, int64_t s, int64_t part, int64_t begin, int64_t end)
{
	struct slot *slots = in->run->slots;

	slot_set_integer(&slots[in->what->part_values->number], part, place_of(in, s));
	slot_set_integer(&slots[in->what->part_begins->number], part, begin);
	slot_set_integer(&slots[in->what->part_ends->number], part, end);
}

/* The parts of segment s, one if it is empty, behind `part` others; the arrays are bound when all are counted. */
static int64_t fill_segment_parts(const struct inspection *in, int64_t s, int64_t part, bool is_counting)
{
	const struct slot *segments = &in->run->slots[in->what->segments->number];
	int64_t begin = slot_integer(segments, s), end = slot_integer(segments, s + 1);

	do {
		if (!is_counting)
			fill_part(in, s, part, begin, begin + PART_POINTS < end ? begin + PART_POINTS : end);
		begin += PART_POINTS;
		part++;
	} while (begin < end);
	return part;
}

static int64_t fill_parts(const struct inspection *in, bool is_counting)
{
	int64_t n_segments = in->run->slots[in->what->segments->number].n - 1, n = 0;

	for (int64_t s = 0; s < n_segments; s++)
		n = fill_segment_parts(in, s, n, is_counting);
	return n;
}

static void make_parts(const struct inspection *in)
{
	in->run->sizes[in->what->n_parts] = fill_parts(in, true);
	bind_inspected(in->run, in->what->part_values);
	bind_inspected(in->run, in->what->part_begins);
	bind_inspected(in->run, in->what->part_ends);
	fill_parts(in, false);
}

/* order[new] = old: by first use, then the others. */
static int64_t *fill_renumbering(const struct inspection *in, const struct renumbering *renumbering)
{
	struct slot *order = bind_inspected(in->run, renumbering->order);
	const struct slot *mode = &in->run->slots[renumbering->mode->number];
	int64_t *new_of = arena_new_array(in->run->scratch, int64_t, order->n + 1), n = 0;

	for (int64_t i = 0; i < in->n; i++) {
		int64_t old = slot_integer(mode, in->order[i]);

		if (!new_of[old]) {
			slot_set_integer(order, n, old);
			new_of[old] = ++n;
		}
	}
	for (int64_t old = 0; old < order->n; old++)
		if (!new_of[old]) {
			slot_set_integer(order, n, old);
			new_of[old] = ++n;
		}
	return new_of;
}

static void fill_copy(const struct inspection *in, const struct inspected_copy *copy, const int64_t *new_of)
{
	struct slot *to = bind_inspected(in->run, copy->to);
	const struct slot *from = copy->from ? &in->run->slots[copy->from->number] : NULL;
	int64_t n = copy->is_per_run ? in->n_runs : in->n;

	for (int64_t i = 0; i < n; i++) {
		int64_t point = in->order[copy->is_per_run ? in->starts[i] : i];

		if (from && type_is_float(from->type))
			slot_set_real(to, i, slot_real(from, point));
		else
			slot_set_integer(to, i, !from ? point : new_of ? new_of[slot_integer(from, point)] - 1
								       : slot_integer(from, point));
	}
}

static void fill_copies(const struct inspection *in)
{
	for (int i = 0; i < in->what->copies.n; i++) {
		const struct inspected_copy *copy = &in->what->copies.items[i];
		const int64_t *new_of = NULL;

		for (int r = 0; r < in->what->renumberings.n; r++)
			if (in->what->renumberings.items[r].mode == copy->from)
				new_of = fill_renumbering(in, &in->what->renumberings.items[r]);
		fill_copy(in, copy, new_of);
	}
}

static void set_count(struct run *run, int param, int64_t value)
{
	if (param >= 0)
		run->sizes[param] = value;
}

static void inspect(struct run *run, const struct restructuring *what)
{
	struct inspection in = { .run = run, .what = what };
	int64_t n_chunks = 1;

	in.n = eval_integer(run, compile_expr(run, what->n));
	in.n_values = eval_integer(run, compile_expr(run, what->keys.items[0]->limit));
	find_order(&in);
	set_count(run, what->n_runs, in.n_runs);
	if (!what->is_by_threads)
		n_chunks = in.n < MOST_CHUNKS ? in.n + 1 : MOST_CHUNKS;
	set_count(run, what->n_chunks, n_chunks);
	if (what->order)
		fill_order(&in);
	fill_segments(&in);
	if (what->runs)
		fill_runs(&in);
	if (what->chunks)
		fill_chunks(&in);
	if (what->part_values)
		make_parts(&in);
	fill_copies(&in);
}

void bind_restructurings(struct run *run)
{
	for (int i = 0; i < run->module->restructurings.n && run->stop == RUN_GOES; i++)
		inspect(run, &run->module->restructurings.items[i]);
}
