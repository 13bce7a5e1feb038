/* SPDX-License-Identifier: MIT
 *
 * What generated code says about itself: places in the .pmg file, its lines above each loop nest, the decisions of
 * the passes at the top; and strings of C. Paths are cut to the name of the file, so that the same program gives the
 * same text everywhere. */
#include <string.h>

#include "codegen/codegen_private.h"

enum { COLUMNS = 120, SHOWN_LINES = 8 };

/* ---- strings ---- */

const char *c_string(struct arena *arena, const char *text)
{
	struct str out = str_new(arena);

	str_add(&out, "\"");
	for (const char *c = text; *c; c++) {
		unsigned char byte = (unsigned char) *c;

		if (byte == '"' || byte == '\\' || (byte == '?' && c > text && c[-1] == '?'))
			str_add(&out, "\\%c", byte);
		else if (byte < 0x20 || byte == 0x7f)
			str_add(&out, "\\%03o", (unsigned) byte);
		else
			str_add_text(&out, c, 1);
	}
	str_add(&out, "\"");
	return str_text(&out);
}

/* Text that ends no comment and begins none. */
static const char *in_comment(struct arena *arena, const char *text)
{
	struct str out = str_new(arena);

	for (const char *c = text; *c; c++) {
		bool splits = c > text && ((c[0] == '/' && c[-1] == '*') || (c[0] == '*' && c[-1] == '/'));

		bool is_odd = (unsigned char) *c < 0x20 && *c != '\t' && *c != '\n';

		str_add(&out, "%s%c", splits ? " " : "", is_odd ? ' ' : *c);
	}
	return str_text(&out);
}

/* ---- places ---- */

const char *source_place(const struct module *module, struct span span)
{
	struct source *source = sources_get(module->diags->sources, span.file);

	if (!source)
		return "";
	return arena_printf(module->arena, "%s:%d", file_name(source->name),
			    source_position(source, span.start).line);
}

const char *source_file(const struct module *module)
{
	return file_name(module->source_name ? module->source_name : "");
}

/* ---- lines of the program ---- */

typedef VEC(const char *) line_list;

/* Without what the user says behind `#`, and without the blanks before it. */
static line_list lines_of(struct arena *arena, const char *text)
{
	line_list lines = { 0 };

	while (*text) {
		size_t length = strcspn(text, "\n"), kept = strcspn(text, "#\n");

		while (kept && strchr(" \t\r", text[kept - 1]))
			kept--;
		vec_push(arena, &lines, arena_copy(arena, text, kept));
		text += length + (text[length] == '\n');
	}
	return lines;
}

static size_t common_indent(const line_list *lines)
{
	size_t common = SIZE_MAX;

	for (int i = 0; i < lines->n; i++) {
		size_t indent = strspn(lines->items[i], " \t");

		if (lines->items[i][indent] && indent < common)
			common = indent;
	}
	return common == SIZE_MAX ? 0 : common;
}

static void add_comment(struct k_builder *b, const char *text)
{
	k_add(b, k_stmt(b->arena, KS_COMMENT), EMITTER)->text = text;
}

void add_source_comment(struct k_builder *b, struct module *module, struct span span)
{
	struct arena *arena = module->arena;
	struct str text = str_new(arena);
	line_list lines;
	size_t indent;

	if (!span_is_known(span))
		return;
	lines = lines_of(arena, in_comment(arena, span_lines(module->diags->sources, arena, span)));
	indent = common_indent(&lines);
	if (lines.n == 1 && strlen(lines.items[0]) < COLUMNS - 50) {
		add_comment(b, arena_printf(arena, "/* %s    (%s) */", lines.items[0] + indent,
					    source_place(module, span)));
		return;
	}
	str_add(&text, "/* %s", source_place(module, span));
	for (int i = 0; i < lines.n && i < SHOWN_LINES; i++)
		if (strlen(lines.items[i]) > indent)
			str_add(&text, "\n *     %s", lines.items[i] + indent);
	str_add(&text, "\n%s */", lines.n > SHOWN_LINES ? " *     ..." : "");
	add_comment(b, str_text(&text));
}

