/* SPDX-License-Identifier: MIT
 *
 * Arrays over offsets in blocks of segments: which element is where, to and fro, from any strides; padding is zero;
 * what is refused. That kernels take them where they lie is asked by tests/random of every program. */
#include "runtime/check.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SEGMENTS = 80 };

struct lengths {
	int64_t n;
	int64_t offsets[MOST_SEGMENTS + 1];
	int64_t ranks[MOST_SEGMENTS];   /* how many segments come before each */
};

static int64_t length_of(const struct lengths *l, int64_t segment)
{
	return l->offsets[segment + 1] - l->offsets[segment];
}

static bool comes_before(const struct lengths *l, int64_t a, int64_t b)
{
	return length_of(l, a) > length_of(l, b) || (length_of(l, a) == length_of(l, b) && a < b);
}

/* Lengths from 0 to `most`, several of them equal. */
static struct lengths draw(int64_t n, int64_t most, unsigned seed)
{
	struct lengths l = { .n = n };

	for (int64_t s = 0; s < n; s++) {
		seed = seed*1103515245u + 12345u;
		l.offsets[s + 1] = l.offsets[s] + (int64_t) (seed >> 16)%(most + 1);
	}
	for (int64_t s = 0; s < n; s++)
		for (int64_t other = 0; other < n; other++)
			l.ranks[s] += comes_before(&l, other, s);
	return l;
}

/* Rows of the blocks before this one; of all: of the block behind the last. */
static int64_t rows_before(const struct lengths *l, int64_t width, int64_t block)
{
	int64_t rows = 0;

	for (int64_t s = 0; s < l->n; s++)
		if (l->ranks[s]%width == 0 && l->ranks[s]/width < block)
			rows += length_of(l, s);
	return rows;
}

static double number_at(const void *data, pmg_type type, int64_t i)
{
	return type == PMG_F64 ? ((const double *) data)[i] : (double) ((const float *) data)[i];
}

static void number_set(void *data, pmg_type type, int64_t i, double value)
{
	if (type == PMG_F64)
		((double *) data)[i] = value;
	else
		((float *) data)[i] = (float) value;
}

/* Element i is i + 1. */
static bool is_in_place(const struct lengths *l, const pmg_buffer *blocks)
{
	const int64_t width = blocks->rank > 1 ? blocks->shape[1] : 1, n = blocks->shape[0]*width;
	int64_t n_zeros = 0;
	bool is = true;

	for (int64_t i = 0; blocks->rank == 1 && i < n; i++)
		is = is && number_at(blocks->data, blocks->type, i) == (double) (i + 1);
	for (int64_t s = 0; blocks->rank > 1 && s < l->n; s++) {
		const int64_t rank = l->ranks[s], first = rows_before(l, width, rank/width)*width + rank%width;

		for (int64_t r = 0; r < length_of(l, s); r++)
			is = is && number_at(blocks->data, blocks->type, first + r*width) ==
				   (double) (l->offsets[s] + r + 1);
	}
	for (int64_t i = 0; i < n; i++)
		n_zeros += number_at(blocks->data, blocks->type, i) == 0;
	return is && n_zeros == n - l->offsets[l->n];
}

static pmg_buffer strided(void *data, pmg_type type, int64_t n, int64_t step)
{
	pmg_buffer buffer = pmg_dense(data, type, 1, &n);

	buffer.strides[0] *= step;
	return buffer;
}

static bool round_trip(pmg_context *context, const struct lengths *l, pmg_type type, int64_t width, int64_t step)
{
	static double from[4*MOST_SEGMENTS*64], to[4*MOST_SEGMENTS*64];
	const int64_t n = l->offsets[l->n], n_offsets = l->n + 1;
	const pmg_buffer offsets = pmg_dense((void *) (uintptr_t) l->offsets, PMG_I64, 1, &n_offsets);
	const pmg_buffer flat = strided(from, type, n, step), back = strided(to, type, n, step);
	const int64_t bytes = pmg_segments_bytes(context, &flat, &offsets, width);
	char *memory = malloc((size_t) bytes + 1);
	const int64_t lanes = width > 0 ? width : 1;
	pmg_buffer blocks;
	bool ok = memory && pmg_in_segments(context, memory, &flat, &offsets, width, &blocks) == PMG_OK &&
		  blocks.rank == (width > 0 ? 2 : 1) && (width < 1 || blocks.shape[1] == width) &&
		  blocks.shape[0] == (width > 0 ? rows_before(l, width, l->n) : n) &&
		  bytes == blocks.shape[0]*lanes*(int64_t) pmg_type_size(type);

	memset(to, 0, sizeof to);
	for (int64_t i = 0; i < n; i++)
		number_set(from, type, i*step, (double) (i + 1));
	if (memory) {
		memset(memory, -1, (size_t) bytes);
		memory[bytes] = 7;
	}
	ok = ok && pmg_relayout_segments(context, &blocks, &flat, &offsets, 2) == PMG_OK && is_in_place(l, &blocks) &&
	     memory[bytes] == 7 && pmg_relayout_segments(context, &back, &blocks, &offsets, 2) == PMG_OK;
	for (int64_t i = 0; ok && i < n*step; i++)
		ok = number_at(to, type, i) == (i%step == 0 ? (double) (i/step + 1) : 0);
	ok = ok && number_at(to, type, n*step) == 0;
	free(memory);
	return ok;
}

