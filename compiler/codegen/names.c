/* SPDX-License-Identifier: MIT
 *
 * Identifiers of generated code: the user's names, made valid in C and different from all that are visible, so that
 * nothing is hidden and nothing has to be renamed by hand. */
#include <ctype.h>
#include <string.h>

#include "codegen/codegen_private.h"

static bool is_letter(char c)
{
	return isalnum((unsigned char) c) || c == '_';
}

/* The last member of a dotted name, letters only: "A.row[k]" becomes "row". */
const char *names_last_member(struct arena *arena, const char *base)
{
	size_t length = strcspn(base, "[(");
	char *name = arena_copy(arena, base, length), *dot = strrchr(name, '.');

	if (dot && dot[1])
		name = dot + 1;
	for (char *c = name; *c; c++)
		if (!is_letter(*c))
			*c = '_';
	if (!*name || *name == '_' || isdigit((unsigned char) *name))
		name = arena_printf(arena, "v%s", name);
	return name;
}

bool names_have(const struct names *names, const char *name)
{
	for (int i = 0; i < names->visible.n; i++)
		if (!strcmp(names->visible.items[i], name))
			return true;
	return false;
}

const char *names_declare(struct names *names, const char *base)
{
	const char *stem = name_not_reserved_in_c(names->arena, names_last_member(names->arena, base)), *name = stem;

	for (int i = 2; names_have(names, name) || name_is_reserved_in_c(name); i++)
		name = arena_printf(names->arena, "%s_%d", stem, i);
	vec_push(names->arena, &names->visible, name);
	return name;
}
