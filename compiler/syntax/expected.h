/* SPDX-License-Identifier: MIT
 *
 * How a token that does not fit is reported. */
#ifndef PMGC_SYNTAX_EXPECTED_H
#define PMGC_SYNTAX_EXPECTED_H

#include "syntax/parser_state.h"

enum { TOKEN_CODES = 384 };

struct expectation {
	bool has[TOKEN_CODES];      /* by token code: the grammar could go on with it */
};

/* The current token of `parser`, at `place`, is none of those expected. */
void expectation_report(struct parser *parser, struct span place, const struct expectation *expected);

#endif
