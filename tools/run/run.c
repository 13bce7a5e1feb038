/* SPDX-License-Identifier: MIT
 *
 * `pmg run`: compiles a pipeline in this process, binds what the user gives, runs it, tells and saves what
 * comes out. Everything is bound and checked before the C compiler is started. */
#include "run/run.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "driver/options.h"
#include "hines/tree_file.h"

/* ---- The program ------------------------------------------------------------------------ */

static void list_pipelines(const struct session *s, struct failure *failure, const char *before)
{
	struct str names = str_new(s->arena);
	for (int i = 0; i < s->c->modules.n; i++)
		str_add(&names, "%s%s", i ? ", " : "", s->c->modules.items[i]->name);
	fail_help(failure, "%s %s", before, str_text(&names));
}

static bool no_such_pipeline(struct session *s, struct failure *failure)
{
	word_list names = { 0 };
	for (int i = 0; i < s->c->modules.n; i++)
		vec_push(s->arena, &names, s->c->modules.items[i]->name);
	if (names.n == 0)
		return fail(failure, OUTCOME_PROGRAM, "the program has no pipeline");
	const char *near = suggest_nearest(s->values.pipeline, names.items, names.n);
	fail(failure, OUTCOME_USAGE, "there is no pipeline '%s'", s->values.pipeline);
	if (near)
		fail_help(failure, "did you mean '%s'?", near);
	else
		list_pipelines(s, failure, "the program has");
	return false;
}

static bool ambiguous(struct session *s, struct failure *failure)
{
	fail(failure, OUTCOME_USAGE, "the program has %d pipelines; say which one to run", s->c->modules.n);
	list_pipelines(s, failure, "--pipeline takes one of");
	return false;
}

/* Only the pipeline that runs goes through the passes. */
static void drop_others(struct session *s)
{
	for (int i = 0; i < s->c->modules.n; i++)
		if (s->c->modules.items[i] != s->module)
			module_free(s->c->modules.items[i]);
	s->c->modules.items[0] = s->module;
	s->c->modules.n = 1;
}

bool session_device_flags_fit(const struct session *s, struct failure *failure)
{
	const struct run_values *values = &s->values;
	const char *flag = values->nvcc ? "--nvcc" : values->arch ? "--arch" : values->check_every ? "--check-every" :
			   NULL;
	if (flag && !compilation_device_ending(s->c))
		return fail(failure, OUTCOME_USAGE, "%s is of --target=cuda, which is not given", flag);
	return true;
}

/* What the interpreter, which runs the program as written, does nothing with. */
static const char *idle_of_interpreter(const struct run_values *values)
{
	const struct run_values usual = run_values_default();
	const struct {
		const char *flag;
		bool is_given;
	} flags[] = {
		{ "--target", strcmp(values->target, usual.target) != 0 },
		{ "--nvcc", values->nvcc },
		{ "--arch", values->arch },
		{ "--check-every", values->check_every != usual.check_every },
		{ "--cc", values->cc },
		{ "--keep", values->keep },
		{ "--tune", values->tune },
		{ "--wisdom", values->wisdom },
		{ "--candidate", values->candidate },
		{ "--threads", values->threads != usual.threads },
		{ "--repeat", values->repeat > 1 },
		{ "--explain", values->explain },
		{ "--compare", values->compare },
		{ values->given_for_passes, values->given_for_passes },
	};
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (flags[i].is_given)
			return flags[i].flag;
	return NULL;
}

static bool interpreter_flags_fit(const struct run_values *values, struct failure *failure)
{
	const char *flag = values->interp ? idle_of_interpreter(values) : NULL;
	if (flag)
		return fail(failure, OUTCOME_USAGE, "%s excludes --interp: the interpreter compiles nothing, and runs "
			    "once, in one thread", flag);
	return true;
}

