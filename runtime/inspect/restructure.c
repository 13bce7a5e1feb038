/* SPDX-License-Identifier: MIT
 *
 * The inspector of restructurings (thesis of K. Aggarwal, IISc 2020, 4.1.2 and 4.2.1.2): sorts the points by their
 * keys, finds where segments and runs begin, cuts segments into chunks, and lets the copies and new numbers be made.
 *
 * While it works, `order` is the only temporary that is as long as the points: 16 bytes a point during the sort, then
 * 8, and those become the last 8-byte copy if there is one. Threads share the points in equal parts; what a part
 * writes depends on counts of the parts before it only, so that the result does not depend on the number of threads. */
#include "inspect/restructure.h"

#include <string.h>

/* ---- Arrays ---- */

struct elements array_values(const struct plan *plan, int32_t number)
{
	const pmg_array_desc *array = &plan->desc->arrays[number];
	void *data = plan->kernel.data[number];

	if (!data)
		return elements_of(&plan->bindings[number].buffer);
	return elements_dense(data, array->role == PMG_INSPECTED ? inspected_type(array, plan->extents)
								 : array_kept_type(array));
}

pmg_status inspected_fail(const struct plan *plan, int32_t number, int64_t greatest)
{
	const pmg_array_desc *array = &plan->desc->arrays[number];

	return pmg_fail(plan->context, STATUS_TOO_NARROW, "array '%s' is %s, which cannot hold %lld%s (%s)",
			array->name, pmg_type_name(array->type), (long long) greatest,
			array->n_factors > 0 ? ": leave out 'premultiply'" : "", array->place);
}

void inspected_take(struct plan *plan, int32_t number, int64_t n, void *memory)
{
	const pmg_type type = inspected_type(&plan->desc->arrays[number], plan->extents);
	const int64_t used = n * (int64_t) pmg_type_size(type), bytes = inspected_bytes(type, n);

	memset((char *) memory + used, 0, (size_t) (bytes - used));
	plan->bindings[number].own = memory;
	plan->bindings[number].own_bytes = bytes;
	plan->kernel.data[number] = memory;
}

pmg_status inspected_new(struct plan *plan, int32_t number, int64_t n, int64_t greatest)
{
	const pmg_type type = inspected_type(&plan->desc->arrays[number], plan->extents);
	void *memory;

	if (__builtin_mul_overflow(greatest, inspected_factor(&plan->desc->arrays[number], plan->extents), &greatest))
		greatest = INT64_MAX;
	if (element_is_integer(type) && greatest > 0 && !type_holds(type, greatest))
		return inspected_fail(plan, number, greatest);
	memory = plan_allocate(plan, inspected_bytes(type, n));
	if (!memory)
		return PMG_NO_RESOURCES;
	inspected_take(plan, number, n, memory);
	return PMG_OK;
}

void inspected_set(const struct plan *plan, int32_t number, int64_t n, const int64_t *values)
{
	const struct elements elements = array_values(plan, number);
	const int64_t factor = inspected_factor(&plan->desc->arrays[number], plan->extents);

	for (int64_t first = 0; first < n; first += BLOCK) {
		const int64_t in_block = block_size(first, n);
		int64_t kept[BLOCK];

		for (int64_t i = 0; i < in_block; i++)
			kept[i] = factor * values[first + i];
		elements_write(&elements, first, in_block, kept);
	}
}

/* ---- Order ---- */

