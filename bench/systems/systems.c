/* SPDX-License-Identifier: MIT
 *
 * `pmg bench hines` and `pmg bench tri`: for each shape and number of systems a batch, its rows, a check of every
 * result, and rounds. A size for which there is not the memory is told and left out. */
#include "systems/systems.h"

#include <inttypes.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "families.h"
#include "handtuned/life_cpu.h"

/* Ahead of each run that counts: a few of the smallest batches, one of others. */
static const double WARM_SECONDS = 1e-4;

struct systems_run {
	struct systems_values *values;
	struct effort effort;
	FILE *json;
	bool has_papers;        /* their figures come with the source, not with an installation */
	int n_cases;            /* measured so far */
	record_list present;    /* of cases of an earlier part */
	double start, seconds;  /* when this part began, and how long it may go on; 0: there are no parts */
	bool is_over;
};

/* ---- One case ------------------------------------------------------------------------------ */

/* Seconds of what bounds the case; 0: it is not known. */
static double bound_of(const struct systems_values *values, const struct systems_case *problem,
		       const systems_row_list *rows)
{
	if (values->gpu)
		return 1e3 * systems_case_bytes(problem) / values->copy_rate;
	for (int i = 0; i < rows->n; i++)
		if (rows->items[i]->is_stream)
			return rows->items[i]->row.record.ms_median;
	return 0;
}

static void complete_records(const struct systems_run *run, const struct systems_case *problem,
			     const systems_row_list *rows)
{
	double bound = bound_of(run->values, problem, rows), bytes = systems_case_bytes(problem);
	struct arena *arena = run->values->arena;
	const char *machine = run->values->gpu ? gpu_name(arena) : machine_name(arena);
	for (int i = 0; i < rows->n; i++) {
		struct record *record = &rows->items[i]->row.record;
		record->bench = run->values->is_tri ? "tri" : "hines";
		record->problem = problem->name;
		record->op = problem->op;
		record->precision = problem->batch.is_single ? "f32" : "f64";
		record->machine = machine;
		bool is_copy = rows->items[i]->is_copy;
		record->gbps = 1e-6 * (is_copy ? systems_copy_bytes(rows->items[i]) : bytes) / record->ms_median;
		record->ns_row = 1e6 * record->ms_median / (double) problem->batch.n_rows;
		if (bound <= 0 || is_copy)
			continue;
		record->limit = run->values->gpu ? "copy" : "stream";
		record->of_stream = record->fraction_of_limit = bound / record->ms_median;
	}
}

static bool check_rows(const struct systems_values *values, const systems_row_list *rows, struct failure *failure)
{
	for (int i = 0; i < rows->n; i++)
		if (!systems_check(values, rows->items[i], failure))
			return false;
	return true;
}

static bool fail_baseline(const struct systems_values *values, const row_list *measured, struct failure *failure)
{
	word_list versions = { 0 };
	for (int i = 0; i < measured->n; i++)
		vec_push(values->arena, &versions, measured->items[i]->record.version);
	return baseline_is_unknown(values->arena, values->baseline, &versions, failure);
}

/* The papers' own code, or what theirs is measured against. */
static const char *usual_baseline(const struct systems_values *values)
{
	if (!values->gpu)
		return "sequential";
	return !values->is_tri ? "hines_interleaved" : values->lengths ? "thomas_vbatch_cp" : "thomas_batch";
}

