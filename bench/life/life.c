/* SPDX-License-Identifier: MIT
 *
 * `pmg bench life`: makes or reads a problem, makes the rows, checks every result, measures the ceilings and the rows
 * in one run, and writes table and records. */
#include "life/life.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"

/* ---- One run ------------------------------------------------------------------------------ */

struct life_run {
	struct life_values *values;
	FILE *json;             /* NULL: no records are asked for */
	const char *baseline_asked;     /* NULL: it is the usual one */
	struct life_case problem;
	struct life_reference reference;
	struct life_work work;
	struct life_cpu *cpu;
	struct ceilings ceilings;
	struct effort effort;
	life_row_list rows;
	row_list measured;
};

static bool check_rows(struct life_run *run, struct failure *failure)
{
	for (int i = 0; i < run->rows.n; i++)
		if (!life_check_row(&run->reference, run->rows.items[i], failure))
			return false;
	life_check_adjoint(&run->rows);
	return true;
}

/* Two ops in turn, each with its rows in the order in which they were asked for. */
static void list_measured(struct life_run *run)
{
	for (int op = 0; op < LIFE_OPS; op++)
		for (int i = 0; i < run->rows.n; i++)
			if (run->rows.items[i]->op == (enum life_op) op)
				vec_push(run->values->arena, &run->measured, &run->rows.items[i]->row);
}

static bool is_fit(const struct life_values *values)
{
	return values->op && strcmp(values->op, "fit") == 0;
}

static void print_problem(const struct life_run *run)
{
	const struct life_tensor *t = &run->problem.tensor;
	printf("%s, weights %s\n%lld coefficients, %lld pairs (%.2f each), %lld of them active, %lld voxels, %lld "
	       "fibers, %lld atoms, %lld directions\n\n",
	       run->problem.name, is_fit(run->values) && !life_is_sparse(&run->problem) ? "from 0"
	       : run->problem.weights, (long long) t->n_coeffs, (long long) run->work.n_pairs,
	       (double) t->n_coeffs / (double) run->work.n_pairs, (long long) run->work.n_active,
	       (long long) t->n_voxels, (long long) t->n_fibers, (long long) t->n_atoms, (long long) t->n_theta);
}

static bool write_records(struct life_run *run, const record_list *records, struct failure *failure)
{
	FILE *file = run->json;
	if (!file)
		return true;
	bool ok = records_begin(file, run->values->json, failure);
	for (int i = 0; ok && i < records->n; i++)
		record_write(&records->items[i], file);
	run->json = NULL;
	return records_close(file, run->values->json, failure) && ok;
}

/* Which the user named: of one product at least. */
static bool check_is_measured(const struct life_run *run, const char *baseline, struct failure *failure)
{
	word_list versions = { 0 };
	for (int i = 0; i < run->rows.n; i++) {
		const char *version = run->rows.items[i]->row.record.version;
		if (strcmp(version, baseline) == 0)
			return true;
		vec_push(run->values->arena, &versions, version);
	}
	return baseline_is_unknown(run->values->arena, baseline, &versions, failure);
}

static bool make_rows(struct life_run *run, struct failure *failure)
{
	struct life_values *values = run->values;
	run->cpu = life_cpu_new(&run->problem.tensor);
	if (!run->cpu)
		return fail_memory(failure, "the hand-written code");
	return life_rows_add(values, &run->problem, run->cpu, &run->rows, failure) &&
	       (!values->grid || life_grid_add(values, &run->problem, run->cpu, &run->rows, failure)) &&
	       (!values->scaling || life_scaling_add(values, &run->problem, run->cpu, &run->rows, failure)) &&
	       (run->rows.n > 0 || fail(failure, OUTCOME_USAGE, "there is nothing to measure")) &&
	       (!run->baseline_asked || check_is_measured(run, run->baseline_asked, failure));
}

static bool measure_rows(struct life_run *run, struct failure *failure)
{
	int threads = (int) run->values->run.threads;
	bool is_on_gpu = life_is_on_gpu(run->values);
	const char *machine = is_on_gpu ? gpu_name(run->values->arena) : machine_name(run->values->arena);
	list_measured(run);
	if ((!is_on_gpu && !ceilings_measure(&run->ceilings, threads, &run->effort, failure)) ||
	    !measure(run->values->arena, &run->measured, &run->effort, failure) ||
	    (!is_on_gpu && !ceilings_measure(&run->ceilings, threads, &run->effort, failure)))
		return false;
	relate(run->values->arena, &run->measured, run->values->baseline);
	for (int i = 0; i < run->measured.n; i++) {
		life_work_rate(&run->work, is_on_gpu ? NULL : &run->ceilings, &run->measured.items[i]->record);
		run->measured.items[i]->record.machine = machine;
	}
	return true;
}

