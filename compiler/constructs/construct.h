/* SPDX-License-Identifier: MIT
 *
 * Constructs. A construct is a signature and an expansion: text in the language itself, which a user could have
 * written, and which is then parsed and lowered like everything else. No other part of the compiler knows any
 * construct by name: constructs.def lists them, and sema calls through the table.
 *
 * Names in an expansion: those of the arguments as given in `construct_arg.name`, `result` for the target, and new
 * ones, which are local to the expansion. Its spans are those of the call.
 *
 * To add one: a file beside this one with two functions, and a row in constructs.def (docs/constructs.md). */
#ifndef PMGC_CONSTRUCTS_CONSTRUCT_H
#define PMGC_CONSTRUCTS_CONSTRUCT_H

#include "support/support.h"

/* A declared object, `PHI_Tensor<f64>(nCoeffs; atom < nAtoms, voxel < nVoxels)` or `Forest(nSystems, nTotal)`. */
struct object {
	const struct construct *construct;
	const char *name;                       /* "PHI" */
	struct span span;
	bool is_fixed;
	bool has_scalar;
	enum scalar_type scalar;                /* <f64> */
	VEC(const char *) args;                 /* texts of the arguments: "nCoeffs" */
	VEC(const char *) modes, mode_sizes;    /* "voxel", "nVoxels" */
};

enum construct_arg_kind { ARG_ARRAY, ARG_OBJECT, ARG_SCALAR };

struct construct_arg {
	enum construct_arg_kind kind;
	const char *name;                       /* to use in the expansion */
	struct span span;
	enum scalar_type type;
	int rank;                               /* ARRAY; extents as text: "nSystems + 1" */
	const char *extents[ARRAY_MAX_RANK];
	const char *limit;                      /* of offsets(n): "n"; NULL: it holds none */
	bool is_transposed;                     /* transpose(PHI) */
	const struct object *object;
};

struct construct_call {
	const struct construct *construct;
	struct span span;
	struct arena *arena;
	struct diags *diags;
	VEC(struct construct_arg) args;
	/* Filled by `signature`. */
	enum scalar_type result_type;
	int result_rank;
	const char *result_extents[ARRAY_MAX_RANK];
};

struct construct {
	const char *name;
	/* Of a declaration: checks it and writes the declarations of its members ("fixed in PHI.atom : …;"). NULL: it
	 * cannot be declared. */
	bool (*declare)(const struct object *object, struct arena *arena, struct diags *diags, struct str *text);
	/* Of a call: checks the arguments and fills in type and shape of the result. NULL: it cannot be called. */
	bool (*signature)(struct construct_call *call);
	/* The statements that define `result`. */
	void (*expand)(const struct construct_call *call, struct str *text);
};

const struct construct *construct_find(const char *name);
/* All names, for suggestions. */
int construct_names(const char **names, int max);

/* Helpers for signatures: report what is wrong at the argument and return false. */
bool construct_expect_count(const struct construct_call *call, int min, int max, const char *usage);
bool construct_expect_object(const struct construct_call *call, int arg, const char *kind, const char *declaration);
bool construct_expect_array(const struct construct_call *call, int arg, int min_rank, int max_rank);
/* Not a scalar, which has no extents that the others could be compared with; those of such arrays are `points`, as in
 * "s in 0..nSystems, i in 0..n". */
bool construct_expect_batch(const struct construct_call *call, int arg, int max_rank, const char *points);
/* Of this rank, above 1, the first dimension being that of systems, as in the argument `other` if it has this rank or
 * more; `rows`, the other extents of each, where they are known, else NULL. */
bool construct_expect_systems(const struct construct_call *call, int arg, int rank, int other, const char *rows);
/* A value for each of the `rows`, or, of rank 2, for those of each system. */
bool construct_expect_rows(const struct construct_call *call, int arg, int max_rank, const char *rows);
/* Right-hand sides, of the rank of a coefficient or with one more dimension. */
bool construct_expect_sides(const struct construct_call *call, int arg, int coefficient);
bool construct_expect_extent(const struct construct_call *call, int arg, int dim, const char *extent, const char *why);
/* Offsets into the first dimension of the argument `of`. */
bool construct_expect_offsets(const struct construct_call *call, int arg, int of);
/* f32 if one of the values from argument `first` on is, and none is f64; else f64. */
enum scalar_type construct_widest(const struct construct_call *call, int first);

#endif
