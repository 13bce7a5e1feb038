/* SPDX-License-Identifier: MIT
 *
 * The module: one pipeline as arrays and stages, the form that all passes work on.
 *
 * What it means
 * - A *stage* is one statement over a set of integer points. Its coordinates are its *dims*: loops over half-open
 *   ranges, nodes over the children of a tree, and *bound* dims, whose value is read from an index array at affine
 *   subscripts of earlier dims (k, voxel = PHI.voxel[k]). With them every subscript of every access is affine, so
 *   data-dependent programs are sets and relations for isl; what it cannot know about index arrays is stated as
 *   axioms (ir/isl/axioms.c). The domain holds the points whose `guard` is true.
 * - A *group* is one definition of the user. Its stages share its first `n_common` dims; for each point of these, in
 *   lexicographic order (each dim in its `direction`), they run one after the other. A LOCAL array belongs to one
 *   point of its group: written and read at that point only, stored as a scalar.
 * - Groups run one after the other in the order of their region. The prologue runs once, the body once for each
 *   value of the loop's variable (an isl parameter to it) until `until` holds, the epilogue once.
 * - `next X` writes the array X.next; stages with `is_commit` copy it to X at the end of the body. Or stages with
 *   `is_next` write X itself, each cell after all reads of its old value in the body. Or X.next `is_swapped`: the two
 *   change places at the end of the body, the same cells having next values in every iteration.
 * - A stage with an operator other than SET updates its target; updates of one array by one operator commute and
 *   associate (floating-point sums may be reassociated), everything else is computed as written.
 * - Integers in subscripts, ranges and guards are 64-bit; `/` floors and `%` takes the sign of the divisor.
 * - Arrays of different arguments never overlap. A cell is defined once, but for accumulations and commits.
 * - Empty ranges are valid; parameters are non-negative.
 *
 * Relations are written as isl writes them, with D the dims of stage S: domain [params] -> { S[D] : … },
 * access [params] -> { S[D] -> A[subscripts] }. */
#ifndef PMGC_IR_MODULE_H
#define PMGC_IR_MODULE_H

#include <isl/ast.h>
#include <isl/ctx.h>
#include <isl/schedule.h>
#include <isl/union_map.h>

#include "support/support.h"

struct array;
struct group;
struct module;

/* ---- Expressions ---------------------------------------------------------- */

enum expr_kind {
#define EXPR(id, text) EXPR_##id,
#include "ir/core/expr.def"
#undef EXPR
	EXPR_N
};

enum expr_op {
#define OP(id, text, c_text, arity, precedence) OP_##id,
#include "ir/core/ops.def"
#undef OP
	OP_N
};

/* Read or write of `array` at `subs`, each an affine expression (see expr_is_affine) over the stage's dims. */
struct access {
	struct array *array;
	struct expr **subs;             /* array->rank of them; for a LOCAL array none */
	struct span span;
};

struct expr {
	enum expr_kind kind;
	enum scalar_type type;
	struct span span;
	int64_t integer;                /* INT, BOOL */
	double real;                    /* FLOAT */
	int index;                      /* DIM: number of the dim in its stage; PARAM: of the module's params */
	enum expr_op op;                /* OP */
	struct access access;           /* READ */
	struct expr **args;             /* OP: arity of them; CAST: one */
};

/* ---- Arrays ---------------------------------------------------------------- */

enum array_role {
	ROLE_IN, ROLE_OUT, ROLE_INOUT,  /* the caller's */
	ROLE_STATE, ROLE_NEXT,          /* a state, and what `next` writes (`owner` is the state or inout array) */
	ROLE_TEMP,                      /* temp and func */
	ROLE_PRIVATE,                   /* copies of `owner`: of the range of the first subscript, 0..1: one per thread;
					 * 0..n: one for each of n parts of the loop */
	ROLE_BLOCK,                     /* what `owner` holds for a block of iterations: its subscripts but the folded
					 * ones, and the lanes of the block */
	ROLE_INSPECTED,                 /* made by the inspector of a restructuring when the plan is made */
	ROLE_LOCAL                      /* one value per point of `group` */
};

