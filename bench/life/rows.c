/* SPDX-License-Identifier: MIT
 *
 * The rows that are measured: NAME or NAME@PARTITION+ORDER of hand-written code, and `generated`. */
#include "life/life.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "handtuned/life_layout.h"

const char *life_op_name(enum life_op op)
{
	return op == LIFE_DSC ? "dsc" : "wc";
}

bool life_op_wanted(const struct life_values *values, enum life_op op)
{
	return !values->op || strcmp(values->op, life_op_name(op)) == 0;
}

/* ---- Hand-written code ---------------------------------------------------------------------- */

static bool run_call(void *state, double *seconds, struct failure *failure)
{
	struct life_row *row = state;
	const double *in = row->op == LIFE_DSC ? row->problem->w.data : row->problem->Y.data;
	(void) failure;
	double start = life_now();
	life_call_run(&row->call, in, row->out);
	*seconds = life_now() - start;
	return true;
}

static void describe_call(struct life_row *row, const struct life_case *problem)
{
	struct record *record = &row->row.record;
	const struct life_call *call = &row->call;
	bool is_sequential = call->version->code == LIFE_NAIVE || call->version->code == LIFE_NAIVE_BLAS;
	*record = record_new();
	record->bench = "life";
	record->problem = problem->name;
	record->weights = problem->weights;
	record->op = life_op_name(row->op);
	record->version = call->version->name;
	record->target = "openmp";
	record->threads = is_sequential ? 1 : call->threads;
	record->precision = call->version->code == LIFE_BEST_F32 ? "f32" : "f64";
	record->layout = life_cpu_isa(0);
	record->restructure = life_order_name(call->order);
	record->partition = life_partition_name(call->partition);
	record->plan_ms = 1e3 * call->seconds;
	record->plan_bytes = (double) call->bytes;
}

bool life_row_hand(struct life_values *values, const struct life_case *problem, struct life_cpu *cpu,
		   const struct life_call *call, life_row_list *rows, struct failure *failure)
{
	char error[200] = "";
	struct life_row *row = arena_new(values->arena, struct life_row);
	*row = (struct life_row){ .op = call->op, .problem = problem, .call = *call };
	row->row.run = run_call;
	row->row.state = row;
	if (!life_call_prepare(cpu, &row->call, values->isa, error, sizeof(error))) {
		fprintf(stderr, "pmg bench: %s of %s is left out: %s\n", life_op_name(call->op), call->version->name,
			error);
		life_call_release(&row->call);
		return true;
	}
	row->out = life_memory(life_out_count(problem, row->op), sizeof(double));
	describe_call(row, problem);
	if (values->isa)
		row->row.record.layout = values->isa;
	vec_push(values->arena, rows, row);
	return row->out || fail_memory(failure, "results");
}

void life_row_free(struct life_row *row)
{
	life_gpu_free(row);
	if (row->is_generated) {
		life_generated_free(row);
		return;
	}
	life_call_release(&row->call);
	free(row->out);
}

/* ---- Names --------------------------------------------------------------------------------------- */

static int find_name(const char *(*name_of)(int), int n, const char *text, size_t length)
{
	for (int i = 0; i < n; i++)
		if (strncmp(name_of(i), text, length) == 0 && (!name_of(i)[length] || name_of(i)[length] == '('))
			return i;
	return -1;
}

static const char *order_name(int i)
{
	return life_order_name((enum life_order) i);
}

static const char *partition_name(int i)
{
	return life_partition_name((enum life_partition) i);
}

/* PARTITION+ORDER */
static bool read_cell(const char *text, struct life_call *call, struct failure *failure)
{
	const char *plus = strchr(text, '+');
	int partition = plus ? find_name(partition_name, LIFE_PARTITIONS, text, (size_t) (plus - text)) : -1;
	int order = plus ? find_name(order_name, LIFE_ORDERS, plus + 1, strlen(plus + 1)) : -1;
	if (partition < 0 || order < 0)
		return fail(failure, OUTCOME_USAGE, "'%s' is not PARTITION+ORDER: one of coeff, coeff_exclusive, voxel "
			    "and atom, '+', and one of none, atom, voxel and hybrid", text);
	call->partition = (enum life_partition) partition;
	call->order = (enum life_order) order;
	return true;
}

