/* SPDX-License-Identifier: MIT
 *
 * Arguments as callers may hold them: some of their arrays of floats with other strides, or in blocks. */
#ifndef PMGC_TESTS_RANDOM_LAYOUTS_H
#define PMGC_TESTS_RANDOM_LAYOUTS_H

#include "pmgrt.h"
#include "support/support.h"

struct layout {
	void *flat;                     /* the row-major array that it stands for; NULL: none */
	int32_t rank;
	int64_t extents[PMG_MAX_RANK];
	int64_t block;                  /* 0: strides */
	int64_t *places;                /* of each element, in blocks of segments; NULL */
};

/* Gives some of the arrays, which are row-major, another layout; by number of array. */
struct layout *layouts_give(struct arena *arena, const pmg_pipeline_desc *desc, void *args, uint64_t seed);
/* Takes them back into the row-major arrays. False: something was written before or behind one. */
bool layouts_return(const pmg_pipeline_desc *desc, void *args, const struct layout *layouts);

#endif
