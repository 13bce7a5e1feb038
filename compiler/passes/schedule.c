/* SPDX-License-Identifier: MIT
 *
 * The order in which everything runs. The textual order is always right, and the fallback of every other choice. */
#include "passes/pass_private.h"

bool pass_schedule(struct module *module, const struct pass_options *options)
{
	(void) options;
	for (int i = 0; i < REGION_N; i++) {
		struct region *region = &module->regions[i];

		region->schedule = isl_schedule_free(region->schedule);
		if (!region->groups.n)
			continue;
		region->schedule = schedule_textual(module, region);
		if (!region->schedule)
			return false;
	}
	module_decide(module, "schedule", module->name, "textual", "isl", module->span,
		      "groups run in the order in which their values are needed");
	return true;
}
