/* SPDX-License-Identifier: MIT
 *
 * Arrays as the caller holds them: in blocks along the first dimension, or with strides. Kernels that take blocks of
 * the first dimension find their parts by three distances; for others the plan keeps a row-major copy.
 *
 * A buffer in blocks of b, [ceil(m/b), n, …, b], is two buffers of rows: its whole blocks as [m/b, b, n, …], and the
 * m % b lanes of the last one as [1, m % b, n, …]. */
#include "plan.h"

#include <stdio.h>
#include <string.h>

/* ---- Buffers in blocks ---- */

bool buffer_is_in_blocks(const pmg_buffer *buffer, int32_t rank)
{
	return rank >= 1 && rank < PMG_MAX_RANK && buffer->rank == rank + 1 && buffer->shape[rank] >= 1 &&
	       (buffer->type == PMG_F64 || buffer->type == PMG_F32);
}

const pmg_buffer *argument_in_blocks(const pmg_array_desc *array, const void *args)
{
	const pmg_buffer *buffer = array_is_internal(array) ? NULL : array_argument(array, args);

	return buffer && buffer->data && buffer_is_in_blocks(buffer, array->rank) ? buffer : NULL;
}

int64_t pmg_blocks_bytes(const pmg_buffer *flat, int64_t block)
{
	const pmg_buffer blocks = pmg_in_blocks(NULL, flat, block);
	int64_t bytes;

	return blocks.rank >= 0 && shape_bytes(blocks.type, blocks.rank, blocks.shape, &bytes) ? bytes : -1;
}

pmg_buffer pmg_in_blocks(void *data, const pmg_buffer *flat, int64_t block)
{
	int64_t shape[PMG_MAX_RANK] = { 0 };
	const int32_t rank = flat ? flat->rank : -1;
	bool is_one = rank >= (block >= 1) && rank <= PMG_MAX_RANK - (block >= 1);

	for (int32_t d = 0; is_one && d < rank; d++) {
		shape[d] = flat->shape[d];
		is_one = shape[d] >= 0;
	}
	if (!is_one)
		return (pmg_buffer) { .rank = -1 };
	if (block < 1)
		return pmg_dense(data, flat->type, rank, shape);
	shape[0] = blocks_of(flat->shape[0], block);
	shape[rank] = block;
	return pmg_dense(data, flat->type, rank + 1, shape);
}

/* ---- Copies ---- */

/* The blocks `first`..`first + n_blocks`, and the first `n` lanes of each, as [n_blocks, n, rows…]. */
static pmg_buffer lanes_of(const pmg_buffer *blocks, int64_t first, int64_t n_blocks, int64_t n)
{
	pmg_buffer view = *blocks;

	view.data = (char *) blocks->data + first * blocks->strides[0];
	view.shape[0] = n_blocks;
	view.shape[1] = n;
	view.strides[1] = blocks->strides[blocks->rank - 1];
	for (int32_t d = 1; d < blocks->rank - 1; d++) {
		view.shape[d + 1] = blocks->shape[d];
		view.strides[d + 1] = blocks->strides[d];
	}
	return view;
}

/* The same elements of a buffer without blocks. */
static pmg_buffer rows_of(const pmg_buffer *flat, int64_t width, int64_t first, int64_t n_blocks, int64_t n)
{
	pmg_buffer view = *flat;

	view.rank = flat->rank + 1;
	view.data = (char *) flat->data + first * width * flat->strides[0];
	view.shape[0] = n_blocks;
	view.strides[0] = width * flat->strides[0];
	view.shape[1] = n;
	view.strides[1] = flat->strides[0];
	for (int32_t d = 1; d < flat->rank; d++) {
		view.shape[d + 1] = flat->shape[d];
		view.strides[d + 1] = flat->strides[d];
	}
	return view;
}

/* Two buffers of which one is in blocks, both row-major. */
struct pair {
	const pmg_buffer *flat, *blocks;
	int64_t width, rows;
	bool into;                      /* blocks */
};

