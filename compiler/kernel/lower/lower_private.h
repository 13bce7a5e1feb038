/* SPDX-License-Identifier: MIT
 *
 * What lowerings share. */
#ifndef PMGC_KERNEL_LOWER_PRIVATE_H
#define PMGC_KERNEL_LOWER_PRIVATE_H

#include "kernel/lower/lower.h"
#include "kernel/make.h"

typedef VEC(const char *) name_list;

#define LOWERING(name, sentence, needs, gives) void lower_##name(struct k_lowered *lowered);
#define AFTER(name, earlier, reason)
#include "kernel/lower/lowerings.def"
#undef AFTER
#undef LOWERING

/* ---- decide.c ---- */

/* Keeps a decision of the lowering that runs, unless it was taken before: of a copy of the same statements. */
void lower_decide(struct k_lowered *lowered, struct k_decision decision);

/* ---- names.c ---- */

/* The names that are visible where a lowering is: those of a function as a whole at first, then what a statement
 * declares behind it, or inside of it. */
void name_list_begin(struct arena *arena, name_list *names, const struct k_program *program,
		     const struct k_function *function);
void name_list_declare(struct arena *arena, name_list *names, const struct k_stmt *stmt);
bool name_list_has(const name_list *names, const char *name);
/* `base`, or if that is one of these names, or one that the statement, if there is one, mentions, base_2, … */
const char *lower_name(struct arena *arena, const name_list *names, const struct k_stmt *stmt, const char *base);
/* The same, which is one of the names from now on. */
const char *name_list_new(struct arena *arena, name_list *names, const struct k_stmt *stmt, const char *base);
/* Hands `lower` each block of the statement that runs, while the names inside of it are visible. */
void name_list_inside(struct arena *arena, name_list *names, struct k_stmt *stmt,
		      void (*lower)(struct k_block *block, void *user), void *user);

#endif
