/* SPDX-License-Identifier: MIT
 *
 * Memory that runs out where generated code runs: each allocation of plan and execute fails in turn, for every
 * pipeline of the programs below. Each time a status and a message come back, and nothing stays allocated. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "random/compare.h"

static const char *const programs[] = {
	"dsl_examples/life_dsc.pmg",       "dsl_examples/spmv.pmg",          "tests/programs/hines.pmg",
	"tests/programs/tridiagonal.pmg",  "dsl_examples/sbbnnls.pmg",     "tests/programs/jacobi.pmg",
	"tests/programs/neuron_step.pmg",  "tests/programs/histogram.pmg",
};

static struct variant variants[] = {
	{ .name = "gcc", .pmgc = "--overrides=off --candidates=3", .compiler = "gcc", .is_plain = true },
};

enum { MOST_DRAWS = 20000, MOST_ALLOCATIONS = 1000 };

/* Fails allocation number `fail_at`. */
struct counter {
	int n_allocated, n_live, fail_at;
};

static void *counter_allocate(void *user, size_t size)
{
	struct counter *counter = user;
	void *memory = NULL;

	if (++counter->n_allocated != counter->fail_at)
		memory = aligned_alloc(64, (size + 63)/64*64);
	counter->n_live += memory != NULL;
	return memory;
}

static void counter_release(void *user, void *memory, size_t size)
{
	struct counter *counter = user;

	(void) size;
	counter->n_live--;
	free(memory);
}

static void check(struct comparison *c, bool ok, const char *pipeline, int fail_at, const char *what)
{
	c->passed += ok;
	c->failed += !ok;
	if (!ok)
		fprintf(stderr, "%s: '%s', allocation %d: %s\n", c->file, pipeline, fail_at, what);
}

/* Whether the allocation existed, so that there may be a next one. A plan that chooses may take another candidate, one
 * that does without. */
static bool check_failure(struct comparison *c, const pmg_pipeline_desc *desc, const void *args, int fail_at,
			  pmg_tune tune)
{
	struct counter counter = { .fail_at = fail_at };
	const pmg_allocator allocator = { counter_allocate, counter_release, &counter };
	pmg_context *context = pmg_context_new(&allocator);
	pmg_options options = { .context = context, .threads = 2, .tune = tune };
	pmg_plan *plan = NULL;
	pmg_status status = context ? desc->plan(args, &options, &plan) : PMG_NO_RESOURCES;
	bool has_failed;

	if (status == PMG_OK)
		status = desc->execute(plan, args, NULL);
	has_failed = counter.n_allocated >= fail_at;
	check(c, (status == PMG_NO_RESOURCES) == has_failed || (tune != PMG_TUNE_OFF && status == PMG_OK),
	      desc->name, fail_at, "wrong status");
	check(c, !context || status == PMG_OK || *pmg_message(context), desc->name, fail_at, "no message");
	if (plan)
		desc->destroy(plan);
	pmg_context_free(context);
	check(c, counter.n_live == 0, desc->name, fail_at, "memory is left");
	return has_failed;
}

/* The first draw without an empty array on which the pipeline runs; fresh inputs for every attempt. */
static bool check_draw(struct comparison *c, struct module *module, uint64_t seed, pmg_tune tune)
{
	const pmg_pipeline_desc *desc = variant_pipeline(&variants[0], module->name);
	struct arena arena = { 0 };
	struct binding_set set;
	bool usable = binding_draw(&set, module, &arena, seed);

	for (int i = 0; usable && i < module->params.n; i++)
		usable = set.sizes[i] >= 2;
	for (int fail_at = 1; usable && fail_at < MOST_ALLOCATIONS; fail_at++)
		if (!check_failure(c, desc, binding_args(&set, &arena, desc, binding_copy(&set, &arena)), fail_at,
				   tune))
			break;
	arena_release(&arena);
	return usable;
}

static void check_program(struct comparison *c)
{
	struct compilation *compilation = compilation_new();
	bool ready = compilation_read(compilation, c->file) && comparison_build(c);

	check(c, ready, "", 0, "does not build");
	for (int m = 0; ready && m < compilation->modules.n; m++) {
		uint64_t draw = 1;

		while (draw < MOST_DRAWS && !check_draw(c, compilation->modules.items[m], draw, PMG_TUNE_OFF))
			draw++;
		check(c, draw < MOST_DRAWS && check_draw(c, compilation->modules.items[m], draw, PMG_TUNE_ESTIMATE),
		      compilation->modules.items[m]->name, 0, "no draw");
	}
	comparison_close(c);
	compilation_free(compilation);
}

int main(void)
{
	char folder[] = "/tmp/pmg-allocations-XXXXXX";
	struct comparison comparison = { .build = getenv("BUILD") ? getenv("BUILD") : "build",
					 .folder = mkdtemp(folder), .variants = variants, .n_variants = 1 };

	for (size_t i = 0; comparison.folder && i < sizeof programs / sizeof programs[0]; i++) {
		comparison.file = programs[i];
		check_program(&comparison);
	}
	if (comparison.folder)
		run_command("rm -rf %s", comparison.folder);
	printf("%d passed, %d failed\n", comparison.passed, comparison.failed);
	return comparison.failed || !comparison.passed;
}
