/* SPDX-License-Identifier: MIT
 *
 * Orders of points along curves through space, so that what is near in space is mostly near in the order. Morton's
 * curve (1966) goes by the number that the bits of the coordinates make when they are interleaved; Hilbert's (1891) has
 * no jumps: each place is next to the one before (J. Skilling, AIP Conf. Proc. 707, 2004). Coordinates count from the
 * least one of each axis; where their ranges need more than 63 bits together, the low bits of all are left out. */
#include "plan/plan.h"

#include <string.h>

/* Sets where the axes begin and how many bits a coordinate has. */
static void grid_measure(struct grid *grid, int64_t n)
{
	const int most = 63 / grid->n_axes;

	for (int32_t d = 0; d < grid->n_axes; d++) {
		int64_t least = INT64_MAX, greatest = INT64_MIN, values[BLOCK];
		int bits;

		for (int64_t first = 0; first < n; first += BLOCK) {
			const int64_t in_block = block_size(first, n);

			elements_read(&grid->axes[d], first, in_block, values);
			for (int64_t i = 0; i < in_block; i++) {
				least = values[i] < least ? values[i] : least;
				greatest = values[i] > greatest ? values[i] : greatest;
			}
		}
		grid->least[d] = least;
		bits = n == 0 || greatest == least ? 0
		     : 64 - __builtin_clzll((unsigned long long) greatest - (unsigned long long) least);
		grid->bits = bits > grid->bits ? bits : grid->bits;
	}
	grid->dropped = grid->bits > most ? grid->bits - most : 0;
	grid->bits -= grid->dropped;
}

struct grid grid_of(const pmg_buffer *places)
{
	struct grid grid = { .n_axes = (int32_t) places->shape[1] };

	for (int32_t d = 0; d < grid.n_axes; d++)
		grid.axes[d] = (struct elements) {
			(char *) places->data + d * places->strides[1], places->strides[0], places->type
		};
	grid_measure(&grid, places->shape[0]);
	return grid;
}

/* ---- Hilbert's curve ---- */

/* Cube in cube, from the largest to the smallest: what the turns and mirrors of the larger ones make of the axes. */
static void axes_turn(uint32_t *point, int32_t n_axes, int bits)
{
	for (uint32_t side = (uint32_t) 1 << (bits - 1); side > 1; side /= 2)
		for (int32_t d = 0; d < n_axes; d++) {
			const uint32_t other = (point[0] ^ point[d]) & (side - 1);

			if (point[d] & side) {
				point[0] ^= side - 1;
			} else {
				point[0] ^= other;
				point[d] ^= other;
			}
		}
}

int64_t hilbert_place(uint32_t *point, int32_t n_axes, int bits)
{
	uint32_t turned = 0;
	uint64_t place = 0;

	if (bits == 0)
		return 0;
	axes_turn(point, n_axes, bits);
	for (int32_t d = 1; d < n_axes; d++)
		point[d] ^= point[d - 1];
	for (uint32_t side = (uint32_t) 1 << (bits - 1); side > 1; side /= 2)
		if (point[n_axes - 1] & side)
			turned ^= side - 1;
	for (int b = bits - 1; b >= 0; b--)
		for (int32_t d = 0; d < n_axes; d++)
			place = place << 1 | ((point[d] ^ turned) >> b & 1);
	return (int64_t) place;
}

int64_t grid_hilbert(const struct grid *grid, int64_t i)
{
	uint32_t point[GRID_AXES];

	for (int32_t d = 0; d < grid->n_axes; d++) {
		int64_t value;

		elements_read(&grid->axes[d], i, 1, &value);
		point[d] = (uint32_t) (((uint64_t) value - (uint64_t) grid->least[d]) >> grid->dropped);
	}
	return hilbert_place(point, grid->n_axes, grid->bits);
}

/* ---- Morton's curve ---- */

/* Bit b of `value` at bit n_axes * b. */
static uint64_t bits_spread(uint64_t value, int bits, int32_t n_axes)
{
	uint64_t spread = 0;

	for (int b = 0; b < bits; b++)
		spread |= (value >> b & 1) << (n_axes * b);
	return spread;
}

static void block_encode(const struct grid *grid, int64_t first, int64_t n, int64_t *codes)
{
	uint64_t sums[BLOCK] = { 0 };
	int64_t values[BLOCK];

	for (int32_t d = 0; d < grid->n_axes; d++) {
		elements_read(&grid->axes[d], first, n, values);
		for (int64_t i = 0; i < n; i++) {
			const uint64_t from_least = (uint64_t) values[i] - (uint64_t) grid->least[d];

			sums[i] |= bits_spread(from_least >> grid->dropped, grid->bits, grid->n_axes)
				<< (grid->n_axes - 1 - d);
		}
	}
	for (int64_t i = 0; i < n; i++)
		codes[first + i] = (int64_t) sums[i];
}

int64_t morton_bytes(int64_t n, int32_t threads)
{
	const int64_t values = 3 * n + sort_counts(n, threads);

	return (values * (int64_t) sizeof(int64_t) + PMG_ALIGNMENT - 1) / PMG_ALIGNMENT * PMG_ALIGNMENT;
}

void morton_order(const pmg_buffer *places, int32_t threads, void *memory, int64_t *order, int64_t *rank)
{
	const int64_t n = places->shape[0];
	int64_t *codes = memory;
	struct grid grid = grid_of(places);
	struct sort_key key = { .values = elements_dense(codes, PMG_I64) };
	struct order sorted = {
		.n = n, .points = (uint64_t *) memory + n, .spare = (uint64_t *) memory + 2 * n,
		.n_keys = 1, .keys = &key
	};

	key.bits = grid.n_axes * grid.bits;
	PARALLEL(threads, n, schedule(static))
	for (int64_t first = 0; first < n; first += BLOCK)
		block_encode(&grid, first, block_size(first, n), codes);
	order_sort(&sorted, codes + 3 * n, threads);
	order_points(&sorted, 0, n, order);
	for (int64_t i = 0; rank && i < n; i++)
		rank[order[i]] = i;
}

pmg_status pmg_morton_order(pmg_context *context, const pmg_buffer *places, int32_t threads, int64_t *order)
{
	int64_t bytes;
	void *memory;

	if (!context)
		return PMG_BAD_CALL;
	if (!places || !order || places->rank != 2 || places->shape[0] < 0 || places->shape[0] > PMG_MAX_SIZE
	    || (places->shape[1] != 2 && places->shape[1] != 3) || !element_is_integer(places->type)
	    || places->device != PMG_HOST || (!places->data && places->shape[0] > 0))
		return pmg_fail(context, PMG_BAD_CALL, "places are integers of the host, [n, 2] or [n, 3]");
	if (threads_check(context, threads) != PMG_OK)
		return PMG_BAD_CALL;
	threads = threads_of(threads);
	bytes = morton_bytes(places->shape[0], threads);
	memory = context_allocate(context, (size_t) bytes);
	if (!memory)
		return pmg_fail(context, PMG_NO_RESOURCES, "no memory for %lld bytes of an order in space",
				(long long) bytes);
	morton_order(places, threads, memory, order, NULL);
	context_release(context, memory, (size_t) bytes);
	return PMG_OK;
}
