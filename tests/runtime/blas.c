/* SPDX-License-Identifier: MIT
 *
 * The calls of pmgrt_blas.h against loops: sizes around the borders of threads, transposed operands, leading dimensions
 * beyond the rows, strides; what is set is never read, and NaN times zero is NaN. And who sets the threads of a
 * BLAS. */
#include "pmgrt_blas.h"
#include "runtime/check.h"
#include "runtime/pipelines.h"

#include <stdlib.h>

enum { EXTRA = 3, PAD = 5 };    /* columns beyond the matrix, numbers behind all */

static const int64_t sizes[][3] = { { 1, 1, 1 },    { 2, 1, 3 },     { 1, 2, 2 },     { 7, 5, 3 },
				    { 33, 40, 65 }, { 130, 60, 90 }, { 61, 257, 70 }, { 300, 2, 301 } };

enum { N_SIZES = (int) (sizeof sizes / sizeof sizes[0]) };

#define NAME(name) name##_f64
#define REAL double
#define TOLERANCE 1e-12
#define CALL(name) pmg_cblas_d##name
#include "runtime/blas_cases.h"
#undef NAME
#undef REAL
#undef TOLERANCE
#undef CALL

#define NAME(name) name##_f32
#define REAL float
#define TOLERANCE 1e-4
#define CALL(name) pmg_cblas_s##name
#include "runtime/blas_cases.h"

/* ---- threads of the library ---- */

static int library_threads, seen_inside;

static int get_threads(void)
{
	return library_threads;
}

static void set_threads(int threads)
{
	library_threads = threads;
}

static pmg_status look(pmg_plan *plan, const void *args, pmg_control *control)
{
	(void) args;
	(void) control;
	(void) plan;
	seen_inside = library_threads;
	return PMG_OK;
}

static void test_threads(struct tests *tests, const pmg_blas *blas, int inside)
{
	pmg_pipeline_desc desc = *life_describe();
	pmg_options options = { .threads = 2 };
	struct life_case data;
	pmg_plan *plan;

	desc.blas = blas;
	desc.kernel = look;
	life_fill(&data);
	options.context = pmg_context_new(NULL);
	library_threads = 7;
	CHECK(tests, pmg_plan_new(&desc, &data.args, &options, &plan) == PMG_OK);
	CHECK(tests, pmg_plan_execute(plan, &data.args, NULL) == PMG_OK);
	CHECK(tests, seen_inside == inside && library_threads == 7);
	pmg_plan_destroy(plan);
	pmg_context_free(options.context);
}

void test_blas(struct tests *tests)
{
	const pmg_blas fake = { get_threads, set_threads }, none = { NULL, NULL };

	for (int threads = 1; threads <= 3; threads++) {
		test_calls_f64(tests, threads);
		test_calls_f32(tests, threads);
	}
	test_threads(tests, &fake, 1);
	test_threads(tests, &none, 7);
	test_threads(tests, NULL, 7);
	CHECK(tests, pmg_blas_takes_3(8, 2, 2, 2, 2, 2, 2) && !pmg_blas_takes_3(9, 2, 2, 2, 2, 2, 2));
	CHECK(tests, !pmg_blas_takes_3(0, 2, 0, 2, 2, 2, 2) && !pmg_blas_takes_1(0, INT64_C(1) << 31, 1, 1));
	CHECK(tests, !pmg_blas_takes_2(0, 2, 2, INT64_C(1) << 31, 1, 1));
	CHECK(tests, pmg_blas_scales(-2) && !pmg_blas_scales(0) && !pmg_blas_scales((double) NAN) &&
		     !pmg_blas_scales((double) INFINITY));
}
