/* SPDX-License-Identifier: MIT
 *
 * Does a dump say all of a kernel program? Those of all programs are printed, read and printed again, for each target,
 * as they are built and behind each lowering that changes them; the trees, both dumps, their C and its places are the
 * same, and what was read is well-formed. Without PMG_TEST_LONG, every fourth program of a folder for one target, and
 * those between them for the other.
 * With sanitizers only for --long: tests/decide compiles these programs with them. */
#include <string.h>

#include "codegen/abi/abi.h"
#include "driver/pipeline.h"
#include "kernel/dumps.h"
#include "support/folder.h"

enum { EVERY = 4 };

struct programs {
	struct tally tally;
	const char *target;
	bool all_isas;
};

/* The lines of C have the same places. */
static bool has_same_places(struct arena *arena, const struct k_function *a, const struct k_function *b,
			    enum c_spelling spelling)
{
	struct writer from_a = writer_new(arena), from_b = writer_new(arena);
	bool same;

	c_print_function(&from_a, a, spelling);
	c_print_function(&from_b, b, spelling);
	same = from_a.lines.n == from_b.lines.n;
	for (int i = 0; same && i < from_a.lines.n; i++)
		same = !memcmp(&from_a.lines.items[i].span, &from_b.lines.items[i].span, sizeof(struct span));
	return same;
}

/* What was read, and has been checked. */
struct checked {
	const struct k_program *program;
	const char *dump;
};

static struct checked check_program(struct tally *tally, struct arena *arena, const struct k_program *program,
				    const char *path, enum c_spelling spelling)
{
	const char *dump = dump_of(arena, program), *error, *fault;
	struct k_program *read = k_read_program(arena, dump, &error);
	bool same_places = true;

	tally_check(tally, read != NULL, path, read ? "" : error);
	if (!read)
		return (struct checked) { 0 };
	tally_check(tally, k_program_is_equal(program, NULL, read, NULL), path, "the trees differ");
	tally_check_text(tally, path, dump_of(arena, read), dump);
	tally_check_text(tally, path, c_of_program(arena, read, spelling), c_of_program(arena, program, spelling));
	for (int i = 0; i < program->functions.n; i++)
		same_places &= has_same_places(arena, program->functions.items[i], read->functions.items[i], spelling);
	tally_check(tally, same_places, path, "the places differ");
	k_resolve_types(arena, read);
	fault = k_verify(arena, read);
	tally_check(tally, !fault, path, fault);
	return (struct checked) { read, dump };
}

static bool is_as_checked(struct arena *arena, const struct checked *checked, const struct k_program *program)
{
	return checked->program && k_program_is_equal(program, NULL, checked->program, NULL) &&
	       !strcmp(dump_of(arena, program), checked->dump);
}

/* What a program asks for may not be had for a target. */
static bool is_refused(const struct compilation *c)
{
	bool is = c->diags.n_errors > 0;

	for (int i = 0; i < c->diags.list.n; i++)
		is &= c->diags.list.items[i]->severity != SEVERITY_ERROR ||
		      c->diags.list.items[i]->code == DIAG_NOT_SUPPORTED;
	return is;
}

struct watching {
	struct programs *programs;
	const struct target *target;
	const char *path;
	struct checked checked;         /* behind the lowering before */
	int n_seen;
};

static void check_lowered(struct module *module, const struct k_program *program, int lowering, void *user)
{
	struct watching *watching = user;

	(void) lowering;
	if (module->choice.items)
		return;
	watching->n_seen++;
	if (is_as_checked(module->arena, &watching->checked, program))
		return;
	watching->checked = check_program(&watching->programs->tally, module->arena, program, watching->path,
					  watching->target->spelling);
}

static void check_module(struct programs *programs, struct compilation *c, struct module *module, const char *path)
{
	const struct target *target = target_find(programs->target);
	struct watching watching = { .programs = programs, .target = target, .path = path };
	struct names prefixes = { .arena = &c->arena };
	struct pipeline pipeline;

	names_declare(&prefixes, module->name);
	if (pipeline_open(&pipeline, module, programs->all_isas, &prefixes, target,
			  &(struct kernel_watch) { .see = check_lowered, .user = &watching }))
		tally_check(&programs->tally, watching.n_seen == 1 + k_n_lowerings, path, "not each lowering is shown");
	else
		tally_check(&programs->tally, is_refused(c), path, "has no kernels");
}

static void check_path(const char *path, void *user)
{
	struct programs *programs = user;
	struct compilation *c = compilation_new();
	const bool compiles = compilation_choose_target(c, programs->target) && compilation_read(c, path) &&
			      compilation_run_passes(c);

	tally_check(&programs->tally, compiles || is_refused(c), path, "does not compile");
	for (int i = 0; compiles && i < c->modules.n; i++)
		check_module(programs, c, c->modules.items[i], path);
	compilation_free(c);
}

static void test_programs(struct programs *programs)
{
	static const char *const folders[] = {
		"dsl_examples", "tests/programs", "tests/codegen/cases"
	};
	static const char *const targets[] = { "openmp", "cuda" };

	for (size_t t = 0; t < 2; t++)
		for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
			programs->target = targets[t];
			programs->all_isas = t == 0 && i == 0;
			tally_check(&programs->tally,
				    folder_each_nth(folders[i], EVERY, (int) t*EVERY/2, check_path, programs) > 0,
				    folders[i], "no programs");
		}
}

int main(void)
{
	struct programs programs = { 0 };

	test_programs(&programs);
	printf("%d passed, %d failed\n", programs.tally.passed, programs.tally.failed);
	return programs.tally.failed ? 1 : 0;
}
