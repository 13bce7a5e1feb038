/* SPDX-License-Identifier: MIT
 *
 * Ends of work-shared loops in vectors. clang shares such a loop as `i <= last`, which may never end where integers
 * wrap, and vectorises only what it can count. PMG_END (runtime/pmgrt_math.h) tells it that the end is none of the
 * largest numbers; of a constant it sees that itself, and a loop that runs down ends at a small one. */
#include "kernel/affine.h"
#include "kernel/lower/lower_private.h"

static bool needs_end(struct arena *arena, const struct k_stmt *stmt)
{
	struct affine bound;
	int64_t number;

	if (stmt->kind != KS_LOOP || stmt->loop.kind != K_LOOP_WORKSHARE || !stmt->loop.is_simd || stmt->loop.is_down)
		return false;
	bound = affine_of(arena, stmt->loop.bound);
	return !affine_is_constant(&bound, &number);
}

static void lower_block(struct k_block *block, void *user)
{
	struct arena *arena = user;
	name_list none = { 0 };

	for (int i = 0; i < block->stmts.n; i++) {
		struct k_stmt *stmt = block->stmts.items[i];

		if (needs_end(arena, stmt))
			stmt->loop.bound = k_call(arena, "PMG_END", 1, stmt->loop.bound);
		name_list_inside(arena, &none, stmt, lower_block, arena);
	}
}

void lower_vector_ends(struct k_lowered *lowered)
{
	for (int i = 0; i < lowered->program->functions.n; i++)
		lower_block(&lowered->program->functions.items[i]->body, lowered->arena);
}
