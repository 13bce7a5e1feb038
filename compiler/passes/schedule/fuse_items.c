/* SPDX-License-Identifier: MIT
 *
 * `fuse a, b;`, `fuse a, b (2);` (two loops at most) and `fuse off;`, and which loops of two groups can be one. */
#include "passes/schedule/fuse_private.h"

bool group_is_in(const group_list *list, const struct group *group)
{
	for (int i = 0; i < list->n; i++)
		if (list->items[i] == group)
			return true;
	return false;
}

/* ---- items ---- */

static bool is_fuse(const struct override *override)
{
	return override->verb == VERB_FUSE && override->choice != CHOICE_AUTO;
}

static bool report(struct module *module, const struct override *override, const char *problem)
{
	diag_error(module->diags, DIAG_BAD_ITEM, override->span, "%s", problem);
	return false;
}

static group_list groups_asked(const struct module *module, const struct region *region,
			       const struct override *override)
{
	group_list list = { 0 };

	for (int g = 0; g < region->groups.n; g++)
		for (int i = 0; i < override->subjects.n; i++)
			if (group_defines(region->groups.items[g], override->subjects.items[i]) &&
			    !group_is_in(&list, region->groups.items[g]))
				vec_push(module->arena, &list, region->groups.items[g]);
	return list;
}

static bool is_computed(const struct module *module, const char *name)
{
	for (int r = 0; r < REGION_N; r++)
		for (int g = 0; g < module->regions[r].groups.n; g++)
			if (group_defines(module->regions[r].groups.items[g], name))
				return true;
	return false;
}

/* Why there is no loop of what is named. */
static const char *absence_of(const struct module *module, const char *name)
{
	const struct array *array = module_find_array(module, name);

	if (module_find_decision(module, DECISION_INLINE, name))
		return "is inlined";
	return array && array->role == ROLE_IN ? "is an input" : "is not";
}

static bool check_computed(struct module *module, const struct override *override)
{
	for (int i = 0; i < override->subjects.n; i++) {
		const char *name = override->subjects.items[i];

		if (!is_computed(module, name))
			return report(module, override,
				      arena_printf(module->arena, "'fuse' takes what is computed, and '%s' %s", name,
						   absence_of(module, name)));
	}
	return true;
}

static bool check_item(struct module *module, struct override *override)
{
	bool has_region = false;

	if (override->choice == CHOICE_OFF && !override->subjects.n)
		return override->is_used = true;
	if (override->subjects.n < 2 || override->numbers.n > 1 || override->choice != CHOICE_ABSENT)
		return report(module, override, "'fuse' takes two names or more, and at most a number of loops");
	if (override->numbers.n && override->numbers.items[0] < 1)
		return report(module, override, "the number of loops that are shared is 1 or more");
	if (!check_computed(module, override))
		return false;
	for (int r = 0; r < REGION_N; r++) {
		bool all = true;

		for (int i = 0; i < override->subjects.n; i++) {
			bool found = false;

			for (int g = 0; g < module->regions[r].groups.n; g++)
				found = found || group_defines(module->regions[r].groups.items[g],
							       override->subjects.items[i]);
			all = all && found;
		}
		has_region = has_region || all;
	}
	if (!has_region)
		return report(module, override, "'fuse' takes what is computed together: before, in or after the loop");
	return override->is_used = true;
}

bool fuse_read_items(struct module *module)
{
	bool ok = true;

	for (int i = 0; i < module->overrides.n; i++)
		if (is_fuse(&module->overrides.items[i]))
			ok = check_item(module, &module->overrides.items[i]) && ok;
	return ok;
}

void fuse_ask(struct fusion *f)
{
	f->is_automatic = f->options->fuse && f->options->schedule == ORDER_AUTO;
	for (int i = 0; i < f->module->overrides.n; i++) {
		const struct override *override = &f->module->overrides.items[i];
		struct asked asked = { .override = override, .depth = INT32_MAX };

		if (!is_fuse(override))
			continue;
		if (override->choice == CHOICE_OFF) {
			f->is_automatic = false;
			continue;
		}
		asked.groups = groups_asked(f->module, f->region, override);
		if (override->numbers.n)
			asked.depth = (int) (override->numbers.items[0] < 64 ? override->numbers.items[0] : 64);
		if (asked.groups.n)
			vec_push(f->module->arena, &f->asked, asked);
	}
}

/* ---- loops that two groups can share ---- */

bool group_has_loop(const struct group *group, int level)
{
	bool has = false;

	for (int s = 0; s < group->stages.n; s++) {
		const dim_list *dims = &group->stages.items[s]->dims;

		has = has || (dims->n > level && dims->items[level].kind == DIM_RANGE);
	}
	return has;
}

bool groups_have_loops(const struct group *a, const struct group *b, int level)
{
	bool have = level < a->n_common && level < b->n_common;

	for (int i = 0; have && i <= level; i++) {
		const struct dim *x = &a->stages.items[0]->dims.items[i], *y = &b->stages.items[0]->dims.items[i];

		have = (x->kind == DIM_RANGE && y->kind == DIM_RANGE) ||
		       (x->kind == DIM_BIND && dim_equal(x, y) && groups_bind_alike(a, b, x));
	}
	return have;
}

