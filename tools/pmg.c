/* SPDX-License-Identifier: MIT
 *
 * pmg, what a user does with data: finds the command, runs it, gives its exit status. Running out of small
 * memory ends here, as does what must not outlive the process. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "commands.h"
#include "hines/cells.h"
#include "life/connectome.h"
#include "phantom/phantom.h"
#include "phantom/systems.h"

#define PMG_VERSION "0.1.0"

static int phantom_usage(FILE *stream)
{
	fputs("usage: pmg phantom life|hines|tri [OPTION…]\n\n"
	      "'pmg phantom life --help' lists the options; the same for hines and tri.\n",
	      stream);
	return OUTCOME_OK;
}

static int run_phantom(const struct command *command, struct arena *arena, int argc, char **argv)
{
	static const char *const kinds[] = { "life", "hines", "tri" };
	struct failure failure = { 0 };
	const char *asked = argc > 1 ? argv[1] : NULL;
	if (asked && strcmp(asked, "life") == 0)
		return phantom_life_command(argc - 1, argv + 1);
	if (asked && strcmp(asked, "hines") == 0)
		return phantom_hines_command.run(&phantom_hines_command, arena, argc - 1, argv + 1);
	if (asked && strcmp(asked, "tri") == 0)
		return phantom_tri_command.run(&phantom_tri_command, arena, argc - 1, argv + 1);
	if (asked && (strcmp(asked, "--help") == 0 || strcmp(asked, "-h") == 0))
		return phantom_usage(stdout);
	if (asked)
		fail(&failure, OUTCOME_USAGE, "unknown kind of phantom '%s'", asked);
	else
		fail(&failure, OUTCOME_USAGE, "the kind of phantom is needed");
	const char *near = asked ? suggest_nearest(asked, kinds, 3) : NULL;
	fail_help(&failure, "'pmg phantom %s'", near ? near : "life|hines|tri");
	return failure_report(&failure, command->name);
}

static const struct command phantom_command = {
	.name = "phantom",
	.operands = "life|hines|tri [OPTION…]",
	.sentence = "make up a realistic problem",
	.details = "",
	.run = run_phantom,
};

static const struct command *const commands[] = {
	&run_command,
	&inspect_command,
	&convert_command,
	&phantom_command,
	&bench_command,
	&life_command,
	&import_command,
	&hines_command,
	&cache_command,
};

#define N_COMMANDS ((int) (sizeof(commands) / sizeof(commands[0])))

static void print_help(FILE *stream)
{
	fputs("usage: pmg COMMAND …\n\n", stream);
	for (int i = 0; i < N_COMMANDS; i++)
		fprintf(stream, "  %-8s  %s\n", commands[i]->name, commands[i]->sentence);
	fputs("\n'pmg COMMAND --help' lists the options of a command; 'pmg --version' prints the version.\n"
	      "Exit status: 0 done, 1 errors in the program, 2 wrong usage, 3 wrong data, 4 input or "
	      "output,\n"
	      "5 memory or other resources, 6 numerical, 7 the C compiler failed, 8 stopped by a signal, with a\n"
	      "state to go on from, 70 our own error.\n",
	      stream);
}

/* "life fit" for "fit"; NULL. */
static const char *step_named(const char *name)
{
	const struct command *step = NULL;
	for (int i = 0; i < N_COMMANDS && !step; i++)
		step = step_find(commands[i], name);
	return step ? step->name : NULL;
}

static int unknown_command(const char *name)
{
	const char *names[N_COMMANDS], *step = step_named(name);
	struct failure failure = { 0 };
	for (int i = 0; i < N_COMMANDS; i++)
		names[i] = commands[i]->name;
	fail(&failure, OUTCOME_USAGE, *name == '-' ? "unknown option '%s'" : "unknown command '%s'", name);
	const char *near = step ? step : suggest_nearest(name, names, N_COMMANDS);
	if (near)
		fail_help(&failure, "did you mean '%s'?", near);
	else
		fail_help(&failure, "'pmg --help' lists the commands");
	return failure_report(&failure, "");
}

static const struct command *find_command(const char *name)
{
	for (int i = 0; i < N_COMMANDS; i++)
		if (strcmp(name, commands[i]->name) == 0)
			return commands[i];
	return NULL;
}

static int run_in_arena(const struct command *command, int argc, char **argv)
{
	struct arena arena = { 0 };
	jmp_buf on_failure;
	arena.on_failure = &on_failure;
	if (setjmp(on_failure)) {
		struct failure failure = { 0 };
		scratch_remove_all();
		arena_release(&arena);
		fail_memory(&failure, "the command");
		return failure_report(&failure, argv[0]);
	}
	int status = command->run(command, &arena, argc, argv);
	arena_release(&arena);
	return status;
}

/* Threads that spin while they wait take processors from others, which costs most where these are other threads of the
 * same loop; threads that sleep at once are late for the next loop. So they spin for some 50 microseconds, about what
 * it takes to wake one, where OpenMP is libgomp. It reads the variables before main begins: the program starts anew
 * with them. */
#define BRIEF_SPINS "2000"

static void wait_briefly(const struct command *command, char **argv)
{
	if (!command->has_threads || getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT") || getenv("KMP_BLOCKTIME"))
		return;
	setenv("OMP_WAIT_POLICY", "passive", 1);
	setenv("GOMP_SPINCOUNT", BRIEF_SPINS, 1);
	execv("/proc/self/exe", argv);
}

static int run_words(int argc, char **argv)
{
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
		print_help(stdout);
		return OUTCOME_OK;
	}
	if (strcmp(argv[1], "--version") == 0) {
		puts("pmg " PMG_VERSION);
		return OUTCOME_OK;
	}
	const struct command *command = find_command(argv[1]);
	if (command)
		wait_briefly(command, argv);
	return command ? run_in_arena(command, argc - 1, argv + 1) : unknown_command(argv[1]);
}

int main(int argc, char **argv)
{
	struct failure failure = { 0 };
	scratch_catch_signals();
	if (argc < 2) {
		print_help(stderr);
		return OUTCOME_USAGE;
	}
	int status = run_words(argc, argv);
	return status != OUTCOME_OK || output_is_written(&failure) ? status : failure_report(&failure, "");
}
