/* SPDX-License-Identifier: MIT
 *
 * Arguments in blocks of segments: y = 2 x by a kernel that takes four segments at a time, and by one that asks for
 * flat arrays. Where they lie, or in the plan's copies; what is refused; padding is not looked at. */
#include "runtime/check.h"

#include <stdlib.h>
#include <string.h>

enum { OFFSET, X, Y, ORDER, N_ARRAYS };
enum { N_SEGMENTS = 6, N = 12, LANES = 4, MOST = 28 };

typedef struct twice_args {
	int64_t nSegments, n;
	pmg_buffer offset, x, y;
} twice_args;

static const pmg_param_desc params[] = {
	{ "nSegments", PMG_I64, offsetof(twice_args, nSegments), "t.pmg:1" },
	{ "n", PMG_I64, offsetof(twice_args, n), "t.pmg:1" },
};
static const pmg_extent offsets_shape[] = { { 0, false, 1, "nSegments + 1" } };
static const pmg_extent elements[] = { { 1, false, 0, "n" } }, list[] = { { 0, false, 0, "nSegments" } };

static void extents(const void *any, int64_t *values)
{
	const twice_args *args = any;

	values[0] = args->nSegments + 1;
	values[1] = values[2] = values[3] = args->n;
	values[4] = args->nSegments;
}

static double *part_of(const pmg_plan *plan, int array, int64_t segment, int64_t rank, int64_t *step)
{
	const int64_t *offsets = plan->data[OFFSET], *order = plan->data[ORDER];

	*step = plan->places[array].lane ? LANES : 1;
	if (!plan->places[array].lane)
		return (double *) plan->data[array] + offsets[segment];
	return (double *) plan->data[array] + order[N_SEGMENTS + rank/LANES]*LANES + rank % LANES;
}

static pmg_status blocks_kernel(pmg_plan *plan, const void *args, pmg_control *control)
{
	const int64_t *offsets = plan->data[OFFSET], *order = plan->data[ORDER];

	(void) args, (void) control;
	for (int64_t rank = 0; rank < N_SEGMENTS; rank++) {
		int64_t from, to;
		const double *x = part_of(plan, X, order[rank], rank, &from);
		double *y = part_of(plan, Y, order[rank], rank, &to);

		for (int64_t row = 0; row < offsets[order[rank] + 1] - offsets[order[rank]]; row++)
			y[row*to] = 2*x[row*from];
	}
	return PMG_OK;
}

static pmg_status flat_kernel(pmg_plan *plan, const void *args, pmg_control *control)
{
	const double *x = plan->data[X];
	double *y = plan->data[Y];

	(void) control;
	for (int64_t i = 0; i < ((const twice_args *) args)->n; i++)
		y[i] = 2*x[i];
	return PMG_OK;
}

/* ---- a case ---- */

struct twice {
	pmg_array_desc arrays[N_ARRAYS];
	pmg_pipeline_desc desc;
	twice_args args;
	int32_t offsets[N_SEGMENTS + 1];
	double x[MOST], y[MOST], flat[N], result[N];
};

#define ARRAY(n, r, f, e, at) \
	{ .name = n, .role = r, .type = PMG_F64, .is_fixed = f, .rank = 1, .shape = elements, .first_extent = e, \
	  .segments = OFFSET, .offset = at, .place = "t.pmg:3" }

static pmg_buffer blocks_of(double *data, int64_t rows, int64_t width)
{
	return pmg_dense(data, PMG_F64, 2, (int64_t[]) { rows, width });
}

