/* SPDX-License-Identifier: MIT
 *
 * The schedule tree of a region and its typed marks.
 *
 * Invariant (checked by schedule_check):
 * - Every band has one member and stands directly below a mark that says what its loop is: LOOP, BIND or CHILDREN
 *   (of a dim), or TILE. Marks that decide how it runs (PARALLEL, VECTOR) stand directly above that mark.
 * - A GROUP mark stands above the part of the tree that runs at one point of a group's common dims; the LOCAL arrays
 *   of the group live there. A region without groups has no schedule.
 * - A TEAM mark stands directly above the mark of a loop and has one stage below it, with one PARALLEL loop whose range
 *   is the same in all iterations of the loops between: each thread keeps its share of it.
 * - A STORAGE mark stands below the band of the last dim that is a folded subscript of its array; all that touches the
 *   array stands below it. If the array has a window, it stands above the mark of the loop along which the window
 *   slides, with no other marks than STORAGE between: threads or lanes do not share it (ir/isl/window.c).
 * - A BLOCK mark stands directly above the mark of a loop over the same dim of all stages below it, none of which has
 *   marks below that say how its loops run. `arrays` are the BLOCK arrays that it fills and empties (ir/match/block.h).
 * - An ATOMIC or ACCUMULATE mark has the one stage it speaks of below it and no other stage, but for ACCUMULATE marks
 *   of sums that share a loop over children, which stand directly above each other and that loop.
 * - A BLAS mark has a nest below that is an operation of the BLAS (ir/match/blas.h), and around it neither a team nor a
 *   row of its stage.
 * - A PRIVATE or DYNAMIC mark stands directly above a PARALLEL mark (ir/isl/row_check.c).
 * - A SKIP mark has one stage below it, and only loops over its own dims (ir/match/zero_factor.c).
 * - A GRID mark has no other GRID mark above it; a PARALLEL loop directly below it, or below an ACCUMULATE, is shared
 *   by teams of `factor` lanes, each VECTOR loop by the lanes of a team, and nothing else runs more than once.
 * - A LANES mark stands directly above the mark of a loop, inside the PARALLEL loop of a GRID whose team is a block. No
 *   other mark below it says how loops run.
 * - A TEAM_STORAGE mark stands directly below the band of that PARALLEL loop, and all that touches its array below it
 *   (ir/isl/storage_check.c).
 * - A ROW mark stands directly above the mark of a loop (ir/isl/row_check.c).
 * - A WARP_LOOP mark stands above the mark of the loop over its dim, with no other mark than ROW between
 *   (ir/isl/warp_loop.c).
 * - A dim's band stands below the bands of all dims that its range or source reads. A bound dim of several groups has
 *   one value at a time: none of them runs later in a loop that it is read with. */
#ifndef PMGC_IR_SCHEDULE_H
#define PMGC_IR_SCHEDULE_H

#include "ir/ir.h"

#include <isl/schedule_node.h>

enum mark_kind {
#define MARK(id, text) MARK_##id,
#include "ir/isl/marks.def"
#undef MARK
	MARK_N
};

struct mark {
	enum mark_kind kind;
	const char *pass;               /* that made it */
	struct span span;
	const struct dim *dim;          /* LOOP, BIND, CHILDREN, WARP_LOOP; ROW: along which its cells lie */
	struct group *group;            /* GROUP */
	struct array *array;            /* STORAGE, TEAM_STORAGE */
	struct stage *stage;            /* ATOMIC, ACCUMULATE, ROW, BLAS; the stage whose dim it is */
	VEC(struct array *) arrays;     /* BLOCK */
	int64_t lanes;                  /* BLOCK: iterations that run together */
	int64_t least_work;             /* BLAS: for a call; 0: any */
	int64_t least_operations;       /* PARALLEL: for threads; 0: any */
	int64_t chunk;                  /* VECTOR: iterations that a thread takes at a time; 0: any */
	int64_t parts;                  /* PARTS */
	int team_lanes;                 /* GRID */
	int row_lanes, width;           /* GRID: lanes of a team that share a row; cells of it that each has side by
					 * side */
	int warps;                      /* GRID: of a block; 0: by the rule of the target's runtime */
	bool is_rolled;                 /* GRID: rows one at a time */
	bool is_block;                  /* GRID: the team is a block, or part of one, of as many lanes as LANES loops
					 * have iterations */
	int direction;                  /* LOOP, CHILDREN: +1 or -1 */
};

