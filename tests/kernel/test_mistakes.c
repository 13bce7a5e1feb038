/* SPDX-License-Identifier: MIT
 *
 * Do the verifier and the interpreter of kernel trees find what lowerings may do wrong? Mistakes are put into kernels
 * that are right, one at a time, where draws get to, for each target; the verifier finds it, or else a fault or a wrong
 * result in one of the draws. 95 of 100 must be found. With PMG_TEST_LONG, those of all programs. Not with sanitizers:
 * threads have stacks of their own.
 *
 *     test_mistakes [FILE.pmg…]       of these files only, telling which are not found */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/mistakes.h"
#include "kernel/trial.h"
#include "support/folder.h"

enum { LEAST_MADE = 500, DRAWS = 6, MOST_STATEMENTS = 3000000, VISITS = 1 << 14 };

struct counts {
	int made[MISTAKE_KIND_N], by_fault[MISTAKE_KIND_N], by_result[MISTAKE_KIND_N];
	int by_verifier[MISTAKE_KIND_N];        /* these are not run */
	bool tells;
};

/* How often each statement ran: an open table. */
struct visits {
	const struct k_stmt *stmt[VISITS];
	int64_t n[VISITS];
};

static int64_t *visits_of(struct visits *visits, const struct k_stmt *stmt)
{
	size_t i = ((uintptr_t) stmt >> 4)*2654435761u % VISITS;

	while (visits->stmt[i] && visits->stmt[i] != stmt)
		i = (i + 1) % VISITS;
	visits->stmt[i] = stmt;
	return &visits->n[i];
}

static void visit(void *user, const struct k_stmt *stmt)
{
	const struct hosted *hosted = user;

	++*visits_of(hosted->user, stmt);
}

static int64_t n_visits(void *user, const struct k_stmt *stmt)
{
	return *visits_of(user, stmt);
}

/* ---- one kernel ---- */

struct kernel {
	struct trial *trial;
	const struct trial_tree *tree;
	const pmg_pipeline_desc *desc;
	struct drawn *draws;
	int n_draws;
	struct counts *counts;
};

/* Draws on which the kernel as it is does not run are left out. */
static void look_at(struct kernel *kernel, struct visits *visits, bool *runs)
{
	for (int d = 0; d < kernel->n_draws; d++) {
		struct hosted hosted = { .most_statements = MOST_STATEMENTS };
		struct arena arena = { 0 };

		runs[d] = trial_run(kernel->tree, kernel->desc, &kernel->draws[d], hosted, &arena).end == TRIAL_AGREES;
		hosted.visit = visit;
		hosted.user = visits;
		if (runs[d])
			trial_run(kernel->tree, kernel->desc, &kernel->draws[d], hosted, &arena);
		arena_release(&arena);
	}
}

static void tell(const struct kernel *kernel, struct mistake *mistake)
{
	struct arena arena = { 0 };
	const char *before, *expr = mistake->expr && *mistake->expr ? k_expr_text(&arena, *mistake->expr) : "";

	before = k_stmt_text(&arena, mistake->stmt);
	mistake_exchange(mistake);
	printf("not found: %s for %s, %s %s: %s: %s; of this %s: %s\n", kernel->trial->file,
	       kernel->trial->variant.compiler, kernel->desc->name,
	       kernel->desc->choice ? kernel->desc->choice : "", mistake_name(mistake->kind), before, expr,
	       k_stmt_text(&arena, mistake->stmt));
	mistake_exchange(mistake);
	arena_release(&arena);
}

static bool verifier_finds(const struct kernel *kernel)
{
	k_resolve_types(&kernel->trial->arena, kernel->tree->program);
	return k_verify(&kernel->trial->arena, kernel->tree->program);
}

static struct trial_result run_draws(const struct kernel *kernel, const bool *runs)
{
	struct trial_result result = { TRIAL_AGREES, NULL, false };

	for (int d = 0; d < kernel->n_draws && result.end != TRIAL_DIFFERS; d++) {
		const struct hosted hosted = { .most_statements = MOST_STATEMENTS };
		struct arena arena = { 0 };

		if (runs[d])
			result = trial_run(kernel->tree, kernel->desc, &kernel->draws[d], hosted, &arena);
		arena_release(&arena);
	}
	return result;
}

/* What the verifier refuses need not run. */
static void try_mistake(struct kernel *kernel, struct mistake *mistake, const bool *runs)
{
	struct counts *counts = kernel->counts;
	struct trial_result result = { TRIAL_AGREES, NULL, false };
	bool is_seen;

	mistake_exchange(mistake);
	is_seen = verifier_finds(kernel);
	if (!is_seen)
		result = run_draws(kernel, runs);
	mistake_exchange(mistake);
	counts->made[mistake->kind]++;
	counts->by_verifier[mistake->kind] += is_seen;
	counts->by_fault[mistake->kind] += result.end == TRIAL_DIFFERS && result.is_fault;
	counts->by_result[mistake->kind] += result.end == TRIAL_DIFFERS && !result.is_fault;
	if (result.end != TRIAL_DIFFERS && !is_seen && counts->tells)
		tell(kernel, mistake);
}

