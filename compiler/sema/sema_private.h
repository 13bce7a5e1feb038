/* SPDX-License-Identifier: MIT
 *
 * What the files of sema share.
 *
 * A pipeline is lowered in three steps. Each statement becomes one or more *drafts*: groups whose dims are
 * still unordered *slots*, so that a dim bound to an index array can be added while the expression that needs
 * it is being read. When all statements have been read, what they imply is added (starts of accumulations,
 * values of undefined outputs, commits). Then the drafts are put in an order in which everything is computed
 * before it is read, and written into the module.
 *
 * A function that finds a mistake reports it and returns NULL (or false); NULL operands give NULL silently,
 * and a name whose declaration is wrong is a symbol of kind BROKEN, whose uses are silent. */
#ifndef PMGC_SEMA_PRIVATE_H
#define PMGC_SEMA_PRIVATE_H

#include "constructs/construct.h"
#include "sema/sema.h"

struct context;
struct draft;
struct scope;
struct target;

/* ---- the state of one pipeline ---------------------------------------------------- */

struct hidden {                         /* a call of a construct and the array that holds its result */
	const struct tree_expr *call;
	struct symbol *symbol;
};

struct rename { /* of a name of the user's, inside an expansion that uses it otherwise */
	const char *from, *to;
};
typedef VEC(struct rename) rename_list;

struct unknown {                        /* a name that was reported */
	const char *name;               /* "S.row" for a member */
	struct diag *diag;
	bool is_puzzling;               /* nothing is known of what was meant, so far */
	bool is_value;                  /* it is used not only in subscripts */
	struct span definition;         /* as if it were an array; empty: there is none */
};

struct sema {
	struct arena *arena;
	struct diags *diags;
	int n_errors;                   /* when this began */
	struct module *module;
	const struct tree_file *file;
	struct scope *consts, *scope;   /* of the file, of the pipeline */
	struct scope *block;            /* of the statements being read */
	const struct tree_stmt *stmt;   /* the one being read */
	struct scope *body_scope;       /* of the loop, kept for advice */
	const struct tree_stmt *loop;
	bool in_body;                   /* the statements being read are in the loop */
	struct expr *condition; /* over params: of the branch whose construct is being expanded; or NULL */
	const char *prefix;             /* "x." while a construct is expanded into x; else "" */
	VEC(struct symbol *) symbols;   /* all of them, for what is unused */
	VEC(struct target *) targets;   /* by number of array; NULL for X.next and LOCAL arrays */
	VEC(struct draft *) drafts;
	int n_numbered;                 /* drafts so far, in the order of the text */
	struct name_table declared;     /* all names declared anywhere in the pipeline */
	VEC(const char *) accumulated;  /* targets of `reduce` */
	VEC(const struct expr *) rounded;       /* quotients of literals that are no integers */
	rename_list renames;            /* while an expansion is written */
	VEC(struct hidden) hidden;
	VEC(struct unknown *) unknown;
	struct name_table unknown_by_name;
};

/* ---- scope.c: names ------------------------------------------------------------ */

enum symbol_kind {
	SYMBOL_CONST,    /* constant */
	SYMBOL_PARAM,    /* param: size, scalar argument, loop variable */
	SYMBOL_ARRAY,    /* target */
	SYMBOL_OBJECT,   /* object */
	SYMBOL_VARIABLE, /* slot: of a range, in the draft that is being written */
	SYMBOL_ALIAS,    /* expr, read in scope: a scalar argument inside the expansion of a construct */
	SYMBOL_BROKEN    /* its declaration is wrong */
};

struct symbol {
	enum symbol_kind kind;
	const char *name;               /* "PHI.voxel" for a member */
	struct span span;
	bool is_used;
	bool is_duplicate;              /* of a name that was there before */
	const struct tree_const *constant;
	struct expr *value;             /* of a scalar constant, once asked for */
	bool is_open;                   /* its declaration, or its constant value, is being read */
	int param;
	struct target *target;
	struct object *object;
	int slot;
	const struct tree_expr *expr;
	const struct tree_stmt *stmt;   /* that declares an object */
	const struct tree_stmt *misused_in;     /* the last statement of which that was reported */
	bool is_no_index;               /* where one is needed: reported */
	struct scope *scope;
};

