/* SPDX-License-Identifier: MIT
 *
 * Sparse weights. Of a solver that drives most weights to zero, most terms of a product vanish
 * (ir/match/zero_weight_points.c). For such sums the runtime copies the points that are left, once the zeros have
 * settled; their order is the same, so that the result is, to the bit. Not where factors that are no weights may be
 * infinite (--skip-zeros=off).
 *
 * `live X : few` is for weights most of which are zero from the start, but other ones in each call. No copy is made
 * then: lanes of a device look at the weights before they read anything else (codegen/sparse_weights.c). On a
 * processor, where a point is skipped by itself, this is `off`. */
#include "passes/pass_private.h"

/* By the name of the group, or else of what it adds to: a sum that is added to another one has a name of its own. */
static struct override *find_item(struct module *module, const struct group *group)
{
	const struct array *target = group->stages.items[group->stages.n - 1]->write.array;
	struct override *item = module_find_override(module, VERB_LIVE, group->name, NULL);

	if (target->role == ROLE_NEXT)
		target = target->owner;
	return item ? item : module_find_override(module, VERB_LIVE, array_item_name(target), NULL);
}

/* What comes before or behind the loop, if there is one, sees the weights once. */
static bool is_repeated(const struct module *module, const struct group *group)
{
	return !module->loop.var || group_region(module, group) == REGION_BODY;
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
	module_decide(module, group->has_sparse_weights ? DECISION_LIVE_FEW : DECISION_LIVE,
		      group->stages.items[group->stages.n - 1]->write.array->name, group->span,
		      "points at which '%s' is zero add nothing", live->weights->name);
}

static bool asks_for(const struct override *item, enum item_choice choice)
{
	return item && item->choice == choice;
}

/* Nothing is copied, and sums keep their order. */
static bool may_be_looked_at(const struct module *module, const struct pass_options *options,
			     const struct group *group, struct live_points *live)
{
	return options->is_device && options->skip_zeros != SKIP_ZEROS_OFF &&
	       module_live_points(module, group, live) && live->restructuring->part_ends && !live->restructuring->runs;
}

/* Every sum may be of few terms; what a target does not look at is computed as ever. */
static void look_at_few(struct module *module, const struct pass_options *options, struct group *group,
			struct override *item)
{
	struct live_points live;

	item->is_used |= group->stages.items[group->stages.n - 1]->op == REDUCE_ADD;
	group->has_sparse_weights = may_be_looked_at(module, options, group, &live);
	if (group->has_sparse_weights)
		decide(module, group, &live);
}

bool pass_live(struct module *module, const struct pass_options *options)
{
	for (int g = 0; g < module->groups.n; g++) {
		struct group *group = module->groups.items[g];
		struct override *item = find_item(module, group);
		struct live_points live;

		if (asks_for(item, CHOICE_FEW)) {
			look_at_few(module, options, group, item);
			continue;
		}
		if (!may_be_live(module, options, group, &live))
			continue;
		group->is_live = !asks_for(item, CHOICE_OFF);
		if (item)
			item->is_used = true;
		if (group->is_live)
			decide(module, group, &live);
	}
	return true;
}
