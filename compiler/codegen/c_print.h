/* SPDX-License-Identifier: MIT
 *
 * The kernel tree as C text. A printer is total and decides nothing; the lines have the places of their nodes. */
#ifndef PMGC_CODEGEN_C_PRINT_H
#define PMGC_CODEGEN_C_PRINT_H

#include "kernel/kernel.h"

enum c_spelling {
	C_SPELLING_OPENMP,              /* C11: restrict, const */
	C_SPELLING_CUDA,                /* C++: __restrict__, constexpr, __global__ */
	C_SPELLING_OPENCL               /* OpenCL C: global buffers, kernel */
};

void c_print_block(struct writer *w, const struct k_block *block, enum c_spelling spelling);
void c_print_function(struct writer *w, const struct k_function *function, enum c_spelling spelling);
/* "const double *restrict x"; in OpenCL a pointer is one to a buffer. */
const char *c_declaration(struct arena *arena, const struct k_type *type, const char *name, enum c_spelling spelling);

/* cuda.c. An atomic store as the call of a function: pmg_cuda_atomic_add<double>(&x, value). */
const char *cuda_atomic_text(struct arena *arena, const struct k_store *store);

#endif
