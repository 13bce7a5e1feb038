/* SPDX-License-Identifier: MIT
 *
 * Diagnostics as text: the place and what is wrong, in one line; for humans also the source line with a caret
 * range under it, the labels as notes with places of their own, then what to do about it.
 * Tabs are shown as the blanks they stand for, other control characters as `?`, and of a very long line the
 * part around the caret, so that the caret always stands below what it means. */
#include "support/diag_private.h"

enum { SHOWN_WIDTH = 160, SHOWN_BEFORE = 60 };

/* A source line as shown: one character per column, and where in it a column begins. */
struct shown_line {
	struct str text;
	VEC(size_t) columns;
};

static void shown_add(struct shown_line *shown, const char *byte)
{
	struct arena *arena = shown->text.arena;
	unsigned char c = (unsigned char) *byte;

	if (c == '\t') {
		do {
			vec_push(arena, &shown->columns, shown->text.length);
			str_add_text(&shown->text, " ", 1);
		} while (shown->columns.n % 8 != 0);
		return;
	}
	if ((c & 0xc0) != 0x80)
		vec_push(arena, &shown->columns, shown->text.length);
	str_add_text(&shown->text, c < 0x20 || c == 0x7f ? "?" : byte, 1);
}

static struct shown_line shown_line_new(struct source *source, struct arena *arena, int number)
{
	struct shown_line shown = { .text = str_new(arena) };
	uint32_t i = source->lines.items[number - 1];
	uint32_t end = number < source->lines.n ? source->lines.items[number] - 1 : source->size;

	if (end > i && source->text[end - 1] == '\r')
		end--;
	for (; i < end; i++)
		shown_add(&shown, source->text + i);
	vec_push(arena, &shown.columns, shown.text.length);
	return shown;
}

/* Column behind the span, or behind the line when the span goes on below it. */
static int span_last_column(struct source *source, struct span span, struct position first, int width)
{
	struct position last = source_position(source, span.end);

	if (last.line != first.line || last.column > width + 1)
		return width + 1;
	return last.column;
}

void span_show(struct diags *diags, struct str *out, struct span span)
{
	struct source *source = sources_get(diags->sources, span.file);
	struct position first = source_position(source, span.start);
	struct shown_line shown = shown_line_new(source, diags->arena, first.line);
	int width = shown.columns.n - 1;
	int last = span_last_column(source, span, first, width);
	int from = width > SHOWN_WIDTH && first.column > SHOWN_BEFORE ? first.column - SHOWN_BEFORE : 0;
	int to = width - from > SHOWN_WIDTH ? from + SHOWN_WIDTH : width;
	const char *text = str_text(&shown.text);

	str_add(out, "%5d | %s%.*s%s\n", first.line, from > 0 ? "..." : "",
		(int) (shown.columns.items[to] - shown.columns.items[from]),
		text + shown.columns.items[from], to < width ? "..." : "");
	str_add(out, "      | %*s^", first.column - 1 - from + (from > 0 ? 3 : 0), "");
	for (int column = first.column + 1; column < last && column <= to; column++)
		str_add_text(out, "~", 1);
	str_add_text(out, "\n", 1);
}

static void diag_show_label(struct diags *diags, struct str *out, struct diag_label label)
{
	if (!span_is_known(label.span)) {
		str_add(out, "      = note: %s\n", label.text);
		return;
	}
	str_add(out, "%s: note: %s\n", span_place(diags->sources, diags->arena, label.span), label.text);
	span_show(diags, out, label.span);
}

static void diag_write_head(struct diags *diags, struct str *out, const struct diag *diag)
{
	if (span_is_known(diag->span))
		str_add(out, "%s: ", span_place(diags->sources, diags->arena, diag->span));
	str_add(out, "%s[%s]: %s\n", severity_name(diag->severity), diag_code_text(diag->code), diag->text);
}

/* One line whatever the text holds. */
void diag_write_short(struct diags *diags, struct str *out, const struct diag *diag)
{
	size_t start = out->length;

	diag_write_head(diags, out, diag);
	for (size_t i = start; i + 1 < out->length; i++)
		if (out->text[i] == '\n' || out->text[i] == '\r')
			out->text[i] = ' ';
}

void diag_write_human(struct diags *diags, struct str *out, const struct diag *diag)
{
	diag_write_head(diags, out, diag);
	if (span_is_known(diag->span))
		span_show(diags, out, diag->span);
	for (int i = 0; i < diag->labels.n; i++)
		diag_show_label(diags, out, diag->labels.items[i]);
	for (int i = 0; i < diag->helps.n; i++)
		if (*diag->helps.items[i].text)
			str_add(out, "      = help: %s\n", diag->helps.items[i].text);
}

void diag_write_more(struct str *out, int n)
{
	str_add(out, "%d more error%s\n", n, n == 1 ? "" : "s");
}
