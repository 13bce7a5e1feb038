/* SPDX-License-Identifier: MIT
 *
 * The grammar. LALR(1) without conflicts; each action is one call of a constructor. The comments between the two
 * lines of %% are the grammar of the language guide, in EBNF: { } any number, [ ] at most one.
 * Recovery: a mistake in a statement is skipped up to its `;` or to the `}` of the block around it, and no second
 * message is given until three more tokens were understood. The stack does not grow, so that nothing is left
 * behind when the arena jumps out of the parser. */

%code requires {
#include "syntax/tree_build.h"
}

%code {
#include "syntax/expected.h"
#include "syntax/mend.h"

#define YYINITDEPTH 3000
#define YYMAXDEPTH 3000

static int yylex(YYSTYPE *value, struct span *place, struct parser *parser);
static void yyerror(const struct span *place, struct parser *parser, const char *text);
static struct span parser_join(const struct span *parts, int n);

#define YYLLOC_DEFAULT(current, parts, n) ((current) = parser_join((parts), (n)))
}

%define api.pure full
%define api.location.type {struct span}
%define parse.error custom
%define parse.lac full
%define parse.lac.es-capacity-initial "3000"
%locations
%param { struct parser *parser }

%union {
	const char *text;
	struct tree_name name;
	tree_names names;
	struct tree_expr *expr;
	tree_exprs exprs;
	struct tree_range *range;
	tree_ranges ranges;
	struct tree_branch branch;
	tree_branches branches;
	struct tree_type *type;
	struct tree_type_args *type_args;
	struct tree_mode mode;
	tree_modes modes;
	struct tree_fact fact;
	tree_facts facts;
	struct tree_stmt *stmt;
	tree_stmts stmts;
	struct tree_schedule_item *item;
	tree_schedule_items items;
	enum tree_role role;
	enum tree_reduce_op reduce_op;
}

%token START_FILE START_STATEMENTS
%token YYEOF 0 "end of file"
%token <text> NAME "name" INTEGER "integer" REAL "number" STRING "string"

%token PIPELINE "pipeline" CONST "const" INCLUDE "include" PARAM "param" ASSUME "assume"
	SPECIALIZE "specialize" FIXED "fixed" IN "in" OUT "out" INOUT "inout" TEMP "temp" STATE "state"
	FUNC "func" REDUCE "reduce" NEXT "next" FOR "for" ITERATE "iterate" UNTIL "until" CASE "case"
	ELSE "else" SCHEDULE "schedule" CAST "cast" TRUE "true" FALSE "false" AND "and" OR "or" NOT "not"

%token EQ "==" NE "!=" LE "<=" GE ">=" RANGE ".." ADD_ASSIGN "+=" MUL_ASSIGN "*=" MIN_ASSIGN "min="
	MAX_ASSIGN "max="

%left OR
%left AND
%precedence NOT
%nonassoc EQ NE '<' LE '>' GE
%left '+' '-'
%precedence REDUCTION
%left '*' '/' '%'
%precedence NEGATION

%type <name> word dotted
%type <names> names
%type <expr> expression value head target schedule_value schedule_argument until
%type <exprs> expressions shape schedule_arguments
%type <range> range
%type <ranges> ranges for
%type <branch> branch
%type <branches> branches cases
%type <type> type
%type <type_args> type_arguments
%type <mode> mode
%type <modes> modes
%type <name> element
%type <fact> fact
%type <facts> facts
%type <stmt> statement
%type <stmts> statements block
%type <item> schedule_item
%type <items> schedule_items
%type <role> role
%type <reduce_op> assignment

%%

input:
	START_FILE file
	| START_STATEMENTS statements	{ parser->stmts = $2; }
	;

/* file = { include | constant | pipeline } */
file:
	%empty
	| file file_item
	;

/* include = "include" STRING ";" */
/* constant = "const" NAME "=" expression ";" */
/* pipeline = "pipeline" NAME block */
file_item:
	INCLUDE STRING ';'		{ include_expand(parser, @2, $2); }
	| CONST word '=' expression ';'	{ tree_file_add_const(parser, @$, $2, $4); }
	| PIPELINE word block		{ tree_file_add_pipeline(parser, @$, $2, $3); }
	| PIPELINE error block
	| error ';'
	| error '}'
	;

