/* SPDX-License-Identifier: MIT
 *
 * Live points against a naive filter of all points: weights that settle, shrink, come back and alternate; with and
 * without runs; memory that is short; factors that are not finite. */
#include "runtime/restructure.h"

#include <math.h>
#include <string.h>

enum { N_WEIGHTS = 997, N_POINTS = 36000, PATIENCE = 3, THREADS = 2 };

static const struct points_choice with_runs = {
	.n = N_POINTS, .n_keys = 2, .limits = { 300, 70, N_WEIGHTS }, .offsets = PMG_I32, .copies = PMG_I32,
	.given = PMG_I32, .has_runs = true, .is_narrow = true, .is_for_inspection = true
};
static const struct points_choice without_runs = {
	.n = N_POINTS, .n_keys = 1, .limits = { 4000, 70, N_WEIGHTS }, .offsets = PMG_I64, .copies = PMG_U16,
	.given = PMG_I64, .is_by_threads = true, .has_places = true
};

struct scene {
	struct tests *tests;
	struct points points;
	struct counter counter;
	pmg_allocator allocator;
	pmg_context *context;
	pmg_plan *plan;
	double weights[N_WEIGHTS];
	const void *all;                /* the offsets of segments of all points */
	int64_t bytes;                  /* of the plan before any execution */
};

/* A kernel gets the arguments only, which stand in the description of the test. */
static int32_t number_of(const void *args, enum points_array which)
{
	const struct points *points = (const void *) ((const char *) args - offsetof(struct points, args));

	return points->numbers[which];
}

static pmg_status live_kernel(pmg_plan *plan, const void *args, pmg_control *control)
{
	(void) control;
	pmg_live_points(plan, 0, number_of(args, POINTS_LIVE), number_of(args, POINTS_KEYS + 2), true);
	return PMG_OK;
}

static pmg_status infinite_kernel(pmg_plan *plan, const void *args, pmg_control *control)
{
	(void) control;
	pmg_live_points(plan, 0, number_of(args, POINTS_LIVE), number_of(args, POINTS_KEYS + 2), false);
	return PMG_OK;
}

static pmg_status all_kernel(pmg_plan *plan, const void *args, pmg_control *control)
{
	live_kernel(plan, args, control);
	pmg_all_points(plan, 0);
	return PMG_OK;
}

static void plan_again(struct scene *scene, pmg_kernel *kernel, int64_t max_memory)
{
	const pmg_options options = { .threads = THREADS, .context = scene->context, .max_memory = max_memory };

	pmg_plan_destroy(scene->plan);
	scene->points.desc.kernel = kernel;
	CHECK(scene->tests, pmg_plan_new(&scene->points.desc, &scene->points.args, &options, &scene->plan) == PMG_OK);
	scene->all = scene->plan->data[scene->points.numbers[POINTS_SEGMENTS]];
	scene->bytes = pmg_plan_bytes(scene->plan);
}

static void scene_begin(struct scene *scene, struct tests *tests, const struct points_choice *choice)
{
	const int64_t n = N_WEIGHTS;

	memset(scene, 0, sizeof *scene);
	scene->tests = tests;
	scene->allocator = counter_allocator(&scene->counter);
	scene->context = pmg_context_new(&scene->allocator);
	points_make(&scene->points, choice);
	scene->points.args.live = pmg_dense(scene->weights, PMG_F64, 1, &n);
	plan_again(scene, live_kernel, 0);
}

static void scene_end(struct scene *scene)
{
	pmg_plan_destroy(scene->plan);
	CHECK(scene->tests, scene->counter.n_live == 1);
	pmg_context_free(scene->context);
	points_free(&scene->points);
}

/* One weight in `step` is not zero, beginning with number `first`. */
static void weights_set(struct scene *scene, int first, int step)
{
	for (int i = 0; i < N_WEIGHTS; i++)
		scene->weights[i] = i % step == first ? 1.0 + i : i % 2 ? -0.0 : 0.0;
}

static bool is_short(const struct scene *scene)
{
	return scene->plan->data[scene->points.numbers[POINTS_SEGMENTS]] != scene->all;
}

static void run(struct scene *scene, bool wanted)
{
	CHECK(scene->tests, pmg_plan_execute(scene->plan, &scene->points.args, NULL) == PMG_OK);
	CHECK(scene->tests, is_short(scene) == wanted);
}

static void runs(struct scene *scene, int n, bool wanted)
{
	for (int i = 0; i < n; i++)
		run(scene, wanted);
}

/* That the plan shows the points of these weights, and no other. */
static void shows(struct scene *scene, const double *weights)
{
	scene->points.live = weights;
	points_check(scene->tests, &scene->points, scene->plan, THREADS);
	scene->points.live = NULL;
}

