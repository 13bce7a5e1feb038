/* SPDX-License-Identifier: MIT
 *
 * Rows of accumulators for generated kernels: consecutive cells of a target as vectors that fill a register. A loop
 * over the vectors of a row has a constant number of iterations and is unrolled, so that each vector becomes a variable
 * of its own, and stays in its register as long as there are enough.
 *
 * A row of n cells, n at least a vector's lanes, has the vectors 0..PMG_VECTORS(type, n); the last one ends with the
 * row, and where n is no multiple of the lanes it overlaps the one before: both then hold the same sums.
 *
 * Included by pmgrt_math.h; C11 and C++ with the vector types of gcc and clang. */
#ifndef PMGRT_ROW_H
#define PMGRT_ROW_H

#include <stdint.h>

#ifndef __CUDACC__
#if defined(__AVX512F__)
#define PMG_VECTOR_BYTES 64
#elif defined(__AVX__)
#define PMG_VECTOR_BYTES 32
#else
#define PMG_VECTOR_BYTES 16
#endif

/* Vectors of each width; the cells are the same in memory, where a vector lies like its elements. */
#define PMG_VECTOR_TYPES(bytes) \
	typedef double pmg_vector_f64_##bytes __attribute__((vector_size(bytes))); \
	typedef float pmg_vector_f32_##bytes __attribute__((vector_size(bytes))); \
	typedef int64_t pmg_numbers_f64_##bytes __attribute__((vector_size(bytes))); \
	typedef int32_t pmg_numbers_f32_##bytes __attribute__((vector_size(bytes))); \
	typedef double pmg_cells_f64_##bytes __attribute__((vector_size(bytes), aligned(8), may_alias)); \
	typedef float pmg_cells_f32_##bytes __attribute__((vector_size(bytes), aligned(4), may_alias));
PMG_VECTOR_TYPES(16)
PMG_VECTOR_TYPES(32)
PMG_VECTOR_TYPES(64)

/* Those of the width that counts where they are used. */
#define PMG_OF_BYTES_(name, bytes) name##_##bytes
#define PMG_OF_BYTES(name, bytes) PMG_OF_BYTES_(name, bytes)
#define pmg_vector_f64 PMG_OF_BYTES(pmg_vector_f64, PMG_VECTOR_BYTES)
#define pmg_vector_f32 PMG_OF_BYTES(pmg_vector_f32, PMG_VECTOR_BYTES)
#define pmg_numbers_f64 PMG_OF_BYTES(pmg_numbers_f64, PMG_VECTOR_BYTES)
#define pmg_numbers_f32 PMG_OF_BYTES(pmg_numbers_f32, PMG_VECTOR_BYTES)
#define pmg_cells_f64 PMG_OF_BYTES(pmg_cells_f64, PMG_VECTOR_BYTES)
#define pmg_cells_f32 PMG_OF_BYTES(pmg_cells_f32, PMG_VECTOR_BYTES)

#define PMG_LANES(type) ((int64_t) (PMG_VECTOR_BYTES/sizeof(type)))
#define PMG_VECTORS(type, n) (((n) + PMG_LANES(type) - 1)/PMG_LANES(type))
/* The first cell of a vector. */
#define PMG_VECTOR_START(type, n, vector) \
	((vector)*PMG_LANES(type) <= (n) - PMG_LANES(type) ? (vector)*PMG_LANES(type) : (n) - PMG_LANES(type))

/* The value of a vector in lanes whose cells the vector before has not, zero in others: what is added for each cell
 * once. */
