/* SPDX-License-Identifier: MIT
 *
 * The kernel tree: what stands between the schedule tree and the text of a target. A kernel program is a list of
 * functions, a function a list of statements; both say what happens in the order in which it happens, with every name,
 * index, bound and concurrent loop written out. Printers (codegen/) turn a tree into text and decide nothing.
 *
 * Meaning first:
 *
 * - A name is declared once in its scope, by a parameter, a `let`, an `array` or a loop, before it is used, and hides
 *   no other name. Scopes are blocks. What a `let` names keeps its value unless it is declared as a variable.
 * - A buffer is memory of one element type, reached by a name: memory of the caller or of the plan, of a thread, of a
 *   block of lanes, of the stack, or registers. `load` reads the element of an index, `store` sets or updates it.
 * - A loop runs its body once for each value of its variable: first, first + step, … while less than `bound` (or down
 *   to `bound`, which is then the last value). Serial and unrolled loops run in order. The iterations of all other
 *   kinds are concurrent: two of them may touch one element only if both read it, or both update it atomically or by
 *   the loop's own reduction.
 *     work-shared   iterations are divided among the threads of the team, with or without starting that team
 *     simd          iterations run as lanes of vectors
 *     grid          each thread group of a device has one iteration, or every n-th
 *     lanes         iterations are divided among the lanes of such a group
 * - `parallel` runs its body in every thread of a team. If it begins with a call of PMG_PRIVATE_…, its updates of one
 *   buffer are a reduction: whatever threads do to an element, it gets the results of all. A barrier waits for all
 *   threads of the team (or lanes of the group); all of them must reach it.
 * - A block that is a part of an entry is run as any other. It may become a function, so that it stands in no loop but
 *   a `while`, and is left at its end alone. One that is `apart` declares ahead of its first empty line what it takes
 *   from the plan, as that is when the part begins; these names alone may hide others.
 * - A prefetch, like a comment, changes no value.
 *
 * Nodes live in an arena. Builders and lowerings make new ones; who prints, verifies or runs a tree takes it const. */
#ifndef PMGC_KERNEL_KERNEL_H
#define PMGC_KERNEL_KERNEL_H

#include "support/support.h"

/* ---- types ------------------------------------------------------------------------ */

/* Where a buffer is. */
enum k_space { K_SPACE_MEMORY, K_SPACE_REGISTERS, K_SPACE_STACK, K_SPACE_SHARED, K_SPACE_THREAD };

/* A scalar, a vector, a structure of the runtime, or where a buffer of them begins. */
struct k_type {
	const char *name;               /* as in C: "int64_t", "double", "pmg_vector_f64"; "auto": of its value */
	bool is_const, is_pointer, is_restrict;
};

/* ---- expressions -------------------------------------------------------------------- */

enum k_op {
#define K_OP(id, text, arity, level) K_##id,
#include "kernel/ops.def"
#undef K_OP
	K_OP_N
};

/* How tightly an expression binds, loosest first. */
enum k_level {
	K_LEVEL_SELECT, K_LEVEL_OR, K_LEVEL_AND, K_LEVEL_BIT_OR, K_LEVEL_BIT_AND, K_LEVEL_EQUAL, K_LEVEL_COMPARE,
	K_LEVEL_SHIFT, K_LEVEL_SUM, K_LEVEL_PRODUCT, K_LEVEL_UNARY, K_LEVEL_PRIMARY
};

enum k_expr_kind {
	KE_INT,                         /* integer, as `text` spells it where that is not NULL */
	KE_FLOAT,                       /* text */
	KE_BOOL,                        /* integer: 0 or 1 */
	KE_STRING,                      /* text, with its quotes */
	KE_NAME,                        /* text: a variable, buffer, constant or function */
	KE_TYPE,                        /* an argument that is a type: of */
	KE_LOAD,                        /* args[0][args[1]] */
	KE_MEMBER,                      /* args[0]->text, args[0].text */
	KE_UNARY, KE_BINARY,            /* op, args */
	KE_SELECT,                      /* args[0] ? args[1] : args[2] */
	KE_CAST,                        /* (of) args[0] */
	KE_CALL,                        /* text(args): of the runtime (kernel/calls.def), of libm, or of the program */
	KE_LIST,                        /* { args }: the first elements of an array; the others are zero */
	KE_N
};