static pmg_status places_inspect(struct inspection *in)
{
	struct plan *plan = in->plan;
	const pmg_places_desc *places = in->desc->places;
	const pmg_array_desc *array = &plan->desc->arrays[places->coordinates];
	const pmg_buffer buffer = array_dense(array, plan->extents, plan->kernel.data[places->coordinates]);
	const int64_t bytes = morton_bytes(in->n_values, plan->kernel.threads);
	pmg_status status = PMG_OK;
	int64_t *memory;

	if (places->values >= 0)
		status = inspected_new(plan, places->values, in->n_values, in->n_values - 1);

	if (status != PMG_OK)
		return status;
	in->rank = plan_allocate(plan, rank_bytes(in->n_values));
	memory = in->rank ? plan_allocate(plan, bytes) : NULL;
	if (!memory)
		return PMG_NO_RESOURCES;
	morton_order(&buffer, plan->kernel.threads, memory, in->rank + in->n_values, in->rank);
	plan_release(plan, memory, bytes);
	if (places->values >= 0)
		inspected_set(plan, places->values, in->n_values, in->rank + in->n_values);
	return PMG_OK;
}

static void keys_set(struct inspection *in)
{
	for (int32_t k = 0; k < in->desc->n_keys; k++) {
		const int32_t number = in->desc->keys[k];

		in->keys[k].values = array_values(in->plan, number);
		in->keys[k].bits = bits_of(array_limit(&in->plan->desc->arrays[number], in->plan->extents));
	}
	in->keys[0].rank = in->rank;
	in->order.keys = in->keys;
	in->order.n_keys = in->desc->n_keys;
}

static pmg_status points_sort(struct inspection *in)
{
	struct plan *plan = in->plan;
	const int64_t bytes = sort_counts(in->order.n, plan->kernel.threads) * (int64_t) sizeof(int64_t);
	int64_t *counts;

	keys_set(in);
	in->order.points = plan_allocate(plan, in->order_bytes);
	in->order.spare = in->order.points ? plan_allocate(plan, in->order_bytes) : NULL;
	counts = in->order.spare ? plan_allocate(plan, bytes) : NULL;
	if (!counts)
		return PMG_NO_RESOURCES;
	order_sort(&in->order, counts, plan->kernel.threads);
	plan_release(plan, counts, bytes);
	in->is_told = order_tells(&in->order, 0, &in->shift, &in->mask);
	if (has_runs(in))
		runs_order(in);
	plan_release(plan, in->order.spare, in->order_bytes);
	in->order.spare = NULL;
	return PMG_OK;
}

/* ---- Segments and runs ---- */

int64_t key_at(const struct inspection *in, int key, int64_t i)
{
	const struct sort_key *source = &in->keys[key];
	int64_t at, value;

	order_points(&in->order, i, 1, &at);
	elements_gather(&source->values, &at, 1, &value);
	return source->rank ? source->rank[value] : value;
}

int64_t segment_at(const struct inspection *in, int64_t i)
{
	return in->is_told ? (int64_t) (in->order.points[i] >> in->shift & in->mask) : key_at(in, 0, i);
}

static bool words_differ(const struct inspection *in, int64_t i)
{
	return (in->order.points[i] ^ in->order.points[i - 1]) >> in->order.index_bits != 0;
}

bool is_border(const struct inspection *in, int64_t i)
{
	if (words_differ(in, i))
		return true;
	for (int key = in->desc->n_keys - 1; in->order.low > 0 && key >= 0; key--)
		if (key_at(in, key, i) != key_at(in, key, i - 1))
			return true;
	return false;
}

static int64_t share_count(const struct inspection *in, int32_t share)
{
	const int64_t end = share_begin(in->order.n, in->n_shares, share + 1);
	const int64_t begin = share_begin(in->order.n, in->n_shares, share), first = begin > 0 ? begin : 1;
	int64_t n = begin == 0 && end > 0;

	if (in->order.low > 0)
		for (int64_t i = first; i < end; i++)
			n += is_border(in, i);
	else
		for (int64_t i = first; i < end; i++)
			n += words_differ(in, i);
	return n;
}

/* What one share writes of runs and segments. */
struct borders {
	const struct inspection *in;
	struct elements runs, segments;
	int64_t run;                            /* begins next */
	int64_t segment;                        /* of the last point */
	int64_t starts[BLOCK], n_starts;        /* of the runs before `run` that are not written yet */
};

