/* SPDX-License-Identifier: MIT
 *
 * Segments cut into parts (pmg_parts_desc of pmgrt_description.h). What decides on a GPU is how often a row that one
 * team reads is still in a cache because another has read it: segments whose points have nearly the same values of the
 * second key are to be near to each other. Where places are given, segments come along Hilbert's curve in space
 * (curves.c). Else the points of a segment lie in the order of the second key, and two of its quartiles are where a
 * segment lies on such a curve; but first, segments go to slabs by their own number, since what is near in
 * space often has near numbers. Without a second key they stay in their order. Teams that begin together are to end
 * together, too: in a neighbourhood, segments come by length, and those of nearly the same length again by place. The
 * last neighbourhood is as large as what a device works on in some turns, so that short segments fill the time until
 * the last long one ends. A segment without points has one part without points: so each segment is somebody's. */
#include "inspect/restructure.h"

#include <stdlib.h>

enum { SLABS = 8, CURVE_BITS = 13 };
enum { NEIGHBOURHOOD = 1024, PEERS = 128 };     /* segments; those of nearly the same length */
enum { LAST_SHARE = 8, LAST_LEAST = 4096 };     /* an eighth of all, or so many, is the last one, at least */

struct segment {
	int64_t slab, place;            /* on the curve */
	int64_t number, begin, n, n_parts;
};

int64_t partition_bytes(int64_t n_values)
{
	return (n_values + 1) * (int64_t) sizeof(struct segment);
}

static int by_place(const void *one, const void *other)
{
	const struct segment *a = one, *b = other;

	if (a->slab != b->slab)
		return a->slab < b->slab ? -1 : 1;
	return a->place != b->place ? (a->place < b->place ? -1 : 1) : a->number < b->number ? -1 : 1;
}

static int64_t part_length(const struct segment *segment)
{
	return segment->n / segment->n_parts;
}

static int by_length(const void *one, const void *other)
{
	const struct segment *a = one, *b = other;

	if (part_length(a) != part_length(b))
		return part_length(a) > part_length(b) ? -1 : 1;
	return by_place(one, other);
}

static void sort_each(struct segment *segments, int64_t n, int64_t each, int (*compare)(const void *, const void *))
{
	for (int64_t i = 0; i < n; i += each)
		qsort(segments + i, (size_t) (n - i < each ? n - i : each), sizeof *segments, compare);
}

static void order_segments(struct segment *segments, int64_t n)
{
	const int64_t least = n / LAST_SHARE > LAST_LEAST ? n / LAST_SHARE : LAST_LEAST;
	const int64_t before = n > least ? (n - least) / NEIGHBOURHOOD * NEIGHBOURHOOD : 0, last = n - before;

	sort_each(segments, n, n, by_place);
	sort_each(segments, before, NEIGHBOURHOOD, by_length);
	sort_each(segments + before, last, last, by_length);
	sort_each(segments, n, PEERS, by_place);
}

/* The second key of the point at `part` quarters of the segment, one or three, for the curve; 0 of an empty one. */
static uint32_t quartile(const struct inspection *in, const struct segment *segment, int64_t part)
{
	const int64_t limit = array_limit(&in->plan->desc->arrays[in->desc->keys[1]], in->plan->extents);
	const int64_t key = segment->n == 0 ? 0
			  : in->quartiles ? in->quartiles[2 * segment->number + part / 2]
			  : key_at(in, 1, segment->begin + segment->n * part / 4);
	const double share = (double) key / (double) limit;

	return (uint32_t) (share * (1 << CURVE_BITS));
}

/* The first point of segment s. */
static int64_t begin_of(const struct inspection *in, const struct elements *offsets, int64_t s)
{
	int64_t begin;

	if (in->begins)
		return in->begins[s];
	elements_read(offsets, s, 1, &begin);
	return begin;
}

/* Does the caller say where segments are? */
static bool has_places(const struct inspection *in)
{
	const struct plan *plan = in->plan;
	const pmg_places_desc *places = in->desc->places;

	return places && !argument_is_left_out(&plan->desc->arrays[places->coordinates],
					       &plan->bindings[places->coordinates].buffer);
}

