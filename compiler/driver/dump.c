/* SPDX-License-Identifier: MIT
 *
 * Dumps. Each is the whole module, so that any of them can be compiled, or all kernels of one; whether the pass or the
 * lowering changed it is seen by comparing with the text before. */
#include "driver/dump.h"

#include <string.h>

const char *dump_pass_name(int pass)
{
	return pass == LOWERED ? "lower" : passes[pass].name;
}

const char *dump_lowering_name(int lowering)
{
	return lowering == K_BUILT ? "build" : k_lowerings[lowering].name;
}

/* All names but "all": of passes, then of lowerings. */
static int n_names(void)
{
	return n_passes - LOWERED + k_n_lowerings - K_BUILT;
}

static const char *name_at(int i)
{
	return LOWERED + i < n_passes ? dump_pass_name(LOWERED + i)
				      : dump_lowering_name(K_BUILT + i - (n_passes - LOWERED));
}

bool dump_is_known(const char *wanted)
{
	for (int i = 0; i < n_names(); i++)
		if (!strcmp(wanted, name_at(i)))
			return true;
	return !strcmp(wanted, "all");
}

const char *dump_nearest(struct arena *arena, const char *wanted)
{
	const char **names = arena_new_array(arena, const char *, n_names());

	for (int i = 0; i < n_names(); i++)
		names[i] = name_at(i);
	return suggest_nearest(wanted, names, n_names());
}

/* NULL: it is not wanted. */
static const char *dump_of(struct dumps *dumps, struct arena *arena, const char *name, bool is_first, const char *text)
{
	const bool is_unchanged = !is_first && !strcmp(dumps->last, text);

	dumps->last = text;
	if (strcmp(dumps->wanted, "all") && strcmp(dumps->wanted, name))
		return NULL;
	return arena_printf(arena, "# after %s%s\n%s", name, is_unchanged ? " (unchanged)" : "", text);
}

const char *dump_text(struct dumps *dumps, struct arena *arena, struct module *module, int pass)
{
	if (!dumps->wanted)
		return NULL;
	return dump_of(dumps, arena, dump_pass_name(pass), pass == LOWERED, module_text(module, arena));
}

const char *dump_kernel_text(struct dumps *dumps, struct arena *arena, const struct k_program *program, int lowering)
{
	struct writer w = writer_new(arena);

	if (!dumps->wanted)
		return NULL;
	k_print_program(&w, program);
	return dump_of(dumps, arena, dump_lowering_name(lowering), lowering == K_BUILT, str_text(&w.text));
}
