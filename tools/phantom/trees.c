/* SPDX-License-Identifier: MIT
 *
 * A tree of n nodes and b branches: from one branch (or two at the root, where b is even), tips are drawn at which two
 * more begin until there are b; the edges that are left are given to branches at random. Levels are full binary
 * trees of branches, or what the counts of the levels say. */
#include "phantom/trees.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "phantom/random.h"

/* ---- Shapes -------------------------------------------------------------------------- */

/* Valero-Lara et al., table 1. */
static const struct {
	const char *name;
	int64_t n, branches;
} named[] = {
	{ "small-low", 76, 7 }, { "small-high", 76, 29 }, { "medium-low", 305, 30 }, { "medium-high", 319, 157 },
	{ "big-low", 695, 66 }, { "big-high", 691, 341 },
};

enum { N_NAMED = sizeof(named) / sizeof(named[0]) };

const char *tree_shape_named(int i)
{
	return i < N_NAMED ? named[i].name : NULL;
}

static bool unknown_shape(const char *text, struct failure *failure)
{
	const char *names[N_NAMED];
	for (int i = 0; i < N_NAMED; i++)
		names[i] = named[i].name;
	fail(failure, OUTCOME_USAGE, "'%s' is not the shape of a tree", text);
	const char *near = suggest_nearest(text, names, N_NAMED);
	if (near)
		fail_help(failure, "did you mean '%s'?", near);
	else
		fail_help(failure, "small-low … big-high, NODES/BRANCHES, levels=N, levels=256,2x32,… or chain");
	return false;
}

static bool check_counts(const struct tree_shape *shape, struct failure *failure)
{
	if (shape->n >= 1 && shape->n <= INT32_MAX && shape->branches >= (shape->n > 1) &&
	    shape->branches <= shape->n - 1)
		return true;
	return fail(failure, OUTCOME_USAGE, "a tree of %" PRId64 " node%s cannot have %" PRId64 " branch%s", shape->n,
		    s_of(shape->n), shape->branches, shape->branches == 1 ? "" : "es");
}

/* "N/B" */
static bool read_counts(const char *text, struct tree_shape *shape, struct failure *failure)
{
	char nodes[32];
	const char *slash = strchr(text, '/');
	snprintf(nodes, sizeof(nodes), "%.*s", (int) (slash - text), text);
	if (!parse_integer(nodes, &shape->n) || !parse_integer(slash + 1, &shape->branches))
		return unknown_shape(text, failure);
	return check_counts(shape, failure);
}

/* "256,2x32,…": [COUNTx]SIZE of each level. */
static bool read_levels(const char *text, struct tree_shape *shape, struct failure *failure)
{
	for (const char *at = text; at && *at; shape->n_levels++) {
		char *end;
		int level = shape->n_levels;
		if (level == TREE_MOST_LEVELS)
			return fail(failure, OUTCOME_USAGE, "a tree has at most %d levels", TREE_MOST_LEVELS);
		shape->size[level] = strtoll(at, &end, 10);
		shape->count[level] = 1;
		if (*end == 'x' && end > at) {
			shape->count[level] = shape->size[level];
			at = end + 1;
			shape->size[level] = strtoll(at, &end, 10);
		}
		bool is_number = end > at && (*end == '\0' || (*end == ',' && end[1] != '\0'));
		if (!is_number || shape->count[level] < 1 || shape->count[level] > INT32_MAX ||
		    shape->size[level] < 1 || shape->size[level] > INT32_MAX / shape->count[level])
			return unknown_shape(text, failure);
		if (shape->count[level] % (level ? shape->count[level - 1] : 1) != 0)
			return fail(failure, OUTCOME_USAGE, "level %d has %" PRId64 " branch%s for %" PRId64 " above",
				    level + 1, shape->count[level], shape->count[level] == 1 ? "" : "es",
				    shape->count[level - 1]);
		shape->n += shape->count[level] * shape->size[level];
		at = *end ? end + 1 : NULL;
	}
	if (shape->n >= 1 && shape->n <= INT32_MAX)
		return true;
	return fail(failure, OUTCOME_USAGE, "levels=%s: too many nodes, or none", text);
}

