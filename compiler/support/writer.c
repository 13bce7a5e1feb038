/* SPDX-License-Identifier: MIT
 *
 * Indented lines with provenance. A format may hold several lines: each gets the indentation and an entry of
 * its own in `lines`. Indentation is by tabs; an empty line gets none. */
#include "support/support.h"

#include <string.h>

struct writer writer_new(struct arena *arena)
{
	return (struct writer) { .text = str_new(arena) };
}

static void writer_add_line(struct writer *w, const char *emitter, const char *text, size_t length)
{
	struct writer_line entry = { (uint32_t) w->text.length, w->span, emitter };

	vec_push(w->text.arena, &w->lines, entry);
	for (int i = 0; i < w->indent && length > 0; i++)
		str_add_text(&w->text, "\t", 1);
	str_add_text(&w->text, text, length);
	str_add_text(&w->text, "\n", 1);
}

static void writer_add_lines(struct writer *w, const char *emitter, const char *text)
{
	const char *end;

	while ((end = strchr(text, '\n')) != NULL) {
		writer_add_line(w, emitter, text, (size_t) (end - text));
		text = end + 1;
	}
	writer_add_line(w, emitter, text, strlen(text));
}

void writer_line_at(struct writer *w, const char *emitter, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	writer_add_lines(w, emitter, arena_vprintf(w->text.arena, format, args));
	va_end(args);
}

void writer_open_at(struct writer *w, const char *emitter, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	writer_add_lines(w, emitter, arena_vprintf(w->text.arena, format, args));
	va_end(args);
	w->indent++;
}

void writer_close_at(struct writer *w, const char *emitter, const char *format, ...)
{
	va_list args;

	if (w->indent > 0)
		w->indent--;
	va_start(args, format);
	writer_add_lines(w, emitter, arena_vprintf(w->text.arena, format, args));
	va_end(args);
}

void writer_blank_at(struct writer *w, const char *emitter)
{
	writer_add_line(w, emitter, "", 0);
}

void writer_take_back(struct writer *w)
{
	w->text.length = w->lines.items[--w->lines.n].start;
	w->text.text[w->text.length] = '\0';
}