struct k_expr;

typedef VEC(struct k_expr *) k_expr_list;

struct k_expr {
	enum k_expr_kind kind;
	enum k_op op;
	const char *text;
	int64_t integer;
	struct k_type of;               /* KE_CAST, KE_TYPE */
	struct k_type type;             /* of the value, once k_resolve_types has run; a NULL name: not known */
	k_expr_list args;
	k_expr_list constants;          /* KE_CALL: arguments that the target's compiler must know: f<32, add>(…) */
	bool is_arrow;                  /* KE_MEMBER: of what args[0] points to */
	bool is_grouped;                /* stands in parentheses, needed or not */
};

/* ---- statements ---------------------------------------------------------------------- */

struct k_stmt;

struct k_block {
	VEC(struct k_stmt *) stmts;
};

struct k_let {
	struct k_type type;
	const char *name;
	struct k_expr *value;           /* NULL: no value yet */
	k_expr_list extents;            /* of an array; none: a variable */
	enum k_space space;             /* of an array */
	bool is_variable;               /* may change; else it is a constant */
	bool is_known;                  /* to the compiler of the target, too: constexpr, where it has this */
	bool is_joined;                 /* declared with the one before, of the same type: int64_t a = 0, b = 0; */
	bool is_padded;                 /* a buffer of which elements behind the last one may be read, as many as
					 * prefetches look ahead (PMG_PREFETCH_POINTS), and are indices, too */
	bool is_result;                 /* a buffer of the caller that gets floating numbers */
};

enum k_store_mode { K_STORE_PLAIN, K_STORE_ATOMIC, K_STORE_NONTEMPORAL };

struct k_store {
	k_expr_list targets;            /* all get the value, the last one first: a = b = value */
	enum k_op op;                   /* K_OP_N: set; K_ADD: +=, K_SUB, K_MUL, K_BIT_OR, … */
	enum k_store_mode mode;
	bool is_step;                   /* K_ADD, K_SUB of 1, spelled x++, x-- */
	bool is_interim;                /* a store behind it gives the elements other values, before the block ends in
					 * which the buffer is declared */
	struct k_expr *value;
};

enum k_loop_kind { K_LOOP_SERIAL, K_LOOP_UNROLLED, K_LOOP_ROLLED, K_LOOP_WORKSHARE, K_LOOP_SIMD, K_LOOP_GRID,
		   K_LOOP_LANES, K_LOOP_KIND_N };

struct k_reduction {
	const char *op;                 /* +, *, min, max, pmg_min, … */
	const char *name;               /* of the variable */
};

/* How iterations are shared by threads. */
struct k_share {
	bool starts_team;               /* parallel for; else the team is there */
	bool is_dynamic;
	struct k_expr *chunk;           /* iterations at a time; NULL: an even part */
	struct k_expr *threads;         /* of a team that starts; NULL */
};

/* Of a loop over consecutive cells of a buffer, each of which it updates, while nothing else in the loop around it uses
 * the buffer, or of one that adds to the variable that it reduces: what is known of these cells, or terms. */
struct k_row {
	struct k_expr *length;          /* how many there are: a number; NULL: the loop is none over a row */
	bool is_narrow;                 /* they are doubles, which may be added up as floats */
	bool is_neutral;                /* until the loop around begins, they hold the neutral element of the update */
	struct k_expr *alone;           /* of cells that are updated atomically: whether only lanes of this team update
					 * them; NULL: others may */
};