/* How a plan keeps values. Those of type f64: as they are, rounded to f32, or as the upper half of their bits, rounded
 * (20 bits behind the point, all of the exponent); kernels compute in f64. NARROW: an inspected index in 16 bits, where
 * the sizes of the plan say that all its values fit. */
enum storage {
#define STORAGE(id, text, abi_name) STORAGE_##id,
#include "ir/core/storage.def"
#undef STORAGE
	STORAGE_N
};

/* Facts about the values of an index array: checked when bound, or, of a computed one, when used. */
enum {
	FACT_INDEX = 1,                 /* 0 <= v < limit */
	FACT_OFFSETS = 2,               /* v[0] = 0, non-decreasing, last is limit */
	FACT_SORTED = 4,
	FACT_UNIQUE = 8,
	FACT_TREE = 16                  /* -1 <= v[i] < i; with `segments` the caller's values are local to each */
};

/* What is stored of an array. */
struct stored {
	unsigned folded;                /* of TEMP and BLOCK: bit i: subscript i has one value below the mark
					 * STORAGE, and is not stored */
	int64_t window;                 /* of TEMP: so many values of the subscript `windowed` are stored, each in the
					 * place of those that many before and after it; 0: all are. Of BLOCK: of what
					 * its owner holds, so many are copied at a time */
	int windowed;
	int lanes;                      /* of a folded array below a BLOCK: how many values stand in the place of one,
					 * next to each other; 0 elsewhere */
	bool is_per_thread;             /* each thread has one of its own */
	bool is_prefetched;             /* of BLOCK, of an argument: the first loop over rows that reads it prefetches
					 * it, where it is memory-resident */
	struct array *stands_in;        /* of TEMP in a block: the BLOCK in whose cells its values are until those of
					 * the block are made; NULL: in its own */
};

/* What a team of a device keeps of a TEMP, or of an argument, below its TEAM_STORAGE mark, in place of the array. */
struct team_storage {
	bool is_shared;                 /* in memory that its lanes share; else in registers of a lane */
	unsigned folded;                /* as in struct stored */
	int64_t window;                 /* as in struct stored */
	int windowed;
	int64_t row;                    /* of an argument: behind each so many elements one is free; 0: it is none */
	int room;                       /* memory that arrays of this number have in turn; 0: not yet known */
};

/* A fixed tree that is known when it is compiled, for which there is a kernel of its own. */
struct known_tree {
	const int64_t *parents;         /* n of them; NULL: none are known */
	int64_t n;
};

struct array {
	const char *name;               /* "PHI.voxel" */
	const char *c_name;             /* "PHI_voxel", unique in the module */
	struct span span;               /* of the declaration */
	enum array_role role;
	enum scalar_type type;
	bool is_fixed;
	enum storage storage;           /* F64 of what is neither an f64 input, nor a copy of one, nor narrow */
	enum scalar_type sums;          /* as which its cells may be kept while they are added to: its type, or f32 */
	int number;                     /* in module->arrays */
	int rank;
	struct expr **lo, **hi;         /* box of subscripts: lo <= i < hi, affine in params; lo is 0 but for func */
	unsigned facts;
	struct expr *limit;             /* of INDEX and OFFSETS */
	struct array *row_of;           /* of INSPECTED: its values are stored as offsets of rows of this array; NULL:
					 * as they are */
	bool is_proved;                 /* of TEMP: the facts hold by construction, and are not checked */
	struct known_tree known;        /* of a tree */
	struct array *segments;
	struct array *owner;            /* NEXT, PRIVATE, BLOCK */
	struct array *stands_for;       /* of TEMP: the array of the program whose values it holds in another order */
	bool is_swapped;                /* of NEXT: changes places with its owner at the end of the body */
	bool is_kept;                   /* such a one that starts the loop as a copy: some cells have no next value */
	struct stored stored;
	const struct team_storage *in_team;     /* NULL: all of it is in memory */
	struct group *group;            /* LOCAL */
};

