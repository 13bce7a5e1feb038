/* SPDX-License-Identifier: MIT
 *
 * Do kernel trees come to what the modules mean? Programs are compiled, their kernels run by the interpreter of trees,
 * with plans of the runtime, and compared with the interpreter of modules: the same bits for x_…, 1e-11 otherwise.
 *
 *     test_run [FILE.pmg…]            of these files only */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/host.h"
#include "kernel/programs.h"
#include "random/build.h"
#include "random/layouts.h"
#include "support/folder.h"

enum { DRAWS = 4, MOST_STATEMENTS = 20000000, MOST_UNKNOWN = 64, MOST_NAME = 96 };

struct unknown {
	char name[MOST_NAME];
	int count;
};

struct tally {
	int passed, failed, unknown;
	struct unknown calls[MOST_UNKNOWN];
};

struct trial {
	struct tally *tally;
	struct arena arena;             /* of the file */
	const char *folder, *file, *flags, *text;
	const struct k_program *program;
	struct variant variant;
};

/* ---- outcomes ---- */

static void count_unknown(struct tally *tally, const char *name)
{
	tally->unknown++;
	for (int i = 0; i < MOST_UNKNOWN; i++)
		if (!tally->calls[i].count || !strcmp(tally->calls[i].name, name)) {
			snprintf(tally->calls[i].name, MOST_NAME, "%s", name);
			tally->calls[i].count++;
			return;
		}
}

static void report(struct trial *trial, const struct binding_set *set, uint64_t seed, const char *choice,
		   const char *problem)
{
	trial->tally->failed++;
	printf("%s %s: draw %llu, %s %s: %s; sizes", trial->file, trial->flags, (unsigned long long) seed,
	       set->module->name, choice, problem);
	for (int i = 0; i < set->module->params.n; i++)
		printf(" %s = %lld", set->module->params.items[i].name, (long long) set->sizes[i]);
	printf("\n");
}

/* ---- one draw ---- */

static const char *verdict(struct trial *trial, const struct hosted *hosted, const struct binding_set *set,
			   void **expected, void **got, const char *stopped, const char *problem)
{
	const enum agreement agreement = set->module->name[0] == 'x' ? AGREE_EXACTLY
				       : set->module->name[0] == 's' ? AGREE_SINGLY : AGREE_CLOSELY;

	if (hosted->result.end == K_RUN_FAULT)
		return hosted->result.text;
	if (stopped)
		return problem ? NULL : arena_printf(&trial->arena, "runs, but the module's interpreter says: %s", stopped);
	return problem ? problem : results_differ(set, &trial->arena, expected, got, agreement);
}

static void run_one(struct trial *trial, const pmg_pipeline_desc *desc, const struct binding_set *set, uint64_t seed,
		    void **expected, const char *stopped)
{
	static const int bytes[] = { 32, 64, 16 };
	struct arena arena = { 0 };
	void **got = binding_copy(set, &arena), *args = binding_args(set, &arena, desc, got);
	struct layout *layouts = seed % 2 ? layouts_give(&arena, desc, args, seed) : NULL;
	struct hosted hosted = { .program = trial->program, .desc = desc, .threads = 1 + (int) (seed % 3),
				 .vector_bytes = bytes[seed % 3], .most_statements = MOST_STATEMENTS, .arena = &arena };
	const char *problem;

	hosted.function = kernel_of_text(&arena, trial->text, set->module->name, desc->choice);
	problem = hosted.function ? hosted_run(&hosted, args) : "no kernel in the text";
	if (layouts && !layouts_return(desc, args, layouts))
		problem = "writes outside an array";
	if (hosted.result.end == K_RUN_UNKNOWN) {
		count_unknown(trial->tally, hosted.result.text);
	} else {
		problem = verdict(trial, &hosted, set, expected, got, stopped, problem);
		trial->tally->passed += !problem;
		if (problem)
			report(trial, set, seed, desc->choice ? desc->choice : "", problem);
	}
	arena_release(&arena);
}

static bool draw(struct trial *trial, struct module *module, uint64_t seed)
{
	const pmg_pipeline_desc *desc = variant_pipeline(&trial->variant, module->name);
	struct arena arena = { 0 };
	struct binding_set set;
	const bool is_drawn = (seed % 4 == 0 ? binding_draw_wide : binding_draw)(&set, module, &arena, seed);
	void **expected = is_drawn ? binding_copy(&set, &arena) : NULL;
	struct interp_input input = is_drawn ? binding_interp(&set, &arena, expected) : (struct interp_input) { 0 };
	const char *stopped = is_drawn ? module_interpret(module, &arena, &input, NULL) : NULL;

	if (is_drawn && desc)
		run_one(trial, desc, &set, seed, expected, stopped);
	for (int i = 1; is_drawn && desc && i < desc->n_candidates; i++)
		run_one(trial, desc->candidates[i], &set, seed, expected, stopped);
	arena_release(&arena);
	return is_drawn;
}

