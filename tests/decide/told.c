/* SPDX-License-Identifier: MIT
 *
 * From the schedules that the passes left, without asking them: a loop stays serial if neither it, a loop around it nor
 * one inside is shared by threads or lanes; inside of a shared one, if it carries a strict dependence, or updates of a
 * statement for which lanes share neither it nor a loop between. An innermost one that carries nothing stays scalar if
 * lanes do not share it. Two groups of a region are unfused if one needs the other, and they have one more loop over a
 * range than they share. Each has to have its remark, and each but those of scalar loops a pair of iterations. Not
 * asked of what the user settles by items or options. */
#include "told.h"

#include <string.h>

#include "ir/schedule.h"

typedef isl_schedule_node node;

struct looking {
	struct compilation *c;
	struct module *module;
	struct region *region;
	struct told *told;
};

static bool has_remark(const struct compilation *c, enum diag_code code, struct span span, const char *words)
{
	for (int i = 0; i < c->diags.list.n; i++) {
		const struct diag *diag = c->diags.list.items[i];

		if (diag->code == code && diag->span.start == span.start && diag->span.file == span.file &&
		    strstr(diag->text, words))
			return true;
	}
	return false;
}

static void must_tell(struct looking *l, enum diag_code code, struct span span, const char *words)
{
	if (has_remark(l->c, code, span, words))
		l->told->n++;
	else
		str_add(&l->told->missing, "%s: nobody tells: %s\n", l->module->name, words);
}

/* ---- loops ---- */

static bool is_of_sharing(const struct mark *mark)
{
	return mark && (mark->kind == MARK_PARALLEL || mark->kind == MARK_TEAM || mark->kind == MARK_BLOCK ||
			mark->kind == MARK_BLAS);
}

/* Lanes of a device share a loop of vectors. */
static bool is_sharing(__isl_keep node *at)
{
	const struct mark *mark = mark_of_node(at);

	return is_of_sharing(mark) ||
	       (mark && (mark->kind == MARK_VECTOR || mark->kind == MARK_LANES) &&
		schedule_has_mark_above(at, MARK_GRID, NULL));
}

static bool is_shared(__isl_keep node *at)
{
	node *above = isl_schedule_node_parent(isl_schedule_node_copy(at));
	bool is = is_sharing(above);

	isl_schedule_node_free(above);
	return is;
}

static bool is_below_sharing(__isl_keep node *at)
{
	node *above = isl_schedule_node_copy(at);
	bool is = false;

	while (!is && isl_schedule_node_has_parent(above) == isl_bool_true) {
		above = isl_schedule_node_parent(above);
		is = is_sharing(above);
	}
	isl_schedule_node_free(above);
	return is;
}

static __isl_give isl_union_map *carried(__isl_keep node *at, __isl_keep isl_union_map *deps)
{
	node *band = isl_schedule_node_first_child(isl_schedule_node_copy(at));
	isl_union_map *pairs = schedule_carried(band, deps);

	isl_schedule_node_free(band);
	return pairs;
}

static bool carries(const struct looking *l, __isl_keep node *at)
{
	isl_union_map *pairs = carried(at, l->region->strict);
	bool does = isl_union_map_is_empty(pairs) == isl_bool_false;

	isl_union_map_free(pairs);
	return does;
}

static bool is_of_lanes(const struct mark *mark)
{
	return is_of_sharing(mark) || (mark && (mark->kind == MARK_VECTOR || mark->kind == MARK_WARP_LOOP ||
						   mark->kind == MARK_LANES));
}

/* By lanes of the loop at `at`, or of one between it and the statement. */
static bool is_in_lanes(__isl_keep node *at, const struct stage *stage)
{
	node *way = isl_schedule_node_parent(isl_schedule_node_copy(at));
	bool is = schedule_has_mark_above(at, MARK_BLOCK, NULL) || schedule_has_mark_above(at, MARK_LANES, NULL);

	for (; !is && mark_of_node(way) && !mark_is_loop(mark_of_node(way)); way = isl_schedule_node_parent(way))
		is = is_of_lanes(mark_of_node(way));
	isl_schedule_node_free(way);
	way = isl_schedule_node_copy(at);
	while (!is && (way = schedule_down_to(way, stage)))
		is = is_of_lanes(mark_of_node(way));
	isl_schedule_node_free(way);
	return is;
}

struct updating {
	node *at;
	bool is_serial;
};

static isl_stat look_at_updates(__isl_take isl_map *pairs, void *user)
{
	struct updating *updating = user;

	updating->is_serial |= !is_in_lanes(updating->at, stage_of_id(isl_map_get_tuple_id(pairs, isl_dim_out)));
	isl_map_free(pairs);
	return isl_stat_ok;
}

static bool is_innermost(__isl_keep node *at)
{
	node *band = isl_schedule_node_first_child(isl_schedule_node_copy(at));
	bool is = !schedule_has_mark_below(band, MARK_LOOP, NULL) &&
		  !schedule_has_mark_below(band, MARK_CHILDREN, NULL);

	isl_schedule_node_free(band);
	return is;
}

static isl_stat look_at_stage(__isl_take isl_set *set, void *user)
{
	struct updating *updating = user;

	updating->is_serial |= !is_in_lanes(updating->at, stage_of_id(isl_set_get_tuple_id(set)));
	isl_set_free(set);
	return isl_stat_ok;
}

