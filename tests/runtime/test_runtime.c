/* SPDX-License-Identifier: MIT
 *
 * The runtime through its public header, with pipelines written by hand. Every message is compared to the
 * letter. */
#include "runtime/check.h"

#include <stdio.h>

int main(void)
{
	static void (*const groups[])(struct tests *) = {
		test_math, test_buffers, test_sizes, test_bind, test_kinds, test_swap, test_aliasing,
		test_facts, test_trees, test_loop, test_state, test_memory, test_restructurings, test_live,
		test_team, test_tune, test_widths, test_wisdom, test_blas, test_asks, test_blocks, test_places,
		test_segment_order, test_segment_blocks, test_segment_arguments, test_forests, test_branches,
		test_chunks, test_pivots, test_reciprocals
	};
	struct tests tests = { 0, 0 };

	for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
		groups[i](&tests);
	printf("%d passed, %d failed\n", tests.passed, tests.failed);
	return tests.failed != 0;
}
