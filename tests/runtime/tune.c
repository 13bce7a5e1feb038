/* SPDX-License-Identifier: MIT
 *
 * Plans that choose: candidates of the life pipeline that are slow, fast, large or wrong on purpose, under every way to
 * choose, limits of memory and allocations that fail. */
#include "runtime/check.h"
#include "runtime/pipelines.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- Candidates ---- */

enum { FIRST, FAST, LARGE, BROKEN, N_CANDIDATES };

enum { LARGE_ELEMENTS = 1000 };

struct family {
	pmg_pipeline_desc desc[N_CANDIDATES];
	const pmg_pipeline_desc *list[N_CANDIDATES];
	pmg_array_desc large_arrays[LIFE_ARRAYS + 1];
};

static pmg_status busy_kernel(int tenths_of_ms, pmg_plan *plan, const void *args, pmg_control *control)
{
	const clock_t until = clock() + CLOCKS_PER_SEC / 10000 * tenths_of_ms;

	while (clock() < until)
		;
	return life_describe()->kernel(plan, args, control);
}

static pmg_status slow_kernel(pmg_plan *plan, const void *args, pmg_control *control)
{
	return busy_kernel(200, plan, args, control);
}

static pmg_status hardly_faster_kernel(pmg_plan *plan, const void *args, pmg_control *control)
{
	return busy_kernel(198, plan, args, control);
}

static pmg_status faster_kernel(pmg_plan *plan, const void *args, pmg_control *control)
{
	return busy_kernel(170, plan, args, control);
}

static pmg_status broken_kernel(pmg_plan *plan, const void *args, pmg_control *control)
{
	(void) plan;
	(void) args;
	(void) control;
	return PMG_NUMERICAL;
}

static const pmg_extent large_shape[] = {
	{ .param = -1, .constant = LARGE_ELEMENTS, .text = "1000" }
};

static void large_extents(const void *args, int64_t *values)
{
	life_describe()->extents(args, values);
	values[12] = LARGE_ELEMENTS;
}

static const pmg_work_desc works[N_CANDIDATES] = {
	[FIRST] = { .name = "Y", .flops = 300 }, [FAST] = { .name = "Y", .flops = 3 },
	[LARGE] = { .name = "Y", .flops = 2 }, [BROKEN] = { .name = "Y", .flops = 1 }
};

static void count_coeffs(const pmg_plan *plan, const void *args, double *counts)
{
	(void) plan;
	counts[0] = 1e6 * (double) ((const life_args *) args)->nCoeffs;
	counts[1] = 0;
}

static void family_fill(struct family *family)
{
	static const char *const choices[] = { NULL, "fast", "large", "broken" };

	memcpy(family->large_arrays, life_describe()->arrays, LIFE_ARRAYS * sizeof *family->large_arrays);
	family->large_arrays[LIFE_ARRAYS] = (pmg_array_desc) {
		.name = "large", .role = PMG_TEMP, .type = PMG_F64, .rank = 1, .shape = large_shape,
		.first_extent = 12, .segments = -1, .offset = SIZE_MAX, .place = "life.pmg:6"
	};
	for (int i = 0; i < N_CANDIDATES; i++) {
		family->desc[i] = *life_describe();
		family->list[i] = &family->desc[i];
		family->desc[i].choice = choices[i];
		family->desc[i].n_work = 1;
		family->desc[i].work = &works[i];
		family->desc[i].count = count_coeffs;
	}
	family->desc[FIRST].n_candidates = N_CANDIDATES;
	family->desc[FIRST].candidates = family->list;
	family->desc[FIRST].kernel = slow_kernel;
	family->desc[BROKEN].kernel = broken_kernel;
	family->desc[LARGE].n_arrays = LIFE_ARRAYS + 1;
	family->desc[LARGE].n_extents = 13;
	family->desc[LARGE].arrays = family->large_arrays;
	family->desc[LARGE].extents = large_extents;
	family->desc[FAST].is_ordered = true;
}

/* ---- One plan ---- */

struct attempt {
	struct counter counter;
	struct family family;
	struct life_case data;
	pmg_context *context;
	pmg_plan *plan;
	const pmg_report *report;
	pmg_status status;
};

