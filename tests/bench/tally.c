/* SPDX-License-Identifier: MIT
 *
 * Failures are named on standard error; standard output carries the closing line alone. */
#include "tally.h"

#include <stdio.h>

void tally_check(struct tally *tally, bool holds, const char *what, const char *file, int line)
{
	if (holds)
		tally->passed++;
	else
		tally->failed++;
	if (!holds)
		fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
}

int tally_close(const struct tally *tally)
{
	printf("%d passed, %d failed\n", tally->passed, tally->failed);
	return tally->failed > 0;
}
