/* SPDX-License-Identifier: MIT
 *
 * The state of building kernels: what is known where we are, and what the marks around have asked for. Texts of C and
 * the layout of the plan come first. */
#ifndef PMGC_CODEGEN_EMIT_H
#define PMGC_CODEGEN_EMIT_H

#include <isl/ast.h>

#include "codegen/target.h"
#include "kernel/affine.h"
#include "kernel/kernel.h"

/* ---- facts.c: what is known where we are ----------------------------------------- */

typedef VEC(struct affine) fact_list;   /* each is >= 0 */

/* Is goal >= 0 wherever the facts hold? */
bool facts_imply(isl_ctx *ctx, struct arena *arena, const fact_list *facts, const struct affine *goal);

/* ---- names.c: identifiers ---------------------------------------------------------- */

/* The names that are visible where we are, innermost last. A scope is left by restoring `visible.n`. */
struct names {
	struct arena *arena;
	VEC(const char *) visible;
};

bool names_have(const struct names *names, const char *name);
const char *names_last_member(struct arena *arena, const char *base);
/* Makes of `base` an identifier that C does not reserve and that hides no other, and declares it. */
const char *names_declare(struct names *names, const char *base);

/* ---- layout.c: arrays and parameters as the ABI numbers them -------------------------- */

/* An array of the descriptor: one of the module's, or a list of children. */
struct slot {
	const struct array *array;      /* of a list of children: the parent array */
	const char *name, *c_name;
	bool is_offsets, is_list;
	bool is_of_blocks;              /* such lists for blocks of trees, which the plan measures */
	bool is_order;                  /* the segments of the array in the order of their blocks */
	int first_extent;
	int lanes;                      /* of an argument that is taken in blocks, as the caller holds it, or of the
					 * blocks of such segments; 0 */
	const char *finite;             /* of a fixed array of floats: the variable that says whether all are finite */
};

struct children {
	int parent, offsets, list;      /* slots */
	int order, lanes;               /* of blocks of so many trees (pmg_children_desc); 0: of all nodes */
};

struct layout {
	struct module *module;
	const char *prefix;             /* of the C names of its kernel and tables */
	bool has_work;                  /* there is something to choose, by the work of each candidate */
	bool all_isas;                  /* the kernel is read for each instruction set: PMG_KERNEL names functions */
	VEC(struct slot) slots;         /* the caller's first */
	int n_arguments;
	const bool *shared_arguments;   /* those whose rows are in the macro NAME_arguments; NULL: there is none */
	int n_extents;
	VEC(struct children) children;
	int *slot_of;                   /* by number of array; -1: LOCAL */
	const char **params;            /* C names, by number of param */
	int *param_number;              /* in the descriptor; of an inspected one in plan->sizes; -1: of the loop */
	int n_params, n_sizes;
	bool *is_carried;               /* by number of array: lives on from one iteration to the next */
	bool *is_of_start;              /* is carried, or computed before the loop for such arrays alone */
	bool has_checks;                /* a computed index or a pivot is checked where it is used */
	bool *is_unordered;             /* set by printing the kernel: it adds in whatever order threads come */
	struct names names;             /* the above, declared */
};

struct layout *layout_new(struct module *module, const char *prefix);
/* The parameter of this C name; -1: there is none, or `name` is NULL. */
int layout_param(const struct layout *layout, const char *name);
/* The name of the list of segments of these offsets for blocks of so many. Is it an array that lives in blocks only, so
 * that none of it is stored? */
const char *layout_order(const struct layout *layout, const struct array *offsets, int lanes);
bool layout_is_hidden(const struct layout *layout, const struct array *array);
/* The lists of children of a tree: of all its nodes, or for blocks of so many trees. */
const struct children *layout_children(const struct layout *layout, const struct array *parent, int lanes);
enum scalar_type slot_type(const struct slot *slot);
bool slot_is_narrow(const struct slot *slot);   /* pmg_index_at reads it */
bool slot_is_made(const struct slot *slot);     /* of lists and orders that the plan makes of the array */


/* ---- emit: the state of printing -------------------------------------------------------- */

struct iterator {
	const char *id;                 /* isl's name */
	struct affine value;
	bool is_distant;                /* statements at another distance from it are not here (bound_offsets.c) */
	int64_t distance;
};

typedef VEC(struct iterator) iterator_list;

struct binding {                        /* a bound dim whose variable is in scope */
	const struct array *array;
	struct affine subscript;
	struct affine value;
};

typedef VEC(struct k_expr *) expr_list;

struct cell {                           /* a value kept in a variable: LOCAL array, accumulator of a stage */
	const void *of;
	const char *name;
	struct k_expr *value;           /* what stands for it where that is no name; NULL */
	const struct stage *declared_by;/* its first assignment declares it; NULL: it is declared */
	bool is_read;
	bool is_spread;                 /* an accumulator of which several lanes have a part */
	bool has_lanes;                 /* one value for each lane of a block */
	expr_list untested;             /* any value where one of these is NaN, of which readers take note */
	enum reduce_op op;              /* of an accumulator */
};

