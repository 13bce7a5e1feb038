/* SPDX-License-Identifier: MIT
 *
 * Kernel trees of the OpenCL target, run without a device by the interpreter of trees, against the interpreter of
 * modules: does the tree that is printed mean what the module means, with no two work items at one element? With
 * PMG_TEST_LONG all examples. Skipped without the loader of OpenCL, which the descriptions are linked with. Not with
 * sanitizers: threads have stacks of their own.
 *     test_trees [FILE.pmg...]        these instead */
#include "opencl/platform.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kernel/trial.h"
#include "support/folder.h"

enum { DRAWS = 3, TRIES = 60, MOST_STATEMENTS = 200000000 };

static const char *const files[] = {
	"dsl_examples/conjugate_gradient.pmg", "dsl_examples/histogram.pmg", "dsl_examples/life_wc.pmg",
	"dsl_examples/segments.pmg", "dsl_examples/tree.pmg", "dsl_examples/tridiagonal.pmg",
	"tests/programs/quotients.pmg", "tests/programs/spmv.pmg"
};

struct tally {
	const char *folder;
	int number, passed, failed;
};

static bool run_draw(const struct trial *trial, struct module *module, uint64_t seed, struct tally *tally)
{
	const struct hosted hosted = { .most_statements = MOST_STATEMENTS };
	const pmg_pipeline_desc *desc = trial_candidate(trial, module, 0);
	const struct trial_tree *tree;
	struct arena arena = { 0 };
	struct trial_result result;
	struct drawn drawn;

	if (!drawn_make(&drawn, module, seed))
		return false;
	for (int i = 0; (tree = trial_tree(trial, desc, i)) != NULL; i++) {
		result = trial_run(tree, desc, &drawn, hosted, &arena);
		tally->passed += result.end == TRIAL_AGREES;
		tally->failed += result.end != TRIAL_AGREES;
		if (result.end != TRIAL_AGREES)
			printf("%s, %s, %s, %s: %s\n", trial->file, module->name, trial_tree_name(tree),
			       drawn_sizes(&drawn, &arena), result.text);
	}
	drawn_free(&drawn);
	arena_release(&arena);
	return true;
}

static void run_file(const char *file, void *user)
{
	struct tally *tally = user;
	struct trial trial = { .folder = tally->folder, .file = file, .flags = "--overrides=off",
			       .is_for_device = true, .variant.compiler = "opencl" };
	const bool is_open = trial_open(&trial, tally->number++);

	tally->failed += !is_open;
	for (int m = 0; is_open && m < trial.modules->modules.n; m++)
		for (int seed = 1, n = 0; seed < TRIES && n < DRAWS; seed++)
			n += run_draw(&trial, trial.modules->modules.items[m], (uint64_t) seed, tally);
	trial_close(&trial);
}

static void run_all(struct tally *tally)
{
	if (getenv("PMG_TEST_LONG")) {
		folder_each_program("dsl_examples", run_file, tally);
		folder_each_program("tests/programs", run_file, tally);
		return;
	}
	for (size_t i = 0; i < sizeof files/sizeof files[0]; i++)
		run_file(files[i], tally);
}

int main(int argc, char **argv)
{
	char folder[] = "/tmp/pmg-opencl-XXXXXX";
	struct tally tally = { .folder = mkdtemp(folder) };
	const bool is_here = opencl_is_here();

	for (int i = 1; i < argc; i++)
		run_file(argv[i], &tally);
	if (argc == 1 && is_here)
		run_all(&tally);
	run_command("rm -rf %s", folder);
	printf("%d passed, %d failed, %d skipped\n", tally.passed, tally.failed, is_here ? 0 : 1);
	return tally.failed || (is_here && !tally.passed);
}
