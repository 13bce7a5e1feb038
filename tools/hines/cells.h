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

/* ---- swc.c, swc_lines.c: points of a neuron ---------------------------------------------------------- */

enum { SWC_SOMA = 1, NO_POINT = -1 };

/* What lies between two places of a cable: um, um2, um3, 1/um (the integral of dx/(pi r^2)), um2 (of 2r dx). */
struct piece {
	double length, side, volume, resistance, width;
};

/* A point of the file, or a node. */
struct point {
	int64_t id, parent_id, line;    /* of the file; id: NO_POINT of a node that is no point */
	int32_t type, parent;           /* parent: a place in `points`, before the point itself; -1: a root */
	double place[3], radius;
	double start[3], start_radius;  /* where its frustum begins: at its parent, but for neurites of a soma */
	double area, volume;            /* of its own, beside half of the pieces around it: of a soma, a compartment */
	double diameter;                /* mean of a compartment; 0: that of the radius */
	struct piece piece;             /* between the node and its parent */
};

struct morphology {
	const char *path;       /* of the file */
	int64_t n;
	struct point *points;
	double scale[3];        /* of a comment `# SCALE x y z`; 0: there is none */
	bool is_in_nanometres;  /* as a comment says */
};

/* Each point follows its parent: the order of the file where that is so, else parents are brought forward. */
bool swc_read_points(struct morphology *m, struct notes *notes, struct failure *failure);
bool swc_read(struct morphology *m, const char *path, struct notes *notes, struct failure *failure);
void morphology_free(struct morphology *m);
/* Point i comes to place[i], for each of them another; parents are renumbered. */
bool morphology_reorder(struct morphology *m, const int32_t *place, struct failure *failure);

struct physics {
	double ra, cm, leak, rest, dt; /* ohm cm, uF/cm2, S/cm2, mV, ms */
	double voltage_low, voltage_high; /* mV: what voltages are drawn from */
	int64_t seed;
	bool cm_is_given;       /* else it is the file's, where that has one */
};

/* ---- conventions.c ----------------------------------------------------------------------- */

enum soma { SOMA_DRAWN, SOMA_THREE_POINTS, SOMA_SPHERE };
enum roots { ROOTS_KEEP, ROOTS_LARGEST, ROOTS_SPLIT };
enum node_order { ORDER_FILE, ORDER_DEPTH };
enum unit { UNIT_UM, UNIT_NM, UNIT_MM };
enum scale { SCALE_IGNORED, SCALE_APPLIED };

enum cell_scheme { CONVENTION_POINTS, CONVENTION_NEURON, CONVENTION_ARBOR };

struct conventions {
	enum cell_scheme convention;
	enum soma soma;
	enum roots roots;
	enum node_order order;
	enum unit unit;         /* of the numbers in the file */
	bool unit_is_given;
	enum scale scale;       /* what becomes of the file's SCALE */
	double max_length;      /* um; 0: points are nodes as they are */
	int64_t per_branch;     /* nodes of each branch; 0: not so */
	double d_lambda;        /* of a section's length constant at 100 Hz; 0: not so */
};

/* Names of the conventions, in the order of the enumerations, each list with NULL at its end. */
extern const char *const convention_names[], *const soma_names[], *const roots_names[], *const node_order_names[],
	*const unit_names[], *const scale_names[];

/* Radii, roots and somata; of CONVENTION_POINTS nodes and their order, too. */
bool morphology_apply(struct morphology *m, const struct conventions *c, struct notes *notes,
		      struct failure *failure);

/* Keeps the points with is_kept; a child of one that goes becomes a child of heir[it]. */
bool morphology_drop(struct morphology *m, const bool *is_kept, const int32_t *heir, struct failure *failure);
/* Nodes of one tree as NEURON or Arbor has them. */
bool morphology_divide(struct morphology *m, const struct conventions *c, const struct physics *physics,
		       struct notes *notes, struct failure *failure);

/* ---- somata.c ------------------------------------------------------------------------------- */

/* NeuroMorpho's soma, as NEURON tells it: three points in all, a centre and two without children, which have its radius
 * and on average that distance from it. Those two are no cable. */
bool soma_is_three_points(const struct morphology *m);
bool morphology_join_soma(struct morphology *m, enum soma soma, struct notes *notes, struct failure *failure);

/* ---- frusta.c: integrals over what lies between two places of a cable --------------------------- */

struct frustum {
	double from[3], to[3], radius_from, radius_to, length;
	int64_t point;          /* at its end */
};

struct walk {
	const struct frustum *frusta;
	int64_t n, edge;        /* edge: the frustum that the place is in */
	double behind, share;   /* behind: lengths of those before; share of its length up to the place */
};

double distance_between(const double *a, const double *b);
double frusta_length(const struct frustum *frusta, int64_t n);
struct frustum frustum_of_point(const struct morphology *m, int64_t i);
/* A frustum of radii r and q. */
void piece_add(struct piece *piece, double length, double r, double q);
void piece_join(struct piece *piece, const struct piece *more);
/* Goes on to `target` um behind the beginning, INFINITY: to the end; what lies there is added to the piece. */
void walk_to(struct walk *w, double target, struct piece *piece);
/* Where the walk stands; the frustum there. */
const struct frustum *walk_place(const struct walk *w, double *place, double *radius);

/* ---- discretise.c -------------------------------------------------------------------------- */

enum { MOST_NODES = 1 << 28 };

struct node_list {
	int64_t n, capacity;
	struct point *items;
};

