/* SPDX-License-Identifier: MIT
 *
 * Copies of batches in blocks of systems of about one size, the longest first. What no system has is a row of the unit
 * matrix, so that lanes need no conditions; the coefficients that lead out of a system (of roots, of the first and last
 * row of a chain) become 0. */
#include "systems_blocks.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "life_layout.h"

/* Arrays begin at different places of a page, so that a write does not seem to meet the next reads. */
enum { SKEW_BYTES = 5 * 64 + 1024 };

static int64_t length_of(const struct system_batch *batch, int64_t s)
{
	return batch->offset[s + 1] - batch->offset[s];
}

/* Systems by length, the longest first, those of one length in their order: by counting. */
static bool sort_systems(const struct system_batch *batch, int64_t *order)
{
	int64_t *count = calloc((size_t) batch->n + 2, sizeof(*count));
	if (!count)
		return false;
	for (int64_t s = 0; s < batch->n_systems; s++)
		count[batch->n - length_of(batch, s) + 1]++;
	for (int64_t i = 0; i <= batch->n; i++)
		count[i + 1] += count[i];
	for (int64_t s = 0; s < batch->n_systems; s++)
		order[count[batch->n - length_of(batch, s)]++] = s;
	free(count);
	return true;
}

static void *new_values(struct system_call *call, int number, size_t element)
{
	struct system_blocks *b = &call->blocks;
	size_t bytes = (size_t) (b->start[b->n_blocks] * b->lanes) * element, skew = (size_t) number * SKEW_BYTES;
	char *values = life_memory((int64_t) (bytes + skew), 1);
	call->bytes += bytes;
	return values ? values + skew : NULL;
}

static void free_values(void *values, int number)
{
	if (values)
		free((char *) values - number * SKEW_BYTES);
}

/* ---- Filling ------------------------------------------------------------------------------------- */

struct source {
	const void *values;     /* of a system from its offset on; NULL: `missing` */
	double missing;
	bool leads_up, leads_down; /* the first row (or a root), or the last row, has none */
};

static double value_of(const void *values, int64_t i, bool is_single)
{
	return is_single ? (double) ((const float *) values)[i] : ((const double *) values)[i];
}

static void put_value(void *values, int64_t i, bool is_single, double value)
{
	if (is_single)
		((float *) values)[i] = (float) value;
	else
		((double *) values)[i] = value;
}

static bool leads_out(const struct system_batch *batch, const struct source *from, int64_t s, int64_t row)
{
	const int32_t *parent = batch->parent;
	if (batch->is_chain)
		return (from->leads_up && row == 0) || (from->leads_down && row == length_of(batch, s) - 1);
	return from->leads_up && parent[batch->has_one_tree ? row : batch->offset[s] + row] < 0;
}

static void fill_lane(const struct system_call *call, const struct source *from, int64_t block, int lane, void *to)
{
	const struct system_batch *batch = call->batch;
	const struct system_blocks *b = &call->blocks;
	int64_t s = b->system[block * b->lanes + lane], rows = b->start[block + 1] - b->start[block];
	int64_t n = s >= 0 ? length_of(batch, s) : 0;
	for (int64_t row = 0; row < rows; row++) {
		bool is_there = row < n && !leads_out(batch, from, s, row);
		double value = is_there ? value_of(from->values, batch->offset[s] + row, batch->is_single)
					: row < n ? 0 : from->missing;
		put_value(to, (b->start[block] + row) * b->lanes + lane, batch->is_single, value);
	}
}

static void fill_values(const struct system_call *call, const struct source *from, void *to)
{
#pragma omp parallel for num_threads(call->threads) schedule(static)
	for (int64_t block = 0; block < call->blocks.n_blocks; block++)
		for (int lane = 0; lane < call->blocks.lanes; lane++)
			fill_lane(call, from, block, lane, to);
}

/* Shared coefficients stay where they are. */
static bool fill_all(struct system_call *call, size_t element)
{
	const struct system_batch *batch = call->batch;
	struct system_blocks *b = &call->blocks;
	const struct source sources[] = {
		{ batch->diag, 1, false, false }, { batch->rhs, 0, false, false },
		{ batch->upper, 0, !batch->is_chain, true }, { batch->lower, 0, true, false },
	};
	void **to[] = { &b->diag, &b->rhs, &b->upper, &b->lower };
	b->x = new_values(call, 4, element);
	for (int i = 0; i < (batch->is_shared ? 2 : 4); i++) {
		*to[i] = new_values(call, i, element);
		if (!*to[i])
			return false;
		fill_values(call, &sources[i], *to[i]);
	}
	if (batch->is_shared) {
		b->upper = (void *) (uintptr_t) batch->upper;
		b->lower = (void *) (uintptr_t) batch->lower;
		b->is_borrowed = true;
	}
	if (b->x)
		fill_values(call, &sources[1], b->x);
	return b->x;
}

