/* SPDX-License-Identifier: MIT
 *
 * `pmg import` and `pmg hines`: from a neuron's shape (SWC) or from systems that other programs wrote to Hines systems,
 * lower[i]*x[parent[i]] + diag[i]*x[i] + sum of upper[c]*x[c] over the children c = rhs[i].
 *
 * Files are not trusted: each is read whole or refused, with the line (or the byte) where it goes wrong. What is not
 * as it should be but has one sensible reading is changed as a named convention says, and told. */
#ifndef TOOLS_HINES_CELLS_H
#define TOOLS_HINES_CELLS_H

#include "formats/formats.h"

/* ---- Notes: what was changed, one line each ------------------------------------------- */

typedef VEC(const char *) note_list;

struct notes {
	struct arena *arena;
	note_list lines;
};

void notes_add(struct notes *notes, const char *format, ...) PRINTF_LIKE(2, 3);

/* ---- swc.c: points of a neuron ---------------------------------------------------------- */

enum { SWC_SOMA = 1, NO_POINT = -1 };

struct point {
	int64_t id, parent_id, line;    /* of the file; id: NO_POINT of what discretisation adds */
	int32_t type, parent;           /* parent: a place in `points`, before the point itself; -1: a root */
	double place[3], radius;
	double bare_area;               /* of a soma that is one point, um2; 0: the pieces around have all */
};

struct morphology {
	const char *path;       /* of the file */
	int64_t n;
	struct point *points;
};

/* Each point follows its parent: the order of the file where that is so, else parents are brought forward. */
bool swc_read(struct morphology *m, const char *path, struct notes *notes, struct failure *failure);
void morphology_free(struct morphology *m);
/* Point i comes to place[i], for each of them another; parents are renumbered. */
bool morphology_reorder(struct morphology *m, const int32_t *place, struct failure *failure);

/* ---- conventions.c ----------------------------------------------------------------------- */

enum soma { SOMA_DRAWN, SOMA_THREE_POINTS, SOMA_SPHERE };
enum roots { ROOTS_KEEP, ROOTS_LARGEST, ROOTS_SPLIT };
enum node_order { ORDER_FILE, ORDER_DEPTH };

struct conventions {
	enum soma soma;
	enum roots roots;
	enum node_order order;
	double max_length;      /* um; 0: points are nodes as they are */
	int64_t per_branch;     /* nodes of each branch; 0: not so */
};

/* Names of the conventions, in the order of the enumerations, each list with NULL at its end. */
extern const char *const soma_names[], *const roots_names[], *const node_order_names[];

bool morphology_apply(struct morphology *m, const struct conventions *c, struct notes *notes,
		      struct failure *failure);

/* ---- discretise.c -------------------------------------------------------------------------- */

/* Nodes at equal distances along each branch instead of the points of the file. */
bool morphology_discretise(struct morphology *m, const struct conventions *c, struct notes *notes,
			   struct failure *failure);

/* ---- cell.c: systems ------------------------------------------------------------------------- */

struct cell {
	int64_t n;
	int32_t *parent;
	double *upper, *lower, *diag, *rhs;
	double *reference;      /* NULL: the file has none */
	int64_t *id;            /* of the points that nodes are, or NO_POINT; NULL: the file has no points */
};

struct physics {
	double ra, cm, leak, rest, dt; /* ohm cm, uF/cm2, S/cm2, mV, ms */
	double voltage_low, voltage_high; /* mV: what voltages are drawn from */
	int64_t seed;
	bool cm_is_given;       /* else it is the file's, where that has one */
};

enum { NO_SEED = -1 };         /* until cell_request_complete: 1 */
#define LEAST_LENGTH 1e-3       /* um, of the piece between two nodes */

bool cell_new(struct cell *cell, int64_t n, struct failure *failure);
void cell_free(struct cell *cell);
/* One step of the passive cable by backward Euler: axial conductances pi r r_parent/(ra length) in mS, areas of half
 * frusta. */
bool cell_of_morphology(struct cell *cell, const struct morphology *m, const struct physics *physics,
			struct notes *notes, struct failure *failure);

/* ---- tsv.c, coreneuron.c: one format each ------------------------------------------------ */

