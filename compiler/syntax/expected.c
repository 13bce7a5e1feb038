/* SPDX-License-Identifier: MIT
 *
 * Wording of grammar mistakes. The tokens that could have come are gathered to what a reader calls them (an
 * expression, a statement, an operator); the commonest mistakes have a sentence of their own, and a `;` that is
 * missing at the end of a line is reported there and not at the token after it. */
#include "syntax/expected.h"

#include <string.h>

#include "syntax/mend.h"
#include "syntax/parser.h"

static const int operand_tokens[] = {
	NAME, INTEGER, REAL, TRUE, FALSE, NOT, CAST, '(', '[', '-', 0
};

static const int operator_tokens[] = {
	OR, AND, EQ, NE, '<', LE, '>', GE, '+', '-', '*', '/', '%', '[', '(', '.', 0
};

static const int statement_tokens[] = {
	PARAM, ASSUME, SPECIALIZE, FIXED, IN, OUT, INOUT, TEMP, STATE, FUNC, REDUCE, NEXT, ITERATE, SCHEDULE,
	NAME, 0
};

/* What a statement has and an expression has not. */
static const int statement_signs[] = {
	'=', PARAM, ASSUME, SPECIALIZE, FIXED, IN, OUT, INOUT, TEMP, STATE, FUNC, REDUCE, NEXT, ITERATE, SCHEDULE, 0
};

static const int comparison_tokens[] = { EQ, NE, '<', LE, '>', GE, 0 };

static bool token_is_in(int token, const int *tokens)
{
	for (; *tokens != 0; tokens++)
		if (*tokens == token)
			return true;
	return false;
}

static bool token_is_reserved_word(int token)
{
	return token >= PIPELINE && token <= NOT;
}

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

/* In an item of a schedule, whose names may be followed by how they are scheduled. */
static bool is_behind_names(const struct expectation *expected)
{
	return expected->has['('] && expected->has[':'] && expected->has[','] && expected->has[';'];
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
	    (parser->code != NAME && token_is_in(parser->code, statement_tokens)))
		return true;
	return memchr(parser->text + parser->last_end, '\n', parser->token - parser->last_end) != NULL;
}

static bool text_is(const struct parser *parser, uint32_t start, uint32_t end, const char *word)
{
	return end - start == strlen(word) && memcmp(parser->text + start, word, strlen(word)) == 0;
}

static bool last_is(const struct parser *parser, const char *word)
{
	return text_is(parser, parser->last, parser->last_end, word);
}

/* Of reductions, of their ranges, and of statements over points that a condition picks. */
static const char *range_advice(const struct parser *parser, const struct expectation *expected)
{
	if (parser->code == FOR && last_is(parser, ",") && expected->has[NAME] && !expected->has[REAL])
		return "further ranges follow a comma, without another 'for'";
	if (parser->code == ':' && (expected->has[REAL] || expected->has[']']))
		return "there are no slices: a part of an array has ranges, as in y[i] = x[i, 0] for i in 0..n;";
	if ((parser->code == FOR || parser->code == ':') && expected->has[')'] && expected->has[','])
		return "a reduction is written sum(j in 0..n) x[j]";
	if (parser->code == RANGE && expected->has[']'])
		return "a range has no brackets, and stands behind its variable, as in i in 0..n";
	if (parser->code == ']' && expected->has[IN])
		return "a range is written i in 0..n";
	if (parser->code == NAME && expected->has[';'] &&
	    (text_is(parser, parser->token, parser->token_end, "if") ||
	     text_is(parser, parser->token, parser->token_end, "where")))
		return "a condition stands in a case, as in y[i] = case { i > 0 : x[i]; } for i in 0..n;";
	return NULL;
}

