/* SPDX-License-Identifier: MIT
 *
 * libFuzzer: any bytes as the text of a file of wisdom. What is added to it is found, and what it held for another
 * problem stays. */
#include <stdlib.h>
#include <string.h>

#include "pmgrt.h"

enum { CHOICE = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* With an entry more, in memory that is as long as it says. */
static char *add(const char *text, const char *signature, const char *choice)
{
	const size_t needed = pmg_wisdom_add(text, signature, choice, 0.5, NULL, 0);
	char *more = malloc(needed), *less = malloc(needed / 2);

	if (!more || !less || pmg_wisdom_add(text, signature, choice, 0.5, more, needed) != needed ||
	    pmg_wisdom_add(text, signature, choice, 0.5, less, needed / 2) != needed || strlen(more) != needed - 1)
		abort();
	free(less);
	return more;
}

static void demand(const char *text, const char *signature, const char *choice)
{
	char found[CHOICE];

	if (!pmg_wisdom_find(text, signature, found, sizeof found) || strcmp(found, choice) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *one, *two, choice[CHOICE];
	bool had;

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	had = pmg_wisdom_find(text, "a b=1", choice, sizeof choice);
	one = add(text, "a b=2", "--parallel=off");
	demand(one, "a b=2", "--parallel=off");
	if (had)
		demand(one, "a b=1", choice);
	two = add(one, "a b=1", "");
	demand(two, "a b=1", "");
	demand(two, "a b=2", "--parallel=off");
	free(text);
	free(one);
	free(two);
	return 0;
}
