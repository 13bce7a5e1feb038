/* SPDX-License-Identifier: MIT
 *
 * A pipeline with one restructuring, of which a test chooses size, keys, types and extras, and what its arrays must
 * be, by a naive sort. */
#ifndef TESTS_RUNTIME_RESTRUCTURE_H
#define TESTS_RUNTIME_RESTRUCTURE_H

#include "runtime/check.h"

enum { MAX_KEYS = 3, N_AXES = 3 };

typedef struct points_args {
	int64_t n, limits[MAX_KEYS], row[2];
	pmg_buffer keys[MAX_KEYS], number, weight, ratio, flag, place;
	pmg_buffer live;        /* of each execution: by value of the last key */
} points_args;

enum points_array {
	POINTS_KEY, POINTS_NUMBER = MAX_KEYS, POINTS_WEIGHT, POINTS_RATIO, POINTS_FLAG, POINTS_PLACE, POINTS_LIVE,
	POINTS_SEGMENTS, POINTS_RUNS, POINTS_CHUNKS, POINTS_ORDER, POINTS_KEYS,
	POINTS_RUN_KEYS = POINTS_KEYS + MAX_KEYS, POINTS_NUMBERS = POINTS_RUN_KEYS + MAX_KEYS, POINTS_WEIGHTS,
	POINTS_RATIOS, POINTS_FLAGS, POINTS_RUN_WEIGHTS, POINTS_RENUMBERED, POINTS_VALUES, POINTS_PART_VALUES,
	POINTS_PART_BEGINS, POINTS_PART_ENDS, POINTS_ARRAYS
};

enum { POINTS_N_RUNS, POINTS_N_CHUNKS, POINTS_N_PARTS, POINTS_N_SIZES };

/* What a test chooses; the rest follows. */
struct points_choice {
	int64_t n;
	int n_keys;
	int64_t limits[MAX_KEYS];
	pmg_type offsets, copies, given;        /* types of offsets, of copied integers, and of the caller's */
	int64_t row[2];         /* by which copies of key 1, values by place and old numbers are multiplied; 0: not */
	bool is_narrow;         /* copies for runs, which are i32 then */
	bool has_runs, has_parts, is_by_threads, has_places, is_renumbered, is_for_inspection;
	bool is_left_out;       /* the places */
	unsigned seed;
};

/* Description and arguments; nothing in it may move. The caller's values are owned by it. */
struct points {
	struct points_choice choice;
	points_args args;
	pmg_pipeline_desc desc;
	pmg_array_desc arrays[POINTS_ARRAYS];
	pmg_restructure_desc restructure;
	pmg_copy_desc copies[16];
	pmg_places_desc places;
	pmg_parts_desc parts;
	pmg_renumber_desc renumbering;
	int32_t keys[MAX_KEYS];
	int32_t numbers[POINTS_ARRAYS]; /* of the arrays above among those that the pipeline has; -1 */
	int64_t *values[MAX_KEYS + 1];  /* of keys and number, whatever their type */
	void *memory[MAX_KEYS + 6];
	const double *live;             /* by value of the last key: points where it is zero are left out; NULL: none */
};

void points_make(struct points *points, const struct points_choice *choice);
void points_free(struct points *points);

/* Whether all that the plan holds is what it must be; `threads` those of the plan. */
void points_check(struct tests *tests, const struct points *points, const pmg_plan *plan, int threads);

#endif
