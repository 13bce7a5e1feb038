/* SPDX-License-Identifier: MIT
 *
 * The syntax tree: what the user wrote, with spans, before any meaning is given to names.
 * Nodes live in the arena of the compilation. One struct per family, tagged by `kind`;
 * a field that a kind does not use is zero. */
#ifndef PMGC_SYNTAX_TREE_H
#define PMGC_SYNTAX_TREE_H

#include "support/support.h"

struct tree_expr;
typedef VEC(struct tree_expr *) tree_exprs;

/* A name, or `object.member` (PHI.voxel). `member` is NULL for a plain name. */
struct tree_name {
	const char *name, *member;
	struct span span;
};
typedef VEC(struct tree_name) tree_names;

const char *name_text(struct arena *arena, const struct tree_name *name);       /* "PHI.voxel" */

enum tree_op {
#define TREE_OP(id, text, arity, precedence) TREE_OP_##id,
#include "syntax/operators.def"
#undef TREE_OP
	TREE_OP_N
};

/* Operators of `reduce` and of reductions inside expressions. */
enum tree_reduce_op { TREE_SUM, TREE_PROD, TREE_MIN, TREE_MAX };

/* No expression is deeper, so that whoever walks the tree may recurse. */
enum { TREE_MAX_DEPTH = 1000 };

/* `i in lo..hi`, or `c in children(parent, i)` (then `lo` is the node i, `hi` is NULL). */
struct tree_range {
	const char *var;
	struct span var_span, span;
	bool is_children;
	struct tree_name parent;
	struct tree_expr *lo, *hi;
};
typedef VEC(struct tree_range *) tree_ranges;

enum tree_expr_kind {
	TREE_INT,       /* integer */
	TREE_FLOAT,     /* real */
	TREE_BOOL,      /* integer 0 or 1 */
	TREE_LIST,      /* [a, b, …]: args */
	TREE_NAME,      /* name */
	TREE_INDEX,     /* name[args] */
	TREE_CALL,      /* name(args): function, construct, transpose, stencil, whole-array reduction */
	TREE_CAST,      /* cast<type>(args[0]) */
	TREE_UNARY,     /* op args[0] */
	TREE_BINARY,    /* args[0] op args[1] */
	TREE_REDUCE,    /* sum(ranges) args[0] */
	TREE_CASE       /* branches */
};

struct tree_branch {
	struct tree_expr *condition;    /* NULL: else */
	struct tree_expr *value;
	struct span span;
};
typedef VEC(struct tree_branch) tree_branches;

struct tree_expr {
	enum tree_expr_kind kind;
	int depth;                      /* of the tree from here down, at most TREE_MAX_DEPTH */
	struct span span;
	int64_t integer;
	double real;
	const char *spelling;           /* of a number, as written */
	struct tree_name name;
	enum tree_op op;
	enum tree_reduce_op reduce_op;
	enum scalar_type type;
	tree_exprs args;
	tree_ranges ranges;
	tree_branches branches;
};

enum tree_type_kind { TREE_TYPE_SCALAR, TREE_TYPE_INDEX, TREE_TYPE_OFFSETS, TREE_TYPE_OBJECT };

struct tree_mode {              /* `voxel < nVoxels` */
	const char *name;
	struct tree_expr *size;
	struct span span;
};
typedef VEC(struct tree_mode) tree_modes;

/* `f64[n, m]`, `index(n)[m] sorted`, `offsets(n)[m+1]`, `PHI_Tensor<f64>(nnz; a < nA)`, `Forest(m, n)`. */
struct tree_type {
	enum tree_type_kind kind;
	struct span span;
	enum scalar_type scalar;        /* SCALAR, or the <T> of an OBJECT (has_scalar) */
	bool has_scalar;
	const char *object;             /* name of the construct */
	tree_exprs args;                /* limit of index/offsets, arguments of an object */
	tree_modes modes;
	tree_exprs shape;
	bool is_sorted, is_unique, is_tree;
	struct tree_name segments;      /* `tree(off)`: parents are local to segments; used by constructs only */
};

