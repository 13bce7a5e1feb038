/* SPDX-License-Identifier: MIT
 *
 * Mistakes that a lowering could make, put into a kernel tree one at a time. */
#ifndef PMGC_TESTS_KERNEL_MISTAKES_H
#define PMGC_TESTS_KERNEL_MISTAKES_H

#include "kernel/kernel.h"

enum mistake_kind {
#define MISTAKE(id, name, sentence) MISTAKE_##id,
#include "kernel/mistakes.def"
#undef MISTAKE
	MISTAKE_KIND_N
};

/* What takes the place of what, each of which may be nothing. */
struct mistake {
	enum mistake_kind kind;
	struct k_stmt *stmt;            /* where it is */
	struct k_stmt *other_stmt;      /* NULL: the statement stays */
	struct k_expr **expr, *other_expr;
	struct k_block *block, other_block;
	struct k_function *function, other_function;
};

typedef VEC(struct mistake) mistake_list;

const char *mistake_name(enum mistake_kind kind);
/* All that are possible in statements that run, by how often they do. */
void mistakes_find(struct arena *arena, const struct k_program *program,
		   int64_t (*n_runs)(void *user, const struct k_stmt *stmt), void *user, mistake_list *out);
/* Puts it into the tree, or takes it out of it. */
void mistake_exchange(struct mistake *mistake);

#endif
