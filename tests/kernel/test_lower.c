/* SPDX-License-Identifier: MIT
 *
 * Does a lowering make of a dump what it should, and nothing of what it should not touch? A case is a file
 * tests/kernel/lower/LOWERING.QUESTION.kernel: a dump; a line `---- after` and the dump that becomes of it, or
 * `---- unchanged`; where decisions are taken, a line `---- decides` and a line for each. Without a C compiler.
 *
 *     test_lower [LOWERING…]          cases of these only */
#include <glob.h>
#include <string.h>

#include "kernel/dumps.h"
#include "kernel/lower/lower.h"
#include "kernel/quoted.h"

static const struct k_target_facts host = { .prefetches = true, .has_nontemporal = true,
					    .has_launch_bounds = true, .rows = { 768, 64 } };

struct lower_case {
	const char *name, *before, *after, *decides;
	int lowering;
};

static const char *section(struct arena *arena, const char *text, const char *head)
{
	const char *at = strstr(text, head);
	const char *end;

	if (!at)
		return NULL;
	at += strlen(head);
	end = strstr(at, "---- ");
	return arena_copy(arena, at, end ? (size_t) (end - at) : strlen(at));
}

static struct lower_case case_read(struct arena *arena, const char *path)
{
	const char *text = quoted_read(arena, path), *name = strrchr(path, '/') + 1;
	struct lower_case read = { .name = name, .before = text };
	const char *end = strstr(text, "---- ");

	read.lowering = k_lowering_find(arena_copy(arena, name, strcspn(name, ".")));
	if (end)
		read.before = arena_copy(arena, text, (size_t) (end - text));
	read.after = strstr(text, "---- unchanged\n") ? read.before : section(arena, text, "---- after\n");
	read.decides = section(arena, text, "---- decides\n");
	return read;
}

static const char *decisions_text(struct arena *arena, const struct k_lowered *lowered)
{
	struct str text = str_new(arena);

	for (int i = 0; i < lowered->decisions.n; i++) {
		const struct k_decision *d = &lowered->decisions.items[i];

		str_add(&text, "%s: %s, not %s: %s\n", d->subject, d->chosen, d->alternatives, d->reason);
	}
	return str_text(&text);
}

/* As a dump prints it. */
static const char *normal(struct tally *tally, const struct lower_case *at, const char *dump)
{
	const char *error;
	const struct k_program *program = k_read_program(&tally->arena, dump, &error);

	tally_check(tally, program, at->name, program ? "" : error);
	return program ? dump_of(&tally->arena, program) : "";
}

static void check_case(struct tally *tally, const struct lower_case *at)
{
	const char *error, *fault;
	struct k_program *program = k_read_program(&tally->arena, at->before, &error);
	struct k_lowered lowered = { .arena = &tally->arena, .program = program, .target = &host };

	tally_check(tally, program, at->name, program ? "" : error);
	tally_check(tally, at->lowering != K_BUILT && at->after, at->name, "no lowering, or no expectation");
	if (!program || at->lowering == K_BUILT || !at->after)
		return;
	fault = k_lower_by(&lowered, K_BUILT, NULL);
	tally_check(tally, !fault, at->name, fault ? fault : "");
	fault = k_lower_by(&lowered, at->lowering, NULL);
	tally_check(tally, !fault, at->name, fault ? fault : "");
	tally_check_text(tally, at->name, dump_of(&tally->arena, program), normal(tally, at, at->after));
	tally_check_text(tally, at->name, decisions_text(&tally->arena, &lowered), at->decides ? at->decides : "");
}

/* A second time there is nothing to do. */
static void check_again(struct tally *tally, const struct lower_case *at)
{
	const char *error;
	struct k_program *program = k_read_program(&tally->arena, at->after, &error);
	struct k_lowered lowered = { .arena = &tally->arena, .program = program, .target = &host };

	if (!program || strcmp(k_lowerings[at->lowering].name, "dead") != 0)
		return;
	tally_check(tally, !k_lower_by(&lowered, at->lowering, NULL), at->name, "again");
	tally_check_text(tally, at->name, dump_of(&tally->arena, program), normal(tally, at, at->after));
}

