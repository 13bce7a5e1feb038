/* SPDX-License-Identifier: MIT
 *
 * Texts from files, of which some (pipes) do not tell their size before they end. */
#include "support/support.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* NULL with errno set on failure. */
static char *read_all(FILE *file, size_t *size)
{
	char *text = NULL, *grown;
	size_t capacity = 0;
	int error;

	*size = 0;
	do {
		if (*size + 1 >= capacity) {
			capacity = capacity ? 2 * capacity : 65536;
			grown = realloc(text, capacity);
			if (!grown) {
				free(text);
				return NULL;
			}
			text = grown;
		}
		*size += fread(text + *size, 1, capacity - *size - 1, file);
	} while (!feof(file) && !ferror(file));
	if (!ferror(file))
		return text;
	error = errno;
	free(text);
	errno = error;
	return NULL;
}

uint32_t sources_read(struct sources *sources, const char *name)
{
	FILE *stream = fopen(name, "rb");
	size_t size = 0;
	char *text = stream ? read_all(stream, &size) : NULL;
	int error = errno;
	uint32_t file = 0;

	if (stream)
		fclose(stream);
	if (text)
		file = sources_add(sources, name, text, size);
	free(text);
	if (!file && error == ENOMEM)
		arena_exhaust(sources->arena);
	errno = error;
	return file;
}
