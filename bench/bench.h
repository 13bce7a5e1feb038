/* SPDX-License-Identifier: MIT
 *
 * Measuring: rows of a table are ways to compute the same, run in turns in one process. A family (LiFE) makes rows and
 * says what they compute; all else is common: rounds and statistics (harness.c, statistics.c), ceilings of the machine
 * (ceilings.c), records as lines of JSON (record.c), the table (table.c), comparing two files (compare.c). */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "cli/cli.h"

/* ---- statistics.c -------------------------------------------------------------------- */

struct interval {
	double low, middle, high;
};

double median_of(double *times, int n); /* sorts; n > 0 */
/* The median, and the two order statistics that hold it in 95 of 100 cases; for fewer than 6 values all there are. */
struct interval median_interval(double *times, int n);
/* Of median(base) / median(times), from 1000 resamples. */
struct interval ratio_interval(struct arena *arena, const double *base, int n_base, const double *times, int n);

/* ---- record.c -------------------------------------------------------------------------- */

struct record {
#define TEXT(member, name) const char *member;
#define NUMBER(member, name) double member;
#include "record.def"
#undef TEXT
#undef NUMBER
};

typedef VEC(struct record) record_list;

struct record record_new(void);         /* all texts "", all numbers NaN */
void record_write(const struct record *record, FILE *stream);
/* Before the work, for records at its end; `*file` is NULL without a path. What is there stays until records_begin. */
bool records_open(FILE **file, const char *path, struct failure *failure);
bool records_begin(FILE *file, const char *path, struct failure *failure);
/* Were all of them written? */
bool records_close(FILE *file, const char *path, struct failure *failure);
/* A line for each record; a member that is missing is as in a new record, others are ignored. */
bool records_read(struct arena *arena, const char *path, record_list *records, struct failure *failure);

/* ---- harness.c --------------------------------------------------------------------------- */

struct row {
	struct record record;           /* what is known before anything runs */
	/* Runs once; `seconds` is what counts. */
	bool (*run)(void *state, double *seconds, struct failure *failure);
	void *state;
	int repeats;                    /* times that one run is done again, for what is short; 0: once */
	/* Set by measure(). */
	double *times;
	int n_times, capacity;
	double total;
};

typedef VEC(struct row *) row_list;

struct effort {
	double min_seconds;     /* of each row */
	int min_runs, max_runs;
	bool counts_processors;         /* seconds of the process by threads, instead of what passes */
	double warm_seconds;            /* of runs ahead of each one that counts: what fits in the caches is there */
};

/* From the texts of --min-time and --clock, or NULL. */
bool effort_read(const char *min_time, const char *clock, struct effort *effort, struct failure *failure);
/* Seconds that pass, or those of the process by the number of threads. */
double clock_seconds(bool counts_processors, double threads);
/* Fails: there is no version of that name `where`, but one like it, or these. */
bool version_is_unknown(const char *name, const char *where, const char *const *names, int n, struct failure *failure);
/* Rounds, each in a random order, of the rows that have not had enough; then the records have their times. */
bool measure(struct arena *arena, const row_list *rows, const struct effort *effort, struct failure *failure);
/* NULL: it is not among the rows. */
const struct row *find_baseline(const row_list *rows, const char *op, const char *baseline);
/* Fails: of what is measured, which are these versions, some more than once, none is called so. */
bool baseline_is_unknown(struct arena *arena, const char *baseline, const word_list *versions, struct failure *failure);
/* Sets the baseline's name and the ratios of all rows of its op. */
void relate(struct arena *arena, const row_list *rows, const char *baseline);
const char *machine_name(struct arena *arena);
const char *gpu_name(struct arena *arena);      /* of the first one, as its driver calls it */

/* ---- ceilings.c ----------------------------------------------------------------------------- */

struct ceilings {
	double triad[2], read[2];               /* bytes in a second, on one thread and on all */
	double fma_f64[2], fma_f32[2];          /* flops in a second */
};

bool ceilings_measure(struct ceilings *ceilings, int threads, const struct effort *effort, struct failure *failure);
void ceilings_print(const struct ceilings *ceilings, int threads, FILE *stream);

/* ---- table.c, compare.c ------------------------------------------------------------------------ */

void table_print(const row_list *rows, FILE *stream);
/* A line that says so where medians are far from the least times; nothing else. */
void disturbance_print(const row_list *rows, FILE *stream);
/* Prints faster, slower or same for each row that both files have. */
bool compare_files(struct arena *arena, const char *old_path, const char *new_path, struct failure *failure);

#endif