struct row {                            /* cells of a stage's target that may be kept in vectors */
	const struct stage *stage;
	int dim;                        /* along which they lie */
	int64_t length;
	struct k_row known;             /* of the loop over them */
	bool is_atomic;                 /* other lanes may update them at once */
};

struct part_rows {                      /* a nest that sets what parts add to, on a device */
	const struct stage *setter;
	const struct restructuring *parts;      /* whose kernel sets the rows of one part itself; NULL: none does */
	const struct stage *adder;              /* which adds to these rows */
	int64_t length;                         /* of them */
};

struct block_rows {                     /* a copy of a few rows of a block, those that a loop is at */
	const struct array *copy;
	int loop;                       /* its number among those over rows; -1: none of them has all that is read */
	const char *begin, *end;        /* which rows are there, of all that its loop reads */
	const char *height, *rows;      /* variables: how many of them a window has; the first of them */
	struct k_expr *n_rows;
	struct k_expr *is_in_place;     /* is that memory of the caller? NULL: never */
	struct k_expr *fill;            /* the call that brings them there */
	struct k_expr *ahead;           /* of the caller's: its last argument, behind the row to prefetch; the call
					 * says where the first one is then. NULL */
};

struct block_prefetch {                 /* rows of what the caller may have blocked, which loops prefetch */
	const struct array *copy;
	struct k_expr *kinds;           /* as what they can be prefetched: bits, 0 of what is in the caches */
	struct k_expr *place;           /* a call that says where they are, but for the direction */
	struct k_expr *n_rows;
	const struct mark *loop;        /* the first one that reads it; NULL: none has yet */
	const char *name;               /* of the variable for that place, in a loop that prefetches; NULL: it does not
					 * prefetch these */
};

struct prefetching {                    /* the innermost loop that prefetches; NULL: there is none */
	const struct mark *loop;
	const char *distance;           /* the variable for how many rows ahead it does; 0: it does not */
	int direction;                  /* in which the rows are read */
};

struct block_result {                   /* what a block has of an array that it writes where the caller has its parts */
	const struct array *copy;
	struct k_expr *place;           /* { 16, x, &plan->places[4], s_block, lanes } */
	const char *begin, *end;        /* the window that a loop is at */
	struct affine n_rows;
	bool is_put;                    /* a loop has brought all rows there */
};

struct block_row {                      /* a row that is there, while its name is visible */
	const struct array *copy;
	struct affine row;              /* counted from the first */
	const char *name;
	int place;                      /* of the name among those that are visible */
};

struct otherwise {                      /* what holds of a bound dim where it has not the one value of a branch */
	const struct k_stmt *branch;    /* which was the last statement of its block; NULL: there is none */
	struct affine fact;
};

struct followed {                       /* a decision of a pass, by what it is about, and whether the code follows it */
	enum decision_kind kind;
	const char *subject;            /* NULL: whatever is computed there */
	struct span span;
	bool is_followed;
};

/* ---- parts of the state, each of the files that it names --------------------------------- */

/* rows.c, row_parts.c: cells of rows that may be kept in vectors. */
struct emit_rows {
	VEC(struct row) list;
	struct part_rows *of_parts;     /* NULL: cells are set ahead */
};

/* blocks.c, lanes.c: iterations that run together here. */
struct emit_block {
	const struct mark *mark;        /* BLOCK; NULL: there is none */
	const char *lane, *first;       /* the number in the block, the first iteration of the block */
	const char *variable;           /* the value of the dim */
	struct k_expr *n_lanes;         /* how many iterations the block has */
	struct k_expr *n_turns;         /* how many threads share the blocks */
	bool in_lanes;                  /* inside a loop over the lanes */
	bool has_vectors;               /* lanes are vectors, of this type; what is in the block */
	enum scalar_type type;
	isl_ast_node *body;
};

/* block_rows.c, block_prefetch.c: rows that a block has at hand, or asks for. */
struct emit_windows {
	VEC(struct block_rows) rows;
	VEC(struct block_result) results;
	VEC(struct block_row) found;    /* those that were looked up last, innermost last */
	const char *walked;             /* `begin` of the rows whose windows a loop goes through; NULL */
	VEC(struct block_prefetch) prefetches;
	struct prefetching prefetching; /* here */
};

/* statements.c, expr_text.c, scopes.c, pivots.c: as what a statement is printed. */
struct emit_statement {
	const struct stage *atomic;     /* updates of this stage may meet */
	const char *pivot;              /* the variable that the pivot of the statement is in; NULL */
	int shared_depth;               /* of a block in which several of isl's nodes stand */
	bool may_name;                  /* the statement is to come: operands may get names before it */
	bool is_chosen;                 /* what is printed is one of two values, evaluated where it is chosen only */
	struct otherwise otherwise;     /* behind the branch that was closed last */
};

