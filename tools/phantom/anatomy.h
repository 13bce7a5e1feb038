/* SPDX-License-Identifier: MIT
 *
 * The parts of the LiFE phantom's generator, in the order in which they run: white matter, streamlines,
 * encoding, dictionary, signal. Positions are in mm from the centre of the brain; a "place" is the number of
 * a cell of the box around it, last coordinate fastest, so that ascending places are ascending coordinates.
 */
#ifndef TOOLS_PHANTOM_ANATOMY_H
#define TOOLS_PHANTOM_ANATOMY_H

#include "phantom.h"
#include "random.h"

/* ---- white_matter.c ---------------------------------------------------------- */

enum { N_TRACTS = 3 };

/* A smooth bent direction field in coordinates u = position / half axes: bend * (1, u) plus waves. */
struct tract {
	double bend[3][4];
	double wave[3][3], phase[3], amplitude;
};

/* Seeds around a centre; those of a cluster follow one tract. */
struct cluster {
	double centre[3], radius, cumulative;   /* share of the clustered seeds up to and with this cluster */
	int tract;
};

struct white_matter {
	double half[3], voxel_size;
	int32_t shape[3];               /* of the box, in voxels */
	uint8_t *inside;                /* [places]: the centre of the voxel is white matter */
	int32_t *places;                /* those inside, ascending */
	int64_t n_places;
	struct tract tracts[N_TRACTS];
	struct cluster *clusters;
	int32_t n_clusters;
};

pmg_status white_matter_new(const struct life_phantom_options *options, struct white_matter *brain,
			    char *error, size_t size);
void white_matter_free(struct white_matter *brain);

/* In mm3. */
double white_matter_volume(const struct life_phantom_options *options);
/* The place of a position, by rounding its voxel coordinates, or -1 outside the white matter. */
int32_t white_matter_place(const struct white_matter *brain, const double position[3]);
void white_matter_coordinates(const struct white_matter *brain, int32_t place, int32_t coordinates[3]);
/* The unit vector of a tract at a position. */
void white_matter_direction(const struct white_matter *brain, int tract, const double position[3],
			    double direction[3]);
/* A uniformly distributed position in the white matter. */
void white_matter_draw(const struct white_matter *brain, struct random_stream *random, double position[3]);
/* Signal without diffusion weighting: about 1000, smooth, with a little texture. */
double white_matter_S0(const struct white_matter *brain, int64_t seed, int32_t place);

/* ---- streamlines.c ------------------------------------------------------------- */

/* Nodes lie in `node[first .. first + n - 1]`. */
struct streamline {
	double (*node)[3];
	int32_t first, n;
	double heading[3];      /* of the tract at the seed */
};

int32_t streamline_capacity(const struct life_phantom_options *options);
void streamline_trace(const struct life_phantom_options *options, const struct white_matter *brain,
		      int64_t fiber, struct streamline *line);
/* Direction at a node, not normalised: half the difference of its neighbours, one-sided at the ends. */
void streamline_gradient(const struct streamline *line, int32_t node, double gradient[3]);

/* ---- encode.c --------------------------------------------------------------------- */

/* A coefficient before S0 is known: `count` of the fiber's `nodes` in the voxel have this atom. */
struct crumb {
	int32_t voxel, fiber, atom;
	uint16_t count, nodes;
};

/* Sorted by (voxel, fiber, atom); those of voxel v are `first[v] .. first[v+1] - 1`. */
struct crumbs {
	struct crumb *items;
	int64_t n, n_voxels;
	int64_t *first;
	int32_t *place;         /* of each voxel, ascending */
};

pmg_status crumbs_collect(const struct life_phantom_options *options, const struct white_matter *brain,
			  struct crumbs *crumbs, char *error, size_t size);
void crumbs_free(struct crumbs *crumbs);

/* The coefficients of "problem", whose sizes and S0 are set: sorted by (atom, voxel, fiber). */
pmg_status crumbs_encode(const struct crumbs *crumbs, struct life_problem *problem, char *error, size_t size);

static inline double crumb_value(const struct crumb *crumb, double S0)
{
	return (double) crumb->count / (double) crumb->nodes * S0;
}

/* ---- dictionary.c ------------------------------------------------------------------ */

int64_t dictionary_atoms(int64_t grid);
/* The atom nearest in angles to a direction; opposite directions are one. The zero vector gives atom 0. */
int32_t dictionary_nearest(int64_t grid, const double direction[3]);
void dictionary_orientation(int64_t grid, int64_t atom, double orientation[3]);
/* Fills the problem's `directions` and `D`, which are allocated. */
void dictionary_fill(const struct life_phantom_options *options, struct life_problem *problem);

/* ---- signal.c ------------------------------------------------------------------------ */

/* Fills `w_true`, `w` and `y`, which are allocated; D and S0 are set. */
pmg_status signal_fill(const struct life_phantom_options *options, const struct crumbs *crumbs,
		       struct life_problem *problem, char *error, size_t size);

/* ---- Shared ----------------------------------------------------------------------------- */

pmg_status phantom_no_memory(char *error, size_t size);
int phantom_threads(const struct life_phantom_options *options);

#endif
