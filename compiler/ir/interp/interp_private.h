/* SPDX-License-Identifier: MIT
 *
 * What the files of the interpreter share: a module made ready to run, with every name resolved to memory.
 *
 *     interp.c          arguments, regions, the loop; the entry
 *     bind.c            sizes, shapes and facts of what the caller binds
 *     restructure.c     what inspectors find
 *     branches.c        branches of trees
 *     chunks.c          chunks of trees
 *     compile.c         expressions to nodes, accesses to places, stages to steps
 *     cells.c           loading and storing values of every type
 *     expr.c            evaluation
 *     fine.c            evaluation in other arithmetics, what decides between branches
 *     magnitude.c       how much is behind a value, as a scale for its error
 *     pivot.c           pivots that are checked
 *     domain.c          the points of a stage, one after the other
 *     group.c           statements, groups, recurrences
 *
 * Errors and postponed points travel as `run->stop`: whoever finds one sets it and returns 0, every loop looks at it.
 * The first error stays. */
#ifndef PMGC_IR_INTERP_PRIVATE_H
#define PMGC_IR_INTERP_PRIVATE_H

#include "ir/ir.h"

enum { INTERP_MAX_DIMS = 64 };

/* Cells that the running recurrence sets are undefined at first; all others count as defined. */
enum cell_state { CELL_DEFINED, CELL_UNDEFINED, CELL_PENDING /* set by the point that runs */ };

/* Child lists of a parent array: those of node i are items[first[i + 1]] to items[first[i + 2] - 1], ascending. */
struct children {
	int64_t *first, *items;
	bool is_valid;
};

/* The memory of an array. `data` always holds the rounded value of `exact`, where there is one. */
struct slot {
	const struct array *array;
	enum scalar_type type;          /* of data; of a bound index array any integer type */
	void *data;
	int64_t n;
	int64_t lo[ARRAY_MAX_RANK], extent[ARRAY_MAX_RANK], stride[ARRAY_MAX_RANK];
	int64_t limit;                  /* of index arrays */
	long double *exact;             /* of targets of sums and products; of all floats that are computed, where the
					 * arithmetic is not WORKING */
	struct interp_weight *weight;   /* of floats that are computed, where they are asked for: magnitude.c;
					 * of sums where they are SHAKEN */
	unsigned char *states;          /* enum cell_state; NULL: no recurrence sets the array. All are defined but
					 * while it runs */
	struct children children;
};

/* Subscript dims[dim] + add, or the value of `node`. */
struct sub {
	const struct node *node;
	int dim;
	int64_t add;
};

struct place {
	struct slot *slot;
	int rank;
	struct sub subs[ARRAY_MAX_RANK];
	struct span span;
};

struct node {
	enum expr_kind kind;
	enum expr_op op;
	enum scalar_type type;
	bool has_float_args;
	int index;
	int64_t integer;
	double real;
	const struct node *args[3];
	const struct place *place;
	struct interp_decision *decision;       /* NULL: it decides nothing, or nobody asks */
	struct span span;
};

/* A dim made ready. */
struct step {
	const struct dim *dim;
	const struct node *lo, *hi;     /* RANGE */
	struct place source;            /* BIND */
	const struct node *parent;      /* CHILDREN: the node whose children come */
};

struct stage_run {
	const struct stage *stage;
	struct step *steps;
	int n_steps;
	uint64_t uses;                  /* dims whose value the stage needs */
	uint64_t place_uses;            /* those of them that say at which points it runs, and what it sets there */
	const struct node *guard, *value;
	struct place write;
	bool is_float;
};

struct group_run {
	const struct group *group;
	struct stage_run *stages;
	int n_stages;
	bool is_recurrence;             /* reads an array that it sets */
	bool *done;                     /* of a recurrence: its points that have run */
	int64_t done_capacity;
};

enum run_stop { RUN_GOES, RUN_POSTPONED, RUN_FAILED };

struct cell {
	struct slot *slot;
	int64_t offset;
};

struct run {
	const struct module *module;
	struct arena *arena;            /* of the caller: messages, magnitudes */
	struct arena *scratch;          /* freed at the end */
	int64_t *sizes;                 /* by number of param; the loop's variable too */
	double *scalars;
	struct slot *slots;             /* by number of array */
	struct group_run *groups;       /* by number of group */
	int64_t dims[INTERP_MAX_DIMS];
	const struct stage *stage;      /* whose value is computed */
	uint64_t unbound;               /* bound dims of this point that have no value */
	uint64_t unknown;               /* those of them that a recurrence has not computed yet */
	enum run_stop stop;
	struct cell needed;             /* the undefined cell that postponed a point */
	VEC(struct cell) pending;
	bool weighs;                    /* weights are asked for */
	int64_t iteration;              /* of the loop, from 1; behind it the last one */
	enum interp_arithmetic arithmetic;
	uint64_t random;
	struct interp_decisions *decisions;
	bool is_bound;                  /* sizes, arrays and facts are as they must be */
	const char *error;
};

