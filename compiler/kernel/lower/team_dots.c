/* SPDX-License-Identifier: MIT
 *
 * Dot products that the lanes of a device's team share. A lane adds its cells of runtime/pmgrt_cuda_row.h to two sums
 * in turn, of which the first one begins with what the variable has; what lanes have found is put together behind the
 * loop, as it is of any loop that lanes share. */
#include <string.h>

#include "kernel/lower/dots_private.h"

/* ---- the sums ---- */

void team_add_cells(struct k_builder *b, const struct dot *dot, const char *number, struct k_expr *terms)
{
	struct arena *a = b->arena;
	const bool is_negated = row_store(&dot->row)->op == K_SUB;

	if (!vectors_fill_team(&dot->row))
		k_only_if(b, vectors_are_own(&dot->row, number));
	k_do(b, K_CALL(a, "pmg_cuda_add_cells", k_name(a, dot->sums), k_name(a, number),
		       is_negated ? k_negated(a, terms) : terms));
}

void team_declare_sums(struct k_builder *b, const struct dot *dot)
{
	struct arena *a = b->arena;
	const struct k_type type = k_scalar(vectors_element(&dot->row));
	struct k_expr *sum = (struct k_expr *) dot->row.cell;

	k_array(b, type, dot->sums, k_int(a, 2),
		K_LIST(a, dot->row.cells->loop.row.is_narrow ? k_cast(a, type, sum) : sum));
}

void team_take_sums(struct k_builder *b, const struct dot *dot)
{
	struct arena *a = b->arena;

	k_set(b, (struct k_expr *) dot->row.cell,
	      k_binary(a, K_ADD, k_at(a, dot->sums, k_int(a, 0)), k_at(a, dot->sums, k_int(a, 1))));
}

/* ---- rounds ---- */

/* Of all lanes with an iteration, or the first of those with one key: of each conjunct, whether it says that. */
static bool is_of_any(const struct k_expr *condition)
{
	if (condition->kind == KE_BINARY && condition->op == K_AND)
		return is_of_any(condition->args.items[0]) && is_of_any(condition->args.items[1]);
	return condition->kind == KE_NAME || (condition->kind == KE_BINARY && condition->op == K_BIT_AND);
}

bool team_has_rounds(const struct k_block *block, int i)
{
	const char *lanes = rounds_lanes(block->stmts.items[i]);

	while (lanes && --i >= 0) {
		const struct k_stmt *stmt = block->stmts.items[i];

		if (stmt->kind == KS_LET && strcmp(stmt->let.name, lanes) == 0 &&
		    is_call_of(stmt->let.value, "pmg_cuda_ballot"))
			return is_of_any(stmt->let.value->args.items[0]);
	}
	return false;
}
