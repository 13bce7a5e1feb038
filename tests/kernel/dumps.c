/* SPDX-License-Identifier: MIT
 *
 * Texts of kernel programs, and what is expected of them. */
#include "kernel/dumps.h"

#include <string.h>

void tally_check(struct tally *tally, bool holds, const char *what, const char *more)
{
	if (holds)
		tally->passed++;
	else
		tally->failed++;
	if (!holds)
		printf("%s: %s\n", what, more);
}

void tally_check_text(struct tally *tally, const char *what, const char *got, const char *expected)
{
	tally_check(tally, !strcmp(got, expected), what, "the texts differ");
	if (!strcmp(got, expected))
		return;
	while (*got && *expected) {
		size_t n = strcspn(got, "\n"), m = strcspn(expected, "\n");

		if (n != m || strncmp(got, expected, n) != 0)
			break;
		got += n + (got[n] != '\0');
		expected += m + (expected[m] != '\0');
	}
	printf("expected: %.*s\n", (int) strcspn(expected, "\n"), expected);
	printf("     got: %.*s\n", (int) strcspn(got, "\n"), got);
}

const char *dump_of(struct arena *arena, const struct k_program *program)
{
	struct writer w = writer_new(arena);

	k_print_program(&w, program);
	return str_text(&w.text);
}

const char *c_of_program(struct arena *arena, const struct k_program *program, enum c_spelling spelling)
{
	struct writer w = writer_new(arena);

	for (int i = 0; i < program->functions.n; i++) {
		if (i)
			writer_blank(&w);
		c_print_function(&w, program->functions.items[i], spelling);
	}
	return str_text(&w.text);
}

const char *c_of_dump(struct arena *arena, const char *dump, enum c_spelling spelling, const char **error)
{
	const struct k_program *program = k_read_program(arena, dump, error);

	return program ? c_of_program(arena, program, spelling) : NULL;
}
