/* SPDX-License-Identifier: MIT
 *
 * Variables of the environment that say how pipelines run: which words each of them takes. */
#include "run/run.h"
#include "words.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 4 };

/* An empty one is as good as none; the list of words ends where it has no more. */
static const struct variable {
	const char *name, *text, *words[MOST_WORDS];
} variables[] = {
	{ "PMG_CHECK_FINITE", "1 or 0", { "0", "1" } },
	{ "PMG_ISA", WORDS_OF_ISAS, { NAMES_OF_ISAS } }
};

static bool takes(const struct variable *variable, const char *value)
{
	bool is = !value || !*value;

	for (int i = 0; i < MOST_WORDS && variable->words[i]; i++)
		is = is || strcmp(value, variable->words[i]) == 0;
	return is;
}

bool environment_is_known(struct failure *failure)
{
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		const char *value = getenv(variables[i].name);

		if (!takes(&variables[i], value))
			return fail(failure, OUTCOME_USAGE, "%s in the environment takes %s, not '%s'",
				    variables[i].name, variables[i].text, value);
	}
	return true;
}

bool session_checks_finite(void)
{
	const char *finite = getenv("PMG_CHECK_FINITE");

	return finite && strcmp(finite, "1") == 0;
}
