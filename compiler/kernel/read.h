/* SPDX-License-Identifier: MIT
 *
 * Reading text into the kernel tree: tokens, types and expressions as C has them, and lines of a dump. The first thing
 * that is wrong is kept; from then on there are no more tokens, so that whoever reads ends soon. */
#ifndef PMGC_KERNEL_READ_H
#define PMGC_KERNEL_READ_H

#include "kernel/kernel.h"

/* ---- read_token.c ---- */

enum k_token_kind { K_TOKEN_END, K_TOKEN_NAME, K_TOKEN_NUMBER, K_TOKEN_STRING, K_TOKEN_MARK };

struct k_token {
	enum k_token_kind kind;
	const char *text;               /* in what is read */
	size_t length;
	bool is_spaced;                 /* has a blank before it */
};

struct k_reader {
	struct arena *arena;
	const char *at;                 /* behind the token */
	struct k_token token;
	const char *error;              /* NULL: nothing is wrong so far */
	int depth;                      /* of expressions under way */
};

struct k_reader k_reader_new(struct arena *arena, const char *text);
void k_next(struct k_reader *r);
bool k_is(const struct k_reader *r, const char *text);          /* a mark or a name */
bool k_accept(struct k_reader *r, const char *text);            /* goes on if it is */
bool k_expect(struct k_reader *r, const char *text);            /* else it is wrong */
const char *k_expect_name(struct k_reader *r);                  /* NULL: there is none, which is wrong */
void k_fail(struct k_reader *r, const char *what);

/* ---- read_type.c ---- */

bool k_is_scalar(struct arena *arena, const struct k_token *token);     /* the name of a type without pointers */
/* [const] NAME [*] [restrict]; false: that is no type. */
bool k_read_type(struct k_reader *r, struct k_type *type);

/* ---- read_expr.c: NULL where none is ---- */

struct k_expr *k_read_whole(struct k_reader *r);                /* an expression */
struct k_expr *k_read_unary(struct k_reader *r);                /* one without operators of two operands */
struct k_expr *k_read_value(struct k_reader *r);                /* an expression or { … } */

/* ---- read_stmt.c: lines of a dump, without places and indentation --------------------------------------------- */

/* A statement without the body that it may have; what follows it is not taken. NULL: wrong. */
struct k_stmt *k_read_stmt(struct k_reader *r);
const char *k_read_function_name(struct k_reader *r);          /* NAME, MACRO(NAME); NULL: wrong */
const char *k_read_typed_name(struct k_reader *r, struct k_type *type);         /* NAME: TYPE; NULL: wrong */

/* ---- print.c: what the reader of a dump knows, too -------------------------------------------------------------- */

const char *k_stmt_word(enum k_stmt_kind kind);                 /* that a line begins with; NULL: it has others */
const char *k_loop_word(enum k_loop_kind kind);                 /* NULL: of a serial loop */
const char *k_mode_word(enum k_store_mode mode);                /* NULL: of a plain store */
const char *k_space_word(enum k_space space);
bool k_has_end(const struct k_stmt *stmt);                      /* a line of its own that closes it */

/* What a word says of a node: that it is so, or, with an expression behind it, that. */
struct k_property {
	const char *word;               /* NULL: behind the last one */
	bool is_flag;                   /* bool; else struct k_expr * */
	size_t offset;                  /* in the structure */
};

extern const struct k_property k_let_properties[];              /* ahead of the declaration, in this order */
extern const struct k_property k_loop_properties[];             /* behind commas */

#endif
