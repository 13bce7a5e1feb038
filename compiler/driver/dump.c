/* SPDX-License-Identifier: MIT
 *
 * Dumps. Each is the whole module, so that any of them can be compiled; whether the pass changed it is seen by
 * comparing with the text before. */
#include "driver/dump.h"

#include <string.h>

const char *dump_pass_name(int pass)
{
	return pass == LOWERED ? "lower" : passes[pass].name;
}

bool dump_is_known(const char *wanted)
{
	for (int i = LOWERED; i < n_passes; i++)
		if (!strcmp(wanted, dump_pass_name(i)))
			return true;
	return !strcmp(wanted, "all");
}

const char *dump_text(struct dumps *dumps, struct arena *arena, struct module *module, int pass)
{
	const char *name = dump_pass_name(pass), *text;
	bool is_unchanged;

	if (!dumps->wanted)
		return NULL;
	text = module_text(module, arena);
	is_unchanged = pass != LOWERED && !strcmp(dumps->last, text);
	dumps->last = text;
	if (strcmp(dumps->wanted, "all") && strcmp(dumps->wanted, name))
		return NULL;
	return arena_printf(arena, "# after %s%s\n%s", name, is_unchanged ? " (unchanged)" : "", text);
}
