/* SPDX-License-Identifier: MIT
 *
 * Consequences of what is known: facts and goal are sums that are not negative, over atoms whose values are integers.
 * A goal follows when the facts and its contrary have no integer point in common, which isl decides; an atom that is
 * not a name counts as one, so that a yes is always right. */
#include <isl/mat.h>
#include <isl/set.h>

#include "codegen/codegen_private.h"

typedef VEC(const struct k_expr *) atom_list;

static int atom_number(struct arena *arena, atom_list *atoms, const struct k_expr *atom)
{
	for (int i = 0; i < atoms->n; i++)
		if (k_expr_is_equal(atoms->items[i], atom))
			return i;
	vec_push(arena, atoms, atom);
	return atoms->n - 1;
}

static void number_atoms(struct arena *arena, atom_list *atoms, const struct affine *affine)
{
	for (int i = 0; i < affine->terms.n; i++)
		atom_number(arena, atoms, affine->terms.items[i].atom);
}

/* A row of factors of the atoms, and the constant behind them. */
static __isl_give isl_mat *set_row(__isl_take isl_mat *rows, int row, struct arena *arena, atom_list *atoms,
				   const struct affine *affine)
{
	for (int i = 0; i <= atoms->n; i++)
		rows = isl_mat_set_element_si(rows, row, i, 0);
	for (int i = 0; i < affine->terms.n; i++) {
		const struct term *term = &affine->terms.items[i];
		isl_ctx *ctx = isl_mat_get_ctx(rows);

		rows = isl_mat_set_element_val(rows, row, atom_number(arena, atoms, term->atom),
					       isl_val_int_from_si(ctx, term->factor));
	}
	return isl_mat_set_element_val(rows, row, atoms->n,
				       isl_val_int_from_si(isl_mat_get_ctx(rows), affine->constant));
}

/* Most goals are the sum of a few facts and of what is not negative. */
enum { MOST_SUMMANDS = 3 };

static bool has_like(const struct affine *fact, const struct term *term)
{
	for (int i = 0; i < fact->terms.n; i++)
		if (k_expr_is_equal(fact->terms.items[i].atom, term->atom))
			return (fact->terms.items[i].factor > 0) == (term->factor > 0);
	return false;
}

static bool is_sum(struct arena *arena, const fact_list *facts, const struct affine *goal, int n_summands)
{
	bool is = goal->terms.n == 0 && goal->constant >= 0;

	for (int i = 0; i < facts->n && goal->terms.n && n_summands && !is; i++)
		if (has_like(&facts->items[i], &goal->terms.items[0])) {
			struct affine rest = affine_combine(arena, 1, goal, -1, &facts->items[i]);

			is = is_sum(arena, facts, &rest, n_summands - 1);
		}
	return is;
}

static bool exclude_contrary(isl_ctx *ctx, struct arena *arena, const fact_list *facts, const struct affine *goal)
{
	struct affine contrary = affine_scale(arena, goal, -1, -1);
	atom_list atoms = { 0 };
	isl_basic_set *set;
	isl_mat *rows;
	bool follows;

	number_atoms(arena, &atoms, goal);
	for (int i = 0; i < facts->n; i++)
		number_atoms(arena, &atoms, &facts->items[i]);
	rows = isl_mat_alloc(ctx, (unsigned) facts->n + 1, (unsigned) atoms.n + 1);
	for (int i = 0; i < facts->n; i++)
		rows = set_row(rows, i, arena, &atoms, &facts->items[i]);
	rows = set_row(rows, facts->n, arena, &atoms, &contrary);
	set = isl_basic_set_from_constraint_matrices(isl_space_set_alloc(ctx, 0, (unsigned) atoms.n),
						     isl_mat_alloc(ctx, 0, (unsigned) atoms.n + 1), rows, isl_dim_set,
						     isl_dim_param, isl_dim_div, isl_dim_cst);
	follows = isl_basic_set_is_empty(set) == isl_bool_true;
	isl_basic_set_free(set);
	return follows;
}

bool facts_imply(isl_ctx *ctx, struct arena *arena, const fact_list *facts, const struct affine *goal)
{
	return is_sum(arena, facts, goal, MOST_SUMMANDS) || exclude_contrary(ctx, arena, facts, goal);
}
