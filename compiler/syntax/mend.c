/* SPDX-License-Identifier: MIT
 *
 * Mistakes of the grammar that a machine can mend: another sign for '=' or 'in', a missing 'in' or comma, a bracket or
 * brace that is not closed. Only where one text mends the program: a ')' that is missing in '(a + b' may belong behind
 * either. */
#include "syntax/mend.h"

#include <ctype.h>
#include <string.h>

#include "syntax/parser.h"
#include "syntax/tokens.h"

struct mend {
	uint32_t start, end;        /* of what is replaced; nothing: between tokens */
	const char *replacement, *help;
};

static bool text_begins(const struct parser *parser, uint32_t at, const char *sign)
{
	return strncmp(parser->text + at, sign, strlen(sign)) == 0;
}

/* ---- signs of other languages ---- */

static bool find_assignment(const struct parser *parser, const struct expectation *expected, struct mend *mend)
{
	static const char *const signs[] = { "==", ":=", "<-" };

	for (size_t i = 0; expected->has['='] && i < sizeof signs / sizeof signs[0]; i++)
		if (text_begins(parser, parser->token, signs[i])) {
			*mend = (struct mend) { parser->token, parser->token + (uint32_t) strlen(signs[i]), "=",
						"a definition is written y = EXPR;" };
			return true;
		}
	return false;
}

/* Does the current token begin the range whose variable is behind us? A name that another name follows does not. */
static bool begins_range(const struct parser *parser)
{
	const char *next = parser->text + parser->token_end;

	next += strspn(next, " \t");
	return parser->code == INTEGER || parser->code == '(' || parser->code == '-' ||
	       (parser->code == NAME && *next && strchr(".[(+-*/%", *next));
}

static bool find_in(const struct parser *parser, const struct expectation *expected, struct mend *mend)
{
	const char *help = "a range is written i in 0..n";

	if (!expected->has[IN] || expected->has[PARAM])
		return false;
	if (parser->code == '=')
		*mend = (struct mend) { parser->token, parser->token_end, "in", help };
	else if (begins_range(parser))
		*mend = (struct mend) { parser->token, parser->token, "in ", help };
	return mend->replacement;
}

/* Of `i in 0..n and j in 0..m`, where the second 'in' is the current token, the end of 'and'; 0: it is not there. */
static uint32_t end_of_and(const struct parser *parser, const struct expectation *expected)
{
	uint32_t end = parser->last;

	while (end > 0 && isspace((unsigned char) parser->text[end - 1]))
		end--;
	return parser->code == IN && expected->has[','] && expected->has['*'] && end > 4 &&
	       text_begins(parser, end - 4, " and") ? end : 0;
}

bool mend_is_behind_and(const struct parser *parser, const struct expectation *expected)
{
	return end_of_and(parser, expected) > 0;
}

/* Such a range, and `i in 0..n j in 0..m`, where 'j' is the current token. */
static bool find_comma(const struct parser *parser, const struct expectation *expected, struct mend *mend)
{
	const char *help = "ranges stand between commas", *next = parser->text + parser->token_end;
	uint32_t end = end_of_and(parser, expected);

	next += strspn(next, " \t");
	if (end)
		*mend = (struct mend) { end - 4, end, ",", help };
	else if (parser->code == NAME && expected->has[','] && expected->has['*'] && !strncmp(next, "in ", 3))
		*mend = (struct mend) { parser->last_end, parser->last_end, ",", help };
	return mend->replacement;
}

/* Does `lo..hi` stand behind the current token? */
static bool is_before_range(const struct parser *parser)
{
	const char *next = parser->text + parser->token_end;
	const char *dots = strstr(next, "..");

	return dots && dots < next + strcspn(next, ",;\n");
}

/* ---- what is open ---- */

static const struct bracket *last_open(const struct parser *parser, char sign)
{
	for (int i = parser->open.n; i > 0; i--)
		if (parser->open.items[i - 1].sign == sign)
			return &parser->open.items[i - 1];
	return NULL;
}

static int n_braces(const struct parser *parser)
{
	int n = 0;

	for (int i = 0; i < parser->open.n; i++)
		n += parser->open.items[i].sign == '{';
	return n;
}

/* Forgets the innermost bracket of this sign, and what is open in it. */
static void close_last(struct parser *parser, char sign)
{
	const struct bracket *last = last_open(parser, sign);

	if (last)
		parser->open.n = (int) (last - parser->open.items);
}

/* A list of modes has one ';'. Behind a second one, what is open will not be closed. */
static void end_statement(struct parser *parser)
{
	while (parser->open.n && parser->open.items[parser->open.n - 1].is_old)
		parser->open.n--;
	for (int i = parser->open.n; i > 0 && parser->open.items[i - 1].sign != '{'; i--)
		parser->open.items[i - 1].is_old = true;
}

