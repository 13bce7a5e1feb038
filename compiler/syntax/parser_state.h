/* SPDX-License-Identifier: MIT
 *
 * What one run of the parser carries: the text, where the lexer stands in it, and where the results go.
 * Shared by the files of this folder only. */
#ifndef PMGC_SYNTAX_PARSER_STATE_H
#define PMGC_SYNTAX_PARSER_STATE_H

#include <sys/types.h>

#include "syntax/tree.h"

/* A file that was read, known by where it is kept and not by its name. */
struct included_file {
	dev_t device;
	ino_t inode;
	bool is_open;               /* being parsed: to include it again would not end */
};

/* Shared by a file and all it includes. */
struct inclusions {
	VEC(struct included_file) files;
	int depth;
};

/* A bracket before the current token that is still open. */
struct bracket {
	char sign;                  /* one of ( [ { */
	uint32_t at;
	bool is_old;                /* a ';' stands behind it */
};

/* What was wrong so far, so that the same is not told again. */
struct mending {
	int inserted;               /* a token that is missing before the current one, which then comes again */
	bool is_unclosed;           /* in a case that was told to have no end, up to the next pipeline */
	uint32_t told_end;          /* of a token that a message was about: what is wrong right behind it is no news */
	uint32_t told_words;        /* bit for bit those from PIPELINE on that were told to be no names */
	bool is_skipping;           /* behind a bad character, up to the next `;` or `}` */
};

struct parser {
	struct arena *arena;
	struct diags *diags;
	struct inclusions *inclusions;
	struct tree_file *tree;     /* grows while a file is parsed */
	tree_stmts stmts;           /* the result when statements are parsed */
	const char *name, *text;
	uint32_t size, file;
	bool is_expansion;          /* of a construct: all spans are `origin` */
	struct span origin;
	int start;                  /* token that selects the grammar, 0 once it was delivered */
	void *scanner;
	uint32_t offset;            /* of the text behind the current token */
	uint32_t token, token_end;  /* the current token, which is a `code` */
	int code;
	uint32_t last, last_end;    /* the one before */
	VEC(struct bracket) open;
	struct mending mending;
	bool is_too_deep;           /* reported once */
	VEC(struct tree_expr *) too_large;      /* integers above the largest, before which no sign was read yet */
};

/* ---- parser_state.c ---- */

/* The span of a part of the text. */
struct span parser_span(const struct parser *parser, uint32_t start, uint32_t end);

/* Whether only blanks stand before `offset` on its line: then the line above may lack its `;`. */
bool parser_begins_line(const struct parser *parser, uint32_t offset);

/* An error of the text; inside an expansion it also shows the line of the expansion. */
struct diag *parser_error(struct parser *parser, enum diag_code code, struct span span,
			  const char *format, ...) PRINTF_LIKE(4, 5);

/* ---- tree_expr.c ---- */
/* Reports integers that are too large, when all signs are read: one value is there only with a minus. */
void tree_expr_report_large(struct parser *parser);

enum { LONGEST_TEXT = 1 << 28 };

/* A parser of source number `file` into the same tree, and as part of the same run, as `from`. */
struct parser parser_for_file(const struct parser *from, uint32_t file);

/* ---- lexer.l ---- */
union YYSTYPE;
void lexer_open(struct parser *parser);
void lexer_close(struct parser *parser);
int lexer_next(union YYSTYPE *value, struct span *place, void *scanner);

/* ---- parser.y ---- */
const char *parser_token_name(int token);      /* "integer", "';'" */
void parser_run_file(struct parser *parser);
void parser_run_statements(struct parser *parser);

/* ---- include.c ---- */
/* Parses the file that `path` names, as seen from the including one, into the same tree. A file that was
 * included before is not read again. */
void include_expand(struct parser *parser, struct span span, const char *path);
/* Notes the file that the user named, so that it cannot be included. */
void include_begin(struct parser *parser);

#endif
