/* SPDX-License-Identifier: MIT
 *
 * What every folder of the compiler stands on: memory, growable arrays,
 * strings, source text and spans, diagnostics, and indented writing.
 * Nothing here prints, exits or keeps global state. */
#ifndef PMGC_SUPPORT_SUPPORT_H
#define PMGC_SUPPORT_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))

/* ---- arena.c ------------------------------------------------------------
 * All nodes of one compilation live in one arena and are freed together.
 * Memory is zeroed. An allocation never returns NULL: when memory runs out,
 * the reserve serves what comes, so that a step which holds isl objects can
 * end and release them; whoever runs the steps then asks `is_exhausted`. When
 * the reserve is used up (there is none, or a product overflows) control goes
 * to `on_failure`, which the driver arms around a whole compilation. */

struct arena {
	struct arena_block *blocks;
	size_t allocated;           /* bytes handed out, for statistics */
	jmp_buf *on_failure;        /* armed by the driver; NULL: abort() */
	struct arena_block *reserve;
	bool is_exhausted;          /* the reserve is in use */
	bool (*fails)(void);        /* for tests: does memory run out at this allocation? NULL: no */
};

bool arena_reserve(struct arena *arena, size_t size);   /* false: no memory */
void arena_exhaust(struct arena *arena);                /* memory ran out elsewhere: as if it had here */

void *arena_alloc(struct arena *arena, size_t size);
void *arena_alloc_array(struct arena *arena, size_t n, size_t size);
char *arena_copy(struct arena *arena, const char *text, size_t length);
char *arena_string(struct arena *arena, const char *text);
char *arena_printf(struct arena *arena, const char *format, ...) PRINTF_LIKE(2, 3);
char *arena_vprintf(struct arena *arena, const char *format, va_list args) PRINTF_LIKE(2, 0);
void arena_release(struct arena *arena);

#define arena_new(arena, type) ((type *) arena_alloc((arena), sizeof(type)))
#define arena_new_array(arena, type, n) \
	((type *) arena_alloc_array((arena), (size_t) (n), sizeof(type)))

/* ---- vec.c --------------------------------------------------------------
 * The only generic container: `VEC(int) v = {0}; vec_push(arena, &v, 3);`
 * read as `v.items[i]`, `i < v.n`. Storage belongs to the arena. */

#define VEC(type) struct { type *items; int n, capacity; }
#define vec_push(arena, vec, item) \
	((vec)->items = vec_reserve((arena), (vec)->items, (vec)->n, &(vec)->capacity, \
				    sizeof *(vec)->items), \
	 (vec)->items[(vec)->n++] = (item))

void *vec_reserve(struct arena *arena, void *items, int n, int *capacity, size_t size);

/* ---- name_table.c -------------------------------------------------------
 * `struct name_table all = {0}; name_table_set(arena, &all, "x", x);` The names stay the caller's. */

struct name_table {
	struct name_entry { const char *name; void *value; } *slots;
	int n, n_slots;             /* a power of two */
};

void *name_table_get(const struct name_table *names, const char *name);   /* NULL: there is no such name */
void name_table_set(struct arena *arena, struct name_table *names, const char *name, void *value);

/* ---- str.c --------------------------------------------------------------
 * A growing string in an arena. `text` is always NUL-terminated once something was added. */

struct str {
	struct arena *arena;
	char *text;
	size_t length, capacity;
};

struct str str_new(struct arena *arena);
void str_add(struct str *str, const char *format, ...) PRINTF_LIKE(2, 3);
void str_add_text(struct str *str, const char *text, size_t length);
void str_add_json(struct str *str, const char *text);   /* as a string of JSON, with its quotes */
const char *str_text(const struct str *str);  /* "" when nothing was added */

/* ---- source.c -----------------------------------------------------------
 * Source texts, and spans in them. A span is a file number and two byte
 * offsets; lines and columns are computed when something is printed. */

struct span {
	uint32_t file, start, end;
};

struct source {
	const char *name;           /* as given by the user */
	const char *text;           /* NUL-terminated */
	uint32_t size;
	uint32_t start;             /* what stands before it is not the user's: line 1 begins there */
	struct arena *arena;        /* of the sources */
	VEC(uint32_t) lines;        /* offset of the first byte of each line; built lazily */
};

