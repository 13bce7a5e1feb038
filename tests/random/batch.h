/* SPDX-License-Identifier: MIT
 *
 * Random programs, some at a time, in a process of their own: a crash or an endless loop ends that process only. */
#ifndef PMGC_TESTS_RANDOM_BATCH_H
#define PMGC_TESTS_RANDOM_BATCH_H

#include <sys/types.h>

#include "random/build.h"

struct tally;

/* Programs first..first+count-1 of a seed, each on `draws` draws, built by some rows of the table of
 * variants (-1: none). */
struct batch {
	const char *build, *kind;       /* of programs, for generate.py */
	const char *program;            /* below `build`, which repeats one */
	long seed, first, count, draws;
	int variants[3];
	bool shrinks;                   /* reduces and prints what fails */
	/* What checks a file at draws first..last; NULL: file_check. */
	enum outcome (*check)(const struct batch *batch, const char *path, long first, long last, struct tally *tally);
};

enum { MOST_UNKNOWN = 16 };

/* What a comparison would have needed, and how often. */
struct unknown_name {
	char name[96];
	int count;
};

struct tally {
	int passed, failed, programs;
	struct item_count items[MOST_VERBS];
	int unknown;                    /* comparisons that could not be made */
	struct unknown_name names[MOST_UNKNOWN];
};

/* `count` comparisons that cannot be made for want of `name`. */
void tally_add_unknown(struct tally *tally, const char *name, int count);
void tally_add(struct tally *sum, const struct tally *tally);

struct variant variant_of_table(int number);
int n_variants_of_table(void);
/* But for the last, which is for a device. */
int n_variants_of_processors(void);

/* A file, at draws first..last, by the variants of `batch`. */
enum outcome file_check(const struct batch *batch, const char *path, long first, long last, struct tally *tally);
/* The same as the batch has it checked. */
enum outcome batch_check(const struct batch *batch, const char *path, long first, long last, struct tally *tally);

/* Starts a process for the batch; its tally is what `pipe` gives when it has ended. */
pid_t batch_start(const struct batch *batch, int *pipe);
/* The tally of a process that has ended; if it died or found failures, its programs get a process each. */
struct tally batch_end(const struct batch *batch, int status, int pipe);

#endif
