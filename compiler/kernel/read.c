/* SPDX-License-Identifier: MIT
 *
 * Reading a dump: its lines, the blocks that indentation makes of them, places and functions. What is read prints as it
 * was. The first thing that is wrong ends it, with the number of its line. */
#include "kernel/read.h"

#include <stdlib.h>
#include <string.h>

enum { NESTED_MAX = 200 };

struct dump_line {
	int number;                     /* from 1 */
	int depth;                      /* tabs before it */
	const char *text;               /* behind them */
};

struct dump {
	struct arena *arena;
	VEC(struct dump_line) lines;    /* without empty ones and comments */
	int at;                         /* the next one */
	struct span place;              /* of the line before */
	const char *error;
};

/* Those of one line; unknown: not written. */
struct places {
	struct span own, above, end;
	bool has_end;
};

static struct k_stmt *read_stmt(struct dump *d, int depth);

static void fail(struct dump *d, int number, const char *what)
{
	if (!d->error)
		d->error = arena_printf(d->arena, "line %d: %s", number, what);
}

/* ---- lines ---- */

static void add_line(struct dump *d, int number, const char *text, size_t length)
{
	struct dump_line line = { .number = number };

	while (length > 0 && *text == '\t') {
		line.depth++;
		text++;
		length--;
	}
	if (length == 0 || *text == '#')
		return;
	if (*text == ' ')
		fail(d, number, "lines are indented by tabs");
	line.text = arena_copy(d->arena, text, length);
	vec_push(d->arena, &d->lines, line);
}

static void split(struct dump *d, const char *text)
{
	for (int number = 1; *text; number++) {
		size_t length = strcspn(text, "\n");

		add_line(d, number, text, length);
		text += length + (text[length] == '\n');
	}
}

/* NULL: the next line is of another depth, or there is none. */
static const struct dump_line *line_at(const struct dump *d, int depth)
{
	const struct dump_line *line = d->at < d->lines.n ? &d->lines.items[d->at] : NULL;

	return !d->error && line && line->depth == depth ? line : NULL;
}

/* Is the next line this word, alone but for its place? */
static bool is_word(const struct dump *d, int depth, const char *word)
{
	const struct dump_line *line = line_at(d, depth);
	struct k_reader r;

	if (!line || strncmp(line->text, word, strlen(word)) != 0)
		return false;
	r = k_reader_new(d->arena, line->text);
	return k_accept(&r, word) && (r.token.kind == K_TOKEN_END || k_is(&r, "@"));
}

/* ---- places ---- */

static uint32_t read_offset(struct k_reader *r)
{
	const size_t length = r->token.length;
	unsigned long long value = 0;

	for (size_t i = 0; i < length && r->token.kind == K_TOKEN_NUMBER; i++)
		value = r->token.text[i] >= '0' && r->token.text[i] <= '9' && value <= UINT32_MAX
			? value*10 + (unsigned long long) (r->token.text[i] - '0') : UINT64_MAX;
	if (r->token.kind != K_TOKEN_NUMBER || value > UINT32_MAX)
		k_fail(r, "a place is missing: FIRST-END, FILE:FIRST-END or nowhere");
	k_next(r);
	return (uint32_t) value;
}

static struct span read_span(struct k_reader *r)
{
	struct span span = { .file = 1 };

	if (k_accept(r, "nowhere"))
		return (struct span) { 0 };
	span.start = read_offset(r);
	if (k_accept(r, ":")) {
		span.file = span.start;
		span.start = read_offset(r);
	}
	k_expect(r, "-");
	span.end = read_offset(r);
	return span;
}

/* Up to the end of the line. */
static struct places read_places(struct dump *d, struct k_reader *r)
{
	struct places places = { .own = d->place };

	while (k_accept(r, "@"))
		if (k_accept(r, "above")) {
			places.above = read_span(r);
		} else if (k_accept(r, "end")) {
			places.end = read_span(r);
			places.has_end = true;
		} else {
			places.own = read_span(r);
		}
	if (!r->error && r->token.kind != K_TOKEN_END)
		k_fail(r, "the line goes on");
	if (!places.has_end)
		places.end = places.own;
	d->place = places.own;
	return places;
}