/* ---- Stages ---------------------------------------------------------------- */

enum dim_kind {
	DIM_RANGE,                      /* lo <= d < hi */
	DIM_BIND,                       /* d = source.array[source.subs] */
	DIM_CHILDREN                    /* source.array[d] = source.subs[0]: d is a child of that node */
};

struct dim {
	enum dim_kind kind;
	const char *name;
	struct span span;
	struct expr *lo, *hi;           /* RANGE: affine in params and earlier dims */
	bool is_short;                  /* RANGE: has a few iterations, too few for vectors */
	struct access source;           /* BIND, CHILDREN: subs affine in params and earlier dims */
};
typedef VEC(struct dim) dim_list;

enum reduce_op {
#define REDUCE(id, text, identity) REDUCE_##id,
#include "ir/core/reduce.def"
#undef REDUCE
	REDUCE_N
};

struct stage {
	int number;                     /* in module->stages */
	const char *name;               /* "S3": the tuple name of its isl space */
	struct span span;               /* of the statement in the .pmg file */
	struct group *group;
	dim_list dims;                      /* the first group->n_common are the group's */
	struct expr *guard;             /* affine condition over dims and params; NULL: true */
	struct access write;
	enum reduce_op op;              /* SET: write = value; else write op= value */
	struct expr *value;
	bool is_init;                   /* sets the value an accumulation starts at (a number only if it is the
					 * identity of its operator), or fills an `out` */
	bool is_commit;
	bool is_next;                   /* sets next values of a state in the state itself */
	/* isl values, made by module_analyse, freed by module_free. */
	isl_set *domain;                /* { S[D] } */
};
typedef VEC(struct stage *) stage_list;

struct group {
	int number;                     /* in module->groups */
	const char *name;               /* what it defines, for dumps and comments: "Y", "next x" */
	struct span span;
	int n_common;
	stage_list stages;
	bool is_recurrence;             /* a stage reads what the group writes at another point */
	int *direction;                 /* +1 or -1 for each common dim; +1 unless a recurrence asks otherwise */
	bool is_live;                   /* points that change nothing may be left out (ir/match/zero_weight_points.c) */
	bool has_sparse_weights;        /* few points change anything, other ones each time: a look tells which */
	bool is_apart;                  /* moves an array to another layout: no loop of it is shared unasked */
	bool is_in_memory;              /* what one point leaves for the next one is not kept in registers */
	bool is_by_rows;                /* adds up what was written down columns, in rows that may be short */
	int n_fused;                    /* its loops over this many dims are those of the group before it */
	int64_t *shift;                 /* for each common dim, by how many iterations of a loop that groups share it
					 * runs later than its dim says; NULL: 0 */
};
typedef VEC(struct group *) group_list;

/* Of shorter rows, sums by rows take longer than column by column. */
enum { SUM_LEAST_ROW = 8 };

/* ---- Regions: what runs when ------------------------------------------------ */

enum region_kind { REGION_PROLOGUE, REGION_BODY, REGION_EPILOGUE, REGION_N };

struct region {
	group_list groups;                  /* in an order in which everything is computed before it is read */
	/* Dependences between instances of the region's stages, S[D] -> T[E] where S must run before T; those of
	 * `reduction` are between updates of one accumulation, which may be swapped but not run at once. */
	isl_union_map *strict, *reduction;
	isl_schedule *schedule;         /* the only thing the code generator reads (ir/schedule.h) */
	isl_ast_node *loops;            /* of the schedule that the passes left, once made */
};

struct loop {                           /* `iterate var in lo..hi until until` */
	const char *var;                /* an isl parameter to the body; NULL: the pipeline has no loop */
	struct span span;
	int param;                      /* its number in module->params, is_loop there */
	struct expr *lo, *hi, *until;   /* until: reads states, inputs and params; NULL: never */
};

/* How a size follows from others. */
enum derivation {
	DERIVATION_NONE,
#define DERIVATION(id, text, c_text) DERIVATION_##id,
#include "ir/core/derivation.def"
#undef DERIVATION
	DERIVATION_N
};

