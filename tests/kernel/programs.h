/* SPDX-License-Identifier: MIT
 *
 * Kernel trees of a generated C file, until codegen makes them itself: by quotation of the text of its functions. */
#ifndef PMGC_TESTS_KERNEL_PROGRAMS_H
#define PMGC_TESTS_KERNEL_PROGRAMS_H

#include "kernel/kernel.h"

/* All functions of the text that take a plan. NULL: *error says what cannot be quoted. */
struct k_program *program_of_text(struct arena *arena, const char *text, const char **error);
/* The kernel of a pipeline, or of its candidate: what the description in the text names; NULL: there is none. */
const char *kernel_of_text(struct arena *arena, const char *text, const char *pipeline, const char *choice);

#endif
