/* SPDX-License-Identifier: MIT
 *
 * Failures as values: one outcome, which is the exit status, and one text. Bytes that come from files are
 * made printable before they reach a terminal. */
#include "cli/cli.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static void append(struct failure *failure, const char *format, va_list args)
{
	size_t used = strlen(failure->text);
	vsnprintf(failure->text + used, sizeof(failure->text) - used, format, args);
}

bool fail(struct failure *failure, enum outcome outcome, const char *format, ...)
{
	va_list args;
	failure->outcome = outcome;
	failure->text[0] = '\0';
	va_start(args, format);
	append(failure, format, args);
	va_end(args);
	return false;
}

/* What the system refuses is input and output; what a file says wrongly is data. */
bool fail_file(struct failure *failure, const char *path, const char *format, ...)
{
	int error = errno;
	char shown[512];
	va_list args;
	fail(failure, OUTCOME_DATA, "%s: ", printable(path, shown, sizeof(shown)));
	va_start(args, format);
	append(failure, format, args);
	va_end(args);
	size_t used = strlen(failure->text);
	if (failure->text[used - 1] == ':') {
		failure->outcome = error == ENOMEM ? OUTCOME_RESOURCES : OUTCOME_IO;
		snprintf(failure->text + used, sizeof(failure->text) - used, " %s", strerror(error));
	}
	return false;
}

bool fail_memory(struct failure *failure, const char *what)
{
	return fail(failure, OUTCOME_RESOURCES, "not enough memory for %s", what);
}

static void start_line(struct failure *failure, const char *kind)
{
	size_t used = strlen(failure->text);
	snprintf(failure->text + used, sizeof(failure->text) - used, "\n  %s: ", kind);
}

void fail_help(struct failure *failure, const char *format, ...)
{
	va_list args;
	start_line(failure, "help");
	va_start(args, format);
	append(failure, format, args);
	va_end(args);
}

void fail_help_choose(struct failure *failure, const char *word, const char *const *names, int n)
{
	const char *near = suggest_nearest(word, names, n);
	char list[1024] = "";
	for (int i = 0; i < n; i++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s",
			 i == 0 ? "" : i < n - 1 ? ", " : " and ", names[i]);
	if (near)
		fail_help(failure, "did you mean '%s'?", near);
	else
		fail_help(failure, n == 1 ? "there is only %s" : "there are %s", list);
}

void fail_note(struct failure *failure, const char *format, ...)
{
	va_list args;
	start_line(failure, "note");
	va_start(args, format);
	append(failure, format, args);
	va_end(args);
}

bool file_is_readable(const char *path, struct failure *failure)
{
	struct stat status;
	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
		fail_file(failure, path, "is a folder");
		failure->outcome = OUTCOME_IO;
		return false;
	}
	FILE *file = fopen(path, "rbe");
	if (!file)
		return fail_file(failure, path, "cannot open:");
	fclose(file);
	return true;
}

const char *printable(const char *text, char *to, size_t size)
{
	size_t used = 0;
	for (const char *c = text; *c && used + 5 <= size; c++) {
		bool is_plain = isprint((unsigned char) *c);
		used += (size_t) snprintf(to + used, size - used, is_plain ? "%c" : "\\x%02x",
					  (unsigned char) *c);
	}
	to[used] = '\0';
	return to;
}

int failure_report(const struct failure *failure, const char *command)
{
	fflush(stdout);
	fprintf(stderr, "pmg%s%s: %s\n", *command ? " " : "", command, failure->text);
	return (int) failure->outcome;
}

bool output_is_written(struct failure *failure)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return true;
	return fail(failure, OUTCOME_IO, "cannot write to the standard output: %s", strerror(errno));
}
