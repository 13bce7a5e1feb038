/* SPDX-License-Identifier: MIT
 *
 * Random sizes and data for any pipeline, from its module: what its facts demand holds. Values are small integers. */
#ifndef PMGC_TESTS_RANDOM_BIND_H
#define PMGC_TESTS_RANDOM_BIND_H

#include "ir/ir.h"
#include "pmgrt.h"

struct binding_set {
	struct module *module;
	uint64_t random;                /* state of the generator */
	int64_t *sizes;                 /* by number of param */
	double *scalars;
	int64_t **extents;              /* by number of array */
	void **inputs;                  /* by number of array: what the caller gives, before any run */
	size_t *bytes;
};

/* Draws sizes, around 0 and the widths of vectors, and data; false when these sizes allow no data (index(0)[3]). */
bool binding_draw(struct binding_set *set, struct module *module, struct arena *arena, uint64_t seed);
/* The same with two sizes behind the first tile, or one and small others, where that is not too much to compute, and
 * with sizes that kernels are compiled for. */
bool binding_draw_wide(struct binding_set *set, struct module *module, struct arena *arena, uint64_t seed);

/* The interpreter's and the library's view of a copy of the inputs: `copies` by number of array, arena memory. */
void **binding_copy(const struct binding_set *set, struct arena *arena);
/* Whether nothing was written just before or behind a copy. */
bool binding_is_fenced(const struct binding_set *set, void **copies);
struct interp_input binding_interp(const struct binding_set *set, struct arena *arena, void **copies);
void *binding_args(const struct binding_set *set, struct arena *arena, const pmg_pipeline_desc *desc, void **copies);

#endif
