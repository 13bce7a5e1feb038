/* SPDX-License-Identifier: MIT
 *
 * Sizes and facts, each violated: parameters, extents, products, assumptions, index ranges, offsets, order,
 * uniqueness, trees and trees in segments, finite values. Also descriptions that contradict themselves. */
#include "runtime/check.h"
#include "runtime/pipelines.h"

#include <stdlib.h>
#include <string.h>

/* The plan must fail with this status and message, and hold no memory afterwards. */
static void plan_refuses(struct tests *tests, const pmg_pipeline_desc *desc, const void *args,
			 pmg_status wanted, const char *message)
{
	struct counter counter = { 0 };
	const pmg_allocator allocator = counter_allocator(&counter);
	pmg_context *context = pmg_context_new(&allocator);
	const pmg_options options = { .context = context, .threads = 3, .check_finite = true };
	pmg_plan *plan = (pmg_plan *) (void *) &counter;

	CHECK_FAILS(tests, pmg_plan_new(desc, args, &options, &plan), context, wanted, message);
	CHECK(tests, plan == NULL && counter.n_live == 1);
	pmg_context_free(context);
	CHECK(tests, counter.n_live == 0 && counter.live_bytes == 0);
}

static void test_params(struct tests *tests)
{
	const pmg_pipeline_desc *desc = life_describe();
	struct life_case data;

	life_fill(&data);
	data.args.nTheta = -3;
	plan_refuses(tests, desc, &data.args, PMG_BAD_DATA,
		     "parameter 'nTheta' is -3, but must be 0 or more and below 2^40 (life.pmg:4)");
	data.args.nTheta = (int64_t) 1 << 40;
	plan_refuses(tests, desc, &data.args, PMG_BAD_DATA,
		     "parameter 'nTheta' is 1099511627776, but must be 0 or more and below 2^40 (life.pmg:4)");
	data.args.nTheta = data.args.nVoxels = ((int64_t) 1 << 40) - 1;
	plan_refuses(tests, desc, &data.args, PMG_BAD_DATA,
		     "array 'Y' of shape [1099511627775, 1099511627775] is too large (life.pmg:9)");
	CHECK(tests, pmg_plan_forecast(desc, &data.args) < 0);
	life_fill(&data);
	data.args.nAtoms = 0;
	plan_refuses(tests, desc, &data.args, PMG_BAD_DATA,
		     "pipeline 'life_dsc' assumes nAtoms >= 1 (life.pmg:8), which does not hold");
}

static void test_extents(struct tests *tests)
{
	struct steps_case steps;

	steps_fill(&steps);
	steps.args.n = 1;
	plan_refuses(tests, steps_describe(), &steps.args, PMG_BAD_DATA,
		     "size 2*n - 3 = -1 of array 'start' is negative (steps.pmg:7)");
	steps.args.n = ((int64_t) 1 << 40) - 1;
	plan_refuses(tests, steps_describe(), &steps.args, PMG_BAD_DATA,
		     "size 2*n - 3 = 2199023255547 of array 'start' is above 2^40 (steps.pmg:7)");
}

static void contradicts(struct tests *tests, const pmg_pipeline_desc *desc)
{
	struct forest_case data;

	forest_fill(&data);
	plan_refuses(tests, desc, &data.args, PMG_INTERNAL,
		     "the description of pipeline 'forest' contradicts itself");
	CHECK(tests, pmg_plan_forecast(desc, &data.args) < 0);
}

/* Descriptions that were laid out otherwise were read as if they were not, and took the runtime down. Whoever
 * changes one of these sizes gives PMG_ABI_VERSION another number, and writes both here. */
