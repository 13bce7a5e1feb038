/* SPDX-License-Identifier: MIT
 *
 * The kernels for Hines and tridiagonal systems in one instruction set and precision. */
#ifndef BENCH_HANDTUNED_SYSTEMS_KERNELS_H
#define BENCH_HANDTUNED_SYSTEMS_KERNELS_H

#include "../systems.h"
#include "kernels.h"

typedef void system_kernel(const struct system_call *call, void *x);

/* By precision: [0] double, [1] float; NULL: there is none. */
struct system_kernels {
	const char *isa;
	system_kernel *flat[2], *interleaved[2], *transposed[2], *gathered[2], *masked[2];
	void (*stream)(int threads, int reads, int64_t n, bool streams, const double *const *from, double *x);
	void (*copy)(int threads, int arrays, int64_t n, bool streams, const double *const *from, double *const *to);
};

extern const struct system_kernels system_kernels_v1;
#ifdef __x86_64__
extern const struct system_kernels system_kernels_v3, system_kernels_v4;
#endif

/* ---- Within this folder ------------------------------------------------------------ */

#ifdef ISA
system_kernel ISA_NAME(system_flat_f64), ISA_NAME(system_interleaved_f64), ISA_NAME(system_transposed_f64),
	ISA_NAME(system_gathered_f64), ISA_NAME(system_masked_f64);
system_kernel ISA_NAME(system_flat_f32), ISA_NAME(system_interleaved_f32), ISA_NAME(system_gathered_f32),
	ISA_NAME(system_masked_f32);
void ISA_NAME(system_stream)(int threads, int reads, int64_t n, bool streams, const double *const *from, double *x);
void ISA_NAME(system_copy)(int threads, int arrays, int64_t n, bool streams, const double *const *from,
			   double *const *to);
#endif

#endif
