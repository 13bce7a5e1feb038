/* SPDX-License-Identifier: MIT
 *
 * From streamlines to PHI, as ENCODE does (feConnectomeEncoding): a node's voxel is its rounded position, its
 * atom the one nearest to the streamline's direction there, and a coefficient the share of the fiber's nodes
 * in the voxel that have the atom, times S0. Voxels are those that a fiber visits, numbered by ascending
 * coordinates.
 *
 * Fibers are traced in blocks, each into its own list, and the lists are strung together in the order of the
 * fibers; two stable counting sorts, by voxel and then by atom, do the rest. The result of a stable sort is
 * unique, hence no influence of the threads. */
#include "anatomy.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK 256

/* Crumbs of one block of fibers, by (fiber, place, atom); `voxel` still holds the place. */
struct block {
	struct crumb *items;
	size_t n, capacity;
};

/* What one thread needs to encode a fiber. */
struct workspace {
	struct streamline line;
	uint64_t *keys; /* of nodes: place, atom */
};

/* ---- One fiber ------------------------------------------------------------------ */

static bool workspace_new(const struct life_phantom_options *options, struct workspace *work)
{
	size_t capacity = (size_t) streamline_capacity(options);
	work->line.node = calloc(capacity, sizeof(*work->line.node));
	work->keys = calloc(capacity, sizeof(*work->keys));
	return work->line.node && work->keys;
}

static void workspace_free(struct workspace *work)
{
	free(work->line.node);
	free(work->keys);
}

static int compare_keys(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *) left, b = *(const uint64_t *) right;
	return (a > b) - (a < b);
}

static void find_keys(const struct life_phantom_options *options, const struct white_matter *brain,
		      struct workspace *work)
{
	struct streamline *line = &work->line;
	for (int32_t i = 0; i < line->n; i++) {
		double gradient[3];
		streamline_gradient(line, i, gradient);
		uint64_t place = (uint64_t) white_matter_place(brain, line->node[line->first + i]);
		work->keys[i] = place << 32 | (uint64_t) dictionary_nearest(options->grid, gradient);
	}
	qsort(work->keys, (size_t) line->n, sizeof(*work->keys), compare_keys);
}

static bool block_reserve(struct block *block, size_t more)
{
	if (block->n + more <= block->capacity)
		return true;
	size_t capacity = 2 * block->capacity + more;
	struct crumb *items = realloc(block->items, capacity * sizeof(*items));
	if (!items)
		return false;
	block->items = items;
	block->capacity = capacity;
	return true;
}

/* How many of "keys", which are sorted, agree with the first in the bits of "mask". */
static int32_t count_alike(const uint64_t *keys, int32_t n, uint64_t mask)
{
	int32_t alike = 1;
	while (alike < n && (keys[alike] & mask) == (keys[0] & mask))
		alike++;
	return alike;
}

/* Appends a crumb for each distinct key of the sorted "keys". */
static bool block_append(struct block *block, int32_t fiber, const uint64_t *keys, int32_t n)
{
	const uint64_t place_bits = UINT64_MAX << 32;
	int32_t nodes = 0, left = 0;
	if (!block_reserve(block, (size_t) n))
		return false;
	for (int32_t k = 0, count; k < n; k += count, left -= count) {
		if (left == 0)
			nodes = left = count_alike(keys + k, n - k, place_bits);
		count = count_alike(keys + k, n - k, UINT64_MAX);
		block->items[block->n++] = (struct crumb){
			.voxel = (int32_t) (keys[k] >> 32),
			.fiber = fiber,
			.atom = (int32_t) (keys[k] & UINT32_MAX),
			.count = (uint16_t) count,
			.nodes = (uint16_t) nodes,
		};
	}
	return true;
}

/* ---- All fibers ------------------------------------------------------------------- */

static bool encode_block(const struct life_phantom_options *options, const struct white_matter *brain,
			 struct workspace *work, int64_t number, struct block *block)
{
	int64_t first = number * BLOCK;
	int64_t end = first + BLOCK < options->fibers ? first + BLOCK : options->fibers;
	for (int64_t fiber = first; fiber < end; fiber++) {
		streamline_trace(options, brain, fiber, &work->line);
		find_keys(options, brain, work);
		if (!block_append(block, (int32_t) fiber, work->keys, work->line.n))
			return false;
	}
	return true;
}

static bool encode_blocks(const struct life_phantom_options *options, const struct white_matter *brain,
			  struct block *blocks, int64_t n_blocks)
{
	bool ok = true;
	#pragma omp parallel num_threads(phantom_threads(options)) reduction(&& : ok)
	{
		struct workspace work = { 0 };
		ok = workspace_new(options, &work);
	#pragma omp for schedule(dynamic)
		for (int64_t b = 0; b < n_blocks; b++)
			ok = ok && encode_block(options, brain, &work, b, &blocks[b]);
		workspace_free(&work);
	}
	return ok;
}

/* ---- By voxel ----------------------------------------------------------------------- */

