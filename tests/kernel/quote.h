/* SPDX-License-Identifier: MIT
 *
 * Quotation: lines of C as nodes of the kernel tree, by which tests read generated files and write kernels. What is no
 * statement of the subset that kernels are made of is an error, kept in the builder with its text. */
#ifndef PMGC_TESTS_KERNEL_QUOTE_H
#define PMGC_TESTS_KERNEL_QUOTE_H

#include "kernel/kernel.h"
#include "kernel/read.h"

/* ---- quote.c: as line, open_block, close_block and writer_blank of support.h ------------------------------ */

void quote_at(struct k_builder *builder, const char *emitter, const char *format, ...) PRINTF_LIKE(3, 4);
#define quote(builder, ...) quote_at((builder), EMITTER, __VA_ARGS__)
void quote_open_at(struct k_builder *builder, const char *emitter, const char *format, ...) PRINTF_LIKE(3, 4);
#define quote_open(builder, ...) quote_open_at((builder), EMITTER, __VA_ARGS__)
/* "}", or "};" of a structure. */
void quote_close_at(struct k_builder *builder, const char *emitter, const char *text);
#define quote_close(builder, text) quote_close_at((builder), EMITTER, (text))
void quote_blank_at(struct k_builder *builder, const char *emitter);
#define quote_blank(builder) quote_blank_at((builder), EMITTER)
/* "} else {" of the if that is open. */
void quote_otherwise_at(struct k_builder *builder, const char *emitter);
#define quote_otherwise(builder) quote_otherwise_at((builder), EMITTER)
/* The same of the if that was closed last. */
void quote_reopen_at(struct k_builder *builder, const char *emitter);
#define quote_reopen(builder) quote_reopen_at((builder), EMITTER)

/* ---- quote_stmt.c ----------------------------------------------------------------------------------------- */

/* One statement, or the head of one that opens a block. NULL: *error says what is wrong. Several declarations in one
 * are several statements: see quote_read. */
struct k_stmt *quote_stmt(struct arena *arena, const char *text, const char **error);

struct quoted {
	struct k_block stmts;
	bool opens;                     /* the last one's block follows */
	bool guards;                    /* the last one, a loop, has no braces */
};

/* false: r->error says what is wrong. */
bool quote_read(struct k_reader *r, struct quoted *out);
/* Up to the semicolon, which is taken; false: wrong, or no declaration begins there. */
bool quote_is_declaration(const struct k_reader *r);
bool quote_read_declaration(struct k_reader *r, struct k_block *out);
/* A store or a call; what follows it is not taken. NULL: wrong. */
struct k_stmt *quote_read_effect(struct k_reader *r);

/* ---- quote_loop.c: behind the word ------------------------------------------------------------------------ */

struct k_stmt *quote_read_for(struct k_reader *r);
struct k_stmt *quote_read_while(struct k_reader *r);
/* if (const T v = start; v < end), behind its parenthesis. */
struct k_stmt *quote_read_single(struct k_reader *r);

/* ---- quote_annotation.c: lines that say how the next statement runs --------------------------------------- */

bool quote_is_annotation(const char *text);
/* A loop, KS_PARALLEL or a store of which only that is set. NULL: *error says what is wrong. */
struct k_stmt *quote_annotation(struct arena *arena, const char *text, const char **error);
/* Gives a statement that was added the annotation that waits for one. */
void quote_take_annotation(struct k_builder *builder, struct k_stmt *stmt);
/* false: it is no annotation of such a statement. */
bool quote_annotate(struct k_stmt *stmt, const struct k_stmt *annotation);

/* ---- quote_function.c ------------------------------------------------------------------------------------- */

/* The head of a function, without its brace: static void f(int64_t n, double *restrict x). */
struct k_function *quote_function(struct arena *arena, const char *text, const char **error);

#endif
