/* SPDX-License-Identifier: MIT
 *
 * Kernel programs as dumps: what tests of lowerings, printers and readers take and compare. */
#ifndef PMGC_TESTS_KERNEL_DUMPS_H
#define PMGC_TESTS_KERNEL_DUMPS_H

#include "codegen/c_print.h"

struct tally {
	int passed, failed;
	struct arena arena;
};

void tally_check(struct tally *tally, bool holds, const char *what, const char *more);
/* Shows the first line that differs. */
void tally_check_text(struct tally *tally, const char *what, const char *got, const char *expected);

const char *dump_of(struct arena *arena, const struct k_program *program);
const char *c_of_program(struct arena *arena, const struct k_program *program, enum c_spelling spelling);
/* What a dump says, as C. NULL: *error says why it is none. */
const char *c_of_dump(struct arena *arena, const char *dump, enum c_spelling spelling, const char **error);

#endif
