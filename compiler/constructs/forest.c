/* SPDX-License-Identifier: MIT
 *
 * Forest(nSystems, nTotal): many morphologies, ragged: F.offset[nSystems + 1] and F.parent[nTotal]. Parents are given
 * local to each system; a read of F.parent has the offset added, so that the forest is one tree with many roots. */
#include "constructs/construct.h"

static bool declare(const struct object *object, struct arena *arena, struct diags *diags, struct str *text)
{
	const char *n_systems, *n_total;

	(void) arena;
	if (object->args.n != 2 || object->modes.n || object->has_scalar) {
		diag_error(diags, DIAG_CONSTRUCT_DECLARATION, object->span,
			   "a forest is declared as Forest(nSystems, nTotal)");
		return false;
	}
	n_systems = object->args.items[0];
	n_total = object->args.items[1];
	str_add(text, "fixed in %s.offset : offsets(%s)[%s + 1];\n", object->name, n_total, n_systems);
	str_add(text, "fixed in %s.parent : index(%s)[%s] tree(%s.offset);\n", object->name, n_total, n_total,
		object->name);
	return true;
}

const struct construct construct_forest = { .name = "Forest", .declare = declare };