static bool is_of_host(int lowering)
{
	return !strcmp(k_lowerings[lowering].name, "prefetch") || !strcmp(k_lowerings[lowering].name, "nontemporal");
}

/* A device has no such prefetches and stores. */
static void check_target(struct tally *tally, const struct lower_case *at)
{
	static const struct k_target_facts device = { 0 };
	const char *error;
	struct k_program *program = k_read_program(&tally->arena, at->before, &error);
	struct k_lowered lowered = { .arena = &tally->arena, .program = program, .target = &device };

	if (!program || !is_of_host(at->lowering))
		return;
	tally_check(tally, !k_lower_by(&lowered, at->lowering, NULL), at->name, "for a device");
	tally_check_text(tally, at->name, dump_of(&tally->arena, program), normal(tally, at, at->before));
}

/* NULL: all. */
static void check_files(struct tally *tally, const char *lowering)
{
	const char *pattern = arena_printf(&tally->arena, "tests/kernel/lower/%s.*.kernel", lowering ? lowering : "*");
	glob_t found;

	tally_check(tally, glob(pattern, 0, NULL, &found) == 0, pattern, "there are no cases");
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const struct lower_case at = case_read(&tally->arena, found.gl_pathv[i]);

		check_case(tally, &at);
		if (at.lowering != K_BUILT && at.after) {
			check_again(tally, &at);
			check_target(tally, &at);
		}
	}
	globfree(&found);
}

/* ---- the driver ---- */

struct seen {
	int numbers[32], n;
};

static void see(const struct k_program *program, int lowering, void *user)
{
	struct seen *seen = user;

	(void) program;
	if (seen->n < 32)
		seen->numbers[seen->n++] = lowering;
}

/* Each lowering is shown once, in order, behind the program as it was built. */
static void check_watch(struct tally *tally)
{
	const char *error;
	struct k_program *program = k_read_program(&tally->arena, "function void f(n: int64_t)\n\treturn\n", &error);
	struct k_lowered lowered = { .arena = &tally->arena, .program = program, .target = &host };
	struct seen seen = { .n = 0 };
	bool in_order = true;

	tally_check(tally, !k_lower(&lowered, &(struct k_watch) { see, &seen }), "all lowerings", "a fault");
	tally_check(tally, seen.n == 1 + k_n_lowerings, "all lowerings", "not each was shown");
	for (int i = 0; i < seen.n; i++)
		in_order = in_order && seen.numbers[i] == i - 1;
	tally_check(tally, in_order, "all lowerings", "in another order");
}

/* What is wrong before any lowering is said; it is shown, and no lowering runs. */
static void check_fault(struct tally *tally)
{
	const char *error, *fault;
	struct k_program *program = k_read_program(&tally->arena, "function void f()\n\tx = 1.0\n", &error);
	struct k_lowered lowered = { .arena = &tally->arena, .program = program, .target = &host };
	struct seen seen = { .n = 0 };

	fault = k_lower(&lowered, &(struct k_watch) { see, &seen });
	tally_check(tally, fault && strstr(fault, "x"), "a name that is not declared", fault ? fault : "no fault");
	tally_check(tally, seen.n == 1, "a name that is not declared", "is not shown alone");
}

int main(int argc, char **argv)
{
	struct tally tally = { 0 };

	for (int i = 1; i < argc; i++)
		check_files(&tally, argv[i]);
	if (argc < 2) {
		check_files(&tally, NULL);
		check_watch(&tally);
		check_fault(&tally);
	}
	printf("%d passed, %d failed\n", tally.passed, tally.failed);
	arena_release(&tally.arena);
	return tally.failed ? 1 : 0;
}
