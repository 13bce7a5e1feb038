/* SPDX-License-Identifier: MIT
 *
 * Tokens of the module format. Line ends are tokens, empty lines and comments (#) are not. A dot is part of a name
 * when a letter follows, of a number when a digit follows. */
#include "ir/text/read_private.h"

#include <stdlib.h>
#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

void reader_fail(struct reader *r, struct span span, const char *format, ...)
{
	va_list args;
	const char *text;

	if (r->failed)
		return;
	va_start(args, format);
	text = arena_vprintf(r->arena, format, args);
	va_end(args);
	diag_error(r->diags, DIAG_UNEXPECTED_TOKEN, span, "%s", text);
	r->failed = true;
	r->token.kind = TOKEN_END;
	r->at = r->size;
}

/* ---- scanning; each begins at r->at and leaves it behind the token ---- */

static void scan_name(struct reader *r)
{
	const char *from = r->text + r->at, *to = from;

	while (is_letter(*to) || is_digit(*to) || (*to == '.' && is_letter(to[1])))
		to++;
	r->token.kind = TOKEN_NAME;
	if (to - from == 3 && (!strncmp(from, "min", 3) || !strncmp(from, "max", 3)) && to[0] == '=' && to[1] != '=') {
		r->token.kind = TOKEN_SYMBOL;
		to++;
	}
	r->token.text = arena_copy(r->arena, from, (size_t) (to - from));
	r->at += (uint32_t) (to - from);
}

static void scan_quoted_name(struct reader *r)
{
	const char *from = r->text + r->at + 1;
	size_t length = strcspn(from, "`\n");

	r->token.kind = TOKEN_NAME;
	r->token.is_quoted = true;
	r->token.text = arena_copy(r->arena, from, length);
	r->at += (uint32_t) length + 1;
	if (from[length] == '`')
		r->at++;
	else
		reader_fail(r, r->token.span, "this name has no closing '`'");
}

static void scan_number(struct reader *r)
{
	const char *from = r->text + r->at, *to = from;
	char *end;

	r->token.kind = TOKEN_INTEGER;
	while (is_digit(*to))
		to++;
	if (*to == '.' && is_digit(to[1])) {
		r->token.kind = TOKEN_FLOAT;
		for (to++; is_digit(*to); to++)
			;
	}
	if (*to == 'e' && (is_digit(to[1]) || ((to[1] == '-' || to[1] == '+') && is_digit(to[2])))) {
		r->token.kind = TOKEN_FLOAT;
		for (to += 2; is_digit(*to); to++)
			;
	}
	r->token.text = arena_copy(r->arena, from, (size_t) (to - from));
	r->token.real = strtod(r->token.text, NULL);
	r->token.integer = strtoull(r->token.text, &end, 10);
	r->at += (uint32_t) (to - from);
	if (r->token.kind == TOKEN_INTEGER && r->token.real > 9223372036854775808.0)
		reader_fail(r, r->token.span, "this number does not fit into 64 bits");
}

static void scan_string(struct reader *r)
{
	struct str text = str_new(r->arena);
	const char *c = r->text + r->at + 1;

	for (; *c && *c != '"' && *c != '\n'; c++) {
		if (*c == '\\' && c[1] == 'n')
			str_add(&text, "\n");
		else if (*c == '\\' && (c[1] == '"' || c[1] == '\\'))
			str_add_text(&text, c + 1, 1);
		else
			str_add_text(&text, c, 1);
		c += *c == '\\' && c[1] && c[1] != '\n';
	}
	r->token.kind = TOKEN_STRING;
	r->token.text = str_text(&text);
	r->at = (uint32_t) (c - r->text);
	if (*c == '"')
		r->at++;
	else
		reader_fail(r, r->token.span, "this string has no closing '\"'");
}

static void scan_raw(struct reader *r)
{
	const char *from = r->text + r->at + 1;
	size_t length = strcspn(from, "\n"), skip = from[0] == ' ';

	r->token.kind = TOKEN_RAW;
	r->token.text = arena_copy(r->arena, from + skip, length - skip);
	r->at += (uint32_t) length + 1;
}

