/* SPDX-License-Identifier: MIT
 *
 * The system of a connectome (Pestilli et al. 2014; Caiafa and Pestilli 2017): column f of M is the signal that fiber
 * f predicts, a sum over its nodes of the dictionary's atoms; y is the measured signal without its mean. Two
 * conventions:
 *   dipy     PHI counts nodes, y is relative to b = 0, atoms have mean 0
 *   encode   PHI is the share of the fiber's nodes in the voxel, times S0; y as measured; atoms have median 0 in each
 *            shell; voxels are sorted by their coordinates
 * Voxels whose b = 0 signal is not positive, or whose signal is not finite, are left out with what is in them. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "life/nodes.h"

/* ---- Memory ------------------------------------------------------------------------------- */

/* Points, coefficients as they are counted and as they are kept, and the signal where all is one coefficient. */
static int64_t forecast(const struct tracks *tracks, const struct image *image, const struct sphere *sphere)
{
	int64_t size = image->extent[0] * image->extent[1] * image->extent[2];
	int64_t voxels = size < tracks->n_points ? size : tracks->n_points;
	return tracks->n_points * (12 + 2 * (int64_t) sizeof(struct coefficient) + 20) +
	       voxels * image->n_volumes * 24 + sphere->n * (48 + 8 * image->n_volumes) + size * 9;
}

static bool fits(int64_t bytes, int64_t limit, struct failure *failure)
{
	if (limit == 0 || bytes <= limit)
		return true;
	fail(failure, OUTCOME_RESOURCES, "encoding may need %.1f MiB, --max-mem allows %.1f",
	     (double) bytes / 1048576, (double) limit / 1048576);
	fail_help(failure, "allow more, or encode a part of the streamlines");
	return false;
}

/* ---- Voxels -------------------------------------------------------------------------------- */

static int compare_integers(const void *a, const void *b)
{
	int32_t x = *(const int32_t *) a, y = *(const int32_t *) b;
	return (x > y) - (x < y);
}

/* Sorted by i, then j, then k, as the rows of `unique`. */
static void sort_voxels(struct nodes *nodes, const struct image *image)
{
	int64_t ni = image->extent[0], nj = image->extent[1], nk = image->extent[2];
	for (int64_t v = 0; v < nodes->n_voxels; v++) {
		int64_t at = nodes->in_order[v];
		nodes->in_order[v] = (int32_t) (at % ni * nj * nk + at / ni % nj * nk + at / ni / nj);
	}
	qsort(nodes->in_order, (size_t) nodes->n_voxels, sizeof(int32_t), compare_integers);
	for (int64_t v = 0; v < nodes->n_voxels; v++) {
		int64_t at = nodes->in_order[v];
		nodes->in_order[v] = (int32_t) (at / nj / nk + ni * (at / nk % nj + nj * (at % nk)));
	}
}

struct measured {
	double *values;   /* [n_voxels, n_volumes] */
	int32_t *number;  /* of each voxel of the image; -1: none */
};

/* Mean over the volumes of b = 0. */
static double dark_signal(const struct gradients *g, const double *values)
{
	double sum = 0;
	int64_t n = 0;
	for (int64_t t = 0; t < g->n; t++)
		if (g->is_b0[t]) {
			sum += values[t];
			n++;
		}
	return sum / (double) n;
}

static bool is_usable(const struct gradients *g, const double *values)
{
	double S0 = dark_signal(g, values);
	bool ok = isfinite(S0) && S0 > 0;
	for (int64_t t = 0; t < g->n; t++)
		ok = ok && isfinite(values[t]);
	return ok;
}

/* Drops voxels that cannot be used from the order, and numbers the others. */
static int64_t number_voxels(struct nodes *nodes, const struct gradients *g, struct measured *measured)
{
	int64_t n = 0, total = nodes->n_voxels;
	for (int64_t v = 0; v < total; v++) {
		const double *values = measured->values + v * g->n;
		if (!is_usable(g, values))
			continue;
		memmove(measured->values + n * g->n, values, (size_t) g->n * sizeof(double));
		nodes->in_order[n] = nodes->in_order[v];
		measured->number[nodes->in_order[n]] = (int32_t) n;
		n++;
	}
	nodes->n_voxels = n;
	return total - n;
}

