/* SPDX-License-Identifier: MIT
 *
 * What the files of the kernel's functions share: kernel.c, entry.c, entry_parts.c, entry_regions.c. */
#ifndef PMGC_CODEGEN_ENTRY_PRIVATE_H
#define PMGC_CODEGEN_ENTRY_PRIVATE_H

#include "codegen/abi/abi.h"

/* Consecutive nests that stay together: of one statement, or of two of which one does the work of the other. */
struct part {
	int first, last;                /* nests first..last-1 */
	const char *name;               /* of the function that it may become */
	bool is_of_copy;                /* each copy of the kernel has its own, else all have the same */
	struct k_block *body;           /* of the last copy that was built, without declarations; NULL: of none yet */
	bool *is_written;               /* by slot */
};

/* Of an entry, one that takes from the plan what it reads. */
struct apart {
	struct k_stmt *stmt;
	struct k_block body;            /* without declarations */
	int first, last;                /* parts first..last-1 */
};

struct kernel {
	struct emit emit;
	const struct layout *layout;
	struct k_program *program;
	struct names names;             /* visible in every function */
	nest_list nests;
	VEC(struct part) parts;
	VEC(struct apart) apart;        /* of the entry that is built */
	const char *suffix;             /* of a copy */
	bool is_specialized;
};

typedef void build_body(struct kernel *kernel, const struct part *part);

/* ---- kernel.c ---- */

bool kernel_is_of_device(const struct kernel *kernel);
bool kernel_is_in_cplusplus(const struct kernel *kernel);
const char *kernel_function_name(const struct layout *layout, const char *name);

/* ---- entry.c: the function that the plan calls ---- */

/* What is built, without what it declares. Kernels of a device that it starts join the program. */
struct k_block *entry_body_of(struct kernel *kernel, build_body *build, const struct part *part);
/* A function without a body. */
struct k_function *entry_new(struct kernel *kernel, const char *base, bool is_extern);
void entry_add_args(struct kernel *kernel, struct k_builder *b);
void entry_build(struct kernel *kernel);

/* ---- entry_regions.c: prologue, loop and epilogue ---- */

void entry_build_body(struct kernel *kernel, const struct part *unused);
/* function(plan, control, …) */
struct k_expr *asked_of_control(struct arena *arena, const char *function);

/* ---- entry_parts.c ---- */

void parts_collect(struct kernel *kernel);
/* The parts of the region that begins with this one; the first one behind them. Commits are a region. */
int parts_end_of_region(const struct kernel *kernel, int first);
void parts_add_region(struct kernel *kernel, int first, int last);      /* and builds them */
/* The groups of parts first..last-1. */
group_list parts_groups(const struct kernel *kernel, int first, int last);
/* Does each statement select its active points? */
bool parts_select_points(const struct kernel *kernel);
/* Where arrays change places, each function takes them from the plan as they are when it is called. */
bool kernel_has_swaps(const struct module *module);

#endif
