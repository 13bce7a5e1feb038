/* SPDX-License-Identifier: MIT
 *
 * What the files of the reader share: tokens, and the state of one reading.
 *
 *     read_token.c      characters to tokens; errors
 *     read_expr.c       expressions and accesses
 *     read_schedule.c   schedules: isl's text, with our ids and marks put back
 *     read_restructuring.c  restructurings, branches and chunks
 *     read.c            lines
 *
 * After the first error the token is TOKEN_END for good, so that every loop ends; what was built so far is dropped. */
#ifndef PMGC_IR_READ_PRIVATE_H
#define PMGC_IR_READ_PRIVATE_H

#include "ir/text/print_private.h"

enum { READER_MAX_DEPTH = 2000 };

enum token_kind { TOKEN_END, TOKEN_LINE_END, TOKEN_NAME, TOKEN_STRING, TOKEN_INTEGER, TOKEN_FLOAT, TOKEN_SYMBOL,
		  TOKEN_RAW /* the rest of a line that begins with | */ };

struct token {
	enum token_kind kind;
	const char *text;
	uint64_t integer;
	double real;
	bool is_quoted;                 /* a name between backquotes, never a word of the format */
	struct span span;
};

/* A reference to what may come later in the text. */
struct reference {
	struct array *from;
	struct array **array;           /* to the array `name`; NULL: to the group `number` */
	const char *name;
	int64_t number;
	struct span span;
};

struct reader {
	struct module *module;
	struct arena *arena;
	struct diags *diags;
	isl_ctx *ctx;
	const char *text;
	uint32_t file, at, size;
	struct token token;
	const struct stage *stage;      /* whose dims have names now */
	enum region_kind region;
	struct group *group;
	VEC(struct reference) references;
	const char *schedules[REGION_N];/* isl's text */
	struct span schedule_spans[REGION_N];
	int depth;                      /* of the expression */
	bool failed;
};

/* ---- read_token.c ---- */
void reader_fail(struct reader *r, struct span span, const char *format, ...) PRINTF_LIKE(3, 4);
void reader_advance(struct reader *r);
bool reader_at(const struct reader *r, const char *word);       /* a word or symbol */
bool reader_take(struct reader *r, const char *word);
void reader_expect(struct reader *r, const char *word);
const char *reader_name(struct reader *r);
const char *reader_string(struct reader *r);
int64_t reader_integer(struct reader *r);                       /* with sign */
enum scalar_type reader_type(struct reader *r);
void reader_end_line(struct reader *r);

/* ---- read_expr.c ---- */
struct expr *read_expr(struct reader *r);
struct access read_access(struct reader *r);

/* ---- read_restructuring.c ---- */
void read_restructuring(struct reader *r);
void read_branching(struct reader *r);
void read_chunking(struct reader *r);

/* ---- read_schedule.c ---- */
void read_schedules(struct reader *r);

#endif
