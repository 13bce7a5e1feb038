/* SPDX-License-Identifier: MIT
 *
 * A program that does not compile: its messages, and what they mean for the exit status. */
#include "cli/cli.h"

#include "driver/pipeline.h"

/* The option that all errors stand in; NULL: some are in a file. */
static const char *wrong_option(struct compilation *c)
{
	const char *option = NULL;
	for (int i = 0; i < c->diags.list.n; i++) {
		const struct diag *diag = c->diags.list.items[i];
		const struct source *source = sources_get(&c->sources, diag->span.file);
		if (diag->severity != SEVERITY_ERROR)
			continue;
		if (!source || source->start == 0)
			return NULL;
		option = source->name;
	}
	return option;
}

bool fail_program(struct failure *failure, struct compilation *c, const char *path)
{
	enum outcome outcome = OUTCOME_PROGRAM;
	for (int i = 0; i < c->diags.list.n; i++)
		if (c->diags.list.items[i]->code == DIAG_CANNOT_READ)
			outcome = OUTCOME_IO;
	if (c->is_out_of_memory)
		outcome = OUTCOME_RESOURCES;
	fputs(compilation_messages(c, false), stderr);
	const char *option = wrong_option(c);
	return option ? fail(failure, outcome, "%s has errors", option)
		      : fail(failure, outcome, "'%s' has errors", path);
}