/* teams.c, partitions.c, region_work.c: threads that share what is printed. */
struct emit_threads {
	const char *part;               /* the part of the PARALLEL loop that is printed: its variable; NULL */
	struct k_expr *n_parts;         /* how many there are */
	struct k_expr *n;               /* how many threads the region gets; NULL: none is built */
	bool in_region;                 /* every thread is here: a parallel loop is shared, and ends in a barrier */
	const struct team *team;        /* whose loop is printed, in blocks of what threads share; NULL */
};

/* kernel.c: the function that is printed. */
struct emit_function {
	bool is_specialized;            /* parameters with a known value have it */
	bool *is_written;               /* by slot */
	const char *starts;             /* the variable that says whether states are set anew */
	bool guards_starts;             /* stages that write what only a start needs run only then */
	bool in_loop;                   /* what is printed is the body of an `iterate` */
};

/* grids.c: kernels of a device. */
struct emit_device {
	struct k_program *kernels;      /* those that are started */
	int n_kernels;
	const struct mark *next_warp_loop; /* its loop is yet to come; NULL */
};

struct emit {
	struct module *module;
	struct arena *arena;
	const struct layout *layout;
	const struct target *target;
	struct writer *w;               /* of tables */
	struct k_builder *b;            /* of kernels */
	struct names names;
	iterator_list iterators;
	VEC(struct binding) bindings;
	VEC(struct cell) locals, accumulators;
	fact_list facts;
	struct emit_statement statement;
	struct emit_rows rows;
	struct emit_block block;
	struct emit_windows windows;
	struct variable_length *variable_length; /* of a block of segments; NULL */
	struct emit_threads threads;
	struct emit_function function;
	struct emit_device device;
	struct grid *grid;              /* the kernel that is printed; NULL: what runs on the host */
	struct warp_loop *warp_loop;    /* inside its loop; NULL */
	VEC(struct followed) followed;  /* decisions of loops that may turn out otherwise */
	bool failed;
};

/* What a kernel whose teams are blocks keeps, and what it needs to run. */
struct block_kernel {
	VEC(struct array *) kept;       /* copies that stand in the place of their owners */
	fact_list ends;                 /* of loops of the lanes, each once */
	struct k_expr *lanes;           /* the largest of these; NULL: there is none yet */
	struct k_expr *shared;          /* bytes that the lanes of a team share; NULL: none */
	int64_t own;                    /* bytes in registers */
	bool has_registers;             /* each iteration of a loop of the lanes has its lane */
	bool is_copying;                /* copies of arguments are under way */
	bool has_copies;                /* arguments go through shared memory */
	bool is_direct;                 /* they could, but do not */
};

/* A kernel of a device. */
struct grid {
	struct k_team team;
	bool has_warp_loops;            /* then a team has several groups, else one */
	bool is_broken;                 /* and cannot be printed so */
	int depth;                      /* of its loops */
	bool has_shared;                /* its PARALLEL loop is yet to come */
	bool in_lanes;                  /* each lane has iterations of its own */
	bool sums_up;                   /* it ends in a reduction of all threads */
	struct block_kernel *block;     /* NULL: its teams are warps at most */
};

/* Of a minimum or maximum of floats: which of the two is no result of such, and goes first (extremes.c). */
enum extreme_order { NEITHER_FIRST, VALUE_FIRST, TARGET_FIRST };

struct update {
	enum reduce_op op;
	enum scalar_type type;
	struct k_expr *target;
	struct k_expr *value;
	struct k_expr *before;          /* what lanes have that keep what is there; NULL: the target */
	enum extreme_order order;
};

/* A loop of which each lane of a team has an iteration. */
struct warp_loop {
	const struct mark *mark;
	const char *is_in;              /* the variable that says whether the lane has one */
	const char *variable;           /* of the loop */
	int n_iterators, n_locals;      /* those behind are of a lane */
	bool in_vectors;                /* in a loop of vectors, for one iteration in each group */
	const char *rank;               /* there: the number of the iteration that the lane takes a sum of */
	struct k_expr *sum;             /* where the group leaves the one that it has found; NULL: nowhere yet */
	struct update given;            /* what becomes of the sum that a lane takes; no target: there is none */
};

/* How the next loop runs: the marks above it. */
struct loop_use {
	const struct mark *mark;        /* LOOP, BIND, CHILDREN; NULL: none pending */
	const struct mark *block;       /* BLOCK; NULL */
	const char *bound;              /* BIND: the variable, once it is declared */
	const struct affine *value;     /* BIND: its value, where it is no variable; NULL */
	bool is_parallel, is_vector, is_dynamic;
	struct k_expr *turn;            /* so many iterations a thread takes in its turn; NULL: an even share at once */
	int parts;                      /* PARTS; 0 */
	int chunk;                      /* VECTOR: iterations that a thread takes at a time; 0: any */
	int64_t least;                  /* PARALLEL: operations from which threads pay; 0: in any case */
};

#endif
