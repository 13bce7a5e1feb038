/* SPDX-License-Identifier: MIT
 *
 * Sparse weights. Of a solver that drives most weights to zero, most terms of a product vanish (ir/live.c). For such
 * sums the runtime copies the points that are left, once the zeros have settled; their order is the same, so that the
 * result is, to the bit. Not where factors that are no weights may be infinite (--skip-zeros=off). */
#include "passes/pass_private.h"

#include <string.h>

static struct override *find_item(struct module *module, const struct group *group)
{
	const struct array *target = group->stages.items[group->stages.n - 1]->write.array;

	return module_find_override(module, "live", array_item_name(target), group->name);
}

/* What comes before or behind the loop, if there is one, sees the weights once. */
static bool is_repeated(const struct module *module, const struct group *group)
{
	const group_list *body = &module->regions[REGION_BODY].groups;
	bool is = !module->loop.var;

	for (int g = 0; g < body->n; g++)
		is |= body->items[g] == group;
	return is;
}

/* On a device, a copy is made in parts, and sums of what is left are associated otherwise than those of all. */
static bool target_can(const struct pass_options *options, const struct restructuring *r)
{
	if (!options->is_device)
		return !r->part_ends;
	return r->part_ends && !r->runs && !options->deterministic;
}

static bool may_be_live(const struct module *module, const struct pass_options *options, const struct group *group,
			struct live_points *live)
{
	const struct array *before;

	if (options->skip_zeros == SKIP_ZEROS_OFF || !is_repeated(module, group) ||
	    !module_live_points(module, group, live))
		return false;
	before = restructuring_live_by(module, live->restructuring);
	return target_can(options, live->restructuring) && (!before || before == live->by);
}

static void decide(struct module *module, const struct group *group, const struct live_points *live)
{
	module_decide(module, "live", group->stages.items[group->stages.n - 1]->write.array->name, "nonzero", "all",
		      group->span, "points at which '%s' is zero add nothing", live->weights->name);
}

bool pass_live(struct module *module, const struct pass_options *options)
{
	for (int g = 0; g < module->groups.n; g++) {
		struct group *group = module->groups.items[g];
		struct override *item = find_item(module, group);
		const bool is_off = item && !strcmp(item->choice, "off");
		struct live_points live;

		if (!may_be_live(module, options, group, &live))
			continue;
		group->is_live = !is_off;
		if (item)
			item->is_used = true;
		if (group->is_live)
			decide(module, group, &live);
	}
	return true;
}
