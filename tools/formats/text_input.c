/* SPDX-License-Identifier: MIT
 *
 * Text as words by lines, compressed by gzip or not. Lines end in LF, CR LF or CR. Words are short and lines of any
 * length, so memory does not depend on the file; what a compressed file may expand to is bounded, so that a small file
 * cannot keep us busy. */
#include "formats/streams.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define END (-1)
#define FREE_BYTES (64 << 20)
#define EXPANSION 200

bool text_fail(struct text_input *in, struct failure *failure, const char *format, ...)
{
	char text[512], path[512];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return fail(failure, OUTCOME_DATA, "%s:%lld: %s", printable(in->path, path, sizeof(path)),
		    (long long) in->line, text);
}

bool text_help_commas(const char *word, struct failure *failure)
{
	if (strchr(word, ',') || strchr(word, ';'))
		fail_help(failure, "numbers are separated by white space, and have a decimal point");
	return false;
}

bool text_open(struct text_input *in, const char *path, const char *comments, struct failure *failure)
{
	struct stat status;
	in->path = path;
	in->comments = comments;
	in->line = 1;
	in->bytes = 0;
	in->at = in->n = 0;
	in->is_behind_return = false;
	in->on_comment = NULL;
	in->user = NULL;
	in->file = NULL;
	if (stat(path, &status) != 0)
		return fail_file(failure, path, "cannot open:");
	if (S_ISDIR(status.st_mode)) {
		errno = EISDIR;
		return fail_file(failure, path, "cannot read:");
	}
	in->limit = FREE_BYTES + EXPANSION * (int64_t) status.st_size;
	in->file = gzopen(path, "rbe");
	return in->file || fail_file(failure, path, "cannot open:");
}

void text_close(struct text_input *in)
{
	if (in->file)
		gzclose(in->file);
	in->file = NULL;
}

/* ---- Characters ---------------------------------------------------------------------- */

static bool broken(struct text_input *in, struct failure *failure)
{
	int code;
	const char *message = gzerror(in->file, &code);
	if (code == Z_OK || code == Z_STREAM_END)
		return false;
	if (code == Z_ERRNO)
		fail_file(failure, in->path, "cannot read:");
	else if (code == Z_BUF_ERROR)
		text_fail(in, failure, "the compressed file ends early, after %lld bytes of text",
			  (long long) in->bytes);
	else
		text_fail(in, failure, "the compressed file is damaged: %s", message);
	return true;
}

/* Of UTF-8, as some editors write it at the beginning. */
static size_t mark_length(const struct text_input *in)
{
	static const char mark[] = "\xef\xbb\xbf";
	const size_t length = sizeof(mark) - 1;

	return in->n >= length && memcmp(in->buffer, mark, length) == 0 ? length : 0;
}

/* Makes each end of a line one '\n'. */
static void unite_line_ends(struct text_input *in)
{
	size_t n = 0;

	if (!in->is_behind_return && !memchr(in->buffer, '\r', in->n))
		return;
	for (size_t i = 0; i < in->n; i++) {
		const char c = in->buffer[i];

		if (c != '\n' || !in->is_behind_return)
			in->buffer[n++] = (char) (c == '\r' ? '\n' : c);
		in->is_behind_return = c == '\r';
	}
	in->n = n;
}

static bool fill(struct text_input *in, struct failure *failure)
{
	const bool is_first = in->bytes == 0;
	int n = gzread(in->file, in->buffer, sizeof(in->buffer));
	if (n <= 0 && broken(in, failure))
		return false;
	in->n = n > 0 ? (size_t) n : 0;
	in->at = is_first ? mark_length(in) : 0;
	in->bytes += (int64_t) in->n;
	if (in->bytes > in->limit)
		return text_fail(in, failure, "the compressed file expands to more than %lld bytes",
				 (long long) in->limit);
	unite_line_ends(in);
	return true;
}

/* The next character without taking it; END at the end of the file or after a failure. */
static int peek(struct text_input *in, struct failure *failure)
{
	while (in->at == in->n)
		if (!fill(in, failure) || in->n == 0)
			return END;
	return (unsigned char) in->buffer[in->at];
}

static bool is_space(int c)
{
	return c == ' ' || c == '\t';
}

static bool starts_comment(const struct text_input *in, int c)
{
	return c > 0 && strchr(in->comments, c);
}

static int skip_comment(struct text_input *in, struct failure *failure)
{
	char comment[WORD_BYTES];
	size_t length = 0;
	int c = peek(in, failure);
	while (c != END && c != '\n') {
		if (length + 1 < sizeof(comment))
			comment[length++] = (char) (c ? c : '?');
		in->at++;
		c = peek(in, failure);
	}
	comment[length] = '\0';
	if (in->on_comment)
		in->on_comment(in->user, comment);
	return c;
}

/* ---- Words ------------------------------------------------------------------------------ */

const char *text_word(struct text_input *in, struct failure *failure)
{
	size_t length = 0;
	failure->outcome = OUTCOME_OK;
	int c = peek(in, failure);
	while (is_space(c)) {
		in->at++;
		c = peek(in, failure);
	}
	if (starts_comment(in, c))
		c = skip_comment(in, failure);
	while (c != END && c != '\n' && !is_space(c) && !starts_comment(in, c)) {
		if (length == WORD_BYTES - 1) {
			in->word[length] = '\0';
			text_fail(in, failure, "a word of %d characters or more", WORD_BYTES);
			text_help_commas(in->word, failure);
			return NULL;
		}
		in->word[length++] = (char) (c ? c : '?');
		in->at++;
		c = peek(in, failure);
	}
	in->word[length] = '\0';
	return failure->outcome == OUTCOME_OK ? in->word : NULL;
}

int text_line(struct text_input *in, struct failure *failure)
{
	failure->outcome = OUTCOME_OK;
	int c = peek(in, failure);
	while (c == '\n' || is_space(c) || starts_comment(in, c)) {
		in->line += c == '\n';
		if (starts_comment(in, c))
			skip_comment(in, failure);
		else
			in->at++;
		c = peek(in, failure);
	}
	if (failure->outcome != OUTCOME_OK)
		return -1;
	return c != END;
}

bool text_first_line(struct text_input *in, char *line, size_t size, struct failure *failure)
{
	size_t length = 0;
	failure->outcome = OUTCOME_OK;
	for (int c = peek(in, failure); c != END && c != '\n'; c = peek(in, failure)) {
		if (length + 1 == size)
			return text_fail(in, failure, "the first line is too long");
		line[length++] = (char) (c ? c : '?');
		in->at++;
	}
	line[length] = '\0';
	return failure->outcome == OUTCOME_OK;
}

/* ---- Numbers ------------------------------------------------------------------------------ */

static bool not_a_number(struct text_input *in, const char *word, const char *kind, struct failure *failure)
{
	char shown[160];
	text_fail(in, failure, "'%s' is not %s", printable(word, shown, sizeof(shown)), kind);
	return text_help_commas(word, failure);
}

bool text_word_real(struct text_input *in, const char *word, double *value, struct failure *failure)
{
	return parse_real(word, value) || not_a_number(in, word, "a number", failure);
}

bool text_word_integer(struct text_input *in, const char *word, int64_t *value, struct failure *failure)
{
	if (is_beyond_integers(word))
		return text_fail(in, failure, "%s is out of range: integers are from %" PRId64 " to %" PRId64, word,
				 INT64_MIN, INT64_MAX);
	return parse_integer(word, value) || not_a_number(in, word, "an integer", failure);
}
