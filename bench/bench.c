/* SPDX-License-Identifier: MIT
 *
 * `pmg bench`: finds the family, or compares two files of records. */
#include "bench.h"

#include <string.h>

#include "commands.h"
#include "families.h"

static const struct command *const families[] = { &bench_life_command, &bench_hines_command, &bench_tri_command };

#define N_FAMILIES ((int) (sizeof(families) / sizeof(families[0])))

struct bench_values {
	bool compare;
};

static const struct option_row rows[] = {
	{ .name = "compare", .offset = offsetof(struct bench_values, compare),
	  .text = "compare two files of records: pmg bench --compare OLD.json NEW.json" },
};

/* "life" of "bench life" */
static const char *family_name(const struct command *family)
{
	return strrchr(family->name, ' ') + 1;
}

static bool unknown_family(const char *name, struct failure *failure)
{
	const char *names[N_FAMILIES];
	for (int i = 0; i < N_FAMILIES; i++)
		names[i] = family_name(families[i]);
	fail(failure, OUTCOME_USAGE, "there is nothing called '%s' to measure", name);
	fail_help_choose(failure, name, names, N_FAMILIES);
	return false;
}

static bool compare_operands(void *read, const word_list *operands, struct arena *arena, struct failure *failure)
{
	const struct bench_values *values = read;
	if (values->compare && operands->n == 2)
		return compare_files(arena, operands->items[0], operands->items[1], failure);
	if (values->compare)
		return fail(failure, OUTCOME_USAGE, "--compare takes two files: OLD.json NEW.json");
	if (operands->n > 0)
		return unknown_family(operands->items[0], failure);
	fail(failure, OUTCOME_USAGE, "say what to measure");
	fail_help(failure, "'pmg bench life', hines or tri, or 'pmg bench --compare OLD.json NEW.json'");
	return false;
}

static int run_bench(const struct command *command, struct arena *arena, int argc, char **argv)
{
	struct bench_values values = { 0 };
	for (int i = 0; argc > 1 && i < N_FAMILIES; i++)
		if (strcmp(argv[1], family_name(families[i])) == 0)
			return families[i]->run(families[i], arena, argc - 1, argv + 1);
	return command_do(command, arena, argc, argv, &values, compare_operands);
}

const struct command bench_command = {
	.name = "bench",
	.operands = "life|hines|tri [OPTION…]",
	.sentence = "measure generated code beside hand-written code",
	.details = "'pmg bench life --help' lists what there is to choose; the same for hines and tri.\n",
	.options = rows,
	.n_options = sizeof(rows) / sizeof(rows[0]),
	.has_threads = true,
	.run = run_bench,
};
