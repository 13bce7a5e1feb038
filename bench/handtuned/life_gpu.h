/* SPDX-License-Identifier: MIT
 *
 * Hand-written GPU code for the two products of LiFE, in CUDA C++ (life_gpu.cu), which nvcc compiles when `pmg bench`
 * runs: what generated kernels are measured against. This is all that the C side knows of it. */
#ifndef BENCH_HANDTUNED_LIFE_GPU_H
#define BENCH_HANDTUNED_LIFE_GPU_H

#include "life_cpu.h"

enum life_gpu_code {
	LIFE_GPU_REF, LIFE_GPU_PARTITIONED, LIFE_GPU_SHARED, LIFE_GPU_WARP, LIFE_GPU_WARPS, LIFE_GPU_REAL, LIFE_GPU_OPT,
	LIFE_GPU_OPT_CUT, LIFE_GPU_OPT_CUT_32, LIFE_GPU_SPARSE, LIFE_GPU_BEST, LIFE_GPU_BEST_TOP, LIFE_GPU_LANES,
	LIFE_GPU_LANES_TOP
};

struct life_gpu_state;

struct life_gpu_functions {
	const char *(*device_name)(void);       /* NULL: there is none */
	void *(*memory)(size_t bytes);          /* of the device; NULL: not to be had */
	void (*release)(void *memory);
	bool (*copy)(void *to, const void *from, size_t bytes); /* to, from or on the device */
	/* The coefficients in `order`, on the device; NULL after `error` says why not. */
	struct life_gpu_state *(*open)(const struct life_tensor *tensor, const int32_t *order, enum life_gpu_code code,
				       enum life_op op, char *error, size_t size);
	/* One product, waited for, from and to memory of the device, and its time there; false: CUDA failed. */
	bool (*run)(struct life_gpu_state *state, const double *in, double *out, double *seconds);
	void (*close)(struct life_gpu_state *state);
};

#define LIFE_GPU_SYMBOL "life_gpu_functions_of"
typedef const struct life_gpu_functions *(*life_gpu_entry)(void);

#endif
