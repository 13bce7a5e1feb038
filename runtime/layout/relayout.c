/* SPDX-License-Identifier: MIT
 *
 * Buffers change their layout: from rows to blocks along the first dimension, and back.
 *
 * A buffer in blocks of b, [ceil(m/b), n, …, b], is two buffers of rows: its whole blocks as [m/b, b, n, …], and the
 * m % b lanes of the last one as [1, m % b, n, …]. */
#include "plan/plan.h"

#include <stdio.h>

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

bool copies_are_nontemporal(int32_t n, const pmg_buffer *const *to)
{
	int64_t bytes = 0;

	for (int32_t i = 0; i < n; i++)
		bytes += buffer_elements(to[i]) * (int64_t) pmg_type_size(to[i]->type);
	return pmg_uses_nontemporal(2 * bytes, true);
}

/* What the caches do not hold need not be read into them before it is written: where that is done in whole lines. */
static bool may_pass(const struct pair *pair, int64_t row_bytes)
{
	const int64_t lane = pair->rows * (int64_t) pmg_type_size(pair->flat->type);

	if (!pair->into)
		return pair->width <= MOST_LANES && pair->width % MOST_SQUARE == 0 &&
		       pmg_copies_are_whole_lines(pair->rows, lanes_are_whole(pair->flat->data, lane));
	return pair->rows >= MOST_SQUARE && row_bytes % PMG_ALIGNMENT == 0 && row_bytes <= PMG_MOST_NONTEMPORAL &&
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

static void pair_copy(const struct pair *pair, int64_t block, bool are_nontemporal, block_copier *copier)
{
	const int64_t size = (int64_t) pmg_type_size(pair->flat->type), width = pair->width;
	const int64_t left = pair->flat->shape[0] - block * width, at = block * pair->rows * width * size;
	const struct block_copy copy = {
		.block = (char *) pair->blocks->data + at, .lanes = (char *) pair->flat->data + at, .width = width,
		.n_lanes = left < width ? left : width, .rows = pair->rows, .size = size, .into = pair->into,
		.is_nontemporal = are_nontemporal && may_pass(pair, width * size)
	};

	copier(&copy);
}

/* A thread copies the same blocks of all of them. To transpose an element takes as long as eight of them in other loops
 * that are shared among threads. */
static void pairs_copy(const struct pair *pairs, int32_t n, bool are_nontemporal, int32_t threads)
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
				pair_copy(&pairs[i], block, are_nontemporal, copier);
	nontemporal_stores_end();
}

