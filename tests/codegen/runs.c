/* SPDX-License-Identifier: MIT
 *
 * What compiled kernels do: a run that was stopped, saved and loaded into another plan ends like one that was not; a
 * computed index out of range stops a run and keeps the last whole iteration; a kernel that was compiled for a value
 * of a parameter also runs with others; rows of accumulators stay in registers; what a
 * weight of zero hides is seen where it is not finite. That they compute what the interpreter
 * computes is tested in tests/random. */
#include <dlfcn.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/codegen_tests.h"
#include "pmgrt.h"

/* A case as a library. */
static const pmg_pipeline_desc *const *load(struct tests *tests, const char *folder, const char *cases,
						const char *name)
{
	char library[256];
	void *handle;
	pmg_pipelines_function pipelines = NULL;

	snprintf(library, sizeof library, "%s/%s.so", folder, name);
	CHECK(tests, codegen_command("%s/pmgc tests/codegen/%s/%s.pmg -o %s/case.c", tests->build, cases, name,
				     folder));
	CHECK(tests, codegen_command("gcc -std=c11 -O1 -g -fopenmp -DPMG_ALL_THREADS -fPIC -shared -Iruntime "
				     "%s/case.c -o %s -L%s -lpmgrt -lopenblas -lm", folder, library, tests->build));
	handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	if (handle)
		*(void **) (void *) &pipelines = dlsym(handle, PMG_PIPELINES_SYMBOL);
	CHECK(tests, pipelines);
	return pipelines ? pipelines() : NULL;
}

static const pmg_pipeline_desc *find(const pmg_pipeline_desc *const *at, const char *name)
{
	for (; at && *at; at++)
		if (!strcmp((*at)->name, name))
			return *at;
	return NULL;
}

/* ---- runs that stop and go on ---- */

enum { N = 5, STEPS = 7 };

/* As in the header of the case. */
struct states_args {
	int64_t n, steps;
	double tolerance;
	pmg_buffer x0, total, x, hits, trace;
};

struct states_data {
	double x0[N], total, x[N], trace[STEPS];
	int64_t hits[N];
	struct states_args args;
};

static void fill_states(struct states_data *data)
{
	static const int64_t n = N, steps = STEPS;
	const double x0[N] = { 3, 0, 1, 4, 1.5 };

	memset(data, 0, sizeof *data);
	memcpy(data->x0, x0, sizeof x0);
	data->total = 10;
	data->args = (struct states_args) { .n = N, .steps = STEPS, .tolerance = 0 };
	data->args.x0 = pmg_dense(data->x0, PMG_F64, 1, &n);
	data->args.total = pmg_dense(&data->total, PMG_F64, 0, NULL);
	data->args.x = pmg_dense(data->x, PMG_F64, 1, &n);
	data->args.hits = pmg_dense(data->hits, PMG_I64, 1, &n);
	data->args.trace = pmg_dense(data->trace, PMG_F64, 1, &steps);
}

struct memory {
	char bytes[4096];
	size_t n, at;
};

static pmg_status memory_write(void *user, const void *bytes, size_t n)
{
	struct memory *memory = user;

	if (n > sizeof memory->bytes - memory->n)
		return PMG_IO;
	memcpy(memory->bytes + memory->n, bytes, n);
	memory->n += n;
	return PMG_OK;
}

static pmg_status memory_read(void *user, void *bytes, size_t n)
{
	struct memory *memory = user;

	if (n > memory->n - memory->at)
		return PMG_IO;
	memcpy(bytes, memory->bytes + memory->at, n);
	memory->at += n;
	return PMG_OK;
}

static pmg_plan *plan_of(struct tests *tests, const pmg_pipeline_desc *desc, const void *args, pmg_context *context)
{
	const pmg_options options = { .context = context, .threads = 2 };
	pmg_plan *plan = NULL;

	CHECK(tests, desc->plan(args, &options, &plan) == PMG_OK);
	return plan;
}