/* Half of the nodes in one branch, and equal parts of the others in 2, 4, … branches. */
static bool divide_levels(int64_t n_levels, int64_t n, struct tree_shape *shape, struct failure *failure)
{
	int64_t left = n - n / 2;
	if (n_levels < 1 || n_levels > TREE_MOST_LEVELS || n < (INT64_C(1) << n_levels) * n_levels)
		return fail(failure, OUTCOME_USAGE, "%" PRId64 " node%s cannot have %" PRId64 " level%s", n, s_of(n),
			    n_levels, s_of(n_levels));
	shape->n = n;
	shape->n_levels = (int) n_levels;
	shape->is_even = true;
	for (int level = 0; level < n_levels; level++) {
		shape->count[level] = INT64_C(1) << level;
		shape->size[level] = level ? left / (n_levels - level) : n_levels > 1 ? n / 2 : n;
		left -= level ? shape->size[level] : 0;
	}
	return true;
}

bool tree_shape_parse(const char *text, int64_t n, struct tree_shape *shape, struct failure *failure)
{
	int64_t levels;
	*shape = (struct tree_shape){ 0 };
	for (int i = 0; i < N_NAMED; i++)
		if (strcmp(named[i].name, text) == 0) {
			*shape = (struct tree_shape){ .n = named[i].n, .branches = named[i].branches };
			return true;
		}
	if (strcmp(text, "chain") == 0) {
		*shape = (struct tree_shape){ .n = n, .branches = n > 1 };
		return check_counts(shape, failure);
	}
	if (strncmp(text, "levels=", 7) == 0)
		return parse_integer(text + 7, &levels) && levels <= TREE_MOST_LEVELS
			       ? divide_levels(levels, n, shape, failure)
			       : read_levels(text + 7, shape, failure);
	return strchr(text, '/') ? read_counts(text, shape, failure) : unknown_shape(text, failure);
}

/* ---- Trees ---------------------------------------------------------------------------------- */

/* Branches before they are nodes: their edges, the first branch behind, and the next one beside. */
struct branch {
	int64_t edges;
	int64_t first, next;    /* -1: none */
};

struct plan {
	struct branch *branches;
	int64_t n, *stack, *tips;
};

static int64_t add_branch(struct plan *plan, int64_t edges, int64_t *list)
{
	plan->branches[plan->n] = (struct branch){ .edges = edges, .first = -1, .next = *list };
	*list = plan->n;
	return plan->n++;
}

/* Tips fork until there are enough branches. */
static void fork_tips(struct plan *plan, int64_t n_branches, struct random_stream *random, int64_t *roots)
{
	int64_t n_tips = 0;
	for (int64_t i = 0; i < 2 - n_branches % 2 && plan->n < n_branches; i++)
		plan->tips[n_tips++] = add_branch(plan, 1, roots);
	while (plan->n < n_branches) {
		int64_t place = random_below(random, n_tips), tip = plan->tips[place];
		plan->tips[place] = add_branch(plan, 1, &plan->branches[tip].first);
		plan->tips[n_tips++] = add_branch(plan, 1, &plan->branches[tip].first);
	}
}

/* Nodes of the branches that begin at a node, and of those behind, in depth-first order. */
static void number_nodes(struct plan *plan, int64_t roots, int64_t n_nodes, int64_t *end_of, int32_t *parent)
{
	int64_t depth = 0;
	if (roots >= 0)
		plan->stack[depth++] = roots;
	while (depth > 0) {
		int64_t b = plan->stack[--depth];
		const struct branch *branch = &plan->branches[b];
		if (branch->next >= 0)
			plan->stack[depth++] = branch->next;
		int64_t at = end_of[b];
		for (int64_t i = 0; i < branch->edges; i++) {
			parent[n_nodes] = (int32_t) at;
			at = n_nodes++;
		}
		for (int64_t child = branch->first; child >= 0; child = plan->branches[child].next)
			end_of[child] = at;
		if (branch->first >= 0)
			plan->stack[depth++] = branch->first;
	}
}