struct sources {
	struct arena *arena;
	VEC(struct source *) files;
};

struct position {
	int line, column;           /* from 1; a tab counts to the next multiple of 8, a UTF-8 character counts once */
};

struct span span_join(struct span first, struct span last);
bool span_is_known(struct span span);          /* a zero span has no place in any file */
bool span_equal(struct span a, struct span b);
uint32_t sources_add(struct sources *sources, const char *name, const char *text, size_t size);
/* Of a file's text; 0 with errno set on failure, of which the arena is told if there is no memory. */
uint32_t sources_read(struct sources *sources, const char *name);
struct source *sources_get(const struct sources *sources, uint32_t file);
struct position source_position(struct source *source, uint32_t offset);
const char *span_text(const struct sources *sources, struct arena *arena, struct span span);
const char *span_lines(const struct sources *sources, struct arena *arena, struct span span);
const char *span_place(const struct sources *sources, struct arena *arena, struct span span); /* "f.pmg:3:14" */
/* What stands behind the folders of a path. */
const char *file_name(const char *path);

/* ---- diag.c -------------------------------------------------------------
 * Diagnostics are collected, in source order when printed. `diag.def` lists
 * the codes. Each call returns the diagnostic, so that labels (a second place),
 * notes and help can be attached. Texts are copied. */

enum severity { SEVERITY_REMARK, SEVERITY_WARNING, SEVERITY_ERROR };

enum diag_code {
#define DIAG(code, name) DIAG_##name,
#include "support/diag.def"
#undef DIAG
	DIAG_N
};

struct diag_label {
	struct span span;           /* unknown span: a note without a place */
	const char *text;
	const char *replacement;    /* of a help: put in place of the span, it mends the program; NULL: not known */
};

struct diag {
	enum severity severity;
	enum diag_code code;
	struct span span;
	const char *text;
	VEC(struct diag_label) labels;
	VEC(struct diag_label) helps; /* `help: did you mean 'voxel'?` */
};

struct diags {
	struct arena *arena;
	struct sources *sources;
	VEC(struct diag *) list;
	int n_errors;
};

struct diag *diag_error(struct diags *diags, enum diag_code code, struct span span,
			const char *format, ...) PRINTF_LIKE(4, 5);
struct diag *diag_warning(struct diags *diags, enum diag_code code, struct span span,
			  const char *format, ...) PRINTF_LIKE(4, 5);
struct diag *diag_remark(struct diags *diags, enum diag_code code, struct span span,
			 const char *format, ...) PRINTF_LIKE(4, 5);
void diag_label(struct diags *diags, struct diag *diag, struct span span,
		const char *format, ...) PRINTF_LIKE(4, 5);
void diag_help(struct diags *diags, struct diag *diag, struct span span,
	       const char *format, ...) PRINTF_LIKE(4, 5);
/* A help that a machine can carry out: `replacement` for the text of the span. For machines only if its own text is
 * empty: the message says it already. */
void diag_fix(struct diags *diags, struct diag *diag, struct span span, const char *replacement,
	      const char *format, ...) PRINTF_LIKE(5, 6);
/* help: did you mean 'nearest'? A fix where the span is the word `wrong`; in the text that a construct stands for,
 * it is the call, which is not what to replace. */
void diag_did_you_mean(struct diags *diags, struct diag *diag, struct span span, const char *wrong,
		       const char *nearest);
struct diag *diag_find(const struct diags *diags, enum diag_code code, struct span span);   /* NULL: there is none */
/* Of a warning: it is why the program is wrong. */
void diag_raise(struct diags *diags, struct diag *diag);
bool diag_was_reported(const struct diags *diags, enum diag_code code, struct span span);
const char *diag_code_text(enum diag_code code);   /* "PMG0123" */
const char *severity_name(enum severity severity);

/* The whole list as text, sorted by place. At most `limit` errors, then how many more. Remarks only with `remarks`. */
enum diag_format {
	DIAG_HUMAN,                 /* file:line:col: error[PMG0101]: …, the line, the caret range, labels, helps */
	DIAG_SHORT,                 /* file:line:col: error[PMG0101]: … */
	DIAG_JSON,                  /* an object a line; docs/errors.md says what is in it */
	DIAG_FORMAT_N
};

