/* SPDX-License-Identifier: MIT
 *
 * Rows that the lanes of a device's team share: each has vectors of runtime/pmgrt_cuda_row.h over the loop around. What
 * is updated plainly is read before that loop and written behind it. What is updated atomically, since groups of the
 * team or other teams come to the same cells, begins with the neutral element, and is brought to the cells behind the
 * loop; of a team of several groups, each brings its share. A team updates its cells plainly where no other one has
 * them, and sets them where they hold the neutral element until then:
 *
 *     if PMG_IS_ALONE(…)
 *         loop t …, lanes
 *             Y[96*v + t] = 0.0
 *     call PMG_TEAM_SYNC
 *     loop p …
 *         …
 *             loop t …, lanes, row 96, neutral, alone PMG_IS_ALONE(…)
 *                 atomic Y[96*v + t] += …
 *
 * Where such a loop stands ahead, the row is written whether or not something is added, and the loop is left out. Else
 * what is added to other cells than neutral ones stays away where no lane has anything, and they are not read. */
#include "kernel/lower/rows_private.h"

struct team_row {
	struct row row, cells;          /* the second one has its cells as they were */
	bool is_set;                    /* a loop ahead was to set the cells */
	bool is_neutral;                /* they hold the neutral element */
	struct k_expr *alone;           /* whether only this team has them */
	const char *added;              /* a variable: the lanes that had something to add; NULL: nobody asks */
};

/* ---- may it be kept ---- */

bool team_has_groups(const struct k_team *team)
{
	return team->lanes > team->group;
}

bool team_shares(const struct k_team *team, const struct k_loop *loop)
{
	const char *number = team_has_groups(team) ? "pmg_member" : "pmg_lane";

	return loop->kind == K_LOOP_LANES && is_name_of(loop->number, number);
}

/* Of a team of several groups, each has a row of its own. */
bool team_can_keep(const struct row *row)
{
	return team_shares(row->team, &row->cells->loop) &&
	       (!team_has_groups(row->team) || row_store(row)->mode == K_STORE_ATOMIC);
}

/* ---- barriers ---- */

static bool is_sync(const struct k_stmt *stmt)
{
	return stmt->kind == KS_CALL && is_name_of(stmt->value, "PMG_TEAM_SYNC");
}

static void add_sync(struct k_builder *b, const struct row *row)
{
	if (row->team->lanes > 1)
		k_macro(b, "PMG_TEAM_SYNC");
}

/* Lanes wait for each other before and behind each statement that writes memory. So what stands next to the loop over
 * the cells is there for these, which are in registers. */
static void drop_syncs(const struct row *row)
{
	struct k_block *home = row->home, kept = { 0 };

	for (int i = 0; i < home->stmts.n; i++) {
		const bool is_ahead = i + 1 < home->stmts.n && home->stmts.items[i + 1] == row->cells;
		const bool is_behind = i > 0 && home->stmts.items[i - 1] == row->cells;

		if ((!is_ahead && !is_behind) || !is_sync(home->stmts.items[i]))
			vec_push(row->arena, &kept.stmts, home->stmts.items[i]);
	}
	*home = kept;
}

/* ---- the loop ahead that sets the cells ---- */

static bool sets_where_alone(const struct row *row, const struct k_stmt *stmt)
{
	const struct k_expr *alone = row->cells->loop.row.alone;
	const struct k_block *then = &stmt->branch.then;

	return stmt->kind == KS_IF && !stmt->branch.has_otherwise && alone &&
	       k_expr_is_equal(stmt->branch.condition, alone) && then->stmts.n == 1 &&
	       then->stmts.items[0]->kind == KS_LOOP && row_is_set_by(row, &then->stmts.items[0]->loop);
}

/* Leaves it out; false: there is none. */
static bool take_set(const struct row *row, struct k_block *ahead)
{
	int at = ahead->stmts.n - 1;

	if (at > 0 && is_sync(ahead->stmts.items[at]))
		at--;
	if (at < 0 || !sets_where_alone(row, ahead->stmts.items[at]))
		return false;
	ahead->stmts.n = at;
	return true;
}

/* ---- what is added up ---- */

/* `alone`, by a name if it is to be computed. */
static struct k_expr *declare_alone(struct k_builder *b, struct row *row)
{
	struct k_expr *alone = row->cells->loop.row.alone;
	const char *name;

	if (!alone || alone->kind == KE_BOOL)
		return alone ? alone : k_bool(b->arena, false);
	name = name_list_new(b->arena, &row->visible, row->around, "is_alone");
	k_const(b, k_scalar("bool"), name, alone);
	return k_name(b->arena, name);
}

