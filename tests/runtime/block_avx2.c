/* SPDX-License-Identifier: MIT
 *
 * Blocks with the vectors of AVX2. */
#include "runtime/check.h"

#if PMG_HAS_ISAS
#pragma GCC target("avx2,fma")
#define BLOCK_TESTS test_blocks_avx2
#include "runtime/block_cases.h"
#endif