struct scope {
	const struct scope *up;
	bool is_expansion;              /* of a construct: may reuse the names outside of it */
	VEC(struct symbol *) symbols;   /* in their order */
	struct name_table by_name;           /* the last of each name */
};

void scope_add(struct sema *sema, struct scope *scope, struct symbol *symbol);  /* by the name that it has */
struct scope *scope_new(struct sema *sema, const struct scope *up);
/* Always returns a symbol; one that may not have this name is reported and cannot be found. */
struct symbol *scope_declare(struct sema *sema, struct scope *scope, enum symbol_kind kind, const char *name,
			     struct span span);
struct symbol *scope_find(const struct scope *scope, const char *name);
/* What a name is for, by which an unknown one is explained. */
enum name_use {
	USE_VALUE,
	USE_CONDITION,
	USE_SUBSCRIPT,  /* i of x[i] */
	USE_SUBJECT,    /* of a construct, a fact, a schedule */
	USE_ELEMENT,    /* x[i] */
	USE_TARGET,
	USE_NEXT
};

/* Marks as used; reports unknown names, each at its first use, with the nearest one. */
struct symbol *scope_resolve(struct sema *sema, const struct scope *scope, const struct tree_name *name,
			     enum name_use use);
/* When all uses have been seen: how unknown names that are near to none are declared. */
void advise_unknown(struct sema *sema);
/* Of what was asked for with the program: does the pipeline know all its names? If not, notes those that it knows,
 * and the names of its symbols that could have been meant. */
bool asked_is_meant(struct sema *sema, struct tree_asked *asked,
		    bool (*could_be)(const struct sema *sema, const struct symbol *symbol));
const char *symbol_what(const struct symbol *symbol);   /* "a parameter", "an array", … */
/* Is it news that this statement uses it as what it is not? */
bool misuse_is_news(const struct sema *sema, struct symbol *symbol);
void label_declaration(struct sema *sema, struct diag *diag, const struct symbol *symbol);
void help_members(struct sema *sema, struct diag *diag, const struct scope *scope, const char *object);

/* ---- consts.c ------------------------------------------------------------------- */

/* A const list, or a list written in place, flattened row by row. */
struct weights {
	int rank;
	int64_t extents[ARRAY_MAX_RANK];
	VEC(struct expr *) values;      /* literals */
};

struct expr *const_value(struct sema *sema, struct symbol *symbol, struct span span);
bool const_weights(const struct context *ctx, const struct tree_expr *list, struct weights *weights);
bool const_integer(struct sema *sema, const struct tree_expr *expr, const char *what, int64_t *value);
void consts_declare(struct sema *sema);

/* ---- types.c: values --------------------------------------------------------------- */

bool value_is_literal(const struct expr *value);
struct expr *value_int(struct sema *sema, int64_t integer, struct span span);
struct expr *value_bool(struct sema *sema, bool value, struct span span);
struct expr *value_float(struct sema *sema, double real, enum scalar_type type, struct span span);
struct expr *value_as(struct sema *sema, enum scalar_type type, struct expr *value);
bool value_expect_number(struct sema *sema, const struct expr *value, const char *what);
bool value_expect_bool(struct sema *sema, const struct expr *value, const char *what);
/* As the type of the array of `target`, in which it is to be stored. */
struct expr *value_store(struct sema *sema, const struct target *target, struct expr *value);
enum scalar_type value_settled_type(const struct expr *value);
struct expr *value_binary(struct sema *sema, enum expr_op op, struct expr *a, struct expr *b,
			  struct span span);
struct expr *value_unary(struct sema *sema, enum expr_op op, struct expr *a, struct span span);
struct expr *value_cast(struct sema *sema, enum scalar_type type, struct expr *a, struct span span);
struct expr *value_min_max(struct sema *sema, enum expr_op op, struct expr *a, struct expr *b,
			   struct span span);
struct expr *value_select(struct sema *sema, struct expr *condition, struct expr *a, struct expr *b,
			  struct span span);
struct expr *value_real_function(struct sema *sema, enum expr_op op, struct expr **args, int n,
				 struct span span);
struct expr *value_number_function(struct sema *sema, enum expr_op op, struct expr *a, struct span span);
struct expr *value_identity(struct sema *sema, enum reduce_op op, enum scalar_type type, struct span span);

/* ---- affine.c: extents ---------------------------------------------------------------- */

