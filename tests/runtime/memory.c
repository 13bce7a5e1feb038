/* SPDX-License-Identifier: MIT
 *
 * Memory: forecasts against what a plan holds, the limit, every allocation failing in turn without a leak
 * and without an output written, and plans in several threads at once. */
#include "runtime/check.h"
#include "runtime/pipelines.h"

#include <stdio.h>
#include <string.h>

/* A context and a plan whose allocation number `fail_at` fails; `data` needs conversions and scratch. */
struct attempt {
	struct counter counter;
	pmg_context *context;
	pmg_plan *plan;
	pmg_status planned, executed;
};

static void attempt_make(struct attempt *attempt, const pmg_pipeline_desc *desc, const void *args,
			 int fail_at)
{
	const pmg_allocator allocator = counter_allocator(&attempt->counter);

	*attempt = (struct attempt) { .counter = { .fail_at = fail_at } };
	attempt->context = pmg_context_new(&allocator);
	if (!attempt->context)
		return;
	attempt->planned = pmg_plan_new(desc, args, &(pmg_options) { .context = attempt->context },
					&attempt->plan);
	if (attempt->planned == PMG_OK)
		attempt->executed = pmg_plan_execute(attempt->plan, args, NULL);
}

static void attempt_end(struct tests *tests, struct attempt *attempt)
{
	pmg_plan_destroy(attempt->plan);
	pmg_context_free(attempt->context);
	CHECK(tests, attempt->counter.n_live == 0 && attempt->counter.live_bytes == 0);
}

/* Whether a failure at `fail_at` was reported as such; false also when nothing failed. */
static bool is_reported(const struct attempt *attempt)
{
	if (!attempt->context)
		return true;
	if (attempt->planned == PMG_NO_RESOURCES)
		return !attempt->plan && strncmp(pmg_message(attempt->context), "no memory for ", 14) == 0;
	return attempt->executed == PMG_NO_RESOURCES;
}

static void test_failing_life(struct tests *tests)
{
	int n_failed = 0;

	for (int fail_at = 1;; fail_at++) {
		struct attempt attempt;
		struct life_case data;
		double wide[10][6];

		life_fill(&data);
		data.args.value.data = (char *) data.value + 40;
		data.args.value.strides[0] = -8;
		data.args.D.strides[0] = 0;
		data.args.Y.data = wide;
		data.args.Y.strides[0] = sizeof wide[0];
		wide[0][0] = 77;
		attempt_make(&attempt, life_describe(), &data.args, fail_at);
		attempt_end(tests, &attempt);
		if (attempt.counter.n_allocated < fail_at)
			break;
		CHECK(tests, wide[0][0] == 77);
		n_failed++;
	}
	CHECK(tests, n_failed == 5);
}

static void test_failing_steps(struct tests *tests)
{
	int n_failed = 0;

	for (int fail_at = 1;; fail_at++) {
		struct attempt attempt;
		struct steps_case data;
		int32_t level[] = { 1, 2, 3 };

		steps_fill(&data);
		data.args.level = pmg_dense(level, PMG_I32, 1, &data.args.n);
		attempt_make(&attempt, steps_describe(), &data.args, fail_at);
		CHECK(tests, is_reported(&attempt) == (attempt.counter.n_allocated >= fail_at));
		CHECK(tests, is_reported(&attempt) == (data.count == 0));
		attempt_end(tests, &attempt);
		if (attempt.counter.n_allocated < fail_at)
			break;
		n_failed++;
	}
	CHECK(tests, n_failed == 6);
}

static void test_failing_forest(struct tests *tests)
{
	int n_failed = 0;

	for (int fail_at = 1;; fail_at++) {
		struct attempt attempt;
		struct forest_case data;

		forest_fill(&data);
		attempt_make(&attempt, forest_describe(), &data.args, fail_at);
		CHECK(tests, is_reported(&attempt) == (attempt.counter.n_allocated >= fail_at));
		attempt_end(tests, &attempt);
		if (attempt.counter.n_allocated < fail_at)
			break;
		n_failed++;
	}
	CHECK(tests, n_failed == 5);
}

/* The forecast is what the plan holds, the limit is met exactly, one byte less is refused before allocation.
 * */
static void forecast_holds(struct tests *tests, const pmg_pipeline_desc *desc, const void *args)
{
	struct counter counter = { 0 };
	const pmg_allocator allocator = counter_allocator(&counter);
	pmg_context *context = pmg_context_new(&allocator);
	const int64_t forecast = pmg_plan_forecast(desc, args);
	pmg_options options = { .context = context, .max_memory = forecast };
	const size_t before = counter.live_bytes;
	char message[128];
	pmg_plan *plan;

	CHECK(tests, pmg_plan_new(desc, args, &options, &plan) == PMG_OK);
	CHECK(tests, pmg_plan_bytes(plan) == forecast);
	CHECK(tests, (int64_t) (counter.live_bytes - before) == forecast);
	pmg_plan_destroy(plan);
	options.max_memory--;
	counter.n_allocated = 0;
	snprintf(message, sizeof message, "pipeline '%s' needs %lld bytes, but the limit is %lld", desc->name,
		 (long long) forecast, (long long) options.max_memory);
	CHECK_FAILS(tests, pmg_plan_new(desc, args, &options, &plan), context, PMG_NO_RESOURCES, message);
	CHECK(tests, counter.n_allocated == 0);
	pmg_context_free(context);
}

