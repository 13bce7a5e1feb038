/* SPDX-License-Identifier: MIT
 *
 * Restructurings against a naive sort: sizes from nothing to more than threads share, keys of few and many bits, all
 * kinds of copies, types that do not hold a value, memory that fails or is limited, orders in space. */
#include "runtime/restructure.h"

#include <stdlib.h>
#include <string.h>

static pmg_status points_plan(const struct points *points, pmg_context *context, int threads, pmg_plan **plan)
{
	return pmg_plan_new(&points->desc, &points->args,
			    &(pmg_options) { .context = context, .threads = threads }, plan);
}

static void test_choice(struct tests *tests, const struct points_choice *choice)
{
	struct counter counter = { 0 };
	const pmg_allocator allocator = counter_allocator(&counter);
	pmg_context *context = pmg_context_new(&allocator);
	pmg_plan *plan;
	struct points points;
	int64_t forecast;

	points_make(&points, choice);
	forecast = pmg_plan_forecast(&points.desc, &points.args);
	for (int threads = 1; threads <= 3; threads++) {
		CHECK(tests, points_plan(&points, context, threads, &plan) == PMG_OK);
		if (plan)
			points_check(tests, &points, plan, threads);
		CHECK(tests, llabs(forecast - pmg_plan_bytes(plan)) <= pmg_plan_bytes(plan) / 20);
		pmg_plan_destroy(plan);
	}
	CHECK(tests, counter.n_live == 1);
	pmg_context_free(context);
	points_free(&points);
}

/* Choices of which one is asked of the largest size in the short form. */
#ifdef SANITIZED
enum { EVERY = 12 };
#else
enum { EVERY = 3 };
#endif

static void test_choices(struct tests *tests)
{
	static const int64_t sizes[] = { 0, 1, 2, 1000, 4099, 200000 };
	static const struct points_choice choices[] = {
		{ .n_keys = 1, .limits = { 1, 1, 1 }, .offsets = PMG_I64, .copies = PMG_U8, .given = PMG_I64 },
		{ .n_keys = 1, .limits = { 300, 7, 250 }, .offsets = PMG_I32, .copies = PMG_I32, .given = PMG_I32,
			.has_runs = true, .is_by_threads = true },
		{ .n_keys = 2, .limits = { 5000, 60, 999 }, .offsets = PMG_I32, .copies = PMG_U16, .given = PMG_I64,
			.has_runs = true, .is_renumbered = true, .is_for_inspection = true },
		{ .n_keys = 2, .limits = { 60, 5000, 9000 }, .offsets = PMG_I32, .copies = PMG_I64, .given = PMG_I32,
			.has_places = true, .is_renumbered = true, .is_for_inspection = true },
		{ .n_keys = 3, .limits = { 30, 1, 70000 }, .offsets = PMG_I64, .copies = PMG_I32, .given = PMG_I32,
			.has_runs = true, .has_places = true, .is_renumbered = true, .is_narrow = true },
		{ .n_keys = 2, .limits = { 65536, 9, 65537 }, .offsets = PMG_I32, .copies = PMG_I32, .given = PMG_I64,
			.has_runs = true, .is_narrow = true },
		{ .n_keys = 3, .limits = { 1000, (int64_t) 1 << 39, (int64_t) 3 << 20 }, .offsets = PMG_I32,
			.copies = PMG_I64, .given = PMG_I64, .has_runs = true, .has_places = true,
			.is_for_inspection = true },
		{ .n_keys = 2, .limits = { 90, 500, 100 }, .offsets = PMG_I32, .copies = PMG_I32, .given = PMG_I32,
			.has_parts = true },
		{ .n_keys = 1, .limits = { 9000, 5, 100 }, .offsets = PMG_I32, .copies = PMG_I32, .given = PMG_I64,
			.has_parts = true, .is_for_inspection = true },
		{ .n_keys = 1, .limits = { 40000, 5, 100 }, .offsets = PMG_I32, .copies = PMG_I32, .given = PMG_I32,
			.has_parts = true },
		{ .n_keys = 2, .limits = { 700, 90, 100 }, .offsets = PMG_I32, .copies = PMG_I32, .given = PMG_I32,
			.has_parts = true, .has_places = true },
		{ .n_keys = 2, .limits = { 60, 50, 90 }, .offsets = PMG_I32, .copies = PMG_I32, .given = PMG_I32,
			.has_runs = true, .has_places = true, .is_left_out = true, .is_for_inspection = true },
		{ .n_keys = 2, .limits = { 60, 5000, 90 }, .offsets = PMG_I32, .copies = PMG_I32, .given = PMG_I32,
			.has_runs = true, .has_places = true, .is_renumbered = true, .row = { 96, 2 } },
		{ .n_keys = 3, .limits = { 30, 4096, 7 }, .offsets = PMG_I32, .copies = PMG_I32, .given = PMG_I64,
			.has_runs = true, .is_narrow = true, .row = { 16, 1 }, .is_for_inspection = true },
		{ .n_keys = 3, .limits = { 30, 4097, 7 }, .offsets = PMG_I32, .copies = PMG_I32, .given = PMG_I32,
			.has_runs = true, .is_narrow = true, .is_renumbered = true, .row = { 8, 2 } },
		{ .n_keys = 1, .limits = { 900, 50, 70 }, .offsets = PMG_I32, .copies = PMG_I64, .given = PMG_I32,
			.has_parts = true, .row = { (int64_t) 1 << 30, 9 } },
	};

	/* The largest, which takes most of the time, for some choices, or all of them in the long form. */
	for (size_t c = 0; c < sizeof choices / sizeof choices[0]; c++)
		for (size_t s = 0; s < sizeof sizes / sizeof sizes[0] - (c % EVERY && !getenv("PMG_TEST_LONG")); s++) {
			struct points_choice choice = choices[c];

			choice.n = sizes[s];
			choice.seed = (unsigned) (17 * c + s);
			test_choice(tests, &choice);
		}
}