static void test_round_trips(struct tests *tests, pmg_context *context)
{
	static const int64_t counts[] = { 0, 1, 2, 15, 16, 17, 80 }, widths[] = { -1, 0, 1, 2, 8, 16, 32, 64 };
	static const int64_t most[] = { 0, 1, 7, 63 };

	for (size_t n = 0; n < sizeof counts / sizeof counts[0]; n++)
		for (size_t m = 0; m < sizeof most / sizeof most[0]; m++)
			for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
				const struct lengths l = draw(counts[n], most[m], (unsigned) (n + 10*m));

				CHECK(tests, round_trip(context, &l, PMG_F64, widths[w], 1 + (int64_t) w%2));
				CHECK(tests, round_trip(context, &l, PMG_F32, widths[w], 1));
			}
}

/* Longer than one digit of the sort holds, and larger than the caches. */
static void test_large(struct tests *tests, pmg_context *context)
{
	const int32_t offsets[] = { 0, 5, 700005, 700006, 1000000, 3000001, 3000002 };
	const int64_t n_offsets = 7, n = offsets[6];
	const pmg_buffer list = pmg_dense((void *) (uintptr_t) offsets, PMG_I32, 1, &n_offsets);
	double *from = aligned_alloc(64, (size_t) (n*8 + 63)/64*64), *to = calloc((size_t) n, sizeof *to), *memory;
	const pmg_buffer flat = pmg_dense(from, PMG_F64, 1, &n), back = pmg_dense(to, PMG_F64, 1, &n);
	pmg_buffer blocks;
	bool ok = from && to;

	memory = aligned_alloc(64, (size_t) pmg_segments_bytes(context, &flat, &list, 16));
	for (int64_t i = 0; ok && i < n; i++)
		from[i] = (double) i;
	ok = ok && memory && pmg_in_segments(context, memory, &flat, &list, 16, &blocks) == PMG_OK &&
	     blocks.shape[0] == 2000001 && pmg_relayout_segments(context, &blocks, &flat, &list, 2) == PMG_OK &&
	     memory[16*5] == 1000005 && memory[16*699999 + 1] == 700004 && memory[16*700000 + 1] == 0 &&
	     memory[4] == 700005 && memory[5] == 3000001 && memory[6] == 0 &&
	     pmg_relayout_segments(context, &back, &blocks, &list, 2) == PMG_OK &&
	     !memcmp(from, to, (size_t) n*sizeof *to);
	CHECK(tests, ok);
	free(from);
	free(to);
	free(memory);
}

static void test_wrong_offsets(struct tests *tests, pmg_context *context)
{
	static double data[8];
	int64_t values[] = { 0, 3, 2, 8 }, n_offsets = 4, n = 8;
	pmg_buffer offsets = pmg_dense(values, PMG_I64, 1, &n_offsets), flat = pmg_dense(data, PMG_F64, 1, &n), blocks;

	CHECK_FAILS(tests, pmg_in_segments(context, NULL, &flat, &offsets, 16, NULL), context, PMG_BAD_CALL,
		    "there is no place for the buffer of blocks, but NULL");
	CHECK_FAILS(tests, pmg_in_segments(context, NULL, &flat, &offsets, 16, &blocks), context, PMG_BAD_DATA,
		    "offsets of segments decrease from 3 to 2 at [2]");
	CHECK(tests, pmg_segments_bytes(context, &flat, &offsets, 16) == -1);
	values[0] = 1;
	CHECK_FAILS(tests, pmg_in_segments(context, NULL, &flat, &offsets, 16, &blocks), context, PMG_BAD_DATA,
		    "offsets of segments begin with 1, but must with 0");
	values[0] = 0;
	values[2] = values[3] = 7;
	CHECK_FAILS(tests, pmg_in_segments(context, NULL, &flat, &offsets, 16, &blocks), context, PMG_BAD_CALL,
		    "the buffer has 8 elements, but its segments 7");
	values[2] = 3;
	values[3] = 8;
	CHECK_FAILS(tests, pmg_in_segments(context, NULL, &flat, &offsets, INT64_MAX, &blocks), context, PMG_BAD_CALL,
		    "blocks of 9223372036854775807 segments cannot be, but of 1, 2, 4, ... 256");
	CHECK_FAILS(tests, pmg_in_segments(context, NULL, &flat, &offsets, 3, &blocks), context, PMG_BAD_CALL,
		    "blocks of 3 segments cannot be, but of 1, 2, 4, ... 256");
	CHECK_FAILS(tests, pmg_in_segments(context, NULL, &offsets, &offsets, 16, &blocks), context, PMG_BAD_CALL,
		    "what has segments is a buffer of floats of rank 1");
	CHECK_FAILS(tests, pmg_in_segments(context, NULL, &flat, &flat, 16, &blocks), context, PMG_BAD_CALL,
		    "offsets of segments are integers on the host, an array of rank 1 with one value at least");
}