static bool measure_case(struct systems_run *run, struct systems_case *problem, systems_row_list *rows,
			 struct failure *failure)
{
	struct systems_values *values = run->values;
	row_list measured = { 0 };
	if (!systems_rows_add(values, problem, rows, failure) || !check_rows(values, rows, failure))
		return false;
	for (int i = 0; i < rows->n; i++)
		vec_push(values->arena, &measured, &rows->items[i]->row);
	for (int i = 0; i < rows->n; i++)
		rows->items[i]->row.record.op = problem->op;
	if (values->baseline && !find_baseline(&measured, problem->op, values->baseline))
		return fail_baseline(values, &measured, failure);
	if (!measure(values->arena, &measured, &run->effort, failure))
		return false;
	relate(values->arena, &measured, values->baseline ? values->baseline : usual_baseline(values));
	complete_records(run, problem, rows);
	(values->gpu ? systems_gpu_print : systems_print)(problem, &measured, stdout);
	if (!values->gpu)
		disturbance_print(&measured, stdout);
	if (run->json && run->n_cases == 0 && run->seconds == 0 && !records_begin(run->json, values->json, failure))
		return false;
	for (int i = 0; i < measured.n && run->json; i++)
		record_write(&measured.items[i]->record, run->json);
	if (run->json)
		fflush(run->json);
	bool ok = !run->has_papers || values->gpu ||
		  systems_print_papers(values->arena, problem, &measured, stdout, failure);
	putchar('\n');
	fflush(stdout);
	return ok;
}

enum { COPIES_OF_ALL = 11 };             /* where no versions are named */

/* Versions of a case that may have copies of the batch. */
static int n_copies(const struct systems_values *values)
{
	int n = values->generated.n + values->held.n + (values->versions ? 1 : COPIES_OF_ALL);
	for (const char *c = values->versions; c && *c; c++)
		n += *c == ',';
	return n;
}

/* The batch, results, and the copy of it that interleaved rows hold, in bytes. */
static bool has_memory(const struct systems_values *values, int64_t rows)
{
	double present = (double) sysconf(_SC_AVPHYS_PAGES) * (double) sysconf(_SC_PAGE_SIZE);
	double copies = systems_is_on_gpu(values) ? 0 : n_copies(values), element = 8;
	return (7 + 5 * copies) * element * (double) rows < present;
}

/* Has an earlier part measured it? */
static bool is_present(const struct systems_run *run, const char *shape, int64_t n_systems)
{
	const char *op = systems_case_op(run->values), *name = systems_case_name(run->values, shape, n_systems);
	for (int i = 0; i < run->present.n; i++)
		if (strcmp(run->present.items[i].op, op) == 0 && strcmp(run->present.items[i].problem, name) == 0)
			return true;
	return false;
}

static bool is_at_end(struct systems_run *run)
{
	run->is_over = run->is_over ||
		       (run->seconds > 0 && run->n_cases > 0 && clock_seconds(false, 1) - run->start > run->seconds);
	return run->is_over;
}

static bool run_case(struct systems_run *run, const char *shape, int64_t n_systems, struct failure *failure)
{
	struct systems_case problem;
	systems_row_list rows = { 0 };
	struct tree_shape tree;
	if (!systems_shape_parse(run->values, shape, &tree, failure))
		return false;
	if (is_present(run, shape, n_systems) || is_at_end(run))
		return true;
	if (!run->values->gpu && !systems_gpu_open(run->values, failure))
		return false;
	if (!has_memory(run->values, tree.n * n_systems)) {
		fprintf(stderr, "pmg bench: %s, %" PRId64 " system%s left out: there is not the memory\n", shape,
			n_systems, n_systems == 1 ? " is" : "s are");
		return true;
	}
	if (!systems_case_open(run->values, shape, n_systems, &problem, failure))
		return false;
	bool ok = systems_gpu_case(run->values, &problem, failure) && measure_case(run, &problem, &rows, failure);
	run->n_cases++;
	for (int i = 0; i < rows.n; i++)
		systems_row_free(run->values, rows.items[i]);
	if (problem.gpu)
		run->values->gpu->close(problem.gpu);
	systems_case_close(&problem);
	return ok;
}

/* ---- The sweep --------------------------------------------------------------------------------- */

static bool read_systems(const char *word, int64_t *n_systems, struct failure *failure)
{
	return (parse_integer(word, n_systems) && *n_systems >= 1) ||
	       fail(failure, OUTCOME_USAGE, "--systems: '%s' is not a number of systems", word);
}

/* The next of a list: numbers may have commas after them, "levels=256,2x32" is one shape. */
static char *next_shape(char **rest)
{
	char *shape = *rest;
	if (!shape || !*shape)
		return NULL;
	char *end = shape;
	bool has_levels = strncmp(shape, "levels=", 7) == 0;
	while (*end && (*end != ',' || (has_levels && end[1] >= '0' && end[1] <= '9')))
		end++;
	*rest = *end ? end + 1 : end;
	*end = '\0';
	return shape;
}