/* Of loops, next values and accumulations. */
static const char *iteration_advice(const struct parser *parser, const struct expectation *expected)
{
	const char *rest = parser->text + parser->token_end;
	bool is_target = expected->has['='] && expected->has['['];
	bool begins_while = last_is(parser, "while") && (is_target || parser->code == '(');

	if (last_is(parser, "iterate") || begins_while ||
	    (expected->has[UNTIL] && text_is(parser, parser->token, parser->token_end, "while")))
		return "a loop is written iterate it in 0..n until r < 1e-3 { ... }";
	if (parser->code == NEXT && expected->has[REAL])
		return "a next value cannot be read: compute it in a 'temp', which can, as in next u = v;";
	if (parser->code != '=' || !expected->has[ADD_ASSIGN])
		return NULL;
	rest += strspn(rest, " ");
	return arena_printf(parser->arena, "an accumulation names its operator, as in reduce y %s x[i] for i in 0..n;",
			    !strncmp(rest, "max", 3) ? "max=" : !strncmp(rest, "min", 3) ? "min=" : "+=");
}

/* Behind the name that a statement or a declaration begins with. */
static const char *statement_advice(const struct parser *parser, const struct expectation *expected)
{
	bool is_target = expected->has['='] && expected->has['['];

	if (is_target && parser->code == ':')
		return "a declaration begins with its role: in, out, inout, temp or state";
	if (is_target && parser->code == '(')
		return "elements of arrays are written y[i]";
	if ((parser->code == '=' || parser->code == ';') && expected->has[':'] && !expected->has[';'] &&
	    !expected->has['*'])
		return "a declaration has a type, as in temp x : f64[n] = EXPR;";
	if (parser->code == CONST && expected->has[PARAM])
		return "constants stand outside of pipelines";
	return NULL;
}

/* The first or the second sign of such a comment. */
static bool begins_foreign_comment(const struct parser *parser)
{
	const char *text = parser->text + parser->token;

	return (*text == '/' && text[1] == '*') || (*text == '*' && parser->token > 0 && text[-1] == '/');
}

/* Directly behind `if (...)`. */
static bool is_behind_if(const struct parser *parser)
{
	const char *text = parser->text;
	uint32_t at = parser->last_end;
	int depth = 0;

	if (!last_is(parser, ")"))
		return false;
	while (at > 0 && (text[at - 1] == ')' || depth > 0))
		depth += text[at - 1] == ')' ? 1 : text[at - 1] == '(' ? -1 : 0, at--;
	while (at > 0 && text[at - 1] == ' ')
		at--;
	return at > 2 && text_is(parser, at - 2, at, "if") && strchr(" \t\n=(", text[at - 3]);
}

/* What is meant by the habits of other languages; NULL: nothing that is known. */
static const char *foreign_advice(const struct parser *parser, const struct expectation *expected)
{
	const char *advice = iteration_advice(parser, expected);

	if (advice)
		return advice;
	if (parser->code == '*' && last_is(parser, "*"))
		return "a power is written pow(x, y)";
	if ((parser->code == ':' && expected->has[RANGE]) ||
	    ((parser->code == '.' || parser->code == '=') && last_is(parser, "..")))
		return "a range is written lo..hi";
	if (parser->code == '[' && last_is(parser, "]"))
		return "several subscripts or sizes stand in one pair of brackets, as in x[i, j]";
	if (last_is(parser, "if") || is_behind_if(parser))
		return "a choice is written y[i] = case { i == 0 : a; else : b; } or select(c, a, b)";
	if (begins_foreign_comment(parser))
		return "a comment begins with # and ends with its line";
	if (parser->code == '(' && last_is(parser, "for"))
		return "ranges have no parentheses, and stand behind a statement, as in y[i] = x[i] for i in 0..n;";
	if (parser->code == FOR && expected->has[PARAM])
		return "ranges stand behind a statement, as in y[i] = x[i] for i in 0..n;";
	if (parser->code == '[' && expected->has[':'] && expected->has[','])
		return "sizes stand behind the type, as in x : f64[n, m]";
	if (parser->code == '(' && expected->has['['] && !expected->has['='] && !expected->has[ADD_ASSIGN])
		return "the points of a function stand in brackets, as in func f[i in 0..n] : f64 = x[i];";
	if (parser->code == '-' && expected->has[ADD_ASSIGN])
		return "a difference is accumulated as += -x";
	if (parser->code == '=' && expected->has[','] && expected->has[';'] && !expected->has['*'] &&
	    !parser_begins_line(parser, parser->last))
		return "a size is bound when the program is used; specialize n = 10; fixes it";
	if (parser->code == INTEGER && is_behind_names(expected))
		return "numbers stand in parentheses, as in tile f (32, 256);";
	if (last_is(parser, "include"))
		return "the name of a file stands in quotes, as in include \"file.pmg\";";
	if (expected->has[STRING] && expected->has[REAL] && strchr("./", parser->text[parser->token]))
		return "the name of a file stands in quotes, as in specialize T = \"cell.swc\";";
	advice = statement_advice(parser, expected);
	return advice ? advice : range_advice(parser, expected);
}

