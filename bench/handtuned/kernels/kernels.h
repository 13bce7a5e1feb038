/* SPDX-License-Identifier: MIT
 *
 * The hand-written kernels. The files of this folder are compiled once for each instruction set (ISA is v1, v3 or v4,
 * the levels of the x86-64 psABI); a table for each holds what they define. */
#ifndef BENCH_HANDTUNED_KERNELS_H
#define BENCH_HANDTUNED_KERNELS_H

#include "../blas.h"
#include "../life_layout.h"

/* What a kernel of a parallel version is told: thread i has the coefficients bounds[i] .. bounds[i+1]. */
struct life_share {
	int threads;
	const int64_t *bounds;
	bool is_exclusive;      /* a row of Y has one thread */
	const struct blas *blas;
	void *scratch;
};

struct life_kernels {
	const char *isa;
	void (*naive_dsc)(const struct life_naive *, const double *w, double *Y);
	void (*naive_wc)(const struct life_naive *, const double *Y, double *w);
	void (*naive_dsc_blas)(const struct life_naive *, const struct blas *, const double *w, double *Y);
	void (*naive_wc_blas)(const struct life_naive *, const struct blas *, const double *Y, double *w);
	void (*naive_dsc_par)(const struct life_naive *, const struct life_share *, const double *w, double *Y);
	void (*naive_wc_par)(const struct life_naive *, const struct life_share *, const double *Y, double *w);
	void (*opt_dsc)(const struct life_opt *, const struct life_share *, const double *w, double *Y);
	void (*opt_wc)(const struct life_opt *, const struct life_share *, const double *Y, double *w);
	void (*best_dsc)(const struct life_best *, const struct life_share *, const double *w, double *Y);
	void (*best_wc)(const struct life_best *, const struct life_share *, const double *Y, double *w);
	void (*best_dsc_f32)(const struct life_best *, const struct life_share *, const double *w, double *Y);
	void (*best_wc_f32)(const struct life_best *, const struct life_share *, const double *Y, double *w);
	/* Ceilings, on `threads` threads: one pass over arrays of n doubles; a number of flops, which is returned. */
	void (*triad)(int threads, int64_t n, double *a, const double *b, const double *c);
	void (*read)(int threads, int64_t n, const double *a);
	double (*fma_f64)(int threads);
	double (*fma_f32)(int threads);
};

extern const struct life_kernels life_kernels_v1;
#ifdef __x86_64__
extern const struct life_kernels life_kernels_v3, life_kernels_v4;
#endif

/* The best that this processor can run, or that of the name; NULL: none. life_cpu.c. */
const struct life_kernels *life_kernels_for(const char *isa);

/* Bytes of scratch that the best version needs. */
size_t life_best_scratch(const struct life_best *layout, int threads);

/* ---- Within this folder ------------------------------------------------------------ */

#ifdef ISA
#define ISA_JOIN(name, isa) name##_##isa
#define ISA_JOIN_EXPANDED(name, isa) ISA_JOIN(name, isa)
#define ISA_NAME(name) ISA_JOIN_EXPANDED(name, ISA)

void ISA_NAME(naive_dsc)(const struct life_naive *, const double *w, double *Y);
void ISA_NAME(naive_wc)(const struct life_naive *, const double *Y, double *w);
void ISA_NAME(naive_dsc_blas)(const struct life_naive *, const struct blas *, const double *w, double *Y);
void ISA_NAME(naive_wc_blas)(const struct life_naive *, const struct blas *, const double *Y, double *w);
void ISA_NAME(naive_dsc_par)(const struct life_naive *, const struct life_share *, const double *w, double *Y);
void ISA_NAME(naive_wc_par)(const struct life_naive *, const struct life_share *, const double *Y, double *w);
void ISA_NAME(opt_dsc)(const struct life_opt *, const struct life_share *, const double *w, double *Y);
void ISA_NAME(opt_wc)(const struct life_opt *, const struct life_share *, const double *Y, double *w);
void ISA_NAME(best_dsc)(const struct life_best *, const struct life_share *, const double *w, double *Y);
void ISA_NAME(best_wc)(const struct life_best *, const struct life_share *, const double *Y, double *w);
void ISA_NAME(best_dsc_f32)(const struct life_best *, const struct life_share *, const double *w, double *Y);
void ISA_NAME(best_wc_f32)(const struct life_best *, const struct life_share *, const double *Y, double *w);
void ISA_NAME(triad)(int threads, int64_t n, double *a, const double *b, const double *c);
void ISA_NAME(read)(int threads, int64_t n, const double *a);
double ISA_NAME(fma_f64)(int threads);
double ISA_NAME(fma_f32)(int threads);
#endif

#endif