/* The batches of the papers: short systems are many. */
static const char *systems_of(const struct systems_values *values, const char *shape)
{
	enum { SHORT = 512 };
	int64_t n = 0;
	if (values->systems)
		return values->systems;
	if (!systems_is_on_gpu(values))
		return "2560";
	return values->is_tri && parse_integer(shape, &n) && n > SHORT ? "20,200,2000,20000" : "256,2560,25600,256000";
}

static bool run_shape(struct systems_run *run, const char *shape, struct failure *failure)
{
	char *rest = arena_string(run->values->arena, systems_of(run->values, shape));
	for (char *word = strsep(&rest, ","); word; word = strsep(&rest, ",")) {
		int64_t n_systems;
		if (!read_systems(word, &n_systems, failure) || !run_case(run, shape, n_systems, failure))
			return false;
	}
	return true;
}

static bool run_sweep(struct systems_run *run, struct failure *failure)
{
	const struct systems_values *values = run->values;
	char *rest = arena_string(values->arena, values->is_tri ? values->n : values->trees);
	for (char *shape = next_shape(&rest); shape; shape = next_shape(&rest))
		if (!run_shape(run, shape, failure))
			return false;
	if (run->is_over)
		printf("a part is over; the same command goes on\n");
	return run->n_cases > 0 || run->present.n > 0 ||
	       fail(failure, OUTCOME_RESOURCES, "nothing is measured: there is not the memory");
}

/* ---- The command --------------------------------------------------------------------------------- */

/* An option that is given and means nothing on a GPU; NULL: none. */
static const char *for_processors(const struct systems_values *values)
{
	return values->has_algorithms ? "algorithms" : values->is_shared ? "shared" : values->held.n > 0 ? "held" :
	       values->isa ? "isa" : values->clock ? "clock" : NULL;
}

static bool check_values(const struct systems_values *values, struct failure *failure)
{
	const char *precision = values->precision;
	bool is_on_gpu = systems_is_on_gpu(values);
	if (strcmp(values->run.target, "openmp") != 0 && !is_on_gpu)
		return fail(failure, OUTCOME_USAGE, "--target takes openmp or cuda here, not '%s'", values->run.target);
	const char *wrong = for_processors(values);
	if (is_on_gpu && wrong)
		return fail(failure, OUTCOME_USAGE, "--%s is for processors: not with --target=cuda", wrong);
	if (precision && strcmp(precision, "f32") != 0 && strcmp(precision, "f64") != 0)
		return fail(failure, OUTCOME_USAGE, "--precision: '%s' is neither f32 nor f64", precision);
	if (values->is_shared && (values->is_tri || values->is_many || values->lengths))
		return fail(failure, OUTCOME_USAGE, "--shared is for systems on one tree");
	if (values->n && values->lengths)
		return fail(failure, OUTCOME_USAGE, "--n and --lengths exclude each other");
	return bench_check_isa(values->isa, failure);
}

/* Options of further generated rows, for the processor as all of them. */
static bool check_options(const struct systems_values *values, const char *flag, const word_list *options,
			  struct failure *failure)
{
	struct run_values read;
	for (int i = 0; i < options->n; i++) {
		if (!bench_read_options(values->arena, flag, options->items[i], &values->run, &read, failure))
			return false;
		if (strcmp(read.target, values->run.target) != 0)
			return fail(failure, OUTCOME_USAGE, "--%s: --target takes %s here, not '%s'", flag,
				    values->run.target, read.target);
	}
	return true;
}

/* Before anything is measured: is each item of a list one? */
static bool check_lists(const struct systems_values *values, struct failure *failure)
{
	char *systems = arena_string(values->arena, systems_of(values, ""));
	char *shapes = arena_string(values->arena, values->is_tri ? values->n : values->trees);
	struct tree_shape parsed;
	int64_t n_systems;
	for (char *word = strsep(&systems, ","); word; word = strsep(&systems, ","))
		if (!read_systems(word, &n_systems, failure))
			return false;
	for (char *shape = next_shape(&shapes); shape; shape = next_shape(&shapes))
		if (!systems_shape_parse(values, shape, &parsed, failure))
			return false;
	return check_options(values, "generated", &values->generated, failure) &&
	       check_options(values, "held", &values->held, failure) && systems_versions_check(values, failure);
}