struct k_loop {
	enum k_loop_kind kind;
	bool is_simd;                   /* K_LOOP_WORKSHARE whose parts run as vectors */
	struct k_type type;             /* of the variable */
	const char *name;
	struct k_expr *first, *bound;
	struct k_expr *step;            /* positive; NULL: 1 */
	bool is_down;                   /* from `first` down to `bound`, which is the last value */
	bool is_strided;                /* K_LOOP_GRID: a group has every n-th iteration; else one at most */
	bool is_short;                  /* has a few iterations, and the next loop over its variable goes on behind */
	/* K_LOOP_GRID, K_LOOP_LANES: which one of how many runs the body. It begins at first + step*number (- if down)
	 * and goes on by step*count. No number: `first` holds it; no count: there are as many as iterations. */
	struct k_expr *number, *count;
	struct k_share share;           /* K_LOOP_WORKSHARE */
	VEC(struct k_reduction) reductions;
	struct k_row row;
	struct k_block body;
};

/* `before`; while `condition`: body, `after`. */
struct k_while {
	struct k_block before;          /* lets or one store; empty */
	struct k_expr *condition;
	struct k_stmt *after;           /* a store; NULL */
	enum k_loop_kind kind;          /* serial, unrolled or rolled */
	bool is_broken;                 /* the condition begins a line */
	struct k_block body;
};

struct k_if {
	struct k_expr *condition;
	struct k_block then, otherwise;
	bool has_otherwise;
	bool is_bare;                   /* one statement without braces */
};

/* A structure that the program declares: its fields are lets without a value. */
struct k_record {
	const char *name;
	struct k_expr *alignment;       /* in bytes */
	struct k_block fields;
};

enum k_stmt_kind {
	KS_BLOCK,                       /* body; part */
	KS_LET, KS_STORE, KS_LOOP, KS_WHILE, KS_IF,
	KS_CALL,                        /* value: for what it does; a name alone is a macro of the runtime */
	KS_PARALLEL,                    /* value: how many threads; body */
	KS_RETURN,                      /* value, or NULL */
	KS_BREAK, KS_CONTINUE,
	KS_RECORD,                      /* record */
	KS_UNUSED,                      /* value: a name that need not be used */
	KS_COMMENT,                     /* text: lines of a comment, as printed */
	KS_BLANK,                       /* an empty line */
	KS_N
};

/* Where a line of text comes from. */
struct k_place {
	struct span span;               /* of the .pmg text */
	const char *emitter;            /* file:line of the compiler's source that made it; NULL */
};

struct k_stmt {
	enum k_stmt_kind kind;
	struct span span;               /* of the .pmg text that it comes from */
	const char *emitter;            /* as in a place */
	struct k_place annotation;      /* of the line above that says how it runs: UNROLL, a pragma */
	struct k_place otherwise;       /* KS_IF: of the else */
	struct k_place end;             /* of the line that closes its body */
	const char *part;               /* KS_BLOCK: the name of the function that it may become; NULL: it stays */
	bool is_apart;                  /* such a part takes from the plan what it reads, and becomes one for sure */
	union {
		struct k_block body;
		struct k_let let;
		struct k_store store;
		struct k_loop loop;
		struct k_while repeat;
		struct k_if branch;
		struct k_record record;
		const char *text;
	};
	struct k_expr *value;
};

/* ---- functions --------------------------------------------------------------------------- */

struct k_param {
	struct k_type type;
	const char *name;
};

enum k_function_kind {
	K_FUNCTION_ENTRY,               /* what the plan calls */
	K_FUNCTION_HOST,                /* a part of it */
	K_FUNCTION_DEVICE               /* launched on a device */
};

/* The thread groups of a device that run a kernel. */
struct k_team {
	int lanes;                      /* 0: the function says nothing of them */
	int group;                      /* of these lanes, those that share a row */
	int width;                      /* cells of a row that a lane has next to one another */
	int warps;                      /* of a block; 0: by the rule of the runtime */
	bool is_rolled;                 /* rows one at a time */
};

struct k_function {
	enum k_function_kind kind;
	struct k_type result;
	const char *name;
	const char *qualifiers;         /* "static", "extern \"C\"" */
	struct k_team team;             /* K_FUNCTION_DEVICE: of what it is run by, until it has bounds */
	struct k_expr *bounds;          /* K_FUNCTION_DEVICE: how many threads it may have */
	VEC(struct k_param) params;
	bool is_elsewhere;              /* it is a function of another program, too, which is printed before */
	int broken_at;                  /* parameters from this one on stand in a second line; 0: all in one */
	struct k_place head, end;       /* of its first and last line */
	struct k_block body;
};