/* Keys of more bits than a word has, which differ in those that have no room in it. */
static void test_close_keys(struct tests *tests)
{
	const struct points_choice choice = {
		.n = 4099, .n_keys = 3, .limits = { 1000, (int64_t) 1 << 39, (int64_t) 3 << 20 }, .offsets = PMG_I32,
		.copies = PMG_I64, .given = PMG_I32, .has_runs = true
	};
	pmg_context *context = pmg_context_new(NULL);
	struct points points;
	pmg_plan *plan;

	points_make(&points, &choice);
	for (int64_t i = 0; i < choice.n; i++)
		for (int k = 0; k < 3; k++)
			points.values[k][i] = ((int32_t *) points.memory[k])[i] = (int32_t) (i % (2*k + 3));
	for (int threads = 1; threads <= 2; threads++) {
		CHECK(tests, points_plan(&points, context, threads, &plan) == PMG_OK);
		if (plan)
			points_check(tests, &points, plan, threads);
		pmg_plan_destroy(plan);
	}
	pmg_context_free(context);
	points_free(&points);
}

/* No points of no values at all. */
static void test_nothing(struct tests *tests)
{
	const struct points_choice choice = {
		.n_keys = 2, .offsets = PMG_U8, .copies = PMG_U8, .given = PMG_I32, .has_runs = true,
		.has_places = true, .is_renumbered = true, .is_by_threads = true
	};

	test_choice(tests, &choice);
}

static const struct points_choice small_choice = {
	.n = 3000, .n_keys = 2, .limits = { 70, 300, 500 }, .offsets = PMG_I32, .copies = PMG_I32, .given = PMG_I32,
	.has_runs = true, .is_narrow = true, .has_places = true, .is_renumbered = true, .is_for_inspection = true
};

static void plan_refuses(struct tests *tests, const struct points *points, pmg_status wanted, const char *message)
{
	struct counter counter = { 0 };
	const pmg_allocator allocator = counter_allocator(&counter);
	pmg_context *context = pmg_context_new(&allocator);
	pmg_plan *plan;

	CHECK_FAILS(tests, points_plan(points, context, 2, &plan), context, wanted, message);
	CHECK(tests, !plan && counter.n_live == 1);
	pmg_context_free(context);
}

static void test_narrow(struct tests *tests)
{
	struct points points;

	points_make(&points, &small_choice);
	points.arrays[points.numbers[POINTS_KEYS + 1]].type = PMG_U8;
	points.values[1][0] = 299;
	((int32_t *) points.memory[1])[0] = 299;
	for (int64_t i = 1; i < points.choice.n; i++)
		((int32_t *) points.memory[1])[i] %= 256;
	plan_refuses(tests, &points, PMG_BAD_DATA,
		     "array 'key1' holds 299 at [0], which u8 of 'keys1' cannot hold (points.pmg:1)");
	points.arrays[points.numbers[POINTS_KEYS + 1]].type = PMG_I16;
	points.arrays[points.numbers[POINTS_RUNS]].type = PMG_I8;
	plan_refuses(tests, &points, PMG_BAD_DATA, "array 'runs' is i8, which cannot hold 3000 (points.pmg:1)");
	points.arrays[points.numbers[POINTS_RUNS]].type = PMG_I16;
	points.arrays[points.numbers[POINTS_ORDER]].type = PMG_U8;
	points.args.n = points.args.keys[0].shape[0];
	plan_refuses(tests, &points, PMG_BAD_DATA, "array 'order' is u8, which cannot hold 2999 (points.pmg:1)");
	points_free(&points);
}