/* Where no lengths of tridiagonal systems are named: several, or the largest of those that are drawn. */
static bool complete_lengths(struct systems_values *values, struct failure *failure)
{
	int64_t low, high;
	if (!values->is_tri || values->n)
		return true;
	if (!system_lengths_parse(values->lengths, &low, &high, failure))
		return false;
	bool is_on_gpu = systems_is_on_gpu(values);
	values->n = high ? arena_printf(values->arena, "%" PRId64, high)
			 : is_on_gpu ? "64,128,256,512,1024,2048,4096,8192" : "64,128,256,512";
	return true;
}

/* On a GPU, single runs are long enough for its clock. */
static bool read_effort(const struct systems_values *values, struct effort *effort, struct failure *failure)
{
	bool is_on_gpu = systems_is_on_gpu(values);
	const char *usual = is_on_gpu ? "0.05" : NULL;
	if (!effort_read(values->min_time ? values->min_time : usual, values->clock, effort, failure))
		return false;
	effort->warm_seconds = is_on_gpu ? 0 : WARM_SECONDS;
	if (is_on_gpu) {
		effort->min_runs = 7;
		effort->max_runs = 100;
	}
	return true;
}

static bool begin_part(struct systems_run *run, struct failure *failure)
{
	const struct systems_values *values = run->values;
	run->start = clock_seconds(false, 1);
	if (!values->part)
		return true;
	if (!parse_real(values->part, &run->seconds) || !(run->seconds > 0))
		return fail(failure, OUTCOME_USAGE, "--part: '%s' is not a number of seconds", values->part);
	if (!values->json)
		return fail(failure, OUTCOME_USAGE, "--part goes on from the records of --json: name a file");
	return access(values->json, F_OK) != 0 || records_read(values->arena, values->json, &run->present, failure);
}

static bool measure_systems(void *any, const word_list *operands, struct arena *arena, struct failure *failure)
{
	struct systems_values *values = any;
	struct systems_run run = { .values = values };
	struct failure absent = { 0 };
	run.has_papers = bench_find_file(arena, "bench/papers/systems.tsv", &absent);
	if (operands->n > 0)
		return fail(failure, OUTCOME_USAGE, "'%s' is not an option", operands->items[0]);
	if (!check_values(values, failure) || !complete_lengths(values, failure) ||
	    !read_effort(values, &run.effort, failure) || !check_lists(values, failure) ||
	    !begin_part(&run, failure) || !records_open(&run.json, values->json, failure))
		return false;
	struct failure of_file = { 0 };
	bool ok = run_sweep(&run, failure);
	bool is_whole = !run.json || records_close(run.json, values->json, ok ? failure : &of_file);
	return ok && is_whole;
}

static struct systems_values default_values(struct arena *arena)
{
	struct systems_values values = { .arena = arena, .seed = 1 };
	values.run = run_values_default();
	values.run.threads = omp_get_max_threads();
	return values;
}

static int run_hines(const struct command *command, struct arena *arena, int argc, char **argv)
{
	struct systems_values values = default_values(arena);
	values.trees = "small-low,small-high,medium-low,medium-high,big-low,big-high";
	return command_do(command, arena, argc, argv, &values, measure_systems);
}

static int run_tri(const struct command *command, struct arena *arena, int argc, char **argv)
{
	struct systems_values values = default_values(arena);
	values.is_tri = true;
	return command_do(command, arena, argc, argv, &values, measure_systems);
}

static int take_option(void *any, char **arguments, int n, struct failure *failure)
{
	struct systems_values *values = any;
	return bench_take_option(&values->run, values->arena, arguments, n, failure);
}

#define TEXT_OPTION(member, option, what, sentence) \
	{ .name = option, .kind = OPTION_TEXT, .offset = offsetof(struct systems_values, member), .operand = what, \
	  .text = sentence }
