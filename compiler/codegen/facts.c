/* SPDX-License-Identifier: MIT
 *
 * Consequences of what is known: facts and goal are sums that are not negative, over names whose values are integers.
 * A goal follows when the facts and its contrary have no integer point in common, which isl decides; a text that is
 * not a name counts as one, so that a yes is always right. */
#include <isl/constraint.h>
#include <isl/set.h>
#include <string.h>

#include "codegen/codegen_private.h"

typedef VEC(const char *) name_list;

static int name_number(struct arena *arena, name_list *names, const char *name)
{
	for (int i = 0; i < names->n; i++)
		if (!strcmp(names->items[i], name))
			return i;
	vec_push(arena, names, name);
	return names->n - 1;
}

static void number_names(struct arena *arena, name_list *names, const struct affine *affine)
{
	for (int i = 0; i < affine->terms.n; i++)
		name_number(arena, names, affine->terms.items[i].text);
}

static __isl_give isl_basic_set *add_constraint(__isl_take isl_basic_set *set, struct arena *arena,
						name_list *names, const struct affine *affine)
{
	isl_ctx *ctx = isl_basic_set_get_ctx(set);
	isl_constraint *c = isl_constraint_alloc_inequality(isl_basic_set_get_local_space(set));

	c = isl_constraint_set_constant_val(c, isl_val_int_from_si(ctx, affine->constant));
	for (int i = 0; i < affine->terms.n; i++) {
		const struct term *term = &affine->terms.items[i];

		c = isl_constraint_set_coefficient_val(c, isl_dim_set, name_number(arena, names, term->text),
						       isl_val_int_from_si(ctx, term->factor));
	}
	return isl_basic_set_add_constraint(set, c);
}

bool facts_imply(isl_ctx *ctx, struct arena *arena, const fact_list *facts, const struct affine *goal)
{
	struct affine contrary = affine_scale(arena, goal, -1, -1);
	name_list names = { 0 };
	isl_basic_set *set;
	bool follows;

	number_names(arena, &names, goal);
	for (int i = 0; i < facts->n; i++)
		number_names(arena, &names, &facts->items[i]);
	set = isl_basic_set_universe(isl_space_set_alloc(ctx, 0, (unsigned) names.n));
	for (int i = 0; i < facts->n; i++)
		set = add_constraint(set, arena, &names, &facts->items[i]);
	set = add_constraint(set, arena, &names, &contrary);
	follows = isl_basic_set_is_empty(set) == isl_bool_true;
	isl_basic_set_free(set);
	return follows;
}
