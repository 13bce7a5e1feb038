/* SPDX-License-Identifier: MIT
 *
 * The builder's side of quotation. A text is taken a line at a time, whatever calls it came by: a comment goes on until
 * it ends, an annotation waits for its statement, an if or a loop without braces for the one that it guards. The first
 * error is kept; the line that it is in is left out. */
#include "kernel/quote.h"

#include <string.h>

static void fail(struct k_builder *builder, const char *emitter, const char *text, const char *why)
{
	if (!builder->error)
		builder->error = arena_printf(builder->arena, "%s: cannot quote '%s': %s", file_name(emitter), text,
					      why);
}

/* Comments and empty lines do not come between a line and what it is about. */
static void check_nothing_waits(struct k_builder *builder, const char *emitter, const char *text)
{
	if (builder->annotation || builder->bare)
		fail(builder, emitter, text, "the line before it does not fit");
}

/* ---- comments ---- */

static void add_comment(struct k_builder *builder, const char *emitter, const char *text)
{
	struct k_stmt *stmt = k_stmt(builder->arena, KS_COMMENT);

	check_nothing_waits(builder, emitter, text);
	stmt->text = arena_string(builder->arena, text);
	k_add(builder, stmt, emitter);
}

/* The rest of a text from where a comment begins or goes on. Returns what is behind its last line, or NULL. */
static const char *take_comment(struct k_builder *builder, const char *emitter, const char *text)
{
	const char *end = strstr(text, "*/"), *behind = end ? strchr(end, '\n') : NULL;

	builder->is_in_comment = !end;
	add_comment(builder, emitter, behind ? arena_copy(builder->arena, text, (size_t) (behind - text)) : text);
	return behind ? behind + 1 : NULL;
}

/* ---- statements ---- */

static void add_all(struct k_builder *builder, const char *emitter, const struct quoted *quoted)
{
	const int n = quoted->stmts.stmts.n;

	for (int i = 0; i < n; i++) {
		struct k_stmt *stmt = quoted->stmts.stmts.items[i];

		if (stmt->kind == KS_IF && stmt->branch.is_bare && stmt->branch.then.stmts.n) {
			stmt->branch.then.stmts.items[0]->span = builder->span;
			stmt->branch.then.stmts.items[0]->emitter = emitter;
		}
		if (quoted->opens && i == n - 1)
			k_open(builder, stmt, emitter);
		else
			k_add(builder, stmt, emitter);
		if (quoted->guards)
			builder->bare = stmt;
	}
}

void quote_take_annotation(struct k_builder *builder, struct k_stmt *stmt)
{
	const struct k_stmt *annotation = builder->annotation;

	if (!annotation || !quote_annotate(stmt, annotation))
		return;
	stmt->annotation = (struct k_place) { annotation->span, annotation->emitter };
	builder->annotation = NULL;
}

static void take_statement(struct k_builder *builder, const char *emitter, const char *text)
{
	struct k_reader r = k_reader_new(builder->arena, text);
	struct quoted quoted = { 0 };
	const struct k_stmt *annotation = builder->annotation;

	quote_read(&r, &quoted);
	if (!r.error && r.token.kind != K_TOKEN_END)
		k_fail(&r, "there is more than one statement");
	if (r.error) {
		fail(builder, emitter, text, r.error);
		return;
	}
	if (annotation && quoted.stmts.stmts.n == 1)
		quote_take_annotation(builder, quoted.stmts.stmts.items[0]);
	if (builder->annotation)
		fail(builder, emitter, text, "the line before it does not fit");
	builder->annotation = NULL;
	add_all(builder, emitter, &quoted);
}

static void take_annotation(struct k_builder *builder, const char *emitter, const char *text)
{
	const char *error;
	struct k_stmt *stmt = quote_annotation(builder->arena, text, &error);

	if (!stmt || builder->annotation || builder->bare) {
		fail(builder, emitter, text, stmt ? "the line before it does not fit" : error);
		return;
	}
	stmt->span = builder->span;
	stmt->emitter = emitter;
	builder->annotation = stmt;
}

/* ---- lines ---- */

static bool is_closing(const char *text)
{
	return !strcmp(text, "}") || !strcmp(text, "};");
}

static void take_close(struct k_builder *builder, const char *emitter, const char *text)
{
	const struct k_stmt *owner = builder->owners.items[builder->owners.n - 1];

	if (!owner || (owner->kind == KS_RECORD) != (text[1] == ';'))
		fail(builder, emitter, text, "no such block is open");
	else if (builder->annotation || builder->bare)
		fail(builder, emitter, text, "the line before it does not fit");
	else
		k_close(builder, emitter);
}

static void add_blank(struct k_builder *builder, const char *emitter)
{
	check_nothing_waits(builder, emitter, "");
	k_add(builder, k_stmt(builder->arena, KS_BLANK), emitter);
}

static void take_line(struct k_builder *builder, const char *emitter, const char *text)
{
	if (!*text)
		add_blank(builder, emitter);
	else if (is_closing(text))
		take_close(builder, emitter, text);
	else if (!strcmp(text, "} else {"))
		k_otherwise(builder, emitter);
	else if (quote_is_annotation(text))
		take_annotation(builder, emitter, text);
	else
		take_statement(builder, emitter, text);
}

/* Where the line ends, or where the statement does if it is the head of a loop whose condition begins a line. */
static const char *end_of_line(const char *text)
{
	const char *end = strchr(text, '\n');

	if (end && end > text && !strncmp(text, "for (", 5) && end[-1] == ';')
		end = strchr(end + 1, '\n');
	return end;
}

static void take(struct k_builder *builder, const char *emitter, const char *text)
{
	while (text) {
		const char *end;

		if (!builder->is_in_comment)
			text += strspn(text, "\t");
		if (builder->is_in_comment || !strncmp(text, "/*", 2)) {
			text = take_comment(builder, emitter, text);
			continue;
		}
		end = end_of_line(text);
		take_line(builder, emitter,
			  end ? arena_copy(builder->arena, text, (size_t) (end - text)) : text);
		text = end ? end + 1 : NULL;
	}
}

void quote_at(struct k_builder *builder, const char *emitter, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	take(builder, emitter, arena_vprintf(builder->arena, format, args));
	va_end(args);
}

void quote_open_at(struct k_builder *builder, const char *emitter, const char *format, ...)
{
	const int n = builder->open.n;
	const char *text;
	va_list args;

	va_start(args, format);
	text = arena_vprintf(builder->arena, format, args);
	va_end(args);
	take(builder, emitter, text);
	if (builder->open.n != n + 1)
		fail(builder, emitter, text, "it opens no block");
}

void quote_close_at(struct k_builder *builder, const char *emitter, const char *text)
{
	if (is_closing(text))
		take_close(builder, emitter, text);
	else
		fail(builder, emitter, text, "it closes no block");
}

void quote_blank_at(struct k_builder *builder, const char *emitter)
{
	add_blank(builder, emitter);
}

void quote_otherwise_at(struct k_builder *builder, const char *emitter)
{
	k_otherwise(builder, emitter);
}

void quote_reopen_at(struct k_builder *builder, const char *emitter)
{
	k_reopen(builder, emitter);
}
