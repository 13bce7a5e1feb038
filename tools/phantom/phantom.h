/* SPDX-License-Identifier: MIT
 *
 * Phantoms: made-up problems whose statistics are those of real ones, so that everything can be tried, tested
 * and measured without patients' data.
 *
 * A LiFE phantom is the system y = M w of a connectome, M in ENCODE's form: the sparse tensor PHI over (atom,
 * voxel, fiber) and the dictionary D, so that M w at (voxel, theta) is the sum of D[atom, theta] * value *
 * w[fiber] over the coefficients of the voxel (Caiafa and Pestilli 2017). The problem is a function of the
 * options alone: neither the number of threads nor the run changes a bit of it. */
#ifndef TOOLS_PHANTOM_PHANTOM_H
#define TOOLS_PHANTOM_PHANTOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "pmgrt.h"

/* ---- options.c ------------------------------------------------------------- */

/* One member for each row of options.def. */
struct life_phantom_options {
#define INTEGER(scope, member, name, letter, initial, low, high, operand, text) int64_t member;
#define REAL(scope, member, name, letter, initial, low, high, operand, text) double member;
#define FLAG(scope, member, name, letter, text) bool member;
#define TEXT(scope, member, name, letter, operand, text) const char *member;
#include "options.def"
#undef INTEGER
#undef REAL
#undef FLAG
#undef TEXT
};

enum phantom_option_kind { PHANTOM_INTEGER, PHANTOM_REAL, PHANTOM_FLAG, PHANTOM_TEXT };
enum phantom_option_scope {
	PHANTOM_PROBLEM,        /* decides what the problem is, and is recorded with it */
	PHANTOM_RUN             /* decides how the command runs */
};

struct phantom_option {
	enum phantom_option_kind kind;
	enum phantom_option_scope scope;
	const char *member, *name;
	char letter;            /* '\0': none */
	size_t offset;          /* in struct life_phantom_options */
	double initial, low, high;
	const char *operand, *text;
};

const struct phantom_option *phantom_option_table(size_t *n);
void life_phantom_options_default(struct life_phantom_options *options);

/* Reads "argv[1..]" over the defaults and completes the options. PMG_BAD_CALL: "error" says why. */
pmg_status life_phantom_options_parse(struct life_phantom_options *options, int argc, char **argv,
				      char *error, size_t size);
void life_phantom_options_help(FILE *stream);

/* Sets "scale" and "fibers" where they are 0; checks that each value is in its range. */
pmg_status life_phantom_options_complete(struct life_phantom_options *options, char *error, size_t size);

/* ---- life.c ------------------------------------------------------------------ */

/* Arrays are row-major. Coefficients are sorted by (atom, voxel, fiber), and no triple occurs twice. */
struct life_problem {
	int64_t n_atoms, n_voxels, n_fibers, n_theta, n_coeffs;
	int32_t *atom, *voxel, *fiber;  /* [n_coeffs], from 0 */
	double *value;                  /* [n_coeffs]: share of the fiber's nodes in the voxel, times S0 */
	double *D;                      /* [n_atoms, n_theta], mean of each row 0 */
	double *y;                      /* [n_voxels, n_theta]: M w_true plus noise, mean of each row 0 */
	double *w_true;                 /* [n_fibers]: 0 for fibers that are not in the brain */
	double *w;                      /* [n_fibers]: a start vector without zeros */
	double *S0;                     /* [n_voxels] */
	double *directions;             /* [n_theta, 3]: unit vectors of the gradients */
	int32_t *voxel_coords;          /* [n_voxels, 3], from 0, sorted lexicographically */
};

/* Makes the problem of completed options; on failure nothing is left allocated and "error" says why. */
pmg_status life_phantom_generate(const struct life_phantom_options *options, struct life_problem *problem,
				 char *error, size_t size);
void life_problem_free(struct life_problem *problem);

/* `pmg phantom life …`: argv[0] is "life"; the result is the exit status. */
int phantom_life_command(int argc, char **argv);

/* ---- statistics.c -------------------------------------------------------------- */

/* A pair is an (atom, voxel) that has a coefficient; quantiles are over voxels. */
struct life_statistics {
	int64_t n_pairs;
	double coeffs_per_pair;
	int32_t coeffs_q10, coeffs_q50, coeffs_q90, coeffs_q99, coeffs_max;
	int32_t pairs_q50, pairs_q90, pairs_max;
	double half_in_voxels;  /* the smallest share of the voxels that holds half of the coefficients */
};

pmg_status life_statistics_compute(const struct life_problem *problem, struct life_statistics *statistics,
				   char *error, size_t size);
void life_statistics_print(FILE *stream, const struct life_problem *problem,
			   const struct life_statistics *statistics);

/* ---- hdf5_file.c ----------------------------------------------------------------- */

/* The file is written beside "path" under another name and renamed when it is whole, so that "path" is the
 * old file or the new one, never a part. */
pmg_status life_problem_write(const struct life_problem *problem, const struct life_phantom_options *options,
			      const char *path, char *error, size_t size);

/* Whether a file can be made at "path", to be asked before the work is done. */
pmg_status life_problem_can_write(const char *path, char *error, size_t size);

#endif
