/* SPDX-License-Identifier: MIT
 *
 * What tokens are, where one does not fit. */
#ifndef PMGC_SYNTAX_TOKENS_H
#define PMGC_SYNTAX_TOKENS_H

#include "syntax/expected.h"

extern const int statement_tokens[];    /* that statements begin with; 0 is last */
bool token_is_in(int token, const int *tokens);
bool token_is_reserved_word(int token);
bool token_begins_statement(int token);         /* a word that stands nowhere else: no name */
/* In an item of a schedule, whose names may be followed by how they are scheduled. */
bool is_behind_names(const struct expectation *expected);
/* Is the word at these offsets of the text; the current token; the one before? */
bool text_is(const struct parser *parser, uint32_t start, uint32_t end, const char *word);
bool current_is(const struct parser *parser, const char *word);
bool last_is(const struct parser *parser, const char *word);

#endif
