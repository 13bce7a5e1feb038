/* SPDX-License-Identifier: MIT
 *
 * What plans tell of trees in blocks (pmg_lane_masks): the parent of each row and its children, found again from bits
 * and lists, against the forest itself. Random forests with several roots, empty trees and a last block that is not
 * full. */
#include "runtime/check.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TREES = 150, MOST_NODES = MOST_TREES*12 };
enum { OFFSET, PARENT, ORDER, ROWS, CELLS, N_ARRAYS };

typedef struct forest_args {
	int64_t nSystems, nTotal;
	pmg_buffer offset, parent;
} forest_args;

static void extents(const void *arguments, int64_t *values)
{
	const forest_args *args = arguments;

	values[0] = args->nSystems + 1;
	values[1] = values[2] = args->nTotal;
	values[3] = args->nSystems;
	values[4] = values[5] = 0;
}

static pmg_status kernel(pmg_plan *plan, const void *args, pmg_control *control)
{
	(void) plan, (void) args, (void) control;
	return PMG_OK;
}

static const pmg_param_desc params[] = {
	{ "nSystems", PMG_I64, offsetof(forest_args, nSystems), "f.pmg:1" },
	{ "nTotal", PMG_I64, offsetof(forest_args, nTotal), "f.pmg:1" },
};

static const pmg_extent offsets_shape[] = { { 0, false, 1, "nSystems + 1" } };
static const pmg_extent nodes[] = { { 1, false, 0, "nTotal" } }, trees[] = { { 0, false, 0, "nSystems" } };
static const pmg_extent measured[] = { { -1, false, 0, "0" } };

#define INTERNAL(n, t, s, e, g) \
	{ .name = n, .role = PMG_TEMP, .type = t, .rank = 1, .shape = s, .first_extent = e, .segments = g, \
	  .offset = SIZE_MAX, .place = "f.pmg:2" }

static const pmg_array_desc arrays[] = {
	[OFFSET] = { .name = "F.offset", .role = PMG_IN, .type = PMG_I64, .is_fixed = true, .is_index = true, .rank = 1,
		     .shape = offsets_shape, .first_extent = 0, .facts = PMG_FACT_OFFSETS,
		     .limit = { 1, false, 0, "nTotal" }, .segments = -1, .offset = offsetof(forest_args, offset),
		     .place = "f.pmg:2" },
	[PARENT] = { .name = "F.parent", .role = PMG_IN, .type = PMG_I64, .is_fixed = true, .is_index = true, .rank = 1,
		     .shape = nodes, .first_extent = 2, .facts = PMG_FACT_TREE, .segments = OFFSET,
		     .offset = offsetof(forest_args, parent), .place = "f.pmg:2" },
	[ORDER] = INTERNAL("F.offset.by_length", PMG_I64, trees, 3, OFFSET),
	[ROWS] = INTERNAL("F.parent.rows", PMG_I64, measured, 4, -1),
	[CELLS] = INTERNAL("F.parent.cells", PMG_I32, measured, 5, -1),
};

struct forest {
	int64_t offset[MOST_TREES + 1];
	int32_t parent[MOST_NODES];
};

/* `jumps` of 10 nodes are no children of the node before. */
static void draw(struct forest *forest, int64_t n_trees, int jumps)
{
	int64_t at = 0;

	for (int64_t tree = 0; tree < n_trees; tree++) {
		const int64_t begin = at, end = at + (rand() % 3 ? rand() % 12 : rand() % 3);

		forest->offset[tree] = begin;
		for (; at < end; at++)
			forest->parent[at] = at == begin || rand() % 12 == 0 ? -1
					   : rand() % 10 < jumps ? (int32_t) (rand() % (at - begin))
					   : (int32_t) (at - begin - 1);
	}
	forest->offset[n_trees] = at;
}

/* The parent that a row has in a lane; -1: none; -2: there is no such row. */
static int64_t parent_by_masks(const pmg_lane_masks *masks, const int32_t *cells, int64_t row, int64_t lane,
			       int64_t lanes)
{
	int64_t parent = -2;

	if (pmg_has_lane(masks[row].follows, lane))
		parent = row - 1;
	if (pmg_has_lane(masks[row].roots, lane))
		parent = parent == -2 ? -1 : -3;
	for (int64_t q = masks[row].parents; q < masks[row + 1].parents; q++)
		if (cells[q] % lanes == lane)
			parent = parent == -2 ? cells[q]/lanes : -3;
	return parent;
}

