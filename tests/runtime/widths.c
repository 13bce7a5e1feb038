/* SPDX-License-Identifier: MIT
 *
 * Plans that choose among blocks of several widths: y = 2 x by kernels that take four systems, two, none or eight in a
 * block, and that wait as long as a table says. Blocks that are given come first; trials run on blocks as they are
 * given or, if the caller is going to hold them so, on those of each kernel. */
#include "runtime/check.h"
#include "plan/plan.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { X, Y, N_ARRAYS };
enum { FIRST, NARROW, FLAT, WIDE, N_CANDIDATES };
enum { M = 6, N = 40, MOST = 8*N };

static const int32_t widths[N_CANDIDATES] = { [FIRST] = 4, [NARROW] = 2, [FLAT] = 0, [WIDE] = 8 };

/* Milliseconds of an execution on strides, and where all lies in blocks. */
static const int waits[N_CANDIDATES][2] = {
	[FIRST] = { 2, 4 }, [NARROW] = { 4, 1 }, [FLAT] = { 6, 6 },
	[WIDE] = { 6, 6 }
};

typedef struct twice_args {
	int64_t m, n;
	pmg_buffer x, y;
} twice_args;

static const pmg_param_desc params[] = {
	{ "m", PMG_I64, offsetof(twice_args, m), "t.pmg:1" }, { "n", PMG_I64, offsetof(twice_args, n), "t.pmg:1" },
};
static const pmg_extent shape[] = { { 0, false, 0, "m" }, { 1, false, 0, "n" } };

static void extents(const void *any, int64_t *values)
{
	const twice_args *args = any;

	values[0] = values[2] = args->m;
	values[1] = values[3] = args->n;
}

static void wait_for(int milliseconds)
{
	const clock_t until = clock() + milliseconds*(CLOCKS_PER_SEC/1000);

	while (clock() < until)
		;
}

static double *element(const pmg_plan *plan, int array, int width, int64_t s, int64_t i)
{
	const pmg_place *place = &plan->places[array];

	if (!width)
		return (double *) plan->data[array] + s*N + i;
	return (double *) plan->data[array] + s/width*place->block + i*place->row + s % width*place->lane;
}

static pmg_status twice(pmg_plan *plan, int candidate)
{
	const int width = widths[candidate];

	wait_for(waits[candidate][width && plan->places[X].is_padded && plan->places[Y].is_padded]);
	for (int64_t s = 0; s < M; s++)
		for (int64_t i = 0; i < N; i++)
			*element(plan, Y, width, s, i) = 2**element(plan, X, width, s, i);
	return PMG_OK;
}

#define KERNEL(name, candidate) \
	static pmg_status name(pmg_plan *plan, const void *args, pmg_control *control) \
	{ \
		(void) args, (void) control; \
		return twice(plan, candidate); \
	}

KERNEL(first_kernel, FIRST)
KERNEL(narrow_kernel, NARROW)
KERNEL(flat_kernel, FLAT)
KERNEL(wide_kernel, WIDE)

/* ---- a case ---- */

struct widths {
	struct counter counter;
	pmg_array_desc arrays[N_CANDIDATES][N_ARRAYS];
	pmg_pipeline_desc desc[N_CANDIDATES];
	const pmg_pipeline_desc *list[N_CANDIDATES];
	pmg_context *context;
	pmg_plan *plan;
	pmg_status status;
	twice_args args;
	double x[MOST], y[MOST], flat[M*N];
};

#define ARRAY(n, r, e, w, at) \
	{ .name = n, .role = r, .type = PMG_F64, .rank = 2, .shape = shape, .first_extent = e, .segments = -1, \
	  .lanes = w, .offset = at, .place = "t.pmg:2" }

