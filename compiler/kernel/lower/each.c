/* SPDX-License-Identifier: MIT
 *
 * The walk of lowerings that look at each statement of a function and the names that are visible there. */
#include "kernel/lower/lower_private.h"

struct walk {
	struct arena *arena;
	name_list *visible;
	k_take *take;
	void *user;
};

static void walk_block(struct k_block *block, void *user)
{
	const struct walk *walk = user;
	const int visible = walk->visible->n;
	struct k_block out = { 0 };

	for (int i = 0; i < block->stmts.n; i++) {
		struct k_stmt *stmt = block->stmts.items[i];

		if (walk->take(walk->user, &out, block, i))
			continue;
		name_list_inside(walk->arena, walk->visible, stmt, walk_block, user);
		name_list_declare(walk->arena, walk->visible, stmt);
		vec_push(walk->arena, &out.stmts, stmt);
	}
	walk->visible->n = visible;
	*block = out;
}

void lower_each(struct k_lowered *lowered, struct k_function *function, name_list *visible, k_take *take, void *user)
{
	struct walk walk = { lowered->arena, visible, take, user };

	name_list_begin(lowered->arena, visible, lowered->program, function);
	walk_block(&function->body, &walk);
}
