/* SPDX-License-Identifier: MIT
 *
 * The pages of docs/errors for a terminal: no marks of headings and fences, programs indented below a word that says
 * which of the two they are. */
#include "driver/error_page.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The number of a code: digits, with or without the letters before them; -1 if it is none. */
static long code_number(const char *code)
{
	static const char letters[] = "pmg";
	size_t i = 0;
	char *end;
	long number;

	while (i < 3 && tolower((unsigned char) code[i]) == letters[i])
		i++;
	if ((i != 0 && i != 3) || !isdigit((unsigned char) code[i]) || strlen(code + i) > 4)
		return -1;
	number = strtol(code + i, &end, 10);
	return *end ? -1 : number;
}

static const struct error_page *error_page_find(const char *code)
{
	long number = code_number(code);

	for (const struct error_page *page = error_pages; number >= 0 && page->code; page++)
		if (code_number(page->code) == number)
			return page;
	return NULL;
}

static void add_fence(struct str *text, const char *tag, int length)
{
	static const char wrong[] = "```pmg-wrong";
	int prefix = (int) sizeof wrong - 1;

	if (length >= prefix && !strncmp(tag, wrong, sizeof wrong - 1))
		str_add(text, "Wrong%s%.*s:\n\n", length > prefix ? ", with" : "", length - prefix, tag + prefix);
	else
		str_add(text, "Right:\n\n");
}

const char *error_page_text(struct arena *arena, const char *code)
{
	const struct error_page *page = error_page_find(code);
	struct str text = str_new(arena);
	bool is_program = false;

	if (!page)
		return NULL;
	for (const char *at = page->text, *end; *at; at = *end ? end + 1 : end) {
		bool is_fence = !strncmp(at, "```", 3);
		int length;

		end = strchrnul(at, '\n');
		length = (int) (end - at);
		if (is_fence && !is_program)
			add_fence(&text, at, length);
		else if (!is_fence && is_program)
			str_add(&text, "%s%.*s\n", length ? "    " : "", length, at);
		else if (!is_fence)
			str_add(&text, "%.*s\n", length - (*at == '#' ? 2 : 0), at + (*at == '#' ? 2 : 0));
		is_program ^= is_fence;
	}
	return str_text(&text);
}

const char *error_page_list(struct arena *arena)
{
	struct str text = str_new(arena);

	for (const struct error_page *page = error_pages; page->code; page++)
		str_add(&text, "%.*s\n", (int) strcspn(page->text + 2, "\n"), page->text + 2);
	return str_text(&text);
}
