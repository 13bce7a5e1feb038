/* SPDX-License-Identifier: MIT
 *
 * The command line of pmgc, from options.def. */
#ifndef PMGC_DRIVER_OPTIONS_H
#define PMGC_DRIVER_OPTIONS_H

#include "driver/pipeline.h"

#define OPTION_TYPE_TEXT const char *
#define OPTION_TYPE_ITEMS const char *
#define OPTION_TYPE_FLAG bool
#define OPTION_TYPE_NUMBER long

struct options {
	const char *input;
#define OPTION(field, kind, flag, argument, default_value, help) OPTION_TYPE_##kind field;
#include "driver/options.def"
#undef OPTION
};

struct options options_default(void);
/* Reads the arguments; false with a message in `problem` when they are wrong. */
bool options_read(struct options *options, int argc, char **argv, char *problem, size_t size);
/* Takes one flag such as --schedule=isl into what the passes are asked; false when it is none of theirs. For tools
 * that hand flags through. */
bool options_pass_flag(struct pass_options *pass, const char *flag);
/* Whether the flag is one of a number, all of which are for the passes. */
bool options_takes_number(const char *flag);
bool options_for_passes(const struct options *options, struct pass_options *pass, char *problem, size_t size);

#endif
