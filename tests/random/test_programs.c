/* SPDX-License-Identifier: MIT
 *
 * Random programs: the reference interpreter against generated code, for each C compiler and several schedules, on
 * several draws of sizes and data. Programs x_… must give the same bits, t_… the same values to 1e-11.
 *     test_programs [SEED [COUNT [DRAWS]]]
 * A difference prints the program, the draw and the cell; SEED and its number make it again. */
#include <stdlib.h>
#include <unistd.h>

#include "random/compare.h"

static struct variant variants[] = {
	{ .name = "gcc", .pmgc = "", .compiler = "gcc" },
	{ .name = "gcc serial", .pmgc = "--parallel=off --vector=off", .compiler = "gcc" },
	{ .name = "gcc isl", .pmgc = "--schedule=isl", .compiler = "gcc" },
	{ .name = "clang", .pmgc = "", .compiler = "clang" },
	{ .name = "clang isl", .pmgc = "--schedule=isl", .compiler = "clang" },
};

static bool prepare(struct comparison *comparison, struct compilation *c, long seed, long count)
{
	comparison->file = arena_printf(&c->arena, "%s/programs.pmg", comparison->folder);
	if (!run_command("${PYTHON:-/usr/bin/python3} tests/random/generate.py %ld %ld > %s", seed, count,
			 comparison->file))
		return false;
	if (!compilation_read(c, comparison->file))
		return fprintf(stderr, "%s", compilation_messages(c, false)), false;
	return comparison_build(comparison);
}

int main(int argc, char **argv)
{
	char folder[] = "/tmp/pmg-random-XXXXXX";
	struct comparison comparison = { .build = getenv("BUILD") ? getenv("BUILD") : "build",
					 .folder = mkdtemp(folder), .variants = variants,
					 .n_variants = (int) (sizeof variants / sizeof variants[0]) };
	struct compilation *c = compilation_new();
	long seed = argc > 1 ? atol(argv[1]) : 1, count = argc > 2 ? atol(argv[2]) : 100;
	long draws = argc > 3 ? atol(argv[3]) : 12;
	bool ready = comparison.folder && prepare(&comparison, c, seed, count);

	for (int m = 0; ready && m < c->modules.n; m++)
		for (long draw = 0; draw < draws; draw++)
			comparison_draw(&comparison, c->modules.items[m], (uint64_t) (seed*1000003 + m*1009 + draw),
					c->modules.items[m]->name[0] == 'x' ? AGREE_EXACTLY : AGREE_CLOSELY);
	compilation_free(c);
	if (comparison.folder)
		run_command("rm -rf %s", comparison.folder);
	printf("%d passed, %d failed\n", comparison.passed, comparison.failed + !ready);
	return comparison.failed || !ready;
}
