/* SPDX-License-Identifier: MIT
 *
 * Blocks with the vectors of AVX2, which have the width that is known when pmgrt.h is first read. */
#if defined __x86_64__ && defined __GNUC__ && !defined __clang__
#pragma GCC target("avx2,fma")
#define BLOCK_BYTES 32
#define BLOCK_TESTS test_blocks_avx2
#include "runtime/block_cases.h"
#else
typedef int block_none;
#endif
