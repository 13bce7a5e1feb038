/* SPDX-License-Identifier: MIT
 *
 * Rows of accumulators. A loop over consecutive cells, of which builders say that it is over a row, updates each cell
 * in iterations of the loop around it:
 *
 *     loop p …
 *         loop t …, row 96
 *             Y[96*v + t] += …
 *
 * The cells are kept in vectors over the loop over p: read before it, updated in it, and written behind it. That they
 * are read and written only if this loop has an iteration is needed: else the cells may be another thread's. Nothing
 * else in the loop may use the buffer, and where the cells lie may not change in it. Two buffers share no cell.
 *
 * A sum is often a loop that sets its cells to zero, and directly behind it one that adds to them. The row begins at
 * zero then, and the first loop remains for the case that nothing is added. A row that takes more registers than there
 * are is kept in blocks (long_rows.c). */
#include <stdlib.h>
#include <string.h>

#include "kernel/lower/rows_private.h"

struct walk {
	struct k_lowered *lowered;
	const struct k_team *team;      /* of a device that run the function; NULL: none do */
	name_list visible;
};

/* ---- the row of a loop ---- */

static bool find_row(struct walk *walk, struct k_stmt *around, struct row *row)
{
	*row = (struct row) { .arena = walk->lowered->arena, .around = around, .visible = walk->visible };
	if (around->kind != KS_LOOP || around->loop.kind != K_LOOP_SERIAL || !row_find_cells(row))
		return false;
	row->team = row->cells->loop.kind == K_LOOP_LANES ? walk->team : NULL;
	return row->team || row->cells->loop.kind != K_LOOP_LANES;
}

/* ---- may it be kept ---- */

/* Those of a team are put together, whatever other lanes do at once. */
static bool is_one_update(const struct row *row)
{
	const struct k_loop *cells = &row->cells->loop;
	const struct k_stmt *stmt = cells->body.stmts.n == 1 ? cells->body.stmts.items[0] : NULL;

	return !cells->is_down && !cells->step && stmt && stmt->kind == KS_STORE && !stmt->store.is_step &&
	       (stmt->store.mode == K_STORE_PLAIN || (row->team && stmt->store.mode == K_STORE_ATOMIC)) &&
	       stmt->store.targets.n == 1 && stmt->store.targets.items[0]->kind == KE_LOAD &&
	       stmt->store.targets.items[0]->args.items[0]->kind == KE_NAME &&
	       (stmt->store.op == K_ADD || stmt->store.op == K_SUB || stmt->store.op == K_MUL);
}

struct moving {
	const struct row *row;
	bool moves;
};

static bool find_written(const struct k_expr *expr, void *user)
{
	struct moving *moving = user;
	const struct k_stmt *around = moving->row->around;
	const bool is_variable = expr->kind == KE_NAME && strcmp(expr->text, moving->row->cells->loop.name) == 0;

	if (expr->kind == KE_NAME && !is_variable)
		moving->moves = moving->moves || strcmp(expr->text, around->loop.name) == 0 ||
				k_uses_in_block(&around->loop.body, expr->text).writes > 0;
	return !moving->moves;
}

/* Does where the cells lie change in the loop around theirs? */
static bool moves(const struct row *row)
{
	struct moving moving = { row, false };

	k_walk_expr(row->cell->args.items[1], &(struct k_visitor) { .expr = find_written, .user = &moving });
	k_walk_expr(row->cells->loop.first, &(struct k_visitor) { .expr = find_written, .user = &moving });
	return moving.moves;
}

static bool can_be_kept(struct row *row, const struct k_row_limits *limits)
{
	const struct k_expr *length = row->cells->loop.row.length;
	struct k_uses uses;

	if (!is_one_update(row) || length->kind != KE_INT)
		return false;
	row->length = length->integer;
	row->cell = row_store(row)->targets.items[0];
	row->buffer = row->cell->args.items[0]->text;
	uses = k_uses_in_block(&row->around->loop.body, row->buffer);
	return uses.reads == 1 && uses.writes == 1 && uses.addresses == 0 && !moves(row) &&
	       vectors_are_possible(row) &&
	       (row->team ? team_can_keep(row) && !row_needs_blocks(row, limits)
			  : !row_needs_blocks(row, limits) || row_can_have_blocks(row, limits));
}

/* ---- the loop ahead that sets the cells to zero ---- */

