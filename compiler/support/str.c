/* SPDX-License-Identifier: MIT
 *
 * The growing string. Invariant: when `text` is set, text[length] is 0 and length < capacity. */
#include "support/support.h"

#include <string.h>

struct str str_new(struct arena *arena)
{
	return (struct str) { .arena = arena };
}

static void str_reserve(struct str *str, size_t more)
{
	size_t needed = str->length + more + 1;
	char *grown;

	if (more >= SIZE_MAX / 4)
		needed = SIZE_MAX / 2;
	if (needed <= str->capacity)
		return;
	needed = needed < 32 ? 64 : 2 * needed;
	grown = arena_alloc(str->arena, needed);
	if (str->length > 0)
		memcpy(grown, str->text, str->length);
	str->text = grown;
	str->capacity = needed;
}

void str_add_text(struct str *str, const char *text, size_t length)
{
	str_reserve(str, length);
	if (length > 0)
		memcpy(str->text + str->length, text, length);
	str->length += length;
	str->text[str->length] = '\0';
}

/* Prints into the free space, and once more into enough space when that was too little. */
void str_add(struct str *str, const char *format, ...)
{
	va_list args;
	size_t space = str->capacity - str->length;
	int length;

	va_start(args, format);
	length = vsnprintf(space > 0 ? str->text + str->length : NULL, space, format, args);
	va_end(args);
	if (length < 0)
		return;
	if ((size_t) length >= space) {
		str_reserve(str, (size_t) length);
		va_start(args, format);
		vsnprintf(str->text + str->length, (size_t) length + 1, format, args);
		va_end(args);
	}
	str->length += (size_t) length;
}

const char *str_text(const struct str *str)
{
	return str->text != NULL ? str->text : "";
}
