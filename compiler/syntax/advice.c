/* SPDX-License-Identifier: MIT
 *
 * What was meant by a token that does not fit: habits of other languages, words that are near, names that are words. */
#include "syntax/advice.h"

#include <string.h>

#include "syntax/mend.h"
#include "syntax/parser.h"
#include "syntax/tokens.h"
#include "syntax/tree_build.h"

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
	if (expected->has[','] && expected->has[';'] &&
	    (current_is(parser, "step") || current_is(parser, "by") || parser->code == ':'))
		return "a range has no steps: 2*i stands in the place of i, for i in 0..(n + 1)/2";
	if (expected->has[';'] && (current_is(parser, "if") || current_is(parser, "where")))
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
	    (expected->has[UNTIL] && current_is(parser, "while")))
		return "a loop is written iterate it in 0..n until r < 1e-3 { ... }";
	if (parser->code == NEXT && expected->has[REAL])
		return "a next value cannot be read: compute it in a 'temp', which can, as in next u = v;";
	if (parser->code != '=' || !expected->has[ADD_ASSIGN])
		return NULL;
	rest += strspn(rest, " ");
	return arena_printf(parser->arena, "an accumulation names its operator, as in reduce y %s x[i] for i in 0..n;",
			    !strncmp(rest, "max", 3) ? "max=" : !strncmp(rest, "min", 3) ? "min=" : "+=");
}

/* Is the last token a type, here or in another language? */
static bool is_type(const struct parser *parser)
{
	return tree_type_is_known(arena_copy(parser->arena, parser->text + parser->last,
					     parser->last_end - parser->last));
}

/* Does the token stand in the braces of a case? */
static bool is_in_case(const struct parser *parser)
{
	const char *text = parser->text;
	uint32_t at = parser->token;
	int depth = 1;

	while (at > 0 && depth > 0) {
		at--;
		depth += text[at] == '}' ? 1 : text[at] == '{' ? -1 : 0;
	}
	while (at > 0 && strchr(" \t\r\n", text[at - 1]))
		at--;
	return depth == 0 && at > 4 && text_is(parser, at - 4, at, "case");
}

/* What functions and their values begin with in other languages. */
static bool last_is_value_function(const struct parser *parser)
{
	static const char *const words[] = { "let", "def", "fn", "fun", "lambda", "auto", "val", "proc",
					     "subroutine" };
	bool is = false;

	for (size_t i = 0; i < sizeof words / sizeof words[0] && !is; i++)
		is = last_is(parser, words[i]);
	return is;
}

/* Behind the name that a statement or a declaration begins with. */
static const char *statement_advice(const struct parser *parser, const struct expectation *expected)
{
	bool is_target = expected->has['='] && expected->has['['];

	if (is_target && parser->code == ':')
		return "a declaration begins with its role: in, out, inout, temp or state";
	if (is_target && parser->code == '(')
		return "a statement begins with what it defines, as in y[i] = … or x = f(…)";
	if ((parser->code == '=' || parser->code == ';') && expected->has[':'] && !expected->has[';'] &&
	    !expected->has['*'])
		return "a declaration has a type, as in temp x : f64[n] = EXPR;";
	if (is_target && parser->code == NAME && is_type(parser))
		return "a size is declared by param n; another value by its role, as in temp x : f64 = 0;";
	if (is_target && parser->code == NAME && last_is_value_function(parser))
		return "there are no functions of values yet: what is computed at points is "
		       "func f[i in 0..n] : f64 = x[i]; one value is temp a : f64 = 3;";
	if (parser->code == NAME && expected->has[':'] && is_type(parser))
		return arena_printf(parser->arena, "the type stands behind the name, as in %.*s : %.*s[n];",
				    (int) (parser->token_end - parser->token), parser->text + parser->token,
				    (int) (parser->last_end - parser->last), parser->text + parser->last);
	if (parser->code == ',' && expected->has[';'] && expected->has['*'] && is_in_case(parser))
		return "each branch ends with ';', as in case { i == 0 : a; else : b; }";
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
		return "a range is written lo..hi, and leaves out hi";
	if (parser->code == '[' && last_is(parser, "]"))
		return "several subscripts or sizes stand in one pair of brackets, as in x[i, j]";
	if (last_is(parser, "if") || is_behind_if(parser))
		return "a choice is written y[i] = case { i == 0 : a; else : b; } or select(c, a, b)";
	if (begins_foreign_comment(parser))
		return "a comment begins with # and ends with its line";
	if (parser->code == '(' && last_is(parser, "for"))
		return "ranges have no parentheses, and stand behind a statement, as in y[i] = x[i] for i in 0..n;";
	if (parser->code == '(' && last_is(parser, "cast"))
		return "the type stands in angle brackets, as in cast<i32>(x)";
	if (parser->code == FOR && expected->has[PARAM])
		return "ranges stand behind a statement, as in y[i] = x[i] for i in 0..n;";
	if (parser->code == '[' && expected->has[':'] && expected->has[','])
		return "sizes stand behind the type, as in x : f64[n, m]";
	if (parser->code == '(' && expected->has['['] && !expected->has['='] && !expected->has[ADD_ASSIGN])
		return "the points of a function stand in brackets, as in func f[i in 0..n] : f64 = x[i];";
	if (parser->code == '-' && expected->has[':'] && parser->text[parser->token_end] == '>')
		return "a type stands behind a colon, as in func f[i in 0..n] : f64 = x[i];";
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
	VEC(const char *) words = { 0 };

	for (; *tokens != 0; tokens++)
		if (token_is_reserved_word(*tokens) && *tokens != IN)
			vec_push(parser->arena, &words, parser_token_name(*tokens));
	return suggest_nearest(name, words.items, words.n);
}

/* What else a statement begins with in the mind of those who come from other languages. */
static const char *foreign_word(const char *name)
{
	static const struct word_pair words[] = {
		{ "function", "func" }, { "inn", "in" }, { "input", "in" }, { "output", "out" },
		{ "parameter", "param" }, { "temporary", "temp" }, { "var", "temp" },
	};

	return WORD_PAIR_FIND(words, name);
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

bool is_told_as_name(const struct parser *parser, const struct expectation *expected)
{
	return is_as_name(parser, expected) && parser->mending.told_words & UINT32_C(1) << (parser->code - PIPELINE);
}

/* `param in;` is told, and where it is used as that name is no news. */
static void add_reserved(struct parser *parser, struct diag *diag, struct span place)
{
	diag_help(parser->diags, diag, place, "'%s' is a word of the language and cannot be a name",
		  parser_token_name(parser->code));
	parser->mending.told_words |= UINT32_C(1) << (parser->code - PIPELINE);
}

void advice_add(struct parser *parser, struct diag *diag, struct span place, const struct expectation *expected)
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

const char *advice_for_argument(const struct parser *parser, const struct expectation *expected)
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