static void test_forecasts(struct tests *tests)
{
	struct life_case life;
	struct forest_case forest;
	struct steps_case steps;
	int64_t dense;

	life_fill(&life);
	forest_fill(&forest);
	steps_fill(&steps);
	forecast_holds(tests, life_describe(), &life.args);
	forecast_holds(tests, forest_describe(), &forest.args);
	forecast_holds(tests, steps_describe(), &steps.args);
	dense = pmg_plan_forecast(life_describe(), &life.args);
	life.args.D.strides[0] = 0;
	life.args.voxel.strides[0] = 0;
	CHECK(tests, pmg_plan_forecast(life_describe(), &life.args) == dense + 128 + 64);
	forecast_holds(tests, life_describe(), &life.args);
}

/* Scratch of an execution counts as well, and a plan survives that it was refused. */
static void test_limit_of_scratch(struct tests *tests)
{
	pmg_context *context = pmg_context_new(NULL);
	pmg_options options = { .context = context };
	struct life_case data;
	double wide[10][6];
	pmg_plan *plan;
	char message[128];

	life_fill(&data);
	options.max_memory = pmg_plan_forecast(life_describe(), &data.args) + 100;
	CHECK(tests, pmg_plan_new(life_describe(), &data.args, &options, &plan) == PMG_OK);
	data.args.Y.data = wide;
	data.args.Y.strides[0] = sizeof wide[0];
	snprintf(message, sizeof message, "pipeline 'life_dsc' needs %lld bytes, but the limit is %lld",
		 (long long) options.max_memory - 100 + 448, (long long) options.max_memory);
	CHECK_FAILS(tests, pmg_plan_execute(plan, &data.args, NULL), context, PMG_NO_RESOURCES, message);
	data.args.Y = pmg_dense(data.Y, PMG_F64, 2, (int64_t[]) { 10, 5 });
	CHECK(tests, pmg_plan_execute(plan, &data.args, NULL) == PMG_OK && life_is_right(&data));
	pmg_plan_destroy(plan);
	pmg_context_free(context);
}

/* A large strided array goes through scratch in several pieces and threads. */
static void test_large_copy(struct tests *tests)
{
	enum { N = 70001 };
	static double w[3][N], Y[3][2 * N];
	struct life_case data;
	pmg_context *context = pmg_context_new(NULL);
	pmg_plan *plan;
	bool ok = true;

	life_fill(&data);
	data.args.nTheta = N;
	data.args.nVoxels = data.args.nFibers = 3;
	for (int k = 0; k < 6; k++)
		data.voxel[k] = data.fiber[k] = data.atom[k];
	for (int i = 0; i < 3 * N; i++)
		w[i / N][i % N] = i;
	data.args.D = pmg_dense(&w[2][N - 1], PMG_F64, 2, (int64_t[]) { 3, N });
	data.args.D.strides[0] *= -1;
	data.args.D.strides[1] *= -1;
	data.args.w.shape[0] = 3;
	data.args.Y = pmg_dense(Y, PMG_F64, 2, (int64_t[]) { 3, N });
	data.args.Y.strides[0] *= 2;
	data.args.Y.strides[1] *= 2;
	CHECK(tests, pmg_plan_new(life_describe(), &data.args,
				  &(pmg_options) { .context = context, .threads = 4 }, &plan) == PMG_OK);
	CHECK(tests, pmg_plan_execute(plan, &data.args, NULL) == PMG_OK);
	for (int v = 0; v < 3; v++)
		for (int t = 0; t < N; t++)
			ok = ok && Y[v][2 * t] == w[2 - v][N - 1 - t] * data.w[v] * (2 * v + 5);
	CHECK(tests, ok);
	pmg_plan_destroy(plan);
	pmg_context_free(context);
}

/* Two threads, each with a context and plans of its own. */
static void test_two_threads(struct tests *tests)
{
	int n_right = 0;

#ifdef _OPENMP
#pragma omp parallel for num_threads(2) reduction(+ : n_right)
#endif
	for (int i = 0; i < 20; i++) {
		struct attempt attempt;
		struct life_case data;

		life_fill(&data);
		data.args.voxel.strides[0] = i % 3 == 0 ? 8 : 0;
		attempt_make(&attempt, life_describe(), &data.args, 0);
		n_right += attempt.executed == PMG_OK && life_is_right(&data) == (i % 3 == 0);
		pmg_plan_destroy(attempt.plan);
		pmg_context_free(attempt.context);
		n_right += attempt.counter.n_live == 0;
	}
	CHECK(tests, n_right == 40);
}

void test_memory(struct tests *tests)
{
	test_forecasts(tests);
	test_limit_of_scratch(tests);
	test_failing_life(tests);
	test_failing_steps(tests);
	test_failing_forest(tests);
	test_large_copy(tests);
	test_two_threads(tests);
}
