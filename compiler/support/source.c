/* SPDX-License-Identifier: MIT
 *
 * Source texts and places in them. Files are numbered from 1, so that a zero span is one without a place.
 * A line ends before "\n" or "\r\n"; the table of line starts is made when the first place is asked for. */
#include "support/support.h"

#include <string.h>

enum { TAB_WIDTH = 8 };

struct span span_join(struct span first, struct span last)
{
	if (!span_is_known(first))
		return last;
	if (!span_is_known(last) || first.file != last.file)
		return first;
	if (last.start < first.start)
		first.start = last.start;
	if (last.end > first.end)
		first.end = last.end;
	return first;
}

bool span_is_known(struct span span)
{
	return span.file != 0;
}

bool span_equal(struct span a, struct span b)
{
	return a.file == b.file && a.start == b.start && a.end == b.end;
}

uint32_t sources_add(struct sources *sources, const char *name, const char *text, size_t size)
{
	struct source *source = arena_new(sources->arena, struct source);

	if (size >= UINT32_MAX)
		size = UINT32_MAX - 1;
	source->arena = sources->arena;
	source->name = arena_string(sources->arena, name);
	source->text = arena_copy(sources->arena, text, size);
	source->size = (uint32_t) size;
	vec_push(sources->arena, &sources->files, source);
	return (uint32_t) sources->files.n;
}

struct source *sources_get(const struct sources *sources, uint32_t file)
{
	if (file == 0 || file > (uint32_t) sources->files.n)
		return NULL;
	return sources->files.items[file - 1];
}

static void source_find_lines(struct source *source)
{
	if (source->lines.n > 0)
		return;
	vec_push(source->arena, &source->lines, source->start);
	for (uint32_t i = source->start; i < source->size; i++)
		if (source->text[i] == '\n')
			vec_push(source->arena, &source->lines, i + 1);
}

/* Index of the line that holds `offset`: the last one that does not start behind it. */
static int source_line(struct source *source, uint32_t offset)
{
	int low = 0, high;

	source_find_lines(source);
	high = source->lines.n - 1;
	while (low < high) {
		int middle = low + (high - low + 1) / 2;

		if (source->lines.items[middle] <= offset)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

static uint32_t source_line_end(struct source *source, int line_index)
{
	uint32_t end = source->size;

	if (line_index + 1 < source->lines.n)
		end = source->lines.items[line_index + 1] - 1;
	if (end > source->lines.items[line_index] && source->text[end - 1] == '\r')
		end--;
	return end;
}

struct position source_position(struct source *source, uint32_t offset)
{
	int index = source_line(source, offset);
	int column = 0;

	if (offset > source->size)
		offset = source->size;
	for (uint32_t i = source->lines.items[index]; i < offset; i++) {
		unsigned char byte = (unsigned char) source->text[i];

		if (byte == '\t')
			column = (column / TAB_WIDTH + 1) * TAB_WIDTH;
		else if ((byte & 0xc0) != 0x80)
			column++;
	}
	return (struct position) { index + 1, column + 1 };
}

const char *span_text(const struct sources *sources, struct arena *arena, struct span span)
{
	const struct source *source = sources_get(sources, span.file);

	if (source == NULL || span.start > span.end || span.end > source->size)
		return "";
	return arena_copy(arena, source->text + span.start, span.end - span.start);
}

/* The whole lines that the span touches, without the end of the last one. */
const char *span_lines(const struct sources *sources, struct arena *arena, struct span span)
{
	struct source *source = sources_get(sources, span.file);
	uint32_t start, end;
	int last;

	if (source == NULL)
		return "";
	last = source_line(source, span.end > span.start ? span.end - 1 : span.start);
	start = source->lines.items[source_line(source, span.start)];
	end = source_line_end(source, last);
	return arena_copy(arena, source->text + start, end > start ? end - start : 0);
}

const char *span_place(const struct sources *sources, struct arena *arena, struct span span)
{
	struct source *source = sources_get(sources, span.file);
	struct position position;

	if (source == NULL)
		return "";
	position = source_position(source, span.start);
	return arena_printf(arena, "%s:%d:%d", source->name, position.line, position.column);
}

const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}
