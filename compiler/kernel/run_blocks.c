/* SPDX-License-Identifier: MIT
 *
 * Blocks of a running kernel program: lanes next to each other for each row, of systems of one size or of segments, and
 * back, as the runtime's functions say what they do. Nothing is too large for a cache here, and nothing is far: blocks
 * lie where they are or are copied, and nothing goes past the caches. */
#include "kernel/run_private.h"

enum { MOST = 16 };

struct args {
	struct run_value value[MOST];
	int64_t integer[MOST];          /* of those that are numbers */
	struct k_run_place place;
};

/* `place`: which of them is a place; -1: none. */
static struct args args_of(struct run *run, const struct k_expr *call, int element, int place)
{
	struct args args = { 0 };

	for (int i = 0; i < call->args.n && i < MOST; i++) {
		struct run_value *value = &args.value[i];

		*value = run_expr(run, call->args.items[i]);
		if (value->kind == RUN_INT)
			args.integer[i] = run_integer(run, value);
		if (value->kind == RUN_ADDRESS && element >= 0 && (value->element == RUN_VOID || i == 0))
			value->element = element;
	}
	if (place >= 0 && args.value[place].kind == RUN_PLACE)
		run->host->place(run->host->user, args.value[place].integer, &args.place);
	else if (place >= 0)
		run_fault(run, "%s: no place", call->text);
	return args;
}

static void copy(struct run *run, const struct run_value *to, int64_t i, const struct run_value *from, int64_t j)
{
	const struct run_value target = run_at(run, *to, i), source = run_at(run, *from, j);
	struct run_value value;

	if (run->has_stopped)
		return;
	value = run_load(run, &source, RUN_READ);
	if (!run->has_stopped)
		run_store(run, &target, value, false);
}

static int64_t number_at(struct run *run, const struct run_value *numbers, int64_t i)
{
	const struct run_value at = run_at(run, *numbers, i);
	const struct run_value value = run->has_stopped ? run_int(0) : run_load(run, &at, RUN_READ);

	return run_integer(run, &value);
}

/* ---- blocks of systems of one size ---- */

static bool lies(const struct args *args, int64_t width, int64_t n_lanes)
{
	return args->place.lane == 1 && args->place.row == width && (n_lanes == width || args->place.is_padded);
}

/* Lanes behind the last one that exists are copies of it. */
static void read_block(struct run *run, const struct run_value *block, int64_t width, const struct run_value *from,
		       int64_t n_lanes, int64_t distance, int64_t rows, int64_t row_distance)
{
	for (int64_t row = 0; row < rows; row++)
		for (int64_t lane = 0; lane < width && !run->has_stopped; lane++)
			copy(run, block, row*width + lane, from,
			     (lane < n_lanes ? lane : n_lanes - 1)*distance + row*row_distance);
}

static void write_block(struct run *run, const struct run_value *block, int64_t width, const struct run_value *to,
			int64_t n_lanes, int64_t distance, int64_t rows, int64_t row_distance)
{
	for (int64_t row = 0; row < rows; row++)
		for (int64_t lane = 0; lane < n_lanes && !run->has_stopped; lane++)
			copy(run, to, lane*distance + row*row_distance, block, row*width + lane);
}

enum { READ, WRITE };

/* (block, width, from or to, n_lanes, distance, rows, row_distance) */
static struct run_value call_copy(struct run *run, const struct k_expr *call, int element, int code)
{
	const struct args a = args_of(run, call, element, -1);

	(code == READ ? read_block : write_block)(run, &a.value[0], a.integer[1], &a.value[2], a.integer[3],
						  a.integer[4], a.integer[5], a.integer[6]);
	return a.value[0];
}

static struct run_value nowhere(void)
{
	return (struct run_value) { .kind = RUN_ADDRESS, .element = RUN_VOID };
}

