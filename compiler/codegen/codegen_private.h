/* SPDX-License-Identifier: MIT
 *
 * What the files of this folder share: one section for each file but those of abi.h. */
#ifndef PMGC_CODEGEN_PRIVATE_H
#define PMGC_CODEGEN_PRIVATE_H

#include <isl/ast.h>
#include <isl/ast_build.h>

#include "codegen/c_print.h"
#include "codegen/emit.h"
#include "kernel/make.h"
#include "tune/memory_policy.h"

/* ---- target.c ------------------------------------------------------------------ */

#define TARGET(id) const struct target *target_##id(void);
#include "codegen/targets.def"
#undef TARGET

void emit_fail(struct emit *e, const char *format, ...) PRINTF_LIKE(2, 3);
/* Fails where a block was closed, or went on, that was not open. */
void check_built(struct emit *e, const struct k_builder *builder);

/* ---- followed.c: decisions of passes that code generation follows or not ------------------------------ */

void note_followed(struct emit *e, enum decision_kind kind, const char *subject, struct span span, bool is_followed);
/* Of a decision about the loop of this mark. */
void note_loop_followed(struct emit *e, enum decision_kind kind, const struct mark *loop, bool is_followed);
/* Takes back what no copy of the kernel follows. */
void tell_not_followed(const struct emit *e, const struct kernel_watch *watch);

/* ---- ast_build.c ------------------------------------------------------------------------ */

/* isl's AST of a region, which keeps it; NULL without groups, or when isl failed. What these functions return of it
 * lives as long as it does. */
isl_ast_node *ast_of_region(struct module *module, enum region_kind kind);
isl_ast_node *ast_body(__isl_keep isl_ast_node *loop);
isl_ast_node *ast_below(__isl_keep isl_ast_node *mark);
isl_ast_expr *ast_instance(__isl_keep isl_ast_node *statement);
/* What stands directly below any node, in its order. */
int ast_n_children(__isl_keep isl_ast_node *node);
isl_ast_node *ast_child(__isl_keep isl_ast_node *node, int i);
/* The first instance of `stage` (or, as far as its group's dims go, of another of its group) below `node`; NULL. */
isl_ast_expr *ast_instance_below(__isl_keep isl_ast_node *node, const struct stage *stage, bool any_of_group);
/* The mark that a node is, and what stands below it in its place; NULL: it is none. */
const struct mark *ast_mark(__isl_keep isl_ast_node *node);
const struct mark *ast_next_mark(isl_ast_node **node);
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
struct k_expr *condition_of_ast(struct emit *e, __isl_take isl_ast_expr *expr);
/* How many such names an expression has, each as often as it stands there. */
typedef bool (*name_predicate)(const struct emit *e, const char *id);
int ast_n_names(const struct emit *e, __isl_take isl_ast_expr *expr, name_predicate is_such);
/* Takes a condition to hold; false: facts do not say all of it. */
bool facts_of_ast(struct emit *e, __isl_take isl_ast_expr *expr);

/* ---- bound_offsets.c: which statements are at the value of a bound dim ---- */

typedef VEC(int64_t) distance_list;

/* Those of statements below a loop from its iterator. */
distance_list distances_below(const struct emit *e, __isl_keep isl_ast_node *node);
bool instance_is_here(const struct emit *e, __isl_keep isl_ast_expr *instance);
bool node_is_here(const struct emit *e, __isl_keep isl_ast_node *node);         /* is one below it? */

/* ---- expr_text.c, expr_types.c: expressions of the module --------------------------------------- */

/* Where dims get their values: the arguments of an instance. */
struct point {
	const struct stage *stage;
	isl_ast_expr *instance;         /* borrowed; NULL: no dims */
};