static bool measure_solvers(struct life_run *run, record_list *records, struct failure *failure)
{
	if (life_is_on_gpu(run->values))
		return life_fit(run->values, &run->problem, records, failure);
	return life_solvers(run->values, &run->problem, run->effort.counts_processors, records, failure);
}

static bool run_fit(struct life_run *run, struct failure *failure)
{
	record_list records = { 0 };
	return effort_read(run->values->min_time, run->values->clock, &run->effort, failure) &&
	       life_case_open(run->values, &run->problem, failure) &&
	       life_work_count(&run->problem, &run->work, failure) && (print_problem(run), true) &&
	       measure_solvers(run, &records, failure) && write_records(run, &records, failure);
}

static bool report(struct life_run *run, struct failure *failure)
{
	record_list records = { 0 };
	if (!life_is_on_gpu(run->values)) {
		ceilings_print(&run->ceilings, (int) run->values->run.threads, stdout);
		putchar('\n');
	}
	table_print(&run->measured, stdout);
	disturbance_print(&run->measured, stdout);
	if ((run->values->grid || run->values->scaling) &&
	    !life_grid_print(run->values, &run->rows, stdout, failure))
		return false;
	for (int i = 0; i < run->measured.n; i++)
		vec_push(run->values->arena, &records, run->measured.items[i]->record);
	return write_records(run, &records, failure);
}

static bool run_life(struct life_run *run, struct failure *failure)
{
	if (is_fit(run->values))
		return run_fit(run, failure);
	if (!effort_read(run->values->min_time, run->values->clock, &run->effort, failure) ||
	    !life_gpu_open(run->values, failure) || !life_case_open(run->values, &run->problem, failure) ||
	    !life_work_count(&run->problem, &run->work, failure))
		return false;
	print_problem(run);
	fflush(stdout);
	if (!life_reference_make(&run->problem, &run->reference, failure) || !make_rows(run, failure) ||
	    !check_rows(run, failure))
		return false;
	if (run->values->checks_only) {
		printf("checked: %d rows are right\n", run->rows.n);
		return true;
	}
	return measure_rows(run, failure) && report(run, failure);
}

static void free_run(struct life_run *run)
{
	for (int i = 0; i < run->rows.n; i++)
		life_row_free(run->rows.items[i]);
	life_cpu_free(run->cpu);
	life_reference_free(&run->reference);
	life_case_close(&run->problem);
	if (run->json)
		fclose(run->json);
}

/* ---- The command -------------------------------------------------------------------------------- */

#define TEXT_OPTION(member, option, what, sentence) \
	{ .name = option, .kind = OPTION_TEXT, .offset = offsetof(struct life_values, member), .operand = what, \
	  .text = sentence }

static const struct option_row rows[] = {
	TEXT_OPTION(scale, "scale", "X", "size of the phantom; 1 is DS1, 25 million coefficients (default: 0.07)"),
	{ .name = "ntheta", .kind = OPTION_INTEGER, .offset = offsetof(struct life_values, ntheta), .low = 1,
	  .high = 10000, .operand = "N", .text = "directions of the phantom (default: 96)" },
	{ .name = "grid-of-angles", .kind = OPTION_INTEGER, .offset = offsetof(struct life_values, grid_of_angles),
	  .low = 2, .high = 1000, .operand = "L", .text = "(L-1)*L+1 atoms (default: 72)" },
	TEXT_OPTION(jitter, "jitter", "DEG", "noise of the streamlines: 3, 8, 14 give 2.7, 1.5, 1.2 coefficients a "
		    "pair (default: 8)"),
	{ .name = "seed", .kind = OPTION_INTEGER, .offset = offsetof(struct life_values, seed), .low = 0,
	  .high = INT32_MAX, .operand = "N", .text = "another seed is another brain (default: 1)" },
	TEXT_OPTION(problem, "problem", "FILE.h5", "a problem as pmg phantom writes it, instead of a phantom"),
	TEXT_OPTION(weights, "weights", "dense|sparse=SHARE",
		    "share of the weights that are not zero (default: all; a fit begins with none)"),
	TEXT_OPTION(op, "op", "dsc|wc|fit", "one product only, or the whole solver (default: both products)"),
	{ .name = "iterations", .kind = OPTION_INTEGER, .offset = offsetof(struct life_values, iterations), .low = 4,
	  .high = 1000000, .operand = "N", .text = "of --op=fit (default: 500)" },
	TEXT_OPTION(versions, "versions", "A,B,…", "generated, or names of hand-written code, NAME@PARTITION+ORDER "
		    "for another cell of the grid (default: all)"),
	{ .name = "generated", .kind = OPTION_LIST, .offset = offsetof(struct life_values, generated),
	  .operand = "'OPTIONS'", .text = "one more generated version, with these options; may be repeated; "
					  "dsc:'…' or wc:'…' of one product" },
	TEXT_OPTION(isa, "isa", "v1|v3|v4", "instruction set of hand-written code (default: the best)"),
	TEXT_OPTION(baseline, "baseline", "VERSION", "what ratios are to (default: cpu_naive, gpu_opt_cut, cpu_opt)"),
	TEXT_OPTION(min_time, "min-time", "S", "seconds for each row; at least 6 runs (default: 1)"),
	TEXT_OPTION(clock, "clock", "wall|cpu", "cpu: seconds of processors by threads, for machines that are busy"),
	TEXT_OPTION(json, "json", "FILE", "write the records, a line of JSON each"),
	{ .name = "grid", .offset = offsetof(struct life_values, grid),
	  .text = "all cells of the thesis' tables 6.2 to 6.4, and those of generated code" },
	{ .name = "scaling", .offset = offsetof(struct life_values, scaling),
	  .text = "1, 2, 4, … threads, as in table 6.5" },
	{ .name = "check", .offset = offsetof(struct life_values, checks_only),
	  .text = "run and check each row once, measure nothing" },
	TEXT_OPTION(cache, "cache", "FOLDER", "where phantoms are kept (default: $XDG_CACHE_HOME/pmg)"),
};

