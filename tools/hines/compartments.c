/* SPDX-License-Identifier: MIT
 *
 * Compartments of cables, as simulators make them: each cable is divided into parts of one length, with a node in the
 * middle of each. A compartment has the side and the volume of its part; between two nodes lies the resistance of the
 * halves that join them. Ends where cables meet, and with NEURON all ends, are nodes without a membrane. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hines/cells.h"

bool cables_new(struct cables *cables, int64_t most, struct failure *failure)
{
	*cables = (struct cables){ .items = calloc((size_t) most + 1, sizeof(struct cable)),
				   .frusta = calloc(2 * (size_t) most + 4, sizeof(struct frustum)) };
	return (cables->items && cables->frusta) || fail_memory(failure, "the cables");
}

void cables_free(struct cables *cables)
{
	free(cables->items);
	free(cables->frusta);
}

struct cable *cables_begin(struct cables *cables, int32_t parent, enum cable_end at)
{
	struct cable *cable = &cables->items[cables->n++];
	*cable = (struct cable){ .parent = parent, .at = at, .first = cables->n_frusta };
	return cable;
}

void cables_add(struct cables *cables, const struct frustum *f)
{
	cables->frusta[cables->n_frusta++] = *f;
	cables->items[cables->n - 1].n++;
}

/* NEURON's rule of the length constant at 100 Hz: an odd number of parts, none longer than so many of these. */
static int64_t parts_of_lambda(const struct conventions *c, const struct physics *physics,
			       const struct frustum *frusta, int64_t n, double length)
{
	double sum = 0;
	for (int64_t i = 0; i < n; i++)
		sum += frusta[i].length / sqrt(2 * frusta[i].radius_from + 2 * frusta[i].radius_to);
	double lambda = length / (sum * sqrt(2) * 1e-5 * sqrt(4 * M_PI * 100 * physics->ra * physics->cm));
	double parts = trunc((length / (c->d_lambda * lambda) + .9) / 2) * 2 + 1;
	return parts > MOST_NODES ? MOST_NODES : parts >= 1 ? (int64_t) parts : 1;
}

int64_t parts_of_cable(const struct conventions *c, const struct physics *physics, const struct frustum *frusta,
		       int64_t n)
{
	double length = frusta_length(frusta, n);
	return c->d_lambda > 0 ? parts_of_lambda(c, physics, frusta, n, length) : parts_of_length(c, length);
}

/* The node that a cable begins at; -1: none. */
static int32_t beginning_of(const struct cables *cables, const struct cable *cable)
{
	if (cable->parent < 0)
		return cable->begin_node;
	const struct cable *parent = &cables->items[cable->parent];
	switch (cable->at) {
	case CABLE_BEGIN:
		return parent->begin_node;
	case CABLE_MIDDLE:
		return (int32_t) (parent->first_node + parent->parts / 2);
	case CABLE_END:
		return parent->end_node;
	}
	return -1;
}

static struct point node_at(const struct morphology *m, const struct walk *walk)
{
	double place[3], radius;
	struct point node = m->points[walk_place(walk, place, &radius)->point];
	memcpy(node.place, place, sizeof(place));
	node.radius = radius;
	node.diameter = 2 * radius;
	node.area = node.volume = 0;
	node.id = NO_POINT;
	return node;
}

/* One compartment: its first half joins it to the node above, behind `carry`, where its second half is left. */
static bool add_compartment(struct node_list *nodes, const struct morphology *m, struct walk *walk, double middle,
			    double end, struct piece *carry, int32_t above, struct failure *failure)
{
	struct piece first = { 0 }, second = { 0 };
	walk_to(walk, middle, &first);
	struct point node = node_at(m, walk);
	walk_to(walk, end, &second);
	node.area = first.side + second.side;
	node.volume = first.volume + second.volume;
	if (first.length + second.length > 0)
		node.diameter = (first.width + second.width) / (first.length + second.length);
	piece_join(&first, carry);
	node.piece = first;
	node.piece.side = node.piece.volume = 0;
	node.parent = above;
	*carry = second;
	return node_list_add(nodes, &node, failure);
}

/* A node at an end, which has no membrane. */
static bool add_end(struct node_list *nodes, const struct morphology *m, const struct walk *walk,
		    const struct piece *piece, int32_t above, int64_t id, struct failure *failure)
{
	struct point node = node_at(m, walk);
	node.piece = *piece;
	node.piece.side = node.piece.volume = 0;
	node.parent = above;
	node.id = id;
	return node_list_add(nodes, &node, failure);
}

static bool divide_cable(const struct cables *cables, struct cable *cable, const struct morphology *m,
			 struct node_list *nodes, struct failure *failure)
{
	const struct frustum *frusta = cables->frusta + cable->first;
	struct walk walk = { .frusta = frusta, .n = cable->n };
	struct piece carry = { 0 };
	double step = frusta_length(frusta, cable->n) / (double) cable->parts;
	bool ok = true;
	if (cable->has_begin_node) {
		cable->begin_node = (int32_t) nodes->n;
		ok = add_end(nodes, m, &walk, &carry, -1, cable->begin_id, failure);
	} else {
		cable->begin_node = beginning_of(cables, cable);
	}
	int32_t above = cable->begin_node;
	cable->first_node = (int32_t) nodes->n;
	for (int64_t i = 0; ok && i < cable->parts; i++) {
		double end = i + 1 == cable->parts ? INFINITY : step * (double) (i + 1);
		ok = add_compartment(nodes, m, &walk, step * ((double) i + 0.5), end, &carry, above, failure);
		above = (int32_t) nodes->n - 1;
	}
	cable->end_node = above;
	if (ok && cable->has_end_node) {
		cable->end_node = (int32_t) nodes->n;
		ok = add_end(nodes, m, &walk, &carry, above, cable->end_id, failure);
	}
	return ok;
}

bool cables_divide(struct cables *cables, struct morphology *m, struct notes *notes, struct failure *failure)
{
	struct node_list nodes = { 0 };
	bool ok = true;
	for (int32_t i = 0; i < cables->n; i++)
		cables->items[i].begin_node = -1;
	for (int32_t i = 0; ok && i < cables->n; i++)
		ok = divide_cable(cables, &cables->items[i], m, &nodes, failure);
	if (ok)
		node_list_take(&nodes, m, notes);
	free(nodes.items);
	return ok;
}
