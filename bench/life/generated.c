/* SPDX-License-Identifier: MIT
 *
 * Rows of generated code: the example is compiled as `pmg run` does it, with all of its options, bound to the problem
 * where it lies in memory, planned once and executed in turns with the others. */
#include "life/life.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"

/* ---- Options ---------------------------------------------------------------------------- */

/* Those of `pmg run` that mean nothing here. */
static bool is_refused(const char *name, size_t length)
{
	static const char *const refused[] = { "output", "interp", "compare", "time", "repeat", "iterations", "force",
					       "pipeline" };
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if (strlen(refused[i]) == length && strncmp(refused[i], name, length) == 0)
			return true;
	return false;
}

int life_take_option(void *any, char **arguments, int n, struct failure *failure)
{
	struct life_values *values = any;
	const char *name = arguments[0] + 2, *equals = strchr(arguments[0], '=');
	size_t length = strcspn(name, "=");
	word_list operands = { 0 };
	bool help;
	if (strncmp(arguments[0], "--", 2) != 0 || is_refused(name, length))
		return 0;
	for (int i = 0; i < run_command.n_options; i++) {
		const struct option_row *row = &run_command.options[i];
		if (strlen(row->name) != length || strncmp(row->name, name, length) != 0)
			continue;
		int taken = row->kind == OPTION_FLAG || equals || n < 2 ? 1 : 2;
		char *words[] = { "run", arguments[0], taken > 1 ? arguments[1] : NULL };
		bool ok = command_parse(&run_command, values->arena, taken + 1, words, &values->run, &operands, &help,
					failure);
		return ok ? taken : -1;
	}
	return run_command.more(&values->run, arguments, n, failure);
}

/* The next word of a text, which may be in single quotes; NULL: no more. */
static char *next_word(char **rest)
{
	char *word = *rest + strspn(*rest, " ");
	char end = *word == '\'' ? '\'' : ' ';
	word += end == '\'';
	if (!*word)
		return NULL;
	char *after = strchr(word, end);
	*rest = after ? after + 1 : word + strlen(word);
	if (after)
		*after = '\0';
	return word;
}

/* The options in `text` over those of all generated rows. */
static bool read_options(struct life_values *values, const char *text, struct run_values *run,
			 struct failure *failure)
{
	struct life_values copy = *values;
	char *rest = arena_string(values->arena, text);
	for (char *word = next_word(&rest); word; word = next_word(&rest)) {
		int taken = life_take_option(&copy, &word, 1, failure);
		if (taken == 0)
			return fail(failure, OUTCOME_USAGE, "--generated: unknown option '%s'", word);
		if (taken < 0)
			return false;
	}
	*run = copy.run;
	return true;
}

/* ---- The program ---------------------------------------------------------------------------- */

/* Beside the installed programs, in the tree around a build folder, or where we are. */
const char *life_find_file(struct life_values *values, const char *name, struct failure *failure)
{
	const char *home = getenv("PMG_HOME");
	char here[4096] = ".";
	ssize_t n = readlink("/proc/self/exe", here, sizeof(here) - 1);
	here[n > 0 ? n : 1] = '\0';
	char *slash = strrchr(here, '/');
	if (slash)
		*slash = '\0';
	const char *places[] = { home && *home ? home : ".", arena_printf(values->arena, "%s/..", here), "." };
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const char *path = arena_printf(values->arena, "%s/%s", places[i], name);
		if (access(path, R_OK) == 0)
			return path;
	}
	fail(failure, OUTCOME_IO, "%s is not found", name);
	fail_help(failure, "PMG_HOME names the root of the repository");
	return NULL;
}

static bool bind_size(struct life_values *values, struct session *s, const char *name, int64_t value,
		      struct failure *failure)
{
	return bind_word(s, arena_printf(values->arena, "%s=%lld", name, (long long) value), failure);
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
	       bind_size(values, s, "nVoxels", t->n_voxels, failure) &&
	       bind_size(values, s, "nFibers", t->n_fibers, failure) && session_bind(s, &none, 0, failure);
}

/* The result in memory that is aligned as that of the other rows. */
static bool take_result(struct life_row *row, struct failure *failure)
{
	struct session *s = &row->session;
	if (!results_new(s, &row->results, failure))
		return false;
	for (int i = 0; i < s->arguments.n; i++) {
		struct ndarray *array = &row->results.arrays[i], unaligned = *array;
		if (!argument_is_written(&s->arguments.items[i]))
			continue;
		if (!aligned_array(array, unaligned.type, unaligned.rank, unaligned.shape, failure))
			return false;
		ndarray_free(&unaligned);
		row->out = array->data;
	}
	return true;
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
	return library_execute(&row->execution, seconds, failure);
}

/* What the pass chose; "" if it chose nothing. */
static const char *decision_of(const struct life_row *row, const char *pass)
{
	const struct module *module = row->session.module;
	for (int i = 0; i < module->decisions.n; i++)
		if (strcmp(module->decisions.items[i].pass, pass) == 0)
			return module->decisions.items[i].chosen;
	return "";
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
	record->threads = (double) row->session.values.threads;
	record->precision = strstr(options, "f32") || strstr(options, "f64top") ? "f32" : "f64";
	record->restructure = decision_of(row, "restructure");
	record->partition = decision_of(row, "partition");
	record->algorithm = options;
	record->layout = report && report->choice ? report->choice : "";
	record->plan_ms = 1e3 * (row->execution.plan_seconds - (report ? report->tuning : 0));
	record->tuning_ms = report ? 1e3 * report->tuning : 0;
	record->plan_bytes = (double) pmg_plan_bytes(row->execution.plan);
}

bool life_row_generated(struct life_values *values, const struct life_case *problem, enum life_op op,
			const char *options, life_row_list *rows, struct failure *failure)
{
	struct life_row *row = arena_new(values->arena, struct life_row);
	const char *path = life_find_file(values,
					  op == LIFE_DSC ? "dsl_examples/life_dsc.pmg" : "dsl_examples/life_wc.pmg",
					  failure);
	*row = (struct life_row){ .op = op, .problem = problem, .is_generated = true };
	row->row.run = run_generated;
	row->row.state = row;
	row->session.arena = values->arena;
	vec_push(values->arena, rows, row);
	bool ok = path && read_options(values, options, &row->session.values, failure) &&
		  session_open(&row->session, path, failure) && bind_case(values, row, failure) &&
		  take_result(row, failure) && build_library(&row->session, &row->build, failure);
	if (ok && row->session.values.explain)
		fputs(explain_text(row->session.c, row->session.module), stdout);
	ok = ok && library_open(&row->session, row->build.library, &row->results, &row->execution, failure);
	build_remove(&row->build);
	ok = ok && move_vectors(values, row, failure);
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
