/* SPDX-License-Identifier: MIT
 *
 * Generated code against the interpreter. */
#include "random/compare.h"
#include "random/layouts.h"
#include "support/folder.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

/* ---- building ---- */

bool run_command(const char *format, ...)
{
	char command[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof command, format, args);
	va_end(args);
	if (system(command) == 0)
		return true;
	fprintf(stderr, "failed: %s\n", command);
	return false;
}

bool variant_load(struct variant *v, const char *path)
{
	pmg_pipelines_function pipelines;

	v->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!v->library)
		return fprintf(stderr, "%s\n", dlerror()), false;
	*(void **) (void *) &pipelines = dlsym(v->library, PMG_PIPELINES_SYMBOL);
	v->pipelines = pipelines ? pipelines() : NULL;
	return v->pipelines;
}

/* Kernels for a device: with $PMG_NVCC for the device itself, else as C++ for the processor. */
static bool compile_for_device(const struct comparison *c, int number)
{
	const char *nvcc = getenv("PMG_NVCC");

	return run_command("gcc -std=c11 -O0 -fPIC -c -Wall -Wextra -Wconversion -Werror -Iruntime %s/v%d.c "
			   "-o %s/v%d.o", c->folder, number, c->folder, number) &&
	       run_command("%s -std=c++17 -Iruntime -shared -Xcompiler -fPIC,-fwrapv,-Wall,-Wextra,-Werror,"
			   "-Wno-unused-function,-Wno-unknown-pragmas %s/v%d.cu %s/v%d.o -o %s/v%d.so -L%s -lpmgrt",
			   nvcc ? nvcc : "tests/cuda/emulated/nvcc", c->folder, number, c->folder, number, c->folder,
			   number, c->build);
}

/* The kernels are a text, which a plan compiles: hardly optimised, but for PMG_TEST_LONG. */
static bool compile_for_opencl(const struct comparison *c, int number)
{
	return run_command("gcc -std=c11 -O0 -fPIC -shared -fwrapv -Wall -Wextra -Wconversion -Werror -Iruntime %s "
			   "%s/v%d.c -o %s/v%d.so -L%s -lpmgrt -lOpenCL -lm",
			   getenv("PMG_TEST_LONG") ? "" : "-DPMG_OPENCL_OPTIONS=-cl-opt-disable", c->folder, number,
			   c->folder, number, c->build);
}

/* In the short form what gcc makes of the usual schedule is optimised, which takes twice as long; what clang makes took
 * four times as long. */
static int level_of(const struct variant *v)
{
	return !v->is_plain && (!strcmp(v->name, "gcc") || getenv("PMG_TEST_LONG"));
}

bool variant_compile(const struct comparison *c, struct variant *v, int number)
{
	char path[512];

	snprintf(path, sizeof path, "%s/v%d.so", c->folder, number);
	if (!strcmp(v->compiler, "device"))
		return compile_for_device(c, number) && variant_load(v, path);
	if (!strcmp(v->compiler, "opencl"))
		return compile_for_opencl(c, number) && variant_load(v, path);
	if (!run_command("%s -std=c11 -O%d -fopenmp -DPMG_ALL_THREADS -fPIC -shared -fwrapv -Wall -Wextra -Wconversion "
			 "-Werror -Iruntime %s/v%d.c -o %s/v%d.so -L%s -lpmgrt -lopenblas -lm", v->compiler,
			 level_of(v), c->folder, number, c->folder, number, c->build))
		return false;
	return variant_load(v, path);
}

static bool file_has(const struct comparison *c, int number, const char *text)
{
	char command[512];

	snprintf(command, sizeof command, "grep -q '%s' %s/v%d.c", text, c->folder, number);
	return system(command) == 0;
}

/* A variant without the text that it is about stays without pipelines. */
static bool build_variant(const struct comparison *c, struct variant *v, int number)
{
	if (!run_command("%s/pmgc %s %s -o %s/v%d.c 2>%s/messages || { cat %s/messages >&2; false; }", c->build,
			 c->file, v->pmgc, c->folder, number, c->folder, c->folder))
		return false;
	return (v->only_with && !file_has(c, number, v->only_with)) || variant_compile(c, v, number);
}

bool comparison_build(struct comparison *comparison)
{
	bool ok = true;

	for (int v = 0; ok && v < comparison->n_variants; v++)
		ok = build_variant(comparison, &comparison->variants[v], comparison->n_built++);
	return ok;
}

/* Libraries with OpenMP stay loaded: its threads may still be in them. */
void comparison_close(struct comparison *comparison)
{
	for (int v = 0; v < comparison->n_variants; v++)
		comparison->variants[v].pipelines = NULL;
}