static void attempt_begin(struct attempt *attempt, int fail_at)
{
	const pmg_allocator allocator = counter_allocator(&attempt->counter);

	*attempt = (struct attempt) { .counter = { .fail_at = fail_at } };
	family_fill(&attempt->family);
	life_fill(&attempt->data);
	attempt->context = pmg_context_new(&allocator);
}

static void attempt_plan(struct attempt *attempt, pmg_options options)
{
	options.context = attempt->context;
	options.threads = 1;
	attempt->data.Y[0][0] = 77;
	attempt->status = pmg_plan_new(&attempt->family.desc[FIRST], &attempt->data.args, &options, &attempt->plan);
	attempt->report = pmg_plan_report(attempt->plan);
}

static void attempt_end(struct tests *tests, struct attempt *attempt)
{
	if (attempt->plan) {
		CHECK(tests, attempt->data.Y[0][0] == 77);
		attempt->status = pmg_plan_execute(attempt->plan, &attempt->data.args, NULL);
		if (attempt->counter.fail_at == 0)
			CHECK(tests, attempt->status == PMG_OK);
		CHECK(tests, attempt->status != PMG_OK || life_is_right(&attempt->data));
	}
	pmg_plan_destroy(attempt->plan);
	pmg_context_free(attempt->context);
	CHECK(tests, attempt->counter.n_live == 0 && attempt->counter.live_bytes == 0);
}

static bool has_chosen(const struct attempt *attempt, const char *choice, const char *reason)
{
	return attempt->status == PMG_OK && strcmp(attempt->report->choice, choice) == 0 &&
	       strcmp(attempt->report->reason, reason) == 0;
}

/* ---- Ways to choose ---- */

static void test_off(struct tests *tests)
{
	struct attempt attempt;

	attempt_begin(&attempt, 0);
	attempt_plan(&attempt, (pmg_options) { .tune = PMG_TUNE_OFF });
	CHECK(tests, has_chosen(&attempt, "", "the first"));
	CHECK(tests, attempt.report->n_trials == 0 && attempt.report->inspection > 0);
	attempt_end(tests, &attempt);
	CHECK(tests, !pmg_plan_report(NULL));
}

/* A candidate that is meant for other sizes is taken where all are. */
static void test_unfit(struct tests *tests)
{
	struct attempt attempt;

	attempt_begin(&attempt, 0);
	attempt.family.desc[FIRST].suits = suits_none;
	attempt_plan(&attempt, (pmg_options) { .tune = PMG_TUNE_OFF });
	CHECK(tests, has_chosen(&attempt, "fast", "the first that suits the sizes"));
	attempt_end(tests, &attempt);

	attempt_begin(&attempt, 0);
	attempt.family.desc[FAST].suits = attempt.family.desc[BROKEN].suits = suits_none;
	attempt_plan(&attempt, (pmg_options) { .tune = PMG_TUNE_ESTIMATE });
	CHECK(tests, has_chosen(&attempt, "large", "estimated"));
	CHECK(tests, strcmp(attempt.report->trials[FAST].problem, "it is meant for other sizes") == 0);
	attempt_end(tests, &attempt);

	attempt_begin(&attempt, 0);
	for (int i = 0; i < N_CANDIDATES; i++)
		attempt.family.desc[i].suits = suits_none;
	attempt_plan(&attempt, (pmg_options) { .tune = PMG_TUNE_OFF });
	CHECK(tests, has_chosen(&attempt, "", "the first"));
	attempt_end(tests, &attempt);
}

static void test_estimate(struct tests *tests)
{
	struct attempt attempt;

	attempt_begin(&attempt, 0);
	attempt.family.desc[FIRST].n_candidates = BROKEN;
	attempt_plan(&attempt, (pmg_options) { 0 });
	CHECK(tests, has_chosen(&attempt, "large", "estimated"));
	CHECK(tests, attempt.report->n_trials == 3 && attempt.report->trials[FAST].n_runs == 0);
	CHECK(tests, attempt.report->trials[FIRST].estimate > attempt.report->trials[FAST].estimate);
	CHECK(tests, attempt.report->trials[FAST].estimate > attempt.report->trials[LARGE].estimate);
	CHECK(tests, attempt.report->trials[LARGE].estimate > 0);
	attempt_end(tests, &attempt);
}

