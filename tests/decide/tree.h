/* SPDX-License-Identifier: MIT
 *
 * A kernel tree as a list of its statements in the order of the text, each with the one around it: what tests ask of
 * it. */
#ifndef TESTS_DECIDE_TREE_H
#define TESTS_DECIDE_TREE_H

#include "kernel/kernel.h"

struct tree_node {
	const struct k_stmt *stmt;
	int parent;                     /* -1: of the function itself */
	int end;                        /* behind the last statement inside */
	const struct k_function *function;
};

struct tree {
	struct arena *arena;
	const struct k_program *program;
	VEC(struct tree_node) nodes;
};

struct tree tree_of(struct arena *arena, const struct k_program *program);

/* The name with, perhaps, a suffix: "i", "i_2", "i_block". */
bool name_has_stem(const char *name, const char *stem);

bool stmt_is_shared(const struct k_stmt *stmt);         /* a loop that threads, or teams of a device, share */
bool stmt_is_of_lanes(const struct k_stmt *stmt);       /* a loop that runs as lanes */
const char *loop_name(const struct k_stmt *stmt);       /* its variable; NULL: it is none, or has none */
unsigned stmt_effects(const struct k_stmt *stmt);       /* of all calls in its expressions */
bool stmt_mentions(const struct k_stmt *stmt, const char *name);        /* itself, not what is inside */
bool stmt_calls(const struct k_stmt *stmt, const char *prefix);         /* a function that begins so */
/* An operation; with this number, unless that is negative. */
bool stmt_has(const struct k_stmt *stmt, enum k_op op, int number);
/* What it stores to or updates: the buffer or variable; NULL. */
const char *stmt_target(const struct k_stmt *stmt);
bool stmt_is_atomic(const struct k_stmt *stmt);
const char *expr_base(const struct k_expr *expr);       /* the name whose element it is; NULL */

#endif