struct k_program {
	VEC(struct k_function *) functions;
	VEC(struct k_param) globals;    /* what the file around declares */
};

/* ---- build.c: nodes -------------------------------------------------------------------------- */

struct k_expr *k_int(struct arena *arena, int64_t value);
struct k_expr *k_float(struct arena *arena, const char *text);
struct k_expr *k_bool(struct arena *arena, bool value);
struct k_expr *k_name(struct arena *arena, const char *name);
struct k_expr *k_type_arg(struct arena *arena, struct k_type type);
struct k_expr *k_load(struct arena *arena, struct k_expr *buffer, struct k_expr *index);
struct k_expr *k_member(struct arena *arena, struct k_expr *of, const char *member, bool is_arrow);
struct k_expr *k_unary(struct arena *arena, enum k_op op, struct k_expr *a);
struct k_expr *k_binary(struct arena *arena, enum k_op op, struct k_expr *a, struct k_expr *b);
struct k_expr *k_select(struct arena *arena, struct k_expr *condition, struct k_expr *a, struct k_expr *b);
struct k_expr *k_cast(struct arena *arena, struct k_type type, struct k_expr *a);
/* left op right, where both may be such chains: read from the left. NULL op right is right. */
struct k_expr *k_join(struct arena *arena, enum k_op op, struct k_expr *left, struct k_expr *right);
/* -a; of a product, that of its first factor. What was negated so before; NULL: it is not. */
struct k_expr *k_negated(struct arena *arena, struct k_expr *a);
struct k_expr *k_without_minus(struct arena *arena, const struct k_expr *a);
/* An array of expressions, and how many they are. */
#define K_ARGS(...) \
	(struct k_expr *[]) { __VA_ARGS__ }, \
	(int) (sizeof (struct k_expr *[]) { __VA_ARGS__ } / sizeof (struct k_expr *))
/* The arguments follow, n of them. */
struct k_expr *k_call(struct arena *arena, const char *function, int n, ...);

struct k_expr *k_grouped(struct arena *arena, struct k_expr *of);      /* (of), needed or not */
/* The expression, in parentheses if it binds looser. */
struct k_expr *k_at_least(struct arena *arena, struct k_expr *expr, enum k_level level);

struct k_type k_scalar(const char *c_name);             /* a plain type */
struct k_type k_pointer(const char *c_name, bool is_const);     /* where elements of one begin */
const char *k_op_text(enum k_op op);
int k_op_arity(enum k_op op);
enum k_level k_op_level(enum k_op op);
enum k_level k_level(const struct k_expr *expr);        /* how tightly it binds, parentheses counted */

struct k_stmt *k_stmt(struct arena *arena, enum k_stmt_kind kind);
struct k_block *k_body(struct k_stmt *stmt);            /* of an if: `then`; NULL: it has none */

/* Where statements are added: the innermost of the open blocks. */
struct k_builder {
	struct arena *arena;
	VEC(struct k_block *) open;     /* outermost first */
	VEC(struct k_stmt *) owners;    /* of the open blocks; NULL: that of a function */
	struct span span;               /* of what is added */
	struct k_stmt *bare;            /* an if without braces whose statement is added next; NULL */
	struct k_stmt *annotation;      /* how the next statement runs: its kind and these fields alone; NULL */
	bool is_in_comment;             /* what is added next goes on with a comment */
	const char *error;              /* the first text that is no statement, and why; NULL */
};

struct k_builder k_builder_new(struct arena *arena, struct k_block *block);
struct k_stmt *k_add(struct k_builder *builder, struct k_stmt *stmt, const char *emitter);
void k_add_as_it_is(struct k_builder *builder, struct k_stmt *stmt);    /* of a tree: it keeps its place */
void k_add_from(struct k_builder *builder, const struct k_block *block, int first);     /* as they are, from this one */
/* Adds a statement with a body (that of an if: `then`), and what follows to that body, until it is closed. */
struct k_stmt *k_open(struct k_builder *builder, struct k_stmt *stmt, const char *emitter);
void k_close(struct k_builder *builder, const char *emitter);
/* What follows goes to the else of the open if. */
void k_otherwise(struct k_builder *builder, const char *emitter);
/* The same with the if that was closed last: it goes on. */
void k_reopen(struct k_builder *builder, const char *emitter);