const char *mark_name(enum mark_kind kind);             /* "parallel" */
struct mark *mark_new(struct module *module, enum mark_kind kind, const char *pass, struct span span);
__isl_give isl_id *mark_id(struct module *module, struct mark *mark);
struct mark *mark_of(__isl_take isl_id *id);            /* NULL when it is not one of ours */
struct mark *mark_of_node(__isl_keep isl_schedule_node *node);  /* NULL when the node is no mark */
struct mark *mark_above(__isl_keep isl_schedule_node *node);    /* directly above; NULL when that is no mark */
struct mark *mark_below(__isl_keep isl_schedule_node *node);    /* directly below, of the first child; NULL likewise */
struct mark *mark_read(struct module *module, const char *name);/* from its name in a dump; NULL: not a mark */
bool mark_is_loop(const struct mark *mark);             /* LOOP, TILE, BIND or CHILDREN */
int mark_dim_number(const struct mark *mark);           /* of its dim in its stage */
bool mark_can_have_warps(long warps);   /* a block of a device (runtime/pmgrt_cuda.h); 0: not given */

/* The textual order of a region (which has groups) as a tree that keeps the invariant. */
__isl_give isl_schedule *schedule_textual(struct module *module, struct region *region);
/* The same with the loops that groups share. */
__isl_give isl_schedule *schedule_fused(struct module *module, struct region *region);
/* The same, but that a sum for which `joined`, by number of stage, has an earlier one at its point, which joins none,
 * shares the loop of that one over children. The result may break dependences: the caller has to prove it. */
__isl_give isl_schedule *schedule_joined(struct module *module, struct region *region, struct stage *const *joined);
/* What runs at one point with a stage where sums are joined, in the order of the text: the stages of all groups that
 * share all of their loops with its group. */
stage_list schedule_stages_at_point(struct module *module, const struct region *region, const struct stage *stage);
bool schedule_check(struct module *module, struct region *region, const char *pass);

/* Proof before printing: strict dependences go forward in the tree, and no PARALLEL or VECTOR loop carries one;
 * reductions that such a loop carries end at ATOMIC, or at an ACCUMULATE of the loop. A call of the BLAS has none
 * inside. What a team does never leaves the thread that owns the iteration of the shared loop. False, with the
 * offending pair in `witness`, when it does not hold. */
bool schedule_is_legal(struct module *module, struct region *region, const char **witness);

/* The pairs of which the first instance runs before the second; where not `forwards`, those of which it does not. */
__isl_give isl_union_map *schedule_ordered(struct arena *arena, __isl_keep isl_schedule *schedule,
					   __isl_take isl_union_map *pairs, bool forwards);
/* Of pairs those at which the value of the band (one member) at the first is so related to that at the second. */
enum band_relation { BAND_EQUAL, BAND_LESS, BAND_GREATER };

__isl_give isl_union_map *schedule_related(__isl_keep isl_schedule_node *band, __isl_take isl_union_map *pairs,
					   enum band_relation relation);
/* Of pairs those that are in one iteration of all loops around the node. */
__isl_give isl_union_map *schedule_meeting(__isl_keep isl_schedule_node *node, __isl_take isl_union_map *pairs);
/* The dependences of `deps` that the band at `node` (one member) carries, given the bands above. */
__isl_give isl_union_map *schedule_carried(__isl_keep isl_schedule_node *node, __isl_keep isl_union_map *deps);
/* The dependences of `deps`, within one point of the loops above the band at `outer`, that go from one iteration of
 * the band at `inner` to another. */
__isl_give isl_union_map *schedule_crossing(__isl_keep isl_schedule_node *outer, __isl_keep isl_schedule_node *inner,
					    __isl_keep isl_union_map *deps);
/* Is there a mark of this kind, and of this stage unless NULL, on the way to the root, or below `node`? */
__isl_give isl_schedule_node *schedule_mark_above(__isl_keep isl_schedule_node *node, enum mark_kind kind,
						  const struct stage *stage);
bool schedule_has_mark_above(__isl_keep isl_schedule_node *node, enum mark_kind kind, const struct stage *stage);
/* Are points of the stage in a domain, or at a node? */
bool domain_has_stage(__isl_keep isl_union_set *domain, const struct stage *stage);
bool schedule_has_stage(__isl_keep isl_schedule_node *node, const struct stage *stage);
bool schedule_has_mark_below(__isl_keep isl_schedule_node *node, enum mark_kind kind, const struct stage *stage);
/* One step down towards the instances of `stage`; NULL where there is none. */
__isl_give isl_schedule_node *schedule_down_to(__isl_take isl_schedule_node *node, const struct stage *stage);
/* Bytes of the 12 vector registers of 64 bytes in which C compilers hold a row, and of one; the lanes of a device hold
 * so many times as much. */
enum { ROW_LONGEST = 12*64, ROW_SHORTEST = 64, ROW_LANES = 4 };

