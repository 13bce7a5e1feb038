/* SPDX-License-Identifier: MIT
 *
 * Pivots that a kernel reports: which row of which system the message names, and when one that is not finite is a value
 * like others. The kernel takes pivots from the caller's array, times two scalars. */
#include "runtime/check.h"

#include <math.h>

enum { ROWS = 7, SYSTEMS = 3 };
enum { OFFSET, DIAG, N_ARRAYS };
enum { BY_OFFSET, BY_NUMBER };

typedef struct solve_args {
	int64_t n, nSystems;
	double rate;
	float share;
	pmg_buffer offset, diag;
} solve_args;

static void extents(const void *arguments, int64_t *values)
{
	const solve_args *args = arguments;

	values[0] = args->nSystems + 1;
	values[1] = values[2] = args->n;
}

/* Rows in their order, as a serial loop would be. */
static pmg_status kernel(pmg_plan *plan, const void *arguments, pmg_control *control)
{
	const solve_args *args = arguments;
	const double *diag = plan->data[DIAG];

	(void) control;
	for (int64_t i = 0; i < args->n; i++)
		pmg_check_pivot(plan, diag[i]*args->rate*(double) args->share, BY_OFFSET, i, -1);
	return PMG_OK;
}

/* The same rows as those of one system, and as the columns of several. */
static pmg_status kernel_of_one(pmg_plan *plan, const void *arguments, pmg_control *control)
{
	const double *diag = plan->data[DIAG];

	(void) arguments, (void) control;
	pmg_check_pivot(plan, diag[0], BY_NUMBER, 0, 4);
	pmg_check_pivot(plan, diag[1], BY_NUMBER, 1, -1);
	return PMG_OK;
}

static const pmg_param_desc params[] = {
	{ "n", PMG_I64, offsetof(solve_args, n), "solve.pmg:2" },
	{ "nSystems", PMG_I64, offsetof(solve_args, nSystems), "solve.pmg:2" },
	{ "rate", PMG_F64, offsetof(solve_args, rate), "solve.pmg:3" },
	{ "share", PMG_F32, offsetof(solve_args, share), "solve.pmg:3" },
};

static const pmg_extent rows[] = { { 0, false, 0, "n" } }, begins[] = { { 1, false, 1, "nSystems + 1" } };

static const pmg_pivot_desc pivots[] = {
	[BY_OFFSET] = { "x", PMG_F64, OFFSET, "solve.pmg:7" },
	[BY_NUMBER] = { "z", PMG_F64, -1, "solve.pmg:8" },
};

/* A solve whose data are all right. */
struct solve {
	struct tests *tests;
	pmg_array_desc arrays[N_ARRAYS];
	pmg_pipeline_desc desc;
	solve_args args;
	int64_t offset[SYSTEMS + 1];
	double diag[ROWS];
};

static void solve_fill(struct solve *solve, struct tests *tests)
{
	static const int64_t n = ROWS, n_offsets = SYSTEMS + 1;

	*solve = (struct solve) { .tests = tests, .offset = { 0, 3, 3, ROWS } };
	for (int i = 0; i < ROWS; i++)
		solve->diag[i] = 4;
	solve->args = (solve_args) { ROWS, SYSTEMS, 1, 1, pmg_dense(solve->offset, PMG_I64, 1, &n_offsets),
				     pmg_dense(solve->diag, PMG_F64, 1, &n) };
	solve->arrays[OFFSET] = (pmg_array_desc) {
		.name = "offset", .role = PMG_IN, .type = PMG_I64, .is_fixed = true, .is_index = true, .rank = 1,
		.shape = begins, .first_extent = 0, .facts = PMG_FACT_OFFSETS, .limit = { 0, false, 0, "n" },
		.segments = -1, .offset = offsetof(solve_args, offset), .place = "solve.pmg:4"
	};
	solve->arrays[DIAG] = (pmg_array_desc) {
		.name = "diag", .role = PMG_IN, .type = PMG_F64, .rank = 1, .shape = rows, .first_extent = 2,
		.segments = -1, .offset = offsetof(solve_args, diag), .place = "solve.pmg:5"
	};
	solve->desc = (pmg_pipeline_desc) {
		.abi_version = PMG_ABI_VERSION, .name = "solve", .source = "solve.pmg", .target = "openmp",
		.args_size = sizeof(solve_args), .n_params = 4, .n_arrays = N_ARRAYS, .n_extents = 3, .n_pivots = 2,
		.params = params, .arrays = solve->arrays, .pivots = pivots, .extents = extents, .kernel = kernel
	};
}

