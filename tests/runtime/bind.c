/* SPDX-License-Identifier: MIT
 *
 * What is said of arguments before their elements are read, and that other types, strides and addresses give
 * the same result as dense ones. Buffers that share memory. */
#include "runtime/check.h"
#include "runtime/pipelines.h"

#include <string.h>

static const struct {
	const char *name;
	size_t size;
	bool is_float, is_signed;
} types[] = {
#define TYPE(id, name, c_name, abi_name, bytes, is_float, is_signed) { name, bytes, is_float, is_signed },
#include "support/types.def"
#undef TYPE
};

static const char *const abi_names[] = {
#define TYPE(id, name, c_name, abi_name, bytes, is_float, is_signed) abi_name,
#include "support/types.def"
#undef TYPE
};

enum table_order {
#define TYPE(id, name, c_name, abi_name, bytes, is_float, is_signed) TABLE_##id,
#include "support/types.def"
#undef TYPE
	N_TABLE
};

static void test_types(struct tests *tests)
{
	CHECK(tests, (int) TABLE_F32 == PMG_F32 && (int) TABLE_F64 == PMG_F64 && (int) TABLE_I8 == PMG_I8);
	CHECK(tests, (int) TABLE_I16 == PMG_I16 && (int) TABLE_I32 == PMG_I32 && (int) TABLE_I64 == PMG_I64);
	CHECK(tests, (int) TABLE_U8 == PMG_U8 && (int) TABLE_U16 == PMG_U16 && (int) TABLE_U32 == PMG_U32);
	CHECK(tests, (int) TABLE_BOOL == PMG_BOOL && (int) N_TABLE == PMG_BOOL + 1);
	for (int i = 0; i < N_TABLE; i++) {
		CHECK(tests, strcmp(pmg_type_name((pmg_type) i), types[i].name) == 0);
		CHECK(tests, pmg_type_size((pmg_type) i) == types[i].size);
		CHECK(tests, strncmp(abi_names[i], "PMG_", 4) == 0);
	}
	CHECK(tests, pmg_type_size((pmg_type) N_TABLE) == 0);
	CHECK(tests, strcmp(pmg_type_name((pmg_type) 99), "?") == 0);
}

void test_buffers(struct tests *tests)
{
	const int64_t shape[] = { 2, 3, 4 };
	float data[24];
	pmg_buffer buffer = pmg_dense(data, PMG_F32, 3, shape);

	test_types(tests);
	CHECK(tests, buffer.data == data && buffer.device == PMG_HOST && buffer.rank == 3);
	CHECK(tests, buffer.strides[0] == 48 && buffer.strides[1] == 16 && buffer.strides[2] == 4);
	buffer = pmg_dense(data, PMG_F32, 0, NULL);
	CHECK(tests, buffer.rank == 0);
}

/* Plan and one execution in a context of its own; the message is copied to `message`. */
static pmg_status life_run(struct life_case *data, const pmg_options *wanted, char *message)
{
	pmg_context *context = pmg_context_new(NULL);
	pmg_options options = *wanted;
	pmg_plan *plan;
	pmg_status status;

	options.context = context;
	status = pmg_plan_new(life_describe(), &data->args, &options, &plan);
	if (status == PMG_OK)
		status = pmg_plan_execute(plan, &data->args, NULL);
	strcpy(message, pmg_message(context));
	pmg_plan_destroy(plan);
	pmg_context_free(context);
	return status;
}

/* The case fails with `wanted`, and Y has not been touched. */
static void life_refuses(struct tests *tests, struct life_case *data, const char *wanted)
{
	const pmg_options options = { .threads = 2 };
	char message[1024];
	pmg_status status = life_run(data, &options, message);
	struct life_case untouched;

	life_fill(&untouched);
	CHECK(tests, status == PMG_BAD_DATA);
	CHECK(tests, memcmp(untouched.Y, data->Y, sizeof data->Y) == 0);
	check(tests, strcmp(message, wanted) == 0, wanted, 0, message);
	life_fill(data);
}