/* One mistake of each kind, by a number that is the kernel's own. */
static void try_kernel(struct kernel *kernel, uint64_t random)
{
	struct visits *visits = arena_new(&kernel->trial->arena, struct visits);
	mistake_list list = { 0 };
	bool runs[DRAWS] = { 0 };

	look_at(kernel, visits, runs);
	mistakes_find(&kernel->trial->arena, kernel->tree->program, n_visits, visits, &list);
	for (int kind = 0; kind < MISTAKE_KIND_N; kind++) {
		int n = 0, chosen;

		for (int i = 0; i < list.n; i++)
			n += (int) list.items[i].kind == kind;
		chosen = n ? (int) (random % (uint64_t) n) : 0;
		for (int i = 0; i < list.n && n; i++)
			if ((int) list.items[i].kind == kind && chosen-- == 0)
				try_mistake(kernel, &list.items[i], runs);
		random = random*6364136223846793005u + 1442695040888963407u;
	}
}

static void try_module(struct counts *counts, struct trial *trial, struct module *module)
{
	struct drawn draws[DRAWS];
	struct kernel kernel = { .trial = trial, .draws = draws, .counts = counts };

	for (int seed = 1; seed < 20*DRAWS && kernel.n_draws < DRAWS; seed++)
		kernel.n_draws += drawn_make(&draws[kernel.n_draws], module, (uint64_t) seed);
	for (int i = 0; i < 2 && (kernel.desc = trial_candidate(trial, module, i)) != NULL; i++) {
		kernel.tree = trial_last_tree(trial, kernel.desc);
		try_kernel(&kernel, 31*strlen(module->name) + 7*(uint64_t) i + (unsigned char) *module->name);
	}
	for (int d = 0; d < kernel.n_draws; d++)
		drawn_free(&draws[d]);
}

/* ---- files ---- */

static const struct { const char *compiler, *flags; } targets[] = {
	{ "gcc", "--candidates=2" },
	{ "device", "--candidates=1" },
	{ "opencl", "--candidates=1" },
};

static void try_file(const char *file, void *user)
{
	struct counts *counts = user;
	char folder[] = "/tmp/pmg-mistakes-XXXXXX";

	if (!mkdtemp(folder))
		return;
	for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
		struct trial trial = { .folder = folder, .file = file, .variant.compiler = targets[i].compiler,
				       .is_for_device = i > 0, .flags = targets[i].flags };

		if (trial_open(&trial, (int) i))
			for (int m = 0; m < trial.modules->modules.n; m++)
				try_module(counts, &trial, trial.modules->modules.items[m]);
		trial_close(&trial);
	}
	run_command("rm -rf %s", folder);
}

int main(int argc, char **argv)
{
	static const char *const files[] = { "dsl_examples/life_wc.pmg", "dsl_examples/spmv.pmg",
					     "dsl_examples/histogram.pmg", "dsl_examples/tri_ragged.pmg",
					     "tests/decide/row_zero.pmg", "tests/decide/blocks_shifted.pmg",
					     "dsl_examples/jacobi.pmg" };
	struct counts counts = { .tells = argc > 1 };
	int made = 0, found = 0;
	bool is_enough;

	for (int i = 1; i < argc; i++)
		try_file(argv[i], &counts);
	if (argc < 2 && getenv("PMG_TEST_LONG"))
		folder_each_program("tests/programs", try_file, &counts);
	for (size_t i = 0; i < sizeof files / sizeof *files && argc < 2 && !getenv("PMG_TEST_LONG"); i++)
		try_file(files[i], &counts);
	for (int kind = 0; kind < MISTAKE_KIND_N; kind++) {
		printf("%s: %d made, %d found by a fault, %d by a result, %d by the verifier\n",
		       mistake_name((enum mistake_kind) kind), counts.made[kind], counts.by_fault[kind],
		       counts.by_result[kind], counts.by_verifier[kind]);
		made += counts.made[kind];
		found += counts.by_fault[kind] + counts.by_result[kind] + counts.by_verifier[kind];
	}
	printf("%d of %d mistakes found\n", found, made);
	is_enough = found*100 >= made*95 && made >= (argc > 1 ? 1 : LEAST_MADE);
	printf("%d passed, %d failed\n", is_enough, !is_enough);
	return !is_enough;
}
