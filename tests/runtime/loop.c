/* SPDX-License-Identifier: MIT
 *
 * Execution of a loop: budget, cancel, progress, resume, bad indices, states saved and loaded. Run in parts
 * gives the same as run at once, with dense and with strided buffers. */
#include "runtime/check.h"
#include "runtime/pipelines.h"

#include <stdlib.h>
#include <string.h>

struct run {
	struct steps_case data;
	pmg_context *context;
	pmg_plan *plan;
};

static void run_begin(struct tests *tests, struct run *run)
{
	pmg_options options = { .threads = 2 };

	steps_fill(&run->data);
	run->context = options.context = pmg_context_new(NULL);
	CHECK(tests, pmg_plan_new(steps_describe(), &run->data.args, &options, &run->plan) == PMG_OK);
}

static void run_end(struct run *run)
{
	pmg_plan_destroy(run->plan);
	pmg_context_free(run->context);
}

/* After `n` of the iterations: x = i + n/2, v = 10 i + n mask, total the sum of all x. */
static bool is_after(const struct steps_case *data, int n)
{
	bool ok = data->count == n;

	for (int i = 0; i < 3; i++) {
		ok = ok && data->v[i] == 10 * i + (i != 1 ? n : 0);
		ok = ok && data->total[i] == i * n + 0.5 * n * (n + 1) / 2;
	}
	return ok;
}

static void test_whole(struct tests *tests)
{
	struct run run;
	pmg_control control = { .budget = -1 };

	run_begin(tests, &run);
	CHECK(tests, pmg_plan_execute(run.plan, &run.data.args, NULL) == PMG_OK);
	CHECK(tests, is_after(&run.data, 6));
	steps_fill(&run.data);
	run.data.args.stop = 1;
	CHECK(tests, pmg_plan_execute(run.plan, &run.data.args, &control) == PMG_OK);
	CHECK(tests, is_after(&run.data, 2) && control.done == 2 && control.finished);
	run_end(&run);
}

struct seen {
	int n;
	int64_t iteration[9], last;
	int stop_at, cancel;
};

static void progress_see(void *user, int64_t iteration, int64_t last)
{
	struct seen *seen = user;

	seen->iteration[seen->n++] = iteration;
	seen->last = last;
	seen->cancel = iteration == seen->stop_at;
}

static void test_parts(struct tests *tests)
{
	struct run run;
	struct seen seen = { .n = 0 };
	pmg_control control = { .budget = 2, .progress = progress_see, .user = &seen };

	run_begin(tests, &run);
	control.resume = true;
	CHECK_FAILS(tests, pmg_plan_execute(run.plan, &run.data.args, &control), run.context, PMG_BAD_CALL,
		    "pipeline 'steps' has no stopped run to resume");
	control.resume = false;
	CHECK(tests, pmg_plan_execute(run.plan, &run.data.args, &control) == PMG_OK);
	CHECK(tests, control.done == 2 && !control.finished && is_after(&run.data, 2));
	control.resume = true;
	control.budget = 3;
	CHECK(tests, pmg_plan_execute(run.plan, &run.data.args, &control) == PMG_OK);
	CHECK(tests, control.done == 5 && !control.finished && is_after(&run.data, 5));
	CHECK(tests, pmg_plan_execute(run.plan, &run.data.args, &control) == PMG_OK);
	CHECK(tests, control.done == 6 && control.finished && is_after(&run.data, 6));
	CHECK(tests, seen.n == 6 && seen.iteration[0] == 1 && seen.iteration[5] == 6 && seen.last == 6);
	CHECK(tests, pmg_plan_execute(run.plan, &run.data.args, &control) == PMG_OK);
	CHECK(tests, control.done == 6 && control.finished && is_after(&run.data, 6) && seen.n == 6);
	run_end(&run);
}

static void test_cancel(struct tests *tests)
{
	struct run run;
	struct seen seen = { .stop_at = 4 };
	pmg_control control = { .budget = -1, .progress = progress_see, .user = &seen,
	.cancel = &seen.cancel };

	run_begin(tests, &run);
	CHECK_FAILS(tests, pmg_plan_execute(run.plan, &run.data.args, &control), run.context, PMG_CANCELLED,
		    "pipeline 'steps' was cancelled after 4 iterations");
	CHECK(tests, control.done == 4 && !control.finished && is_after(&run.data, 4));
	seen.cancel = 0;
	control.resume = true;
	CHECK(tests, pmg_plan_execute(run.plan, &run.data.args, &control) == PMG_OK);
	CHECK(tests, control.done == 6 && control.finished && is_after(&run.data, 6));
	run_end(&run);
}

