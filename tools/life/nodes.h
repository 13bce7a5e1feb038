/* SPDX-License-Identifier: MIT
 *
 * Coefficients as encoding counts them: nodes of a streamline in a voxel that have one direction. */
#ifndef TOOLS_LIFE_NODES_H
#define TOOLS_LIFE_NODES_H

#include "life/connectome.h"

/* Of one streamline and voxel: `count` of its `in_voxel` nodes there have this atom. */
struct coefficient {
	int32_t atom, voxel, fiber;
	int32_t count, in_voxel;
};

struct nodes {
	struct coefficient *coefficients;
	int64_t n, capacity;
	int64_t short_streamlines, repeated_points, outside_points, undirected_points;
	int32_t *in_order;      /* voxels (as numbers in the image) in the order in which they are met first */
	int64_t n_voxels;
};

/* Counts the nodes of all streamlines: sorted by streamline, then voxel (as its number in the image), then atom. */
bool nodes_count(struct nodes *nodes, const struct tracks *tracks, const struct image *image,
		 const struct sphere *sphere, const struct encode_options *options, struct failure *failure);
void nodes_free(struct nodes *nodes);

#endif
