/* SPDX-License-Identifier: MIT
 *
 * HinesSystem(T, upper, lower, diag, rhs): x of, for each compartment i of each system,
 *     lower[i] x[parent[i]] + diag[i] x[i] + sum over children c of upper[c] x[c] = rhs[i]
 * by elimination from the leaves to the roots and substitution back (Hines 1984; Valero-Lara et al. 2018, algorithm 1).
 * Over a Tree(n), arrays are [nSystems, n], `upper` and `lower` also [n]; over a Forest they are [nTotal]. `rhs` may
 * have a last dimension of right-hand sides. `upper` and `lower` of roots are never read. */
#include "constructs/construct.h"

#include <string.h>

#define USAGE "HinesSystem(T, upper, lower, diag, rhs)"

enum { TREE, UPPER, LOWER, DIAG, RHS };

static bool is_tree(const struct construct_call *call)
{
	return !strcmp(call->args.items[TREE].object->construct->name, "Tree");
}

static const char *n_nodes(const struct construct_call *call)
{
	const struct object *object = call->args.items[TREE].object;

	return object->args.items[is_tree(call) ? 0 : 1];
}

static bool check_coefficient(const struct construct_call *call, int arg, int rank)
{
	int given;

	if (!construct_expect_rows(call, arg, rank, n_nodes(call)))
		return false;
	given = call->args.items[arg].rank;
	return construct_expect_extent(call, arg, given - 1, n_nodes(call), "the number of nodes") &&
	       (given == 1 || construct_expect_extent(call, arg, 0, call->args.items[DIAG].extents[0],
						      "the number of systems"));
}

static bool signature(struct construct_call *call)
{
	int rank;

	if (!construct_expect_count(call, 5, 5, USAGE) ||
	    !construct_expect_object(call, TREE, "Tree or Forest",
				     "fixed in T : Tree(n); whose parents are T.parent"))
		return false;
	rank = is_tree(call) ? 2 : 1;
	if ((is_tree(call) && !construct_expect_systems(call, DIAG, rank, RHS, n_nodes(call))) ||
	    !check_coefficient(call, DIAG, rank) || !check_coefficient(call, UPPER, rank) ||
	    !check_coefficient(call, LOWER, rank) || !construct_expect_sides(call, RHS, DIAG))
		return false;
	for (int i = 0; i < rank; i++)
		if (!construct_expect_extent(call, RHS, i, call->args.items[DIAG].extents[i], "that of the diagonal"))
			return false;
	call->result_type = construct_widest(call, 1);
	call->result_rank = call->args.items[RHS].rank;
	memcpy(call->result_extents, call->args.items[RHS].extents, sizeof call->result_extents);
	return true;
}

/* "upper[s,c]", or "upper[c]" where all systems share it. */
static const char *at(const struct construct_call *call, int arg, const char *node)
{
	const struct construct_arg *given = &call->args.items[arg];

	return arena_printf(call->arena, "%s[%s%s]", given->name, given->rank == 2 ? "s," : "", node);
}

static void expand(const struct construct_call *call, struct str *text)
{
	const struct construct_arg *rhs = &call->args.items[RHS];
	const char *type = type_name(call->result_type), *parent = arena_printf(call->arena, "%s.parent",
								 call->args.items[TREE].object->name);
	int rank = is_tree(call) ? 2 : 1;
	const char *s = rank == 2 ? "s," : "", *q = rhs->rank > rank ? ",q" : "";
	const char *points = arena_printf(call->arena, "%s%s%si in 0..%s", rank == 2 ? "s in 0.." : "",
					  rank == 2 ? rhs->extents[0] : "", rank == 2 ? ", " : "", n_nodes(call));
	const char *sides = *q ? arena_printf(call->arena, ", q in 0..%s", rhs->extents[rank]) : "";
	const char *upper = at(call, UPPER, "c"), *lower = at(call, LOWER, "c");

	str_add(text, "func e[%s] : %s = %s - sum(c in children(%s, i)) %s*(%s/e[%sc]);\n", points,
		type, at(call, DIAG, "i"), parent, upper, lower, s);
	str_add(text, "func r[%s%s] : %s = %s[%si%s] - sum(c in children(%s, i)) %s*(r[%sc%s]/e[%sc]);\n", points,
		sides, type, rhs->name, s, q, parent, upper, s, q, s);
	str_add(text, "result[%si%s] = case {\n    %s[i] < 0 : r[%si%s]/e[%si];\n", s, q, parent, s, q, s);
	str_add(text, "    else : (r[%si%s] - %s*result[%s%s[i]%s])/e[%si];\n} for %s%s;\n", s, q,
		at(call, LOWER, "i"), s, parent, q, s, points, sides);
}

const struct construct construct_hines_system = { .name = "HinesSystem", .signature = signature, .expand = expand };
