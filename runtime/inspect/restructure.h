/* SPDX-License-Identifier: MIT
 *
 * Private to the inspector of restructurings (restructure*.c): the arrays that one makes, as a list, and what is known
 * while it is made. */
#ifndef PMGRT_RESTRUCTURE_H
#define PMGRT_RESTRUCTURE_H

#include "plan/plan.h"

/* ---- restructure_sizes.c */

/* An array that a restructuring makes; number -1: one that it could make and does not. */
enum made_kind { MADE_SEGMENTS, MADE_RUNS, MADE_CHUNKS, MADE_VALUES, MADE_PARTS, MADE_COPY, MADE_ORDER };
struct made {
	int32_t number;
	enum made_kind kind;
	int32_t at;             /* which of the copies or renumberings */
};

int32_t n_made(const pmg_restructure_desc *restructure);
struct made made_array(const pmg_restructure_desc *restructure, int32_t i);

int64_t array_limit(const pmg_array_desc *array, const int64_t *extents);
int64_t inspected_factor(const pmg_array_desc *array, const int64_t *extents);  /* by which its values are multiplied */
pmg_type inspected_type(const pmg_array_desc *array, const int64_t *extents);
int64_t points_of(const pmg_pipeline_desc *desc, const pmg_restructure_desc *restructure, const int64_t *extents);
int64_t chunks_of(const pmg_restructure_desc *restructure, int64_t n, int32_t threads);
/* Of n points in parts for so many teams: points of a part, at most. */
int64_t part_points(int64_t n, int64_t teams);
int64_t partition_most(int64_t n, int64_t n_values);        /* parts of n points, at most */
int64_t inspected_bytes(pmg_type type, int64_t n);      /* of an array of n elements */

/* The copy that is made last, in the memory of the order: per point, of 8 bytes; or -1. */
int32_t last_copy(const pmg_pipeline_desc *desc, const pmg_restructure_desc *restructure);

/* Of tables while they are needed: for places of n_values segments, for new numbers of n_values values. */
int64_t rank_bytes(int64_t n_values);
int64_t partition_bytes(int64_t n_values);                   /* while segments are cut into parts */
int64_t numbering_bytes(int64_t n, int64_t n_values, int32_t threads);

/* ---- restructure_forecast.c */

/* How many runs there will be, within a few per cent: reads all keys. */
int64_t runs_estimate(const pmg_pipeline_desc *desc, const pmg_restructure_desc *restructure, const void *args,
		      const int64_t *extents);

/* ---- restructure.c */

struct inspection {
	struct plan *plan;
	const pmg_restructure_desc *desc;
	struct sort_key keys[PMG_MAX_RANK];
	struct order order;             /* `points` NULL: given away */
	int64_t order_bytes;            /* of `points`, and of `spare` */
	bool is_told;                   /* the sorted words tell the segment: these bits */
	int shift;
	uint64_t mask;
	int64_t *rank;                  /* of the values of keys[0], then the values by rank; NULL: themselves */
	int64_t n_values, n_runs;       /* limit of keys[0]; -1: not known yet */
	int32_t n_shares;
	int64_t *begins, *quartiles;    /* of segments that a device has made, as in pmg_device_inspection; or NULL */
};

static inline bool has_runs(const struct inspection *in)
{
	return in->desc->runs >= 0;
}

/* The elements of a fixed or inspected array. */
struct elements array_values(const struct plan *plan, int32_t number);

/* The value of key `key` at the point that is now at `i`, places for values if there are some. */
int64_t key_at(const struct inspection *in, int key, int64_t i);

/* All n elements of inspected array `number`, as it keeps them. */
void inspected_set(const struct plan *plan, int32_t number, int64_t n, const int64_t *values);

/* Allocates inspected array `number` with n elements, the largest of which will be `greatest`, before it is
 * multiplied. */
pmg_status inspected_new(struct plan *plan, int32_t number, int64_t n, int64_t greatest);
pmg_status inspected_fail(const struct plan *plan, int32_t number, int64_t greatest);

/* Gives it `memory` of this size instead; the bytes behind its n elements are cleared. */
void inspected_take(struct plan *plan, int32_t number, int64_t n, void *memory);

/* The segment of the point now at `i`, and whether this point, i > 0, differs from the one before it in some key. */
int64_t segment_at(const struct inspection *in, int64_t i);
bool is_border(const struct inspection *in, int64_t i);

/* The value of keys[0] of a segment. */
static inline int64_t segment_value(const struct inspection *in, int64_t segment)
{
	return in->rank ? in->rank[in->n_values + segment] : segment;
}

/* The first segment that begins at `point` or behind it; such are all that hold nothing at the end. */
int64_t segment_find(const struct inspection *in, int64_t point);

/* Cuts the segments into chunks by what offsets say; needs plan, desc, n_values and the number of points. */
pmg_status chunks_make(const struct inspection *in);

/* ---- restructure_lengths.c */

/* Of sorted points: runs of one segment by their lengths. Needs `spare`. */
void runs_order(struct inspection *in);

/* ---- restructure_device.c */

/* Makes all arrays on the device, if the plan has one that can; else `is_made` stays false. */
pmg_status device_inspect(struct inspection *in, bool *is_made);
void device_release(struct inspection *in);     /* what it has told the host */

/* ---- restructure_partition.c */

pmg_status parts_make(struct inspection *in);

/* ---- restructure_copy.c */

pmg_status copies_make(struct inspection *in);

/* ---- restructure_number.c */

pmg_status renumberings_make(const struct inspection *in);

#endif
