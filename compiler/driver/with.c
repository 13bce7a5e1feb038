/* SPDX-License-Identifier: MIT
 *
 * Items of the schedule and sizes that are asked for with a program, not in it: `--with "restructure PHI by voxel"`,
 * `--specialize nTheta=96`. They are read by the parser as if they stood at the end of each pipeline; a pipeline that
 * does not know their names is not meant. */
#include "driver/with.h"

#include <string.h>

/* What an option asks for, between what makes a program of it. */
struct asked {
	const char *flag, *before, *text, *behind;
	bool is_of_items;               /* which stand in a block in a file */
	void (*explain)(struct compilation *c, struct span item);       /* that ends too early */
};

static const char blanks[] = " \t\r\n\f\v";

/* What stands in a text beside blanks and comments: nothing but semicolons, a semicolon at the end. */
struct signs {
	bool are_none, end_item;
};

static struct signs signs_of(const char *text)
{
	struct signs signs = { .are_none = true };
	bool is_in_string = false;

	while (*text) {
		if (*text == '#' && !is_in_string) {
			text += strcspn(text, "\n");
			continue;
		}
		if (!strchr(blanks, *text)) {
			is_in_string ^= *text == '"';
			signs.end_item = *text == ';';
			signs.are_none &= *text == ';';
		}
		text++;
	}
	return signs;
}

/* The item that holds or precedes byte `at`, without blanks around it. */
static struct span item_at(const struct source *source, uint32_t file, uint32_t at)
{
	struct span item = { file, source->start, source->size };

	for (uint32_t i = source->start; i < at && i < source->size; i++)
		item.start = source->text[i] == ';' ? i + 1 : item.start;
	while (item.end > item.start && strchr(blanks, source->text[item.end - 1]))
		item.end--;
	item.start += (uint32_t) strspn(source->text + item.start, blanks);
	if (item.start > item.end)
		item.start = item.end;
	return item;
}

static const char some_items[] = "fuse a, b; tile f (32, 256);";

static void explain_with(struct compilation *c, struct span item)
{
	const char *text = span_text(&c->sources, &c->arena, item);
	size_t length = strcspn(text, " \t\r\n,:;(");
	const struct tree_name verb = { .name = arena_copy(&c->arena, text, length),
					.span = { item.file, item.start, item.start + (uint32_t) length } };
	const char *example = *text ? schedule_item_example(&c->diags, &verb) : some_items;
	struct diag *diag;

	if (!example)
		return;
	diag = diag_error(&c->diags, DIAG_UNEXPECTED_TOKEN, item, *text ? "this is no whole item of a schedule" :
			  "there is no item of a schedule");
	diag_help(&c->diags, diag, item, "as in --with=\"%s\"", example);
}

static void explain_specialize(struct compilation *c, struct span item)
{
	struct diag *diag = diag_error(&c->diags, DIAG_UNEXPECTED_TOKEN, item,
				       "a size and its value are needed");

	diag_help(&c->diags, diag, item, "as in --specialize=n=96");
}

/* "{ tile f (8); }" or "schedule { … }": the block that stands around items in a file. */
static bool is_in_block(const char *text)
{
	static const char word[] = "schedule";

	text += strspn(text, blanks);
	if (!strncmp(text, word, strlen(word)))
		text += strlen(word) + strspn(text + strlen(word), blanks);
	return *text == '{';
}

static void refuse_block(struct compilation *c, const struct source *source, uint32_t file)
{
	struct span all = { file, source->start, source->size };
	struct diag *diag = diag_error(&c->diags, DIAG_UNEXPECTED_TOKEN, all,
				       "items stand here without a block around them");

	diag_help(&c->diags, diag, all, "as in --with=\"%s\"", some_items);
}

/* The statements, or NULL after a diagnostic. Its source ends where the user's text does. */
static const tree_stmts *read_statements(struct compilation *c, const struct asked *asked)
{
	const struct signs signs = signs_of(asked->text);
	const char *whole = arena_printf(&c->arena, "%s%s\n%s%s", asked->before, asked->text,
					 signs.end_item ? "" : ";", asked->behind);
	uint32_t file = sources_add(&c->sources, asked->flag, whole, strlen(whole));
	struct source *source = sources_get(&c->sources, file);
	int n_before = c->diags.list.n, n_errors = c->diags.n_errors;
	bool is_block = asked->is_of_items && is_in_block(asked->text), has_errors;
	struct tree_file *tree;

	source->start = (uint32_t) strlen(asked->before);
	if (signs.are_none) {
		source->size = source->start + (uint32_t) strlen(asked->text);
		asked->explain(c, (struct span) { file, source->start, source->start });
		return NULL;
	}
	tree = syntax_parse(&c->arena, &c->diags, file);
	source->size = source->start + (uint32_t) strlen(asked->text);
	has_errors = c->diags.n_errors > n_errors;
	if (has_errors && (is_block || c->diags.list.items[n_before]->span.start >= source->size)) {
		c->diags.list.n = n_before;
		c->diags.n_errors = n_errors;
		if (is_block)
			refuse_block(c, source, file);
		else
			asked->explain(c, item_at(source, file, source->size));
	}
	return c->diags.n_errors || !tree->pipelines.n ? NULL : &tree->pipelines.items[0]->body;
}