struct expr *affine_normal(struct arena *arena, const struct expr *expr);
struct expr *affine_sum(struct arena *arena, struct expr *a, struct expr *b,
			int64_t factor); /* a + factor b */
struct expr *affine_plus(struct arena *arena, struct expr *a, int64_t constant);
bool affine_equal(struct arena *arena, struct expr *a, struct expr *b);
const char *rename_find(const rename_list *renames, const char *name);
/* Of an expression over parameters, in normal form; names as the expansion being written knows them. */
const char *affine_text(const struct sema *sema, const struct expr *expr);

/* ---- draft.c, emit.c: groups while they are being written ------------------------------- */

struct slot {
	struct dim dim;                 /* its expressions number slots, not dims */
	bool is_common;                 /* a variable of the group */
	bool is_hidden;                 /* its name is made up */
	bool is_closed;                 /* of a stage that is complete: others may use the name */
};

typedef VEC(int) slot_list;

struct draft_stage {
	struct span span;
	slot_list own;                  /* its own ranges, in order */
	struct expr *guard;
	struct access write;
	enum reduce_op op;
	struct expr *value;
	bool is_init, is_commit;
};

struct draft {
	int number;                     /* in the order of writing */
	const char *name;
	struct span span;
	struct target *target;          /* of the array that it defines */
	bool in_body, is_commit;
	bool is_start;                  /* of a state */
	bool is_fill;                   /* before an accumulation, or of undefined cells */
	bool is_mutual;                 /* of several arrays, which read each other (merge.c) */
	VEC(struct slot) slots;
	VEC(struct draft_stage *) stages;
};

struct draft *draft_new(struct sema *sema, struct target *target, const char *name, struct span span);
const char *draft_fresh_name(struct sema *sema, const struct draft *draft, const char *wish);
const char *draft_variable_name(struct sema *sema, const char *wish);
const char *draft_letter(struct sema *sema, const struct draft *draft, int number);
int draft_add_slot(struct sema *sema, struct draft *draft, const struct slot *slot);
/* The slot bound to this element of an index array; `suffix` NULL, or "begin" and "end" in a range. */
int draft_bind(struct sema *sema, struct draft *draft, const struct access *source, const char *suffix);
/* The slot that is bound to this element already; -1: none. */
int draft_find_bind(const struct draft *draft, const struct access *source);
/* Sets needed[slot] for the slots that an expression or a slot depends on. */
void draft_mark(const struct draft *draft, const struct expr *expr, bool *needed);
void draft_mark_slot(const struct draft *draft, int slot, bool *needed);
/* Is it, or does it depend on, a range that is a stage's and not the group's? */
bool draft_depends_on_own(struct sema *sema, const struct draft *draft, int slot);
/* The variable of the group behind slot `last`; -1: there is none. */
int draft_next_common(const struct draft *draft, int last);
int draft_n_common(const struct draft *draft);
/* Closes the slots from `first` on that are, or depend on, ranges of a stage. */
void draft_close(struct sema *sema, struct draft *draft, int first);
struct draft_stage *draft_add_stage(struct sema *sema, struct draft *draft, struct span span);
/* The array that it defines; the last of several. */
struct array *draft_writes(const struct draft *draft);
bool draft_defines(const struct draft *draft, const struct array *array);
void draft_reads(struct draft *draft, void (*visit)(struct access *access, void *user), void *user);
void draft_emit(struct sema *sema, const struct draft *draft, enum region_kind region);

typedef VEC(struct draft *) draft_list;

/* Why definitions that read each other do not become one. */
struct merge_obstacle {
	const struct draft *alone;      /* reads itself along a variable that not all have; NULL */
	const struct draft *drafts[2];  /* whose ranges differ; NULL */
	struct dim ranges[2];           /* these, in terms of the first of the two */
};

/* Makes one draft, the first of them then, of definitions that read each other. False: there is an obstacle, or, where
 * none is named, they need each other at the same point. */
bool drafts_merge(struct sema *sema, struct draft **drafts, int n, struct merge_obstacle *obstacle);
/* cycle.c. */
void cycle_report(struct sema *sema, const draft_list *all, const struct merge_obstacle *obstacle);
/* together.c. */
int drafts_together(struct draft **drafts, int n);

/* ---- shapes.c ------------------------------------------------------------------------- */

struct shape {
	int rank;
	struct expr **lo, **hi;
};