bool life_version_unknown(const char *name, struct failure *failure)
{
	const char *names[32] = { "generated" };
	int n = 1;
	for (int i = 0; i < n_life_versions && n < 32; i++)
		names[n++] = life_versions[i].name;
	return version_is_unknown(name, "", names, n, failure);
}

bool life_row_named(struct life_values *values, const struct life_case *problem, struct life_cpu *cpu,
		    const char *name, enum life_op op, int64_t threads, life_row_list *rows, struct failure *failure)
{
	size_t length = strcspn(name, "@");
	const struct life_version *version = life_version_named(name, length);
	if (!version)
		return life_version_unknown(name, failure);
	struct life_call call = { .version = version, .op = op, .order = version->order[op],
				  .partition = version->partition[op], .threads = (int) threads };
	if (name[length] && !read_cell(name + length + 1, &call, failure))
		return false;
	return life_row_hand(values, problem, cpu, &call, rows, failure);
}

/* ---- Lists ------------------------------------------------------------------------------------------ */

static const char *all_versions(struct life_values *values)
{
	struct str text = str_new(values->arena);
	str_add(&text, "generated");
	for (int i = 0; life_is_on_gpu(values) && life_gpu_version(i); i++)
		str_add(&text, ",%s", life_gpu_version(i));
	for (int i = 0; !life_is_on_gpu(values) && i < n_life_versions; i++)
		str_add(&text, ",%s", life_versions[i].name);
	return str_text(&text);
}

static bool add_version(struct life_values *values, const struct life_case *problem, struct life_cpu *cpu,
			const char *name, life_row_list *rows, struct failure *failure)
{
	for (int op = 0; op < LIFE_OPS; op++) {
		if (!life_op_wanted(values, (enum life_op) op))
			continue;
		bool ok = strcmp(name, "generated") == 0
				  ? life_row_generated(values, problem, (enum life_op) op, "", rows, failure)
			  : life_is_on_gpu(values)
				  ? life_row_gpu(values, problem, name, (enum life_op) op, rows, failure)
				  : life_row_named(values, problem, cpu, name, (enum life_op) op,
						   values->run.threads, rows, failure);
		if (!ok)
			return false;
	}
	return true;
}

/* Of 'OPTIONS', or 'OP:OPTIONS' for one product; NULL: not for this one. */
static const char *options_for(const char *text, enum life_op op)
{
	for (int named = 0; named < LIFE_OPS; named++) {
		size_t n = strlen(life_op_name((enum life_op) named));

		if (strncmp(text, life_op_name((enum life_op) named), n) == 0 && text[n] == ':')
			return named == (int) op ? text + n + 1 : NULL;
	}
	return text;
}

static bool check_options(const struct life_values *values, const char *text, struct failure *failure)
{
	const char *options = NULL;
	struct run_values read;

	for (int op = 0; op < LIFE_OPS && !options; op++)
		options = options_for(text, (enum life_op) op);
	if (options && !*options)
		return fail(failure, OUTCOME_USAGE, "--generated: there are no options behind '%s'", text);
	return !options || bench_read_options(values->arena, "generated", options, &values->run, &read, failure);
}

bool life_options_check(const struct life_values *values, struct failure *failure)
{
	for (int i = 0; i < values->generated.n; i++)
		if (!check_options(values, values->generated.items[i], failure))
			return false;
	return true;
}

bool life_rows_add(struct life_values *values, const struct life_case *problem, struct life_cpu *cpu,
		   life_row_list *rows, struct failure *failure)
{
	char *rest = arena_string(values->arena, values->versions ? values->versions : all_versions(values));
	for (char *name = strsep(&rest, ","); name; name = strsep(&rest, ","))
		if (*name && !add_version(values, problem, cpu, name, rows, failure))
			return false;
	for (int i = 0; i < values->generated.n; i++)
		for (int op = 0; op < LIFE_OPS; op++) {
			const char *options = options_for(values->generated.items[i], (enum life_op) op);

			if (options && life_op_wanted(values, (enum life_op) op) &&
			    !life_row_generated(values, problem, (enum life_op) op, options, rows, failure))
				return false;
		}
	return true;
}
