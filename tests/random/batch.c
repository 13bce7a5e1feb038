/* SPDX-License-Identifier: MIT
 *
 * A batch is generated, built by each of its variants as one library, and run. When the batch as a whole does not
 * build or dies, each of its programs gets a process of its own, so that one program is to blame. */
#include "random/batch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 900 };

/* In pairs, one for each C compiler; the last two are for devices, that of CUDA emulated. Candidates, of which a plan
 * takes one, are compiled by the first row only: they multiply the time to compile. */
static const struct variant table[] = {
	{ .name = "gcc", .pmgc = "", .compiler = "gcc" },
	{ .name = "clang", .pmgc = "--candidates=1", .compiler = "clang" },
	{ .name = "gcc serial", .pmgc = "--parallel=off --vector=off --candidates=1", .compiler = "gcc" },
	{ .name = "clang isl", .pmgc = "--schedule=isl --candidates=1", .compiler = "clang" },
	{ .name = "gcc isl", .pmgc = "--schedule=isl --candidates=1", .compiler = "gcc" },
	{ .name = "clang textual", .pmgc = "--schedule=textual --candidates=1", .compiler = "clang" },
	{ .name = "gcc scalar", .pmgc = "--vector=off --columns=off --candidates=1", .compiler = "gcc" },
	{ .name = "clang serial", .pmgc = "--parallel=off --candidates=1", .compiler = "clang" },
	{ .name = "gcc blas", .pmgc = "--blas=on --candidates=1", .compiler = "gcc" },
	{ .name = "clang scalar", .pmgc = "--vector=off --candidates=1", .compiler = "clang" },
	{ .name = "cuda", .pmgc = "--candidates=1", .compiler = "device" },
	{ .name = "opencl", .pmgc = "", .compiler = "opencl" },
};

int n_variants_of_table(void)
{
	return (int) (sizeof table / sizeof table[0]);
}

int n_variants_of_processors(void)
{
	return n_variants_of_table() - 2;
}

struct variant variant_of_table(int number)
{
	return table[number];
}

/* ---- a file ---- */

/* What a program promises, by its name: generate.py. */
static enum agreement agreement_of(const struct module *module)
{
	return module->name[0] == 'x' ? AGREE_EXACTLY : module->name[0] == 's' ? AGREE_SINGLY : AGREE_CLOSELY;
}

static enum outcome run_draws(struct comparison *comparison, struct compilation *c, long first, long last)
{
	for (int m = 0; m < c->modules.n && compilation_find_pivots(c, c->modules.items[m]); m++)
		for (long draw = first; draw <= last; draw++) {
			const uint64_t seed = (uint64_t) (draw + 1009*m);

			comparison->is_wide = seed % 4 == 0;
			comparison_draw(comparison, c->modules.items[m], seed, agreement_of(c->modules.items[m]));
		}
	return comparison->failed ? OUTCOME_DIFFERS : OUTCOME_AGREES;
}

enum outcome file_check(const struct batch *batch, const char *path, long first, long last, struct tally *tally)
{
	char folder[] = "/tmp/pmg-random-XXXXXX";
	struct variant variants[3];
	struct comparison comparison = { .build = batch->build, .folder = mkdtemp(folder), .file = path,
					 .variants = variants };
	struct compilation *c = compilation_new();
	enum outcome outcome = OUTCOME_REFUSED;

	for (int v = 0; v < 3; v++)
		if (batch->variants[v] >= 0)
			variants[comparison.n_variants++] = table[batch->variants[v]];
	if (comparison_read(&comparison, c))
		outcome = comparison_compile(&comparison, tally->items);
	if (outcome == OUTCOME_AGREES)
		outcome = run_draws(&comparison, c, first, last);
	tally->passed += comparison.passed;
	tally->failed += comparison.failed;
	tally->programs += c->modules.n;
	compilation_free(c);
	run_command("rm -rf %s", comparison.folder);
	return outcome;
}

enum outcome batch_check(const struct batch *batch, const char *path, long first, long last, struct tally *tally)
{
	return (batch->check ? batch->check : file_check)(batch, path, first, last, tally);
}

/* ---- a batch ---- */

static bool generate(const struct batch *batch, const char *path)
{
	return run_command("${PYTHON:-/usr/bin/python3} tests/random/generate.py %ld %ld %ld %s > %s", batch->seed,
			   batch->count, batch->first, batch->kind, path);
}

static long first_draw(const struct batch *batch)
{
	return batch->seed*1000003 + batch->first*1009;
}