static void describe(struct widths *w)
{
	static pmg_kernel *const kernels[] = { first_kernel, narrow_kernel, flat_kernel, wide_kernel };
	static const char *const choices[] = { NULL, "narrow", "flat", "wide" };

	for (int c = 0; c < N_CANDIDATES; c++) {
		const pmg_array_desc arrays[] = {
			ARRAY("x", PMG_IN, 0, widths[c], offsetof(twice_args, x)),
			ARRAY("y", PMG_OUT, 2, widths[c], offsetof(twice_args, y)),
		};

		memcpy(w->arrays[c], arrays, sizeof arrays);
		w->desc[c] = (pmg_pipeline_desc) {
			.abi_version = PMG_ABI_VERSION, .name = "twice", .source = "t.pmg",
			.args_size = sizeof w->args, .n_params = 2, .n_arrays = N_ARRAYS, .n_extents = 4,
			.params = params, .arrays = w->arrays[c], .extents = extents, .kernel = kernels[c],
			.choice = choices[c], .is_ordered = true
		};
		w->list[c] = &w->desc[c];
	}
	w->desc[FIRST].n_candidates = N_CANDIDATES;
	w->desc[FIRST].candidates = w->list;
}

static pmg_buffer flat_of(double *data)
{
	return pmg_dense(data, PMG_F64, 2, (int64_t[]) { M, N });
}

/* x, and where y goes, in blocks of so many; 0: in none. */
static void hold(struct widths *w, int32_t width)
{
	const pmg_buffer flat = flat_of(w->flat);

	for (int i = 0; i < M*N; i++)
		w->flat[i] = i + 1;
	w->args.x = width ? pmg_in_blocks(w->x, &flat, width) : flat_of(w->x);
	w->args.y = width ? pmg_in_blocks(w->y, &flat, width) : flat_of(w->y);
	pmg_relayout(w->context, &w->args.x, &flat, 1);
	w->y[0] = 77;
}

static void widths_open(struct widths *w, int32_t width, pmg_options options, int fail_at)
{
	const pmg_allocator allocator = counter_allocator(&w->counter);

	*w = (struct widths) { .counter = { .fail_at = fail_at }, .args = { .m = M, .n = N } };
	describe(w);
	w->context = options.context = pmg_context_new(&allocator);
	options.threads = 1;
	hold(w, width);
	w->status = pmg_plan_new(&w->desc[FIRST], &w->args, &options, &w->plan);
}

static bool is_twice(struct widths *w)
{
	const pmg_buffer flat = flat_of(w->flat);
	bool is = w->y[0] == 77 && pmg_plan_execute(w->plan, &w->args, NULL) == PMG_OK &&
		  pmg_relayout(w->context, &flat, &w->args.y, 1) == PMG_OK;

	for (int i = 0; i < M*N && is; i++)
		is = w->flat[i] == 2*(i + 1);
	return is;
}

static void widths_close(struct tests *tests, struct widths *w)
{
	pmg_plan_destroy(w->plan);
	pmg_context_free(w->context);
	CHECK(tests, w->counter.n_live == 0 && w->counter.live_bytes == 0);
}

static bool has_chosen(const struct widths *w, int candidate, const char *reason)
{
	const pmg_report *report = pmg_plan_report(w->plan);

	return w->status == PMG_OK && strcmp(report->reason, reason) == 0 &&
	       strcmp(report->choice, w->desc[candidate].choice ? w->desc[candidate].choice : "") == 0 &&
	       pmg_plan_lanes(w->plan, "x") == widths[candidate];
}

/* ---- questions ---- */

/* Without trials: blocks decide, then sizes. */
static void test_given(struct tests *tests)
{
	static const struct { int32_t width; int wanted; const char *reason; } cases[] = {
		{ 0, FIRST, "the first" }, { 4, FIRST, "the first" },
		{ 2, NARROW, "the first that takes the blocks as they lie" }, { 3, FIRST, "the first" },
		{ 8, WIDE, "the first that takes the blocks as they lie" }
	};
	struct widths w;
	pmg_options off;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		widths_open(&w, cases[i].width, (pmg_options) { .tune = PMG_TUNE_OFF }, 0);
		CHECK(tests, has_chosen(&w, cases[i].wanted, cases[i].reason) && is_twice(&w));
		widths_close(tests, &w);
	}
	widths_open(&w, 2, (pmg_options) { .tune = PMG_TUNE_OFF, .in_blocks = true }, 0);
	CHECK(tests, has_chosen(&w, NARROW, "the first that takes the blocks as they lie") && is_twice(&w));
	widths_close(tests, &w);
	widths_open(&w, 2, (pmg_options) { .tune = PMG_TUNE_ESTIMATE }, 0);
	CHECK(tests, has_chosen(&w, NARROW, "estimated") && is_twice(&w));
	CHECK(tests, strcmp(pmg_plan_report(w.plan)->trials[FIRST].problem, "it takes arguments in other blocks") == 0);
	CHECK(tests, pmg_plan_lanes(w.plan, "z") == -1 && pmg_plan_lanes(NULL, "x") == -1);
	w.desc[FIRST].suits = w.desc[NARROW].suits = suits_none;
	pmg_plan_destroy(w.plan);
	off = (pmg_options) { .context = w.context, .tune = PMG_TUNE_OFF };
	w.status = pmg_plan_new(&w.desc[FIRST], &w.args, &off, &w.plan);
	CHECK(tests, has_chosen(&w, NARROW, "the first that takes the blocks as they lie"));
	pmg_plan_destroy(w.plan);
	hold(&w, 3);
	w.status = pmg_plan_new(&w.desc[FIRST], &w.args, &off, &w.plan);
	CHECK(tests, has_chosen(&w, FLAT, "the first that suits the sizes"));
	widths_close(tests, &w);
}

