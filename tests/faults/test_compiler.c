/* SPDX-License-Identifier: MIT
 *
 * Memory that runs out in the compiler: allocations of the arena fail in turn while every example and test program
 * is compiled. Each time the compilation says so, nothing crashes, and isl, which tells on the standard error when
 * its objects outlive it, stays silent. PMG_TEST_LONG takes more of the places where memory may run out. */
#include <dirent.h>
#include <isl/options.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/pipeline.h"

enum { PLACES = 3, PLACES_LONG = 400 };

struct tally {
	int passed, failed, places;
};

static void check(struct tally *tally, bool ok, const char *path, size_t place, const char *what)
{
	if (ok)
		tally->passed++;
	else if (++tally->failed < 20)
		printf("%s: allocation %zu: %s\n", path, place, what);
}

static bool compile(struct compilation *c, const char *path)
{
	const char *c_text, *h_text;

	c->options.overrides = false;
	c->options.candidates = 1;
	return compilation_read(c, path) && compilation_run_passes(c) &&
	       compilation_generate(c, "out", &c_text, &h_text);
}

static size_t count_allocations(const char *path)
{
	struct compilation *c = compilation_new();
	size_t n;

	c->arena.fail_at = SIZE_MAX;
	n = compile(c, path) ? SIZE_MAX - c->arena.fail_at : 0;
	compilation_free(c);
	return n;
}

static void check_place(struct tally *tally, const char *path, size_t place)
{
	long before = ftell(stderr);
	struct compilation *c = compilation_new();
	bool is_silent;

	c->arena.fail_at = place;
	check(tally, !compile(c, path) && c->is_out_of_memory, path, place, "compiles without memory");
	check(tally, strstr(compilation_messages(c, true), "out of memory"), path, place, "says something else");
	isl_options_set_on_error(c->ctx, ISL_ON_ERROR_WARN);
	compilation_free(c);
	fseek(stderr, 0, SEEK_END);
	is_silent = ftell(stderr) == before;
	check(tally, is_silent, path, place, "isl objects outlive the compilation");
}

/* Evenly over all allocations, the first and the last among them. */
static void check_program(struct tally *tally, const char *path)
{
	size_t n = count_allocations(path);

	check(tally, n, path, 0, "does not compile");
	for (size_t i = 0; n && i < (size_t) tally->places; i++)
		check_place(tally, path, 1 + i*(n - 1)/((size_t) tally->places - 1));
}

static void check_folder(struct tally *tally, const char *folder)
{
	struct dirent **entries;
	int n = scandir(folder, &entries, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		const char *dot = strrchr(entries[i]->d_name, '.');
		char path[512];

		snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
		if (dot && !strcmp(dot, ".pmg"))
			check_program(tally, path);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

int main(void)
{
	struct tally tally = { .places = getenv("PMG_TEST_LONG") ? PLACES_LONG : PLACES };
	char path[] = "/tmp/pmg-faults-XXXXXX";
	int kept = dup(STDERR_FILENO), file = mkstemp(path);

	if (file < 0 || !freopen(path, "w+", stderr))
		return 1;
	check_folder(&tally, "dsl_examples");
	check_folder(&tally, "tests/programs");
	dup2(kept, STDERR_FILENO);
	close(kept);
	close(file);
	unlink(path);
	printf("%d passed, %d failed\n", tally.passed, tally.failed);
	return tally.failed || !tally.passed;
}
