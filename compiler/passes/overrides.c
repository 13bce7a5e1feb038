/* SPDX-License-Identifier: MIT
 *
 * Overrides that ask for what is done anyway are honoured here; the others are left to the passes that take the
 * decision. What no pass has honoured at the end is refused by the driver, so that no word of a schedule block is
 * ignored in silence. */
#include "passes/pass_private.h"

#include <string.h>

static const struct { const char *verb, *choice; } as_it_is[] = {
	{ "restructure", "none" }, { "partition", "coeff" }, { "layout", "flat" },
	{ "algorithm", "thomas" }, { "algorithm", "hines" },
};

static bool is_done_anyway(const struct override *override)
{
	if (!strcmp(override->choice, "auto"))
		return true;
	for (size_t i = 0; i < sizeof as_it_is / sizeof as_it_is[0]; i++)
		if (!strcmp(override->verb, as_it_is[i].verb) && !strcmp(override->choice, as_it_is[i].choice))
			return true;
	return false;
}

bool pass_overrides(struct module *module, const struct pass_options *options)
{
	if (!options->overrides)
		module->overrides.n = 0;
	for (int i = 0; i < module->overrides.n; i++)
		module->overrides.items[i].is_used |= is_done_anyway(&module->overrides.items[i]);
	return true;
}