const pmg_pipeline_desc *variant_pipeline(const struct variant *v, const char *name)
{
	for (int i = 0; v->pipelines[i]; i++)
		if (!strcmp(v->pipelines[i]->name, name))
			return v->pipelines[i];
	return NULL;
}

/* ---- comparing ---- */

static double element(enum scalar_type type, const void *data, size_t i)
{
	switch (type) {
	case TYPE_F64: return ((const double *) data)[i];
	case TYPE_F32: return (double) ((const float *) data)[i];
	case TYPE_I64: return (double) ((const int64_t *) data)[i];
	case TYPE_I32: return ((const int32_t *) data)[i];
	case TYPE_I16: return ((const int16_t *) data)[i];
	case TYPE_I8: return ((const int8_t *) data)[i];
	case TYPE_U32: return ((const uint32_t *) data)[i];
	case TYPE_U16: return ((const uint16_t *) data)[i];
	case TYPE_U8: return ((const uint8_t *) data)[i];
	case TYPE_BOOL: return ((const bool *) data)[i];
	case TYPE_N: break;
	}
	return 0;
}

static bool values_agree(double a, double b, double tolerance)
{
	double scale = fabs(a) > 1 ? fabs(a) : 1;

	if (isnan(a) || isnan(b))
		return isnan(a) && isnan(b);
	/* From small integers such values come by divisions through almost nothing: no digit of them is left. */
	if (tolerance > 0 && scale > 1e15 && isfinite(a) && isfinite(b))
		return true;
	return a == b || fabs(a - b) <= tolerance*scale;
}

const char *results_differ(const struct binding_set *set, struct arena *arena, void **expected, void **got,
			   enum agreement agreement)
{
	const struct module *module = set->module;

	for (int a = 0; a < module->arrays.n; a++) {
		const struct array *array = module->arrays.items[a];
		size_t n = expected[a] ? set->bytes[a] / (size_t) type_size(array->type) : 0;
		double tolerance = agreement == AGREE_EXACTLY ? 0
				 : agreement == AGREE_SINGLY || array->sums == TYPE_F32 ? 1e-5 : 1e-11;

		for (size_t i = 0; i < n; i++) {
			double x = element(array->type, expected[a], i), y = element(array->type, got[a], i);

			if (!values_agree(x, y, tolerance))
				return arena_printf(arena, "'%s' at %zu is %.17g, not %.17g", array->name, i, y, x);
		}
	}
	return NULL;
}

/* ---- running ---- */

/* Memory is handed out full of large numbers, not the zeros of fresh pages: reading what was never written shows. */
enum { GARBAGE = 0x80 };

/* Does the pipeline come to the same results when it is executed again? */
static bool repeats(const pmg_pipeline_desc *desc)
{
	bool is_same = true;

	for (int32_t i = 0; i < desc->n_arrays; i++)
		is_same &= desc->arrays[i].role != PMG_INOUT;
	return is_same;
}

/* A second time as well: scratch is no longer the zeros of fresh pages, and kernels of a device are a graph. */
static pmg_status execute(const pmg_pipeline_desc *desc, pmg_plan *plan, void *args)
{
	const pmg_status status = desc->execute(plan, args, NULL);

	return status == PMG_OK && repeats(desc) ? desc->execute(plan, args, NULL) : status;
}

/* Every other draw gives arrays as they are in the module, row-major. */
const char *variant_run(const struct variant *v, const char *candidate, int threads, struct arena *arena,
			const struct binding_set *set, void **copies)
{
	bool has_layouts = set->random >> 16 & 1;
	const pmg_pipeline_desc *desc = variant_pipeline(v, set->module->name);
	pmg_context *context = pmg_context_new(NULL);
	pmg_options options = { .context = context, .threads = threads, .candidate = candidate };
	pmg_plan *plan = NULL;
	const char *problem = NULL;
	struct layout *layouts;
	void *args;

	if (!desc)
		return "not in the library";
	args = binding_args(set, arena, desc, copies);
	layouts = has_layouts ? layouts_give(arena, desc, args, set->random) : NULL;
	if (!v->compiler || strcmp(v->compiler, "opencl") != 0)         /* whose compiler would fill much memory */
		mallopt(M_PERTURB, GARBAGE);
	if (desc->plan(args, &options, &plan) != PMG_OK || execute(desc, plan, args) != PMG_OK)
		problem = arena_printf(arena, "fails: %s", pmg_message(context));
	else if ((layouts && !layouts_return(desc, args, layouts)) || !binding_is_fenced(set, copies))
		problem = "writes outside an array";
	if (plan)
		desc->destroy(plan);
	mallopt(M_PERTURB, 0);
	pmg_context_free(context);
	return problem;
}

