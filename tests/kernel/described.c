/* SPDX-License-Identifier: MIT
 *
 * Descriptions of pipelines in generated C text. */
#include "kernel/described.h"

#include <string.h>

/* The text behind ".KEY = " up to one of the characters that end it; NULL: the description has no such field. */
static const char *field_of(struct arena *arena, const char *description, const char *key, const char *ends)
{
	const char *at = strstr(description, arena_printf(arena, ".%s = ", key));

	if (!at)
		return NULL;
	at = strchr(at, '=') + 2;
	at += *at == '"';
	return arena_copy(arena, at, strcspn(at, ends));
}

const char *kernel_of_text(struct arena *arena, const char *text, const char *pipeline, const char *choice)
{
	static const char start[] = "_description = {\n";

	for (const char *at = strstr(text, start); at; at = strstr(at + 1, start)) {
		const char *end = strstr(at, "\n};\n");
		const char *description = arena_copy(arena, at, (size_t) (end - at));
		const char *name = field_of(arena, description, "name", "\""), *of = NULL;

		of = field_of(arena, description, "choice", "\"");
		if (name && !strcmp(name, pipeline) && !strcmp(of ? of : "", choice ? choice : ""))
			return field_of(arena, description, "kernel", ",");
	}
	return NULL;
}
