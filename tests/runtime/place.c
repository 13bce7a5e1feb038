/* SPDX-License-Identifier: MIT
 *
 * Arrays in blocks: to them and back, from any strides; what is refused. That kernels take them where they lie, and
 * others get copies, is asked by tests/random of every program. */
#include "runtime/check.h"
#include "plan/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8192 };

struct shape {
	int64_t m, n, q, block;
	bool is_turned;                 /* rows do not lie next to each other */
};

static pmg_buffer flat_buffer(void *data, pmg_type type, const struct shape *s)
{
	const int64_t shape[] = { s->m, s->n, s->q };
	pmg_buffer buffer = pmg_dense(data, type, 3, shape);

	if (s->is_turned) {
		buffer.strides[0] = (int64_t) pmg_type_size(type);
		buffer.strides[1] = buffer.strides[0]*s->m;
		buffer.strides[2] = buffer.strides[1]*s->n;
	}
	return buffer;
}

static bool is_in_place(const struct shape *s, const double *blocks)
{
	bool is = true;

	for (int64_t i = 0; i < s->m; i++)
		for (int64_t j = 0; j < s->n; j++)
			for (int64_t k = 0; k < s->q; k++) {
				int64_t flat = s->is_turned ? (k*s->n + j)*s->m + i : (i*s->n + j)*s->q + k;
				int64_t at = ((i/s->block*s->n + j)*s->q + k)*s->block + i % s->block;

				is = is && blocks[at] == (double) (flat + 1);
			}
	return is;
}

static bool round_trip(pmg_context *context, const struct shape *s)
{
	static double from[MOST], to[MOST], blocks[2*MOST];
	const int64_t n = s->m*s->n*s->q;
	pmg_buffer flat = flat_buffer(from, PMG_F64, s), back = flat_buffer(to, PMG_F64, s);
	pmg_buffer held = pmg_in_blocks(blocks, &flat, s->block);
	const int64_t bytes = pmg_blocks_bytes(&flat, s->block);
	bool ok = held.rank == 4 && held.shape[3] == s->block && bytes < (int64_t) sizeof blocks;

	memset(blocks, 0, sizeof blocks);
	for (int64_t i = 0; i < n; i++)
		from[i] = (double) (i + 1);
	for (int64_t i = 0; i < MOST; i++)
		to[i] = -1;
	ok = ok && pmg_relayout(context, &held, &flat, 2) == PMG_OK && is_in_place(s, blocks) &&
	     pmg_relayout(context, &back, &held, 2) == PMG_OK && !memcmp(from, to, (size_t) n*sizeof *to);
	return ok && to[n] < 0 && !memcmp(&blocks[bytes/8], "\0\0\0\0\0\0\0", 8);
}

static bool round_trip_f32(pmg_context *context, const struct shape *s)
{
	static float from[MOST], to[MOST], blocks[2*MOST];
	const int64_t n = s->m*s->n*s->q;
	pmg_buffer flat = flat_buffer(from, PMG_F32, s), back = flat_buffer(to, PMG_F32, s);
	pmg_buffer held = pmg_in_blocks(blocks, &flat, s->block);

	for (int64_t i = 0; i < n; i++)
		from[i] = (float) (i + 1);
	memset(to, 0, sizeof to);
	return pmg_relayout(context, &held, &flat, 0) == PMG_OK && pmg_relayout(context, &back, &held, 0) == PMG_OK &&
	       !memcmp(from, to, (size_t) n*sizeof *to);
}

static void test_round_trips(struct tests *tests, pmg_context *context)
{
	static const int64_t sizes[] = { 0, 1, 2, 7, 16, 17, 33 }, widths[] = { 1, 2, 3, 8, 16, 32 };

	for (size_t m = 0; m < sizeof sizes / sizeof sizes[0]; m++)
		for (size_t n = 0; n < 6; n++)
			for (size_t b = 0; b < sizeof widths / sizeof widths[0]; b++)
				for (int turned = 0; turned < 2; turned++) {
					const struct shape s = { sizes[m], sizes[n], 1 + turned + (int64_t) b % 3,
								 widths[b], turned };

					CHECK(tests, round_trip(context, &s) && round_trip_f32(context, &s));
				}
}

