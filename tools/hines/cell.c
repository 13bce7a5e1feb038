/* SPDX-License-Identifier: MIT
 *
 * The system of a cell: one step of the passive cable equation by backward Euler. Between a node and its parent lies a
 * piece of cable, of one frustum or more; its axial conductance is 1/(ra * the integral of dx/(pi r^2)), and half of
 * its side belongs to each of the two nodes, beside what a soma or a compartment has of its own.
 * The equation of node i is (cm/dt + leak)*area*x + sum of conductance*(x - x of the neighbour)
 * = (cm/dt*voltage + leak*rest)*area, in mS and mV. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
	shape_free(cell->shape);
	*cell = (struct cell){ 0 };
}

/* ---- From a morphology ------------------------------------------------------------------------ */

/* A node that is all of its cell, and has no side of its own, is a sphere. */
static void add_own(struct shape *shape, const struct morphology *m, const bool *is_parent)
{
	for (int64_t i = 0; i < m->n; i++) {
		const struct point *p = &m->points[i];
		bool is_alone = p->parent < 0 && !is_parent[i] && !(p->area > 0);
		double side = 4 * M_PI * p->radius * p->radius;
		shape->area[i] += is_alone ? side : p->area;
		shape->volume[i] += is_alone ? side * p->radius / 3 : p->volume;
	}
}

static void add_piece(struct shape *shape, const struct morphology *m, int64_t i, const struct physics *physics,
		      int64_t *n_short)
{
	const struct point *p = &m->points[i], *q = &m->points[p->parent];
	double resistance = p->piece.resistance;
	if (p->piece.length < LEAST_LENGTH) {
		resistance = LEAST_LENGTH / (M_PI * p->radius * q->radius);
		(*n_short)++;
	}
	/* um/(ohm cm) is 1e-1 mS. */
	shape->axial[i] = 0.1 / (physics->ra * resistance);
	shape->area[i] += p->piece.side / 2;
	shape->area[p->parent] += p->piece.side / 2;
	shape->volume[i] += p->piece.volume / 2;
	shape->volume[p->parent] += p->piece.volume / 2;
}

static void describe_node(struct shape *shape, const struct point *p, int64_t i, const struct physics *physics)
{
	shape->cm[i] = physics->cm;
	shape->type[i] = p->type;
	shape->diameter[i] = p->diameter > 0 ? p->diameter : 2 * p->radius;
	shape->distance[i] = p->piece.length + (p->parent < 0 ? 0 : shape->distance[p->parent]);
	memcpy(shape->place + 3 * i, p->place, sizeof(p->place));
}

static bool make_shape(struct shape *shape, const struct morphology *m, const struct physics *physics,
		       int64_t *n_short)
{
	bool *is_parent = calloc((size_t) m->n + 1, sizeof(*is_parent));
	if (!is_parent)
		return false;
	for (int64_t i = 0; i < m->n; i++) {
		describe_node(shape, &m->points[i], i, physics);
		if (m->points[i].parent < 0)
			continue;
		add_piece(shape, m, i, physics, n_short);
		is_parent[m->points[i].parent] = true;
	}
	add_own(shape, m, is_parent);
	free(is_parent);
	return true;
}

/* ---- Its system ------------------------------------------------------------------------------------ */

static void add_axial(struct cell *cell)
{
	for (int64_t i = 0; i < cell->n; i++) {
		double conductance = cell->shape->axial[i];
		if (cell->parent[i] < 0)
			continue;
		cell->upper[i] = cell->lower[i] = -conductance;
		cell->diag[i] += conductance;
		cell->diag[cell->parent[i]] += conductance;
	}
}

static void add_membranes(struct cell *cell, const struct physics *physics)
{
	struct random_stream random = random_stream_of(physics->seed, RANDOM_SYSTEM, 0);
	for (int64_t i = 0; i < cell->n; i++) {
		double range = physics->voltage_high - physics->voltage_low, area = cell->shape->area[i];
		double voltage = physics->voltage_low + range * random_uniform(&random);
		double capacity = physics->cm / physics->dt, leak = 1e3 * physics->leak; /* mS/cm2 */
		cell->diag[i] += (capacity + leak) * area * 1e-8;
		cell->rhs[i] = (capacity * voltage + leak * physics->rest) * area * 1e-8;
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
	cell->shape = shape_new(m->n);
	if (!cell->id || !cell->shape) {
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
	if (!cell_of_points(cell, m, failure) || !make_shape(cell->shape, m, physics, &n_short)) {
		cell_free(cell);
		return fail_memory(failure, "a cell");
	}
	add_axial(cell);
	add_membranes(cell, physics);
	if (n_short > 0)
		notes_add(notes, "pieces shorter than %g um, which are taken as so long: %" PRId64,
			  LEAST_LENGTH, n_short);
	if (check_numbers(cell, m, failure))
		return true;
	cell_free(cell);
	return false;
}
