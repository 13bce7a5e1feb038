/* SPDX-License-Identifier: MIT
 *
 * What the formats share: files of bytes of known size, files of words by lines, and outputs that appear
 * whole. */
#ifndef TOOLS_FORMATS_STREAMS_H
#define TOOLS_FORMATS_STREAMS_H

#include <zlib.h>

#include "formats/formats.h"

/* ---- binary_input.c: regular files ------------------------------------------------ */

struct binary_input {
	const char *path;
	FILE *file;
	int64_t size;
};

bool binary_open(struct binary_input *in, const char *path, struct failure *failure);
/* The same of bytes, which messages call `name`; both are only borrowed. */
bool binary_open_bytes(struct binary_input *in, const char *name, void *bytes, size_t n, struct failure *failure);
/* Reads exactly `n` bytes of `what`; a file that ends before is a failure with the offset. */
bool binary_read(struct binary_input *in, void *bytes, size_t n, const char *what, struct failure *failure);
int64_t binary_left(struct binary_input *in);
void binary_close(struct binary_input *in);

/* ---- npy.c: an array in the format .npy, all that is left of `in` --------------------- */

bool npy_take(struct binary_input *in, struct member *member, struct failure *failure);

/* ---- zip.c ------------------------------------------------------------------------------ */

/* Unpacks the members that are wanted, each a list of bytes under its name; no name comes twice. */
bool zip_read(const char *path, bool (*is_wanted)(const char *name, const void *user), const void *user,
	      struct content *content, struct failure *failure);

/* ---- text_input.c: words by lines, gzip or plain ------------------------------------- */

#define WORD_BYTES 128

struct text_input {
	const char *path;
	const char *comments; /* characters that start a comment, up to the end of the line */
	gzFile file;
	int64_t line; /* of the word read last, from 1 */
	int64_t bytes,
		limit; /* read so far, and how many may be: what a small file may expand to is bounded */
	bool is_behind_return; /* the last character that was read is a '\r' */
	size_t at, n;
	/* Is told how each comment begins, where it is not NULL. */
	void (*on_comment)(void *user, const char *comment);
	void *user;
	char buffer[1 << 16];
	char word[WORD_BYTES];
};

bool text_open(struct text_input *in, const char *path, const char *comments, struct failure *failure);
/* The next word of this line; "" at its end; NULL after a failure. */
const char *text_word(struct text_input *in, struct failure *failure);
/* Goes to the next line that has a word. 1: there is one, 0: end of the file, -1: failure. */
int text_line(struct text_input *in, struct failure *failure);
bool text_word_real(struct text_input *in, const char *word, double *value, struct failure *failure);
bool text_word_integer(struct text_input *in, const char *word, int64_t *value, struct failure *failure);
bool text_fail(struct text_input *in, struct failure *failure, const char *format, ...) PRINTF_LIKE(3, 4);
/* Adds a help to a failure where a word has commas or semicolons; always false. */
bool text_help_commas(const char *word, struct failure *failure);
void text_close(struct text_input *in);
/* The first line, comment or not, for formats that begin with one. */
bool text_first_line(struct text_input *in, char *line, size_t size, struct failure *failure);

/* ---- growing.c: numbers whose count is known when the last was read --------------------- */

struct growing {
	pmg_type type; /* PMG_F64 or PMG_I64 */
	int64_t n, capacity;
	void *data;
};

bool growing_add_real(struct growing *list, double value); /* false: no memory */
bool growing_add_integer(struct growing *list, int64_t value);
void growing_free(struct growing *list);
/* Moves the numbers into an array of that shape (rank 1 of all with rank 0). */
bool growing_finish(struct growing *list, struct ndarray *array, int rank, const int64_t *shape,
		    struct failure *failure);

/* ---- output.c ----------------------------------------------------------------------------- */

struct output {
	char *path, *part;
	FILE *file;
};

/* Makes "PATH.part-MACHINE-PROCESS" and opens it, and removes such parts of processes that have been killed. */
bool output_open(struct output *out, const char *path, struct failure *failure);
/* Text is read, but not written, when it is compressed. */
bool text_is_plain(const char *path, struct failure *failure);
/* Whether output_open can; nothing is left there. */
bool output_is_possible(const char *path, struct failure *failure);
/* With `ok`: to disk and renamed; else deleted. Frees the names. Returns whether the file is there. */
bool output_close(struct output *out, bool ok, struct failure *failure);

#endif