struct param {
	const char *name;
	struct span span;
	bool is_scalar;                 /* a float argument of each execution; else a size */
	bool is_loop;                   /* the variable of the loop */
	bool is_inspected;              /* found by an inspector, not an argument */
	enum scalar_type type;          /* of a scalar */
	bool is_specialized;            /* `value` is known at compile time */
	int64_t value;
	struct span specialized;        /* where the program says so */
	enum derivation derivation;     /* else than NONE: a function of sizes, not an argument */
	struct expr *of;                /* its first argument, affine in params before it; of an inspected one: what it
					 * is at most, by which memory is allocated; NULL: nothing is that depends
					 * on it */
	int64_t limit;                  /* its second one, at least 1 */
};

/* ---- Restructurings -------------------------------------------------------------- */

/* The points 0..n of a loop, at which fixed index arrays are read, in another order: sorted (stably) by the values of
 * `keys`, the first the most significant. Points of one value of keys[0] form a segment, those that agree in all keys
 * a run. A pass replaces the loop over k by loops over (segment, k), (segment, run, k) or (chunk, segment, …), which
 * visit the same points: that is the inspector's part of the proof (runtime/inspect/restructure.c); what the order
 * means for dependences is stated as facts of the arrays it makes. All these have role INSPECTED. */
struct restructuring {
	const char *name;               /* of the object, or of the group: "PHI" */
	struct span span;
	struct expr *n;                 /* points: affine in params */
	VEC(struct array *) keys;
	/* Where the values of keys[0] are in space: [limit, 2 or 3]. Segments follow one another on a curve, the s-th
	 * is that of value order[s], a permutation (NULL: no loop runs over segments). NULL: it is of value s. */
	struct array *coordinates, *order;
	struct array *segments;         /* offsets by segment into the runs; where there are none, points */
	struct array *runs;             /* offsets by run, into the points; NULL */
	struct array *chunks;           /* offsets by chunk, of about equally many points, into the segments; NULL */
	bool is_by_threads;             /* one chunk for each thread, else many more */
	/* Of parts of segments: the value of keys[0], equal ones next to one another, the first point, that behind the
	 * last one; NULL. */
	struct array *part_values, *part_begins, *part_ends;
	int n_runs, n_chunks, n_parts;  /* numbers of inspected params; -1 */
	VEC(struct inspected_copy) copies;
	VEC(struct renumbering) renumberings;
};

/* to[k'] = from[k] for the k that k' was; of a run, its first point. NULL `from`: k itself. */
struct inspected_copy {
	struct array *from, *to;
	bool is_per_run;
};

/* Copies of `mode` hold new numbers: by first use in the new order. order[new] = old, a permutation. */
struct renumbering {
	struct array *mode, *order;
};

/* ---- Branches of trees ------------------------------------------------------------ */

/* The nodes 0..n of a tree in branches, runs of nodes each of which is the parent of the next one, and the branches in
 * levels: what hangs on a branch is of a lower level. So branches of one level need nothing of each other, neither from
 * their nodes' children nor from their parents (ir/isl/axioms.c). Branches are numbered level by level, the leaves'
 * first. The arrays have the role TEMP; whoever binds the tree fills them (runtime/inspect/branches.c). */
struct branching {
	struct span span;
	struct array *tree;
	struct array *depth;            /* [1]: the number of levels */
	struct array *levels;           /* [n + 1]: level l has the branches levels[l]..levels[l + 1] */
	struct array *begins, *ends;    /* [n]: branch b has the nodes begins[b]..ends[b] */
};

/* The nodes 0..n of a tree in chunks: runs of at most `rows` nodes, of which each but the last has one child, the next
 * one. So a chunk hangs on the last node of another one, before it. What hangs on one chunk is a list, by first child
 * and next sibling; a chunk's turn comes after those of its child and its sibling. The chunk behind the last one stands
 * for none: its turn is 0, the first one. The arrays have the role TEMP; whoever binds the tree fills them
 * (runtime/inspect/chunks.c). */