static void report(struct comparison *c, const struct binding_set *set, uint64_t seed, const char *who,
		   const char *problem)
{
	c->failed++;
	fprintf(stderr, "%s: draw %llu, %s, %s: %s; sizes", c->file, (unsigned long long) seed, set->module->name, who,
		problem);
	for (int i = 0; i < set->module->params.n; i++)
		fprintf(stderr, " %s = %lld", set->module->params.items[i].name, (long long) set->sizes[i]);
	fprintf(stderr, "\n");
	run_command("awk '/^pipeline %s /,/^}/' %s >&2", set->module->name, c->file);
}

/* What is wrong with a variant, NULL: nothing. A program that the interpreter stops must stop as well. */
static const char *check_variant(const struct variant *v, const char *candidate, int threads, struct arena *arena,
				 const struct binding_set *set, void **expected, const char *stopped,
				 enum agreement agreement)
{
	void **got = binding_copy(set, arena);
	const char *problem = variant_run(v, candidate, threads, arena, set, got);

	if (stopped)
		return problem ? NULL : arena_printf(arena, "runs, but the interpreter says: %s", stopped);
	return problem ? problem : results_differ(set, arena, expected, got, agreement);
}

static int n_candidates(const struct variant *v, const struct module *module)
{
	const pmg_pipeline_desc *desc;

	if (!v->pipelines)
		return 0;
	desc = variant_pipeline(v, module->name);
	return desc && desc->n_candidates ? desc->n_candidates : 1;
}

/* How a candidate is asked for; "" is the first. */
static const char *candidate_choice(const struct variant *v, const struct module *module, int number)
{
	return number ? variant_pipeline(v, module->name)->candidates[number]->choice : "";
}

bool comparison_draw(struct comparison *c, struct module *module, uint64_t seed, enum agreement agreement)
{
	struct arena arena = { 0 };
	struct binding_set set;
	bool drawn = (c->is_wide ? binding_draw_wide : binding_draw)(&set, module, &arena, seed);
	void **expected = drawn ? binding_copy(&set, &arena) : NULL;
	struct interp_input input = drawn ? binding_interp(&set, &arena, expected) : (struct interp_input) { 0 };
	const char *stopped = drawn ? module_interpret(module, &arena, &input, NULL) : NULL;

	for (int v = 0; drawn && v < c->n_variants; v++)
		for (int i = 0; i < n_candidates(&c->variants[v], module); i++) {
			const char *candidate = candidate_choice(&c->variants[v], module, i);
			const char *who = arena_printf(&arena, "%s %s", c->variants[v].name, candidate);
			const char *wrong = check_variant(&c->variants[v], candidate, c->threads ? c->threads : 2,
							  &arena, &set, expected, stopped, agreement);

			c->passed += !wrong;
			if (wrong)
				report(c, &set, seed, who, wrong);
		}
	arena_release(&arena);
	return drawn;
}

static void draw_all(struct comparison *comparison, struct module *module, int wanted)
{
	int n_drawn = 0;

	for (int draw = 0; draw < 20*wanted && n_drawn < wanted; draw++)
		n_drawn += comparison_draw(comparison, module, (uint64_t) draw + 1, AGREE_CLOSELY);
	if (n_drawn < wanted) {
		comparison->failed++;
		fprintf(stderr, "%s: only %d draws of '%s'\n", comparison->file, n_drawn, module->name);
	}
}

void comparison_file(struct comparison *comparison, int (*n_draws)(const struct module *module))
{
	struct compilation *c = compilation_new();
	bool ready = compilation_read(c, comparison->file) && comparison_build(comparison);

	if (!ready) {
		comparison->failed++;
		fprintf(stderr, "%s: does not build\n%s", comparison->file, compilation_messages(c, false));
	}
	for (int m = 0; ready && m < c->modules.n; m++)
		ready = compilation_find_pivots(c, c->modules.items[m]);
	for (int m = 0; ready && m < c->modules.n; m++)
		draw_all(comparison, c->modules.items[m], n_draws(c->modules.items[m]));
	comparison_close(comparison);
	compilation_free(c);
}

struct folder_files {
	struct comparison *comparison;
	int (*n_draws)(const struct module *module);
};

static void compare_file_of_folder(const char *path, void *user)
{
	const struct folder_files *files = user;

	files->comparison->file = path;
	comparison_file(files->comparison, files->n_draws);
	run_command("rm -f %s/*", files->comparison->folder);
}

void comparison_folder_nth(struct comparison *comparison, const char *folder, int n, int first,
			   int (*n_draws)(const struct module *module))
{
	struct folder_files files = { comparison, n_draws };

	folder_each_nth(folder, n, first, compare_file_of_folder, &files);
}

void comparison_folder(struct comparison *comparison, const char *folder, int (*n_draws)(const struct module *module))
{
	comparison_folder_nth(comparison, folder, 1, 0, n_draws);
}
