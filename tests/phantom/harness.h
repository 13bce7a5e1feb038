/* SPDX-License-Identifier: MIT
 *
 * What the tests of the phantom share: counting what holds, and making the problem of a command line. */
#ifndef TESTS_PHANTOM_HARNESS_H
#define TESTS_PHANTOM_HARNESS_H

#include "phantom/phantom.h"

struct phantom_tally {
	int passed, failed;
};

#define CHECK(tally, holds) phantom_check(tally, holds, #holds, __FILE__, __LINE__)

void phantom_check(struct phantom_tally *tally, bool holds, const char *what, const char *file, int line);
/* Prints the closing line; the result is the exit status of the test. */
int phantom_tally_close(const struct phantom_tally *tally);

/* The problem of a command line; a failure ends the test, as nothing can be checked without it. */
struct life_problem phantom_make(const char *line, struct life_phantom_options *options);

/* Whether "n" elements of "size" bytes are the same. */
bool phantom_same(const void *a, const void *b, int64_t n, size_t size);

#endif
