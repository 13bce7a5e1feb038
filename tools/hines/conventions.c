/* SPDX-License-Identifier: MIT
 *
 * What a file of points may mean, by name: which of the points are a soma, what several roots are, radii that are not
 * there. Each change is told. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hines/cells.h"

const char *const soma_names[] = { "as-drawn", "three-point", "sphere", NULL };
const char *const roots_names[] = { "keep", "largest", "split", NULL };
const char *const node_order_names[] = { "file", "depth-first", NULL };

enum { MOST_NOTES = 20 };

static double distance_of(const double *a, const double *b)
{
	return hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
}

/* ---- Dropping points ----------------------------------------------------------------------- */

/* Keeps the points with is_kept; a child of one that goes becomes a child of heir[it]. */
static bool drop_points(struct morphology *m, const bool *is_kept, const int32_t *heir,
			struct failure *failure)
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

/* ---- Somata ------------------------------------------------------------------------------------ */

/* NeuroMorpho's standard soma: a centre, and two points of one radius away from it that are no cable. */
static bool is_three_points(const struct morphology *m)
{
	const struct point *p = m->points;
	if (m->n < 3 || p[0].parent >= 0 || p[1].parent != 0 || p[2].parent != 0)
		return false;
	for (int i = 0; i < 3; i++)
		if (p[i].type != SWC_SOMA)
			return false;
	for (int64_t i = 3; i < m->n; i++)
		if (p[i].type == SWC_SOMA)
			return false;
	double r = p[0].radius;
	return r > 0 && fabs(distance_of(p[0].place, p[1].place) - r) <= 0.02 * r &&
	       fabs(distance_of(p[0].place, p[2].place) - r) <= 0.02 * r;
}

/* The cylinder of three points has the area of the sphere. */
static bool take_three_points(struct morphology *m, bool *is_kept, int32_t *heir, struct notes *notes)
{
	if (!is_three_points(m))
		return false;
	is_kept[1] = is_kept[2] = false;
	heir[1] = heir[2] = 0;
	m->points[0].bare_area = 4 * M_PI * m->points[0].radius * m->points[0].radius;
	notes_add(notes, "the soma of three points is one node of %.4g um2", m->points[0].bare_area);
	return true;
}

/* Of the soma whose uppermost point is i: how many points it has, their mean, their mean distance from it. */
struct soma_sphere {
	int64_t n;
	double centre[3], radius;
};

/* top[i]: the uppermost point of the soma that point i is of, or -1. */
static void find_somata(const struct morphology *m, int32_t *top, struct soma_sphere *spheres)
{
	for (int64_t i = 0; i < m->n; i++) {
		const struct point *p = &m->points[i];
		int32_t above = p->parent < 0 ? -1 : top[p->parent];
		top[i] = p->type != SWC_SOMA ? -1 : above < 0 ? (int32_t) i : above;
		if (top[i] < 0)
			continue;
		spheres[top[i]].n++;
		for (int axis = 0; axis < 3; axis++)
			spheres[top[i]].centre[axis] += p->place[axis];
	}
	for (int64_t i = 0; i < m->n; i++)
		for (int axis = 0; axis < 3 && spheres[i].n > 0; axis++)
			spheres[i].centre[axis] /= (double) spheres[i].n;
	for (int64_t i = 0; i < m->n; i++)
		if (top[i] >= 0) {
			struct soma_sphere *sphere = &spheres[top[i]];
			sphere->radius +=
				distance_of(m->points[i].place, sphere->centre) / (double) sphere->n;
		}
}

/* All points of a soma become a sphere at the first of them; few points do not tell its size but by their radius. */
static void shape_soma(struct point *soma, const struct soma_sphere *sphere, struct notes *notes)
{
	if (sphere->n > 3 && sphere->radius > 0) {
		soma->radius = sphere->radius;
		memcpy(soma->place, sphere->centre, sizeof(soma->place));
	}
	soma->bare_area = 4 * M_PI * soma->radius * soma->radius;
	if (notes->lines.n < MOST_NOTES)
		notes_add(notes, "a soma of %" PRId64 " point%s is a sphere of radius %.4g um", sphere->n,
			  s_of(sphere->n), soma->radius);
}

static bool take_spheres(struct morphology *m, bool *is_kept, int32_t *heir, struct notes *notes,
			 struct failure *failure)
{
	struct soma_sphere *spheres = calloc((size_t) m->n, sizeof(*spheres));
	bool found = false;
	if (!spheres)
		return fail_memory(failure, "the somata");
	find_somata(m, heir, spheres);
	for (int64_t i = 0; i < m->n; i++) {
		is_kept[i] = heir[i] < 0 || heir[i] == i;
		found |= heir[i] == i;
		if (heir[i] == i)
			shape_soma(&m->points[i], &spheres[i], notes);
	}
	free(spheres);
	if (!found)
		notes_add(notes, "there is no point of a soma");
	return true;
}

static bool apply_soma(struct morphology *m, enum soma soma, struct notes *notes, struct failure *failure)
{
	bool *is_kept = malloc((size_t) m->n * sizeof(*is_kept));
	int32_t *heir = malloc((size_t) m->n * sizeof(*heir));
	bool ok = (is_kept && heir) || fail_memory(failure, "the points");
	if (ok)
		memset(is_kept, true, (size_t) m->n * sizeof(*is_kept));
	if (ok && soma == SOMA_THREE_POINTS && !take_three_points(m, is_kept, heir, notes))
		notes_add(notes, "there is no soma of three points: all points are nodes");
	if (ok && soma == SOMA_SPHERE)
		ok = take_spheres(m, is_kept, heir, notes, failure);
	ok = ok && drop_points(m, is_kept, heir, failure);
	free(is_kept);
	free(heir);
	return ok;
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
	ok = ok && drop_points(m, is_kept, root, failure);
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

bool morphology_apply(struct morphology *m, const struct conventions *c, struct notes *notes,
		      struct failure *failure)
{
	mend_radii(m, notes);
	if ((c->soma != SOMA_DRAWN && !apply_soma(m, c->soma, notes, failure)) ||
	    (c->roots == ROOTS_LARGEST && !keep_largest(m, notes, failure)) ||
	    ((c->max_length > 0 || c->per_branch > 0) && !morphology_discretise(m, c, notes, failure)) ||
	    (c->order == ORDER_DEPTH && !order_by_depth(m, failure)))
		return false;
	if (count_roots(m) > 1)
		notes_add(notes, "there are %" PRId64 " roots: %s", count_roots(m),
			  c->roots == ROOTS_SPLIT ? "each is a system of its own"
						  : "one system holds them all");
	return true;
}
