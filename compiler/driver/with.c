/* SPDX-License-Identifier: MIT
 *
 * Items of the schedule and sizes that are asked for with a program, not in it: `--with "restructure PHI by voxel"`,
 * `--specialize nTheta=96`. They are read by the parser as if they stood at the end of each pipeline; a pipeline that
 * does not know their names is not meant. */
#include "driver/with.h"

#include <string.h>

/* The statements, or NULL after a diagnostic. */
static const tree_stmts *read_statements(struct compilation *c, const char *flag, const char *text)
{
	char *copy = arena_string(&c->arena, text);
	uint32_t file = sources_add(&c->sources, flag, copy, strlen(copy));
	struct tree_file *tree = syntax_parse(&c->arena, &c->diags, file);

	return c->diags.n_errors || !tree->pipelines.n ? NULL : &tree->pipelines.items[0]->body;
}

static void add_statements(struct compilation *c, const char *flag, const char *text)
{
	const tree_stmts *stmts = c->tree && text ? read_statements(c, flag, text) : NULL;

	for (int i = 0; stmts && i < stmts->n; i++) {
		stmts->items[i]->is_meant = arena_new(&c->arena, bool);
		vec_push(&c->arena, &c->asked, stmts->items[i]);
		for (int p = 0; p < c->tree->pipelines.n; p++)
			vec_push(&c->arena, &c->tree->pipelines.items[p]->body, stmts->items[i]);
	}
}

void with_add(struct compilation *c)
{
	if (c->options.with)
		add_statements(c, "--with", arena_printf(&c->arena, "pipeline with { schedule {\n%s;\n} }",
							 c->options.with));
	if (c->options.specialize)
		add_statements(c, "--specialize", arena_printf(&c->arena, "pipeline with {\nspecialize %s;\n}",
							       c->options.specialize));
}

void with_check(struct compilation *c)
{
	for (int i = 0; i < c->asked.n; i++) {
		const struct tree_stmt *stmt = c->asked.items[i];

		if (!*stmt->is_meant)
			diag_error(&c->diags, DIAG_UNKNOWN_NAME,
				   stmt->items.n ? stmt->items.items[0]->span : stmt->span,
				   "no pipeline of the file has the name that this is about");
	}
}
