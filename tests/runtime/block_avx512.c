/* SPDX-License-Identifier: MIT
 *
 * Blocks with the vectors of AVX-512. */
#include "runtime/check.h"

#if PMG_HAS_ISAS
#pragma GCC target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma")
#define BLOCK_TESTS test_blocks_avx512
#include "runtime/block_cases.h"
#endif
