/* SPDX-License-Identifier: MIT
 *
 * Branches as Arbor's load_swc_arbor makes them: a frustum between each point and its parent, and a branch from a root
 * or a fork to the next fork or tip. A branch and all below it come before the next one, branches of one fork in the
 * order of their first points. Where a branch begins or ends with two points at one place, the ring between their radii
 * has no side; within a branch it has. */
#include <stdlib.h>

#include "hines/cells.h"

struct tree {
	const struct morphology *m;
	int32_t *n_children, *first, *next; /* children of a point, in their order */
	int32_t *stack, *branch;            /* points that branches begin behind; the branch that a point ends */
};

static bool tree_new(struct tree *t, const struct morphology *m, struct failure *failure)
{
	size_t n = (size_t) m->n + 1;
	*t = (struct tree){ .m = m,
			    .n_children = calloc(n, sizeof(int32_t)),
			    .first = calloc(n, sizeof(int32_t)),
			    .next = calloc(n, sizeof(int32_t)),
			    .stack = calloc(n, sizeof(int32_t)),
			    .branch = calloc(n, sizeof(int32_t)) };
	if (!t->n_children || !t->first || !t->next || !t->stack || !t->branch)
		return fail_memory(failure, "the branches");
	for (int32_t i = (int32_t) m->n - 1; i > 0; i--) {
		int32_t above = m->points[i].parent;
		t->next[i] = t->n_children[above]++ ? t->first[above] : -1;
		t->first[above] = i;
	}
	return true;
}

static void tree_free(struct tree *t)
{
	free(t->n_children);
	free(t->first);
	free(t->next);
	free(t->stack);
	free(t->branch);
}

/* The branch whose first point is `i`; its last. */
static int32_t add_branch(struct tree *t, struct cables *cables, int32_t i)
{
	int32_t above = t->m->points[i].parent, end = i;
	bool is_of_root = above == 0;
	struct cable *cable = cables_begin(cables, is_of_root ? (cables->n > 0 ? 0 : -1) : t->branch[above],
					   is_of_root ? CABLE_BEGIN : CABLE_END);
	for (;; end = t->first[end]) {
		struct frustum f = frustum_of_point(t->m, end);
		if (f.length == 0 && (end == i || t->n_children[end] != 1))
			f.radius_from = f.radius_to;
		cables_add(cables, &f);
		if (t->n_children[end] != 1)
			break;
	}
	cable->has_begin_node = cable->parent < 0 && t->n_children[0] > 1;
	cable->has_end_node = t->n_children[end] > 1;
	cable->begin_id = t->m->points[0].id;
	cable->end_id = t->m->points[end].id;
	t->branch[end] = cables->n - 1;
	return end;
}

static void make_branches(struct tree *t, struct cables *cables)
{
	int32_t depth = 0;
	t->stack[depth++] = t->first[0];
	while (depth > 0) {
		int32_t i = t->stack[--depth];
		if (t->next[i] >= 0)
			t->stack[depth++] = t->next[i];
		int32_t end = add_branch(t, cables, i);
		if (t->n_children[end] > 0)
			t->stack[depth++] = t->first[end];
	}
}

static bool is_lonely_soma(const struct morphology *m)
{
	for (int64_t i = 1; i < m->n; i++)
		if (m->points[i].parent == 0 && m->points[i].type == m->points[0].type)
			return false;
	return m->points[0].type == SWC_SOMA;
}

bool cables_of_arbor(struct cables *cables, const struct morphology *m, const struct conventions *c,
		     const struct physics *physics, struct failure *failure)
{
	struct tree t;
	if (m->n < 2 || is_lonely_soma(m)) {
		fail_file(failure, m->path, "Arbor reads no soma of one point, nor a file of one");
		fail_help(failure, "--convention=neuron makes a cylinder of it, as long as it is wide");
		return false;
	}
	bool ok = tree_new(&t, m, failure) && cables_new(cables, m->n, failure);
	if (ok)
		make_branches(&t, cables);
	for (int32_t i = 0; ok && i < cables->n; i++) {
		struct cable *cable = &cables->items[i];
		cable->parts = parts_of_cable(c, physics, cables->frusta + cable->first, cable->n);
	}
	tree_free(&t);
	return ok;
}
