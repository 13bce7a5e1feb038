/* SPDX-License-Identifier: MIT
 *
 * Blocks with the vectors that all processors have, and with those of the instruction sets that this one has. */
#define BLOCK_TESTS test_blocks_baseline
#include "runtime/block_cases.h"

void test_blocks(struct tests *tests)
{
	test_blocks_baseline(tests);
#if PMG_HAS_ISAS
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		test_blocks_avx2(tests);
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
	    __builtin_cpu_supports("avx512vl"))
		test_blocks_avx512(tests);
#endif
}
