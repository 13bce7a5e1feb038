/* SPDX-License-Identifier: MIT
 *
 * The loop over the cells of a row, inside of that over which they are kept, and the name of its vectors. */
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
		if (find_in_stmt(row, block->stmts.items[i]))
			return true;
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