/* Are the children of a row, the next one and those listed, ascending, all that it has? */
static bool children_are_right(const pmg_lane_masks *masks, const int32_t *cells, int64_t row, int64_t lane,
			       int64_t lanes, const int32_t *parent, int64_t n)
{
	int64_t next = row + 1;
	bool ok = true;

	if (pmg_has_lane(masks[row + 1].follows, lane))
		ok = next < n && parent[next++] == row;
	for (int64_t q = masks[row].children; q < masks[row + 1].children; q++) {
		if (cells[q] % lanes != lane)
			continue;
		for (; next < cells[q]/lanes && ok; next++)
			ok = next < n && parent[next] != row;
		ok = ok && next < n && parent[next++] == row;
	}
	for (; next < n; next++)
		ok = ok && parent[next] != row;
	return ok;
}

/* The cells that kernels read of a block, those behind lists too: children have their parents there or further on, and
 * parents are in rows of the block. */
static bool cells_are_there(const pmg_plan *plan, const struct forest *forest, int64_t n_trees, int64_t lanes,
			    int64_t block)
{
	const int64_t *order = (const int64_t *) plan->data[ORDER] + block*lanes;
	const pmg_lane_masks *masks = pmg_block_lane_masks(plan->data[ROWS], block);
	const int64_t n_rows = forest->offset[order[0] + 1] - forest->offset[order[0]], behind = PMG_LISTED - 1;
	const int32_t *cells = plan->data[CELLS];
	bool ok = true;

	for (int64_t row = 0; row < n_rows; row++) {
		const int64_t from = masks[row].children, to = masks[row + 1].children;

		for (int64_t q = from; q < to + behind && from < to && ok; q++) {
			const int64_t lane = cells[q] % lanes, child = cells[q]/lanes;
			const int64_t begin = block*lanes + lane < n_trees ? forest->offset[order[lane]] : 0;

			ok = block*lanes + lane < n_trees && begin + child < forest->offset[order[lane] + 1] &&
			     forest->parent[begin + child] >= row;
		}
		for (int64_t q = masks[row].parents; q < masks[row + 1].parents + behind; q++)
			ok = ok && (masks[row].parents == masks[row + 1].parents ||
				    (cells[q] >= 0 && cells[q]/lanes < n_rows));
	}
	return ok;
}

static bool is_right(const pmg_plan *plan, const struct forest *forest, int64_t n_trees, int64_t lanes)
{
	const int64_t *order = plan->data[ORDER], *rows = plan->data[ROWS];
	const int32_t *cells = plan->data[CELLS];
	bool ok = true;

	for (int64_t place = 0; place < n_trees && ok; place++) {
		const pmg_lane_masks *masks = pmg_block_lane_masks(rows, place/lanes);
		const int64_t first = order[place/lanes*lanes], lane = place % lanes, tree = order[place];
		const int64_t begin = forest->offset[tree], n = forest->offset[tree + 1] - begin;

		ok = lane > 0 || cells_are_there(plan, forest, n_trees, lanes, place/lanes);
		for (int64_t row = 0; row < forest->offset[first + 1] - forest->offset[first]; row++)
			ok = ok && parent_by_masks(masks, cells, row, lane, lanes) ==
					   (row < n ? forest->parent[begin + row] : -2) &&
			     (row >= n ||
			      children_are_right(masks, cells, row, lane, lanes, &forest->parent[begin], n));
	}
	return ok;
}

static pmg_pipeline_desc description(const pmg_children_desc *children)
{
	return (pmg_pipeline_desc) {
		.abi_version = PMG_ABI_VERSION, .name = "f", .source = "f.pmg", .target = "openmp",
		.args_size = sizeof(forest_args), .n_params = 2, .n_arrays = N_ARRAYS, .n_children = 1, .n_extents = 6,
		.params = params, .arrays = arrays, .children = children, .extents = extents, .kernel = kernel
	};
}

static bool try_forest(const struct forest *forest, int64_t n_trees, int32_t lanes)
{
	const pmg_children_desc children = { PARENT, ROWS, CELLS, ORDER, lanes };
	const pmg_pipeline_desc desc = description(&children);
	const int64_t n = n_trees + 1, n_nodes = forest->offset[n_trees];
	const forest_args args = {
		n_trees, n_nodes, pmg_dense((void *) (uintptr_t) forest->offset, PMG_I64, 1, &n),
		pmg_dense((void *) (uintptr_t) forest->parent, PMG_I32, 1, &n_nodes)
	};
	pmg_context *context = pmg_context_new(NULL);
	const pmg_options options = { .context = context, .threads = 2 };
	pmg_plan *plan = NULL;
	bool ok = pmg_plan_new(&desc, &args, &options, &plan) == PMG_OK && is_right(plan, forest, n_trees, lanes);

	pmg_plan_destroy(plan);
	pmg_context_free(context);
	return ok;
}

