/* SPDX-License-Identifier: MIT
 *
 * The branches of a tree by levels (pmg_branches_desc): one pass from the leaves to the roots for the levels, a
 * counting sort of the branches, O(n) and without memory of its own. */
#include "plan/plan.h"

#include <string.h>

static bool begins_branch(const int64_t *parent, int64_t node)
{
	return node == 0 || parent[node] != node - 1;
}

/* level[k]: how many branches, one on the other, hang on node k or below it. At the first node of a branch this is the
 * level of the branch. Returns the number of levels. */
static int64_t find_levels(const int64_t *parent, int64_t n, int64_t *level)
{
	int64_t depth = 0;

	memset(level, 0, (size_t) n * sizeof *level);
	for (int64_t k = n - 1; k >= 0; k--) {
		const int64_t above = level[k] + (begins_branch(parent, k) ? 1 : 0);

		depth = depth < level[k] + 1 ? level[k] + 1 : depth;
		if (parent[k] >= 0 && level[parent[k]] < above)
			level[parent[k]] = above;
	}
	return depth;
}

/* levels[l + 1] counts the branches of level l, then is where they end; filling moves levels[l] to the end of level l,
 * which is the begin of the next one. */
static void sort_branches(const int64_t *parent, int64_t n, const int64_t *level, int64_t *levels, int64_t *begins)
{
	memset(levels, 0, (size_t) (n + 1) * sizeof *levels);
	for (int64_t k = 0; k < n; k++)
		levels[level[k] + 1] += begins_branch(parent, k);
	for (int64_t l = 0; l < n; l++)
		levels[l + 1] += levels[l];
	for (int64_t k = 0; k < n; k++)
		if (begins_branch(parent, k))
			begins[levels[level[k]]++] = k;
	for (int64_t l = n; l > 0; l--)
		levels[l] = levels[l - 1];
	levels[0] = 0;
}

void branches_build(struct plan *plan, const pmg_branches_desc *branches)
{
	const int64_t n = array_elements(&plan->desc->arrays[branches->parent], plan->extents);
	const int64_t *parent = plan->kernel.data[branches->parent];
	int64_t *levels = plan->kernel.data[branches->levels], *depth = plan->kernel.data[branches->depth];
	int64_t *begins = plan->kernel.data[branches->begins], *ends = plan->kernel.data[branches->ends];

	*depth = find_levels(parent, n, ends);
	sort_branches(parent, n, ends, levels, begins);
	for (int64_t b = 0; b < levels[n]; b++) {
		ends[b] = begins[b] + 1;
		while (ends[b] < n && !begins_branch(parent, ends[b]))
			ends[b]++;
	}
}
