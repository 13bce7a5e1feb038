/* SPDX-License-Identifier: MIT
 *
 * The system of a cell: one step of the passive cable equation by backward Euler. Between a point and its parent lies a
 * frustum; its axial conductance is pi r r_parent/(ra length), and half of its side belongs to each of the two nodes.
 * The equation of node i is (cm/dt + leak)*area*x + sum of conductance*(x - x of the neighbour)
 * = (cm/dt*voltage + leak*rest)*area, in mS and mV. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "hines/cells.h"
#include "phantom/random.h"

bool cell_new(struct cell *cell, int64_t n, struct failure *failure)
{
	size_t count = (size_t) n + 1;
	*cell = (struct cell){ .n = n,
			       .parent = calloc(count, sizeof(int32_t)),
			       .upper = calloc(count, sizeof(double)),
			       .lower = calloc(count, sizeof(double)),
			       .diag = calloc(count, sizeof(double)),
			       .rhs = calloc(count, sizeof(double)) };
	if (cell->parent && cell->upper && cell->lower && cell->diag && cell->rhs)
		return true;
	cell_free(cell);
	return fail_memory(failure, "a cell");
}

void cell_free(struct cell *cell)
{
	free(cell->parent);
	free(cell->upper);
	free(cell->lower);
	free(cell->diag);
	free(cell->rhs);
	free(cell->reference);
	free(cell->id);
	*cell = (struct cell){ 0 };
}

/* ---- From a morphology ------------------------------------------------------------------------ */

/* A node that is all of its cell is a sphere. */
static void add_alone(const struct morphology *m, double *area)
{
	for (int64_t i = 0; i < m->n; i++) {
		double r = m->points[i].radius;
		if (m->points[i].bare_area > 0)
			area[i] += m->points[i].bare_area;
		else if (area[i] <= 0)
			area[i] = 4 * M_PI * r * r;
	}
}

static void add_piece(struct cell *cell, const struct morphology *m, int64_t i, const struct physics *physics,
		      double *area, int64_t *n_short)
{
	const struct point *p = &m->points[i], *q = &m->points[p->parent];
	double length =
		hypot(hypot(p->place[0] - q->place[0], p->place[1] - q->place[1]), p->place[2] - q->place[2]);
	if (length < LEAST_LENGTH) {
		length = LEAST_LENGTH;
		(*n_short)++;
	}
	/* um/(ohm cm) is 1e-1 mS. */
	double conductance = 0.1 * M_PI * p->radius * q->radius / (physics->ra * length);
	double half = M_PI * (p->radius + q->radius) * hypot(length, p->radius - q->radius) / 2;
	cell->upper[i] = cell->lower[i] = -conductance;
	cell->diag[i] += conductance;
	cell->diag[p->parent] += conductance;
	if (!(p->bare_area > 0))
		area[i] += half;
	if (!(q->bare_area > 0))
		area[p->parent] += half;
}

static void add_membranes(struct cell *cell, const double *area, const struct physics *physics)
{
	struct random_stream random = random_stream_of(physics->seed, RANDOM_SYSTEM, 0);
	for (int64_t i = 0; i < cell->n; i++) {
		double range = physics->voltage_high - physics->voltage_low;
		double voltage = physics->voltage_low + range * random_uniform(&random);
		double capacity = physics->cm / physics->dt, leak = 1e3 * physics->leak; /* mS/cm2 */
		cell->diag[i] += (capacity + leak) * area[i] * 1e-8;
		cell->rhs[i] = (capacity * voltage + leak * physics->rest) * area[i] * 1e-8;
	}
}

/* What of node i is not as it has to be; NULL: nothing. */
static const char *wrong_number(const struct cell *cell, int64_t i, double *value)
{
	if (!isfinite(*value = cell->upper[i]))
		return "off-diagonal";
	if (!isfinite(*value = cell->diag[i]) || !(*value > 0))
		return "diagonal";
	return isfinite(*value = cell->rhs[i]) ? NULL : "right-hand side";
}

/* From children to parents: what is wrong with a piece is wrong with the diagonal above it, too. */
static bool check_numbers(const struct cell *cell, const struct morphology *m, struct failure *failure)
{
	double value;
	for (int64_t i = cell->n - 1; i >= 0; i--) {
		const char *what = wrong_number(cell, i, &value);
		if (!what)
			continue;
		fail_file(failure, m->path,
			  "the node of line %" PRId64
			  " has the %s %g: sizes in the file, or numbers of options, are too large or too small",
			  m->points[i].line, what, value);
		failure->outcome = OUTCOME_NUMERICAL;
		return false;
	}
	return true;
}

/* With nothing but its nodes. */
static bool cell_of_points(struct cell *cell, const struct morphology *m, struct failure *failure)
{
	if (!cell_new(cell, m->n, failure))
		return false;
	cell->id = calloc((size_t) m->n + 1, sizeof(*cell->id));
	if (!cell->id) {
		cell_free(cell);
		return false;
	}
	for (int64_t i = 0; i < m->n; i++) {
		cell->id[i] = m->points[i].id;
		cell->parent[i] = m->points[i].parent;
	}
	return true;
}

bool cell_of_morphology(struct cell *cell, const struct morphology *m, const struct physics *physics,
			struct notes *notes, struct failure *failure)
{
	int64_t n_short = 0;
	double *area = calloc((size_t) m->n + 1, sizeof(*area));
	if (!area || !cell_of_points(cell, m, failure)) {
		free(area);
		return fail_memory(failure, "a cell");
	}
	for (int64_t i = 0; i < m->n; i++)
		if (m->points[i].parent >= 0)
			add_piece(cell, m, i, physics, area, &n_short);
	add_alone(m, area);
	add_membranes(cell, area, physics);
	free(area);
	if (n_short > 0)
		notes_add(notes, "pieces shorter than %g um, which are taken as so long: %" PRId64,
			  LEAST_LENGTH, n_short);
	if (check_numbers(cell, m, failure))
		return true;
	cell_free(cell);
	return false;
}