struct chunking {
	struct span span;
	struct array *tree;
	int64_t rows;
	int n_chunks, n_turns;          /* numbers of inspected params; none has a turn at or behind n_turns */
	struct array *offsets;          /* [n_chunks + 1]: chunk c has the nodes offsets[c]..offsets[c + 1] */
	struct array *above, *child, *sibling, *turn;   /* [n_chunks + 1] */
	/* Chunks by their turns: [n_chunks], and [n_turns + 1], where each turn begins in it; NULL: nothing reads
	 * them. */
	struct array *order, *turns;
};

/* ---- Decisions and overrides -------------------------------------------------- */

enum decision_kind {
#define DECISION(id, pass, chosen, alternatives) DECISION_##id,
#include "ir/core/decisions.def"
#undef DECISION
	DECISION_N
};

/* What a pass chose, for --explain, the head of generated code and the tests. */
struct decision {
	enum decision_kind kind;
	const char *pass, *subject, *chosen, *alternatives, *reason;
	struct span span;
	const struct dim *loop;         /* of a stage: the decision says how the loop over it runs; NULL: of no loop */
	bool is_of_lowering;            /* of its kernels; `pass` is the name of the lowering */
};

enum verb {
#define VERB(id, text) VERB_##id,
#include "ir/core/verbs.def"
#undef VERB
	VERB_N
};

enum item_choice {
	CHOICE_ABSENT,                  /* a bare list */
	CHOICE_NAME,                    /* no word of the language: a mode, or what is no choice at all */
#define CHOICE(id, text) CHOICE_##id,
#define STORAGE(id, text, abi_name) CHOICE_##id,
#include "ir/core/choices.def"
#include "ir/core/storage.def"
#undef STORAGE
#undef CHOICE
	CHOICE_N
};

/* An item of the schedule block or its flag: `restructure PHI by hybrid(voxel, atom)`. */
struct override {
	enum verb verb;
	VEC(const char *) subjects;     /* names of arrays, or of objects ("PHI") */
	enum item_choice choice;
	const char *name;               /* CHOICE_NAME: "voxel" */
	VEC(const char *) words;        /* {"voxel", "atom"} */
	VEC(int64_t) numbers;           /* {32, 256}; of block = 8: {8} */
	struct span span;
	bool is_asked;                  /* with the program, by --with: no part of its schedule block */
	bool is_used;                   /* a pass has honoured it */
};

/* Names of arrays that there are or were. */
struct array_names {
	struct name_table names, c_names;
};

/* How a candidate is decided: as a schedule block or a flag would say it, as part of a C name, and why. */
struct candidate_choice {
	const char *items, *name, *reason;
};

struct module_texts {
	const char *before_order;       /* what the dependences were computed of (module_draft) */
	struct name_table lines;        /* of schedules: as isl prints them -> as the module format does */
};

struct module {
	const char *name;               /* of the pipeline */
	const char *source_name;        /* of the file */
	struct span span;
	struct arena *arena;
	struct diags *diags;
	isl_ctx *ctx;
	VEC(struct param) params;
	VEC(struct expr *) assumptions; /* affine conditions over params */
	VEC(struct array *) arrays;
	struct array_names taken;
	group_list groups;             /* of all regions, by number */
	stage_list stages;             /* of all groups, by number */
	struct region regions[REGION_N];
	struct loop loop;
	VEC(struct restructuring) restructurings;
	VEC(struct branching) branchings;
	VEC(struct chunking) chunkings;
	VEC(struct override) overrides;
	VEC(struct decision) decisions;
	VEC(struct module *) candidates;        /* the same pipeline decided otherwise */
	struct candidate_choice choice;         /* of such a one; {}: of another */
	const struct module *original;  /* whose candidate it is; NULL: nobody's */
	struct module_texts texts;
	isl_set *context;               /* [params] -> { : … } */
	struct span given_up;           /* the first statement that isl gave up on, in this pass; {}: it is not known */
};

/* ---- module.c: building and freeing -------------------------------------------- */

