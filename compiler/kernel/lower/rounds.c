/* SPDX-License-Identifier: MIT
 *
 * Rounds of lanes. In a kernel of a device, lanes have iterations whose rows groups of the team work on, one row of one
 * lane at a time, in rounds:
 *
 *     let source = pmg_cuda_nth(lanes, pmg_lane)
 *     let atom_3 = pmg_cuda_take<pmg_team>(atom, source)
 *     while round*pmg_groups < pmg_cuda_count(lanes)
 *         let number = round*pmg_groups + pmg_group_number
 *         let atom_2 = pmg_cuda_take<pmg_team>(atom_3, number)
 *         if number < pmg_cuda_count(lanes)
 *             …
 *
 * If there are registers for it, rows of two rounds are read next to each other, as long as all groups have one in
 * both. Sums that groups leave to lanes are added up over the lanes of groups for several rounds together. Where rows
 * are of short cells, so that registers are what counts, values come from shared memory (handed.c). */
#include <string.h>

#include "kernel/lower/rounds_private.h"

enum { SUMS = 4, NARROW_SUMS = 2 };     /* rounds whose sums groups add up together */
enum { ROWS_AT_A_TIME = 2 };            /* that a group reads next to each other, if they are short */
enum { MOST_GROUPS = 4 };               /* with more, lanes seldom have that many rows for each */
enum { ROOM_FOR_ROWS = 192 };           /* bytes of rows and sums of a lane, for two rows at a time */

struct walk {
	struct arena *arena;
	const struct k_function *function;
	name_list visible;
};

/* ---- the loop ---- */

const char *rounds_lanes(const struct k_stmt *stmt)
{
	const struct k_expr *condition = stmt->kind == KS_WHILE ? stmt->repeat.condition : NULL, *rows;

	if (!condition || condition->kind != KE_BINARY || condition->op != K_LT ||
	    !is_call_of(condition->args.items[1], "pmg_cuda_count"))
		return NULL;
	rows = condition->args.items[0];
	return rows->kind == KE_BINARY && rows->op == K_MUL && is_name_of(rows->args.items[1], "pmg_groups")
	     ? condition->args.items[1]->args.items[0]->text : NULL;
}

/* Its number first, and a condition last. */
static bool is_round(const struct k_block *body)
{
	const struct k_stmt *const *stmts = (const struct k_stmt *const *) body->stmts.items;
	const int n = body->stmts.n;
	const struct k_expr *number = n > 1 && stmts[0]->kind == KS_LET ? stmts[0]->let.value : NULL;

	return number && number->kind == KE_BINARY && is_name_of(number->args.items[1], "pmg_group_number") &&
	       stmts[n - 1]->kind == KS_IF && !stmts[n - 1]->branch.has_otherwise;
}

static bool find_rounds(const struct walk *walk, struct k_block *block, int at, struct rounds *rounds)
{
	struct k_stmt *stmt = block->stmts.items[at];
	const char *lanes = rounds_lanes(stmt);

	*rounds = (struct rounds) { .arena = walk->arena, .stmt = stmt, .lanes = lanes, .visible = walk->visible };
	if (!lanes)
		return false;
	rounds->body = &stmt->repeat.body;
	if (k_leaves_sums(rounds->body)) {
		rounds->sums = &rounds->body->stmts.items[0]->let;
		rounds->body = &rounds->body->stmts.items[1]->loop.body;
	}
	if (!is_round(rounds->body))
		return false;
	rounds->registers = k_registers_before(&walk->function->team, &walk->function->body, stmt);
	rounds_find_values(rounds, block, at);
	return true;
}

/* ---- how many at a time ---- */

/* Shared memory needs fewer shuffles and registers, which count if the rows that are read are short. */
static bool are_short(const struct rounds *rounds)
{
	return rounds->registers.read > 0 && !rounds->registers.is_long;
}

/* Are there registers for so many rows next to each other, besides so many bytes of sums? */
static bool has_room(const struct walk *walk, const struct rounds *rounds, int n, int64_t sums)
{
	const struct k_team *team = &walk->function->team;
	const struct k_registers *registers = &rounds->registers;

	return registers->read > 0 && !team->is_rolled && team->lanes/team->group <= MOST_GROUPS &&
	       registers->held + sums + n*registers->read <= ROOM_FOR_ROWS;
}

/* Fewer if there are no registers for all of their rows, which leaves room for more teams. */
static int n_sums(const struct walk *walk, const struct rounds *rounds)
{
	const int64_t bytes = SUMS*type_size_of(rounds->sums->type.name);

	return walk->function->team.is_rolled ? 1
	     : are_short(rounds) && !has_room(walk, rounds, SUMS, bytes) ? NARROW_SUMS : SUMS;
}

/* ---- rounds of which all groups have rows ---- */

