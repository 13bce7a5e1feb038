/* SPDX-License-Identifier: MIT
 *
 * One block to or from rows that lie next to each other, or segments, by squares that are transposed in registers: the
 * definition of BLOCK_COPY, a block_copier (plan.h), for the instruction set of the file that includes this. What goes
 * into a block non-temporally is made in a buffer, a few rows at a time, so that whole lines leave it; what comes out
 * of one so is written as segments are, which begin anywhere in a line. */
#include "plan/plan.h"

enum { ROWS_AT_A_TIME = 8 };

static void segments_into(const struct block_copy *copy, void *block, int64_t row, int64_t n_rows)
{
	if (copy->size == 8)
		pmg_ragged_rows_f64(block, copy->width, copy->lanes, copy->begin, copy->lengths, row, row + n_rows);
	else
		pmg_ragged_rows_f32(block, copy->width, copy->lanes, copy->begin, copy->lengths, row, row + n_rows);
}

static void segments_out(const struct block_copy *copy)
{
	if (copy->size == 8)
		pmg_ragged_write_f64(copy->block, copy->width, copy->lanes, copy->begin, copy->lengths,
				copy->is_nontemporal);
	else
		pmg_ragged_write_f32(copy->block, copy->width, copy->lanes, copy->begin, copy->lengths,
				copy->is_nontemporal);
}

/* The rows from `row` on of a block to `block`. */
static void rows_into(const struct block_copy *copy, void *block, int64_t row, int64_t n_rows)
{
	if (copy->lengths)
		segments_into(copy, block, row, n_rows);
	else if (copy->size == 8)
		pmg_block_read_f64(block, copy->width, (const double *) copy->lanes + row, copy->n_lanes, copy->rows,
				   n_rows, 1);
	else
		pmg_block_read_f32(block, copy->width, (const float *) copy->lanes + row, copy->n_lanes, copy->rows,
				   n_rows, 1);
}

/* More rows side by side than a processor reads ahead of: further on, or in a block that follows. */
PMG_PREFETCHES rows_prefetch(const struct block_copy *copy, int64_t row)
{
	const pmg_place place = { .block = copy->width*copy->rows, .row = 1, .lane = copy->rows };

	if (copy->rows > ROWS_AT_A_TIME)
		pmg_prefetch_lanes(copy->lanes, copy->size, &place, copy->n_lanes, row + PMG_PREFETCH_COPY, copy->rows,
				false);
}

/* Segments lie anywhere, and end before a processor reads ahead of them. If two blocks find room in the caches, all of
 * the next one is asked for while this one is copied. */
PMG_PREFETCHES segments_prefetch(const struct block_copy *copy, int64_t row)
{
	const bool is_whole = pmg_prefetches_whole_block(copy->rows*copy->width*copy->size);
	const int64_t at = row + (is_whole ? copy->rows : pmg_min_i64(PMG_PREFETCH_COPY, copy->rows));
	const bool is_here = at < copy->rows;
	const int64_t *const begin = is_here ? copy->begin : copy->next_begin;
	const int64_t first = is_here ? at : at - copy->rows;
	const uintptr_t from = (uintptr_t) (is_here ? copy->lanes : copy->next);

	for (int64_t lane = 0; from && lane < copy->n_lanes; lane++)
		__builtin_prefetch((const void *) (from + (uintptr_t) ((begin[lane] + first)*copy->size)), 0, 2);
}

static void block_nontemporal(const struct block_copy *copy)
{
	_Alignas(64) double buffer[PMG_MOST_NONTEMPORAL*ROWS_AT_A_TIME/sizeof(double)];
	const int64_t row_doubles = copy->width*copy->size/(int64_t) sizeof(double);
	double *to = copy->block;

	for (int64_t at = 0; at < copy->rows; at += ROWS_AT_A_TIME) {
		const int64_t n_rows = pmg_min_i64(ROWS_AT_A_TIME, copy->rows);
		const int64_t row = pmg_min_i64(at, copy->rows - n_rows);

		if (copy->lengths)
			segments_prefetch(copy, at);
		else
			rows_prefetch(copy, at);
		rows_into(copy, buffer, row, n_rows);
		for (int64_t i = (at - row)*row_doubles; i < n_rows*row_doubles; i += PMG_LANES(double))
			PMG_STREAM_F64(to[row*row_doubles + i], PMG_READ_F64(buffer[i]));
	}
}

static void lanes_nontemporal(const struct block_copy *copy)
{
	int64_t begin[MOST_LANES], lengths[MOST_LANES];
	struct block_copy segments = *copy;

	for (int64_t lane = 0; lane < copy->width; lane++) {
		begin[lane] = lane*copy->rows;
		lengths[lane] = lane < copy->n_lanes ? copy->rows : 0;
	}
	segments.begin = begin;
	segments.lengths = lengths;
	segments_out(&segments);
}

/* Through the caches, of which the nearest one reads a line before it is written: the rows that follow are asked for
 * meanwhile, but none behind the last one, which may be another thread's. The last square has rows of the one before it
 * where their number is no multiple. */
#define NEAR_FUNCTION(type, name, NAME) \
	static void near_##name(const struct block_copy *copy) \
	{ \
		const int64_t width = copy->width, rows = copy->rows, square = PMG_SQUARE_##NAME; \
		const type *const lanes = copy->lanes; \
		type *const block = copy->block; \
		if (!pmg_in_squares_##name(width, rows, 1)) { \
			pmg_block_read_##name(block, width, lanes, copy->n_lanes, rows, rows, 1); \
			return; \
		} \
		for (int64_t at = 0; at < rows; at += square) { \
			const int64_t row = pmg_min_i64(at, rows - square), end = pmg_min_i64(at + 2*square, rows); \
			for (int64_t i = (at + square)*width; i < end*width; i += PMG_PUT_##NAME) \
				__builtin_prefetch(&block[i], 1, 3); \
			pmg_squares_read_##name(&block[row*width], width, lanes + row, copy->n_lanes, rows, \
						PMG_SQUARE_##NAME); \
		} \
	}
NEAR_FUNCTION(double, f64, F64)
NEAR_FUNCTION(float, f32, F32)

static void block_near(const struct block_copy *copy)
{
	if (copy->lengths)
		segments_into(copy, copy->block, 0, copy->rows);
	else if (copy->size == 8)
		near_f64(copy);
	else
		near_f32(copy);
}

void BLOCK_COPY(const struct block_copy *copy)
{
	const int64_t width = copy->width, n = copy->n_lanes, rows = copy->rows;

	if (copy->into && copy->is_nontemporal)
		block_nontemporal(copy);
	else if (copy->into)
		block_near(copy);
	else if (copy->lengths)
		segments_out(copy);
	else if (copy->is_nontemporal)
		lanes_nontemporal(copy);
	else if (copy->size == 8)
		pmg_block_write_f64(copy->block, width, copy->lanes, n, rows, rows, 1);
	else
		pmg_block_write_f32(copy->block, width, copy->lanes, n, rows, rows, 1);
}