static void segments_place_in_space(const struct inspection *in, struct segment *segments)
{
	const int32_t coordinates = in->desc->places->coordinates;
	const struct plan *plan = in->plan;
	const pmg_buffer places = array_dense(&plan->desc->arrays[coordinates], plan->extents,
					      plan->kernel.data[coordinates]);
	const struct grid grid = grid_of(&places);

	PARALLEL(plan->kernel.threads, in->n_values, schedule(static))
	for (int64_t s = 0; s < in->n_values; s++)
		segments[s].place = grid_hilbert(&grid, segment_value(in, s));
}

static void segments_place_by_key(const struct inspection *in, struct segment *segments)
{
	for (int64_t s = 0; s < in->n_values; s++) {
		uint32_t point[] = { quartile(in, &segments[s], 1), quartile(in, &segments[s], 3) };

		segments[s].slab = s * SLABS / in->n_values;
		segments[s].place = hilbert_place(point, 2, CURVE_BITS);
	}
}

static int64_t warps_of(const struct segment *segment)
{
	return (segment->n + PMG_WARP_LANES - 1) / PMG_WARP_LANES;
}

/* Where part i begins, and the one before ends. */
static int64_t part_begin(const struct segment *segment, int64_t i)
{
	const int64_t at = warps_of(segment) * i / segment->n_parts * PMG_WARP_LANES;

	return segment->begin + (at < segment->n ? at : segment->n);
}

/* All segments, and how many parts these have. */
static int64_t segments_collect(const struct inspection *in, struct segment *segments)
{
	const struct elements offsets = in->begins ? (struct elements) { 0 }
				      : array_values(in->plan, in->desc->segments);
	const int64_t warps = part_points(in->order.n, in->plan->kernel.device_teams) / PMG_WARP_LANES;
	int64_t n_parts = 0, begin = 0;

	for (int64_t s = 0; s < in->n_values; s++) {
		struct segment segment = { .number = s, .begin = begin };

		begin = begin_of(in, &offsets, s + 1);
		segment.n = begin - segment.begin;
		segment.n_parts = segment.n > 0 ? (warps_of(&segment) + warps - 1) / warps : 1;
		segments[s] = segment;
		n_parts += segment.n_parts;
	}
	if (has_places(in))
		segments_place_in_space(in, segments);
	else if (in->desc->n_keys > 1)
		segments_place_by_key(in, segments);
	return n_parts;
}

static pmg_status parts_allocate(const struct inspection *in, int64_t n_parts)
{
	const pmg_parts_desc *parts = in->desc->parts;
	const int64_t greatest = in->order.n + PMG_PART_POINTS; /* teams count beyond the end, by their lanes */
	pmg_status status = inspected_new(in->plan, parts->values, n_parts, in->n_values);

	if (status == PMG_OK)
		status = inspected_new(in->plan, parts->begins, n_parts, greatest);
	if (status == PMG_OK)
		status = inspected_new(in->plan, parts->ends, n_parts, greatest);
	return status;
}

static void parts_write(const struct inspection *in, const struct segment *segments)
{
	const struct elements values = array_values(in->plan, in->desc->parts->values);
	const struct elements begins = array_values(in->plan, in->desc->parts->begins);
	const struct elements ends = array_values(in->plan, in->desc->parts->ends);
	int64_t part = 0;

	for (int64_t s = 0; s < in->n_values; s++) {
		const int64_t value = segment_value(in, segments[s].number);

		for (int64_t i = 0; i < segments[s].n_parts; i++, part++) {
			const int64_t begin = part_begin(&segments[s], i), end = part_begin(&segments[s], i + 1);

			elements_write(&values, part, 1, &value);
			elements_write(&begins, part, 1, &begin);
			elements_write(&ends, part, 1, &end);
		}
	}
}

pmg_status parts_make(struct inspection *in)
{
	const int64_t bytes = partition_bytes(in->n_values);
	struct segment *segments = plan_allocate(in->plan, bytes);
	int64_t n_parts;
	pmg_status status;

	if (!segments)
		return PMG_NO_RESOURCES;
	n_parts = segments_collect(in, segments);
	order_segments(segments, in->n_values);
	in->plan->sizes[in->desc->parts->n_parts] = n_parts;
	status = parts_allocate(in, n_parts);
	if (status == PMG_OK)
		parts_write(in, segments);
	plan_release(in->plan, segments, bytes);
	return status;
}
