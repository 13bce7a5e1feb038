/* SPDX-License-Identifier: MIT
 *
 * A kernel program through the lowerings. What one needs is known before it runs; what it made is well-formed, or it
 * ends there with the name of the one that is at fault. */
#include "kernel/lower/lower_private.h"

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
