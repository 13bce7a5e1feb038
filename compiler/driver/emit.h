/* SPDX-License-Identifier: MIT
 *
 * The stages of a compilation as text, and files that are whole or not there. */
#ifndef PMGC_DRIVER_EMIT_H
#define PMGC_DRIVER_EMIT_H

#include "driver/options.h"

/* The text of options->emit (NULL: C), or NULL with errors in c->diags. Compiles as far as that stage needs; `base` is
 * the name of the files that C would go to. */
const char *emit_stage(struct compilation *c, const struct options *options, const char *base);
bool emit_is_known(const char *stage);
bool emit_is_by_pipeline(const char *stage);            /* what --pipeline is for */

struct output_file {
	const char *path, *text;
	char *temporary;        /* of emit_files: beside the path, NULL at first and at the end */
};

/* Writes files through temporary ones beside them: all are replaced as a whole, or left as they were. Then the one that
 * cannot be written is returned, with the reason in errno, else NULL. */
const struct output_file *emit_files(struct output_file *files, int n);
bool emit_file(const char *path, const char *text);     /* the same of one */

#endif