enum tree_role { TREE_IN, TREE_OUT, TREE_INOUT, TREE_TEMP, TREE_STATE };

enum tree_stmt_kind {
	TREE_PARAM,      /* names; is_scalar: `type` */
	TREE_ASSUME,     /* value */
	TREE_SPECIALIZE, /* names[0] = value, or = text (a file) */
	TREE_DECL,       /* role, is_fixed, names, type, value or NULL */
	TREE_FUNC,       /* names[0], ranges, type, value */
	TREE_DEFINE,     /* [next] target = value for ranges; target is NAME or INDEX */
	TREE_ACCUMULATE, /* reduce [next] target op value for ranges */
	TREE_ITERATE,    /* ranges[0], value = until or NULL, body */
	TREE_SCHEDULE    /* items */
};

/* `restructure PHI by hybrid(voxel, atom);` has verb `restructure`, subjects {PHI}, value `hybrid(voxel, atom)`.
 * `tile blur (32, 256);` has subjects {blur} and the value LIST. A value is an expression:
 * NAME (auto), CALL (interleave(block = 8): args are BINARY EQ or plain), INT, LIST. NULL: none. */
struct tree_schedule_item {
	struct tree_name verb;
	tree_names subjects;
	struct tree_expr *value;
	struct span span;
};
typedef VEC(struct tree_schedule_item *) tree_schedule_items;

/* Of a statement that is not of the program but asked for with it (driver/with.c). A pipeline that does not know all
 * its names does without. */
struct tree_asked {
	bool is_meant;                  /* by some pipeline */
	const tree_names *names;
	bool *are_known;                /* each name: to some pipeline */
	VEC(const char *) others;       /* names that pipelines know and that could stand there */
};

struct tree_stmt;
typedef VEC(struct tree_stmt *) tree_stmts;

struct tree_stmt {
	enum tree_stmt_kind kind;
	struct span span;
	tree_names names;
	bool is_scalar, is_fixed, is_next;
	enum tree_role role;
	struct tree_type *type;
	struct tree_expr *target, *value;
	enum tree_reduce_op reduce_op;
	const char *text;
	const int64_t *parents;         /* of the tree in the file `text` (driver/tree_files.c); NULL: not read */
	int64_t n_parents;
	tree_ranges ranges;
	tree_stmts body;
	tree_schedule_items items;
	struct tree_asked *asked;       /* NULL: of the program */
};

struct tree_pipeline {
	struct tree_name name;
	struct span span;
	tree_stmts body;
};

struct tree_const {             /* `const NAME = EXPR;` */
	struct tree_name name;
	struct tree_expr *value;
	struct span span;
};

struct tree_include {           /* `include "file.pmg";`, already expanded; the path to open it by */
	const char *path;
	struct span span;
};

struct tree_file {
	struct span start;
	VEC(struct tree_include) includes;
	VEC(struct tree_const) consts;
	VEC(struct tree_pipeline *) pipelines;
};

/* ---- parser.y, lexer.l, parse.c ------------------------------------------ */

/* Parses source number `file` of `diags->sources`. Always returns a tree: the parts that could be read. */
struct tree_file *syntax_parse(struct arena *arena, struct diags *diags, uint32_t file);

/* `path` as the file called `from` means it: beside itself. */
const char *syntax_path_beside(struct arena *arena, const char *from, const char *path);

/* Parses a list of statements (the expansion of a construct). Every span in it becomes `origin`. */
tree_stmts syntax_parse_statements(struct arena *arena, struct diags *diags,
				   const char *text, struct span origin);

/* One token per line: place, kind, spelling. */
const char *syntax_tokens_text(struct arena *arena, struct diags *diags, uint32_t file);

/* ---- tree_print.c ---------------------------------------------------------
 * Back to .pmg; parsing the result gives the same tree. */
const char *tree_file_text(struct arena *arena, const struct tree_file *file);
const char *tree_expr_text(struct arena *arena, const struct tree_expr *expr);

#endif