/* Can the values for consecutive `dim` be computed as vectors, each lane as the statement says? */
bool expr_is_vector(const struct expr *expr, int dim, enum scalar_type type);
/* Why the row of the ROW mark at `mark` cannot stand for the cells of its target; NULL: it can. */
const char *schedule_row_problem(const struct region *region, __isl_keep isl_schedule_node *mark);
/* Can its updates run after all else below the mark, which writes nothing in memory that they read? */
bool schedule_row_can_wait(__isl_keep isl_schedule_node *mark);
/* The factor of the terms of a stage that may make them vanish, and the others that then must be finite; false: there
 * is no such factor. */
enum { MAX_FINITE = 8 };

struct zero_factor {
	const struct expr *factor;      /* a READ */
	int n_finite;
	const struct array *finite[MAX_FINITE];
	bool has_copies;                /* copies made by inspectors are factors, too */
};

/* Whether the product vanishes where this READ of it is zero. */
typedef bool zero_factor_test(const struct expr *read, const void *user);

bool expr_zero_factor(const struct expr *product, zero_factor_test *test, const void *user, struct zero_factor *factor);
/* The factor is a LOCAL value, and no copy is one. */
bool stage_zero_factor(const struct stage *stage, struct zero_factor *factor);
/* Points of a restructuring that change nothing in a group where a cell of the weights is zero
 * (ir/match/zero_weight_points.c). */
struct live_points {
	const struct restructuring *restructuring;
	const struct array *weights, *by;       /* weights[by[k]]; `by` is a copy of the restructuring */
	int n_finite;                           /* other factors, which must be finite; copies must be, too */
	const struct array *finite[MAX_FINITE];
};

bool group_live_points(const struct group *group, const struct restructuring *r, struct live_points *live);
/* Of the first restructuring that has such. */
bool module_live_points(const struct module *module, const struct group *group, struct live_points *live);
/* The copy by whose weights its points are left out, the same in all groups that do so; NULL: they are in none. */
const struct array *restructuring_live_by(const struct module *module, const struct restructuring *r);
/* Does it read what is stored by point or run of the restructuring, or where these begin? */
bool group_touches_points(const struct group *group, const struct restructuring *r);
/* Why iterations of the loop below the WARP_LOOP mark at `mark` cannot run a warp at a time; NULL: they can. */
const char *schedule_warp_loop_problem(const struct region *region, __isl_keep isl_schedule_node *mark);
/* Iterations of a loop that is written out in lanes of a device, at most: what they keep of a row is in registers. */
enum { MOST_UNROLLED = 64 };
/* Of how many values of a subscript of `array` the loop of the LOOP mark at `loop` needs to store, each in the place of
 * those that many before and after it, where all that touches the array runs below; 0: of all, or of too many. */
enum { MAX_WINDOW = 64 };
int64_t schedule_window(struct module *module, __isl_keep isl_schedule_node *loop, const struct array *array,
			int subscript);
/* Why the array of the STORAGE mark at `mark` cannot have the window that it has; NULL: it can, or has none. */
const char *schedule_window_problem(struct module *module, __isl_keep isl_schedule_node *mark);
/* Why the array of the STORAGE mark at `mark` cannot be stored as it is, window and all (ir/isl/storage_check.c); NULL:
 * it can. */
const char *schedule_storage_problem(struct module *module, __isl_keep isl_schedule_node *mark);
/* The same where what touches the array runs below `node`, the LOOP mark at `loop` is below, too, and lanes of a team
 * go through all of that together. */
int64_t schedule_team_window(struct module *module, __isl_keep isl_schedule_node *node,
			     __isl_keep isl_schedule_node *loop, const struct array *array, int subscript);
/* Of the loops below `node`, from 1 on, the first and the last one by which a team touches what it keeps of an array; 0
 * and INT_MAX where that is copied ahead of and behind them (ir/isl/lifetime.c). The last one is 0 if none does. */
struct lifetime {
	int first, last;
};

struct lifetime schedule_team_lifetime(struct module *module, __isl_keep isl_schedule_node *node,
				       const struct array *array);
bool lifetimes_meet(const struct lifetime *a, const struct lifetime *b);
/* Why the array of the TEAM_STORAGE mark at `mark` cannot share the room that it has; NULL: it can, or has none. */
const char *schedule_team_room_problem(struct module *module, __isl_keep isl_schedule_node *mark);
/* The same of the array of a TEAM_STORAGE mark, and what is kept of it in a team. */
const char *schedule_team_storage_problem(struct module *module, __isl_keep isl_schedule_node *mark);
/* Why updates below the PRIVATE mark cannot go to copies; NULL: they can. */
const char *schedule_private_problem(__isl_keep isl_schedule_node *mark);
/* A pair of instances of `deps` as text, "'Y' at k = 0, t = 1 before 'Y' at k = 4, t = 1"; NULL when empty. */
const char *dependence_sample(struct module *module, __isl_take isl_union_map *deps);
const char *schedule_text(struct module *module, __isl_keep isl_schedule *schedule);

#endif