/* Lines `node parent u l d rhs [x]`, nodes from 0. */
bool tsv_cell_read(struct cell *cell, const char *path, struct failure *failure);
/* The number of nodes, then lines `index u l rhs d parent`. */
bool bsc_cell_read(struct cell *cell, const char *path, struct failure *failure);
/* The second data file of a group of cells, GID_2.dat: the cells' matrices and capacities. The diagonal is that of
 * these and `physics`. */
bool coreneuron_cell_read(struct cell *cell, const char *path, const struct physics *physics, struct notes *notes,
			  struct failure *failure);

/* ---- the commands ---------------------------------------------------------------------------------- */

struct cell_request {
	struct conventions conventions;
	struct physics physics;
	int64_t systems;        /* on the tree of a morphology that is not split; 0: one */
	const char *soma, *roots, *order, *ra, *cm, *leak, *rest, *dt, *voltage, *max_length; /* as given; NULL: not */
};

typedef VEC(struct cell) cell_list;

/* Cells of one file, by the format of the name or of its suffix. */
bool cells_read(cell_list *cells, const char *path, const char *format, const struct cell_request *request,
		struct notes *notes, struct failure *failure);
/* Before the request is complete: does each option that was given change what is read of one of the files? */
bool cell_options_apply(const struct cell_request *request, const char *const *paths, int n, const char *format,
			struct failure *failure);
bool cell_request_complete(struct cell_request *request, struct failure *failure);
struct cell_request cell_request_default(void);

/* Cells one after the other, as a Forest has them; parents stay local to each. */
struct forest {
	int64_t n;              /* cells */
	int64_t *offset;        /* [n + 1] */
	struct cell all;
};

bool forest_of_cells(struct forest *forest, const cell_list *cells, struct failure *failure);
void forest_free(struct forest *forest);

/* ---- solve.c: by the compiled program ---------------------------------------------------------------- */

/* x [forest->all.n]; `seconds` of one solve. */
bool forest_solve(struct arena *arena, const struct forest *forest, int64_t threads, const char *cc, double *x,
		  double *seconds, struct failure *failure);
/* Largest |A x - rhs| of a row over the sum of its |terms|. */
double forest_backward_error(const struct forest *forest, const double *x);

/* Options that both commands have; `member` is a struct cell_request of `struct values`. */
#define CELL_TEXT(member, option, what, sentence) \
	{ .name = option, .kind = OPTION_TEXT, .offset = offsetof(struct values, member), .operand = what, \
	  .text = sentence }
#define CELL_OPTIONS(request) \
	CELL_TEXT(request.soma, "soma", "NAME", \
		  "points of type 1: as-drawn (each is a node), three-point (NeuroMorpho's is one node), sphere"), \
	CELL_TEXT(request.roots, "roots", "NAME", \
		  "several roots: keep (in one system), largest (only that tree), split (a system each)"), \
	CELL_TEXT(request.order, "order", "NAME", "of nodes: file, depth-first"), \
	CELL_TEXT(request.max_length, "max-length", "UM", "nodes at most so far apart, instead of the points"), \
	{ .name = "per-branch", .kind = OPTION_INTEGER, .low = 1, .high = 1000000, .operand = "N", \
	  .offset = offsetof(struct values, request.conventions.per_branch), \
	  .text = "so many nodes of each branch instead" }, \
	CELL_TEXT(request.ra, "ra", "OHM_CM", "axial resistivity (default: 150)"), \
	CELL_TEXT(request.cm, "cm", "UF_CM2", "capacity of the membrane (default: 1, of coreneuron the file's)"), \
	CELL_TEXT(request.leak, "leak", "S_CM2", "its conductance (default: 1e-4)"), \
	CELL_TEXT(request.rest, "rest", "MV", "its potential (default: -65)"), \
	CELL_TEXT(request.dt, "dt", "MS", "the step (default: 0.025)"), \
	CELL_TEXT(request.voltage, "voltage", "MV|LOW..HIGH", \
		  "at the beginning of the step (default: -65..-45, drawn)"), \
	{ .name = "seed", .kind = OPTION_INTEGER, .low = 0, .high = INT32_MAX, .operand = "N", \
	  .offset = offsetof(struct values, request.physics.seed), .text = "of what is drawn (default: 1)" }

extern const struct command import_command;     /* import_command.c */
extern const struct command hines_command;      /* solve_command.c */

#endif
