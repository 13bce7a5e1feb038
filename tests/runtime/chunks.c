/* SPDX-License-Identifier: MIT
 *
 * Chunks of trees and their turns (pmg_chunks_desc), against what they are: chunks are runs of so many nodes at most,
 * each node but the last with the next one as its only child; no two of one branch could be one; each chunk hangs on
 * the chunk whose last node is its parent, and is listed there once; its turn is one more than the later one of child
 * and sibling. Random trees from chains to stars, with several roots, and none. */
#include "runtime/check.h"

#include <stdlib.h>

enum { MOST_NODES = 200 };
enum { PARENT, OFFSETS, ABOVE, CHILD, SIBLING, TURN, ORDER, TURNS, N_ARRAYS };

typedef struct tree_args {
	int64_t n;
	pmg_buffer parent;
} tree_args;

static void extents(const void *arguments, int64_t *values)
{
	const tree_args *args = arguments;

	values[0] = args->n;
	values[1] = args->n + 1;
	values[2] = args->n + 2;
}

static pmg_status kernel(pmg_plan *plan, const void *args, pmg_control *control)
{
	(void) plan, (void) args, (void) control;
	return PMG_OK;
}

static const pmg_param_desc params[] = { { "n", PMG_I64, offsetof(tree_args, n), "t.pmg:1" } };
static const pmg_extent nodes[] = { { 0, false, 0, "n" } }, above[] = { { 0, false, 1, "n + 1" } };
static const pmg_extent turns[] = { { 0, false, 2, "n + 2" } };

#define INTERNAL(n, s, e) \
	{ .name = n, .role = PMG_TEMP, .type = PMG_I64, .rank = 1, .shape = s, .first_extent = e, .segments = -1, \
	  .offset = SIZE_MAX, .place = "t.pmg:2" }

static const pmg_array_desc arrays[] = {
	[PARENT] = { .name = "parent", .role = PMG_IN, .type = PMG_I64, .is_fixed = true, .is_index = true, .rank = 1,
		     .shape = nodes, .first_extent = 0, .facts = PMG_FACT_TREE, .segments = -1,
		     .offset = offsetof(tree_args, parent), .place = "t.pmg:2" },
	[OFFSETS] = INTERNAL("parent.offsets", above, 1),
	[ABOVE] = INTERNAL("parent.above", above, 1),
	[CHILD] = INTERNAL("parent.child", above, 1),
	[SIBLING] = INTERNAL("parent.sibling", above, 1),
	[TURN] = INTERNAL("parent.turn", above, 1),
	[ORDER] = INTERNAL("parent.order", nodes, 0),
	[TURNS] = INTERNAL("parent.turns", turns, 2),
};

static pmg_pipeline_desc description(const pmg_chunks_desc *chunks)
{
	return (pmg_pipeline_desc) {
		.abi_version = PMG_ABI_VERSION, .name = "t", .source = "t.pmg", .target = "openmp",
		.args_size = sizeof(tree_args), .n_params = 1, .n_arrays = N_ARRAYS, .n_chunks = 1, .n_sizes = 2,
		.n_extents = 3,
		.params = params, .arrays = arrays, .chunks = chunks, .extents = extents, .kernel = kernel
	};
}

/* Of 10 nodes, `jumps` do not follow their parent. */
static void draw(int64_t *parent, int64_t n, int jumps)
{
	for (int64_t k = 0; k < n; k++)
		parent[k] = k == 0 || rand() % 20 == 0 ? -1 : rand() % 10 < jumps ? rand() % k : k - 1;
}

struct made {
	const int64_t *offsets, *above, *child, *sibling, *turn, *order, *turns;
	int64_t n, n_turns;
};

static bool is_only_child(const int64_t *parent, int64_t n, int64_t k)
{
	for (int64_t i = 0; i < n; i++)
		if (i != k && parent[i] == parent[k])
			return false;
	return true;
}

/* Is the node behind a node in its branch? */
static bool goes_on(const int64_t *parent, int64_t n, int64_t k)
{
	return k > 0 && parent[k] == k - 1 && is_only_child(parent, n, k);
}

static bool nodes_are_right(const struct made *made, const int64_t *parent, int64_t n, int64_t rows)
{
	bool ok = made->offsets[0] == 0 && made->offsets[made->n] == n;

	for (int64_t c = 0; c < made->n && ok; c++) {
		const int64_t begin = made->offsets[c], end = made->offsets[c + 1];

		ok = begin < end && end - begin <= rows;
		for (int64_t k = begin + 1; k < end; k++)
			ok = ok && goes_on(parent, n, k);
		/* Two that are one behind another would not have had room in one. */
		if (goes_on(parent, n, begin))
			ok = ok && end - made->offsets[c - 1] > rows;
		ok = ok && (parent[begin] < 0 ? made->above[c] == made->n
					      : parent[begin] == made->offsets[made->above[c] + 1] - 1);
	}
	return ok;
}

