/* SPDX-License-Identifier: MIT
 *
 * #line: what is generated, as the lines of the source it was generated from, for debuggers, profilers and messages of
 * the C compiler. A directive stands where a statement or a declaration can begin, ahead of each line of another place
 * than the compiler would count; lines that come from nowhere have their own place. */
#include "support/support.h"

#include <string.h>

struct directives {
	const struct writer *from;
	const struct sources *sources;
	const char *name;               /* of the file that is written */
	struct str to;
	int n_written;                  /* lines */
	const char *file;               /* the place of the next line, as the compiler counts */
	int line;
	bool may_stand;                 /* a directive, ahead of the next line */
	bool is_comment;                /* it begins within a comment */
};

static void add_directive(struct directives *d, const char *file, int number)
{
	str_add(&d->to, "#line %d \"", number);
	for (const char *c = file; *c; c++)
		str_add(&d->to, "%s%c", *c == '"' || *c == '\\' ? "\\" : "", *c);
	str_add(&d->to, "\"\n");
	d->n_written++;
	d->file = file;
	d->line = number;
}

static void place_next(struct directives *d, struct span span)
{
	struct source *source = span_is_known(span) ? sources_get(d->sources, span.file) : NULL;
	const char *file = source ? source->name : d->name;
	int number = source ? source_position(source, span.start).line : d->n_written + 1;

	if (!d->may_stand || (file == d->file && number == d->line))
		return;
	add_directive(d, file, source ? number : number + 1);
}

static bool ends_in(const char *row, size_t length, const char *ends)
{
	return length && strchr(ends, row[length - 1]);
}

/* Alone on its line: what it stands for is a pragma. */
static bool is_macro(const char *row, size_t length)
{
	size_t indent = strspn(row, "\t");

	return length > indent && strspn(row + indent, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") >= length - indent;
}

/* Of an if or a loop without braces, whose statement stands in the next line. */
static bool is_head(const char *row, size_t length)
{
	const char *word = row + strspn(row, "\t");

	return ends_in(row, length, ")") &&
	       (!strncmp(word, "if (", 4) || !strncmp(word, "for (", 5) || !strncmp(word, "while (", 7));
}

static void look_behind(struct directives *d, const char *row, size_t length)
{
	size_t indent = strspn(row, "\t");
	const char *opened = strstr(row, "/*"), *closed = strstr(row, "*/");
	bool opens = opened && opened < row + length, closes = closed && closed < row + length;

	d->is_comment = (d->is_comment || opens) && !closes;
	d->may_stand = !d->is_comment && (length == 0 || closes || ends_in(row, length, ";{}") ||
					  is_macro(row, length) || is_head(row, length) ||
					  (row[indent] == '#' && !ends_in(row, length, "\\")));
}

static void add_row(struct directives *d, const struct writer_line *written)
{
	const char *row = d->from->text.text + written->start;
	size_t length = strcspn(row, "\n"), indent = strspn(row, "\t");

	if (length && row[indent] != '}' && strncmp(row + indent, "/*", 2) != 0)
		place_next(d, written->span);
	str_add_text(&d->to, row, length);
	str_add_text(&d->to, "\n", 1);
	d->n_written++;
	d->line++;
	look_behind(d, row, length);
}

const char *writer_text_with_places(const struct writer *w, const struct sources *sources, const char *name)
{
	struct directives d = { .from = w, .sources = sources, .name = name, .to = str_new(w->text.arena),
				.file = name, .line = 1 };

	for (int i = 0; i < w->lines.n; i++)
		add_row(&d, &w->lines.items[i]);
	return str_text(&d.to);
}
