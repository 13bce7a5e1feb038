/* SPDX-License-Identifier: MIT
 *
 * Options of the steps of `pmg life`: words and numbers, each refused with what is needed instead. */
#include <math.h>
#include <string.h>

#include "life/connectome.h"

int take_word(const char *option, const char *word, const char *const *words, struct failure *failure)
{
	int n = 0;
	for (; words[n]; n++)
		if (strcmp(words[n], word) == 0)
			return n;
	fail(failure, OUTCOME_USAGE, "--%s=%s: it is no word that this option has", option, word);
	fail_help_choose(failure, word, words, n);
	return -1;
}

bool take_real(const char *option, const char *text, double *value, struct failure *failure)
{
	if (!text || (parse_real(text, value) && isfinite(*value) && *value >= 0))
		return true;
	return fail(failure, OUTCOME_USAGE, "--%s=%s: a number, 0 or more, is needed", option, text);
}