/* Flags about the loop of a pipeline. */
static bool loop_flags_fit(struct session *s, struct failure *failure)
{
	const struct run_values *values = &s->values;
	const char *flag = values->iterations >= 0 ? "--iterations" : values->state ? "--state" :
			   values->resume ? "--resume" : NULL;
	if (flag && !s->module->loop.var)
		return fail(failure, OUTCOME_USAGE, "%s: pipeline '%s' has no `iterate`", flag, s->module->name);
	if (values->resume && (values->interp || values->compare || values->repeat > 1))
		return fail(failure, OUTCOME_USAGE, "--resume excludes --interp, --compare and --repeat");
	if (values->turns && (values->interp || values->compare || values->resume || values->state ||
			      values->repeat > 1))
		return fail(failure, OUTCOME_USAGE,
			    "--turns excludes --interp, --compare, --resume, --state and --repeat");
	if (values->state && values->interp)
		return fail(failure, OUTCOME_USAGE, "--state excludes --interp");
	return true;
}

bool session_open(struct session *s, const char *path, struct failure *failure)
{
	if (!interpreter_flags_fit(&s->values, failure) || !environment_is_known(failure) || !tune_open(s, failure) ||
	    (!s->text && !file_is_readable(path, failure)))
		return false;
	s->c = compilation_new();
	if (!s->c)
		return fail_memory(failure, "the compiler");
	if (!compilation_choose_target(s->c, s->values.target))
		return fail(failure, OUTCOME_USAGE, "there is no target '%s'; there are %s", s->values.target,
			    compilation_targets());
	s->c->messages = s->messages;
	s->c->only = s->values.pipeline;
	s->c->read_tree = tree_file_read;
	s->c->options = s->values.passes;
	s->c->options.with = s->values.with;
	if (s->values.specialize && strcmp(s->values.specialize, "off") != 0)
		s->c->options.specialize = s->values.specialize;
	if (!(s->text ? compilation_read_text(s->c, path, s->text) : compilation_read(s->c, path)))
		return fail_program(failure, s->c, path);
	if (!s->values.pipeline && s->c->modules.n > 1)
		return ambiguous(s, failure);
	s->module = compilation_module(s->c, s->values.pipeline);
	if (!s->module)
		return no_such_pipeline(s, failure);
	if (!loop_flags_fit(s, failure))
		return false;
	drop_others(s);
	session_list_arguments(s);
	return true;
}

/* ---- Data ---------------------------------------------------------------------------------- */

bool session_bind(struct session *s, const word_list *words, int first, struct failure *failure)
{
	for (int i = 0; i < s->values.outputs.n; i++)
		if (!bind_output(s, s->values.outputs.items[i], failure))
			return false;
	for (int i = first; i < words->n; i++)
		if (!bind_word(s, words->items[i], failure))
			return false;
	return outputs_place(s, failure) && bind_is_complete(s, failure) && sizes_infer(s, failure) &&
	       session_fits(s, failure) && fill_arguments(s, failure);
}

/* ---- Running ---------------------------------------------------------------------------------- */

static bool run_library(struct session *s, struct results *results, struct timing *timing,
			struct failure *failure)
{
	struct execution e;
	bool ok = cache_load(s, results, &e, failure);
	if (ok && s->values.turns)
		ok = turns_run(&e, failure);
	else
		ok = ok && library_plan(&e, failure) && library_time(&e, timing, failure);
	library_close(&e);
	return ok;
}

/* By arguments: compilation drops arrays, and numbers the others anew. */
static struct interp_weight **by_argument(struct session *s, struct interp_weight **weights)
{
	struct interp_weight **values = arena_new_array(s->arena, struct interp_weight *, s->arguments.n + 1);

	for (int i = 0; i < s->arguments.n; i++)
		values[i] = weights[s->arguments.items[i].array->number];
	return values;
}

/* False where one of both cannot run; what comparing finds goes to `verdict`. */
static bool run_both(struct session *s, struct results *results, struct timing *timing, struct failure *verdict,
		     struct failure *failure)
{
	struct results reference = { 0 };
	struct interp_weight **weights = arena_new_array(s->arena, struct interp_weight *, s->module->arrays.n + 1);
	bool ok = results_new(s, &reference, failure) && interpreter_run(s, &reference, weights, timing, failure);

	weights = by_argument(s, weights);
	ok = ok && run_library(s, results, timing, failure);
	if (ok)
		results_compare(s, results, &reference, weights, verdict);
	results_free(s, &reference);
	return ok;
}

