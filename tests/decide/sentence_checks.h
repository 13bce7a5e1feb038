/* SPDX-License-Identifier: MIT
 *
 * Checks of sentences, each a function from a sentence to what the tree lacks, or NULL: sentences.c has the table. */
#ifndef TESTS_DECIDE_SENTENCE_CHECKS_H
#define TESTS_DECIDE_SENTENCE_CHECKS_H

#include "sentence_parts.h"

typedef const char *check_sentence(const struct sentence *s);

/* check_loops.c: how loops run */
check_sentence check_parallel, check_serial, check_atomic, check_private, check_parts, check_team, check_simd,
	       check_scalar, check_blocks, check_no_blocks, check_fused, check_interchanged, check_tiled,
	       check_unrolled,
	       check_row_by_row, check_once, check_joined, check_warp_loop, check_tree_by_tree, check_branches,
	       check_partition, check_elimination, check_chunks;

/* check_values.c: where values are, and what is called */
check_sentence check_inlined, check_in_register, check_in_row, check_variable, check_array, check_of_thread,
	       check_part, check_window, check_in_block_of, check_rows_at_a_time, check_cell, check_next_value,
	       check_in_place, check_copied, check_swapped, check_divided, check_reciprocal, check_added, check_called,
	       check_prefetch_of_rows, check_prefetch_of_cells, check_nontemporal, check_pivot_search,
	       check_restructured, check_not_restructured, check_offsets, check_live, check_skipped;

/* check_blocks.c: what blocks of a device keep */
check_sentence check_border, check_team_of_block, check_own, check_of_block, check_room, check_lane_cell;
check_sentence check_block_size, check_quotients, check_barriers;

#endif