static void life_succeeds(struct tests *tests, struct life_case *data)
{
	const pmg_options options = { .threads = 2, .check_finite = true };
	char message[1024];

	CHECK(tests, life_run(data, &options, message) == PMG_OK);
	CHECK(tests, life_is_right(data));
	check(tests, message[0] == '\0', __FILE__, __LINE__, message);
	life_fill(data);
}

static void test_index_types(struct tests *tests)
{
	struct life_case data;
	int8_t i8[6];
	int16_t i16[6];
	int32_t i32[6];
	uint8_t u8[6];
	uint16_t u16[6];
	uint32_t u32[12];
	const struct { void *data; pmg_type type; } cases[] = {
		{ i8, PMG_I8 }, { i16, PMG_I16 }, { i32, PMG_I32 },
		{ u8, PMG_U8 }, { u16, PMG_U16 }, { u32, PMG_U32 }
	};

	life_fill(&data);
	for (int k = 0; k < 6; k++) {
		i8[k] = (int8_t) data.voxel[k];
		i16[k] = (int16_t) data.voxel[k];
		u8[k] = (uint8_t) data.voxel[k];
		u16[k] = (uint16_t) data.voxel[k];
		i32[k] = (int32_t) data.voxel[k];
		u32[k] = (uint32_t) data.voxel[k];
	}
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		data.args.voxel = pmg_dense(cases[i].data, cases[i].type, 1, &data.args.nCoeffs);
		life_succeeds(tests, &data);
	}
	for (int k = 0; k < 6; k++)
		u32[2 * k] = (uint32_t) data.voxel[5 - k];
	memmove(&u32[1], &u32[0], 11 * sizeof u32[0]);
	data.args.voxel = pmg_dense(&u32[11], PMG_U32, 1, &data.args.nCoeffs);
	data.args.voxel.strides[0] = -8;
	life_succeeds(tests, &data);
}

static void test_strides(struct tests *tests)
{
	struct life_case data;
	double columns[5][3], wide[10][12];
	char odd[10 * 5 * 8 + 1];

	life_fill(&data);
	for (int i = 0; i < 15; i++)
		columns[i % 5][i / 5] = data.D[i / 5][i % 5];
	data.args.D.data = columns;
	data.args.D.strides[0] = 8;
	data.args.D.strides[1] = 24;
	life_succeeds(tests, &data);

	data.args.Y.data = &wide[9][10];
	data.args.Y.strides[0] = -96;
	data.args.Y.strides[1] = -16;
	life_succeeds(tests, &data);

	data.args.Y.data = odd + 1;
	life_succeeds(tests, &data);

	data.args.value.strides[0] = 0;
	for (int k = 0; k < 6; k++)
		data.value[k] = k == 0;
	CHECK(tests, life_run(&data, &(pmg_options) { .threads = 1 }, odd) == PMG_OK);
	CHECK(tests, data.Y[4][0] == (5 - 7) * 4.0);
}

static void test_empty(struct tests *tests)
{
	struct life_case data;

	life_fill(&data);
	data.args.nCoeffs = 0;
	data.args.atom = data.args.voxel = data.args.fiber = pmg_dense(NULL, PMG_I64, 1, &data.args.nCoeffs);
	data.args.value = pmg_dense(NULL, PMG_F64, 1, &data.args.nCoeffs);
	CHECK(tests, life_run(&data, &(pmg_options) { .threads = 1 }, (char[1024]) { 0 }) == PMG_OK);
	CHECK(tests, data.Y[9][4] == 0);
	data.args.nVoxels = 0;
	data.args.Y = pmg_dense(NULL, PMG_F64, 2, (int64_t[]) { 0, 5 });
	CHECK(tests, life_run(&data, &(pmg_options) { .threads = 1 }, (char[1024]) { 0 }) == PMG_OK);
}