struct module *module_new(struct arena *arena, struct diags *diags, isl_ctx *ctx, const char *name, struct span span);
void module_free(struct module *module);        /* the isl values; the nodes are the arena's */

int module_add_param(struct module *module, const char *name, struct span span);
/* `rank` boxes with lo = 0 and hi unset (NULL) are allocated. */
struct array *module_add_array(struct module *module, const char *name, enum array_role role, enum scalar_type type,
			       int rank, struct span span);
struct group *module_add_group(struct module *module, enum region_kind region, const char *name, struct span span);
void region_move_last(struct region *region, int to);   /* its last group */
int region_place_of(const struct region *region, const struct group *group);    /* which of its groups that is */
/* A stage whose dims start as a copy of `common` (the group's dims); the group's n_common is set from the first. */
struct stage *module_add_stage(struct module *module, struct group *group, const dim_list *common, struct span span);
struct array *module_find_array(const struct module *module, const char *name);
/* Keywords, macros and functions of C that generated code needs. */
bool name_is_reserved_in_c(const char *name);
/* The name, changed where it is reserved or begins like those of the runtime or of a family of macros. */
const char *name_not_reserved_in_c(struct arena *arena, const char *name);

/* ---- decisions.c ------------------------------------------------------------------ */

/* The decision, until the next one is taken. */
struct decision *module_decide(struct module *module, enum decision_kind kind, const char *subject, struct span span,
			       const char *reason, ...) PRINTF_LIKE(5, 6);
/* The same with what the row of decisions.def leaves open (NULL: nothing). */
void module_decide_that(struct module *module, enum decision_kind kind, const char *subject, const char *chosen,
			const char *alternatives, struct span span, const char *reason, ...) PRINTF_LIKE(7, 8);
/* Forgets decisions of this kind on what is named (NULL: on anything), at this place. */
void module_take_back(struct module *module, enum decision_kind kind, const char *subject, struct span span);
/* The first decision of this kind on what is named (NULL: on anything); NULL. */
const struct decision *module_find_decision(const struct module *module, enum decision_kind kind,
					    const char *subject);
/* The kind of a decision whose texts are known; false: no pass takes it. */
bool decision_set_kind(struct decision *decision);
/* Do they say the same of the same place? */
bool decision_equal(const struct decision *a, const struct decision *b);

/* ---- items.c ---------------------------------------------------------------------- */

const char *verb_name(enum verb verb);
enum verb verb_of_name(const char *name);               /* VERB_N: there is none of that name */
const char *item_choice_word(enum item_choice choice);
enum item_choice item_choice_of_word(const char *word); /* CHOICE_NAME: it is none */
enum storage item_choice_storage(enum item_choice choice);      /* STORAGE_N: it is none */
void override_choose(struct override *override, const char *word);
const char *override_choice(const struct override *override);   /* "hybrid", "voxel"; "" for a bare list */
/* The first item of this verb that names `first` or `second` (which may be NULL); NULL. */
struct override *module_find_override(const struct module *module, enum verb verb, const char *first,
				      const char *second);
/* Is an array, or the object that it is of, among the subjects? */
bool override_names(const struct override *override, const struct array *array);

/* ---- storage.c ------------------------------------------------------------------- */

const char *storage_name(enum storage storage);
const char *storage_abi_name(enum storage storage);
/* STORAGE_N: there is none of that name. */
enum storage storage_from_name(const char *name);
/* Takes the items `precision` and `accumulate` of the schedule: they change values, so that they come before everything
 * else. False after a diagnostic. */
bool module_set_storage(struct module *module);
/* By number of an array: are its values, or what they are computed from, computed or added up in single precision? */
bool *module_singles(struct module *module);

/* ---- expr.c ---------------------------------------------------------------------- */

