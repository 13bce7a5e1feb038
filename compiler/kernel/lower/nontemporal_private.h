/* SPDX-License-Identifier: MIT
 *
 * What the files share that store results non-temporally: nontemporal.c walks through a function. */
#ifndef PMGC_KERNEL_LOWER_NONTEMPORAL_PRIVATE_H
#define PMGC_KERNEL_LOWER_NONTEMPORAL_PRIVATE_H

#include "kernel/lower/lower_private.h"

struct element {                /* what vectors have */
	const char *type, *read, *write, *stream;
	int64_t size;
};

struct result {                 /* a buffer of the caller */
	const struct k_stmt *let;
	const char *flag;       /* the variable that says whether it is stored so; NULL: nobody asks */
};

struct place {                  /* of a block of lanes */
	const char *block;
	const char *other;      /* where it is stored besides, unless that is NULL */
};

struct search {
	struct k_lowered *lowered;
	const struct k_function *function;
	VEC(struct result) results;
	VEC(struct place) places;
	VEC(const struct k_stmt *) visible;     /* declarations and loops around */
	const struct k_stmt *nest;              /* the outermost loop around; NULL */
};

/* ---- nontemporal_results.c ---- */

bool expr_names(const struct k_expr *expr, const char *name);           /* it is this name */
bool expr_calls(const struct k_expr *expr, const char *function);       /* it is a call of this one; NULL: it is none */
/* Of this name; NULL: it is no result. */
struct result *nontemporal_result(struct search *search, const struct k_expr *name);
void nontemporal_decide(const struct search *search, const struct k_stmt *stmt, const struct result *result,
			const char *reason);
/* The let or loop that declares a name that is visible; NULL. */
const struct k_stmt *nontemporal_declaration(const struct search *search, const char *name);
/* `base`, or with a number behind it: visible nowhere around, and mentioned nowhere in the block. */
const char *nontemporal_name(const struct search *search, const struct k_block *block, const char *base);
/* The variable that says whether a result is stored so. */
struct k_expr *nontemporal_flag(const struct search *search, struct result *result);
/* The cell that a target sets, with a vector or alone. */
struct k_expr *nontemporal_cell(struct k_expr *target);
/* Of a target that is a vector of whole elements; NULL: it is no such. */
const struct element *nontemporal_vector(const struct k_expr *target);
/* The target that is in the buffer; NULL. */
struct k_expr *nontemporal_target(const struct k_stmt *stmt, const char *buffer);

/* ---- nontemporal_blocks.c ---- */

/* Behind statement i, a let that opens a block for a result: where it is stored besides. */
void nontemporal_let(struct search *search, struct k_builder *b, const struct k_block *block, int i);
/* Behind a statement that stores to the block: the same in the other place. */
void nontemporal_besides(const struct search *search, struct k_builder *b, const struct k_stmt *stmt,
			 const struct place *place);
/* Ahead of a call that brings a block to its place, if it is not there: lane by lane, non-temporally. */
void nontemporal_put(struct search *search, struct k_builder *b, struct k_expr *call);

/* ---- nontemporal_rows.c ---- */

/* Adds the loop; false: it is no row that is stored so. */
bool nontemporal_row(struct search *search, struct k_builder *b, struct k_stmt *stmt);

#endif
