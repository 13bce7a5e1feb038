/* SPDX-License-Identifier: MIT
 *
 * What a file of points may mean, by name: its unit and scale, radii that are not there, what several roots are, which
 * node follows which. Each change is told. Somata have a file of their own, somata.c. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hines/cells.h"

const char *const convention_names[] = { "points", "neuron", "arbor", NULL };
const char *const soma_names[] = { "as-drawn", "three-point", "sphere", NULL };
const char *const roots_names[] = { "keep", "largest", "split", NULL };
const char *const node_order_names[] = { "file", "depth-first", NULL };

/* ---- Units --------------------------------------------------------------------------------- */

const char *const unit_names[] = { "um", "nm", "mm", NULL };
const char *const scale_names[] = { "ignore", "apply", NULL };

/* More than radii of the largest somata and axons, less than those of the thinnest axons, um. */
static const double most_radius = 200, least_radius = 0.02;

static double um_of(enum unit unit)
{
	switch (unit) {
	case UNIT_UM:
		return 1;
	case UNIT_NM:
		return 1e-3;
	case UNIT_MM:
		return 1e3;
	}
	return 1;
}

/* Radii are of the plane that is drawn in, x and y. */
static void multiply(struct morphology *m, double unit, const double *scale)
{
	for (int64_t i = 0; i < m->n; i++) {
		for (int axis = 0; axis < 3; axis++)
			m->points[i].place[axis] *= unit * scale[axis];
		m->points[i].radius *= unit * sqrt(scale[0] * scale[1]);
	}
}

static void take_units(struct morphology *m, const struct conventions *c, struct notes *notes)
{
	static const double none[] = { 1, 1, 1 };
	const double *s = m->scale;
	bool has_scale = s[0] > 0, is_idle = s[0] == 1 && s[1] == 1 && s[2] == 1;
	if (c->scale == SCALE_APPLIED && !has_scale)
		notes_add(notes, "there is no comment '# SCALE x y z'");
	else if (c->scale == SCALE_APPLIED)
		notes_add(notes, "coordinates are multiplied by the scale %g %g %g", s[0], s[1], s[2]);
	else if (has_scale && !is_idle)
		notes_add(notes, "the scale %g %g %g of a comment is not applied: --scale=apply does", s[0], s[1],
			  s[2]);
	multiply(m, um_of(c->unit), c->scale == SCALE_APPLIED && has_scale ? s : none);
}

static void judge_radii(const struct morphology *m, const struct conventions *c, struct notes *notes)
{
	double largest = 0;
	for (int64_t i = 0; i < m->n; i++)
		largest = fmax(largest, m->points[i].radius);
	if (m->is_in_nanometres && !c->unit_is_given)
		notes_add(notes, "a comment says that the unit is the nanometre, and um are taken: --unit=nm");
	if (largest > most_radius || (largest > 0 && largest < least_radius))
		notes_add(notes, "warning: the largest radius is %.4g um, which no neuron has: is it --unit=%s?",
			  largest, largest > most_radius ? "nm" : "mm");
}

/* ---- Dropping points ----------------------------------------------------------------------- */

bool morphology_drop(struct morphology *m, const bool *is_kept, const int32_t *heir, struct failure *failure)
{
	int32_t *place = malloc((size_t) m->n * sizeof(*place));
	int64_t n = 0;
	if (!place)
		return fail_memory(failure, "the points");
	for (int64_t i = 0; i < m->n; i++) {
		struct point p = m->points[i];
		place[i] = is_kept[i] ? (int32_t) n : -1;
		if (!is_kept[i])
			continue;
		while (p.parent >= 0 && !is_kept[p.parent])
			p.parent = heir[p.parent];
		p.parent = p.parent < 0 ? -1 : place[p.parent];
		m->points[n++] = p;
	}
	m->n = n;
	free(place);
	return true;
}

/* ---- Radii and roots -------------------------------------------------------------------------- */

/* The radius of a root that has none becomes that of its first child that has one. How many were mended. */
static int64_t mend_roots(struct morphology *m)
{
	int64_t n_mended = 0;
	for (int64_t i = 0; i < m->n; i++) {
		struct point *above = m->points[i].parent < 0 ? NULL : &m->points[m->points[i].parent];
		if (above && above->parent < 0 && !(above->radius > 0) && m->points[i].radius > 0) {
			above->radius = m->points[i].radius;
			n_mended++;
		}
	}
	return n_mended;
}

/* A radius that is not above 0 becomes the parent's; that of a root, its first child's, or else 1 um. */
static void mend_radii(struct morphology *m, struct notes *notes)
{
	int64_t n_mended = mend_roots(m), n_invented = 0;
	for (int64_t i = 0; i < m->n; i++) {
		struct point *p = &m->points[i];
		if (p->radius > 0)
			continue;
		p->radius = p->parent >= 0 ? m->points[p->parent].radius : 1;
		n_mended += p->parent >= 0;
		n_invented += p->parent < 0;
	}
	if (n_invented > 0)
		notes_add(notes,
			  "roots whose radius is not above 0, nor that of a child, for which 1 um is taken: %" PRId64,
			  n_invented);
	if (n_mended > 0)
		notes_add(notes,
			  "radii that are not above 0, for which those of neighbours are taken: %" PRId64,
			  n_mended);
}

/* root[i]: the root above point i; sizes are left at roots. */
static void count_trees(const struct morphology *m, int32_t *root, int64_t *size)
{
	for (int64_t i = 0; i < m->n; i++) {
		root[i] = m->points[i].parent < 0 ? (int32_t) i : root[m->points[i].parent];
		size[i] = 0;
		size[root[i]]++;
	}
}

