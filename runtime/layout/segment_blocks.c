/* SPDX-License-Identifier: MIT
 *
 * Arrays over offsets in blocks of segments: block b holds the segments order[b*width..], the longest first, a lane
 * each, and as many rows as its longest (segment_order.c). Behind the end of a segment, and in lanes without one, is
 * padding: zero where it is made here, anything elsewhere. All of it follows from the offsets.
 *
 * Offsets of a caller are read here before the plan has checked them: what is wrong is told, not trusted. */
#include "plan/plan.h"

#include <string.h>

/* ---- Lists ---- */

static pmg_status offsets_check(pmg_context *context, const pmg_buffer *offsets)
{
	if (!offsets || !element_is_integer(offsets->type) || offsets->device != PMG_HOST || offsets->rank != 1 ||
	    offsets->shape[0] < 1 || !offsets->data || !buffer_is_addressable(offsets))
		return pmg_fail(context, PMG_BAD_CALL,
				"offsets of segments are integers on the host, an array of rank 1 with one value at "
				"least");
	return PMG_OK;
}

static pmg_status values_check_order(pmg_context *context, const int64_t *values, int64_t n)
{
	if (values[0] != 0)
		return pmg_fail(context, PMG_BAD_DATA, "offsets of segments begin with %lld, but must with 0",
				(long long) values[0]);
	for (int64_t i = 1; i < n; i++)
		if (values[i] < values[i - 1])
			return pmg_fail(context, PMG_BAD_DATA,
					"offsets of segments decrease from %lld to %lld at [%lld]",
					(long long) values[i - 1], (long long) values[i], (long long) i);
	return PMG_OK;
}

int64_t segment_list_bytes(int64_t n)
{
	return 3 * (n + 1) * (int64_t) sizeof(int64_t);
}

pmg_status segment_list_open(pmg_context *context, const pmg_buffer *offsets, struct segment_list *list)
{
	pmg_status status = offsets_check(context, offsets);
	struct elements values;
	int64_t n;

	*list = (struct segment_list) { 0 };
	if (status != PMG_OK)
		return status;
	n = offsets->shape[0];
	list->bytes = (size_t) segment_list_bytes(n - 1);
	list->offsets = context_allocate(context, list->bytes);
	if (!list->offsets)
		return pmg_fail(context, PMG_NO_RESOURCES, "no memory to list %lld segments", (long long) (n - 1));
	list->n = n - 1;
	list->order = list->offsets + n;
	list->starts = list->order + n;
	values = elements_of(offsets);
	elements_read(&values, 0, n, list->offsets);
	status = values_check_order(context, list->offsets, n);
	if (status == PMG_OK)
		list->stretch = segments_sort(list->offsets, list->n, list->order, list->starts);
	else
		segment_list_close(context, list);
	return status;
}

void segment_list_close(pmg_context *context, struct segment_list *list)
{
	context_release(context, list->offsets, list->bytes);
	*list = (struct segment_list) { 0 };
}

int64_t segment_list_rows(const struct segment_list *list, int64_t width)
{
	return segments_rows(list->offsets, list->order, list->n, width);
}

/* ---- Copies ---- */

struct segments_copy {
	const struct segment_list *list;
	const pmg_buffer *flat, *blocks;
	bool into, are_squares, has_whole_lines;
	int64_t width;
};

/* Rows of one lane, or a part of a buffer of rank 1. */
static pmg_buffer part_of(const pmg_buffer *buffer, int64_t first, int64_t lane, int64_t n)
{
	pmg_buffer part = *buffer;

	part.rank = 1;
	part.data = (char *) buffer->data + first * buffer->strides[0] +
		    (buffer->rank > 1 ? lane * buffer->strides[1] : 0);
	part.shape[0] = n;
	return part;
}

