/* SPDX-License-Identifier: MIT
 *
 * The branches of trees and their levels, from what they are: the first node of the branch of each node, the level of
 * each branch as one more than that of any branch that hangs on it, then one pass over all nodes for each level. */
#include "ir/interp/interp_private.h"

struct branches {
	struct run *run;
	const struct branching *what;
	int64_t n;
	int64_t *first;                 /* by node: the first node of its branch */
	int64_t *level;                 /* by first node */
	int64_t depth;
};

static int64_t parent_of(const struct branches *branches, int64_t node)
{
	return slot_integer(&branches->run->slots[branches->what->tree->number], node);
}

static void find_first_nodes(const struct branches *branches)
{
	for (int64_t k = 0; k < branches->n; k++)
		branches->first[k] = k > 0 && parent_of(branches, k) == k - 1 ? branches->first[k - 1] : k;
}

/* Branches that hang on one begin behind its first node. */
static void find_levels(struct branches *branches)
{
	for (int64_t k = branches->n - 1; k >= 0; k--) {
		int64_t parent = parent_of(branches, k);

		if (branches->first[k] != k)
			continue;
		if (branches->depth <= branches->level[k])
			branches->depth = branches->level[k] + 1;
		if (parent >= 0 && branches->level[branches->first[parent]] <= branches->level[k])
			branches->level[branches->first[parent]] = branches->level[k] + 1;
	}
}

static void set(const struct branches *branches, const struct array *array, int64_t at, int64_t value)
{
	slot_set_integer(&branches->run->slots[array->number], at, value);
}

static void fill(const struct branches *branches)
{
	int64_t n_branches = 0, level;

	set(branches, branches->what->depth, 0, branches->depth);
	for (level = 0; level < branches->depth; level++) {
		set(branches, branches->what->levels, level, n_branches);
		for (int64_t k = 0; k < branches->n; k++) {
			int64_t end = k + 1;

			if (branches->first[k] != k || branches->level[k] != level)
				continue;
			while (end < branches->n && branches->first[end] == k)
				end++;
			set(branches, branches->what->begins, n_branches, k);
			set(branches, branches->what->ends, n_branches++, end);
		}
	}
	for (; level <= branches->n; level++)
		set(branches, branches->what->levels, level, n_branches);
}

void bind_branchings(struct run *run)
{
	for (int i = 0; i < run->module->branchings.n && run->stop == RUN_GOES; i++) {
		const struct branching *what = &run->module->branchings.items[i];
		struct branches branches = { .run = run, .what = what, .n = run->slots[what->tree->number].n };

		branches.first = arena_new_array(run->scratch, int64_t, branches.n + 1);
		branches.level = arena_new_array(run->scratch, int64_t, branches.n + 1);
		find_first_nodes(&branches);
		find_levels(&branches);
		fill(&branches);
	}
}
