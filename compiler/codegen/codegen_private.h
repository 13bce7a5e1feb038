/* SPDX-License-Identifier: MIT
 *
 * What the files of this folder share: the state of printing, and one section for each file but those of abi.h. */
#ifndef PMGC_CODEGEN_PRIVATE_H
#define PMGC_CODEGEN_PRIVATE_H

#include <isl/ast.h>
#include <isl/ast_build.h>

#include "codegen/target.h"

/* ---- target.c ------------------------------------------------------------------ */

#define TARGET(id) const struct target *target_##id(void);
#include "codegen/targets.def"
#undef TARGET

/* ---- affine.c: sums of C texts ------------------------------------------------ */

/* constant + sum of factor * text. A text is a name or a call, so that it needs no parentheses. */
struct term {
	const char *text;
	int64_t factor;
};

struct affine {
	int64_t constant;
	VEC(struct term) terms;
};

/* How tightly a C expression binds, loosest first. */
enum level {
	LEVEL_SELECT, LEVEL_OR, LEVEL_AND, LEVEL_EQUAL, LEVEL_COMPARE, LEVEL_SUM, LEVEL_PRODUCT, LEVEL_UNARY,
	LEVEL_PRIMARY
};

struct text {
	const char *text;
	enum level level;
};

struct affine affine_constant(int64_t constant);
struct affine affine_name(struct arena *arena, const char *name);
/* a*x + b*y */
struct affine affine_combine(struct arena *arena, int64_t a, const struct affine *x, int64_t b,
			     const struct affine *y);
struct affine affine_scale(struct arena *arena, const struct affine *x, int64_t factor, int64_t add);
bool affine_is_constant(const struct affine *affine, int64_t *value);
/* The name that is all of the value; NULL. */
const char *affine_only_name(const struct affine *value);
bool affine_is_equal(struct arena *arena, const struct affine *a, const struct affine *b);
bool affine_is_never_negative(const struct affine *affine);     /* whatever non-negative values its names have */
struct text affine_print(struct arena *arena, const struct affine *affine);
const char *affine_plain(struct arena *arena, const struct affine *affine);
/* `left op right` with op one of == != < <= > >=, without negative terms. */
struct text affine_comparison(struct arena *arena, const struct affine *left, const char *op,
			      const struct affine *right);
const char *text_at_least(struct arena *arena, struct text text, enum level level);   /* in parentheses if looser */
const char *int_text(struct arena *arena, int64_t value);

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
/* Does `name` occur as a word in C text, outside comments? */
bool text_mentions(const char *text, const char *name);

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
	const char *large;              /* of floats that are written: the variable that says whether they are many */
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
/* The name of the list of segments of these offsets for blocks of so many. Is it an array that lives in blocks only, so
 * that none of it is stored? */
const char *layout_order(const struct layout *layout, const struct array *offsets, int lanes);
bool layout_is_hidden(const struct layout *layout, const struct array *array);
/* The lists of children of a tree: of all its nodes, or for blocks of so many trees. */
const struct children *layout_children(const struct layout *layout, const struct array *parent, int lanes);
enum scalar_type slot_type(const struct slot *slot);
bool slot_is_narrow(const struct slot *slot);   /* pmg_index_at reads it */

typedef VEC(bool) bool_list;

/* ---- emit: the state of printing -------------------------------------------------------- */

struct iterator {
	const char *id;                 /* isl's name */
	struct affine value;
};

typedef VEC(struct iterator) iterator_list;

struct binding {                        /* a bound dim whose variable is in scope */
	const struct array *array;
	struct affine subscript;
	struct affine value;
};

struct cell {                           /* a value kept in a variable: LOCAL array, accumulator of a stage */
	const void *of;
	const char *name;
	const struct stage *declared_by;/* its first assignment declares it; NULL: it is declared */
	bool is_read;
	bool is_spread;                 /* an accumulator of which several lanes have a part */
	bool has_lanes;                 /* one value for each lane of a block */
	enum reduce_op op;              /* of an accumulator */
};

struct row {                            /* cells of a stage's target that are kept in vectors */
	const struct stage *stage;
	int dim;                        /* along which they lie */
	int64_t length;
	const struct affine *block;     /* the first cell, counted from the dim's; NULL: that one */
	const char *name;
	const char *index;              /* of the present vector, in a dot product */
	const char *is_alone;           /* whether no other thread updates its cells; NULL: none ever does */
	bool is_shared;                 /* groups of lanes have shares of its sums */
	const char *added;              /* the variable that says whether a lane had anything to add; NULL: none does */
};

