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

/* ---- registers.c ---- */

enum { K_LONG_CELL = 8 };       /* bytes of a cell that needs a pair of a device's registers */

/* What a lane of a device has in registers. */
struct k_registers {
	int64_t held;           /* bytes of rows and sums that it keeps */
	int64_t read;           /* of its share of the longest row that it reads in rounds; 0: it reads none */
	bool is_long;           /* cells of such rows are long */
	bool has_long_sums;     /* or what is computed from them, or lanes add up sums, which takes registers besides */
};

struct k_registers k_registers_count(const struct k_team *team, const struct k_block *body);
/* Up to a loop over rounds, with its rows and without its sums. */
struct k_registers k_registers_before(const struct k_team *team, const struct k_block *body, const struct k_stmt *end);
/* Is it that of a loop over rounds whose sums are left: their array, the loop over as many rounds, and the call? */
bool k_leaves_sums(const struct k_block *body);
int type_size_of(const char *c_name);   /* bytes of a type of the language by its name in C */

/* ---- rounds.c ---- */

/* `lanes`, of a loop over all rounds that these have; NULL: it is another statement. */
const char *rounds_lanes(const struct k_stmt *stmt);

/* ---- names.c ---- */

bool is_call_of(const struct k_expr *expr, const char *function);       /* false of NULL, too */
bool is_name_of(const struct k_expr *expr, const char *name);
bool is_kernel_of_blocks(const struct k_function *function);    /* whose teams are blocks, or parts of one */

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
/* The same for what is declared ahead of statement `i` of a block: no statement there mentions the name. */
const char *name_list_ahead(struct arena *arena, name_list *names, const struct k_block *block, int i,
			    const char *base);
/* Hands `lower` each block of the statement that runs, while the names inside of it are visible. */
void name_list_inside(struct arena *arena, name_list *names, struct k_stmt *stmt,
		      void (*lower)(struct k_block *block, void *user), void *user);

/* ---- each.c ---- */

/* Takes statement `i` of a block over to `out`, in another form; false: it is taken over as it is. The names that are
 * visible ahead of it are those of the walk. */
typedef bool k_take(void *user, struct k_block *out, const struct k_block *block, int i);

/* Hands `take` each statement of the function's body, and where it leaves that as it is each one inside. */
void lower_each(struct k_lowered *lowered, struct k_function *function, name_list *visible, k_take *take, void *user);

/* ---- row_blocks.c ---- */

/* A row as blocks that are kept after each other. All but the last one have the same length, a multiple of the longest
 * vector's, so that one loop runs over them. */
struct k_row_blocks {
	int64_t length, rest;   /* of a block; of the last one, if that is shorter; in cells */
};

/* Of a row of so many cells of so many bytes; false: there are no such blocks. */
bool k_row_blocks(const struct k_row_limits *limits, int64_t length, int64_t size, struct k_row_blocks *blocks);

#endif
