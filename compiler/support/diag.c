/* SPDX-License-Identifier: MIT
 *
 * Collecting diagnostics, and showing them as text: the place, what is wrong, the source line with a caret
 * range under it, then the labels as notes with places of their own, then what to do about it.
 * Tabs are shown as the blanks they stand for, other control characters as `?`, and of a very long line the
 * part around the caret, so that the caret always stands below what it means. */
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

enum { SHOWN_WIDTH = 160, SHOWN_BEFORE = 60 };

static const char *const severity_names[] = {
	[SEVERITY_REMARK] = "remark",
	[SEVERITY_WARNING] = "warning",
	[SEVERITY_ERROR] = "error",
};

static const char *const code_texts[DIAG_N] = {
#define DIAG(code, name) [DIAG_##name] = code,
#include "support/diag.def"
#undef DIAG
};

const char *diag_code_text(enum diag_code code)
{
	return code_texts[code];
}

static struct diag *diag_add(struct diags *diags, enum severity severity, enum diag_code code,
			     struct span span, const char *text)
{
	struct diag *diag = arena_new(diags->arena, struct diag);

	diag->severity = severity;
	diag->code = code;
	diag->span = span;
	diag->text = text;
	vec_push(diags->arena, &diags->list, diag);
	if (severity == SEVERITY_ERROR)
		diags->n_errors++;
	return diag;
}

struct diag *diag_error(struct diags *diags, enum diag_code code, struct span span,
			const char *format, ...)
{
	va_list args;
	const char *text;

	va_start(args, format);
	text = arena_vprintf(diags->arena, format, args);
	va_end(args);
	return diag_add(diags, SEVERITY_ERROR, code, span, text);
}

struct diag *diag_warning(struct diags *diags, enum diag_code code, struct span span,
			  const char *format, ...)
{
	va_list args;
	const char *text;

	va_start(args, format);
	text = arena_vprintf(diags->arena, format, args);
	va_end(args);
	return diag_add(diags, SEVERITY_WARNING, code, span, text);
}

struct diag *diag_remark(struct diags *diags, enum diag_code code, struct span span,
			 const char *format, ...)
{
	va_list args;
	const char *text;

	va_start(args, format);
	text = arena_vprintf(diags->arena, format, args);
	va_end(args);
	return diag_add(diags, SEVERITY_REMARK, code, span, text);
}

void diag_label(struct diags *diags, struct diag *diag, struct span span, const char *format, ...)
{
	struct diag_label label = { span, NULL };
	va_list args;

	va_start(args, format);
	label.text = arena_vprintf(diags->arena, format, args);
	va_end(args);
	vec_push(diags->arena, &diag->labels, label);
}

void diag_help(struct diags *diags, struct diag *diag, struct span span, const char *format, ...)
{
	struct diag_label help = { span, NULL };
	va_list args;

	va_start(args, format);
	help.text = arena_vprintf(diags->arena, format, args);
	va_end(args);
	vec_push(diags->arena, &diag->helps, help);
}

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
static int span_last_column(struct source *source, struct arena *arena, struct span span,
			    struct position first, int width)
{
	struct position last = source_position(source, arena, span.end);

	if (last.line != first.line || last.column > width + 1)
		return width + 1;
	return last.column;
}

static void diag_show_line(struct diags *diags, struct str *out, struct span span)
{
	struct source *source = sources_get(diags->sources, span.file);
	struct position first = source_position(source, diags->arena, span.start);
	struct shown_line shown = shown_line_new(source, diags->arena, first.line);
	int width = shown.columns.n - 1;
	int last = span_last_column(source, diags->arena, span, first, width);
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
	diag_show_line(diags, out, label.span);
}

static void diag_show(struct diags *diags, struct str *out, const struct diag *diag)
{
	bool placed = span_is_known(diag->span);

	if (placed)
		str_add(out, "%s: ", span_place(diags->sources, diags->arena, diag->span));
	str_add(out, "%s[%s]: %s\n", severity_names[diag->severity], diag_code_text(diag->code), diag->text);
	if (placed)
		diag_show_line(diags, out, diag->span);
	for (int i = 0; i < diag->labels.n; i++)
		diag_show_label(diags, out, diag->labels.items[i]);
	for (int i = 0; i < diag->helps.n; i++)
		str_add(out, "      = help: %s\n", diag->helps.items[i].text);
}

struct diag_rank {
	struct span span;
	int index;
};

static int diag_rank_compare(const void *a, const void *b)
{
	const struct diag_rank *x = a, *y = b;

	if (x->span.file != y->span.file)
		return x->span.file < y->span.file ? -1 : 1;
	if (x->span.start != y->span.start)
		return x->span.start < y->span.start ? -1 : 1;
	return x->index - y->index;
}

static struct diag_rank *diags_order(struct diags *diags)
{
	struct diag_rank *order = arena_new_array(diags->arena, struct diag_rank, diags->list.n);

	for (int i = 0; i < diags->list.n; i++)
		order[i] = (struct diag_rank) { diags->list.items[i]->span, i };
	if (diags->list.n > 1)
		qsort(order, (size_t) diags->list.n, sizeof *order, diag_rank_compare);
	return order;
}

const char *diags_text(struct diags *diags, int limit, bool remarks)
{
	struct diag_rank *order = diags_order(diags);
	struct str out = str_new(diags->arena);
	int n_errors = 0;

	for (int i = 0; i < diags->list.n; i++) {
		const struct diag *diag = diags->list.items[order[i].index];

		if (diag->severity == SEVERITY_REMARK && !remarks)
			continue;
		if (diag->severity == SEVERITY_ERROR && n_errors++ >= limit)
			continue;
		diag_show(diags, &out, diag);
	}
	if (n_errors > limit)
		str_add(&out, "%d more error%s\n", n_errors - limit, n_errors - limit == 1 ? "" : "s");
	return str_text(&out);
}
