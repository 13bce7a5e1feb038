/* SPDX-License-Identifier: MIT
 *
 * Sections as NEURON's import of SWC (Import3d_SWC_read) makes them: runs of points of one type, one behind the other
 * in the file. A section but the first begins with a copy of the point that it is attached to, and of that one's
 * radius; from a soma it begins with the radius of its own first point, or without the copy, where a wire without
 * resistance leads to the soma's middle. A soma of one point, or of NeuroMorpho's three, is a cylinder as long as it is
 * wide. NEURON keeps coordinates and radii in single precision, and so their differences. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hines/cells.h"

struct section {
	int64_t first, end;     /* points */
	int32_t parent;
	enum cable_end at;
	bool has_wire;          /* the copy of the point above is no cable */
	bool is_of_soma;        /* the copy has the radius of the first point */
	bool is_gone;
};

struct import {
	struct morphology *m;
	double *children;       /* of a point; with a fraction where a section ends though there is one */
	int32_t *soma_children;
	int32_t *above;         /* parents; the third of three points of a soma gets another */
	int32_t *section_of;
	bool *is_at_begin;      /* attached to the beginning of the section above */
	struct section *sections;
	int32_t n;
	bool is_three_points;
};

static int32_t type_of(const struct import *s, int64_t i)
{
	return s->m->points[i].type;
}

static bool is_soma(const struct import *s, int64_t i)
{
	return type_of(s, i) == SWC_SOMA;
}

/* ---- Where sections end ------------------------------------------------------------------------- */

/* A point whose only child follows it, and is of its type, does not end a section. Further children of the first point
 * of a neurite, or of a root that is no soma, are attached to the beginning of that one's section. */
static void count_children(struct import *s)
{
	for (int64_t i = 1; i < s->m->n; i++) {
		int32_t p = s->above[i];
		s->children[p] += 1;
		if (p != i - 1) {
			s->children[p] += .01;
			s->is_at_begin[i] = !is_soma(s, p) && (p == 0 || (p > 1 && is_soma(s, s->above[p])));
		}
		if (s->is_at_begin[i])
			s->children[p] = 1;
		if (type_of(s, p) != type_of(s, i))
			s->children[p] += .01;
		s->soma_children[p] += is_soma(s, i) && is_soma(s, p);
	}
}

/* Points of a soma that follow each other are one section where no further point of a soma is attached. */
static void join_somata(struct import *s)
{
	for (int64_t i = 0; i + 1 < s->m->n; i++)
		if (is_soma(s, i) && is_soma(s, i + 1) && s->above[i + 1] == i && (i == 0 || s->soma_children[i] <= 1))
			s->children[i] = 1;
}

static void find_sections(struct import *s)
{
	int64_t first = 0, n = s->m->n;
	for (int64_t i = 0; i < n; i++) {
		s->section_of[i] = s->n;
		if (s->children[i] == 1 && i + 1 < n)
			continue;
		s->sections[s->n++] = (struct section){ .first = first, .end = i + 1, .parent = -1, .at = CABLE_END };
		first = i + 1;
	}
	if (s->is_three_points)
		s->sections[0].end = 1;
}

/* ---- Where sections are attached ----------------------------------------------------------------- */

/* Points of a section, with the copy that it begins with. */
static int64_t n_points(const struct section *section)
{
	return section->end - section->first + (section->first > 0);
}

static void attach_to_soma(const struct import *s, struct section *section, const struct section *parent, int32_t above)
{
	bool is_neurite = !is_soma(s, section->first), is_long = section->end - section->first > 1;
	if (above < parent->first + n_points(parent) - (parent->first == 0 ? 1 : 2)) {
		section->at = CABLE_MIDDLE;
		section->has_wire = is_neurite && is_long;
	} else {
		section->has_wire = is_neurite && is_long && s->soma_children[above] > 1;
	}
}

static void attach_section(struct import *s, struct section *section)
{
	int32_t above = s->above[section->first];
	section->parent = s->section_of[above];
	const struct section *parent = &s->sections[section->parent];
	bool has_soma = is_soma(s, parent->first), is_neurite = !is_soma(s, section->first);
	section->is_of_soma = has_soma && is_neurite;
	if (section->parent == 0 && section->is_of_soma && n_points(parent) == 1) {
		section->at = CABLE_MIDDLE;
		section->has_wire = section->end - section->first > 1;
	} else if (above == 0) {
		section->at = CABLE_BEGIN;
		section->has_wire = is_neurite && s->soma_children[0] > 1;
	} else if (has_soma) {
		attach_to_soma(s, section, parent, above);
	}
	if (s->is_at_begin[section->first])
		section->at = CABLE_BEGIN;
}

/* ---- Cables -------------------------------------------------------------------------------------- */

/* gcc 12 drops conversions to float and back of two neighbours in memory; volatile keeps them. */
static double to_single(double value)
{
	volatile float single = (float) value;
	return single;
}

static void to_single_precision(struct morphology *m)
{
	for (int64_t i = 0; i < m->n; i++) {
		struct point *p = &m->points[i];
		for (int axis = 0; axis < 3; axis++)
			p->place[axis] = to_single(p->place[axis]);
		p->radius = to_single(p->radius);
	}
}

