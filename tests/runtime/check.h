/* SPDX-License-Identifier: MIT
 *
 * Counting of checks, and an allocator that counts, verifies and fails. A failed check is reported on the
 * standard error with its place; the program prints the totals. */
#ifndef TESTS_RUNTIME_CHECK_H
#define TESTS_RUNTIME_CHECK_H

#include "pmgrt_generated.h"

struct tests {
	int passed, failed;
};

#define CHECK(tests, condition) check((tests), (condition), __FILE__, __LINE__, #condition)
#define CHECK_FAILS(tests, status, context, wanted, message) \
	check_fails((tests), (status), (context), (wanted), (message), __FILE__, __LINE__)

void check(struct tests *tests, bool ok, const char *file, int line, const char *text);

/* That `status` is `wanted` and the message of the context is `message`, to the letter. */
void check_fails(struct tests *tests, pmg_status status, const pmg_context *context, pmg_status wanted,
		 const char *message, const char *file, int line);

/* A pipeline's `suits`, of one that is meant for no sizes. */
bool suits_none(const void *args);

/* Fails allocation number `fail_at` (from 1; 0: none). Blocks must be released with their size. */
struct counter {
	int n_allocated, n_live, fail_at;
	size_t live_bytes, most_bytes;
};

pmg_allocator counter_allocator(struct counter *counter);

void test_math(struct tests *tests);
void test_asks(struct tests *tests);
void test_blocks(struct tests *tests);
void test_blocks_baseline(struct tests *tests);
void test_blocks_avx2(struct tests *tests);         /* where the processor has it */
void test_blocks_avx512(struct tests *tests);
void test_places(struct tests *tests);
void test_segment_order(struct tests *tests);
void test_segment_blocks(struct tests *tests);
void test_segment_arguments(struct tests *tests);
void test_forests(struct tests *tests);
void test_branches(struct tests *tests);
void test_chunks(struct tests *tests);
void test_pivots(struct tests *tests);
void test_reciprocals(struct tests *tests);
void test_buffers(struct tests *tests);
void test_sizes(struct tests *tests);
void test_bind(struct tests *tests);
void test_kinds(struct tests *tests);
void test_swap(struct tests *tests);
void test_aliasing(struct tests *tests);
void test_facts(struct tests *tests);
void test_trees(struct tests *tests);
void test_loop(struct tests *tests);
void test_state(struct tests *tests);
void test_memory(struct tests *tests);
void test_restructurings(struct tests *tests);
void test_live(struct tests *tests);
void test_tune(struct tests *tests);
void test_team(struct tests *tests);
void test_widths(struct tests *tests);
void test_wisdom(struct tests *tests);
void test_blas(struct tests *tests);

#endif
