/* SPDX-License-Identifier: MIT
 *
 * SBBNNLS by hand, as the original has it (Caiafa and Pestilli 2017, external/bbnnls): the products are those of one
 * version of life_cpu.h, the vector operations calls of the BLAS, each thread on its share. The preconditioner is
 * multiplied into the coefficients once, before the first iteration. */
#ifndef BENCH_HANDTUNED_LIFE_SOLVER_H
#define BENCH_HANDTUNED_LIFE_SOLVER_H

#include "life_cpu.h"

struct life_solver;

/* Starts from weights 0. `tensor` and `y`, [n_voxels, n_theta], stay the caller's; `isa` NULL: the best. NULL after
 * `error` says why. */
struct life_solver *life_solver_new(const struct life_tensor *tensor, const double *y,
				    const struct life_version *version, int threads, const char *isa, char *error,
				    size_t size);
void life_solver_step(struct life_solver *solver);      /* one iteration */
double life_solver_objective(const struct life_solver *solver);
int64_t life_solver_live(const struct life_solver *solver);     /* weights above 0 */
double life_solver_seconds(const struct life_solver *solver);   /* that making the layouts took */
size_t life_solver_bytes(const struct life_solver *solver);     /* of them and the vectors */
void life_solver_free(struct life_solver *solver);

#endif
