/* SPDX-License-Identifier: MIT
 *
 * What the files of the pass share.
 *
 *     inline.c        what is inlined, and what is refused
 *     inline_reads.c  the value in the place of a read */
#ifndef PMGC_PASSES_INLINE_PRIVATE_H
#define PMGC_PASSES_INLINE_PRIVATE_H

#include "passes/pass_private.h"

/* An array and what defines it: for each of its points at most one stage of a group, by their guards. */
struct use {
	struct module *module;
	struct array *array;
	struct group *definition;
	int dim_of[8];                  /* by subscript: the dim of the definition that it is, plus `offset` */
	int64_t offset[8];
};

/* Replaces all reads of the array in values. */
void inline_reads(const struct use *use);

#endif
