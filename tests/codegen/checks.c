/* SPDX-License-Identifier: MIT
 *
 * What tests of the code generator count and tell. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/codegen_tests.h"

void codegen_check(struct tests *tests, bool ok, const char *file, int line, const char *text)
{
	if (ok) {
		tests->passed++;
		return;
	}
	tests->failed++;
	fprintf(stderr, "%s:%d: %s\n", file, line, text);
}

void codegen_check_text(struct tests *tests, const char *got, const char *wanted, const char *file, int line)
{
	bool same = got && wanted && !strcmp(got, wanted);

	if (!same)
		fprintf(stderr, "got:\n%s\nwanted:\n%s\n", got ? got : "(nothing)", wanted ? wanted : "(nothing)");
	codegen_check(tests, same, file, line, "the texts differ");
}

bool codegen_command(const char *format, ...)
{
	char command[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof command, format, args);
	va_end(args);
	return system(command) == 0;
}
