/* SPDX-License-Identifier: MIT
 *
 * Rows that run on a GPU, by kernels of life_gpu.cu. Vectors lie on the device, results are fetched to be checked only,
 * and a time is that of the kernels there, by events. */
#include "life/life.h"

#include <stdlib.h>
#include <string.h>

#include "handtuned/life_gpu.h"
#include "handtuned/life_layout.h"

static const struct gpu_version {
	const char *name;
	enum life_gpu_code code;
	enum life_order order[LIFE_OPS];
	const char *partition[LIFE_OPS];        /* NULL: none, since coefficients of zero weight are left out */
} gpu_versions[] = {
	{ "gpu_ref", LIFE_GPU_REF, { LIFE_BY_ATOM, LIFE_BY_ATOM }, { "coefficient", "coefficient" } },
	{ "gpu_restructured", LIFE_GPU_REF, { LIFE_BY_VOXEL, LIFE_BY_VOXEL }, { "coefficient", "coefficient" } },
	{ "gpu_partitioned", LIFE_GPU_PARTITIONED, { LIFE_BY_VOXEL, LIFE_BY_ATOM }, { "voxel", "coefficient" } },
	{ "gpu_shared", LIFE_GPU_SHARED, { LIFE_BY_VOXEL, LIFE_BY_ATOM }, { "voxel", "coefficient" } },
	{ "gpu_warp", LIFE_GPU_WARP, { LIFE_BY_VOXEL, LIFE_BY_ATOM }, { "voxel", "coefficient" } },
	{ "gpu_warps", LIFE_GPU_WARPS, { LIFE_BY_VOXEL, LIFE_BY_ATOM }, { "voxel", "coefficient" } },
	{ "gpu_real", LIFE_GPU_REAL, { LIFE_BY_VOXEL, LIFE_BY_VOXEL }, { "voxel", "voxel" } },
	{ "gpu_opt", LIFE_GPU_OPT, { LIFE_BY_VOXEL, LIFE_BY_ATOM }, { "voxel", "coefficient" } },
	{ "gpu_opt_cut", LIFE_GPU_OPT_CUT, { LIFE_BY_VOXEL, LIFE_BY_VOXEL }, { "parts of voxels", "parts of voxels" } },
	{ "gpu_opt_cut_32", LIFE_GPU_OPT_CUT_32, { LIFE_BY_VOXEL, LIFE_BY_VOXEL },
	  { "parts of voxels", "parts of voxels" } },
	{ "gpu_sparse", LIFE_GPU_SPARSE, { LIFE_HYBRID, LIFE_HYBRID }, { "pair", "pair" } },
	{ "gpu_best", LIFE_GPU_BEST, { LIFE_HYBRID, LIFE_HYBRID }, { "parts of voxels", "parts of voxels" } },
	{ "gpu_best_top", LIFE_GPU_BEST_TOP, { LIFE_HYBRID, LIFE_HYBRID }, { "parts of voxels", "parts of voxels" } },
	{ "gpu_lanes", LIFE_GPU_LANES, { LIFE_HYBRID, LIFE_HYBRID }, { "parts of voxels", "parts of voxels" } },
	{ "gpu_lanes_top", LIFE_GPU_LANES_TOP, { LIFE_HYBRID, LIFE_HYBRID }, { "parts of voxels", "parts of voxels" } },
	{ "gpu_live", LIFE_GPU_LANES, { LIFE_HYBRID, LIFE_HYBRID }, { "parts of voxels", NULL } },
	{ "gpu_live_top", LIFE_GPU_LANES_TOP, { LIFE_HYBRID, LIFE_HYBRID }, { "parts of voxels", NULL } },
};

enum { N_VERSIONS = sizeof(gpu_versions) / sizeof(gpu_versions[0]) };

bool life_is_on_gpu(const struct life_values *values)
{
	return strcmp(values->run.target, "cuda") == 0;
}

const char *life_gpu_version(int i)
{
	return i < N_VERSIONS ? gpu_versions[i].name : NULL;
}

/* ---- The library --------------------------------------------------------------------------- */

bool life_gpu_open(struct life_values *values, struct failure *failure)
{
	life_gpu_entry entry;
	if (!life_is_on_gpu(values))
		return true;
	void *symbol = device_library(values->arena, &values->run, "life_gpu", LIFE_GPU_SYMBOL, failure);
	if (!symbol)
		return false;
	memcpy(&entry, &symbol, sizeof(entry));
	values->gpu = entry();
	return values->gpu->device_name() ||
	       fail(failure, OUTCOME_RESOURCES, "there is no GPU, or its driver is too old");
}

/* ---- Vectors on the device -------------------------------------------------------------------- */

static size_t in_bytes(const struct life_row *row)
{
	enum life_op other = row->op == LIFE_DSC ? LIFE_WC : LIFE_DSC;
	return (size_t) life_out_count(row->problem, other) * sizeof(double);
}