/* Integers that doubles and floats have, each element another one but for every 2^24th; back to `skew` elements behind
 * the begin of a line, with something before and behind that stays. */
static bool large_round_trip(pmg_context *context, pmg_type type, int64_t m, int64_t n, int64_t block, int64_t skew)
{
	const int64_t shape[] = { m, n }, size = (int64_t) pmg_type_size(type);
	const size_t bytes = (size_t) (m*n*size + 63)/64*64;
	const size_t before = (size_t) (64 + skew*size), end = before + (size_t) (m*n*size);
	char *from = aligned_alloc(64, bytes), *to = aligned_alloc(64, (end + 127)/64*64);
	pmg_buffer flat = pmg_dense(from, type, 2, shape), back = pmg_dense(to ? to + before : NULL, type, 2, shape);
	char *blocks = aligned_alloc(64, (size_t) (pmg_blocks_bytes(&flat, block) + 63)/64*64);
	pmg_buffer held = pmg_in_blocks(blocks, &flat, block);
	bool ok = from && to && blocks;

	if (ok)
		memset(to, 0, end + 64);
	for (int64_t k = 0; ok && k < m*n; k++)
		if (size == 8)
			((double *) (void *) from)[k] = (double) (k & 0xffffff);
		else
			((float *) (void *) from)[k] = (float) (k & 0xffffff);
	ok = ok && pmg_relayout(context, &held, &flat, 2) == PMG_OK;
	for (int64_t i = 0; ok && i < m; i++)
		for (int64_t j = 0; ok && j < n; j++)
			ok = !memcmp(&blocks[((i/block*n + j)*block + i % block)*size], &from[(i*n + j)*size],
				     (size_t) size);
	ok = ok && pmg_relayout(context, &back, &held, 2) == PMG_OK &&
	     !memcmp(from, to + before, (size_t) (m*n*size));
	for (size_t i = 0; ok && i < before; i++)
		ok = !to[i];
	for (size_t i = end; ok && i < end + 64; i++)
		ok = !to[i];
	free(from);
	free(to);
	free(blocks);
	return ok;
}

/* What is large only together goes to the same places as one by one, whichever way through the caches it takes. */
enum { PART_LANES = 2300, PART_ROWS = 500, PART = PART_LANES*PART_ROWS };

static bool large_together(pmg_context *context)
{
	const int64_t shape[] = { PART_LANES, PART_ROWS };
	double *from = aligned_alloc(64, PART*sizeof *from), *to = aligned_alloc(64, PART*sizeof *to);
	const pmg_buffer flat = pmg_dense(from, PMG_F64, 2, shape), back = pmg_dense(to, PMG_F64, 2, shape);
	const size_t bytes = (size_t) (pmg_blocks_bytes(&flat, 16) + 63)/64*64;
	double *alone = aligned_alloc(64, bytes), *blocks = aligned_alloc(64, bytes);
	const pmg_buffer one = pmg_in_blocks(alone, &flat, 16), held = pmg_in_blocks(blocks, &flat, 16);
	const pmg_buffer *tos[] = { &held, &back }, *froms[] = { &flat, &one };
	bool ok = from && to && alone && blocks;

	for (int64_t k = 0; ok && k < PART; k++)
		from[k] = (double) k;
	ok = ok && pmg_relayout(context, &one, &flat, 2) == PMG_OK &&
	     pmg_relayout_all(context, 2, tos, froms, 2) == PMG_OK && !memcmp(from, to, PART*sizeof *to);
	for (int64_t lane = 0; ok && lane < PART_LANES; lane++)
		for (int64_t row = 0; ok && row < PART_ROWS; row++) {
			const int64_t at = (lane/16*PART_ROWS + row)*16 + lane % 16;

			ok = !memcmp(&alone[at], &blocks[at], sizeof *blocks);
		}
	free(from);
	free(to);
	free(alone);
	free(blocks);
	return ok;
}