void brackets_pass(struct parser *parser, int code, uint32_t at)
{
	struct bracket bracket = { (char) code, at, false };

	if (code == '(' || code == '[' || code == '{')
		vec_push(parser->arena, &parser->open, bracket);
	else if (code == ')' || code == ']' || code == '}')
		close_last(parser, code == ')' ? '(' : code == ']' ? '[' : '{');
	else if (code == ';')
		end_statement(parser);
	if (code == PIPELINE) {
		parser->open.n = 0;
		parser->mending.is_unclosed = false;
	}
}

/* ---- brackets ---- */

/* The text behind the bracket that is open behind the last token, if that is only names, numbers and commas, and what
 * stands in brackets of its own; NULL: it is something else. */
static const char *open_bracket(const struct parser *parser)
{
	int depth = 0;

	for (uint32_t at = parser->last_end; at > 0; at--) {
		char c = parser->text[at - 1];

		if (c == '(' || c == '[') {
			if (depth-- == 0)
				return parser->text + at;
		} else if (c == ')' || c == ']') {
			depth++;
		} else if (c == '\n' || (depth == 0 && !isalnum((unsigned char) c) && !strchr("_., \t", c))) {
			break;
		}
	}
	return NULL;
}

/* Does a bracket that is open at the current token end in the rest of the statement? */
static bool closes_later(const struct parser *parser)
{
	int depth = 0;

	for (uint32_t at = parser->token; at < parser->size && !strchr(";\n", parser->text[at]) && depth >= 0; at++)
		depth += strchr("([", parser->text[at]) ? 1 : strchr(")]", parser->text[at]) ? -1 : 0;
	return depth < 0;
}

static bool is_open(const struct parser *parser, const struct expectation *expected)
{
	const char *open = open_bracket(parser);

	return open && expected->has[open[-1] == '(' ? ')' : ']'];
}

bool mend_is_no_equality(const struct parser *parser, const struct expectation *expected)
{
	return (expected->has[']'] && is_open(parser, expected)) || (expected->has[IN] && is_before_range(parser));
}

static bool ends_line(const struct parser *parser)
{
	return memchr(parser->text + parser->last_end, '\n', parser->token - parser->last_end);
}

/* What no bracket can hold. */
static bool is_outside(const struct parser *parser)
{
	return parser->code == ';' || parser->code == FOR || parser->code == '=' || parser->code == '{' ||
	       parser->code == '}' || ends_line(parser);
}

static bool find_bracket(struct parser *parser, const struct expectation *expected, struct mend *mend)
{
	const char *closing = expected->has[']'] ? "]" : ")";
	const char *end = parser->text + parser->last_end, *open;

	if (!is_outside(parser) || !is_open(parser, expected) || closes_later(parser))
		return false;
	open = open_bracket(parser);
	*mend = (struct mend) { parser->last_end, parser->last_end, closing,
				arena_printf(parser->arena, "a '%s' is missing behind '%.*s'", closing,
					     (int) (end - open), open) };
	return true;
}

/* The end of a case before its ranges, or of the pipeline. */
static bool find_brace(struct parser *parser, const struct expectation *expected, struct mend *mend)
{
	bool is_case = parser->code == FOR && expected->has[ELSE];
	bool is_pipeline = n_braces(parser) == 1 && (parser->code == YYEOF || parser->code == PIPELINE);

	if (!expected->has['}'] || !(is_case || is_pipeline))
		return false;
	*mend = (struct mend) { parser->last_end, parser->last_end, is_case ? " }" : "\n}", "" };
	if (is_case)
		parser->mending.inserted = '}';
	return true;
}

void mend_show_open(struct parser *parser, struct diag *diag, char sign)
{
	const struct bracket *open = last_open(parser, sign);

	if (open && !parser->is_expansion)
		diag_label(parser->diags, diag, parser_span(parser, open->at, open->at + 1), "this '%c' is not closed",
			   sign);
}

/* Of the braces that are open at the current token, how many the rest of the text leaves open. */
static int n_left_open(const struct parser *parser)
{
	int depth = n_braces(parser);

	for (const char *next = parser->text + parser->token_end; *(next += strcspn(next, "{}#\n")); next++) {
		if (*next == '#')
			next += strcspn(next, "\n") - 1;
		else if (*next != '\n')
			depth += *next == '{' ? 1 : -1;
	}
	return depth;
}

bool mend_is_behind_case(const struct parser *parser, const struct expectation *expected)
{
	bool is_definition = parser->code == '=' && expected->has[':'];
	bool is_statement = token_begins_statement(parser->code) && expected->has[ELSE];

	return (is_definition || is_statement) && n_braces(parser) > 1 && n_left_open(parser) > 0;
}

bool mend_add(struct parser *parser, struct diag *diag, const struct expectation *expected)
{
	struct mend mend = { 0 };
	bool is_known = !parser->is_expansion &&
			(find_assignment(parser, expected, &mend) || find_in(parser, expected, &mend) ||
			 find_comma(parser, expected, &mend) || find_bracket(parser, expected, &mend) ||
			 find_brace(parser, expected, &mend));

	if (is_known)
		diag_fix(parser->diags, diag, parser_span(parser, mend.start, mend.end), mend.replacement, "%s",
			 mend.help);
	return is_known;
}