#define ADVICE "; elimination exchanges no rows, so that it solves only systems without such pivots, as those are in " \
	"which the diagonal dominates"

/* What an execution says; NULL: all is well. */
static void solves(struct solve *solve, const char *message)
{
	pmg_context *context = pmg_context_new(NULL);
	const pmg_options options = { .context = context, .threads = 2 };
	pmg_plan *plan = NULL;
	pmg_status status = pmg_plan_new(&solve->desc, &solve->args, &options, &plan);

	CHECK(solve->tests, status == PMG_OK);
	status = plan ? pmg_plan_execute(plan, &solve->args, NULL) : status;
	if (message)
		CHECK_FAILS(solve->tests, status, context, PMG_NUMERICAL, message);
	else
		CHECK(solve->tests, status == PMG_OK);
	pmg_plan_destroy(plan);
	pmg_context_free(context);
}

static void test_places_of_rows(struct tests *tests)
{
	struct solve solve;

	solve_fill(&solve, tests);
	solves(&solve, NULL);
	solve.diag[5] = solve.diag[6] = 0;
	solves(&solve, "the pivot of 'x' in row 2 of system 2 is zero (solve.pmg:7)" ADVICE);
	solve.diag[2] = -0.0;
	solves(&solve, "the pivot of 'x' in row 2 of system 0 is zero (solve.pmg:7)" ADVICE);
	solve.desc.kernel = kernel_of_one;
	solves(&solve, NULL);
	solve.diag[1] = 0;
	solves(&solve, "the pivot of 'z' in row 1 is zero (solve.pmg:8)" ADVICE);
	solve.diag[0] = 0;
	solves(&solve, "the pivot of 'z' in row 0 of system 4 is zero (solve.pmg:8)" ADVICE);
}

static void test_refusals(struct tests *tests)
{
	static const int32_t wrong[] = { DIAG, N_ARRAYS, INT32_MAX };
	struct solve solve;

	solve_fill(&solve, tests);
	CHECK(tests, pmg_plan_forecast(&solve.desc, &solve.args) > 0);
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		const pmg_pivot_desc one = { "x", PMG_F64, wrong[i], "solve.pmg:7" };

		solve.desc.n_pivots = 1;
		solve.desc.pivots = &one;
		CHECK(tests, pmg_plan_forecast(&solve.desc, &solve.args) < 0);
	}
}

/* A product that is too large is the system's fault, one with what the caller gave is not. */
static void test_not_finite(struct tests *tests)
{
	struct solve solve;

	solve_fill(&solve, tests);
	solve.args.rate = 1e308;
	solves(&solve, "the pivot of 'x' in row 0 of system 0 is not finite (solve.pmg:7)" ADVICE);
	solve.diag[4] = NAN;
	solves(&solve, NULL);
	solve_fill(&solve, tests);
	solve.args.rate = INFINITY;
	solves(&solve, NULL);
	solve.args.rate = 1;
	solve.args.share = NAN;
	solves(&solve, NULL);
	solve_fill(&solve, tests);
	solve.args.share = -INFINITY;
	solve.diag[3] = 0;
	solves(&solve, NULL);
	solve.args.share = 0;
	solves(&solve, "the pivot of 'x' in row 0 of system 0 is zero (solve.pmg:7)" ADVICE);
}

void test_pivots(struct tests *tests)
{
	test_places_of_rows(tests);
	test_refusals(tests);
	test_not_finite(tests);
}
