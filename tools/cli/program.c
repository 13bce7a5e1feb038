/* SPDX-License-Identifier: MIT
 *
 * A program that does not compile: its messages, and what they mean for the exit status. */
#include "cli/cli.h"

#include "driver/pipeline.h"

bool fail_program(struct failure *failure, struct compilation *c, const char *path)
{
	enum outcome outcome = OUTCOME_PROGRAM;
	for (int i = 0; i < c->diags.list.n; i++)
		if (c->diags.list.items[i]->code == DIAG_CANNOT_READ)
			outcome = OUTCOME_IO;
	if (c->is_out_of_memory)
		outcome = OUTCOME_RESOURCES;
	fputs(compilation_messages(c, false), stderr);
	return fail(failure, outcome, "'%s' has errors", path);
}
