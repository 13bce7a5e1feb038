/* SPDX-License-Identifier: MIT
 *
 * `pmg bench life` in parts: the problem (problem.c), hand-written and generated rows (rows.c, generated.c), what their
 * results are checked against (check.c), what the problem asks of the machine (work.c), the whole solver on a GPU
 * (fit.c) and beside loops by hand (solvers.c), and the command (life.c) with its grid (grid.c). */
#ifndef BENCH_LIFE_LIFE_H
#define BENCH_LIFE_LIFE_H

#include "bench.h"
#include "handtuned/life_cpu.h"
#include "handtuned/life_gpu.h"
#include "program.h"

/* Fits must have the same objectives, but for rounding, in their first iterations. Later ones need not: the steps
 * amplify the last bits of sums. */
enum { LIFE_COMPARED = 30 };
#define LIFE_AGREEMENT 1e-9
#define LIFE_NEARNESS 1e-4  /* the same where precisions differ */

/* What the command line says. `run` is first: generated rows take all options of `pmg run`. */
struct life_values {
	struct run_values run;
	struct arena *arena;
	const struct life_gpu_functions *gpu;   /* with --target=cuda; else NULL */
	const char *scale, *jitter, *problem, *versions, *weights, *min_time, *json, *baseline, *cache;
	const char *op, *isa, *clock;
	int64_t ntheta, seed, grid_of_angles, iterations;
	word_list generated;            /* options of further generated rows */
	library_list libraries;         /* of generated rows and fits, but for those of solvers.c */
	bool grid, scaling, checks_only;
};

/* ---- problem.c ------------------------------------------------------------------------ */

struct life_case {
	struct life_tensor tensor;
	const char *name, *weights;     /* as recorded */
	struct ndarray atom, voxel, fiber, value, D, coords;
	struct ndarray w, Y;            /* the inputs of DSC and WC */
};

bool life_case_open(const struct life_values *values, struct life_case *problem, struct failure *failure);
void life_case_close(struct life_case *problem);
bool life_is_sparse(const struct life_case *problem);   /* some of its weights are zero, as was asked for */

/* ---- work.c ------------------------------------------------------------------------------ */

struct life_work {
	int64_t n_pairs;                /* (atom, voxel) with a coefficient */
	int64_t n_active;               /* those of them with a weight that is not zero */
	double flops, flops_merged[LIFE_OPS], bytes;
};

bool life_work_count(const struct life_case *problem, struct life_work *work, struct failure *failure);
/* Sets rates, and shares of the ceilings if there are any, of a measured record. */
void life_work_rate(const struct life_work *work, const struct ceilings *ceilings, struct record *record);

/* ---- check.c -------------------------------------------------------------------------------- */

struct life_reference {
	double *result[LIFE_OPS], *magnitude[LIFE_OPS];   /* of the naive version; sums of |terms| */
	double *terms[LIFE_OPS];                          /* number of terms of each voxel or fiber */
};

/* One product, by the code of the thesis as it was, in the order of the coefficients. */
bool life_naive_product(const struct life_case *problem, enum life_op op, const double *in, double *out,
			struct failure *failure);
bool life_reference_make(const struct life_case *problem, struct life_reference *reference,
			 struct failure *failure);
void life_reference_free(struct life_reference *reference);

/* ---- rows.c ------------------------------------------------------------------------------------ */

struct life_row {
	struct row row;
	enum life_op op;
	const struct life_case *problem;
	double *out;
	double product;                 /* of the result with the other op's input */
	struct life_call call;          /* of hand-written code */
	struct session session;         /* of generated code */
	struct results results;
	struct execution execution;
	bool is_generated;
	const struct life_gpu_functions *gpu;   /* of a row that runs on a GPU; else NULL */
	struct life_gpu_state *gpu_state;       /* of hand-written code */
	double *device_in, *device_out;
};

typedef VEC(struct life_row *) life_row_list;

/* Of generated rows, also of products that are not measured: are they all right? */
bool life_options_check(const struct life_values *values, struct failure *failure);
/* Adds the rows that values.versions asks for; those that cannot be are told on the standard error. */
bool life_rows_add(struct life_values *values, const struct life_case *problem, struct life_cpu *cpu,
		   life_row_list *rows, struct failure *failure);
bool life_row_hand(struct life_values *values, const struct life_case *problem, struct life_cpu *cpu,
		   const struct life_call *call, life_row_list *rows, struct failure *failure);
/* NAME or NAME@PARTITION+ORDER of hand-written code. */
bool life_row_named(struct life_values *values, const struct life_case *problem, struct life_cpu *cpu,
		    const char *name, enum life_op op, int64_t threads, life_row_list *rows,
		    struct failure *failure);
void life_row_free(struct life_row *row);
int64_t life_out_count(const struct life_case *problem, enum life_op op);
bool life_version_unknown(const char *name, struct failure *failure);     /* false after fail() */
const char *life_op_name(enum life_op op);
bool life_op_wanted(const struct life_values *values, enum life_op op);

/* ---- generated.c ---------------------------------------------------------------------------------- */
bool life_row_generated(struct life_values *values, const struct life_case *problem, enum life_op op,
			const char *options, life_row_list *rows, struct failure *failure);
/* The places of voxels, where the problem has them. */
bool life_bind_places(struct session *s, const struct life_case *problem, struct failure *failure);
void life_generated_free(struct life_row *row);
/* How D is kept, by what the options say. */
const char *life_precision(const char *options);
/* Takes one option of `pmg run`; as `more` of struct command. */
int life_take_option(void *values, char **arguments, int n, struct failure *failure);

/* Runs the row once and compares its result; sets error, bound and product. */
bool life_check_row(const struct life_reference *reference, struct life_row *row, struct failure *failure);
/* Sets `adjoint` of the rows whose version has both ops. */
void life_check_adjoint(const life_row_list *rows);

/* ---- gpu.c ------------------------------------------------------------------------------------------- */
bool life_is_on_gpu(const struct life_values *values);
/* Compiles and loads the hand-written code, if there are to be rows on a GPU. */
bool life_gpu_open(struct life_values *values, struct failure *failure);
const char *life_gpu_version(int i);    /* names of hand-written code; NULL after the last */
bool life_gpu_has_version(const char *name, struct failure *failure);
bool life_row_gpu(struct life_values *values, const struct life_case *problem, const char *name, enum life_op op,
		  life_row_list *rows, struct failure *failure);
/* The vectors of a row on the device; its result there from row->out or back, nothing for other rows. */
bool life_gpu_vectors(struct life_row *row, const struct life_gpu_functions *gpu, struct failure *failure);
bool life_gpu_store(struct life_row *row);
bool life_gpu_fetch(struct life_row *row);
void life_gpu_free(struct life_row *row);

/* ---- fit.c, solvers.c --------------------------------------------------------------------------------- */
/* --op=fit: measures, checks and prints; adds its records. */
bool life_fit(struct life_values *values, const struct life_case *problem, record_list *records,
	      struct failure *failure);
/* The same on processors, beside loops by hand. */
bool life_solvers(struct life_values *values, const struct life_case *problem, bool counts_processors,
		  record_list *records, struct failure *failure);

/* ---- grid.c ----------------------------------------------------------------------------------------- */
bool life_scaling_add(struct life_values *values, const struct life_case *problem, struct life_cpu *cpu,
		      life_row_list *rows, struct failure *failure);
bool life_grid_add(struct life_values *values, const struct life_case *problem, struct life_cpu *cpu,
		   life_row_list *rows, struct failure *failure);
bool life_grid_print(struct life_values *values, const life_row_list *rows, FILE *stream, struct failure *failure);

#endif
