/* SPDX-License-Identifier: MIT
 *
 * A volume of random programs of one kind, a part of it at a time. */
#ifndef PMGC_TESTS_RANDOM_VOLUME_H
#define PMGC_TESTS_RANDOM_VOLUME_H

#include "random/batch.h"

struct volume {
	const char *kind;               /* of programs, for generate.py */
	const char *program;            /* what runs it, for commands that repeat a failure */
	int count, long_count, draws;   /* programs, and draws of each */
	int batch;                      /* programs of one library */
	int first_row, n_rows;          /* of the table of variants: batches take them in turn */
	int rows, long_rows;            /* of these, so many for each batch */
	/* What checks a file at draws first..last; NULL: file_check. */
	enum outcome (*check)(const struct batch *batch, const char *path, long first, long last, struct tally *tally);
	int most_unknown;               /* in a thousand comparisons, so many may not be possible */
};

/* The programs that the arguments ask for; the exit status. */
int volume_main(const struct volume *volume, int argc, char **argv);

#endif