static void test_life_refusals(struct tests *tests)
{
	struct life_case data;

	life_fill(&data);
	data.args.D.device = PMG_CUDA;
	life_refuses(tests, &data,
		     "array 'D' is not in the memory of the host, where pipeline 'life_dsc' runs (life.pmg:7)");
	data.args.D.type = PMG_F32;
	life_refuses(tests, &data, "array 'D' is f32, but f64 is asked for (life.pmg:7)");
	data.args.voxel.type = PMG_F64;
	life_refuses(tests, &data, "array 'PHI.voxel' is f64, but an integer type is asked for (life.pmg:6)");
	data.args.voxel.type = PMG_BOOL;
	life_refuses(tests, &data,
		     "array 'PHI.voxel' is bool, but an integer type is asked for (life.pmg:6)");
	data.args.w.type = (pmg_type) 42;
	life_refuses(tests, &data, "array 'w' is ?, but f64 is asked for (life.pmg:8)");
	data.args.D.rank = 1;
	life_refuses(tests, &data, "array 'D' has rank 1, but 2 is asked for (life.pmg:7)");
	data.args.Y.rank = 9;
	life_refuses(tests, &data, "array 'Y' has rank 9, but 2 is asked for (life.pmg:9)");
	data.args.D.shape[1] = 64;
	life_refuses(tests, &data,
		     "array 'D' has shape [3, 64], but nTheta = 5 (life.pmg:7) asks for [3, 5]");
	data.args.Y.shape[0] = -1;
	life_refuses(tests, &data,
		     "array 'Y' has shape [-1, 5], but nVoxels = 10 (life.pmg:9) asks for [10, 5]");
	data.args.D = pmg_dense(data.D, PMG_F64, 3, (int64_t[]) { 2, 4, 2 });
	life_refuses(tests, &data,
		     "array 'D' has shape [2, 4, 2], but nTheta = 5 (life.pmg:7) asks for [2, 5, 2]");
	data.args.w.data = NULL;
	life_refuses(tests, &data, "array 'w' has no data (life.pmg:8)");
	data.args.w = (pmg_buffer) { .data = NULL };
	life_refuses(tests, &data, "array 'w' has no data (life.pmg:8)");
	data.args.w.strides[0] = INT64_MIN;
	life_refuses(tests, &data, "array 'w' has strides that lead out of memory (life.pmg:8)");
	data.args.w.strides[0] = (int64_t) 1 << 61;
	life_refuses(tests, &data, "array 'w' has strides that lead out of memory (life.pmg:8)");
	data.args.Y.strides[0] = 0;
	life_refuses(tests, &data,
		     "array 'Y' is written, but its strides make elements overlap (life.pmg:9)");
	data.args.Y.strides[1] = 4;
	life_refuses(tests, &data,
		     "array 'Y' is written, but its strides make elements overlap (life.pmg:9)");
}

/* Messages about constant and general extents, types of index outputs, bools. */
static void steps_refuses(struct tests *tests, struct steps_case *data, const char *message)
{
	pmg_context *context = pmg_context_new(NULL);
	pmg_plan *plan;
	struct steps_case before = *data;

	CHECK(tests, pmg_plan_new(steps_describe(), &data->args, &(pmg_options) { .context = context }, &plan)
		     == PMG_OK);
	CHECK_FAILS(tests, pmg_plan_execute(plan, &data->args, NULL), context, PMG_BAD_DATA, message);
	CHECK(tests, memcmp(before.v, data->v, sizeof before.v) == 0);
	CHECK(tests, memcmp(before.total, data->total, sizeof before.total) == 0);
	pmg_plan_destroy(plan);
	pmg_context_free(context);
	steps_fill(data);
}

static void test_steps_refusals(struct tests *tests)
{
	struct steps_case data;

	steps_fill(&data);
	data.args.mask.shape[0] = 4;
	steps_refuses(tests, &data,
		      "array 'mask' has shape [4], but the declaration (steps.pmg:6) asks for [3]");
	data.args.start.shape[0] = 4;
	steps_refuses(tests, &data,
		      "array 'start' has shape [4], but 2*n - 3 = 3 (steps.pmg:7) asks for [3]");
	data.mask[1] = 2;
	steps_refuses(tests, &data,
		      "array 'mask' holds the byte 2 at [1], but a bool is 0 or 1 (steps.pmg:6)");
	data.args.count.rank = 1;
	steps_refuses(tests, &data, "array 'count' has rank 1, but 0 is asked for (steps.pmg:11)");
	data.args.nBins = 129;
	data.args.where.type = PMG_I8;
	data.args.where.strides[0] = 1;
	steps_refuses(tests, &data,
		      "array 'where' is i8, which cannot hold all values from 0 to 128 (steps.pmg:10)");
}