/* Lengths 2 0 5 3 0 2: blocks of the segments 2 3 0 5, of 5 rows, and of 1 4, of none. Padding is NaN. */
static void twice_open(struct twice *t, int32_t lanes, bool is_fixed)
{
	const pmg_array_desc arrays[] = {
		{ .name = "offset", .role = PMG_IN, .type = PMG_I64, .is_fixed = true, .is_index = true, .rank = 1,
		  .shape = offsets_shape, .facts = PMG_FACT_OFFSETS, .limit = { 1, false, 0, "n" }, .segments = -1,
		  .offset = offsetof(twice_args, offset), .place = "t.pmg:2" },
		ARRAY("x", PMG_IN, is_fixed, 2, offsetof(twice_args, x)),
		ARRAY("y", PMG_OUT, false, 3, offsetof(twice_args, y)),
		{ .name = "offset.by_length", .role = PMG_TEMP, .type = PMG_I64, .rank = 1, .shape = list,
		  .first_extent = 4, .segments = OFFSET, .lanes = lanes, .offset = SIZE_MAX, .place = "t.pmg:2" },
	};
	const int64_t n_offsets = N_SEGMENTS + 1;

	*t = (struct twice) {
		.desc = { .abi_version = PMG_ABI_VERSION, .name = "twice", .source = "t.pmg",
			  .args_size = sizeof t->args, .n_params = 2, .n_arrays = lanes ? N_ARRAYS : ORDER,
			  .n_extents = lanes ? 5 : 4, .params = params, .extents = extents,
			  .kernel = lanes ? blocks_kernel : flat_kernel },
		.offsets = { 0, 2, 2, 7, 10, 10, 12 }
	};
	memcpy(t->arrays, arrays, sizeof arrays);
	t->arrays[X].lanes = t->arrays[Y].lanes = lanes;
	t->desc.arrays = t->arrays;
	t->args = (twice_args) { N_SEGMENTS, N, pmg_dense(t->offsets, PMG_I32, 1, &n_offsets),
				 blocks_of(t->x, 5, LANES), blocks_of(t->y, 5, LANES) };
	for (int i = 0; i < MOST; i++)
		t->x[i] = t->y[i] = NAN;
	for (int i = 0; i < N; i++)
		t->flat[i] = i + 1;
}

static void fill(struct twice *t, pmg_context *context)
{
	const int64_t n = N;
	const pmg_buffer flat = pmg_dense(t->flat, PMG_F64, 1, &n);

	pmg_relayout_segments(context, &t->args.x, &flat, &t->args.offset, 1);
	for (int i = 0; i < MOST; i++)
		t->x[i] = t->x[i] == 0 ? NAN : t->x[i];
}

static pmg_status run(struct twice *t, pmg_context *context, int64_t max_memory)
{
	const pmg_options options = { .context = context, .threads = 2, .check_finite = true,
				      .max_memory = max_memory };
	pmg_plan *plan = NULL;
	pmg_status status = pmg_plan_new(&t->desc, &t->args, &options, &plan);

	if (status == PMG_OK && t->arrays[X].is_fixed && pmg_plan_bytes(plan) != pmg_plan_forecast(&t->desc, &t->args))
		status = pmg_fail(context, PMG_INTERNAL, "the forecast was wrong");
	memset(t->offsets, -1, status == PMG_OK ? sizeof t->offsets : 0);
	if (status == PMG_OK)
		status = pmg_plan_execute(plan, &t->args, NULL);
	pmg_plan_destroy(plan);
	memcpy(t->offsets, (const int32_t[]) { 0, 2, 2, 7, 10, 10, 12 }, sizeof t->offsets);
	return status;
}

static bool is_twice(struct twice *t, pmg_context *context)
{
	const int64_t n = N;
	const pmg_buffer flat = pmg_dense(t->result, PMG_F64, 1, &n);
	bool is = pmg_relayout_segments(context, &flat, &t->args.y, &t->args.offset, 1) == PMG_OK;

	for (int i = 0; i < N && is; i++)
		is = t->result[i] == 2*(i + 1);
	return is;
}

/* ---- questions ---- */

/* By a flat kernel, by one that takes such blocks as they lie, and by one that takes wider ones. */
static void test_values(struct tests *tests, pmg_context *context)
{
	static const struct { int32_t lanes; int64_t rows, width; } cases[] = { { 0, 5, 4 }, { 4, 5, 4 }, { 4, 7, 2 } };
	struct twice t;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		for (int is_fixed = 0; is_fixed < 2; is_fixed++) {
			twice_open(&t, cases[i].lanes, is_fixed);
			t.args.x = blocks_of(t.x, cases[i].rows, cases[i].width);
			t.args.y = blocks_of(t.y, cases[i].rows, cases[i].width);
			fill(&t, context);
			CHECK(tests, run(&t, context, 0) == PMG_OK);
			CHECK(tests, is_twice(&t, context));
		}
}

static void test_place(struct tests *tests, pmg_context *context)
{
	const pmg_options options = { .context = context };
	pmg_plan *plan = NULL;
	struct twice t;

	twice_open(&t, LANES, false);
	fill(&t, context);
	CHECK(tests, pmg_plan_new(&t.desc, &t.args, &options, &plan) == PMG_OK &&
		     pmg_plan_execute(plan, &t.args, NULL) == PMG_OK);
	CHECK(tests, plan && plan->data[X] == t.x && plan->data[Y] == t.y);
	CHECK(tests, isnan(t.y[2*LANES + 2]) && t.y[2*LANES + 1] == 20);
	pmg_plan_destroy(plan);
}

