/* SPDX-License-Identifier: MIT
 *
 * What the files of the lowering `outline` share. */
#ifndef PMGC_KERNEL_LOWER_OUTLINE_PRIVATE_H
#define PMGC_KERNEL_LOWER_OUTLINE_PRIVATE_H

#include "kernel/kernel_private.h"
#include "kernel/lower/lower_private.h"

/* A part of an entry, and what is declared where it stands: globals, parameters, then what the entry declares. */
struct outline_place {
	const struct k_stmt *part;
	VEC(struct k_declared) visible;
};

/* ---- outline_function.c ---- */

/* The function that has a part: it declares anew what it reads of the plan, and is handed what else it reads. Its body
 * has these declarations alone, until the caller adds the part's. `*call` is what stands in the part's place. */
struct k_function *outline_function(struct arena *arena, const struct k_function *entry,
				    const struct outline_place *place, struct k_expr **call);
/* What is left of an entry whose parts are functions: they have its buffers, too, of which it may only read some. */
void outline_share_buffers(struct k_function *entry);

/* ---- outline_names.c ---- */

/* The block's statements as they stand among these names: what they declare of the same name is called otherwise. */
struct k_block outline_rename(struct arena *arena, const name_list *visible, const struct k_block *block);

#endif
