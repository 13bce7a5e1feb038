/* SPDX-License-Identifier: MIT
 *
 * Nodes at equal distances along the branches. A branch is the way from a root or a fork to the next fork or tip; its
 * nodes divide its length, and place and radius are those between the points around. Roots, forks and tips stay, with
 * their ids; the others have none, even one that comes to lie where a point of the file was. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hines/cells.h"

enum { MOST_NODES = 1 << 28 };

struct walk {
	const struct morphology *from;
	struct point *nodes;
	int64_t n, capacity;
	int32_t *children; /* how many a point has */
	int32_t *node;     /* of a root, fork or tip */
	int32_t *way;      /* the points of a branch, from its end to its beginning */
};

static double length_of(const struct point *a, const struct point *b)
{
	return hypot(hypot(a->place[0] - b->place[0], a->place[1] - b->place[1]), a->place[2] - b->place[2]);
}

static bool is_end(const struct walk *w, int64_t i)
{
	return w->from->points[i].parent < 0 || w->children[i] != 1;
}

static bool add_node(struct walk *w, const struct point *node, struct failure *failure)
{
	if (w->n == MOST_NODES)
		return fail(failure, OUTCOME_RESOURCES, "there would be more than %d nodes", MOST_NODES);
	if (w->n == w->capacity) {
		w->capacity = w->capacity ? 2 * w->capacity : 1024;
		struct point *nodes = realloc(w->nodes, (size_t) w->capacity * sizeof(*nodes));
		if (!nodes)
			return fail_memory(failure, "the nodes");
		w->nodes = nodes;
	}
	w->nodes[w->n++] = *node;
	return true;
}

/* The point at a share of the way between two. */
static struct point between(const struct point *a, const struct point *b, double share)
{
	struct point p = *b;
	for (int axis = 0; axis < 3; axis++)
		p.place[axis] = a->place[axis] + share * (b->place[axis] - a->place[axis]);
	p.radius = a->radius + share * (b->radius - a->radius);
	p.bare_area = 0;
	p.id = NO_POINT;
	return p;
}

static int64_t parts_of(const struct conventions *c, double length)
{
	if (c->per_branch > 0)
		return c->per_branch;
	double parts = ceil(length / c->max_length * (1 - 1e-12));
	return parts < 1 ? 1 : parts > MOST_NODES ? MOST_NODES : (int64_t) parts;
}

/* The branch that ends at point `end`: way[0] is the end, way[n] the point where it begins. */
static bool divide_branch(struct walk *w, const struct conventions *c, int64_t end, int64_t n,
			  struct failure *failure)
{
	const struct point *points = w->from->points;
	double length = 0, behind = 0;
	for (int64_t i = 0; i < n; i++)
		length += length_of(&points[w->way[i]], &points[w->way[i + 1]]);
	int64_t parts = parts_of(c, length), edge = n;
	int32_t above = w->node[w->way[n]];
	for (int64_t part = 1; part <= parts; part++) {
		double target = length * (double) part / (double) parts;
		const struct point *a = &points[w->way[edge]], *b = &points[w->way[edge - 1]];
		while (edge > 1 && behind + length_of(a, b) < target) {
			behind += length_of(a, b);
			edge--;
			a = b;
			b = &points[w->way[edge - 1]];
		}
		double piece = length_of(a, b);
		struct point node = part == parts ? points[end]
						  : between(a, b, piece > 0 ? (target - behind) / piece : 1);
		node.parent = above;
		above = (int32_t) w->n;
		if (!add_node(w, &node, failure))
			return false;
	}
	w->node[end] = above;
	return true;
}

static bool walk_all(struct walk *w, const struct conventions *c, struct failure *failure)
{
	const struct morphology *m = w->from;
	bool ok = true;
	for (int64_t i = 0; i < m->n && ok; i++) {
		int64_t n = 0;
		if (!is_end(w, i))
			continue;
		if (m->points[i].parent < 0) {
			w->node[i] = (int32_t) w->n;
			ok = add_node(w, &m->points[i], failure);
			continue;
		}
		w->way[0] = (int32_t) i;
		do {
			w->way[n + 1] = m->points[w->way[n]].parent;
			n++;
		} while (!is_end(w, w->way[n]));
		ok = divide_branch(w, c, i, n, failure);
	}
	return ok;
}

bool morphology_discretise(struct morphology *m, const struct conventions *c, struct notes *notes,
			   struct failure *failure)
{
	size_t n = (size_t) m->n;
	struct walk w = { .from = m,
			  .children = calloc(n, sizeof(int32_t)),
			  .node = calloc(n, sizeof(int32_t)),
			  .way = calloc(n + 1, sizeof(int32_t)) };
	bool ok = (w.children && w.node && w.way) || fail_memory(failure, "the points");
	for (size_t i = 0; ok && i < n; i++)
		if (m->points[i].parent >= 0)
			w.children[m->points[i].parent]++;
	ok = ok && walk_all(&w, c, failure);
	if (ok) {
		notes_add(notes, "%" PRId64 " point%s become%s %" PRId64 " node%s", m->n, s_of(m->n),
			  m->n == 1 ? "s" : "", w.n, s_of(w.n));
		free(m->points);
		m->points = w.nodes;
		m->n = w.n;
		w.nodes = NULL;
	}
	free(w.nodes);
	free(w.children);
	free(w.node);
	free(w.way);
	return ok;
}
