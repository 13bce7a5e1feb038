/* SPDX-License-Identifier: MIT
 *
 * The commands of `pmg`: each is a table of options and a function, in a folder of its own. */
#ifndef TOOLS_COMMANDS_H
#define TOOLS_COMMANDS_H

#include "cli/cli.h"

extern const struct command run_command;     /* run/run.c */
extern const struct command inspect_command; /* inspect/inspect.c */
extern const struct command convert_command; /* convert/convert.c */
extern const struct command cache_command;   /* cache/cache_command.c */
extern const struct command bench_command;   /* bench/bench.c, in a folder beside tools/ */

#endif