static struct run_value block_at(struct run *run, const struct args *a, int from)
{
	return run_at(run, a->value[from], a->integer[1] ? a->integer[4]/a->integer[1]*a->place.block : 0);
}

enum { TAKE, OPEN };

/* (own, width, from, place, first, n_lanes, rows) */
static struct run_value call_take(struct run *run, const struct k_expr *call, int element, int code)
{
	const struct args a = args_of(run, call, element, 3);
	const struct run_value there = block_at(run, &a, 2);

	if (lies(&a, a.integer[1], a.integer[5]))
		return there;
	if (code == TAKE)
		read_block(run, &a.value[0], a.integer[1], &there, a.integer[5], a.place.lane, a.integer[6], a.place.row);
	return a.value[0];
}

/* (own, width, from, place, first, n_lanes, begin, end, ahead, rows) */
static struct run_value call_rows(struct run *run, const struct k_expr *call, int element, int code)
{
	const struct args a = args_of(run, call, element, 3);
	const struct run_value there = block_at(run, &a, 2), begin = run_at(run, there, a.integer[6]*a.place.row);

	(void) code;
	if (lies(&a, a.integer[1], a.integer[5]))
		return begin;
	read_block(run, &a.value[0], a.integer[1], &begin, a.integer[5], a.place.lane, a.integer[7] - a.integer[6],
		   a.place.row);
	return a.value[0];
}

static void put_rows(struct run *run, const struct args *a, int64_t begin, int64_t end)
{
	const struct run_value block = run_at(run, a->value[0], begin*a->integer[1]);
	const struct run_value there = block_at(run, a, 2), to = run_at(run, there, begin*a->place.row);

	if (!lies(a, a->integer[1], a->integer[5]))
		write_block(run, &block, a->integer[1], &to, a->integer[5], a->place.lane, end - begin, a->place.row);
}

/* (block, width, to, place, first, n_lanes, rows), or, of rows, (…, begin, end, ahead, rows) */
static struct run_value call_put(struct run *run, const struct k_expr *call, int element, int code)
{
	const struct args a = args_of(run, call, element, 3);

	(void) code;
	put_rows(run, &a, 0, a.integer[6]);
	return a.value[0];
}

static struct run_value call_put_rows(struct run *run, const struct k_expr *call, int element, int code)
{
	const struct args a = args_of(run, call, element, 3);

	(void) code;
	put_rows(run, &a, a.integer[6], a.integer[7]);
	return a.value[0];
}

/* (begin, width, to, place, first, n_lanes, rows) */
static struct run_value call_put_end(struct run *run, const struct k_expr *call, int element, int code)
{
	const struct args a = args_of(run, call, element, 3);
	const int64_t next = a.integer[0] + 8;

	(void) code;
	return run_int(lies(&a, a.integer[1], a.integer[5]) || next > a.integer[6] ? a.integer[6] : next);
}

static struct run_value call_zero(struct run *run, const struct k_expr *call, int element, int code)
{
	(void) run, (void) call, (void) element, (void) code;
	return run_int(0);
}

static struct run_value call_nowhere(struct run *run, const struct k_expr *call, int element, int code)
{
	(void) run, (void) call, (void) element, (void) code;
	return nowhere();
}

/* (place, width, n_lanes) */
static struct run_value call_lies(struct run *run, const struct k_expr *call, int element, int code)
{
	const struct args a = args_of(run, call, element, 0);

	(void) code;
	return run_of_element(TYPE_BOOL, 0, lies(&a, a.integer[1], a.integer[2]));
}

/* ---- blocks of segments ---- */

/* (offsets, order, width, n_lanes, begin, rows): where lanes begin and how long they are; the longest. */
static struct run_value call_segments(struct run *run, const struct k_expr *call, int element, int code)
{
	const struct args a = args_of(run, call, element, -1);
	int64_t longest = 0;