static void test_layout(struct tests *tests)
{
	static const struct { size_t size, is; } structures[] = {
		{ 304, sizeof(pmg_pipeline_desc) }, { 112, sizeof(pmg_array_desc) }, { 24, sizeof(pmg_extent) },
		{ 32, sizeof(pmg_param_desc) }, { 56, sizeof(pmg_work_desc) }, { 32, sizeof(pmg_factor) },
		{ 24, sizeof(pmg_least) }, { 88, sizeof(pmg_restructure_desc) }, { 20, sizeof(pmg_children_desc) },
		{ 20, sizeof(pmg_branches_desc) }, { 56, sizeof(pmg_chunks_desc) }, { 24, sizeof(pmg_pivot_desc) },
		{ 64, sizeof(pmg_device_part) }
	};

	CHECK(tests, PMG_ABI_VERSION == 3);
	for (size_t i = 0; i < sizeof structures / sizeof structures[0]; i++)
		CHECK(tests, structures[i].size == structures[i].is);
}

static void test_descriptions(struct tests *tests)
{
	const pmg_pipeline_desc *sound = forest_describe();
	pmg_pipeline_desc desc = *sound;
	pmg_array_desc arrays[6];
	pmg_children_desc children = sound->children[0];
	struct forest_case data;

	forest_fill(&data);
	desc.abi_version = 1;
	plan_refuses(tests, &desc, &data.args, PMG_BAD_CALL,
		     "pipeline 'forest' was compiled for ABI version 1, but this runtime has 3");
	desc = *sound;
	desc.n_extents = PMG_MAX_EXTENTS + 1;
	contradicts(tests, &desc);
	desc.n_extents = 3;
	contradicts(tests, &desc);
	desc = *sound;
	desc.arrays = arrays;
	desc.children = &children;
	memcpy(arrays, sound->arrays, sizeof arrays);
	children.list = 6;
	contradicts(tests, &desc);
	children.list = 4;
	contradicts(tests, &desc);
	children.list = 5;
	arrays[0].is_fixed = false;
	contradicts(tests, &desc);
	memcpy(arrays, sound->arrays, sizeof arrays);
	arrays[1].segments = 2;
	contradicts(tests, &desc);
	memcpy(arrays, sound->arrays, sizeof arrays);
	arrays[3].rank = 9;
	contradicts(tests, &desc);
	memcpy(arrays, sound->arrays, sizeof arrays);
	arrays[2].offset = SIZE_MAX;
	contradicts(tests, &desc);
}

void test_sizes(struct tests *tests)
{
	test_params(tests);
	test_extents(tests);
	test_layout(tests);
	test_descriptions(tests);
}

/* ---- Facts ---- */

static void test_index(struct tests *tests)
{
	struct life_case data;
	int16_t fiber[6] = { 3, 2, 1, 0, 3, -1 };

	life_fill(&data);
	data.voxel[3] = 12;
	data.voxel[5] = -1;
	plan_refuses(tests, life_describe(), &data.args, PMG_BAD_DATA,
		     "array 'PHI.voxel' holds 12 at [3], which is not in 0..10 (nVoxels, life.pmg:6)");
	data.voxel[3] = 9;
	plan_refuses(tests, life_describe(), &data.args, PMG_BAD_DATA,
		     "array 'PHI.voxel' holds -1 at [5], which is not in 0..10 (nVoxels, life.pmg:6)");
	life_fill(&data);
	data.args.fiber = pmg_dense(fiber, PMG_I16, 1, &data.args.nCoeffs);
	plan_refuses(tests, life_describe(), &data.args, PMG_BAD_DATA,
		     "array 'PHI.fiber' holds -1 at [5], which is not in 0..4 (nFibers, life.pmg:6)");
}

