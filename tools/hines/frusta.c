/* SPDX-License-Identifier: MIT
 *
 * Geometry of frusta, whose radius changes linearly along their length: what lies between two places of a cable is the
 * sum over the frusta, and the parts of frusta, between them. Of radii r and q and a length l, the side is
 * pi (r + q) hypot(l, q - r), the volume pi l (r r + r q + q q)/3, and the integral of dx/(pi r(x)^2), to which the
 * axial resistance is proportional, l/(pi r q). A frustum without length is a ring: it has a side alone. */
#include <math.h>

#include "hines/cells.h"

double distance_between(const double *a, const double *b)
{
	return hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
}

struct frustum frustum_of_point(const struct morphology *m, int64_t i)
{
	const struct point *p = &m->points[i];
	struct frustum f = { .radius_from = p->start_radius, .radius_to = p->radius, .point = i };
	for (int axis = 0; axis < 3; axis++) {
		f.from[axis] = p->start[axis];
		f.to[axis] = p->place[axis];
	}
	f.length = distance_between(f.from, f.to);
	return f;
}

void piece_add(struct piece *piece, double length, double r, double q)
{
	piece->length += length;
	piece->side += M_PI * (r + q) * hypot(length, q - r);
	piece->volume += M_PI * length * (r * r + r * q + q * q) / 3;
	piece->resistance += length > 0 ? length / (M_PI * r * q) : 0;
	piece->width += length * (r + q);
}

void piece_join(struct piece *piece, const struct piece *more)
{
	piece->length += more->length;
	piece->side += more->side;
	piece->volume += more->volume;
	piece->resistance += more->resistance;
	piece->width += more->width;
}

static double radius_at(const struct frustum *f, double share)
{
	return share == 1 ? f->radius_to : f->radius_from + share * (f->radius_to - f->radius_from);
}

static void walk_within(struct walk *w, const struct frustum *f, double length, double share, struct piece *piece)
{
	piece_add(piece, length * (share - w->share), radius_at(f, w->share), radius_at(f, share));
	w->share = share;
}

void walk_to(struct walk *w, double target, struct piece *piece)
{
	while (w->edge < w->n) {
		const struct frustum *f = &w->frusta[w->edge];
		double length = f->length, end = w->behind + length;
		if (end > target) {
			walk_within(w, f, length, fmin(1, fmax(w->share, (target - w->behind) / length)), piece);
			return;
		}
		walk_within(w, f, length, 1, piece);
		w->behind = end;
		w->share = 0;
		w->edge++;
	}
}

const struct frustum *walk_place(const struct walk *w, double *place, double *radius)
{
	bool is_over = w->edge == w->n;
	const struct frustum *f = &w->frusta[is_over ? w->n - 1 : w->edge];
	double share = is_over ? 1 : w->share;
	for (int axis = 0; axis < 3; axis++)
		place[axis] = is_over ? f->to[axis] : f->from[axis] + share * (f->to[axis] - f->from[axis]);
	*radius = radius_at(f, share);
	return f;
}

double frusta_length(const struct frustum *frusta, int64_t n)
{
	double length = 0;
	for (int64_t i = 0; i < n; i++)
		length += frusta[i].length;
	return length;
}