/* A declaration that stands between the two loops, and may stand ahead of both. */
static bool is_apart(const struct row *row, const struct k_stmt *stmt, const struct k_loop *zero)
{
	return stmt->kind == KS_LET && strcmp(stmt->let.name, zero->name) != 0 &&
	       (!stmt->let.value || (!k_has_effect(stmt->let.value) &&
				     !k_expr_mentions(stmt->let.value, row->buffer)));
}

/* Takes that loop out of the block in which the one of the row comes next; NULL: there is none. */
static struct k_stmt *take_zero(const struct row *row, struct k_block *ahead)
{
	const enum k_op op = row_store(row)->op;
	struct k_stmt *zero = NULL;
	int at = ahead->stmts.n;

	while (at > 0 && ahead->stmts.items[at - 1]->kind == KS_LET)
		at--;
	if (at > 0 && ahead->stmts.items[at - 1]->kind == KS_LOOP && (op == K_ADD || op == K_SUB))
		zero = ahead->stmts.items[at - 1];
	if (!zero || zero->loop.kind == K_LOOP_LANES || !row_is_set_by(row, &zero->loop))
		return NULL;
	for (int i = at; i < ahead->stmts.n; i++)
		if (!is_apart(row, ahead->stmts.items[i], &zero->loop))
			return NULL;
	for (int i = at; i < ahead->stmts.n; i++)
		ahead->stmts.items[i - 1] = ahead->stmts.items[i];
	ahead->stmts.n--;
	return zero;
}

/* ---- keeping it ---- */

static void keep(struct k_builder *b, struct row *row, bool begins_at_zero)
{
	struct k_stmt cells = *row->cells;
	struct row behind;

	row_name(row);
	behind = *row;
	behind.cells = &cells;
	vectors_declare(b, row);
	if (begins_at_zero)
		vectors_begin(b, row);
	else
		vectors_read(b, row);
	vectors_update(row);
	k_add_as_it_is(b, row->around);
	vectors_write(b, &behind);
}

static void add_kept(struct row *row, const struct k_row_limits *limits, struct k_block *out)
{
	struct k_builder b = k_builder_new(row->arena, out);
	struct k_stmt *zero = take_zero(row, out);

	b.span = row->around->span;
	k_begin_if(&b, loop_runs(row->arena, &row->around->loop));
	if (row_needs_blocks(row, limits))
		keep_long_row(&b, row, zero, limits);
	else
		keep(&b, row, zero);
	if (zero) {
		k_begin_else(&b);
		k_add_as_it_is(&b, zero);
	}
	k_end(&b);
}

/* ---- the walk ---- */

static void lower_block(struct k_block *block, void *user)
{
	struct walk *walk = user;
	const int visible = walk->visible.n;
	const struct k_row_limits *limits = &walk->lowered->target->rows;
	struct k_block out = { 0 };
	struct row row;

	for (int i = 0; i < block->stmts.n; i++) {
		struct k_stmt *stmt = block->stmts.items[i];

		name_list_inside(walk->lowered->arena, &walk->visible, stmt, lower_block, walk);
		if (!find_row(walk, stmt, &row) || !can_be_kept(&row, limits))
			vec_push(walk->lowered->arena, &out.stmts, stmt);
		else if (row.team)
			keep_team_row(&row, &out);
		else
			add_kept(&row, limits, &out);
		name_list_declare(walk->lowered->arena, &walk->visible, stmt);
	}
	walk->visible.n = visible;
	*block = out;
}

/* From here on no loop is over a row. */
static bool forget(const struct k_stmt *stmt, void *user)
{
	(void) user;
	if (stmt->kind == KS_LOOP)
		((struct k_stmt *) stmt)->loop.row = (struct k_row) { 0 };
	return true;
}

static void lower_function(struct k_lowered *lowered, struct k_function *function)
{
	struct walk walk = { .lowered = lowered, .team = function->team.lanes ? &function->team : NULL };

	name_list_begin(lowered->arena, &walk.visible, lowered->program, function);
	lower_block(&function->body, &walk);
	k_walk_block(&function->body, &(struct k_visitor) { .stmt = forget });
}

void lower_rows(struct k_lowered *lowered)
{
	for (int i = 0; i < lowered->program->functions.n; i++)
		lower_function(lowered, lowered->program->functions.items[i]);
}
