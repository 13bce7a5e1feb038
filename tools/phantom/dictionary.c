/* SPDX-License-Identifier: MIT
 *
 * The dictionary: atoms on ENCODE's spherical grid, and the diffusion signal that each predicts.
 *
 * With L = grid, theta = t * pi / L from the z axis (t = 1 .. L-1) and phi = p * pi / L from the x axis (p =
 * 0 .. L-1) cover the half sphere y >= 0, which is all there is, as a fiber has no sign. Atom 0 is the z
 * axis, atom 1 + p * (L-1) + (t-1) the others: (L-1) * L + 1 in all, 5113 for L = 72, 129 241 for L = 360.
 * Signal: exp(-b g'Qg) with diffusivity 1 along the atom and `radial` across, less its mean over the
 * gradients. */
#include "anatomy.h"

#define PI 3.141592653589793

int64_t dictionary_atoms(int64_t grid)
{
	return (grid - 1) * grid + 1;
}

int32_t dictionary_nearest(int64_t grid, const double direction[3])
{
	double sign = direction[1] < 0 ? -1 : 1;
	double x = sign * direction[0], y = fabs(direction[1]), z = sign * direction[2];
	double theta = atan2(hypot(x, y), z), phi = atan2(y, x);
	int64_t p = (int64_t) floor(phi * (double) grid / PI + 0.5);
	if (p == grid) {
		p = 0;
		theta = PI - theta;
	}
	int64_t t = (int64_t) floor(theta * (double) grid / PI + 0.5);
	if (t <= 0 || t >= grid)
		return 0;
	return (int32_t) (1 + p * (grid - 1) + (t - 1));
}

void dictionary_orientation(int64_t grid, int64_t atom, double orientation[3])
{
	double theta = 0, phi = 0;
	if (atom > 0) {
		theta = (double) ((atom - 1) % (grid - 1) + 1) * PI / (double) grid;
		phi = (double) ((atom - 1) / (grid - 1)) * PI / (double) grid;
	}
	orientation[0] = cos(phi) * sin(theta);
	orientation[1] = sin(phi) * sin(theta);
	orientation[2] = cos(theta);
}

/* The upper half of a generalised spiral (Saff and Kuijlaars 1997) of 2n points. */
static void spread_directions(int64_t n, double *directions)
{
	double angle = 0;
	for (int64_t i = 0; i < n; i++) {
		double z = 1 - ((double) i + 0.5) / (double) n, radius = sqrt(1 - z * z);
		angle += 3.6 / (sqrt(2 * (double) n) * radius);
		directions[3 * i] = radius * cos(angle);
		directions[3 * i + 1] = radius * sin(angle);
		directions[3 * i + 2] = z;
	}
}

static void fill_atom(const struct life_phantom_options *options, int64_t atom, const double *directions,
		      double *row)
{
	double a[3], mean = 0;
	dictionary_orientation(options->grid, atom, a);
	for (int64_t t = 0; t < options->ntheta; t++) {
		const double *g = directions + 3 * t;
		double along = g[0] * a[0] + g[1] * a[1] + g[2] * a[2];
		double diffusivity = options->radial + (1 - options->radial) * along * along;
		row[t] = exp(-options->bvalue * diffusivity);
		mean += row[t];
	}
	mean /= (double) options->ntheta;
	for (int64_t t = 0; t < options->ntheta; t++)
		row[t] -= mean;
}

void dictionary_fill(const struct life_phantom_options *options, struct life_problem *problem)
{
	spread_directions(problem->n_theta, problem->directions);
	#pragma omp parallel for num_threads(phantom_threads(options))
	for (int64_t atom = 0; atom < problem->n_atoms; atom++)
		fill_atom(options, atom, problem->directions, problem->D + atom * problem->n_theta);
}
