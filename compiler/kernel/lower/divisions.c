/* SPDX-License-Identifier: MIT
 *
 * Divisions of doubles in lanes of teams that are blocks. A compiler divides by a sequence that ends in a branch, to a
 * function for quotients that are near the ends of the range; that branch parts the work of loops that are written out,
 * and what is ahead of it does not overlap what follows. PMG_QUOTIENT rounds the same quotients without a branch
 * (runtime/pmgrt_cuda_block.h says where its last bit may differ). */
#include <string.h>

#include "kernel/lower/lower_private.h"

struct dividing {
	struct k_lowered *lowered;
	int n;
};

static bool is_division(const struct k_expr *expr)
{
	return expr->kind == KE_BINARY && expr->op == K_DIV && expr->type.name && !expr->type.is_pointer &&
	       !strcmp(expr->type.name, "double");
}

static struct k_expr *divide(const struct k_expr *expr, void *user)
{
	struct dividing *dividing = user;
	struct arena *arena = dividing->lowered->arena;
	const struct k_replacing replacing = { .expr = divide, .user = user };

	if (!is_division(expr))
		return NULL;
	dividing->n++;
	return k_call(arena, "PMG_QUOTIENT", 2,
		      k_copy_expr(arena, expr->args.items[0], &replacing),
		      k_copy_expr(arena, expr->args.items[1], &replacing));
}

static void lower_block(struct k_block *block, void *user)
{
	struct dividing *dividing = user;
	name_list none = { 0 };

	for (int i = 0; i < block->stmts.n; i++) {
		struct k_stmt *stmt = block->stmts.items[i];

		if (stmt->kind == KS_LOOP && stmt->loop.kind == K_LOOP_LANES)
			block->stmts.items[i] = k_copy_stmt(dividing->lowered->arena, stmt,
							    &(struct k_replacing) { .expr = divide, .user = user });
		else
			name_list_inside(dividing->lowered->arena, &none, stmt, lower_block, user);
	}
}

static void lower_kernel(struct k_lowered *lowered, struct k_function *function)
{
	struct dividing dividing = { .lowered = lowered };

	lower_block(&function->body, &dividing);
	if (dividing.n)
		lower_decide(lowered, (struct k_decision) {
			.span = function->head.span, .subject = function->name,
			.chosen = arena_printf(lowered->arena, "%d without a branch", dividing.n),
			.alternatives = "with branches", .reason = "iterations that are written out overlap"
		});
}

void lower_divisions(struct k_lowered *lowered)
{
	for (int i = 0; i < lowered->program->functions.n; i++)
		if (is_kernel_of_blocks(lowered->program->functions.items[i]))
			lower_kernel(lowered, lowered->program->functions.items[i]);
}