/* ---- decisions ---- */

/* One paragraph: what its first line begins with, and its others. */
static void emit_wrapped(struct writer *w, const char *lead, const char *next, const char *text)
{
	struct arena *arena = w->text.arena;

	while (*text) {
		size_t room = COLUMNS - strlen(lead), length = strlen(text);

		if (length > room)
			for (length = room; length > room / 2 && text[length] != ' '; length--)
				;
		line(w, "%s%s", lead, arena_copy(arena, text, length));
		text += length;
		text += strspn(text, " ");
		lead = next;
	}
}

void emit_title(struct writer *w, const char *text)
{
	emit_wrapped(w, " * ", " *     ", in_comment(w->text.arena, text));
}

/* But for what it is about, and where in the file. */
static bool is_same_decision(const struct decision *a, const struct decision *b)
{
	struct decision moved = *b;

	moved.subject = a->subject;
	moved.span.start = a->span.start;
	return decision_equal(a, &moved);
}

static bool is_decided(const struct module *module, const struct decision *decision)
{
	bool is = false;

	for (int i = 0; module && i < module->decisions.n; i++)
		is = is || decision_equal(&module->decisions.items[i], decision);
	return is;
}

static bool holds(const line_list *texts, const char *text)
{
	for (int i = 0; i < texts->n; i++)
		if (!strcmp(texts->items[i], text))
			return true;
	return false;
}

static void add_once(struct arena *arena, line_list *texts, const char *text)
{
	if (*text && !holds(texts, text))
		vec_push(arena, texts, text);
}

static const char *joined(struct arena *arena, const line_list *texts)
{
	struct str out = str_new(arena);

	for (int i = 0; i < texts->n; i++)
		str_add(&out, "%s%s", i ? ", " : "", texts->items[i]);
	return str_text(&out);
}

/* hines.pmg:7, 9: all are of one file, which is said once. */
static const char *places_text(struct arena *arena, const line_list *places)
{
	struct str out = str_new(arena);

	for (int i = 0; i < places->n; i++)
		str_add(&out, "%s%s", i ? ", " : "", i ? strrchr(places->items[i], ':') + 1 : places->items[i]);
	return str_text(&out);
}

/* The decisions of the list that are the first one's, of all that are subject to it. */
static const char *decisions_text(const struct module *module, const struct decision *const *list, int n)
{
	const struct decision *first = list[0];
	line_list subjects = { 0 }, places = { 0 };

	for (int i = 0; i < n; i++) {
		if (!is_same_decision(first, list[i]))
			continue;
		add_once(module->arena, &subjects, list[i]->subject);
		add_once(module->arena, &places, source_place(module, list[i]->span));
	}
	return in_comment(module->arena, arena_printf(module->arena, "%s of %s: %s (not %s); %s%s%s", first->pass,
						      joined(module->arena, &subjects), first->chosen,
						      first->alternatives, first->reason, places.n ? ", " : "",
						      places_text(module->arena, &places)));
}

static bool is_told(const struct decision *const *list, int n)
{
	for (int i = 0; i < n; i++)
		if (is_same_decision(list[i], list[n]))
			return true;
	return false;
}

void emit_decisions(struct writer *w, const struct module *module, const struct module *known)
{
	VEC(const struct decision *) list = { 0 };

	for (int i = 0; i < module->decisions.n; i++)
		if (!is_decided(known, &module->decisions.items[i]))
			vec_push(module->arena, &list, &module->decisions.items[i]);
	for (int i = 0; i < list.n; i++) {
		w->span = list.items[i]->span;
		if (!is_told(list.items, i))
			emit_wrapped(w, " * - ", " *   ", decisions_text(module, list.items + i, list.n - i));
	}
}
