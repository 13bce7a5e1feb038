/* SPDX-License-Identifier: MIT
 *
 * Consumers that run some iterations later than their producers. What reads b[i-1], b[i] and b[i+1] can share the loop
 * that computes b, if it runs one iteration later: at i it then computes its value at i - 1. No more than three values
 * of b are of use at a time, which storage.c makes a window of (sliding windows: Ragan-Kelley and others 2013; shifted
 * loops: Darte and Huard 2000).
 *
 * The number of iterations is the least by which every dependence goes forwards, from the distances of the pairs,
 * which must have bounds that do not depend on sizes. Since the loop then carries a dependence, it is done unasked only
 * where threads share a loop outside and there are loops inside for vectors, and where it shrinks a temporary. */
#include <limits.h>

#include "passes/schedule/fuse_private.h"

/* ---- by how much ---- */

/* The direction of the loop that two clusters share: that of their recurrences, which agree. */
static int shared_direction(const struct level *level, int x, int y)
{
	int direction = 1;

	for (int i = 0; i < level->members->n; i++) {
		const struct group *group = level->members->items[i];

		if ((level->cluster[i] == x || level->cluster[i] == y) && group->is_recurrence && group->direction)
			direction = group->direction[level->number];
	}
	return direction;
}

/* Does the cluster, with what it carries, run the other way? */
static bool is_turned(const struct level *level, int x, int direction)
{
	return cluster_carries(level, x, true) && shared_direction(level, x, x) != direction;
}

static int64_t shift_of(const struct level *level, const struct group *group)
{
	return level->shift[level->position[group->number]];
}

/* By how many iterations y has to run later than x, and may. */
struct slack {
	int64_t least, most;
};

static void narrow(const struct level *level, const struct edge *edge, bool is_back, int64_t ahead,
		   struct slack *slack)
{
	ahead += shift_of(level, edge->to) - shift_of(level, edge->from);
	if (is_back)
		slack->most = ahead < slack->most ? ahead : slack->most;
	else
		slack->least = -ahead > slack->least ? -ahead : slack->least;
}

static bool finds_slack(const struct level *level, int x, int y, struct slack *slack, struct obstacle *obstacle)
{
	int direction = shared_direction(level, x, y);

	*slack = (struct slack) { -INT_MAX, INT_MAX };
	if (is_turned(level, x, direction) || is_turned(level, y, direction))
		return obstacle_is(obstacle, "one runs forwards and the other backwards", NULL);
	for (int e = 0; e < level->edges->n; e++) {
		const struct edge *edge = &level->edges->items[e];
		int from = cluster_of(level, edge->from), to = cluster_of(level, edge->to);
		int64_t least, most;

		if (!edge->is_strict || !((from == x && to == y) || (from == y && to == x)))
			continue;
		edge_distance(edge, level->number, direction, &least, &most);
		if (least != INT_MAX)
			narrow(level, edge, from == y, least, slack);
		if (least == INT_MAX || slack->least > slack->most)
			return obstacle_is(obstacle, "an iteration would run before one that it needs",
					   edge_backwards(edge, level->number));
	}
	return true;
}

static void run_later(struct level *level, int x, int64_t by)
{
	for (int i = 0; i < level->members->n; i++)
		if (level->cluster[i] == x)
			level->shift[i] += by;
}

bool slide_merge(struct level *level, int x, int y, bool is_asked, struct obstacle *obstacle)
{
	struct slack slack;

	if (!loops_agree(level, x, y, is_asked, obstacle) || !finds_slack(level, x, y, &slack, obstacle) ||
	    is_between(level, x, y, obstacle))
		return false;
	if (slack.least > 0)
		run_later(level, y, slack.least);
	else if (slack.most < 0)
		run_later(level, x, -slack.most);
	clusters_merge(level, x, y);
	return true;
}

bool cluster_slides(const struct level *level, int x)
{
	bool slides = false;

	for (int i = 0; i < level->members->n; i++)
		slides |= level->cluster[i] == x && level->shift[i] != 0;
	return slides;
}

/* ---- whether it pays ---- */

static bool has_loop_inside(const struct group *group, int level)
{
	bool has = false;

	for (int s = 0; s < group->stages.n; s++)
		for (int d = level + 1; d < group->stages.items[s]->dims.n; d++)
			has |= group->stages.items[s]->dims.items[d].kind == DIM_RANGE;
	return has;
}

static bool have_loops_inside(const struct level *level, int x)
{
	bool have = true;

	for (int i = 0; i < level->members->n; i++)
		if (level->cluster[i] == x)
			have = have && has_loop_inside(level->members->items[i], level->number);
	return have;
}

/* All that touches the array is in one of the clusters. */
static bool is_theirs(const struct level *level, const struct array *array, int x, int y)
{
	const struct module *module = level->fusion->module;
	bool is = array->role == ROLE_TEMP && !array_is_index(array) &&
		  !(module->loop.until && expr_reads_array(module->loop.until, array));

	for (int g = 0; is && g < module->groups.n; g++) {
		int at = cluster_of(level, module->groups.items[g]);

		is = at == x || at == y || !group_touches(module->groups.items[g], array);
	}
	return is;
}

/* What goes from one cluster to the other goes over few iterations. */
static bool has_bounds(const struct level *level, int x, int y)
{
	for (int e = 0; e < level->edges->n; e++) {
		const struct edge *edge = &level->edges->items[e];
		int64_t least, most;

		if (!edge->is_strict || cluster_of(level, edge->from) != x || cluster_of(level, edge->to) != y)
			continue;
		edge_distance(edge, level->number, 1, &least, &most);
		if (least == INT_MAX || most == INT_MAX || most - least >= MAX_WINDOW)
			return false;
	}
	return true;
}

bool slide_pays(const struct level *level, const struct edge *edge)
{
	const struct pass_options *options = level->fusion->options;
	int x = cluster_of(level, edge->from), y = cluster_of(level, edge->to);
	bool is_theirs_alone = false;

	if (!level->is_parallel || !options->storage || options->is_device || !have_loops_inside(level, x) ||
	    !have_loops_inside(level, y))
		return false;
	for (int s = 0; s < edge->from->stages.n; s++)
		is_theirs_alone |= is_theirs(level, edge->from->stages.items[s]->write.array, x, y);
	return is_theirs_alone && has_bounds(level, x, y);
}
