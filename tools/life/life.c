/* SPDX-License-Identifier: MIT
 *
 * `pmg life STEP`: finds the step and runs it. */
#include "life/connectome.h"

#include <string.h>

static const struct command *const steps[] = {
	&life_encode_command,
	&life_fit_command,
	&life_predict_command,
	&life_evaluate_command,
	&life_export_command,
	&life_import_command,
};

enum { N_STEPS = sizeof(steps) / sizeof(steps[0]) };

static const char *step_name(int i)
{
	return strchr(steps[i]->name, ' ') + 1;
}

static int list_steps(FILE *stream)
{
	fputs("usage: pmg life STEP …\n\n", stream);
	for (int i = 0; i < N_STEPS; i++)
		fprintf(stream, "  %-8s  %s\n", step_name(i), steps[i]->sentence);
	fputs("\n'pmg life STEP --help' lists the options of a step.\n", stream);
	return OUTCOME_OK;
}

static int run_life(const struct command *command, struct arena *arena, int argc, char **argv)
{
	const char *names[N_STEPS];
	struct failure failure = { 0 };
	const char *asked = argc > 1 ? argv[1] : NULL;
	if (asked && (strcmp(asked, "--help") == 0 || strcmp(asked, "-h") == 0))
		return list_steps(stdout);
	for (int i = 0; i < N_STEPS; i++) {
		names[i] = step_name(i);
		if (asked && strcmp(asked, names[i]) == 0)
			return steps[i]->run(steps[i], arena, argc - 1, argv + 1);
	}
	if (asked)
		fail(&failure, OUTCOME_USAGE, "unknown step '%s'", asked);
	else
		fail(&failure, OUTCOME_USAGE, "a step is needed");
	const char *near = asked ? suggest_nearest(asked, names, N_STEPS) : NULL;
	if (near)
		fail_help(&failure, "did you mean '%s'?", near);
	else
		fail_help(&failure, "'pmg life --help' lists the steps");
	return failure_report(&failure, command->name);
}

const struct command life_command = {
	.name = "life",
	.operands = "STEP …",
	.sentence = "weights of streamlines from a diffusion scan",
	.details = "",
	.has_threads = true,
	.run = run_life,
};
