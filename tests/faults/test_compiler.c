/* SPDX-License-Identifier: MIT
 *
 * Memory that runs out in the compiler: allocations of the arena fail in turn while examples and test programs are
 * compiled. Each time the compilation says so, nothing crashes, and isl, which tells on the standard error when its
 * objects outlive it, stays silent. Every third program is taken, and its first and last place where memory may run
 * out; with PMG_TEST_LONG each program and all places, of a program for which they take longer than SECONDS_LONG as
 * many as fit, evenly. Only with sanitizers: what is not given back is theirs to find. */
#include <isl/options.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "driver/pipeline.h"
#include "support/folder.h"

enum { PLACES = 2, SECONDS_LONG = 60 };

struct tally {
	int passed, failed;
	int program;                    /* of a folder, from 0 */
	size_t places, tried, all;      /* of a program, 0: as many as fit; of all programs */
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

/* And the seconds of a compilation that comes to its end. */
static size_t count_allocations(const char *path, double *seconds)
{
	struct compilation *c = compilation_new();
	clock_t start = clock();
	size_t n;

	c->arena.fail_at = SIZE_MAX;
	n = compile(c, path) ? SIZE_MAX - c->arena.fail_at : 0;
	compilation_free(c);
	*seconds = (double) (clock() - start)/CLOCKS_PER_SEC;
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
	double seconds;
	size_t n = count_allocations(path, &seconds), places = tally->places;

	check(tally, n, path, 0, "does not compile");
	if (!places)
		places = seconds*(double) n < 2*SECONDS_LONG ? n : (size_t) (2*SECONDS_LONG/seconds) + 2;
	for (size_t i = 0; n && i < places; i++)
		check_place(tally, path, 1 + i*(n - 1)/(places - 1));
	tally->tried += places;
	tally->all += n;
}

static void check_program_in_turn(const char *path, void *user)
{
	struct tally *tally = user;

	if (!tally->places || tally->program++ % 3 == 0)
		check_program(tally, path);
}

int main(void)
{
	struct tally tally = { .places = getenv("PMG_TEST_LONG") ? 0 : PLACES };
	char path[] = "/tmp/pmg-faults-XXXXXX";
	int kept = dup(STDERR_FILENO), file = mkstemp(path);

	if (file < 0 || !freopen(path, "w+", stderr))
		return 1;
	folder_each_program("dsl_examples", check_program_in_turn, &tally);
	folder_each_program("tests/programs", check_program_in_turn, &tally);
	dup2(kept, STDERR_FILENO);
	close(kept);
	close(file);
	unlink(path);
	printf("%zu of %zu allocations\n", tally.tried, tally.all);
	printf("%d passed, %d failed\n", tally.passed, tally.failed);
	return tally.failed || !tally.passed;
}
