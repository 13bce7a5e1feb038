/* SPDX-License-Identifier: MIT
 *
 * Commands of two words, `pmg life fit`: finds the step and runs it. */
#include <string.h>

#include "cli/cli.h"

static const char *step_name(const struct command *step)
{
	return strchr(step->name, ' ') + 1;
}

static void list_steps(const struct command *command)
{
	printf("usage: pmg %s STEP …\n\n", command->name);
	for (int i = 0; i < command->n_steps; i++)
		printf("  %-8s  %s\n", step_name(command->steps[i]), command->steps[i]->sentence);
	printf("\n'pmg %s STEP --help' lists the options of a step.\n", command->name);
}

const struct command *step_find(const struct command *command, const char *name)
{
	for (int i = 0; i < command->n_steps; i++)
		if (strcmp(name, step_name(command->steps[i])) == 0)
			return command->steps[i];
	return NULL;
}

static int unknown_step(const struct command *command, struct arena *arena, const char *asked)
{
	const char **names = arena_new_array(arena, const char *, command->n_steps);
	struct failure failure = { 0 };
	for (int i = 0; i < command->n_steps; i++)
		names[i] = step_name(command->steps[i]);
	if (asked)
		fail(&failure, OUTCOME_USAGE, "unknown step '%s'", asked);
	else
		fail(&failure, OUTCOME_USAGE, "a step is needed");
	const char *near = asked ? suggest_nearest(asked, names, command->n_steps) : NULL;
	if (near)
		fail_help(&failure, "did you mean '%s'?", near);
	else
		fail_help(&failure, "'pmg %s --help' lists the steps", command->name);
	return failure_report(&failure, command->name);
}

int command_step(const struct command *command, struct arena *arena, int argc, char **argv)
{
	const char *asked = argc > 1 ? argv[1] : NULL;
	const struct command *step = asked ? step_find(command, asked) : NULL;
	if (asked && (strcmp(asked, "--help") == 0 || strcmp(asked, "-h") == 0)) {
		list_steps(command);
		return OUTCOME_OK;
	}
	return step ? step->run(step, arena, argc - 1, argv + 1) : unknown_step(command, arena, asked);
}