struct affine affine_of_expr(struct emit *e, const struct point *point, const struct expr *expr);
struct affine affine_of_dim(struct emit *e, const struct point *point, int dim);
/* What a chain of conversions to wider integers began with. */
const struct expr *before_widening(const struct expr *expr);
struct k_expr *c_expr(struct emit *e, const struct point *point, const struct expr *expr);
enum k_op k_op_of(enum expr_op op);     /* the operator of C; K_OP_N: a call */
/* hi - lo of the d-th subscript of an array; the d-th extent of the part that is stored of it. */
struct affine affine_of_range(struct emit *e, const struct array *array, int d);
struct affine affine_multiply(struct emit *e, const struct affine *a, const struct affine *b);
struct k_expr *c_offset(struct emit *e, const char *name, const struct affine *index);     /* "b + s*n" */
struct affine part_extent(struct emit *e, const struct array *array, int d);
/* "Y[voxel*nTheta + t]" */
struct k_expr *c_access(struct emit *e, const struct point *point, const struct access *access);
struct affine c_index(struct emit *e, const struct point *point, const struct access *access);

struct k_expr *c_literal(struct arena *arena, const struct expr *expr);
struct k_expr *c_cast(struct arena *arena, enum scalar_type to, enum scalar_type from, struct k_expr *value);
/* The value of an operation that C computes in int, in its type again. */
struct k_expr *c_narrow(struct arena *arena, enum scalar_type type, struct k_expr *value);
struct k_expr *c_identity(struct arena *arena, enum reduce_op op, enum scalar_type type);
struct k_expr *c_type(struct arena *arena, enum scalar_type type);     /* as an argument of a macro */

/* ---- loops.c: the walk ------------------------------------------------------------------------------ */

void emit_node(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use);
/* Opens a loop from `begin` to before `end`, or back. */
void open_between(struct emit *e, const char *name, struct k_expr *begin, struct k_expr *end, int direction);

/* ---- scopes.c: blocks of C and what is known in them ------------------------------------------------- */

/* A block of C that a constructor opens: block_of(e, k_begin_if(e->b, condition)). Names declared in it end with it. */
#define block_of(e, opened) ((void) (opened), (e)->names.visible.n)
void block_close_at(struct emit *e, const char *emitter, int names);
#define block_close(e, names) block_close_at((e), EMITTER, (names))
/* From the block of an if to that of its else. */
void block_otherwise_at(struct emit *e, const char *emitter, int names);
#define block_otherwise(e, names) block_otherwise_at((e), EMITTER, (names))
/* Opens the other branch of a block that was closed last. */
int block_reopen_at(struct emit *e, const char *emitter);
#define block_reopen(e) block_reopen_at((e), EMITTER)
/* What would stand here for the nodes; the names that they declare are forgotten. */
struct k_block build_elsewhere(struct emit *e, __isl_keep isl_ast_node *node);
/* What is added goes to a block of its own, at the same depth, until `elsewhere_end`, which leaves in it no declaration
 * that nothing reads: who looks at the block sees what it reads. */
struct k_block *elsewhere_begin(struct emit *e, struct k_block *block);
void elsewhere_end(struct emit *e, struct k_block *outer);
/* The block that statements are added to, and how deep it is. */
struct k_block *block_here(const struct emit *e);
int depth_here(const struct emit *e);

/* What is known and how iterators are called; names stay until their block ends. */
struct scope {
	int iterators, bindings, facts;
};

struct scope scope_enter(const struct emit *e);
void scope_leave(struct emit *e, struct scope scope);
void fact_push(struct emit *e, struct affine fact);
void fact_compare(struct emit *e, const struct affine *a, enum k_op op, const struct affine *b);        /* a op b */
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

/* ---- index_arrays.c: dims that are read from index arrays ------------------------------------------------------- */

/* Can the variable of a BIND be declared before `node`? */
bool bind_goes_before(const struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark);
void emit_bind(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use);
/* Of the variable of a dim that is bound to a value of the array, in C: where parts of segments begin and end has room
 * for what a kernel counts beyond (runtime/inspect/restructure_partition.c), so that it is the array's; else 64
 * bits. */