/* block = "{" { statement } "}" */
block:
	'{' statements '}'		{ $$ = $2; }
	| '{' statements error '}'	{ $$ = $2; }
	;

statements:
	%empty				{ $$ = (tree_stmts) { 0 }; }
	| statements statement		{ $$ = $1; vec_push(parser->arena, &$$, $2); }
	| statements error ';'		{ $$ = $1; }
	| statements ITERATE error block { $$ = $1; }
	| statements ITERATE error ';'	{ $$ = $1; }
	;

/* statement = "param" [ type-name ] NAME { "," NAME } ";"
 *           | "assume" expression ";"
 *           | "specialize" NAME "=" ( expression | STRING ) ";"
 *           | [ "fixed" ] role name { "," name } ":" type [ "=" value ] ";"
 *           | "func" name "[" ranges "]" ":" type "=" value ";"
 *           | [ "next" ] target "=" value [ "for" ranges ] ";"
 *           | "reduce" [ "next" ] target ( "+=" | "*=" | "min=" | "max=" ) value [ "for" ranges ] ";"
 *           | "iterate" range [ "until" expression ] block
 *           | "schedule" "{" { schedule-item } "}" */
statement:
	PARAM names ';'			{ $$ = tree_stmt_param(parser, @$, $2); }
	| PARAM word names ';'		{ $$ = tree_stmt_param_scalar(parser, @$, $2, $3); }
	| ASSUME expression ';'		{ $$ = tree_stmt_assume(parser, @$, $2); }
	| SPECIALIZE word '=' expression ';'
					{ $$ = tree_stmt_specialize(parser, @$, $2, $4, NULL); }
	| SPECIALIZE word '=' STRING ';'
					{ $$ = tree_stmt_specialize(parser, @$, $2, NULL, $4); }
	| role names ':' type ';'	{ $$ = tree_stmt_decl(parser, @$, false, $1, $2, $4, NULL); }
	| role names ':' type '=' value ';'
					{ $$ = tree_stmt_decl(parser, @$, false, $1, $2, $4, $6); }
	| FIXED IN names ':' type ';'	{ $$ = tree_stmt_decl(parser, @$, true, TREE_IN, $3, $5, NULL); }
	| FUNC dotted '[' ranges ']' ':' type '=' value ';'
					{ $$ = tree_stmt_func(parser, @$, $2, $4, $7, $9); }
	| target '=' value for ';'	{ $$ = tree_stmt_define(parser, @$, false, $1, $3, $4); }
	| NEXT target '=' value for ';'	{ $$ = tree_stmt_define(parser, @$, true, $2, $4, $5); }
	| REDUCE target assignment value for ';'
					{ $$ = tree_stmt_accumulate(parser, @$, false, $2, $3, $4, $5); }
	| REDUCE NEXT target assignment value for ';'
					{ $$ = tree_stmt_accumulate(parser, @$, true, $3, $4, $5, $6); }
	| ITERATE range until block	{ $$ = tree_stmt_iterate(parser, @$, $2, $3, $4); }
	| SCHEDULE '{' schedule_items '}'
					{ $$ = tree_stmt_schedule(parser, @$, $3); }
	| SCHEDULE '{' schedule_items error '}'
					{ $$ = tree_stmt_schedule(parser, @$, $3); }
	;

/* role = "in" | "out" | "inout" | "temp" | "state" */
role:
	IN				{ $$ = TREE_IN; }
	| OUT				{ $$ = TREE_OUT; }
	| INOUT				{ $$ = TREE_INOUT; }
	| TEMP				{ $$ = TREE_TEMP; }
	| STATE				{ $$ = TREE_STATE; }
	;

assignment:
	ADD_ASSIGN			{ $$ = TREE_SUM; }
	| MUL_ASSIGN			{ $$ = TREE_PROD; }
	| MIN_ASSIGN			{ $$ = TREE_MIN; }
	| MAX_ASSIGN			{ $$ = TREE_MAX; }
	;

until:
	%empty				{ $$ = NULL; }
	| UNTIL expression		{ $$ = $2; }
	;

for:
	%empty				{ $$ = (tree_ranges) { 0 }; }
	| FOR ranges			{ $$ = $2; }
	;

