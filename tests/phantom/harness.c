/* SPDX-License-Identifier: MIT
 *
 * Failures are named on standard error; standard output carries the closing line alone. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

void phantom_check(struct phantom_tally *tally, bool holds, const char *what, const char *file, int line)
{
	if (holds)
		tally->passed++;
	else
		tally->failed++;
	if (!holds)
		fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
}

int phantom_tally_close(const struct phantom_tally *tally)
{
	printf("%d passed, %d failed\n", tally->passed, tally->failed);
	return tally->failed > 0;
}

struct life_problem phantom_make(const char *line, struct life_phantom_options *options)
{
	struct life_problem problem;
	char copy[256], error[256] = "", *words[32] = { "life" };
	int n = 1;
	snprintf(copy, sizeof(copy), "%s", line);
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		words[n++] = word;
	pmg_status status = life_phantom_options_parse(options, n, words, error, sizeof(error));
	if (status == PMG_OK)
		status = life_phantom_generate(options, &problem, error, sizeof(error));
	if (status != PMG_OK) {
		fprintf(stderr, "%s: %s\n", line, error);
		exit(1);
	}
	return problem;
}

bool phantom_same(const void *a, const void *b, int64_t n, size_t size)
{
	return memcmp(a, b, (size_t) n * size) == 0;
}
