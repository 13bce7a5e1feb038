/* SPDX-License-Identifier: MIT
 *
 * What kernels compute with: the arithmetic of the language (pmgrt_arithmetic.h), and what C compilers are told of
 * loops and threads. Included by pmgrt_generated.h; C11, C++ and CUDA. */
#ifndef PMGRT_MATH_H
#define PMGRT_MATH_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "pmgrt_storage.h"
#include "tune/memory_policy.h"

/* Compiled for the constants of each call. */
#define PMG_ALWAYS_INLINE static inline __attribute__((always_inline))

/* Asks for the cell of `array` that the point PMG_PREFETCH_POINTS behind this one will use. `index` is a 32-bit array
 * that an inspector has made, which may be read so far behind its end. */
#define PMG_PREFETCH(array, index, point) __builtin_prefetch(&(array)[(index)[(point) + PMG_PREFETCH_POINTS]])

/* The end of a shared loop of vectors. clang shares it as `i <= last`, which may never end where integers wrap, and
 * vectorises only what it can count: it is told that `last` is none of the largest numbers. */
#ifdef __clang__
#define PMG_END(n) ((int64_t) ((uint64_t) (n) << 8) >> 8)
#else
#define PMG_END(n) (n)
#endif

/* ---- Vector mathematics ----------------------------------------------------
 * glibc tells gcc of libmvec's vector functions only under -ffast-math. These redeclarations tell it always.
 * `const` means that errno is not looked at, without which gcc keeps the calls scalar. clang needs no
 * declaration, but -fveclib=libmvec -fno-math-errno. Errors are below 4 units in the last place. */

#if defined(__GLIBC__) && defined(__x86_64__) && !defined(__clang__) && !defined(__cplusplus)
#if __GLIBC_PREREQ(2, 22)
#define PMG_VECTOR(type, name, ...) __attribute__((const, simd("notinbranch"))) type name(__VA_ARGS__);
#define PMG_VECTOR_1(name) PMG_VECTOR(double, name, double) PMG_VECTOR(float, name##f, float)
#define PMG_VECTOR_2(name) PMG_VECTOR(double, name, double, double) PMG_VECTOR(float, name##f, float, float)
PMG_VECTOR_1(exp)
PMG_VECTOR_1(log)
PMG_VECTOR_1(sin)
PMG_VECTOR_1(cos)
PMG_VECTOR_2(pow)
__attribute__((const)) double sqrt(double);
__attribute__((const)) float sqrtf(float);
#if __GLIBC_PREREQ(2, 35)
PMG_VECTOR_1(tanh)
PMG_VECTOR_1(expm1)
#endif
#undef PMG_VECTOR_2
#undef PMG_VECTOR_1
#undef PMG_VECTOR
#endif
#endif

#include "pmgrt_arithmetic.h"

/* ---- Reductions of loops by threads and lanes ---------------------------------------------- */

#ifdef _OPENMP
#pragma omp declare reduction(pmg_min : float : omp_out = pmg_min_f32(omp_in, omp_out)) \
	initializer(omp_priv = INFINITY)
#pragma omp declare reduction(pmg_min : double : omp_out = pmg_min_f64(omp_in, omp_out)) \
	initializer(omp_priv = INFINITY)
#pragma omp declare reduction(pmg_max : float : omp_out = pmg_max_f32(omp_in, omp_out)) \
	initializer(omp_priv = -INFINITY)
#pragma omp declare reduction(pmg_max : double : omp_out = pmg_max_f64(omp_in, omp_out)) \
	initializer(omp_priv = -INFINITY)
#endif

/* ---- Atomic updates ------------------------------------------------------------------------
 * What `#pragma omp atomic` has no operator for: pmg_atomic_min_f64(&target, value), max and prod, by
 * compare and exchange. NaN propagates; a minimum that changes nothing writes nothing. Relaxed: the end of
 * the parallel region orders them before any read. */

#ifndef __CUDACC__
#define PMG_ATOMIC(operation, id, type, result) \
	PMG_INLINE void pmg_atomic_##operation##_##id(type *target, type value) \
	{ \
		type old, wanted; \
		__atomic_load(target, &old, __ATOMIC_RELAXED); \
		do { \
			wanted = (result); \
			if (wanted == old) \
				return; \
		} while (!__atomic_compare_exchange(target, &old, &wanted, false, \
						    __ATOMIC_RELAXED, __ATOMIC_RELAXED)); \
	}
#define PMG_ATOMIC_FLOAT(id, type) \
	PMG_ATOMIC(min, id, type, pmg_min_##id(old, value)) \
	PMG_ATOMIC(max, id, type, pmg_max_##id(old, value)) \
	PMG_ATOMIC(prod, id, type, old * value)
#define PMG_ATOMIC_INTEGER(id, type) \
	PMG_ATOMIC(min, id, type, pmg_min_##id(old, value)) \
	PMG_ATOMIC(max, id, type, pmg_max_##id(old, value)) \
	PMG_ATOMIC(prod, id, type, (type) ((uint64_t) old * (uint64_t) value))

PMG_FLOATS(PMG_ATOMIC_FLOAT)
PMG_INTEGERS(PMG_ATOMIC_INTEGER)
PMG_ATOMIC(min, bool, bool, old && value)
PMG_ATOMIC(max, bool, bool, old || value)
#endif

#include "pmgrt_row.h"
#include "pmgrt_block.h"
#include "pmgrt_ragged.h"
#include "pmgrt_thread.h"

#endif
