/* SPDX-License-Identifier: MIT */
#include "driver/tree_files.h"

#include <errno.h>
#include <string.h>

#include "driver/pipeline.h"

static void report_unreadable(struct compilation *c, const struct tree_stmt *stmt, const char *path)
{
	struct diag *diag = diag_error(&c->diags, DIAG_CANNOT_READ, stmt->span, "cannot read '%s': %s", path,
				       strerror(errno));

	if (stmt->text[0] != '/')
		diag_help(&c->diags, diag, stmt->span, "a name without '/' in front counts from the folder %s",
			  stmt->asked ? "in which the command runs" : "of the program's file");
}

/* The text is kept as that of a source: so the file is among those on which what is generated depends. */
static void read_file(struct compilation *c, struct tree_stmt *stmt)
{
	const char *from = sources_get(&c->sources, stmt->span.file)->name;
	const char *path = syntax_path_beside(&c->arena, from, stmt->text), *problem;

	if (!c->read_tree)
		diag_error(&c->diags, DIAG_CANNOT_READ, stmt->span, "files of trees are not read here");
	else if (!sources_read(&c->sources, path))
		report_unreadable(c, stmt, path);
	else if ((problem = c->read_tree(&c->arena, path, &stmt->parents, &stmt->n_parents)))
		diag_error(&c->diags, DIAG_CANNOT_READ, stmt->span, "cannot read a tree: %s", problem);
}

void tree_files_read(struct compilation *c)
{
	for (int p = 0; p < c->tree->pipelines.n; p++) {
		const tree_stmts *body = &c->tree->pipelines.items[p]->body;

		for (int i = 0; i < body->n; i++)
			if (body->items[i]->kind == TREE_SPECIALIZE && body->items[i]->text &&
			    !body->items[i]->parents)
				read_file(c, body->items[i]);
	}
}
