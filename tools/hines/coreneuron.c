/* SPDX-License-Identifier: MIT
 *
 * CoreNEURON's GID_2.dat: a line with the version, lines that begin with a count, two for each mechanism, and arrays of
 * bytes, each behind a line `chkpnt N`: parents (int32), then a, b, area and v (double), and for each mechanism its
 * nodes (int32) and numbers (double). a is what a node does to its parent's equation, b what the parent does to its
 * own, in S/cm2; the roots are the first nodes. Nodes of the first mechanism, capacitance, have a membrane, with the
 * capacity that stands there; ends of cables, which have no area, have none. What follows (channels, synapses) is not
 * read. The diagonal, which the simulator adds up in each step, is that of a passive membrane here. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/streams.h"
#include "hines/cells.h"

enum { LINE_BYTES = 256, MOST_MECHANISMS = 100000, CAPACITANCE = 3 };

struct dat {
	struct binary_input in;
	int64_t line, checkpoint; /* checkpoint: -1 before the first */
	char text[LINE_BYTES];
};

/* What the lines before the arrays count. */
struct header {
	int64_t n, n_roots, n_diameters, n_mechanisms, n_membranes;
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

/* Versions that a NEURON of the Python packages writes: 8.2, and 9.0 with one line more. */
static const struct version {
	const char *number;
	bool has_cells;
} versions[] = { { "1.5", false }, { "1.8", true } };

static bool read_version(struct dat *d, const struct version **version, struct failure *failure)
{
	char shown[64], text[160];
	if (!next_line(d, failure))
		return false;
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if (strcmp(d->text, versions[i].number) == 0) {
			*version = &versions[i];
			return true;
		}
	snprintf(text, sizeof(text), "the version is '%s': read are 1.5, which NEURON 8.2 writes, and 1.8, of NEURON 9",
		 printable(d->text, shown, sizeof(shown)));
	return fail_at(d, failure, text);
}

/* Capacitance is the first of the mechanisms, whose sizes no line tells. */
static bool read_mechanisms(struct dat *d, struct header *h, struct failure *failure)
{
	int64_t type, n_nodes;
	for (int64_t i = 0; i < h->n_mechanisms; i++) {
		if (!read_count(d, "a mechanism", INT32_MAX, &type, failure) ||
		    !read_count(d, "a mechanism's nodes", INT32_MAX, &n_nodes, failure))
			return false;
		if (i == 0 && type == CAPACITANCE)
			h->n_membranes = n_nodes;
	}
	return h->n_membranes > 0 ||
	       fail_at(d, failure, "the first mechanism is not capacitance (3): no node has a membrane");
}

static bool read_header(struct dat *d, struct header *h, struct failure *failure)
{
	const struct version *version = NULL;
	int64_t n_cells, n_gid, n_real, ignored;
	if (!read_version(d, &version, failure) ||
	    (version->has_cells && !read_count(d, "cells", INT32_MAX, &n_cells, failure)) ||
	    !read_count(d, "gids", INT32_MAX, &n_gid, failure) ||
	    !read_count(d, "real gids", INT32_MAX, &n_real, failure) ||
	    !read_count(d, "nodes", INT32_MAX, &h->n, failure) ||
	    !read_count(d, "diameters", INT32_MAX, &h->n_diameters, failure) ||
	    !read_count(d, "mechanisms", MOST_MECHANISMS, &h->n_mechanisms, failure) ||
	    !read_mechanisms(d, h, failure) || !read_count(d, "idata", INT32_MAX, &ignored, failure) ||
	    !read_count(d, "vdata", INT32_MAX, &ignored, failure) ||
	    !read_count(d, "weights", INT32_MAX, &ignored, failure))
		return false;
	h->n_roots = version->has_cells ? n_cells : n_real;
	if (h->n < 1 || h->n_membranes > h->n || h->n > binary_left(&d->in) / 36)
		return fail_at(d, failure, "the file is too short for its number of nodes");
	return true;
}

static bool check_parents(struct dat *d, struct cell *cell, int64_t n_roots, struct failure *failure)
{
	for (int64_t i = 0; i < cell->n; i++) {
		if (i < n_roots || cell->parent[i] < 0)
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

/* A passive membrane; rhs holds the voltage, diag the capacity, or 0 where there is no membrane. */
static void add_diagonal(struct cell *cell, const struct physics *physics)
{
	for (int64_t i = 0; i < cell->n; i++) {
		bool has_membrane = cell->diag[i] > 0;
		double cm = has_membrane && physics->cm_is_given ? physics->cm : cell->diag[i];
		double capacity = 1e-3 * cm / physics->dt, leak = has_membrane ? physics->leak : 0;
		cell->rhs[i] = capacity * cell->rhs[i] + leak * physics->rest;
		cell->diag[i] = capacity + leak;
	}
	for (int64_t i = 0; i < cell->n; i++)
		if (cell->parent[i] >= 0) {
			cell->diag[i] -= cell->lower[i];
			cell->diag[cell->parent[i]] -= cell->upper[i];
		}
}

static bool read_matrix(struct dat *d, struct cell *cell, const struct header *h, struct failure *failure)
{
	size_t real = sizeof(double);
	int64_t n = cell->n;
	return read_array(d, cell->parent, n, sizeof(int32_t), "the parents", failure) &&
	       check_parents(d, cell, h->n_roots, failure) &&
	       read_array(d, cell->upper, n, real, "a", failure) &&
	       read_array(d, cell->lower, n, real, "b", failure) &&
	       read_array(d, cell->diag, n, real, "the areas", failure) &&
	       read_array(d, cell->rhs, n, real, "the voltages", failure) &&
	       (h->n_diameters == 0 || read_array(d, cell->diag, n, real, "the diameters", failure)) &&
	       check_finite(d, cell->upper, n, "a", failure) &&
	       check_finite(d, cell->lower, n, "b", failure) &&
	       check_finite(d, cell->rhs, n, "the voltage", failure);
}

/* nodes[i] has the first of two numbers of its own as capacity. */
static bool take_capacity(struct dat *d, struct cell *cell, const int32_t *nodes, const double *numbers, int64_t n,
			  struct failure *failure)
{
	memset(cell->diag, 0, (size_t) cell->n * sizeof(double));
	for (int64_t i = 0; i < n; i++) {
		if (nodes[i] < 0 || nodes[i] >= cell->n)
			return fail_file(failure, d->in.path,
					 "capacitance is said of node %" PRId32 ", which is not there", nodes[i]);
		if (!isfinite(numbers[2 * i]) || !(numbers[2 * i] > 0))
			return fail_file(failure, d->in.path, "the capacity of node %" PRId32 " is %g", nodes[i],
					 numbers[2 * i]);
		cell->diag[nodes[i]] = numbers[2 * i];
	}
	return true;
}

static bool read_capacity(struct dat *d, struct cell *cell, const struct header *h, struct failure *failure)
{
	size_t n = (size_t) h->n_membranes;
	int32_t *nodes = malloc(n * sizeof(*nodes));
	double *numbers = malloc(2 * n * sizeof(*numbers));
	bool ok = ((nodes && numbers) || fail_memory(failure, "the membranes")) &&
		  read_array(d, nodes, h->n_membranes, sizeof(*nodes), "the nodes with a membrane", failure) &&
		  read_array(d, numbers, 2 * h->n_membranes, sizeof(*numbers), "the capacities", failure) &&
		  take_capacity(d, cell, nodes, numbers, h->n_membranes, failure);
	free(nodes);
	free(numbers);
	return ok;
}

bool coreneuron_cell_read(struct cell *cell, const char *path, const struct physics *physics, struct notes *notes,
			  struct failure *failure)
{
	struct dat d = { .checkpoint = -1 };
	struct header header = { 0 };
	*cell = (struct cell){ 0 };
	bool ok = binary_open(&d.in, path, failure) && read_header(&d, &header, failure) &&
		  cell_new(cell, header.n, failure);
	bool is_read = ok && read_matrix(&d, cell, &header, failure) && read_capacity(&d, cell, &header, failure);
	if (is_read)
		add_diagonal(cell, physics);
	if (is_read && header.n_mechanisms > 1)
		notes_add(notes, "mechanisms beside the capacitance, which are not read: %" PRId64
			  "; the leak is --leak and --rest", header.n_mechanisms - 1);
	if (ok && !is_read)
		cell_free(cell);
	binary_close(&d.in);
	return is_read;
}
