/* SPDX-License-Identifier: MIT
 *
 * Arrays of every type, dense and with strides, through a pipeline that copies: y = x. */
#include "runtime/check.h"

#include <string.h>

enum { N = 5 };

typedef struct copy_args {
	int64_t n;
	pmg_buffer x, y;
} copy_args;

static const pmg_extent copy_shape[] = { { .param = 0, .text = "n" } };
static const pmg_param_desc copy_params[] = { { "n", PMG_I64, offsetof(copy_args, n), "copy.pmg:1" } };

static void copy_extents(const void *args, int64_t *values)
{
	values[0] = ((const copy_args *) args)->n;
}

static pmg_status copy_kernel(pmg_plan *plan, const void *args, pmg_control *control)
{
	const copy_args *a = args;

	(void) control;
	memcpy(plan->data[1], plan->data[0], (size_t) a->n * pmg_type_size(a->x.type));
	return PMG_OK;
}

static pmg_status copy_run(copy_args *args, pmg_context *context, pmg_control *control)
{
	const pmg_array_desc arrays[] = {
		{ .name = "x", .role = PMG_IN, .type = args->x.type, .rank = 1, .shape = copy_shape,
			.segments = -1, .offset = offsetof(copy_args, x), .place = "copy.pmg:2" },
		{ .name = "y", .role = PMG_OUT, .type = args->x.type, .rank = 1, .shape = copy_shape,
			.segments = -1, .offset = offsetof(copy_args, y), .place = "copy.pmg:3" },
	};
	const pmg_pipeline_desc desc = {
		.abi_version = PMG_ABI_VERSION, .name = "copy", .source = "copy.pmg", .args_size = sizeof *args,
		.n_params = 1, .n_arrays = 2, .n_extents = 1, .params = copy_params, .arrays = arrays,
		.extents = copy_extents, .kernel = copy_kernel
	};
	pmg_plan *plan;
	pmg_status status = pmg_plan_new(&desc, args, &(pmg_options) { .context = context, .check_finite = true },
					 &plan);

	if (status == PMG_OK)
		status = pmg_plan_execute(plan, args, control);
	pmg_plan_destroy(plan);
	return status;
}

/* x in every third element from the end, y in every second one of a packed record of odd length. */
static void test_type(struct tests *tests, pmg_type type)
{
	const int64_t size = (int64_t) pmg_type_size(type), n = N;
	char x[3 * N * 8], y[N * 17 + 1];
	pmg_context *context = pmg_context_new(NULL);
	pmg_control control = { .budget = 0 };
	copy_args args = { .n = N, .x = pmg_dense(x, type, 1, &n), .y = pmg_dense(y, type, 1, &n) };

	memset(y, 9, sizeof y);
	for (size_t i = 0; i < sizeof x; i++)
		x[i] = (char) (type == PMG_BOOL ? i % 2 : i % 50);
	args.x.data = x + 3 * (N - 1) * size;
	args.x.strides[0] = -3 * size;
	args.y.data = y + 1;
	args.y.strides[0] = 2 * size + 1;
	CHECK(tests, copy_run(&args, context, &control) == PMG_OK && control.finished && control.done == 0);
	for (int64_t i = 0; i < N; i++) {
		CHECK(tests, memcmp(y + 1 + i * (2 * size + 1), x + 3 * (N - 1 - i) * size, (size_t) size) == 0);
		CHECK(tests, y[1 + i * (2 * size + 1) + size] == 9);
	}
	pmg_context_free(context);
}

static void test_not_finite(struct tests *tests)
{
	const int64_t n = N;
	float x[N] = { 1, 2, 3, -INFINITY, NAN }, y[N];
	pmg_context *context = pmg_context_new(NULL);
	copy_args args = { .n = N, .x = pmg_dense(x, PMG_F32, 1, &n), .y = pmg_dense(y, PMG_F32, 1, &n) };

	CHECK_FAILS(tests, copy_run(&args, context, NULL), context, PMG_BAD_DATA,
		    "array 'x' holds -infinity at [3], but only finite values are accepted (copy.pmg:2)");
	pmg_context_free(context);
}

void test_kinds(struct tests *tests)
{
	for (int type = PMG_F32; type <= PMG_BOOL; type++)
		test_type(tests, (pmg_type) type);
	test_not_finite(tests);
}
