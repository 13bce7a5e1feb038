/* SPDX-License-Identifier: MIT
 *
 * Mistakes of the grammar that a machine can mend. */
#ifndef PMGC_SYNTAX_MEND_H
#define PMGC_SYNTAX_MEND_H

#include "syntax/expected.h"

/* Adds what mends the program at the current token, or behind the one before it; false: that is not known. */
bool mend_add(struct parser *parser, struct diag *diag, const struct expectation *expected);
/* Of a '=' in an expression: a bracket ought to end before it, or it stands for the 'in' of a range. */
bool mend_is_no_equality(const struct parser *parser, const struct expectation *expected);
/* Of the same: it belongs to the definition behind a case that has no end. */
bool mend_is_behind_case(const struct parser *parser, const struct expectation *expected);
/* Shows where the bracket is that is open at `end`. */
void mend_show_open(struct parser *parser, struct diag *diag, uint32_t end, char open, char close);

#endif
