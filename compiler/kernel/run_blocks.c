/* SPDX-License-Identifier: MIT
 *
 * Blocks of a running kernel program: lanes next to each other for each row, of systems of one size or of segments, and
 * back, as the runtime's functions say what they do. Every result is too large for the caches here: what can be stored
 * past them is, and what cannot lies where it is or is copied. */
#include "kernel/run_private.h"

/* Most functions begin with (own or block, width, from or to, place, …). */
struct block {
	struct run_value own, there;    /* `there` from its first element */
	int64_t width;
	struct k_run_place place;
};

static struct k_run_place place_of(struct run *run, const struct run_args *args, int i)
{
	struct k_run_place place = { 0 };

	if (args->value[i].kind != RUN_PLACE ||
	    !run->host->place(run->host->user, args->value[i].integer, &place))
		run_fault(run, "%s: no place", args->name);
	return place;
}

/* An address of the elements that the name says. */
static struct run_value typed(const struct run_args *args, int i)
{
	struct run_value at = args->value[i];

	if (at.kind == RUN_ADDRESS)
		at.element = args->element;
	return at;
}

static struct block block_of(struct run *run, const struct run_args *args)
{
	return (struct block) { typed(args, 0), typed(args, 2), run_arg(run, args, 1), place_of(run, args, 3) };
}

static void copy(struct run *run, const struct run_value *to, int64_t i, const struct run_value *from, int64_t j)
{
	run_store_at(run, *to, i, run_load_at(run, *from, j));
}

static void set_number(struct run *run, const struct run_value *numbers, int64_t i, int64_t number)
{
	run_store_at(run, *numbers, i, run_int(number));
}

/* ---- blocks of systems of one size ---- */

static bool lies(const struct k_run_place *place, int64_t width, int64_t n_lanes)
{
	return place->lane == 1 && place->row == width && (n_lanes == width || place->is_padded);
}

/* Rows from where the addresses are. Lanes behind the last one that exists are copies of it. */
static void read_rows(struct run *run, const struct block *block, int64_t n_lanes, int64_t rows)
{
	for (int64_t row = 0; row < rows; row++)
		for (int64_t lane = 0; lane < block->width && !run->has_stopped; lane++)
			copy(run, &block->own, row*block->width + lane, &block->there,
			     (lane < n_lanes ? lane : n_lanes - 1)*block->place.lane + row*block->place.row);
}

static void write_rows(struct run *run, const struct block *block, int64_t n_lanes, int64_t rows)
{
	for (int64_t row = 0; row < rows; row++)
		for (int64_t lane = 0; lane < n_lanes && !run->has_stopped; lane++)
			copy(run, &block->there, lane*block->place.lane + row*block->place.row, &block->own,
			     row*block->width + lane);
}

enum { READ, WRITE };

/* (block, width, from or to, n_lanes, distance, rows, row_distance) */
static struct run_value call_copy(struct run *run, const struct run_args *args)
{
	const struct block block = { typed(args, 0), typed(args, 2), run_arg(run, args, 1),
				     { .lane = run_arg(run, args, 4), .row = run_arg(run, args, 6) } };

	(args->code == READ ? read_rows : write_rows)(run, &block, run_arg(run, args, 3), run_arg(run, args, 5));
	return block.own;
}

/* The same with `there` at the block whose number follows, (…, first, n_lanes, …). */
static struct block block_at(struct run *run, const struct run_args *args)
{
	struct block block = block_of(run, args);

	if (block.width > 0)
		block.there = run_at(run, block.there, run_arg(run, args, 4)/block.width*block.place.block);
	return block;
}

enum { TAKE, OPEN, KEEP };

/* (…, rows) */
static struct run_value call_take(struct run *run, const struct run_args *args)
{
	const struct block block = block_at(run, args);

	if (args->code != KEEP && lies(&block.place, block.width, run_arg(run, args, 5)))
		return block.there;
	if (args->code == TAKE)
		read_rows(run, &block, run_arg(run, args, 5), run_arg(run, args, 6));
	return block.own;
}

/* (…, begin, end, ahead, rows) */
static struct run_value call_rows(struct run *run, const struct run_args *args)
{
	const int64_t begin = run_arg(run, args, 6), end = run_arg(run, args, 7);
	struct block block = block_at(run, args);

	block.there = run_at(run, block.there, begin*block.place.row);
	if (lies(&block.place, block.width, run_arg(run, args, 5)))
		return block.there;
	read_rows(run, &block, run_arg(run, args, 5), end - begin);
	return block.own;
}

static struct run_value put_rows(struct run *run, const struct run_args *args, int64_t begin, int64_t end)
{
	struct block block = block_at(run, args);

	block.own = run_at(run, block.own, begin*block.width);
	block.there = run_at(run, block.there, begin*block.place.row);
	if (!lies(&block.place, block.width, run_arg(run, args, 5)))
		write_rows(run, &block, run_arg(run, args, 5), end - begin);
	return block.own;
}

/* (…, rows) */
static struct run_value call_put(struct run *run, const struct run_args *args)
{
	return put_rows(run, args, 0, run_arg(run, args, 6));
}