static void test_finite(struct tests *tests)
{
	struct life_case data;
	pmg_context *context = pmg_context_new(NULL);
	pmg_options options = { .context = context, .check_finite = true };
	pmg_plan *plan;

	life_fill(&data);
	data.D[2][3] = (double) NAN;
	plan_refuses(tests, life_describe(), &data.args, PMG_BAD_DATA,
		     "array 'D' holds NaN at [2, 3], but only finite values are accepted (life.pmg:7)");
	data.D[0][1] = -(double) INFINITY;
	plan_refuses(tests, life_describe(), &data.args, PMG_BAD_DATA,
		     "array 'D' holds -infinity at [0, 1], but only finite values are accepted (life.pmg:7)");
	life_fill(&data);
	data.w[1] = (double) INFINITY;
	CHECK(tests, pmg_plan_new(life_describe(), &data.args, &options, &plan) == PMG_OK);
	CHECK_FAILS(tests, pmg_plan_execute(plan, &data.args, NULL), context, PMG_BAD_DATA,
		    "array 'w' holds infinity at [1], but only finite values are accepted (life.pmg:8)");
	pmg_plan_destroy(plan);
	options.check_finite = false;
	CHECK(tests, pmg_plan_new(life_describe(), &data.args, &options, &plan) == PMG_OK);
	CHECK(tests, pmg_plan_execute(plan, &data.args, NULL) == PMG_OK && isinf(data.Y[7][0]));
	pmg_plan_destroy(plan);
	pmg_context_free(context);
}

/* The facts of `level` of steps, which are checked by each execution. */
static void level_refuses(struct tests *tests, uint32_t facts, const int64_t *level, const char *message)
{
	pmg_pipeline_desc desc = *steps_describe();
	pmg_array_desc arrays[STEPS_ARRAYS];
	pmg_context *context = pmg_context_new(NULL);
	const pmg_options options = { .context = context, .threads = 2 };
	struct steps_case data;
	pmg_plan *plan;

	memcpy(arrays, desc.arrays, sizeof arrays);
	arrays[STEPS_LEVEL].facts = facts;
	desc.arrays = arrays;
	steps_fill(&data);
	memcpy(data.level, level, sizeof data.level);
	CHECK(tests, pmg_plan_new(&desc, &data.args, &options, &plan) == PMG_OK);
	if (message)
		CHECK_FAILS(tests, pmg_plan_execute(plan, &data.args, NULL), context, PMG_BAD_DATA, message);
	else
		CHECK(tests, pmg_plan_execute(plan, &data.args, NULL) == PMG_OK);
	CHECK(tests, message == NULL || (data.v[1] == 10 && data.total[0] == 0 && data.count == 0));
	pmg_plan_destroy(plan);
	pmg_context_free(context);
}

#define LEVEL(...) (const int64_t[3]) { __VA_ARGS__ }

