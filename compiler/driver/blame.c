/* SPDX-License-Identifier: MIT
 *
 * Each line of the writer holds the span that caused it and the place in the compiler where it was written. The program
 * is compiled again, so the options have to be those of the first time; that is checked by comparing the texts. */
#include "driver/blame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool blame_read(struct blame *blame, struct arena *arena, const char *argument)
{
	const char *colon = strrchr(argument, ':');
	char *end = NULL;

	*blame = (struct blame) { argument, 0 };
	if (!colon)
		return true;
	blame->path = arena_copy(arena, argument, (size_t) (colon - argument));
	blame->line = strtol(colon + 1, &end, 10);
	return blame->line > 0 && !*end;
}

/* Line number `index` of what was generated, without its end. */
static const char *line_text(const struct writer *w, struct arena *arena, int index)
{
	const char *start = w->text.text + w->lines.items[index].start;

	return arena_copy(arena, start, strcspn(start, "\n"));
}

static bool same_text(const char *generated, const char *row, size_t length)
{
	return !strncmp(generated, row, length) && (generated[length] == '\0' || row[length - 1] == '\n');
}

int blame_difference(const struct compilation *c, const struct blame *blame)
{
	const char *at = str_text(&c->generated.text);
	FILE *file = fopen(blame->path, "r");
	size_t capacity = 0;
	char *row = NULL;
	ssize_t length = 0;
	int number = 0, error;

	if (!file)
		return -1;
	while (*at && (length = getline(&row, &capacity, file)) > 0) {
		number++;
		if (!same_text(at, row, (size_t) length))
			break;
		at += length;
	}
	if (!*at)
		number = fgetc(file) == EOF ? 0 : number + 1;
	else if (length <= 0)
		number++;
	error = ferror(file) ? errno : 0;
	free(row);
	fclose(file);
	errno = error;
	return error ? -1 : number;
}

/* Decisions about a statement stand within it; the span of a pipeline holds those of all its statements. */
static bool is_about(const struct decision *decision, const struct module *module, struct span span)
{
	if (!memcmp(&span, &module->span, sizeof span))
		return !memcmp(&decision->span, &span, sizeof span);
	return span_is_known(span) && decision->span.file == span.file && decision->span.start >= span.start &&
	       decision->span.end <= span.end;
}

static void add_decisions(const struct module *module, struct str *text, struct span span)
{
	for (int i = 0; i < module->decisions.n; i++) {
		const struct decision *d = &module->decisions.items[i];

		if (is_about(d, module, span))
			str_add(text, "      = %s '%s' chose %s for '%s': %s\n",
				d->is_of_lowering ? "lowering" : "pass", d->pass, d->chosen, d->subject, d->reason);
	}
}

/* ", in the lowering 'prefetch'", of a line that the file of a lowering made; else nothing. */
static const char *lowering_text(struct compilation *c, const char *emitter)
{
	static const char folder[] = "compiler/kernel/lower/";
	const char *name = emitter + strlen(folder);

	if (strncmp(emitter, folder, strlen(folder)) != 0)
		return "";
	name = arena_copy(&c->arena, name, strcspn(name, "."));
	return k_lowering_find(name) == K_BUILT ? "" : arena_printf(&c->arena, ", in the lowering '%s'", name);
}

static const char *one_line(struct compilation *c, const struct blame *blame)
{
	const struct writer_line *written = &c->generated.lines.items[blame->line - 1];
	struct str text = str_new(&c->arena);
	const char *row = line_text(&c->generated, &c->arena, (int) blame->line - 1);

	str_add(&text, "%s:%ld: %s\n", blame->path, blame->line, row + strspn(row, "\t"));
	if (span_is_known(written->span)) {
		str_add(&text, "%s: from here\n", span_place(&c->sources, &c->arena, written->span));
		span_show(&c->diags, &text, written->span);
	}
	str_add(&text, "      = written by %s%s\n", written->emitter, lowering_text(c, written->emitter));
	for (int i = 0; i < c->modules.n; i++)
		add_decisions(c->modules.items[i], &text, written->span);
	return str_text(&text);
}

const char *blame_text(struct compilation *c, const struct blame *blame)
{
	struct str text = str_new(&c->arena);

	if (blame->line > c->generated.lines.n)
		return NULL;
	if (blame->line)
		return one_line(c, blame);
	for (int i = 0; i < c->generated.lines.n; i++) {
		const struct writer_line *written = &c->generated.lines.items[i];
		bool placed = span_is_known(written->span);

		str_add(&text, "%d %s %s\n", i + 1, placed ? span_place(&c->sources, &c->arena, written->span) : "-",
			written->emitter);
	}
	return str_text(&text);
}