/* The squares of all instruction sets divide the largest one. */
enum { MOST_SQUARE = 8 };

int64_t large_with_lanes(const pmg_pipeline_desc *desc, const int64_t *extents)
{
	int64_t bytes = 0;

	for (int32_t i = 0; i < desc->n_arrays; i++)
		if (!array_is_internal(&desc->arrays[i]) && desc->arrays[i].lanes > 0)
			bytes += array_bytes(&desc->arrays[i], extents);
	return bytes >= FAR_ARGUMENTS ? LARGE_AMONG_FAR : LARGE_RESULT;
}

bool copies_are_large(int32_t n, const pmg_buffer *const *to)
{
	int64_t bytes = 0;

	for (int32_t i = 0; i < n; i++)
		bytes += buffer_elements(to[i]) * (int64_t) pmg_type_size(to[i]->type);
	return 2 * bytes >= LARGE_RESULT;
}

/* Lanes go past the caches if all are whole lines of these, or if their ends, which are parts of lines, are few beside
 * the rest: what copies in runs of two lines has more ends than what brings each line. */
enum { LONG_COPIED = 64, LONG_WHOLE_COPIED = 32, LONG_WRITTEN = 32 };

static bool lanes_are_whole(const void *data, int64_t lane_bytes)
{
	return (uintptr_t) data % PMG_CACHE_LINE == 0 && lane_bytes % PMG_CACHE_LINE == 0;
}

/* What the caches do not hold need not be read into them before it is written: where that is done in whole lines. */
static bool may_pass(const struct pair *pair, int64_t row_bytes)
{
	const int64_t lane = pair->rows * (int64_t) pmg_type_size(pair->flat->type);

	if (!pair->into)
		return pair->width <= MOST_LANES && pair->width % MOST_SQUARE == 0 &&
		       pair->rows >= (lanes_are_whole(pair->flat->data, lane) ? LONG_WHOLE_COPIED : LONG_COPIED);
	return pair->rows >= MOST_SQUARE && row_bytes % PMG_ALIGNMENT == 0 && row_bytes <= MOST_PAST &&
	       (uintptr_t) pair->blocks->data % PMG_ALIGNMENT == 0;
}

static struct pair pair_of(const pmg_buffer *to, const pmg_buffer *from)
{
	const bool into = to->rank > from->rank;
	struct pair pair = { .flat = into ? from : to, .blocks = into ? to : from, .rows = 1, .into = into };

	pair.width = pair.blocks->shape[pair.blocks->rank - 1];
	for (int32_t d = 1; d < pair.flat->rank; d++)
		pair.rows *= pair.flat->shape[d];
	return pair;
}

static bool is_row_major_pair(const pmg_buffer *to, const pmg_buffer *from)
{
	return to->rank != from->rank && buffer_is_row_major(to) && buffer_is_row_major(from);
}

static void pair_copy(const struct pair *pair, int64_t block, bool are_large, block_copier *copier)
{
	const int64_t size = (int64_t) pmg_type_size(pair->flat->type), width = pair->width;
	const int64_t left = pair->flat->shape[0] - block * width, at = block * pair->rows * width * size;
	const struct block_copy copy = {
		.block = (char *) pair->blocks->data + at, .lanes = (char *) pair->flat->data + at, .width = width,
		.n_lanes = left < width ? left : width, .rows = pair->rows, .size = size, .into = pair->into,
		.is_past = are_large && may_pass(pair, width * size)
	};

	copier(&copy);
}

/* A thread copies the same blocks of all of them. To transpose an element takes as long as eight of them in other loops
 * that are shared among threads. */
static void pairs_copy(const struct pair *pairs, int32_t n, bool are_large, int32_t threads)
{
	block_copier *const copier = block_copy_choose();
	int64_t n_blocks = 0, n_elements = 0;

	for (int32_t i = 0; i < n; i++) {
		if (n_blocks < pairs[i].blocks->shape[0])
			n_blocks = pairs[i].blocks->shape[0];
		n_elements += pairs[i].rows * pairs[i].flat->shape[0];
	}
	PARALLEL(threads, 8 * n_elements, schedule(static))
	for (int64_t block = 0; block < n_blocks; block++)
		for (int32_t i = 0; i < n; i++)
			if (block < pairs[i].blocks->shape[0])
				pair_copy(&pairs[i], block, are_large, copier);
	stores_past_end();
}