/* ---- Trees of forests ------------------------------------------------------------------------------ */

/* The parent in a lane: roots, and rows that the lane does not have, add nothing to themselves. */
static int64_t parent_in(const struct system_call *call, int64_t block, int lane, int64_t row)
{
	const struct system_batch *batch = call->batch;
	int64_t s = call->blocks.system[block * call->blocks.lanes + lane];
	int64_t parent = s >= 0 && row < length_of(batch, s) ? batch->parent[batch->offset[s] + row] : -1;
	return parent < 0 ? row : parent;
}

static int64_t link_row(struct system_call *call, int64_t block, int64_t row, int64_t n_links)
{
	struct system_blocks *b = &call->blocks;
	int64_t at = b->start[block] + row;
	for (int lane = 0; lane < b->lanes; lane++) {
		int64_t parent = parent_in(call, block, lane, row);
		b->parents[at * b->lanes + lane] = (int32_t) parent;
		if (parent >= row - 1)
			continue;
		b->jumps[at] |= 1u << lane;
		b->links[n_links++] = (int32_t) parent;
	}
	return n_links;
}

static bool make_tables(struct system_call *call)
{
	struct system_blocks *b = &call->blocks;
	size_t rows = (size_t) b->start[b->n_blocks] + 1, lanes = (size_t) b->lanes;
	int64_t n_links = 0;
	b->parents = malloc(rows * lanes * sizeof(*b->parents));
	b->links = malloc(rows * lanes * sizeof(*b->links));
	b->jumps = calloc(rows, sizeof(*b->jumps));
	b->link = calloc((size_t) b->n_blocks + 1, sizeof(*b->link));
	if (!b->parents || !b->links || !b->jumps || !b->link)
		return false;
	for (int64_t block = 0; block < b->n_blocks; block++) {
		for (int64_t row = 0; row < b->start[block + 1] - b->start[block]; row++)
			n_links = link_row(call, block, row, n_links);
		b->link[block + 1] = n_links;
	}
	bool is_masked = call->version->code == SYSTEM_MASKED;
	call->bytes += is_masked ? rows * sizeof(*b->jumps) + (size_t) n_links * sizeof(*b->links)
				 : rows * lanes * sizeof(*b->parents);
	return true;
}

/* ---- Blocks ---------------------------------------------------------------------------------------- */

static bool lay_out(struct system_call *call)
{
	const struct system_batch *batch = call->batch;
	struct system_blocks *b = &call->blocks;
	b->lanes = call->version->lanes * (batch->is_single ? 2 : 1);
	b->n_blocks = (batch->n_systems + b->lanes - 1) / b->lanes;
	b->start = calloc((size_t) b->n_blocks + 1, sizeof(*b->start));
	b->system = malloc((size_t) (b->n_blocks * b->lanes + 1) * sizeof(*b->system));
	if (!b->start || !b->system || !sort_systems(batch, b->system))
		return false;
	for (int64_t i = batch->n_systems; i < b->n_blocks * b->lanes; i++)
		b->system[i] = -1;
	for (int64_t block = 0; block < b->n_blocks; block++)
		b->start[block + 1] = b->start[block] + length_of(batch, b->system[block * b->lanes]);
	b->n = batch->n;
	return true;
}

bool system_blocks_make(struct system_call *call)
{
	const struct system_batch *batch = call->batch;
	size_t element = batch->is_single ? sizeof(float) : sizeof(double);
	bool needs_tables = !batch->is_chain && !batch->has_one_tree;
	return lay_out(call) && fill_all(call, element) && (!needs_tables || make_tables(call));
}

void system_call_fetch(struct system_call *call, void *x)
{
	const struct system_batch *batch = call->batch;
	const struct system_blocks *b = &call->blocks;
	double start = omp_get_wtime();
	if (!call->version->lanes)
		return;
#pragma omp parallel for num_threads(call->threads) schedule(static)
	for (int64_t place = 0; place < b->n_blocks * b->lanes; place++) {
		int64_t s = b->system[place], at = b->start[place / b->lanes] * b->lanes + place % b->lanes;
		for (int64_t row = 0; s >= 0 && row < length_of(batch, s); row++)
			put_value(x, batch->offset[s] + row, batch->is_single,
				  value_of(b->x, at + row * b->lanes, batch->is_single));
	}
	call->back_seconds = omp_get_wtime() - start;
}

void system_blocks_free(struct system_blocks *b)
{
	free_values(b->diag, 0);
	free_values(b->rhs, 1);
	free_values(b->is_borrowed ? NULL : b->upper, 2);
	free_values(b->is_borrowed ? NULL : b->lower, 3);
	free_values(b->x, 4);
	free(b->start);
	free(b->system);
	free(b->parents);
	free(b->jumps);
	free(b->links);
	free(b->link);
	*b = (struct system_blocks){ 0 };
}
