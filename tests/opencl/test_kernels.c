/* SPDX-License-Identifier: MIT
 *
 * Every pipeline of dsl_examples/ and tests/programs/: the reference interpreter against kernels in OpenCL C, which the
 * first platform of OpenCL compiles and runs (PoCL: on the processor), on random sizes and data. Without a platform
 * they count as skipped. Those of dsl_examples are drawn twice. Every fourth program is asked, none that
 * tests/cuda/test_emulated asks; with PMG_TEST_LONG all, those of tests/random/ and the cases of codegen, too, and more
 * draws.
 *     test_kernels [FILE.pmg...]      these instead */
#include "opencl/platform.h"

#include <stdlib.h>
#include <unistd.h>

#include "random/compare.h"
#include "support/folder.h"

static struct variant variants[] = {
	{ .name = "opencl", .pmgc = "--target=opencl --overrides=off", .compiler = "opencl" },
};

static const char *const folders[] = {
	"dsl_examples", "tests/programs", "dsl_examples/life", "tests/random", "tests/random/scheduled",
	"tests/codegen/cases"
};

enum { EVERY = 4, FIRST = 2, SHORT_FOLDERS = 2, ALL_FOLDERS = sizeof folders/sizeof folders[0] };

static int n_draws_of_examples(const struct module *module)
{
	(void) module;
	return getenv("PMG_TEST_LONG") ? 8 : 2;
}

static int n_draws(const struct module *module)
{
	(void) module;
	return getenv("PMG_TEST_LONG") ? 8 : 1;
}

int main(int argc, char **argv)
{
	char folder[] = "/tmp/pmg-opencl-XXXXXX";
	struct comparison comparison = { .build = getenv("BUILD") ? getenv("BUILD") : "build",
					 .folder = mkdtemp(folder), .variants = variants, .n_variants = 1 };
	const int n = getenv("PMG_TEST_LONG") ? ALL_FOLDERS : SHORT_FOLDERS;
	int skipped = 0;

	for (int i = 1; i < argc; i++) {
		comparison.file = argv[i];
		comparison_file(&comparison, n_draws);
	}
	for (int i = 0; argc == 1 && i < ALL_FOLDERS; i++)
		if (i < n && opencl_is_here())
			comparison_folder_nth(&comparison, folders[i], EVERY, FIRST,
					      i ? n_draws : n_draws_of_examples);
		else
			skipped += folder_each_program(folders[i], NULL, NULL);
	run_command("rm -rf %s", comparison.folder);
	printf("%d passed, %d failed, %d skipped\n", comparison.passed, comparison.failed, skipped);
	return comparison.failed || !(comparison.passed + skipped);
}