/* What is larger than the caches goes past them; rows and lanes are no whole squares. */
static void test_large(struct tests *tests, pmg_context *context)
{
	enum { ELEMENTS = 17 << 17 };   /* of 8 bytes: 17 MB */

	for (int64_t n = 63; n <= 65; n++) {
		CHECK(tests, large_round_trip(context, PMG_F64, ELEMENTS/n, n, 16, 1));
		CHECK(tests, large_round_trip(context, PMG_F32, 2*ELEMENTS/n, n, 64, 1));
		CHECK(tests, large_round_trip(context, PMG_F64, ELEMENTS/n, n, 72, 1));
		CHECK(tests, large_round_trip(context, PMG_F32, 2*ELEMENTS/n, n, 4, 1));
	}
	CHECK(tests, large_round_trip(context, PMG_F64, 1029, 2051, 16, 1));
	CHECK(tests, large_round_trip(context, PMG_F64, 1031, 2050, 8, 1));
	CHECK(tests, large_round_trip(context, PMG_F32, 1029, 4099, 32, 1));
	CHECK(tests, large_round_trip(context, PMG_F32, 1027, 4098, 12, 1));
	for (int64_t n = 7; n <= 40; n += n < 9 ? 1 : 31) {
		CHECK(tests, large_round_trip(context, PMG_F64, ELEMENTS/n, n, 16, 0));
		CHECK(tests, large_round_trip(context, PMG_F64, ELEMENTS/n, n, 16, 1));
		CHECK(tests, large_round_trip(context, PMG_F32, 2*ELEMENTS/n, n, 64, 0));
	}
	CHECK(tests, large_together(context));
}

/* Several at once: more than are copied in one loop, of several shapes, types and widths, rows that do not lie next to
 * each other among them, into blocks and out of them in one call. */
enum { N_PAIRS = 37, PAIR_ROOM = 256 };

static bool several_round_trip(pmg_context *context, int32_t n)
{
	static double from[N_PAIRS][PAIR_ROOM], blocks[N_PAIRS][PAIR_ROOM], to[N_PAIRS][PAIR_ROOM];
	const pmg_buffer *first_to[N_PAIRS] = { NULL }, *first_from[N_PAIRS] = { NULL };
	const pmg_buffer *next_to[N_PAIRS] = { NULL }, *next_from[N_PAIRS] = { NULL };
	pmg_buffer flat[N_PAIRS], held[N_PAIRS], back[N_PAIRS];
	bool ok = true;

	memset(to, 0, sizeof to);
	for (int32_t i = 0; i < n; i++) {
		const struct shape s = { 1 + i % 7, 1 + i % 5, 1 + i % 3, 1 + i % 4, i % 6 == 5 };
		const pmg_type type = i % 3 ? PMG_F64 : PMG_F32;

		for (int64_t k = 0; k < PAIR_ROOM; k++)
			from[i][k] = (double) (i*PAIR_ROOM + k + 1);
		flat[i] = flat_buffer(from[i], type, &s);
		back[i] = flat_buffer(to[i], type, &s);
		held[i] = pmg_in_blocks(blocks[i], &flat[i], s.block);
		first_to[i] = &held[i];
		first_from[i] = &flat[i];
		next_to[i] = &back[i];
		next_from[i] = &held[i];
	}
	ok = pmg_relayout_all(context, n, first_to, first_from, 2) == PMG_OK &&
	     pmg_relayout_all(context, n, next_to, next_from, 0) == PMG_OK;
	for (int32_t i = 0; i < n; i++) {
		const size_t bytes = (size_t) pmg_blocks_bytes(&flat[i], 0);

		ok = ok && !memcmp(from[i], to[i], bytes) && !memcmp((char *) to[i] + bytes, "\0\0\0\0\0\0\0", 8);
	}
	return ok;
}

