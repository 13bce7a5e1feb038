/* SPDX-License-Identifier: MIT
 *
 * Mistakes that a lowering could make, put into a kernel tree one at a time. */
#ifndef PMGC_TESTS_KERNEL_MISTAKES_H
#define PMGC_TESTS_KERNEL_MISTAKES_H

#include "kernel/kernel.h"

enum mistake_kind {
	MISTAKE_BOUND,                  /* a loop ends one iteration late or early */
	MISTAKE_FIRST,                  /* or begins so */
	MISTAKE_TARGET,                 /* a store goes to a neighbour */
	MISTAKE_SOURCE,                 /* a load is of one */
	MISTAKE_INIT,                   /* a store is left out */
	MISTAKE_NONTEMPORAL,            /* or one past the caches */
	MISTAKE_IDENTITY,               /* a variable that is only updated begins with another number */
	MISTAKE_ATOMIC,                 /* an update is not atomic */
	MISTAKE_REDUCTION,              /* a loop does not know of its reduction */
	MISTAKE_CONCURRENT,             /* a serial loop that hands on values is made concurrent */
	MISTAKE_SHARED,                 /* a loop of a team is run by all threads: no barrier, no share */
	MISTAKE_BARRIERS,               /* lanes of a device wait for each other nowhere in a kernel */
	MISTAKE_KIND_N
};

struct mistake {
	enum mistake_kind kind;
	struct k_stmt *stmt;
	struct k_expr **at;             /* what is changed: of bounds and indices */
	int by;                         /* 1 or -1 */
	const struct k_block *body;     /* of the function */
};

typedef VEC(struct mistake) mistake_list;

const char *mistake_name(enum mistake_kind kind);
/* All that are possible in statements that run, by how often they do. */
void mistakes_find(struct arena *arena, const struct k_program *program,
		   int64_t (*n_runs)(void *user, const struct k_stmt *stmt), void *user, mistake_list *out);
/* Makes it; the statement as it was is returned, to be put back. */
struct k_stmt mistake_make(struct arena *arena, const struct mistake *mistake, struct k_expr **before);
void mistake_undo(const struct mistake *mistake, const struct k_stmt *stmt, struct k_expr *before);

#endif
