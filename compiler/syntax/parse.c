/* SPDX-License-Identifier: MIT
 *
 * Running lexer and parser over a file, over the expansion of a construct, and over a file for its tokens. */
#include "syntax/tree_build.h"

#include <string.h>

#include "syntax/parser.h"

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

struct tree_file *syntax_parse(struct arena *arena, struct diags *diags, uint32_t file)
{
	struct inclusions inclusions = { 0 };
	struct parser run = { .arena = arena, .diags = diags, .inclusions = &inclusions };
	struct parser parser;

	run.tree = arena_new(arena, struct tree_file);
	if (sources_get(diags->sources, file) == NULL)
		return run.tree;
	parser = parser_for_file(&run, file);
	run.tree->start = parser_span(&parser, 0, 0);
	if (parser.size > LONGEST_TEXT) {
		parser_error(&parser, DIAG_CANNOT_READ, run.tree->start, "this text is too long");
		return run.tree;
	}
	include_begin(&parser);
	parser_run_file(&parser);
	return run.tree;
}

tree_stmts syntax_parse_statements(struct arena *arena, struct diags *diags,
				   const char *text, struct span origin)
{
	struct parser parser = {
		.arena = arena,
		.diags = diags,
		.name = "",
		.text = text,
		.size = (uint32_t) strlen(text),
		.is_expansion = true,
		.origin = origin,
	};

	parser_run_statements(&parser);
	return parser.stmts;
}

static const char *token_class(int token)
{
	if (token == YYerror)
		return "error";
	if (token == YYEOF || (token >= NAME && token <= STRING))
		return parser_token_name(token);
	return token >= PIPELINE && token <= NOT ? "word" : "symbol";
}

const char *syntax_tokens_text(struct arena *arena, struct diags *diags, uint32_t file)
{
	struct parser run = { .arena = arena, .diags = diags };
	struct parser parser;
	struct str out = str_new(arena);
	struct span place;
	YYSTYPE value;
	int token;

	if (sources_get(diags->sources, file) == NULL)
		return "";
	parser = parser_for_file(&run, file);
	lexer_open(&parser);
	do {
		token = lexer_next(&value, &place, parser.scanner);
		str_add(&out, "%s %s%s%.*s\n", span_place(diags->sources, arena, place), token_class(token),
			token == YYEOF ? "" : " ", (int) (parser.token_end - parser.token),
			parser.text + parser.token);
	} while (token != YYEOF);
	lexer_close(&parser);
	return str_text(&out);
}