/* ---- walk.c: every node of a tree, in order of the text ---------------------------------------- */

/* Returns false to leave out what is inside. */
struct k_visitor {
	bool (*stmt)(const struct k_stmt *stmt, void *user);    /* NULL: statements are all entered */
	bool (*expr)(const struct k_expr *expr, void *user);    /* NULL: expressions are not visited */
	void *user;
};

void k_walk_block(const struct k_block *block, const struct k_visitor *visitor);
void k_walk_stmt(const struct k_stmt *stmt, const struct k_visitor *visitor);
void k_walk_expr(const struct k_expr *expr, const struct k_visitor *visitor);

/* ---- equal.c ------------------------------------------------------------------------------------ */

bool k_type_is_equal(const struct k_type *a, const struct k_type *b);
bool k_expr_is_equal(const struct k_expr *a, const struct k_expr *b);
bool k_function_is_equal(const struct k_function *a, const struct k_function *b);       /* but for their names */
/* But for the prefixes with which names of each program begin. */
bool k_program_is_equal(const struct k_program *a, const char *prefix_a, const struct k_program *b,
			const char *prefix_b);

/* Whether two blocks are the same but for integers, of which it lists all: a node that stands in several places of the
 * first one may be different ones in the other. */
struct k_integers {
	const struct k_expr *a;         /* in the first one */
	int64_t b;
};

typedef VEC(struct k_integers) k_integers_list;

bool k_block_is_similar(struct arena *arena, const struct k_block *a, const struct k_block *b,
			k_integers_list *integers);

/* ---- copy.c --------------------------------------------------------------------------------------- */

/* Each returns what stands in the copy for an expression, and for one in the extents of an array; NULL: a copy. Without
 * such functions all is copied. */
struct k_replacing {
	struct k_expr *(*expr)(const struct k_expr *expr, void *user);
	struct k_expr *(*extent)(const struct k_expr *expr, void *user);
	void *user;
};

struct k_expr *k_copy_expr(struct arena *arena, const struct k_expr *expr, const struct k_replacing *replacing);
struct k_block k_copy_block(struct arena *arena, const struct k_block *block, const struct k_replacing *replacing);
struct k_stmt *k_copy_stmt(struct arena *arena, const struct k_stmt *stmt, const struct k_replacing *replacing);

/* ---- share.c -------------------------------------------------------------------------------------- */

/* Of the programs of a pipeline's candidates: a long body of a work-shared loop that several have, but for constants,
 * becomes one function that is always inlined and takes these. It is of the first program that calls it, and noted as
 * `is_elsewhere` in the others. */
void k_share_bodies(struct arena *arena, struct k_program *programs, int n);

/* ---- join.c --------------------------------------------------------------------------------------- */

/* Of the functions of the host: declarations of one type stand in one line. */
void k_join_declarations(struct arena *arena, struct k_program *program);

/* ---- length.c -------------------------------------------------------------------------------- */

int k_length(const struct k_block *block);      /* in lines of C, each declaration in one and all bodies in braces */

/* ---- calls.c: what calls of the runtime mean ----------------------------------------------------- */

enum k_effect {
	K_CALL_IS_TARGET = 1,           /* stands for what a store sets */
	K_CALL_IS_NONTEMPORAL = 2,
	K_CALL_IS_ATOMIC = 4,           /* others may update the same element */
	K_CALL_IS_PREFETCH = 8,         /* changes no value */
	K_CALL_IS_ALIAS = 16,           /* the result leads to one of the arguments */
	K_CALL_IS_BARRIER = 32,         /* all lanes of the team must reach it */
	K_CALL_IS_GRID_BARRIER = 64,    /* all lanes of all teams */
	K_CALL_IS_LAUNCH = 128,
	K_CALL_MAY_END = 256,           /* the function returns here */
	K_CALL_ALLOCATES = 512,
	K_CALL_IS_OF_LANE = 1024,       /* lanes of a team have different values */
	K_CALL_IS_OF_TEAM = 2048,       /* teams have */
	K_CALL_IS_OF_THREAD = 4096,     /* threads of the host have */
	K_CALL_REMEMBERS = 8192,        /* writes nothing but what it has found out, for the next time */
	K_CALL_IS_PRIVATE = 16384       /* the parallel region that begins with it may touch the elements of a buffer
					 * from several threads, if only to update them by one operation */
};

