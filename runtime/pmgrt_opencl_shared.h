/* SPDX-License-Identifier: MIT
 *
 * What the host and kernels in OpenCL C both read and write; C11 and OpenCL C. */
#ifndef PMGRT_OPENCL_SHARED_H
#define PMGRT_OPENCL_SHARED_H

#include <stdint.h>

enum { PMG_OPENCL_MOST_PARTS = 1024 };

/* What work items have found of a sum, in 8 bytes, whatever its type; how many of them. */
typedef struct pmg_opencl_parts {
	double values[PMG_OPENCL_MOST_PARTS];
	int64_t n;
} pmg_opencl_parts;

typedef struct pmg_opencl_bad_pivot {
	int32_t is_claimed, elimination;
	int64_t row, system;
	double pivot;
} pmg_opencl_bad_pivot;

/* The first bad value: an index, which ends an execution, a pivot that is zero, which does, too, and one that is not
 * finite, of which the host knows whether that is an error. */
typedef struct pmg_opencl_bad_index {
	int32_t is_claimed, array;
	int64_t position, value;
	pmg_opencl_bad_pivot zero, infinite;
} pmg_opencl_bad_index;

/* Of an `iterate`: the iteration that runs, or would be next; whether `until` holds, or a value was bad. */
typedef struct pmg_opencl_loop {
	int64_t it, is_over;
} pmg_opencl_loop;

#endif