/* Rows so long that the last one of those that are used still has an offset, and the one behind has none. */
static void test_far_rows(struct tests *tests)
{
	struct points_choice choice = small_choice;
	struct points points;

	choice.has_places = choice.is_renumbered = false;
	choice.row[0] = 31;
	choice.row[1] = 1 << 18;
	choice.limits[1] = 265;
	test_choice(tests, &choice);
	choice.limits[1] = 300;
	points_make(&points, &choice);
	for (int64_t i = 0; i < choice.n; i++)
		((int32_t *) points.memory[1])[i] = i == 2345 ? 265 : (int32_t) (i % 265);
	plan_refuses(tests, &points, PMG_BAD_DATA, "array 'key1' holds 265 at [2345], whose row begins at 2153512960, "
		     "which i32 of 'keys1' cannot hold: leave out 'premultiply' (points.pmg:1)");
	points_free(&points);
	choice.has_places = true;
	choice.row[1] = 1 << 20;
	points_make(&points, &choice);
	plan_refuses(tests, &points, PMG_BAD_DATA,
		     "array 'values' is i32, which cannot hold 2242904064: leave out 'premultiply' (points.pmg:1)");
	points_free(&points);
}

/* Keys in the caller's type and with strides are checked as they lie. */
static void test_range(struct tests *tests)
{
	struct points points;

	points_make(&points, &small_choice);
	((int32_t *) points.memory[0])[2345] = 70;
	((int32_t *) points.memory[0])[2999] = -1;
	plan_refuses(tests, &points, PMG_BAD_DATA,
		     "array 'key0' holds 70 at [2345], which is not in 0..70 (limit, points.pmg:1)");
	points_free(&points);
}

static void contradicts(struct tests *tests, const struct points *points)
{
	plan_refuses(tests, points, PMG_INTERNAL, "the description of pipeline 'points' contradicts itself");
	CHECK(tests, pmg_plan_forecast(&points->desc, &points->args) < 0);
}

/* Descriptions with one mistake each. */
static void test_descriptions(struct tests *tests)
{
	for (int mistake = 0; mistake < 22; mistake++) {
		struct points points;
		pmg_restructure_desc *r = &points.restructure;
		pmg_array_desc *arrays = points.arrays;

		points_make(&points, &small_choice);
		switch (mistake) {
		case 0: r->n_keys = 0; break;
		case 1: r->n_keys = PMG_MAX_RANK + 1; break;
		case 2: points.keys[1] = points.numbers[POINTS_NUMBER]; break;
		case 3: r->segments = points.numbers[POINTS_WEIGHT]; break;
		case 4: r->runs = r->segments; break;
		case 5: arrays[points.numbers[POINTS_CHUNKS]].type = PMG_F64; break;
		case 6: points.copies[0].from = points.numbers[POINTS_FLAG]; break;
		case 7: points.copies[0].from = POINTS_ARRAYS; break;
		case 8: points.renumbering.mode = points.numbers[POINTS_NUMBER]; break;
		case 9: r->n_chunks = POINTS_N_SIZES; break;
		case 10: points.places.coordinates = points.numbers[POINTS_WEIGHT]; break;
		case 11: points.desc.n_restructurings = 0; break;
		case 12: arrays[points.numbers[POINTS_RUN_KEYS]].storage = PMG_AS_F32; break;
		case 13: arrays[points.numbers[POINTS_RUN_KEYS]].first_extent = points.desc.n_extents; break;
		case 14: arrays[points.numbers[POINTS_RUN_KEYS]].type = PMG_I64; break;
		case 15: arrays[points.numbers[POINTS_KEYS]].n_factors = -1; break;
		case 16: arrays[points.numbers[POINTS_KEYS]].n_factors = points.desc.n_extents + 1; break;
		case 17: arrays[points.numbers[POINTS_WEIGHTS]].n_factors = 1; break;
		case 18: arrays[points.numbers[POINTS_SEGMENTS]].n_factors = 1; break;
		case 19: arrays[points.numbers[POINTS_KEYS + 2]].n_factors = 1; break;
		case 20: arrays[points.numbers[POINTS_CHUNKS]].rank = 1; break;
		default: arrays[points.numbers[POINTS_PLACE]].is_fixed = false; break;
		}
		contradicts(tests, &points);
		points_free(&points);
	}
}

