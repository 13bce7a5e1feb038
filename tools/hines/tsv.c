/* SPDX-License-Identifier: MIT
 *
 * Systems as text: `node parent u l d rhs [x]` by lines, # begins a comment, nodes 0, 1, … in their order; and the
 * format of cuHinesBatch, the number of nodes and then lines `index u l rhs d parent`. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/streams.h"
#include "hines/cells.h"

/* Lines of numbers, some of which are integers. */
struct table {
	struct text_input in;
	struct growing columns[8];
	const char *const *names; /* of the columns; NULL at the end */
	uint32_t integers;        /* columns as bits */
	int n_needed, n_columns;  /* n_columns: of the first line */
};

static bool read_number(struct table *t, int column, const char *word, struct failure *failure)
{
	double value;
	int64_t integer;
	if (t->integers & 1u << column)
		return text_word_integer(&t->in, word, &integer, failure) &&
		       (growing_add_integer(&t->columns[column], integer) ||
			fail_memory(failure, "a column"));
	if (!text_word_real(&t->in, word, &value, failure))
		return false;
	if (!isfinite(value))
		return text_fail(&t->in, failure, "%s is not finite", t->names[column]);
	return growing_add_real(&t->columns[column], value) || fail_memory(failure, "a column");
}

static bool read_line(struct table *t, struct failure *failure)
{
	int n = 0;
	const char *word = text_word(&t->in, failure);
	for (; word && *word; word = text_word(&t->in, failure)) {
		if (!t->names[n])
			return text_fail(&t->in, failure, "there are more than %d columns", n);
		if (!read_number(t, n++, word, failure))
			return false;
	}
	if (!word)
		return false;
	if (n < t->n_needed)
		return text_fail(&t->in, failure, "the line ends before %s", t->names[n]);
	if (t->n_columns && n != t->n_columns)
		return text_fail(&t->in, failure, "%d columns, after lines of %d", n, t->n_columns);
	t->n_columns = n;
	return true;
}

static int64_t integer_at(const struct table *t, int column, int64_t i)
{
	return ((const int64_t *) t->columns[column].data)[i];
}

static void copy_column(const struct table *t, int column, double *to)
{
	memcpy(to, t->columns[column].data, (size_t) t->columns[column].n * sizeof(double));
}

static void table_free(struct table *t)
{
	text_close(&t->in);
	for (int i = 0; i < 8; i++)
		growing_free(&t->columns[i]);
	free(t);
}

/* Nodes are numbered from 0 and follow their parents; said of the line that has just been read. */
static bool check_node(struct table *t, int node, int parent, struct failure *failure)
{
	int64_t i = t->columns[node].n - 1, number = integer_at(t, node, i), above = integer_at(t, parent, i);
	if (number != i)
		return text_fail(&t->in, failure, "node %" PRId64 " where node %" PRId64 " is expected",
				 number, i);
	if (i == INT32_MAX)
		return text_fail(&t->in, failure, "there are too many nodes");
	if (above < -1 || above >= i)
		return text_fail(&t->in, failure,
				 "node %" PRId64 " has the parent %" PRId64 ": it is a node before, or "
				 "-1 for a root",
				 i, above);
	return true;
}

static bool take_parents(struct cell *cell, const struct table *t, int parent)
{
	for (int64_t i = 0; i < cell->n; i++)
		cell->parent[i] = (int32_t) integer_at(t, parent, i);
	return true;
}

/* ---- .hines.tsv --------------------------------------------------------------------------------- */

static const char *const tsv_names[] = { "node", "parent", "u", "l", "d", "rhs", "x", NULL };

static bool take_tsv(struct cell *cell, const struct table *t, struct failure *failure)
{
	if (!cell_new(cell, t->columns[0].n, failure))
		return false;
	copy_column(t, 2, cell->upper);
	copy_column(t, 3, cell->lower);
	copy_column(t, 4, cell->diag);
	copy_column(t, 5, cell->rhs);
	if (t->n_columns > 6) {
		cell->reference = malloc(((size_t) cell->n + 1) * sizeof(double));
		if (!cell->reference) {
			cell_free(cell);
			return fail_memory(failure, "a cell");
		}
		copy_column(t, 6, cell->reference);
	}
	return take_parents(cell, t, 1);
}

bool tsv_cell_read(struct cell *cell, const char *path, struct failure *failure)
{
	struct table *t = calloc(1, sizeof(*t));
	int more = 0;
	*cell = (struct cell){ 0 };
	if (!t)
		return fail_memory(failure, "a file");
	t->names = tsv_names;
	t->integers = 3;
	t->n_needed = 6;
	bool ok = text_open(&t->in, path, "#", failure);
	while (ok && (more = text_line(&t->in, failure)) > 0)
		ok = read_line(t, failure) && check_node(t, 0, 1, failure);
	ok = ok && more == 0 && (t->n_columns > 0 || fail_file(failure, path, "there are no nodes in it")) &&
	     take_tsv(cell, t, failure);
	table_free(t);
	return ok;
}

/* ---- The format of cuHinesBatch --------------------------------------------------------------- */

static const char *const bsc_names[] = { "index", "u", "l", "rhs", "d", "parent", NULL };

static bool read_count(struct table *t, int64_t *n, struct failure *failure)
{
	if (text_line(&t->in, failure) <= 0)
		return failure->outcome == OUTCOME_OK
			       ? text_fail(&t->in, failure, "the number of nodes is missing")
			       : false;
	const char *word = text_word(&t->in, failure);
	if (!word || !text_word_integer(&t->in, word, n, failure))
		return false;
	if (*n < 1 || *n > INT32_MAX)
		return text_fail(&t->in, failure, "%" PRId64 " is not a number of nodes", *n);
	word = text_word(&t->in, failure);
	return word && (!*word || text_fail(&t->in, failure, "the number of nodes stands alone in its line"));
}

/* Files write the parent of a root as -1, or as itself. */
static void mend_root(struct table *t)
{
	int64_t i = t->columns[5].n - 1, *parent = (int64_t *) t->columns[5].data + i;
	if (*parent == i)
		*parent = -1;
}

static bool take_bsc(struct cell *cell, const struct table *t, struct failure *failure)
{
	if (!cell_new(cell, t->columns[0].n, failure))
		return false;
	copy_column(t, 1, cell->upper);
	copy_column(t, 2, cell->lower);
	copy_column(t, 3, cell->rhs);
	copy_column(t, 4, cell->diag);
	return take_parents(cell, t, 5);
}

bool bsc_cell_read(struct cell *cell, const char *path, struct failure *failure)
{
	struct table *t = calloc(1, sizeof(*t));
	int64_t n = 0;
	int more = 0;
	*cell = (struct cell){ 0 };
	if (!t)
		return fail_memory(failure, "a file");
	t->names = bsc_names;
	t->integers = 1 | 1u << 5;
	t->n_needed = 6;
	bool ok = text_open(&t->in, path, "#", failure) && read_count(t, &n, failure);
	while (ok && (more = text_line(&t->in, failure)) > 0) {
		if (t->columns[0].n == n)
			ok = text_fail(&t->in, failure,
				       "there are more nodes than the %" PRId64 " of the first line", n);
		ok = ok && read_line(t, failure);
		if (ok)
			mend_root(t);
		ok = ok && check_node(t, 0, 5, failure);
	}
	ok = ok && more == 0;
	if (ok && t->columns[0].n < n)
		ok = text_fail(&t->in, failure, "the file ends after %" PRId64 " of %" PRId64 " nodes",
			       t->columns[0].n, n);
	ok = ok && take_bsc(cell, t, failure);
	table_free(t);
	return ok;
}
