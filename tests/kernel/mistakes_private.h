/* SPDX-License-Identifier: MIT
 *
 * The search for places of mistakes. */
#ifndef PMGC_TESTS_KERNEL_MISTAKES_PRIVATE_H
#define PMGC_TESTS_KERNEL_MISTAKES_PRIVATE_H

#include "kernel/mistakes.h"

struct search {
	struct arena *arena;
	const struct k_program *program;
	int64_t (*n_runs)(void *user, const struct k_stmt *stmt);
	void *user;
	mistake_list *out;
	const struct k_block *body;     /* of the function */
	VEC(const char *) variables;    /* of the loops around */
	const struct k_block *repeated; /* the body of the serial loop directly around; NULL */
};

/* ---- mistakes.c ---- */

/* Each adds a mistake: a statement that becomes another one, an expression, a block. */
void search_add_stmt(struct search *search, enum mistake_kind kind, struct k_stmt *stmt, struct k_stmt other);
void search_add_expr(struct search *search, enum mistake_kind kind, struct k_stmt *stmt, struct k_expr **expr,
		     struct k_expr *other);
void search_add_block(struct search *search, enum mistake_kind kind, struct k_stmt *stmt, struct k_block *block,
		      struct k_block other);
/* One that changes a function besides. */
void search_add_function(struct search *search, struct mistake mistake);
/* A statement that is left out. */
void search_add_gap(struct search *search, enum mistake_kind kind, struct k_stmt *stmt);
/* An expression of one `unit` more or less. */
void search_add_shift(struct search *search, enum mistake_kind kind, struct k_stmt *stmt, struct k_expr **expr,
		      struct k_expr *unit);
int64_t search_runs(const struct search *search, const struct k_stmt *stmt);

bool expr_is_name(const struct k_expr *expr, const char *name);
/* The element of a target, which a macro may stand around; NULL: it is none. */
struct k_expr *element_of(struct k_expr *target);
/* The variable or buffer that a target is of; NULL: none that has a name. */
const char *target_name(struct k_expr *target);

/* ---- mistakes_access.c, mistakes_loop.c, mistakes_order.c, mistakes_name.c, mistakes_call.c: what fits where ---- */

void find_in_store(struct search *search, struct k_stmt *stmt);
/* Of the value of a let or store, or a condition. */
void find_in_value(struct search *search, struct k_stmt *stmt, struct k_expr **value);
void find_in_branch(struct search *search, struct k_stmt *stmt);
void find_in_loop(struct search *search, struct k_stmt *stmt);
void find_in_order(struct search *search, struct k_block *block, int i);
void find_in_let(struct search *search, struct k_block *block, int i);
/* A variable that the loop declares. */
void find_in_scope(struct search *search, struct k_stmt *stmt);
void find_in_call(struct search *search, struct k_stmt *stmt);
void find_in_called(struct search *search, struct k_block *block, int i);

#endif
