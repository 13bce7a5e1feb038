/* SPDX-License-Identifier: MIT
 *
 * Generated rows: options that hold for them, files that they are made from, memory that they write to. */
#include "program.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "handtuned/life_cpu.h"
#include "handtuned/life_layout.h"

/* ---- Options ---------------------------------------------------------------------------- */

/* Those of `pmg run` that mean nothing here. */
static bool is_refused(const char *name, size_t length)
{
	static const char *const refused[] = { "output", "interp", "compare", "time", "repeat", "iterations", "force",
					       "pipeline", "max-mem", "state", "resume" };
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if (strlen(refused[i]) == length && strncmp(refused[i], name, length) == 0)
			return true;
	return false;
}

int bench_take_option(struct run_values *run, struct arena *arena, char **arguments, int n, struct failure *failure)
{
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
		bool ok = command_parse(&run_command, arena, taken + 1, words, run, &operands, &help, failure);
		return ok ? taken : -1;
	}
	return run_command.more(run, arguments, n, failure);
}

/* The next word of a text, which may be in single quotes, of which one may be missing; NULL: no more. */
static char *next_word(char **rest, bool *is_open)
{
	char *word = *rest + strspn(*rest, " ");
	char end = *word == '\'' ? '\'' : ' ';
	word += end == '\'';
	if (!*word)
		return NULL;
	char *after = strchr(word, end);
	*is_open = end == '\'' && !after;
	*rest = after ? after + 1 : word + strlen(word);
	if (after)
		*after = '\0';
	return word;
}

bool bench_read_options(struct arena *arena, const char *flag, const char *text, const struct run_values *before,
			struct run_values *run, struct failure *failure)
{
	char *rest = arena_string(arena, text);
	bool is_open = false;
	*run = *before;
	for (char *word = next_word(&rest, &is_open); word; word = next_word(&rest, &is_open)) {
		if (is_open)
			return fail(failure, OUTCOME_USAGE, "--%s: the quote before '%s' is not closed", flag, word);
		int taken = bench_take_option(run, arena, &word, 1, failure);
		if (taken == 0) {
			fail(failure, OUTCOME_USAGE, "--%s: unknown option '%s'", flag, word);
			fail_help(failure, "options of 'pmg run' stand here, those with blanks in quotes of their own: "
				  "--%s=\"--vector=off '--with=blas off; fuse off'\"", flag);
			return false;
		}
		if (taken < 0)
			return false;
	}
	return true;
}

void bench_explain(const struct session *s, const char *version, const char *options)
{
	printf("%s%s%s:\n%s\n", version, *options ? " " : "", options, explain_text(s->c, s->module));
}

bool bench_check_isa(const char *isa, struct failure *failure)
{
	const char *names[8];
	int n = 0;
	if (!isa)
		return true;
	for (; life_cpu_isa(n) && n < 8; n++) {
		names[n] = life_cpu_isa(n);
		if (strcmp(names[n], isa) == 0)
			return true;
	}
	fail(failure, OUTCOME_USAGE, "--isa: this processor cannot run '%s'", isa);
	fail_help_choose(failure, isa, names, n);
	return false;
}

/* ---- Files and memory ------------------------------------------------------------------------ */

/* Beside the installed programs, in the tree around a build folder, or where we are. */
const char *bench_find_file(struct arena *arena, const char *name, struct failure *failure)
{
	const char *home = getenv("PMG_HOME");
	char here[4096] = ".";
	ssize_t n = readlink("/proc/self/exe", here, sizeof(here) - 1);
	here[n > 0 ? n : 1] = '\0';
	char *slash = strrchr(here, '/');
	if (slash)
		*slash = '\0';
	const char *places[] = { home && *home ? home : ".", arena_printf(arena, "%s/..", here), "." };
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const char *path = arena_printf(arena, "%s/%s", places[i], name);
		if (access(path, R_OK) == 0)
			return path;
	}
	fail(failure, OUTCOME_IO, "%s is not found", name);
	fail_help(failure, "PMG_HOME names the root of the repository");
	return NULL;
}

bool aligned_array(struct ndarray *array, pmg_type type, int rank, const int64_t *shape, struct failure *failure)
{
	size_t bytes;
	*array = (struct ndarray){ .type = type, .rank = rank };
	if (!shape_bytes(rank, shape, pmg_type_size(type), &bytes))
		return fail(failure, OUTCOME_RESOURCES, "an array is too large");
	memcpy(array->shape, shape, (size_t) rank * sizeof(*shape));
	array->data = life_memory((int64_t) bytes, 1);
	return array->data || fail_memory(failure, "the arrays");
}

bool bench_results(struct session *s, struct results *results, double **out, struct failure *failure)
{
	if (!results_new(s, results, failure))
		return false;
	for (int i = 0; i < s->arguments.n; i++) {
		struct ndarray *array = &results->arrays[i], unaligned = *array;
		if (!argument_is_written(&s->arguments.items[i]))
			continue;
		if (!aligned_array(array, unaligned.type, unaligned.rank, unaligned.shape, failure))
			return false;
		ndarray_free(&unaligned);
		*out = array->data;
	}
	return true;
}

const char *bench_decision(const struct session *s, enum decision_kind first, enum decision_kind last)
{
	const struct module *module = s->module;
	for (int i = 0; i < module->decisions.n; i++)
		if (module->decisions.items[i].kind >= first && module->decisions.items[i].kind <= last)
			return module->decisions.items[i].chosen;
	return "";
}

void record_device(struct record *record, const pmg_plan *plan)
{
	const pmg_report *report = pmg_plan_report(plan);
	if (!report || report->device_bytes == 0)
		return;
	record->inspect_ms = 1e3 * report->device_inspection;
	record->device_bytes = (double) report->device_bytes;
}
