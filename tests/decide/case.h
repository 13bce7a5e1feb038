/* SPDX-License-Identifier: MIT
 *
 * How a program of tests/decide is compiled, as its comments say. */
#ifndef TESTS_DECIDE_CASE_H
#define TESTS_DECIDE_CASE_H

#include "driver/pipeline.h"

/* Compiles `path` with its "# options:" for its "# target:". False where it does not compile. *text is
 * what the file says, NULL where it cannot be read; *c_text the C that it becomes. */
bool case_compile(struct compilation *c, const char *path, const char **text, const char **c_text);

#endif
