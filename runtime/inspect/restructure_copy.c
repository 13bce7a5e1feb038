/* SPDX-License-Identifier: MIT
 *
 * Copies of arrays in the new order of a restructuring, multiplied and narrowed as is asked for. A block of points at a
 * time: where they were, their values, which the sorted words tell if they are of a key, and the store. The last
 * 8-byte copy per point is written over the words themselves, of which each block is read before it is written. */
#include "inspect/restructure.h"

#include <string.h>

struct copying {
	const struct inspection *in;
	const pmg_copy_desc *desc;
	struct elements from, to, runs, values; /* values: of keys[0] by place */
	int64_t n, factor;
	bool is_told, is_raw, is_by_place;
	int shift;
	uint64_t mask;
};

/* The sorted words of elements first.. of the copy. */
static void block_points(const struct copying *copying, int64_t first, int64_t n, uint64_t *points)
{
	const uint64_t *sorted = copying->in->order.points;
	int64_t starts[BLOCK];

	if (!copying->desc->is_per_run) {
		memcpy(points, sorted + first, (size_t) n * sizeof *points);
		return;
	}
	elements_read(&copying->runs, first, n, starts);
	for (int64_t i = 0; i < n; i++)
		points[i] = sorted[starts[i]];
}

/* The values of a block, which are integers, and the numbers of their points. */
static void block_values(const struct copying *copying, const uint64_t *points, const int64_t *at, int64_t n,
			 int64_t *values)
{
	if (copying->desc->from < 0)
		memcpy(values, at, (size_t) n * sizeof *values);
	else if (!copying->is_told)
		elements_gather(&copying->from, at, n, values);
	else
		for (int64_t i = 0; i < n; i++)
			values[i] = (int64_t) (points[i] >> copying->shift & copying->mask);
	if (copying->is_told && copying->is_by_place)
		elements_gather(&copying->values, values, n, values);
}

static void points_at(const struct copying *copying, const uint64_t *points, int64_t n, int64_t *at)
{
	const uint64_t mask = ((uint64_t) 1 << copying->in->order.index_bits) - 1;

	for (int64_t i = 0; i < n; i++)
		at[i] = (int64_t) (points[i] & mask);
}

static void block_multiply(const struct copying *copying, int64_t *values, int64_t n)
{
	const int64_t factor = copying->factor;

	for (int64_t i = 0; i < n; i++)
		values[i] *= factor;
}

/* Whether the type of the copy holds all values of the block. */
static bool block_copy(const struct copying *copying, int64_t first, int64_t n)
{
	uint64_t points[BLOCK];
	int64_t at[BLOCK], values[BLOCK];

	block_points(copying, first, n, points);
	points_at(copying, points, n, at);
	if (copying->is_raw) {
		elements_move(&copying->to, first, &copying->from, at, n);
		return true;
	}
	block_values(copying, points, at, n, values);
	if (copying->factor != 1)
		block_multiply(copying, values, n);
	return elements_write(&copying->to, first, n, values);
}

/* A block that was not copied: its first value that the type does not hold, in the new order. */
static pmg_status block_fail(const struct copying *copying, int64_t first, int64_t n)
{
	const struct plan *plan = copying->in->plan;
	const pmg_array_desc *to = &plan->desc->arrays[copying->desc->to], *from;
	uint64_t points[BLOCK];
	int64_t at[BLOCK], values[BLOCK], i = 0;

	block_points(copying, first, n, points);
	points_at(copying, points, n, at);
	block_values(copying, points, at, n, values);
	while (type_holds(to->type, copying->factor * values[i]))
		i++;
	if (copying->desc->from < 0)
		return inspected_fail(plan, copying->desc->to, copying->factor * values[i]);
	from = &plan->desc->arrays[copying->desc->from];
	if (copying->factor != 1)
		return pmg_fail(plan->context, STATUS_TOO_NARROW,
				"array '%s' holds %lld at [%lld], whose row begins at %lld, which %s of '%s' cannot "
				"hold: leave out 'premultiply' (%s)", from->name, (long long) values[i],
				(long long) at[i], (long long) (copying->factor * values[i]), pmg_type_name(to->type),
				to->name, from->place);
	return pmg_fail(plan->context, STATUS_TOO_NARROW,
			"array '%s' holds %lld at [%lld], which %s of '%s' cannot hold (%s)", from->name,
			(long long) values[i], (long long) at[i], pmg_type_name(to->type), to->name, from->place);
}

static pmg_status elements_copy(const struct copying *copying)
{
	const int64_t n = copying->n;
	int64_t failed = n;

	PARALLEL(copying->in->plan->kernel.threads, n, schedule(static) reduction(min : failed))
	for (int64_t first = 0; first < n; first += BLOCK)
		if (!block_copy(copying, first, block_size(first, n)))
			failed = first < failed ? first : failed;
	return failed == n ? PMG_OK : block_fail(copying, failed, block_size(failed, n));
}

static int key_of(const struct inspection *in, int32_t number)
{
	for (int key = 0; key < in->desc->n_keys; key++)
		if (in->desc->keys[key] == number)
			return key;
	return -1;
}

static struct copying copying_of(const struct inspection *in, const pmg_copy_desc *desc)
{
	struct copying copying = {
		.in = in, .desc = desc, .n = desc->is_per_run ? in->n_runs : in->order.n
	};
	const int key = desc->from < 0 ? -1 : key_of(in, desc->from);

	copying.to.type = inspected_type(&in->plan->desc->arrays[desc->to], in->plan->extents);
	copying.factor = inspected_factor(&in->plan->desc->arrays[desc->to], in->plan->extents);
	if (desc->from >= 0)
		copying.from = array_values(in->plan, desc->from);
	if (desc->is_per_run)
		copying.runs = array_values(in->plan, in->desc->runs);
	if (key == 0 && in->rank) {
		copying.values = elements_dense(in->rank + in->n_values, PMG_I64);
		copying.is_by_place = true;
	}
	copying.is_told = key >= 0 && order_tells(&in->order, key, &copying.shift, &copying.mask);
	copying.is_raw = desc->from >= 0 && !copying.is_told && copying.factor == 1 &&
			 copying.from.type == copying.to.type;
	return copying;
}

static pmg_status copy_make(const struct inspection *in, const pmg_copy_desc *desc)
{
	struct copying copying = copying_of(in, desc);
	const bool is_order = desc->from < 0 && !desc->is_per_run;
	pmg_status status = inspected_new(in->plan, desc->to, copying.n, is_order ? copying.n - 1 : 0);

	if (status != PMG_OK)
		return status;
	copying.to = array_values(in->plan, desc->to);
	return elements_copy(&copying);
}

/* Types of 8 bytes hold all values: this does not fail. */
static void copy_make_in_place(struct inspection *in, const pmg_copy_desc *desc)
{
	struct copying copying = copying_of(in, desc);

	copying.to.data = (char *) in->order.points;
	copying.to.stride = 8;
	elements_copy(&copying);
	inspected_take(in->plan, desc->to, copying.n, in->order.points);
	in->order.points = NULL;
}

pmg_status copies_make(struct inspection *in)
{
	const int32_t last = last_copy(in->plan->desc, in->desc);
	pmg_status status = PMG_OK;

	for (int32_t i = 0; i < in->desc->n_copies && status == PMG_OK; i++)
		if (i != last)
			status = copy_make(in, &in->desc->copies[i]);
	if (status != PMG_OK)
		return status;
	if (last >= 0)
		copy_make_in_place(in, &in->desc->copies[last]);
	plan_release(in->plan, in->order.points, in->order_bytes);
	in->order.points = NULL;
	return PMG_OK;
}