struct row_start {                      /* a loop that sets to zero what a row below would read */
	const struct stage *stage;
	const struct dim *dim;          /* along which the cells lie */
	isl_ast_node *node, *loop;      /* what is left out; the loop over the cells: owned */
	int indent;                     /* at which the row must stand: under no condition */
	bool is_used;
};

struct part_rows {                      /* a nest that sets what parts add to, on a device */
	const struct stage *setter;
	const struct restructuring *parts;      /* whose kernel sets the rows of one part itself; NULL: none does */
	const struct stage *adder;              /* which adds to these rows */
	int64_t length;                         /* of them */
};

struct batch {                          /* dot products of several iterations of a loop, made ahead of their use */
	const struct stage *stage;
	const char *sums, *place;       /* while they are made: the vector that is added to; else NULL */
	const struct row *block;        /* and the cells */
	const char *dots, *number;      /* where they are used */
};

struct deferral {                       /* iterations that do all but add to a long row, which they do later */
	const struct row *row;
	bool is_later;                  /* this is printed */
	const char *first, *variable;   /* of these iterations; the one that is printed */
	VEC(struct cell) values;        /* variables that the terms read, and the arrays that keep their values */
};

struct kept {                           /* what a dot product reads, in vectors that an enclosing loop does not move */
	const struct access *access;
	const char *name;
	isl_ast_node *around, *loop;    /* the enclosing loop; that over the cells: owned */
	struct row row;                 /* of the dot product */
	bool is_ahead;                  /* several iterations can make their dot products ahead */
};

struct block_rows {                     /* a copy of a few rows of a block, those that a loop is at */
	const struct array *copy;
	int loop;                       /* its number among those over rows; -1: none of them has all that is read */
	const char *begin, *end;        /* which rows are there, of all that its loop reads; how many rows there are */
	const char *n_rows, *height;    /* the variable for how many of them a window has */
	const char *rows, *lies;        /* the first of them; is that where they lie? or NULL */
	const char *fill, *ahead;       /* what brings them there; of the caller's, up to the row that is asked for, and
					 * what stands behind that; or NULL */
};

struct block_ask {                      /* rows of what the caller may hold in blocks, which loops ask for ahead */
	const struct array *copy;
	const char *far, *where;        /* as which they may be: "pmg_block_far(…)"; "pmg_block_asked_f64(16, b, …", up
					 * to the direction */
	const char *n_rows;
	const char *name;               /* of the variable for where they lie, in loops that ask; NULL: it is not read
					 * there */
};

struct ask_pair {                       /* loops over the rows of a block that share the asking, one behind the other */
	const struct mark *first, *second;
};

enum ask_share { ASKS_ALL, ASKS_MOST, ASKS_REST };      /* of the rows: no loop shares; the first loop; the second */

struct asking {                         /* the innermost loop that asks; NULL: there is none */
	const struct mark *loop, *second;       /* the one that shares; NULL: none does */
	enum ask_share share;
	const char *ahead;              /* the variable for how many rows further on it does; 0: it does not */
	int direction;                  /* in which the rows are read */
};

