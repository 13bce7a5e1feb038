/* SPDX-License-Identifier: MIT
 *
 * Wording of grammar mistakes. The tokens that could have come are gathered to what a reader calls them (an
 * expression, a statement, an operator); the commonest mistakes have a sentence of their own, and a `;` that is
 * missing at the end of a line is reported there and not at the token after it. */
#include "syntax/expected.h"

#include <string.h>

#include "syntax/advice.h"
#include "syntax/mend.h"
#include "syntax/parser.h"
#include "syntax/tokens.h"

static const int operand_tokens[] = {
	NAME, INTEGER, REAL, TRUE, FALSE, NOT, CAST, '(', '[', '-', 0
};

static const int operator_tokens[] = {
	OR, AND, EQ, NE, '<', LE, '>', GE, '+', '-', '*', '/', '%', '[', '(', '.', 0
};

static const int comparison_tokens[] = { EQ, NE, '<', LE, '>', GE, 0 };

/* Of a name or number the class, of all else its spelling. */
static const char *token_expected_text(struct parser *parser, int token)
{
	switch (token) {
	case YYEOF:
		return "the end of the file";
	case NAME:
		return "a name";
	case INTEGER:
		return "an integer";
	case STRING:
		return "a string";
	default:
		break;
	}
	if (token < 256)
		return parser_token_name(token);
	return arena_printf(parser->arena, "'%s'", parser_token_name(token));
}

static const char *token_text(const struct parser *parser, uint32_t start, uint32_t end)
{
	enum { LONGEST = 40 };

	if (end - start > LONGEST)
		return arena_printf(parser->arena, "%.*s...", LONGEST, parser->text + start);
	return arena_copy(parser->arena, parser->text + start, end - start);
}

static const char *token_found_text(const struct parser *parser)
{
	const char *text = token_text(parser, parser->token, parser->token_end);

	switch (parser->code) {
	case YYEOF:
		return "end of file";
	case NAME:
		return arena_printf(parser->arena, "name '%s'", text);
	case INTEGER:
	case REAL:
		return arena_printf(parser->arena, "number '%s'", text);
	case STRING:
		return arena_printf(parser->arena, "string %s", text);
	default:
		return arena_printf(parser->arena, "'%s'", text);
	}
}

typedef VEC(const char *) phrases;

static void expectation_drop(struct expectation *expected, const int *tokens)
{
	for (; *tokens != 0; tokens++)
		expected->has[*tokens] = false;
}

/* Leaves out what may go on but need not: the rest of a name or type, `case` where any expression fits. */
static void expectation_simplify(struct expectation *expected)
{
	static const int rest_of_type[] = { '(', '<', '[', '.', NAME, 0 };
	static const int rest_of_name[] = { '.', 0 }, link_or_name[] = { '.', NAME, 0 };

	if (expected->has[REAL])
		expected->has[CASE] = false;
	else if (is_behind_names(expected))
		expectation_drop(expected, link_or_name);
	else if (expected->has[NAME] && (expected->has[';'] || expected->has['=']))
		expectation_drop(expected, rest_of_type);
	else
		expectation_drop(expected, rest_of_name);
	if (expected->has[PIPELINE])
		expected->has[YYEOF] = false;
}

/* When `sign` is expected, all tokens of the group leave the set and its name is listed instead. */
static void expectation_gather(struct parser *parser, struct expectation *expected, int sign,
			       const int *group, const char *name, phrases *list)
{
	if (!expected->has[sign])
		return;
	expectation_drop(expected, group);
	vec_push(parser->arena, list, name);
}

static phrases expectation_phrases(struct parser *parser, struct expectation expected)
{
	phrases groups = { 0 }, list = { 0 };

	if (is_behind_names(&expected))
		vec_push(parser->arena, &groups, "'by'");
	expectation_simplify(&expected);
	expectation_gather(parser, &expected, REAL, operand_tokens, "an expression", &groups);
	expectation_gather(parser, &expected, PARAM, statement_tokens, "a statement", &groups);
	expectation_gather(parser, &expected, '*', operator_tokens, "an operator", &groups);
	for (int token = 0; token < TOKEN_CODES; token++)
		if (expected.has[token])
			vec_push(parser->arena, &list, token_expected_text(parser, token));
	for (int i = 0; i < groups.n; i++)
		vec_push(parser->arena, &list, groups.items[i]);
	return list;
}

/* "';', 'for' or an operator" */
static const char *expectation_text(struct parser *parser, const struct expectation *expected)
{
	phrases list = expectation_phrases(parser, *expected);
	struct str text = str_new(parser->arena);

	for (int i = 0; i < list.n; i++)
		str_add(&text, "%s%s", i == 0 ? "" : i == list.n - 1 ? " or " : ", ", list.items[i]);
	return str_text(&text);
}

/* Whether a `;` is what is missing: behind the last token of a line, of a block or of the file, or before a word that
 * only begins statements or branches. */
static bool expectation_is_semicolon(const struct parser *parser, const struct expectation *expected)
{
	if (!expected->has[';'] || parser->last_end == 0 || mend_is_behind_and(parser, expected))
		return false;
	if (parser->code == YYEOF || parser->code == '}' || parser->code == ELSE ||
	    token_begins_statement(parser->code))
		return true;
	return memchr(parser->text + parser->last_end, '\n', parser->token - parser->last_end) != NULL;
}

