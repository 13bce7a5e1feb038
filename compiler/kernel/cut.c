/* SPDX-License-Identifier: MIT
 *
 * Ranges in parts: part p of n begins at FIRST + p*LENGTH/n, or whole chunks behind FIRST near to that, and ends where
 * the next one begins. */
#include "kernel/affine.h"
#include "kernel/make.h"

static struct k_expr *cut_at(struct arena *arena, const struct cut *cut, struct k_expr *part)
{
	const struct affine length = affine_combine(arena, 1, &cut->end, -1, &cut->first);
	struct k_expr *whole = affine_expr(arena, &length), *begin;
	int64_t constant;

	if (cut->chunk)
		begin = k_call(arena, "pmg_part_begin", 4, whole, part, cut->n_parts, k_int(arena, cut->chunk));
	else
		begin = k_operate(arena, k_operate(arena, part, K_MUL, k_at_least(arena, whole, K_LEVEL_UNARY)), K_DIV,
				  cut->n_parts);
	if (affine_is_constant(&cut->first, &constant) && constant == 0)
		return begin;
	return k_operate(arena, affine_expr(arena, &cut->first), K_ADD, begin);
}

struct k_expr *cut_begin(struct arena *arena, const struct cut *cut, const char *part)
{
	return cut_at(arena, cut, k_name(arena, part));
}

struct k_expr *cut_end(struct arena *arena, const struct cut *cut, const char *part)
{
	return cut_at(arena, cut, k_binary(arena, K_ADD, k_name(arena, part), k_int(arena, 1)));
}