static bool check_baseline(const struct life_values *values, const char *name, struct failure *failure)
{
	if (strcmp(name, "generated") == 0)
		return true;
	if (life_is_on_gpu(values))
		return life_gpu_has_version(name, failure);
	return life_version_named(name, strlen(name)) || life_version_unknown(name, failure);
}

static bool check_versions(const struct life_values *values, struct failure *failure)
{
	if (is_fit(values) && life_is_on_gpu(values) && values->versions && strcmp(values->versions, "generated") != 0)
		return fail(failure, OUTCOME_USAGE, "--op=fit with --target=cuda has one version, generated");
	return !values->baseline || check_baseline(values, values->baseline, failure);
}

static bool check_values(const struct life_values *values, struct failure *failure)
{
	if (!life_is_on_gpu(values) && strcmp(values->run.target, "openmp") != 0)
		return fail(failure, OUTCOME_USAGE, "--target takes openmp or cuda, not '%s'", values->run.target);
	if (life_is_on_gpu(values) && (values->grid || values->scaling || values->clock))
		return fail(failure, OUTCOME_USAGE, "--grid, --scaling and --clock are for --target=openmp");
	if (values->op && !is_fit(values) && strcmp(values->op, "dsc") != 0 && strcmp(values->op, "wc") != 0)
		return fail(failure, OUTCOME_USAGE, "--op: \x27%s\x27 is none of dsc, wc and fit", values->op);
	if (is_fit(values) && (values->grid || values->scaling || values->checks_only || values->generated.n))
		return fail(failure, OUTCOME_USAGE, "--op=fit takes no --grid, --scaling, --check or --generated");
	if (is_fit(values) && values->weights && !life_is_on_gpu(values))
		return fail(failure, OUTCOME_USAGE, "--op=fit takes --weights with --target=cuda only");
	if (values->checks_only && (values->json || values->grid || values->scaling))
		return fail(failure, OUTCOME_USAGE, "--check takes no --json, --grid or --scaling");
	return life_options_check(values, failure) && bench_check_isa(values->isa, failure);
}

static bool measure_life(void *values, const word_list *operands, struct arena *arena, struct failure *failure)
{
	struct life_values *v = values;
	struct life_run run = { .values = v };
	(void) arena;
	if (operands->n > 0)
		return fail(failure, OUTCOME_USAGE, "'%s' is not an option", operands->items[0]);
	bool ok = check_values(v, failure) && check_versions(v, failure);
	run.baseline_asked = v->baseline;
	if (!v->baseline)
		v->baseline = life_is_on_gpu(v) ? "gpu_opt_cut" : is_fit(v) ? "cpu_opt" : "cpu_naive";
	ok = ok && records_open(&run.json, v->json, failure) && run_life(&run, failure);
	free_run(&run);
	return ok;
}

static int run_command_life(const struct command *command, struct arena *arena, int argc, char **argv)
{
	struct life_values values = { .arena = arena, .ntheta = 96, .seed = 1, .grid_of_angles = 72,
				      .iterations = 500 };
	values.run = run_values_default();
	values.run.threads = omp_get_max_threads();
	return command_do(command, arena, argc, argv, &values, measure_life);
}

const struct command bench_life_command = {
	.name = "bench life",
	.operands = "",
	.sentence = "measure generated and hand-written code for LiFE, its products or the whole solver, in one run",
	.details = "Options of 'pmg run' for the compiler and the plan (--threads, --cc, --vector=…) are taken too; "
		   "they hold for all\ngenerated versions.\n",
	.options = rows,
	.n_options = sizeof(rows) / sizeof(rows[0]),
	.more = life_take_option,
	.run = run_command_life,
};