/* From where the last one ended to a point; differences of coordinates are single, too. */
static void add_frustum(struct cables *cables, struct frustum *f, const double *to, double radius, int64_t point)
{
	double squares = 0;
	memcpy(f->from, f->to, sizeof(f->from));
	f->radius_from = f->radius_to;
	for (int axis = 0; axis < 3; axis++) {
		double difference = to_single(to[axis] - f->from[axis]);
		f->to[axis] = to[axis];
		squares += difference * difference;
	}
	f->radius_to = radius;
	f->length = sqrt(squares);
	f->point = point;
	cables_add(cables, f);
}

/* Nothing is left of a section of two points at one place, or of one; what is attached to it moves up. */
static bool is_empty(const struct import *s, const struct section *section)
{
	int64_t begin = section->has_wire ? section->first : s->above[section->first];
	const struct point *p = &s->m->points[begin], *q = &s->m->points[section->end - 1];
	return n_points(section) - section->has_wire <= 2 && memcmp(p->place, q->place, sizeof(p->place)) == 0;
}

static void drop_empty_sections(struct import *s)
{
	for (int32_t k = 1; k < s->n; k++) {
		struct section *section = &s->sections[k];
		const struct section *parent = &s->sections[section->parent];
		section->is_gone = is_empty(s, section);
		if (parent->is_gone) {
			section->at = parent->at;
			section->parent = parent->parent;
		}
	}
}

static struct frustum frustum_from(const double *place, double radius)
{
	struct frustum f = { .radius_to = radius };
	memcpy(f.to, place, sizeof(f.to));
	return f;
}

/* A cylinder along x around the point, in two halves. */
static void add_cylinder(struct cables *cables, const struct morphology *m)
{
	const struct point *p = &m->points[0];
	double at[3] = { to_single(p->place[0] - p->radius), p->place[1], p->place[2] };
	struct frustum f = frustum_from(at, p->radius);
	add_frustum(cables, &f, p->place, p->radius, 0);
	at[0] = to_single(p->place[0] + p->radius);
	add_frustum(cables, &f, at, p->radius, 0);
}

static void add_section(const struct import *s, const struct section *section, struct cables *cables)
{
	const struct point *points = s->m->points;
	int64_t first = section->first, copy = first > 0 && !section->has_wire ? s->above[first] : first;
	struct frustum f = frustum_from(points[copy].place, points[section->is_of_soma ? first : copy].radius);
	for (int64_t i = copy == first ? first + 1 : first; i < section->end; i++)
		add_frustum(cables, &f, points[i].place, points[i].radius, i);
}

static void make_cables(struct import *s, const struct conventions *c, const struct physics *physics,
			struct cables *cables)
{
	int32_t *place = s->section_of;
	for (int32_t k = 0; k < s->n; k++) {
		const struct section *section = &s->sections[k];
		if (section->is_gone)
			continue;
		struct cable *cable = cables_begin(cables, k == 0 ? -1 : place[section->parent], section->at);
		bool is_sphere = k == 0 && n_points(section) == 1;
		if (is_sphere)
			add_cylinder(cables, s->m);
		else
			add_section(s, section, cables);
		cable->has_begin_node = k == 0;
		cable->has_end_node = true;
		cable->begin_id = is_sphere ? NO_POINT : s->m->points[section->first].id;
		cable->end_id = is_sphere ? NO_POINT : s->m->points[section->end - 1].id;
		cable->parts = parts_of_cable(c, physics, cables->frusta + cable->first, cable->n);
		place[k] = cables->n - 1;
	}
}

static bool import_new(struct import *s, struct morphology *m, struct failure *failure)
{
	size_t n = (size_t) m->n + 1;
	*s = (struct import){ .m = m,
			      .children = calloc(n, sizeof(double)),
			      .soma_children = calloc(n, sizeof(int32_t)),
			      .above = calloc(n, sizeof(int32_t)),
			      .section_of = calloc(n, sizeof(int32_t)),
			      .is_at_begin = calloc(n, sizeof(bool)),
			      .sections = calloc(n, sizeof(struct section)) };
	return (s->children && s->soma_children && s->above && s->section_of && s->is_at_begin && s->sections) ||
	       fail_memory(failure, "the sections");
}

static void import_free(struct import *s)
{
	free(s->children);
	free(s->soma_children);
	free(s->above);
	free(s->section_of);
	free(s->is_at_begin);
	free(s->sections);
}

static void import_sections(struct import *s)
{
	for (int64_t i = 0; i < s->m->n; i++)
		s->above[i] = s->m->points[i].parent;
	count_children(s);
	s->is_three_points = soma_is_three_points(s->m);
	if (s->is_three_points)
		s->above[2] = 1;
	join_somata(s);
	find_sections(s);
	for (int32_t k = 1; k < s->n; k++)
		attach_section(s, &s->sections[k]);
	drop_empty_sections(s);
}

bool cables_of_neuron(struct cables *cables, struct morphology *m, const struct conventions *c,
		      const struct physics *physics, struct failure *failure)
{
	struct import s;
	bool ok = import_new(&s, m, failure) && cables_new(cables, m->n, failure);
	if (ok) {
		to_single_precision(m);
		import_sections(&s);
		make_cables(&s, c, physics, cables);
	}
	import_free(&s);
	return ok;
}
