/* SPDX-License-Identifier: MIT
 *
 * Every pipeline of dsl_examples/, tests/programs/, tests/random/ and the cases of codegen: the reference interpreter
 * against kernels for CUDA, which g++ compiles for the processor (emulated/cuda_runtime.h), on random sizes and data.
 * Those of dsl_examples/life and of the last three only with PMG_TEST_LONG, else they count as skipped, and of the
 * first two every fourth; tests/opencl takes others. The long form also draws more often. Algorithms of trees and
 * chains, layouts, and what is inlined by cases, run as schedule blocks ask for, the others without items.
 *     test_emulated [FILE.pmg...]      these instead
 * With PMG_NVCC="nvcc -arch=…" kernels are compiled for the device, and run there (`make test-gpu`).
 * The checks of the emulation prove themselves first: seeded.cu makes each mistake, and each must be found. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "random/compare.h"
#include "support/folder.h"

static struct variant variants[] = {
	{ .name = "cuda", .compiler = "device" },
};

/* With PMG_TEST_LONG so many, that sizes of 0 and 1 are among them. */
enum { DRAWS = 2, DRAWS_LONG = 8, EVERY = 4 };

static int n_draws(const struct module *module)
{
	(void) module;
	return getenv("PMG_TEST_LONG") ? DRAWS_LONG : DRAWS;
}

static const struct {
	const char *name;
	bool is_long;
} folders[] = {
	{ "dsl_examples", false },
	{ "tests/programs", false },
	{ "dsl_examples/life", true },
	{ "tests/random", true },
	{ "tests/random/scheduled", true },
	{ "tests/codegen/cases", true },
};

static const char *const scheduled[] = {
	"tests/random/scheduled/trees.pmg", "tests/random/scheduled/tree_chunks.pmg",
	"tests/random/scheduled/eliminations.pmg", "tests/random/scheduled/cases.pmg",
	"tests/random/scheduled/transposed.pmg", "tests/random/scheduled/premultiplied.pmg"
};

/* Each mistake of seeded.cu, and what is said of it. */
static const struct seeded {
	const char *name, *message;
} seeded[] = {
	{ "none", "sum 32" },
	{ "outside", "outside an array" },
	{ "before", "sum -nan" },
	{ "writes", "before an array" },
	{ "host", "the host touches" },
	{ "divergent", "not all of its threads" },
	{ "warp", "not all of its threads" },
	{ "shared", "sum -nan" },
	{ "memory", "out of memory" },
	{ "graph", "sum -nan" },
};

static void check_seeded(struct comparison *comparison)
{
	const char *folder = comparison->folder;
	int n = (int) (sizeof seeded / sizeof seeded[0]);

	if (!run_command("tests/cuda/emulated/nvcc -Xcompiler -w tests/cuda/seeded.cu -o %s/seeded", folder)) {
		comparison->failed++;
		return;
	}
	for (int i = 0; i < n; i++)
		if (run_command("%s/seeded %s 2>&1 | grep -q '%s'", folder, seeded[i].name, seeded[i].message))
			comparison->passed++;
		else
			comparison->failed++;
}

/* Other items ask for what a device does not do. */
static void choose_items(const char *path)
{
	variants[0].pmgc = "--target=cuda --overrides=off";
	for (size_t i = 0; i < sizeof scheduled/sizeof scheduled[0]; i++)
		if (!strcmp(path, scheduled[i]))
			variants[0].pmgc = "--target=cuda";
}

static void check_file(struct comparison *comparison, const char *path)
{
	choose_items(path);
	comparison->file = path;
	comparison_file(comparison, n_draws);
}

/* Memory that a block shares: enough for arguments, without these, and for nothing. */
static void check_with_shared(struct comparison *comparison, const char *path)
{
	static const char *const bytes[] = { "2000", "0" };

	check_file(comparison, path);
	for (size_t i = 0; i < sizeof bytes/sizeof bytes[0]; i++) {
		setenv("PMG_EMULATED_SHARED", bytes[i], true);
		check_file(comparison, path);
	}
	unsetenv("PMG_EMULATED_SHARED");
}

static int check_folder(struct comparison *comparison, const char *folder, bool is_skipped)
{
	if (is_skipped)
		return folder_each_program(folder, NULL, NULL);
	choose_items(folder);
	comparison_folder_nth(comparison, folder, EVERY, 0, n_draws);
	return 0;
}

int main(int argc, char **argv)
{
	char folder[] = "/tmp/pmg-cuda-XXXXXX";
	struct comparison comparison = { .build = getenv("BUILD") ? getenv("BUILD") : "build",
					 .folder = mkdtemp(folder), .variants = variants,
					 .n_variants = (int) (sizeof variants / sizeof variants[0]) };

	bool is_long = getenv("PMG_TEST_LONG");
	int skipped = 0;

	for (int i = 1; i < argc; i++)
		check_file(&comparison, argv[i]);
	if (argc == 1) {
		check_seeded(&comparison);
		for (size_t i = 0; i < sizeof folders/sizeof folders[0]; i++)
			skipped += check_folder(&comparison, folders[i].name, folders[i].is_long && !is_long);
		for (size_t i = 0; i < sizeof scheduled/sizeof scheduled[0]; i++)
			check_file(&comparison, scheduled[i]);
		check_file(&comparison, "tests/cuda/kernels.pmg");
		check_file(&comparison, "tests/cuda/polybench.pmg");
		check_with_shared(&comparison, "tests/cuda/partition.pmg");
	}
	run_command("rm -rf %s", comparison.folder);
	printf("%d passed, %d failed, %d skipped\n", comparison.passed, comparison.failed, skipped);
	return comparison.failed || !comparison.passed;
}