static bool measure(struct nodes *nodes, const struct image *image, const char *path, const struct gradients *g,
		    struct measured *measured, int64_t *dark, struct failure *failure)
{
	int64_t size = image->extent[0] * image->extent[1] * image->extent[2];
	int64_t *places = malloc(((size_t) nodes->n_voxels + 1) * sizeof(int64_t));
	measured->values = malloc(((size_t) (nodes->n_voxels * g->n) + 1) * sizeof(double));
	measured->number = malloc(((size_t) size + 1) * sizeof(int32_t));
	bool ok = (places && measured->values && measured->number) || fail_memory(failure, "the signal");
	for (int64_t i = 0; ok && i < size; i++)
		measured->number[i] = -1;
	for (int64_t v = 0; ok && v < nodes->n_voxels; v++)
		places[v] = nodes->in_order[v];
	ok = ok && image_gather(image, path, places, nodes->n_voxels, measured->values, failure);
	free(places);
	if (!ok)
		return false;
	*dark = number_voxels(nodes, g, measured);
	return nodes->n_voxels > 0 ||
	       fail_file(failure, path, "no voxel that a streamline touches has a positive signal at b = 0");
}

static double mean(const double *values, int64_t n)
{
	double sum = 0;
	for (int64_t i = 0; i < n; i++)
		sum += values[i];
	return sum / (double) n;
}

static void take_signal(struct problem *p, const struct gradients *g, const double *values, int64_t v,
			enum convention convention)
{
	double *y = p->y + v * p->n_theta;
	int64_t n = 0;
	p->S0[v] = dark_signal(g, values);
	for (int64_t t = 0; t < g->n; t++)
		if (!g->is_b0[t]) {
			p->signal[v * p->n_theta + n] = values[t];
			y[n++] = convention == CONVENTION_DIPY ? values[t] / p->S0[v] : values[t];
		}
	double middle = mean(y, n);
	for (int64_t t = 0; t < n; t++)
		y[t] -= middle;
}

static void take_signals(struct problem *p, const struct nodes *nodes, const struct image *image,
			 const struct gradients *g, const struct measured *measured, enum convention convention)
{
	for (int64_t v = 0; v < p->n_voxels; v++) {
		int64_t at = nodes->in_order[v];
		p->voxel_coords[3 * v] = (int32_t) (at % image->extent[0]);
		p->voxel_coords[3 * v + 1] = (int32_t) (at / image->extent[0] % image->extent[1]);
		p->voxel_coords[3 * v + 2] = (int32_t) (at / image->extent[0] / image->extent[1]);
		take_signal(p, g, measured->values + v * g->n, v, convention);
	}
}

/* ---- The dictionary --------------------------------------------------------------------------- */

static int compare_reals(const void *a, const void *b)
{
	double x = *(const double *) a, y = *(const double *) b;
	return (x > y) - (x < y);
}

