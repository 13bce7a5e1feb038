/* SPDX-License-Identifier: MIT
 *
 * A file of text, read, parsed and lowered, for the tests of sema. */
#ifndef TESTS_SEMA_HARNESS_H
#define TESTS_SEMA_HARNESS_H

#include <isl/ctx.h>

#include "ir/ir.h"
#include "sema/sema.h"

struct lowered {
	struct arena arena;
	struct sources sources;
	struct diags diags;
	isl_ctx *ctx;
	module_list modules;
	bool ok;
};

/* The text of a file in `arena`, NULL when it cannot be read. */
const char *lowered_file_text(struct arena *arena, const char *path);
/* `name` is how messages call the file. False when it cannot be read. */
bool lowered_open(struct lowered *l, const char *path, const char *name);
void lowered_text(struct lowered *l, const char *text, const char *name);
void lowered_close(struct lowered *l);
struct module *lowered_module(const struct lowered *l, const char *pipeline);

/* interp_tool.c: test_sema --interp FILE PIPELINE FOLDER NAME=VALUE... */
int interp_tool(int argc, char **argv);

#endif