/* target = name [ "[" expressions "]" ] */
target:
	dotted				{ $$ = tree_expr_name(parser, @$, $1); }
	| dotted '[' expressions ']'	{ $$ = tree_expr_index(parser, @$, $1, $3); }
	;

/* name = NAME [ "." NAME ] */
dotted:
	NAME				{ $$ = tree_name_new(@$, $1, NULL); }
	| NAME '.' NAME			{ $$ = tree_name_new(@$, $1, $3); }
	;

word:
	NAME				{ $$ = tree_name_new(@$, $1, NULL); }
	;

names:
	dotted				{ $$ = (tree_names) { 0 }; vec_push(parser->arena, &$$, $1); }
	| names ',' dotted		{ $$ = $1; vec_push(parser->arena, &$$, $3); }
	;

/* type = NAME [ "<" type-name ">" ] [ "(" expressions [ ";" mode { "," mode } ] ")" ]
 *        [ "[" expressions "]" ] { fact } */
type:
	word element type_arguments shape facts
					{ $$ = tree_type_new(parser, @$, $1, $2, $3, $4, $5); }
	;

element:
	%empty				{ $$ = (struct tree_name) { 0 }; }
	| '<' word '>'			{ $$ = $2; }
	;

type_arguments:
	%empty				{ $$ = NULL; }
	| '(' expressions ')'		{ $$ = tree_type_args_new(parser, $2, (tree_modes) { 0 }); }
	| '(' expressions ';' modes ')'	{ $$ = tree_type_args_new(parser, $2, $4); }
	;

modes:
	mode				{ $$ = (tree_modes) { 0 }; vec_push(parser->arena, &$$, $1); }
	| modes ',' mode		{ $$ = $1; vec_push(parser->arena, &$$, $3); }
	;

/* mode = NAME "<" expression */
mode:
	NAME '<' expression		{ $$ = tree_mode_new(@$, $1, $3); }
	;

shape:
	%empty				{ $$ = (tree_exprs) { 0 }; }
	| '[' expressions ']'		{ $$ = $2; }
	;

facts:
	%empty				{ $$ = (tree_facts) { 0 }; }
	| facts fact			{ $$ = $1; vec_push(parser->arena, &$$, $2); }
	;

/* fact = "sorted" | "unique" | "tree" */
fact:
	word				{ $$ = tree_fact_new($1, (struct tree_name) { 0 }); }
	| word '(' dotted ')'		{ $$ = tree_fact_new($1, $3); }
	;

/* ranges = range { "," range } */
ranges:
	range				{ $$ = (tree_ranges) { 0 }; vec_push(parser->arena, &$$, $1); }
	| ranges ',' range		{ $$ = $1; vec_push(parser->arena, &$$, $3); }
	;

/* range = NAME "in" expression ".." expression | NAME "in" "children" "(" name "," expression ")" */
range:
	word IN expression RANGE expression
					{ $$ = tree_range_new(parser, @$, $1, $3, $5); }
	| word IN expression		{ $$ = tree_range_new(parser, @$, $1, $3, NULL); }
	;

/* value = expression | "case" "{" { branch } "}" */
value:
	expression
	| CASE cases			{ $$ = tree_expr_case(parser, @$, $2); }
	;

cases:
	'{' branches '}'		{ $$ = $2; }
	| '{' branches error '}'	{ $$ = $2; }
	| '{' branches head error '}'	{ $$ = $2; }
	;

branches:
	%empty				{ $$ = (tree_branches) { 0 }; }
	| branches branch		{ $$ = $1; vec_push(parser->arena, &$$, $2); }
	| branches error ';'		{ $$ = $1; }
	| branches head error ';'	{ $$ = $1; }
	| branches head error cases	{ $$ = $1; }
	| branches head error cases ';'	{ $$ = $1; }
	;

/* branch = ( expression | "else" ) ":" expression ";" */
branch:
	head expression ';'		{ $$ = tree_branch_new(@$, $1, $2); }
	;

head:
	expression ':'			{ $$ = $1; }
	| ELSE ':'			{ $$ = NULL; }
	;

/* expressions = expression { "," expression } */
expressions:
	expression			{ $$ = (tree_exprs) { 0 }; vec_push(parser->arena, &$$, $1); }
	| expressions ',' expression	{ $$ = $1; vec_push(parser->arena, &$$, $3); }
	;

