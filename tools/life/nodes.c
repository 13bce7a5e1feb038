/* SPDX-License-Identifier: MIT
 *
 * From points to coefficients. A point is a node in the voxel that it is nearest to; its direction is the central
 * difference of the points around it (one-sided at the ends), along the axes of voxels, and its atom the nearest
 * vertex. Streamlines are shared out to threads in blocks, and what the blocks give is joined in their order, so that
 * the number of threads changes nothing. */
#include "life/nodes.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 256 };

struct counting {
	const struct tracks *tracks;
	const struct image *image;
	const struct sphere *sphere;
	const struct encode_options *options;
	bool is_isotropic;
};

/* What one thread needs for a streamline. */
struct workspace {
	double *place;         /* [n, 3] in voxels */
	struct node {
		int32_t voxel, atom;
	} *nodes;
	int64_t capacity, n, n_nodes;
};

/* ---- One streamline ---------------------------------------------------------------------------- */

static bool workspace_reserve(struct workspace *work, int64_t n)
{
	if (n <= work->capacity)
		return true;
	free(work->place);
	free(work->nodes);
	work->capacity = 2 * n;
	work->place = malloc((size_t) work->capacity * 3 * sizeof(double));
	work->nodes = malloc((size_t) work->capacity * sizeof(struct node));
	if (work->place && work->nodes)
		return true;
	work->capacity = 0;
	return false;
}

static void workspace_free(struct workspace *work)
{
	free(work->place);
	free(work->nodes);
}

/* The points in voxels; those at the place of the one before are left out where they are no nodes. */
static void place_points(const struct counting *c, int64_t fiber, struct workspace *work, struct nodes *nodes)
{
	const int64_t *offsets = c->tracks->offsets;
	work->n = 0;
	for (int64_t i = offsets[fiber]; i < offsets[fiber + 1]; i++) {
		const float *p = c->tracks->points + 3 * i;
		bool is_repeated = i > offsets[fiber] && memcmp(p, p - 3, 3 * sizeof(float)) == 0;
		nodes->repeated_points += is_repeated;
		if (is_repeated && !c->options->keeps_repeated)
			continue;
		for (int k = 0; k < 3; k++) {
			const double *row = c->image->to_voxel[k];
			work->place[3 * work->n + k] =
				row[0] * (double) p[0] + row[1] * (double) p[1] + row[2] * (double) p[2] + row[3];
		}
		work->n++;
	}
}

/* -1: outside of the image. */
static int32_t voxel_of(const struct counting *c, const double *place)
{
	int64_t number = 0;
	for (int k = 2; k >= 0; k--) {
		double at = place[k];
		if (c->options->is_cornered)
			at = floor(at + 0.5);
		else
			at = c->options->convention == CONVENTION_ENCODE ? round(at) : nearbyint(at);
		if (!(at >= 0 && at < (double) c->image->extent[k]))
			return -1;
		number = number * c->image->extent[k] + (int64_t) at;
	}
	return (int32_t) number;
}

static bool direction_of(const struct counting *c, const struct workspace *work, int64_t i, double *direction)
{
	int64_t before = i > 0 ? i - 1 : i, after = i + 1 < work->n ? i + 1 : i;
	double factor = before < i && after > i ? 2 : 1;
	for (int k = 0; k < 3; k++) {
		direction[k] = (work->place[3 * after + k] - work->place[3 * before + k]) / factor;
		direction[k] *= c->is_isotropic ? 1 : c->image->voxel_size[k];
	}
	double length = sqrt(direction[0] * direction[0] + direction[1] * direction[1] + direction[2] * direction[2]);
	for (int k = 0; k < 3 && length > 0; k++)
		direction[k] /= length;
	return length > 0;
}

static int compare_nodes(const void *a, const void *b)
{
	const struct node *x = a, *y = b;
	if (x->voxel != y->voxel)
		return x->voxel < y->voxel ? -1 : 1;
	return (x->atom > y->atom) - (x->atom < y->atom);
}

static bool reserve(struct nodes *nodes, int64_t more)
{
	if (nodes->n + more <= nodes->capacity)
		return true;
	int64_t wanted = 2 * (nodes->n + more);
	struct coefficient *larger = realloc(nodes->coefficients, (size_t) wanted * sizeof(*larger));
	if (!larger)
		return false;
	nodes->coefficients = larger;
	nodes->capacity = wanted;
	return true;
}

/* Runs of equal nodes become coefficients. */
static bool add_coefficients(const struct workspace *work, int64_t fiber, struct nodes *nodes)
{
	const struct node *list = work->nodes;
	if (!reserve(nodes, work->n_nodes))
		return false;
	for (int64_t begin = 0; begin < work->n_nodes;) {
		int64_t first = nodes->n, end = begin;
		for (; end < work->n_nodes && list[end].voxel == list[begin].voxel; end++) {
			if (end > begin && list[end].atom == list[end - 1].atom)
				nodes->coefficients[nodes->n - 1].count++;
			else
				nodes->coefficients[nodes->n++] = (struct coefficient){
					list[end].atom, list[end].voxel, (int32_t) fiber, 1, 0
				};
		}
		for (int64_t i = first; i < nodes->n; i++)
			nodes->coefficients[i].in_voxel = (int32_t) (end - begin);
		begin = end;
	}
	return true;
}

