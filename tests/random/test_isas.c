/* SPDX-License-Identifier: MIT
 *
 * One file for several instruction sets: compiled without any flag for the processor, its kernels for each set that
 * this one has agree with the interpreter, PMG_ISA picks them, and the functions that gcc makes of parallel loops use
 * the registers of their set. Short programs have all their candidates. But for PMG_TEST_LONG, kernels that are
 * compared are hardly optimised. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "random/compare.h"

static const struct program {
	const char *file, *flags;
} programs[] = {
	{ "dsl_examples/life_wc.pmg", "--candidates=1" },
	{ "dsl_examples/life_dsc.pmg", "--candidates=1 --specialize nTheta=17 --restructure=on" },
	{ "dsl_examples/life_dsc.pmg", "--candidates=1 --specialize nTheta=201 --restructure=on" },
	{ "dsl_examples/life_wc.pmg", "--candidates=1 --specialize nTheta=201 --restructure=on" },
	{ "dsl_examples/spmv.pmg", "" },
	{ "dsl_examples/mttkrp.pmg", "--candidates=1" },
	{ "dsl_examples/unsharp_mask.pmg", "" },
	{ "dsl_examples/tridiagonal.pmg", "--candidates=1" },
	{ "dsl_examples/histogram.pmg", "" },
	{ "dsl_examples/sbbnnls.pmg", "--candidates=1 --overrides=off" },
};

static const struct isa {
	const char *name, *registers, *others;
} isas[] = {
	{ "baseline", "xmm", "[yz]mm" }, { "avx2", "ymm", "zmm" }, { "avx512", "zmm", "" }
};

enum { DRAWS = 12 };

static void count(struct comparison *comparison, bool ok, const char *file, const char *what)
{
	comparison->passed += ok;
	comparison->failed += !ok;
	if (!ok)
		fprintf(stderr, "%s: %s\n", file, what);
}

static bool processor_has(int isa)
{
	return isa == 0 || (isa == 1 ? __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
				     : __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"));
}

/* ---- one library ---- */

static bool build(struct comparison *comparison, const struct program *program, const char *compiler, int number,
		  struct variant *variant)
{
	const char *folder = comparison->folder;
	char path[512];

	snprintf(path, sizeof path, "%s/p%d.so", folder, number);
	return run_command("%s/pmgc %s %s --isa=all -o %s/p%d.c", comparison->build, program->file, program->flags,
			   folder, number) &&
	       run_command("%s -std=c11 -O%d -fopenmp -DPMG_ALL_THREADS -fPIC -shared -fwrapv -Wall -Wextra "
			   "-Wconversion -Werror -Iruntime %s/p%d.c -o %s -L%s -lpmgrt -lm",
			   compiler, getenv("PMG_TEST_LONG") ? 3 : 1, folder, number, path, comparison->build) &&
	       variant_load(variant, path);
}

static void draw_all(struct comparison *comparison, struct compilation *c)
{
	for (int m = 0; m < c->modules.n && compilation_find_pivots(c, c->modules.items[m]); m++)
		for (uint64_t draw = 0, n = 0; draw < 20*DRAWS && n < DRAWS; draw++)
			n += comparison_draw(comparison, c->modules.items[m], draw + 1, AGREE_CLOSELY);
}

static void check_program(struct comparison *comparison, const struct program *program, const char *compiler,
			  int number)
{
	struct compilation *c = compilation_new();
	struct variant variant = { .name = compiler };
	bool ready = compilation_read(c, program->file) && build(comparison, program, compiler, number, &variant);

	count(comparison, ready, program->file, "does not build");
	comparison->file = program->file;
	comparison->variants = &variant;
	comparison->n_variants = 1;
	for (int i = 0; ready && i < 3; i++) {
		bool is_there = i == 0 || (!strcmp(compiler, "gcc") && processor_has(i));

		if (!is_there)
			continue;
		variant.name = isas[i].name;
		setenv("PMG_ISA", isas[i].name, 1);
		draw_all(comparison, c);
	}
	compilation_free(c);
}