void blocks_copy(const pmg_buffer *to, const pmg_buffer *from, int32_t threads)
{
	const struct pair pair = pair_of(to, from);
	const int64_t whole = pair.flat->shape[0] / pair.width, rest = pair.flat->shape[0] % pair.width;

	if (is_row_major_pair(to, from)) {
		pairs_copy(&pair, 1, copies_are_large(1, &to), threads);
		return;
	}
	for (int last = 0; last <= (rest > 0); last++) {
		const int64_t first = last ? whole : 0, n_blocks = last ? 1 : whole, n = last ? rest : pair.width;
		const pmg_buffer lanes = lanes_of(pair.blocks, first, n_blocks, n);
		const pmg_buffer rows = rows_of(pair.flat, pair.width, first, n_blocks, n);

		buffer_copy(pair.into ? &lanes : &rows, pair.into ? &rows : &lanes, threads);
	}
}

/* ---- Where a kernel finds its parts ---- */

/* The distance from row to row, what follows the first dimension being rows, if there is one. */
static bool rows_are_even(const pmg_buffer *buffer, int32_t rank, int64_t size, int64_t *row)
{
	int64_t next = 0;

	*row = 1;
	for (int32_t d = rank - 1; d >= 1; d--) {
		if (buffer->shape[d] == 1)
			continue;
		if (buffer->strides[d] % size != 0 || (next != 0 && buffer->strides[d] != next))
			return false;
		*row = next != 0 ? *row : buffer->strides[d] / size;
		next = buffer->strides[d] * buffer->shape[d];
	}
	return true;
}

static bool is_far(const pmg_buffer *buffer, int64_t bytes)
{
	return buffer->strides[0] >= bytes / (buffer->shape[0] > 0 ? buffer->shape[0] : 1);
}

/* `row_size`: bytes of a row of all lanes. */
static bool lanes_are_far(const pmg_place *place, const pmg_buffer *buffer, int64_t row_size)
{
	return place->row == 1 && is_far(buffer, place->lane * row_size > LONG_LANES ? FAR_BLOCKS : FAR_LANES);
}

static bool rows_are_whole(const pmg_array_desc *array, const pmg_buffer *blocks, const pmg_place *place, int64_t size)
{
	return place->lane == 1 && place->row == array->lanes && (uintptr_t) blocks->data % PMG_ALIGNMENT == 0 &&
	       array->lanes * size % PMG_ALIGNMENT == 0 && place->block * size % PMG_ALIGNMENT == 0;
}

static bool lanes_are_large(const pmg_buffer *flat, const pmg_place *place, int64_t large, int64_t size)
{
	const bool are_whole = lanes_are_whole(flat->data, place->lane * size);

	return place->row == 1 && (are_whole || place->lane >= LONG_WRITTEN) &&
	       is_far(flat, are_whole ? large : LARGE_RESULT);
}

static bool lanes_find(const pmg_array_desc *array, const pmg_buffer *buffer, int64_t large, pmg_place *place)
{
	const int64_t size = (int64_t) pmg_type_size(array->type);
	const bool has_blocks = buffer_is_in_blocks(buffer, array->rank);
	const int64_t lane = buffer->strides[has_blocks ? array->rank : 0];

	if (!buffer->data || buffer->type != array->type ||
	    (!has_blocks && buffer->rank != array->rank) || (uintptr_t) buffer->data % (size_t) size != 0 ||
	    lane % size != 0 || buffer->strides[0] % size != 0)
		return false;
	if ((has_blocks && buffer->shape[array->rank] != array->lanes) ||
	    !rows_are_even(buffer, array->rank, size, &place->row))
		return false;
	place->lane = lane / size;
	place->block = buffer->strides[0] / size * (has_blocks ? 1 : array->lanes);
	place->is_padded = has_blocks;
	place->is_large = has_blocks ? is_far(buffer, large) && rows_are_whole(array, buffer, place, size)
				     : lanes_are_large(buffer, place, large, size);
	place->asks_ahead = has_blocks ? place->lane == 1 && place->row == array->lanes && is_far(buffer, FAR_BLOCKS)
				       : lanes_are_far(place, buffer, array->lanes * size);
	return true;
}