struct pair {
	struct twice t, other;
	const pmg_pipeline_desc *list[2];
};

static void pair_open(struct pair *pair)
{
	twice_open(&pair->t, LANES, false);
	twice_open(&pair->other, 0, false);
	pair->other.desc.choice = "flat";
	pair->list[0] = &pair->t.desc;
	pair->list[1] = &pair->other.desc;
	pair->t.desc.n_candidates = 2;
	pair->t.desc.candidates = pair->list;
}

/* Trials on flat arguments as they are, or on blocks that are made of them, whose kernel says what these have. */
static void test_trials(struct tests *tests, pmg_context *context)
{
	const int64_t n = N;

	for (int in_blocks = 0; in_blocks < 2; in_blocks++) {
		pmg_options options = { .context = context, .tune = PMG_TUNE_MEASURE, .check_finite = true,
					.in_blocks = in_blocks };
		struct pair pair;
		struct twice *const t = &pair.t;
		const pmg_report *report;
		pmg_plan *plan = NULL;

		pair_open(&pair);
		t->args.x = pmg_dense(t->flat, PMG_F64, 1, &n);
		t->args.y = pmg_dense(t->result, PMG_F64, 1, &n);
		CHECK(tests, pmg_plan_new(&t->desc, &t->args, &options, &plan) == PMG_OK);
		report = pmg_plan_report(plan);
		CHECK(tests, report && report->trials[0].n_runs > 0 && report->trials[1].n_runs > 0);
		t->args.x = blocks_of(t->x, 5, LANES);
		t->args.y = blocks_of(t->y, 5, LANES);
		fill(t, context);
		CHECK(tests, pmg_plan_execute(plan, &t->args, NULL) == PMG_OK && is_twice(t, context));
		pmg_plan_destroy(plan);
	}
}

/* Trials on blocks hold what was forecast, and leave nothing wherever memory ends. A forecast needs no context. */
static void test_memory_of_trials(struct tests *tests)
{
	pmg_options options = { .tune = PMG_TUNE_MEASURE, .in_blocks = true };
	pmg_status status = PMG_NO_RESOURCES;
	const int64_t n = N;
	struct pair pair;
	int64_t peak;

	pair_open(&pair);
	pair.t.args.x = pmg_dense(pair.t.flat, PMG_F64, 1, &n);
	pmg_plan_forecast_with(&pair.t.desc, &pair.t.args, &options, &peak);
	options.max_memory = peak;
	for (int fail_at = 0; status == PMG_NO_RESOURCES || fail_at < 10; fail_at++) {
		struct counter counter = { .fail_at = fail_at ? fail_at + 1 : 0 };
		const pmg_allocator allocator = counter_allocator(&counter);
		pmg_context *context = options.context = pmg_context_new(&allocator);
		const size_t before = counter.live_bytes;
		pmg_plan *plan = NULL;

		status = pmg_plan_new(&pair.t.desc, &pair.t.args, &options, &plan);
		CHECK(tests, status == PMG_OK || (fail_at && status == PMG_NO_RESOURCES));
		CHECK(tests, fail_at || (pmg_plan_report(plan)->trials[0].n_runs > 0 &&
					 pmg_plan_report(plan)->trials[1].n_runs > 0));
		CHECK(tests, (int64_t) (counter.most_bytes - before) <= peak);
		pmg_plan_destroy(plan);
		CHECK(tests, counter.n_live == 1);
		pmg_context_free(context);
	}
}

/* Blocks that have other rows are not read before they are refused. */
static void test_wrong_rows(struct tests *tests, pmg_context *context)
{
	const pmg_options options = { .context = context, .tune = PMG_TUNE_MEASURE, .in_blocks = true };
	pmg_plan *plan = NULL;
	struct pair pair;
	double *const few = malloc(LANES*sizeof *few);

	pair_open(&pair);
	pair.t.args.x = blocks_of(few, 1, LANES);
	CHECK(tests, pmg_plan_new(&pair.t.desc, &pair.t.args, &options, &plan) == PMG_OK);
	CHECK_FAILS(tests, pmg_plan_execute(plan, &pair.t.args, NULL), context, PMG_BAD_DATA,
		    "array 'x' has shape [1, 4], blocks of 4 segments, but those of 'offset' have 5 rows (t.pmg:3)");
	pmg_plan_destroy(plan);
	free(few);
}