/* ---- what is asked for ---- */

/* The status of a plan, whose message and instruction set are compared. What is optional is left out. */
static void check_asked(struct comparison *comparison, const pmg_pipeline_desc *desc, const char *asked,
			const char *isa, const char *message)
{
	pmg_context *context = pmg_context_new(NULL);
	pmg_options options = { .context = context };
	void *args = calloc(1, desc->args_size);
	pmg_plan *plan = NULL;
	bool ok;

	if (asked)
		setenv("PMG_ISA", asked, 1);
	else
		unsetenv("PMG_ISA");
	for (int i = 0; i < desc->n_arrays; i++)
		if (desc->arrays[i].offset != SIZE_MAX && !desc->arrays[i].is_optional)
			*(pmg_buffer *) (void *) ((char *) args + desc->arrays[i].offset) =
				pmg_dense(NULL, desc->arrays[i].type, desc->arrays[i].rank, (int64_t[8]) { 0 });
	ok = desc->plan(args, &options, &plan) == (isa ? PMG_OK : PMG_BAD_CALL);
	if (ok)
		ok = isa ? !strcmp(pmg_plan_report(plan)->isa, isa) : !strncmp(pmg_message(context), message,
									       strlen(message));
	count(comparison, ok, asked ? asked : "no PMG_ISA", pmg_message(context));
	pmg_plan_destroy(plan);
	pmg_context_free(context);
	free(args);
}

static void check_choice(struct comparison *comparison)
{
	struct variant variant = { 0 };
	const char *best = processor_has(2) ? "avx512" : processor_has(1) ? "avx2" : "baseline";
	const pmg_pipeline_desc *desc;

	if (!build(comparison, &programs[0], "gcc", 100, &variant))
		return count(comparison, false, programs[0].file, "does not build");
	desc = variant_pipeline(&variant, "life_wc");
	check_asked(comparison, desc, NULL, best, "");
	check_asked(comparison, desc, "", best, "");
	for (int i = 0; i < 3; i++)
		if (processor_has(i))
			check_asked(comparison, desc, isas[i].name, isas[i].name, "");
	check_asked(comparison, desc, "sse9", NULL,
		    "PMG_ISA asks for 'sse9', but pipeline 'life_wc' and this processor have only baseline");
}

/* The sum over t is in a function that gcc makes of the parallel loop over k. */
static void check_registers(struct comparison *comparison)
{
	const char *folder = comparison->folder;

	count(comparison, run_command("gcc -std=c11 -O3 -fopenmp -Iruntime -S %s/p100.c -o %s/p.s", folder, folder),
	      "p.s", "is not made");
	for (int i = 0; i < 3; i++) {
		const char *suffix = i == 0 ? "" : i == 1 ? "_avx2" : "_avx512";
		bool uses = run_command("awk '/^[a-z].*:$/ { on = /^life_wc_kernel%s._omp_fn/ } on' %s/p.s > %s/own && "
					"grep -q %%%s %s/own", suffix, folder, folder, isas[i].registers, folder);
		bool leaves = !*isas[i].others ||
			      run_command("! grep -q '%%%s' %s/own", isas[i].others, folder);

		count(comparison, uses && leaves, isas[i].name, "parallel loops have other registers");
	}
}

int main(void)
{
	char folder[] = "/tmp/pmg-isas-XXXXXX";
	struct comparison comparison = { .build = getenv("BUILD") ? getenv("BUILD") : "build",
					 .folder = mkdtemp(folder) };

	for (int i = 0; i < (int) (sizeof programs / sizeof programs[0]); i++)
		check_program(&comparison, &programs[i], i == 1 ? "clang" : "gcc", i);
	check_program(&comparison, &programs[1], "gcc", 50);
	check_choice(&comparison);
	check_registers(&comparison);
	run_command("rm -rf %s", comparison.folder);
	printf("%d passed, %d failed\n", comparison.passed, comparison.failed);
	return comparison.failed || !comparison.passed;
}
