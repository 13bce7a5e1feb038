/* SPDX-License-Identifier: MIT
 *
 * Made-up trees: of given numbers of nodes and branches, such as those of Valero-Lara et al. (Oil & Gas Sci. Technol.
 * 2018, table 1), and of branch levels (section 5).
 *
 * A branch is a run of edges without a fork: it begins at the root or at a fork. Nodes are in depth-first order, so
 * that parent[i] < i, and the root is node 0. All is a function of shape and seed alone. */
#ifndef TOOLS_PHANTOM_TREES_H
#define TOOLS_PHANTOM_TREES_H

#include "cli/cli.h"

enum { TREE_MOST_LEVELS = 16 };

struct tree_shape {
	int64_t n, branches;    /* branches: not used where there are levels */
	int n_levels;
	int64_t count[TREE_MOST_LEVELS], size[TREE_MOST_LEVELS]; /* of each level: branches, nodes of a branch */
	bool is_even;           /* sizes of a level may differ by one, so that they add up to n */
};

/* The shape that `text` names: a name of tree_shape_named(), NODES/BRANCHES, levels=N (N levels in n nodes, half of
 * them in the first), levels=256,2x32,… as it says, or chain. `n` is the size where the text does not tell it. */
bool tree_shape_parse(const char *text, int64_t n, struct tree_shape *shape, struct failure *failure);
const char *tree_shape_named(int i);    /* NULL: no more */
bool tree_draw(const struct tree_shape *shape, uint64_t seed, int32_t *parent, struct failure *failure);
int64_t tree_count_branches(const int32_t *parent, int64_t n);
/* Nodes on the longest way from a root to a tip; 0 where there is no memory to count. */
int64_t tree_depth(const int32_t *parent, int64_t n);

#endif