/* In scratch as well: `v` every second element, `total` from an odd address. */
static void test_scratch(struct tests *tests)
{
	struct run run;
	pmg_control control = { .budget = 2 };
	double wide[6] = { 0, 7, 10, 7, 20, 7 };
	char odd[25];
	int64_t before;

	run_begin(tests, &run);
	before = pmg_plan_bytes(run.plan);
	run.data.args.v.data = wide;
	run.data.args.v.strides[0] = 16;
	run.data.args.total.data = odd + 1;
	CHECK(tests, pmg_plan_execute(run.plan, &run.data.args, &control) == PMG_OK);
	CHECK(tests, pmg_plan_bytes(run.plan) == before + 128);
	CHECK(tests, wide[0] == 2 && wide[2] == 10 && wide[4] == 22 && wide[1] == 7 && wide[5] == 7);
	control.resume = true;
	control.budget = -1;
	CHECK(tests, pmg_plan_execute(run.plan, &run.data.args, &control) == PMG_OK);
	CHECK(tests, pmg_plan_bytes(run.plan) == before + 128);
	for (int i = 0; i < 3; i++)
		run.data.v[i] = wide[2 * i];
	memcpy(run.data.total, odd + 1, 24);
	CHECK(tests, is_after(&run.data, 6));
	run_end(&run);
}

static void test_bad_index(struct tests *tests)
{
	struct run run;
	double wide[6] = { 0, 7, 10, 7, 20, 7 };
	int32_t where[3] = { -5, -5, -5 };

	run_begin(tests, &run);
	run.data.start[1] = 9;
	CHECK_FAILS(tests, pmg_plan_execute(run.plan, &run.data.args, NULL), run.context, PMG_NUMERICAL,
		    "array 'bin' holds 10 at [1], which is not in 0..10 (nBins, steps.pmg:13)");
	CHECK(tests, run.data.v[0] == 2 && run.data.v[1] == 10 && run.data.v[2] == 22);
	run.data.args.v.data = wide;
	run.data.args.v.strides[0] = 16;
	run.data.args.where = pmg_dense(where, PMG_I32, 1, &run.data.args.n);
	CHECK(tests, pmg_plan_execute(run.plan, &run.data.args, NULL) == PMG_NUMERICAL);
	CHECK(tests, wide[0] == 2 && wide[4] == 22 && where[0] == -5);
	run.data.start[1] = 1;
	CHECK(tests, pmg_plan_execute(run.plan, &run.data.args, NULL) == PMG_OK);
	run.data.args.rate = NAN;
	CHECK_FAILS(tests, pmg_plan_execute(run.plan, &run.data.args, NULL), run.context, PMG_NUMERICAL,
		    "the kernel of pipeline 'steps' failed with status 6");
	run_end(&run);
}