static void test_narrow_output(struct tests *tests)
{
	pmg_context *context = pmg_context_new(NULL);
	struct steps_case data;
	int8_t where[] = { -1, -1, -1 };
	pmg_plan *plan;

	steps_fill(&data);
	data.args.nBins = 128;
	data.args.where = pmg_dense(where, PMG_I8, 1, &data.args.n);
	CHECK(tests,
	      pmg_plan_new(steps_describe(), &data.args, &(pmg_options) { .context = context }, &plan) == 0);
	CHECK(tests, pmg_plan_execute(plan, &data.args, NULL) == PMG_OK);
	CHECK(tests, where[0] == 2 && where[1] == 3 && where[2] == 4);
	pmg_plan_destroy(plan);
	pmg_context_free(context);
}

void test_bind(struct tests *tests)
{
	struct life_case data;

	life_fill(&data);
	life_succeeds(tests, &data);
	test_index_types(tests);
	test_strides(tests);
	test_empty(tests);
	test_life_refusals(tests);
	test_steps_refusals(tests);
	test_narrow_output(tests);
}

/* ---- Aliasing ---- */

/* `shared` is a matrix of ten rows and twelve columns; Y lies in columns 0..5. */
static void test_interlaced(struct tests *tests)
{
	struct life_case data;
	double shared[10][12];

	life_fill(&data);
	for (int f = 0; f < 4; f++)
		shared[f][7] = data.w[f];
	data.args.Y.data = shared;
	data.args.Y.strides[0] = sizeof shared[0];
	data.args.w.data = &shared[0][7];
	data.args.w.strides[0] = sizeof shared[0];
	life_succeeds(tests, &data);

	for (int f = 0; f < 4; f++)
		shared[3 - f][5] = data.w[f];
	data.args.Y.data = shared;
	data.args.Y.strides[0] = sizeof shared[0];
	data.args.w.data = &shared[3][5];
	data.args.w.strides[0] = -(int64_t) sizeof shared[0];
	CHECK(tests, life_run(&data, &(pmg_options) { .threads = 1 }, (char[1024]) { 0 }) == PMG_OK);
	CHECK(tests, life_is_right(&data));

	life_fill(&data);
	data.args.Y.data = shared;
	data.args.Y.strides[0] = sizeof shared[0];
	data.args.w.data = &shared[3][4];
	data.args.w.strides[0] = sizeof shared[0];
	life_refuses(tests, &data, "arrays 'w' and 'Y' overlap in memory, but 'Y' is written (life.pmg:9)");
}

/* One plan, executed with arguments that differ from those before in one thing: each time they are looked at again. */
static void test_again(struct tests *tests)
{
	pmg_context *context = pmg_context_new(NULL);
	const pmg_options options = { .context = context, .threads = 2 };
	struct life_case data;
	pmg_plan *plan;
	double weights[4], other[10][5];

	life_fill(&data);
	CHECK(tests, pmg_plan_new(life_describe(), &data.args, &options, &plan) == PMG_OK);
	for (int i = 0; i < 3; i++)
		CHECK(tests, pmg_plan_execute(plan, &data.args, NULL) == PMG_OK);
	CHECK(tests, life_is_right(&data));

	data.args.Y.strides[0] = 8;
	CHECK(tests, pmg_plan_execute(plan, &data.args, NULL) == PMG_BAD_DATA);
	data.args.Y.strides[0] = 40;
	data.args.w.data = &data.Y[9][1];
	CHECK(tests, pmg_plan_execute(plan, &data.args, NULL) == PMG_BAD_DATA);
	CHECK(tests, pmg_plan_execute(plan, &data.args, NULL) == PMG_BAD_DATA);
	data.args.w.data = memcpy(weights, data.w, sizeof weights);
	data.args.w.type = PMG_F32;
	CHECK(tests, pmg_plan_execute(plan, &data.args, NULL) == PMG_BAD_DATA);
	data.args.w.type = PMG_F64;
	data.args.Y.data = other;
	CHECK(tests, pmg_plan_execute(plan, &data.args, NULL) == PMG_OK);
	CHECK(tests, memcmp(other, data.Y, sizeof other) == 0);
	pmg_plan_destroy(plan);
	pmg_context_free(context);
}