/* The rows of a lane from `first` on. */
static void padding_clear(const struct segments_copy *copy, int64_t start, int64_t lane, int64_t n)
{
	const double zero = 0;
	const pmg_buffer padding = part_of(copy->blocks, start, lane, n);
	pmg_buffer zeros = pmg_dense((void *) (uintptr_t) &zero, padding.type, 1, &n);

	zeros.strides[0] = 0;
	buffer_copy(&padding, &zeros, 1);
}

/* Whatever the strides are. */
static void lanes_copy(const struct segments_copy *copy, int64_t block)
{
	const struct segment_list *list = copy->list;
	const int64_t first = block * copy->width, start = list->starts[block];
	const int64_t longest = segment_length(list->offsets, list->order[first]);

	for (int64_t lane = 0; lane < copy->width; lane++) {
		const int64_t segment = first + lane < list->n ? list->order[first + lane] : -1;
		const int64_t n = segment < 0 ? 0 : segment_length(list->offsets, segment);
		const pmg_buffer flat = part_of(copy->flat, segment < 0 ? 0 : list->offsets[segment], 0, n);
		const pmg_buffer blocks = part_of(copy->blocks, start, lane, n);

		buffer_copy(copy->into ? &blocks : &flat, copy->into ? &flat : &blocks, 1);
		if (copy->into)
			padding_clear(copy, start + n, lane, longest - n);
	}
}

static bool has_whole_lines(const struct segments_copy *copy)
{
	const int64_t row = copy->width * (int64_t) pmg_type_size(copy->flat->type);

	return row % PMG_ALIGNMENT == 0 && row <= PMG_MOST_NONTEMPORAL &&
			(uintptr_t) copy->blocks->data % PMG_ALIGNMENT == 0;
}

static struct segments_copy copy_of(const struct segment_list *list, const pmg_buffer *to, const pmg_buffer *from)
{
	const bool into = to->rank > from->rank;
	struct segments_copy copy = { .list = list, .into = into };

	copy.flat = into ? from : to;
	copy.blocks = into ? to : from;
	if (copy.blocks->rank == 1)
		return copy;
	copy.width = copy.blocks->shape[1];
	copy.are_squares = buffer_is_row_major(copy.flat) && buffer_is_row_major(copy.blocks) &&
			   copy.width <= MOST_LANES;
	copy.has_whole_lines = has_whole_lines(&copy);
	return copy;
}

/* The lanes of a block of at most MOST_LANES segments; as many rows as the longest has. */
struct block_lanes {
	int64_t begin[MOST_LANES], lengths[MOST_LANES], n, rows;
};

static void block_lanes_find(const struct segments_copy *copy, int64_t block, struct block_lanes *lanes)
{
	const struct segment_list *list = copy->list;
	const int64_t first = block * copy->width, left = list->n - first;

	lanes->n = left < copy->width ? left : copy->width;
	lanes->rows = pmg_block_segments(list->offsets, list->order + first, copy->width, lanes->n, lanes->begin,
					 lanes->lengths);
}

/* What a thread copies next: an array's segments, a block of them. */
struct next_copy {
	const struct segments_copy *copy;
	const struct block_lanes *lanes;
};

static bool is_read_alike(const struct segments_copy *next, const struct segments_copy *copy)
{
	return next->into && next->are_squares && next->flat->type == copy->flat->type;
}

static void squares_copy(const struct segments_copy *copy, int64_t start, const struct block_lanes *lanes,
			 struct next_copy next, bool are_nontemporal, block_copier *copier)
{
	const int64_t size = (int64_t) pmg_type_size(copy->flat->type);
	const bool may_pass = copy->into ? copy->has_whole_lines : !pmg_segment_is_short(lanes->rows * size);
	const struct block_copy one = {
		.block = (char *) copy->blocks->data + start * copy->width * size, .lanes = copy->flat->data,
		.width = copy->width, .n_lanes = lanes->n, .rows = lanes->rows, .size = size, .into = copy->into,
		.is_nontemporal = are_nontemporal && may_pass, .begin = lanes->begin, .lengths = lanes->lengths,
		.next = is_read_alike(next.copy, copy) ? next.copy->flat->data : NULL, .next_begin = next.lanes->begin
	};

