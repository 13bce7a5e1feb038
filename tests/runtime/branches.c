/* SPDX-License-Identifier: MIT
 *
 * Branches of trees by levels (pmg_branches_desc), against what they are: each node stands in one branch, next to its
 * parent unless it is the first; what hangs on a branch is of a lower level, and something of the level below hangs on
 * each branch that is not of the first one. Random trees from chains to stars, with several roots, and none. */
#include "runtime/check.h"

#include <stdlib.h>

enum { MOST_NODES = 200 };
enum { PARENT, DEPTH, LEVELS, BEGINS, ENDS, N_ARRAYS };

typedef struct tree_args {
	int64_t n;
	pmg_buffer parent;
} tree_args;

static void extents(const void *arguments, int64_t *values)
{
	const tree_args *args = arguments;

	values[0] = args->n;
	values[1] = 1;
	values[2] = args->n + 1;
}

static pmg_status kernel(pmg_plan *plan, const void *args, pmg_control *control)
{
	(void) plan, (void) args, (void) control;
	return PMG_OK;
}

static const pmg_param_desc params[] = { { "n", PMG_I64, offsetof(tree_args, n), "t.pmg:1" } };
static const pmg_extent nodes[] = { { 0, false, 0, "n" } }, above[] = { { 0, false, 1, "n + 1" } };
static const pmg_extent one[] = { { -1, false, 1, "1" } };

#define INTERNAL(n, s, e) \
	{ .name = n, .role = PMG_TEMP, .type = PMG_I64, .rank = 1, .shape = s, .first_extent = e, .segments = -1, \
	  .offset = SIZE_MAX, .place = "t.pmg:2" }

static const pmg_array_desc arrays[] = {
	[PARENT] = { .name = "parent", .role = PMG_IN, .type = PMG_I64, .is_fixed = true, .is_index = true, .rank = 1,
		     .shape = nodes, .first_extent = 0, .facts = PMG_FACT_TREE, .segments = -1,
		     .offset = offsetof(tree_args, parent), .place = "t.pmg:2" },
	[DEPTH] = INTERNAL("parent.depth", one, 1),
	[LEVELS] = INTERNAL("parent.levels", above, 2),
	[BEGINS] = INTERNAL("parent.begins", nodes, 0),
	[ENDS] = INTERNAL("parent.ends", nodes, 0),
};

static pmg_pipeline_desc description(const pmg_branches_desc *branches)
{
	return (pmg_pipeline_desc) {
		.abi_version = PMG_ABI_VERSION, .name = "t", .source = "t.pmg", .target = "openmp",
		.args_size = sizeof(tree_args), .n_params = 1, .n_arrays = N_ARRAYS, .n_branches = 1, .n_extents = 3,
		.params = params, .arrays = arrays, .branches = branches, .extents = extents, .kernel = kernel
	};
}

/* Of 10 nodes, `jumps` do not follow their parent. */
static void draw(int64_t *parent, int64_t n, int jumps)
{
	for (int64_t k = 0; k < n; k++)
		parent[k] = k == 0 || rand() % 20 == 0 ? -1 : rand() % 10 < jumps ? rand() % k : k - 1;
}

struct found {
	int64_t branch[MOST_NODES], level[MOST_NODES];  /* by node */
};

/* Does each node stand in one branch, behind its parent unless it is the first of the branch? */
static bool find(const pmg_plan *plan, const int64_t *parent, int64_t n, struct found *found)
{
	const int64_t *levels = plan->data[LEVELS], *begins = plan->data[BEGINS], *ends = plan->data[ENDS];
	const int64_t depth = *(const int64_t *) plan->data[DEPTH];
	int64_t n_nodes = 0;
	bool ok = levels[0] == 0 && 0 <= depth && depth <= n && levels[depth] == levels[n];

	for (int64_t k = 0; k < n; k++)
		found->branch[k] = -1;
	for (int64_t level = 0; level < depth && ok; level++)
		for (int64_t b = levels[level]; b < levels[level + 1] && ok; b++)
			for (int64_t k = begins[b]; k < ends[b] && ok; k++, n_nodes++) {
				ok = k < n && found->branch[k] < 0 && (k == begins[b]) == (!k || parent[k] != k - 1);
				found->branch[k] = b;
				found->level[k] = level;
			}
	return ok && n_nodes == n;
}

static bool levels_are_right(const int64_t *parent, int64_t n, const struct found *found)
{
	bool is_reached[MOST_NODES] = { 0 }, ok = true;

	for (int64_t k = 0; k < n; k++) {
		const int64_t p = parent[k];

		if (p < 0 || found->branch[p] == found->branch[k])
			continue;
		ok = ok && found->level[k] < found->level[p];
		if (found->level[k] + 1 == found->level[p])
			is_reached[found->branch[p]] = true;
	}
	for (int64_t k = 0; k < n; k++)
		ok = ok && (found->level[k] == 0 || is_reached[found->branch[k]]);
	return ok;
}

static bool try_tree(const int64_t *parent, int64_t n)
{
	static const pmg_branches_desc branches = { PARENT, DEPTH, LEVELS, BEGINS, ENDS };
	const pmg_pipeline_desc desc = description(&branches);
	const tree_args args = { n, pmg_dense((void *) (uintptr_t) parent, PMG_I64, 1, &n) };
	pmg_context *context = pmg_context_new(NULL);
	const pmg_options options = { .context = context, .threads = 2 };
	static struct found found;
	pmg_plan *plan = NULL;
	bool ok = pmg_plan_new(&desc, &args, &options, &plan) == PMG_OK && find(plan, parent, n, &found) &&
		  levels_are_right(parent, n, &found);

	pmg_plan_destroy(plan);
	pmg_context_free(context);
	return ok;
}

static void test_refusals(struct tests *tests)
{
	static const pmg_branches_desc wrong[] = {
		{ N_ARRAYS, DEPTH, LEVELS, BEGINS, ENDS }, { DEPTH, DEPTH, LEVELS, BEGINS, ENDS },
		{ PARENT, PARENT, LEVELS, BEGINS, ENDS }, { PARENT, DEPTH, N_ARRAYS, BEGINS, ENDS },
		{ PARENT, DEPTH, LEVELS, -1, ENDS }, { PARENT, DEPTH, LEVELS, BEGINS, PARENT },
	};

	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		const pmg_pipeline_desc desc = description(&wrong[i]);
		const tree_args args = { 0 };

		CHECK(tests, pmg_plan_forecast(&desc, &args) < 0);
	}
}

void test_branches(struct tests *tests)
{
	static int64_t parent[MOST_NODES];

	srand(1);
	for (int jumps = 0; jumps <= 10; jumps++)
		for (int64_t n = 0; n <= MOST_NODES; n = n < 4 ? n + 1 : n*5/2) {
			draw(parent, n, jumps);
			CHECK(tests, try_tree(parent, n));
		}
	test_refusals(tests);
}