/* ---- Memory ---- */

static void test_failing_memory(struct tests *tests, const struct points_choice *choice, int wanted)
{
	int n_failed = 0;

	for (int fail_at = 2;; fail_at++) {
		struct counter counter = { .fail_at = fail_at };
		const pmg_allocator allocator = counter_allocator(&counter);
		pmg_context *context = pmg_context_new(&allocator);
		struct points points;
		pmg_plan *plan;
		pmg_status status;

		points_make(&points, choice);
		status = points_plan(&points, context, 2, &plan);
		CHECK(tests, (status == PMG_NO_RESOURCES) == (counter.n_allocated >= fail_at));
		CHECK(tests, (status == PMG_OK) == (plan != NULL));
		CHECK(tests, status == PMG_OK || strncmp(pmg_message(context), "no memory for ", 14) == 0);
		pmg_plan_destroy(plan);
		CHECK(tests, counter.n_live == 1);
		pmg_context_free(context);
		points_free(&points);
		if (counter.n_allocated < fail_at)
			break;
		n_failed++;
	}
	CHECK(tests, n_failed == wanted);
}

static void test_failures(struct tests *tests)
{
	const struct points_choice parts = {
		.n = 3000, .n_keys = 2, .limits = { 90, 500, 100 }, .offsets = PMG_I32, .copies = PMG_I32,
		.given = PMG_I32, .has_parts = true
	};
	struct points_choice large = small_choice;

	large.n = 140000;
	test_failing_memory(tests, &small_choice, 23);
	test_failing_memory(tests, &large, 23);
	test_failing_memory(tests, &parts, 21);
}

/* The limit holds for temporaries as well: the peak is enough, one byte less is not. */
static void test_limit(struct tests *tests)
{
	pmg_context *context = pmg_context_new(NULL);
	pmg_options options = { .context = context, .threads = 2 };
	struct points points;
	pmg_plan *plan;
	int64_t peak;

	points_make(&points, &small_choice);
	CHECK(tests, pmg_plan_new(&points.desc, &points.args, &options, &plan) == PMG_OK);
	options.max_memory = pmg_plan_peak(plan);
	CHECK(tests, options.max_memory > pmg_plan_bytes(plan));
	pmg_plan_destroy(plan);
	pmg_plan_forecast_with(&points.desc, &points.args, &options, &peak);
	CHECK(tests, llabs(peak - options.max_memory) < options.max_memory / 10);
	CHECK(tests, pmg_plan_new(&points.desc, &points.args, &options, &plan) == PMG_OK);
	pmg_plan_destroy(plan);
	options.max_memory--;
	CHECK(tests, pmg_plan_new(&points.desc, &points.args, &options, &plan) == PMG_NO_RESOURCES && !plan);
	CHECK(tests, strncmp(pmg_message(context), "pipeline 'points' needs ", 24) == 0);
	CHECK(tests, pmg_plan_peak(NULL) == 0);
	pmg_context_free(context);
	points_free(&points);
}

/* Where keys cannot be read, a forecast takes all points for runs. */
static void test_forecast_without_data(struct tests *tests)
{
	struct points points;
	int64_t with, without;

	points_make(&points, &small_choice);
	with = pmg_plan_forecast(&points.desc, &points.args);
	points.args.keys[1].data = NULL;
	without = pmg_plan_forecast(&points.desc, &points.args);
	CHECK(tests, with > 0 && with < without);
	points_free(&points);
}

/* What is for inspection only may vanish after planning, and costs nothing. */
static void test_for_inspection(struct tests *tests)
{
	pmg_context *context = pmg_context_new(NULL);
	struct points_choice choice = small_choice;
	struct points points;
	int64_t bytes[2];
	pmg_plan *plan;

	for (int only = 0; only < 2; only++) {
		choice.is_for_inspection = only;
		points_make(&points, &choice);
		CHECK(tests, points_plan(&points, context, 1, &plan) == PMG_OK);
		bytes[only] = pmg_plan_bytes(plan);
		CHECK(tests, (plan->data[POINTS_KEY] == NULL) == only);
		CHECK(tests, pmg_plan_execute(plan, &points.args, NULL) == PMG_OK);
		pmg_plan_destroy(plan);
		points_free(&points);
	}
	CHECK(tests, bytes[0] - bytes[1] == 4 * 24000);
	pmg_context_free(context);
}