/* Stops after `budget` iterations, moves to another plan, and goes on. */
static void run_in_two(struct tests *tests, const pmg_pipeline_desc *desc, struct states_data *data,
		       pmg_context *context, int64_t budget)
{
	struct memory memory = { .n = 0 };
	const pmg_writer writer = { memory_write, &memory };
	const pmg_reader reader = { memory_read, &memory };
	pmg_plan *first = plan_of(tests, desc, &data->args, context), *second;
	pmg_control control = { .budget = budget };

	CHECK(tests, desc->execute(first, &data->args, &control) == PMG_OK && !control.finished);
	CHECK(tests, control.done == budget);
	CHECK(tests, pmg_plan_state_save(first, &writer) == PMG_OK);
	desc->destroy(first);
	second = plan_of(tests, desc, &data->args, context);
	CHECK(tests, pmg_plan_state_load(second, &reader) == PMG_OK);
	control = (pmg_control) { .budget = -1, .resume = true };
	CHECK(tests, desc->execute(second, &data->args, &control) == PMG_OK && control.finished);
	desc->destroy(second);
}

static void test_resume(struct tests *tests, const pmg_pipeline_desc *const *pipelines)
{
	const pmg_pipeline_desc *desc = find(pipelines, "states");
	pmg_context *context = pmg_context_new(NULL);
	struct states_data whole, parts;
	pmg_plan *plan;

	fill_states(&whole);
	fill_states(&parts);
	plan = plan_of(tests, desc, &whole.args, context);
	CHECK(tests, desc->execute(plan, &whole.args, NULL) == PMG_OK);
	desc->destroy(plan);
	run_in_two(tests, desc, &parts, context, 3);
	CHECK(tests, whole.hits[0] + whole.hits[1] + whole.hits[2] + whole.hits[3] + whole.hits[4] == N*STEPS);
	CHECK(tests, memcmp(&whole, &parts, offsetof(struct states_data, args)) == 0);
	pmg_context_free(context);
}

/* ---- indices out of range ---- */

struct overrun_args {
	int64_t n, steps;
	pmg_buffer total, hits;
};

static void test_bad_index(struct tests *tests, const pmg_pipeline_desc *const *pipelines)
{
	const pmg_pipeline_desc *desc = find(pipelines, "overrun");
	pmg_context *context = pmg_context_new(NULL);
	int64_t hits[N], n = N;
	double total = 10;
	struct overrun_args args = { .n = N, .steps = N };
	pmg_plan *plan;

	args.total = pmg_dense(&total, PMG_F64, 0, NULL);
	args.hits = pmg_dense(hits, PMG_I64, 1, &n);
	plan = plan_of(tests, desc, &args, context);
	CHECK(tests, desc->execute(plan, &args, NULL) == PMG_OK && total == 10 + N);
	desc->destroy(plan);
	args.steps = N + 4;
	plan = plan_of(tests, desc, &args, context);
	CHECK(tests, desc->execute(plan, &args, NULL) == PMG_NUMERICAL);
	CHECK(tests, total == 10 + 2*N);
	CHECK_TEXT(tests, pmg_message(context), "array 'at' holds 5 at [0], which is not in 0..5 (n, states.pmg:37)");
	desc->destroy(plan);
	pmg_context_free(context);
}

/* ---- pivots ---- */

struct singular_args {
	int64_t n, steps;
	pmg_buffer a, u;
};