static double least_of(const pmg_trial *trial)
{
	double least = trial->runs[0];

	for (int i = 1; i < trial->n_runs; i++)
		least = trial->runs[i] < least ? trial->runs[i] : least;
	return least;
}

/* What is estimated far above the others is not tried. */
static void test_measure(struct tests *tests)
{
	struct attempt attempt;
	const pmg_trial *trials;

	attempt_begin(&attempt, 0);
	attempt.family.desc[FIRST].work = &works[FAST];
	attempt.family.desc[LARGE].work = &works[FIRST];
	attempt_plan(&attempt, (pmg_options) { .tune = PMG_TUNE_MEASURE });
	trials = attempt.report->trials;
	CHECK(tests, has_chosen(&attempt, "fast", "measured"));
	CHECK(tests, trials[FIRST].n_runs == PMG_TRIAL_RUNS && trials[FAST].n_runs == PMG_TRIAL_RUNS);
	CHECK(tests, least_of(&trials[FIRST]) >= 0.015 && least_of(&trials[FAST]) < 0.015);
	CHECK(tests, trials[FIRST].inspection > 0 && attempt.report->tuning > 0.045);
	CHECK(tests, trials[BROKEN].n_runs == 0 && strcmp(trials[BROKEN].problem,
		     "the kernel of pipeline 'life_dsc' failed with status 6") == 0);
	CHECK(tests, trials[LARGE].n_runs == 0 &&
		     strcmp(trials[LARGE].problem, "its estimate is far above the least") == 0);
	attempt_end(tests, &attempt);
}

/* What other work on the machine may spoil is tried so often before it counts. */
enum { ATTEMPTS = 20 };

static int n_calls, n_allowed;

static pmg_status tiring_kernel(pmg_plan *plan, const void *args, pmg_control *control)
{
	return ++n_calls <= n_allowed ? slow_kernel(plan, args, control) : PMG_NUMERICAL;
}

/* Candidates of one speed are run four more times beside the best so far, and another four if they are close; one
 * fails in the second of its turns. False where one of them seemed slower. */
static bool has_taken_turns(struct tests *tests, bool is_last)
{
	struct attempt attempt;
	const pmg_trial *trials;
	int32_t in_turns;
	bool is_right;

	attempt_begin(&attempt, 0);
	for (int i = 0; i < N_CANDIDATES; i++) {
		attempt.family.desc[i].work = &works[FAST];
		attempt.family.desc[i].kernel = i == BROKEN ? tiring_kernel : slow_kernel;
	}
	n_calls = 0;
	n_allowed = PMG_TRIAL_RUNS + 1;
	attempt_plan(&attempt, (pmg_options) { .tune = PMG_TUNE_MEASURE });
	trials = attempt.report->trials;
	in_turns = trials[FIRST].n_runs + trials[FAST].n_runs + trials[LARGE].n_runs - 3*3 - 2;
	is_right = (in_turns == 4*4 || in_turns == 6*4 || in_turns == 8*4) && trials[BROKEN].n_runs == 4;
	CHECK(tests, attempt.status == PMG_OK && strcmp(attempt.report->reason, "measured") == 0);
	if (is_right || is_last) {
		CHECK(tests, is_right);
		CHECK(tests, strcmp(trials[BROKEN].problem,
				    "the kernel of pipeline 'life_dsc' failed with status 6") == 0);
	}
	attempt_end(tests, &attempt);
	return is_right;
}

/* The second of two candidates is taken if it is faster by more than chance explains. */
static bool is_chosen_from_two(struct tests *tests, pmg_kernel *second, bool is_expected, bool is_last)
{
	struct attempt attempt;
	bool is_right;

	attempt_begin(&attempt, 0);
	attempt.family.desc[FIRST].n_candidates = LARGE;
	for (int i = 0; i < LARGE; i++)
		attempt.family.desc[i].work = &works[FAST];
	attempt.family.desc[FAST].kernel = second;
	attempt_plan(&attempt, (pmg_options) { .tune = PMG_TUNE_MEASURE });
	is_right = attempt.report && strcmp(attempt.report->choice, is_expected ? "fast" : "") == 0 &&
		   attempt.report->trials[FAST].n_runs > PMG_TRIAL_RUNS;
	if (is_right || is_last)
		CHECK(tests, is_right);
	attempt_end(tests, &attempt);
	return is_right;
}

