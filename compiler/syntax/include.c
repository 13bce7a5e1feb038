/* SPDX-License-Identifier: MIT
 *
 * `include "file.pmg";`: the file is looked for beside the including one and parsed where the line stands, into
 * the same tree. Files are told apart by device and inode, so that two names of one file are one file. Each is
 * read once; one that is still open includes itself, which is refused. */
#include "syntax/parser_state.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { DEEPEST_INCLUDE = 16 };

const char *syntax_path_beside(struct arena *arena, const char *from, const char *path)
{
	const char *slash = strrchr(from, '/');

	if (slash == NULL || path[0] == '/')
		return path;
	return arena_printf(arena, "%.*s/%s", (int) (slash - from), from, path);
}

static struct included_file *include_find(struct inclusions *inclusions, const struct stat *status)
{
	for (int i = 0; i < inclusions->files.n; i++) {
		struct included_file *file = &inclusions->files.items[i];

		if (file->device == status->st_dev && file->inode == status->st_ino)
			return file;
	}
	return NULL;
}

static void include_note(struct parser *parser, const struct stat *status)
{
	struct included_file file = { status->st_dev, status->st_ino, true };

	vec_push(parser->arena, &parser->inclusions->files, file);
}

void include_begin(struct parser *parser)
{
	struct stat status;

	if (stat(parser->name, &status) == 0)
		include_note(parser, &status);
}

static void include_parse(struct parser *parser, struct span span, const char *name)
{
	struct tree_include include = { name, span };
	uint32_t file = sources_read(parser->diags->sources, name);
	struct parser inner;

	if (!file) {
		parser_error(parser, DIAG_CANNOT_READ, span, "cannot read '%s': %s", name, strerror(errno));
		return;
	}
	vec_push(parser->arena, &parser->tree->includes, include);
	inner = parser_for_file(parser, file);
	parser->inclusions->depth++;
	parser_run_file(&inner);
	parser->inclusions->depth--;
}

void include_expand(struct parser *parser, struct span span, const char *path)
{
	const char *name = syntax_path_beside(parser->arena, parser->name, path);
	struct included_file *known;
	struct stat status;

	if (stat(name, &status) != 0) {
		parser_error(parser, DIAG_CANNOT_READ, span, "cannot read '%s': %s", name, strerror(errno));
		return;
	}
	known = include_find(parser->inclusions, &status);
	if (known != NULL && known->is_open)
		parser_error(parser, DIAG_INCLUDE_CYCLE, span, "'%s' includes itself", name);
	else if (!S_ISREG(status.st_mode))
		parser_error(parser, DIAG_CANNOT_READ, span, "'%s' is not a file", name);
	else if (status.st_size > LONGEST_TEXT)
		parser_error(parser, DIAG_CANNOT_READ, span, "'%s' is too long", name);
	else if (parser->inclusions->depth >= DEEPEST_INCLUDE)
		parser_error(parser, DIAG_TOO_DEEP, span, "files include files more than %d deep",
			     DEEPEST_INCLUDE);
	else if (known == NULL) {
		include_note(parser, &status);
		include_parse(parser, span, name);
		include_find(parser->inclusions, &status)->is_open = false;
	}
}