static bool count_streamline(const struct counting *c, int64_t fiber, struct workspace *work, struct nodes *nodes)
{
	const int64_t *offsets = c->tracks->offsets;
	if (!workspace_reserve(work, offsets[fiber + 1] - offsets[fiber] + 1))
		return false;
	place_points(c, fiber, work, nodes);
	if (work->n < c->options->min_points) {
		nodes->short_streamlines++;
		return true;
	}
	work->n_nodes = 0;
	for (int64_t i = 0; i < work->n; i++) {
		double direction[3];
		int32_t voxel = voxel_of(c, work->place + 3 * i);
		if (voxel < 0) {
			nodes->outside_points++;
			continue;
		}
		nodes->undirected_points += !direction_of(c, work, i, direction);
		work->nodes[work->n_nodes++] = (struct node){ voxel, sphere_nearest(c->sphere, direction) };
	}
	qsort(work->nodes, (size_t) work->n_nodes, sizeof(struct node), compare_nodes);
	return add_coefficients(work, fiber, nodes);
}

/* ---- All of them --------------------------------------------------------------------------------- */

static bool count_block(const struct counting *c, int64_t block, struct workspace *work, struct nodes *nodes)
{
	int64_t end = (block + 1) * BLOCK < c->tracks->n ? (block + 1) * BLOCK : c->tracks->n;
	for (int64_t fiber = block * BLOCK; fiber < end; fiber++)
		if (!count_streamline(c, fiber, work, nodes))
			return false;
	struct coefficient *smaller = realloc(nodes->coefficients, ((size_t) nodes->n + 1) * sizeof(*smaller));
	nodes->coefficients = smaller ? smaller : nodes->coefficients;
	return true;
}

static bool count_blocks(const struct counting *c, struct nodes *blocks, int64_t n_blocks)
{
	bool ok = true;
	#pragma omp parallel
	{
		struct workspace work = { 0 };
		#pragma omp for schedule(dynamic)
		for (int64_t block = 0; block < n_blocks; block++)
			if (!count_block(c, block, &work, &blocks[block]))
			#pragma omp atomic write
				ok = false;
		workspace_free(&work);
	}
	return ok;
}

static bool join(struct nodes *nodes, struct nodes *blocks, int64_t n_blocks)
{
	int64_t n = 0;
	for (int64_t i = 0; i < n_blocks; i++)
		n += blocks[i].n;
	if (!reserve(nodes, n + 1))
		return false;
	for (int64_t i = 0; i < n_blocks; i++) {
		if (blocks[i].n)
			memcpy(nodes->coefficients + nodes->n, blocks[i].coefficients,
			       (size_t) blocks[i].n * sizeof(struct coefficient));
		nodes->n += blocks[i].n;
		nodes->short_streamlines += blocks[i].short_streamlines;
		nodes->repeated_points += blocks[i].repeated_points;
		nodes->outside_points += blocks[i].outside_points;
		nodes->undirected_points += blocks[i].undirected_points;
		nodes_free(&blocks[i]);
	}
	return true;
}

/* Points, not coefficients, say which voxel comes first. */
static bool order_voxels(const struct counting *c, struct nodes *nodes)
{
	int64_t size = c->image->extent[0] * c->image->extent[1] * c->image->extent[2];
	bool *is_met = calloc((size_t) size + 1, sizeof(bool));
	struct workspace work = { 0 };
	struct nodes ignored = { 0 };
	nodes->in_order = malloc(((size_t) (size < nodes->n ? size : nodes->n) + 1) * sizeof(int32_t));
	bool ok = is_met && nodes->in_order;
	for (int64_t fiber = 0, at = 0; ok && at < nodes->n; fiber++) {
		if (nodes->coefficients[at].fiber != fiber)
			continue;
		ok = workspace_reserve(&work, c->tracks->offsets[fiber + 1] - c->tracks->offsets[fiber] + 1);
		if (ok)
			place_points(c, fiber, &work, &ignored);
		for (int64_t i = 0; ok && i < work.n; i++) {
			int32_t voxel = voxel_of(c, work.place + 3 * i);
			if (voxel >= 0 && !is_met[voxel])
				nodes->in_order[nodes->n_voxels++] = voxel;
			if (voxel >= 0)
				is_met[voxel] = true;
		}
		while (at < nodes->n && nodes->coefficients[at].fiber == fiber)
			at++;
	}
	workspace_free(&work);
	free(is_met);
	return ok;
}

bool nodes_count(struct nodes *nodes, const struct tracks *tracks, const struct image *image,
		 const struct sphere *sphere, const struct encode_options *options, struct failure *failure)
{
	const double *size = image->voxel_size;
	struct counting c = { tracks, image, sphere, options,
			      fabs(size[0] - size[1]) < 1e-4 * size[0] && fabs(size[0] - size[2]) < 1e-4 * size[0] };
	int64_t n_blocks = (tracks->n + BLOCK - 1) / BLOCK;
	struct nodes *blocks = calloc((size_t) n_blocks + 1, sizeof(*blocks));
	*nodes = (struct nodes){ 0 };
	bool ok = blocks && count_blocks(&c, blocks, n_blocks) && join(nodes, blocks, n_blocks) &&
		  order_voxels(&c, nodes);
	for (int64_t i = 0; blocks && i < n_blocks; i++)
		nodes_free(&blocks[i]);
	free(blocks);
	return ok || fail_memory(failure, "the coefficients");
}

void nodes_free(struct nodes *nodes)
{
	free(nodes->coefficients);
	free(nodes->in_order);
	*nodes = (struct nodes){ 0 };
}
