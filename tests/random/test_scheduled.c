/* SPDX-License-Identifier: MIT
 *
 * Programs of scheduled/ and of tests/programs/tridiagonal.pmg, run as their schedule blocks ask for, against the
 * reference interpreter, which runs them as they are written. Sizes 0, 1, 2 are among those drawn. With PMG_TEST_LONG
 * 10 000 draws instead of 16, optimised, and by clang without vectors, too; without, every second program of
 * scheduled/.
 *     test_scheduled [FILE.pmg...]    these instead of all */
#include <stdlib.h>
#include <unistd.h>

#include "random/compare.h"

static struct variant variants[] = {
	{ .name = "gcc", .pmgc = "--candidates=1", .compiler = "gcc" },
	{ .name = "clang scalar", .pmgc = "--vector=off --candidates=1", .compiler = "clang" },
};

static int n_draws(const struct module *module)
{
	(void) module;
	return getenv("PMG_TEST_LONG") ? 10000 : 16;
}

static void compare_all(struct comparison *comparison)
{
	comparison_folder_nth(comparison, "tests/random/scheduled", 2, 0, n_draws);
	comparison->file = "tests/programs/tridiagonal.pmg";
	comparison_file(comparison, n_draws);
}

int main(int argc, char **argv)
{
	char folder[] = "/tmp/pmg-scheduled-XXXXXX";
	struct comparison comparison = { .build = getenv("BUILD") ? getenv("BUILD") : "build",
					 .folder = mkdtemp(folder), .variants = variants,
					 .n_variants = getenv("PMG_TEST_LONG") ? 2 : 1 };

	variants[0].is_plain = !getenv("PMG_TEST_LONG");
	if (argc < 2)
		compare_all(&comparison);
	for (int i = 1; i < argc; i++) {
		comparison.file = argv[i];
		comparison_file(&comparison, n_draws);
	}
	run_command("rm -rf %s", comparison.folder);
	printf("%d passed, %d failed\n", comparison.passed, comparison.failed);
	return comparison.failed || !comparison.passed;
}
