/* SPDX-License-Identifier: MIT
 *
 * Options of the steps of `pmg life`: words, numbers and bytes, each refused with what is needed instead. */
#include <math.h>
#include <string.h>

#include "life/connectome.h"

int take_word(const char *option, const char *word, const char *const *words, struct failure *failure)
{
	int n = 0;
	for (; words[n]; n++)
		if (strcmp(words[n], word) == 0)
			return n;
	const char *near = suggest_nearest(word, words, n);
	fail(failure, OUTCOME_USAGE, "--%s=%s: it is %s", option, word, "no word that this option has");
	fail_help(failure, "did you mean '%s'?", near ? near : words[0]);
	return -1;
}

bool take_real(const char *option, const char *text, double *value, struct failure *failure)
{
	if (!text || (parse_real(text, value) && isfinite(*value) && *value >= 0))
		return true;
	return fail(failure, OUTCOME_USAGE, "--%s=%s: a number, 0 or more, is needed", option, text);
}

bool take_memory(const char *text, int64_t *bytes, struct failure *failure)
{
	static const char units[] = "KMG";
	char number[64];
	size_t n = text ? strlen(text) : 0;
	double value;
	if (!text)
		return true;
	const char *unit = n ? strchr(units, text[n - 1]) : NULL;
	snprintf(number, sizeof(number), "%.*s", (int) (unit ? n - 1 : n), text);
	if (parse_real(number, &value) && value > 0 && value < 1e15) {
		*bytes = (int64_t) (value * (unit ? pow(1024, (double) (unit - units + 1)) : 1));
		return true;
	}
	fail(failure, OUTCOME_USAGE, "--max-mem=%s: a number of bytes is needed", text);
	fail_help(failure, "--max-mem=4G");
	return false;
}

const char *bytes_text(int64_t bytes, char *text, size_t size)
{
	static const char *const units[] = { "bytes", "kB", "MB", "GB", "TB" };
	double value = (double) bytes;
	size_t unit = 0;
	for (; value >= 1000 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
		value /= 1000;
	snprintf(text, size, "%.*f %s", unit && value < 100 ? 1 : 0, value, units[unit]);
	return text;
}
