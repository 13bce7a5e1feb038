/* SPDX-License-Identifier: MIT
 *
 * What simulations need of each node beside the matrix, as arrays. */
#include <stdlib.h>
#include <string.h>

#include "hines/cells.h"

void shape_free(struct shape *shape)
{
	if (!shape)
		return;
	free(shape->area);
	free(shape->volume);
	free(shape->cm);
	free(shape->axial);
	free(shape->place);
	free(shape->distance);
	free(shape->diameter);
	free(shape->type);
	free(shape);
}

struct shape *shape_new(int64_t n)
{
	size_t count = (size_t) n + 1;
	struct shape *s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	*s = (struct shape){ .area = calloc(count, sizeof(double)),
			     .volume = calloc(count, sizeof(double)),
			     .cm = calloc(count, sizeof(double)),
			     .axial = calloc(count, sizeof(double)),
			     .place = calloc(3 * count, sizeof(double)),
			     .distance = calloc(count, sizeof(double)),
			     .diameter = calloc(count, sizeof(double)),
			     .type = calloc(count, sizeof(int32_t)) };
	if (s->area && s->volume && s->cm && s->axial && s->place && s->distance && s->diameter && s->type)
		return s;
	shape_free(s);
	return NULL;
}

void shape_copy(struct shape *to, int64_t at, const struct shape *from, int64_t n)
{
	size_t bytes = (size_t) n * sizeof(double);
	memcpy(to->area + at, from->area, bytes);
	memcpy(to->volume + at, from->volume, bytes);
	memcpy(to->cm + at, from->cm, bytes);
	memcpy(to->axial + at, from->axial, bytes);
	memcpy(to->place + 3 * at, from->place, 3 * bytes);
	memcpy(to->distance + at, from->distance, bytes);
	memcpy(to->diameter + at, from->diameter, bytes);
	memcpy(to->type + at, from->type, (size_t) n * sizeof(int32_t));
}
