/* SPDX-License-Identifier: MIT
 *
 * The layout of the best hand-written version: voxel-major, coefficients of one atom and voxel merged into a pair,
 * pairs of a voxel ordered by how many coefficients they have (then loops over them end where the processor expects
 * it), voxels along a Morton curve if their places are known, fibers renumbered by first use, 16-bit atoms, and chunks
 * of about equal work for dynamic scheduling. */
#include "life_layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNKS = 256 };

/* What is only needed while the layout is made. */
struct work {
	int32_t *rank;          /* of each voxel in space */
	int32_t *places;        /* of coefficients by (rank, atom), then by multiplicity too */
	int32_t *sorted;
	int32_t *new_fiber;
	uint32_t *starts;       /* of the pairs of one voxel */
	uint32_t *buckets;      /* by multiplicity */
};

/* ---- Voxels along a curve ------------------------------------------------------------------ */

struct keyed {
	uint64_t key;
	int32_t voxel;
};

static uint64_t spread(uint64_t x)
{
	uint64_t key = 0;
	for (int bit = 0; bit < 16; bit++)
		key |= (x >> bit & 1) << (3 * bit);
	return key;
}

static int compare_keyed(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->voxel > y->voxel) - (x->voxel < y->voxel);
}

static int32_t *rank_voxels(const struct life_tensor *t)
{
	int32_t *rank = life_memory(t->n_voxels, sizeof(*rank));
	struct keyed *keyed = calloc((size_t) t->n_voxels + 1, sizeof(*keyed));
	for (int64_t v = 0; rank && keyed && v < t->n_voxels; v++) {
		keyed[v].voxel = (int32_t) v;
		for (int d = 0; t->coords && d < 3; d++)
			keyed[v].key |= spread((uint64_t) t->coords[3 * v + d]) << d;
	}
	if (rank && keyed)
		qsort(keyed, (size_t) t->n_voxels, sizeof(*keyed), compare_keyed);
	for (int64_t i = 0; rank && keyed && i < t->n_voxels; i++)
		rank[keyed[i].voxel] = (int32_t) i;
	if (!keyed) {
		free(rank);
		rank = NULL;
	}
	free(keyed);
	return rank;
}

static void write_voxels(const struct life_tensor *t, const int32_t *rank, struct life_best *layout)
{
	bool *is_used = calloc((size_t) t->n_voxels + 1, sizeof(*is_used));
	int32_t *at = life_memory(t->n_voxels, sizeof(*at));
	if (is_used && at) {
		for (int64_t k = 0; k < t->n_coeffs; k++)
			is_used[t->voxel[k]] = true;
		for (int64_t v = 0; v < t->n_voxels; v++)
			at[rank[v]] = (int32_t) v;
		for (int64_t i = 0; i < t->n_voxels; i++)
			if (is_used[at[i]])
				layout->used[layout->n_used++] = at[i];
			else
				layout->empty[layout->n_empty++] = at[i];
	}
	free(is_used);
	free(at);
}

/* ---- Pairs ------------------------------------------------------------------------------------ */

/* Places first..end are those of a voxel, by atom. Writes where its pairs begin; returns how many there are. */
static uint32_t find_pairs(const struct life_tensor *t, const int32_t *places, int64_t first, int64_t end,
			   uint32_t *starts)
{
	uint32_t n = 0;
	for (int64_t i = first; i < end; i++)
		if (i == first || t->atom[places[i]] != t->atom[places[i - 1]])
			starts[n++] = (uint32_t) i;
	starts[n] = (uint32_t) end;
	return n;
}

/* Appends the pairs of a voxel, ordered by multiplicity. `buckets` is zero before and after. */
static void append_pairs(const struct life_tensor *t, struct work *work, uint32_t n, struct life_best *layout)
{
	uint32_t *starts = work->starts, *buckets = work->buckets, most = 0, next = 0;
	for (uint32_t p = 0; p < n; p++) {
		uint32_t many = starts[p + 1] - starts[p];
		buckets[many]++;
		most = many > most ? many : most;
	}
	for (uint32_t many = 1; many <= most; many++) {
		for (uint32_t p = 0; buckets[many] > 0 && p < n; p++) {
			if (starts[p + 1] - starts[p] != many)
				continue;
			layout->atom[layout->n_pairs] = (uint16_t) t->atom[work->places[starts[p]]];
			memcpy(work->sorted + starts[0] + next, work->places + starts[p], many * sizeof(int32_t));
			next += many;
			layout->first_coeff[++layout->n_pairs] = starts[0] + next;
			layout->ones[layout->n_used] += many == 1;
		}
		buckets[many] = 0;
	}
}