/* A statement for each item, so that each is for the pipelines that know its names. */
static tree_stmts one_by_one(struct compilation *c, const tree_stmts *stmts)
{
	tree_stmts all = { 0 };

	for (int i = 0; i < stmts->n; i++) {
		struct tree_stmt *stmt = stmts->items[i];

		for (int j = 0; j < stmt->items.n; j++) {
			struct tree_stmt *one = arena_new(&c->arena, struct tree_stmt);

			*one = (struct tree_stmt) { .kind = stmt->kind, .span = stmt->items.items[j]->span };
			vec_push(&c->arena, &one->items, stmt->items.items[j]);
			vec_push(&c->arena, &all, one);
		}
		if (!stmt->items.n)
			vec_push(&c->arena, &all, stmt);
	}
	return all;
}

static struct tree_asked *asked_new(struct arena *arena, const struct tree_stmt *stmt)
{
	struct tree_asked *asked = arena_new(arena, struct tree_asked);

	asked->names = stmt->items.n ? &stmt->items.items[0]->subjects : &stmt->names;
	asked->are_known = arena_new_array(arena, bool, asked->names->n + 1);
	return asked;
}

static void add_statements(struct compilation *c, const struct asked *asked)
{
	const tree_stmts *read = c->tree ? read_statements(c, asked) : NULL;
	tree_stmts stmts = read ? one_by_one(c, read) : (tree_stmts) { 0 };

	for (int i = 0; i < stmts.n; i++) {
		stmts.items[i]->asked = asked_new(&c->arena, stmts.items[i]);
		vec_push(&c->arena, &c->asked, stmts.items[i]);
		for (int p = 0; p < c->tree->pipelines.n; p++)
			vec_push(&c->arena, &c->tree->pipelines.items[p]->body, stmts.items[i]);
	}
}

void with_add(struct compilation *c)
{
	if (c->options.with)
		add_statements(c, &(struct asked) { "--with", "pipeline with { schedule { ", c->options.with, "} }",
						    true, explain_with });
	if (c->options.specialize)
		add_statements(c, &(struct asked) { "--specialize", "pipeline with { specialize ",
						    c->options.specialize, "}", false, explain_specialize });
}

/* ---- names that no pipeline knows ---- */

static void report_name(struct compilation *c, const struct tree_asked *asked, const struct tree_name *name)
{
	enum { MOST_LISTED = 8 };
	const char *text = name_text(&c->arena, name);
	const char *nearest = suggest_nearest(text, asked->others.items, asked->others.n);
	struct diag *diag = diag_error(&c->diags, DIAG_UNKNOWN_NAME, name->span,
				       "there is no '%s' in the pipelines of the file", text);
	struct str all = str_new(&c->arena);

	for (int i = 0; i < asked->others.n; i++)
		str_add(&all, "%s%s", !i ? "" : i < asked->others.n - 1 ? ", " : " and ", asked->others.items[i]);
	if (nearest)
		diag_did_you_mean(&c->diags, diag, name->span, text, nearest);
	else if (asked->others.n && asked->others.n <= MOST_LISTED)
		diag_help(&c->diags, diag, name->span, "here can stand %s", str_text(&all));
}

static void report_names(struct compilation *c, const struct tree_stmt *stmt)
{
	const struct tree_asked *asked = stmt->asked;
	int n_unknown = 0;

	for (int i = 0; i < asked->names->n; i++)
		if (!asked->are_known[i]) {
			report_name(c, asked, &asked->names->items[i]);
			n_unknown++;
		}
	if (!n_unknown)
		diag_error(&c->diags, DIAG_UNKNOWN_NAME, stmt->span, "no pipeline of the file has all these names");
}

void with_check(struct compilation *c)
{
	for (int i = 0; i < c->asked.n; i++)
		if (!c->asked.items[i]->asked->is_meant)
			report_names(c, c->asked.items[i]);
}