static size_t out_bytes(const struct life_row *row)
{
	return (size_t) life_out_count(row->problem, row->op) * sizeof(double);
}

bool life_gpu_vectors(struct life_row *row, const struct life_gpu_functions *gpu, struct failure *failure)
{
	const double *in = row->op == LIFE_DSC ? row->problem->w.data : row->problem->Y.data;
	row->gpu = gpu;
	row->device_in = gpu->memory(in_bytes(row));
	row->device_out = gpu->memory(out_bytes(row));
	return (row->device_in && row->device_out && gpu->copy(row->device_in, in, in_bytes(row))) ||
	       fail(failure, OUTCOME_RESOURCES, "no memory of the device for a row");
}

bool life_gpu_store(struct life_row *row)
{
	return !row->gpu || row->gpu->copy(row->device_out, row->out, out_bytes(row));
}

bool life_gpu_fetch(struct life_row *row)
{
	return !row->gpu || row->gpu->copy(row->out, row->device_out, out_bytes(row));
}

void life_gpu_free(struct life_row *row)
{
	if (!row->gpu)
		return;
	if (row->gpu_state)
		row->gpu->close(row->gpu_state);
	row->gpu->release(row->device_in);
	row->gpu->release(row->device_out);
}

/* ---- Hand-written rows --------------------------------------------------------------------------- */

static bool run_gpu(void *state, double *seconds, struct failure *failure)
{
	struct life_row *row = state;
	return row->gpu->run(row->gpu_state, row->device_in, row->device_out, seconds) ||
	       fail(failure, OUTCOME_RESOURCES, "a kernel by hand fails");
}

static void describe(struct life_row *row, const struct gpu_version *version, double seconds)
{
	struct record *record = &row->row.record;
	*record = record_new();
	record->bench = "life";
	record->problem = row->problem->name;
	record->weights = row->problem->weights;
	record->op = life_op_name(row->op);
	record->version = version->name;
	record->target = "cuda";
	record->clock = "device";
	record->threads = 1;
	record->precision = strstr(version->name, "_top") ? "f64top" : "f64";
	record->restructure = life_order_name(version->order[row->op]);
	record->partition = version->partition[row->op];
	record->plan_ms = 1e3 * seconds;
}

/* Leaves those of zero weight out of the order; how many stay. */
static int64_t keep_live(const struct life_case *problem, int32_t *order)
{
	const double *w = problem->w.data;
	int64_t n = 0;
	for (int64_t i = 0; i < problem->tensor.n_coeffs; i++)
		if (w[problem->tensor.fiber[order[i]]] != 0)
			order[n++] = order[i];
	return n;
}

static bool open_state(struct life_row *row, const struct gpu_version *version, struct failure *failure)
{
	char error[200] = "not enough memory";
	struct life_tensor tensor = row->problem->tensor;
	int32_t *order = life_order(&tensor, version->order[row->op]);
	if (order && !version->partition[LIFE_WC])
		tensor.n_coeffs = keep_live(row->problem, order);
	if (order)
		row->gpu_state = row->gpu->open(&tensor, order, version->code, row->op, error, sizeof(error));
	free(order);
	if (!row->gpu_state)
		fail(failure, OUTCOME_RESOURCES, "%s: %s", version->name, error);
	return row->gpu_state;
}

static const struct gpu_version *find_version(const char *name)
{
	for (int i = 0; i < N_VERSIONS; i++)
		if (strcmp(gpu_versions[i].name, name) == 0)
			return &gpu_versions[i];
	return NULL;
}

bool life_gpu_has_version(const char *name, struct failure *failure)
{
	const char *names[N_VERSIONS + 1] = { "generated" };
	if (find_version(name))
		return true;
	for (int i = 0; i < N_VERSIONS; i++)
		names[i + 1] = gpu_versions[i].name;
	return version_is_unknown(name, " for a GPU", names, N_VERSIONS + 1, failure);
}

bool life_row_gpu(struct life_values *values, const struct life_case *problem, const char *name, enum life_op op,
		  life_row_list *rows, struct failure *failure)
{
	const struct gpu_version *version = find_version(name);
	if (!version)
		return life_gpu_has_version(name, failure);
	if (!version->partition[op])
		return true;
	struct life_row *row = arena_new(values->arena, struct life_row);
	*row = (struct life_row){ .op = op, .problem = problem };
	row->row.run = run_gpu;
	row->row.state = row;
	double start = life_now();
	vec_push(values->arena, rows, row);
	row->out = life_memory(life_out_count(problem, op), sizeof(double));
	if (!row->out)
		return fail_memory(failure, "results");
	if (!life_gpu_vectors(row, values->gpu, failure) || !open_state(row, version, failure))
		return false;
	describe(row, version, life_now() - start);
	return true;
}