/* Counts crumbs per place, then turns counts into positions. Sets `n`, `n_voxels`, `first` and `place`. */
static bool number_voxels(const struct block *blocks, int64_t n_blocks, int64_t n_places, int64_t *position,
			  struct crumbs *crumbs)
{
	for (int64_t b = 0; b < n_blocks; b++)
		for (size_t k = 0; k < blocks[b].n; k++)
			position[blocks[b].items[k].voxel]++;
	for (int64_t place = 0; place < n_places; place++)
		crumbs->n_voxels += position[place] > 0;
	crumbs->first = calloc((size_t) crumbs->n_voxels + 1, sizeof(*crumbs->first));
	crumbs->place = calloc((size_t) crumbs->n_voxels, sizeof(*crumbs->place));
	if (!crumbs->first || !crumbs->place)
		return false;
	for (int64_t place = 0, voxel = 0; place < n_places; place++) {
		int64_t count = position[place];
		position[place] = crumbs->n;
		if (count == 0)
			continue;
		crumbs->place[voxel] = (int32_t) place;
		crumbs->n += count;
		crumbs->first[++voxel] = crumbs->n;
	}
	return true;
}

/* Empties "blocks" on the way, to hold the crumbs little more than once. */
static bool sort_by_voxel(struct block *blocks, int64_t n_blocks, int64_t n_places, struct crumbs *crumbs)
{
	int64_t *position = calloc((size_t) n_places, sizeof(*position));
	bool ok = position && number_voxels(blocks, n_blocks, n_places, position, crumbs);
	if (ok)
		crumbs->items = calloc((size_t) crumbs->n, sizeof(*crumbs->items));
	ok = ok && crumbs->items;
	for (int64_t b = 0; ok && b < n_blocks; b++) {
		for (size_t k = 0; k < blocks[b].n; k++) {
			const struct crumb *crumb = &blocks[b].items[k];
			crumbs->items[position[crumb->voxel]++] = *crumb;
		}
		free(blocks[b].items);
		blocks[b] = (struct block){ 0 };
	}
	for (int64_t v = 0; ok && v < crumbs->n_voxels; v++)
		for (int64_t k = crumbs->first[v]; k < crumbs->first[v + 1]; k++)
			crumbs->items[k].voxel = (int32_t) v;
	free(position);
	return ok;
}

pmg_status crumbs_collect(const struct life_phantom_options *options, const struct white_matter *brain,
			  struct crumbs *crumbs, char *error, size_t size)
{
	int64_t n_blocks = (options->fibers + BLOCK - 1) / BLOCK;
	int64_t n_places = (int64_t) brain->shape[0] * brain->shape[1] * brain->shape[2];
	struct block *blocks = calloc((size_t) n_blocks, sizeof(*blocks));
	memset(crumbs, 0, sizeof(*crumbs));
	bool ok = blocks && encode_blocks(options, brain, blocks, n_blocks);
	ok = ok && sort_by_voxel(blocks, n_blocks, n_places, crumbs);
	for (int64_t b = 0; blocks && b < n_blocks; b++)
		free(blocks[b].items);
	free(blocks);
	if (ok)
		return PMG_OK;
	crumbs_free(crumbs);
	return phantom_no_memory(error, size);
}

void crumbs_free(struct crumbs *crumbs)
{
	free(crumbs->items);
	free(crumbs->first);
	free(crumbs->place);
	memset(crumbs, 0, sizeof(*crumbs));
}

/* ---- By atom --------------------------------------------------------------------------- */

static bool allocate_coefficients(struct life_problem *problem)
{
	size_t n = (size_t) problem->n_coeffs;
	problem->atom = calloc(n, sizeof(*problem->atom));
	problem->voxel = calloc(n, sizeof(*problem->voxel));
	problem->fiber = calloc(n, sizeof(*problem->fiber));
	problem->value = calloc(n, sizeof(*problem->value));
	return problem->atom && problem->voxel && problem->fiber && problem->value;
}

pmg_status crumbs_encode(const struct crumbs *crumbs, struct life_problem *problem, char *error, size_t size)
{
	int64_t *position = calloc((size_t) problem->n_atoms + 1, sizeof(*position));
	if (!position || !allocate_coefficients(problem)) {
		free(position);
		return phantom_no_memory(error, size);
	}
	for (int64_t k = 0; k < crumbs->n; k++)
		position[crumbs->items[k].atom + 1]++;
	for (int64_t a = 0; a < problem->n_atoms; a++)
		position[a + 1] += position[a];
	for (int64_t k = 0; k < crumbs->n; k++) {
		const struct crumb *crumb = &crumbs->items[k];
		int64_t at = position[crumb->atom]++;
		problem->atom[at] = crumb->atom;
		problem->voxel[at] = crumb->voxel;
		problem->fiber[at] = crumb->fiber;
		problem->value[at] = crumb_value(crumb, problem->S0[crumb->voxel]);
	}
	free(position);
	return PMG_OK;
}
