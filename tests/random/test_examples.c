/* SPDX-License-Identifier: MIT
 *
 * Every pipeline of dsl_examples/, tests/programs/ and corners.pmg: the reference interpreter against generated code,
 * for both C compilers and several schedules, on random sizes (0, 1 and 2 among them) and data. Compilers take programs
 * in turn, but for corners.pmg and those beside it every fourth; with PMG_TEST_LONG, each takes all.
 *
 *     test_examples [FILE.pmg…]       those of these files only */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "random/compare.h"

static struct variant variants[] = {
	{ .name = "gcc", .pmgc = "--overrides=off --candidates=2", .compiler = "gcc" },
	{ .name = "gcc blas", .pmgc = "--overrides=off --blas=on --candidates=1", .compiler = "gcc", .is_plain = true,
	  .only_with = "pmgrt_blas.h" },
	{ .name = "clang serial isl", .pmgc = "--overrides=off --parallel=off --schedule=isl --candidates=1",
	  .compiler = "clang" },
};

enum { N_VARIANTS = sizeof variants / sizeof variants[0], TURNS = 2 };

enum { DRAWS = 7, DRAWS_OF_SYSTEMS_LONG = 10000 };

/* Systems on chains and trees have the most ways to run, and the most ways to hold their data: with PMG_TEST_LONG many
 * of them are drawn, in all layouts (random/layouts.c). */
static int n_draws(const struct module *module)
{
	static const char *const systems[] = { "hines", "thomas", "tri_" };
	bool is_system = false;

	for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++)
		is_system = is_system || !strncmp(module->name, systems[i], strlen(systems[i]));
	return is_system && getenv("PMG_TEST_LONG") ? DRAWS_OF_SYSTEMS_LONG : DRAWS;
}

static void compare_all(struct comparison *comparison)
{
	static const struct {
		const char *name;
		int every;
	} folders[] = {
		{ "dsl_examples", 4*TURNS }, { "tests/programs", 4*TURNS }, { "tests/random", TURNS },
		{ "tests/codegen/cases", 4*TURNS }
	};
	const bool is_long = getenv("PMG_TEST_LONG");

	for (int turn = 0; turn < (is_long ? 1 : TURNS); turn++) {
		comparison->variants = variants + turn;
		comparison->n_variants = is_long ? N_VARIANTS : N_VARIANTS - 1;
		for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
			comparison_folder_nth(comparison, folders[i].name, folders[i].every,
					      turn*folders[i].every/TURNS, n_draws);
	}
}

int main(int n_arguments, char **arguments)
{
	char folder[] = "/tmp/pmg-examples-XXXXXX";
	struct comparison comparison = { .build = getenv("BUILD") ? getenv("BUILD") : "build",
					 .folder = mkdtemp(folder), .variants = variants, .n_variants = N_VARIANTS };

	if (n_arguments < 2)
		compare_all(&comparison);
	for (int i = 1; i < n_arguments; i++) {
		comparison.file = arguments[i];
		comparison_file(&comparison, n_draws);
	}
	run_command("rm -rf %s", comparison.folder);
	printf("%d passed, %d failed\n", comparison.passed, comparison.failed);
	return comparison.failed || !comparison.passed;
}
