/* SPDX-License-Identifier: MIT
 *
 * Values that a plan keeps in fewer bits. Doubles as the upper half of their bits: 20 bits behind the point and the
 * exponent of a double, so that reading one is a shift and no conversion (relative error at most 2^-21). Indices in 16
 * bits where all that are possible fit, else in 32. Included by pmgrt_math.h; C11, C++ and CUDA. */
#ifndef PMGRT_STORAGE_H
#define PMGRT_STORAGE_H

#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define PMG_INLINE_STORAGE static inline __host__ __device__
#else
#define PMG_INLINE_STORAGE static inline
#endif

PMG_INLINE_STORAGE double pmg_f64_of_top(uint32_t top)
{
	uint64_t bits = (uint64_t) top << 32;
	double value;

	memcpy(&value, &bits, sizeof value);
	return value;
}

/* The nearest, of two the one whose last bit is 0; NaN stays NaN. */
PMG_INLINE_STORAGE uint32_t pmg_top_of_f64(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	if (value != value)
		return (uint32_t) (bits >> 32) | 0x00080000u;
	return (uint32_t) ((bits + 0x7fffffffu + ((bits >> 32) & 1)) >> 32);
}

#define PMG_NARROW_LIMIT 65536

/* Element i of an array of indices below `limit`. */
PMG_INLINE_STORAGE int64_t pmg_index_at(const void *indices, int64_t limit, int64_t i)
{
	return limit <= PMG_NARROW_LIMIT ? ((const uint16_t *) indices)[i] : ((const int32_t *) indices)[i];
}

#endif
