/* SPDX-License-Identifier: MIT
 *
 * Lines of SWC: `id type x y z radius parent`, # begins a comment, parent -1 is a root. Blanks, semicolons or commas
 * stand between the columns, the last two with or without blanks around them. A comma within a word is a decimal comma
 * where blanks or semicolons alone make seven columns; a file has one decimal mark. Ids, types and parents
 * may have a fraction of zero. Every line has as many columns as the first; those behind the seventh are not read. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/streams.h"
#include "hines/cells.h"

enum { COLUMNS = 7, MOST_COLUMNS = 64 };

static const char *const names[COLUMNS] = { "id", "type", "x", "y", "z", "radius", "parent" };

struct reader {
	struct text_input in;
	struct morphology *m;
	int64_t capacity;
	int n, n_columns;       /* words of this line; of the first, or 0 */
	char mark;              /* decimal mark of the file; 0: none yet */
	char words[MOST_COLUMNS][WORD_BYTES];
};

/* ---- Comments ------------------------------------------------------------------------------ */

/* `# SCALE x y z`, and the unit in what navis writes. */
static void read_comment(void *user, const char *comment)
{
	struct morphology *m = user;
	double scale[3];
	comment += strspn(comment, "# \t");
	if (strncmp(comment, "SCALE", 5) == 0 &&
	    sscanf(comment + 5, "%lf %lf %lf", &scale[0], &scale[1], &scale[2]) == 3 && scale[0] > 0 && scale[1] > 0 &&
	    scale[2] > 0 && isfinite(scale[0] * scale[1] * scale[2]))
		memcpy(m->scale, scale, sizeof(scale));
	if (strstr(comment, "\"units\"") && (strstr(comment, "nanomet") || strstr(comment, "nm\"")))
		m->is_in_nanometres = true;
}

/* ---- Words --------------------------------------------------------------------------------- */

static bool fail_empty(struct reader *r, char separator, struct failure *failure)
{
	return text_fail(&r->in, failure, "a column is empty: no number stands before a '%c'", separator);
}

static bool keep_word(struct reader *r, const char *word, size_t length, struct failure *failure)
{
	if (r->n == MOST_COLUMNS)
		return text_fail(&r->in, failure, "there are more than %d columns", MOST_COLUMNS);
	memcpy(r->words[r->n], word, length);
	r->words[r->n++][length] = '\0';
	return true;
}

/* At each comma; one at the end of the word ends it. */
static bool split_at_commas(struct reader *r, const char *word, struct failure *failure)
{
	for (;;) {
		size_t length = strcspn(word, ",");
		if (length == 0)
			return fail_empty(r, ',', failure);
		if (!keep_word(r, word, length, failure))
			return false;
		word += length;
		if (!*word || !word[1])
			return true;
		word++;
	}
}

/* At each semicolon, which may stand behind blanks. is_behind: a word of this line stands before it, and no other
 * semicolon between. */
static bool split_at_semicolons(struct reader *r, const char *word, bool *is_behind, struct failure *failure)
{
	while (*word) {
		size_t length = strcspn(word, ";");
		if (length == 0 && !*is_behind)
			return fail_empty(r, ';', failure);
		if (length > 0 && !keep_word(r, word, length, failure))
			return false;
		*is_behind = length > 0;
		word += length > 0 ? length : 1;
	}
	return true;
}

/* Commas at the ends of a word stand between columns. */
static void strip_commas(char *word)
{
	size_t length = strlen(word), begin = word[0] == ',';
	if (length > begin && word[length - 1] == ',')
		length--;
	memmove(word, word + begin, length - begin);
	word[length - begin] = '\0';
}

/* Words between blanks and semicolons. A comma follows a word, with or without blanks between. */
static bool read_words(struct reader *r, struct failure *failure)
{
	const char *word = text_word(&r->in, failure);
	bool is_behind = false, is_behind_comma = true;
	for (r->n = 0; word && *word; word = text_word(&r->in, failure)) {
		if (*word == ',' && is_behind_comma)
			return fail_empty(r, ',', failure);
		if (strcmp(word, ",") != 0 && !split_at_semicolons(r, word, &is_behind, failure))
			return false;
		is_behind_comma = word[strlen(word) - 1] == ',';
	}
	for (int i = 0; i < r->n; i++)
		strip_commas(r->words[i]);
	return word != NULL;
}