static bool is_commit(const struct group *group)
{
	return group->stages.items[0]->is_commit;
}

static bool mentions_loop(const struct module *module, const struct expr *expr)
{
	bool does = expr && expr->kind == EXPR_PARAM && module->params.items[expr->index].is_loop;

	for (int i = 0; expr && !does && i < expr_n_args(expr); i++)
		does = mentions_loop(module, expr->args[i]);
	return does;
}

/* Does the group run in some iterations of the program's loop only? */
static bool is_conditional(const struct module *module, const struct group *group)
{
	bool is = true;

	for (int i = 0; is && i < group->stages.n; i++)
		is = mentions_loop(module, group->stages.items[i]->guard);
	return is;
}

/* What a stopped run does not set again when it goes on. */
static bool is_of_start(const struct fusion *f, const struct group *group)
{
	const struct array *array = group->stages.items[group->stages.n - 1]->write.array;

	return f->region == &f->module->regions[REGION_PROLOGUE] && f->is_of_start[array->number];
}

static bool is_innermost(const struct group *group, int level)
{
	for (int s = 0; s < group->stages.n; s++)
		for (int d = level + 1; d < group->stages.items[s]->dims.n; d++)
			if (group->stages.items[s]->dims.items[d].kind != DIM_BIND)
				return false;
	return true;
}

/* The values of the dims up to `level`. */
static __isl_give isl_set *points_of_stage(const struct stage *stage, int level)
{
	isl_set *points = isl_set_copy(stage->domain);
	int n = isl_set_dim(points, isl_dim_set);

	points = isl_set_project_out(points, isl_dim_set, (unsigned) level + 1, (unsigned) (n - level - 1));
	return isl_set_reset_tuple_id(points);
}

static __isl_give isl_set *points(const struct group *group, int level)
{
	isl_set *all = points_of_stage(group->stages.items[0], level);

	for (int s = 1; s < group->stages.n; s++)
		all = isl_set_union(all, points_of_stage(group->stages.items[s], level));
	return all;
}

/* Where both run at all: a loop may be empty because another one inside it is. */
static bool run_alike(const struct group *a, const struct group *b, int level)
{
	isl_set *first = points(a, level), *second = points(b, level);
	bool alike;

	if (isl_set_plain_is_equal(first, second) != isl_bool_true) {
		first = isl_set_intersect_params(first, isl_set_params(isl_set_copy(second)));
		second = isl_set_intersect_params(second, isl_set_params(isl_set_copy(first)));
	}
	alike = isl_set_is_equal(first, second) == isl_bool_true;
	isl_set_free(first);
	isl_set_free(second);
	return alike;
}

/* Is `inner` computed at the points of one case of `outer`, along a loop of independent iterations? It is cut where the
 * case begins and ends. */
static bool is_of_case(const struct module *module, const struct group *inner, const struct group *outer, int level)
{
	isl_set *wanted = isl_set_intersect_params(points(inner, level), isl_set_copy(module->context));
	bool is = false;

	for (int s = 0; s < outer->stages.n && !is && !inner->is_recurrence && !outer->is_recurrence; s++) {
		isl_set *one = points_of_stage(outer->stages.items[s], level);

		one = isl_set_intersect_params(one, isl_set_copy(module->context));
		is = isl_set_is_equal(wanted, one) == isl_bool_true;
		isl_set_free(one);
	}
	isl_set_free(wanted);
	return is;
}

static bool directions_agree(const struct group *a, const struct group *b, int level)
{
	return !a->is_recurrence || !b->is_recurrence || a->direction[level] == b->direction[level];
}

const char *groups_differ(const struct fusion *f, const struct group *a, const struct group *b, int level,
			  bool is_asked)
{
	if ((level >= a->n_common || level >= b->n_common) && group_has_loop(a, level) && group_has_loop(b, level))
		return "the loop of a reduction is its own";
	if (!groups_have_loops(a, b, level))
		return "they have no loop over a range in common";
	if (!directions_agree(a, b, level))
		return "one runs forwards and the other backwards";
	if (is_commit(a) != is_commit(b))
		return "the next values are committed at the end";
	if (is_asked)
		return NULL;
	if (a->is_apart || b->is_apart)
		return "one of them moves an array to another layout";
	if (is_conditional(f->module, a) != is_conditional(f->module, b) || is_of_start(f, a) != is_of_start(f, b))
		return "one of them does not run in each iteration of the program's loop";
	if ((is_innermost(a, level) || is_innermost(b, level)) && !run_alike(a, b, level) &&
	    (f->options->is_device || (!is_of_case(f->module, a, b, level) && !is_of_case(f->module, b, a, level))))
		return "their innermost loops have other ranges";
	return NULL;
}

static void set_direction(struct module *module, struct group *group, int level, int direction)
{
	if (group->direction ? group->direction[level] == direction : direction > 0)
		return;
	if (!group->direction)
		group_run_forwards(module, group);
	group->direction[level] = direction;
}

void share_direction(struct module *module, const group_list *groups, int level)
{
	const struct group *leader = groups->items[0];

	for (int i = 0; i < groups->n; i++)
		if (groups->items[i]->is_recurrence)
			leader = groups->items[i];
	for (int i = 0; i < groups->n && leader->direction; i++)
		set_direction(module, groups->items[i], level, leader->direction[level]);
}
