/* SPDX-License-Identifier: MIT
 *
 * pmgc blame: where a line of generated C comes from. */
#ifndef PMGC_DRIVER_BLAME_H
#define PMGC_DRIVER_BLAME_H

#include "driver/pipeline.h"

struct blame {
	const char *path;               /* of the generated file */
	long line;                      /* 0: all of them */
};

/* Reads "OUT.c:LINE" or "OUT.c". */
bool blame_read(struct blame *blame, struct arena *arena, const char *argument);

/* The first line in which the file is not what was generated; 0: none, -1: the file cannot be read, with the reason in
 * errno. */
int blame_difference(const struct compilation *c, const struct blame *blame);

/* Of one line: its text, the place in the program, the line of the compiler that wrote it, and what the passes decided
 * about that place. Of all lines: number, place and writer of each. NULL: there is no such line. */
const char *blame_text(struct compilation *c, const struct blame *blame);

#endif
