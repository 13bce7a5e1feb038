/* SPDX-License-Identifier: MIT
 *
 * Kernels as trees beside the interpreter of modules. */
#include "kernel/trial.h"

#include <stdlib.h>
#include <string.h>

#include "random/layouts.h"

/* ---- trees ---- */

static struct k_function *copy_function(struct arena *arena, const struct k_function *function)
{
	const struct k_replacing none = { 0 };
	struct k_function *copy = arena_new(arena, struct k_function);

	*copy = *function;
	memset(&copy->params, 0, sizeof copy->params);
	for (int i = 0; i < function->params.n; i++)
		vec_push(arena, &copy->params, function->params.items[i]);
	copy->body = k_copy_block(arena, &function->body, &none);
	return copy;
}

static struct k_program *copy_program(struct arena *arena, const struct k_program *program)
{
	struct k_program *copy = arena_new(arena, struct k_program);

	for (int i = 0; i < program->functions.n; i++)
		vec_push(arena, &copy->functions, copy_function(arena, program->functions.items[i]));
	for (int i = 0; i < program->globals.n; i++)
		vec_push(arena, &copy->globals, program->globals.items[i]);
	return copy;
}

static bool is_same_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

static void see(void *user, struct module *module, const struct k_program *program, int lowering)
{
	struct trial *trial = user;
	struct trial_tree tree = { module->name, module->choice.items, lowering, NULL };

	trial->n_shown++;
	if (lowering != K_BUILT &&
	    k_program_is_equal(trial->trees.items[trial->trees.n - 1].program, NULL, program, NULL))
		return;
	tree.program = copy_program(&trial->arena, program);
	vec_push(&trial->arena, &trial->trees, tree);
}

static void begin(struct compilation *c, void *user)
{
	struct trial *trial = user;

	trial->trees.n = trial->n_shown = 0;
	c->watch.after_lowering = see;
	c->watch.user = trial;
}

const struct trial_tree *trial_tree(const struct trial *trial, const pmg_pipeline_desc *desc, int number)
{
	for (int i = 0; i < trial->trees.n; i++) {
		const struct trial_tree *tree = &trial->trees.items[i];

		if (is_same_text(tree->pipeline, desc->name) && is_same_text(tree->choice, desc->choice) &&
		    number-- == 0)
			return tree;
	}
	return NULL;
}

const struct trial_tree *trial_last_tree(const struct trial *trial, const pmg_pipeline_desc *desc)
{
	const struct trial_tree *last = NULL, *tree;

	for (int i = 0; (tree = trial_tree(trial, desc, i)) != NULL; i++)
		last = tree;
	return last;
}

const char *trial_tree_name(const struct trial_tree *tree)
{
	return tree->lowering == K_BUILT ? "as built" : k_lowerings[tree->lowering].name;
}

/* What the plan calls is built last. */
static const char *entry_of(const struct k_program *program)
{
	for (int i = program->functions.n - 1; i >= 0; i--)
		if (program->functions.items[i]->kind == K_FUNCTION_ENTRY)
			return program->functions.items[i]->name;
	return NULL;
}

/* ---- a file ---- */

/* Kernels of a device, which the C file declares, are nothing. */
static bool write_stubs(const char *folder, int number)
{
	return run_command("sed -n -e '1i #include <pmgrt_generated.h>' "
			   "-e 's/^extern \\(const pmg_device_part [a-zA-Z0-9_]*;\\)/\\1/p' "
			   "-e 's/^pmg_kernel \\([a-zA-Z0-9_]*\\);/pmg_kernel \\1;\\npmg_status \\1"
			   "(pmg_plan *p, const void *a, pmg_control *c) { return PMG_BAD_CALL; }/p' "
			   "%s/v%d.c > %s/v%d.stub.c", folder, number, folder, number);
}

static bool compile_plainly(const struct trial *trial, int number)
{
	const char *build = getenv("BUILD") ? getenv("BUILD") : "build", *folder = trial->folder;

	return write_stubs(folder, number) &&
	       run_command("gcc -std=c11 -O0 -w -fopenmp -DPMG_ALL_THREADS -fwrapv -fPIC -shared -Iruntime %s/v%d.c "
			   "%s/v%d.stub.c -o %s/v%d.so -L%s -lpmgrt %s -lm", folder, number, folder, number, folder,
			   number, build, strcmp(trial->variant.compiler, "opencl") ? "-lopenblas" : "-lOpenCL");
}

static bool build(struct trial *trial, int number)
{
	const char *build = getenv("BUILD") ? getenv("BUILD") : "build", *folder = trial->folder;
	const struct comparison comparison = { .build = build, .folder = folder, .file = trial->file, .begin = begin,
					       .user = trial, .kept = &trial->compiled };
	struct item_count counts[MOST_VERBS] = { 0 };

	if (!trial->variant.compiler)
		trial->variant.compiler = trial->is_for_device ? "device" : "gcc";
	trial->variant.name = "code";
	trial->variant.pmgc = trial->flags;
	if (variant_generate(&comparison, &trial->variant, number, counts) != OUTCOME_AGREES)
		return false;
	if (trial->is_optimised)
		return variant_compile(&comparison, &trial->variant, number);
	return compile_plainly(trial, number) &&
	       variant_load(&trial->variant, arena_printf(&trial->arena, "%s/v%d.so", folder, number));
}