static void scan_symbol(struct reader *r)
{
	static const char *const symbols[] = { "..", "==", "!=", "<=", ">=", "+=", "*=", "+", "-", "*", "/", "%", "<",
					       ">", "=", "(", ")", "[", "]", ",", ":", "$" };

	for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
		size_t length = strlen(symbols[i]);

		if (strncmp(r->text + r->at, symbols[i], length) != 0)
			continue;
		r->token.kind = TOKEN_SYMBOL;
		r->token.text = symbols[i];
		r->at += (uint32_t) length;
		return;
	}
	reader_fail(r, (struct span) { r->file, r->at, r->at + 1 }, "this character means nothing here");
}

static void skip_blanks(struct reader *r)
{
	while (r->text[r->at] == ' ' || r->text[r->at] == '\t' || r->text[r->at] == '\r')
		r->at++;
	if (r->text[r->at] == '#')
		r->at += (uint32_t) strcspn(r->text + r->at, "\n");
}

static void skip_empty_lines(struct reader *r)
{
	skip_blanks(r);
	while (r->text[r->at] == '\n') {
		r->at++;
		skip_blanks(r);
	}
}

static void scan(struct reader *r)
{
	char c = r->text[r->at];

	if (c == '\n') {
		r->token.kind = TOKEN_LINE_END;
		skip_empty_lines(r);
	} else if (is_letter(c)) {
		scan_name(r);
	} else if (is_digit(c)) {
		scan_number(r);
	} else if (c == '"') {
		scan_string(r);
	} else if (c == '`') {
		scan_quoted_name(r);
	} else if (c == '|') {
		scan_raw(r);
	} else {
		scan_symbol(r);
	}
}

void reader_advance(struct reader *r)
{
	if (r->at == 0)
		skip_empty_lines(r);
	skip_blanks(r);
	r->token = (struct token) { .kind = TOKEN_END, .text = "", .span = { r->file, r->at, r->at + 1 } };
	if (r->at >= r->size || r->failed)
		return;
	scan(r);
	if (r->token.kind != TOKEN_LINE_END)
		r->token.span.end = r->at;
}

/* ---- what is expected ---- */

static const char *token_text(const struct reader *r)
{
	if (r->token.kind == TOKEN_END)
		return "the end of the text";
	if (r->token.kind == TOKEN_LINE_END)
		return "the end of the line";
	return arena_printf(r->arena, "'%s'", r->token.text);
}

bool reader_at(const struct reader *r, const char *word)
{
	if (r->token.kind != TOKEN_SYMBOL && (r->token.kind != TOKEN_NAME || r->token.is_quoted))
		return false;
	return strcmp(r->token.text, word) == 0;
}

bool reader_take(struct reader *r, const char *word)
{
	bool found = reader_at(r, word);

	if (found)
		reader_advance(r);
	return found;
}

void reader_expect(struct reader *r, const char *word)
{
	if (!reader_take(r, word))
		reader_fail(r, r->token.span, "expected '%s', found %s", word, token_text(r));
}

static struct token take_kind(struct reader *r, enum token_kind kind, const char *what)
{
	struct token token = r->token;

	if (token.kind == kind) {
		reader_advance(r);
	} else {
		reader_fail(r, token.span, "expected %s, found %s", what, token_text(r));
		token.text = "";
		token.integer = 0;
	}
	return token;
}

const char *reader_name(struct reader *r)
{
	return take_kind(r, TOKEN_NAME, "a name").text;
}

const char *reader_string(struct reader *r)
{
	return take_kind(r, TOKEN_STRING, "a string").text;
}

int64_t reader_integer(struct reader *r)
{
	bool is_negative = reader_take(r, "-");
	struct token token = take_kind(r, TOKEN_INTEGER, "a number");

	if (!is_negative && token.integer > INT64_MAX)
		reader_fail(r, token.span, "this number does not fit into 64 bits");
	return (int64_t) (is_negative ? 0 - token.integer : token.integer);
}

enum scalar_type reader_type(struct reader *r)
{
	enum scalar_type type = TYPE_F64;
	struct span span = r->token.span;
	const char *name = reader_name(r);

	if (!r->failed && !type_from_name(name, &type))
		reader_fail(r, span, "'%s' is not a type", name);
	return type;
}

void reader_end_line(struct reader *r)
{
	if (r->token.kind == TOKEN_LINE_END)
		reader_advance(r);
	else if (r->token.kind != TOKEN_END)
		reader_fail(r, r->token.span, "expected the end of the line, found %s", token_text(r));
}
