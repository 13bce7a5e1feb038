/* SPDX-License-Identifier: MIT
 *
 * A dot product in the loop around it:
 *
 *     loop p …
 *         let n = atom[p]
 *         loop t …, row 96
 *             sum += D[96*n + t]*Y[96*v + t]
 *
 * What this loop does not move, Y[96*v + t], is read above it, under the condition that it has an iteration: in each of
 * them the dot product reads it, too. The dot products can be made ahead of all else where nothing that they read is
 * written in the loop, but for constants that can be computed a second time. They are not where the terms read a
 * variable, which is what an outer loop has found: to make one after the other then takes less time. Two buffers share
 * no cell. */
#include <string.h>

#include "kernel/lower/dots_private.h"

/* ---- the dot product ---- */

static bool leaves_expr(const struct k_expr *expr, void *user)
{
	bool *leaves = user;

	*leaves = *leaves || (expr->kind == KE_CALL && k_effects(expr) & K_CALL_MAY_END);
	return !*leaves;
}

static bool leaves_stmt(const struct k_stmt *stmt, void *user)
{
	bool *leaves = user;

	*leaves = *leaves || stmt->kind == KS_RETURN || stmt->kind == KS_BREAK || stmt->kind == KS_CONTINUE;
	return !*leaves;
}

/* May an iteration, or the function, end within its body? */
static bool ends_early(const struct k_block *body)
{
	bool leaves = false;

	k_walk_block(body, &(struct k_visitor) { leaves_stmt, leaves_expr, &leaves });
	return leaves;
}

/* What is declared before it is kept. In rounds, all groups come to its statement but in the last one. */
static bool find_in_block(struct dot *dot, const struct k_block *body, bool is_in_rounds)
{
	for (int i = 0; i < body->stmts.n; i++) {
		struct k_stmt *stmt = body->stmts.items[i];
		const bool enters = is_in_rounds ? k_body(stmt) != NULL
						 : dot->row.team && team_has_rounds(body, i);

		if (stmt->kind == KS_LET)
			vec_push(dot->row.arena, &dot->row.lets, stmt);
		if (dot_is(dot, stmt) || (enters && find_in_block(dot, k_body(stmt), true)))
			return true;
	}
	return false;
}

/* The first one that stands under no condition, and in no other loop; what is declared before it. */
static bool find_dot(struct dot *dot, const struct k_block *body)
{
	memset(&dot->row.lets, 0, sizeof dot->row.lets);
	return find_in_block(dot, body, false);
}

static const struct k_let *declared_ahead(const struct dot *dot, const char *name)
{
	for (int i = 0; i < dot->row.lets.n; i++)
		if (strcmp(dot->row.lets.items[i]->let.name, name) == 0)
			return &dot->row.lets.items[i]->let;
	return NULL;
}

/* Has the name another value, or the buffer other elements, in another iteration? */
static bool is_written(const struct dot *dot, const char *name)
{
	const struct k_uses uses = k_uses_in_block(&dot->row.around->loop.body, name);

	return uses.writes > 0 || uses.addresses > 0;
}

/* ---- what the loop does not move ---- */

struct moving {
	const struct dot *dot;
	bool moves;
};

static bool look_at_index(const struct k_expr *expr, void *user)
{
	struct moving *moving = user;
	const struct k_loop *around = &moving->dot->row.around->loop;
	const bool is_cell = expr->kind == KE_NAME && strcmp(expr->text, moving->dot->row.cells->loop.name) == 0;

	if (expr->kind == KE_NAME && !is_cell)
		moving->moves = moving->moves || strcmp(expr->text, around->name) == 0 ||
				declared_ahead(moving->dot, expr->text) || is_written(moving->dot, expr->text);
	return !moving->moves;
}

static bool look_at_read(const struct k_expr *expr, void *user)
{
	struct dot *dot = user;
	struct moving moving = { dot, false };

	if (dot->kept)
		return false;
	if (!vectors_read_one(&dot->row, expr))
		return true;
	k_walk_expr(expr, &(struct k_visitor) { .expr = look_at_index, .user = &moving });
	if (!moving.moves)
		dot->kept = expr;
	return false;
}

bool dot_find_kept(struct dot *dot, struct k_stmt *around)
{
	struct row *row = &dot->row;

	row->around = around;
	if (around->kind != KS_LOOP || around->loop.kind != K_LOOP_SERIAL || around->loop.is_down ||
	    !find_dot(dot, &around->loop.body) || ends_early(&around->loop.body))
		return false;
	k_walk_expr(row_store(row)->value, &(struct k_visitor) { .expr = look_at_read, .user = dot });
	return dot->kept;
}

/* ---- ahead of all else ---- */

struct reading {
	const struct dot *dot;
	bool is_moved;                  /* it is another one in each iteration */
	bool can_be_ahead;
};

static void look_at_operand(struct reading *reading, const struct k_expr *expr);

static void look_at_name(struct reading *reading, const char *name)
{
	const struct k_let *let = declared_ahead(reading->dot, name);

	if (strcmp(name, reading->dot->row.around->loop.name) == 0)
		reading->is_moved = true;
	else if (!let)
		reading->can_be_ahead = reading->can_be_ahead && !is_written(reading->dot, name) &&
					!name_list_has(&reading->dot->variables, name);
	else if (!let_is_constant(let))
		reading->can_be_ahead = false;
	else
		look_at_operand(reading, let->value);
}

static bool look_at_part(const struct k_expr *expr, void *user)
{
	struct reading *reading = user;

	if (expr->kind == KE_NAME && strcmp(expr->text, reading->dot->row.cells->loop.name) != 0)
		look_at_name(reading, expr->text);
	return reading->can_be_ahead;
}

static void look_at_operand(struct reading *reading, const struct k_expr *expr)
{
	k_walk_expr(expr, &(struct k_visitor) { .expr = look_at_part, .user = reading });
}

/* The number of iterations is the same before all of them. */
static bool has_fixed_bound(const struct dot *dot)
{
	const struct k_loop *around = &dot->row.around->loop;
	struct moving moving = { dot, false };

	k_walk_expr(around->bound, &(struct k_visitor) { .expr = look_at_index, .user = &moving });
	return !around->step && !moving.moves && !k_has_effect(around->bound);
}

bool dot_can_be_ahead(const struct dot *dot)
{
	struct reading reading = { dot, false, has_fixed_bound(dot) };

	look_at_operand(&reading, row_store(&dot->row)->value);
	return reading.can_be_ahead && reading.is_moved;
}