static void write_pairs(const struct life_tensor *t, struct work *work, struct life_best *layout)
{
	int64_t end, n_used = layout->n_used;
	layout->n_used = 0;
	for (int64_t first = 0; first < t->n_coeffs; first = end) {
		for (end = first; end < t->n_coeffs &&
				  t->voxel[work->places[end]] == t->voxel[work->places[first]];)
			end++;
		uint32_t n = find_pairs(t, work->places, first, end, work->starts);
		append_pairs(t, work, n, layout);
		layout->first_pair[++layout->n_used] = (uint32_t) layout->n_pairs;
		layout->most_pairs = n > layout->most_pairs ? n : layout->most_pairs;
	}
	layout->n_used = n_used;
}

/* ---- Coefficients ------------------------------------------------------------------------------ */

static void write_coeffs(const struct life_tensor *t, struct work *work, struct life_best *layout)
{
	int32_t n = 0;
	memset(work->new_fiber, -1, (size_t) t->n_fibers * sizeof(int32_t));
	for (int64_t i = 0; i < t->n_coeffs; i++) {
		int32_t k = work->sorted[i], fiber = t->fiber[k];
		if (work->new_fiber[fiber] < 0) {
			layout->old_fiber[n] = fiber;
			work->new_fiber[fiber] = n++;
		}
		layout->fiber[i] = work->new_fiber[fiber];
		layout->value[i] = t->value[k];
	}
	memset(layout->fiber + t->n_coeffs, 0, LIFE_AHEAD * sizeof(int32_t));
	for (int64_t fiber = 0; fiber < t->n_fibers; fiber++)
		if (work->new_fiber[fiber] < 0)
			layout->old_fiber[n++] = (int32_t) fiber;
}

/* A pair costs a row, a coefficient about as much as a few elements. */
static int64_t cost_until(const struct life_best *layout, int64_t used)
{
	int64_t pair = layout->first_pair[used];
	return pair * layout->n_theta + 16 * (int64_t) layout->first_coeff[pair] + used * layout->n_theta;
}

static void cut_chunks(struct life_best *layout)
{
	int64_t whole = cost_until(layout, layout->n_used), n = 0;
	layout->chunk[0] = 0;
	for (int64_t u = 1; u <= layout->n_used; u++)
		if (cost_until(layout, u) * CHUNKS >= whole * (n + 1))
			layout->chunk[++n] = (int32_t) u;
	layout->n_chunks = n;
}

static void write_rows(const struct life_tensor *t, struct life_best *layout)
{
	for (int64_t a = 0; a < t->n_atoms; a++) {
		for (int64_t i = 0; i < layout->row; i++)
			layout->D[a * layout->row + i] = i < t->n_theta ? t->D[a * t->n_theta + i] : 0;
		for (int64_t i = 0; i < layout->row_f32; i++)
			layout->D_f32[a * layout->row_f32 + i] =
				i < t->n_theta ? (float) t->D[a * t->n_theta + i] : 0;
	}
}

/* ---- Memory -------------------------------------------------------------------------------------- */

static int64_t padded(int64_t n, int64_t width)
{
	return (n + width - 1) / width * width;
}

/* Counted as it is given. */
static void *take(struct life_best *layout, bool *ok, int64_t n, size_t element)
{
	void *memory = life_memory(n, element);
	*ok = *ok && memory;
	layout->bytes += (size_t) n * element;
	return memory;
}

