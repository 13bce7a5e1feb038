/* SPDX-License-Identifier: MIT
 *
 * What the passes left of all modules, by the names of the program. */
#ifndef TESTS_DECIDE_NESTS_H
#define TESTS_DECIDE_NESTS_H

#include "driver/pipeline.h"

/* A line for each statement, in the order in which they run: the array that it writes, and its loops, outermost first,
 * each with the marks above it, and tiles with their size; a loop that runs backwards begins with '-':
 *     w: dynamic parallel chunk, place, accumulate(w.sum) k */
const char *nests_text(struct compilation *c);

#endif
