/* SPDX-License-Identifier: MIT
 *
 * Rows of generated code: the example is compiled as `pmg run` does it, with all of its options, bound to the problem
 * where it lies in memory, planned once and executed in turns with the others. */
#include "life/life.h"

#include <stdlib.h>
#include <string.h>

/* ---- The program ---------------------------------------------------------------------------- */

int life_take_option(void *any, char **arguments, int n, struct failure *failure)
{
	struct life_values *values = any;
	return bench_take_option(&values->run, values->arena, arguments, n, failure);
}

static bool bind_size(struct life_values *values, struct session *s, const char *name, int64_t value,
		      struct failure *failure)
{
	return bind_word(s, arena_printf(values->arena, "%s=%lld", name, (long long) value), failure);
}

bool life_bind_places(struct session *s, const struct life_case *problem, struct failure *failure)
{
	return !problem->tensor.coords || bind_memory(s, "voxel_coords", &problem->coords, failure);
}

static bool bind_case(struct life_values *values, struct life_row *row, struct failure *failure)
{
	struct session *s = &row->session;
	const struct life_case *problem = row->problem;
	const struct life_tensor *t = &problem->tensor;
	word_list none = { 0 };
	return bind_memory(s, "PHI.atom", &problem->atom, failure) &&
	       bind_memory(s, "PHI.voxel", &problem->voxel, failure) &&
	       bind_memory(s, "PHI.fiber", &problem->fiber, failure) &&
	       bind_memory(s, "PHI.value", &problem->value, failure) && bind_memory(s, "D", &problem->D, failure) &&
	       (row->op == LIFE_DSC ? bind_memory(s, "w", &problem->w, failure)
				    : bind_memory(s, "Y", &problem->Y, failure)) &&
	       life_bind_places(s, problem, failure) &&
	       bind_size(values, s, "nVoxels", t->n_voxels, failure) &&
	       bind_size(values, s, "nFibers", t->n_fibers, failure) && session_bind(s, &none, 0, failure);
}

/* Executions find the vectors where they are on the device. */
static bool move_vectors(const struct life_values *values, struct life_row *row, struct failure *failure)
{
	const pmg_pipeline_desc *desc = row->execution.desc;
	if (!life_is_on_gpu(values))
		return true;
	if (!life_gpu_vectors(row, values->gpu, failure))
		return false;
	for (int i = 0; i < desc->n_arrays; i++) {
		const pmg_array_desc *array = &desc->arrays[i];
		bool is_in = array->role == PMG_IN && !array->is_fixed;
		pmg_buffer buffer;
		if (array->offset == SIZE_MAX || (!is_in && array->role != PMG_OUT))
			continue;
		memcpy(&buffer, row->execution.args + array->offset, sizeof(buffer));
		buffer.data = is_in ? row->device_in : row->device_out;
		buffer.device = PMG_CUDA;
		memcpy(row->execution.args + array->offset, &buffer, sizeof(buffer));
	}
	return true;
}

/* ---- The row ------------------------------------------------------------------------------------- */

static bool run_generated(void *state, double *seconds, struct failure *failure)
{
	struct life_row *row = state;
	if (!library_execute(&row->execution, seconds, failure))
		return false;
	if (row->gpu)
		*seconds = pmg_plan_report(row->execution.plan)->device_seconds;
	return true;
}

const char *life_precision(const char *options)
{
	return strstr(options, "f32") ? "f32" : strstr(options, "f64top") ? "f64top" : "f64";
}

static void describe(struct life_row *row, const char *options)
{
	struct record *record = &row->row.record;
	const pmg_report *report = pmg_plan_report(row->execution.plan);
	*record = record_new();
	record->bench = "life";
	record->problem = row->problem->name;
	record->weights = row->problem->weights;
	record->op = life_op_name(row->op);
	record->version = "generated";
	record->target = row->session.values.target;
	record->clock = row->gpu ? "device" : "";
	record->threads = (double) row->session.values.threads;
	record->precision = life_precision(options);
	record->restructure = bench_decision(&row->session, DECISION_RESTRUCTURE_NONE, DECISION_RESTRUCTURE);
	record->partition = bench_decision(&row->session, DECISION_PARTITION_COEFF, DECISION_PARTITION_PARTS);
	record->algorithm = options;
	record->layout = report && report->choice ? report->choice : "";
	record->plan_ms = 1e3 * (row->execution.plan_seconds - (report ? report->tuning : 0));
	record->tuning_ms = report ? 1e3 * report->tuning : 0;
	record->plan_bytes = (double) pmg_plan_bytes(row->execution.plan);
	record_device(record, row->execution.plan);
}

bool life_row_generated(struct life_values *values, const struct life_case *problem, enum life_op op,
			const char *options, life_row_list *rows, struct failure *failure)
{
	struct life_row *row = arena_new(values->arena, struct life_row);
	*row = (struct life_row){ .op = op, .problem = problem, .is_generated = true };
	const char *program = op == LIFE_DSC ? "dsl_examples/life_dsc.pmg" : "dsl_examples/life_wc.pmg";
	const char *path = bench_find_file(values->arena, program, failure);
	row->row.run = run_generated;
	row->row.state = row;
	row->session.arena = values->arena;
	row->session.building = arena_printf(values->arena, "compiling generated %s", options);
	vec_push(values->arena, rows, row);
	bool ok = path && bench_read_options(values->arena, "generated", options, &values->run, &row->session.values,
					     failure);
	row->session.values.pipeline = op == LIFE_DSC ? "life_dsc" : "life_wc";
	ok = ok && session_open(&row->session, path, failure) && bind_case(values, row, failure) &&
		  bench_results(&row->session, &row->results, &row->out, failure) &&
		  library_share(&row->session, &values->libraries, &row->results, &row->execution, failure);
	if (ok && row->session.values.explain)
		bench_explain(&row->session, "generated", options);
	ok = ok && library_plan(&row->execution, failure) && move_vectors(values, row, failure);
	if (ok)
		describe(row, options);
	return ok;
}

void life_generated_free(struct life_row *row)
{
	library_close(&row->execution);
	results_free(&row->session, &row->results);
	session_free(&row->session);
}