	(void) code;
	for (int64_t lane = 0; lane < a.integer[2] && !run->has_stopped; lane++) {
		const bool is_there = lane < a.integer[3];
		const int64_t segment = number_at(run, &a.value[1], is_there ? lane : a.integer[3] - 1);
		const int64_t begin = number_at(run, &a.value[0], segment);
		const int64_t rows = is_there ? number_at(run, &a.value[0], segment + 1) - begin : 0;
		const struct run_value at_begin = run_at(run, a.value[4], lane), at_rows = run_at(run, a.value[5], lane);

		if (run->has_stopped)
			break;
		run_store(run, &at_begin, run_int(begin), false);
		run_store(run, &at_rows, run_int(rows), false);
		longest = rows > longest ? rows : longest;
	}
	return run_int(longest);
}

/* (order, n, width): how many blocks a thread takes in its turn. */
static struct run_value call_turn(struct run *run, const struct k_expr *call, int element, int code)
{
	const struct args a = args_of(run, call, element, -1);
	const int64_t width = a.integer[2] > 0 ? a.integer[2] : 1;

	(void) code;
	return run_int(number_at(run, &a.value[0], a.integer[1] + (a.integer[1] + width - 1)/width));
}

static bool segments_lie(const struct args *a, int64_t longest)
{
	return a->place.lane == 1 && longest > 0;
}

/* (place, longest) */
static struct run_value call_segments_lie(struct run *run, const struct k_expr *call, int element, int code)
{
	const struct args a = args_of(run, call, element, 0);

	(void) code;
	return run_of_element(TYPE_BOOL, 0, segments_lie(&a, a.integer[1]));
}

enum { ALL, SOME };

/* Behind the end of its segment a lane has zeros. */
static void read_segments(struct run *run, const struct args *a, const struct run_value *begin,
			  const struct run_value *lengths, int64_t first, int64_t end)
{
	const struct run_value zero = run_of_element(a->value[0].element, 0, 0);

	for (int64_t lane = 0; lane < a->integer[1] && !run->has_stopped; lane++) {
		const int64_t length = number_at(run, lengths, lane), from = number_at(run, begin, lane);

		for (int64_t row = first; row < end && !run->has_stopped; row++) {
			const struct run_value to = run_at(run, a->value[0], (row - first)*a->integer[1] + lane);

			if (row < length)
				copy(run, &to, 0, &a->value[2], from + row);
			else
				run_store(run, &to, zero, false);
		}
	}
}

/* (block, width, from, begin, rows, longest), or, of some, (…, row, end) */
static struct run_value call_ragged_read(struct run *run, const struct k_expr *call, int element, int code)
{
	const struct args a = args_of(run, call, element, -1);

	read_segments(run, &a, &a.value[3], &a.value[4], code == SOME ? a.integer[5] : 0, a.integer[code == SOME ? 6 : 5]);
	return a.value[0];
}

static void write_segments(struct run *run, const struct args *a, const struct run_value *begin,
			   const struct run_value *lengths)
{
	for (int64_t lane = 0; lane < a->integer[1] && !run->has_stopped; lane++) {
		const int64_t length = number_at(run, lengths, lane), first = number_at(run, begin, lane);

		for (int64_t row = 0; row < length && !run->has_stopped; row++)
			copy(run, &a->value[2], first + row, &a->value[0], row*a->integer[1] + lane);
	}
}

/* (block, width, to, begin, rows, is_past) */
static struct run_value call_ragged_write(struct run *run, const struct k_expr *call, int element, int code)
{
	const struct args a = args_of(run, call, element, -1);

	(void) code;
	write_segments(run, &a, &a.value[3], &a.value[4]);
	return a.value[0];
}

/* (block, width, parent, begin, rows, longest): as numbers of rows; -1 of a root and behind the end. */
static struct run_value call_parents(struct run *run, const struct k_expr *call, int element, int code)
{
	const struct args a = args_of(run, call, element, -1);

