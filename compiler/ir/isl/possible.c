/* SPDX-License-Identifier: MIT
 *
 * Which pairs of a relation data can make real: the proofs on accesses ask of what they find wrong. */
#include "ir/ir.h"

/* { : expr > bound } */
static __isl_give isl_set *is_more(const struct module *module, const struct expr *expr, int bound)
{
	isl_pw_aff *value = expr_pw_aff(module, NULL, expr);
	isl_pw_aff *zero = isl_pw_aff_sub(isl_pw_aff_copy(value), isl_pw_aff_copy(value));

	return isl_pw_aff_gt_set(value, isl_pw_aff_add_constant_val(zero, isl_val_int_from_si(module->ctx, bound)));
}

/* { : extent > 0 implies limit > 0 }: an index array with elements has values to choose from. */
static __isl_give isl_set *array_has_values(const struct module *module, const struct array *array)
{
	return isl_set_union(isl_set_complement(is_more(module, array->hi[0], 0)), is_more(module, array->limit, 0));
}

/* { : extent > 1 or limit <= 0 }: without segments, offsets have nothing to cut. */
static __isl_give isl_set *offsets_have_segments(const struct module *module, const struct array *array)
{
	return isl_set_union(is_more(module, array->hi[0], 1), isl_set_complement(is_more(module, array->limit, 0)));
}

/* Sizes for which no data can exist prove nothing. */
__isl_give isl_map *map_with_possible_sizes(const struct module *module, __isl_take isl_map *bad)
{
	for (int i = 0; i < module->arrays.n; i++) {
		const struct array *array = module->arrays.items[i];

		if (array_is_argument(array) && array->facts & FACT_OFFSETS)
			bad = isl_map_intersect_params(bad, offsets_have_segments(module, array));
		if (array_is_argument(array) && array->rank == 1 && array->facts & FACT_INDEX &&
		    !(array->facts & FACT_TREE))
			bad = isl_map_intersect_params(bad, array_has_values(module, array));
	}
	return bad;
}

bool is_impossible(const struct module *module, isl_map **bad)
{
	if (isl_map_is_empty(*bad) == isl_bool_false) {
		*bad = isl_map_intersect_params(*bad, isl_set_copy(module->context));
		*bad = map_with_possible_sizes(module, *bad);
	}
	if (isl_map_is_empty(*bad) == isl_bool_false)
		return false;
	isl_map_free(*bad);
	return true;
}