static void test_level_facts(struct tests *tests)
{
	const uint32_t index = PMG_FACT_INDEX, tree = PMG_FACT_TREE, unique = PMG_FACT_UNIQUE;
	const uint32_t sorted = PMG_FACT_INDEX | PMG_FACT_SORTED;

	level_refuses(tests, index, LEVEL(0, 10, 1),
		      "array 'level' holds 10 at [1], which is not in 0..10 (nBins, steps.pmg:5)");
	level_refuses(tests, sorted, LEVEL(2, 5, 4),
		      "array 'level' holds 4 at [2] after 5, but is declared sorted (steps.pmg:5)");
	level_refuses(tests, sorted, LEVEL(2, 4, 4), NULL);
	level_refuses(tests, index | unique, LEVEL(9, 0, 9),
		      "array 'level' holds 9 at [0] and at [2], but is declared unique (steps.pmg:5)");
	level_refuses(tests, sorted | unique, LEVEL(2, 4, 4),
		      "array 'level' holds 4 at [1] and at [2], but is declared unique (steps.pmg:5)");
	level_refuses(tests, sorted | unique, LEVEL(2, 4, 9), NULL);
	level_refuses(tests, PMG_FACT_OFFSETS, LEVEL(1, 4, 10),
		      "array 'level' holds 1 at [0], but offsets start at 0 (steps.pmg:5)");
	level_refuses(tests, PMG_FACT_OFFSETS, LEVEL(0, 11, 10),
		      "array 'level' holds 10 at [2] after 11, but offsets never decrease (steps.pmg:5)");
	level_refuses(tests, PMG_FACT_OFFSETS, LEVEL(0, 4, 9),
		      "array 'level' ends with 9, but offsets end with nBins = 10 (steps.pmg:5)");
	level_refuses(tests, PMG_FACT_OFFSETS | unique, LEVEL(0, 0, 10),
		      "array 'level' holds 0 at [0] and at [1], but is declared unique (steps.pmg:5)");
	level_refuses(tests, PMG_FACT_OFFSETS | unique, LEVEL(0, 3, 10), NULL);
	level_refuses(tests, tree, LEVEL(-1, 1, 0),
		      "array 'level' holds 1 at [1], but a parent is -1 or comes before its child (steps.pmg:5)");
	level_refuses(tests, tree | index, LEVEL(-1, 0, -2),
		      "array 'level' holds -2 at [2], which is not -1 or in 0..10 (nBins, steps.pmg:5)");
	level_refuses(tests, tree | index, LEVEL(-1, 0, -1), NULL);
	level_refuses(tests, tree | unique, LEVEL(-1, 0, 0),
		      "array 'level' holds 0 at [1] and at [2], but is declared unique (steps.pmg:5)");
	level_refuses(tests, tree | unique, LEVEL(-1, -1, 1), NULL);
	level_refuses(tests, tree | unique | PMG_FACT_SORTED, LEVEL(-1, -1, 1), NULL);
}

/* Large enough for several threads: the first violation is reported, whoever finds another first. */
static void test_first_violation(struct tests *tests)
{
	struct life_case data;
	int64_t n = 500000;
	int32_t *modes = malloc((size_t) n * sizeof *modes);
	double *values = calloc((size_t) n, sizeof *values);

	life_fill(&data);
	for (int64_t k = 0; k < n; k++)
		modes[k] = (int32_t) (k % 3);
	data.args.nCoeffs = n;
	data.args.atom = data.args.voxel = data.args.fiber = pmg_dense(modes, PMG_I32, 1, &n);
	data.args.value = pmg_dense(values, PMG_F64, 1, &n);
	modes[499999] = modes[333333] = modes[280000] = 70000;
	plan_refuses(tests, life_describe(), &data.args, PMG_BAD_DATA,
		     "array 'PHI.atom' holds 70000 at [280000], which is not in 0..3 (nAtoms, life.pmg:6)");
	free(modes);
	free(values);
}

void test_facts(struct tests *tests)
{
	test_index(tests);
	test_finite(tests);
	test_level_facts(tests);
	test_first_violation(tests);
}

/* ---- Trees ---- */

static void test_forest_facts(struct tests *tests)
{
	struct forest_case data;

	forest_fill(&data);
	data.parent[5] = 2;
	plan_refuses(tests, forest_describe(), &data.args, PMG_BAD_DATA,
		     "array 'F.parent' holds 2 at [5], but a parent, counted in its own system, "
		     "is -1 or comes before its child (forest.pmg:5)");
	data.parent[5] = 1;
	data.parent[3] = 0;
	plan_refuses(tests, forest_describe(), &data.args, PMG_BAD_DATA,
		     "array 'F.parent' holds 0 at [3], but a parent, counted in its own system, "
		     "is -1 or comes before its child (forest.pmg:5)");
	forest_fill(&data);
	data.offset[1] = 8;
	plan_refuses(tests, forest_describe(), &data.args, PMG_BAD_DATA,
		     "array 'F.offset' holds 3 at [2] after 8, but offsets never decrease (forest.pmg:5)");
	forest_fill(&data);
	data.args.offset.shape[0] = 3;
	plan_refuses(tests, forest_describe(), &data.args, PMG_BAD_DATA,
		     "array 'F.offset' has shape [3], but nSystems + 1 = 4 (forest.pmg:5) asks for [4]");
}

