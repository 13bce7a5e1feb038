/* SPDX-License-Identifier: MIT
 *
 * Diagnostics for programs: one JSON object a line. Every key is always there; what is not known is null.
 *
 *   {"severity", "code", "message", "span", "labels": [{"message", "span"}],
 *    "helps": [{"message", "span", "replacement"}]}
 *   span: {"file", "line", "column", "end_line", "end_column", "start", "end"}
 *
 * `start` and `end` are byte offsets, the end behind the last byte; lines and columns are those of the other
 * formats. A help with a `replacement` can be carried out: it takes the place of the span. A line
 * {"more_errors": N} stands for errors above the limit. Bytes that are not UTF-8 become U+FFFD. */
#include "support/diag_private.h"

#include <string.h>

/* Bytes of the UTF-8 character at `text`, 0 if there is none: no overlong form, no surrogate, none over U+10FFFF. */
static size_t utf8_length(const unsigned char *text)
{
	static const struct {
		unsigned char first, last, second_first, second_last, length;
	} rows[] = {
		{ 0x20, 0x7f, 0x00, 0xff, 1 }, { 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 },
		{ 0xe1, 0xec, 0x80, 0xbf, 3 }, { 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (text[0] < rows[i].first || text[0] > rows[i].last)
			continue;
		if (text[1] < rows[i].second_first || text[1] > rows[i].second_last)
			return 0;
		for (size_t j = 2; j < rows[i].length; j++)
			if ((text[j] & 0xc0) != 0x80)
				return 0;
		return rows[i].length;
	}
	return 0;
}

void str_add_json(struct str *out, const char *text)
{
	str_add_text(out, "\"", 1);
	while (*text) {
		size_t length = utf8_length((const unsigned char *) text);

		if (*text == '"' || *text == '\\')
			str_add(out, "\\%c", *text);
		else if (length)
			str_add_text(out, text, length);
		else if ((unsigned char) *text < 0x20)
			str_add(out, "\\u%04x", (unsigned) *text);
		else
			str_add(out, "\xef\xbf\xbd");
		text += length ? length : 1;
	}
	str_add_text(out, "\"", 1);
}

static void add_span(struct diags *diags, struct str *out, struct span span)
{
	struct source *source = sources_get(diags->sources, span.file);
	struct position first, last;

	if (!source) {
		str_add(out, "null");
		return;
	}
	first = source_position(source, span.start);
	last = source_position(source, span.end);
	str_add(out, "{\"file\": ");
	str_add_json(out, source->name);
	str_add(out, ", \"line\": %d, \"column\": %d, \"end_line\": %d, \"end_column\": %d, ", first.line,
		first.column, last.line, last.column);
	str_add(out, "\"start\": %u, \"end\": %u}", (unsigned) span.start, (unsigned) span.end);
}

static void add_label(struct diags *diags, struct str *out, const struct diag_label *label)
{
	str_add(out, "{\"message\": ");
	str_add_json(out, label->text);
	str_add(out, ", \"span\": ");
	add_span(diags, out, label->span);
}

static void add_help(struct diags *diags, struct str *out, const struct diag_label *help)
{
	add_label(diags, out, help);
	str_add(out, ", \"replacement\": ");
	if (help->replacement)
		str_add_json(out, help->replacement);
	else
		str_add(out, "null");
	str_add(out, "}");
}

void diag_write_json(struct diags *diags, struct str *out, const struct diag *diag)
{
	str_add(out, "{\"severity\": \"%s\", \"code\": \"%s\", \"message\": ", severity_name(diag->severity),
		diag_code_text(diag->code));
	str_add_json(out, diag->text);
	str_add(out, ", \"span\": ");
	add_span(diags, out, diag->span);
	str_add(out, ", \"labels\": [");
	for (int i = 0; i < diag->labels.n; i++) {
		str_add(out, "%s", i ? ", " : "");
		add_label(diags, out, &diag->labels.items[i]);
		str_add(out, "}");
	}
	str_add(out, "], \"helps\": [");
	for (int i = 0; i < diag->helps.n; i++) {
		str_add(out, "%s", i ? ", " : "");
		add_help(diags, out, &diag->helps.items[i]);
	}
	str_add(out, "]}\n");
}

void diag_write_more_json(struct str *out, int n)
{
	str_add(out, "{\"more_errors\": %d}\n", n);
}