void blocks_copy(const pmg_buffer *to, const pmg_buffer *from, int32_t threads)
{
	const struct pair pair = pair_of(to, from);
	const int64_t whole = pair.flat->shape[0] / pair.width, rest = pair.flat->shape[0] % pair.width;

	if (is_row_major_pair(to, from)) {
		pairs_copy(&pair, 1, copies_are_nontemporal(1, &to), threads);
		return;
	}
	for (int last = 0; last <= (rest > 0); last++) {
		const int64_t first = last ? whole : 0, n_blocks = last ? 1 : whole, n = last ? rest : pair.width;
		const pmg_buffer lanes = lanes_of(pair.blocks, first, n_blocks, n);
		const pmg_buffer rows = rows_of(pair.flat, pair.width, first, n_blocks, n);

		buffer_copy(pair.into ? &lanes : &rows, pair.into ? &rows : &lanes, threads);
	}
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

static bool has_shape(const pmg_buffer *buffer)
{
	bool has = buffer->rank >= 0 && buffer->rank <= PMG_MAX_RANK;

	for (int32_t d = 0; has && d < buffer->rank; d++)
		has = buffer->shape[d] >= 0;
	return has;
}

/* a*b < c*d, if these are numbers. */
static bool is_less(int64_t a, int64_t b, int64_t c, int64_t d)
{
	int64_t left, right;

	return !__builtin_mul_overflow(a, b, &left) && !__builtin_mul_overflow(c, d, &right) && left < right;
}

/* Can both be blocks, of two widths, of as many systems? */
static bool only_widths_differ(const pmg_buffer *to, const pmg_buffer *from)
{
	const int32_t last = to->rank - 1;
	bool only = to->rank == from->rank && last > 1 && to->shape[last] != from->shape[last] && to->shape[0] > 0 &&
		    is_less(to->shape[0] - 1, to->shape[last], from->shape[0], from->shape[last]) &&
		    is_less(from->shape[0] - 1, from->shape[last], to->shape[0], to->shape[last]);

	for (int32_t d = 1; only && d < last; d++)
		only = to->shape[d] == from->shape[d];
	return only;
}

/* What is wrong with one of them, if the other one is not looked at. */
static pmg_status buffer_check(pmg_context *context, const pmg_buffer *buffer, const char *which)
{
	const char *fault = buffer->device != PMG_HOST ? "is not in memory of the host"
			  : !has_shape(buffer) ? "has a rank that cannot be, or a negative extent"
			  : buffer_lacks_data(buffer) ? "has no data"
			  : !buffer_is_addressable(buffer) ? "goes beyond the end of memory" : NULL;

	if (buffer->type != PMG_F64 && buffer->type != PMG_F32)
		return pmg_fail(context, PMG_BAD_CALL, "the buffer that is %s has elements of %s, not of f64 or f32",
				which, pmg_type_name(buffer->type));
	return fault ? pmg_fail(context, PMG_BAD_CALL, "the buffer that is %s %s", which, fault) : PMG_OK;
}

/* Each of a pair by itself, and their types. */
static pmg_status buffers_check(pmg_context *context, const pmg_buffer *to, const pmg_buffer *from)
{
	pmg_status status = buffer_check(context, to, "written");

	if (status == PMG_OK)
		status = buffer_check(context, from, "read");
	if (status == PMG_OK && to->type != from->type)
		status = pmg_fail(context, PMG_BAD_CALL,
				  "the buffer that is written has elements of %s, the one that is read of %s",
				  pmg_type_name(to->type), pmg_type_name(from->type));
	return status;
}

/* What the first buffers reach is found once, of others when it is asked for. */
struct reaches {
	const pmg_buffer *const *buffers;
	struct reach first[MOST_PAIRS];
};

static void reaches_find(struct reaches *reaches, int32_t n, const pmg_buffer *const *buffers)
{
	reaches->buffers = buffers;
	for (int32_t i = 0; i < n && i < MOST_PAIRS; i++)
		reaches->first[i] = buffer_reach(buffers[i]);
}

static struct reach reach_at(const struct reaches *reaches, int32_t i)
{
	return i < MOST_PAIRS ? reaches->first[i] : buffer_reach(reaches->buffers[i]);
}

static bool overlap_at(const struct reaches *one, int32_t at, const struct reaches *other, int32_t i)
{
	return reaches_meet(reach_at(one, at), reach_at(other, i)) &&
	       buffers_overlap(one->buffers[at], other->buffers[i]);
}

/* The first one whose written buffer shares memory with what is read or with another one that is written, or n. */
static int32_t pair_that_overlaps(int32_t n, const pmg_buffer *const *to, const pmg_buffer *const *from)
{
	struct reaches written, read;

	reaches_find(&written, n, to);
	reaches_find(&read, n, from);
	for (int32_t at = 0; at < n; at++)
		for (int32_t i = 0; i < n; i++)
			if (overlap_at(&written, at, &read, i) || (i > at && overlap_at(&written, at, &written, i)))
				return at;
	return n;
}

static pmg_status sharing_fail(pmg_context *context)
{
	return pmg_fail(context, PMG_BAD_CALL, "a buffer that is written shares memory");
}

/* Where there are several, messages begin with the number of the pair. */
static pmg_status pair_fail(pmg_context *context, pmg_status status, int32_t n, int32_t pair)
{
	char message[MESSAGE_BYTES];

	if (n <= 1)
		return status;
	snprintf(message, sizeof message, "%s", pmg_message(context));
	return pmg_fail(context, status, "pair %d: %s", (int) pair, message);
}

/* But for memory that several buffers share. */
static pmg_status pair_check(pmg_context *context, const pmg_buffer *to, const pmg_buffer *from,
			     pair_checker *check_shapes, const void *user)
{
	pmg_status status = buffers_check(context, to, from);

	if (status == PMG_OK)
		status = check_shapes(context, to, from, user);
	if (status == PMG_OK && !buffer_is_injective(to))
		status = sharing_fail(context);
	return status;
}

pmg_status relayout_pairs_check(pmg_context *context, int32_t n, const pmg_buffer *const *to,
				const pmg_buffer *const *from, pair_checker *check_shapes, const void *user)
{
	int32_t at;

	for (int32_t i = 0; i < n; i++) {
		const pmg_status status = pair_check(context, to[i], from[i], check_shapes, user);

		if (status != PMG_OK)
			return pair_fail(context, status, n, i);
	}
	at = pair_that_overlaps(n, to, from);
	return at < n ? pair_fail(context, sharing_fail(context), n, at) : PMG_OK;
}

pmg_status relayout_call_check(pmg_context *context, int32_t n, const pmg_buffer *const *to,
			       const pmg_buffer *const *from, int32_t threads)
{
	if (n < 0)
		return pmg_fail(context, PMG_BAD_CALL, "n is %d, but must be 0 or more pairs of buffers", (int) n);
	if (n > 0 && (!to || !from))
		return pmg_fail(context, PMG_BAD_CALL, "the list of buffers that are %s is NULL",
				to ? "read" : "written");
	for (int32_t i = 0; i < n; i++)
		if (!to[i] || !from[i])
			return pair_fail(context, pmg_fail(context, PMG_BAD_CALL, "the buffer that is %s is NULL",
							   to[i] ? "read" : "written"), n, i);
	return threads_check(context, threads);
}

static pmg_status shapes_check(pmg_context *context, const pmg_buffer *to, const pmg_buffer *from, const void *user)
{
	(void) user;
	if (shapes_are_equal(to, from) || shapes_agree(to, from) || shapes_agree(from, to))
		return PMG_OK;
	return pmg_fail(context, PMG_BAD_CALL, "%s",
			only_widths_differ(to, from) ? BLOCKS_INTO_BLOCKS
						     : "the buffers have shapes of different arrays");
}

pmg_status pmg_relayout_all(pmg_context *context, int32_t n, const pmg_buffer *const *to,
			    const pmg_buffer *const *from, int32_t threads)
{
	struct pair pairs[MOST_PAIRS];
	bool are_nontemporal;
	int32_t n_pairs = 0;

	if (relayout_call_check(context, n, to, from, threads) != PMG_OK ||
	    relayout_pairs_check(context, n, to, from, shapes_check, NULL) != PMG_OK)
		return PMG_BAD_CALL;
	are_nontemporal = copies_are_nontemporal(n, to);
	for (int32_t i = 0; i < n; i++) {
		if (buffer_is_empty(to[i]))
			continue;
		if (!is_row_major_pair(to[i], from[i])) {
			buffer_copy(to[i], from[i], threads_of(threads));
			continue;
		}
		pairs[n_pairs++] = pair_of(to[i], from[i]);
		if (n_pairs == MOST_PAIRS) {
			pairs_copy(pairs, n_pairs, are_nontemporal, threads_of(threads));
			n_pairs = 0;
		}
	}
	pairs_copy(pairs, n_pairs, are_nontemporal, threads_of(threads));
	return PMG_OK;
}

pmg_status pmg_relayout(pmg_context *context, const pmg_buffer *to, const pmg_buffer *from, int32_t threads)
{
	return pmg_relayout_all(context, 1, &to, &from, threads);
}