const char *bind_type(const struct emit *e, const struct array *array);
void emit_bind_for(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use);
void emit_children_for(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use);
/* isl has found the one value that the pending dim can have below `node`, and made no loop. */
void emit_single(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use);

/* ---- statements.c: what runs at one point -------------------------------------------------------------------- */

void emit_group(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark);
void emit_storage(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark);
void emit_accumulate(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark);
void emit_instance(struct emit *e, __isl_keep isl_ast_node *node);
const struct cell *cell_find(const struct cell *cells, int n, const void *of);        /* NULL: it is not among them */
/* The variable that takes what a stage adds here; NULL: its target does. */
struct k_expr *accumulator_of(const struct emit *e, const struct stage *stage);
void note_write(struct emit *e, const struct array *array);
bool is_written_below(struct emit *e, __isl_keep isl_ast_node *node, const struct array *array);
/* What a stage updates at `point`: a cell of its target, or of a copy. */
struct k_expr *c_target(struct emit *e, const struct stage *stage, const struct point *point);
/* Statement `target op= value`, and the value that it gives the target. */
void emit_update(struct emit *e, const struct update *update);
/* Adds or multiplies while no other update comes between; false: it is another operation. */
bool emit_atomic_store(struct emit *e, const struct update *update);
/* An update that others may meet in any order. */
void emit_atomic_update(struct emit *e, const struct update *update);
struct k_expr *update_result(struct emit *e, const struct update *update);

/* ---- blas.c: nests that are operations of the BLAS --------------------------------------------------------- */

void emit_blas(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark);

/* What the running thread has of an array: where it is, and as a variable. */
struct k_expr *part_of_thread(struct emit *e, const struct array *array);
void take_part(struct emit *e, const struct array *array);

/* ---- blocks.c: loops that run in blocks -------------------------------------------------------------------- */

void emit_block_loop(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use);
void emit_block_single(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use);
/* Where the array's values are: in the block's copy of a part, or in the array itself. */
const struct array *block_array(const struct emit *e, const struct array *array);

/* ---- block_kernels.c: kernels whose teams are blocks ---------------------------------------------------------- */

const struct array *block_kernel_array(const struct emit *e, const struct array *array);
/* Where the element of an index is, with those that are left free. */
struct affine block_kernel_index(struct emit *e, const struct array *array, struct affine index);
struct k_expr *block_kernel_lanes(struct arena *arena, const struct block_kernel *block);        /* of the host */
struct block_kernel block_kernel_of(__isl_keep isl_ast_node *node, bool is_direct);     /* before it is built */
void emit_team_storage(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark);
void open_block_lanes(struct emit *e, const struct range *range, const char *name);
/* The one iteration of a loop of the lanes that isl made none of; false: it is of another loop. */
bool emit_lane_single(struct emit *e, __isl_keep isl_ast_node *node, const struct loop_use *use);
/* Opens a loop in a lane that is written out; false: it is another one. */
bool open_block_short(struct emit *e, __isl_keep isl_ast_node *body, const struct range *range, const char *name,
		      const struct loop_use *use);
/* Opens a block, and in it the `if` whose else starts another kernel. */
void block_kernel_begin(struct emit *e, const struct block_kernel *block);
struct k_expr *block_kernel_bounds(const struct emit *e);
/* launch(plan, kernel, n, lanes, bytes, arguments) */
struct k_expr *block_kernel_launch(const struct emit *e, const char *kernel, struct k_expr *n,
				   const expr_list *arguments);

/* ---- lanes.c: statements for all lanes of a block ----------------------------------------------------------- */

struct k_expr *lanes_expr(const struct emit *e);
/* PMG_READ_F64 */
const char *vector_macro(const struct emit *e, const char *macro, enum scalar_type type);
/* Chooses the form of the statements in a block. */
void lanes_begin(struct emit *e, __isl_keep isl_ast_node *body);
void lanes_end(struct emit *e);
/* A variable with a value for each lane: its declaration, and what stands for it in a loop over the lanes. */
void lane_declare_at(struct emit *e, const char *emitter, enum scalar_type type, const char *name, bool is_zero);
#define lane_declare(e, type, name, is_zero) lane_declare_at((e), EMITTER, (type), (name), (is_zero))
struct k_expr *lane_of(const struct emit *e, const char *name);
/* In such a loop: the type of a value, a value of no lane, the value of an expression, and an element that is read
 * (NULL: it is read as everywhere) or written. */
