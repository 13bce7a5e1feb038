/* SPDX-License-Identifier: MIT
 *
 * Hand-written CPU code for the two products of LiFE, y = M w ("DSC") and w = M' y ("WC"), M being the sparse
 * tensor PHI over (atom, voxel, fiber) and the dictionary D. The versions of K. Aggarwal's thesis (IISc 2020,
 * section 6.3.1), and the best that was found. They are what generated code is measured against.
 *
 * A call is one version of one product in one order of the coefficients and one partition of the work. All calls
 * of one context share the orders, which are made when the first call needs them. */
#ifndef BENCH_HANDTUNED_LIFE_CPU_H
#define BENCH_HANDTUNED_LIFE_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Row-major; coordinates from 0 and in their range. */
struct life_tensor {
	int64_t n_atoms, n_voxels, n_fibers, n_theta, n_coeffs;
	const int32_t *atom, *voxel, *fiber;
	const double *value;
	const double *D;        /* [n_atoms, n_theta] */
	const int32_t *coords;  /* [n_voxels, 3] places of voxels, not negative; NULL: unknown */
};

enum life_op { LIFE_DSC, LIFE_WC, LIFE_OPS };

/* The order of the coefficients, and who does what: threads take equally many coefficients, the same but cut where a
 * voxel ends (4.2.1.2), or equally many voxels or atoms. */
enum life_order { LIFE_UNSORTED, LIFE_BY_ATOM, LIFE_BY_VOXEL, LIFE_HYBRID, LIFE_ORDERS };
enum life_partition { LIFE_COEFF, LIFE_COEFF_EXCLUSIVE, LIFE_VOXEL, LIFE_ATOM, LIFE_PARTITIONS };

enum life_code {
	LIFE_NAIVE, LIFE_NAIVE_BLAS, LIFE_NAIVE_PAR, LIFE_OPT, LIFE_OPT_NOBLAS, LIFE_OPT_ATOMIC_NOBLAS,
	LIFE_BEST, LIFE_BEST_F32
};

struct life_version {
	const char *name, *sentence;
	enum life_code code;
	enum life_order order[LIFE_OPS];                /* those that it takes unless asked for others */
	enum life_partition partition[LIFE_OPS];
};

extern const struct life_version life_versions[];
extern const int n_life_versions;
const struct life_version *life_version_named(const char *name, size_t length);        /* NULL: none */
const char *life_order_name(enum life_order order);            /* "none", "atom", "voxel", "hybrid(voxel, atom)" */
const char *life_partition_name(enum life_partition partition);        /* "coeff", … */

struct life_cpu;        /* the context */
struct life_kernels;    /* code for one instruction set */

struct life_call {
	const struct life_version *version;
	enum life_op op;
	enum life_order order;
	enum life_partition partition;
	int threads;
	/* Set by life_call_prepare. */
	struct life_cpu *cpu;
	const struct life_kernels *kernels;
	const void *layout;
	int64_t *bounds;        /* [threads + 1] coefficients */
	bool is_exclusive;      /* a row of Y has one thread */
	void *scratch;
	size_t bytes;           /* of the layout and the scratch */
	double seconds;         /* that making the layout took */
};

/* The tensor stays the caller's and outlives the context; NULL: no memory. */
struct life_cpu *life_cpu_new(const struct life_tensor *tensor);
void life_cpu_free(struct life_cpu *cpu);

/* The instruction sets that this processor can run, best first: "v4", "v3", "v1"; NULL after the last. */
const char *life_cpu_isa(int i);

/* Makes ready what the fields before say; `isa` NULL: the best. False after `error` says why not. */
bool life_call_prepare(struct life_cpu *cpu, struct life_call *call, const char *isa, char *error, size_t size);
/* `in` and `out` are w and Y of DSC, Y and w of WC. */
void life_call_run(const struct life_call *call, const double *in, double *out);
void life_call_release(struct life_call *call);

#endif