	(void) code;
	for (int64_t lane = 0; lane < a.integer[1] && !run->has_stopped; lane++) {
		const int64_t length = number_at(run, &a.value[4], lane), first = number_at(run, &a.value[3], lane);

		for (int64_t row = 0; row < a.integer[5] && !run->has_stopped; row++) {
			const struct run_value to = run_at(run, a.value[0], row*a.integer[1] + lane);
			const int64_t of = row < length ? number_at(run, &a.value[2], first + row) : -1;

			if (!run->has_stopped)
				run_store(run, &to, run_int(of < 0 ? -1 : of - first), false);
		}
	}
	return a.value[0];
}

/* (own, width, from, place, start, begin, rows, longest) */
static struct run_value call_segments_take(struct run *run, const struct k_expr *call, int element, int code)
{
	const struct args a = args_of(run, call, element, 3);

	(void) code;
	if (segments_lie(&a, a.integer[7]))
		return run_at(run, a.value[2], a.integer[4]*a.integer[1]);
	read_segments(run, &a, &a.value[5], &a.value[6], 0, a.integer[7]);
	return a.value[0];
}

/* (own, width, from, place, start, begin, rows, longest, row, end, ahead, next) */
static struct run_value call_segments_rows(struct run *run, const struct k_expr *call, int element, int code)
{
	const struct args a = args_of(run, call, element, 3);

	(void) code;
	if (segments_lie(&a, a.integer[7]))
		return run_at(run, a.value[2], (a.integer[4] + a.integer[8])*a.integer[1]);
	read_segments(run, &a, &a.value[5], &a.value[6], a.integer[8], a.integer[9]);
	return a.value[0];
}

/* (own, width, to, place, start, longest) */
static struct run_value call_segments_open(struct run *run, const struct k_expr *call, int element, int code)
{
	const struct args a = args_of(run, call, element, 3);

	(void) code;
	return segments_lie(&a, a.integer[5]) ? run_at(run, a.value[2], a.integer[4]*a.integer[1]) : a.value[0];
}

/* (block, width, to, place, start, begin, rows, longest, is_past) */
static struct run_value call_segments_put(struct run *run, const struct k_expr *call, int element, int code)
{
	const struct args a = args_of(run, call, element, 3);

	(void) code;
	if (!segments_lie(&a, a.integer[7]))
		write_segments(run, &a, &a.value[5], &a.value[6]);
	return a.value[0];
}

const struct run_call run_block_calls[] = {
	{ "pmg_block_read_", call_copy, READ }, { "pmg_block_write_", call_copy, WRITE },
	{ "pmg_block_take_", call_take, TAKE }, { "pmg_block_open_", call_take, OPEN },
	{ "pmg_block_keep_", call_take, OPEN }, { "pmg_block_past_", call_nowhere, 0 },
	{ "pmg_block_rows_", call_rows, 0 }, { "pmg_block_put_", call_put, 0 },
	{ "pmg_block_put_rows_", call_put_rows, 0 }, { "pmg_put_end_", call_put_end, 0 },
	{ "pmg_put_begin_", call_zero, 0 }, { "pmg_block_lies", call_lies, 0 },
	{ "pmg_block_segments", call_segments, 0 }, { "pmg_turn", call_turn, 0 }, { "pmg_block_next", call_zero, 0 },
	{ "pmg_ragged_read_", call_ragged_read, ALL }, { "pmg_ragged_rows_", call_ragged_read, SOME },
	{ "pmg_ragged_write_", call_ragged_write, 0 }, { "pmg_ragged_parents", call_parents, 0 },
	{ "pmg_segments_lie", call_segments_lie, 0 }, { "pmg_segments_take_", call_segments_take, 0 },
	{ "pmg_segments_rows_", call_segments_rows, 0 }, { "pmg_segments_open_", call_segments_open, 0 },
	{ "pmg_segments_past_", call_nowhere, 0 }, { "pmg_segments_put_", call_segments_put, 0 },
	{ NULL, NULL, 0 }
};
