/* SPDX-License-Identifier: MIT
 *
 * The coefficients in the forms that the hand-written kernels want, made before anything is timed. */
#ifndef BENCH_HANDTUNED_LIFE_LAYOUT_H
#define BENCH_HANDTUNED_LIFE_LAYOUT_H

#include "life_cpu.h"

/* Of the original code: numbers from 1, all of them doubles. */
struct life_naive {
	int64_t n_voxels, n_fibers, n_theta, n_coeffs;
	double *atoms, *voxels, *fibers, *values;
	const double *D;
	size_t bytes;
	double seconds;
};

/* Of the thesis: integers, rows of D and Y as offsets that are multiplied already. */
struct life_opt {
	int64_t n_voxels, n_fibers, n_theta, n_coeffs;
	int32_t *row_of_D, *row_of_Y, *fiber;
	double *value;
	const double *D;
	size_t bytes;
	double seconds;
};

/* Voxel by voxel, those with coefficients only, neighbours in space close together; in a voxel, the coefficients of
 * one atom are one pair, and pairs with few of them come first. Fibers are numbered by their first use. */
struct life_best {
	int64_t n_voxels, n_fibers, n_theta, n_coeffs, n_used, n_pairs, n_empty, most_pairs;
	int32_t *used, *empty;          /* voxels with and without coefficients */
	uint32_t *first_pair;           /* [n_used + 1] */
	uint32_t *first_coeff;          /* [n_pairs + 1] */
	uint32_t *ones;                 /* [n_used] pairs of one coefficient, which are the first */
	uint16_t *atom;                 /* [n_pairs] */
	int32_t *fiber;                 /* new numbers */
	double *value;
	int32_t *old_fiber;             /* [n_fibers] by new number */
	int64_t n_chunks;
	int32_t *chunk;                 /* [n_chunks + 1] into `used` */
	double *D;                      /* rows padded with zeros to a multiple of `width` */
	float *D_f32;
	int64_t row, row_f32;           /* elements of a row of each */
	size_t bytes;
	double seconds;
};

enum { LIFE_AHEAD = 32 };                       /* coefficients before w is needed it is asked for */
enum { LIFE_ROW = 8, LIFE_ROW_F32 = 16 };       /* elements that rows are padded to: those of 64 bytes */

/* NULL: no memory, or what the numbers cannot hold (`error` says). All are freed by their function. */
struct life_naive *life_naive_new(const struct life_tensor *tensor, enum life_order order, char *error, size_t size);
struct life_opt *life_opt_new(const struct life_tensor *tensor, enum life_order order, char *error, size_t size);
struct life_best *life_best_new(const struct life_tensor *tensor, char *error, size_t size);
void life_naive_free(struct life_naive *layout);
void life_opt_free(struct life_opt *layout);
void life_best_free(struct life_best *layout);

/* order[i] = the coefficient at place i; to be freed, or NULL. */
int32_t *life_order(const struct life_tensor *tensor, enum life_order order);
/* The borders of `threads` parts of the sorted coefficients: threads + 1 numbers, to be freed, or NULL. */
int64_t *life_bounds(const struct life_tensor *tensor, enum life_partition partition, int threads);

/* 64-byte aligned memory, to be freed; NULL: none. */
void *life_memory(int64_t n, size_t element);
double life_now(void);

#endif