static bool lists_are_right(const struct made *made)
{
	int64_t n_listed = 0, n_roots = 0;
	bool ok = made->turn[made->n] == 0;

	for (int64_t c = 0; c < made->n && ok; c++) {
		const int64_t child = made->turn[made->child[c]], sibling = made->turn[made->sibling[c]];

		n_roots += made->above[c] == made->n;
		ok = made->turn[c] == 1 + (child > sibling ? child : sibling);
		for (int64_t d = made->child[c]; d != made->n && ok; d = made->sibling[d]) {
			ok = made->above[d] == c;
			n_listed++;
		}
	}
	return ok && n_listed + n_roots == made->n;
}

static bool order_is_right(const struct made *made)
{
	bool is_seen[MOST_NODES] = { 0 }, ok = made->turns[0] == 0 && made->turns[made->n_turns] == made->n;

	for (int64_t t = 0; t < made->n_turns && ok; t++)
		for (int64_t i = made->turns[t]; i < made->turns[t + 1] && ok; i++) {
			ok = made->turn[made->order[i]] == t && !is_seen[made->order[i]];
			is_seen[made->order[i]] = true;
		}
	return ok;
}

static bool try_tree(const int64_t *parent, int64_t n, int64_t rows)
{
	const pmg_chunks_desc chunks = { PARENT, rows, 0, 1, OFFSETS, ABOVE, CHILD, SIBLING, TURN, ORDER, TURNS };
	const pmg_pipeline_desc desc = description(&chunks);
	const tree_args args = { n, pmg_dense((void *) (uintptr_t) parent, PMG_I64, 1, &n) };
	pmg_context *context = pmg_context_new(NULL);
	const pmg_options options = { .context = context, .threads = 2 };
	pmg_plan *plan = NULL;
	bool ok = pmg_plan_new(&desc, &args, &options, &plan) == PMG_OK;

	if (ok) {
		void *const *data = plan->data;
		const struct made made = { data[OFFSETS], data[ABOVE], data[CHILD], data[SIBLING], data[TURN],
					   data[ORDER], data[TURNS], plan->sizes[0], plan->sizes[1] };

		ok = nodes_are_right(&made, parent, n, rows) && lists_are_right(&made) && order_is_right(&made);
	}
	pmg_plan_destroy(plan);
	pmg_context_free(context);
	return ok;
}

static void test_refusals(struct tests *tests)
{
	static const pmg_chunks_desc wrong[] = {
		{ N_ARRAYS, 4, 0, 1, OFFSETS, ABOVE, CHILD, SIBLING, TURN, ORDER, TURNS },
		{ OFFSETS, 4, 0, 1, OFFSETS, ABOVE, CHILD, SIBLING, TURN, ORDER, TURNS },
		{ PARENT, 0, 0, 1, OFFSETS, ABOVE, CHILD, SIBLING, TURN, ORDER, TURNS },
		{ PARENT, 4, 2, 1, OFFSETS, ABOVE, CHILD, SIBLING, TURN, ORDER, TURNS },
		{ PARENT, 4, 0, -1, OFFSETS, ABOVE, CHILD, SIBLING, TURN, ORDER, TURNS },
		{ PARENT, 4, 0, 1, PARENT, ABOVE, CHILD, SIBLING, TURN, ORDER, TURNS },
		{ PARENT, 4, 0, 1, OFFSETS, -1, CHILD, SIBLING, TURN, ORDER, TURNS },
		{ PARENT, 4, 0, 1, OFFSETS, ABOVE, CHILD, SIBLING, TURN, -1, TURNS },
	};

	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		const pmg_pipeline_desc desc = description(&wrong[i]);
		const tree_args args = { 0 };

		CHECK(tests, pmg_plan_forecast(&desc, &args) < 0);
	}
}

void test_chunks(struct tests *tests)
{
	static int64_t parent[MOST_NODES];

	srand(1);
	for (int jumps = 0; jumps <= 10; jumps++)
		for (int64_t n = 0; n <= MOST_NODES; n = n < 4 ? n + 1 : n*5/2)
			for (int64_t rows = 1; rows <= 16; rows *= 4) {
				draw(parent, n, jumps);
				CHECK(tests, try_tree(parent, n, rows));
			}
	test_refusals(tests);
}