/* (…, begin, end, ahead, rows) */
static struct run_value call_put_rows(struct run *run, const struct run_args *args)
{
	return put_rows(run, args, run_arg(run, args, 6), run_arg(run, args, 7));
}

enum { ROWS_AT_A_TIME = 8 };

/* (begin, width, to, place, first, n_lanes, rows) */
static struct run_value call_put_end(struct run *run, const struct run_args *args)
{
	const struct k_run_place place = place_of(run, args, 3);
	const int64_t next = run_arg(run, args, 0) + ROWS_AT_A_TIME, rows = run_arg(run, args, 6);
	const bool is_whole = lies(&place, run_arg(run, args, 1), run_arg(run, args, 5));

	return run_int(is_whole || next > rows ? rows : next);
}

static struct run_value nowhere(void)
{
	return (struct run_value) { .kind = RUN_ADDRESS, .element = RUN_VOID };
}

/* (width, to, place, first, n_lanes, rows) */
static struct run_value call_nontemporal(struct run *run, const struct run_args *args)
{
	const struct k_run_place place = place_of(run, args, 2);
	const int64_t width = run_arg(run, args, 0);

	if (!lies(&place, width, run_arg(run, args, 4)))
		return nowhere();
	return run_at(run, typed(args, 1), run_arg(run, args, 3)/width*place.block);
}

/* (place, width, n_lanes) */
static struct run_value call_lies(struct run *run, const struct run_args *args)
{
	const struct k_run_place place = place_of(run, args, 0);

	return run_of_element(TYPE_BOOL, 0, lies(&place, run_arg(run, args, 1), run_arg(run, args, 2)));
}

/* ---- segments ---- */

/* (offsets, order, width, n_lanes, begin, rows): where lanes begin and how long they are; the longest. */
static struct run_value call_segments(struct run *run, const struct run_args *args)
{
	const int64_t n_lanes = run_arg(run, args, 3);
	int64_t longest = 0;

	for (int64_t lane = 0; lane < run_arg(run, args, 2) && !run->has_stopped; lane++) {
		const int64_t segment = run_number_at(run, &args->value[1], lane < n_lanes ? lane : n_lanes - 1);
		const int64_t begin = run_number_at(run, &args->value[0], segment);
		const int64_t rows = lane < n_lanes ? run_number_at(run, &args->value[0], segment + 1) - begin : 0;

		set_number(run, &args->value[4], lane, begin);
		set_number(run, &args->value[5], lane, rows);
		longest = rows > longest ? rows : longest;
	}
	return run_int(longest);
}

/* (order, n, width): how many blocks a thread takes in its turn. */
static struct run_value call_turn(struct run *run, const struct run_args *args)
{
	const int64_t n = run_arg(run, args, 1), width = run_arg(run, args, 2) > 0 ? run_arg(run, args, 2) : 1;

	return run_int(run_number_at(run, &args->value[0], n + (n + width - 1)/width));
}

/* What is in lanes from `first` to `end`; behind the end of its segment a lane has zeros. */
static void read_segments(struct run *run, const struct block *block, const struct run_value *begin,
			  const struct run_value *lengths, int64_t first, int64_t end)
{
	for (int64_t lane = 0; lane < block->width && !run->has_stopped; lane++) {
		const int64_t length = run_number_at(run, lengths, lane), from = run_number_at(run, begin, lane);

		for (int64_t row = first; row < end && !run->has_stopped; row++) {
			const struct run_value to = run_at(run, block->own, (row - first)*block->width + lane);

			if (row < length)
				copy(run, &to, 0, &block->there, from + row);
			else
				run_store(run, &to, run_of_element(to.element, 0, 0), false);
		}
	}
}

static void write_segments(struct run *run, const struct block *block, const struct run_value *begin,
			   const struct run_value *lengths)
{
	for (int64_t lane = 0; lane < block->width && !run->has_stopped; lane++) {
		const int64_t length = run_number_at(run, lengths, lane), to = run_number_at(run, begin, lane);

		for (int64_t row = 0; row < length && !run->has_stopped; row++)
			copy(run, &block->there, to + row, &block->own, row*block->width + lane);
	}
}

static struct block ragged_of(struct run *run, const struct run_args *args)
{
	return (struct block) { .own = typed(args, 0), .there = typed(args, 2), .width = run_arg(run, args, 1) };
}

enum { ALL, SOME };

/* (block, width, from, begin, rows, longest), or, of some, (…, row, end) */
static struct run_value call_ragged_read(struct run *run, const struct run_args *args)
{
	const struct block block = ragged_of(run, args);
	const bool is_all = args->code == ALL;

	read_segments(run, &block, &args->value[3], &args->value[4], is_all ? 0 : run_arg(run, args, 5),
		      run_arg(run, args, is_all ? 5 : 6));
	return block.own;
}

/* (block, width, to, begin, rows, is_past) */
static struct run_value call_ragged_write(struct run *run, const struct run_args *args)
{
	const struct block block = ragged_of(run, args);