/* The word of these that is nearest to a name; NULL: none is near. `in` would be near to every short name. */
static const char *nearest_word(struct parser *parser, const char *name, const int *tokens)
{
	phrases words = { 0 };

	for (; *tokens != 0; tokens++)
		if (token_is_reserved_word(*tokens) && *tokens != IN)
			vec_push(parser->arena, &words, parser_token_name(*tokens));
	return suggest_nearest(name, words.items, words.n);
}

/* What else a statement begins with in the mind of those who come from other languages. */
static const char *foreign_word(const char *name)
{
	static const struct { const char *foreign, *ours; } words[] = {
		{ "function", "func" }, { "def", "func" }, { "inn", "in" }, { "input", "in" }, { "output", "out" },
		{ "parameter", "param" }, { "temporary", "temp" }, { "let", "temp" }, { "var", "temp" },
	};

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (!strcmp(name, words[i].foreign))
			return words[i].ours;
	return NULL;
}

/* The words that may stand before the current token at the start of a statement. */
static const int *words_before(const struct parser *parser)
{
	static const int before_in[] = { FIXED, 0 }, before_next[] = { REDUCE, 0 }, before_brace[] = { SCHEDULE, 0 };
	static const int none[] = { 0 };

	if (parser->code == NAME)
		return statement_tokens;
	return parser->code == IN ? before_in : parser->code == NEXT ? before_next :
	       parser->code == '{' ? before_brace : none;
}

/* The word of the language that was meant by a name: the last token, where a statement begins with it, or the current
 * one. */
static bool add_meant_word(struct parser *parser, struct diag *diag, const struct expectation *expected)
{
	bool is_behind = expected->has['='] && expected->has['['] && !expected->has[ADD_ASSIGN];
	uint32_t start = is_behind ? parser->last : parser->token;
	uint32_t end = is_behind ? parser->last_end : parser->token_end;
	int words[TOKEN_CODES] = { 0 }, n = 0;
	const char *name, *near = NULL;

	if (!is_behind && parser->code != NAME)
		return false;
	name = arena_copy(parser->arena, parser->text + start, end - start);
	for (int token = PIPELINE; token <= NOT; token++)
		if (expected->has[token])
			words[n++] = token;
	if (is_behind && parser->code == NAME)
		near = foreign_word(name);
	if (!near)
		near = nearest_word(parser, name, is_behind ? words_before(parser) : words);
	if (near)
		diag_did_you_mean(parser->diags, diag, parser_span(parser, start, end), name, near);
	return near;
}

/* A word of the language where a name is expected. */
static bool is_as_name(const struct parser *parser, const struct expectation *expected)
{
	return token_is_reserved_word(parser->code) && expected->has[NAME] && !expected->has['}'];
}

static bool is_told_as_name(const struct parser *parser, const struct expectation *expected)
{
	return is_as_name(parser, expected) && parser->told_words & UINT32_C(1) << (parser->code - PIPELINE);
}