/* ---- statements ---- */

static bool read_block(struct dump *d, int depth, struct k_block *block)
{
	while (line_at(d, depth)) {
		struct k_stmt *stmt = read_stmt(d, depth);

		if (!stmt)
			return false;
		vec_push(d->arena, &block->stmts, stmt);
	}
	if (d->at < d->lines.n && d->lines.items[d->at].depth > depth)
		fail(d, d->lines.items[d->at].number, "this is part of no statement: it has too many tabs");
	return !d->error;
}

static void set_places(struct k_stmt *stmt, const struct places *places)
{
	stmt->span = places->own;
	stmt->annotation.span = places->above;
	if (k_has_end(stmt) || places->has_end)
		stmt->end.span = places->end;
}

/* The line of a statement. */
static struct k_stmt *read_line(struct dump *d)
{
	const struct dump_line *line = &d->lines.items[d->at++];
	struct k_reader r = k_reader_new(d->arena, line->text);
	struct k_stmt *stmt = k_read_stmt(&r);
	const struct places places = read_places(d, &r);

	if (r.error) {
		fail(d, line->number, r.error);
		return NULL;
	}
	set_places(stmt, &places);
	return stmt;
}

static bool read_otherwise(struct dump *d, int depth, struct k_stmt *stmt)
{
	const struct dump_line *line = &d->lines.items[d->at++];
	struct k_reader r = k_reader_new(d->arena, line->text);

	k_expect(&r, "else");
	stmt->otherwise.span = read_places(d, &r).own;
	if (r.error)
		fail(d, line->number, r.error);
	stmt->branch.has_otherwise = true;
	return read_block(d, depth + 1, &stmt->branch.otherwise);
}

/* Behind the line of the word; what it holds stands in the place of a loop. */
static bool read_aside(struct dump *d, int depth, struct k_block *block)
{
	const struct span outer = d->place;
	const struct dump_line *line = &d->lines.items[d->at++];

	d->place = (struct span) { 0 };
	if (read_block(d, depth + 1, block) && !block->stmts.n)
		fail(d, line->number, "there is nothing below this line");
	d->place = outer;
	return !d->error;
}

static bool read_after(struct dump *d, int depth, struct k_while *repeat)
{
	const int number = d->lines.items[d->at].number;
	struct k_block after = { 0 };

	if (!read_aside(d, depth, &after))
		return false;
	if (after.stmts.n != 1)
		fail(d, number, "one statement is after the body of a loop");
	repeat->after = after.stmts.items[0];
	return !d->error;
}

static bool read_body(struct dump *d, int depth, struct k_stmt *stmt)
{
	struct k_block *body = k_body(stmt);

	if (body && !read_block(d, depth + 1, body))
		return false;
	if (stmt->kind == KS_IF && is_word(d, depth, "else"))
		return read_otherwise(d, depth, stmt);
	if (stmt->kind == KS_WHILE && is_word(d, depth, "after"))
		return read_after(d, depth, &stmt->repeat);
	return true;
}

/* What is before the head of a loop has a block ahead of it. */
static struct k_stmt *read_stmt(struct dump *d, int depth)
{
	const int number = d->lines.items[d->at].number;
	struct k_block before = { 0 };
	struct k_stmt *stmt;

	if (depth > NESTED_MAX)
		fail(d, number, "this is nested too deep");
	if (d->error || (is_word(d, depth, "before") && !read_aside(d, depth, &before)))
		return NULL;
	stmt = line_at(d, depth) ? read_line(d) : NULL;
	if (before.stmts.n && (!stmt || stmt->kind != KS_WHILE))
		fail(d, number, "a 'while' follows what is before it");
	if (d->error || !read_body(d, depth, stmt))
		return NULL;
	if (before.stmts.n)
		stmt->repeat.before = before;
	return stmt;
}

