/* SPDX-License-Identifier: MIT
 *
 * Rows that run on a GPU: methods by hand (handtuned/systems_gpu.h) and generated kernels, on one batch there. Results
 * are fetched to be checked only, and a time is that of the device, by events. What bounds all of them is the
 * device's own copy: its speed for large arrays is measured ahead of all cases, and one of each case's bytes is among
 * its rows. */
#include "systems/systems.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

struct method {
	struct systems_gpu_method method;
	bool is_usual;          /* measured where no versions are named */
};

static const struct method tri_methods[] = {
	{ { .name = "copy", .code = SYSTEMS_GPU_COPY }, true },
	{ { .name = "convert", .code = SYSTEMS_GPU_CONVERT }, true },
	{ { .name = "thomas_batch", .code = SYSTEMS_GPU_THOMAS }, true },
	{ { .name = "thomas_vbatch_cp", .code = SYSTEMS_GPU_THOMAS_CP }, true },
	{ { .name = "thomas_vbatch_ncp", .code = SYSTEMS_GPU_THOMAS_NCP }, true },
	{ { .name = "thomas_vbatch_ncp_sorted", .code = SYSTEMS_GPU_THOMAS_NCP, .is_sorted = true }, true },
	{ { .name = "thomas_registers", .code = SYSTEMS_GPU_THOMAS_REGISTERS }, true },
	{ { .name = "gtsv_strided", .code = SYSTEMS_GPU_GTSV_STRIDED }, true },
	{ { .name = "gtsv_interleaved_0", .code = SYSTEMS_GPU_GTSV_INTERLEAVED }, true },
	{ { .name = "gtsv_interleaved_1", .code = SYSTEMS_GPU_GTSV_INTERLEAVED, .variant = 1 }, true },
	{ { .name = "gtsv_interleaved_2", .code = SYSTEMS_GPU_GTSV_INTERLEAVED, .variant = 2 }, true },
	{ { .name = "hybrid", .code = SYSTEMS_GPU_HYBRID }, true },
	{ { .name = "hybrid_8", .code = SYSTEMS_GPU_HYBRID, .variant = 8 }, false },
	{ { .name = "hybrid_16", .code = SYSTEMS_GPU_HYBRID, .variant = 16 }, false },
	{ { .name = "hybrid_16_of_128", .code = SYSTEMS_GPU_HYBRID, .variant = 16, .lanes = 128 }, false },
	{ { .name = "hybrid_32", .code = SYSTEMS_GPU_HYBRID, .variant = 32 }, false },
	{ { .name = "hybrid_32_of_128", .code = SYSTEMS_GPU_HYBRID, .variant = 32, .lanes = 128 }, false },
};

static const struct method hines_methods[] = {
	{ { .name = "copy", .code = SYSTEMS_GPU_COPY }, true },
	{ { .name = "convert", .code = SYSTEMS_GPU_CONVERT }, true },
	{ { .name = "hines_flat", .code = SYSTEMS_GPU_HINES_FLAT }, true },
	{ { .name = "hines_interleaved", .code = SYSTEMS_GPU_HINES_INTERLEAVED }, true },
	{ { .name = "hines_blocks_32", .code = SYSTEMS_GPU_HINES_INTERLEAVED, .variant = 32 }, true },
	{ { .name = "hines_blocks_128", .code = SYSTEMS_GPU_HINES_INTERLEAVED, .variant = 128 }, true },
	{ { .name = "hines_shared", .code = SYSTEMS_GPU_HINES_SHARED }, true },
	{ { .name = "hines_levels", .code = SYSTEMS_GPU_HINES_LEVELS }, true },
	{ { .name = "hines_registers", .code = SYSTEMS_GPU_HINES_REGISTERS }, true },
	{ { .name = "nodes", .code = SYSTEMS_GPU_HINES_NODES }, true },
	{ { .name = "chains", .code = SYSTEMS_GPU_HINES_CHAINS }, true },
	{ { .name = "chains_4", .code = SYSTEMS_GPU_HINES_CHAINS, .variant = 4 }, false },
	{ { .name = "chains_8", .code = SYSTEMS_GPU_HINES_CHAINS, .variant = 8 }, false },
	{ { .name = "chains_16", .code = SYSTEMS_GPU_HINES_CHAINS, .variant = 16 }, false },
	{ { .name = "held", .code = SYSTEMS_GPU_HINES_CHAINS_HELD }, true },
	{ { .name = "held_4", .code = SYSTEMS_GPU_HINES_CHAINS_HELD, .variant = 4 }, false },
	{ { .name = "held_8", .code = SYSTEMS_GPU_HINES_CHAINS_HELD, .variant = 8 }, false },
	{ { .name = "held_16", .code = SYSTEMS_GPU_HINES_CHAINS_HELD, .variant = 16 }, false },
	{ { .name = "held_24", .code = SYSTEMS_GPU_HINES_CHAINS_HELD, .variant = 24 }, false },
	{ { .name = "best", .code = SYSTEMS_GPU_HINES_BEST }, true },
};

