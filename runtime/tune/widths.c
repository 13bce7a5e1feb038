/* SPDX-License-Identifier: MIT
 *
 * How wide blocks had better be, for candidates that differ in nothing else. Narrow ones go through memory as fast, and
 * are not too few for the threads. Wide ones have more rows under way, which pays where the second caches of the cores
 * hold all of them; farther away, it is not the latency of quotients that is waited for. */
#include "plan/plan.h"

#include <unistd.h>

int32_t widths_lanes(const pmg_pipeline_desc *desc)
{
	int32_t lanes = 0;

	for (int32_t i = 0; i < desc->n_arrays; i++)
		if (argument_has_lanes(&desc->arrays[i]) && (lanes == 0 || desc->arrays[i].lanes < lanes))
			lanes = desc->arrays[i].lanes;
	return lanes;
}

static bool has_segments(const pmg_pipeline_desc *desc)
{
	bool has = false;

	for (int32_t i = 0; i < desc->n_arrays; i++)
		has |= argument_has_lanes(&desc->arrays[i]) && desc->arrays[i].segments >= 0;
	return has;
}

/* How many systems the arguments in blocks are of; 0: there are none, or all have segments. */
static int64_t systems_in_blocks(const pmg_pipeline_desc *desc, const int64_t *extents)
{
	for (int32_t i = 0; i < desc->n_arrays; i++)
		if (argument_has_lanes(&desc->arrays[i]) && desc->arrays[i].segments < 0)
			return extents[desc->arrays[i].first_extent];
	return 0;
}

/* How many lanes the busiest thread computes, those of the last block that no system has among them. */
static int64_t lanes_of_a_thread(int64_t systems, int32_t lanes, int32_t threads)
{
	return blocks_of(blocks_of(systems, lanes), threads) * lanes;
}

int64_t widths_near(int32_t threads)
{
#ifdef _SC_LEVEL2_CACHE_SIZE
	const int64_t bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
#else
	const int64_t bytes = 0;
#endif

	return (bytes > 0 ? bytes : PMG_SECOND_CACHE) * threads;
}

int32_t widths_best(const pmg_pipeline_desc *desc, const pmg_options *options, const int64_t *extents, int32_t threads,
		    int64_t near)
{
	const int64_t systems = systems_in_blocks(desc, extents), bytes = bytes_with_lanes(desc, extents);
	const int32_t first = widths_lanes(desc);
	int32_t least = first, most = first;

	for (int32_t i = 1; i < desc->n_candidates; i++) {
		const int32_t lanes = widths_lanes(desc->candidates[i]);

		least = lanes > 0 && lanes < least ? lanes : least;
		most = lanes > most ? lanes : most;
	}
	if (systems == 0)
		return first;
	/* A lane of a narrow block, whose rows wait for each other, takes up to a third longer. */
	if (3 * lanes_of_a_thread(systems, first, threads) > 4 * lanes_of_a_thread(systems, least, threads))
		return least;
	if (!options->in_blocks || has_segments(desc))
		return first;
	if (pmg_exceeds_caches(bytes))
		return least;
	/* What is deterministic does not depend on the number of threads, whose caches these are. */
	return !options->deterministic && pmg_fits_second_caches(bytes, near) &&
	       lanes_of_a_thread(systems, most, threads) == lanes_of_a_thread(systems, first, threads) ? most : first;
}
