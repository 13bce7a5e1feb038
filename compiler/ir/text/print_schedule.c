/* SPDX-License-Identifier: MIT
 *
 * Schedules in the module format: isl's YAML, made canonical. isl prints the pieces of a union in the order of a hash
 * table, and constraints as it happens to keep them: here each set is written with the fewest constraints, and pieces
 * are sorted, so that equal schedules have equal text. */
#include "ir/text/print_private.h"
#include "ir/schedule.h"

#include <stdlib.h>
#include <string.h>

/* ---- one quoted text ---- */

static const char *fewest_constraints(struct module *module, struct arena *arena, const char *text)
{
	isl_union_set *set = isl_union_set_remove_redundancies(isl_union_set_read_from_str(module->ctx, text));
	char *printed = isl_union_set_to_str(set);
	const char *copy = printed ? arena_string(arena, printed) : text;

	isl_union_set_free(set);
	free(printed);
	return copy;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *) a, *(const char *const *) b);
}

/* "[n] -> { B; A }" becomes "[n] -> { A; B }". */
static const char *sorted_pieces(struct arena *arena, const char *text)
{
	const char *open = strstr(text, "{ "), *close = open ? strstr(open, " }") : NULL;
	VEC(const char *) pieces = { 0 };
	struct str sorted = str_new(arena);

	if (!close || close <= open + 2)
		return text;
	for (const char *from = open + 2; from < close;) {
		const char *to = strstr(from, "; ");

		to = to && to < close ? to : close;
		vec_push(arena, &pieces, arena_copy(arena, from, (size_t) (to - from)));
		from = to + 2;
	}
	qsort(pieces.items, (size_t) pieces.n, sizeof pieces.items[0], compare_texts);
	str_add_text(&sorted, text, (size_t) (open + 2 - text));
	for (int i = 0; i < pieces.n; i++)
		str_add(&sorted, "%s%s", i ? "; " : "", pieces.items[i]);
	str_add(&sorted, "%s", close);
	return str_text(&sorted);
}

/* ---- lines ---- */

static char *make_canonical(struct module *module, char *line)
{
	const char *open = strchr(line, '"'), *close = strrchr(line, '"'), *quoted;

	if (!open || open == close)
		return line;
	quoted = arena_copy(module->arena, open + 1, (size_t) (close - open - 1));
	if (strstr(line, "domain: \"") || strstr(line, "filter: \""))
		quoted = fewest_constraints(module, module->arena, quoted);
	return arena_printf(module->arena, "%.*s\"%s\"", (int) (open - line), line,
			    sorted_pieces(module->arena, quoted));
}

/* isl takes long to read a set, and most lines are those that were printed after the pass before. */
static const char *canonical_line(struct module *module, const char *line, size_t length)
{
	char *copy = arena_copy(module->arena, line, length);
	char *canonical = name_table_get(&module->texts.lines, copy);

	if (!canonical) {
		canonical = make_canonical(module, copy);
		name_table_set(module->arena, &module->texts.lines, copy, canonical);
	}
	return canonical;
}

static const char *next_line(const char *line, size_t length)
{
	return line + length + (line[length] == '\n');
}

void print_schedule(struct str *text, struct module *module, __isl_keep isl_schedule *schedule, bool is_draft)
{
	const char *line = schedule_text(module, schedule);

	while (*line) {
		size_t length = strcspn(line, "\n");

		str_add(text, "| ");
		if (is_draft)
			str_add_text(text, line, length);
		else
			str_add(text, "%s", canonical_line(module, line, length));
		str_add(text, "\n");
		line = next_line(line, length);
	}
}

/* ---- drafts ---- */

static bool lines_agree(struct module *module, const char *a, size_t a_length, const char *b, size_t b_length)
{
	if (a_length == b_length && !memcmp(a, b, a_length))
		return true;
	return *a == '|' && *b == '|' && !strcmp(canonical_line(module, a, a_length),
						 canonical_line(module, b, b_length));
}

bool module_drafts_agree(struct module *module, const char *a, const char *b)
{
	while (*a && *b) {
		size_t a_length = strcspn(a, "\n"), b_length = strcspn(b, "\n");

		if (!lines_agree(module, a, a_length, b, b_length))
			return false;
		a = next_line(a, a_length);
		b = next_line(b, b_length);
	}
	return *a == *b;
}