static void test_margin(struct tests *tests)
{
	for (int left = ATTEMPTS; left-- > 0 && !is_chosen_from_two(tests, hardly_faster_kernel, false, left == 0);)
		;
	for (int left = ATTEMPTS; left-- > 0 && !is_chosen_from_two(tests, faster_kernel, true, left == 0);)
		;
}

static void test_turns(struct tests *tests)
{
	struct attempt attempt;
	const pmg_trial *trials;

	for (int left = ATTEMPTS; left-- > 0 && !has_taken_turns(tests, left == 0);)
		;

	attempt_begin(&attempt, 0);
	attempt.family.desc[FIRST].n_candidates = LARGE;
	for (int i = 0; i < LARGE; i++) {
		attempt.family.desc[i].work = &works[FAST];
		attempt.family.desc[i].kernel = i == FIRST ? tiring_kernel : slow_kernel;
	}
	n_calls = 0;
	n_allowed = 2 + PMG_TRIAL_RUNS;  /* two to find how many make a run */
	attempt_plan(&attempt, (pmg_options) { .tune = PMG_TUNE_MEASURE });
	trials = attempt.report->trials;
	CHECK(tests, has_chosen(&attempt, "fast", "measured"));
	CHECK(tests, strcmp(trials[FIRST].problem, "it has failed beside another one") == 0);
	attempt_end(tests, &attempt);
}

/* Inputs that are not there are made up; those that are there are only read. */
static void test_inputs(struct tests *tests)
{
	struct attempt attempt;
	double w[4];

	attempt_begin(&attempt, 0);
	memcpy(w, attempt.data.w, sizeof w);
	attempt.data.args.w.data = attempt.data.args.Y.data = NULL;
	attempt_plan(&attempt, (pmg_options) { .tune = PMG_TUNE_MEASURE, .max_memory = 1 << 20 });
	CHECK(tests, attempt.status == PMG_OK && strcmp(attempt.report->reason, "measured") == 0);
	attempt.data.args.w.data = attempt.data.w;
	attempt.data.args.Y.data = attempt.data.Y;
	CHECK(tests, memcmp(w, attempt.data.w, sizeof w) == 0);
	attempt_end(tests, &attempt);
}

static void test_named(struct tests *tests)
{
	struct attempt attempt;

	attempt_begin(&attempt, 0);
	attempt_plan(&attempt, (pmg_options) { .candidate = "fast", .tune = PMG_TUNE_MEASURE });
	CHECK(tests, has_chosen(&attempt, "fast", "asked for") && attempt.report->n_trials == 0);
	attempt_end(tests, &attempt);
	attempt_begin(&attempt, 0);
	attempt_plan(&attempt, (pmg_options) { .candidate = "" });
	CHECK(tests, has_chosen(&attempt, "", "asked for"));
	attempt_end(tests, &attempt);
	attempt_begin(&attempt, 0);
	attempt_plan(&attempt, (pmg_options) { .candidate = PMG_FIRST_CANDIDATE });
	CHECK(tests, has_chosen(&attempt, "", "asked for"));
	attempt_end(tests, &attempt);
	attempt_begin(&attempt, 0);
	attempt_plan(&attempt, (pmg_options) { .candidate = "faster" });
	CHECK_FAILS(tests, attempt.status, attempt.context, PMG_BAD_CALL,
		    "pipeline 'life_dsc' has no candidate 'faster'; there are 'first', 'fast', 'large', 'broken'");
	attempt_end(tests, &attempt);
	attempt_begin(&attempt, 0);
	attempt.family.desc[FIRST].n_candidates = 0;
	attempt_plan(&attempt, (pmg_options) { .candidate = "faster" });
	CHECK_FAILS(tests, attempt.status, attempt.context, PMG_BAD_CALL,
		    "pipeline 'life_dsc' has no candidate 'faster', only one, 'first'");
	attempt_end(tests, &attempt);
}

