/* SPDX-License-Identifier: MIT
 *
 * Tests of the code generator: how it writes sums, literals and names; the text of kernels; what they do. */
#ifndef TESTS_CODEGEN_CODEGEN_TESTS_H
#define TESTS_CODEGEN_CODEGEN_TESTS_H

#include <stdbool.h>

struct tests {
	int passed, failed;
	const char *build;              /* folder of the programs under test */
};

#define CHECK(tests, condition) codegen_check((tests), (condition), __FILE__, __LINE__, #condition)
#define CHECK_TEXT(tests, got, wanted) codegen_check_text((tests), (got), (wanted), __FILE__, __LINE__)

void codegen_check(struct tests *tests, bool ok, const char *file, int line, const char *text);
void codegen_check_text(struct tests *tests, const char *got, const char *wanted, const char *file, int line);
__attribute__((format(printf, 1, 2))) bool codegen_command(const char *format, ...);

struct arena;
struct compilation;
/* Is `text` what a file holds? PMG_UPDATE=1 writes it. */
void codegen_check_golden(struct tests *tests, struct arena *arena, const char *text, const char *golden);

void codegen_test_texts(struct tests *tests);
void codegen_test_goldens(struct tests *tests, const char *folder);
void codegen_test_golden(struct tests *tests, const char *path);
/* A program of tests/decide, alone; or as it was compiled there. */
void codegen_test_decision(struct tests *tests, const char *path);
void codegen_check_decided(struct tests *tests, struct compilation *c, const char *path, const char *c_text);
void codegen_test_runs(struct tests *tests);

#endif