/* As if the compiler had given the offsets a limit of their own, or an empty shape. */
static void extents_of_six(const void *args, int64_t *values)
{
	forest_describe()->extents(args, values);
	values[1] = 6;
}

static void extents_of_none(const void *args, int64_t *values)
{
	forest_describe()->extents(args, values);
	values[0] = 0;
}

static void test_forest_extents(struct tests *tests)
{
	pmg_pipeline_desc desc = *forest_describe();
	struct forest_case data;

	forest_fill(&data);
	data.offset[3] = 6;
	desc.extents = extents_of_six;
	plan_refuses(tests, &desc, &data.args, PMG_BAD_DATA,
		     "array 'F.offset' ends with 6, but array 'F.parent' has 7 nodes (forest.pmg:5)");
	desc.extents = extents_of_none;
	data.args.offset.shape[0] = 0;
	plan_refuses(tests, &desc, &data.args, PMG_BAD_DATA,
		     "array 'F.offset' is empty, but offsets have at least one value (forest.pmg:5)");
}

static void forest_succeeds(struct tests *tests, struct forest_case *data)
{
	static const int64_t depth[] = { 0, 1, 1, 0, 1, 2, 0 }, below[] = { 2, 0, 0, 2, 1, 0, 0 };
	static const int64_t parent[] = { -1, 0, 0, -1, 0, 1, -1 };
	pmg_context *context = pmg_context_new(NULL);
	pmg_plan *plan;

	CHECK(tests,
	      pmg_plan_new(forest_describe(), &data->args, &(pmg_options) { .context = context }, &plan)
		     == PMG_OK);
	CHECK(tests, pmg_plan_execute(plan, &data->args, NULL) == PMG_OK);
	CHECK(tests, memcmp(data->depth, depth, sizeof depth) == 0);
	CHECK(tests, memcmp(data->below, below, sizeof below) == 0);
	CHECK(tests, memcmp(data->parent, parent, sizeof parent) == 0);
	pmg_plan_destroy(plan);
	pmg_context_free(context);
}

/* Each array is asked about the same values all its life. */
static void test_known_values(struct tests *tests)
{
	static const int64_t atoms[] = { 0, 1, 2, 0, 1, 2 }, voxels[] = { 1, 4, 7, 0, 3, 5 };
	static const int64_t fibers[] = { 3, 2, 1, 0, 3 };
	pmg_context *context = pmg_context_new(NULL);
	struct life_case data;
	pmg_plan *plan;

	life_fill(&data);
	CHECK(tests, pmg_plan_new(life_describe(), &data.args, &(pmg_options) { .context = context }, &plan) == PMG_OK);
	for (int asked = 0; asked < 2; asked++) {
		CHECK(tests, pmg_has_values(plan, 0, atoms, 6));
		CHECK(tests, !pmg_has_values(plan, 1, voxels, 6));
		CHECK(tests, !pmg_has_values(plan, 2, fibers, 5));
	}
	pmg_plan_destroy(plan);
	pmg_context_free(context);
}

void test_trees(struct tests *tests)
{
	struct forest_case data;
	int8_t parent[7];

	test_known_values(tests);
	forest_fill(&data);
	forest_succeeds(tests, &data);
	for (int i = 0; i < 7; i++)
		parent[i] = (int8_t) data.parent[i];
	data.args.parent = pmg_dense(parent, PMG_I8, 1, &data.args.nTotal);
	forest_succeeds(tests, &data);
	test_forest_facts(tests);
	test_forest_extents(tests);

	forest_fill(&data);
	data.args.nSystems = data.args.nTotal = 0;
	data.args.offset.shape[0] = 1;
	data.args.parent = data.args.depth = data.args.below = pmg_dense(NULL, PMG_I64, 1, &data.args.nTotal);
	CHECK(tests, pmg_plan_forecast(forest_describe(), &data.args) > 0);
}