	copier(&one);
}

/* A block of all, before `next`. */
static void block_copies(const struct segments_copy *copies, int32_t n, int64_t block, int64_t next,
		bool are_nontemporal,
			 block_copier *copier)
{
	const int64_t last = blocks_of(copies->list->n, copies->width) - 1;
	struct block_lanes here, later;

	if (copies->width <= MOST_LANES)
		block_lanes_find(copies, block, &here);
	if (copies->width <= MOST_LANES && copies->into)
		block_lanes_find(copies, next < last ? next : last, &later);
	for (int32_t i = 0; i < n; i++) {
		const struct next_copy of_next = i + 1 < n ? (struct next_copy) { &copies[i + 1], &here }
							   : (struct next_copy) { &copies[0], &later };

		if (copies[i].are_squares)
			squares_copy(&copies[i], copies->list->starts[block], &here, of_next, are_nontemporal, copier);
		else
			lanes_copy(&copies[i], block);
	}
}

/* Of those that the thread takes: turns of neighbours. */
static int64_t next_block(int64_t block, int64_t turn, int64_t threads)
{
	return (block + 1) % turn == 0 ? block + 1 + (threads - 1) * turn : block + 1;
}

/* Copies in blocks of one width. Threads take blocks as in kernels: each finds in its caches what it
 * has copied. */
static void copies_run(const struct segments_copy *copies, int32_t n, bool are_nontemporal, int32_t threads)
{
	const struct segment_list *list = copies[0].list;
	const int64_t width = copies[0].width;
	const int64_t turn = segments_turn(&(struct segment_shares) { list->offsets, list->order, list->n,
								       list->stretch, width, threads });
	block_copier *const copier = block_copy_choose();

	segment_starts(list->offsets, list->order, list->n, width, list->starts);
	PARALLEL(threads, 8 * n * list->offsets[list->n], schedule(static, turn))
	for (int64_t block = 0; block < blocks_of(list->n, width); block++)
		block_copies(copies, n, block, next_block(block, turn, threads), are_nontemporal, copier);
	nontemporal_stores_end();
}

void segments_copy(const struct segment_list *list, int32_t n, const pmg_buffer *const *to,
		   const pmg_buffer *const *from, int32_t threads)
{
	const bool are_nontemporal = copies_are_nontemporal(n, to);
	struct segments_copy copies[MOST_PAIRS];
	int32_t n_copies = 0;

	for (int32_t i = 0; i < n; i++) {
		const struct segments_copy copy = copy_of(list, to[i], from[i]);

		if (copy.blocks->rank == 1) {
			buffer_copy(to[i], from[i], threads);
			continue;
		}
		if (n_copies == MOST_PAIRS || (n_copies > 0 && copy.width != copies[0].width)) {
			copies_run(copies, n_copies, are_nontemporal, threads);
			n_copies = 0;
		}
		copies[n_copies++] = copy;
	}
	if (n_copies > 0)
		copies_run(copies, n_copies, are_nontemporal, threads);
}

/* ---- For callers ---- */

static bool is_of_segments(const pmg_buffer *flat)
{
	return flat && (flat->type == PMG_F64 || flat->type == PMG_F32) && flat->device == PMG_HOST &&
	       flat->rank == 1 && flat->shape[0] >= 0 && buffer_is_addressable(flat);
}

static pmg_status flat_check(pmg_context *context, const pmg_buffer *flat, const struct segment_list *list)
{
	if (!is_of_segments(flat))
		return pmg_fail(context, PMG_BAD_CALL, "what has segments is a buffer of floats of rank 1");
	if (flat->shape[0] != list->offsets[list->n])
		return pmg_fail(context, PMG_BAD_CALL, "the buffer has %lld elements, but its segments %lld",
				(long long) flat->shape[0], (long long) list->offsets[list->n]);
	return PMG_OK;
}

