/* SPDX-License-Identifier: MIT
 *
 * Mistakes of the grammar that a machine can mend. */
#ifndef PMGC_SYNTAX_MEND_H
#define PMGC_SYNTAX_MEND_H

#include "syntax/expected.h"

/* Adds what mends the program at the current token, or behind the one before it; false: that is not known. */
bool mend_add(struct parser *parser, struct diag *diag, const struct expectation *expected);
/* Of an 'in' behind an expression: it belongs to a range that 'and' joins to another. */
bool mend_is_behind_and(const struct parser *parser, const struct expectation *expected);
/* Of a '=' in an expression: a bracket ought to end before it, or it stands for the 'in' of a range. */
bool mend_is_no_equality(const struct parser *parser, const struct expectation *expected);
/* Does the current token belong to a statement behind a case that has no end? */
bool mend_is_behind_case(const struct parser *parser, const struct expectation *expected);
/* Shows where the innermost bracket of this sign was opened. */
void mend_show_open(struct parser *parser, struct diag *diag, char sign);
/* Notes which brackets are open behind a token. */
void brackets_pass(struct parser *parser, int code, uint32_t at);

#endif