/* Outputs are saved and told whatever a comparison has found. */
static bool run_pipeline(struct session *s, struct results *results, struct failure *failure)
{
	struct timing timing = { 0 };
	struct failure verdict = { 0 };
	bool ok;
	if (s->values.compare)
		ok = run_both(s, results, &timing, &verdict, failure);
	else if (s->values.interp)
		ok = interpreter_run(s, results, NULL, &timing, failure);
	else
		ok = run_library(s, results, &timing, failure);
	if (!ok)
		return false;
	if (s->values.time && !s->values.turns)
		timing_print(&timing);
	if (s->values.time)
		cache_print(s);
	if ((s->values.time || s->values.explain) && !s->values.interp)
		kernel_print(s);
	if (!results_save(s, results, failure))
		return false;
	results_print(s, results);
	*failure = verdict;
	return verdict.outcome == OUTCOME_OK;
}

/* NAME=VALUE where the program should be. */
static bool is_value(const char *operand)
{
	return strchr(operand, '=') && access(operand, F_OK) != 0;
}

static bool run(struct session *s, const word_list *operands, struct failure *failure)
{
	struct results results = { 0 };
	if (!messages_open(s, failure) || !take_memory(s->values.max_memory, &s->max_memory, failure))
		return false;
	if (operands->n == 0 || is_value(operands->items[0]))
		return fail(failure, OUTCOME_USAGE, "a program is needed: FILE.pmg");
	bool ok = session_open(s, operands->items[0], failure) && session_device_flags_fit(s, failure) &&
		  session_bind(s, operands, 1, failure) &&
		  results_new(s, &results, failure) && outputs_fit(s, &results, failure) &&
		  run_pipeline(s, &results, failure);
	results_free(s, &results);
	return ok;
}

void session_free(struct session *s)
{
	for (int i = 0; i < s->arguments.n; i++)
		if (!s->arguments.items[i].is_borrowed)
			ndarray_free(&s->arguments.items[i].value);
	compilation_free(s->c);
}

/* ---- The command ------------------------------------------------------------------------------- */

struct run_values run_values_default(void)
{
	struct run_values values = {
		.repeat = 1, .iterations = -1, .target = "openmp", .message_format = "human"
	};
	struct options options = options_default();
	char problem[8];
	options_for_passes(&options, &values.passes, problem, sizeof(problem));
	values.passes.candidates = 0;
	return values;
}

/* Those that the interpreter heeds, too. */
static bool is_for_all(const char *flag)
{
	return strncmp(flag, "--max-operations=", 17) == 0 || strncmp(flag, "--overrides=", 12) == 0;
}

/* Flags that pmgc has for its passes; a wrong value is told in its words. */
static int take_pass_flag(void *values, char **arguments, int n, struct failure *failure)
{
	struct run_values *run_values = values;
	struct options options = options_default();
	struct pass_options asked = run_values->passes;
	const bool has_value = strchr(arguments[0], '=');
	char problem[256], *words[] = { "pmgc", arguments[0] };
	const bool is_read = has_value && options_read(&options, 2, words, problem, sizeof(problem));
	if (is_read && options_pass_flag(&run_values->passes, arguments[0])) {
		if (!is_for_all(arguments[0]))
			run_values->given_for_passes = arguments[0];
		return 1;
	}
	if (is_read ? !options_for_passes(&options, &asked, problem, sizeof(problem)) :
		      has_value && options_takes_number(arguments[0])) {
		fail(failure, OUTCOME_USAGE, "%s", problem);
		return -1;
	}
	snprintf(problem, sizeof(problem), "%s=%s", arguments[0], n > 1 ? arguments[1] : "");
	if (has_value || n < 2 || !options_pass_flag(&asked, problem))
		return 0;
	fail(failure, OUTCOME_USAGE, "%s takes its value after '='", arguments[0]);
	fail_help(failure, "write %s", problem);
	return -1;
}

