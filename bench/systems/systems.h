/* SPDX-License-Identifier: MIT
 *
 * `pmg bench hines` and `pmg bench tri` in parts: batches of systems (batch.c), hand-written and generated rows
 * (rows.c, generated.c; gpu.c), what their results are checked against (check.c), tables and the papers' numbers
 * (report.c), and the command with its sweep over sizes (systems.c). Each size is a run of its own, with the stream
 * that bounds it as one of its rows. */
#ifndef BENCH_SYSTEMS_SYSTEMS_H
#define BENCH_SYSTEMS_SYSTEMS_H

#include "bench.h"
#include "handtuned/systems_gpu.h"
#include "phantom/systems.h"
#include "program.h"

/* What the command line says. `run` is first: generated rows take all options of `pmg run`. */
struct systems_values {
	struct run_values run;
	struct arena *arena;
	bool is_tri;
	const char *systems, *n, *trees, *lengths, *versions, *min_time, *json, *baseline, *clock, *isa, *precision;
	bool is_shared, is_many, has_algorithms;
	int64_t seed;
	word_list generated, held;      /* options of further generated rows */
	library_list libraries;         /* of all generated rows */
	const struct systems_gpu_functions *gpu;        /* hand-written kernels; NULL: on the processor */
	double copy_rate;               /* of the device: bytes in a second */
	const char *part;               /* seconds after which no case begins */
};

/* ---- batch.c: one size ---------------------------------------------------------------- */

struct systems_case {
	struct system_batch batch;
	const char *name, *op;          /* as recorded */
	const char *shape;              /* "small-low", "n=64" */
	int64_t *offset;
	int32_t *parent;
	struct ndarray upper, lower, diag, rhs, x; /* x: for rows that have none of their own */
	double tree_bytes;
	struct systems_gpu *gpu;        /* the batch on the device */
	const struct systems_gpu_functions *functions;  /* for it */
};

/* A number of rows, or the shape of a tree. */
bool systems_shape_parse(const struct systems_values *values, const char *text, struct tree_shape *shape,
			 struct failure *failure);
bool systems_case_open(const struct systems_values *values, const char *shape, int64_t n_systems,
		       struct systems_case *problem, struct failure *failure);
void systems_case_close(struct systems_case *problem);
double systems_case_bytes(const struct systems_case *problem); /* what a solve reads and writes at least */
/* As recorded, before the case is made. */
const char *systems_case_op(const struct systems_values *values);
const char *systems_case_name(const struct systems_values *values, const char *shape, int64_t n_systems);

/* ---- rows.c, generated.c ---------------------------------------------------------------- */

struct systems_row {
	struct row row;
	struct systems_case *problem;
	struct system_call call;        /* of hand-written code */
	struct systems_gpu_call on_gpu; /* of hand-written kernels */
	struct session session;         /* of generated code */
	struct results results;
	struct execution execution;
	bool is_generated, is_stream;
	bool is_foreign;                /* a library's: its errors are told, and no failure */
	bool is_copy;                   /* of arrays into blocks or, `out_of_blocks`, back, without a solve */
	bool out_of_blocks, as_it_lies; /* the second: what goes into blocks, in no other order */
	int64_t levels;                 /* of an algorithm that works level by level, each with its rounding; else 0 */
	double *out;
	struct held_array *held;        /* arrays of generated code that the caller holds in blocks; NULL: flat */
	int n_held;
	const pmg_buffer **to, **from;  /* room for one of each of them */
};

typedef VEC(struct systems_row *) systems_row_list;

/* Is there each version that is named, and the baseline among them? */
bool systems_versions_check(const struct systems_values *values, struct failure *failure);
/* Adds the rows that values.versions asks for; those that cannot be are told on the standard error. */
bool systems_rows_add(struct systems_values *values, struct systems_case *problem, systems_row_list *rows,
		      struct failure *failure);
void systems_row_free(const struct systems_values *values, struct systems_row *row);
bool systems_row_generated(struct systems_values *values, struct systems_case *problem, const char *version,
			   const char *options, systems_row_list *rows, struct failure *failure);
void systems_generated_free(struct systems_row *row);
/* Brings a result that is held in blocks to row->out. */
bool systems_generated_fetch(struct systems_row *row, struct failure *failure);
/* What a copy reads and writes. */
double systems_copy_bytes(const struct systems_row *row);

/* ---- gpu.c ---------------------------------------------------------------------------------- */

bool systems_is_on_gpu(const struct systems_values *values);
/* Compiles and loads the kernels, and measures the device's copy; nothing on the processor. */
bool systems_gpu_open(struct systems_values *values, struct failure *failure);
const struct systems_gpu_method *systems_gpu_method_named(const struct systems_values *values, const char *name);
/* The i-th; NULL: there are no more. `is_usual`: it is measured where no versions are named. */
const char *systems_gpu_name(const struct systems_values *values, int i, bool *is_usual);
/* The batch to the device and from it. */
bool systems_gpu_case(struct systems_values *values, struct systems_case *problem, struct failure *failure);
/* A method that cannot be is told on the standard error if it `is_asked` for. */
bool systems_row_gpu(struct systems_values *values, struct systems_case *problem, const char *name, bool is_asked,
		     systems_row_list *rows, struct failure *failure);
/* Executions find arrays where they are on the device. */
void systems_gpu_bind(const struct systems_values *values, struct systems_row *row);
/* Runs once, with results that were NaN, into row->out. */
bool systems_gpu_result(const struct systems_values *values, struct systems_row *row, struct failure *failure);
void systems_gpu_free(const struct systems_values *values, struct systems_row *row);
void systems_gpu_print(const struct systems_case *problem, const row_list *rows, FILE *stream);

/* ---- check.c ------------------------------------------------------------------------------- */

/* Runs the row once; sets its error, against elimination in long double, and its backward error. */
bool systems_check(const struct systems_values *values, struct systems_row *row, struct failure *failure);

/* ---- operations.c --------------------------------------------------------------------------- */

/* Of one system of n rows; NaN: they are not known. */
double systems_operations(const char *algorithm, int64_t n);
/* log2 n, rounded up; 0 for elimination row by row. */
int64_t systems_levels(const char *algorithm, int64_t n);

/* ---- report.c ------------------------------------------------------------------------------- */

void systems_print(const struct systems_case *problem, const row_list *rows, FILE *stream);
bool systems_print_papers(struct arena *arena, const struct systems_case *problem, const row_list *rows, FILE *stream,
			  struct failure *failure);

#endif
