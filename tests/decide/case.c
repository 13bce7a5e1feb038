/* SPDX-License-Identifier: MIT
 *
 * The options that a program of tests/decide gives in its comments, and what it becomes with them. */
#include "case.h"

#include <string.h>

#include "driver/options.h"
#include "hines/tree_file.h"

/* What stands behind `word` in its line. */
static char *line_of(struct compilation *c, const char *text, const char *word)
{
	const char *line = text ? strstr(text, word) : NULL;

	return line ? arena_copy(&c->arena, line + strlen(word), strcspn(line + strlen(word), "\n")) : NULL;
}

static void take_options(struct compilation *c, char *line)
{
	for (char *flag = strtok(line, " "); flag; flag = strtok(NULL, " "))
		if (!options_pass_flag(&c->options, flag))
			fprintf(stderr, "unknown option %s\n", flag);
}

bool case_compile(struct compilation *c, const char *path, const char **text, const char **c_text)
{
	const char *h_text;
	bool ok = compilation_open(c, path);
	char *options, *target;

	*text = ok ? arena_string(&c->arena, sources_get(&c->sources, c->file)->text) : NULL;
	options = line_of(c, *text, "# options: ");
	target = line_of(c, *text, "# target: ");
	c->read_tree = tree_file_read;
	c->options.restructure = false;
	c->options.remarks = true;
	if (options)
		take_options(c, options);
	if (target)
		compilation_choose_target(c, target);
	return ok && compilation_parse(c) && compilation_lower(c) && compilation_run_passes(c) &&
	       compilation_generate(c, "case", c_text, &h_text);
}
