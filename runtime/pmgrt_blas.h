/* SPDX-License-Identifier: MIT
 *
 * How generated kernels call the BLAS; included only by files that do, which are linked with -lopenblas or any other
 * CBLAS. Names and arguments are those of CBLAS, row-major, with sizes of 64 bits and a last argument: the number of
 * threads of the caller that share the work, 1 in a parallel region. The library itself runs with one thread then
 * (pmg_blas_library, which the runtime sets and sets back), so that its threads and OpenMP's do not multiply.
 *
 * A call computes what the loops beside it do, also for NaN and infinity: generated code asks pmg_blas_scales whether
 * alpha lets it and pmg_blas_takes_... whether sizes do, and what is set is not read. A library of 64-bit integers
 * wants -DPMG_BLAS_INT=int64_t. */
#ifndef PMGRT_BLAS_H
#define PMGRT_BLAS_H

#include "pmgrt.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef PMG_BLAS_INT
#define PMG_BLAS_INT int
#endif

typedef PMG_BLAS_INT pmg_blas_int;

enum { PMG_ROW_MAJOR = 101, PMG_NO_TRANS = 111, PMG_TRANS = 112, PMG_LOWER = 122 };

/* Products, of vectors and of matrices, for which one thread more pays. */
enum { PMG_BLAS_SHARE_2 = 1 << 13, PMG_BLAS_SHARE_3 = 1 << 16 };

/* ---- Threads of the library ---- */

__attribute__((weak)) int openblas_get_num_threads(void);
__attribute__((weak)) void openblas_set_num_threads(int threads);

static const pmg_blas pmg_blas_library = { openblas_get_num_threads, openblas_set_num_threads };

/* How many threads share the work, of which each gets `share` products. */
static inline int pmg_blas_parts(int threads, double work, int share)
{
	const double parts = 1 + work / share;

	return parts < threads ? (int) parts : threads;
}

/* Where the part begins of which `part` are to the left. */
static inline int64_t pmg_blas_cut(int64_t n, int part, int parts)
{
	return n / parts * part + n % parts * part / parts;
}

/* The same for the rows of a lower triangle. */
static inline int64_t pmg_blas_cut_triangle(int64_t n, int part, int parts)
{
	return part == parts ? n : (int64_t) ((double) n * sqrt((double) part / parts));
}

/* ---- Whether a call is made ---- */

static inline bool pmg_blas_fits(int64_t a, int64_t b, int64_t c)
{
	const int64_t limit = sizeof(pmg_blas_int) == 4 ? INT32_MAX : INT64_MAX;

	return a >= 1 && b >= 1 && c >= 1 && a <= limit && b <= limit && c <= limit;
}

/* Sizes and strides of a call fit the library, and the work is at least `least`. */
static inline bool pmg_blas_takes_1(int64_t least, int64_t n, int64_t incx, int64_t incy)
{
	return n >= least && pmg_blas_fits(n, incx, incy);
}

static inline bool pmg_blas_takes_2(int64_t least, int64_t m, int64_t n, int64_t lda, int64_t incx, int64_t incy)
{
	return (double) m * (double) n >= (double) least && pmg_blas_fits(m, n, lda) && pmg_blas_fits(1, incx, incy);
}

static inline bool pmg_blas_takes_3(int64_t least, int64_t m, int64_t n, int64_t k, int64_t lda, int64_t ldb,
				    int64_t ldc)
{
	return (double) m * (double) n * (double) k >= (double) least && pmg_blas_fits(m, n, k) &&
	       pmg_blas_fits(lda, ldb, ldc);
}

/* Whether a library may multiply by alpha at any place of a product: it leaves out what it multiplies by zero, and the
 * order matters where alpha is infinite or NaN. */
static inline bool pmg_blas_scales(double alpha)
{
	return alpha != 0 && isfinite(alpha);
}

/* ---- Calls ---- */

#define PMG_REAL double
#define PMG_BLAS(name) cblas_d##name
#define PMG_CALL(name) pmg_cblas_d##name
#include "pmgrt_blas_real.h"
#undef PMG_REAL
#undef PMG_BLAS
#undef PMG_CALL

#define PMG_REAL float
#define PMG_BLAS(name) cblas_s##name
#define PMG_CALL(name) pmg_cblas_s##name
#include "pmgrt_blas_real.h"
#undef PMG_REAL
#undef PMG_BLAS
#undef PMG_CALL

#ifdef __cplusplus
}
#endif

#endif
