/* SPDX-License-Identifier: MIT
 *
 * What `pmg run` itself has to say, in the format that --message-format asks for. Messages about the program come from
 * the compiler, which is given the same format; ours have no code and no place in it: as JSON both are null. */
#include "run/run.h"

#include <stdarg.h>
#include <string.h>

bool messages_open(struct session *s, struct failure *failure)
{
	const char *name = s->values.message_format;

	return diag_format_from_name(name, &s->messages) ||
	       fail(failure, OUTCOME_USAGE, "--message-format takes human, short or json, not '%s'", name);
}

/* The rest of a line that starts with "  KIND: "; NULL: it is another one. */
static const char *after_kind(const char *line, const char *kind)
{
	size_t n = strlen(kind);

	return strncmp(line, "  ", 2) == 0 && strncmp(line + 2, kind, n) == 0 && strncmp(line + 2 + n, ": ", 2) == 0 ?
	       line + n + 4 : NULL;
}

/* All lines of one kind, as the members of an array. */
static void add_lines(struct arena *arena, struct str *out, const char *text, const char *kind, const char *more)
{
	const char *between = "";

	for (const char *line = strchr(text, '\n'); line; line = strchr(line + 1, '\n')) {
		const char *rest = after_kind(line + 1, kind);

		if (!rest)
			continue;
		str_add(out, "%s{\"message\": ", between);
		str_add_json(out, arena_printf(arena, "%.*s", (int) strcspn(rest, "\n"), rest));
		str_add(out, ", \"span\": null%s}", more);
		between = ", ";
	}
}

/* Up to the first line of a note or a help. */
static size_t head_length(const char *text)
{
	const char *line = text;

	do {
		line = strchr(line + 1, '\n');
	} while (line && !after_kind(line + 1, "note") && !after_kind(line + 1, "help"));
	return line ? (size_t) (line - text) : strlen(text);
}

static void print_json(struct session *s, const char *severity, const char *text)
{
	struct str out = str_new(s->arena);

	str_add(&out, "{\"severity\": \"%s\", \"code\": null, \"message\": ", severity);
	str_add_json(&out, arena_printf(s->arena, "%.*s", (int) head_length(text), text));
	str_add(&out, ", \"span\": null, \"labels\": [");
	add_lines(s->arena, &out, text, "note", "");
	str_add(&out, "], \"helps\": [");
	add_lines(s->arena, &out, text, "help", ", \"replacement\": null");
	str_add(&out, "]}\n");
	fputs(str_text(&out), stderr);
}

int messages_report(struct session *s, const struct failure *failure, const char *command)
{
	struct failure head = *failure;

	if (s->messages == DIAG_HUMAN)
		return failure_report(failure, command);
	fflush(stdout);
	if (s->messages == DIAG_JSON) {
		print_json(s, "error", failure->text);
		return (int) failure->outcome;
	}
	head.text[strcspn(head.text, "\n")] = '\0';
	return failure_report(&head, command);
}

void messages_note(struct session *s, const char *format, ...)
{
	char text[sizeof(((struct failure *) NULL)->text)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (s->messages == DIAG_JSON)
		print_json(s, "note", text);
	else
		fprintf(stderr, "pmg run: note: %s\n", text);
}