static void test_bad_pivot(struct tests *tests, const pmg_pipeline_desc *const *pipelines)
{
	const pmg_pipeline_desc *desc = find(pipelines, "singular");
	pmg_context *context = pmg_context_new(NULL);
	double a[2*N] = { 0 }, u[2*N];
	const int64_t shape[] = { 2, N };
	struct singular_args args = { .n = N };
	pmg_plan *plan;

	args.a = pmg_dense(a, PMG_F64, 2, shape);
	args.u = pmg_dense(u, PMG_F64, 2, shape);
	for (int k = 0; k < 2*N; k++)
		u[k] = 1 + k;
	args.steps = N;
	plan = plan_of(tests, desc, &args, context);
	CHECK(tests, desc->execute(plan, &args, NULL) == PMG_OK);
	desc->destroy(plan);
	args.steps = N + 4;
	plan = plan_of(tests, desc, &args, context);
	CHECK(tests, desc->execute(plan, &args, NULL) == PMG_NUMERICAL);
	CHECK_TEXT(tests, pmg_message(context),
		   "the pivot of 'u.TriBatch' in row 0 of system 1 is zero (states.pmg:61); elimination exchanges no "
		   "rows, so that it solves only systems without such pivots, as those are in which the diagonal "
		   "dominates");
	CHECK(tests, desc->execute(plan, &args, &(pmg_control) { .resume = true }) == PMG_BAD_CALL);
	desc->destroy(plan);
	pmg_context_free(context);
}

/* ---- a parameter with a known value ---- */

struct special_args {
	int64_t rows, columns;
	pmg_buffer a, b, c, sums, q;
};

static bool special_is_right(struct tests *tests, const pmg_pipeline_desc *desc, int64_t columns)
{
	static double a[2*128], b[2], c[2], sums[2], q[2*128];
	const int64_t matrix[] = { 2, columns }, rows = 2;
	pmg_context *context = pmg_context_new(NULL);
	struct special_args args = { .rows = 2, .columns = columns };
	pmg_plan *plan;
	bool is_right;

	for (int i = 0; i < 2*columns; i++)
		a[i] = i;
	b[0] = c[0] = 2;
	b[1] = c[1] = 3;
	args.a = pmg_dense(a, PMG_F64, 2, matrix);
	args.b = pmg_dense(b, PMG_F64, 1, &rows);
	args.c = pmg_dense(c, PMG_F64, 1, &rows);
	args.sums = pmg_dense(sums, PMG_F64, 1, &rows);
	args.q = pmg_dense(q, PMG_F64, 2, matrix);
	plan = plan_of(tests, desc, &args, context);
	is_right = desc->execute(plan, &args, NULL) == PMG_OK && sums[0] == (double) (columns*(columns - 1)) &&
		   q[columns] == 3.0*(double) columns + 1e-7;
	desc->destroy(plan);
	pmg_context_free(context);
	return is_right;
}

static void test_special(struct tests *tests, const pmg_pipeline_desc *const *pipelines)
{
	CHECK(tests, special_is_right(tests, find(pipelines, "special"), 96));
	CHECK(tests, special_is_right(tests, find(pipelines, "special"), 3));
}

/* ---- temporaries that are rows ---- */

enum { ROWS = 50, COLUMNS = 100, THREADS = 3 };

struct storage_args {
	int64_t rows, columns;
	pmg_buffer img, res;
};

/* A plan holds a row for each thread, and no array of the size of the image. */
static void test_storage(struct tests *tests, const char *folder)
{
	static float img[ROWS*COLUMNS], res[ROWS*COLUMNS];
	static const int64_t shape[] = { ROWS, COLUMNS };
	const pmg_pipeline_desc *const *pipelines = load(tests, folder, "cases", "storage");
	const struct storage_args args = { ROWS, COLUMNS, pmg_dense(img, PMG_F32, 2, shape),
					   pmg_dense(res, PMG_F32, 2, shape) };
	pmg_context *context = pmg_context_new(NULL);
	const pmg_options options = { .context = context, .threads = THREADS, .tune = PMG_TUNE_OFF };
	pmg_plan *plan = NULL;
	int n_wrong = 0;

	for (int i = 0; i < ROWS*COLUMNS; i++)
		img[i] = (float) (i % 7);
	CHECK(tests, pipelines && find(pipelines, "storage")->plan(&args, &options, &plan) == PMG_OK);
	if (plan) {
		CHECK(tests, pmg_plan_bytes(plan) < 2000 + THREADS*(COLUMNS*4 + 4096));
		CHECK(tests, pmg_plan_execute(plan, &args, NULL) == PMG_OK);
	}
	for (int i = 0; i < ROWS*COLUMNS; i++) {
		float point = 2*img[i] + (i >= COLUMNS && i % COLUMNS ? 2*img[i - 1] : 0);

		n_wrong += res[i] > point*point || res[i] < point*point;
	}
	CHECK(tests, n_wrong == 0);
	pmg_plan_destroy(plan);
	pmg_context_free(context);
}