/* Of the kind of systems that is asked for; NULL: there are no more. */
static const struct method *method_at(const struct systems_values *values, int i)
{
	enum { N_TRI = sizeof(tri_methods) / sizeof(tri_methods[0]),
	       N_HINES = sizeof(hines_methods) / sizeof(hines_methods[0]) };
	if (values->is_tri)
		return i < N_TRI ? &tri_methods[i] : NULL;
	return i < N_HINES ? &hines_methods[i] : NULL;
}

bool systems_is_on_gpu(const struct systems_values *values)
{
	return strcmp(values->run.target, "cuda") == 0;
}

const char *systems_gpu_name(const struct systems_values *values, int i, bool *is_usual)
{
	const struct method *method = method_at(values, i);
	*is_usual = method && method->is_usual;
	return method ? method->method.name : NULL;
}

const struct systems_gpu_method *systems_gpu_method_named(const struct systems_values *values, const char *name)
{
	const struct method *method = method_at(values, 0);
	for (int i = 0; method && strcmp(method->method.name, name) != 0; i++)
		method = method_at(values, i + 1);
	return method ? &method->method : NULL;
}

/* ---- The device --------------------------------------------------------------------------------- */

bool systems_gpu_open(struct systems_values *values, struct failure *failure)
{
	systems_gpu_entry entry;
	if (!systems_is_on_gpu(values))
		return true;
	void *symbol = device_library(values->arena, &values->run, values->is_tri ? "tri_gpu" : "hines_gpu",
				      SYSTEMS_GPU_SYMBOL, failure);
	if (!symbol)
		return false;
	memcpy(&entry, &symbol, sizeof(entry));
	values->gpu = entry();
	if (!values->gpu->device_name())
		return fail(failure, OUTCOME_RESOURCES, "there is no GPU, or its driver is too old");
	values->copy_rate = values->gpu->copy_rate();
	if (values->copy_rate <= 0)
		return fail(failure, OUTCOME_RESOURCES, "the GPU does not copy: is its memory in use?");
	printf("%s: copies %.3g TB/s, read and written\n\n", values->gpu->device_name(), 1e-12 * values->copy_rate);
	return true;
}

bool systems_gpu_case(struct systems_values *values, struct systems_case *problem, struct failure *failure)
{
	char error[200] = "";
	if (!systems_is_on_gpu(values))
		return true;
	problem->functions = values->gpu;
	problem->gpu = values->gpu->open(&problem->batch, error, sizeof(error));
	return problem->gpu || fail(failure, OUTCOME_RESOURCES, "%s: %s", problem->name, error);
}

/* ---- Methods by hand ---------------------------------------------------------------------------- */

static bool run_method(void *state, double *seconds, struct failure *failure)
{
	struct systems_row *row = state;
	return row->problem->functions->run(row->problem->gpu, &row->on_gpu, seconds) ||
	       fail(failure, OUTCOME_RESOURCES, "%s: %s fails on the GPU", row->problem->name, row->row.record.version);
}

static struct systems_row *new_row(struct systems_values *values, struct systems_case *problem, const char *name)
{
	struct systems_row *row = arena_new(values->arena, struct systems_row);
	*row = (struct systems_row){ .problem = problem, .out = problem->x.data };
	row->row.run = run_method;
	row->row.state = row;
	row->row.record = record_new();
	row->row.record.version = name;
	row->row.record.target = "cuda";
	row->row.record.clock = "device";
	row->row.record.threads = 1;
	return row;
}

/* Do its results count? */
static bool is_solver(enum systems_gpu_code code)
{
	return code != SYSTEMS_GPU_COPY && code != SYSTEMS_GPU_CONVERT;
}

static bool is_library(enum systems_gpu_code code)
{
	return code == SYSTEMS_GPU_GTSV_STRIDED || code == SYSTEMS_GPU_GTSV_INTERLEAVED;
}

bool systems_row_gpu(struct systems_values *values, struct systems_case *problem, const char *name, bool is_asked,
		     systems_row_list *rows, struct failure *failure)
{
	char error[200] = "";
	const struct systems_gpu_method *method = systems_gpu_method_named(values, name);
	struct systems_row *row = new_row(values, problem, method->name);
	(void) failure;
	if (!values->gpu->prepare(problem->gpu, method, &row->on_gpu, error, sizeof(error))) {
		values->gpu->release(&row->on_gpu);
		if (is_asked)
			fprintf(stderr, "pmg bench: %s, %s is left out: %s\n", problem->name, name, error);
		return true;
	}
	row->is_stream = method->code == SYSTEMS_GPU_COPY;
	row->is_copy = !is_solver(method->code);
	row->is_foreign = is_library(method->code);
	row->levels = row->on_gpu.levels;
	row->row.record.layout = arena_string(values->arena, row->on_gpu.layout);
	vec_push(values->arena, rows, row);
	return true;
}