static void test_settle(struct tests *tests, const struct points_choice *choice)
{
	struct scene scene;

	scene_begin(&scene, tests, choice);
	weights_set(&scene, 0, 1);
	runs(&scene, PATIENCE + 1, false);
	CHECK(tests, pmg_plan_bytes(scene.plan) == scene.bytes);
	weights_set(&scene, 1, 5);
	runs(&scene, PATIENCE - 1, false);
	run(&scene, true);
	shows(&scene, scene.weights);
	CHECK(tests, pmg_plan_bytes(scene.plan) > scene.bytes);
	scene_end(&scene);
}

static void test_shrink(struct tests *tests, const struct points_choice *choice)
{
	double before[N_WEIGHTS];
	struct scene scene;

	scene_begin(&scene, tests, choice);
	weights_set(&scene, 1, 5);
	runs(&scene, PATIENCE - 1, false);
	run(&scene, true);
	memcpy(before, scene.weights, sizeof before);
	weights_set(&scene, 1, 25);
	runs(&scene, PATIENCE - 1, true);
	shows(&scene, before);
	run(&scene, true);
	shows(&scene, scene.weights);
	scene_end(&scene);
}

/* What comes back is there at once; two that alternate are both in the copy. */
static void test_return(struct tests *tests, const struct points_choice *choice)
{
	double both[N_WEIGHTS];
	struct scene scene;

	scene_begin(&scene, tests, choice);
	weights_set(&scene, 1, 5);
	runs(&scene, PATIENCE - 1, false);
	run(&scene, true);
	memcpy(both, scene.weights, sizeof both);
	for (int i = 0; i < 2 * PATIENCE; i++) {
		weights_set(&scene, 1 + i % 2, 5);
		run(&scene, i < 1);
	}
	shows(&scene, NULL);
	weights_set(&scene, 2, 5);
	for (int i = 0; i < N_WEIGHTS; i++)
		both[i] += scene.weights[i];
	run(&scene, true);
	shows(&scene, both);
	weights_set(&scene, 0, 1);
	run(&scene, false);
	shows(&scene, NULL);
	scene_end(&scene);
}

static void test_all(struct tests *tests)
{
	struct scene scene;

	scene_begin(&scene, tests, &with_runs);
	plan_again(&scene, all_kernel, 0);
	weights_set(&scene, 1, 5);
	runs(&scene, 2 * PATIENCE, false);
	shows(&scene, NULL);
	scene_end(&scene);
}

/* Zero times infinity is no zero: of another factor, or of a copy. */
static void test_infinite(struct tests *tests)
{
	struct points_choice choice = with_runs;
	struct scene scene;

	choice.is_for_inspection = false;
	scene_begin(&scene, tests, &choice);
	plan_again(&scene, infinite_kernel, 0);
	weights_set(&scene, 1, 5);
	runs(&scene, 2 * PATIENCE, false);
	((float *) scene.points.args.ratio.data)[77] = (float) INFINITY;
	plan_again(&scene, live_kernel, 0);
	runs(&scene, 2 * PATIENCE, false);
	scene_end(&scene);
}

/* Without memory all points stay, and nothing is lost. */
static void test_memory_limit(struct tests *tests)
{
	for (int more = 0; more < 12; more++) {
		struct scene scene;

		scene_begin(&scene, tests, &with_runs);
		plan_again(&scene, live_kernel, pmg_plan_peak(scene.plan) + more * 80000);
		weights_set(&scene, 1, 5);
		for (int i = 0; i < PATIENCE; i++)
			CHECK(tests, pmg_plan_execute(scene.plan, &scene.points.args, NULL) == PMG_OK);
		shows(&scene, is_short(&scene) ? scene.weights : NULL);
		CHECK(tests, more > 0 || !is_short(&scene));
		CHECK(tests, more < 11 || is_short(&scene));
		scene_end(&scene);
	}
}

static void test_failures(struct tests *tests)
{
	for (int n = 1; n < 25; n++) {
		struct scene scene;

		scene_begin(&scene, tests, &without_runs);
		scene.counter.fail_at = scene.counter.n_allocated + n;
		weights_set(&scene, 1, 5);
		for (int i = 0; i < PATIENCE; i++)
			CHECK(tests, pmg_plan_execute(scene.plan, &scene.points.args, NULL) == PMG_OK);
		shows(&scene, is_short(&scene) ? scene.weights : NULL);
		CHECK(tests, n > 1 || !is_short(&scene));
		CHECK(tests, n < 24 || is_short(&scene));
		scene_end(&scene);
	}
}

void test_live(struct tests *tests)
{
	static const struct points_choice *const choices[] = { &with_runs, &without_runs };

	for (int i = 0; i < 2; i++) {
		test_settle(tests, choices[i]);
		test_shrink(tests, choices[i]);
		test_return(tests, choices[i]);
	}
	test_all(tests);
	test_infinite(tests);
	test_memory_limit(tests);
	test_failures(tests);
}
