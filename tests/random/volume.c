/* SPDX-License-Identifier: MIT
 *
 * Two batches run at a time, or one where the process is kept on one processor, or PMG_TEST_JOBS is 1. A program that
 * fails is told in one line, with the command that repeats it; but for PMG_TEST_LONG it is reduced by shrink.py as
 * well. */
#include "random/volume.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 2 };

struct worker {
	pid_t child;
	int pipe;
	struct batch batch;
};

static long min_long(long a, long b)
{
	return a < b ? a : b;
}

static bool is_long(void)
{
	return getenv("PMG_TEST_LONG");
}

/* Batch `number` of the seed, as far as its programs are asked for. Which rows of the table build it is the same in all
 * runs: some in turn, or of a long run fewer, so that there is time for more programs. */
static struct batch batch_of(const struct volume *volume, const struct batch *all, long number)
{
	struct batch batch = *all;
	const int n_rows = is_long() ? volume->long_rows : volume->rows;

	batch.first = number*volume->batch > all->first ? number*volume->batch : all->first;
	batch.count = min_long((number + 1)*volume->batch, all->first + all->count) - batch.first;
	for (int row = 0; row < 3; row++)
		batch.variants[row] = row < n_rows
				      ? volume->first_row + (int) ((n_rows*number + row) % volume->n_rows) : -1;
	return batch;
}

static void end_one(struct worker *workers, struct tally *sum)
{
	int status;
	pid_t child = wait(&status);
	struct tally tally;

	for (int w = 0; w < WORKERS; w++)
		if (workers[w].child == child) {
			workers[w].child = 0;
			tally = batch_end(&workers[w].batch, status, workers[w].pipe);
			tally_add(sum, &tally);
			return;
		}
}

static int n_workers(void)
{
	const char *jobs = getenv("PMG_TEST_JOBS");
	cpu_set_t processors;

	if (jobs && atoi(jobs) == 1)
		return 1;
	return sched_getaffinity(0, sizeof processors, &processors) == 0 && CPU_COUNT(&processors) == 1 ? 1 : WORKERS;
}

static struct worker *free_worker(struct worker *workers, struct tally *sum)
{
	for (;;) {
		for (int w = 0; w < n_workers(); w++)
			if (!workers[w].child)
				return &workers[w];
		end_one(workers, sum);
	}
}

static struct tally run_all(const struct volume *volume, const struct batch *all)
{
	struct worker workers[WORKERS] = { 0 };
	struct tally sum = { 0 };

	for (long number = all->first/volume->batch; number*volume->batch < all->first + all->count; number++) {
		struct worker *worker = free_worker(workers, &sum);

		worker->batch = batch_of(volume, all, number);
		worker->child = batch_start(&worker->batch, &worker->pipe);
		if (worker->child < 0)
			return (struct tally) { .failed = 1 };
	}
	for (int w = 0; w < WORKERS; w++)
		if (workers[w].child)
			end_one(workers, &sum), w = -1;
	return sum;
}

static int check_file(const struct batch *all, char **arguments)
{
	struct batch batch = *all;
	struct tally tally = { 0 };
	char *end;
	long first = strtol(arguments[1], &end, 10), last = *end == '-' ? atol(end + 1) : first;
	int variant = atoi(arguments[2]);
	enum outcome outcome;

	if (variant < 0 || variant >= n_variants_of_table())
		return OUTCOME_REFUSED;
	batch.variants[0] = variant;
	batch.variants[1] = batch.variants[2] = -1;
	outcome = batch_check(&batch, arguments[0], first, last, &tally);
	printf("%d passed, %d failed\n", tally.passed, tally.failed);
	return (int) outcome;
}

/* COUNT or FIRST-LAST. */
static void set_range(struct batch *all, const char *text)
{
	char *end;
	long number = strtol(text, &end, 10);

	all->first = *end == '-' ? number : 0;
	all->count = *end == '-' ? atol(end + 1) - number + 1 : number;
}

/* Threads that wait shall leave the processor to others: most of the time there are more of them than processors. This
 * is read when the program starts. */
static void wait_passively(char **arguments)
{
	if (getenv("OMP_WAIT_POLICY"))
		return;
	setenv("OMP_WAIT_POLICY", "passive", 1);
	execv("/proc/self/exe", arguments);
}

static void tell_items(const struct tally *tally)
{
	for (int i = 0; i < MOST_VERBS && tally->items[i].verb[0]; i++)
		printf("%s%s %d of %d", i ? ", " : "items that are not refused: ", tally->items[i].verb,
		       tally->items[i].kept, tally->items[i].asked);
	if (tally->items[0].verb[0])
		printf("\n");
}

/* What could not be compared is told; too much of it is a failure. */
static void tell_unknown(const struct volume *volume, struct tally *tally)
{
	for (int i = 0; i < MOST_UNKNOWN && tally->names[i].count; i++)
		printf("cannot run %s: %d\n", tally->names[i].name, tally->names[i].count);
	if (tally->unknown)
		printf("%d of %d comparisons cannot be made\n", tally->unknown, tally->unknown + tally->passed);
	if (1000L*tally->unknown > (long) volume->most_unknown*(tally->unknown + tally->passed)) {
		printf("more than %d in a thousand\n", volume->most_unknown);
		tally->failed++;
	}
}

int volume_main(const struct volume *volume, int argc, char **argv)
{
	struct batch all = { .build = getenv("BUILD") ? getenv("BUILD") : "build", .kind = volume->kind,
			     .program = volume->program, .shrinks = !is_long() && !volume->check,
			     .check = volume->check };
	struct tally tally;

	wait_passively(argv);
	if (argc == 4 && strstr(argv[1], ".pmg"))
		return check_file(&all, argv + 1);
	all.seed = argc > 1 ? atol(argv[1]) : 1;
	all.count = is_long() ? volume->long_count : volume->count;
	if (argc > 2)
		set_range(&all, argv[2]);
	all.draws = argc > 3 ? atol(argv[3]) : volume->draws;
	tally = run_all(volume, &all);
	tell_items(&tally);
	tell_unknown(volume, &tally);
	printf("%d programs of seed %ld from %ld\n%d passed, %d failed\n", tally.programs, all.seed, all.first,
	       tally.passed, tally.failed);
	return tally.failed || !tally.passed;
}
