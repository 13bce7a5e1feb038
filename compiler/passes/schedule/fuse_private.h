/* SPDX-License-Identifier: MIT
 *
 * What the files of the fusion share: dependences between groups, and what items of the schedule block ask for. */
#ifndef PMGC_PASSES_FUSE_PRIVATE_H
#define PMGC_PASSES_FUSE_PRIVATE_H

#include "passes/pass_private.h"

/* Dependences of two stages, `from` before `to`; of one group too. */
struct edge {
	struct group *from, *to;
	isl_map *pairs;
	bool is_strict;                 /* else updates of one accumulation, in any order */
	bool is_crossing;               /* some pair is of two iterations of the loop that is looked at */
	int from_position, to_position; /* in the region */
	int order;                      /* in which isl gives them */
};
typedef VEC(struct edge) edge_list;

/* An item of the schedule block, in one region. */
struct asked {
	const struct override *override;
	group_list groups;
	int depth;                      /* loops shared at most */
};

struct fusion {
	struct module *module;
	struct region *region;
	const struct pass_options *options;
	VEC(struct asked) asked;
	const bool *is_of_start;        /* by number of array: set where a run starts, not where it goes on */
	bool is_automatic, failed, ran_out;
};

/* The groups inside of loops that they share, and how the loops of the next level inside are shared. */
struct level {
	struct fusion *fusion;
	const group_list *members;
	const edge_list *edges;         /* between members, within one iteration of the loops outside */
	int number;
	bool is_parallel;               /* of a loop outside, iterations are independent */
	int *cluster;                   /* by position in `members` */
	int64_t *shift;                 /* likewise, of the groups in the loop of their cluster: group->shift */
	int *position;                  /* in `members`, by number of group; -1 */
};

/* Why two clusters are not merged: a reason, or a pair of iterations. */
struct obstacle {
	const char *reason;
	isl_map *pairs;
};

/* ---- fuse_edges.c ---- */

edge_list edges_of_region(const struct fusion *f);
/* Those between `members`, within one iteration of the loop of `level`. */
edge_list edges_inside(const struct fusion *f, const edge_list *edges, const group_list *members, int level);
void edges_free(edge_list *edges);
/* The least and the most by which the second of a pair is ahead, running in `direction`; INT_MAX: without bound. */
void edge_distance(const struct edge *edge, int level, int direction, int64_t *least, int64_t *most);
/* Pairs of two iterations of the loop of `level`; of which the second would run before the first. */
__isl_give isl_map *edge_crossing(const struct edge *edge, int level);
__isl_give isl_map *edge_backwards(const struct edge *edge, int level);
bool edge_goes_back(const struct edge *edge, int level);

/* ---- fuse_clusters.c ---- */

/* The first of its members; -1: the group is none of the level. */
int cluster_of(const struct level *level, const struct group *group);
/* Does it go from a group of the one cluster to a group of the other? */
bool edge_goes_between(const struct level *level, const struct edge *edge, int from, int to);
/* Does a loop over this level, run by the cluster alone, carry what `strict` says? */
bool cluster_carries(const struct level *level, int x, bool strict);
bool obstacle_is(struct obstacle *obstacle, const char *reason, __isl_take isl_map *pairs);
bool loops_agree(const struct level *level, int x, int y, bool is_asked, struct obstacle *obstacle);
bool is_between(const struct level *level, int x, int y, struct obstacle *obstacle);
void clusters_merge(struct level *level, int x, int y);

/* ---- fuse_slide.c ---- */

/* Merges two clusters of which one runs some iterations later, so that all it needs is there. */
bool slide_merge(struct level *level, int x, int y, bool is_asked, struct obstacle *obstacle);
/* Would that leave less of a temporary that `edge->from` writes to be stored, and take nothing from any loop? */
bool slide_pays(const struct level *level, const struct edge *edge);
bool cluster_slides(const struct level *level, int x);  /* some of its groups run later than others */

/* ---- fuse_items.c ---- */

/* Looks at the items; false when one makes no sense. */
bool fuse_read_items(struct module *module);
/* What they ask for in the region of `f`. */
void fuse_ask(struct fusion *f);
bool group_is_in(const group_list *list, const struct group *group);
/* Has it a loop at this level, be it that of a reduction? */
bool group_has_loop(const struct group *group, int level);
/* Have both ranges, or the same bound dims, up to this level? */
bool groups_have_loops(const struct group *a, const struct group *b, int level);
/* Why two groups have no loop of this level to share; NULL: they have. */
const char *groups_differ(const struct fusion *f, const struct group *a, const struct group *b, int level,
			  bool is_asked);
/* The loop runs in the direction that the recurrence among the groups asks for. */
void share_direction(struct module *module, const group_list *groups, int level);

#endif