static pmg_status width_check(pmg_context *context, int64_t block)
{
	if (block <= 0 || is_segment_width(block))
		return PMG_OK;
	return pmg_fail(context, PMG_BAD_CALL, "blocks of %lld segments cannot be, but of 1, 2, 4, ... %d",
			(long long) block, SEGMENTS_STRETCH);
}

pmg_status pmg_in_segments(pmg_context *context, void *data, const pmg_buffer *flat, const pmg_buffer *offsets,
			   int64_t block, pmg_buffer *blocks)
{
	struct segment_list list = { 0 };
	pmg_status status = blocks ? width_check(context, block)
			  : pmg_fail(context, PMG_BAD_CALL, "there is no place for the buffer of blocks, but NULL");

	if (status == PMG_OK)
		status = segment_list_open(context, offsets, &list);
	if (status != PMG_OK)
		return status;
	status = flat_check(context, flat, &list);
	if (status == PMG_OK) {
		const int64_t shape[] = { block > 0 ? segment_list_rows(&list, block) : flat->shape[0], block };

		*blocks = pmg_dense(data, flat->type, block > 0 ? 2 : 1, shape);
	}
	segment_list_close(context, &list);
	return status;
}

int64_t pmg_segments_bytes(pmg_context *context, const pmg_buffer *flat, const pmg_buffer *offsets, int64_t block)
{
	pmg_buffer blocks;

	if (pmg_in_segments(context, NULL, flat, offsets, block, &blocks) != PMG_OK)
		return -1;
	return buffer_elements(&blocks) * (int64_t) pmg_type_size(blocks.type);
}

/* What is beside a flat one: in blocks, or in none, as the flat one. */
static pmg_status blocks_check(pmg_context *context, const pmg_buffer *blocks, const struct segment_list *list)
{
	pmg_status status;

	if (blocks->rank == 1)
		return flat_check(context, blocks, list);
	if (!buffer_is_in_blocks(blocks, 1))
		return pmg_fail(context, PMG_BAD_CALL,
				"one of the buffers has segments in blocks, of rank 2 as [rows, segments of a block]");
	status = width_check(context, blocks->shape[1]);
	if (status != PMG_OK)
		return status;
	if (blocks->shape[0] != segment_list_rows(list, blocks->shape[1]))
		return pmg_fail(context, PMG_BAD_CALL, "blocks of %lld of these segments have %lld rows, not %lld",
				(long long) blocks->shape[1],
				(long long) segment_list_rows(list, blocks->shape[1]), (long long) blocks->shape[0]);
	return PMG_OK;
}

static pmg_status shapes_check(pmg_context *context, const pmg_buffer *to, const pmg_buffer *from, const void *list)
{
	const bool into = to->rank > from->rank;
	pmg_status status;

	if (buffer_is_in_blocks(to, 1) && buffer_is_in_blocks(from, 1))
		return pmg_fail(context, PMG_BAD_CALL, BLOCKS_INTO_BLOCKS);
	status = flat_check(context, into ? from : to, list);
	return status == PMG_OK ? blocks_check(context, into ? to : from, list) : status;
}

pmg_status pmg_relayout_segments_all(pmg_context *context, int32_t n, const pmg_buffer *const *to,
				     const pmg_buffer *const *from, const pmg_buffer *offsets, int32_t threads)
{
	pmg_status status = relayout_call_check(context, n, to, from, threads);
	struct segment_list list;

	if (status == PMG_OK)
		status = segment_list_open(context, offsets, &list);
	if (status != PMG_OK)
		return status;
	status = relayout_pairs_check(context, n, to, from, shapes_check, &list);
	if (status == PMG_OK)
		segments_copy(&list, n, to, from, threads_of(threads));
	segment_list_close(context, &list);
	return status;
}

pmg_status pmg_relayout_segments(pmg_context *context, const pmg_buffer *to, const pmg_buffer *from,
				 const pmg_buffer *offsets, int32_t threads)
{
	return pmg_relayout_segments_all(context, 1, &to, &from, offsets, threads);
}
