/* SPDX-License-Identifier: MIT
 *
 * What the tests of the bench share: counting what holds. */
#ifndef TESTS_BENCH_TALLY_H
#define TESTS_BENCH_TALLY_H

#include <stdbool.h>

struct tally {
	int passed, failed;
};

#define CHECK(tally, holds) tally_check(tally, holds, #holds, __FILE__, __LINE__)

void tally_check(struct tally *tally, bool holds, const char *what, const char *file, int line);
int tally_close(const struct tally *tally);     /* prints the closing line; the exit status */

#endif
