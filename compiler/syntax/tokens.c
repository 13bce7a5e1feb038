/* SPDX-License-Identifier: MIT
 *
 * What tokens are, where one does not fit: words of the language, beginnings of statements, a word of the text. */
#include "syntax/tokens.h"

#include <string.h>

#include "syntax/parser.h"

const int statement_tokens[] = {
	PARAM, ASSUME, SPECIALIZE, FIXED, IN, OUT, INOUT, TEMP, STATE, FUNC, REDUCE, NEXT, ITERATE, SCHEDULE,
	NAME, 0
};

bool token_is_in(int token, const int *tokens)
{
	for (; *tokens != 0; tokens++)
		if (*tokens == token)
			return true;
	return false;
}

bool token_is_reserved_word(int token)
{
	return token >= PIPELINE && token <= NOT;
}

bool token_begins_statement(int token)
{
	return token != NAME && token_is_in(token, statement_tokens);
}

bool is_behind_names(const struct expectation *expected)
{
	return expected->has['('] && expected->has[':'] && expected->has[','] && expected->has[';'];
}

bool text_is(const struct parser *parser, uint32_t start, uint32_t end, const char *word)
{
	return end - start == strlen(word) && memcmp(parser->text + start, word, strlen(word)) == 0;
}

bool last_is(const struct parser *parser, const char *word)
{
	return text_is(parser, parser->last, parser->last_end, word);
}

bool current_is(const struct parser *parser, const char *word)
{
	return text_is(parser, parser->token, parser->token_end, word);
}
