/* SPDX-License-Identifier: MIT
 *
 * The schedule trees that isl makes loops of. */
#ifndef PMGC_CODEGEN_AST_TREE_H
#define PMGC_CODEGEN_AST_TREE_H

#include "ir/schedule.h"

struct nest_tree {
	isl_schedule *schedule;
	isl_set *context;               /* what holds of its parameters */
};

/* What becomes loops together. */
struct nests {
	isl_schedule_node *from;        /* a sequence, of which these are the children first..first+n-1 */
	int first, n;                   /* n = 0: all that is below `from`, which is no sequence */
};

/* `context`: what holds of all parameters. */
struct nest_tree tree_of_nests(struct module *module, enum region_kind kind, __isl_keep isl_set *context,
			       const struct nests *nests);

#endif