/* expression = INTEGER | NUMBER | "true" | "false" | "(" expression ")" | "[" expressions "]"
 *            | name | name "[" expressions "]" | name "(" [ expressions ] ")"
 *            | "cast" "<" type-name ">" "(" expression ")"
 *            | ( "sum" | "prod" | "min" | "max" ) "(" ranges ")" expression
 *            | ( "-" | "not" ) expression
 *            | expression operator expression
 * From loose to tight: or; and; not; == != < <= > >= (no chains); + -; the body of a reduction;
 * * / %; the sign. */
expression:
	INTEGER				{ $$ = tree_expr_int(parser, @$, $1); }
	| REAL				{ $$ = tree_expr_float(parser, @$, $1); }
	| TRUE				{ $$ = tree_expr_bool(parser, @$, true); }
	| FALSE				{ $$ = tree_expr_bool(parser, @$, false); }
	| '(' expression ')'		{ $$ = $2; }
	| '[' expressions ']'		{ $$ = tree_expr_list(parser, @$, $2); }
	| dotted			{ $$ = tree_expr_name(parser, @$, $1); }
	| dotted '[' expressions ']'	{ $$ = tree_expr_index(parser, @$, $1, $3); }
	| dotted '(' ')'		{ $$ = tree_expr_call(parser, @$, $1, (tree_exprs) { 0 }); }
	| dotted '(' expressions ')'	{ $$ = tree_expr_call(parser, @$, $1, $3); }
	| CAST '<' word '>' '(' expression ')'
					{ $$ = tree_expr_cast(parser, @$, $3, $6); }
	| dotted '(' ranges ')' expression %prec REDUCTION
					{ $$ = tree_expr_reduce(parser, @$, $1, $3, $5); }
	| '-' expression %prec NEGATION	{ $$ = tree_expr_unary(parser, @$, TREE_OP_NEG, $2); }
	| NOT expression		{ $$ = tree_expr_unary(parser, @$, TREE_OP_NOT, $2); }
	| expression OR expression	{ $$ = tree_expr_binary(parser, @$, TREE_OP_OR, $1, $3); }
	| expression AND expression	{ $$ = tree_expr_binary(parser, @$, TREE_OP_AND, $1, $3); }
	| expression EQ expression	{ $$ = tree_expr_binary(parser, @$, TREE_OP_EQ, $1, $3); }
	| expression NE expression	{ $$ = tree_expr_binary(parser, @$, TREE_OP_NE, $1, $3); }
	| expression '<' expression	{ $$ = tree_expr_binary(parser, @$, TREE_OP_LT, $1, $3); }
	| expression LE expression	{ $$ = tree_expr_binary(parser, @$, TREE_OP_LE, $1, $3); }
	| expression '>' expression	{ $$ = tree_expr_binary(parser, @$, TREE_OP_GT, $1, $3); }
	| expression GE expression	{ $$ = tree_expr_binary(parser, @$, TREE_OP_GE, $1, $3); }
	| expression '+' expression	{ $$ = tree_expr_binary(parser, @$, TREE_OP_ADD, $1, $3); }
	| expression '-' expression	{ $$ = tree_expr_binary(parser, @$, TREE_OP_SUB, $1, $3); }
	| expression '*' expression	{ $$ = tree_expr_binary(parser, @$, TREE_OP_MUL, $1, $3); }
	| expression '/' expression	{ $$ = tree_expr_binary(parser, @$, TREE_OP_DIV, $1, $3); }
	| expression '%' expression	{ $$ = tree_expr_binary(parser, @$, TREE_OP_MOD, $1, $3); }
	;

schedule_items:
	%empty				{ $$ = (tree_schedule_items) { 0 }; }
	| schedule_items schedule_item	{ $$ = $1; vec_push(parser->arena, &$$, $2); }
	| schedule_items error ';'	{ $$ = $1; }
	;