static void starts_write(struct borders *borders)
{
	elements_write(&borders->runs, borders->run - borders->n_starts, borders->n_starts, borders->starts);
	borders->n_starts = 0;
}

/* Segments up to `segment` begin at `offset`, as far as they have not begun. */
static void segments_begin(struct borders *borders, int64_t segment, int64_t offset)
{
	for (int64_t s = borders->segment + 1; s <= segment; s++)
		elements_write(&borders->segments, s, 1, &offset);
	borders->segment = segment;
}

static void run_begin(struct borders *borders, int64_t i)
{
	const struct inspection *in = borders->in;

	const int64_t segment = segment_at(in, i);

	if (segment != borders->segment && in->desc->segments >= 0)
		segments_begin(borders, segment, has_runs(in) ? borders->run : i);
	borders->run++;
	if (!has_runs(in))
		return;
	borders->starts[borders->n_starts++] = i;
	if (borders->n_starts == BLOCK)
		starts_write(borders);
}

static void share_borders(const struct inspection *in, int32_t share, int64_t run)
{
	const int64_t begin = share_begin(in->order.n, in->n_shares, share);
	const int64_t end = share_begin(in->order.n, in->n_shares, share + 1);
	struct borders borders = { .in = in, .run = run, .segment = begin == 0 ? -1 : segment_at(in, begin - 1) };

	if (in->desc->segments >= 0)
		borders.segments = array_values(in->plan, in->desc->segments);
	if (has_runs(in))
		borders.runs = array_values(in->plan, in->desc->runs);
	for (int64_t i = begin; i < end; i++)
		if (i == 0 || is_border(in, i))
			run_begin(&borders, i);
	if (end == in->order.n && has_runs(in)) {
		borders.starts[borders.n_starts++] = in->order.n;
		borders.run++;
	}
	if (has_runs(in))
		starts_write(&borders);
	if (end == in->order.n && in->desc->segments >= 0)
		segments_begin(&borders, in->n_values, has_runs(in) ? in->n_runs : in->order.n);
}

static pmg_status borders_allocate(const struct inspection *in)
{
	pmg_status status = PMG_OK;

	if (has_runs(in))
		status = inspected_new(in->plan, in->desc->runs, in->n_runs + 1, in->order.n);
	if (status == PMG_OK && in->desc->segments >= 0)
		status = inspected_new(in->plan, in->desc->segments, in->n_values + 1,
				       has_runs(in) ? in->n_runs : in->order.n);
	return status;
}

static pmg_status borders_make(struct inspection *in)
{
	int64_t first[PMG_MAX_SHARES + 1] = { 0 };
	pmg_status status;

	if (in->desc->segments < 0 && !has_runs(in) && in->desc->n_runs < 0)
		return PMG_OK;
	PARALLEL(in->n_shares, in->order.n, schedule(static))
	for (int32_t s = 0; s < in->n_shares; s++)
		first[s + 1] = share_count(in, s);
	for (int32_t s = 0; s < in->n_shares; s++)
		first[s + 1] += first[s];
	in->n_runs = first[in->n_shares];
	status = borders_allocate(in);
	if (status != PMG_OK)
		return status;
	PARALLEL(in->n_shares, in->order.n, schedule(static))
	for (int32_t s = 0; s < in->n_shares; s++)
		share_borders(in, s, first[s]);
	return PMG_OK;
}

/* ---- Chunks ---- */

/* The first point of a segment. */
static int64_t segment_point(const struct inspection *in, int64_t segment)
{
	const struct elements segments = array_values(in->plan, in->desc->segments);
	int64_t begin;

	elements_read(&segments, segment, 1, &begin);
	if (has_runs(in)) {
		const struct elements runs = array_values(in->plan, in->desc->runs);

		elements_read(&runs, begin, 1, &begin);
	}
	return begin;
}