/* Blocks of segments are found by the list of these, and are row-major; so are flat arrays that have some. */
static bool segments_find(const pmg_array_desc *array, const pmg_buffer *buffer, int64_t large, pmg_place *place)
{
	const bool has_blocks = buffer_is_in_blocks(buffer, 1);
	const int64_t row = array->lanes * (int64_t) pmg_type_size(array->type);

	if (!buffer->data || buffer->type != array->type || !buffer_is_row_major(buffer) ||
	    (has_blocks ? buffer->shape[1] != array->lanes : buffer->rank != 1))
		return false;
	*place = (pmg_place) { .asks_ahead = is_far(buffer, has_blocks ? FAR_BLOCKS : FAR_LANES) };
	if (!has_blocks)
		return true;
	place->lane = 1;
	place->row = array->lanes;
	place->is_padded = true;
	place->is_large = (uintptr_t) buffer->data % PMG_ALIGNMENT == 0 && row % PMG_ALIGNMENT == 0 &&
			  is_far(buffer, large);
	return true;
}

bool parts_find(const pmg_array_desc *array, const pmg_buffer *buffer, int64_t large, pmg_place *place)
{
	if (array->lanes == 0)
		return false;
	return array->segments >= 0 ? segments_find(array, buffer, large, place)
				    : lanes_find(array, buffer, large, place);
}

void place_foresee(const pmg_array_desc *array, const pmg_buffer *buffer, pmg_place *place)
{
	place->is_foreseen = true;
	if (array->segments < 0)
		place->asks_ahead = is_far(buffer, FAR_BLOCKS);
}

/* ---- For callers ---- */

static bool shapes_agree(const pmg_buffer *flat, const pmg_buffer *blocks)
{
	bool agree = buffer_is_in_blocks(blocks, flat->rank) &&
		     blocks->shape[0] == blocks_of(flat->shape[0], blocks->shape[flat->rank]);

	for (int32_t d = 1; d < flat->rank && agree; d++)
		agree = blocks->shape[d] == flat->shape[d];
	return agree;
}

static bool has_no_data(const pmg_buffer *buffer)
{
	return buffer && buffer->rank >= 0 && buffer->rank <= PMG_MAX_RANK && buffer_lacks_data(buffer);
}

static bool is_float_buffer(const pmg_buffer *buffer)
{
	bool is = buffer && (buffer->type == PMG_F64 || buffer->type == PMG_F32) && buffer->device == PMG_HOST &&
		  buffer->rank >= 0 && buffer->rank <= PMG_MAX_RANK;

	for (int32_t d = 0; is && d < buffer->rank; d++)
		is = buffer->shape[d] >= 0;
	return is && !buffer_lacks_data(buffer) && buffer_is_addressable(buffer);
}

/* Can both be blocks, of two widths, of as many systems? */
static bool only_widths_differ(const pmg_buffer *to, const pmg_buffer *from)
{
	const int32_t last = to->rank - 1;
	bool only = to->rank == from->rank && last > 1 && to->shape[last] != from->shape[last] && to->shape[0] > 0 &&
		    (to->shape[0] - 1) * to->shape[last] < from->shape[0] * from->shape[last] &&
		    (from->shape[0] - 1) * from->shape[last] < to->shape[0] * to->shape[last];

	for (int32_t d = 1; only && d < last; d++)
		only = to->shape[d] == from->shape[d];
	return only;
}

