/* SPDX-License-Identifier: MIT
 *
 * Random programs compiled in this process, without the items of their schedule blocks that are refused. */
#ifndef PMGC_TESTS_RANDOM_BUILD_H
#define PMGC_TESTS_RANDOM_BUILD_H

#include "random/compare.h"

/* What became of a file; the numbers are the exit statuses of test_programs. */
enum outcome {
	OUTCOME_AGREES = 0,
	OUTCOME_DIFFERS = 1,            /* from the interpreter */
	OUTCOME_REFUSED = 2,            /* not a right program */
	OUTCOME_BAD_C = 3,              /* a C compiler refuses or warns */
	OUTCOME_INTERNAL = 4            /* refused, but right when compiled in textual order without its overrides */
};

/* How many items of a verb programs ask for, and how many of these are not refused. */
struct item_count {
	char verb[16];
	int asked, kept;
};

enum { MOST_VERBS = 24 };

/* The modules of comparison->file without its schedule blocks, for the interpreter; false after telling why. */
bool comparison_read(const struct comparison *comparison, struct compilation *c);
/* Writes folder/vNUMBER.c, .h and .cu. */
enum outcome variant_generate(const struct comparison *comparison, const struct variant *v, int number,
			      struct item_count counts[MOST_VERBS]);
/* All variants of comparison->file built and loaded; the first problem is told and ends it. Where PMG_TEST_PLANT holds
 * a script for sed, the C text is changed by it: a wrong kernel, to try the shrinker with. */
enum outcome comparison_compile(struct comparison *comparison, struct item_count counts[MOST_VERBS]);
void item_counts_add(struct item_count counts[MOST_VERBS], const char *verb, int asked, int kept);

#endif
