/* SPDX-License-Identifier: MIT
 *
 * Random programs ask for random schedules. What an error says about an item of a schedule block (not supported, makes
 * no sense, would break a dependence) is an answer: the item is blanked and the rest compiled again. Any other error
 * is one. */
#include "random/build.h"

#include <stdlib.h>
#include <string.h>

#include "driver/emit.h"
#include "driver/options.h"
#include "hines/tree_file.h"

#define SCHEDULE "schedule {"

enum { ROUNDS = 12 };

static bool is_about_schedule(const struct diag *diag)
{
	return diag->code == DIAG_NOT_SUPPORTED || !strncmp(diag_code_text(diag->code), "PMG05", 5);
}

static char *file_text(const char *path)
{
	FILE *file = fopen(path, "rb");
	char *text = NULL;
	size_t capacity = 0;
	ssize_t n = file ? getdelim(&text, &capacity, 0, file) : -1;

	if (file)
		fclose(file);
	if (n >= 0)
		return text;
	free(text);
	return NULL;
}

static void blank(char *at, size_t n)
{
	for (size_t i = 0; i < n && at[i]; i++)
		if (at[i] != '\n')
			at[i] = ' ';
}

/* Is this place an item of a schedule block? */
static bool is_in_schedule(const char *text, size_t at)
{
	size_t length = strlen(SCHEDULE);

	while (at > 0 && text[at - 1] != '{' && text[at - 1] != '}')
		at--;
	return at >= length && !strncmp(text + at - length, SCHEDULE, length);
}

void item_counts_add(struct item_count counts[MOST_VERBS], const char *verb, int asked, int kept)
{
	for (int i = 0; i < MOST_VERBS; i++)
		if (!counts[i].verb[0] || !strcmp(counts[i].verb, verb)) {
			snprintf(counts[i].verb, sizeof counts[i].verb, "%s", verb);
			counts[i].asked += asked;
			counts[i].kept += kept;
			return;
		}
}

/* Counts the items of all schedule blocks, each the first on its line or behind another. */
static void count_items(const char *text, struct item_count counts[MOST_VERBS], bool are_kept)
{
	for (const char *at = strstr(text, SCHEDULE); at; at = strstr(at + 1, SCHEDULE)) {
		const char *end = at + strcspn(at, "}");

		for (const char *item = at + strlen(SCHEDULE); item < end; item += strcspn(item, ";}") + 1) {
			char verb[16] = "";

			item += strspn(item, " \n;");
			if (item < end && sscanf(item, "%15[a-z]", verb) == 1)
				item_counts_add(counts, verb, !are_kept, are_kept);
		}
	}
}

/* Blanks the item around this place, whichever part of it an error points at; once, if there are several errors. */
static void blank_item(char *text, size_t at)
{
	const size_t end = at + strcspn(text + at, ";}");

	if (text[at] == ' ')
		return;
	while (!strchr("{;", text[at - 1]))
		at--;
	blank(text + at, end - at + (text[end] == ';'));
}

/* Blanks the items that errors speak of. False when there is another error, or none. */
static bool blank_refused(const struct compilation *c, char *text)
{
	bool has_blanked = false;

	for (int i = 0; i < c->diags.list.n; i++) {
		const struct diag *diag = c->diags.list.items[i];

		if (diag->severity != SEVERITY_ERROR)
			continue;
		if (!is_about_schedule(diag) || !is_in_schedule(text, diag->span.start))
			return false;
		blank_item(text, diag->span.start);
		has_blanked = true;
	}
	return has_blanked;
}

/* Warnings, of which random programs have many, left out. */
static void tell_errors(const struct compilation *c, const char *variant)
{
	for (int i = 0; i < c->diags.list.n; i++) {
		struct diag *diag = c->diags.list.items[i];

		if (diag->severity == SEVERITY_ERROR)
			fprintf(stderr, "%s: %s: %s: %s\n%s\n", variant, diag_code_text(diag->code), diag->text,
				span_place(&c->sources, c->diags.arena, diag->span),
				span_lines(&c->sources, c->diags.arena, diag->span));
	}
}

bool comparison_read(const struct comparison *comparison, struct compilation *c)
{
	char *text = file_text(comparison->file);
	bool ok;

	if (!text)
		return fprintf(stderr, "cannot read '%s'\n", comparison->file), false;
	for (char *at = strstr(text, SCHEDULE); at; at = strstr(at, SCHEDULE))
		blank(at, strcspn(at, "}") + 1);
	c->read_tree = tree_file_read;
	c->file = sources_add(&c->sources, comparison->file, arena_copy(&c->arena, text, strlen(text)), strlen(text));
	ok = compilation_parse(c) && compilation_lower(c);
	if (!ok)
		tell_errors(c, "interpreter");
	free(text);
	return ok;
}

