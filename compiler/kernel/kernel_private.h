/* SPDX-License-Identifier: MIT
 *
 * What the analyses of kernel trees share: names that are visible at a place, and types. */
#ifndef PMGC_KERNEL_KERNEL_PRIVATE_H
#define PMGC_KERNEL_KERNEL_PRIVATE_H

#include "kernel/kernel.h"

/* ---- parts.c: what a statement is made of ---------------------------------------------------------- */

enum k_part_sort {
	K_PART_END,                     /* there are no more */
	K_PART_EXPR,                    /* struct k_expr *, which may be NULL */
	K_PART_EXPRS,                   /* k_expr_list */
	K_PART_BLOCK,                   /* struct k_block */
	K_PART_STMT,                    /* struct k_stmt *, which may be NULL */
	K_PART_FIELDS                   /* struct k_block of declarations that are no variables */
};

struct k_part {
	enum k_part_sort sort;
	size_t offset;                  /* in struct k_stmt */
};

struct k_exprs {
	struct k_expr **items;          /* a single one may be NULL */
	int n;
};

struct k_stmts {
	struct k_stmt **items;
	int n;
};

const struct k_part *k_parts(const struct k_stmt *stmt);        /* up to K_PART_END */
void *k_part_at(const struct k_stmt *stmt, const struct k_part *part);
/* The expressions, or the statements to be run, that a part has. */
struct k_exprs k_part_exprs(const struct k_stmt *stmt, const struct k_part *part);
struct k_stmts k_part_stmts(const struct k_stmt *stmt, const struct k_part *part);

/* ---- scope.c: a walk that knows the names that are visible --------------------------------------- */

struct k_declared {
	const char *name;
	struct k_type type;             /* of a variable's value, of an array's elements */
	int rank;                       /* of an array; 0: a variable */
	const struct k_stmt *stmt;      /* a let, a loop, or a call that declares it; NULL: a parameter */
	int hides;                      /* which of the visible ones, from 1; 0: none */
};

struct k_scope {
	struct arena *arena;
	const struct k_program *program;
	const struct k_function *function;
	VEC(struct k_declared) visible;
	struct name_table numbers;              /* name -> the last one of that name in `visible`, from 1 */
	VEC(const struct k_stmt *) inside;      /* statements around it, outermost first */
};

struct k_scope_visitor {
	/* Before the parts of a statement, that of a `while` behind its declarations. NULL: nothing. */
	void (*stmt)(struct k_scope *place, const struct k_stmt *stmt, void *user);
	void (*declare)(struct k_scope *place, const struct k_declared *declared, void *user);  /* NULL: nothing */
	void *user;
};

void k_walk_function(struct arena *arena, const struct k_program *program, const struct k_function *function,
		     const struct k_scope_visitor *visitor);
/* NULL: no such name is visible. */
const struct k_declared *k_declared_find(const struct k_scope *place, const char *name);
const struct k_function *k_function_find(const struct k_program *program, const char *name);
/* The function of the program that a call calls or launches, and where its arguments begin; NULL: none. */
const struct k_function *k_called_function(const struct k_program *program, const struct k_expr *call, int *first);

/* Calls `visit` for each expression of the statement that is part of no other one; not for those of statements
 * inside. */
void k_each_expr(const struct k_stmt *stmt, void (*visit)(const struct k_expr *expr, void *user), void *user);
/* Where an index begins: the name of the buffer, with how many indices behind it; NULL: it is no name's. */
const struct k_expr *k_buffer_of(const struct k_expr *expr, int *n_indices);

/* ---- calls.c -------------------------------------------------------------------------------------------- */

struct k_type k_type_behind(struct arena *arena, const struct k_type *pointer);
struct k_type k_runtime_name_type(struct arena *arena, const char *name);
struct k_type k_member_type(struct arena *arena, const char *structure, const char *name);

/* ---- types.c ---------------------------------------------------------------------------------------------- */

bool k_is_integer(const struct k_type *type);           /* or bool; of a known type */
bool k_is_arithmetic(const struct k_type *type);        /* or a floating number */
bool k_is_vector(const struct k_type *type);

/* ---- varying.c: what differs by K_CALL_IS_OF_LANE, …_TEAM, …_THREAD -------------------------------------------- */

enum {
	K_BY_LANE = K_CALL_IS_OF_LANE | K_CALL_IS_OF_THREAD,
	K_BY_ANY = K_BY_LANE | K_CALL_IS_OF_TEAM
};

struct k_differing {
	const struct k_stmt *declaration;
	unsigned by;
};

struct k_varying {
	struct arena *arena;
	VEC(struct k_differing) items;
	bool has_changed;               /* while it is found */
};

struct k_varying k_varying_find(struct arena *arena, const struct k_program *program,
				const struct k_function *function);
/* The value; for lanes, teams or threads that execute this place. */
unsigned k_differs_by(const struct k_varying *varying, const struct k_scope *place, const struct k_expr *expr);
/* Whether, or how often, what is inside of a statement is executed. */
unsigned k_stmt_differs_by(const struct k_varying *varying, const struct k_scope *place, const struct k_stmt *stmt);
unsigned k_kind_differs_by(enum k_loop_kind kind);      /* the iterations of a loop; 0: they are the same for all */

/* ---- verify.c: rules ------------------------------------------------------------------------------------------- */

struct k_check {
	struct k_scope *place;
	const struct k_stmt *stmt;
	const struct k_varying *varying;        /* of the function */
	const char *fault;              /* the first one */
};

/* What is asked where; NULL: nothing. */
struct k_rule {
	void (*function)(struct k_check *check);        /* before all else */
	void (*declare)(struct k_check *check, const struct k_declared *declared);
	bool (*expr)(const struct k_expr *expr, void *check);   /* of each expression of a statement, as a visitor */
	void (*stmt)(struct k_check *check, const struct k_stmt *stmt);
};

extern const struct k_rule k_rule_names, k_rule_parts, k_rule_types, k_rule_teams, k_rule_bounds, k_rule_races;

/* Keeps what is wrong with the statement, unless something was before. */
#define K_FAULT(check, ...) \
	((check)->fault = (check)->fault ? (check)->fault : k_fault((check)->place, (check)->stmt, __VA_ARGS__))

/* "FUNCTION: STATEMENT: …" */
const char *k_fault(struct k_scope *place, const struct k_stmt *stmt, const char *format, ...) PRINTF_LIKE(3, 4);

#endif