int64_t segment_find(const struct inspection *in, int64_t point)
{
	int64_t low = 0, high = in->n_values;

	while (low < high) {
		const int64_t middle = low + (high - low) / 2;

		if (segment_point(in, middle) < point)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int64_t border_nearest(const struct inspection *in, int64_t point)
{
	const int64_t behind = segment_find(in, point);
	const int64_t before = behind > 0 ? segment_point(in, behind - 1) : 0;

	if (behind == 0 || point - before > segment_point(in, behind) - point)
		return behind;
	return segment_find(in, before);
}

pmg_status chunks_make(const struct inspection *in)
{
	const int64_t n = in->order.n, n_chunks = chunks_of(in->desc, n, in->plan->kernel.threads);
	struct elements chunks;
	pmg_status status;

	if (in->desc->n_chunks >= 0)
		in->plan->sizes[in->desc->n_chunks] = n_chunks;
	if (in->desc->chunks < 0)
		return PMG_OK;
	status = inspected_new(in->plan, in->desc->chunks, n_chunks + 1, in->n_values);
	if (status != PMG_OK)
		return status;
	chunks = array_values(in->plan, in->desc->chunks);
	for (int64_t c = 0; c <= n_chunks; c++) {
		const int64_t border = c == n_chunks ? in->n_values
				     : border_nearest(in, share_begin(n, n_chunks, c));

		elements_write(&chunks, c, 1, &border);
	}
	return PMG_OK;
}

/* ---- All of it ---- */

static void inspection_end(struct inspection *in)
{
	plan_release(in->plan, in->order.points, in->order_bytes);
	plan_release(in->plan, in->order.spare, in->order_bytes);
	plan_release(in->plan, in->rank, rank_bytes(in->n_values));
}

static pmg_status host_inspect(struct inspection *in)
{
	pmg_status status = points_sort(in);

	if (status == PMG_OK)
		status = borders_make(in);
	if (status == PMG_OK && in->desc->n_runs >= 0)
		in->plan->sizes[in->desc->n_runs] = in->n_runs;
	if (status == PMG_OK)
		status = chunks_make(in);
	if (status == PMG_OK && in->desc->parts)
		status = parts_make(in);
	if (status == PMG_OK)
		status = copies_make(in);
	if (status == PMG_OK)
		status = renumberings_make(in);
	return status;
}

static pmg_status restructuring_inspect(struct plan *plan, const pmg_restructure_desc *desc)
{
	const int64_t n = points_of(plan->desc, desc, plan->extents);
	struct inspection in = {
		.plan = plan, .desc = desc, .order = { .n = n }, .n_shares = shares_of(n, plan->kernel.threads),
		.order_bytes = inspected_bytes(PMG_I64, n),
		.n_values = array_limit(&plan->desc->arrays[desc->keys[0]], plan->extents)
	};
	pmg_status status = desc->places ? places_inspect(&in) : PMG_OK;
	bool is_made = false;

	if (status == PMG_OK)
		status = device_inspect(&in, &is_made);
	if (status == PMG_OK && !is_made)
		status = host_inspect(&in);
	else if (status == PMG_OK && desc->parts)
		status = parts_make(&in);
	device_release(&in);
	inspection_end(&in);
	return status;
}

/* Arrays that no kernel reads are the caller's again. */
static void inspected_drop(struct plan *plan)
{
	for (int32_t i = 0; i < plan->desc->n_arrays; i++) {
		struct binding *binding = &plan->bindings[i];

		if (!plan->desc->arrays[i].is_for_inspection)
			continue;
		plan_release(plan, binding->own, binding->own_bytes);
		binding->own = NULL;
		binding->own_bytes = 0;
		plan->kernel.data[i] = NULL;
	}
}

pmg_status restructurings_inspect(struct plan *plan)
{
	pmg_status status = PMG_OK;

	for (int32_t i = 0; i < plan->desc->n_restructurings && status == PMG_OK; i++)
		status = restructuring_inspect(plan, &plan->desc->restructurings[i]);
	if (status == PMG_OK)
		inspected_drop(plan);
	return status;
}
