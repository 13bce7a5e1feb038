/* SPDX-License-Identifier: MIT
 *
 * What was meant by a token that does not fit. */
#ifndef PMGC_SYNTAX_ADVICE_H
#define PMGC_SYNTAX_ADVICE_H

#include "syntax/expected.h"

/* Adds a help or a fix to the message about the current token, at `place`. */
void advice_add(struct parser *parser, struct diag *diag, struct span place, const struct expectation *expected);
/* Of a '=' behind the name of an argument, as in `sum(x, axis=1)`; NULL: it is no such name. */
const char *advice_for_argument(const struct parser *parser, const struct expectation *expected);
/* Is the current token a word of the language that was told to be no name? */
bool is_told_as_name(const struct parser *parser, const struct expectation *expected);
bool last_is(const struct parser *parser, const char *word);    /* the token before the current one */

/* ---- characters.c ---- */

/* What a character outside ASCII is, the first of `text`, and what to write; NULL: it is no UTF-8. */
const char *character_meant(struct arena *arena, const char *text);

/* ---- expected.c ---- */

extern const int statement_tokens[];    /* that statements begin with; 0 is last */
bool token_is_in(int token, const int *tokens);
bool token_is_reserved_word(int token);
bool token_begins_statement(int token);         /* a word that stands nowhere else: no name */
/* In an item of a schedule, whose names may be followed by how they are scheduled. */
bool is_behind_names(const struct expectation *expected);

#endif
