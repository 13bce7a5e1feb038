/* SPDX-License-Identifier: MIT
 *
 * Included by what is generated for OpenMP, and by nothing else: what compilers need not tell of it. clang warns of
 * loops that it does not vectorise, which depends on its flags, and of conversions that it makes itself if a
 * work-shared loop with a step has constant bounds; gcc of comparisons that always give the same by their types, which
 * a program may have. */
#ifndef PMGRT_OPENMP_H
#define PMGRT_OPENMP_H

#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#pragma clang diagnostic ignored "-Wsign-conversion"
#elif defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wtype-limits"
#endif

#endif