	write_segments(run, &block, &args->value[3], &args->value[4]);
	return block.own;
}

/* (block, width, parent, begin, rows, longest): as numbers of rows; -1 of a root and behind the end. */
static struct run_value call_parents(struct run *run, const struct run_args *args)
{
	const int64_t width = run_arg(run, args, 1);

	for (int64_t lane = 0; lane < width && !run->has_stopped; lane++) {
		const int64_t first = run_number_at(run, &args->value[3], lane);
		const int64_t length = run_number_at(run, &args->value[4], lane);

		for (int64_t row = 0; row < run_arg(run, args, 5) && !run->has_stopped; row++) {
			const int64_t of = row < length ? run_number_at(run, &args->value[2], first + row) : -1;

			set_number(run, &args->value[0], row*width + lane, of < 0 ? -1 : of - first);
		}
	}
	return args->value[0];
}

/* ---- segments as the caller holds them: (…, place, start, …) ---- */

static bool segments_lie(const struct k_run_place *place, int64_t longest)
{
	return place->lane == 1 && longest > 0;
}

/* (place, longest) */
static struct run_value call_segments_lie(struct run *run, const struct run_args *args)
{
	const struct k_run_place place = place_of(run, args, 0);

	return run_of_element(TYPE_BOOL, 0, segments_lie(&place, run_arg(run, args, 1)));
}

/* (…, begin, rows, longest), or, of some, (…, row, end, ahead, next) */
static struct run_value call_segments_take(struct run *run, const struct run_args *args)
{
	const struct block block = block_of(run, args);
	const int64_t longest = run_arg(run, args, 7), first = args->code == SOME ? run_arg(run, args, 8) : 0;

	if (segments_lie(&block.place, longest))
		return run_at(run, block.there, (run_arg(run, args, 4) + first)*block.width);
	read_segments(run, &block, &args->value[5], &args->value[6], first,
		      args->code == SOME ? run_arg(run, args, 9) : longest);
	return block.own;
}

/* (width, to, place, start, longest) */
static struct run_value call_segments_nontemporal(struct run *run, const struct run_args *args)
{
	const struct k_run_place place = place_of(run, args, 2);

	if (!segments_lie(&place, run_arg(run, args, 4)))
		return nowhere();
	return run_at(run, typed(args, 1), run_arg(run, args, 3)*run_arg(run, args, 0));
}

/* Rows that segments have, to where the block lies. */
static void write_block(struct run *run, const struct block *block, const struct run_value *lengths, int64_t start)
{
	const struct run_value there = run_at(run, block->there, start*block->width);

	for (int64_t lane = 0; lane < block->width && !run->has_stopped; lane++)
		for (int64_t row = 0; row < run_number_at(run, lengths, lane) && !run->has_stopped; row++)
			copy(run, &there, row*block->width + lane, &block->own, row*block->width + lane);
}

/* (…, begin, rows, longest, is_past) */
static struct run_value call_segments_put(struct run *run, const struct run_args *args)
{
	const struct block block = block_of(run, args);

	if (segments_lie(&block.place, run_arg(run, args, 7)))
		write_block(run, &block, &args->value[6], run_arg(run, args, 4));
	else
		write_segments(run, &block, &args->value[5], &args->value[6]);
	return block.own;
}

const struct run_call run_block_calls[] = {
	RUN_CALL("pmg_block_read_", call_copy, READ), RUN_CALL("pmg_block_write_", call_copy, WRITE),
	RUN_CALL("pmg_block_take_", call_take, TAKE), RUN_CALL("pmg_block_open_", call_take, OPEN),
	RUN_CALL("pmg_block_keep_", call_take, KEEP), RUN_CALL("pmg_block_nontemporal_", call_nontemporal, 0),
	RUN_CALL("pmg_block_rows_", call_rows, 0), RUN_CALL("pmg_block_put_", call_put, 0),
	RUN_CALL("pmg_block_put_rows_", call_put_rows, 0), RUN_CALL("pmg_put_end_", call_put_end, 0),
	RUN_CALL("pmg_put_begin_", NULL, 0), RUN_CALL("pmg_block_lies", call_lies, 0),
	RUN_CALL("pmg_block_segments", call_segments, 0), RUN_CALL("pmg_turn", call_turn, 0),
	RUN_CALL("pmg_ragged_read_", call_ragged_read, ALL), RUN_CALL("pmg_ragged_rows_", call_ragged_read, SOME),
	RUN_CALL("pmg_ragged_write_", call_ragged_write, 0), RUN_CALL("pmg_ragged_parents", call_parents, 0),
	RUN_CALL("pmg_segments_lie", call_segments_lie, 0), RUN_CALL("pmg_segments_take_", call_segments_take, ALL),
	RUN_CALL("pmg_segments_rows_", call_segments_take, SOME),
	RUN_CALL("pmg_segments_open_", run_first_arg, 0),
	RUN_CALL("pmg_segments_nontemporal_", call_segments_nontemporal, 0),
	RUN_CALL("pmg_segments_put_", call_segments_put, 0),
	RUN_CALLS_END
};