static void expectation_report_general(struct parser *parser, struct span place,
				       const struct expectation *expected)
{
	struct diag *diag;

	diag = parser_error(parser, DIAG_UNEXPECTED_TOKEN, place, "unexpected %s, expected %s",
			    token_found_text(parser), expectation_text(parser, expected));
	advice_add(parser, diag, place, expected);
}

static void expectation_report_chain(struct parser *parser, struct span place)
{
	struct diag *diag = parser_error(parser, DIAG_CHAINED_COMPARISON, place, "comparisons do not chain");

	diag_help(parser->diags, diag, place, "write 'a < b and b < c', or put one of them in parentheses");
}

static void expectation_report_assignment(struct parser *parser, struct span place,
					  const struct expectation *expected)
{
	struct diag *diag = parser_error(parser, DIAG_UNEXPECTED_TOKEN, place, "unexpected '=' in an expression");

	if (advice_for_argument(parser, expected))
		diag_help(parser->diags, diag, place, "%s", advice_for_argument(parser, expected));
	else
		diag_fix(parser->diags, diag, place, "==", "equality is written '=='");
}

static void expectation_report_case(struct parser *parser, struct span place)
{
	struct diag *diag = parser_error(parser, DIAG_UNEXPECTED_TOKEN, place, "unexpected %s in a case",
					 token_found_text(parser));

	mend_show_open(parser, diag, '{');
	parser->mending.is_unclosed = true;
}

/* `index(n;`: behind the ';' modes of a tensor could stand, but a statement begins. */
static bool lacks_parenthesis(const struct parser *parser, const struct expectation *expected)
{
	return last_is(parser, ";") && expected->has[NAME] && !expected->has['}'] && !expected->has[PIPELINE] &&
	       token_begins_statement(parser->code);
}

static void expectation_report_parenthesis(struct parser *parser, struct span last)
{
	struct diag *diag = parser_error(parser, DIAG_UNEXPECTED_TOKEN, last, "unexpected ';', expected ')'");

	mend_show_open(parser, diag, '(');
}

static void expectation_report_semicolon(struct parser *parser, struct span last)
{
	struct span behind = { last.file, last.end, last.end };
	struct diag *diag;

	diag = parser_error(parser, DIAG_UNEXPECTED_TOKEN, last, "expected ';' after '%s'",
			    token_text(parser, parser->last, parser->last_end));
	if (!parser->is_expansion)
		diag_fix(parser->diags, diag, behind, ";", "%s", "");
}

/* Whether the line of the last token ends too early: what follows it begins a statement, a branch or a range. */
static bool expectation_is_behind_last(const struct parser *parser, const struct expectation *expected)
{
	bool is_start = expected->has[PARAM] || expected->has[PIPELINE] || expected->has[ELSE];
	bool begins = token_is_in(parser->code, statement_tokens) || parser->code == FOR || parser->code == '}';

	return begins && !is_start && parser->last_end > 0 &&
	       memchr(parser->text + parser->last_end, '\n', parser->token - parser->last_end) != NULL;
}

static void expectation_report_behind(struct parser *parser, struct span last, const struct expectation *expected)
{
	struct diag *diag = parser_error(parser, DIAG_UNEXPECTED_TOKEN, last, "expected %s after '%s'",
					 expectation_text(parser, expected),
					 token_text(parser, parser->last, parser->last_end));

	mend_add(parser, diag, expected);
}

/* `fuse f g;`: a name where `by` and what it takes would stand. */
static bool lacks_comma(const struct parser *parser, const struct expectation *expected)
{
	bool is_value = expected->has[NAME] && expected->has[INTEGER] && !expected->has[REAL];

	return is_value && parser->code == ';' && !last_is(parser, "by") && !last_is(parser, ":");
}

static void expectation_report_comma(struct parser *parser, struct span last)
{
	struct diag *diag = parser_error(parser, DIAG_UNEXPECTED_TOKEN, last, "unexpected name '%s', expected ',', "
					 "'by' or ';'", token_text(parser, parser->last, parser->last_end));

	diag_help(parser->diags, diag, last, "names stand between commas, as in fuse a, b;");
}

/* In a case that has no end, right behind what a message was about, or behind it and a name where a range would go
 * on. */
static bool is_no_news(const struct parser *parser, const struct expectation *expected)
{
	uint32_t end = parser->mending.told_end;

	if (parser->mending.is_unclosed)
		return true;
	return end > 0 && (parser->last_end == end || (expected->has[IN] && end <= parser->last &&
			   end + strspn(parser->text + end, " \t\r\n") == parser->last));
}

void expectation_report(struct parser *parser, struct span place, const struct expectation *expected)
{
	struct span last = parser_span(parser, parser->last, parser->last_end);

	if (is_no_news(parser, expected))
		return;
	if (lacks_comma(parser, expected))
		expectation_report_comma(parser, last);
	else if (expected->has['*'] && token_is_in(parser->code, comparison_tokens))
		expectation_report_chain(parser, place);
	else if (mend_is_behind_case(parser, expected))
		expectation_report_case(parser, place);
	else if (expected->has[EQ] && parser->code == '=' && !mend_is_no_equality(parser, expected))
		expectation_report_assignment(parser, place, expected);
	else if (lacks_parenthesis(parser, expected))
		expectation_report_parenthesis(parser, last);
	else if (expectation_is_semicolon(parser, expected))
		expectation_report_semicolon(parser, last);
	else if (expectation_is_behind_last(parser, expected))
		expectation_report_behind(parser, last, expected);
	else if (!is_told_as_name(parser, expected))
		expectation_report_general(parser, parser->code == YYEOF && parser->last_end > 0 ? last : place,
					   expected);
}
