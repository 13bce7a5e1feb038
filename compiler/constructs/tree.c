/* SPDX-License-Identifier: MIT
 *
 * Tree(n): one morphology as T.parent[n], where each compartment comes after its parent and a root has -1
 * (Hines 1984). Several roots are allowed. */
#include "constructs/construct.h"

static bool declare(const struct object *object, struct arena *arena, struct diags *diags, struct str *text)
{
	(void) arena;
	if (object->args.n != 1 || object->modes.n || object->has_scalar) {
		diag_error(diags, DIAG_CONSTRUCT_DECLARATION, object->span, "a tree is declared as Tree(n)");
		return false;
	}
	str_add(text, "fixed in %s.parent : index(%s)[%s] tree;\n", object->name, object->args.items[0],
		object->args.items[0]);
	return true;
}

const struct construct construct_tree = { .name = "Tree", .declare = declare };
