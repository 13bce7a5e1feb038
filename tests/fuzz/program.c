/* SPDX-License-Identifier: MIT
 *
 * libFuzzer: any bytes as a program (NAME ends in .pmg) or as the dump of a module (.ir), through parser and checker
 * to modules. There is no answer to check: nothing may crash, leak, or go on for ever. */
#include <isl/ctx.h>
#include <stdlib.h>

#include "driver/pipeline.h"

#ifndef NAME
#define NAME "fuzz.pmg"
#endif

enum { MOST_OPERATIONS = 100000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct compilation *c = compilation_new();

	if (!c)
		abort();
	isl_ctx_set_max_operations(c->ctx, MOST_OPERATIONS);
	c->file = sources_add(&c->sources, NAME, arena_copy(&c->arena, (const char *) data, size), size);
	if (compilation_parse(c))
		(void) compilation_lower(c);
	(void) compilation_messages(c, true);
	compilation_free(c);
	return 0;
}
