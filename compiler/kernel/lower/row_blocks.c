/* SPDX-License-Identifier: MIT
 *
 * The lengths of the blocks of a row: about equal, and none shorter than a vector. */
#include "kernel/lower/lower.h"

bool k_row_blocks(const struct k_row_limits *limits, int64_t length, int64_t size, struct k_row_blocks *blocks)
{
	int64_t shortest = limits->shortest/size, n = (length*size + limits->longest - 1)/limits->longest;

	blocks->length = ((length + n - 1)/n + shortest - 1)/shortest*shortest;
	blocks->rest = length % blocks->length;
	while (blocks->rest && blocks->rest < shortest && blocks->length > shortest) {
		blocks->length -= shortest;
		blocks->rest = length % blocks->length;
	}
	return !blocks->rest || blocks->rest >= shortest;
}