/* ---- Order in space ---- */

static void test_morton(struct tests *tests)
{
	static const int64_t flat[][2] = { { 3, 0 }, { 0, 0 }, { 1, 1 }, { 0, 1 }, { 2, 2 }, { 0, 0 }, { 1, 0 } };
	static const int64_t wanted[] = { 1, 5, 3, 6, 2, 0, 4 };
	static const int64_t far[][3] = {
		{ INT64_MAX, 0, 0 }, { 0, INT64_MAX, 0 }, { INT64_MIN, 0, 0 }, { 0, 0, INT64_MAX }
	};
	static const int64_t far_wanted[] = { 2, 3, 1, 0 };
	pmg_context *context = pmg_context_new(NULL);
	pmg_buffer places = pmg_dense((void *) (uintptr_t) flat, PMG_I64, 2, (int64_t[]) { 7, 2 });
	int64_t order[7];

	CHECK(tests, pmg_morton_order(context, &places, 2, order) == PMG_OK);
	CHECK(tests, memcmp(order, wanted, sizeof wanted) == 0);
	places = pmg_dense((void *) (uintptr_t) far, PMG_I64, 2, (int64_t[]) { 4, 3 });
	CHECK(tests, pmg_morton_order(context, &places, 0, order) == PMG_OK);
	CHECK(tests, memcmp(order, far_wanted, sizeof far_wanted) == 0);
	places.shape[0] = 0;
	CHECK(tests, pmg_morton_order(context, &places, 1, order) == PMG_OK);
	places.shape[1] = 4;
	CHECK_FAILS(tests, pmg_morton_order(context, &places, 1, order), context, PMG_BAD_CALL,
		    "places are integers of the host, [n, 2] or [n, 3]");
	CHECK(tests, pmg_morton_order(NULL, &places, 1, order) == PMG_BAD_CALL);
	places.shape[1] = 3;
	CHECK_FAILS(tests, pmg_morton_order(context, &places, 4097, order), context, PMG_BAD_CALL,
		    "threads is 4097, but must be 0 to 4096");
	pmg_context_free(context);
}

/* Parts of one length each, of the places of a cube: each is next to the one before. */
static void test_parts_in_space(struct tests *tests)
{
	enum { SIDE = 8, N = SIDE*SIDE*SIDE };
	const struct points_choice choice = {
		.n_keys = 1, .limits = { N, 1, 1 }, .offsets = PMG_I32, .copies = PMG_I32, .given = PMG_I32,
		.has_parts = true, .has_places = true
	};
	pmg_context *context = pmg_context_new(NULL);
	struct points points;
	pmg_plan *plan;

	points_make(&points, &choice);
	for (int32_t v = 0, *at = points.args.place.data; v < N; v++) {
		const int32_t place = v*197 % N;

		at[3*v] = 5 + place % SIDE;
		at[3*v + 1] = place/SIDE % SIDE - 3;
		at[3*v + 2] = place/SIDE/SIDE;
	}
	CHECK(tests, points_plan(&points, context, 2, &plan) == PMG_OK);
	if (plan) {
		const int32_t *values = plan->data[points.numbers[POINTS_PART_VALUES]], *at = points.args.place.data;
		int64_t n_near = 0;

		for (int64_t p = 1; p < plan->sizes[POINTS_N_PARTS]; p++) {
			int32_t distance = 0;

			for (int d = 0; d < 3; d++)
				distance += abs(at[3*values[p] + d] - at[3*values[p - 1] + d]);
			n_near += distance == 1;
		}
		CHECK(tests, plan->sizes[POINTS_N_PARTS] == N && n_near == N - 1);
		pmg_plan_destroy(plan);
	}
	points_free(&points);
	pmg_context_free(context);
}

void test_restructurings(struct tests *tests)
{
	test_choices(tests);
	test_close_keys(tests);
	test_nothing(tests);
	test_narrow(tests);
	test_far_rows(tests);
	test_range(tests);
	test_descriptions(tests);
	test_failures(tests);
	test_limit(tests);
	test_forecast_without_data(tests);
	test_for_inspection(tests);
	test_morton(tests);
	test_parts_in_space(tests);
}
