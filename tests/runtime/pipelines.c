/* SPDX-License-Identifier: MIT
 *
 * See pipelines.h. Descriptions are what codegen emits: tables, a function of extents, a kernel. */
#include "runtime/pipelines.h"

#include <string.h>

#define AFFINE(number, add, words) { .param = (number), .constant = (add), .text = (words) }
#define GENERAL(words) { .param = -1, .is_general = true, .text = (words) }
#define CONSTANT(value, words) { .param = -1, .constant = (value), .text = (words) }

/* ---- life ---- */

static const pmg_param_desc life_params[] = {
	{ "nAtoms", PMG_I64, offsetof(life_args, nAtoms), "life.pmg:4" },
	{ "nVoxels", PMG_I64, offsetof(life_args, nVoxels), "life.pmg:4" },
	{ "nFibers", PMG_I64, offsetof(life_args, nFibers), "life.pmg:4" },
	{ "nTheta", PMG_I64, offsetof(life_args, nTheta), "life.pmg:4" },
	{ "nCoeffs", PMG_I64, offsetof(life_args, nCoeffs), "life.pmg:4" },
};

static const pmg_extent life_coeffs[] = { AFFINE(4, 0, "nCoeffs") };
static const pmg_extent life_dictionary[] = { AFFINE(0, 0, "nAtoms"), AFFINE(3, 0, "nTheta") };
static const pmg_extent life_weights[] = { AFFINE(2, 0, "nFibers") };
static const pmg_extent life_signal[] = { AFFINE(1, 0, "nVoxels"), AFFINE(3, 0, "nTheta") };

#define LIFE_MODE(mode, first, limited) { .name = "PHI." #mode, .role = PMG_IN, .type = PMG_I64, \
	.is_fixed = true, .is_index = true, .rank = 1, .shape = life_coeffs, .first_extent = (first), \
	.facts = PMG_FACT_INDEX, .limit = limited, .segments = -1, .offset = offsetof(life_args, mode), \
	.place = "life.pmg:6" }

static const pmg_array_desc life_arrays[] = {
	[LIFE_ATOM] = LIFE_MODE(atom, 0, AFFINE(0, 0, "nAtoms")),
	[LIFE_VOXEL] = LIFE_MODE(voxel, 2, AFFINE(1, 0, "nVoxels")),
	[LIFE_FIBER] = LIFE_MODE(fiber, 4, AFFINE(2, 0, "nFibers")),
	[LIFE_VALUE] = { .name = "PHI.value", .role = PMG_IN, .type = PMG_F64, .is_fixed = true, .rank = 1,
		.shape = life_coeffs, .first_extent = 6, .segments = -1, .offset = offsetof(life_args, value),
		.place = "life.pmg:6" },
	[LIFE_D] = { .name = "D", .role = PMG_IN, .type = PMG_F64, .is_fixed = true, .rank = 2,
		.shape = life_dictionary, .first_extent = 7, .segments = -1, .offset = offsetof(life_args, D),
		.place = "life.pmg:7" },
	[LIFE_W] = { .name = "w", .role = PMG_IN, .type = PMG_F64, .rank = 1, .shape = life_weights,
		.first_extent = 9, .segments = -1, .offset = offsetof(life_args, w), .place = "life.pmg:8" },
	[LIFE_Y] = { .name = "Y", .role = PMG_OUT, .type = PMG_F64, .rank = 2, .shape = life_signal,
		.first_extent = 10, .segments = -1, .offset = offsetof(life_args, Y), .place = "life.pmg:9" },
};

static void life_extents(const void *args, int64_t *values)
{
	const life_args *a = args;
	const int64_t extents[] = {
		a->nCoeffs, a->nAtoms, a->nCoeffs, a->nVoxels, a->nCoeffs, a->nFibers, a->nCoeffs,
		a->nAtoms, a->nTheta, a->nFibers, a->nVoxels, a->nTheta
	};

	memcpy(values, extents, sizeof extents);
}

