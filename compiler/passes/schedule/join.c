/* SPDX-License-Identifier: MIT
 *
 * Sums over the children of one node share the loop over them, so that their list, and what several of them read, is
 * read once. A sum joins the first of the earlier ones with which the order is still legal, which is tried. Of two sums
 * that share a loop one runs wherever the other does: that of others would be two in the generated code, or ask at
 * each child which of them it is in. */
#include "passes/pass_private.h"

static const struct dim *children_dim(const struct stage *stage)
{
	return &stage->dims.items[stage->group->n_common];
}

bool stage_sums_over_children(const struct stage *stage)
{
	return stage->op != REDUCE_SET && stage->write.array->role == ROLE_LOCAL &&
	       stage->dims.n == stage->group->n_common + 1 && children_dim(stage)->kind == DIM_CHILDREN;
}

/* Do equal common dims stand for the same node? Not where one group runs later than the other. */
static bool run_at_once(const struct group *a, const struct group *b)
{
	bool at_once = true;

	for (int d = 0; d < a->n_common; d++)
		at_once = at_once && group_shift(a, d) == group_shift(b, d);
	return at_once;
}

/* { [common dims] } at which there is anything to add, for all sizes that there can be. */
static __isl_give isl_set *points_of(const struct module *module, const struct stage *stage)
{
	isl_set *points = isl_set_reset_tuple_id(isl_set_copy(stage->domain));

	points = isl_set_intersect_params(points, isl_set_copy(module->context));
	return isl_set_project_out(points, isl_dim_set, (unsigned) stage->group->n_common, 1);
}

static bool is_within(__isl_keep isl_set *points, __isl_keep isl_set *others)
{
	return isl_set_is_empty(points) == isl_bool_false && isl_set_is_subset(points, others) == isl_bool_true;
}

static bool runs_wherever(const struct module *module, const struct stage *a, const struct stage *b)
{
	isl_set *of_a = points_of(module, a), *of_b = points_of(module, b);
	bool runs = is_within(of_a, of_b) || is_within(of_b, of_a);

	isl_set_free(of_a);
	isl_set_free(of_b);
	return runs;
}

static bool may_join(const struct module *module, const struct stage *stage, const struct stage *earlier)
{
	return stage_sums_over_children(earlier) && dim_equal(children_dim(stage), children_dim(earlier)) &&
	       run_at_once(stage->group, earlier->group) && runs_wherever(module, stage, earlier);
}

/* Takes the tree with these sums joined if it is legal, which it is not known to be where isl has given up. */
static bool take_joined(struct module *module, struct region *region, struct stage *const *joined)
{
	isl_schedule *before = region->schedule;
	const char *witness;

	region->schedule = schedule_joined(module, region, joined);
	if (region->schedule && schedule_is_legal(module, region, &witness)) {
		isl_schedule_free(before);
		return true;
	}
	isl_schedule_free(region->schedule);
	region->schedule = before;
	return false;
}

static void join(struct module *module, struct region *region, struct stage **joined, const struct stage *stage)
{
	stage_list point = schedule_stages_at_point(module, region, stage);
	struct stage **first = &joined[stage->number];

	for (int i = 0; !*first && point.items[i] != stage; i++) {
		if (joined[point.items[i]->number] || !may_join(module, stage, point.items[i]))
			continue;
		*first = point.items[i];
		if (!take_joined(module, region, joined))
			*first = NULL;
	}
	if (*first)
		module_decide(module, DECISION_JOIN, stage->write.array->name, stage->span,
			      "nothing that it needs is computed behind '%s'", (*first)->write.array->name);
}

bool pass_join(struct module *module, const struct pass_options *options)
{
	struct stage **joined = arena_new_array(module->arena, struct stage *, module->stages.n + 1);

	(void) options;
	for (int r = 0; r < REGION_N; r++) {
		struct region *region = &module->regions[r];

		for (int g = 0; region->strict && g < region->groups.n; g++)
			for (int s = 0; s < region->groups.items[g]->stages.n; s++)
				if (stage_sums_over_children(region->groups.items[g]->stages.items[s]))
					join(module, region, joined, region->groups.items[g]->stages.items[s]);
	}
	if (pass_ran_out(module))
		diag_warning(module->diags, DIAG_ISL_QUOTA, module->span,
			     "'%s' takes too many operations to join sums over children: some keep loops of their "
			     "own", module->name);
	return true;
}