static bool set_flags(struct compilation *c, const char *flags)
{
	char *copy = arena_printf(&c->arena, "%s", flags), *rest = NULL;
	bool ok = true;

	for (char *flag = strtok_r(copy, " ", &rest); flag; flag = strtok_r(NULL, " ", &rest))
		ok = options_pass_flag(&c->options, flag) && ok;
	return ok;
}

/* Does the text compile when nothing is asked about its schedule? */
static bool is_right(const struct comparison *comparison, const char *text)
{
	struct compilation *c = compilation_new();
	bool ok;

	c->options.overrides = false;
	c->options.schedule = ORDER_TEXTUAL;
	c->read_tree = tree_file_read;
	c->file = sources_add(&c->sources, comparison->file, arena_copy(&c->arena, text, strlen(text)), strlen(text));
	ok = compilation_parse(c) && compilation_lower(c) && compilation_run_passes(c);
	compilation_free(c);
	return ok;
}

/* One attempt at `text`. OUTCOME_REFUSED with `again` where items were blanked. */
static enum outcome generate(const struct comparison *comparison, const struct variant *v, int number, char *text,
			     bool *again)
{
	struct compilation *c = compilation_new();
	enum outcome outcome = OUTCOME_AGREES;
	const char *c_text, *h_text, *base = arena_printf(&c->arena, "v%d", number);

	c->read_tree = tree_file_read;
	c->file = sources_add(&c->sources, comparison->file, arena_copy(&c->arena, text, strlen(text)), strlen(text));
	if (!strcmp(v->compiler, "device") || !strcmp(v->compiler, "opencl"))
		compilation_choose_target(c, *v->compiler == 'd' ? "cuda" : v->compiler);
	if (comparison->begin)
		comparison->begin(c, comparison->user);
	if (set_flags(c, v->pmgc) && compilation_parse(c) && compilation_lower(c) && compilation_run_passes(c) &&
	    compilation_generate(c, base, &c_text, &h_text)) {
		emit_file(arena_printf(&c->arena, "%s/%s.c", comparison->folder, base), c_text);
		emit_file(arena_printf(&c->arena, "%s/%s.h", comparison->folder, base), h_text);
		if (c->device_text)
			emit_file(arena_printf(&c->arena, "%s/%s.cu", comparison->folder, base), c->device_text);
	} else {
		*again = blank_refused(c, text);
		outcome = !*again && is_right(comparison, text) ? OUTCOME_INTERNAL : OUTCOME_REFUSED;
		if (!*again)
			tell_errors(c, v->name);
	}
	if (outcome == OUTCOME_AGREES && comparison->kept)
		*comparison->kept = c;
	else
		compilation_free(c);
	return outcome;
}

enum outcome variant_generate(const struct comparison *comparison, const struct variant *v, int number,
			      struct item_count counts[MOST_VERBS])
{
	char *text = file_text(comparison->file);
	enum outcome outcome = OUTCOME_REFUSED;
	bool again = text;

	if (text)
		count_items(text, counts, false);
	for (int round = 0; again && round < ROUNDS; round++) {
		again = false;
		outcome = generate(comparison, v, number, text, &again);
	}
	if (outcome == OUTCOME_AGREES)
		count_items(text, counts, true);
	free(text);
	return outcome;
}

static enum outcome compile_variant(const struct comparison *comparison, struct variant *v, int number,
				    struct item_count counts[MOST_VERBS])
{
	const enum outcome outcome = variant_generate(comparison, v, number, counts);

	if (outcome != OUTCOME_AGREES)
		return outcome;
	if (getenv("PMG_TEST_PLANT") &&
	    !run_command("sed -i -E \"$PMG_TEST_PLANT\" %s/v%d.c", comparison->folder, number))
		return OUTCOME_BAD_C;
	return variant_compile(comparison, v, number) ? OUTCOME_AGREES : OUTCOME_BAD_C;
}

enum outcome comparison_compile(struct comparison *comparison, struct item_count counts[MOST_VERBS])
{
	enum outcome outcome = OUTCOME_AGREES;

	for (int v = 0; outcome == OUTCOME_AGREES && v < comparison->n_variants; v++)
		outcome = compile_variant(comparison, &comparison->variants[v], comparison->n_built++, counts);
	return outcome;
}