static void test_several(struct tests *tests, pmg_context *context)
{
	static double data[3][16];
	const int64_t shape[] = { 4, 4 };
	const pmg_buffer from = pmg_dense(data[0], PMG_F64, 2, shape), wrong = pmg_dense(data[1], PMG_F32, 2, shape);
	const pmg_buffer to = pmg_in_blocks(data[1], &from, 2), other = pmg_in_blocks(data[2], &from, 2);
	const pmg_buffer *tos[] = { &to, &other }, *froms[] = { &from, &wrong };

	for (int32_t n = 0; n <= N_PAIRS; n += 1 + n/8)
		CHECK(tests, several_round_trip(context, n));
	for (int i = 0; i < 16; i++)
		data[0][i] = i + 1;
	CHECK_FAILS(tests, pmg_relayout_all(context, 2, tos, froms, 1), context, PMG_BAD_CALL,
		    "pair 1: the buffer that is written has elements of f64, the one that is read of f32");
	froms[1] = &from;
	tos[1] = &to;
	CHECK_FAILS(tests, pmg_relayout_all(context, 2, tos, froms, 1), context, PMG_BAD_CALL,
		    "pair 0: a buffer that is written shares memory");
	tos[1] = &other;
	froms[1] = &to;
	CHECK_FAILS(tests, pmg_relayout_all(context, 2, tos, froms, 1), context, PMG_BAD_CALL,
		    "pair 0: a buffer that is written shares memory");
	CHECK_FAILS(tests, pmg_relayout_all(context, 1, NULL, froms, 1), context, PMG_BAD_CALL,
		    "the list of buffers that are written is NULL");
	CHECK_FAILS(tests, pmg_relayout_all(context, -1, tos, froms, 1), context, PMG_BAD_CALL,
		    "n is -1, but must be 0 or more pairs of buffers");
	CHECK_FAILS(tests, pmg_relayout_all(context, 2, tos, froms, 4097), context, PMG_BAD_CALL,
		    "threads is 4097, but must be 0 to 4096");
	CHECK(tests, !(data[1][0] > 0) && !(data[2][0] > 0) && pmg_relayout_all(context, 0, NULL, NULL, 1) == PMG_OK);
	froms[1] = &from;
	CHECK(tests, pmg_relayout_all(context, 2, tos, froms, 1) == PMG_OK &&
		     !memcmp(data[1], data[2], sizeof data[1]) && data[2][0] > 0);
}

/* Whatever two of many share memory, the one that writes it is named, of two that do the first. */
static void test_sharing(struct tests *tests, pmg_context *context)
{
	static double read[N_PAIRS][2], written[N_PAIRS][2];
	const int64_t shape[] = { 2, 1 };
	pmg_buffer to[N_PAIRS], from[N_PAIRS];
	const pmg_buffer *tos[N_PAIRS], *froms[N_PAIRS];
	char message[64];

	for (int32_t i = 0; i < N_PAIRS; i++) {
		from[i] = pmg_dense(read[i], PMG_F64, 2, shape);
		to[i] = pmg_in_blocks(written[i], &from[i], 2);
		tos[i] = &to[i];
		froms[i] = &from[i];
	}
	CHECK(tests, pmg_relayout_all(context, N_PAIRS, tos, froms, 1) == PMG_OK);
	for (int32_t one = 0; one < N_PAIRS; one++)
		for (int32_t other = 0; other < N_PAIRS; other++) {
			snprintf(message, sizeof message, "pair %d: a buffer that is written shares memory", (int) one);
			from[other].data = written[one];
			CHECK_FAILS(tests, pmg_relayout_all(context, N_PAIRS, tos, froms, 1), context, PMG_BAD_CALL,
				    message);
			from[other].data = read[other];
			to[other].data = written[one];
			if (one < other)
				CHECK_FAILS(tests, pmg_relayout_all(context, N_PAIRS, tos, froms, 1), context,
					    PMG_BAD_CALL, message);
			to[other].data = written[other];
		}
}

