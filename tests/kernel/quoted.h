/* SPDX-License-Identifier: MIT
 *
 * Kernel trees of C text: functions of generated files. */
#ifndef PMGC_TESTS_KERNEL_QUOTED_H
#define PMGC_TESTS_KERNEL_QUOTED_H

#include "kernel/kernel.h"

/* The functions of kernels in a text or a file, without those of the loader's interface. NULL: *error says why. */
struct k_program *quoted_text(struct arena *arena, const char *text, const char **error);
struct k_program *quoted_file(struct arena *arena, const char *path, const char **error);
/* All files of generated kernels, and goldens of them. */
#define QUOTED_PATTERNS \
	"generated/*.c", "generated/cuda/*.cu", "tests/codegen/cases/*.kernel", "tests/codegen/cases/*.device"

#endif