static void test_calls(struct tests *tests)
{
	struct run run;
	pmg_options options = { .threads = -1 };
	pmg_plan *plan;

	run_begin(tests, &run);
	options.context = run.context;
	CHECK_FAILS(tests, pmg_plan_new(steps_describe(), &run.data.args, &options, &plan), run.context,
		    PMG_BAD_CALL, "threads is -1, but must be 0 to 4096");
	options.threads = 4097;
	CHECK_FAILS(tests, pmg_plan_new(steps_describe(), &run.data.args, &options, &plan), run.context,
		    PMG_BAD_CALL, "threads is 4097, but must be 0 to 4096");
	options = (pmg_options) { .context = run.context, .max_memory = -1 };
	CHECK_FAILS(tests, pmg_plan_new(steps_describe(), &run.data.args, &options, &plan), run.context,
		    PMG_BAD_CALL, "max_memory is -1, but must be 0 or more");
	options = (pmg_options) { .context = run.context, .tune = (pmg_tune) 77 };
	CHECK_FAILS(tests, pmg_plan_new(steps_describe(), &run.data.args, &options, &plan), run.context,
		    PMG_BAD_CALL, "tune is 77, but must be one of PMG_TUNE_…");
	options = (pmg_options) { .context = run.context };
	CHECK_FAILS(tests, pmg_plan_new(NULL, &run.data.args, &options, &plan), run.context,
		    PMG_BAD_CALL, "a plan needs a description and args, not NULL");
	CHECK_FAILS(tests, pmg_plan_execute(run.plan, NULL, NULL), run.context, PMG_BAD_CALL,
		    "an execution needs args, not NULL");
	run.data.args.nBins = 11;
	CHECK_FAILS(tests, pmg_plan_execute(run.plan, &run.data.args, NULL), run.context, PMG_BAD_CALL,
		    "parameter 'nBins' is 11, but the plan was made for 10 (steps.pmg:2)");
	CHECK(tests, pmg_plan_new(steps_describe(), &run.data.args, NULL, &plan) == PMG_BAD_CALL && !plan);
	CHECK(tests, pmg_plan_new(steps_describe(), &run.data.args, &options, NULL) == PMG_BAD_CALL);
	CHECK(tests, pmg_plan_execute(NULL, &run.data.args, NULL) == PMG_BAD_CALL);
	CHECK(tests, pmg_plan_state_save(NULL, NULL) == PMG_BAD_CALL);
	CHECK(tests, pmg_plan_state_load(NULL, NULL) == PMG_BAD_CALL);
	CHECK(tests, pmg_plan_bytes(NULL) == 0 && pmg_plan_forecast(NULL, NULL) < 0);
	CHECK(tests, pmg_message(NULL)[0] == '\0' && pmg_fail(NULL, PMG_IO, "%d", 1) == PMG_IO);
	pmg_plan_destroy(NULL);
	pmg_context_free(NULL);
	run_end(&run);
}

void test_loop(struct tests *tests)
{
	test_whole(tests);
	test_parts(tests);
	test_cancel(tests);
	test_scratch(tests);
	test_bad_index(tests);
	test_calls(tests);
}

/* ---- State ---- */

struct tape {
	unsigned char bytes[1024];
	size_t n, at, fail_at;
};

static pmg_status tape_write(void *user, const void *bytes, size_t n)
{
	struct tape *tape = user;

	if (tape->n + n > sizeof tape->bytes || (tape->fail_at > 0 && tape->n + n > tape->fail_at))
		return PMG_IO;
	memcpy(tape->bytes + tape->n, bytes, n);
	tape->n += n;
	return PMG_OK;
}

static pmg_status tape_read(void *user, void *bytes, size_t n)
{
	struct tape *tape = user;

	if (tape->at + n > tape->n)
		return PMG_IO;
	memcpy(bytes, tape->bytes + tape->at, n);
	tape->at += n;
	return PMG_OK;
}

static pmg_status tape_load(struct tape *tape, pmg_plan *plan)
{
	const pmg_reader reader = { tape_read, tape };

	tape->at = 0;
	return pmg_plan_state_load(plan, &reader);
}

/* A tape with the state after two iterations. */
static void tape_fill(struct tests *tests, struct tape *tape, struct run *run)
{
	const pmg_writer writer = { tape_write, tape };
	pmg_control control = { .budget = 2 };

	*tape = (struct tape) { .n = 0 };
	CHECK(tests, pmg_plan_execute(run->plan, &run->data.args, &control) == PMG_OK);
	CHECK(tests, pmg_plan_state_save(run->plan, &writer) == PMG_OK);
}

/* Another plan goes on from the tape, with the caller's `inout` and `out` of then. */
static void test_continue(struct tests *tests)
{
	struct run first, second;
	struct tape tape;
	pmg_control control = { .budget = -1, .resume = true };

	run_begin(tests, &first);
	run_begin(tests, &second);
	tape_fill(tests, &tape, &first);
	CHECK(tests, tape_load(&tape, second.plan) == PMG_OK && tape.at == tape.n);
	memcpy(second.data.v, first.data.v, sizeof first.data.v);
	memcpy(second.data.total, first.data.total, sizeof first.data.total);
	second.data.count = first.data.count;
	CHECK(tests, pmg_plan_execute(second.plan, &second.data.args, &control) == PMG_OK);
	CHECK(tests, is_after(&second.data, 6) && control.done == 6 && control.finished);
	run_end(&first);
	run_end(&second);
}