static const struct option_row rows[] = {
	{ .name = "pipeline",
	  .kind = OPTION_TEXT,
	  .offset = offsetof(struct run_values, pipeline),
	  .operand = "NAME",
	  .text = "the pipeline to run, where the program has several" },
	{ .name = "output",
	  .letter = 'o',
	  .kind = OPTION_LIST,
	  .offset = offsetof(struct run_values, outputs),
	  .operand = "NAME=FILE",
	  .text = "save an output; those not named are only summarised" },
	{ .name = "force",
	  .offset = offsetof(struct run_values, force),
	  .text = "outputs may replace a group of an HDF5 file by a dataset" },
	{ .name = "interp",
	  .offset = offsetof(struct run_values, interp),
	  .text = "run the program as written in the reference interpreter" },
	{ .name = "compare",
	  .offset = offsetof(struct run_values, compare),
	  .text = "run both and compare; exit status 6 if rounding does not explain a difference" },
	{ .name = "time",
	  .offset = offsetof(struct run_values, time),
	  .text = "print the times of plan and execution" },
	{ .name = "repeat",
	  .kind = OPTION_INTEGER,
	  .offset = offsetof(struct run_values, repeat),
	  .low = 1,
	  .high = 1000000,
	  .operand = "N",
	  .text = "execute N times" },
	{ .name = "threads",
	  .kind = OPTION_INTEGER,
	  .offset = offsetof(struct run_values, threads),
	  .low = 1,
	  .high = PMG_MAX_THREADS,
	  .operand = "N",
	  .text = "threads (default: as OpenMP sees fit)" },
	{ .name = "max-mem",
	  .kind = OPTION_TEXT,
	  .offset = offsetof(struct run_values, max_memory),
	  .operand = "BYTES",
	  .text = "refuse what needs more memory: 500M, 4G" },
	{ .name = "iterations",
	  .kind = OPTION_INTEGER,
	  .offset = offsetof(struct run_values, iterations),
	  .low = 0,
	  .high = INT64_MAX,
	  .operand = "N",
	  .text = "stop a pipeline with `iterate` after N iterations" },
	{ .name = "state",
	  .kind = OPTION_TEXT,
	  .offset = offsetof(struct run_values, state),
	  .operand = "FILE",
	  .text = "where a run that is interrupted, or ended by --iterations, leaves its state" },
	{ .name = "resume",
	  .kind = OPTION_TEXT,
	  .offset = offsetof(struct run_values, resume),
	  .operand = "FILE",
	  .text = "go on from such a state" },
	{ .name = "target",
	  .kind = OPTION_TEXT,
	  .offset = offsetof(struct run_values, target),
	  .operand = "openmp|cuda|opencl",
	  .text = "what runs the kernels: this processor, a GPU, or a device of OpenCL" },
	{ .name = "nvcc",
	  .kind = OPTION_TEXT,
	  .offset = offsetof(struct run_values, nvcc),
	  .operand = "COMMAND",
	  .text = "for --target=cuda, CUDA's compiler and further flags for it (default: nvcc)" },
	{ .name = "arch",
	  .kind = OPTION_TEXT,
	  .offset = offsetof(struct run_values, arch),
	  .operand = "sm_80,sm_90,…|native",
	  .text = "GPUs that one library is compiled for, and, from the last one, later ones (default: that which is "
		  "here)" },
	{ .name = "check-every",
	  .kind = OPTION_INTEGER,
	  .offset = offsetof(struct run_values, check_every),
	  .low = 1,
	  .high = 1000000,
	  .operand = "N",
	  .text = "for cuda and opencl, iterations of a loop that the device is given at a time (default: 16)" },
	{ .name = "cc",
	  .kind = OPTION_TEXT,
	  .offset = offsetof(struct run_values, cc),
	  .operand = "COMMAND",
	  .text = "the C compiler and further flags for it (default: gcc; clang works too)" },
	{ .name = "with",
	  .kind = OPTION_TEXT,
	  .offset = offsetof(struct run_values, with),
	  .operand = "ITEMS",
	  .is_once = true,
	  .text = "items of a schedule block: --with='restructure PHI by voxel; partition Y by coeff'" },
	{ .name = "specialize",
	  .kind = OPTION_TEXT,
	  .offset = offsetof(struct run_values, specialize),
	  .operand = "SIZE=VALUE|off",
	  .is_once = true,
	  .text = "compile for this size, or for none but those of the program (default: for the lengths of rows, "
		  "too)" },
	{ .name = "keep",
	  .kind = OPTION_TEXT,
	  .offset = offsetof(struct run_values, keep),
	  .operand = "FOLDER",
	  .text = "put the generated C and the library there and keep them" },
	{ .name = "tune",
	  .kind = OPTION_TEXT,
	  .offset = offsetof(struct run_values, tune),
	  .operand = "off|estimate|measure",
	  .text = "of several ways to compile it take the first, and compile no other, or the fastest, by "
		  "its sizes (default) or by trials" },
	{ .name = "turns",
	  .kind = OPTION_INTEGER,
	  .offset = offsetof(struct run_values, turns),
	  .low = 1,
	  .high = 1000,
	  .operand = "N",
	  .text = "execute all candidates N times in turns, and tell what the one that is chosen takes beside the "
		  "best" },
	{ .name = "wisdom",
	  .kind = OPTION_TEXT,
	  .offset = offsetof(struct run_values, wisdom),
	  .operand = "FILE|off",
	  .text = "where trials are remembered (default: pmg/wisdom in XDG_CACHE_HOME or ~/.cache)" },
	{ .name = "candidate",
	  .kind = OPTION_TEXT,
	  .offset = offsetof(struct run_values, candidate),
	  .operand = "CHOICE",
	  .text = "the way to take, as --tune lists them" },
	{ .name = "deterministic",
	  .offset = offsetof(struct run_values, deterministic),
	  .text = "the same bits in each run, for any number of threads" },
	{ .name = "explain",
	  .offset = offsetof(struct run_values, explain),
	  .text = "print every decision of the compiler with its reason" },
	{ .name = "remarks",
	  .offset = offsetof(struct run_values, remarks),
	  .text = "print remarks, such as why a loop stays serial" },
	{ .name = "message-format",
	  .kind = OPTION_TEXT,
	  .offset = offsetof(struct run_values, message_format),
	  .operand = "human|short|json",
	  .text = "messages with the lines they mean, in one line each, or as one JSON object each" },
};

