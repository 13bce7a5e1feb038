/* SPDX-License-Identifier: MIT
 *
 * The loop over the cells of a row, inside of that over which they are kept, and the name of its vectors. */
#include <stdlib.h>
#include <string.h>

#include "kernel/lower/rows_private.h"

static bool find_in_block(struct row *row, struct k_block *block);

static bool find_inside(struct row *row, struct k_stmt *stmt)
{
	vec_push(row->arena, &row->way, stmt);
	if (k_body(stmt) && find_in_block(row, k_body(stmt))) {
		row->is_on_byway = row->is_on_byway || stmt->kind == KS_WHILE;
		return true;
	}
	if (stmt->kind == KS_IF && find_in_block(row, &stmt->branch.otherwise)) {
		row->is_on_byway = true;
		return true;
	}
	row->way.n--;
	return false;
}

/* Not in loops inside: these have rows of their own. A `while` runs a few iterations of a loop. */
static bool find_in_stmt(struct row *row, struct k_stmt *stmt)
{
	if (stmt->kind == KS_LOOP && stmt->loop.row.length) {
		row->cells = stmt;
		return true;
	}
	if (stmt->kind == KS_LET) {
		vec_push(row->arena, &row->inside, stmt->let.name);
		vec_push(row->arena, &row->lets, stmt);
	}
	return (stmt->kind == KS_IF || stmt->kind == KS_BLOCK || stmt->kind == KS_WHILE) && find_inside(row, stmt);
}

static bool find_in_block(struct row *row, struct k_block *block)
{
	const int n_inside = row->inside.n, n_lets = row->lets.n;

	for (int i = 0; i < block->stmts.n; i++)
		if (find_in_stmt(row, block->stmts.items[i])) {
			row->home = row->home ? row->home : block;
			return true;
		}
	row->inside.n = n_inside;
	row->lets.n = n_lets;
	return false;
}

bool row_find_cells(struct row *row)
{
	name_list inside = { 0 };

	for (int i = 0; i < row->visible.n; i++)
		vec_push(row->arena, &inside, row->visible.items[i]);
	vec_push(row->arena, &inside, row->around->loop.name);
	row->inside = inside;
	row->home = NULL;
	memset(&row->way, 0, sizeof row->way);
	memset(&row->lets, 0, sizeof row->lets);
	return find_in_block(row, &row->around->loop.body);
}

const struct k_store *row_store(const struct row *row)
{
	return &row->cells->loop.body.stmts.items[0]->store;
}

void row_name(struct row *row)
{
	const char *names[] = {
		lower_name(row->arena, &row->visible, row->around, arena_printf(row->arena, "%s_row", row->buffer)),
		row->cells->loop.name
	};

	row->name = names[0];
	for (int i = 0; i < 2; i++) {
		vec_push(row->arena, &row->visible, names[i]);
		vec_push(row->arena, &row->inside, names[i]);
	}
}

bool let_is_constant(const struct k_let *let)
{
	return !let->is_variable && !let->extents.n && let->value && !k_has_effect(let->value);
}

/* The sides are as who compares sums writes them: a number to the right. */
struct k_expr *loop_runs(struct arena *arena, const struct k_loop *loop)
{
	if (loop->first->kind == KE_INT)
		return k_binary(arena, loop->is_down ? K_LE : K_GT, loop->bound, loop->first);
	return loop->is_down ? k_binary(arena, K_LE, loop->bound, loop->first)
			     : k_binary(arena, K_LT, loop->first, loop->bound);
}

/* ---- who sets the cells ---- */

struct renaming {
	struct arena *arena;
	const char *from, *to;
};

static struct k_expr *renamed(const struct k_expr *expr, void *user)
{
	const struct renaming *renaming = user;

	return expr->kind == KE_NAME && strcmp(expr->text, renaming->from) == 0 ? k_name(renaming->arena, renaming->to)
										  : NULL;
}

/* Of sums and products. */
static bool is_neutral(enum k_op op, const struct k_expr *value)
{
	return value->kind == KE_FLOAT && strtod(value->text, NULL) == (op == K_MUL ? 1.0 : 0.0);
}

bool row_is_set_by(const struct row *row, const struct k_loop *loop)
{
	const struct k_loop *cells = &row->cells->loop;
	const struct k_stmt *set = loop->body.stmts.n == 1 ? loop->body.stmts.items[0] : NULL;
	struct renaming renaming = { row->arena, loop->name, cells->name };

	return (loop->kind == K_LOOP_SERIAL || loop->kind == K_LOOP_SIMD || loop->kind == K_LOOP_LANES) &&
	       !loop->is_down && !loop->step && set && set->kind == KS_STORE && set->store.op == K_OP_N &&
	       set->store.mode == K_STORE_PLAIN && set->store.targets.n == 1 &&
	       is_neutral(row_store(row)->op, set->store.value) && k_expr_is_equal(loop->first, cells->first) &&
	       k_expr_is_equal(loop->bound, cells->bound) &&
	       k_expr_is_equal(k_copy_expr(row->arena, set->store.targets.items[0],
					   &(struct k_replacing) { .expr = renamed, .user = &renaming }), row->cell);
}
