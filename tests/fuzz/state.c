/* SPDX-License-Identifier: MIT
 *
 * libFuzzer: any bytes as the file of --resume, for the pipeline `steps` of tests/runtime: as they are, then with the
 * begin of a state of this version and with sums that hold, which all but no input has by itself. From a state that is
 * accepted the loop goes on. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/put_file.h"
#include "run/run.h"
#include "runtime/pipelines.h"

enum { ARRAYS = 4, WORDS = 128, VERSION = 16, HEADER = 304, MOST = 1 << 13 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct tape {
	unsigned char bytes[MOST];
	size_t n;
};

/* Of `pmg run` in the middle of a run. */
struct running {
	struct steps_case data;
	struct session session;
	struct results results;
	struct execution execution;
	struct array declared[ARRAYS];
	struct argument arguments[ARRAYS];
	struct ndarray values[ARRAYS];
};

static void begin(struct running *r, char *path)
{
	static const enum array_role roles[ARRAYS] = { ROLE_INOUT, ROLE_OUT, ROLE_OUT, ROLE_OUT };
	const pmg_buffer *buffers[ARRAYS];
	pmg_options options = { .threads = 1 };
	pmg_control control = { .budget = 2 };

	*r = (struct running){ .session = { .values = { .resume = path } } };
	steps_fill(&r->data);
	buffers[0] = &r->data.args.v;
	buffers[1] = &r->data.args.total;
	buffers[2] = &r->data.args.where;
	buffers[3] = &r->data.args.count;
	for (int i = 0; i < ARRAYS; i++) {
		r->declared[i].role = roles[i];
		r->arguments[i].array = &r->declared[i];
		r->values[i] = (struct ndarray){ .type = (pmg_type) buffers[i]->type, .rank = i < 3, .shape = { 3 },
						 .data = buffers[i]->data };
	}
	r->session.arguments.items = r->arguments;
	r->session.arguments.n = ARRAYS;
	r->results.arrays = r->values;
	options.context = pmg_context_new(NULL);
	r->execution = (struct execution){ .session = &r->session, .results = &r->results, .context = options.context,
					   .inputs_sum = 1 };
	if (pmg_plan_new(steps_describe(), &r->data.args, &options, &r->execution.plan) != PMG_OK ||
	    pmg_plan_execute(r->execution.plan, &r->data.args, &control) != PMG_OK)
		abort();
}

static void end(struct running *r)
{
	pmg_plan_destroy(r->execution.plan);
	pmg_context_free(r->execution.context);
}

/* ---- sums that hold ---- */

static pmg_status tape_write(void *user, const void *bytes, size_t n)
{
	struct tape *tape = user;

	if (tape->n + n > MOST)
		return PMG_IO;
	memcpy(tape->bytes + tape->n, bytes, n);
	tape->n += n;
	return PMG_OK;
}

static uint64_t sum_of(uint64_t sum, const unsigned char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sum = (sum ^ bytes[i]) * 0x100000001b3u;
	return sum;
}

/* The plan's part is as long as one that it saves; what follows are words, a sum, and arrays behind their lengths. */
static void mend(struct running *r, unsigned char *bytes, size_t size)
{
	struct tape saved = { .n = 0 };
	const pmg_writer writer = { tape_write, &saved };
	const uint64_t first = 0xcbf29ce484222325u;
	uint64_t sum, inputs = 1;
	size_t at;

	if (pmg_plan_state_save(r->execution.plan, &writer) != PMG_OK || saved.n < HEADER)
		abort();
	if (size < saved.n + WORDS + 8)
		return;
	memcpy(bytes, saved.bytes, VERSION);
	sum = sum_of(first, bytes, saved.n - 8);
	memcpy(bytes + saved.n - 8, &sum, 8);
	at = saved.n + WORDS;
	memcpy(bytes + at, &inputs, 8);
	sum = first;
	at += 8;
	for (int i = 0; i < ARRAYS && at + 8 <= size; i++) {
		uint64_t n;

		memcpy(&n, bytes + at, 8);
		at += 8;
		if (n > size - at)
			return;
		sum = sum_of(sum, bytes + at, n);
		at += n;
	}
	if (at + 8 <= size)
		memcpy(bytes + at, &sum, 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char bytes[MOST];
	char path[64];

	if (size > MOST)
		return 0;
	memcpy(bytes, data, size);
	snprintf(path, sizeof path, "/tmp/pmg-fuzz-state-%ld", (long) getpid());
	for (int is_mended = 0; is_mended < 2; is_mended++) {
		struct running running;
		struct failure failure = { 0 };
		pmg_control control = { .budget = 3, .resume = true };

		begin(&running, path);
		if (is_mended)
			mend(&running, bytes, size);
		put_file(path, bytes, size);
		if (state_load(&running.execution, &failure))
			(void) pmg_plan_execute(running.execution.plan, &running.data.args, &control);
		else if (!failure.text[0])
			abort();
		end(&running);
	}
	unlink(path);
	return 0;
}