/* schedule-item = NAME name { "," name } [ "by" setting | ":" setting | "(" setting { "," setting } ")" ] ";" */
schedule_item:
	word names ';'			{ $$ = tree_schedule_item_new(parser, @$, $1, $2,
								      (struct tree_name) { 0 }, NULL); }
	| word names word schedule_value ';'
					{ $$ = tree_schedule_item_new(parser, @$, $1, $2, $3, $4); }
	| word names ':' schedule_value ';'
					{ $$ = tree_schedule_item_new(parser, @$, $1, $2,
								      (struct tree_name) { 0 }, $4); }
	| word names '(' schedule_arguments ')' ';'
					{ $$ = tree_schedule_item_new(parser, @$, $1, $2, (struct tree_name) { 0 },
								      tree_expr_list(parser, @4, $4)); }
	;

/* setting = INTEGER | NAME [ "(" argument { "," argument } ")" ] */
schedule_value:
	INTEGER				{ $$ = tree_expr_int(parser, @$, $1); }
	| word				{ $$ = tree_expr_name(parser, @$, $1); }
	| word '(' schedule_arguments ')'
					{ $$ = tree_expr_call(parser, @$, $1, $3); }
	;

schedule_arguments:
	schedule_argument		{ $$ = (tree_exprs) { 0 }; vec_push(parser->arena, &$$, $1); }
	| schedule_arguments ',' schedule_argument
					{ $$ = $1; vec_push(parser->arena, &$$, $3); }
	;

/* argument = setting | NAME "=" setting */
schedule_argument:
	schedule_value
	| word '=' schedule_value	{ $$ = tree_expr_binary(parser, @$, TREE_OP_EQ,
								tree_expr_name(parser, @1, $1), $3); }
	;

%%

enum { MANY_ERRORS = 200 };

/* From the first to the last part that is not empty; an empty rule stands behind what came before it. */
static struct span parser_join(const struct span *parts, int n)
{
	struct span joined = parts[0];

	if (n == 0) {
		joined.start = joined.end;
		return joined;
	}
	joined = parts[1];
	for (int i = 2; i <= n; i++) {
		if (joined.start == joined.end)
			joined = parts[i];
		else if (parts[i].start < parts[i].end)
			joined = span_join(joined, parts[i]);
	}
	return joined;
}

/* The first token says what is to be parsed. A text with very many mistakes is not read to its end. */
static int yylex(YYSTYPE *value, struct span *place, struct parser *parser)
{
	int start = parser->start;

	if (start != 0) {
		parser->start = 0;
		*place = parser_span(parser, 0, 0);
		return start;
	}
	if (parser->mending.inserted) {
		int token = parser->mending.inserted;

		if (token != parser->code)
			brackets_pass(parser, token, parser->token);
		parser->mending.inserted = token == parser->code ? 0 : parser->code;
		*place = parser_span(parser, parser->token, parser->token_end);
		return token;
	}
	parser->last = parser->token;
	parser->last_end = parser->token_end;
	brackets_pass(parser, parser->code, parser->token);
	if (parser->diags->n_errors >= MANY_ERRORS)
		return parser->code = YYEOF;
	parser->code = lexer_next(value, place, parser->scanner);
	if (parser->code == ';' || parser->code == '}')
		parser->mending.is_skipping = false;
	return parser->code;
}

/* Called by the parser only when its stack is full: mistakes go to yyreport_syntax_error. */
static void yyerror(const struct span *place, struct parser *parser, const char *text)
{
	(void) text;
	parser_error(parser, DIAG_TOO_DEEP, *place, "this is nested too deeply");
}

static int yyreport_syntax_error(const yypcontext_t *context, struct parser *parser)
{
	yysymbol_kind_t kinds[YYNTOKENS];
	int n = yypcontext_expected_tokens(context, kinds, YYNTOKENS);
	struct expectation expected = { 0 };

	for (int token = 0; token <= YYMAXUTOK; token++)
		for (int i = 0; i < n; i++)
			if (YYTRANSLATE(token) == kinds[i])
				expected.has[token] = true;
	expectation_report(parser, *yypcontext_location(context), &expected);
	return 0;
}

const char *parser_token_name(int token)
{
	return yysymbol_name(YYTRANSLATE(token));
}

static void parser_run(struct parser *parser, int start)
{
	lexer_open(parser);
	parser->start = start;
	yyparse(parser);
	tree_expr_report_large(parser);
	lexer_close(parser);
}

void parser_run_file(struct parser *parser)
{
	parser_run(parser, START_FILE);
}

void parser_run_statements(struct parser *parser)
{
	parser_run(parser, START_STATEMENTS);
}