static void test_refusals(struct tests *tests, pmg_context *context)
{
	static double data[64], other[64];
	const int64_t shape[] = { 4, 6 }, wrong[] = { 3, 6, 2 }, repeated[] = { 2, 6, 2 };
	pmg_buffer flat = pmg_dense(data, PMG_F64, 2, shape), to = pmg_dense(other, PMG_F64, 3, wrong);
	const pmg_buffer wide = pmg_dense(data, PMG_F64, 3, (int64_t[]) { 1, 6, 8 });
	const pmg_buffer other_sides = pmg_dense(data, PMG_F64, 3, (int64_t[]) { 3, 6, 3 });
	pmg_buffer repeated_forever = pmg_dense(other, PMG_F64, 3, (int64_t[]) { INT64_C(1) << 40, 6, 1 << 30 });

	CHECK_FAILS(tests, pmg_relayout(context, &to, &flat, 1), context, PMG_BAD_CALL,
		    "the buffers have shapes of different arrays");
	CHECK_FAILS(tests, pmg_relayout(context, &to, &wide, 1), context, PMG_BAD_CALL,
		    "blocks become blocks of another width by way of a flat buffer");
	CHECK_FAILS(tests, pmg_relayout(context, &to, &other_sides, 1), context, PMG_BAD_CALL,
		    "the buffers have shapes of different arrays");
	repeated_forever.strides[0] = repeated_forever.strides[1] = repeated_forever.strides[2] = 0;
	CHECK_FAILS(tests, pmg_relayout(context, &other_sides, &repeated_forever, 1), context, PMG_BAD_CALL,
		    "the buffers have shapes of different arrays");
	to = pmg_dense(data, PMG_F64, 3, repeated);
	CHECK_FAILS(tests, pmg_relayout(context, &to, &flat, 1), context, PMG_BAD_CALL,
		    "a buffer that is written shares memory");
	to = pmg_dense(other, PMG_F64, 3, repeated);
	to.strides[0] = 0;
	CHECK_FAILS(tests, pmg_relayout(context, &to, &flat, 1), context, PMG_BAD_CALL,
		    "a buffer that is written shares memory");
	to = pmg_dense(other, PMG_F32, 3, repeated);
	CHECK_FAILS(tests, pmg_relayout(context, &to, &flat, 1), context, PMG_BAD_CALL,
		    "the buffer that is written has elements of f32, the one that is read of f64");
	to.type = PMG_I32;
	CHECK_FAILS(tests, pmg_relayout(context, &to, &flat, 1), context, PMG_BAD_CALL,
		    "the buffer that is written has elements of i32, not of f64 or f32");
	to = (pmg_buffer) { .type = PMG_F64, .rank = -1 };
	CHECK_FAILS(tests, pmg_relayout(context, &flat, &to, 1), context, PMG_BAD_CALL,
		    "the buffer that is read has a rank that cannot be, or a negative extent");
	to = pmg_dense(other, PMG_F64, 3, repeated);
	to.device = PMG_CUDA;
	CHECK_FAILS(tests, pmg_relayout(context, &to, &flat, 1), context, PMG_BAD_CALL,
		    "the buffer that is written is not in memory of the host");
	CHECK_FAILS(tests, pmg_relayout(context, NULL, &flat, 1), context, PMG_BAD_CALL,
		    "the buffer that is written is NULL");
}

/* ---- What a kernel is told of where its parts lie ---- */

typedef struct look_args {
	int64_t m, n;
	pmg_buffer x;
} look_args;

static pmg_place seen;

static void look_extents(const void *args, int64_t *values)
{
	values[0] = ((const look_args *) args)->m;
	values[1] = ((const look_args *) args)->n;
}

static pmg_status look_kernel(pmg_plan *plan, const void *args, pmg_control *control)
{
	(void) args;
	(void) control;
	seen = plan->places[0];
	return PMG_OK;
}

/* Is the array, of which a kernel takes 16 lanes at a time, one that it asks for ahead? */
static bool asks(pmg_context *context, int64_t m, int64_t n, const pmg_buffer *x)
{
	static const pmg_extent shape[] = { { .param = 0, .text = "m" }, { .param = 1, .text = "n" } };
	static const pmg_param_desc params[] = { { "m", PMG_I64, offsetof(look_args, m), "look.pmg:1" },
						 { "n", PMG_I64, offsetof(look_args, n), "look.pmg:1" } };
	static const pmg_array_desc array = {
		.name = "x", .role = PMG_IN, .type = PMG_F64, .rank = 2, .shape = shape, .lanes = 16, .segments = -1,
		.offset = offsetof(look_args, x), .place = "look.pmg:2"
	};
	const pmg_pipeline_desc desc = {
		.abi_version = PMG_ABI_VERSION, .name = "look", .source = "look.pmg", .args_size = sizeof(look_args),
		.n_params = 2, .n_arrays = 1, .n_extents = 2, .params = params, .arrays = &array,
		.extents = look_extents, .kernel = look_kernel
	};
	const look_args args = { m, n, *x };
	pmg_plan *plan = NULL;
	pmg_status status = pmg_plan_new(&desc, &args, &(pmg_options) { .context = context }, &plan);

	seen = (pmg_place) { 0 };
	if (status == PMG_OK)
		status = pmg_plan_execute(plan, &args, NULL);
	pmg_plan_destroy(plan);
	return status == PMG_OK && seen.is_memory_resident;
}