const char *lane_type(const struct emit *e, enum scalar_type type);
struct k_expr *lane_fill(struct emit *e, enum scalar_type type, struct k_expr *value);
struct k_expr *lane_value(struct emit *e, const struct expr *value, struct k_expr *built);
/* 1/p of pivots, which are known to be bad or not where they are divided by (runtime/pmgrt_pivot.h). */
bool lane_is_reciprocal(const struct emit *e, const struct expr *quotient);
struct k_expr *lane_read(struct emit *e, const struct access *access, struct k_expr *element);
struct k_expr *lane_write(struct emit *e, const struct access *access, struct k_expr *element);
/* What lanes have in its place that keep what is there; NULL: the same. */
struct k_expr *lane_before(struct emit *e, const struct access *access, struct k_expr *element);
/* The store that was added last is of an array that lies where a result will, if it is. */
void lane_note_interim(struct emit *e, const struct array *array);
/* Are the statements below `node`, with no loop among them, the body of a loop over the lanes? */
bool lanes_are_wanted(const struct emit *e, __isl_keep isl_ast_node *node);
void emit_lanes(struct emit *e, __isl_keep isl_ast_node *node);
int lanes_open(struct emit *e);
void lanes_close(struct emit *e, int names);

/* ---- blocks.c, block_rows.c: what a block has of arrays ------------------------------------------------------ */

/* pmg_block_read_f64; &plan->places[3] of the array that a copy is of. */
const char *typed_function(const struct emit *e, const char *function, enum scalar_type type);
struct k_expr *place_in_plan(const struct emit *e, const struct array *copy);
/* The accesses of an array below a node, of which one is found. */
struct finding {
	const struct array *array;
	struct stage *stage;            /* NULL: there are none */
	struct access *access;
	isl_ast_expr *instance;         /* of the stage */
	bool is_written;
};

struct finding find_part(__isl_keep isl_ast_node *node, const struct array *array);
/* Before a block of segments: leaves windows of rows to arrays that one loop below reads row by row. */
void rows_resolve(struct emit *e, __isl_keep isl_ast_node *body);
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
struct k_expr *rows_access(struct emit *e, const struct point *point, const struct access *access);

/* ---- block_prefetch.c: prefetches of rows of blocks -------------------------------------------------------------- */

int prefetch_row_bytes(const struct block_prefetch *prefetch);
void prefetch_note(struct emit *e, const struct block_prefetch *prefetch);
/* Before a loop over rows, if it is one that prefetches, or shares what the one before prefetches: declares whether and
 * where it does, here. At its head, before anything else of its body is built: prefetches. All that build loops over
 * rows of more than one iteration call both. */
void prefetch_open(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *loop);
void prefetch_emit(struct emit *e, const struct mark *loop, const char *variable);
/* The variable for how many rows ahead an open loop prefetches one of `copy`; NULL: none does. */
const char *prefetch_distance(const struct emit *e, const struct array *copy);

/* ---- loop_carried.c: loops over rows of blocks ------------------------------------------------------------------- */

/* A loop over rows that writes an array row by row; false: it is another loop. */
bool emit_carried_loop(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use);
/* The same of a loop that is printed elsewhere, `variable` being its iterator already: what stands ahead of it, and
 * whether anything does; its body. */
bool carried_announce(struct emit *e, __isl_keep isl_ast_node *body, const struct loop_use *use,
		      const struct range *range, const char *variable);
void carried_body(struct emit *e, __isl_keep isl_ast_node *body, const struct mark *loop);

