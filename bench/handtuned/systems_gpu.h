/* SPDX-License-Identifier: MIT
 *
 * Hand-written GPU code for many tridiagonal or Hines systems, in CUDA C++ (tri_gpu.cu, hines_gpu.cu), which nvcc
 * compiles when `pmg bench` runs: the methods of Valero-Lara et al. (ICCS 2017; Oil & Gas Sci. Technol. 2018),
 * cuSPARSE, and the best that was found. This is all that the C side knows of it. */
#ifndef BENCH_HANDTUNED_SYSTEMS_GPU_H
#define BENCH_HANDTUNED_SYSTEMS_GPU_H

#include "systems.h"

enum systems_gpu_code {
	/* Both kinds of systems. */
	SYSTEMS_GPU_COPY,               /* solves nothing: moves what a solve moves, by the device's copy */
	SYSTEMS_GPU_CONVERT,            /* solves nothing: four arrays into the interleaved layout, and one back */
	/* Tridiagonal. */
	SYSTEMS_GPU_THOMAS, SYSTEMS_GPU_THOMAS_CP, SYSTEMS_GPU_THOMAS_NCP, SYSTEMS_GPU_THOMAS_REGISTERS,
	SYSTEMS_GPU_GTSV_STRIDED, SYSTEMS_GPU_GTSV_INTERLEAVED, SYSTEMS_GPU_HYBRID,
	/* Hines. */
	SYSTEMS_GPU_HINES_FLAT, SYSTEMS_GPU_HINES_INTERLEAVED, SYSTEMS_GPU_HINES_SHARED, SYSTEMS_GPU_HINES_LEVELS,
	SYSTEMS_GPU_HINES_REGISTERS, SYSTEMS_GPU_HINES_NODES, SYSTEMS_GPU_HINES_CHAINS, SYSTEMS_GPU_HINES_CHAINS_HELD,
	SYSTEMS_GPU_HINES_BEST
};

struct systems_gpu_method {
	const char *name;
	enum systems_gpu_code code;
	int variant;                    /* cuSPARSE's algorithm, rows of a lane, systems of a block; 0: a choice */
	int lanes;                      /* that share a system; 0: a choice */
	bool is_sorted;                 /* systems by their size */
};

enum { SYSTEMS_GPU_UPPER, SYSTEMS_GPU_LOWER, SYSTEMS_GPU_DIAG, SYSTEMS_GPU_RHS, SYSTEMS_GPU_X, SYSTEMS_GPU_ARRAYS };

struct systems_gpu;                     /* a batch on the device */
struct systems_gpu_state;

/* A method made ready for a batch. */
struct systems_gpu_call {
	struct systems_gpu_state *state;
	char layout[64];                /* what was chosen, in words */
	int levels;                     /* of an algorithm that works level by level; else 0 */
};

struct systems_gpu_functions {
	const char *(*device_name)(void);                       /* NULL: there is none */
	double (*copy_rate)(void);                              /* bytes read and written in a second */
	struct systems_gpu *(*open)(const struct system_batch *batch, char *error, size_t size);
	void *(*array)(struct systems_gpu *gpu, int which);     /* system after system, on the device */
	bool (*prepare)(struct systems_gpu *gpu, const struct systems_gpu_method *method,
			struct systems_gpu_call *call, char *error, size_t size);
	/* Results are NaN after it. */
	bool (*poison)(struct systems_gpu *gpu);
	/* Some 20 us of work, so that launches are not waited for in the time that counts. */
	bool (*busy)(void);
	/* One solve, waited for, and its time on the device. What it overwrites is brought back before that. */
	bool (*run)(struct systems_gpu *gpu, struct systems_gpu_call *call, double *seconds);
	/* The call may be NULL: fetches what is in the array X. */
	bool (*fetch)(struct systems_gpu *gpu, struct systems_gpu_call *call, void *x);
	void (*release)(struct systems_gpu_call *call);
	void (*close)(struct systems_gpu *gpu);
};

#define SYSTEMS_GPU_SYMBOL "systems_gpu_functions_of"
typedef const struct systems_gpu_functions *(*systems_gpu_entry)(void);

#endif
