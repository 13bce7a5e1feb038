/* SPDX-License-Identifier: MIT
 *
 * Running lexer and parser over a file, over the expansion of a construct, and over a file for its tokens. */
#include "syntax/tree_build.h"

#include <string.h>

#include "syntax/parser.h"

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
