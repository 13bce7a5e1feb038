/* SPDX-License-Identifier: MIT
 *
 * Clusters of groups, which share a loop of a level: what a cluster carries, whether the loops of two agree, and
 * whether something has to run between them. A cluster has the number of the first of its members. */
#include "passes/schedule/fuse_private.h"

int cluster_of(const struct level *level, const struct group *group)
{
	int at = level->position[group->number];

	return at < 0 ? -1 : level->cluster[at];
}

bool edge_goes_between(const struct level *level, const struct edge *edge, int from, int to)
{
	return cluster_of(level, edge->from) == from && cluster_of(level, edge->to) == to;
}

/* Marks the clusters that must run after `from`, other than by an edge straight to `not`. */
static void mark_after(const struct level *level, int from, int not, bool *is_after)
{
	for (int e = 0; e < level->edges->n; e++) {
		const struct edge *edge = &level->edges->items[e];
		int to = cluster_of(level, edge->to);

		if (!edge->is_strict || cluster_of(level, edge->from) != from || to == from || to == not ||
		    is_after[to])
			continue;
		is_after[to] = true;
		mark_after(level, to, -1, is_after);
	}
}

/* A group that must run after cluster x and before y; NULL. */
static const struct group *group_between(const struct level *level, int x, int y)
{
	bool *is_after = arena_new_array(level->fusion->module->arena, bool, level->members->n);

	mark_after(level, x, y, is_after);
	for (int e = 0; e < level->edges->n; e++) {
		const struct edge *edge = &level->edges->items[e];
		int from = cluster_of(level, edge->from);

		if (edge->is_strict && cluster_of(level, edge->to) == y && from != y && is_after[from])
			return edge->from;
	}
	return NULL;
}

/* ---- may two clusters be merged ---- */

bool obstacle_is(struct obstacle *obstacle, const char *reason, __isl_take isl_map *pairs)
{
	isl_map_free(obstacle->pairs);
	*obstacle = (struct obstacle) { reason, pairs };
	return false;
}

bool loops_agree(const struct level *level, int x, int y, bool is_asked, struct obstacle *obstacle)
{
	for (int a = 0; a < level->members->n; a++)
		for (int b = 0; level->cluster[a] == x && b < level->members->n; b++) {
			const char *reason;

			if (level->cluster[b] != y)
				continue;
			reason = groups_differ(level->fusion, level->members->items[a], level->members->items[b],
					       level->number, is_asked);
			if (reason)
				return obstacle_is(obstacle, reason, NULL);
		}
	return true;
}

bool cluster_carries(const struct level *level, int x, bool strict)
{
	for (int e = 0; e < level->edges->n; e++) {
		const struct edge *edge = &level->edges->items[e];

		if (edge->is_strict == strict && edge_goes_between(level, edge, x, x) && edge->is_crossing)
			return true;
	}
	return false;
}

bool is_between(const struct level *level, int x, int y, struct obstacle *obstacle)
{
	const struct group *between = group_between(level, x, y);

	if (!between)
		between = group_between(level, y, x);
	if (between)
		obstacle_is(obstacle, arena_printf(level->fusion->module->arena, "'%s' must run between them",
						   between->name), NULL);
	return between != NULL;
}

void clusters_merge(struct level *level, int x, int y)
{
	int into = x < y ? x : y;

	for (int i = 0; i < level->members->n; i++)
		if (level->cluster[i] == x || level->cluster[i] == y)
			level->cluster[i] = into;
}
