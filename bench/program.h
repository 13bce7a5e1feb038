/* SPDX-License-Identifier: MIT
 *
 * What families of `pmg bench` share about generated rows: options of `pmg run`, where programs are, and results in
 * memory that is aligned as that of hand-written code; and what papers have measured. */
#ifndef BENCH_PROGRAM_H
#define BENCH_PROGRAM_H

#include "bench.h"
#include "run/run.h"

/* Takes one option of `pmg run`; as `more` of struct command. */
int bench_take_option(struct run_values *run, struct arena *arena, char **arguments, int n, struct failure *failure);
/* The options in `text` of --flag, words that may be in single quotes, over those of `before`. */
bool bench_read_options(struct arena *arena, const char *flag, const char *text, const struct run_values *before,
			struct run_values *run, struct failure *failure);
/* Prints every decision, below the name of the version. */
void bench_explain(const struct session *s, const char *version, const char *options);
/* Is it NULL, or a level of hand-written code that this processor runs? */
bool bench_check_isa(const char *isa, struct failure *failure);
/* A file of the repository, where the programs are installed, built or started; NULL: none. */
const char *bench_find_file(struct arena *arena, const char *name, struct failure *failure);
/* As ndarray_new, 64-byte aligned; not cleared. */
bool aligned_array(struct ndarray *array, pmg_type type, int rank, const int64_t *shape, struct failure *failure);
/* As results_new, aligned; `*out` is the data of the last array that is written. */
bool bench_results(struct session *s, struct results *results, double **out, struct failure *failure);
/* What the pass chose; "" if it chose nothing. */
const char *bench_decision(const struct session *s, enum decision_kind first, enum decision_kind last);

/* What the plan has on a GPU, if it has anything. */
void record_device(struct record *record, const pmg_plan *plan);

/* ---- device.c ---- */

/* What `symbol` is in the kernels by hand of bench/handtuned/NAME.cu; NULL after a failure. */
void *device_library(struct arena *arena, const struct run_values *run, const char *name, const char *symbol,
		     struct failure *failure);

/* ---- paper.c ---- */

enum { PAPER_WORDS = 8 };

struct paper_row {
	const char *words[PAPER_WORDS];
	double number;                  /* the last of the words */
};

typedef VEC(struct paper_row) paper_row_list;

/* The rows of bench/papers/NAME: so many words each, with tabs between them. Lines that begin with # are comments. */
bool paper_read(struct arena *arena, const char *name, int n_words, paper_row_list *rows, struct failure *failure);

#endif
