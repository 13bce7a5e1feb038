/* SPDX-License-Identifier: MIT
 *
 * Nodes at equal distances along the branches. A branch is the way from a root or a fork to the next fork or tip; its
 * nodes divide its length, and place and radius are those between the points around. What lies between two nodes is
 * the sum over the frusta there. Roots, forks and tips stay, with their ids; the others have none, even one that comes
 * to lie where a point of the file was. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hines/cells.h"

struct branches {
	const struct morphology *from;
	struct node_list nodes;
	int32_t *children;      /* how many a point has */
	int32_t *node;          /* of a root, fork or tip */
	struct frustum *way;    /* of a branch, from its beginning to its end */
};

static bool is_end(const struct branches *b, int64_t i)
{
	return b->from->points[i].parent < 0 || b->children[i] != 1;
}

bool node_list_add(struct node_list *list, const struct point *node, struct failure *failure)
{
	if (list->n == MOST_NODES)
		return fail(failure, OUTCOME_RESOURCES, "there would be more than %d nodes", MOST_NODES);
	if (list->n == list->capacity) {
		list->capacity = list->capacity ? 2 * list->capacity : 1024;
		struct point *nodes = realloc(list->items, (size_t) list->capacity * sizeof(*nodes));
		if (!nodes)
			return fail_memory(failure, "the nodes");
		list->items = nodes;
	}
	list->items[list->n++] = *node;
	return true;
}

void node_list_take(struct node_list *list, struct morphology *m, struct notes *notes)
{
	notes_add(notes, "%" PRId64 " point%s become%s %" PRId64 " node%s", m->n, s_of(m->n), m->n == 1 ? "s" : "",
		  list->n, s_of(list->n));
	free(m->points);
	m->points = list->items;
	m->n = list->n;
	*list = (struct node_list){ 0 };
}

int64_t parts_of_length(const struct conventions *c, double length)
{
	if (c->per_branch > 0)
		return c->per_branch;
	if (!(c->max_length > 0))
		return 1;
	double parts = ceil(length / c->max_length * (1 - 1e-12));
	return parts < 1 ? 1 : parts > MOST_NODES ? MOST_NODES : (int64_t) parts;
}

/* The frusta of the branch that ends at `end`; the point where it begins is left in `above`. */
static int64_t find_way(struct branches *b, int64_t end, int64_t *above)
{
	int64_t n = 0;
	for (*above = end; n == 0 || !is_end(b, *above); *above = b->from->points[*above].parent)
		b->way[n++] = frustum_of_point(b->from, *above);
	for (int64_t i = 0; i < n / 2; i++) {
		struct frustum f = b->way[i];
		b->way[i] = b->way[n - 1 - i];
		b->way[n - 1 - i] = f;
	}
	return n;
}

static bool divide_branch(struct branches *b, const struct conventions *c, int64_t end, struct failure *failure)
{
	const struct point *points = b->from->points;
	int64_t begin, n = find_way(b, end, &begin);
	double length = frusta_length(b->way, n);
	int64_t parts = parts_of_length(c, length);
	struct walk walk = { .frusta = b->way, .n = n };
	int32_t above = b->node[begin];
	for (int64_t part = 1; part <= parts; part++) {
		bool is_last = part == parts;
		struct piece piece = { 0 };
		double place[3], radius;
		walk_to(&walk, is_last ? INFINITY : length * (double) part / (double) parts, &piece);
		struct point node = points[walk_place(&walk, place, &radius)->point];
		if (!is_last) {
			memcpy(node.place, place, sizeof(place));
			node.radius = radius;
			node.area = 0;
			node.id = NO_POINT;
		}
		node.piece = piece;
		node.parent = above;
		above = (int32_t) b->nodes.n;
		if (!node_list_add(&b->nodes, &node, failure))
			return false;
	}
	b->node[end] = above;
	return true;
}

static bool divide_all(struct branches *b, const struct conventions *c, struct failure *failure)
{
	const struct morphology *m = b->from;
	bool ok = true;
	for (int64_t i = 0; i < m->n && ok; i++) {
		if (!is_end(b, i))
			continue;
		if (m->points[i].parent >= 0) {
			ok = divide_branch(b, c, i, failure);
			continue;
		}
		b->node[i] = (int32_t) b->nodes.n;
		ok = node_list_add(&b->nodes, &m->points[i], failure);
	}
	return ok;
}

bool morphology_discretise(struct morphology *m, const struct conventions *c, struct notes *notes,
			   struct failure *failure)
{
	size_t n = (size_t) m->n;
	struct branches b = { .from = m,
			      .children = calloc(n, sizeof(int32_t)),
			      .node = calloc(n, sizeof(int32_t)),
			      .way = calloc(n + 1, sizeof(struct frustum)) };
	bool ok = (b.children && b.node && b.way) || fail_memory(failure, "the points");
	for (size_t i = 0; ok && i < n; i++)
		if (m->points[i].parent >= 0)
			b.children[m->points[i].parent]++;
	ok = ok && divide_all(&b, c, failure);
	if (ok)
		node_list_take(&b.nodes, m, notes);
	free(b.nodes.items);
	free(b.children);
	free(b.node);
	free(b.way);
	return ok;
}