/* Of m systems in two threads, by estimates that are the same. */
static bool chooses(int64_t m, bool in_blocks, bool deterministic, int wanted)
{
	double *const x = calloc((size_t) (m*N) + 1, sizeof *x), *const y = calloc((size_t) (m*N) + 1, sizeof *y);
	pmg_options options = { .tune = PMG_TUNE_ESTIMATE, .threads = 2, .in_blocks = in_blocks,
				.deterministic = deterministic };
	struct widths w;
	bool has;

	widths_open(&w, 0, (pmg_options) { .tune = PMG_TUNE_OFF }, 0);
	pmg_plan_destroy(w.plan);
	w.args = (twice_args) { m, N, pmg_dense(x, PMG_F64, 2, (int64_t[]) { m, N }),
				pmg_dense(y, PMG_F64, 2, (int64_t[]) { m, N }) };
	options.context = w.context;
	w.status = pmg_plan_new(&w.desc[FIRST], &w.args, &options, &w.plan);
	has = has_chosen(&w, wanted, "estimated");
	pmg_plan_destroy(w.plan);
	pmg_context_free(w.context);
	free(x);
	free(y);
	return has && w.counter.n_live == 0;
}

/* Blocks that memory will hold are narrow; those that caches hold are not, nor is what the caller does not hold in
 * blocks. */
static void test_far(struct tests *tests)
{
	CHECK(tests, chooses(M, true, false, FIRST));
	CHECK(tests, chooses(100000, true, false, FIRST));
	CHECK(tests, chooses(110000, true, false, NARROW));
	CHECK(tests, chooses(110000, false, false, FIRST));
}

/* Where wide blocks leave a thread, or lanes, without systems, they are narrow: of 4 systems a thread then has 2 in
 * place of 4, of 5 and more as many or nearly. As many threads as results may not depend on, have one block each.
 * Systems are counted, not the blocks that the caller holds them in. */
static void test_few(struct tests *tests)
{
	pmg_options options = { .tune = PMG_TUNE_ESTIMATE, .threads = M };
	struct widths w;

	CHECK(tests, chooses(0, false, false, FIRST));
	for (int64_t m = 1; m <= 4; m++)
		CHECK(tests, chooses(m, false, false, NARROW) && chooses(m, true, false, NARROW));
	for (int64_t m = 5; m <= 40; m++)
		CHECK(tests, chooses(m, false, false, FIRST));
	CHECK(tests, chooses(32, false, true, NARROW) && chooses(33, false, true, FIRST));
	widths_open(&w, 1, (pmg_options) { .tune = PMG_TUNE_OFF }, 0);
	pmg_plan_destroy(w.plan);
	options.context = w.context;
	w.status = pmg_plan_new(&w.desc[FIRST], &w.args, &options, &w.plan);
	CHECK(tests, has_chosen(&w, NARROW, "estimated") && is_twice(&w));
	widths_close(tests, &w);
}

/* Where the second caches hold all that lies in blocks, these are wide if no thread computes more lanes then: of 16
 * systems each has 8 in any case, of 24 it would have 16 in place of 12. */