/* The loop for so many rounds at a time, all of which have rows: those that are left follow behind it. */
static void take_whole_rounds(struct arena *a, struct k_while *loop, int n)
{
	struct k_expr *rows = loop->condition->args.items[0];

	loop->condition = k_binary(a, K_LE, k_operate(a, k_binary(a, K_ADD, rows->args.items[0], k_int(a, n)), K_MUL,
						      rows->args.items[1]), loop->condition->args.items[1]);
	loop->after->store.value = k_int(a, n);
}

/* What stands below a condition at the end of a round runs in any case. */
static void drop_condition(struct arena *a, struct k_block *body)
{
	const struct k_stmt *last = body->stmts.items[--body->stmts.n];

	for (int i = 0; i < last->branch.then.stmts.n; i++)
		vec_push(a, &body->stmts, last->branch.then.stmts.items[i]);
}

static struct k_stmt *copy_of(const struct rounds *rounds)
{
	return k_copy_stmt(rounds->arena, rounds->stmt, &(struct k_replacing) { 0 });
}

/* ---- rows ---- */

/* number = (round + i)*pmg_groups + pmg_group_number */
static void count_from(struct arena *a, struct k_let *number, const char *i)
{
	struct k_expr *row = number->value->args.items[0];

	row->args.items[0] = k_grouped(a, k_binary(a, K_ADD, row->args.items[0], k_name(a, i)));
}

/* Two are read next to each other as long as all groups have them. The second one is not counted among what lanes hold:
 * what the first one has is free as soon as it is added. */
static void add_rows_at_a_time(struct k_builder *b, struct rounds *rounds)
{
	struct arena *a = b->arena;
	struct k_stmt *stmt = copy_of(rounds);
	struct k_block body = stmt->repeat.body, at_a_time = { 0 };
	struct k_builder inside = k_builder_new(a, &at_a_time);
	const char *i = lower_name(a, &rounds->visible, rounds->stmt, "i");

	drop_condition(a, &body);
	count_from(a, &body.stmts.items[0]->let, i);
	inside.span = stmt->span;
	k_begin_for(&inside, "int", i, k_int(a, 0), k_int(a, ROWS_AT_A_TIME), NULL)->loop.kind = K_LOOP_UNROLLED;
	k_add_from(&inside, &body, 0);
	k_end(&inside);
	stmt->repeat.body = at_a_time;
	take_whole_rounds(a, &stmt->repeat, ROWS_AT_A_TIME);
	k_add_as_it_is(b, stmt);
}

/* ---- sums ---- */

static void make_sums(struct arena *a, struct k_while *loop, int n)
{
	loop->body.stmts.items[0]->let.extents.items[0] = k_int(a, n);
	loop->body.stmts.items[1]->loop.bound = k_int(a, n);
	loop->after->store.value = k_int(a, n);
}

static void add_sums(struct k_builder *b, const struct walk *walk, struct rounds *rounds)
{
	const int n = n_sums(walk, rounds);
	struct k_stmt *whole;

	make_sums(b->arena, &rounds->stmt->repeat, n);
	if (rounds->shared && has_room(walk, rounds, n, n*type_size_of(rounds->sums->type.name))) {
		whole = copy_of(rounds);
		drop_condition(b->arena, &whole->repeat.body.stmts.items[1]->loop.body);
		take_whole_rounds(b->arena, &whole->repeat, n);
		k_add_as_it_is(b, whole);
	}
}

/* ---- the walk ---- */

/* What the block becomes up to the loop; what follows it is left as it is. */
static void lower_rounds_at(const struct walk *walk, struct k_block *block, struct rounds *rounds, int *at)
{
	struct k_block out = { 0 };
	struct k_builder b = k_builder_new(walk->arena, &out);
	const struct k_block all = *block;
	const int loop = *at;

	b.span = rounds->stmt->span;
	rounds_hand_over(&b, rounds, block, loop, are_short(rounds));
	if (rounds->sums)
		add_sums(&b, walk, rounds);
	else if (has_room(walk, rounds, ROWS_AT_A_TIME, 0))
		add_rows_at_a_time(&b, rounds);
	k_add_as_it_is(&b, rounds->stmt);
	*at = out.stmts.n - 1;
	k_add_from(&b, &all, loop + 1);
	*block = out;
}

static void lower_block(struct k_block *block, void *user)
{
	struct walk *walk = user;
	const int visible = walk->visible.n;
	struct rounds rounds;

	for (int i = 0; i < block->stmts.n; i++) {
		if (find_rounds(walk, block, i, &rounds)) {
			lower_rounds_at(walk, block, &rounds, &i);
			continue;
		}
		name_list_inside(walk->arena, &walk->visible, block->stmts.items[i], lower_block, walk);
		name_list_declare(walk->arena, &walk->visible, block->stmts.items[i]);
	}
	walk->visible.n = visible;
}

void lower_rounds(struct k_lowered *lowered)
{
	for (int i = 0; i < lowered->program->functions.n; i++) {
		struct k_function *function = lowered->program->functions.items[i];
		struct walk walk = { .arena = lowered->arena, .function = function };

		if (!function->team.lanes)
			continue;
		name_list_begin(walk.arena, &walk.visible, lowered->program, function);
		lower_block(&function->body, &walk);
	}
}