static void test_wrong_buffers(struct tests *tests, pmg_context *context)
{
	static double data[8], other[4*16];
	int64_t values[] = { 0, 3, 4, 8 }, n_offsets = 4, n = 8, shape[] = { 4, 16 };
	pmg_buffer offsets = pmg_dense(values, PMG_I64, 1, &n_offsets), flat = pmg_dense(data, PMG_F64, 1, &n);
	pmg_buffer blocks = pmg_dense(other, PMG_F64, 2, shape), twice;

	CHECK(tests, pmg_relayout_segments(context, &blocks, &flat, &offsets, 1) == PMG_OK);
	shape[0] = 5;
	blocks = pmg_dense(other, PMG_F64, 2, shape);
	CHECK_FAILS(tests, pmg_relayout_segments(context, &blocks, &flat, &offsets, 1), context, PMG_BAD_CALL,
		    "blocks of 16 of these segments have 4 rows, not 5");
	CHECK_FAILS(tests, pmg_relayout_segments(context, &flat, &flat, &offsets, 1), context, PMG_BAD_CALL,
		    "a buffer that is written shares memory");
	shape[0] = 4;
	blocks = pmg_dense(data, PMG_F64, 2, shape);
	CHECK_FAILS(tests, pmg_relayout_segments(context, &blocks, &flat, &offsets, 1), context, PMG_BAD_CALL,
		    "a buffer that is written shares memory");
	blocks.data = NULL;
	CHECK_FAILS(tests, pmg_relayout_segments(context, &blocks, &flat, &offsets, 1), context, PMG_BAD_CALL,
		    "the buffer that is written has no data");
	CHECK_FAILS(tests, pmg_relayout_segments(context, &blocks, NULL, &offsets, 1), context, PMG_BAD_CALL,
		    "the buffer that is read is NULL");
	twice = pmg_dense(other + 2, PMG_F64, 2, (int64_t[]) { 4, 8 });
	CHECK_FAILS(tests, pmg_relayout_segments(context, &twice, &twice, &offsets, 1), context, PMG_BAD_CALL,
		    "blocks become blocks of another width by way of a flat buffer");
	CHECK_FAILS(tests, pmg_relayout_segments(context, &flat, &blocks, &offsets, 5000), context, PMG_BAD_CALL,
		    "threads is 5000, but must be 0 to 4096");
	blocks = pmg_dense(other, PMG_F64, 3, (int64_t[]) { 4, 1, 16 });
	CHECK_FAILS(tests, pmg_relayout_segments(context, &blocks, &flat, &offsets, 1), context, PMG_BAD_CALL,
		    "one of the buffers has segments in blocks, of rank 2 as [rows, segments of a block]");
	blocks = pmg_dense(other, PMG_F64, 2, (int64_t[]) { 4, 3 });
	CHECK_FAILS(tests, pmg_relayout_segments(context, &blocks, &flat, &offsets, 1), context, PMG_BAD_CALL,
		    "blocks of 3 segments cannot be, but of 1, 2, 4, ... 256");
}