void systems_gpu_free(const struct systems_values *values, struct systems_row *row)
{
	values->gpu->release(&row->on_gpu);
}

/* ---- Generated kernels ---------------------------------------------------------------------------- */

/* Which array of the batch the argument is; -1: none. */
static int array_of(const struct systems_row *row, const pmg_array_desc *array)
{
	const bool is_chain = row->problem->batch.is_chain;
	const char *names[] = { is_chain ? "c" : "upper", is_chain ? "a" : "lower", is_chain ? "b" : "diag",
				is_chain ? "d" : "rhs", "x" };
	for (int i = 0; i < SYSTEMS_GPU_ARRAYS; i++)
		if (strcmp(array->name, names[i]) == 0)
			return i;
	return -1;
}

void systems_gpu_bind(const struct systems_values *values, struct systems_row *row)
{
	const pmg_pipeline_desc *desc = row->execution.desc;
	for (int i = 0; i < desc->n_arrays; i++) {
		const pmg_array_desc *array = &desc->arrays[i];
		int which = array_of(row, array);
		pmg_buffer buffer;
		if (array->offset == SIZE_MAX || which < 0)
			continue;
		memcpy(&buffer, row->execution.args + array->offset, sizeof(buffer));
		buffer.data = values->gpu->array(row->problem->gpu, which);
		buffer.device = PMG_CUDA;
		memcpy(row->execution.args + array->offset, &buffer, sizeof(buffer));
	}
}

bool systems_gpu_result(const struct systems_values *values, struct systems_row *row, struct failure *failure)
{
	double seconds;
	if (!values->gpu->poison(row->problem->gpu))
		return fail(failure, OUTCOME_RESOURCES, "%s: the GPU fails", row->problem->name);
	return row->row.run(row->row.state, &seconds, failure) &&
	       (values->gpu->fetch(row->problem->gpu, row->is_generated ? NULL : &row->on_gpu, row->out) ||
		fail(failure, OUTCOME_RESOURCES, "%s: the GPU fails", row->problem->name));
}

/* ---- The table -------------------------------------------------------------------------------------- */

static void print_number(FILE *stream, const char *format, int width, double number)
{
	if (isnan(number))
		fprintf(stream, " %*s", width, "-");
	else
		fprintf(stream, format, width, number);
}

static void print_row(const struct record *r, int width, double generated, FILE *stream)
{
	char name[160];
	snprintf(name, sizeof(name), "%s%s%s", r->version, *r->algorithm ? " " : "", r->algorithm);
	fprintf(stream, "%-*s %10.2f %10.2f %5.0f", width, name, 1e3 * r->ms_median, 1e3 * r->ms_min, r->runs);
	print_number(stream, " %*.3f", 7, r->fraction_of_limit);
	print_number(stream, " %*.3g", 7, r->ratio);
	print_number(stream, " %*.3g", 7, generated > 0 ? r->ms_median / generated : NAN);
	print_number(stream, " %*.1e", 8, r->error);
	print_number(stream, " %*.2f", 6, 10 * r->bound);
	fprintf(stream, "  %s\n", r->layout);
}

static double median_of_generated(const row_list *rows)
{
	for (int i = 0; i < rows->n; i++)
		if (strcmp(rows->items[i]->record.version, "generated") == 0)
			return rows->items[i]->record.ms_median;
	return 0;
}

void systems_gpu_print(const struct systems_case *problem, const row_list *rows, FILE *stream)
{
	int width = (int) strlen("version");
	for (int i = 0; i < rows->n; i++) {
		const struct record *r = &rows->items[i]->record;
		int length = (int) (strlen(r->version) + strlen(r->algorithm) + (*r->algorithm ? 1 : 0));
		width = length > width ? length : width;
	}
	fprintf(stream, "%s %s: %" PRId64 " rows, %.1f MB to read and write\n", problem->op, problem->name,
		problem->batch.n_rows, 1e-6 * systems_case_bytes(problem));
	fprintf(stream, "%-*s %10s %10s %5s %7s %7s %7s %8s %6s  %s\n", width, "version", "median us", "min us",
		"runs", "floor", "x base", "x gen", "error", "eps", "as");
	for (int i = 0; i < rows->n; i++)
		print_row(&rows->items[i]->record, width, median_of_generated(rows), stream);
}