struct shape shape_of_array(const struct array *array);
/* Of an expression in which whole arrays stand for their elements; reports what does not fit together. */
bool shape_of(const struct context *ctx, const struct tree_expr *expr, struct shape *shape);
bool shape_equal(const struct sema *sema, const struct shape *a, const struct shape *b);
const char *shape_text(const struct sema *sema, const struct shape *shape);
bool report_shapes(const struct context *ctx, struct span span, const struct shape *a, const struct shape *b,
		   const char *help);
/* The box of the common ranges of a draft. */
bool shape_of_draft(const struct sema *sema, const struct draft *draft, struct shape *shape);
bool shape_of_matmul(const struct context *ctx, const struct tree_expr *call, struct shape args[2],
		     struct shape *result);
/* Least and greatest value over all values of the slots in it; false when it has none that is affine. */
bool interval_of(const struct sema *sema, const struct draft *draft, struct expr *expr, struct expr **least,
		 struct expr **greatest);

/* ---- declare.c ------------------------------------------------------------------------ */

/* What is known of an array as the target of statements. */
struct target {
	struct symbol *symbol;
	struct array *array;
	struct array *next;             /* X.next, once something is assigned to it */
	bool in_body;                   /* declared in the loop */
	bool is_hidden;                 /* made by the lowering: no advice about it */
	bool is_excused;                /* something about it was reported: it may be undefined or unused */
	bool is_box;                    /* its domain is its box */
	struct draft *domain;           /* of a func: the group that will define it, with its variables */
	struct scope *variables;
	bool is_read;
	struct cells {
		bool is_defined;        /* something defines it (a broken definition too) */
		bool is_covered;        /* one definition gives every cell a value */
		bool is_accumulated;
		enum reduce_op op;
		struct span span;       /* of the first accumulation */
		const char **names;     /* of its subscripts there; NULL where not simple */
	} now, later;                   /* of X, of X.next */
};

struct array *array_add(struct sema *sema, const char *name, enum array_role role, enum scalar_type type,
			const struct shape *shape, struct span span);
struct symbol *array_hidden(struct sema *sema, const char *name, enum scalar_type type,
			    const struct shape *shape, struct span span);
/* A LOCAL array becomes a hidden one of this shape. */
void array_spread(struct sema *sema, struct array *array, const struct shape *shape);
const char *array_fresh_name(struct sema *sema, const char *wish);
void declare_names(struct sema *sema, const tree_stmts *stmts);
void declare_all(struct sema *sema, struct scope *scope, const tree_stmts *stmts);
struct object *object_in_expansion(struct sema *sema, const struct symbol *symbol, const char *name);
struct expr *lower_size(struct sema *sema, struct scope *scope, const struct tree_expr *expr);

/* ---- lowering of expressions: index.c, value.c, functions.c, stencil.c, reduction.c ------- */

enum purpose {
	PURPOSE_VALUE,
	PURPOSE_SUBSCRIPT,
	PURPOSE_RANGE,
	PURPOSE_CONDITION,
	PURPOSE_SIZE,
	PURPOSE_CONST,
	PURPOSE_UNTIL
};

struct point {                          /* where a whole array is read */
	int rank;
	struct expr **at;
};

struct context {
	struct sema *sema;
	struct scope *scope;
	struct draft *draft;            /* NULL: no variables, no index arrays */
	const struct point *point;      /* NULL: whole arrays cannot stand for their elements */
	struct expr *guard;             /* of the branch; NULL: true */
	enum purpose purpose;
	const char *suffix;             /* for names of bound dims, see draft_bind */
	const char *base;               /* what is being defined: helper arrays are named after it */
};

struct expr *lower_value(const struct context *ctx, const struct tree_expr *expr);
struct expr *lower_value_at(const struct context *ctx, const struct tree_expr *expr,
			    const struct point *point);
struct expr *lower_call(const struct context *ctx, const struct tree_expr *call);
struct expr *lower_stencil(const struct context *ctx, const struct tree_expr *call);
struct expr *lower_index(const struct context *ctx, const struct tree_expr *expr, enum purpose purpose);
/* Of 'assume', or of a branch of 'case'. */
struct expr *lower_condition(const struct context *ctx, const struct tree_expr *expr, bool is_assumed);
bool lower_subs(const struct context *ctx, struct symbol *symbol, const struct tree_expr *expr,
		struct expr ***subs);
