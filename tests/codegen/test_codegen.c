/* SPDX-License-Identifier: MIT
 *
 * The code generator, from the smallest text to the behaviour of compiled kernels. With sanitizers only for --long:
 * tests/decide prints programs with them.
 *     test_codegen [FILE.pmg...]      the texts of these cases instead of all */
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

static void test_all(struct tests *tests)
{
	codegen_test_texts(tests);
	codegen_test_goldens(tests, "tests/codegen/cases");
	codegen_test_goldens(tests, "tests/codegen/stops");
	codegen_test_decided(tests);
	codegen_test_runs(tests);
}

static void test_file(struct tests *tests, const char *path)
{
	if (!strncmp(path, "tests/decide/", 13))
		codegen_test_decision(tests, path);
	else
		codegen_test_golden(tests, path);
}

int main(int argc, char **argv)
{
	struct tests tests = { .build = getenv("BUILD") ? getenv("BUILD") : "build" };

	if (argc < 2)
		test_all(&tests);
	for (int i = 1; i < argc; i++)
		test_file(&tests, argv[i]);
	printf("%d passed, %d failed\n", tests.passed, tests.failed);
	return tests.failed != 0;
}
