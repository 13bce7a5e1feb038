/* SPDX-License-Identifier: MIT
 *
 * Memory policy: every threshold, distance and size by which the runtime and kernels decide where data are, what is
 * prefetched and what is stored non-temporally, each behind one function. One rule for prefetches: arrays that are
 * memory-resident. One for non-temporal stores: results that no cache keeps until they are read. No rule depends on the
 * kind of the processor. The figures that set each are in docs/bench.md, section "Memory policy".
 *
 * Included by generated kernels, the runtime and the compiler; C11 and C++. */
#ifndef PMG_MEMORY_POLICY_H
#define PMG_MEMORY_POLICY_H

#include <stdbool.h>
#include <stdint.h>

/* ---- The machine ---- */

enum {
	PMG_CACHE_LINE = 64,
	PMG_PAGE = 4096,                        /* prefetchers stop at its end */
	PMG_LARGE_PAGE = 1 << 21
};

/* ---- Where data are ---- */

/* An array of so many bytes is not in the caches when the next execution begins, or only in a last one that is shared:
 * requests for it are far enough under way to be worth a prefetch. */
static inline bool pmg_is_memory_resident(int64_t bytes)
{
	return bytes >= 4 << 20;
}

/* The same for flat lanes, if a block has so many bytes of them: the hardware prefetcher follows few of 16 lanes in
 * each array, so a prefetch of a short block pays from the last cache, too. */
static inline bool pmg_lanes_are_memory_resident(int64_t bytes, int64_t block)
{
	return block <= 1 << 15 ? bytes >= 1 << 20 : pmg_is_memory_resident(bytes);
}

/* No cache holds the arguments, not even the last one: blocks of one vector stream best. */
static inline bool pmg_exceeds_caches(int64_t bytes)
{
	return bytes >= 64 << 20;
}

/* The second caches hold the arguments, and what else they need: at seven eighths blocks of four vectors lose. */
static inline bool pmg_fits_second_caches(int64_t bytes, int64_t caches)
{
	return 4*bytes <= 3*caches;
}

/* Of a second cache, where the system does not tell. */
#define PMG_SECOND_CACHE ((int64_t) 256 << 10)

/* Elements that a loop of the runtime works on at a time: a few such blocks fit into the nearest cache. */
#define PMG_NEAREST_CACHE_ELEMENTS ((int64_t) 1024)

/* Elements of a block of a work-shared inner loop, which stays in the second cache while the outer loop repeats. */
#define PMG_SECOND_CACHE_ELEMENTS 16384

/* Bytes of a row of lanes of a block of systems: of one, two and four cache lines. */
enum { PMG_NARROW_LANES = 64, PMG_USUAL_LANES = 128, PMG_WIDE_LANES = 256 };

/* Blocks of this size begin with a large page, so that random access misses fewer entries of the page tables. */
static inline bool pmg_takes_large_pages(int64_t bytes)
{
	return bytes >= PMG_LARGE_PAGE;
}

/* ---- Prefetches, into the second cache ---- */

enum {
	PMG_PREFETCH_BLOCK = 40,        /* rows: of blocks that lie in memory */
	PMG_PREFETCH_WINDOW = 48,       /* rows: of lanes that a window copies */
	PMG_PREFETCH_COPY = 96,         /* rows: where they are only copied, which takes less time than a solve */
	PMG_PREFETCH_RUN = 96,          /* rows: of lanes in runs; more than a run, less than a block, has */
	PMG_PREFETCH_POINTS = 32,       /* cells by their numbers, in the order of points */
	PMG_RUN_BYTES = 256             /* of one lane in turn; runs of 64 to 2048 bytes take the same, within 5 % */
};

/* A block of so many bytes of an array finds room in the second cache beside the one before it, with those of some
 * other arrays: all of it is prefetched one block ahead. */
static inline bool pmg_prefetches_whole_block(int64_t bytes)
{
	return bytes <= 1 << 16;
}

/* A segment of so many bytes ends before the distance of a window is over, and most of its lines are parts. */
static inline bool pmg_segment_is_short(int64_t bytes)
{
	return bytes < 1024;
}

/* ---- Non-temporal stores ---- */

/* A result of so many bytes, or what is copied at a time with what it is of, is not kept until the next loop reads it.
 * Stored through the caches, each line is read before it is written. `are_whole`: what is written at a time begins and
 * ends with lines, or the parts of lines at its ends are few beside the rest. */
static inline bool pmg_uses_nontemporal(int64_t bytes, bool are_whole)
{
	return are_whole && bytes >= 16 << 20;
}

/* Bytes of a row that a copy writes non-temporally: several such rows fit into a buffer in the nearest cache. */
enum { PMG_MOST_NONTEMPORAL = 1024 };

/* The rows of a lane, which begin and end with a line or are many, written line by line. */
static inline bool pmg_lanes_are_whole_lines(int64_t rows, bool are_aligned)
{
	return are_aligned || rows >= 32;
}

/* The same for a copy, which writes runs of two lines, and has more ends. */
static inline bool pmg_copies_are_whole_lines(int64_t rows, bool are_aligned)
{
	return rows >= (are_aligned ? 32 : 64);
}

#endif
