/* SPDX-License-Identifier: MIT
 *
 * A kernel program through the lowerings. What one needs is known before it runs; what it made is well-formed, or it
 * ends there with the name of the one that is at fault. */
#include <string.h>

#include "kernel/lower/lower_private.h"

bool name_list_has(const name_list *names, const char *name)
{
	for (int i = 0; i < names->n; i++)
		if (strcmp(names->items[i], name) == 0)
			return true;
	return false;
}

const char *lower_name(struct arena *arena, const name_list *names, const struct k_stmt *stmt, const char *base)
{
	struct name_table mentioned = { 0 };
	const char *name = base;

	if (stmt)
		k_stmt_mentions(arena, stmt, &mentioned);
	for (int i = 2; name_list_has(names, name) || name_table_get(&mentioned, name); i++)
		name = arena_printf(arena, "%s_%d", base, i);
	return name;
}

static void show(const struct k_lowered *lowered, const struct k_watch *watch)
{
	if (watch && watch->see)
		watch->see(lowered->program, lowered->lowering, watch->user);
}

const char *k_lower_by(struct k_lowered *lowered, int lowering, const struct k_watch *watch)
{
	const char *fault;

	lowered->lowering = lowering;
	if (lowering != K_BUILT)
		k_lowerings[lowering].run(lowered);
	show(lowered, watch);
	k_resolve_types(lowered->arena, lowered->program);
	fault = k_verify_without_races(lowered->arena, lowered->program);
	if (!fault || lowering == K_BUILT)
		return fault;
	return arena_printf(lowered->arena, "after the lowering '%s': %s", k_lowerings[lowering].name, fault);
}

const char *k_lower(struct k_lowered *lowered, const struct k_watch *watch)
{
	unsigned known = 0;
	const char *fault = k_lower_by(lowered, K_BUILT, watch);

	for (int i = 0; !fault && i < k_n_lowerings; i++) {
		const struct k_lowering *lowering = &k_lowerings[i];

		if ((known & lowering->needs) != lowering->needs)
			return arena_printf(lowered->arena, "the lowering '%s' lacks what it needs", lowering->name);
		fault = k_lower_by(lowered, i, watch);
		known |= lowering->gives;
	}
	return fault;
}
