/* SPDX-License-Identifier: MIT
 *
 * Records as lines of JSON: flat objects of strings and numbers. The reader takes what the writer writes, and skips
 * members that it does not know. */
#include "bench.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Members --------------------------------------------------------------------------- */

struct field {
	const char *name;
	bool is_text;
	size_t offset;
};

static const struct field fields[] = {
#define TEXT(member, name) { name, true, offsetof(struct record, member) },
#define NUMBER(member, name) { name, false, offsetof(struct record, member) },
#include "record.def"
#undef TEXT
#undef NUMBER
};

enum { N_FIELDS = sizeof(fields) / sizeof(fields[0]) };

static const char **text_member(struct record *record, int f)
{
	return (const char **) (void *) ((char *) record + fields[f].offset);
}

static double *number_member(struct record *record, int f)
{
	return (double *) (void *) ((char *) record + fields[f].offset);
}

struct record record_new(void)
{
	struct record record;
	for (int f = 0; f < N_FIELDS; f++)
		if (fields[f].is_text)
			*text_member(&record, f) = "";
		else
			*number_member(&record, f) = NAN;
	return record;
}

/* ---- Writing -------------------------------------------------------------------------------- */

static void write_text(const char *text, FILE *stream)
{
	putc('"', stream);
	for (const char *c = text; *c; c++)
		if (*c == '"' || *c == '\\')
			fprintf(stream, "\\%c", *c);
		else if ((unsigned char) *c < ' ')
			fprintf(stream, "\\u%04x", (unsigned) *c);
		else
			putc(*c, stream);
	putc('"', stream);
}

void record_write(const struct record *record, FILE *stream)
{
	struct record copy = *record;
	for (int f = 0; f < N_FIELDS; f++) {
		fprintf(stream, "%s\"%s\": ", f ? ", " : "{", fields[f].name);
		double number = fields[f].is_text ? 0 : *number_member(&copy, f);
		if (fields[f].is_text)
			write_text(*text_member(&copy, f), stream);
		else if (!isfinite(number))
			fputs("null", stream);
		else if (number == floor(number) && fabs(number) < 1e15)
			fprintf(stream, "%.0f", number);
		else
			fprintf(stream, "%.6g", number);
	}
	fputs("}\n", stream);
}

/* ---- Reading ----------------------------------------------------------------------------------- */

/* A cursor in one line; `ok` is false once something is not as expected. */
struct reader {
	struct arena *arena;
	const char *at;
	bool ok;
};

static bool skip(struct reader *r, char c)
{
	r->at += strspn(r->at, " \t\r\n");
	if (*r->at != c)
		return false;
	r->at++;
	return true;
}

static char unescape(struct reader *r)
{
	char digits[5] = "";
	char c = *r->at ? *r->at++ : '\0';
	if (c != 'u')
		return c == 'n' ? '\n' : c == 't' ? '\t' : c;
	for (int i = 0; i < 4 && *r->at; i++)
		digits[i] = *r->at++;
	return (char) strtol(digits, NULL, 16);
}

static const char *read_text(struct reader *r)
{
	char *text = arena_alloc(r->arena, strlen(r->at) + 1);
	size_t n = 0;
	r->ok = r->ok && skip(r, '"');
	while (r->ok && *r->at && *r->at != '"') {
		char c = *r->at++;
		text[n++] = c == '\\' ? unescape(r) : c;
	}
	text[n] = '\0';
	r->ok = r->ok && skip(r, '"');
	return text;
}

static double read_number(struct reader *r)
{
	char *end;
	r->at += strspn(r->at, " \t");
	if (strncmp(r->at, "null", 4) == 0) {
		r->at += 4;
		return NAN;
	}
	double number = strtod(r->at, &end);
	r->ok = r->ok && end != r->at;
	r->at = end;
	return number;
}

static int find_field(const char *name)
{
	for (int f = 0; f < N_FIELDS; f++)
		if (strcmp(fields[f].name, name) == 0)
			return f;
	return -1;
}

static void read_member(struct reader *r, struct record *record)
{
	int f = find_field(read_text(r));
	r->ok = r->ok && skip(r, ':');
	r->at += strspn(r->at, " \t");
	bool is_text = *r->at == '"';
	const char *text = is_text ? read_text(r) : "";
	double number = is_text ? NAN : read_number(r);
	if (f < 0)
		return;
	r->ok = r->ok && fields[f].is_text == is_text;
	if (is_text && fields[f].is_text)
		*text_member(record, f) = text;
	else if (!is_text && !fields[f].is_text)
		*number_member(record, f) = number;
}

static bool read_record(struct arena *arena, const char *line, struct record *record)
{
	struct reader r = { .arena = arena, .at = line, .ok = true };
	*record = record_new();
	r.ok = skip(&r, '{');
	while (r.ok && !skip(&r, '}')) {
		read_member(&r, record);
		r.ok = r.ok && (skip(&r, ',') || *r.at == '}');
	}
	r.at += strspn(r.at, " \t\r\n");
	return r.ok && *r.at == '\0';
}

bool records_read(struct arena *arena, const char *path, record_list *records, struct failure *failure)
{
	char *line = NULL;
	size_t size = 0;
	int number = 0;
	bool ok = true;
	FILE *file = file_is_readable(path, failure) ? fopen(path, "re") : NULL;
	if (!file)
		return failure->outcome != OUTCOME_OK ? false : fail_file(failure, path, "cannot open:");
	while (ok && getline(&line, &size, file) >= 0) {
		struct record record;
		number++;
		if (!line[strspn(line, " \t\r\n")])
			continue;
		ok = read_record(arena, line, &record);
		if (ok)
			vec_push(arena, records, record);
		else
			fail(failure, OUTCOME_DATA, "%s:%d: is not a record of pmg bench", path, number);
	}
	free(line);
	fclose(file);
	return ok;
}

/* ---- Files --------------------------------------------------------------------------------- */

bool records_open(FILE **file, const char *path, struct failure *failure)
{
	*file = path ? fopen(path, "ae") : NULL;
	return !path || *file || fail_file(failure, path, "cannot write:");
}

bool records_begin(FILE *file, const char *path, struct failure *failure)
{
	bool ok = ftruncate(fileno(file), 0) == 0 || errno == EINVAL;   /* EINVAL: a device, a pipe */
	return ok || fail_file(failure, path, "cannot write:");
}

bool records_close(FILE *file, const char *path, struct failure *failure)
{
	bool ok = !ferror(file);
	return (fclose(file) == 0 && ok) || fail_file(failure, path, "cannot write:");
}