/* Lanes of 16 MB in all, one after the other, are written past the caches; not where a lane is every second value. */
static void test_past(struct tests *tests, pmg_context *context)
{
	const int64_t n = (16 << 20)/8/32;
	double *memory = calloc(2*32*(size_t) n, sizeof *memory);
	const pmg_buffer flat = pmg_dense(memory, PMG_F64, 2, (int64_t[]) { 32, n });
	const pmg_buffer shorter = pmg_dense(memory, PMG_F64, 2, (int64_t[]) { 32, n - 1 });
	pmg_buffer apart = flat;

	CHECK(tests, memory && asks(context, 32, n, &flat) && seen.is_nontemporal);
	CHECK(tests, asks(context, 32, n - 1, &shorter) && !seen.is_nontemporal);
	apart.strides[0] *= 2;
	CHECK(tests, asks(context, 32, n, &apart) && seen.is_nontemporal);
	apart.strides[1] *= 2;
	CHECK(tests, !asks(context, 32, n, &apart) && !seen.is_nontemporal);
	free(memory);
}

/* 16 MB in lanes of so many rows, so many values behind the begin of a line. */
static bool rows_are_past(pmg_context *context, int64_t rows, int64_t skew)
{
	const int64_t m = (16 << 20)/8/rows + 1;
	double *memory = aligned_alloc(PMG_CACHE_LINE, (size_t) (m*rows + 16)/8*64);
	const pmg_buffer flat = pmg_dense(memory + skew, PMG_F64, 2, (int64_t[]) { m, rows });
	const bool are = memory && asks(context, m, rows, &flat) && seen.is_nontemporal;

	free(memory);
	return are;
}

/* Short lanes, if all begin with a line. */
static void test_short_past(struct tests *tests, pmg_context *context)
{
	CHECK(tests, rows_are_past(context, 8, 0) && rows_are_past(context, 24, 0) && rows_are_past(context, 40, 0));
	CHECK(tests, !rows_are_past(context, 8, 2) && !rows_are_past(context, 24, 2) && rows_are_past(context, 40, 2));
	CHECK(tests, rows_are_past(context, 33, 0) && rows_are_past(context, 36, 2) && rows_are_past(context, 63, 0));
	CHECK(tests, !rows_are_past(context, 7, 0) && !rows_are_past(context, 20, 0) && !rows_are_past(context, 31, 2));
}

static bool is_nontemporal(const pmg_array_desc *array, const pmg_buffer *buffer)
{
	pmg_place place = { .is_nontemporal = false };

	return parts_find(array, buffer, &place) && place.is_nontemporal;
}

/* Results of 16 MB in blocks, and in blocks of segments; not where blocks begin between lines. */
static void test_past_blocks(struct tests *tests)
{
	const int64_t large = 16 << 20, n = large/8/32;
	const pmg_array_desc array = { .type = PMG_F64, .rank = 2, .lanes = 16, .segments = -1 };
	const pmg_array_desc ragged = { .type = PMG_F64, .rank = 1, .lanes = 16, .segments = 0 };
	double *memory = aligned_alloc(PMG_CACHE_LINE, (size_t) large + PMG_CACHE_LINE);
	const pmg_buffer blocks = pmg_dense(memory, PMG_F64, 3, (int64_t[]) { 2, n, 16 });
	const pmg_buffer fewer = pmg_dense(memory, PMG_F64, 3, (int64_t[]) { 2, n - 1, 16 });
	const pmg_buffer between = pmg_dense(memory + 1, PMG_F64, 3, (int64_t[]) { 2, n, 16 });
	const pmg_buffer rows = pmg_dense(memory, PMG_F64, 2, (int64_t[]) { 2*n, 16 });
	const pmg_buffer fewer_rows = pmg_dense(memory, PMG_F64, 2, (int64_t[]) { 2*n - 1, 16 });

	CHECK(tests, memory && is_nontemporal(&array, &blocks) && !is_nontemporal(&array, &fewer) &&
			!is_nontemporal(&array, &between));
	CHECK(tests, is_nontemporal(&ragged, &rows) && !is_nontemporal(&ragged, &fewer_rows));
	free(memory);
}

