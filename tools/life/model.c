/* SPDX-License-Identifier: MIT
 *
 * The product with M = (PHI, D), one coefficient after the other; those of weight 0 are left out. */
#include "life/model.h"

#include <math.h>
#include <stdlib.h>

bool model_predict(const struct problem *p, const double *w, double **prediction, struct failure *failure)
{
	double *sum = calloc((size_t) (p->n_voxels * p->n_theta) + 1, sizeof(double));
	*prediction = sum;
	if (!sum)
		return fail_memory(failure, "the prediction");
	for (int64_t k = 0; k < p->n_coeffs; k++) {
		const double factor = w[p->fiber[k]] * p->value[k], *row = p->D + p->atom[k] * p->n_theta;
		double *to = sum + p->voxel[k] * p->n_theta;
		if (factor == 0)
			continue;
		for (int64_t t = 0; t < p->n_theta; t++)
			to[t] += factor * row[t];
	}
	return true;
}

/* The signal less its mean is the scale times y: S0 in the convention of dipy, 1 in that of ENCODE. */
bool model_scale(const struct problem *p, int64_t voxel, double *mean, double *scale)
{
	const double *y = p->y + voxel * p->n_theta, *signal = p->signal ? p->signal + voxel * p->n_theta : NULL;
	double sum = 0, product = 0, square = 0;
	*mean = 0;
	*scale = 1;
	if (!signal)
		return false;
	for (int64_t t = 0; t < p->n_theta; t++)
		sum += signal[t];
	*mean = sum / (double) p->n_theta;
	for (int64_t t = 0; t < p->n_theta; t++) {
		product += (signal[t] - *mean) * y[t];
		square += y[t] * y[t];
	}
	if (square > 0)
		*scale = product / square;
	return true;
}

double model_rmse(const struct problem *p, int64_t voxel, const double *a, const double *b)
{
	double mean, scale, sum = 0;
	model_scale(p, voxel, &mean, &scale);
	for (int64_t t = voxel * p->n_theta; t < (voxel + 1) * p->n_theta; t++)
		sum += (a[t] - b[t]) * (a[t] - b[t]);
	return scale * sqrt(sum / (double) p->n_theta);
}