static void test_near(struct tests *tests)
{
	CHECK(tests, chooses(M, true, false, FIRST) && chooses(24, true, false, FIRST));
	CHECK(tests, chooses(16, true, false, WIDE) && chooses(16, false, false, FIRST));
	CHECK(tests, chooses(64, true, true, FIRST));
	for (int64_t m = 9; m <= 64; m++) {
		const int64_t lanes = (m + 7)/8*4, wide_lanes = (m + 15)/16*8;

		CHECK(tests, chooses(m, true, false, lanes == wide_lanes ? WIDE : FIRST));
	}
}

/* Three quarters of them hold x and y of 16 systems, 2 times 5120 bytes, or one does not fit. Segments are of the first
 * width, with or without other arrays beside them. */
static void test_share(struct tests *tests)
{
	const pmg_options options = { .in_blocks = true };
	struct widths w;
	int64_t values[4];

	widths_open(&w, 0, (pmg_options) { .tune = PMG_TUNE_OFF }, 0);
	w.args.m = 16;
	extents(&w.args, values);
	CHECK(tests, widths_best(&w.desc[FIRST], &options, values, 2, 4*2*5120/3 + 1) == 8);
	CHECK(tests, widths_best(&w.desc[FIRST], &options, values, 2, 4*2*5120/3 - 1) == 4);
	w.arrays[FIRST][Y].segments = X;
	CHECK(tests, widths_best(&w.desc[FIRST], &options, values, 2, 1 << 30) == 4);
	CHECK(tests, widths_near(2) == 2*widths_near(1) && widths_near(1) > 0);
	widths_close(tests, &w);
}

/* Trials run on what the caller holds, results in its layout, too; or on blocks, if he is going to hold these. */
static void test_measured(struct tests *tests)
{
	static const struct { int32_t width; bool in_blocks; int wanted; } cases[] = {
		{ 0, false, FIRST }, { 2, false, NARROW }, { 4, false, FIRST }, { 0, true, NARROW }
	};
	struct widths w;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		widths_open(&w, cases[i].width, (pmg_options) { .tune = PMG_TUNE_MEASURE,
								.in_blocks = cases[i].in_blocks }, 0);
		CHECK(tests, has_chosen(&w, cases[i].wanted, "measured") && is_twice(&w));
		widths_close(tests, &w);
	}
}

/* Fixed arrays are converted once: they do not decide. Blocks that are there do not keep trials from others. */
static void test_others(struct tests *tests)
{
	pmg_options options = { .tune = PMG_TUNE_MEASURE, .in_blocks = true };
	const pmg_trial *trials;
	struct widths w;

	widths_open(&w, 2, options, 0);
	trials = pmg_plan_report(w.plan)->trials;
	CHECK(tests, has_chosen(&w, NARROW, "measured") && trials[FIRST].n_runs > 0 && trials[FLAT].n_runs > 0);
	CHECK(tests, is_twice(&w));
	pmg_plan_destroy(w.plan);
	hold(&w, 4);
	w.args.y = flat_of(w.y);
	for (int c = 0; c < N_CANDIDATES; c++) {
		w.arrays[c][X].is_fixed = true;
		w.desc[c].suits = c == FLAT ? NULL : suits_none;
	}
	w.status = pmg_plan_new(&w.desc[FIRST], &w.args, &(pmg_options) { .context = w.context }, &w.plan);
	CHECK(tests, w.status == PMG_OK && strcmp(pmg_plan_report(w.plan)->choice, "flat") == 0);
	CHECK(tests, pmg_plan_lanes(w.plan, "x") == 0 && is_twice(&w));
	widths_close(tests, &w);
}

/* What is known of one layout is not taken for another. */
static void test_signature(struct tests *tests)
{
	char texts[4][PMG_SIGNATURE_SIZE];
	pmg_options options = { .tune = PMG_TUNE_OFF };
	struct widths w;

	widths_open(&w, 0, options, 0);
	options.context = w.context;
	for (int i = 0; i < 4; i++) {
		hold(&w, i == 1 ? 2 : i == 2 ? 4 : 0);
		options.in_blocks = i == 3;
		CHECK(tests, pmg_signature(&w.desc[FIRST], &w.args, &options, texts[i], sizeof texts[i]) == PMG_OK);
		for (int j = 0; j < i; j++)
			CHECK(tests, strcmp(texts[i], texts[j]) != 0);
	}
	widths_close(tests, &w);
}

