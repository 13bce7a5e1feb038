/* SPDX-License-Identifier: MIT
 *
 * Kernel trees of C text: functions of generated files. */
#ifndef PMGC_TESTS_KERNEL_QUOTED_H
#define PMGC_TESTS_KERNEL_QUOTED_H

#include "kernel/kernel.h"

/* One function of a file: its head up to the line of the brace, the body up to the closing one. */
struct quoted_part {
	const char *head, *body, *end;
};

const char *quoted_read(struct arena *arena, const char *path);        /* NULL: it cannot be read */
/* The next function behind *at, which goes on, without those of the loader's interface that have pointers to pointers
 * or tables, which are no part of kernels; false: there is no other one. */
bool quoted_next(const char *file, const char **at, struct quoted_part *part);
struct k_function *quoted_function(struct arena *arena, const struct quoted_part *part, const char **error);

/* The functions of a text or a file that tables of the interface are not part of. NULL: *error says why. */
struct k_program *quoted_text(struct arena *arena, const char *text, const char **error);
struct k_program *quoted_file(struct arena *arena, const char *path, const char **error);
/* All files of generated kernels, and goldens of them. */
#define QUOTED_PATTERNS \
	"generated/*.c", "generated/cuda/*.cu", "tests/codegen/cases/*.kernel", "tests/codegen/cases/*.device"

#endif