/* Arguments that lie where they lay are copied and checked as before, since their values may be others; so they are
 * after executions in which nothing had to be. */
static void test_other_values(struct tests *tests)
{
	pmg_context *context = pmg_context_new(NULL);
	const pmg_options options = { .context = context, .threads = 2 };
	const pmg_buffer dense = pmg_dense(NULL, PMG_F64, 1, &(int64_t) { 4 });
	struct life_case data;
	pmg_plan *plan;
	double wide[8], first;

	life_fill(&data);
	CHECK(tests, pmg_plan_new(life_describe(), &data.args, &options, &plan) == PMG_OK);
	for (int i = 0; i < 2; i++)
		CHECK(tests, pmg_plan_execute(plan, &data.args, NULL) == PMG_OK && life_is_right(&data));
	first = data.Y[9][1];
	for (int f = 0; f < 4; f++)
		wide[2*f] = data.w[f];
	data.args.w.data = wide;
	data.args.w.strides[0] = 16;
	for (int i = 2; i < 5; i++) {
		for (int f = 0; f < 4; f++)
			wide[2*f] = i*data.w[f];
		CHECK(tests, pmg_plan_execute(plan, &data.args, NULL) == PMG_OK && data.Y[9][1] == i*first);
	}
	data.args.w = dense;
	data.args.w.data = data.w;
	for (int i = 0; i < 2; i++)
		CHECK(tests, pmg_plan_execute(plan, &data.args, NULL) == PMG_OK && life_is_right(&data));
	pmg_plan_destroy(plan);
	pmg_context_free(context);
}

static void test_values_that_stop(struct tests *tests)
{
	pmg_context *context = pmg_context_new(NULL);
	const pmg_options options = { .context = context, .threads = 2, .check_finite = true };
	struct life_case data;
	pmg_plan *plan;

	life_fill(&data);
	CHECK(tests, pmg_plan_new(life_describe(), &data.args, &options, &plan) == PMG_OK);
	for (int i = 0; i < 2; i++)
		CHECK(tests, pmg_plan_execute(plan, &data.args, NULL) == PMG_OK);
	data.w[2] = NAN;
	CHECK(tests, pmg_plan_execute(plan, &data.args, NULL) == PMG_BAD_DATA);
	pmg_plan_destroy(plan);
	pmg_context_free(context);
}

void test_aliasing(struct tests *tests)
{
	struct life_case data;
	int32_t voxel[6];

	test_again(tests);
	test_other_values(tests);
	test_values_that_stop(tests);
	life_fill(&data);
	data.args.fiber.data = data.atom;
	CHECK(tests, life_run(&data, &(pmg_options) { .threads = 1 }, (char[1024]) { 0 }) == PMG_OK);
	life_fill(&data);
	data.args.w.data = &data.Y[9][1];
	life_refuses(tests, &data, "arrays 'w' and 'Y' overlap in memory, but 'Y' is written (life.pmg:9)");
	data.args.w.data = (char *) data.Y - 31;
	life_refuses(tests, &data, "arrays 'w' and 'Y' overlap in memory, but 'Y' is written (life.pmg:9)");
	data.args.value.data = data.Y;
	life_refuses(tests, &data,
		     "arrays 'PHI.value' and 'Y' overlap in memory, but 'Y' is written (life.pmg:9)");
	for (int k = 0; k < 6; k++)
		voxel[k] = (int32_t) data.voxel[k];
	memcpy(data.Y, voxel, sizeof voxel);
	data.args.voxel = pmg_dense(data.Y, PMG_I32, 1, &data.args.nCoeffs);
	CHECK(tests, life_run(&data, &(pmg_options) { .threads = 1 }, (char[1024]) { 0 }) == PMG_OK);
	CHECK(tests, life_is_right(&data));
	test_interlaced(tests);
}