/* ---- skip.c: loops that add nothing ---------------------------------------------------------------------- */

void emit_skip(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark, struct loop_use use);
/* The condition, or that one of these is not finite, which the kernel asks its plan. */
struct k_expr *or_not_finite(const struct emit *e, struct k_expr *condition, const struct array *const *factors, int n);
/* The test that stands above what is below the mark; NULL: nothing is. */
struct k_expr *skip_condition(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark);

/* ---- warp_loops.c: warp-cooperative loops, of which each lane of a team has an iteration ----------------------- */

/* Is this the loop of the pending WARP_LOOP mark? */
bool loop_is_of_warp(const struct emit *e, const struct mark *loop);
void emit_below_warp_mark(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark,
			  struct loop_use use);
/* That loop; false: it is another loop. */
bool emit_warp_loop(struct emit *e, __isl_keep isl_ast_node *node, const struct loop_use *use,
		     const struct range *range);
/* In such a loop: a vector loop below `mark`, for one lane after the other; false: `node` is none. */
bool emit_warp_vectors(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark, struct loop_use use);
/* The element of an index array that the variable has; NULL. */
const struct binding *binding_of(const struct emit *e, const char *name);
/* What is built next stands below a condition, or updates memory, at which groups of a team would meet, or is a row
 * beside such a loop: the kernel cannot have one. */
void warp_loop_breaks(struct emit *e);
void warp_loop_breaks_at_update(struct emit *e);
void warp_loop_breaks_beside(struct emit *e);
/* In such a loop: opens a block for lanes with an iteration; an element that each lane reads for itself, once, around
 * the first-level cache; keeps the sum of a group for the lane that takes it. */
int warp_loop_open(struct emit *e);
struct k_expr *warp_loop_read(struct emit *e, const struct access *access, struct k_expr *element);
void emit_given_sum(struct emit *e, const struct update *update);

/* sparse_weights.c. What lanes do if one of them has a weight: `names` for sparse_close, or -1: the body is done
 * always. */
int sparse_open(struct emit *e, __isl_keep isl_ast_node *body);
void sparse_close(struct emit *e, int names);

/* ---- pivots.c: pivots of eliminations ------------------------------------------------------------------- */

/* The variable that has the pivot that the stage computes, and has been checked; NULL: it computes none. */
const char *emit_pivot(struct emit *e, const struct stage *stage, const struct point *point);
/* The eliminations whose pivots are checked: how many, and the table of them. */
int layout_n_pivots(const struct layout *layout);
void emit_pivot_table(struct writer *w, const struct layout *layout, const struct target *target);

#include "codegen/shares_private.h"

/* ---- grids.c: kernels of a device ------------------------------------------------------------------------ */

/* A name of the target's runtime, behind its prefix. The call, with the number of lanes of a team. */
const char *runtime_name(const struct emit *e, const char *name);
struct k_expr *of_team(struct arena *arena, struct k_expr *call);
/* Kernels that are built join others, until the end, which takes what the beginning returned; their numbers are given
 * again. */
struct emit_device kernels_begin(struct emit *e, struct k_program *others);
void kernels_end(struct emit *e, struct emit_device outer);
/* What is below the mark becomes a kernel of the device, and its launch. */
void emit_grid(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark);
/* Is the loop shared by the teams of the kernel, or by the lanes of a team? */
bool loop_is_shared(const struct emit *e, const struct loop_use *use);
bool loop_is_of_lanes(const struct emit *e, const struct loop_use *use);
/* Enters such a loop, or leaves it. */
void enter_divided(struct emit *e, bool is_shared, bool is_of_lanes, bool enters);
/* Is the loop that teams share yet to come; are we in it, and in nothing else of the kernel? Does each lane of a team
 * compute the same here? */