const char *diags_text_as(struct diags *diags, enum diag_format format, int limit, bool remarks);
const char *diags_text(struct diags *diags, int limit, bool remarks);   /* for humans */
/* The line of a known span, and a caret range under it. */
void span_show(struct diags *diags, struct str *out, struct span span);
bool diag_format_from_name(const char *name, enum diag_format *format); /* "human", "short", "json" */

/* ---- suggest.c ----------------------------------------------------------
 * The candidate nearest to `name` by edit distance, or the only one that begins with it; NULL if there is none. */
const char *suggest_nearest(const char *name, const char *const *candidates, int n);

/* What is written here for a word of another language. */
struct word_pair {
	const char *foreign, *ours;
};

/* NULL: the word is not in the table. */
const char *word_pair_find(const struct word_pair *pairs, size_t n, const char *foreign);
#define WORD_PAIR_FIND(pairs, word) word_pair_find((pairs), sizeof (pairs) / sizeof (pairs)[0], (word))

/* ---- writer.c -----------------------------------------------------------
 * Indented lines of text, each with the span and the emitter it came from. */

struct writer_line {
	uint32_t start;             /* offset in the text */
	struct span span;           /* of the source that caused the line; may be unknown */
	const char *emitter;        /* __FILE__:__LINE__ of the emitter */
};

struct writer {
	struct str text;
	int indent;
	struct span span;           /* current provenance, set by whoever emits */
	VEC(struct writer_line) lines;
};

#define STRINGIFY_(x) #x
#define STRINGIFY(x) STRINGIFY_(x)
#define EMITTER __FILE__ ":" STRINGIFY(__LINE__)

struct writer writer_new(struct arena *arena);
void writer_line_at(struct writer *w, const char *emitter, const char *format, ...) PRINTF_LIKE(3, 4);
#define line(w, ...) writer_line_at((w), EMITTER, __VA_ARGS__)
/* `open_block` writes a line and indents what follows; `close_block` goes back and writes its line. */
void writer_open_at(struct writer *w, const char *emitter, const char *format, ...) PRINTF_LIKE(3, 4);
#define open_block(w, ...) writer_open_at((w), EMITTER, __VA_ARGS__)
void writer_close_at(struct writer *w, const char *emitter, const char *format, ...) PRINTF_LIKE(3, 4);
#define close_block(w, ...) writer_close_at((w), EMITTER, __VA_ARGS__)
void writer_blank_at(struct writer *w, const char *emitter);
void writer_take_back(struct writer *w);        /* the last line */
#define writer_blank(w) writer_blank_at((w), EMITTER)

/* The text with #line directives, so that compilers and debuggers name the lines of the source; `name` is that of the
 * file it will be. */
const char *writer_text_with_places(const struct writer *w, const struct sources *sources, const char *name);

/* ---- types.c ------------------------------------------------------------
 * The scalar types of the language. One table feeds the lexer, the checker, the printers and the targets. */

enum { ARRAY_MAX_RANK = 8 };                       /* dimensions of an array of a program */

enum scalar_type {
#define TYPE(id, name, c_name, abi_name, size, is_float, is_signed) TYPE_##id,
#include "support/types.def"
#undef TYPE
	TYPE_N
};

const char *type_name(enum scalar_type type);      /* "f64" */
const char *type_c_name(enum scalar_type type);    /* "double" */
const char *type_abi_name(enum scalar_type type);  /* "PMG_F64" */
int type_size(enum scalar_type type);
bool type_is_float(enum scalar_type type);
bool type_is_integer(enum scalar_type type);       /* not bool */
bool type_is_signed(enum scalar_type type);
bool type_from_name(const char *name, enum scalar_type *type);
bool type_is_narrow(const char *c_name);           /* an integer that C computes as a wider one */
void type_limits(enum scalar_type type, int64_t *lo, int64_t *hi);     /* smallest and largest integer; of bool 0, 1 */
int64_t type_wrap(enum scalar_type type, int64_t value);                /* its low bits as an integer of the type */

#endif