static const char *life_assumption(const void *args)
{
	return ((const life_args *) args)->nAtoms >= 1 ? NULL : "nAtoms >= 1 (life.pmg:8)";
}

static pmg_status life_kernel(pmg_plan *plan, const void *args, pmg_control *control)
{
	const life_args *a = args;
	const int64_t *atom = plan->data[LIFE_ATOM], *voxel = plan->data[LIFE_VOXEL];
	const int64_t *fiber = plan->data[LIFE_FIBER];
	const double *value = plan->data[LIFE_VALUE], *D = plan->data[LIFE_D], *w = plan->data[LIFE_W];
	double *Y = plan->data[LIFE_Y];

	(void) control;
	memset(Y, 0, (size_t) (a->nVoxels * a->nTheta) * sizeof *Y);
	for (int64_t k = 0; k < a->nCoeffs; k++)
		for (int64_t t = 0; t < a->nTheta; t++)
			Y[voxel[k] * a->nTheta + t] += D[atom[k] * a->nTheta + t] * w[fiber[k]] * value[k];
	return PMG_OK;
}

const pmg_pipeline_desc *life_describe(void)
{
	static const pmg_pipeline_desc desc = {
		.abi_version = PMG_ABI_VERSION, .name = "life_dsc", .source = "life.pmg", .target = "openmp",
		.args_size = sizeof(life_args), .n_params = 5, .n_arrays = LIFE_ARRAYS, .n_extents = 12,
		.params = life_params, .arrays = life_arrays, .extents = life_extents,
		.assumption = life_assumption, .kernel = life_kernel
	};

	return &desc;
}

void life_fill(struct life_case *data)
{
	static const int64_t coeffs = 6, fibers = 4, dictionary[] = { 3, 5 }, signal[] = { 10, 5 };
	life_args *a = &data->args;

	for (int k = 0; k < 6; k++) {
		data->atom[k] = k % 3;
		data->voxel[k] = (3 * k + 1) % 10;
		data->fiber[k] = 3 - k % 4;
		data->value[k] = k + 1;
	}
	for (int i = 0; i < 15; i++)
		data->D[i / 5][i % 5] = i - 7;
	for (int f = 0; f < 4; f++)
		data->w[f] = 1 << f;
	for (int i = 0; i < 50; i++)
		data->Y[i / 5][i % 5] = -1;
	*a = (life_args) { .nAtoms = 3, .nVoxels = 10, .nFibers = 4, .nTheta = 5, .nCoeffs = 6 };
	a->atom = pmg_dense(data->atom, PMG_I64, 1, &coeffs);
	a->voxel = pmg_dense(data->voxel, PMG_I64, 1, &coeffs);
	a->fiber = pmg_dense(data->fiber, PMG_I64, 1, &coeffs);
	a->value = pmg_dense(data->value, PMG_F64, 1, &coeffs);
	a->D = pmg_dense(data->D, PMG_F64, 2, dictionary);
	a->w = pmg_dense(data->w, PMG_F64, 1, &fibers);
	a->Y = pmg_dense(data->Y, PMG_F64, 2, signal);
}

bool life_is_right(const struct life_case *data)
{
	const pmg_buffer *Y = &data->args.Y;
	double wanted[10][5] = { { 0 } };

	for (int k = 0; k < 6; k++)
		for (int t = 0; t < 5; t++)
			wanted[(3 * k + 1) % 10][t] += (k % 3 * 5 + t - 7) * (double) (1 << (3 - k % 4))
				* (k + 1);
	for (int v = 0; v < 10; v++)
		for (int t = 0; t < 5; t++) {
			double given;

			memcpy(&given, (const char *) Y->data + v * Y->strides[0] + t * Y->strides[1], 8);
			if (memcmp(&given, &wanted[v][t], 8) != 0)
				return false;
		}
	return true;
}

/* ---- forest ---- */

enum { FOREST_OFFSET, FOREST_PARENT, FOREST_DEPTH, FOREST_BELOW, FOREST_FIRST, FOREST_LIST, FOREST_ARRAYS };