#define PMG_FIRST_2 0, 1
#define PMG_FIRST_4 PMG_FIRST_2, 2, 3
#define PMG_FIRST_8 PMG_FIRST_4, 4, 5, 6, 7
#define PMG_FIRST_16 PMG_FIRST_8, 8, 9, 10, 11, 12, 13, 14, 15
#define PMG_NUMBERS_F64_16 { PMG_FIRST_2 }
#define PMG_NUMBERS_F64_32 { PMG_FIRST_4 }
#define PMG_NUMBERS_F64_64 { PMG_FIRST_8 }
#define PMG_NUMBERS_F32_16 { PMG_FIRST_4 }
#define PMG_NUMBERS_F32_32 { PMG_FIRST_8 }
#define PMG_NUMBERS_F32_64 { PMG_FIRST_16 }
#define PMG_ONCE_(type, lane, numbers, n, vector, value) \
	((pmg_vector_##type) ((pmg_numbers_##type) (value) & \
			      ((pmg_numbers_##type) PMG_OF_BYTES(numbers, PMG_VECTOR_BYTES) >= \
			       (pmg_numbers_##type) { 0 } + \
			       (int) ((vector)*PMG_LANES(lane) - PMG_VECTOR_START(lane, n, vector)))))
#define PMG_ONCE_F64(n, vector, value) PMG_ONCE_(f64, double, PMG_NUMBERS_F64, n, vector, value)
#define PMG_ONCE_F32(n, vector, value) PMG_ONCE_(f32, float, PMG_NUMBERS_F32, n, vector, value)

/* Doubles that are kept as floats, or as the upper half of their bits (pmgrt_storage.h). */
typedef float pmg_cells_as_f32 __attribute__((vector_size(PMG_VECTOR_BYTES/2), aligned(4), may_alias));
typedef uint32_t pmg_cells_as_top __attribute__((vector_size(PMG_VECTOR_BYTES/2), aligned(4), may_alias));
typedef uint64_t pmg_vector_bits __attribute__((vector_size(PMG_VECTOR_BYTES)));

/* The vector that begins at a cell: to be read, and to be written. */
#define PMG_READ_F64(cell) (*(const pmg_cells_f64 *) &(cell))
#define PMG_READ_F32(cell) (*(const pmg_cells_f32 *) &(cell))
#define PMG_READ_F64_AS_F32(cell) __builtin_convertvector(*(const pmg_cells_as_f32 *) &(cell), pmg_vector_f64)
#define PMG_READ_F64_AS_TOP(cell) \
	((pmg_vector_f64) (__builtin_convertvector(*(const pmg_cells_as_top *) &(cell), pmg_vector_bits) << 32))
#define PMG_WRITE_F64(cell) (*(pmg_cells_f64 *) &(cell))
#define PMG_WRITE_F32(cell) (*(pmg_cells_f32 *) &(cell))

/* A vector of equal lanes: x - 0 is x, which 0 + x is not where x is -0, so that C compilers would have to add. */
#define PMG_FILL_F64(value) ((value) - (pmg_vector_f64) { 0 })
#define PMG_FILL_F32(value) ((value) - (pmg_vector_f32) { 0 })

/* Stores a vector non-temporally: to a row that begins with a cache line, in an array that is too large for them
 * (pmg_is_nontemporal). The barrier behind a parallel loop orders these writes as others, and the end of an
 * execution. */
#if defined(__clang__)
#define PMG_STREAM_F64(cell, value) __builtin_nontemporal_store(value, (pmg_vector_f64 *) &(cell))
#define PMG_STREAM_F32(cell, value) __builtin_nontemporal_store(value, (pmg_vector_f32 *) &(cell))
#elif defined(__SSE2__)
#define PMG_STREAM_F64_16(cell, value) __builtin_ia32_movntpd(&(cell), value)
#define PMG_STREAM_F32_16(cell, value) __builtin_ia32_movntps(&(cell), value)
#define PMG_STREAM_F64_32(cell, value) __builtin_ia32_movntpd256(&(cell), value)
#define PMG_STREAM_F32_32(cell, value) __builtin_ia32_movntps256(&(cell), value)
#define PMG_STREAM_F64_64(cell, value) __builtin_ia32_movntpd512(&(cell), value)
#define PMG_STREAM_F32_64(cell, value) __builtin_ia32_movntps512(&(cell), value)
#define PMG_STREAM_F64(cell, value) PMG_OF_BYTES(PMG_STREAM_F64, PMG_VECTOR_BYTES)(cell, value)
#define PMG_STREAM_F32(cell, value) PMG_OF_BYTES(PMG_STREAM_F32, PMG_VECTOR_BYTES)(cell, value)
#else
#define PMG_STREAM_F64(cell, value) (PMG_WRITE_F64(cell) = (value))
#define PMG_STREAM_F32(cell, value) (PMG_WRITE_F32(cell) = (value))
#endif

/* Doubles that are added to as floats: of so many lanes that they make a vector of floats. */
typedef double pmg_cells_wide __attribute__((vector_size(2*PMG_VECTOR_BYTES), aligned(8), may_alias));
typedef uint32_t pmg_cells_tops __attribute__((vector_size(PMG_VECTOR_BYTES), aligned(4), may_alias));
typedef uint64_t pmg_vector_wide_bits __attribute__((vector_size(2*PMG_VECTOR_BYTES)));
#define PMG_NARROW(doubles) __builtin_convertvector(doubles, pmg_vector_f32)
#define PMG_READ_F64_TO_F32(cell) PMG_NARROW(*(const pmg_cells_wide *) &(cell))
#define PMG_READ_F64_AS_F32_TO_F32(cell) PMG_READ_F32(cell)
#define PMG_READ_F64_AS_TOP_TO_F32(cell) \
	PMG_NARROW((pmg_cells_wide) \
		   (__builtin_convertvector(*(const pmg_cells_tops *) &(cell), pmg_vector_wide_bits) << 32))
#define PMG_WRITE_F64_TO_F32(cell) (*(pmg_cells_wide *) &(cell))
#define PMG_WIDEN(floats) __builtin_convertvector(floats, pmg_cells_wide)

/* The sum of the lanes of two vectors, by halves down to 16 bytes. */
#define PMG_PART_(type, sums, i) (((const pmg_cells_##type##_16 *) (sums))[i])
#define PMG_PAIR_(type, sums, i, n) (PMG_PART_(type, sums, i) + PMG_PART_(type, sums, (i) + (n)))
#define PMG_FOLD_16(type, sums) PMG_PAIR_(type, sums, 0, 1)
#define PMG_FOLD_32(type, sums) (PMG_PAIR_(type, sums, 0, 2) + PMG_PAIR_(type, sums, 1, 2))
#define PMG_FOLD_64(type, sums) \
	((PMG_PAIR_(type, sums, 0, 4) + PMG_PAIR_(type, sums, 2, 4)) + \
	 (PMG_PAIR_(type, sums, 1, 4) + PMG_PAIR_(type, sums, 3, 4)))
#define PMG_FOLD(type, sums) PMG_OF_BYTES(PMG_FOLD, PMG_VECTOR_BYTES)(type, sums)
#define PMG_SUM_F64(sums) (PMG_FOLD(f64, sums)[0] + PMG_FOLD(f64, sums)[1])
#define PMG_SUM_F32(sums) \
	((PMG_FOLD(f32, sums)[0] + PMG_FOLD(f32, sums)[2]) + (PMG_FOLD(f32, sums)[1] + PMG_FOLD(f32, sums)[3]))

/* Several such sums at once, of one vector each: dots[i] is the sum of the lanes of sums[i]. Folded to 16 bytes, the
 * vectors are transposed, so that one addition adds for all of them. */
#define PMG_DOTS 4
#define PMG_NO_DOTS { { 0 }, { 0 }, { 0 }, { 0 } }
#define PMG_UP_TO(i, last) ((i) < (last) ? (i) : (last))
#define PMG_FOLD_ONE_16(type, sums) PMG_PART_(type, sums, 0)
#define PMG_FOLD_ONE_32(type, sums) PMG_PAIR_(type, sums, 0, 1)
#define PMG_FOLD_ONE_64(type, sums) (PMG_PAIR_(type, sums, 0, 2) + PMG_PAIR_(type, sums, 1, 2))
#define PMG_FOLD_ONE(type, sums) PMG_OF_BYTES(PMG_FOLD_ONE, PMG_VECTOR_BYTES)(type, sums)
#define PMG_SUM_TWO_F64_(dots, a, b) \
	*(pmg_cells_f64_16 *) (dots) = (pmg_cells_f64_16) { (a)[0], (b)[0] } + (pmg_cells_f64_16) { (a)[1], (b)[1] }
#define PMG_SUM_DOTS_F64(dots, sums) \
	do { \
		const pmg_cells_f64_16 a_ = PMG_FOLD_ONE(f64, &(sums)[0]), b_ = PMG_FOLD_ONE(f64, &(sums)[1]); \
		const pmg_cells_f64_16 c_ = PMG_FOLD_ONE(f64, &(sums)[2]), d_ = PMG_FOLD_ONE(f64, &(sums)[3]); \
		PMG_SUM_TWO_F64_(dots, a_, b_); \
		PMG_SUM_TWO_F64_((dots) + 2, c_, d_); \
	} while (0)
#define PMG_LANE_(i) (pmg_cells_f32_16) { a_[i], b_[i], c_[i], d_[i] }
#define PMG_SUM_DOTS_F32(dots, sums) \
	do { \
		const pmg_cells_f32_16 a_ = PMG_FOLD_ONE(f32, &(sums)[0]), b_ = PMG_FOLD_ONE(f32, &(sums)[1]); \
		const pmg_cells_f32_16 c_ = PMG_FOLD_ONE(f32, &(sums)[2]), d_ = PMG_FOLD_ONE(f32, &(sums)[3]); \
		*(pmg_cells_f32_16 *) (dots) = (PMG_LANE_(0) + PMG_LANE_(2)) + (PMG_LANE_(1) + PMG_LANE_(3)); \
	} while (0)

/* So many iterations add to a row that takes more registers than there are, in blocks, after each other. */
#define PMG_DEFERRED 256

/* Above a loop that is to be unrolled wholly. */
#ifdef __clang__
#define PMG_UNROLL _Pragma("clang loop unroll(full)")
#else
#define PMG_UNROLL _Pragma("GCC unroll 64")
#endif
#endif

#endif