struct expr *expr_int(struct arena *arena, int64_t value, struct span span);          /* type I64 */
struct expr *expr_float(struct arena *arena, double value, enum scalar_type type, struct span span);
struct expr *expr_dim(struct arena *arena, int dim, struct span span);
struct expr *expr_param(struct arena *arena, const struct module *module, int param, struct span span);
struct expr *expr_read(struct arena *arena, struct array *array, struct expr **subs, struct span span);
struct expr *expr_unary(struct arena *arena, enum expr_op op, enum scalar_type type, struct expr *arg);
struct expr *expr_binary(struct arena *arena, enum expr_op op, enum scalar_type type, struct expr *a, struct expr *b);
struct expr *expr_call(struct arena *arena, enum expr_op op, enum scalar_type type, struct expr **args,
		       struct span span);
struct expr *expr_cast(struct arena *arena, enum scalar_type type, struct expr *arg);
/* A cast where the type is another one. */
struct expr *expr_as(struct arena *arena, enum scalar_type type, struct expr *arg);

bool expr_equal(const struct expr *a, const struct expr *b);
bool access_equal(const struct access *a, const struct access *b);
/* The same values, whatever the names of the two. */
bool dim_equal(const struct dim *a, const struct dim *b);
/* steps.c: what a step along the dim costs: 0, 1 or STEP_FAR. One to the next place costs STEP_SCALAR in a loop of
 * fewer than STEP_SHORT iterations, which has no vectors; an update of a cell in memory costs STEP_ACCUMULATOR more. */
enum { STEP_ACCUMULATOR = 2, STEP_SCALAR = 3, STEP_FAR = 8, STEP_SHORT = 16 };
int access_step(const struct stage *stage, const struct access *access, int dim);
bool dim_uses_dim(const struct dim *dim, int other);        /* in its bounds, or in what it is read from */
bool dim_is_fixed(const struct dim *dim);               /* a range whose bounds no other dim moves */
/* A range between what expr_is_known. */
bool dim_has_known_length(const struct module *module, const struct dim *dim, int64_t *length);
/* Integer, over INT, PARAM, DIM with + - * (one side constant), / and % by positive constants, min, max. */
bool expr_is_affine(const struct expr *expr);
/* Comparisons of affine expressions under and, or, not; BOOL constants. */
bool expr_is_affine_condition(const struct expr *expr);
bool expr_is_constant(const struct expr *expr, int64_t *value);
/* Are both constants? Then n = hi - lo. */
bool range_is_constant(const struct expr *lo, const struct expr *hi, int64_t *n);
/* A constant, or a specialised size. */
bool expr_is_known(const struct module *module, const struct expr *expr, int64_t *value);
bool expr_is_zero(const struct expr *expr);
/* dim + constant */
bool expr_is_shifted_dim(const struct expr *expr, int *dim, int64_t *offset);
/* Copies in which dim d is replaced by `dims[d]` (NULL: kept). */
struct expr *expr_substitute(struct arena *arena, struct expr *expr, struct expr *const *dims);
struct access access_substitute(struct arena *arena, const struct access *access, struct expr *const *dims);
struct dim dim_substitute(struct arena *arena, const struct dim *dim, struct expr *const *dims);
/* Calls `visit` for each READ in `expr`, in order of evaluation. */
void expr_reads(struct expr *expr, void (*visit)(struct access *access, void *user), void *user);
bool expr_uses_dim(const struct expr *expr, int dim);
bool access_uses_dim(const struct access *access, int dim);             /* in a subscript */
/* The largest number of a DIM in `expr`, or -1. */
int expr_last_dim(const struct expr *expr);
int op_arity(enum expr_op op);
bool op_is_comparison(enum expr_op op);
enum scalar_type op_result_type(enum expr_op op, struct expr *const *args);
int expr_n_args(const struct expr *expr);               /* of OP and CAST, else 0 */
/* Those of its arguments that say what the value is: not the numbers of a PIVOT. */
int expr_n_operands(const struct expr *expr);
/* A CHOOSE; has it, or an operand, one? Then there may be reads that are made at some points only: whoever evaluates
 * reads at another place or time than the whole leaves such an expression alone. */