/* `param in;` is told, and where it is used as that name is no news. */
static void add_reserved(struct parser *parser, struct diag *diag, struct span place)
{
	diag_help(parser->diags, diag, place, "'%s' is a word of the language and cannot be a name",
		  parser_token_name(parser->code));
	parser->told_words |= UINT32_C(1) << (parser->code - PIPELINE);
}

static void expectation_add_help(struct parser *parser, struct diag *diag, struct span place,
				 const struct expectation *expected)
{
	static const int assignments[] = { ADD_ASSIGN, MUL_ASSIGN, MIN_ASSIGN, MAX_ASSIGN, 0 };
	const char *advice;

	if (mend_add(parser, diag, expected))
		return;
	advice = foreign_advice(parser, expected);
	if (advice)
		diag_help(parser->diags, diag, place, "%s", advice);
	else if (add_meant_word(parser, diag, expected))
		return;
	else if (parser->code == CASE && expected->has[REAL])
		diag_help(parser->diags, diag, place, "'case' stands directly behind the '=' of a statement");
	else if (token_is_in(parser->code, assignments) && expected->has['='])
		diag_help(parser->diags, diag, place, "an accumulation begins with 'reduce'");
	else if (expected->has[';'] && !expected->has['*'] && parser_begins_line(parser, parser->last))
		diag_help(parser->diags, diag, place, "is the ';' of the line above missing?");
	else if (is_as_name(parser, expected))
		add_reserved(parser, diag, place);
}

static void expectation_report_general(struct parser *parser, struct span place,
				       const struct expectation *expected)
{
	struct diag *diag;

	diag = parser_error(parser, DIAG_UNEXPECTED_TOKEN, place, "unexpected %s, expected %s",
			    token_found_text(parser), expectation_text(parser, expected));
	expectation_add_help(parser, diag, place, expected);
}

static void expectation_report_chain(struct parser *parser, struct span place)
{
	struct diag *diag = parser_error(parser, DIAG_CHAINED_COMPARISON, place, "comparisons do not chain");

	diag_help(parser->diags, diag, place, "write 'a < b and b < c', or put one of them in parentheses");
}

/* `sum(x, axis=1)`: what is said by the names of arguments elsewhere; NULL: it is no such name. */
static const char *argument_advice(const struct parser *parser, const struct expectation *expected)
{
	static const char over[] = "over one of its subscripts it is y[i] = sum(j in 0..m) x[i,j] for i in 0..n;";
	static const struct { const char *name, *advice; } names[] = {
		{ "axis", over }, { "dim", over }, { "axes", over }, { "dtype", "a type is given by cast<f64>(x)" },
	};

	for (size_t i = 0; expected->has[')'] && i < sizeof names / sizeof names[0]; i++)
		if (last_is(parser, names[i].name))
			return names[i].advice;
	return NULL;
}

static void expectation_report_assignment(struct parser *parser, struct span place,
					  const struct expectation *expected)
{
	struct diag *diag = parser_error(parser, DIAG_UNEXPECTED_TOKEN, place, "unexpected '=' in an expression");

	if (argument_advice(parser, expected))
		diag_help(parser->diags, diag, place, "%s", argument_advice(parser, expected));
	else
		diag_fix(parser->diags, diag, place, "==", "equality is written '=='");
}

static void expectation_report_case(struct parser *parser, struct span place)
{
	struct diag *diag = parser_error(parser, DIAG_UNEXPECTED_TOKEN, place, "unexpected %s in a case",
					 token_found_text(parser));

	mend_show_open(parser, diag, '{');
	parser->is_unclosed = true;
}

/* `index(n;`: behind the ';' modes of a tensor could stand, but a statement begins. */
static bool lacks_parenthesis(const struct parser *parser, const struct expectation *expected)
{
	return last_is(parser, ";") && expected->has[NAME] && !expected->has['}'] && !expected->has[PIPELINE] &&
	       token_is_in(parser->code, statement_tokens);
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
	uint32_t end = parser->told_end;

	if (parser->is_unclosed)
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
	else if (token_is_in(parser->code, statement_signs) && mend_is_behind_case(parser, expected))
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
