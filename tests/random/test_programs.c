/* SPDX-License-Identifier: MIT
 *
 * Random programs: the reference interpreter against generated code, for each C compiler and several schedules, on
 * several draws of sizes and data. Programs x_… must give the same bits, t_… the same values to 1e-11.
 *     test_programs [SEED [COUNT [DRAWS]]]
 * A difference prints the program, the draw and the cell; SEED and its number make it again. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/pipeline.h"
#include "random/bind.h"

struct variant {
	const char *name, *pmgc, *compiler;
	void *library;
	const pmg_pipeline_desc *const *pipelines;
};

static struct variant variants[] = {
	{ .name = "gcc", .pmgc = "", .compiler = "gcc" },
	{ .name = "gcc serial", .pmgc = "--parallel=off --vector=off", .compiler = "gcc" },
	{ .name = "gcc isl", .pmgc = "--schedule=isl", .compiler = "gcc" },
	{ .name = "clang", .pmgc = "", .compiler = "clang-14" },
	{ .name = "clang isl", .pmgc = "--schedule=isl", .compiler = "clang-14" },
};

enum { N_VARIANTS = (int) (sizeof variants / sizeof variants[0]) };

struct session {
	const char *build, *folder;
	long seed, count, draws;
	int passed, failed, skipped;
};

/* ---- building ---- */

__attribute__((format(printf, 1, 2))) static bool run(const char *format, ...)
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

static bool build_variant(const struct session *s, struct variant *v, int number)
{
	char path[512];
	pmg_pipelines_function pipelines;

	if (!run("%s/pmgc %s/programs.pmg %s -o %s/v%d.c", s->build, s->folder, v->pmgc, s->folder, number) ||
	    !run("%s -std=c11 -O1 -fopenmp -fPIC -shared -fwrapv -Wall -Wextra -Wconversion -Werror -Iruntime "
		 "%s/v%d.c -o %s/v%d.so -L%s -lpmgrt -lm", v->compiler, s->folder, number, s->folder, number, s->build))
		return false;
	snprintf(path, sizeof path, "%s/v%d.so", s->folder, number);
	v->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!v->library)
		return fprintf(stderr, "%s\n", dlerror()), false;
	*(void **) (void *) &pipelines = dlsym(v->library, PMG_PIPELINES_SYMBOL);
	v->pipelines = pipelines ? pipelines() : NULL;
	return v->pipelines;
}

static const pmg_pipeline_desc *find_pipeline(const struct variant *v, const char *name)
{
	for (int i = 0; v->pipelines[i]; i++)
		if (!strcmp(v->pipelines[i]->name, name))
			return v->pipelines[i];
	return NULL;
}

/* ---- comparing ---- */

static double element(enum scalar_type type, const void *data, size_t i)
{
	if (type == TYPE_F64)
		return ((const double *) data)[i];
	if (type == TYPE_F32)
		return (double) ((const float *) data)[i];
	if (type == TYPE_BOOL)
		return (double) ((const bool *) data)[i];
	return (double) ((const int64_t *) data)[i];
}

static bool values_agree(double a, double b, bool exactly)
{
	double scale = fabs(a) > 1 ? fabs(a) : 1;

	if (isnan(a) || isnan(b))
		return isnan(a) && isnan(b);
	return a == b || (!exactly && fabs(a - b) <= 1e-11 * scale);
}

/* The first output that differs, as text; NULL when all agree. */
static const char *difference(struct module *module, struct arena *arena, const struct binding_set *set,
			      void **expected, void **got, bool exactly)
{
	for (int a = 0; a < module->arrays.n; a++) {
		const struct array *array = module->arrays.items[a];
		size_t n = expected[a] ? set->bytes[a] / (size_t) type_size(array->type) : 0;

		for (size_t i = 0; i < n; i++) {
			double x = element(array->type, expected[a], i), y = element(array->type, got[a], i);

			if (!values_agree(x, y, exactly))
				return arena_printf(arena, "'%s' at %zu is %.17g, not %.17g", array->name, i, y, x);
		}
	}
	return NULL;
}