/* ---- one file ---- */

static const char *file_text(struct arena *arena, const char *path)
{
	FILE *file = fopen(path, "rb");
	char *text = NULL;
	size_t capacity = 0;
	const ssize_t n = file ? getdelim(&text, &capacity, 0, file) : -1;
	const char *copy = n >= 0 ? arena_copy(arena, text, (size_t) n) : NULL;

	if (file)
		fclose(file);
	free(text);
	return copy;
}

static bool build(struct trial *trial, int number)
{
	const char *build = getenv("BUILD") ? getenv("BUILD") : "build", *error = NULL;
	const struct comparison comparison = { .build = build, .folder = trial->folder, .file = trial->file };
	struct item_count counts[MOST_VERBS] = { 0 };

	trial->variant = (struct variant) { .name = "tree", .pmgc = trial->flags, .compiler = "gcc" };
	if (variant_generate(&comparison, &trial->variant, number, counts) != OUTCOME_AGREES ||
	    !run_command("gcc -std=c11 -O0 -w -fopenmp -fPIC -shared -Iruntime %s/v%d.c -o %s/v%d.so -L%s -lpmgrt "
			 "-lopenblas -lm", trial->folder, number, trial->folder, number, build) ||
	    !variant_load(&trial->variant, arena_printf(&trial->arena, "%s/v%d.so", trial->folder, number)))
		return false;
	trial->text = file_text(&trial->arena, arena_printf(&trial->arena, "%s/v%d.c", trial->folder, number));
	trial->program = program_of_text(&trial->arena, trial->text, &error);
	if (!trial->program)
		printf("%s %s: %s\n", trial->file, trial->flags, error);
	return trial->program;
}

static void run_draws(struct trial *trial, struct compilation *c)
{
	for (int m = 0; m < c->modules.n && compilation_find_pivots(c, c->modules.items[m]); m++)
		for (int seed = 1, n_drawn = 0; seed < 20*DRAWS && n_drawn < DRAWS; seed++)
			n_drawn += draw(trial, c->modules.items[m], (uint64_t) seed);
}

static void run_variant(struct tally *tally, const char *folder, const char *file, const char *flags, int number)
{
	struct comparison comparison = { .file = file };
	struct trial trial = { .tally = tally, .folder = folder, .file = file, .flags = flags };
	struct compilation *c = compilation_new();

	if (comparison_read(&comparison, c) && build(&trial, number)) {
		run_draws(&trial, c);
	} else {
		tally->failed++;
		printf("%s %s: does not build\n", file, flags);
	}
	compilation_free(c);
	arena_release(&trial.arena);
}

/* In a process of its own: a crash is one failure. */
static void run_file(const char *file, void *user)
{
	static const char *const flags[] = { "--candidates=3",
					     "--overrides=off --parallel=off --schedule=isl --candidates=1" };
	struct tally *tally = user, sum = { 0 };
	char folder[] = "/tmp/pmg-kernel-XXXXXX";
	int ends[2], status = 0;
	pid_t child;

	if (!mkdtemp(folder) || pipe(ends))
		return;
	fflush(stdout);
	child = fork();
	if (!child) {
		for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
			run_variant(&sum, folder, file, flags[i], (int) i);
		fflush(stdout);
		_exit(write(ends[1], &sum, sizeof sum) != sizeof sum);
	}
	close(ends[1]);
	if (read(ends[0], &sum, sizeof sum) != sizeof sum || waitpid(child, &status, 0) != child || status) {
		printf("%s: dies\n", file);
		sum.failed++;
	}
	close(ends[0]);
	tally->passed += sum.passed;
	tally->failed += sum.failed;
	for (int i = 0; i < MOST_UNKNOWN && sum.calls[i].count; i++)
		for (int k = 0; k < sum.calls[i].count; k++)
			count_unknown(tally, sum.calls[i].name);
	run_command("rm -rf %s", folder);
}

int main(int argc, char **argv)
{
	struct tally tally = { 0 };

	for (int i = 1; i < argc; i++)
		run_file(argv[i], &tally);
	if (argc < 2) {
		folder_each_program("dsl_examples", run_file, &tally);
		folder_each_program("tests/programs", run_file, &tally);
	}
	for (int i = 0; i < MOST_UNKNOWN && tally.calls[i].count; i++)
		printf("cannot run %s: %d\n", tally.calls[i].name, tally.calls[i].count);
	printf("%d passed, %d failed\n", tally.passed, tally.failed);
	return tally.failed || !tally.passed;
}