bool node_list_add(struct node_list *list, const struct point *node, struct failure *failure);
/* The nodes become the points of `m`, and the list empty. */
void node_list_take(struct node_list *list, struct morphology *m, struct notes *notes);
/* Into how many parts --max-length or --per-branch divides. */
int64_t parts_of_length(const struct conventions *c, double length);

/* Nodes at equal distances along each branch instead of the points of the file. */
bool morphology_discretise(struct morphology *m, const struct conventions *c, struct notes *notes,
			   struct failure *failure);

/* ---- compartments.c: nodes in the middle of parts of cables ---------------------------------------- */

enum cable_end { CABLE_BEGIN, CABLE_MIDDLE, CABLE_END };

struct cable {
	int32_t parent;                 /* -1: the first */
	enum cable_end at;              /* where on its parent it begins */
	bool has_begin_node, has_end_node; /* nodes of their own, without a membrane */
	int64_t begin_id, end_id;
	int64_t first, n, parts;        /* frusta */
	int32_t begin_node, end_node;
	int64_t first_node;
};

struct cables {
	int32_t n;
	int64_t n_frusta;
	struct cable *items;
	struct frustum *frusta;
};

/* Of so many points at most. */
bool cables_new(struct cables *cables, int64_t most, struct failure *failure);
void cables_free(struct cables *cables);
struct cable *cables_begin(struct cables *cables, int32_t parent, enum cable_end at);
void cables_add(struct cables *cables, const struct frustum *f);
bool cables_divide(struct cables *cables, struct morphology *m, struct notes *notes, struct failure *failure);

int64_t parts_of_cable(const struct conventions *c, const struct physics *physics, const struct frustum *frusta,
		       int64_t n);

/* ---- sections.c, branches.c: cables of one tree ------------------------------------------------------- */

bool cables_of_neuron(struct cables *cables, struct morphology *m, const struct conventions *c,
		      const struct physics *physics, struct failure *failure);
bool cables_of_arbor(struct cables *cables, const struct morphology *m, const struct conventions *c,
		     const struct physics *physics, struct failure *failure);

/* ---- cell.c: systems ------------------------------------------------------------------------- */

/* What simulations need of each node beside the matrix: um2, um3, uF/cm2, mS (0 of a root), um [n, 3], um, um. */
struct shape {
	double *area, *volume, *cm, *axial, *place, *distance, *diameter;
	int32_t *type;
};

struct cell {
	int64_t n;
	int32_t *parent;
	double *upper, *lower, *diag, *rhs;
	double *reference;      /* NULL: the file has none */
	int64_t *id;            /* of the points that nodes are, or NO_POINT; NULL: the file has no points */
	struct shape *shape;    /* NULL: the file has no points, or the shape is that of the cell before */
	bool is_copy;           /* of the cell before, with other voltages */
};

enum { NO_SEED = -1 };         /* until cell_request_complete: 1 */
#define LEAST_LENGTH 1e-3       /* um, of the piece between two nodes */

bool cell_new(struct cell *cell, int64_t n, struct failure *failure);
void cell_free(struct cell *cell);
struct shape *shape_new(int64_t n);
void shape_free(struct shape *shape);
/* Cell `from` as the nodes from `at` on. */
void shape_copy(struct shape *to, int64_t at, const struct shape *from, int64_t n);
/* One step of the passive cable by backward Euler: axial conductances in mS, areas of a node's own and of half of the
 * pieces around it. */
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
	const char *convention, *soma, *roots, *order, *ra, *cm, *leak, *rest, *dt, *voltage, *max_length,
		*d_lambda, *unit, *scale; /* as given; NULL: not */
};

typedef VEC(struct cell) cell_list;

/* Cells of one file, by the format of the name or of its suffix. */
bool cells_read(cell_list *cells, const char *path, const char *format, const struct cell_request *request,
		struct notes *notes, struct failure *failure);
/* Before the request is complete: does each option that was given change what is read of one of the files? */
bool cell_options_apply(const struct cell_request *request, const char *const *paths, int n, const char *format,
			struct failure *failure);
/* request.c: an option that files without points have no use for, nor any for a diagonal if one `lacks_diagonal`;
 * NULL: none. */
const char *cell_option_idle(const struct cell_request *request, bool lacks_diagonal);
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
	CELL_TEXT(request.convention, "convention", "NAME", \
		  "nodes as points (each is one), or compartments as neuron or arbor has them"), \
	CELL_TEXT(request.unit, "unit", "NAME", "of the file's numbers: um (default), nm, mm"), \
	CELL_TEXT(request.scale, "scale", "NAME", "of a comment '# SCALE x y z': ignore (default), apply"), \
	CELL_TEXT(request.soma, "soma", "NAME", \
		  "points of type 1: as-drawn (each is a node), three-point (NeuroMorpho's is one node), sphere"), \
	CELL_TEXT(request.roots, "roots", "NAME", \
		  "several roots: keep (in one system), largest (only that tree), split (a system each)"), \
	CELL_TEXT(request.order, "order", "NAME", "of nodes: file, depth-first"), \
	CELL_TEXT(request.max_length, "max-length", "UM", "nodes at most so far apart, instead of the points"), \
	{ .name = "per-branch", .kind = OPTION_INTEGER, .low = 1, .high = 1000000, .operand = "N", \
	  .offset = offsetof(struct values, request.conventions.per_branch), \
	  .text = "so many nodes of each branch instead" }, \
	CELL_TEXT(request.d_lambda, "d-lambda", "SHARE", \
		  "with neuron, parts of at most that share of the length constant at 100 Hz"), \
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