bool trial_open(struct trial *trial, int number)
{
	const char *file = trial->file, *flags = trial->flags;
	const struct comparison comparison = { .file = file };

	trial->modules = compilation_new();
	if (!comparison_read(&comparison, trial->modules) || !build(trial, number)) {
		printf("%s %s: does not build\n", file, flags);
		return false;
	}
	for (int m = 0; m < trial->modules->modules.n; m++)
		if (!compilation_find_pivots(trial->modules, trial->modules->modules.items[m]))
			return false;
	return true;
}

void trial_close(struct trial *trial)
{
	compilation_free(trial->modules);
	if (trial->compiled)
		compilation_free(trial->compiled);
	arena_release(&trial->arena);
}

const pmg_pipeline_desc *trial_candidate(const struct trial *trial, const struct module *module, int number)
{
	const pmg_pipeline_desc *desc = variant_pipeline(&trial->variant, module->name);

	if (!desc || number == 0)
		return desc;
	return number < desc->n_candidates ? desc->candidates[number] : NULL;
}

/* ---- draws ---- */

bool drawn_make(struct drawn *drawn, struct module *module, uint64_t seed)
{
	struct interp_input input;

	*drawn = (struct drawn) { .seed = seed };
	if (!(seed % 4 == 0 ? binding_draw_wide : binding_draw)(&drawn->set, module, &drawn->arena, seed)) {
		arena_release(&drawn->arena);
		return false;
	}
	drawn->expected = binding_copy(&drawn->set, &drawn->arena);
	input = binding_interp(&drawn->set, &drawn->arena, drawn->expected);
	drawn->stopped = module_interpret(module, &drawn->arena, &input, NULL);
	return true;
}

void drawn_free(struct drawn *drawn)
{
	arena_release(&drawn->arena);
}

const char *drawn_sizes(const struct drawn *drawn, struct arena *arena)
{
	const struct module *module = drawn->set.module;
	struct str out = str_new(arena);

	str_add(&out, "draw %llu of %s:", (unsigned long long) drawn->seed, module->name);
	for (int i = 0; i < module->params.n; i++)
		str_add(&out, " %s = %lld", module->params.items[i].name, (long long) drawn->set.sizes[i]);
	return str_text(&out);
}

/* ---- a run ---- */

static struct trial_result verdict(const struct drawn *drawn, struct arena *arena, void **got, const char *problem)
{
	const char first = drawn->set.module->name[0];
	const enum agreement agreement = first == 'x' ? AGREE_EXACTLY : first == 's' ? AGREE_SINGLY : AGREE_CLOSELY;

	if (drawn->stopped && problem)
		return (struct trial_result) { TRIAL_AGREES, NULL, false };
	if (drawn->stopped)
		problem = arena_printf(arena, "runs, but the interpreter says: %s", drawn->stopped);
	if (!problem)
		problem = results_differ(&drawn->set, arena, drawn->expected, got, agreement);
	return (struct trial_result) { problem ? TRIAL_DIFFERS : TRIAL_AGREES, problem, false };
}

static struct trial_result verdict_of_tree(const struct drawn *drawn, const struct hosted *hosted, void **got,
					   const char *problem)
{
	if (hosted->result.end == K_RUN_UNKNOWN)
		return (struct trial_result) { TRIAL_UNKNOWN, hosted->result.text, false };
	if (hosted->result.end == K_RUN_FAULT)
		return (struct trial_result) { TRIAL_DIFFERS, hosted->result.text, true };
	return verdict(drawn, hosted->arena, got, problem);
}

struct trial_result trial_run(const struct trial_tree *tree, const pmg_pipeline_desc *desc, const struct drawn *drawn,
			      struct hosted hosted, struct arena *arena)
{
	static const int bytes[] = { 32, 64, 16 };
	void **got = binding_copy(&drawn->set, arena), *args = binding_args(&drawn->set, arena, desc, got);
	struct layout *layouts = drawn->seed % 2 ? layouts_give(arena, desc, args, drawn->seed) : NULL;
	const char *problem;

	hosted.program = tree->program;
	hosted.desc = desc;
	hosted.threads = 1 + (int) (drawn->seed % 3);
	hosted.vector_bytes = bytes[drawn->seed % 3];
	hosted.arena = arena;
	hosted.function = entry_of(tree->program);
	problem = hosted.function ? hosted_run(&hosted, args) : "no kernel";
	if (layouts && !layouts_return(desc, args, layouts))
		problem = "writes outside an array";
	return verdict_of_tree(drawn, &hosted, got, problem);
}

bool trial_has_code(const struct trial *trial)
{
	return trial->is_optimised || !trial->is_for_device;
}

struct trial_result trial_run_code(const struct trial *trial, const pmg_pipeline_desc *desc,
				   const struct drawn *drawn, struct arena *arena)
{
	void **got = binding_copy(&drawn->set, arena);
	const char *problem = variant_run(&trial->variant, desc->choice ? desc->choice : "",
					  1 + (int) (drawn->seed % 3), arena, &drawn->set, got);

	return verdict(drawn, arena, got, problem);
}