/* ---- loops that add nothing ---- */

enum { SKIP_ROW = 16 };

struct skip_args {
	int64_t nAtoms, nVoxels, nFibers, nCoeffs;
	pmg_buffer atom, voxel, fiber, value, D, w, Y;
};

/* The first element of the product of a weight of zero and a row that begins with `first`. */
static double skip_result(struct tests *tests, const pmg_pipeline_desc *desc, double first)
{
	const int64_t one = 1, row[] = { 1, SKIP_ROW };
	int64_t zero = 0;
	double D[SKIP_ROW] = { first }, Y[SKIP_ROW] = { 1 }, value = 1, w = 0;
	pmg_context *context = pmg_context_new(NULL);
	struct skip_args args = { .nAtoms = 1, .nVoxels = 1, .nFibers = 1, .nCoeffs = 1 };
	pmg_plan *plan;

	args.atom = args.voxel = args.fiber = pmg_dense(&zero, PMG_I64, 1, &one);
	args.value = pmg_dense(&value, PMG_F64, 1, &one);
	args.D = pmg_dense(D, PMG_F64, 2, row);
	args.w = pmg_dense(&w, PMG_F64, 1, &one);
	args.Y = pmg_dense(Y, PMG_F64, 2, row);
	plan = plan_of(tests, desc, &args, context);
	CHECK(tests, desc->execute(plan, &args, NULL) == PMG_OK && Y[1] == 0);
	desc->destroy(plan);
	pmg_context_free(context);
	return Y[0];
}

static void test_skip(struct tests *tests, const pmg_pipeline_desc *const *pipelines)
{
	CHECK(tests, skip_result(tests, find(pipelines, "skip"), 3) == 0);
	CHECK(tests, isnan(skip_result(tests, find(pipelines, "skip"), INFINITY)));
	CHECK(tests, isnan(skip_result(tests, find(pipelines, "skip"), NAN)));
}

/* ---- rows in registers ---- */

/* Each compiler keeps the 12 vectors of a row in registers: 12 multiply-adds, none of which reads the stack. */
static void test_row(struct tests *tests, const char *folder)
{
	static const char *const compilers[] = { "gcc", "clang" };

	CHECK(tests, codegen_command("%s/pmgc tests/codegen/cases/row.pmg -o %s/case.c", tests->build, folder));
	for (int i = 0; i < 2; i++) {
		CHECK(tests, codegen_command("%s -std=c11 -O3 -march=x86-64-v4 -mprefer-vector-width=512 "
					     "-ffp-contract=fast -fopenmp -Iruntime -S %s/case.c -o %s/case.s",
					     compilers[i], folder, folder));
		CHECK(tests, codegen_command("grep 'vfmadd.*zmm' %s/case.s | grep -vc 'sp)' | grep -qx "
					     "'1[2-9]\\|[2-9][0-9]\\|[0-9]\\{3\\}'", folder));
		CHECK(tests, codegen_command("! grep 'vfmadd.*zmm' %s/case.s | grep -q 'sp)'", folder));
	}
}

void codegen_test_runs(struct tests *tests)
{
	char folder[] = "/tmp/pmg-codegen-XXXXXX";
	const pmg_pipeline_desc *const *states, *const *special, *const *skip;

	CHECK(tests, mkdtemp(folder));
	states = load(tests, folder, "stops", "states");
	special = load(tests, folder, "cases", "special");
	skip = load(tests, folder, "cases", "skip");
	if (states && special && skip) {
		test_resume(tests, states);
		test_bad_index(tests, states);
		test_bad_pivot(tests, states);
		test_special(tests, special);
		test_skip(tests, skip);
	}
	test_row(tests, folder);
	test_storage(tests, folder);
	codegen_command("rm -rf %s", folder);
}
