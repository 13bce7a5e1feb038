/* SPDX-License-Identifier: MIT
 *
 * Hand-written CPU code for many Hines or tridiagonal systems: the methods of Valero-Lara et al. (ICCS 2017; Oil & Gas
 * Sci. Technol. 2018), LAPACK, and the best that was found. They are what generated code is measured against.
 *
 * A batch is what a caller has, system after system. Versions that need it in another way hold a copy, made when they
 * are prepared: `lanes` systems at a time with one row of them next to each other, systems of forests and of several
 * lengths sorted by size. All read their inputs only, so that they can run again. */
#ifndef BENCH_HANDTUNED_SYSTEMS_H
#define BENCH_HANDTUNED_SYSTEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "blas.h"

/* lower[i]*x[parent[i]] + diag[i]*x[i] + sum of upper[c]*x[c] over children c = rhs[i], or for a chain
 * lower[i]*x[i-1] + diag[i]*x[i] + upper[i]*x[i+1] = rhs[i]. */
struct system_batch {
	bool is_chain;
	bool is_shared;         /* upper and lower are [n], the same for all systems */
	bool is_single;         /* float; else double */
	bool has_one_tree;      /* parent is [n], the same for all systems; else [n_rows], local to each */
	int64_t n_systems, n;   /* n: rows of the longest */
	int64_t n_rows;         /* of all systems together */
	const int64_t *offset;  /* [n_systems + 1] */
	const int32_t *parent;  /* before its children; NULL for chains */
	const void *upper, *lower, *diag, *rhs;
};

enum system_code {
	SYSTEM_SEQUENTIAL, SYSTEM_MULTICORE, SYSTEM_GTSV, SYSTEM_PTSV, SYSTEM_TRANSPOSED, SYSTEM_INTERLEAVED,
	SYSTEM_GATHERED, SYSTEM_MASKED,
	SYSTEM_MOVED            /* solves nothing: moves what a solve by two loops moves */
};

struct system_version {
	const char *name, *sentence;
	enum system_code code;
	int lanes;              /* 0: works on the caller's arrays; else counted in doubles */
};

extern const struct system_version system_versions[];
extern const int n_system_versions;
const struct system_version *system_version_named(const char *name);    /* NULL: none */

/* A copy of a batch in blocks: value (row, lane) of block b is at (start[b] + row)*lanes + lane. Rows and lanes that no
 * system has are those of the unit matrix. */
struct system_blocks {
	int lanes;
	int64_t n_blocks, n;            /* n: most rows of a block */
	int64_t *start;                 /* [n_blocks + 1] */
	int64_t *system;                /* [n_blocks * lanes]; -1: none */
	bool is_borrowed;               /* upper and lower are the batch's */
	void *upper, *lower, *diag, *rhs, *x;
	/* Of forests: a parent for each lane; and for the lanes whose parent is not the row before, the lanes as bits
	 * and their parents one after the other, those of block b from link[b] on. */
	int32_t *parents;
	uint32_t *jumps;
	int32_t *links;
	int64_t *link;
};

/* What a row of the one tree asks for; rows are eliminated from the last to the first. */
enum {
	ROW_ROOT = 1,
	ROW_CHAIN = 2,          /* the parent is the row before */
	ROW_FIRST = 4,          /* not so, and it is the first to add to the parent */
	ROW_ADDED = 8,          /* rows that are not the next one add to this one */
	ROW_NEXT = 16           /* the next row's parent is this one */
};

struct system_kernels;

struct system_call {
	const struct system_version *version;
	const struct system_batch *batch;
	int threads;
	/* Set by system_call_prepare. */
	const struct system_kernels *kernels;
	struct system_blocks blocks;
	uint8_t *rows;          /* [n]: ROW_… */
	bool streams;           /* results go past the caches */
	struct lapack lapack;
	void *scratch;
	size_t scratch_bytes;   /* of each thread */
	size_t bytes;           /* of all that is held beside the batch */
	double seconds;         /* that making the copy took */
	double back_seconds;    /* that bringing results back takes */
};

/* Makes ready what the fields before say; `isa` NULL: the best. False after `error` says why not. */
bool system_call_prepare(struct system_call *call, const char *isa, char *error, size_t size);
/* Into x [n_rows], or, where the version has blocks, into those. */
void system_call_run(const struct system_call *call, void *x);
/* From the blocks into x [n_rows]; nothing for versions without. */
void system_call_fetch(struct system_call *call, void *x);
void system_call_release(struct system_call *call);
/* One pass over `n` doubles of each array: x = f(upper, lower, diag, rhs) with `reads` 4, of diag and rhs with 2. The
 * least traffic that a solve can have. x is 64-byte aligned. */
void system_stream(const char *isa, int threads, int reads, int64_t n, const double *const *from, double *x);
/* The first `n` doubles of each of so many arrays, as they lie, to others, which are 64-byte aligned: about what
 * it takes at the least to bring them into another order. */
void system_copy(const char *isa, int threads, int arrays, int64_t n, const double *const *from, double *const *to);

#endif