static const pmg_param_desc forest_params[] = {
	{ "nSystems", PMG_I64, offsetof(forest_args, nSystems), "forest.pmg:3" },
	{ "nTotal", PMG_I64, offsetof(forest_args, nTotal), "forest.pmg:3" },
};

static const pmg_extent forest_systems[] = { AFFINE(0, 1, "nSystems + 1") };
static const pmg_extent forest_nodes[] = { AFFINE(1, 0, "nTotal") };
static const pmg_extent forest_lists[] = { AFFINE(1, 1, "nTotal + 1") };

static const pmg_array_desc forest_arrays[] = {
	[FOREST_OFFSET] = { .name = "F.offset", .role = PMG_IN, .type = PMG_I64, .is_fixed = true,
	.is_index = true,
		.rank = 1, .shape = forest_systems, .first_extent = 0, .facts = PMG_FACT_OFFSETS,
		.limit = AFFINE(1, 0, "nTotal"), .segments = -1, .offset = offsetof(forest_args, offset),
		.place = "forest.pmg:5" },
	[FOREST_PARENT] = { .name = "F.parent", .role = PMG_IN, .type = PMG_I64, .is_fixed = true,
	.is_index = true,
		.rank = 1, .shape = forest_nodes, .first_extent = 2, .facts = PMG_FACT_TREE,
		.segments = FOREST_OFFSET, .offset = offsetof(forest_args, parent), .place = "forest.pmg:5" },
	[FOREST_DEPTH] = { .name = "depth", .role = PMG_OUT, .type = PMG_I64, .rank = 1,
	.shape = forest_nodes,
		.first_extent = 2, .segments = -1, .offset = offsetof(forest_args, depth),
		.place = "forest.pmg:6" },
	[FOREST_BELOW] = { .name = "below", .role = PMG_OUT, .type = PMG_I64, .rank = 1,
	.shape = forest_nodes,
		.first_extent = 2, .segments = -1, .offset = offsetof(forest_args, below),
		.place = "forest.pmg:6" },
	[FOREST_FIRST] = { .name = "F.parent.first", .role = PMG_TEMP, .type = PMG_I64, .rank = 1,
		.shape = forest_lists, .first_extent = 3, .segments = -1, .offset = SIZE_MAX,
		.place = "forest.pmg:5" },
	[FOREST_LIST] = { .name = "F.parent.children", .role = PMG_TEMP, .type = PMG_I64, .rank = 1,
		.shape = forest_nodes, .first_extent = 2, .segments = -1, .offset = SIZE_MAX,
		.place = "forest.pmg:5" },
};

static const pmg_children_desc forest_children[] = { { FOREST_PARENT, FOREST_FIRST, FOREST_LIST, 0, 0 } };

static void forest_extents(const void *args, int64_t *values)
{
	const forest_args *a = args;

	values[0] = a->nSystems + 1;
	values[1] = values[2] = a->nTotal;
	values[3] = a->nTotal + 1;
}

static pmg_status forest_kernel(pmg_plan *plan, const void *args, pmg_control *control)
{
	const int64_t n = ((const forest_args *) args)->nTotal;
	const int64_t *parent = plan->data[FOREST_PARENT];
	const int64_t *first = plan->data[FOREST_FIRST], *list = plan->data[FOREST_LIST];
	int64_t *depth = plan->data[FOREST_DEPTH], *below = plan->data[FOREST_BELOW];

	(void) control;
	for (int64_t i = 0; i < n; i++)
		depth[i] = parent[i] < 0 ? 0 : depth[parent[i]] + 1;
	for (int64_t i = n - 1; i >= 0; i--) {
		below[i] = 0;
		for (int64_t k = first[i]; k < first[i + 1]; k++)
			below[i] += 1 + below[list[k]];
	}
	return PMG_OK;
}

