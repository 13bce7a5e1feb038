/* SPDX-License-Identifier: MIT
 *
 * Copies of blocks with the vectors of AVX-512. clang has no pragma that all functions of a file obey. */
#if defined __x86_64__ && defined __GNUC__ && !defined __clang__
#pragma GCC target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma")
#define BLOCK_COPY block_copy_avx512
#include "layout/block_copy.h"
#else
typedef int block_copy_none;
#endif