struct block_result {                   /* what a block has of an array that it writes where the caller has its parts */
	const struct array *copy;
	const char *place;              /* "16, x, &plan->places[4], s_block, lanes" */
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

struct carry {                          /* what a loop over rows keeps of the row before, in vectors of lanes */
	const struct array *array;
	const char *variable;           /* of the loop */
	int direction;
	struct affine index, first;     /* of the row it is at; of the row before the first one */
	const char *last, *now;         /* the vectors: of the row before, and of the row */
	bool has_first;                 /* there is a row before the first one */
	bool is_conditional;            /* it is not written in each iteration */
	bool is_used;
};

struct otherwise {                      /* what holds of a bound dim where it has not the one value of a branch */
	const struct writer *w;         /* in which the branch ends at `end`; NULL: there is none */
	size_t end;
	struct affine fact;
};

struct carried_case {                   /* a variable that may be the row before; NULL: there is none */
	const char *name;
	struct affine row;
};

struct pivot_search {                   /* the first bad pivot of a loop that the C compiler makes vectors of */
	const char *first, *variable;   /* its number; NULL: there are none. The loop's */
	const char *call;               /* what tells of it, behind the loop; NULL: there is nothing to tell */
};

struct emit {
	struct module *module;
	struct arena *arena;
	const struct layout *layout;
	const struct target *target;
	struct writer *w;
	struct names names;
	iterator_list iterators;
	VEC(struct binding) bindings;
	VEC(struct cell) locals, accumulators;
	struct cell private_copy;       /* of the stage whose updates go to it */
	const char *part;               /* the part of the PARALLEL loop that is printed: its variable; NULL */
	const char *n_parts;            /* how many there are, as a text of C */
	const char *region;             /* how many threads the region gets, as a text of C; NULL: none is printed */
	VEC(struct row) rows;
	VEC(struct kept) kept;
	struct row_start *start;        /* NULL: a row is read */
	struct part_rows *part_rows;    /* NULL: cells are set ahead */
	const struct batch *batch;      /* NULL: dot products are made where they are used */
	const struct deferral *deferral; /* NULL: iterations add to rows at once */
	const struct row *vector;       /* what is printed is a vector of this row; NULL: a scalar */
	struct pivot_search *search;    /* of the loop that is printed; NULL: pivots are told of at once */
	const char *pivot;              /* the variable that the pivot of the statement is in; NULL */
	int shared_indent;              /* of a block of C in which several of isl's nodes stand */
	bool is_chosen;                 /* what is printed is one of two values, evaluated where it is chosen only */
	fact_list facts;
	const struct mark *block;       /* BLOCK: its iterations run together here; NULL */
	/* The number in the block, the first iteration of the block, the value of the dim. */
	const char *lane, *lane_start, *lane_variable;
	const char *n_lanes;            /* how many iterations the block has */
	const char *n_turns;            /* how many threads the blocks are dealt to */
	bool in_lanes;                  /* inside a loop over the lanes */
	bool lanes_are_vectors;         /* of this type; what is in the block */
	enum scalar_type lane_type;
	isl_ast_node *block_body;
	VEC(struct cell) past;          /* of arrays: where a block is also written, past the caches, unless NULL */
	VEC(struct carry) carries;      /* of the loops around, innermost last */
	struct carried_case carried;    /* that was found last */
	struct otherwise otherwise;     /* behind the branch that was closed last */
	VEC(struct block_rows) block_rows;
	VEC(struct block_result) results;
	VEC(struct block_row) rows_at;  /* those that were looked up last, innermost last */
	const char *walked_rows;        /* `begin` of the rows whose windows a loop goes through; NULL */
	VEC(struct block_ask) asks;
	VEC(struct ask_pair) ask_pairs;
	struct asking asking, asked;    /* here; last, in this block */
	struct ragged *ragged;          /* of a block of segments; NULL */
	const struct stage *atomic;     /* updates of this stage may meet */
	bool is_specialized;            /* parameters with a known value have it */
	bool in_region;                 /* every thread is here: a parallel loop is shared, and ends in a barrier */
	const struct team *team;        /* whose loop is printed, in blocks of what threads share; NULL */
	bool *is_written;               /* by slot */
	const char *starts;             /* the variable that says whether states are set anew */
	bool guards_starts;             /* stages that write what only a start needs run only then */
	bool_list *is_dead;             /* by number of binding, in order of printing: its variable is not read */
	int n_bound;
	struct writer *kernels;         /* of a device: where its kernels are printed, ahead of what starts them */
	int n_kernels;
	struct grid *grid;              /* the kernel that is printed; NULL: what runs on the host */
	bool in_loop;                   /* what is printed is the body of an `iterate` */
	const struct mark *next_deal;   /* DEAL: its loop is yet to come; NULL */
	struct deal *deal;              /* inside its loop; NULL */
	VEC(struct stream) streams;     /* of all deals, found when a kernel is first printed */
	bool failed;
};

enum { SHORT_CELL = 4 };                /* bytes of a cell that needs no pair of a device's registers */

/* A kernel of a device. */
struct grid {
	int team;                       /* lanes */
	int group;                      /* of these lanes, those that share a row */
	int width;                      /* cells of a row that a lane has next to one another */
	int warps;                      /* of a block; 0: by the rule of the runtime */
	bool is_rolled;                 /* rows one at a time */
	bool has_deals;                 /* then a team has several groups, else one */
	bool is_broken;                 /* and cannot be printed so */
	int indent;                     /* of its loops */
	bool has_shared;                /* its PARALLEL loop is yet to come */
	bool in_lanes;                  /* each lane has iterations of its own */
	bool sums_up;                   /* it ends in a reduction of all threads */
	int64_t held, read;             /* bytes of rows and sums that a lane keeps; of the longest row that it reads */
	int cell, term;                 /* of the longest cell that it reads, and of what is computed from one */
	bool folds;                     /* lanes add up sums, which takes registers besides */
};

/* An array of which each iteration of a deal's loop reads an element: that of its number, or the one that another
 * stream's element says. */
struct stream {
	int kernel;                     /* the number of the one that reads it */
	const struct mark *deal;
	const char *array;
	int by, slot;                   /* the other stream, -1: none; of the array, -1: none */
	bool is_ahead, has_later;       /* read in the iteration before; in the one before that, as others need it */
	const char *now, *ahead, *later;        /* variables of the lane; NULL */
};

struct update {
	enum reduce_op op;
	enum scalar_type type;
	const char *target;
	struct text value;
	const char *before;             /* what lanes have that keep what is there; NULL: the target */
};

/* A loop of which each lane of a team has an iteration. */
struct deal {
	const struct mark *mark;
	const char *is_in;              /* the variable that says whether the lane has one */
	const char *variable;           /* of the loop */
	int n_iterators, n_locals;      /* those behind are of a lane */
	bool in_vectors;                /* in a loop of vectors, for one iteration in each group */
	const char *rank, *sum;         /* there: the number of the iteration that the lane takes a sum of; where the
					 * group leaves the one that it has found */
	struct update given;            /* what becomes of the sum that a lane takes; no target: there is none */
};

/* How the next loop runs: the marks above it. */
struct loop_use {
	const struct mark *mark;        /* LOOP, BIND, CHILDREN; NULL: none pending */
	const struct mark *block;       /* BLOCK; NULL */
	const char *bound;              /* BIND: the variable, once it is declared */
	const struct affine *value;     /* BIND: its value, where it is no variable; NULL */
	bool is_parallel, is_vector, is_dynamic;
	const char *turn;               /* so many iterations a thread takes in its turn; NULL: an even share at once */
	int parts;                      /* PARTS; 0 */
	int chunk;                      /* VECTOR: iterations that a thread takes at a time; 0: any */
	int64_t least;                  /* PARALLEL: operations from which threads pay; 0: in any case */
};

void emit_fail(struct emit *e, const char *format, ...) PRINTF_LIKE(2, 3);

/* ---- ast_build.c ------------------------------------------------------------------------ */

/* isl's AST of a region; NULL without groups, or when isl failed. */
__isl_give isl_ast_node *ast_of_region(struct module *module, enum region_kind kind);
/* The first instance of `stage` (or, as far as its group's dims go, of another of its group) below `node`. */
__isl_give isl_ast_expr *ast_first_instance(__isl_keep isl_ast_node *node, const struct stage *stage,
					    bool any_of_group);
__isl_give isl_ast_node_list *ast_children(__isl_keep isl_ast_node *node);
/* The mark that a node is, and what stands below it in its place; NULL: it is none. */
const struct mark *ast_mark(__isl_keep isl_ast_node *node);
const struct mark *ast_strip_mark(isl_ast_node **node);
struct stage *ast_stage(__isl_keep isl_ast_expr *instance);
/* Of each instance below a node, its stage. */
void ast_each_stage(__isl_keep isl_ast_node *node, void (*visit)(struct stage *stage, void *user), void *user);
typedef bool (*mark_predicate)(const struct mark *mark, const void *user);
/* Is there such a mark, or one of this kind, and of this stage unless NULL, at the node or below? */
bool ast_has_such_mark(__isl_keep isl_ast_node *node, mark_predicate is_such, const void *user);
bool ast_has_mark(__isl_keep isl_ast_node *node, enum mark_kind kind, const struct stage *stage);
int ast_n_args(__isl_keep isl_ast_expr *expr);

/* ---- ast_text.c: isl's expressions ---------------------------------------------------------- */

/* factor * expr + add */
struct affine affine_of_ast(struct emit *e, __isl_take isl_ast_expr *expr, int64_t factor, int64_t add);
struct text condition_of_ast(struct emit *e, __isl_take isl_ast_expr *expr);
/* Takes a condition to hold; false: facts do not say all of it. */
bool facts_of_ast(struct emit *e, __isl_take isl_ast_expr *expr);

/* ---- expr_text.c, expr_types.c: expressions of the module --------------------------------------- */

/* Where dims get their values: the arguments of an instance. */
struct point {
	const struct stage *stage;
	isl_ast_expr *instance;         /* borrowed; NULL: no dims */
};

struct affine affine_of_expr(struct emit *e, const struct point *point, const struct expr *expr);
struct affine affine_of_dim(struct emit *e, const struct point *point, int dim);
struct text c_expr(struct emit *e, const struct point *point, const struct expr *expr);
/* hi - lo of the d-th subscript of an array; the d-th extent of the part that is stored of it. */
struct affine affine_of_range(struct emit *e, const struct array *array, int d);
struct affine affine_multiply(struct emit *e, const struct affine *a, const struct affine *b);
const char *c_offset(struct emit *e, const char *name, const struct affine *index);     /* "b + s*n" */
struct affine part_extent(struct emit *e, const struct array *array, int d);
/* "Y[voxel*nTheta + t]" */
const char *c_access(struct emit *e, const struct point *point, const struct access *access);
struct affine c_index(struct emit *e, const struct point *point, const struct access *access);

struct text c_literal(struct arena *arena, const struct expr *expr);
struct text c_cast(struct arena *arena, enum scalar_type to, enum scalar_type from, struct text value);
/* The value of an operation that C computes in int, in its type again. */
struct text c_narrow(struct arena *arena, enum scalar_type type, struct text value);
const char *c_identity(struct arena *arena, enum reduce_op op, enum scalar_type type);

/* ---- loops.c: the walk ------------------------------------------------------------------------------ */

void emit_node(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use);

/* ---- scopes.c: blocks of C and what is known in them ------------------------------------------------- */

/* A block of C: names declared in it end with it. */
int block_open_at(struct emit *e, const char *emitter, const char *format, ...) PRINTF_LIKE(3, 4);
#define block_open(e, ...) block_open_at((e), EMITTER, __VA_ARGS__)
void block_close_at(struct emit *e, const char *emitter, int names);
#define block_close(e, names) block_close_at((e), EMITTER, (names))
/* From the block of an if to that of its else. */
void block_otherwise_at(struct emit *e, const char *emitter, int names);
#define block_otherwise(e, names) block_otherwise_at((e), EMITTER, (names))
/* Opens the other branch of a block that was closed last. */
int block_reopen_at(struct emit *e, const char *emitter);
#define block_reopen(e) block_reopen_at((e), EMITTER)
/* The same nodes to another writer; the names that they declare are forgotten. */
void print_elsewhere(struct emit *e, struct writer *w, __isl_keep isl_ast_node *node);
int n_true(const bool_list *list);

/* What is known and how iterators are called; names stay until their block ends. */
struct scope {
	int iterators, bindings, facts;
};

struct scope scope_enter(const struct emit *e);
void scope_leave(struct emit *e, struct scope scope);
void fact_push(struct emit *e, struct affine fact);
/* Says that isl's iterator of a `for` is `direction` times a variable. */
void iterator_push(struct emit *e, __isl_keep isl_ast_node *node, const struct affine *variable, int direction);

/* The values of the variable of a `for`, which is isl's iterator times its direction. */
struct range {
	struct affine first, last, end; /* `end` is behind `last` */
	int64_t step;
	bool is_single;                 /* only `first` */
};

struct range range_of(struct emit *e, __isl_keep isl_ast_node *node, int direction);
void range_facts(struct emit *e, const struct range *range, const struct affine *variable, int direction);

/* ---- point_below.c: an instance for what stands around it ---------------------------------------------------- */

/* An instance below `node` that has the dim of the mark; its stage need not be the mark's if the dim is common, or one
 * of sums that share a loop over children. */
struct point point_below(const struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark);
/* Are there two of which none has more iterators, and whose dims differ? */
bool point_is_unclear(const struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark);

/* ---- bound.c: dims that are read from index arrays ------------------------------------------------------- */

/* Can the variable of a BIND be declared before `node`? */
bool bind_goes_before(const struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark);
void emit_bind(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use);
/* Of the variable of a dim that is bound to a value of the array, in C: where parts of segments begin and end has room
 * for what a kernel counts beyond (runtime/restructure_parts.c), so that it is the array's; else 64 bits. */
const char *bound_type(const struct emit *e, const struct array *array);
void emit_bound_for(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use);
void emit_children_for(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use);
/* isl has found the one value that the pending dim can have below `node`, and made no loop. */
void emit_single(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use);

/* ---- ahead.c: cells that are asked for before they are needed ----------------------------------------------- */

void emit_ahead(struct emit *e, const struct mark *bind, const struct point *point);

/* ---- statements.c: what runs at one point -------------------------------------------------------------------- */

void emit_group(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark);
void emit_storage(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark);
void emit_accumulate(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark);
void emit_instance(struct emit *e, __isl_keep isl_ast_node *node);
const struct cell *cell_find(const struct cell *cells, int n, const void *of);        /* NULL: it is not among them */
/* The variable that takes what a stage adds here; NULL: its target does. */
const char *accumulator_of(const struct emit *e, const struct stage *stage);
void note_write(struct emit *e, const struct array *array);
bool is_written_below(struct emit *e, __isl_keep isl_ast_node *node, const struct array *array);
/* What a stage updates at `point`: a cell of its target, or of a copy. */
const char *c_target(struct emit *e, const struct stage *stage, const struct point *point);
/* Statement `target op= value`, and the value that it gives the target. */
void emit_update(struct emit *e, const struct update *update);
struct text update_result(struct emit *e, const struct update *update);

/* ---- blas.c: nests that are operations of the BLAS --------------------------------------------------------- */

void emit_blas(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark);

/* What the running thread has of an array: where it is, and as a variable. */
const char *part_of_thread(struct emit *e, const struct array *array);
void take_part(struct emit *e, const struct array *array);

/* ---- blocks.c: loops that run in blocks -------------------------------------------------------------------- */

void emit_block_loop(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use);
void emit_block_single(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use);
/* Where the array's values are: in the block's copy of a part, or in the array itself. */
const struct array *block_array(const struct emit *e, const struct array *array);

/* ---- lanes.c: statements for all lanes of a block ----------------------------------------------------------- */

const char *lanes_text(const struct emit *e);
/* Chooses the form of the statements in a block. */
void lanes_begin(struct emit *e, __isl_keep isl_ast_node *body);
void lanes_end(struct emit *e);
/* A variable with a value for each lane: its declaration, and what stands for it in a loop over the lanes. */
const char *lane_declaration(struct emit *e, enum scalar_type type, const char *name);
const char *lane_of(const struct emit *e, const char *name);
/* In such a loop: the type of a value, a value of no lane, the value of an expression, and an element that is read
 * (NULL: it is read as everywhere) or written. */
const char *lane_type(const struct emit *e, enum scalar_type type);
const char *lane_fill(struct emit *e, enum scalar_type type, const char *value);
struct text lane_value(struct emit *e, const struct expr *value, struct text text);
/* 1/p of pivots, which are known to be bad or not where they are divided by (runtime/pmgrt_pivot.h). */
bool lane_is_reciprocal(const struct emit *e, const struct expr *quotient);
const char *lane_read(struct emit *e, const struct point *point, const struct access *access, const char *text);
const char *lane_write(struct emit *e, const struct access *access, const char *text);
/* What lanes have in its place that keep what is there; NULL: the same. */
const char *lane_before(struct emit *e, const struct access *access, const char *text);
/* What is written in vectors, and need not be read before, is written past the caches if there is much of it: to
 * `place`, unless that is NULL. Behind what a stage has written, the same is written there. */
bool goes_past(const struct emit *e, bool is_written, bool is_read);
void declare_past(struct emit *e, const struct array *copy, const char *place);
void lane_write_past(struct emit *e, const struct stage *stage, const struct point *point);
/* Are the statements below `node`, with no loop among them, the body of a loop over the lanes? */
bool lanes_are_wanted(const struct emit *e, __isl_keep isl_ast_node *node);
void emit_lanes(struct emit *e, __isl_keep isl_ast_node *node);
int lanes_open(struct emit *e);
void lanes_close(struct emit *e, int names);

/* ---- blocks.c, block_rows.c: what a block has of arrays ------------------------------------------------------ */

/* The accesses of an array below a node, of which one is found. */
struct finding {
	const struct array *array;
	struct stage *stage;            /* NULL: there are none */
	struct access *access;
	isl_ast_expr *instance;         /* of the stage: owned */
	bool is_written;
};

struct finding find_part(__isl_keep isl_ast_node *node, const struct array *array);
/* Before a block of segments: leaves windows of rows to arrays that one loop below reads row by row. */
void rows_settle(struct emit *e, __isl_keep isl_ast_node *body);
/* Declares what reads a copy of a few rows: fills, `lies` and `n_rows` are left to the caller. */
struct block_rows *rows_declare(struct emit *e, __isl_keep isl_ast_node *body, const struct array *copy);
/* Opens a loop over windows around one over rows, whose range becomes that of a window, to be closed behind that one;
 * false: it has none. */
bool rows_walk(struct emit *e, __isl_keep isl_ast_node *body, const char *variable, struct range *range, int direction);
void rows_walk_end(struct emit *e);
/* Opens a loop over windows, too, each of which brings its rows of a result to their place when it is closed. */
void rows_put_open(struct emit *e, struct block_result *result, struct range *range, int direction);
void rows_put_close(struct emit *e, struct block_result *result, int direction);
struct affine rows_end(struct emit *e, const struct range *range, int direction);       /* behind the last row */
/* Brings the rows there that are read below, all in the iteration that the loop over rows is at. */
void rows_enter(struct emit *e, __isl_keep isl_ast_node *node);
bool rows_are_of(const struct emit *e, const struct mark *loop);        /* is it the loop over rows? */
/* An element of such a row, in a loop over the lanes; NULL: the array has all rows there. */
const char *rows_access(struct emit *e, const struct point *point, const struct access *access);

/* ---- block_asks.c: rows of blocks that are asked for ahead ---------------------------------------------------- */

int asks_row_bytes(const struct block_ask *ask);
void asks_note(struct emit *e, const struct block_ask *ask);
/* Behind all that is noted: which loops of the block share the asking. */
void asks_settle(struct emit *e, __isl_keep isl_ast_node *body);
/* Before a loop over rows, if it is one that asks, or shares what the one before asks for: declares whether and where
 * it does, here. At its head, before anything else of its body is printed: asks. All that print loops over rows of more
 * than one iteration call both. */
void asks_open(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *loop);
void asks_emit(struct emit *e, const struct mark *loop, const char *variable);
/* The variable for how many rows further on an open loop asks for one of `copy`; NULL: none does. */
const char *asks_of(const struct emit *e, const struct array *copy);

/* ---- carries.c: rows that stay in registers ------------------------------------------------------------------ */

/* A loop over rows that reads what its iteration before has written; false: it is another loop. */
bool emit_carried_loop(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use);
/* The same of a loop that is printed elsewhere, `variable` being its iterator already: what stands ahead of it, from
 * carry number e->carries.n on; its body. */
void carried_open(struct emit *e, __isl_keep isl_ast_node *body, const struct loop_use *use,
		  const struct range *range, const char *variable);
void carried_body(struct emit *e, __isl_keep isl_ast_node *body, const struct mark *loop, int first);
/* Behind the loop: of its names, those ahead of it stay, beside those that were visible. */
void carried_close(struct emit *e, int first, int visible);
/* An element that is read, if it is carried, else NULL, and if an index may make it so, e->carried has that; and one
 * that is written. */
const char *carried_read(struct emit *e, const struct point *point, const struct access *access);
/* The same of a place in a block; NULL: it is not that of the row before. */
const char *carried_row(struct emit *e, const struct array *array, const struct affine *index);
const char *carried_write(struct emit *e, const struct access *access, const char *text);
/* What is there before such a write; `text`, if it is memory that knows; NULL: it is not carried. */
const char *carried_before(struct emit *e, const struct access *access, const char *text);
/* Forgets e->carried; when a variable is the row before; takes it for that, and returns the iterators as they were. */
void carried_look(struct emit *e);
const char *carried_condition(struct emit *e, const struct carried_case *found);
iterator_list carried_enter(struct emit *e, const struct carried_case *found);

/* ---- skip.c: loops that add nothing ---------------------------------------------------------------------- */

void emit_skip(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark, struct loop_use use);
/* Adds to a condition that it holds as well where one of these is not finite, which the kernel asks its plan. */
void add_unless_finite(struct str *condition, const struct emit *e, const struct array *const *factors, int n);
/* The test that stands above what is below the mark; NULL: nothing is. */
const char *skip_condition(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark);

/* ---- deals.c: loops of which each lane of a team has an iteration --------------------------------------- */

/* Is this the loop of a pending deal? */
bool loop_is_dealt(const struct emit *e, const struct mark *loop);
/* That loop; false: it is another loop. */
bool emit_deal_loop(struct emit *e, __isl_keep isl_ast_node *node, const struct loop_use *use,
		     const struct range *range);
/* In a deal: a loop of vectors below `mark`, for one lane after the other; false: `node` is none. */
bool emit_deal_vectors(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark, struct loop_use use);
/* The element of an index array that the variable has; NULL. */
const struct binding *binding_of(const struct emit *e, const char *name);
/* What is printed next stands below a condition, or is a row beside a deal. */
void deal_breaks(struct emit *e);
/* What is printed next updates memory, where groups of a team would meet. */
void deal_breaks_at_update(struct emit *e);
void deal_breaks_beside(struct emit *e);
/* In a deal: opens a block for lanes that have an iteration; keeps the sum of a group for the lane that takes it. */
int deal_open(struct emit *e);
void emit_given_sum(struct emit *e, const struct update *update);

/* ---- pivots.c: pivots of eliminations ------------------------------------------------------------------- */

/* The variable that has the pivot that the stage computes, and has been checked; NULL: it computes none. */
const char *emit_pivot(struct emit *e, const struct stage *stage, const struct point *point);
/* Around a loop that the C compiler is to make vectors of; a clause of its pragma, or "". */
void pivots_open(struct emit *e, __isl_keep isl_ast_node *node, const char *variable, struct pivot_search *search);
const char *pivots_clause(const struct emit *e);
void pivots_close(struct emit *e, const struct pivot_search *search);
/* The eliminations whose pivots are checked: how many, and the table of them. */
int layout_n_pivots(const struct layout *layout);
void emit_pivot_table(struct writer *w, const struct layout *layout, const struct target *target);

#include "codegen/shares_private.h"

/* ---- grids.c: kernels of a device ------------------------------------------------------------------------ */

/* What is below the mark becomes a kernel, printed to e->kernels, and its start. */
void emit_grid(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark);
/* Is the loop shared by the teams of the kernel, or by the lanes of a team? */
bool loop_is_shared(const struct emit *e, const struct loop_use *use);
bool loop_is_of_lanes(const struct emit *e, const struct loop_use *use);
/* The kernel that finds out whether `until` holds, and its start behind so many iterations (0, 1). */
void emit_until(struct emit *e, const char *until, int advance);
/* What a lane has in registers: so many bytes, its share of a row of cells of so many, and that of a row which a deal
 * reads, from whose cells terms of so many are computed. */
void grid_holds(struct emit *e, int64_t bytes);
void grid_holds_row(struct emit *e, int64_t length, int cell);
void grid_reads_row(struct emit *e, int64_t length, int cell, int term);
/* Around what one lane does for its team, `names` for the end, -1 where every lane may; all lanes wait for another. */
int one_lane_open(struct emit *e);
void one_lane_close(struct emit *e, int names);
void emit_team_sync(struct emit *e);
/* Is what is accumulated below spread over several lanes or threads? */
bool accumulation_is_spread(const struct emit *e, __isl_keep isl_ast_node *node);
/* Behind the loops: `name` becomes the sum of all parts; where all threads have parts, opens a block that one of them
 * runs, and returns true. */
const char *spread_operation(enum reduce_op op);       /* the name of its class in pmgrt_cuda.h */
bool emit_spread_sum(struct emit *e, enum reduce_op op, const char *name, bool of_grid);

/* ---- nests.c: the pieces of a region ----------------------------------------------------------------- */

/* What one child of a region's tree became: the loops of a group, or of several that were fused. */
struct nest {
	enum region_kind region;
	isl_ast_node *node;             /* owned */
	group_list groups;
	bool sets_at_start, sets_other; /* what its stages write */
	bool is_commit;
	bool_list is_dead;              /* see struct emit */
	int n_lines;
};

typedef VEC(struct nest) nest_list;

/* ---- live.c: points of zero weight ------------------------------------------------------------- */

/* The calls that a function with these groups begins with. */
void emit_live_points(struct writer *w, const struct emit *e, const group_list *groups);
bool module_has_live_points(const struct module *module);
/* Does `before` write weights of which `nest` leaves out zeros? */
bool nest_waits_for(const struct module *module, const struct nest *nest, const struct nest *before);

bool nests_of_region(struct emit *e, enum region_kind kind, nest_list *nests);
void nests_free(nest_list *nests);
bool nests_are_of_one_statement(const struct nest *a, const struct nest *b);
/* Prints nests first..last-1, each below the lines of the program that it comes from. */
void emit_nests(struct emit *e, nest_list *nests, int first, int last);

/* ---- known.c: trees that are known ------------------------------------------------------------------ */

/* The table that stands for an array of the plan where the tree is the one that is known; NULL: there is none. */
const char *known_table(const struct layout *layout, const struct slot *slot);
void emit_known_tables(struct writer *w, struct layout *const *layouts, int n); /* of a pipeline's candidates */
/* Adds what must hold of the plan's arrays for those tables to be theirs. */
void add_known_conditions(const struct layout *layout, struct str *text);

/* ---- kernel.c: functions ------------------------------------------------------------------------------ */

/* The static functions that compute the pipeline; the last is `<name>_kernel`. */
bool emit_kernel(struct writer *w, const struct layout *layout, const struct target *target);

/* ---- comments.c --------------------------------------------------------------------------------------- */

void emit_source_comment(struct writer *w, struct module *module, struct span span);
void emit_title(struct writer *w, const char *text);    /* a paragraph of the head, behind an empty line */
/* Those that are not `known` (NULL: none are). */
void emit_decisions(struct writer *w, const struct module *module, const struct module *known);
const char *source_place(const struct module *module, struct span span);        /* "blur.pmg:4" */
const char *source_file(const struct module *module);                          /* "blur.pmg" */
const char *c_string(struct arena *arena, const char *text);                   /* between quotes */

#include "codegen/ragged_private.h"
#include "codegen/rows_private.h"

#endif
