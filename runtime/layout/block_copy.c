/* SPDX-License-Identifier: MIT
 *
 * Copies of blocks with the vectors of the instruction set that the runtime is compiled for, and the choice of the best
 * that the processor has. */
#define BLOCK_COPY block_copy_baseline
#include "layout/block_copy.h"

block_copier *block_copy_choose(void)
{
#if PMG_HAS_ISAS
	if (isa_is_there(2))
		return block_copy_avx512;
	if (isa_is_there(1))
		return block_copy_avx2;
#endif
	return block_copy_baseline;
}

void nontemporal_stores_end(void)
{
#ifdef __SSE2__
	__builtin_ia32_sfence();
#endif
}
