/* SPDX-License-Identifier: MIT
 *
 * The code generator, from the smallest text to the behaviour of compiled kernels; the texts of programs of
 * tests/decide are asked there. With sanitizers only for --long: tests/decide prints programs with them.
 *     test_codegen [FILE.pmg...]      the texts of these cases instead of all */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/codegen_tests.h"

static void test_all(struct tests *tests)
{
	codegen_test_texts(tests);
	codegen_test_goldens(tests, "tests/codegen/cases");
	codegen_test_goldens(tests, "tests/codegen/stops");
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