bool expr_is_choice(const struct expr *expr);
bool expr_has_choice(const struct expr *expr);
bool expr_is_pivot(const struct expr *expr);            /* a PIVOT */
/* The first PIVOT in `expr`; NULL. What is one, without that. */
const struct expr *expr_find_pivot(const struct expr *expr);
struct expr *expr_without_pivot(struct expr *expr);
bool dim_is_checked(const struct dim *dim);             /* bound to a computed index array */
/* Is a computed index checked at points of the stage? Can one report what ends the execution: such an index out of
 * range, or a bad pivot? */
bool stage_checks_index(const struct stage *stage);
bool stage_is_checked(const struct stage *stage);
/* The offsets of the segments that rows of the stage's group lie in; NULL: it names none. */
const struct array *stage_segments(const struct stage *stage);
int access_n_subs(const struct access *access);         /* rank; 0 for a LOCAL array */

/* All reads of a stage: of its value, then the sources of its BIND and CHILDREN dims. */
void stage_reads(struct stage *stage, void (*visit)(struct access *access, void *user), void *user);
int expr_count_reads(struct expr *expr, const struct array *array);
bool expr_reads_array(struct expr *expr, const struct array *array);
bool stage_reads_array(struct stage *stage, const struct array *array);
bool stage_reads_local(struct stage *stage);            /* a value of its group */
int stage_count_reads(struct stage *stage, const struct array *array);
/* The reads of it in all stages and in the condition of the loop. */
int module_count_reads(const struct module *module, const struct array *array);
bool param_is_argument(const struct param *param);      /* the caller's: neither the loop's, inspected nor derived */
bool module_has_param(const struct module *module, const char *name);
/* A size that follows from `of`; its name begins with `name`. */
struct expr *module_derive(struct module *module, const char *name, enum derivation derivation, struct expr *of,
			   int64_t limit, struct span span);
/* What a derived size is where its first argument is `of`. */
int64_t param_derived(const struct param *param, int64_t of);
/* Has the param another value, or may have, where sizes with a known value have it? */
bool param_follows_from_known(const struct module *module, int number);
extern const char *const derivation_names[], *const derivation_c_names[];
/* Values of the array are read where they are used, and checked there. */
bool array_is_checked(const struct array *array);
int array_n_stored(const struct array *array);          /* subscripts that are not folded */
int array_cell_size(const struct array *array);         /* bytes, as it is stored */
bool array_is_variable(const struct array *array);      /* all its subscripts are folded */
bool array_is_local(const struct array *array);         /* LOCAL, or a variable: it has no memory of its own */
bool array_is_of(const struct array *array, const char *subject);    /* is it this one, or of this object? */
const char *array_item_name(const struct array *array);         /* as items of a schedule call it */
const char *array_member_name(const struct array *array);       /* "voxel" of "PHI.voxel", else its name */
bool array_is_index(const struct array *array);         /* has facts */
bool array_is_argument(const struct array *array);      /* IN, OUT, INOUT */
/* Does the kernel read it? Does nothing that is computed need it: a fixed input that may be left out? */
bool module_reads_array(const struct module *module, const struct array *array);
bool array_is_optional(const struct module *module, const struct array *array);
/* Are points sorted by its values, or these copied? */
bool restructuring_reads(const struct restructuring *restructuring, const struct array *array);
/* By which operator the array is updated; SET: by none. */
enum reduce_op module_op_of_updates(const struct module *module, const struct array *array);
bool group_accumulates(const struct group *group);      /* its last stage has an operator */
bool group_writes(const struct group *group, const struct array *array);
bool group_reads(const struct group *group, const struct array *array);
bool group_touches(const struct group *group, const struct array *array);       /* reads or writes it */
enum region_kind group_region(const struct module *module, const struct group *group);  /* REGION_N: it is in none */
void group_run_forwards(struct module *module, struct group *group);            /* in the direction of each dim */
int64_t group_shift(const struct group *group, int dim);/* also of a dim that is none of the common ones: 0 */
/* Has a bound dim of both one value at a time? Not where one runs later in a loop that the dim is read with. */
bool groups_bind_alike(const struct group *a, const struct group *b, const struct dim *bound);

#endif
