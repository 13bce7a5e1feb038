/* SPDX-License-Identifier: MIT
 *
 * Which thread runs a piece of a generated kernel, and how many there are: of the OpenMP that the kernel is compiled
 * with, which need not be the runtime's own; one where it is compiled without. Included by pmgrt_math.h; C11. */
#ifndef PMGRT_THREAD_H
#define PMGRT_THREAD_H

#include <stdint.h>

#ifndef __cplusplus
#ifdef _OPENMP
#include <omp.h>
#define pmg_thread() ((int64_t) omp_get_thread_num())
#define pmg_threads() ((int64_t) omp_get_num_threads())
#else
#define pmg_thread() ((int64_t) 0)
#define pmg_threads() ((int64_t) 1)
#endif
#endif

#endif
