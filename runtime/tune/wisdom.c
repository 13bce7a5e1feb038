/* SPDX-License-Identifier: MIT
 *
 * Wisdom: what trials have found, as text that a program may keep. A line of its own says the version; each other one
 * holds signature, choice and nanoseconds, parted by tabs. Lines that are not of this form count for nothing. The idea
 * and the word are FFTW's (Frigo and Johnson 2005). */
#include "plan/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "pmg wisdom 1\n"

struct entry {
	const char *begin, *end;                /* of the line, its end of line not in it */
	size_t signature;                       /* length */
	const char *choice, *choice_end;
};

/* The next entry at or behind `*at`; false: there is none. */
static bool entry_next(const char **at, struct entry *entry)
{
	while (**at) {
		const char *begin = *at, *end = begin + strcspn(begin, "\n");
		const char *first = memchr(begin, '\t', (size_t) (end - begin));
		const char *second = first ? memchr(first + 1, '\t', (size_t) (end - first - 1)) : NULL;

		*at = *end ? end + 1 : end;
		if (!second || !*end || strspn(second + 1, "0123456789") != (size_t) (end - second - 1))
			continue;
		*entry = (struct entry) { begin, end, (size_t) (first - begin), first + 1, second };
		return true;
	}
	return false;
}

static bool is_for(const struct entry *entry, const char *signature)
{
	return entry->signature == strlen(signature) && memcmp(entry->begin, signature, entry->signature) == 0;
}

bool pmg_wisdom_is_valid(const char *text)
{
	return text && strncmp(text, HEAD, sizeof HEAD - 1) == 0;
}

bool pmg_wisdom_find(const char *text, const char *signature, char *choice, size_t size)
{
	struct entry entry;
	bool found = false;

	if (!pmg_wisdom_is_valid(text) || !signature || !choice)
		return false;
	while (entry_next(&text, &entry)) {
		const size_t length = (size_t) (entry.choice_end - entry.choice);

		if (!is_for(&entry, signature) || length >= size)
			continue;
		memcpy(choice, entry.choice, length);
		choice[length] = '\0';
		found = true;
	}
	return found;
}

static bool is_clean(const char *text)
{
	return text && !text[strcspn(text, "\t\n")];
}

static size_t text_add(char *out, size_t size, size_t length, const char *text, size_t n)
{
	if (length + n < size)
		memcpy(out + length, text, n);
	return length + n;
}

size_t pmg_wisdom_add(const char *text, const char *signature, const char *choice, double seconds, char *out,
		      size_t size)
{
	size_t length = text_add(out, size, 0, HEAD, sizeof HEAD - 1);
	struct entry entry;
	char number[32];

	if (!is_clean(signature) || !is_clean(choice))
		return 0;
	if (pmg_wisdom_is_valid(text))
		while (entry_next(&text, &entry))
			if (!is_for(&entry, signature))
				length = text_add(out, size, length, entry.begin,
						  (size_t) (entry.end - entry.begin) + 1);
	snprintf(number, sizeof number, "\t%lld\n", seconds > 0 ? (long long) (seconds * 1e9) : 0);
	length = text_add(out, size, length, signature, strlen(signature));
	length = text_add(out, size, length, "\t", 1);
	length = text_add(out, size, length, choice, strlen(choice));
	length = text_add(out, size, length, number, strlen(number));
	if (length < size)
		out[length] = '\0';
	return length + 1;
}
