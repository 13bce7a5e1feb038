/* SPDX-License-Identifier: MIT
 *
 * The parts of `pmg inspect`. */
#ifndef TOOLS_INSPECT_INSPECT_H
#define TOOLS_INSPECT_INSPECT_H

#include "formats/formats.h"

/* ---- pmg_file.c: the pipelines of a program and their arguments ---- */
bool inspect_program(const char *path, struct failure *failure);

/* ---- tensor.c: modes, order and duplicates ---- */
bool inspect_tensor(const struct content *tensor, struct failure *failure);

/* ---- steps.c: what the steps of `pmg life`, `pmg hines` and `pmg import` read ---- */
/* *is_one: the name is that of such a file. */
bool step_file_inspect(struct arena *arena, const char *path, bool *is_one, struct failure *failure);
void step_files_list(FILE *stream);

#endif