static void test_refusals(struct tests *tests)
{
	static const pmg_children_desc wrong[] = {
		{ PARENT, ROWS, CELLS, ORDER, 12 }, { PARENT, ROWS, CELLS, ORDER, 128 },
		{ PARENT, ROWS, CELLS, ORDER, -8 }, { PARENT, ROWS, CELLS, N_ARRAYS, 8 },
		{ PARENT, ROWS, CELLS, OFFSET, 8 }, { PARENT, ROWS, CELLS, ROWS, 8 },
	};
	struct forest forest;

	draw(&forest, 5, 1);
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		const pmg_pipeline_desc desc = description(&wrong[i]);
		const forest_args args = { 0 };

		CHECK(tests, pmg_plan_forecast(&desc, &args) < 0);
	}
}

/* Cells have 32 bits: blocks take no longer trees, but a kernel without blocks does, whether it is meant for the sizes
 * or not. Nobody reads the nodes. */
static void test_long_trees(struct tests *tests)
{
	const pmg_children_desc children = { PARENT, ROWS, CELLS, ORDER, 16 };
	pmg_pipeline_desc desc = description(&children), flat = description(NULL);
	const pmg_pipeline_desc *const candidates[] = { &desc, &flat };
	const int64_t two = 2, n_nodes = (int64_t) 1 << 27;
	int64_t offset[] = { 0, n_nodes };
	const forest_args args = { 1, n_nodes, pmg_dense(offset, PMG_I64, 1, &two),
				   pmg_dense(offset, PMG_I32, 1, &n_nodes) };
	pmg_context *context = pmg_context_new(NULL);
	pmg_options options = { .context = context };
	pmg_plan *plan = NULL;

	CHECK(tests, pmg_plan_new(&desc, &args, &options, &plan) == PMG_BAD_DATA && !plan);
	CHECK(tests, strcmp(pmg_message(context), "a tree of 'F.parent' has 134217728 nodes, but blocks of 16 systems "
						  "hold trees of at most 134217727; '--interleave=off' makes none "
						  "(f.pmg:2)") == 0);
	CHECK(tests, pmg_plan_forecast(&desc, &args) > 0);
	flat.choice = "flat";
	flat.n_arrays = OFFSET + 1;
	flat.n_children = 0;
	desc.candidates = candidates;
	desc.n_candidates = 2;
	for (int is_meant = 0; is_meant < 2; is_meant++) {
		flat.suits = is_meant ? NULL : suits_none;
		for (options.tune = PMG_TUNE_ESTIMATE; options.tune <= PMG_TUNE_MEASURE; options.tune++) {
			CHECK(tests, pmg_plan_new(&desc, &args, &options, &plan) == PMG_OK &&
				     strcmp(pmg_plan_report(plan)->choice, "flat") == 0);
			pmg_plan_destroy(plan);
			plan = NULL;
		}
	}
	pmg_context_free(context);
}

/* Where the trees cannot be read, a forecast leaves out what is listed of them. */
static void test_forecast_without_data(struct tests *tests)
{
	const pmg_children_desc children = { PARENT, ROWS, CELLS, ORDER, 8 };
	const pmg_pipeline_desc desc = description(&children);
	const int64_t n_trees = 40, n = n_trees + 1;
	static struct forest forest;
	forest_args args = { .nSystems = n_trees };
	int64_t with;

	draw(&forest, n_trees, 9);
	args.nTotal = forest.offset[n_trees];
	args.offset = pmg_dense(forest.offset, PMG_I64, 1, &n);
	args.parent = pmg_dense(forest.parent, PMG_I32, 1, &args.nTotal);
	with = pmg_plan_forecast(&desc, &args);
	args.parent.data = NULL;
	CHECK(tests, 0 < pmg_plan_forecast(&desc, &args) && pmg_plan_forecast(&desc, &args) < with);
}

void test_forests(struct tests *tests)
{
	static struct forest forest;

	srand(1);
	for (int32_t lanes = 2; lanes <= 64; lanes *= 2)
		for (int64_t n_trees = 0; n_trees <= MOST_TREES; n_trees = n_trees*5/2 + 1) {
			draw(&forest, n_trees, rand() % 11);
			CHECK(tests, try_forest(&forest, n_trees, lanes));
		}
	test_refusals(tests);
	test_long_trees(tests);
	test_forecast_without_data(tests);
}