static bool keep_largest(struct morphology *m, struct notes *notes, struct failure *failure)
{
	int32_t *root = malloc((size_t) m->n * sizeof(*root));
	int64_t *size = calloc((size_t) m->n, sizeof(*size)), largest = 0, before = m->n;
	bool *is_kept = malloc((size_t) m->n * sizeof(*is_kept));
	bool ok = (root && size && is_kept) || fail_memory(failure, "the points");
	if (ok)
		count_trees(m, root, size);
	for (int64_t i = 0; ok && i < m->n; i++)
		largest = size[i] > size[largest] ? i : largest;
	for (int64_t i = 0; ok && i < m->n; i++)
		is_kept[i] = root[i] == largest;
	ok = ok && morphology_drop(m, is_kept, root, failure);
	if (ok && m->n < before)
		notes_add(notes, "points of other trees than the largest, which are left out: %" PRId64,
			  before - m->n);
	free(root);
	free(size);
	free(is_kept);
	return ok;
}

static int64_t count_roots(const struct morphology *m)
{
	int64_t n = 0;
	for (int64_t i = 0; i < m->n; i++)
		n += m->points[i].parent < 0;
	return n;
}

/* ---- Order ------------------------------------------------------------------------------------------ */

/* Depth-first, children in their order, so that as many nodes as possible follow their parents. */
static bool order_by_depth(struct morphology *m, struct failure *failure)
{
	size_t n = (size_t) m->n;
	int32_t *first = malloc(n * sizeof(*first)), *next = malloc(n * sizeof(*next));
	int32_t *place = malloc(n * sizeof(*place)), *stack = malloc(n * sizeof(*stack)), roots = -1,
		n_placed = 0;
	bool ok = (first && next && place && stack) || fail_memory(failure, "the points");
	for (size_t i = 0; ok && i < n; i++)
		first[i] = -1;
	for (int32_t i = (int32_t) m->n - 1; ok && i >= 0; i--) {
		int32_t *list = m->points[i].parent < 0 ? &roots : &first[m->points[i].parent];
		next[i] = *list;
		*list = i;
	}
	int32_t depth = 0;
	if (ok && roots >= 0)
		stack[depth++] = roots;
	while (depth > 0) {
		int32_t i = stack[--depth];
		place[i] = n_placed++;
		if (next[i] >= 0)
			stack[depth++] = next[i];
		if (first[i] >= 0)
			stack[depth++] = first[i];
	}
	ok = ok && morphology_reorder(m, place, failure);
	free(first);
	free(next);
	free(place);
	free(stack);
	return ok;
}

/* ---- Pieces ------------------------------------------------------------------------------------------ */

static void begin_at_parents(struct morphology *m)
{
	for (int64_t i = 0; i < m->n; i++) {
		struct point *p = &m->points[i];
		const struct point *q = p->parent < 0 ? p : &m->points[p->parent];
		memcpy(p->start, q->place, sizeof(p->start));
		p->start_radius = q->radius;
	}
}

/* Of nodes that are points: one frustum each, which has the side of one of the least length at least. */
static void measure_pieces(struct morphology *m)
{
	for (int64_t i = 0; i < m->n; i++) {
		struct point *p = &m->points[i];
		double length = distance_between(p->start, p->place);
		p->piece = (struct piece){ 0 };
		if (p->parent < 0)
			continue;
		piece_add(&p->piece, fmax(length, LEAST_LENGTH), p->start_radius, p->radius);
		p->piece.length = length;
	}
}

static bool one_tree(const struct morphology *m, struct failure *failure)
{
	if (count_roots(m) == 1)
		return true;
	fail_file(failure, m->path, "there are %" PRId64 " roots, and NEURON and Arbor read one", count_roots(m));
	fail_help(failure, "--roots=largest takes the tree with the most points, --roots=split each alone");
	return false;
}

bool morphology_divide(struct morphology *m, const struct conventions *c, const struct physics *physics,
		       struct notes *notes, struct failure *failure)
{
	struct cables cables = { 0 };
	bool ok = one_tree(m, failure) &&
		  (c->convention == CONVENTION_NEURON ? cables_of_neuron(&cables, m, c, physics, failure)
						      : cables_of_arbor(&cables, m, c, physics, failure)) &&
		  cables_divide(&cables, m, notes, failure);
	cables_free(&cables);
	return ok;
}

static bool place_nodes(struct morphology *m, const struct conventions *c, struct notes *notes,
			struct failure *failure)
{
	measure_pieces(m);
	return ((c->max_length <= 0 && c->per_branch <= 0) || morphology_discretise(m, c, notes, failure)) &&
	       (c->order == ORDER_FILE || order_by_depth(m, failure));
}

bool morphology_apply(struct morphology *m, const struct conventions *c, struct notes *notes,
		      struct failure *failure)
{
	take_units(m, c, notes);
	judge_radii(m, c, notes);
	mend_radii(m, notes);
	begin_at_parents(m);
	if ((c->soma != SOMA_DRAWN && !morphology_join_soma(m, c->soma, notes, failure)) ||
	    (c->roots == ROOTS_LARGEST && !keep_largest(m, notes, failure)) ||
	    (c->convention == CONVENTION_POINTS && !place_nodes(m, c, notes, failure)))
		return false;
	if (count_roots(m) > 1)
		notes_add(notes, "there are %" PRId64 " roots: %s", count_roots(m),
			  c->roots == ROOTS_SPLIT ? "each is a system of its own"
						  : "one system holds them all");
	return true;
}