/* Ahead of the loop over rounds of lanes, and its counter: the lanes that have rows. */
static void note_added(const struct team_row *kept, struct k_block *block, const struct k_stmt *rounds)
{
	struct arena *a = kept->row.arena;
	struct k_block noted = { 0 };
	struct k_builder b = k_builder_new(a, &noted);

	b.span = rounds->span;
	for (int i = 0; i < block->stmts.n; i++) {
		if (i + 1 < block->stmts.n && block->stmts.items[i + 1] == rounds)
			k_update(&b, K_BIT_OR, k_name(a, kept->added), k_name(a, rounds_lanes(rounds)));
		k_add_as_it_is(&b, block->stmts.items[i]);
	}
	*block = noted;
}

/* Where lanes have rows in rounds, of which none may have any. */
static void declare_added(struct k_builder *b, struct team_row *kept)
{
	struct row *row = &kept->row;
	struct k_block *block = k_body(row->around);

	for (int i = 0; i < row->way.n; i++) {
		struct k_stmt *stmt = (struct k_stmt *) row->way.items[i];

		if (rounds_lanes(stmt) && !kept->is_neutral) {
			kept->added = name_list_new(b->arena, &row->visible, row->around, "added");
			k_var(b, k_scalar("unsigned"), kept->added, k_int(b->arena, 0));
			note_added(kept, block, stmt);
		}
		block = k_body(stmt);
	}
}

/* What the groups of a team have added goes to their shares. */
static void add_share(struct k_builder *b, const struct row *row, const char *operation)
{
	struct arena *a = b->arena;
	struct k_expr *call = K_CALL(a, "pmg_cuda_share", k_name(a, row->name));

	k_with_constant(a, call, k_name(a, "pmg_team"));
	k_with_constant(a, call, k_name(a, "pmg_group"));
	k_do(b, k_with_constant(a, call, k_name(a, arena_printf(a, "pmg_cuda_%s", operation))));
}

/* Whether the lane has the share, or vector, of a number. */
static struct k_expr *is_own(const struct row *row, const char *number)
{
	struct arena *a = row->arena;

	return row->is_shared ? K_CALL(a, "PMG_SHARE_IS_OWN", k_type_arg(a, k_scalar(vectors_element(row))),
				       k_int(a, row->length), k_name(a, number))
			      : vectors_are_own(row, number);
}

static void add_to_cells(struct k_builder *b, const struct team_row *kept, const char *operation)
{
	struct arena *a = b->arena;
	const struct row *row = &kept->cells;
	const char *first = kept->is_neutral ? "_first" : "";
	const char *number = vectors_open(b, row, &row->visible, true);
	struct k_expr *sums = k_at(a, row->name, k_name(a, number));

	if (row->is_shared || !vectors_fill_team(row))
		k_only_if(b, is_own(row, number));
	if (row->is_shared)
		sums = k_with_constant(a, K_CALL(a, "pmg_cuda_begin", sums), k_name(a, "PMG_SHARE_CELLS"));
	k_do(b, K_CALL(a, arena_printf(a, "pmg_cuda_row_%s%s", operation, first),
		       k_address(a, k_copy_expr(a, row->cell, &(struct k_replacing) { 0 })), sums, kept->alone));
	k_end(b);
}

static void add_up(struct k_builder *b, struct team_row *kept)
{
	const char *operation = row_store(&kept->row)->op == K_MUL ? "prod" : "add";

	kept->alone = declare_alone(b, &kept->row);
	vectors_begin(b, &kept->row);
	declare_added(b, kept);
	vectors_update(&kept->row);
	k_add_as_it_is(b, kept->row.around);
	if (kept->added)
		k_begin_if(b, k_name(b->arena, kept->added));
	kept->cells.is_shared = team_has_groups(kept->row.team);
	if (kept->cells.is_shared)
		add_share(b, &kept->row, operation);
	add_to_cells(b, kept, operation);
	if (kept->added)
		k_end(b);
}

/* ---- keeping it ---- */

/* The last cells of a row that does not fill the team are read by several lanes. */
static void update_plainly(struct k_builder *b, struct team_row *kept)
{
	vectors_read(b, &kept->row);
	if (!vectors_fill_team(&kept->row))
		add_sync(b, &kept->row);
	vectors_update(&kept->row);
	k_add_as_it_is(b, kept->row.around);
	vectors_write(b, &kept->cells);
}

void keep_team_row(struct row *row, struct k_block *out)
{
	struct k_builder b = k_builder_new(row->arena, out);
	struct team_row kept = { .is_set = take_set(row, out) };
	struct k_stmt cells = *row->cells;

	b.span = row->around->span;
	row_name(row);
	kept.row = kept.cells = *row;
	kept.cells.cells = &cells;
	kept.is_neutral = kept.is_set || cells.loop.row.is_neutral;
	drop_syncs(row);
	if (!kept.is_set)
		k_begin_if(&b, loop_runs(row->arena, &row->around->loop));
	vectors_declare(&b, row);
	if (row_store(row)->mode == K_STORE_ATOMIC)
		add_up(&b, &kept);
	else
		update_plainly(&b, &kept);
	add_sync(&b, row);
	if (!kept.is_set)
		k_end(&b);
}