/* ---- running ---- */

static const char *run_library(const struct variant *v, struct arena *arena, const struct binding_set *set,
			       void **copies)
{
	const pmg_pipeline_desc *desc = find_pipeline(v, set->module->name);
	pmg_context *context = pmg_context_new(NULL);
	pmg_options options = { .context = context, .threads = 2 };
	pmg_plan *plan = NULL;
	const char *problem = NULL;
	void *args;

	if (!desc)
		return "not in the library";
	args = binding_args(set, arena, desc, copies);
	if (desc->plan(args, &options, &plan) != PMG_OK || desc->execute(plan, args, NULL) != PMG_OK)
		problem = arena_printf(arena, "fails: %s", pmg_message(context));
	if (plan)
		desc->destroy(plan);
	pmg_context_free(context);
	return problem;
}

static void report(struct session *s, const struct binding_set *set, const char *who, const char *problem)
{
	s->failed++;
	fprintf(stderr, "seed %ld: %s, %s: %s; sizes", s->seed, set->module->name, who, problem);
	for (int i = 0; i < set->module->params.n; i++)
		fprintf(stderr, " %s = %lld", set->module->params.items[i].name, (long long) set->sizes[i]);
	fprintf(stderr, "\n");
	run("awk '/^pipeline %s /,/^}/' %s/programs.pmg >&2", set->module->name, s->folder);
}

static void check_draw(struct session *s, struct module *module, uint64_t seed)
{
	struct arena arena = { 0 };
	struct binding_set set;
	void **expected;
	struct interp_input input;
	const char *problem;
	bool exactly = module->name[0] == 'x';

	if (!binding_draw(&set, module, &arena, seed)) {
		arena_release(&arena);
		return;
	}
	expected = binding_copy(&set, &arena);
	input = binding_interp(&set, &arena, expected);
	problem = module_interpret(module, &arena, &input, NULL);
	if (problem)
		report(s, &set, "interpreter", problem);
	for (int v = 0; v < N_VARIANTS && !problem; v++) {
		void **got = binding_copy(&set, &arena);
		const char *wrong = run_library(&variants[v], &arena, &set, got);

		if (!wrong)
			wrong = difference(module, &arena, &set, expected, got, exactly);
		if (wrong)
			report(s, &set, variants[v].name, wrong);
		else
			s->passed++;
	}
	arena_release(&arena);
}

static bool prepare(struct session *s, struct compilation *c)
{
	bool ok = run("${PYTHON:-/usr/bin/python3} tests/random/generate.py %ld %ld > %s/programs.pmg", s->seed,
		      s->count, s->folder);

	if (ok && !compilation_read(c, arena_printf(&c->arena, "%s/programs.pmg", s->folder))) {
		fprintf(stderr, "%s", compilation_messages(c, false));
		ok = false;
	}
	for (int v = 0; ok && v < N_VARIANTS; v++)
		ok = build_variant(s, &variants[v], v);
	return ok;
}

int main(int argc, char **argv)
{
	char folder[] = "/tmp/pmg-random-XXXXXX";
	struct session s = { .build = getenv("BUILD") ? getenv("BUILD") : "build", .folder = mkdtemp(folder) };
	struct compilation *c = compilation_new();

	s.seed = argc > 1 ? atol(argv[1]) : 1;
	s.count = argc > 2 ? atol(argv[2]) : 100;
	s.draws = argc > 3 ? atol(argv[3]) : 12;
	if (!s.folder || !prepare(&s, c))
		s.failed++;
	for (int m = 0; !s.failed && m < c->modules.n; m++)
		for (long draw = 0; draw < s.draws; draw++)
			check_draw(&s, c->modules.items[m], (uint64_t) (s.seed * 1000003 + m * 1009 + draw));
	compilation_free(c);
	if (s.folder)
		run("rm -rf %s", s.folder);
	printf("%d passed, %d failed\n", s.passed, s.failed);
	return s.failed != 0;
}
