/* SPDX-License-Identifier: MIT
 *
 * What the files of this folder share. */
#ifndef PMGC_PASSES_PASS_PRIVATE_H
#define PMGC_PASSES_PASS_PRIVATE_H

#include "ir/schedule.h"
#include "passes/pass.h"

#define PASS(name, sentence, needs, gives, breaks) \
	bool pass_##name(struct module *module, const struct pass_options *options);
#define AFTER(name, earlier, reason)
#include "passes/passes.def"
#undef AFTER
#undef PASS

/* ---- overrides.c ---- */

/* Does the item ask for what is done without it? */
bool override_is_done_anyway(const struct override *override);

/* ---- tree.c: walking and changing schedule trees ---- */

struct tree_walk {
	struct module *module;
	struct region *region;
	const struct pass_options *options;
	bool enters_blocks;             /* goes below BLOCK marks, too */
	/* Called at each mark of a loop, outermost first, with the node of the mark. Returns the node at the same place
	 * in the (changed) tree, and in `descend` whether to go on below. */
	__isl_give isl_schedule_node *(*visit)(struct tree_walk *walk, __isl_take isl_schedule_node *node,
					       const struct mark *mark, bool *descend);
};

/* Walks the trees of all regions and keeps the changed ones. */
bool module_walk(struct tree_walk *walk);
/* Does somebody read remarks? Nobody does on a candidate. */
bool walk_remarks(const struct tree_walk *walk);

/* Puts a mark above `node`; the result is the node of the mark. */
__isl_give isl_schedule_node *tree_insert_mark(struct module *module, __isl_take isl_schedule_node *node,
					       enum mark_kind kind, const char *pass, struct stage *stage);
/* What the loop of a mark carries; NULL deps (not known): everything might be. */
__isl_give isl_union_map *tree_carried(__isl_keep isl_schedule_node *mark, __isl_keep isl_union_map *deps);
/* One that is not written out. */
bool tree_has_loop_below(__isl_keep isl_schedule_node *mark);
/* The stages that run below `node`. */
stage_list tree_stages(struct module *module, __isl_keep isl_schedule_node *node);
/* Goes up from mark to mark as long as they are wanted; `steps` leads back down. */
__isl_give isl_schedule_node *tree_climb(__isl_take isl_schedule_node *node, bool (*is_wanted)(const struct mark *mark),
					 int *steps);
__isl_give isl_schedule_node *tree_descend(__isl_take isl_schedule_node *node, int steps);
/* Does a stage of the group write the array of this name, or its next value? */
bool group_defines(const struct group *group, const char *name);

/* ---- tree_cut.c: the loop over the nodes of trees in parts ---- */

struct tree_cut {
	struct module *module;
	struct group *group;
	/* Appends the dims that stand for the loop over `nodes`, the last one a loop over nodes. */
	void (*add_loops)(const struct tree_cut *cut, dim_list *dims);
	bool is_of_segments;            /* only trees that are cut into segments count */
	int level;                      /* of the loop among the common dims */
	const struct dim *nodes;        /* that loop of the stage that is cut */
	struct array *tree;
	const struct branching *branching;      /* branches.c */
};

/* Is the group a recurrence over all nodes of a tree of the caller's? Sets level and tree. */
bool tree_cut_find(struct tree_cut *cut);
void tree_cut_apply(struct tree_cut *cut);
/* What add_loops appends: a value of an index array, a loop. The result is the dim. */
struct expr *tree_cut_bind(const struct tree_cut *cut, dim_list *dims, struct array *array, const char *name,
			   struct expr *at);
struct expr *tree_cut_range(const struct tree_cut *cut, dim_list *dims, const char *name, struct expr *lo,
			    struct expr *hi);
struct expr *tree_cut_plus(const struct tree_cut *cut, struct expr *expr, int64_t value);

/* ---- branches.c ---- */

bool is_tree_algorithm(enum item_choice choice);

/* ---- storage_cells.c ---- */

/* The first dims, a bit for each, of which each cell of the array has one value in what the groups from the first to
 * the last do with it, as far as is known. */
unsigned cells_tell_dims(struct module *module, const struct region *region, int first, int last,
			 const struct array *array, int n_dims);

/* ---- blas_idioms.c ---- */

/* Is the loop of this level one that a call of the BLAS stands for? Fused with another, it would be none. */
bool blas_needs_loop(struct module *module, const struct pass_options *options, const struct group *group, int level);
/* Are the sums of the group a call, and better that than row by row? A gemv that nobody has asked for is not, inside of
 * other loops. */
