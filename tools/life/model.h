/* SPDX-License-Identifier: MIT
 *
 * What weights predict: M w, and how far it is from the signal in each voxel. In voxels of which the measured signal is
 * known, errors are in its units. */
#ifndef TOOLS_LIFE_MODEL_H
#define TOOLS_LIFE_MODEL_H

#include "life/connectome.h"

/* prediction[voxel, direction] = M w. */
bool model_predict(const struct problem *problem, const double *w, double **prediction, struct failure *failure);
/* measured = mean + scale * y in each voxel; false where `signal` is not known. */
bool model_scale(const struct problem *problem, int64_t voxel, double *mean, double *scale);
/* sqrt(mean over directions of (a - b)^2) of one voxel, times the scale of y in it. */
double model_rmse(const struct problem *problem, int64_t voxel, const double *a, const double *b);

#endif