/* ---- functions ---- */

static const char *read_qualifiers(struct k_reader *r)
{
	if (k_accept(r, "static"))
		return "static";
	if (k_accept(r, "PMG_ALWAYS_INLINE"))
		return "PMG_ALWAYS_INLINE";
	if (!k_accept(r, "extern"))
		return NULL;
	if (r->token.kind != K_TOKEN_STRING)
		return "extern";
	k_next(r);
	return "extern \"C\"";
}

static void read_params(struct k_reader *r, struct k_function *function)
{
	if (!k_expect(r, "(") || k_accept(r, ")"))
		return;
	do {
		struct k_param param = { 0 };

		param.name = k_read_typed_name(r, &param.type);
		vec_push(r->arena, &function->params, param);
	} while (k_accept(r, ","));
	k_expect(r, ")");
}

static int read_number(struct k_reader *r)
{
	return (int) (read_offset(r) & INT32_MAX);
}

static void read_property_of_function(struct k_reader *r, struct k_function *function)
{
	if (k_accept(r, "team"))
		function->team.lanes = read_number(r);
	else if (k_accept(r, "group"))
		function->team.group = read_number(r);
	else if (k_accept(r, "width"))
		function->team.width = read_number(r);
	else if (k_accept(r, "warps"))
		function->team.warps = read_number(r);
	else if (k_accept(r, "rolled"))
		function->team.is_rolled = true;
	else if (k_accept(r, "bounds"))
		function->bounds = k_read_whole(r);
	else if (k_expect(r, "broken") && k_expect(r, "at"))
		function->broken_at = read_number(r);
}

static void read_head(struct k_reader *r, struct k_function *function)
{
	k_expect(r, "function");
	function->kind = k_accept(r, "entry") ? K_FUNCTION_ENTRY : k_accept(r, "device") ? K_FUNCTION_DEVICE
		       : K_FUNCTION_HOST;
	function->qualifiers = read_qualifiers(r);
	if (!k_read_type(r, &function->result))
		k_fail(r, "a type is missing");
	function->name = k_read_function_name(r);
	read_params(r, function);
	while (k_accept(r, ","))
		read_property_of_function(r, function);
}

static void read_function(struct dump *d, struct k_program *program)
{
	const struct dump_line *line = &d->lines.items[d->at++];
	struct k_function *function = arena_new(d->arena, struct k_function);
	struct k_reader r = k_reader_new(d->arena, line->text);
	struct places places;

	d->place = (struct span) { 0 };
	read_head(&r, function);
	places = read_places(d, &r);
	function->head.span = places.own;
	function->end.span = places.end;
	if (r.error)
		fail(d, line->number, r.error);
	vec_push(d->arena, &program->functions, function);
	(void) read_block(d, 1, &function->body);
}

/* global NAME: TYPE, behind the word */
static void read_global(struct k_reader *r, struct k_program *program)
{
	struct k_param global = { 0 };

	global.name = k_read_typed_name(r, &global.type);
	vec_push(r->arena, &program->globals, global);
	if (!r->error && r->token.kind != K_TOKEN_END)
		k_fail(r, "the line goes on");
}

static void read_outermost(struct dump *d, struct k_program *program)
{
	const struct dump_line *line = line_at(d, 0);
	struct k_reader r = k_reader_new(d->arena, line->text);

	if (!k_accept(&r, "global")) {
		read_function(d, program);
		return;
	}
	read_global(&r, program);
	if (r.error)
		fail(d, line->number, r.error);
	d->at++;
}

struct k_program *k_read_program(struct arena *arena, const char *text, const char **error)
{
	struct k_program *program = arena_new(arena, struct k_program);
	struct dump d = { .arena = arena };

	split(&d, text);
	while (line_at(&d, 0))
		read_outermost(&d, program);
	if (d.at < d.lines.n)
		fail(&d, d.lines.items[d.at].number, "this is part of no function");
	*error = d.error;
	return d.error ? NULL : program;
}