static void test_refusals(struct tests *tests, pmg_context *context)
{
	struct twice t;

	for (int32_t lanes = 0; lanes <= LANES; lanes += LANES)
		for (int is_fixed = 0; is_fixed < 2; is_fixed++) {
			twice_open(&t, lanes, is_fixed);
			t.args.x.shape[0] = 6;
			CHECK_FAILS(tests, run(&t, context, 0), context, PMG_BAD_DATA,
				    "array 'x' has shape [6, 4], blocks of 4 segments, but those of 'offset' have 5 "
				    "rows (t.pmg:3)");
			CHECK(tests, isnan(t.y[0]));
			t.args.x.shape[1] = 3;
			CHECK_FAILS(tests, run(&t, context, 0), context, PMG_BAD_DATA,
				    "array 'x' lies in blocks of 3 segments, but they can be of 1, 2, 4, ... 256 "
				    "(t.pmg:3)");
		}
	twice_open(&t, LANES, true);
	t.offsets[6] = 11;
	CHECK_FAILS(tests, run(&t, context, 0), context, PMG_BAD_DATA,
		    "the segments of 'offset' have 11 elements, but array 'x' has 12 (t.pmg:3)");
	twice_open(&t, LANES, true);
	t.offsets[2] = 1;
	CHECK_FAILS(tests, run(&t, context, 0), context, PMG_BAD_DATA,
		    "offsets of segments decrease from 2 to 1 at [2]");
	twice_open(&t, LANES, false);
	fill(&t, context);
	t.x[2*LANES + 1] = INFINITY;
	CHECK_FAILS(tests, run(&t, context, 0), context, PMG_BAD_DATA,
		    "array 'x' holds infinity at [9], but only finite values are accepted (t.pmg:3)");
}

/* However often an allocation fails, or the limit is reached, nothing is left. */
static void test_memory_of_lists(struct tests *tests)
{
	pmg_status status = PMG_NO_RESOURCES;
	struct counter counter = { 0 };
	pmg_allocator allocator = counter_allocator(&counter);
	pmg_context *context = pmg_context_new(&allocator);
	struct twice t;

	twice_open(&t, 0, false);
	fill(&t, context);
	for (int at = 1; status == PMG_NO_RESOURCES && at < 100; at++) {
		counter.fail_at = counter.n_allocated + at;
		status = run(&t, context, 0);
		CHECK(tests, (status == PMG_OK || status == PMG_NO_RESOURCES) && counter.n_live == 1);
	}
	CHECK(tests, status == PMG_OK);
	counter.fail_at = 0;
	CHECK(tests, is_twice(&t, context));
	CHECK(tests, run(&t, context, 1500) == PMG_NO_RESOURCES && counter.n_live == 1);
	pmg_context_free(context);
}

/* To sort the segments takes memory for a while, which is forecast. */
static void test_memory_of_orders(struct tests *tests, pmg_context *context)
{
	pmg_options options = { .context = context };
	pmg_plan *plan = NULL;
	struct twice t;
	int64_t bytes;

	twice_open(&t, LANES, false);
	bytes = pmg_plan_forecast_with(&t.desc, &t.args, &options, &options.max_memory);
	CHECK(tests, options.max_memory == bytes + (N_SEGMENTS + 1)*(int64_t) sizeof(int64_t));
	CHECK(tests, pmg_plan_new(&t.desc, &t.args, &options, &plan) == PMG_OK && pmg_plan_bytes(plan) == bytes &&
		     pmg_plan_peak(plan) == options.max_memory);
	pmg_plan_destroy(plan);
	options.max_memory--;
	CHECK(tests, pmg_plan_new(&t.desc, &t.args, &options, &plan) == PMG_NO_RESOURCES);
}

void test_segment_arguments(struct tests *tests)
{
	pmg_context *context = pmg_context_new(NULL);

	test_values(tests, context);
	test_place(tests, context);
	test_trials(tests, context);
	test_memory_of_trials(tests);
	test_wrong_rows(tests, context);
	test_refusals(tests, context);
	test_memory_of_orders(tests, context);
	test_memory_of_lists(tests);
	pmg_context_free(context);
}