static void test_deterministic(struct tests *tests)
{
	static const char message[] = "pipeline 'life_dsc' was compiled to no kernel whose sums have one order; "
				      "pmgc --deterministic=on makes one";
	struct attempt attempt;

	for (int tune = PMG_TUNE_ESTIMATE; tune <= PMG_TUNE_MEASURE; tune++) {
		attempt_begin(&attempt, 0);
		attempt_plan(&attempt, (pmg_options) { .deterministic = true, .tune = (pmg_tune) tune });
		CHECK(tests, has_chosen(&attempt, "fast", tune == PMG_TUNE_OFF ? "the first that is ordered"
									: "estimated"));
		attempt_end(tests, &attempt);
		attempt_begin(&attempt, 0);
		attempt.family.desc[FAST].is_ordered = false;
		attempt_plan(&attempt, (pmg_options) { .deterministic = true, .tune = (pmg_tune) tune });
		CHECK_FAILS(tests, attempt.status, attempt.context, PMG_BAD_CALL, message);
		attempt_end(tests, &attempt);
	}
}

/* Wrong data is told once, as without trials. */
static void test_wrong_data(struct tests *tests)
{
	struct attempt attempt;

	attempt_begin(&attempt, 0);
	attempt.data.voxel[2] = 10;
	attempt_plan(&attempt, (pmg_options) { .tune = PMG_TUNE_MEASURE });
	CHECK(tests, attempt.status == PMG_BAD_DATA && !attempt.plan);
	CHECK(tests, strstr(pmg_message(attempt.context), "array 'PHI.voxel' holds 10 at [2]"));
	attempt_end(tests, &attempt);
}

static void test_contradictions(struct tests *tests)
{
	struct attempt attempt;

	attempt_begin(&attempt, 0);
	attempt.family.desc[LARGE].choice = NULL;
	attempt_plan(&attempt, (pmg_options) { .tune = PMG_TUNE_OFF });
	CHECK_FAILS(tests, attempt.status, attempt.context, PMG_INTERNAL,
		    "the description of pipeline 'life_dsc' contradicts itself");
	attempt_end(tests, &attempt);
}

/* ---- Loops ---- */

/* A plan that was chosen by trials is as new: its states are zero, nothing can be resumed. */
static void test_states(struct tests *tests)
{
	pmg_pipeline_desc first = *steps_describe(), other = *steps_describe();
	const pmg_pipeline_desc *list[] = { &first, &other };
	pmg_context *context = pmg_context_new(NULL);
	pmg_options options = { .context = context, .tune = PMG_TUNE_MEASURE };
	struct steps_case measured, plain;
	pmg_control control = { .budget = -1, .resume = true };
	pmg_plan *plan;

	first.n_candidates = 2;
	first.candidates = list;
	other.choice = "other";
	steps_fill(&measured);
	steps_fill(&plain);
	CHECK(tests, pmg_plan_new(&first, &measured.args, &options, &plan) == PMG_OK);
	CHECK(tests, strcmp(pmg_plan_report(plan)->reason, "measured") == 0);
	CHECK_FAILS(tests, pmg_plan_execute(plan, &measured.args, &control), context, PMG_BAD_CALL,
		    "pipeline 'steps' has no stopped run to resume");
	CHECK(tests, pmg_plan_execute(plan, &measured.args, NULL) == PMG_OK);
	pmg_plan_destroy(plan);
	CHECK(tests, pmg_plan_new(steps_describe(), &plain.args, &(pmg_options) { .context = context }, &plan) == 0);
	CHECK(tests, pmg_plan_execute(plan, &plain.args, NULL) == PMG_OK);
	CHECK(tests, memcmp(measured.v, plain.v, sizeof plain.v) == 0 &&
		     memcmp(measured.total, plain.total, sizeof plain.total) == 0 && measured.count == plain.count);
	pmg_plan_destroy(plan);
	pmg_context_free(context);
}

/* ---- Memory ---- */