/* ---- interp.c ---- */
void run_fail(struct run *run, struct span span, const char *format, ...) PRINTF_LIKE(3, 4);

/* ---- bind.c ---- */
void bind_params(struct run *run, const struct interp_input *input);
void bind_slots(struct run *run, const struct interp_input *input);
void bind_facts(struct run *run);
/* Memory for an array that an inspector makes, the sizes it has found being known. */
struct slot *bind_inspected(struct run *run, const struct array *array);

/* ---- restructure.c ---- */
void bind_restructurings(struct run *run);

/* ---- branches.c ---- */
void bind_branchings(struct run *run);

/* ---- chunks.c ---- */
void bind_chunkings(struct run *run);

/* ---- compile.c ---- */
const struct node *compile_expr(struct run *run, const struct expr *expr);
void compile_groups(struct run *run);

/* ---- cells.c ---- */
double slot_real(const struct slot *slot, int64_t offset);
int64_t slot_integer(const struct slot *slot, int64_t offset);
void slot_set_real(struct slot *slot, int64_t offset, double value);
void slot_set_integer(struct slot *slot, int64_t offset, int64_t value);
/* target op= value, in the type of the target; `op` is not SET. False: overflow. */
void slot_update_real(struct slot *slot, int64_t offset, enum reduce_op op, double value);
bool slot_update_integer(struct slot *slot, int64_t offset, enum reduce_op op, int64_t value);
const char *slot_cell_text(struct arena *arena, const struct slot *slot, int64_t offset); /* "x[3, 4]" */
int64_t integer_of_real(enum scalar_type type, double value);

/* ---- expr.c ---- */
int64_t eval_integer(struct run *run, const struct node *node);
double eval_real(struct run *run, const struct node *node);
/* Of one operand or two, in the type of the node. */
double operation_of_reals(const struct node *node, double a, double b);
/* The cell of a place: -1, or the number of the subscript that is out of range (`value` then). */
int place_find(struct run *run, const struct place *place, int64_t *offset, int64_t *value);
void place_report(struct run *run, const struct place *place, int sub, int64_t value);
/* False when the run has been stopped: out of range, or (reads) not defined yet. */
bool place_write_offset(struct run *run, const struct place *place, int64_t *offset);
bool place_read_offset(struct run *run, const struct place *place, int64_t *offset);

/* ---- fine.c: arithmetics but WORKING ---- */
long double eval_fine(struct run *run, const struct node *node);
/* In any arithmetic: of two floats; a cast to an integer. */
int64_t eval_comparison(struct run *run, const struct node *node);
int64_t eval_truncation(struct run *run, const struct node *node);
/* Notes what the node has decided. */
void node_decides(const struct node *node, int64_t outcome);
void slot_set_fine(struct slot *slot, int64_t offset, long double value);
void slot_update_fine(struct run *run, struct slot *slot, int64_t offset, enum reduce_op op, long double value);

/* ---- magnitude.c ---- */
struct weighed {
	double value;
	struct interp_weight weight;
};

/* The value is that of eval_real(). */
struct weighed eval_weighed(struct run *run, const struct node *node);
/* Before `target op= value`. */
void slot_weigh(const struct run *run, struct slot *slot, int64_t offset, enum reduce_op op, struct weighed by);

/* ---- pivot.c ---- */
/* Ends the run if this value of a PIVOT, which is that of run->stage, is none to divide by. */
void pivot_check(struct run *run, const struct node *node, double pivot);

/* ---- domain.c ---- */

/* AHEAD: before a recurrence is computed, forwards. */
enum walk_kind { WALK_FORWARDS, WALK_BACKWARDS, WALK_AHEAD };

/* Visits the points of steps first..last-1 below the dims before them. */
struct walk {
	struct run *run;
	const struct step *steps;
	int last;
	enum walk_kind kind;
	void (*visit)(struct walk *walk);
	void *user;
};

void walk_points(struct walk *walk, int first);
/* Says why a dim of `unbound` has no value. */
void step_report(struct run *run, const struct step *step);

/* ---- group.c ---- */
void group_execute(struct run *run, struct group_run *group);

#endif