const pmg_pipeline_desc *forest_describe(void)
{
	static const pmg_pipeline_desc desc = {
		.abi_version = PMG_ABI_VERSION, .name = "forest", .source = "forest.pmg", .target = "openmp",
		.args_size = sizeof(forest_args), .n_params = 2, .n_arrays = FOREST_ARRAYS, .n_children = 1,
		.n_extents = 4, .params = forest_params, .arrays = forest_arrays, .children = forest_children,
		.extents = forest_extents, .kernel = forest_kernel
	};

	return &desc;
}

void forest_fill(struct forest_case *data)
{
	static const int64_t systems = 4, nodes = 7;
	static const int64_t offset[] = { 0, 3, 3, 7 }, parent[] = { -1, 0, 0, -1, 0, 1, -1 };
	forest_args *a = &data->args;

	memset(data, 0, sizeof *data);
	memcpy(data->offset, offset, sizeof offset);
	memcpy(data->parent, parent, sizeof parent);
	a->nSystems = 3;
	a->nTotal = 7;
	a->offset = pmg_dense(data->offset, PMG_I64, 1, &systems);
	a->parent = pmg_dense(data->parent, PMG_I64, 1, &nodes);
	a->depth = pmg_dense(data->depth, PMG_I64, 1, &nodes);
	a->below = pmg_dense(data->below, PMG_I64, 1, &nodes);
}

/* ---- steps ---- */

static const pmg_param_desc steps_params[] = {
	{ "n", PMG_I64, offsetof(steps_args, n), "steps.pmg:2" },
	{ "nBins", PMG_I64, offsetof(steps_args, nBins), "steps.pmg:2" },
	{ "nSteps", PMG_I64, offsetof(steps_args, nSteps), "steps.pmg:2" },
	{ "stop", PMG_F64, offsetof(steps_args, stop), "steps.pmg:3" },
	{ "rate", PMG_F32, offsetof(steps_args, rate), "steps.pmg:3" },
};

static const pmg_extent steps_n[] = { AFFINE(0, 0, "n") };
static const pmg_extent steps_three[] = { CONSTANT(3, "3") };
static const pmg_extent steps_general[] = { GENERAL("2*n - 3") };

#define STEPS_ARRAY(field, its_role, its_type, its_shape, first) \
	.name = #field, .role = its_role, .type = its_type, .rank = 1, .shape = its_shape, \
	.first_extent = (first), .segments = -1, .offset = offsetof(steps_args, field)
#define STEPS_INDEX .is_index = true, .limit = AFFINE(1, 0, "nBins")

static const pmg_array_desc steps_arrays[] = {
	[STEPS_LEVEL] = { STEPS_ARRAY(level, PMG_IN, PMG_I64, steps_n, 0), STEPS_INDEX,
	.place = "steps.pmg:5",
		.facts = PMG_FACT_INDEX | PMG_FACT_UNIQUE },
	[STEPS_MASK] = { STEPS_ARRAY(mask, PMG_IN, PMG_BOOL, steps_three, 2), .place = "steps.pmg:6" },
	[STEPS_START] = { STEPS_ARRAY(start, PMG_IN, PMG_F64, steps_general, 3), .place = "steps.pmg:7" },
	[STEPS_V] = { STEPS_ARRAY(v, PMG_INOUT, PMG_F64, steps_n, 0), .place = "steps.pmg:8" },
	[STEPS_TOTAL] = { STEPS_ARRAY(total, PMG_OUT, PMG_F64, steps_n, 0), .place = "steps.pmg:9" },
	[STEPS_WHERE] = { STEPS_ARRAY(where, PMG_OUT, PMG_I64, steps_n, 0), STEPS_INDEX,
	.place = "steps.pmg:10",
		.facts = PMG_FACT_INDEX },
	[STEPS_COUNT] = { .name = "count", .role = PMG_OUT, .type = PMG_I64, .segments = -1,
		.offset = offsetof(steps_args, count), .place = "steps.pmg:11" },
	[STEPS_X] = { .name = "x", .role = PMG_STATE, .type = PMG_F64, .rank = 1, .shape = steps_n,
		.segments = -1, .offset = SIZE_MAX, .place = "steps.pmg:12" },
	[STEPS_BIN] = { .name = "bin", .role = PMG_TEMP, .type = PMG_I64, STEPS_INDEX,
	.facts = PMG_FACT_INDEX,
		.rank = 1, .shape = steps_n, .segments = -1, .offset = SIZE_MAX, .place = "steps.pmg:13" },
};