/* More pairs than one loop takes, of several widths, types and steps, into blocks and back. */
static bool several_round_trip(pmg_context *context, const struct lengths *l, int32_t n)
{
	enum { N_PAIRS = 20, ROOM = 2*MOST_SEGMENTS*64, BLOCK_ROOM = 2*ROOM };
	static double from[N_PAIRS][ROOM], to[N_PAIRS][ROOM], memory[N_PAIRS][BLOCK_ROOM];
	const pmg_buffer *first_to[N_PAIRS] = { NULL }, *first_from[N_PAIRS] = { NULL };
	const pmg_buffer *next_to[N_PAIRS] = { NULL }, *next_from[N_PAIRS] = { NULL };
	const int64_t n_elements = l->offsets[l->n], n_offsets = l->n + 1;
	const pmg_buffer offsets = pmg_dense((void *) (uintptr_t) l->offsets, PMG_I64, 1, &n_offsets);
	pmg_buffer flat[N_PAIRS], held[N_PAIRS], back[N_PAIRS];
	bool ok = n <= N_PAIRS && n_elements*2 <= ROOM;

	memset(from, 0, sizeof from);
	memset(to, 0, sizeof to);
	for (int32_t i = 0; ok && i < n; i++) {
		const int64_t width = i < 5 ? 8 : ((int64_t[]) { 0, 4, 16, 32 })[i%4], step = 1 + i%7/6;
		const pmg_type type = i%3 ? PMG_F64 : PMG_F32;

		flat[i] = strided(from[i], type, n_elements, step);
		back[i] = strided(to[i], type, n_elements, step);
		for (int64_t k = 0; k < n_elements; k++)
			number_set(from[i], type, k*step, (double) (k + 1));
		ok = pmg_in_segments(context, memory[i], &flat[i], &offsets, width, &held[i]) == PMG_OK &&
		     held[i].shape[0]*width <= BLOCK_ROOM;
		first_to[i] = next_from[i] = &held[i];
		first_from[i] = &flat[i];
		next_to[i] = &back[i];
	}
	ok = ok && pmg_relayout_segments_all(context, n, first_to, first_from, &offsets, 2) == PMG_OK &&
	     pmg_relayout_segments_all(context, n, next_to, next_from, &offsets, 0) == PMG_OK;
	for (int32_t i = 0; ok && i < n; i++)
		ok = is_in_place(l, &held[i]) && !memcmp(from[i], to[i], sizeof from[i]);
	return ok;
}

static void test_several(struct tests *tests, pmg_context *context)
{
	static double data[3][8*16];
	const struct lengths few = draw(16, 7, 3), many = draw(MOST_SEGMENTS, 63, 4);
	int64_t values[] = { 0, 3, 4, 8 }, n_offsets = 4, n = 8, shape[] = { 4, 16 };
	const pmg_buffer offsets = pmg_dense(values, PMG_I64, 1, &n_offsets);
	const pmg_buffer flat = pmg_dense(data[0], PMG_F64, 1, &n), wrong = pmg_dense(data[0], PMG_F32, 1, &n);
	const pmg_buffer blocks = pmg_dense(data[1], PMG_F64, 2, shape), other = pmg_dense(data[2], PMG_F64, 2, shape);
	const pmg_buffer *to[] = { &blocks, &other }, *from[] = { &flat, &wrong };

	for (int32_t pairs = 0; pairs <= 20; pairs += 1 + pairs/4)
		CHECK(tests, several_round_trip(context, &few, pairs) && several_round_trip(context, &many, pairs));
	data[0][0] = 1;
	CHECK_FAILS(tests, pmg_relayout_segments_all(context, 2, to, from, &offsets, 1), context, PMG_BAD_CALL,
		    "pair 1: the buffer that is written has elements of f64, the one that is read of f32");
	from[1] = &flat;
	to[1] = &blocks;
	CHECK_FAILS(tests, pmg_relayout_segments_all(context, 2, to, from, &offsets, 1), context, PMG_BAD_CALL,
		    "pair 0: a buffer that is written shares memory");
	to[1] = NULL;
	CHECK_FAILS(tests, pmg_relayout_segments_all(context, 2, to, from, &offsets, 1), context, PMG_BAD_CALL,
		    "pair 1: the buffer that is written is NULL");
	CHECK_FAILS(tests, pmg_relayout_segments_all(context, 1, NULL, from, &offsets, 1), context, PMG_BAD_CALL,
		    "the list of buffers that are written is NULL");
	CHECK(tests, data[1][0] == 0 && pmg_relayout_segments_all(context, 0, NULL, NULL, &offsets, 1) == PMG_OK);
	to[1] = &other;
	CHECK(tests, pmg_relayout_segments_all(context, 2, to, from, &offsets, 1) == PMG_OK && data[2][1] == 1 &&
		     !memcmp(data[1], data[2], sizeof data[1]));
}

void test_segment_blocks(struct tests *tests)
{
	pmg_context *context = pmg_context_new(NULL);

	test_round_trips(tests, context);
	test_large(tests, context);
	test_wrong_offsets(tests, context);
	test_wrong_buffers(tests, context);
	test_several(tests, context);
	pmg_context_free(context);
}