struct k_callee {
	const char *name, *result, *arguments;  /* as in calls.def */
	unsigned effects;
};

/* NULL: none of the runtime's or of libm. */
const struct k_callee *k_callee_find(const char *name);
const struct k_callee *k_runtime_name_find(const char *name);   /* a name without arguments */
unsigned k_effects(const struct k_expr *expr);          /* of a call or name; 0: none, or not known */
/* Of the call of PMG_PRIVATE_… that a parallel region begins with, and the buffer that it names; NULL: there is none.
 * */
const struct k_expr *k_private_call(const struct k_stmt *region);
const char *k_private_target(const struct k_stmt *region);
char k_callee_argument(const struct k_callee *callee, int i);   /* its letter; 0: it has no such argument */
bool k_callee_takes(const struct k_callee *callee, int n);      /* so many arguments */
/* Of its value; a NULL name: not known. */
struct k_type k_callee_result(struct arena *arena, const struct k_callee *callee, const struct k_expr *call);

/* ---- uses.c: who reads and writes a name ------------------------------------------------------- */

struct k_uses {
	int reads, writes;              /* of the name: its value, or elements of its buffer; an update is both */
	int addresses;                  /* handed on as a pointer, to a call that may read and write there */
};

struct k_uses k_uses_in_block(const struct k_block *block, const char *name);
struct k_uses k_uses_in_expr(const struct k_expr *expr, const char *name);
/* Any occurrence, also a declaration and the name of a function; not a member or a type. */
bool k_mentions(const struct k_block *block, const char *name);
/* Adds all names that a statement, or a block, mentions so. */
void k_stmt_mentions(struct arena *arena, const struct k_stmt *stmt, struct name_table *names);
void k_block_mentions(struct arena *arena, const struct k_block *block, struct name_table *names);
bool k_expr_mentions(const struct k_expr *expr, const char *name);

/* ---- unread.c: declarations that nothing reads ------------------------------------------------- */

bool k_has_effect(const struct k_expr *expr);   /* besides its value; of a call that is not known: it has */
/* Drops them in a block, names of which are read nowhere else. */
void k_drop_unread(struct arena *arena, struct k_block *block);
/* And `unused` of parameters that are used. */
void k_function_drop_unread(struct arena *arena, struct k_function *function);

/* ---- print.c, read.c: the dump ------------------------------------------------------------------- */

void k_print_program(struct writer *w, const struct k_program *program);
void k_print_function(struct writer *w, const struct k_function *function);
void k_print_block(struct writer *w, const struct k_block *block);
const char *k_stmt_text(struct arena *arena, const struct k_stmt *stmt);        /* its line, without its place */
const char *k_store_text(struct arena *arena, const struct k_store *store);     /* as C has it, too */
const char *k_expr_text(struct arena *arena, const struct k_expr *expr);
const char *k_type_text(struct arena *arena, const struct k_type *type);        /* "const double *restrict" */
const char *k_int_text(struct arena *arena, int64_t value);

/* What a dump says; NULL where it is none: then *error says what is wrong and in which line. */
struct k_program *k_read_program(struct arena *arena, const char *text, const char **error);

/* ---- verify.c, types.c ------------------------------------------------------------------------------ */

/* Gives every expression its type, as far as declarations and calls.def tell. */
void k_resolve_types(struct arena *arena, struct k_program *program);
/* NULL, or what is wrong with the program and where. */
const char *k_verify(struct arena *arena, const struct k_program *program);
/* But what all iterations of a loop set, which is right where the loop has one. */
const char *k_verify_without_races(struct arena *arena, const struct k_program *program);

#endif
