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

/* ---- characters.c ---- */

/* What a character outside ASCII is, the first of `text`, and what to write; NULL: it is no UTF-8. */
const char *character_meant(struct arena *arena, const char *text);

#endif
