/* SPDX-License-Identifier: MIT
 *
 * CoreNEURON's GID_2.dat: a line with the version, lines that begin with a count, two for each mechanism, and arrays of
 * bytes, each behind a line `chkpnt N`: parents (int32), then a, b, area and v (double). a is what a node does to its
 * parent's equation, b what the parent does to its own, in S/cm2; the roots are the first nodes. What follows
 * (mechanisms, synapses) is not read. The diagonal, which the simulator adds up in each step, is that of a passive
 * membrane here. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/streams.h"
#include "hines/cells.h"

enum { LINE_BYTES = 256, MOST_MECHANISMS = 100000 };

struct dat {
	struct binary_input in;
	int64_t line, checkpoint; /* checkpoint: -1 before the first */
	char text[LINE_BYTES];
};

static bool fail_at(struct dat *d, struct failure *failure, const char *what)
{
	return fail_file(failure, d->in.path, "line %" PRId64 " (byte %ld): %s", d->line, ftell(d->in.file),
			 what);
}

static bool next_line(struct dat *d, struct failure *failure)
{
	size_t n = 0;
	int c;
	d->line++;
	while ((c = getc(d->in.file)) != EOF && c != '\n') {
		if (n + 1 == sizeof(d->text))
			return fail_at(d, failure, "the line is too long");
		d->text[n++] = (char) (c ? c : '?');
	}
	d->text[n] = '\0';
	return c != EOF || fail_at(d, failure, "the file ends in the header");
}

/* A line that begins with a count of `what`. */
static bool read_count(struct dat *d, const char *what, int64_t most, int64_t *value, struct failure *failure)
{
	char text[96];
	if (!next_line(d, failure))
		return false;
	d->text[strcspn(d->text, " \t\r")] = '\0';
	if (parse_integer(d->text, value) && *value >= 0 && *value <= most)
		return true;
	snprintf(text, sizeof(text), "the count of %s is expected", what);
	return fail_at(d, failure, text);
}

static bool read_checkpoint(struct dat *d, struct failure *failure)
{
	int64_t number;
	if (!next_line(d, failure))
		return false;
	if (strncmp(d->text, "chkpnt ", 7) != 0 || !parse_integer(d->text + 7, &number) || number < 0 ||
	    (d->checkpoint >= 0 && number != d->checkpoint + 1))
		return fail_at(d, failure, "the next 'chkpnt' is expected");
	d->checkpoint = number;
	return true;
}

static bool read_array(struct dat *d, void *to, int64_t n, size_t element, const char *what,
		       struct failure *failure)
{
	return read_checkpoint(d, failure) && binary_read(&d->in, to, (size_t) n * element, what, failure);
}

/* n_real: of the cells with a gid, each of which has a root. */
static bool read_header(struct dat *d, int64_t *n, int64_t *n_real, struct failure *failure)
{
	int64_t n_gid, n_diam, n_mechanisms, ignored;
	if (!next_line(d, failure) || !read_count(d, "gids", INT32_MAX, &n_gid, failure) ||
	    !read_count(d, "real gids", INT32_MAX, n_real, failure) ||
	    !read_count(d, "nodes", INT32_MAX, n, failure) ||
	    !read_count(d, "diameters", INT32_MAX, &n_diam, failure) ||
	    !read_count(d, "mechanisms", MOST_MECHANISMS, &n_mechanisms, failure))
		return false;
	for (int64_t i = 0; i < n_mechanisms; i++)
		if (!read_count(d, "a mechanism", INT32_MAX, &ignored, failure) ||
		    !read_count(d, "a mechanism's nodes", INT32_MAX, &ignored, failure))
			return false;
	if (!read_count(d, "idata", INT32_MAX, &ignored, failure) ||
	    !read_count(d, "vdata", INT32_MAX, &ignored, failure) ||
	    !read_count(d, "weights", INT32_MAX, &ignored, failure))
		return false;
	if (*n < 1 || *n > binary_left(&d->in) / 36)
		return fail_at(d, failure, "the file is too short for its number of nodes");
	return true;
}

static bool check_parents(struct dat *d, struct cell *cell, int64_t n_real, struct failure *failure)
{
	for (int64_t i = 0; i < cell->n; i++) {
		if (i < n_real || cell->parent[i] < 0)
			cell->parent[i] = -1;
		if (cell->parent[i] >= i)
			return fail_file(failure, d->in.path,
					 "node %" PRId64 " has the parent %" PRId32
					 ", which is not before it",
					 i, cell->parent[i]);
	}
	return true;
}

static bool check_finite(struct dat *d, const double *values, int64_t n, const char *what,
			 struct failure *failure)
{
	for (int64_t i = 0; i < n; i++)
		if (!isfinite(values[i]))
			return fail_file(failure, d->in.path, "%s of node %" PRId64 " is not finite", what,
					 i);
	return true;
}

/* A passive membrane; rhs holds the voltage. */
static void add_diagonal(struct cell *cell, const struct physics *physics)
{
	double capacity = 1e-3 * physics->cm / physics->dt;
	for (int64_t i = 0; i < cell->n; i++) {
		cell->rhs[i] = capacity * cell->rhs[i] + physics->leak * physics->rest;
		cell->diag[i] = capacity + physics->leak;
	}
	for (int64_t i = 0; i < cell->n; i++)
		if (cell->parent[i] >= 0) {
			cell->diag[i] -= cell->lower[i];
			cell->diag[cell->parent[i]] -= cell->upper[i];
		}
}

static bool read_matrix(struct dat *d, struct cell *cell, int64_t n_real, struct failure *failure)
{
	size_t real = sizeof(double);
	int64_t n = cell->n;
	return read_array(d, cell->parent, n, sizeof(int32_t), "the parents", failure) &&
	       check_parents(d, cell, n_real, failure) && read_array(d, cell->upper, n, real, "a", failure) &&
	       read_array(d, cell->lower, n, real, "b", failure) &&
	       read_array(d, cell->diag, n, real, "the areas", failure) &&
	       read_array(d, cell->rhs, n, real, "the voltages", failure) &&
	       check_finite(d, cell->upper, n, "a", failure) &&
	       check_finite(d, cell->lower, n, "b", failure) &&
	       check_finite(d, cell->rhs, n, "the voltage", failure);
}

bool coreneuron_cell_read(struct cell *cell, const char *path, const struct physics *physics,
			  struct failure *failure)
{
	struct dat d = { .checkpoint = -1 };
	int64_t n = 0, n_real = 0;
	*cell = (struct cell){ 0 };
	bool ok = binary_open(&d.in, path, failure) && read_header(&d, &n, &n_real, failure) &&
		  cell_new(cell, n, failure);
	bool is_read = ok && read_matrix(&d, cell, n_real, failure);
	if (is_read)
		add_diagonal(cell, physics);
	if (ok && !is_read)
		cell_free(cell);
	binary_close(&d.in);
	return is_read;
}
