/* SPDX-License-Identifier: MIT
 *
 * Random programs as kernel trees, for processors and for CUDA: the interpreter of trees on them as built and behind
 * each lowering, and what a compiler makes of them, against the interpreter of modules. Arguments are those of
 * tests/random/test_programs; of its rows, those of processors take turns. Batches are for processors and for CUDA in
 * turn, without compiled kernels of the latter; with PMG_TEST_LONG, for both, with all compilers.
 *
 * Not with sanitizers: threads have stacks of their own. */
#include <stdlib.h>

#include "kernel/trial.h"
#include "random/volume.h"

enum { MOST_STATEMENTS = 200000000, MOST_UNKNOWN_OF_THOUSAND = 60, BATCH = 10 };

struct run {
	const struct trial *trial;
	const struct drawn *drawn;
	struct tally *tally;
	enum outcome outcome;
};

static void add_result(struct run *run, const pmg_pipeline_desc *desc, const char *what,
		       const struct trial_result *result)
{
	struct arena arena = { 0 };

	run->tally->passed += result->end == TRIAL_AGREES;
	if (result->end == TRIAL_UNKNOWN)
		tally_add_unknown(run->tally, result->text, 1);
	if (result->end == TRIAL_DIFFERS) {
		run->tally->failed++;
		run->outcome = OUTCOME_DIFFERS;
		fprintf(stderr, "%s %s%s %s, %s, %s: %s\n", run->trial->file,
			run->trial->is_for_device ? "cuda " : "", run->trial->flags,
			desc->choice ? desc->choice : "first", what, drawn_sizes(run->drawn, &arena), result->text);
	}
	arena_release(&arena);
}

static void run_kernel(struct run *run, const pmg_pipeline_desc *desc)
{
	const struct hosted hosted = { .most_statements = MOST_STATEMENTS };
	struct trial_result result;
	const struct trial_tree *tree;
	struct arena arena = { 0 };

	for (int i = 0; (tree = trial_tree(run->trial, desc, i)) != NULL; i++) {
		result = trial_run(tree, desc, run->drawn, hosted, &arena);
		add_result(run, desc, trial_tree_name(tree), &result);
	}
	if (trial_has_code(run->trial)) {
		result = trial_run_code(run->trial, desc, run->drawn, &arena);
		add_result(run, desc, "code", &result);
	}
	arena_release(&arena);
}

static void run_draw(struct run *run, struct module *module, uint64_t seed)
{
	const pmg_pipeline_desc *desc;
	struct drawn drawn;

	if (!drawn_make(&drawn, module, seed))
		return;
	run->drawn = &drawn;
	for (int i = 0; (desc = trial_candidate(run->trial, module, i)) != NULL; i++)
		run_kernel(run, desc);
	drawn_free(&drawn);
}

/* One way to compile the file: a row of the table. */
static enum outcome check_row(const char *folder, const char *path, int row, long first, long last,
			      struct tally *tally)
{
	const struct variant variant = variant_of_table(row);
	struct trial trial = { .folder = folder, .file = path, .flags = variant.pmgc, .variant = variant,
			       .is_for_device = row == n_variants_of_processors(),
			       .is_optimised = getenv("PMG_TEST_LONG") };
	struct run run = { .trial = &trial, .tally = tally, .outcome = OUTCOME_REFUSED };

	if (trial_open(&trial, row)) {
		run.outcome = OUTCOME_AGREES;
		for (int m = 0; m < trial.modules->modules.n; m++)
			for (long draw = first; draw <= last; draw++)
				run_draw(&run, trial.modules->modules.items[m], (uint64_t) (draw + 1009*m));
	}
	trial_close(&trial);
	return run.outcome;
}

/* Items of schedule blocks are for processors. */
static bool write_for_device(const char *path, const char *to)
{
	return run_command("sed '/^ *schedule {/,/^ *}/d' %s > %s", path, to);
}

/* The row of the batch, and that of the device; in the quick form, one of them for each program in turn. */
static enum outcome check(const struct batch *batch, const char *path, long first, long last, struct tally *tally)
{
	char folder[] = "/tmp/pmg-kernels-XXXXXX";
	const int device = n_variants_of_processors(), row = batch->variants[0];
	const bool is_long = getenv("PMG_TEST_LONG"), is_odd = batch->first/BATCH % 2;
	enum outcome outcome = OUTCOME_AGREES;
	char plain[sizeof folder + 16];

	if (!mkdtemp(folder))
		return OUTCOME_REFUSED;
	snprintf(plain, sizeof plain, "%s/plain.pmg", folder);
	if (is_long || !is_odd)
		outcome = check_row(folder, path, row, first, last, tally);
	if (outcome == OUTCOME_AGREES && (is_long || is_odd))
		outcome = write_for_device(path, plain) ? check_row(folder, plain, device, first, last, tally)
							: OUTCOME_REFUSED;
	tally->programs += (int) batch->count;
	run_command("rm -rf %s", folder);
	return outcome;
}

int main(int argc, char **argv)
{
	const struct volume volume = { .kind = "plain", .program = "tests/kernel/test_random", .count = 60,
				       .long_count = 20000, .draws = getenv("PMG_TEST_LONG") ? 2 : 1, .batch = BATCH,
				       .n_rows = n_variants_of_processors(), .rows = 1, .long_rows = 1,
				       .check = check, .most_unknown = MOST_UNKNOWN_OF_THOUSAND };

	return volume_main(&volume, argc, argv);
}