/* Nothing is ever above the forecast, which is the limit; below it, what does not fit is left out. */
static void test_limit(struct tests *tests)
{
	pmg_options options = { .tune = PMG_TUNE_MEASURE };
	struct attempt attempt;
	int64_t held, peak;
	size_t before;

	attempt_begin(&attempt, 0);
	held = pmg_plan_forecast_with(&attempt.family.desc[FIRST], &attempt.data.args, &options, &peak);
	CHECK(tests, held > LARGE_ELEMENTS * 8 && peak > held);
	CHECK(tests, pmg_plan_forecast_with(&attempt.family.desc[FIRST], &attempt.data.args, NULL, NULL) ==
		     pmg_plan_forecast(life_describe(), &attempt.data.args));
	before = attempt.counter.live_bytes;
	options.max_memory = peak;
	attempt_plan(&attempt, options);
	CHECK(tests, attempt.status == PMG_OK && attempt.report->trials[LARGE].n_runs > 0);
	CHECK(tests, (int64_t) (attempt.counter.most_bytes - before) <= peak);
	CHECK(tests, pmg_plan_bytes(attempt.plan) <= held);
	CHECK(tests, (int64_t) (attempt.counter.live_bytes - before) == pmg_plan_bytes(attempt.plan));
	attempt_end(tests, &attempt);
}

/* What is said to be needed is, of the limit that was given, and with it there is a plan. */
static void test_needed(struct tests *tests)
{
	pmg_options options = { .tune = PMG_TUNE_ESTIMATE };
	long long needed = 0, limit = 0;
	struct attempt attempt;

	options.max_memory = N_CANDIDATES*(int64_t) sizeof(pmg_trial) + 100;
	attempt_begin(&attempt, 0);
	attempt_plan(&attempt, options);
	CHECK(tests, attempt.status == PMG_NO_RESOURCES && !attempt.plan);
	CHECK(tests, sscanf(pmg_message(attempt.context), "pipeline 'life_dsc' needs %lld bytes, but the limit is %lld",
			    &needed, &limit) == 2 && limit == options.max_memory && needed > limit);
	attempt_end(tests, &attempt);
	options.max_memory = needed;
	attempt_begin(&attempt, 0);
	attempt_plan(&attempt, options);
	CHECK(tests, attempt.status == PMG_OK);
	pmg_plan_destroy(attempt.plan);
	attempt.plan = NULL;
	attempt_end(tests, &attempt);
}

static void test_small_limit(struct tests *tests)
{
	pmg_options options = { .tune = PMG_TUNE_MEASURE };
	struct attempt attempt;
	int64_t peak;

	attempt_begin(&attempt, 0);
	pmg_plan_forecast_with(&attempt.family.desc[FIRST], &attempt.data.args, &options, &peak);
	options.max_memory = peak - LARGE_ELEMENTS * 8;
	attempt.family.desc[FIRST].work = &works[FAST];
	attempt_plan(&attempt, options);
	CHECK(tests, has_chosen(&attempt, "fast", "measured"));
	CHECK(tests, strstr(attempt.report->trials[LARGE].problem, "but the limit is"));
	CHECK(tests, pmg_message(attempt.context)[0] == '\0');
	CHECK(tests, (int64_t) attempt.counter.most_bytes <= options.max_memory + 2048);
	attempt_end(tests, &attempt);
	attempt_begin(&attempt, 0);
	options.max_memory = 1500;
	attempt_plan(&attempt, options);
	CHECK(tests, attempt.status == PMG_NO_RESOURCES && !attempt.plan);
	attempt_end(tests, &attempt);
	test_needed(tests);
}

/* Each allocation fails in turn: nothing is left, and what still is a plan computes what it should. */
static void test_failing(struct tests *tests)
{
	int n_failed = 0, n_plans = 0;

	for (int fail_at = 2;; fail_at++) {
		struct attempt attempt;
		bool is_last;

		attempt_begin(&attempt, fail_at);
		attempt_plan(&attempt, (pmg_options) { .tune = PMG_TUNE_MEASURE });
		CHECK(tests, attempt.status == PMG_OK || attempt.status == PMG_NO_RESOURCES);
		n_plans += attempt.plan != NULL;
		is_last = attempt.counter.n_allocated < fail_at;
		attempt_end(tests, &attempt);
		if (is_last)
			break;
		n_failed++;
	}
	CHECK(tests, n_failed >= 6 && n_plans >= n_failed);
}

void test_tune(struct tests *tests)
{
	test_off(tests);
	test_unfit(tests);
	test_estimate(tests);
	test_measure(tests);
	test_turns(tests);
	test_margin(tests);
	test_inputs(tests);
	test_named(tests);
	test_deterministic(tests);
	test_wrong_data(tests);
	test_contradictions(tests);
	test_states(tests);
	test_limit(tests);
	test_small_limit(tests);
	test_failing(tests);
}