static double median(double *values, int64_t n)
{
	qsort(values, (size_t) n, sizeof(double), compare_reals);
	return n % 2 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

/* The median of each shell is taken away. */
static void center_shells(const struct gradients *g, double *atom, double *scratch)
{
	for (int32_t shell = 0; shell < g->n_shells; shell++) {
		int64_t n = 0, at = 0;
		for (int64_t t = 0; t < g->n; t++) {
			if (g->shell[t] == shell)
				scratch[n++] = atom[at];
			at += !g->is_b0[t];
		}
		double middle = median(scratch, n);
		at = 0;
		for (int64_t t = 0; t < g->n; t++) {
			if (g->shell[t] == shell)
				atom[at] -= middle;
			at += !g->is_b0[t];
		}
	}
}

double tensor_scale(enum convention convention)
{
	return convention == CONVENTION_ENCODE ? 1000 : 1;
}

/* exp(-b g'Qg) of the tensor Q with one axis along v. */
static void make_atom(const struct gradients *g, const double *v, const struct encode_options *options, double scale,
		      double *atom, double *scratch)
{
	int64_t n = 0;
	for (int64_t t = 0; t < g->n; t++) {
		const double *u = g->bvecs + 3 * t;
		double along = u[0] * v[0] + u[1] * v[1] + u[2] * v[2], square = along * along;
		double across = u[0] * u[0] + u[1] * u[1] + u[2] * u[2] - square;
		double q = options->eigenvalues[0] * square + options->eigenvalues[1] * across;
		if (!g->is_b0[t])
			atom[n++] = exp(-g->bvals[t] / scale * q);
	}
	if (options->convention == CONVENTION_ENCODE) {
		center_shells(g, atom, scratch);
		return;
	}
	double middle = mean(atom, n);
	for (int64_t t = 0; t < n; t++)
		atom[t] -= middle;
}

static bool make_dictionary(struct problem *p, const struct gradients *g, const struct sphere *sphere,
			    const struct encode_options *options, const int32_t *number)
{
	double scale = tensor_scale(options->convention), *scratch = malloc(((size_t) g->n + 1) * sizeof(double));
	for (int64_t i = 0; scratch && i < sphere->n; i++) {
		if (number[i] < 0)
			continue;
		memcpy(p->orientations + 3 * number[i], sphere->vertices + 3 * i, 3 * sizeof(double));
		make_atom(g, sphere->vertices + 3 * i, options, scale, p->D + number[i] * p->n_theta, scratch);
	}
	free(scratch);
	return scratch != NULL;
}

/* Atoms that are used get numbers in their order. */
static int64_t number_atoms(const struct nodes *nodes, const struct measured *measured, int64_t n, bool has_all,
			    int32_t *number)
{
	int64_t n_atoms = 0;
	for (int64_t i = 0; i < n; i++)
		number[i] = has_all ? 0 : -1;
	for (int64_t k = 0; k < nodes->n; k++)
		if (measured->number[nodes->coefficients[k].voxel] >= 0)
			number[nodes->coefficients[k].atom] = 0;
	for (int64_t i = 0; i < n; i++)
		if (number[i] == 0)
			number[i] = (int32_t) n_atoms++;
	return n_atoms;
}

/* ---- The problem --------------------------------------------------------------------------------- */

static bool make_lists(struct problem *p, const struct gradients *g, struct failure *failure)
{
	size_t k = (size_t) p->n_coeffs + 1, v = (size_t) p->n_voxels, t = (size_t) p->n_theta;
	p->atom = malloc(k * sizeof(int32_t));
	p->voxel = malloc(k * sizeof(int32_t));
	p->fiber = malloc(k * sizeof(int32_t));
	p->value = malloc(k * sizeof(double));
	p->D = calloc((size_t) p->n_atoms * t + 1, sizeof(double));
	p->orientations = calloc(3 * (size_t) p->n_atoms + 1, sizeof(double));
	p->y = malloc((v * t + 1) * sizeof(double));
	p->signal = malloc((v * t + 1) * sizeof(double));
	p->S0 = malloc((v + 1) * sizeof(double));
	p->voxel_coords = malloc((3 * v + 1) * sizeof(int32_t));
	p->bvals = malloc((t + 1) * sizeof(double));
	p->bvecs = malloc((3 * t + 1) * sizeof(double));
	if (!p->atom || !p->voxel || !p->fiber || !p->value || !p->D || !p->orientations || !p->y || !p->signal ||
	    !p->S0 || !p->voxel_coords || !p->bvals || !p->bvecs)
		return fail_memory(failure, "the problem");
	for (int64_t i = 0, n = 0; i < g->n; i++) {
		if (g->is_b0[i])
			continue;
		p->bvals[n] = g->bvals[i];
		memcpy(p->bvecs + 3 * n++, g->bvecs + 3 * i, 3 * sizeof(double));
	}
	return true;
}

static void take_coefficients(struct problem *p, const struct nodes *nodes, const struct measured *measured,
			      const int32_t *atom_number, enum convention convention)
{
	int64_t n = 0;
	for (int64_t k = 0; k < nodes->n; k++) {
		const struct coefficient *c = &nodes->coefficients[k];
		int32_t voxel = measured->number[c->voxel];
		if (voxel < 0)
			continue;
		p->atom[n] = atom_number[c->atom];
		p->voxel[n] = voxel;
		p->fiber[n] = c->fiber;
		p->value[n++] = convention == CONVENTION_DIPY ? c->count
							      : (double) c->count / c->in_voxel * p->S0[voxel];
	}
}

static int64_t count_empty(const struct problem *p)
{
	int64_t n = p->n_fibers;
	for (int64_t k = 0; k < p->n_coeffs; k++)
		n -= k == 0 || p->fiber[k] != p->fiber[k - 1];
	return n;
}

static bool assemble(struct problem *p, const struct nodes *nodes, const struct image *image,
		     const struct gradients *g, const struct sphere *sphere, const struct encode_options *options,
		     const struct measured *measured, struct failure *failure)
{
	int32_t *number = malloc(((size_t) sphere->n + 1) * sizeof(int32_t));
	if (!number)
		return fail_memory(failure, "the atoms");
	p->n_voxels = nodes->n_voxels;
	p->n_theta = g->n_diffusion;
	p->n_atoms = number_atoms(nodes, measured, sphere->n, options->has_all_atoms, number);
	for (int64_t k = 0; k < nodes->n; k++)
		p->n_coeffs += measured->number[nodes->coefficients[k].voxel] >= 0;
	bool ok = make_lists(p, g, failure);
	if (ok) {
		take_signals(p, nodes, image, g, measured, options->convention);
		take_coefficients(p, nodes, measured, number, options->convention);
		ok = make_dictionary(p, g, sphere, options, number) || fail_memory(failure, "the dictionary");
	}
	free(number);
	return ok;
}

static bool has_nodes(const struct nodes *nodes, const struct tracks *tracks, const struct image *image,
		      const char *path, const struct encode_options *options, struct failure *failure)
{
	char place[400];
	if (nodes->n > 0)
		return true;
	if (nodes->short_streamlines == tracks->n)
		return fail(failure, OUTCOME_DATA,
			    "none of the %" PRId64 " streamlines has %" PRId64 " points, which it needs to be encoded",
			    tracks->n, options->min_points);
	fail_file(failure, path, "no streamline has a point in this image: %s",
		  tracks_place_text(tracks, image, place, sizeof(place)));
	fail_help(failure, "are both of one scan and in its space, and is the matrix of each header right?");
	return false;
}

bool encode(const struct tracks *tracks, const struct image *image, const char *image_path,
	    const struct gradients *gradients, const struct sphere *sphere, const struct encode_options *options,
	    struct problem *problem, struct encode_counts *counts, struct failure *failure)
{
	struct nodes nodes = { 0 };
	struct measured measured = { 0 };
	*problem = (struct problem){ .n_fibers = tracks->n };
	if (tracks->n > INT32_MAX)
		return fail(failure, OUTCOME_DATA, "more than 2^31 streamlines");
	bool ok = fits(forecast(tracks, image, sphere), options->max_memory, failure) &&
		  nodes_count(&nodes, tracks, image, sphere, options, failure);
	*counts = (struct encode_counts){ nodes.short_streamlines, nodes.repeated_points, nodes.outside_points,
					  nodes.undirected_points, 0, 0 };
	ok = ok && has_nodes(&nodes, tracks, image, image_path, options, failure);
	if (ok && options->convention == CONVENTION_ENCODE)
		sort_voxels(&nodes, image);
	ok = ok && measure(&nodes, image, image_path, gradients, &measured, &counts->dark_voxels, failure) &&
	     assemble(problem, &nodes, image, gradients, sphere, options, &measured, failure);
	if (ok)
		counts->empty_fibers = count_empty(problem);
	nodes_free(&nodes);
	free(measured.values);
	free(measured.number);
	if (!ok)
		problem_free(problem);
	return ok;
}