bool blas_takes_sums(struct module *module, const struct pass_options *options, const struct group *group);

/* ---- join.c ---- */

/* Does it add to a local value of its group over the children of one node, and over nothing else? */
bool stage_sums_over_children(const struct stage *stage);

/* ---- reciprocals.c ---- */

bool expr_is_quotient_by(const struct expr *expr, const struct array *array);
/* Is it a temporary of which each value is set by a statement of its own, and that is read as a divisor only, in
 * several places and in a recurrence? */
bool array_is_only_divisor(struct module *module, struct array *array);

/* ---- local_sum.c: sums of definitions ---- */

struct local_sum {
	struct module *module;
	struct array *array;            /* LOCAL */
	struct group *group;
	struct stage *begin, *add;      /* that begins it, and that adds to it */
	struct stage *last;             /* of the group: what it defines */
};

/* Is the array one, of a group that defines a cell at each point and is no recurrence? */
bool local_sum_find(struct module *module, struct array *array, struct local_sum *sum);
/* A temporary for values of the sum, whose bounds are to be set. */
struct array *local_sum_array(const struct local_sum *sum, const char *what, int rank);
/* Takes the stages of the sum out of the group: they make `to`, over dims order[0], order[1], … of those that they had,
 * of which `to` is still told. The result is the group that adds. */
struct group *local_sum_take_out(const struct local_sum *sum, const struct access *to, const int *order, int n);
/* After all: drops what is empty. */
bool local_sums_are_out(struct module *module);
/* The dims of the stage become order[0], order[1], … of those that it has: what it needs of others is nothing. */
void stage_take_dims(struct arena *arena, struct stage *stage, const int *order, int n);

/* ---- prune.c ---- */

/* Drops what no output needs. */
void module_prune(struct module *module, bool remarks);

/* ---- parallel.c ---- */

extern const char serial_for_children[];        /* a reason */

/* "stays serial: why", with two iterations that need each other unless `sample` is NULL. */
void loop_remark_serial(struct module *module, const struct mark *mark, const char *why, const char *sample);

/* ---- unroll.c ---- */

enum { MOST_TERMS = 64 };

/* Does a step along the dim lead to the next place, or to none other, in all that the stage reads and writes? */
bool stage_is_side_by_side(struct stage *stage, int dim);
/* Has its range so few values, in each compilation of the program, that its loop may be written out? */
bool dim_has_short_range(const struct dim *dim, int64_t *n);

/* ---- private.c ---- */

/* Is this the loop over the chunks of a restructuring? */
/* Of a loop that is cut so that its sums do not depend on the threads: so many threads have work at most. */
enum { LOOP_PARTS = 16 };
/* Can the loop be cut? */
bool loop_has_parts(const struct pass_options *options, const struct mark *loop);
bool loop_is_over_chunks(const struct module *module, const struct dim *dim);

/* Is it `partition … by private` or `by atomic`? */
bool partition_is_of_updates(const struct override *override);
/* Does such an item speak of the target of one of these? */
bool updates_are_asked_for(struct module *module, const stage_list *updates);
/* They do: honours the items that ask for it. */
void updates_become_atomic(struct module *module, const stage_list *updates);
/* Such an item that nothing has honoured is refused; where no loop is shared, all are honoured. */
bool partitions_check(struct module *module, const struct pass_options *options);

/* Gives each thread of the shared loop of `loop`, above whose PARALLEL mark `node` stands, a copy of the target of
 * `stage`, if that is wanted and possible. */
__isl_give isl_schedule_node *private_try(struct tree_walk *walk, __isl_take isl_schedule_node *node,
					  const struct mark *loop, struct stage *stage, bool *done);

/* ---- team_rooms.c ---- */

/* Gives arrays that the team of the shared loop keeps in shared memory one place there, if no two are of use at once.
 * `node` is the outermost of their TEAM_STORAGE marks, or a node above. */
void team_rooms_share(struct module *module, __isl_keep isl_schedule_node *node);

/* ---- team.c ---- */

/* Forms a team at the loop of `mark` if some loop inside it can be shared; else `descend` becomes true. */
__isl_give isl_schedule_node *team_form(struct tree_walk *walk, __isl_take isl_schedule_node *node,
					const struct mark *mark, bool *descend);

/* Stages that update one cell at two iterations of the loop. */
stage_list tree_meeting(struct module *module, __isl_keep isl_union_map *carried);

#endif
