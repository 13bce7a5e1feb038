/* SPDX-License-Identifier: MIT
 *
 * One compilation: text -> syntax tree -> modules -> passes -> target text. For the command line (driver/main.c), the
 * tools that compile in process, and the tests. */
#ifndef PMGC_DRIVER_PIPELINE_H
#define PMGC_DRIVER_PIPELINE_H

#include "passes/pass.h"
#include "syntax/tree.h"

struct compilation {
	struct arena arena;
	struct sources sources;
	struct diags diags;
	isl_ctx *ctx;
	struct pass_options options;
	const char *target;             /* "openmp" */
	uint32_t file;
	struct tree_file *tree;
	VEC(struct module *) modules;   /* one per pipeline of the file */
};

struct compilation *compilation_new(void);      /* NULL: no memory */
void compilation_free(struct compilation *c);
/* Each stage returns false once there are errors in c->diags; out of memory is one of them. */
bool compilation_read(struct compilation *c, const char *path);         /* file to tree and modules (checked, no pass) */
bool compilation_run_passes(struct compilation *c);                     /* all passes, verified */
bool compilation_generate(struct compilation *c, const char *base, const char **c_text, const char **h_text);
const char *compilation_messages(struct compilation *c, bool remarks);  /* diagnostics as text */
struct module *compilation_module(struct compilation *c, const char *pipeline); /* NULL name: the only or first one */

#endif
