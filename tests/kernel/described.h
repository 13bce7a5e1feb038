/* SPDX-License-Identifier: MIT
 *
 * What generated C text says of its pipelines. */
#ifndef PMGC_TESTS_KERNEL_DESCRIBED_H
#define PMGC_TESTS_KERNEL_DESCRIBED_H

#include "support/support.h"

/* The kernel of a pipeline, or of its candidate: what the description in the text names; NULL: there is none. */
const char *kernel_of_text(struct arena *arena, const char *text, const char *pipeline, const char *choice);

#endif