static bool allocate(const struct life_tensor *t, struct life_best *layout)
{
	bool ok = true;
	layout->row = padded(t->n_theta, LIFE_ROW);
	layout->row_f32 = padded(t->n_theta, LIFE_ROW_F32);
	layout->used = take(layout, &ok, t->n_voxels, sizeof(int32_t));
	layout->empty = take(layout, &ok, t->n_voxels, sizeof(int32_t));
	layout->first_pair = take(layout, &ok, t->n_voxels + 1, sizeof(uint32_t));
	layout->ones = take(layout, &ok, t->n_voxels, sizeof(uint32_t));
	layout->first_coeff = take(layout, &ok, t->n_coeffs + 1, sizeof(uint32_t));
	layout->atom = take(layout, &ok, t->n_coeffs, sizeof(uint16_t));
	layout->fiber = take(layout, &ok, t->n_coeffs + LIFE_AHEAD, sizeof(int32_t));
	layout->value = take(layout, &ok, t->n_coeffs, sizeof(double));
	layout->old_fiber = take(layout, &ok, t->n_fibers, sizeof(int32_t));
	layout->chunk = take(layout, &ok, CHUNKS + 1, sizeof(int32_t));
	layout->D = take(layout, &ok, t->n_atoms * layout->row, sizeof(double));
	layout->D_f32 = take(layout, &ok, t->n_atoms * layout->row_f32, sizeof(float));
	return ok;
}

static int32_t *rank_of_coeffs(const struct life_tensor *t, const int32_t *rank)
{
	int32_t *key = life_memory(t->n_coeffs, sizeof(*key));
	for (int64_t k = 0; key && rank && k < t->n_coeffs; k++)
		key[k] = rank[t->voxel[k]];
	return key;
}

static bool prepare_work(const struct life_tensor *t, struct work *work)
{
	work->rank = rank_voxels(t);
	int32_t *key = rank_of_coeffs(t, work->rank);
	struct life_tensor ranked = *t;
	ranked.voxel = key;
	if (work->rank && key)
		work->places = life_order(&ranked, LIFE_HYBRID);
	free(key);
	work->sorted = life_memory(t->n_coeffs, sizeof(int32_t));
	work->new_fiber = life_memory(t->n_fibers, sizeof(int32_t));
	work->starts = life_memory(t->n_coeffs + 1, sizeof(uint32_t));
	work->buckets = calloc((size_t) t->n_coeffs + 1, sizeof(uint32_t));
	return work->rank && work->places && work->sorted && work->new_fiber && work->starts && work->buckets;
}

static void free_work(struct work *work)
{
	free(work->rank);
	free(work->places);
	free(work->sorted);
	free(work->new_fiber);
	free(work->starts);
	free(work->buckets);
}

static bool numbers_fit(const struct life_tensor *t, char *error, size_t size)
{
	if (t->n_atoms <= UINT16_MAX + 1 && t->n_coeffs < INT32_MAX)
		return true;
	snprintf(error, size, "it takes at most 65536 atoms and 2^31 coefficients");
	return false;
}

struct life_best *life_best_new(const struct life_tensor *t, char *error, size_t size)
{
	double start = life_now();
	struct work work = { 0 };
	if (!numbers_fit(t, error, size))
		return NULL;
	struct life_best *layout = calloc(1, sizeof(*layout));
	if (!layout || !allocate(t, layout) || !prepare_work(t, &work)) {
		free_work(&work);
		life_best_free(layout);
		snprintf(error, size, "not enough memory");
		return NULL;
	}
	layout->n_voxels = t->n_voxels, layout->n_fibers = t->n_fibers, layout->n_theta = t->n_theta;
	layout->n_coeffs = t->n_coeffs;
	memset(layout->ones, 0, (size_t) t->n_voxels * sizeof(uint32_t));
	layout->first_pair[0] = layout->first_coeff[0] = 0;
	write_voxels(t, work.rank, layout);
	write_pairs(t, &work, layout);
	write_coeffs(t, &work, layout);
	cut_chunks(layout);
	write_rows(t, layout);
	layout->bytes -= (size_t) (layout->n_coeffs - layout->n_pairs) * (sizeof(uint32_t) + sizeof(uint16_t));
	free_work(&work);
	layout->seconds = life_now() - start;
	return layout;
}

void life_best_free(struct life_best *layout)
{
	if (!layout)
		return;
	void *parts[] = { layout->used, layout->empty, layout->first_pair, layout->first_coeff, layout->ones,
			  layout->atom, layout->fiber, layout->value, layout->old_fiber, layout->chunk,
			  layout->D, layout->D_f32 };
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		free(parts[i]);
	free(layout);
}
