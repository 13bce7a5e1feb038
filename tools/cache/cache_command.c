/* SPDX-License-Identifier: MIT
 *
 * `pmg cache`: where libraries are kept for later runs, which, how large they are and when they were used last;
 * `--clear` removes them. */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "run/run.h"

struct cache_values {
	bool clear;
};

static const struct option_row rows[] = {
	{ .name = "clear",
	  .offset = offsetof(struct cache_values, clear),
	  .text = "remove them" },
};

static bool clear(const kept_list *list, struct failure *failure)
{
	for (int i = 0; i < list->n; i++)
		if (unlink(list->items[i].path) != 0 && errno != ENOENT)
			return fail_file(failure, list->items[i].path, "cannot remove:");
	return true;
}

static void print(const char *folder, const kept_list *list)
{
	int64_t bytes = 0;
	for (int i = list->n - 1; i >= 0; i--) {
		char when[32] = "";
		time_t used = (time_t) list->items[i].used;
		struct tm local;
		if (localtime_r(&used, &local))
			strftime(when, sizeof(when), "%Y-%m-%d %H:%M", &local);
		printf("%s %9.1f KiB  %s\n", when, (double) list->items[i].bytes / 1024,
		       file_name(list->items[i].path));
		bytes += list->items[i].bytes;
	}
	printf("%d librar%s in %s, %.1f of at most %d MiB\n", list->n, list->n == 1 ? "y" : "ies", folder,
	       (double) bytes / 0x1p20, CACHE_BYTES >> 20);
}

static bool run(struct arena *arena, const struct cache_values *values, const word_list *operands,
		struct failure *failure)
{
	const char *folder = cache_library_path(arena, ".");
	kept_list list;
	if (operands->n > 0)
		return fail(failure, OUTCOME_USAGE, "there are no operands, but '%s' is given", operands->items[0]);
	if (!folder) {
		puts("no libraries are kept: PMG_CACHE=off, or there is no HOME");
		return true;
	}
	folder = arena_printf(arena, "%.*s", (int) strlen(folder) - 2, folder);
	cache_list(arena, folder, &list);
	if (values->clear && !clear(&list, failure))
		return false;
	if (values->clear)
		printf("%d removed from %s\n", list.n, folder);
	else
		print(folder, &list);
	return true;
}

static int run_cache(const struct command *command, struct arena *arena, int argc, char **argv)
{
	struct cache_values values = { 0 };
	struct failure failure = { 0 };
	word_list operands = { 0 };
	bool help;
	if (!command_parse(command, arena, argc, argv, &values, &operands, &help, &failure))
		return failure_report(&failure, command->name);
	if (help) {
		command_help(command, stdout);
		return OUTCOME_OK;
	}
	bool ok = run(arena, &values, &operands, &failure);
	return ok && output_is_written(&failure) ? OUTCOME_OK : failure_report(&failure, command->name);
}

const struct command cache_command = {
	.name = "cache",
	.operands = "",
	.sentence = "list the libraries that are kept for later runs",
	.details = "PMG_CACHE names their folder (default: pmg in XDG_CACHE_HOME or ~/.cache); 'off' keeps none.\n",
	.options = rows,
	.n_options = sizeof(rows) / sizeof(rows[0]),
	.run = run_cache,
};
