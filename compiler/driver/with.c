/* SPDX-License-Identifier: MIT
 *
 * Items of the schedule and sizes that are asked for with a program, not in it: `--with "restructure PHI by voxel"`,
 * `--specialize nTheta=96`. They are read by the parser as if they stood at the end of each pipeline; a pipeline that
 * does not know their names is not meant. */
#include "driver/with.h"

#include <string.h>

/* The statements, or NULL after a diagnostic. */
static const tree_stmts *read_statements(struct compilation *c, const char *flag, const char *before,
					 const char *text, const char *behind)
{
	const char *whole = arena_printf(&c->arena, "%s%s%s", before, text, behind);
	uint32_t file = sources_add(&c->sources, flag, whole, strlen(whole));
	struct tree_file *tree;

	sources_get(&c->sources, file)->start = (uint32_t) strlen(before);
	tree = syntax_parse(&c->arena, &c->diags, file);
	return c->diags.n_errors || !tree->pipelines.n ? NULL : &tree->pipelines.items[0]->body;
}

static void add_statements(struct compilation *c, const char *flag, const char *before, const char *text,
			   const char *behind)
{
	const tree_stmts *stmts = c->tree ? read_statements(c, flag, before, text, behind) : NULL;

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
		add_statements(c, "--with", "pipeline with { schedule { ", c->options.with, ";\n} }");
	if (c->options.specialize)
		add_statements(c, "--specialize", "pipeline with { specialize ", c->options.specialize, ";\n}");
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