/* Too few words for a point are divided at their commas. */
static bool divide_words(struct reader *r, struct failure *failure)
{
	char words[COLUMNS][WORD_BYTES];
	int n = r->n;
	if (n >= COLUMNS)
		return true;
	memcpy(words, r->words, sizeof(words));
	r->n = 0;
	for (int i = 0; i < n; i++)
		if (!split_at_commas(r, words[i], failure))
			return false;
	return true;
}

static bool check_columns(struct reader *r, struct failure *failure)
{
	if (r->n < COLUMNS)
		return text_fail(&r->in, failure, "the line ends before the %s: it is id type x y z radius parent",
				 names[r->n]);
	if (r->n_columns && r->n != r->n_columns)
		return text_fail(&r->in, failure, "%d columns, after lines of %d", r->n, r->n_columns);
	r->n_columns = r->n;
	return true;
}

/* A decimal comma becomes a point. */
static bool take_mark(struct reader *r, char *word, struct failure *failure)
{
	char *comma = strchr(word, ','), mark = comma ? ',' : strchr(word, '.') ? '.' : 0;
	if (comma && (strchr(word, '.') || strchr(comma + 1, ',')))
		return true;
	if (mark && r->mark && mark != r->mark)
		return text_fail(&r->in, failure, "'%s' has a decimal %s, after numbers with a %s", word,
				 comma ? "comma" : "point", comma ? "point" : "comma");
	r->mark = mark ? mark : r->mark;
	if (comma)
		*comma = '.';
	return true;
}

/* ---- Points -------------------------------------------------------------------------------- */

static bool read_integer(struct reader *r, int column, int64_t *value, struct failure *failure)
{
	double real;
	if (parse_real(r->words[column], &real) && real == floor(real) && fabs(real) < 9007199254740992) {
		*value = (int64_t) real;
		return true;
	}
	return text_word_integer(&r->in, r->words[column], value, failure);
}

static bool read_real(struct reader *r, int column, double *value, struct failure *failure)
{
	if (!text_word_real(&r->in, r->words[column], value, failure))
		return false;
	return isfinite(*value) || text_fail(&r->in, failure, "the %s is not finite", names[column]);
}

static bool check_ids(struct reader *r, const struct point *p, struct failure *failure)
{
	if (p->id < 0)
		return text_fail(&r->in, failure, "point %" PRId64 " has a negative id", p->id);
	if (p->parent_id < -1)
		return text_fail(&r->in, failure, "parent %" PRId64 " is neither a point nor -1, a root",
				 p->parent_id);
	return p->parent_id != p->id ||
	       text_fail(&r->in, failure, "point %" PRId64 " is its own parent", p->id);
}

static bool read_point(struct reader *r, struct point *p, struct failure *failure)
{
	int64_t type;
	*p = (struct point){ .line = r->in.line, .parent = -1 };
	if (!read_words(r, failure) || !divide_words(r, failure))
		return false;
	for (int i = 0; i < r->n && i < COLUMNS; i++)
		if (!take_mark(r, r->words[i], failure))
			return false;
	if (!check_columns(r, failure) || !read_integer(r, 0, &p->id, failure) || !read_integer(r, 1, &type, failure))
		return false;
	for (int axis = 0; axis < 3; axis++)
		if (!read_real(r, 2 + axis, &p->place[axis], failure))
			return false;
	p->type = type >= INT32_MIN && type <= INT32_MAX ? (int32_t) type : 0;
	return read_real(r, 5, &p->radius, failure) && read_integer(r, 6, &p->parent_id, failure) &&
	       check_ids(r, p, failure);
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

bool swc_read_points(struct morphology *m, struct notes *notes, struct failure *failure)
{
	struct reader *r = calloc(1, sizeof(*r));
	struct point point;
	int more = 0;
	if (!r)
		return fail_memory(failure, "a file");
	r->m = m;
	bool ok = text_open(&r->in, m->path, "#", failure);
	r->in.on_comment = read_comment;
	r->in.user = m;
	while (ok && (more = text_line(&r->in, failure)) > 0)
		ok = read_point(r, &point, failure) && keep_point(r, &point, failure);
	ok = ok && more == 0;
	text_close(&r->in);
	if (ok && r->n_columns > COLUMNS)
		notes_add(notes, "columns behind the seventh, which are not read: %d", r->n_columns - COLUMNS);
	if (ok && r->mark == ',')
		notes_add(notes, "commas are decimal commas");
	free(r);
	return ok && (m->n > 0 || fail_file(failure, m->path, "there are no points in it"));
}
