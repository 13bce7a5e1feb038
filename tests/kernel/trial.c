/* SPDX-License-Identifier: MIT
 *
 * Kernels as trees beside the interpreter of modules. */
#include "kernel/trial.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/described.h"
#include "kernel/quoted.h"
#include "random/layouts.h"

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

static bool is_for(const struct trial *trial, const char *compiler)
{
	return !strcmp(trial->compiler, compiler);
}

/* The C compiler is there for the descriptions: its own kernels never run. */
static bool build(struct trial *trial, int number)
{
	const char *build = getenv("BUILD") ? getenv("BUILD") : "build", *folder = trial->folder;
	const struct comparison comparison = { .build = build, .folder = folder, .file = trial->file };
	struct item_count counts[MOST_VERBS] = { 0 };

	trial->variant = (struct variant) { .name = "tree", .pmgc = trial->flags, .compiler = trial->compiler };
	return variant_generate(&comparison, &trial->variant, number, counts) == OUTCOME_AGREES &&
	       write_stubs(folder, number) &&
	       run_command("gcc -std=c11 -O0 -w -fopenmp -fPIC -shared -Iruntime %s/v%d.c %s/v%d.stub.c -o %s/v%d.so "
			   "-L%s -lpmgrt %s -lm", folder, number, folder, number, folder, number, build,
			   is_for(trial, "opencl") ? "-lOpenCL" : "-lopenblas") &&
	       variant_load(&trial->variant, arena_printf(&trial->arena, "%s/v%d.so", folder, number));
}

static bool read_dump(struct trial *trial, int number)
{
	const char *path = arena_printf(&trial->arena, "%s/v%d.kernel", trial->folder, number), *error = "no text";
	const char *build = getenv("BUILD") ? getenv("BUILD") : "build", *text;

	if (!run_command("%s/pmgc %s --target=opencl %s --emit=kernel -o - > %s", build, trial->file, trial->flags,
			 path))
		return false;
	text = quoted_read(&trial->arena, path);
	trial->program = text ? k_read_program(&trial->arena, text, &error) : NULL;
	if (!trial->program)
		printf("%s %s: %s\n", trial->file, trial->flags, error);
	return trial->program;
}

static bool quote_all(struct trial *trial, int number)
{
	const char *path = arena_printf(&trial->arena, "%s/v%d.c", trial->folder, number), *error = NULL;

	trial->text = quoted_read(&trial->arena, path);
	if (is_for(trial, "opencl"))
		return trial->text && read_dump(trial, number);
	if (is_for(trial, "device"))
		path = arena_printf(&trial->arena, "%su", path);
	trial->program = trial->text ? quoted_file(&trial->arena, path, &error) : NULL;
	if (!trial->program)
		printf("%s %s: %s\n", trial->file, trial->flags, error ? error : "no text");
	return trial->program;
}

static bool open_as(struct trial *trial, int number)
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
	return quote_all(trial, number);
}

bool trial_open(struct trial *trial, const char *folder, const char *file, const char *flags, int number)
{
	*trial = (struct trial) { .folder = folder, .file = file, .flags = flags, .compiler = "gcc" };
	return open_as(trial, number);
}

bool trial_open_device(struct trial *trial, const char *folder, const char *file, const char *flags, int number)
{
	*trial = (struct trial) { .folder = folder, .file = file, .flags = flags, .compiler = "device" };
	return open_as(trial, number);
}

bool trial_open_opencl(struct trial *trial, const char *folder, const char *file, const char *flags, int number)
{
	*trial = (struct trial) { .folder = folder, .file = file, .flags = flags, .compiler = "opencl" };
	return open_as(trial, number);
}

void trial_close(struct trial *trial)
{
	compilation_free(trial->modules);
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

static struct trial_result verdict(const struct drawn *drawn, const struct hosted *hosted, void **got,
				   const char *problem)
{
	const char first = drawn->set.module->name[0];
	const enum agreement agreement = first == 'x' ? AGREE_EXACTLY : first == 's' ? AGREE_SINGLY : AGREE_CLOSELY;

	if (hosted->result.end == K_RUN_UNKNOWN)
		return (struct trial_result) { TRIAL_UNKNOWN, hosted->result.text, false };
	if (hosted->result.end == K_RUN_FAULT)
		return (struct trial_result) { TRIAL_DIFFERS, hosted->result.text, true };
	if (drawn->stopped && problem)
		return (struct trial_result) { TRIAL_AGREES, NULL, false };
	if (drawn->stopped)
		problem = arena_printf(hosted->arena, "runs, but the interpreter says: %s", drawn->stopped);
	if (!problem)
		problem = results_differ(&drawn->set, hosted->arena, drawn->expected, got, agreement);
	return (struct trial_result) { problem ? TRIAL_DIFFERS : TRIAL_AGREES, problem, false };
}

struct trial_result trial_run(const struct trial *trial, const pmg_pipeline_desc *desc, const struct drawn *drawn,
			      struct hosted hosted, struct arena *arena)
{
	static const int bytes[] = { 32, 64, 16 };
	void **got = binding_copy(&drawn->set, arena), *args = binding_args(&drawn->set, arena, desc, got);
	struct layout *layouts = drawn->seed % 2 ? layouts_give(arena, desc, args, drawn->seed) : NULL;
	const char *problem;

	hosted.program = trial->program;
	hosted.desc = desc;
	hosted.threads = 1 + (int) (drawn->seed % 3);
	hosted.vector_bytes = bytes[drawn->seed % 3];
	hosted.arena = arena;
	hosted.function = kernel_of_text(arena, trial->text, drawn->set.module->name, desc->choice);
	problem = hosted.function ? hosted_run(&hosted, args) : "no kernel in the text";
	if (layouts && !layouts_return(desc, args, layouts))
		problem = "writes outside an array";
	return verdict(drawn, &hosted, got, problem);
}
