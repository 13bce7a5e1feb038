/* SPDX-License-Identifier: MIT
 *
 * A neuron of a SWC file: its points with their parents, each behind its own. Ids may be any numbers in any order; each
 * is there once, and so is each parent. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hines/cells.h"

void notes_add(struct notes *notes, const char *format, ...)
{
	char text[300];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	vec_push(notes->arena, &notes->lines, arena_string(notes->arena, text));
}

void morphology_free(struct morphology *m)
{
	free(m->points);
	*m = (struct morphology){ 0 };
}

/* ---- Parents ------------------------------------------------------------------------------------ */

struct key {
	int64_t id, place;
};

static int compare_keys(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

static bool fail_line(const char *path, int64_t line, struct failure *failure, const char *format, ...)
	PRINTF_LIKE(4, 5);
static bool fail_line(const char *path, int64_t line, struct failure *failure, const char *format, ...)
{
	char text[300], shown[512];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return fail(failure, OUTCOME_DATA, "%s:%" PRId64 ": %s", printable(path, shown, sizeof(shown)), line,
		    text);
}

static bool check_once(const struct morphology *m, const struct key *keys, const char *path,
		       struct failure *failure)
{
	for (int64_t i = 1; i < m->n; i++) {
		const struct point *again = &m->points[keys[i].place], *first = &m->points[keys[i - 1].place];
		if (keys[i].id != keys[i - 1].id)
			continue;
		fail_line(path, again->line, failure, "point %" PRId64 " is there already, in line %" PRId64,
			  again->id, first->line);
		fail_help(failure, "each point has a number of its own, by which others name their parent");
		return false;
	}
	return true;
}

static bool fail_parent(const struct point *p, const char *path, struct failure *failure)
{
	fail_line(path, p->line, failure, "point %" PRId64 " has the parent %" PRId64 ", which is not in the file",
		  p->id, p->parent_id);
	fail_help(failure, "a parent is the number of another point, or -1 where a tree begins");
	return false;
}

static bool find_parents(struct morphology *m, const struct key *keys, const char *path,
			 struct failure *failure)
{
	for (int64_t i = 0; i < m->n; i++) {
		struct point *p = &m->points[i];
		int64_t low = 0, high = m->n;
		if (p->parent_id < 0)
			continue;
		while (high - low > 1) {
			int64_t middle = low + (high - low) / 2;
			if (keys[middle].id <= p->parent_id)
				low = middle;
			else
				high = middle;
		}
		if (keys[low].id != p->parent_id)
			return fail_parent(p, path, failure);
		p->parent = (int32_t) keys[low].place;
	}
	return true;
}

static bool link_points(struct morphology *m, const char *path, struct failure *failure)
{
	struct key *keys = malloc((size_t) m->n * sizeof(*keys));
	if (!keys)
		return fail_memory(failure, "the points");
	for (int64_t i = 0; i < m->n; i++)
		keys[i] = (struct key){ m->points[i].id, i };
	qsort(keys, (size_t) m->n, sizeof(*keys), compare_keys);
	bool ok = check_once(m, keys, path, failure) && find_parents(m, keys, path, failure);
	free(keys);
	return ok;
}

/* ---- Order ------------------------------------------------------------------------------------------ */

bool morphology_reorder(struct morphology *m, const int32_t *place, struct failure *failure)
{
	struct point *ordered = malloc((size_t) m->n * sizeof(*ordered));
	if (!ordered)
		return fail_memory(failure, "the points");
	for (int64_t i = 0; i < m->n; i++) {
		struct point *p = &ordered[place[i]];
		*p = m->points[i];
		p->parent = p->parent < 0 ? -1 : place[p->parent];
	}
	free(m->points);
	m->points = ordered;
	return true;
}

enum { WAITING = -1, ON_THE_WAY = -2 };

/* Gives the point its place behind those of the ancestors that wait for one; a ring of parents is refused. */
static bool place_point(const struct morphology *m, int64_t i, int32_t *place, int32_t *way,
			int64_t *n_placed, const char *path, struct failure *failure)
{
	int64_t depth = 0;
	for (int64_t at = i; at >= 0 && place[at] < 0; at = m->points[at].parent) {
		if (place[at] == ON_THE_WAY)
			return fail_line(path, m->points[at].line, failure,
					 "point %" PRId64 " is an ancestor of its own", m->points[at].id);
		place[at] = ON_THE_WAY;
		way[depth++] = (int32_t) at;
	}
	while (depth > 0)
		place[way[--depth]] = (int32_t) (*n_placed)++;
	return true;
}

static bool sort_points(struct morphology *m, const char *path, struct notes *notes, struct failure *failure)
{
	size_t n = (size_t) m->n;
	int32_t *place = malloc(n * sizeof(*place)), *way = malloc(n * sizeof(*way));
	int64_t n_placed = 0, n_late = 0, n_renumbered = 0;
	bool ok = (place && way) || fail_memory(failure, "the points");
	for (int64_t i = 0; ok && i < m->n; i++) {
		place[i] = WAITING;
		n_late += m->points[i].parent > i;
		n_renumbered += m->points[i].id != i + 1;
	}
	for (int64_t i = 0; ok && i < m->n; i++)
		ok = place_point(m, i, place, way, &n_placed, path, failure);
	ok = ok && morphology_reorder(m, place, failure);
	free(place);
	free(way);
	if (ok && n_late > 0)
		notes_add(notes,
			  "points that are listed before their parents, which are brought forward: %" PRId64,
			  n_late);
	if (ok && n_renumbered > 0)
		notes_add(notes, "ids are not 1, 2, …: points are numbered by their place");
	return ok;
}

bool swc_read(struct morphology *m, const char *path, struct notes *notes, struct failure *failure)
{
	*m = (struct morphology){ .path = path };
	bool ok = swc_read_points(m, notes, failure) && link_points(m, path, failure) &&
		  sort_points(m, path, notes, failure);
	if (!ok)
		morphology_free(m);
	return ok;
}
