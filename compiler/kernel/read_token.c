/* SPDX-License-Identifier: MIT
 *
 * Tokens of C text: names, numbers, strings in quotes and marks, of which the longest that fits is taken. */
#include "kernel/read.h"

#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

void k_fail(struct k_reader *r, const char *what)
{
	if (!r->error)
		r->error = arena_printf(r->arena, "%s at '%.40s'", what, r->token.text);
	r->token = (struct k_token) { .kind = K_TOKEN_END, .text = "" };
	r->at = "";
}

/* ---- how many characters a token has ---- */

static size_t length_of_name(const char *text)
{
	size_t n = 0;

	while (is_letter(text[n]) || is_digit(text[n]))
		n++;
	return n;
}

static bool is_exponent(const char *text, size_t n, bool is_hexadecimal)
{
	return n > 0 && (text[n] == '+' || text[n] == '-') &&
	       (is_hexadecimal ? text[n - 1] == 'p' || text[n - 1] == 'P' : text[n - 1] == 'e' || text[n - 1] == 'E');
}

static size_t length_of_number(const char *text)
{
	bool is_hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	size_t n = 0;

	while (is_letter(text[n]) || is_digit(text[n]) || text[n] == '.' || is_exponent(text, n, is_hexadecimal))
		n++;
	return n;
}

/* 0: it does not end. */
static size_t length_of_string(const char *text)
{
	size_t n = 1;

	while (text[n] && text[n] != '"' && text[n] != '\n')
		n += text[n] == '\\' && text[n + 1] ? 2 : 1;
	return text[n] == '"' ? n + 1 : 0;
}

/* 0: there is none. */
static size_t length_of_mark(const char *text)
{
	static const char *const marks[] = {
		">>=", "->", "++", "--", "&&", "||", "==", "!=", "<=", ">=", ">>", "<<", "+=", "-=", "*=", "/=", "%=",
		"|=", "&="
	};

	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		if (!strncmp(text, marks[i], strlen(marks[i])))
			return strlen(marks[i]);
	return *text && strchr("+-*/%<>=!~&|?:;,.()[]{}#@", *text) ? 1 : 0;
}

static struct k_token scan(const char *text)
{
	struct k_token token = { .text = text };

	if (!*text)
		return token;
	if (is_letter(*text)) {
		token.kind = K_TOKEN_NAME;
		token.length = length_of_name(text);
	} else if (is_digit(*text) || (*text == '.' && is_digit(text[1]))) {
		token.kind = K_TOKEN_NUMBER;
		token.length = length_of_number(text);
	} else if (*text == '"') {
		token.kind = K_TOKEN_STRING;
		token.length = length_of_string(text);
	} else {
		token.kind = K_TOKEN_MARK;
		token.length = length_of_mark(text);
	}
	return token;
}

/* ---- one after the other ---- */

void k_next(struct k_reader *r)
{
	const char *from = r->at + strspn(r->at, " \t\n");
	bool is_spaced = from != r->at;

	r->token = scan(from);
	r->token.is_spaced = is_spaced;
	r->at = from + r->token.length;
	if (r->token.kind != K_TOKEN_END && r->token.length == 0)
		k_fail(r, "there is no token");
}

struct k_reader k_reader_new(struct arena *arena, const char *text)
{
	struct k_reader r = { .arena = arena, .at = text };

	k_next(&r);
	return r;
}

bool k_is(const struct k_reader *r, const char *text)
{
	return (r->token.kind == K_TOKEN_MARK || r->token.kind == K_TOKEN_NAME) && r->token.length == strlen(text) &&
	       !strncmp(r->token.text, text, r->token.length);
}

bool k_accept(struct k_reader *r, const char *text)
{
	bool is = k_is(r, text);

	if (is)
		k_next(r);
	return is;
}

bool k_expect(struct k_reader *r, const char *text)
{
	bool is = k_accept(r, text);

	if (!is)
		k_fail(r, arena_printf(r->arena, "'%s' is missing", text));
	return is;
}

const char *k_expect_name(struct k_reader *r)
{
	const char *name;

	if (r->token.kind != K_TOKEN_NAME) {
		k_fail(r, "a name is missing");
		return NULL;
	}
	name = arena_copy(r->arena, r->token.text, r->token.length);
	k_next(r);
	return name;
}