/* Arrays of 4 MB in blocks or long lanes, of 1 MB in short lanes; not where a block has more between its rows. */
static void test_far(struct tests *tests, pmg_context *context)
{
	const int64_t far = 4 << 20, n = far/8/32;
	double *memory = calloc(2*(size_t) far/8, sizeof *memory);
	pmg_buffer blocks = pmg_dense(memory, PMG_F64, 3, (int64_t[]) { 2, n, 16 });
	const pmg_buffer fewer = pmg_dense(memory, PMG_F64, 3, (int64_t[]) { 2, n - 1, 16 });
	const pmg_buffer flat = pmg_dense(memory, PMG_F64, 2, (int64_t[]) { 32, n });
	const pmg_buffer smaller = pmg_dense(memory, PMG_F64, 2, (int64_t[]) { 32, n - 1 });
	const int64_t rows = 256, m = far/4/8/rows;
	const pmg_buffer shorter = pmg_dense(memory, PMG_F64, 2, (int64_t[]) { m, rows });
	const pmg_buffer few = pmg_dense(memory, PMG_F64, 2, (int64_t[]) { m - 1, rows });
	const pmg_buffer longer = pmg_dense(memory, PMG_F64, 2, (int64_t[]) { m, rows + 1 });

	CHECK(tests, memory && asks(context, 32, n, &blocks) && !asks(context, 32, n - 1, &fewer));
	CHECK(tests, asks(context, 32, n, &flat) && !asks(context, 32, n - 1, &smaller));
	CHECK(tests, asks(context, m, rows, &shorter) && !asks(context, m - 1, rows, &few));
	CHECK(tests, !asks(context, m, rows + 1, &longer));
	blocks.strides[0] *= 2;
	blocks.strides[1] *= 2;
	CHECK(tests, !asks(context, 32, n, &blocks));
	free(memory);
}

/* Of what can be no buffer there are no bytes. */
static void test_block_sizes(struct tests *tests)
{
	pmg_buffer flat = pmg_dense(NULL, PMG_F64, 2, (int64_t[]) { 33, 5 });

	CHECK(tests, pmg_blocks_bytes(&flat, 16) == 48*5*8 && pmg_blocks_bytes(&flat, 0) == 33*5*8);
	CHECK(tests, pmg_blocks_bytes(&flat, INT64_MAX) == -1 && pmg_blocks_bytes(&flat, INT64_C(1) << 58) == -1);
	CHECK(tests, pmg_blocks_bytes(NULL, 16) == -1 && pmg_in_blocks(NULL, NULL, 16).rank == -1);
	flat = pmg_dense(NULL, PMG_F32, 8, (int64_t[]) { 2, 2, 2, 2, 2, 2, 2, 2 });
	CHECK(tests, pmg_blocks_bytes(&flat, 16) == -1 && pmg_blocks_bytes(&flat, 0) == 1024);
	CHECK(tests, pmg_in_blocks(NULL, &flat, 16).rank == -1);
	flat.rank = 9;
	CHECK(tests, pmg_blocks_bytes(&flat, 0) == -1);
	flat = pmg_dense(NULL, PMG_F64, 0, NULL);
	CHECK(tests, pmg_blocks_bytes(&flat, 0) == 8 && pmg_blocks_bytes(&flat, 16) == -1);
	flat = pmg_dense(NULL, PMG_F64, 2, (int64_t[]) { -5, 3 });
	CHECK(tests, pmg_blocks_bytes(&flat, 16) == -1 && pmg_blocks_bytes(&flat, 0) == -1);
	flat = pmg_dense(NULL, PMG_F64, 3, (int64_t[]) { INT64_C(1) << 40, INT64_C(1) << 40, 0 });
	CHECK(tests, pmg_blocks_bytes(&flat, 16) == 0);
}

void test_places(struct tests *tests)
{
	pmg_context *context = pmg_context_new(NULL);

	test_round_trips(tests, context);
	test_large(tests, context);
	test_several(tests, context);
	test_sharing(tests, context);
	test_refusals(tests, context);
	test_far(tests, context);
	test_past(tests, context);
	test_short_past(tests, context);
	test_past_blocks(tests);
	test_block_sizes(tests);
	pmg_context_free(context);
}
