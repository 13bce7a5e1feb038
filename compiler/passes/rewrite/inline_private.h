/* SPDX-License-Identifier: MIT
 *
 * What the files of the pass share.
 *
 *     inline.c          what is inlined, and what is refused
 *     inline_readers.c  which stages read an array
 *     inline_reads.c    the value in the place of a read */
#ifndef PMGC_PASSES_INLINE_PRIVATE_H
#define PMGC_PASSES_INLINE_PRIVATE_H

#include "passes/pass_private.h"

/* By number of an array: the stages that read it, in the order of the module, kept up to date from one inlined array to
 * the next. Without it each array looks through all expressions, and time grows with the square of the stages. */
struct readers {
	struct module *module;
	stage_list *of;
};

struct readers readers_new(struct module *module);
/* The stages that read the array now read what its definition reads. */
void readers_replace(struct readers *readers, const struct array *array, const struct group *definition);

/* An array and what defines it: for each of its points at most one stage of a group, by their guards. */
struct use {
	struct module *module;
	struct array *array;
	const stage_list *readers;
	struct group *definition;
	int dim_of[8];                  /* by subscript: the dim of the definition that it is, plus `offset` */
	int64_t offset[8];
};

/* Replaces all reads of the array in values of its readers. */
void inline_reads(const struct use *use);

#endif