static void steps_extents(const void *args, int64_t *values)
{
	const steps_args *a = args;

	values[0] = a->n;
	values[1] = a->nBins;
	values[2] = 3;
	values[3] = 2 * a->n - 3;
}

/* One iteration: bin = x cut to an integer, then x += rate, v += mask, total += x. */
static void steps_iterate(pmg_plan *plan, const steps_args *a)
{
	const unsigned char *mask = plan->data[STEPS_MASK];
	int64_t *bin = plan->data[STEPS_BIN];
	double *x = plan->data[STEPS_X], *v = plan->data[STEPS_V], *total = plan->data[STEPS_TOTAL];

	for (int64_t i = 0; i < a->n; i++) {
		bin[i] = pmg_to_i64(x[i]);
		if (bin[i] < 0 || bin[i] >= a->nBins)
			pmg_bad_index(plan, STEPS_BIN, i, bin[i]);
	}
	if (pmg_failed(plan))
		return;
	for (int64_t i = 0; i < a->n; i++) {
		x[i] += (double) a->rate;
		v[i] += mask[i];
		total[i] += x[i];
	}
}

static pmg_status steps_kernel(pmg_plan *plan, const void *args, pmg_control *control)
{
	const steps_args *a = args;
	const int64_t *bin = plan->data[STEPS_BIN];
	double *x = plan->data[STEPS_X], *total = plan->data[STEPS_TOTAL];
	int64_t *where = plan->data[STEPS_WHERE], *count = plan->data[STEPS_COUNT];

	if (isnan(a->rate))
		return PMG_NUMERICAL;
	if (pmg_loop_starts(plan, control)) {
		memcpy(x, plan->data[STEPS_START], (size_t) a->n * sizeof *x);
		memset(total, 0, (size_t) a->n * sizeof *total);
		*count = 0;
	}
	for (int64_t it = pmg_loop_begin(plan, control, 2);
	     pmg_loop_next(plan, control, it, 2 + a->nSteps, x[0] >= a->stop); it++) {
		steps_iterate(plan, a);
		*count += 1;
	}
	memcpy(where, bin, (size_t) a->n * sizeof *where);
	return PMG_OK;
}

const pmg_pipeline_desc *steps_describe(void)
{
	static const pmg_pipeline_desc desc = {
		.abi_version = PMG_ABI_VERSION, .name = "steps", .source = "steps.pmg", .target = "openmp",
		.args_size = sizeof(steps_args), .n_params = 5, .n_arrays = STEPS_ARRAYS, .n_extents = 4,
		.params = steps_params, .arrays = steps_arrays, .has_loop = true,
		.extents = steps_extents, .kernel = steps_kernel
	};

	return &desc;
}

void steps_fill(struct steps_case *data)
{
	static const int64_t three = 3;
	steps_args *a = &data->args;

	memset(data, 0, sizeof *data);
	for (int i = 0; i < 3; i++) {
		data->level[i] = 4 - i;
		data->mask[i] = i != 1;
		data->start[i] = i;
		data->v[i] = 10 * i;
	}
	*a = (steps_args) { .n = 3, .nBins = 10, .nSteps = 6, .stop = 100, .rate = 0.5f };
	a->level = pmg_dense(data->level, PMG_I64, 1, &three);
	a->mask = pmg_dense(data->mask, PMG_BOOL, 1, &three);
	a->start = pmg_dense(data->start, PMG_F64, 1, &three);
	a->v = pmg_dense(data->v, PMG_F64, 1, &three);
	a->total = pmg_dense(data->total, PMG_F64, 1, &three);
	a->where = pmg_dense(data->where, PMG_I64, 1, &three);
	a->count = pmg_dense(&data->count, PMG_I64, 0, NULL);
}
