/* SPDX-License-Identifier: MIT
 *
 * Blocks with the vectors of AVX-512, which have the width that is known when pmgrt.h is first read. */
#if defined __x86_64__ && defined __GNUC__ && !defined __clang__
#pragma GCC target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma")
#define BLOCK_BYTES 64
#define BLOCK_TESTS test_blocks_avx512
#include "runtime/block_cases.h"
#else
typedef int block_none;
#endif