static const char details[] = "Flags of pmgc for its passes (--schedule=…, --parallel=…, --vector=…) are "
			      "taken too; write them with '='.\n"
			      "PMG_CHECK_FINITE=1 in the environment refuses inputs that hold NaN or infinity, and "
			      "ends runs that\ncompute one; 0, or nothing, does not.\n"
			      "\n"
			      "NAME is a parameter, an array, or an object such as PHI, whose arrays have "
			      "names of their own (PHI.atom).\n"
			      "VALUE is one of\n"
			      "  NUMBER          of a parameter; of an array, for all its elements: floats may be "
			      "inf and nan,\n                  a bool is 1, 0, true or false\n"
			      "  random:SEED     floating-point numbers in (-1, 1); index arrays in their "
			      "range, holding their facts\n"
			      "  FILE            .npy .mtx .tns .tsv .txt; 'pmg inspect --help' lists all\n"
			      "  FILE.h5:/NAME   a dataset or, for an object, a group; without :/NAME the "
			      "one called as the argument, or the only one\n"
			      "  FILE.f64[3,4]   bare numbers and their shape, which may be left out where "
			      "it follows from other arguments\n"
			      "Sizes that follow from the shapes of files need not be given.\n"
			      "\n"
			      "  pmg run life.pmg --pipeline life_dsc PHI=phi.tsv.gz D=dict.f64 "
			      "w=weights.txt nTheta=64 -o Y=y.npy\n";

static int run_command_run(const struct command *command, struct arena *arena, int argc, char **argv)
{
	struct session s = { .arena = arena };
	struct failure failure = { 0 };
	word_list operands = { 0 };
	bool help;
	s.values = run_values_default();
	if (!command_parse(command, arena, argc, argv, &s.values, &operands, &help, &failure))
		return failure_report(&failure, command->name);
	if (help) {
		command_help(command, stdout);
		return OUTCOME_OK;
	}
	bool ok = run(&s, &operands, &failure);
	session_free(&s);
	return ok && output_is_written(&failure) ? OUTCOME_OK : messages_report(&s, &failure, command->name);
}

const struct command run_command = {
	.name = "run",
	.operands = "FILE.pmg NAME=VALUE…",
	.sentence = "compile a pipeline and run it on data",
	.details = details,
	.options = rows,
	.n_options = sizeof(rows) / sizeof(rows[0]),
	.more = take_pass_flag,
	.has_threads = true,
	.run = run_command_run,
};