static void shrink(const struct batch *batch, const char *path)
{
	for (int v = 0; v < 3; v++)
		if (batch->variants[v] >= 0)
			run_command("${PYTHON:-/usr/bin/python3} tests/random/shrink.py %s %ld-%ld %d >&2", path,
				    first_draw(batch), first_draw(batch) + batch->draws - 1, batch->variants[v]);
}

/* One line for a program that fails. */
static void tell_program(const struct batch *batch, const char *what)
{
	fprintf(stderr, "FAILED program %ld of seed %ld (%s), %s: %s/%s %ld %ld-%ld\n", batch->first, batch->seed,
		batch->kind, what, batch->build, batch->program, batch->seed, batch->first, batch->first);
}

static struct tally batch_run(const struct batch *batch)
{
	char path[] = "/tmp/pmg-batch-XXXXXX.pmg";
	struct tally tally = { 0 };
	int file = mkstemps(path, 4);

	if (file < 0)
		return (struct tally) { .failed = 1 };
	close(file);
	if (!generate(batch, path) ||
	    batch_check(batch, path, first_draw(batch), first_draw(batch) + batch->draws - 1, &tally) != OUTCOME_AGREES)
		tally.failed += !tally.failed;
	if (tally.failed && batch->count == 1 && batch->shrinks)
		shrink(batch, path);
	unlink(path);
	if (tally.failed && batch->count == 1)
		tell_program(batch, "differs or is refused");
	return tally;
}

/* In the program if its lines are counted. */
extern void __gcov_init(void *) __attribute__((weak));

/* The end of a child, which runs nothing that is for the end of its parent; but counts of lines are written then. */
static void leave(int status)
{
	if (__gcov_init)
		exit(status);
	_exit(status);
}

pid_t batch_start(const struct batch *batch, int *pipe_end)
{
	int ends[2];
	pid_t child;

	if (pipe(ends))
		return -1;
	fflush(NULL);
	child = fork();
	if (!child) {
		struct tally tally;

		close(ends[0]);
		alarm(SECONDS);
		tally = batch_run(batch);
		leave(write(ends[1], &tally, sizeof tally) != sizeof tally);
	}
	close(ends[1]);
	*pipe_end = ends[0];
	return child;
}

static void blame_program(const struct batch *batch, int status)
{
	char path[64], what[32];

	snprintf(what, sizeof what, "status %d", status);
	tell_program(batch, what);
	snprintf(path, sizeof path, "/tmp/pmg-died-%ld-%ld.pmg", batch->seed, batch->first);
	if (batch->shrinks && generate(batch, path))
		shrink(batch, path);
	unlink(path);
}

void tally_add_unknown(struct tally *tally, const char *name, int count)
{
	tally->unknown += count;
	for (int i = 0; i < MOST_UNKNOWN; i++)
		if (!tally->names[i].count || !strncmp(tally->names[i].name, name, sizeof tally->names[i].name - 1)) {
			snprintf(tally->names[i].name, sizeof tally->names[i].name, "%s", name);
			tally->names[i].count += count;
			return;
		}
}

void tally_add(struct tally *sum, const struct tally *tally)
{
	for (int i = 0; i < MOST_UNKNOWN && tally->names[i].count; i++)
		tally_add_unknown(sum, tally->names[i].name, tally->names[i].count);
	sum->passed += tally->passed;
	sum->failed += tally->failed;
	sum->programs += tally->programs;
	for (int i = 0; i < MOST_VERBS && tally->items[i].verb[0]; i++)
		item_counts_add(sum->items, tally->items[i].verb, tally->items[i].asked, tally->items[i].kept);
}

static struct tally one_by_one(const struct batch *batch)
{
	struct tally sum = { 0 };

	for (long i = 0; i < batch->count; i++) {
		struct batch one = *batch;
		struct tally tally;
		int pipe_end, status;
		pid_t child;

		one.first = batch->first + i;
		one.count = 1;
		child = batch_start(&one, &pipe_end);
		waitpid(child, &status, 0);
		tally = batch_end(&one, status, pipe_end);
		tally_add(&sum, &tally);
	}
	return sum;
}

struct tally batch_end(const struct batch *batch, int status, int pipe_end)
{
	struct tally tally = { 0 };
	bool is_told = read(pipe_end, &tally, sizeof tally) == sizeof tally;

	close(pipe_end);
	if (is_told && !tally.failed)
		return tally;
	if (batch->count > 1)
		return one_by_one(batch);
	if (!is_told) {
		blame_program(batch, status);
		tally = (struct tally) { .failed = 1, .programs = 1 };
	}
	return tally;
}
