/* SPDX-License-Identifier: MIT
 *
 * Three pipelines as the compiler would emit them, written by hand, each with a small case of data.
 *   life    a construct with fixed index arrays, no loop           Y = M w
 *   forest  a ragged tree with lists of children                   distances to the root, nodes below
 *   steps   a loop with state, `inout`, accumulated `out`, a computed index, a bool, non-fixed facts */
#ifndef TESTS_RUNTIME_PIPELINES_H
#define TESTS_RUNTIME_PIPELINES_H

#include "pmgrt_generated.h"

typedef struct life_args {
	int64_t nAtoms, nVoxels, nFibers, nTheta, nCoeffs;
	pmg_buffer atom, voxel, fiber, value, D, w, Y;
} life_args;

enum { LIFE_ATOM, LIFE_VOXEL, LIFE_FIBER, LIFE_VALUE, LIFE_D, LIFE_W, LIFE_Y, LIFE_ARRAYS };

struct life_case {
	life_args args;
	int64_t atom[6], voxel[6], fiber[6];
	double value[6], D[3][5], w[4], Y[10][5];
};

const pmg_pipeline_desc *life_describe(void);
void life_fill(struct life_case *data);
bool life_is_right(const struct life_case *data);       /* Y as args.Y shows it */

typedef struct forest_args {
	int64_t nSystems, nTotal;
	pmg_buffer offset, parent, depth, below;
} forest_args;

struct forest_case {
	forest_args args;
	int64_t offset[4], parent[7], depth[7], below[7];
};

const pmg_pipeline_desc *forest_describe(void);
void forest_fill(struct forest_case *data);

typedef struct steps_args {
	int64_t n, nBins, nSteps;
	double stop;
	float rate;
	pmg_buffer level, mask, start, v, total, where, count;
} steps_args;

enum { STEPS_LEVEL, STEPS_MASK, STEPS_START, STEPS_V, STEPS_TOTAL, STEPS_WHERE, STEPS_COUNT, STEPS_X,
STEPS_BIN,
	STEPS_ARRAYS };

struct steps_case {
	steps_args args;
	int64_t level[3], where[3], count;
	unsigned char mask[3];
	double start[3], v[3], total[3];
};

const pmg_pipeline_desc *steps_describe(void);
void steps_fill(struct steps_case *data);

#endif