/* Byte `at` of the tape is changed: loading fails, and the run goes on as if nothing had happened. */
static void damaged(struct tests *tests, const struct tape *tape, size_t at, const char *message)
{
	struct tape copy = *tape;
	struct run run;
	pmg_control control = { .budget = 4 };

	copy.bytes[at] ^= 0x40;
	run_begin(tests, &run);
	CHECK(tests, pmg_plan_execute(run.plan, &run.data.args, &control) == PMG_OK);
	CHECK_FAILS(tests, tape_load(&copy, run.plan), run.context, PMG_BAD_DATA, message);
	control.resume = true;
	CHECK(tests, pmg_plan_execute(run.plan, &run.data.args, &control) == PMG_OK);
	CHECK(tests, is_after(&run.data, 6));
	run_end(&run);
}

static void test_damage(struct tests *tests, const struct tape *tape)
{
	damaged(tests, tape, 0, "this is not the saved state of a pipeline");
	damaged(tests, tape, 8, "the state was saved in format 65, but this runtime has 1");
	damaged(tests, tape, 12, "the state was saved on a machine of another byte order");
	damaged(tests, tape, 16, "the state of pipeline 'steps' was saved for other sizes");
	damaged(tests, tape, 32, "the saved state of pipeline 'steps' is damaged");
	damaged(tests, tape, 48, "the state was saved by pipeline '3teps', but this is pipeline 'steps'");
	damaged(tests, tape, 24, "the state of pipeline 'steps' was saved for other sizes");
	damaged(tests, tape, 48 + 256, "the state of pipeline 'steps' was saved for other sizes: dimension 0 of "
		"'level' was 67, here it is 3");
	damaged(tests, tape, 48 + 256 + 8, "the state of pipeline 'steps' was saved for other sizes");
	damaged(tests, tape, tape->n - 20, "the saved state of pipeline 'steps' is damaged");
	damaged(tests, tape, tape->n - 1, "the saved state of pipeline 'steps' is damaged");
}

static void test_streams(struct tests *tests, struct tape *tape)
{
	struct run run;
	const pmg_writer writer = { tape_write, tape };
	size_t whole = tape->n;
	pmg_control control = { .budget = 1 };

	run_begin(tests, &run);
	CHECK_FAILS(tests, pmg_plan_state_save(run.plan, &writer), run.context, PMG_BAD_CALL,
		    "pipeline 'steps' has no state to save");
	CHECK_FAILS(tests, pmg_plan_state_save(run.plan, NULL), run.context, PMG_BAD_CALL,
		    "saving a state needs a writer, not NULL");
	CHECK_FAILS(tests, pmg_plan_state_load(run.plan, NULL), run.context, PMG_BAD_CALL,
		    "loading a state needs a reader, not NULL");
	for (tape->n = 0; tape->n < whole; tape->n += 3)
		CHECK_FAILS(tests, tape_load(tape, run.plan), run.context, PMG_IO,
			    "the state of pipeline 'steps' could not be read");
	CHECK(tests, pmg_plan_execute(run.plan, &run.data.args, &control) == PMG_OK);
	for (tape->fail_at = 1; tape->fail_at < whole; tape->fail_at += 5) {
		tape->n = 0;
		CHECK_FAILS(tests, pmg_plan_state_save(run.plan, &writer), run.context, PMG_IO,
			    "the state of pipeline 'steps' could not be written");
	}
	run_end(&run);
}

static void test_stateless(struct tests *tests, struct tape *tape)
{
	pmg_context *context = pmg_context_new(NULL);
	struct life_case data;
	pmg_plan *plan;

	life_fill(&data);
	CHECK(tests,
	      pmg_plan_new(life_describe(), &data.args, &(pmg_options) { .context = context }, &plan) == 0);
	CHECK_FAILS(tests, tape_load(tape, plan), context, PMG_BAD_CALL,
		    "pipeline 'life_dsc' has no state to load");
	pmg_plan_destroy(plan);
	pmg_context_free(context);
}

void test_state(struct tests *tests)
{
	struct run run;
	struct tape tape;

	test_continue(tests);
	run_begin(tests, &run);
	tape_fill(tests, &tape, &run);
	run_end(&run);
	test_damage(tests, &tape);
	test_streams(tests, &tape);
	test_stateless(tests, &tape);
}
