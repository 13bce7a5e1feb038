/* SPDX-License-Identifier: MIT
 *
 * A soma that becomes one node, by name of its convention. The node has an area of its own; neurites begin at their
 * first points, which the node takes in, so that no frustum leads from the soma's radius to theirs. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hines/cells.h"

enum { MOST_NOTES = 20 };

bool soma_is_three_points(const struct morphology *m)
{
	const struct point *p = m->points;
	int64_t n_soma = 0;
	for (int64_t i = 0; i < m->n; i++) {
		n_soma += p[i].type == SWC_SOMA;
		if (p[i].parent == 1 || p[i].parent == 2)
			return false;
	}
	if (n_soma != 3 || p[1].parent != 0 || p[2].parent != 0)
		return false;
	for (int i = 0; i < 3; i++)
		if (p[i].type != SWC_SOMA || p[i].radius != p[0].radius)
			return false;
	double length = distance_between(p[1].place, p[0].place) + distance_between(p[2].place, p[0].place);
	return fabs(length / (2 * p[0].radius) - 1) < .01;
}

/* A soma that is a node has the sphere's area; so has the cylinder of three points. */
static void make_sphere(struct point *soma)
{
	soma->area = 4 * M_PI * soma->radius * soma->radius;
	soma->volume = soma->area * soma->radius / 3;
}

static bool take_three_points(struct morphology *m, bool *is_kept, int32_t *heir, struct notes *notes)
{
	if (!soma_is_three_points(m))
		return false;
	is_kept[1] = is_kept[2] = false;
	for (int64_t i = 0; i < m->n; i++)
		heir[i] = i < 3 ? 0 : -1;
	make_sphere(&m->points[0]);
	notes_add(notes, "the soma of three points is one node of %.4g um2", m->points[0].area);
	return true;
}

/* The first point of a neurite goes with the soma, of which heir is the node, or -1 of other points; one that is all of
 * its neurite is the end of a cylinder. */
static bool begin_neurites(struct morphology *m, bool *is_kept, int32_t *heir, struct failure *failure)
{
	bool *has_children = calloc((size_t) m->n, sizeof(*has_children));
	if (!has_children)
		return fail_memory(failure, "the somata");
	for (int64_t i = 0; i < m->n; i++)
		if (m->points[i].parent >= 0)
			has_children[m->points[i].parent] = true;
	for (int64_t i = m->n - 1; i >= 0; i--) {
		struct point *p = &m->points[i];
		if (p->parent < 0 || heir[i] >= 0 || heir[p->parent] < 0)
			continue;
		if (has_children[i]) {
			is_kept[i] = false;
			heir[i] = heir[p->parent];
		} else {
			p->start_radius = p->radius;
		}
	}
	free(has_children);
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
				distance_between(m->points[i].place, sphere->centre) / (double) sphere->n;
		}
}

/* All points of a soma become a sphere at the first of them; few points do not tell its size but by their radius. */
static void shape_soma(struct point *soma, const struct soma_sphere *sphere, struct notes *notes)
{
	if (sphere->n > 3 && sphere->radius > 0) {
		soma->radius = sphere->radius;
		memcpy(soma->place, sphere->centre, sizeof(soma->place));
	}
	make_sphere(soma);
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

bool morphology_join_soma(struct morphology *m, enum soma soma, struct notes *notes, struct failure *failure)
{
	bool *is_kept = malloc((size_t) m->n * sizeof(*is_kept));
	int32_t *heir = malloc((size_t) m->n * sizeof(*heir));
	bool ok = (is_kept && heir) || fail_memory(failure, "the points");
	if (ok)
		memset(is_kept, true, (size_t) m->n * sizeof(*is_kept));
	if (ok && soma == SOMA_THREE_POINTS && !take_three_points(m, is_kept, heir, notes)) {
		notes_add(notes, "there is no soma of three points: all points are nodes");
		soma = SOMA_DRAWN;
	}
	if (ok && soma == SOMA_SPHERE)
		ok = take_spheres(m, is_kept, heir, notes, failure);
	ok = ok && (soma == SOMA_DRAWN || begin_neurites(m, is_kept, heir, failure)) &&
	     morphology_drop(m, is_kept, heir, failure);
	free(is_kept);
	free(heir);
	return ok;
}