static void draw_counts(struct plan *plan, const struct tree_shape *shape, uint64_t seed, int64_t *roots)
{
	struct random_stream random = random_stream_of((int64_t) seed, RANDOM_TREE, 0);
	fork_tips(plan, shape->branches, &random, roots);
	for (int64_t left = shape->n - 1 - shape->branches; left > 0; left--)
		plan->branches[random_below(&random, plan->n)].edges++;
}

/* Branch i of a level hangs on branch i / (count / count above) of the level above; the first node is the root. */
static void draw_levels(struct plan *plan, const struct tree_shape *shape, int64_t *roots)
{
	int64_t above = -1;
	for (int level = 0; level < shape->n_levels; level++) {
		int64_t count = shape->count[level], begin = plan->n;
		int64_t fan = level ? count / shape->count[level - 1] : 1;
		for (int64_t i = count - 1; i >= 0; i--) {
			/* Where sizes are those of whole levels, the first branches have one node more. */
			int64_t nodes = shape->is_even ? shape->size[level] / count + (i < shape->size[level] % count)
						       : shape->size[level];
			add_branch(plan, nodes - (level == 0),
				   level ? &plan->branches[above + (count - 1 - i) / fan].first : roots);
		}
		above = begin;
	}
}

static int64_t count_of(const struct tree_shape *shape)
{
	int64_t n = shape->n_levels ? 0 : shape->branches;
	for (int level = 0; level < shape->n_levels; level++)
		n += shape->count[level];
	return n;
}

bool tree_draw(const struct tree_shape *shape, uint64_t seed, int32_t *parent, struct failure *failure)
{
	size_t n = (size_t) count_of(shape) + 2;
	int64_t roots = -1, *end_of = calloc(n, sizeof(*end_of));
	struct plan plan = { .branches = calloc(n, sizeof(struct branch)), .stack = calloc(n, sizeof(int64_t)),
			     .tips = calloc(n, sizeof(int64_t)) };
	bool ok = plan.branches && plan.stack && plan.tips && end_of;
	if (ok && shape->n_levels)
		draw_levels(&plan, shape, &roots);
	else if (ok)
		draw_counts(&plan, shape, seed, &roots);
	if (ok) {
		parent[0] = -1;
		number_nodes(&plan, roots, 1, end_of, parent);
	}
	free(plan.branches);
	free(plan.stack);
	free(plan.tips);
	free(end_of);
	return ok || fail_memory(failure, "a tree");
}

/* ---- Counting -------------------------------------------------------------------------------- */

int64_t tree_count_branches(const int32_t *parent, int64_t n)
{
	int64_t branches = 0;
	int32_t *children = calloc((size_t) n + 1, sizeof(*children));
	for (int64_t i = 0; children && i < n; i++)
		if (parent[i] >= 0)
			children[parent[i]]++;
	/* A child begins a branch below a root and below a fork. */
	for (int64_t i = 0; children && i < n; i++)
		branches += parent[i] >= 0 && (parent[parent[i]] < 0 || children[parent[i]] > 1);
	free(children);
	return branches;
}

int64_t tree_depth(const int32_t *parent, int64_t n)
{
	int64_t most = 0;
	int32_t *depth = calloc((size_t) n + 1, sizeof(*depth));
	for (int64_t i = 0; depth && i < n; i++) {
		depth[i] = parent[i] >= 0 ? depth[parent[i]] + 1 : 1;
		most = depth[i] > most ? depth[i] : most;
	}
	free(depth);
	return most;
}