/* What is wrong with a pair of buffers, if the pairs behind it are not looked at; NULL: nothing. */
static const char *pair_fault(const pmg_buffer *to, const pmg_buffer *from)
{
	if (has_no_data(to) || has_no_data(from))
		return has_no_data(to) ? "the buffer that is written has no data"
				       : "the buffer that is read has no data";
	if (!is_float_buffer(to) || !is_float_buffer(from) || to->type != from->type)
		return "what changes its layout are two buffers of one float type";
	if (!shapes_are_equal(to, from) && !shapes_agree(to, from) && !shapes_agree(from, to))
		return only_widths_differ(to, from) ? "blocks become blocks of another width by way of a flat buffer"
						    : "the buffers have shapes of different arrays";
	return buffer_is_injective(to) && !buffers_overlap(to, from) ? NULL : SHARED_MEMORY;
}

int32_t pair_that_overlaps(int32_t n, const pmg_buffer *const *to, const pmg_buffer *const *from)
{
	for (int32_t at = 0; at < n; at++)
		for (int32_t i = 0; i < n; i++)
			if (i != at && (buffers_overlap(to[at], from[i]) || buffers_overlap(to[at], to[i])))
				return at;
	return n;
}

const char *pair_text(char text[PAIR_TEXT_SIZE], int32_t n, int32_t pair)
{
	text[0] = '\0';
	if (n > 1)
		snprintf(text, PAIR_TEXT_SIZE, "pair %d: ", (int) pair);
	return text;
}

static pmg_status pairs_check(pmg_context *context, int32_t n, const pmg_buffer *const *to,
			      const pmg_buffer *const *from)
{
	const char *fault = NULL;
	char pair[PAIR_TEXT_SIZE];
	int32_t at = 0;

	for (; at < n; at++) {
		fault = pair_fault(to[at], from[at]);
		if (fault)
			break;
	}
	if (!fault && (at = pair_that_overlaps(n, to, from)) < n)
		fault = SHARED_MEMORY;
	return fault ? pmg_fail(context, PMG_BAD_CALL, "%s%s", pair_text(pair, n, at), fault) : PMG_OK;
}

pmg_status pmg_relayout_all(pmg_context *context, int32_t n, const pmg_buffer *const *to,
			    const pmg_buffer *const *from, int32_t threads)
{
	struct pair pairs[MOST_PAIRS];
	bool are_large;
	int32_t n_pairs = 0;

	if (threads < 0 || n < 0 || (n > 0 && (!to || !from)))
		return pmg_fail(context, PMG_BAD_CALL, "what changes its layout are pairs of buffers, by threads");
	if (pairs_check(context, n, to, from) != PMG_OK)
		return PMG_BAD_CALL;
	are_large = copies_are_large(n, to);
	for (int32_t i = 0; i < n; i++) {
		if (buffer_is_empty(to[i]))
			continue;
		if (!is_row_major_pair(to[i], from[i])) {
			buffer_copy(to[i], from[i], threads_of(threads));
			continue;
		}
		pairs[n_pairs++] = pair_of(to[i], from[i]);
		if (n_pairs == MOST_PAIRS) {
			pairs_copy(pairs, n_pairs, are_large, threads_of(threads));
			n_pairs = 0;
		}
	}
	pairs_copy(pairs, n_pairs, are_large, threads_of(threads));
	return PMG_OK;
}

pmg_status pmg_relayout(pmg_context *context, const pmg_buffer *to, const pmg_buffer *from, int32_t threads)
{
	return pmg_relayout_all(context, 1, &to, &from, threads);
}

int32_t pmg_plan_lanes(const pmg_plan *handle, const char *argument)
{
	const pmg_pipeline_desc *desc = handle && argument ? plan_of_const(handle)->desc : NULL;

	for (int32_t i = 0; desc && i < desc->n_arrays; i++)
		if (!array_is_internal(&desc->arrays[i]) && strcmp(desc->arrays[i].name, argument) == 0)
			return desc->arrays[i].is_fixed || desc->arrays[i].rank == PMG_MAX_RANK
			       ? 0 : desc->arrays[i].lanes;
	return -1;
}
