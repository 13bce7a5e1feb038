/* SPDX-License-Identifier: MIT
 *
 * SWC: lines `id type x y z radius parent`, # begins a comment, parent -1 is a root. Ids may be any numbers in any
 * order; each is there once, and so is each parent. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/streams.h"
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

/* ---- Lines -------------------------------------------------------------------------------- */

struct reader {
	struct text_input in;
	struct morphology *m;
	int64_t capacity;
};

static bool next_word(struct reader *r, const char *what, const char **word, struct failure *failure)
{
	*word = text_word(&r->in, failure);
	if (*word && **word)
		return true;
	return *word && text_fail(&r->in, failure,
				  "the line ends before the %s: it is id type x y z radius parent", what);
}

static bool read_integer(struct reader *r, const char *what, int64_t *value, struct failure *failure)
{
	const char *word;
	return next_word(r, what, &word, failure) && text_word_integer(&r->in, word, value, failure);
}

static bool read_real(struct reader *r, const char *what, double *value, struct failure *failure)
{
	const char *word;
	if (!next_word(r, what, &word, failure) || !text_word_real(&r->in, word, value, failure))
		return false;
	return isfinite(*value) || text_fail(&r->in, failure, "the %s is not finite", what);
}

static bool read_point(struct reader *r, struct point *p, struct failure *failure)
{
	static const char *const axes[] = { "x", "y", "z" };
	int64_t type;
	*p = (struct point){ .line = r->in.line, .parent = -1 };
	if (!read_integer(r, "id", &p->id, failure) || !read_integer(r, "type", &type, failure))
		return false;
	for (int axis = 0; axis < 3; axis++)
		if (!read_real(r, axes[axis], &p->place[axis], failure))
			return false;
	if (!read_real(r, "radius", &p->radius, failure) ||
	    !read_integer(r, "parent", &p->parent_id, failure))
		return false;
	const char *more = text_word(&r->in, failure);
	char shown[64];
	if (!more || *more)
		return more && text_fail(&r->in, failure, "behind the seven columns of SWC there is '%s'",
					 printable(more, shown, sizeof(shown)));
	if (p->id < 0)
		return text_fail(&r->in, failure, "point %" PRId64 " has a negative id", p->id);
	if (p->parent_id < -1)
		return text_fail(&r->in, failure, "parent %" PRId64 " is neither a point nor -1, a root",
				 p->parent_id);
	if (p->parent_id == p->id)
		return text_fail(&r->in, failure, "point %" PRId64 " is its own parent", p->id);
	p->type = type >= INT32_MIN && type <= INT32_MAX ? (int32_t) type : 0;
	return true;
}

static bool keep_point(struct reader *r, const struct point *p, struct failure *failure)
{
	struct morphology *m = r->m;
	if (m->n == INT32_MAX)
		return text_fail(&r->in, failure, "there are too many points");
	if (m->n == r->capacity) {
		r->capacity = r->capacity ? 2 * r->capacity : 1024;
		struct point *points = realloc(m->points, (size_t) r->capacity * sizeof(*points));
		if (!points)
			return fail_memory(failure, "the points");
		m->points = points;
	}
	m->points[m->n++] = *p;
	return true;
}

static bool read_points(struct reader *r, const char *path, struct failure *failure)
{
	struct point point;
	int more = 0;
	bool ok = text_open(&r->in, path, "#", failure);
	while (ok && (more = text_line(&r->in, failure)) > 0)
		ok = read_point(r, &point, failure) && keep_point(r, &point, failure);
	ok = ok && more == 0;
	text_close(&r->in);
	return ok && (r->m->n > 0 || fail_file(failure, path, "there are no points in it"));
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
		if (keys[i].id == keys[i - 1].id)
			return fail_line(path, again->line, failure,
					 "point %" PRId64 " is there already, in line %" PRId64, again->id,
					 first->line);
	}
	return true;
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
			return fail_line(path, p->line, failure,
					 "point %" PRId64 " has the parent %" PRId64
					 ", which is not in the file",
					 p->id, p->parent_id);
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
	struct reader *r = calloc(1, sizeof(*r));
	*m = (struct morphology){ .path = path };
	if (!r)
		return fail_memory(failure, "a file");
	r->m = m;
	bool ok = read_points(r, path, failure) && link_points(m, path, failure) &&
		  sort_points(m, path, notes, failure);
	free(r);
	if (!ok)
		morphology_free(m);
	return ok;
}