bool is_above_teams(const struct emit *e);
bool is_in_loop_of_teams(const struct emit *e);
bool lanes_compute_alike(const struct emit *e);
/* Opens a loop whose iterations belong to teams or lanes, also where it has one: one of them runs it. */
void open_divided(struct emit *e, const struct range *range, const char *name, const struct loop_use *use);
/* The kernel that finds out whether `until` holds, and its launch behind so many iterations (0, 1). */
void emit_until(struct emit *e, struct k_expr *until, int advance);
/* Around what one lane does for its team, `names` for the end, -1 where every lane may; all lanes wait for another. */
int one_lane_open(struct emit *e);
void one_lane_close(struct emit *e, int names);
void emit_team_sync(struct emit *e);
/* Is what is accumulated below spread over several lanes or threads? */
bool accumulation_is_spread(const struct emit *e, __isl_keep isl_ast_node *node);
/* "add", "prod", …, as functions of the device's runtime end; the class of such an operation. */
const char *device_operation(enum reduce_op op);
struct k_expr *spread_operation(const struct emit *e, enum reduce_op op);
/* Behind the loops: the variable of the cell becomes the sum of all parts; where all threads have parts, opens a block
 * that one of them runs, and returns true. */
bool emit_spread_sum(struct emit *e, const struct cell *cell, bool of_grid);

/* ---- nests.c: the pieces of a region ----------------------------------------------------------------- */

/* What one child of a region's tree became: the loops of a group, or of several that were fused. */
struct nest {
	enum region_kind region;
	isl_ast_node *node;             /* owned */
	group_list groups;
	bool sets_at_start, sets_other; /* what its stages write */
	bool is_commit;
};

typedef VEC(struct nest) nest_list;

/* ---- active_points.c: points of zero weight ------------------------------------------------------------- */

/* The calls that a function with these groups begins with. */
void emit_live_points(struct k_builder *b, const struct emit *e, const group_list *groups);
bool module_has_live_points(const struct module *module);
/* Does `before` write weights of which `nest` leaves out zeros? */
bool nest_waits_for(const struct module *module, const struct nest *nest, const struct nest *before);

bool nests_of_region(struct emit *e, enum region_kind kind, nest_list *nests);
bool nests_are_of_one_statement(const struct nest *a, const struct nest *b);
/* Does the nest behind set what this one does, so that they are one? Nothing is being built. */
bool nests_are_joined(struct emit *e, const struct nest *nest, struct nest *behind);
/* Prints nests first..last-1, each below the lines of the program that it comes from. */
void emit_nests(struct emit *e, nest_list *nests, int first, int last);

/* ---- constant_trees.c: trees that are known ------------------------------------------------------------------ */

/* The table that stands for an array of the plan where the tree is the one that is known; NULL: there is none. */
const char *constant_table(const struct layout *layout, const struct slot *slot);
void declare_constant_tables(struct k_program *program, const struct layout *layout);   /* ahead of the functions */
void emit_constant_tables(struct writer *w, struct layout *const *layouts, int n); /* of a pipeline's candidates */
/* And what must hold of the plan's arrays for those tables to be theirs. NULL: nothing has to hold. */
struct k_expr *with_constant_conditions(const struct layout *layout, struct k_expr *condition);

/* ---- kernel.c: functions ------------------------------------------------------------------------------ */

/* The static functions that compute the pipeline, lowered; the last is `<name>_kernel`. */
bool build_kernel(struct k_program *program, const struct layout *layout, const struct target *target,
		  const struct kernel_watch *watch);

/* ---- comments.c --------------------------------------------------------------------------------------- */

void add_source_comment(struct k_builder *b, struct module *module, struct span span);
void emit_title(struct writer *w, const char *text);    /* a paragraph of the head */
/* Those that are not `known` (NULL: none are). */
void emit_decisions(struct writer *w, const struct module *module, const struct module *known);
const char *source_place(const struct module *module, struct span span);        /* "blur.pmg:4" */
const char *source_file(const struct module *module);                          /* "blur.pmg" */
const char *c_string(struct arena *arena, const char *text);                   /* between quotes */

#include "codegen/variable_length_private.h"
#include "codegen/rows_private.h"

#endif
