/* SPDX-License-Identifier: MIT
 *
 * The state of one run of the parser: where it begins, and places and errors of its text. */
#include "syntax/parser_state.h"

#include <string.h>

struct span parser_span(const struct parser *parser, uint32_t start, uint32_t end)
{
	if (parser->is_expansion)
		return parser->origin;
	return (struct span) { parser->file, start, end };
}

bool parser_begins_line(const struct parser *parser, uint32_t offset)
{
	while (offset > 0 && (parser->text[offset - 1] == ' ' || parser->text[offset - 1] == '\t'))
		offset--;
	return offset > 0 && parser->text[offset - 1] == '\n';
}

/* The line of an expansion that the current token stands on. */
static const char *expansion_line(const struct parser *parser)
{
	const char *start = parser->text + parser->token;
	size_t length;

	while (start > parser->text && start[-1] != '\n')
		start--;
	length = strcspn(start, "\n");
	return arena_copy(parser->arena, start, length);
}

struct diag *parser_error(struct parser *parser, enum diag_code code, struct span span,
			  const char *format, ...)
{
	struct span nowhere = { 0 };
	struct diag *diag;
	const char *text;
	va_list args;

	va_start(args, format);
	text = arena_vprintf(parser->arena, format, args);
	va_end(args);
	diag = diag_error(parser->diags, code, span, "%s", text);
	if (parser->is_expansion)
		diag_label(parser->diags, diag, nowhere, "in what this stands for: %s", expansion_line(parser));
	return diag;
}

struct parser parser_for_file(const struct parser *from, uint32_t file)
{
	const struct source *source = sources_get(from->diags->sources, file);

	return (struct parser) {
		.arena = from->arena,
		.diags = from->diags,
		.inclusions = from->inclusions,
		.tree = from->tree,
		.name = source->name,
		.text = source->text,
		.size = source->size,
		.file = file,
	};
}
