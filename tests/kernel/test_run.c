/* SPDX-License-Identifier: MIT
 *
 * Do kernel trees come to what the modules mean? Programs are compiled, their kernels run by the interpreter of trees,
 * as built and behind each lowering, with plans of the runtime, and so is what the C compiler makes of them; the
 * results are those of the interpreter of modules: the same bits for x_…, 1e-11 otherwise.
 *
 * Of a few files, each compiled in one of three ways, in turn; with PMG_TEST_LONG, all examples in each way, and
 * compiled kernels of a device, too. Not with sanitizers: threads have stacks of their own.
 *
 *     test_run [FILE.pmg…]            of these files only */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/trial.h"
#include "support/folder.h"

enum { DRAWS = 4, MOST_STATEMENTS = 200000000, MOST_UNKNOWN = 64, MOST_NAME = 96, N_FLAGS = 3 };

struct tally {
	int passed, failed;
	int turn;                       /* of the ways to compile that are asked; -1: all */
	struct {
		char name[MOST_NAME];
		int count;
	} unknown[MOST_UNKNOWN];
};

static void count_unknown(struct tally *tally, const char *name, int n)
{
	for (int i = 0; i < MOST_UNKNOWN; i++)
		if (!tally->unknown[i].count || !strcmp(tally->unknown[i].name, name)) {
			snprintf(tally->unknown[i].name, MOST_NAME, "%s", name);
			tally->unknown[i].count += n;
			return;
		}
}

static void add_result(struct tally *tally, const struct trial *trial, const pmg_pipeline_desc *desc,
		       const struct drawn *drawn, const char *what, const struct trial_result *result)
{
	struct arena arena = { 0 };

	tally->passed += result->end == TRIAL_AGREES;
	tally->failed += result->end == TRIAL_DIFFERS;
	if (result->end == TRIAL_UNKNOWN)
		count_unknown(tally, result->text, 1);
	if (result->end == TRIAL_DIFFERS)
		printf("%s %s, %s, %s, %s: %s\n", trial->file, trial->flags, desc->choice ? desc->choice : "first",
		       what, drawn_sizes(drawn, &arena), result->text);
	arena_release(&arena);
}

static void run_one(struct tally *tally, const struct trial *trial, const pmg_pipeline_desc *desc,
		    const struct drawn *drawn)
{
	const struct hosted hosted = { .most_statements = MOST_STATEMENTS };
	struct trial_result result;
	const struct trial_tree *tree;
	struct arena arena = { 0 };

	for (int i = 0; (tree = trial_tree(trial, desc, i)) != NULL; i++) {
		result = trial_run(tree, desc, drawn, hosted, &arena);
		add_result(tally, trial, desc, drawn, trial_tree_name(tree), &result);
	}
	if (trial_has_code(trial)) {
		result = trial_run_code(trial, desc, drawn, &arena);
		add_result(tally, trial, desc, drawn, "code", &result);
	}
	arena_release(&arena);
}

static void run_module(struct tally *tally, const struct trial *trial, struct module *module)
{
	const pmg_pipeline_desc *desc;

	for (int i = 0; (desc = trial_candidate(trial, module, i)) != NULL; i++)
		tally->failed += !trial_tree(trial, desc, 0);
	for (int seed = 1, n_drawn = 0; seed < 20*DRAWS && n_drawn < DRAWS; seed++) {
		struct drawn drawn;

		if (!drawn_make(&drawn, module, (uint64_t) seed))
			continue;
		n_drawn++;
		for (int i = 0; (desc = trial_candidate(trial, module, i)) != NULL; i++)
			run_one(tally, trial, desc, &drawn);
		drawn_free(&drawn);
	}
}

static void run_variants(struct tally *tally, const char *folder, const char *file)
{
	static const char *const flags[N_FLAGS] = { "--candidates=3", "--parallel=off --schedule=isl --candidates=1",
					     "--candidates=1" };

	for (int i = 0; i < N_FLAGS; i++) {
		struct trial trial = { .folder = folder, .file = file, .flags = flags[i], .is_for_device = i == 2,
				       .is_optimised = getenv("PMG_TEST_LONG") };
		const bool is_asked = tally->turn < 0 || tally->turn == i, is_open = is_asked && trial_open(&trial, i);

		if (!is_asked)
			continue;
		tally->failed += !is_open;
		for (int m = 0; is_open && m < trial.modules->modules.n; m++)
			run_module(tally, &trial, trial.modules->modules.items[m]);
		trial_close(&trial);
	}
}

static void tally_add(struct tally *sum, const struct tally *tally)
{
	sum->passed += tally->passed;
	sum->failed += tally->failed;
	for (int i = 0; i < MOST_UNKNOWN && tally->unknown[i].count; i++)
		count_unknown(sum, tally->unknown[i].name, tally->unknown[i].count);
}

/* In a process of its own: a crash is one failure. */
static void run_file(const char *file, void *user)
{
	struct tally *sum = user, tally = { .turn = sum->turn };
	char folder[] = "/tmp/pmg-kernel-XXXXXX";
	int ends[2], status = 0;
	pid_t child;

	if (!mkdtemp(folder) || pipe(ends))
		return;
	fflush(stdout);
	child = fork();
	if (!child) {
		run_variants(&tally, folder, file);
		fflush(stdout);
		_exit(write(ends[1], &tally, sizeof tally) != sizeof tally);
	}
	close(ends[1]);
	if (read(ends[0], &tally, sizeof tally) != sizeof tally || waitpid(child, &status, 0) != child || status) {
		printf("%s: dies\n", file);
		sum->failed++;
	}
	close(ends[0]);
	tally_add(sum, &tally);
	run_command("rm -rf %s", folder);
}

static void run_long(struct tally *tally)
{
	folder_each_program("dsl_examples", run_file, tally);
	folder_each_program("tests/programs", run_file, tally);
}

int main(int argc, char **argv)
{
	static const struct { const char *name; int turn; } files[] = {
		{ "dsl_examples/blur.pmg", 0 }, { "dsl_examples/life_wc.pmg", 1 }, { "dsl_examples/spmv.pmg", 2 },
		{ "dsl_examples/tri_ragged.pmg", 0 }, { "dsl_examples/conjugate_gradient.pmg", 1 },
		{ "tests/programs/image.pmg", 2 }, { "tests/decide/device_tridiagonal.pmg", 2 }
	};
	struct tally tally = { .turn = -1 };

	for (int i = 1; i < argc; i++)
		run_file(argv[i], &tally);
	if (argc < 2 && getenv("PMG_TEST_LONG"))
		run_long(&tally);
	for (size_t i = 0; i < sizeof files / sizeof *files && argc < 2 && !getenv("PMG_TEST_LONG"); i++) {
		tally.turn = files[i].turn;
		run_file(files[i].name, &tally);
	}
	for (int i = 0; i < MOST_UNKNOWN && tally.unknown[i].count; i++)
		printf("cannot run %s: %d\n", tally.unknown[i].name, tally.unknown[i].count);
	printf("%d passed, %d failed\n", tally.passed, tally.failed);
	return tally.failed || !tally.passed;
}