static double least(const pmg_trial *trial)
{
	double seconds = trial->runs[0];

	for (int i = 1; i < trial->n_runs; i++)
		seconds = trial->runs[i] < seconds ? trial->runs[i] : seconds;
	return seconds;
}

static void test_trials_in_blocks(struct tests *tests)
{
	struct widths w;
	const pmg_trial *trials;

	widths_open(&w, 0, (pmg_options) { .tune = PMG_TUNE_MEASURE, .in_blocks = true }, 0);
	trials = pmg_plan_report(w.plan)->trials;
	CHECK(tests, least(&trials[FIRST]) >= 3.5e-3 && least(&trials[NARROW]) < least(&trials[FIRST]));
	hold(&w, 2);
	CHECK(tests, is_twice(&w));
	widths_close(tests, &w);
	widths_open(&w, 4, (pmg_options) { .tune = PMG_TUNE_MEASURE }, 0);
	trials = pmg_plan_report(w.plan)->trials;
	CHECK(tests, least(&trials[FIRST]) >= 3.5e-3 && trials[NARROW].n_runs == 0);
	widths_close(tests, &w);
}

/* Within the forecast, and with one that is too small for the blocks of any candidate. */
static void test_limits(struct tests *tests)
{
	pmg_options options = { .tune = PMG_TUNE_MEASURE, .in_blocks = true };
	struct widths w;
	int64_t peak;
	size_t before;

	widths_open(&w, 0, options, 0);
	pmg_plan_destroy(w.plan);
	options.context = w.context;
	before = w.counter.live_bytes;
	w.counter.most_bytes = before;
	pmg_plan_forecast_with(&w.desc[FIRST], &w.args, &options, &peak);
	options.max_memory = peak;
	w.status = pmg_plan_new(&w.desc[FIRST], &w.args, &options, &w.plan);
	CHECK(tests, has_chosen(&w, NARROW, "measured"));
	CHECK(tests, (int64_t) (w.counter.most_bytes - before) <= peak);
	CHECK(tests, pmg_plan_peak(w.plan) >= pmg_plan_bytes(w.plan) && pmg_plan_peak(w.plan) <= peak);
	CHECK(tests, pmg_plan_new(&w.desc[FIRST], &w.args, &options, NULL) == PMG_BAD_CALL &&
		     strcmp(pmg_message(w.context), "there is no place for the plan, but NULL") == 0);
	pmg_plan_destroy(w.plan);
	options.max_memory = pmg_plan_forecast_with(&w.desc[FIRST], &w.args, &options, NULL) + 64;
	w.status = pmg_plan_new(&w.desc[FIRST], &w.args, &options, &w.plan);
	CHECK(tests, has_chosen(&w, FIRST, "estimated, as no trial could be run"));
	for (int more = 0; more < 2; more++) {
		pmg_plan_destroy(w.plan);
		options.max_memory += more ? 2048 : 3*N*M*(int64_t) sizeof *w.x;
		w.status = pmg_plan_new(&w.desc[FIRST], &w.args, &options, &w.plan);
		CHECK(tests, has_chosen(&w, FIRST, "estimated, as no trial could be run"));
		CHECK(tests, pmg_plan_report(w.plan)->trials[FIRST].n_runs > 0);
	}
	widths_close(tests, &w);
}

/* Each allocation fails in turn. */
static void test_failing(struct tests *tests)
{
	bool is_last = false;

	for (int fail_at = 2; !is_last; fail_at++) {
		struct widths w;

		widths_open(&w, 0, (pmg_options) { .tune = PMG_TUNE_MEASURE, .in_blocks = true }, fail_at);
		CHECK(tests, w.status == PMG_OK || w.status == PMG_NO_RESOURCES);
		is_last = w.counter.n_allocated < fail_at;
		widths_close(tests, &w);
	}
}

void test_widths(struct tests *tests)
{
	test_given(tests);
	test_far(tests);
	test_few(tests);
	test_near(tests);
	test_share(tests);
	test_measured(tests);
	test_trials_in_blocks(tests);
	test_others(tests);
	test_signature(tests);
	test_limits(tests);
	test_failing(tests);
}