/* An innermost loop, whatever it carries. */
static bool is_scalar(const struct looking *l, __isl_keep node *at)
{
	struct updating updating = { at, false };
	isl_union_set *domain = l->c->options.vector && is_innermost(at) ? isl_schedule_node_get_domain(at) : NULL;

	if (domain)
		isl_union_set_foreach_set(domain, look_at_stage, &updating);
	isl_union_set_free(domain);
	return updating.is_serial;
}

static bool updates_in_order(const struct looking *l, __isl_keep node *at)
{
	struct updating updating = { at, false };
	isl_union_map *pairs = l->c->options.vector ? carried(at, l->region->reduction) : NULL;

	if (pairs)
		isl_union_map_foreach_map(pairs, look_at_updates, &updating);
	isl_union_map_free(pairs);
	return updating.is_serial;
}

static isl_bool look_at_loop(__isl_keep node *at, void *user)
{
	struct looking *l = user;
	const struct mark *mark = mark_of_node(at);
	bool is_left;

	if (!mark || (mark->kind != MARK_LOOP && mark->kind != MARK_CHILDREN))
		return isl_bool_true;
	is_left = is_below_sharing(at) ? !is_shared(at) &&
						 (carries(l, at) || updates_in_order(l, at) || is_scalar(l, at))
				       : !schedule_has_mark_below(at, MARK_TEAM, NULL);
	if (is_left)
		must_tell(l, DIAG_LOOP_SERIAL, mark->dim->span,
			  arena_printf(&l->c->arena, "the loop over '%s'", mark->dim->name));
	return isl_bool_true;
}

/* ---- groups ---- */

static int n_shared(const struct region *region, int first, int last)
{
	int n = region->groups.items[first]->n_common;

	for (int g = first + 1; g <= last; g++)
		n = region->groups.items[g]->n_fused < n ? region->groups.items[g]->n_fused : n;
	return n;
}

/* Its own loop, or that of a reduction. */
static bool has_loop(const struct group *group, int level)
{
	bool has = false;

	for (int i = 0; i < group->stages.n; i++) {
		const dim_list *dims = &group->stages.items[i]->dims;

		has = has || (level < dims->n && dims->items[level].kind == DIM_RANGE);
	}
	return has;
}

struct linking {
	const struct group *from, *to;
	int n_shared;
	bool are_linked;
};

/* Within one iteration of the loops that they share. */
static isl_stat look_at_deps(__isl_take isl_map *deps, void *user)
{
	struct linking *link = user;

	if (stage_of_id(isl_map_get_tuple_id(deps, isl_dim_in))->group == link->from &&
	    stage_of_id(isl_map_get_tuple_id(deps, isl_dim_out))->group == link->to) {
		for (int i = 0; i < link->n_shared; i++)
			if (group_shift(link->from, i) == group_shift(link->to, i))
				deps = isl_map_equate(deps, isl_dim_in, i, isl_dim_out, i);
		link->are_linked |= isl_map_is_empty(deps) == isl_bool_false;
	}
	isl_map_free(deps);
	return isl_stat_ok;
}

static void look_at_pair(struct looking *l, int first, int last)
{
	const struct group *a = l->region->groups.items[first], *b = l->region->groups.items[last];
	struct linking link = { a, b, n_shared(l->region, first, last), false };

	if (!has_loop(a, link.n_shared) || !has_loop(b, link.n_shared))
		return;
	isl_union_map_foreach_map(l->region->strict, look_at_deps, &link);
	if (link.are_linked)
		must_tell(l, DIAG_NOT_FUSED, b->span,
			  arena_printf(&l->c->arena, "'%s' is not fused with '%s'", b->name, a->name));
}

static bool is_settled(const struct looking *l)
{
	for (int i = 0; i < l->module->overrides.n; i++)
		if (l->module->overrides.items[i].verb == VERB_FUSE ||
		    l->module->overrides.items[i].verb == VERB_TILE)
			return true;
	return !l->c->options.fuse || l->c->options.schedule == ORDER_ISL;
}

/* ---- remarks ---- */

static void check_pairs(struct compilation *c, struct told *told)
{
	for (int i = 0; i < c->diags.list.n; i++) {
		const struct diag *diag = c->diags.list.items[i];
		bool has_pair = strstr(diag->text, " stays scalar: ") || strstr(diag->text, ": the host cannot tell ");

		if (diag->code != DIAG_LOOP_SERIAL && diag->code != DIAG_NOT_FUSED)
			continue;
		for (int k = 0; k < diag->labels.n; k++)
			has_pair |= strstr(diag->labels.items[k].text, " before ") != NULL;
		if (!has_pair)
			str_add(&told->missing, "without a pair: %s\n", diag->text);
	}
}

static void check_region(struct looking *l)
{
	const struct region *region = l->region;

	if (l->c->options.parallel)
		isl_schedule_foreach_schedule_node_top_down(region->schedule, look_at_loop, l);
	for (int last = 1; last < region->groups.n && !is_settled(l); last++)
		for (int first = 0; first < last; first++)
			look_at_pair(l, first, last);
}

void told_check(struct compilation *c, struct told *told)
{
	*told = (struct told) { 0, str_new(&c->arena) };
	for (int m = 0; m < c->modules.n; m++)
		for (int r = 0; r < REGION_N; r++) {
			struct looking l = { c, c->modules.items[m], &c->modules.items[m]->regions[r], told };

			if (l.region->schedule && l.region->strict)
				check_region(&l);
		}
	check_pairs(c, told);
}
