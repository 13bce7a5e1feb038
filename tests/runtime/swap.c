/* SPDX-License-Identifier: MIT
 *
 * States that change places with their next values: u, which the caller holds, as it lies or with strides, and s, which
 * the plan holds. Inner cells become the sum of their neighbours; the border has no next value. */
#include "runtime/check.h"

#include <string.h>

enum { N = 6, MOST = 4 };

typedef struct swap_args {
	int64_t n;
	pmg_buffer u, y;
} swap_args;

static const pmg_extent swap_shape[] = { { .param = 0, .text = "n" } };
static const pmg_param_desc swap_params[] = { { "n", PMG_I64, offsetof(swap_args, n), "swap.pmg:1" } };

static void swap_extents(const void *args, int64_t *values)
{
	values[0] = ((const swap_args *) args)->n;
}

static void step(double *next, const double *now)
{
	for (int i = 1; i < N - 1; i++)
		next[i] = now[i - 1] + now[i + 1];
}

/* y = s, and s starts at u. */
static pmg_status swap_kernel(pmg_plan *plan, const void *args, pmg_control *control)
{
	(void) args;
	if (pmg_loop_starts(plan, control))
		memcpy(plan->data[2], plan->data[0], N * sizeof(double));
	pmg_keep(plan, 0, 3);
	pmg_keep(plan, 2, 4);
	for (int64_t it = pmg_loop_begin(plan, control, 0); pmg_loop_next(plan, control, it, MOST, false); it++) {
		step(plan->data[3], plan->data[0]);
		step(plan->data[4], plan->data[2]);
		pmg_swap(plan, 0, 3);
		pmg_swap(plan, 2, 4);
	}
	memcpy(plan->data[1], plan->data[2], N * sizeof(double));
	return PMG_OK;
}

#define ARRAY(title, what, number, where) { .name = title, .role = what, .type = PMG_F64, .rank = 1, \
	.shape = swap_shape, .segments = -1, .next = number, .offset = where, .place = "swap.pmg:2" }

static const pmg_array_desc arrays[] = {
	ARRAY("u", PMG_INOUT, 3, offsetof(swap_args, u)), ARRAY("y", PMG_OUT, 0, offsetof(swap_args, y)),
	ARRAY("s", PMG_STATE, 4, SIZE_MAX), ARRAY("u.next", PMG_TEMP, 0, SIZE_MAX),
	ARRAY("s.next", PMG_TEMP, 0, SIZE_MAX),
};

static const pmg_pipeline_desc swap = {
	.abi_version = PMG_ABI_VERSION, .name = "swap", .source = "swap.pmg", .args_size = sizeof(swap_args),
	.n_params = 1, .n_arrays = 5, .n_extents = 1, .params = swap_params, .arrays = arrays,
	.extents = swap_extents, .kernel = swap_kernel, .has_loop = true
};

/* What u is after some iterations. */
static void expect(int iterations, double *u)
{
	double next[N] = { 1, 2, 3, 5, 8, 13 };

	for (int it = 0; it < iterations; it++) {
		memcpy(u, next, sizeof next);
		step(next, u);
	}
	memcpy(u, next, sizeof next);
}

/* In parts of `budget` iterations, with u in every `stride`-th element. */
static void test_parts(struct tests *tests, int64_t budget, int stride)
{
	const int64_t n = N;
	double u[3 * N], y[N], expected[N];
	pmg_context *context = pmg_context_new(NULL);
	pmg_control control = { .budget = budget };
	swap_args args = { .n = N, .u = pmg_dense(u, PMG_F64, 1, &n), .y = pmg_dense(y, PMG_F64, 1, &n) };
	pmg_plan *plan = NULL;

	args.u.strides[0] *= stride;
	expect(0, expected);
	for (int i = 0; i < N; i++)
		u[i * stride] = expected[i];
	CHECK(tests, pmg_plan_new(&swap, &args, &(pmg_options) { .context = context }, &plan) == PMG_OK);
	while (plan && !control.finished) {
		CHECK(tests, pmg_plan_execute(plan, &args, &control) == PMG_OK);
		expect((int) control.done, expected);
		for (int i = 0; i < N; i++)
			CHECK(tests, u[i * stride] == expected[i] && y[i] == expected[i]);
		control.resume = true;
	}
	CHECK(tests, control.done == MOST);
	pmg_plan_destroy(plan);
	pmg_context_free(context);
}

static void test_refusals(struct tests *tests)
{
	const int64_t n = N;
	double u[N] = { 0 }, y[N];
	pmg_context *context = pmg_context_new(NULL);
	swap_args args = { .n = N, .u = pmg_dense(u, PMG_F64, 1, &n), .y = pmg_dense(y, PMG_F64, 1, &n) };
	pmg_array_desc wrong[5];
	pmg_pipeline_desc desc = swap;
	pmg_plan *plan = NULL;

	desc.arrays = wrong;
	for (int number = 1; number <= 5; number += 2) {
		memcpy(wrong, arrays, sizeof wrong);
		wrong[0].next = number == 3 ? 3 : number;
		wrong[3].type = number == 3 ? PMG_F32 : PMG_F64;
		CHECK(tests, pmg_plan_new(&desc, &args, &(pmg_options) { .context = context }, &plan) == PMG_INTERNAL);
	}
	pmg_context_free(context);
}

void test_swap(struct tests *tests)
{
	for (int64_t budget = 1; budget <= MOST + 1; budget++)
		for (int stride = 1; stride <= 3; stride++)
			test_parts(tests, budget, stride);
	test_refusals(tests);
}