#define ALGORITHMS_OPTION(sentence) \
	{ .name = "algorithms", .offset = offsetof(struct systems_values, has_algorithms), .text = sentence }
#define COMMON_OPTIONS \
	TEXT_OPTION(systems, "systems", "N,N,…", "how many systems (default: 2560; on a GPU those of the papers)"), \
	TEXT_OPTION(precision, "precision", "f32|f64", "of all numbers (default: f64)"), \
	TEXT_OPTION(versions, "versions", "A,B,…", "stream, generated, written (without the construct), or names of " \
		    "hand-written code (default: all)"), \
	TEXT_OPTION(part, "part", "S", "begin no case after so many seconds; the same command goes on from --json"), \
	{ .name = "generated", .kind = OPTION_LIST, .offset = offsetof(struct systems_values, generated), \
	  .operand = "'OPTIONS'", .text = "one more generated version, with these options; may be repeated" }, \
	{ .name = "held", .kind = OPTION_LIST, .offset = offsetof(struct systems_values, held), \
	  .operand = "'OPTIONS'", .text = "the same from arrays that are held in blocks (generated_held)" }, \
	{ .name = "seed", .kind = OPTION_INTEGER, .offset = offsetof(struct systems_values, seed), .low = 0, \
	  .high = INT32_MAX, .operand = "N", .text = "of all that is drawn (default: 1)" }, \
	TEXT_OPTION(isa, "isa", "v1|v3|v4", "instruction set of hand-written code (default: the best)"), \
	TEXT_OPTION(baseline, "baseline", "VERSION", "what ratios are to (default: sequential)"), \
	TEXT_OPTION(min_time, "min-time", "S", "seconds for each row; at least 6 runs (default: 1; on a GPU 0.05)"), \
	TEXT_OPTION(clock, "clock", "wall|cpu", "cpu: seconds of processors by threads, for machines that are busy"), \
	TEXT_OPTION(json, "json", "FILE", "write the records, a line of JSON each")

static const struct option_row hines_rows[] = {
	TEXT_OPTION(trees, "tree", "SHAPE,…", "small-low … big-high, NODES/BRANCHES, levels=N, levels=256,2x32,…, "
		    "chain (default: the six)"),
	{ .name = "shared", .offset = offsetof(struct systems_values, is_shared),
	  .text = "upper and lower are the same for all systems" },
	{ .name = "many", .offset = offsetof(struct systems_values, is_many),
	  .text = "a tree of this shape for each system" },
	ALGORITHMS_OPTION("generated code by each algorithm, with memory and errors"),
	TEXT_OPTION(lengths, "lengths", "LOW..HIGH", "trees of so many nodes, with the shape's share of branches"),
	COMMON_OPTIONS,
};

static const struct option_row tri_rows[] = {
	TEXT_OPTION(n, "n", "N,N,…", "rows of a system (default: 64,128,256,512, on a GPU to 8192; HIGH with "
		    "--lengths)"),
	TEXT_OPTION(lengths, "lengths", "LOW..HIGH", "systems of so many rows"),
	ALGORITHMS_OPTION("generated code by each algorithm, with operations, memory and errors"),
	COMMON_OPTIONS,
};

#define DETAILS \
	"Options of 'pmg run' for the compiler and the plan (--threads, --cc, --interleave=…) are taken too; they " \
	"hold for\nall generated versions.\n"

const struct command bench_hines_command = {
	.name = "bench hines",
	.operands = "",
	.sentence = "measure generated and hand-written code for Hines systems, in one run",
	.details = DETAILS,
	.options = hines_rows,
	.n_options = sizeof(hines_rows) / sizeof(hines_rows[0]),
	.more = take_option,
	.run = run_hines,
};

const struct command bench_tri_command = {
	.name = "bench tri",
	.operands = "",
	.sentence = "measure generated and hand-written code for tridiagonal systems, in one run",
	.details = DETAILS,
	.options = tri_rows,
	.n_options = sizeof(tri_rows) / sizeof(tri_rows[0]),
	.more = take_option,
	.run = run_tri,
};