void help_subscripts(const struct sema *sema, struct diag *diag, const struct array *array);
/* Declares the variable in ctx->scope; the slot, or -1. */
int lower_range(const struct context *ctx, const struct tree_range *range, bool is_common);
/* New variables i, j, … over `shape`, in ctx->draft; their slots are added to `slots`. */
struct point point_over(const struct context *ctx, const struct shape *shape, bool is_common,
			struct span span, slot_list *slots);
struct expr *read_array(const struct context *ctx, struct target *target, struct expr **subs,
			struct span span);
struct expr *read_at_point(const struct context *ctx, struct target *target, struct span span);
struct expr *guard_and(struct sema *sema, struct expr *a, struct expr *b);
struct expr *guard_not(struct sema *sema, struct expr *condition);
enum expr_op op_of_tree(enum tree_op op);

enum function_kind {
	FUNCTION_REAL, FUNCTION_NUMBER, FUNCTION_MIN_MAX, FUNCTION_SELECT, FUNCTION_STENCIL,
	FUNCTION_WHOLE,         /* dot and the like: scalars from whole arrays */
	FUNCTION_MATMUL, FUNCTION_TRANSPOSE
};

struct function {
	const char *name;
	enum function_kind kind;
	enum expr_op op;
	int min_args, max_args;
};

/* ---- foreign.c: names of other languages; each is NULL for those that are none ---- */

const char *foreign_value(const char *name);    /* what is written for True */
const char *foreign_number(const char *name);   /* the value of pi */
const char *foreign_branch(const char *name);   /* else, for the condition that ends a case elsewhere */
const char *foreign_function(const char *name); /* a sentence on what is written for it */
const char *foreign_member(const char *name);   /* the same of x.shape */
const char *foreign_call(const struct sema *sema, const struct tree_expr *call, bool is_module);

const struct function *function_find(const char *name);
int function_names(const char **names, int max);

struct expr *lower_reduction(const struct context *ctx, const struct tree_expr *reduce);
struct expr *lower_whole_reduction(const struct context *ctx, const struct tree_expr *call);
struct expr *lower_matmul(const struct context *ctx, const struct tree_expr *call);
enum reduce_op op_of_reduce(enum tree_reduce_op op);

/* ---- lowering of statements: define.c, construct_call.c, iterate.c, schedule_items.c ------ */

void lower_statements(struct sema *sema, struct scope *scope, const tree_stmts *stmts);
void lower_define(struct sema *sema, struct scope *scope, const struct tree_stmt *stmt);
void lower_accumulate(struct sema *sema, struct scope *scope, const struct tree_stmt *stmt);
void lower_func(struct sema *sema, struct scope *scope, const struct tree_stmt *stmt);
void lower_declaration(struct sema *sema, struct scope *scope, const struct tree_stmt *stmt);
/* A TEMP array `name` that holds a whole-array expression. */
struct symbol *define_hidden(struct sema *sema, struct scope *scope, const char *name,
			     const struct tree_expr *value, const struct shape *shape);
void lower_schedule(struct sema *sema, const struct tree_stmt *stmt);
/* Defines `target` by a call; false when the array must be filled from a temporary instead. */
bool construct_define(struct sema *sema, struct scope *scope, struct target *target,
		      const struct tree_expr *call);
/* The array that holds the result of a call inside an expression; NULL after an error. */
struct symbol *construct_result(const struct context *ctx, const struct tree_expr *call);

/* ---- cover.c --------------------------------------------------------------------------- */

/* The offsets whose segment `slot` runs over: off[s]..off[s + 1]; NULL for all else. */
const struct array *segments_of(const struct context *ctx, int slot);
/* Do the ranges of a definition lead to every cell of its target? */
bool subs_cover(const struct context *ctx, const struct access *write);
/* May data, or the end of the loop, leave cells of the target undefined? */
bool target_depends_on_data(struct sema *sema, const struct target *target);

/* ---- finish.c, order.c, demand.c, usage.c ---------------------------------------------------------- */

void finish_targets(struct sema *sema);
bool order_and_emit(struct sema *sema);
bool expr_mentions_loop(const struct module *module, const struct expr *expr);
/* `drafts`, n of them, are the body of the loop in order. */
void demand_conditions(struct sema *sema, struct draft *const *drafts, int n);
void check_usage(struct sema *sema);

#endif
