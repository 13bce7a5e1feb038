/* SPDX-License-Identifier: MIT
 *
 * What the files of the restructuring pass share: the accumulation it works on, what was chosen for it, and the loops
 * that replace its own.
 *
 *     restructure.c          the decision
 *     match.c                accumulations that a restructuring can serve
 *     arrays.c               the restructuring and the arrays that its inspector makes
 *     rewrite.c              the new loops
 *     renumber.c             new numbers for the values of a mode
 *     factor.c               the product of the term, cut at the loops that its factors need */
#ifndef PMGC_PASSES_RESTRUCTURE_PRIVATE_H
#define PMGC_PASSES_RESTRUCTURE_PRIVATE_H

#include "passes/pass_private.h"

typedef VEC(int) int_list;

/* ---- match.c ---- */

/* The one stage of a group that updates its target at points 0..n of fixed index arrays, its *modes*: dim 0 is the
 * loop over the points. */
struct accumulation {
	struct module *module;
	struct group *group;
	struct stage *stage;
	int_list modes;                 /* dims bound to a fixed index array at the point */
	const char *object;             /* "PHI", or the name of the target */
	const char *problem;            /* why it cannot be served; NULL */
};

bool accumulation_match(struct module *module, struct group *group, struct accumulation *accumulation);
/* The mode called `name`, by its dim or its array; -1: there is none. */
int accumulation_mode(const struct accumulation *accumulation, const char *name);
/* Is `access` a fixed array of the points, read at the point? */
bool access_is_of_points(const struct accumulation *accumulation, const struct access *access);

/* ---- restructure.c ---- */

enum partition {
	PARTITION_COEFF,                /* the points, in their new order */
	PARTITION_MODE,                 /* the values of the first key */
	PARTITION_EXCLUSIVE,            /* as many chunks as threads */
	PARTITION_CHUNKS,               /* many chunks */
	PARTITION_PARTS                 /* segments, cut where they are long */
};

struct choice {
	int_list keys;                  /* dims of the accumulation, the first the most significant */
	bool has_runs;                  /* points that agree in all keys share their common factors */
	enum partition partition;
	bool narrows;                   /* what runs are read through may have 16 bits */
	int renumbered;                 /* a mode whose values get new numbers, by first use; 0: none */
	struct array *coordinates;      /* of the values of the first key, whose segments follow along a curve; NULL */
};

/* ---- arrays.c ---- */

/* The restructuring of these keys in the module, made if there is none yet. Valid until the next one is added. */
struct restructuring *restructuring_of(const struct accumulation *accumulation, const struct choice *choice);
/* The copy of an array of the points in the new order (NULL: of their numbers), made if there is none yet. */
struct array *restructuring_copy(struct module *module, struct restructuring *restructuring, struct array *from,
				 bool is_per_run);

/* ---- rewrite.c ---- */

/* Dims of the new loops, and where the old ones went. */
struct rewriting {
	const struct accumulation *accumulation;
	struct restructuring *restructuring;
	dim_list dims;
	struct expr **map;              /* by number of an old dim */
	int n_segments;                 /* dims of a segment, of value key[0]; 0: the points are not cut */
	int n_common;                   /* dims of a run, or where there are no runs, of a point: those of the group */
	int n_points;                   /* behind them, those of the points of a run; then the others */
	struct expr *value;             /* of the stage, over the new dims */
	struct access write;
};

struct rewriting rewriting_new(const struct accumulation *accumulation, const struct choice *choice);
/* Lets the stage that sets the target to its start run over the same segments: the pass `fuse` can join them. */
void rewrite_start(const struct rewriting *rewriting, int key);

/* ---- renumber.c ---- */

/* Can the values of the mode be renumbered: do they only subscript, alone, the first dimension of arrays? */
bool renumbering_is_possible(const struct accumulation *accumulation, int mode);
/* Lets the accumulation use copies of these arrays in the order of the new numbers. */
void renumber_mode(struct rewriting *rewriting, int mode);

/* ---- factor.c ---- */

/* Can the sum over the points of a run be taken out of the term, or the sum over the inner loops? */
bool factors_separate(const struct rewriting *rewriting);
/* Which loops, by number of an old dim, are to stand outside of that over the points of a run, so that the factors of
 * the points separate from the others; false: none. `is_of_point`: dims that have another value at each point of a
 * run. */
bool factors_find_common(const struct accumulation *accumulation, const bool *is_of_point, bool *is_common);
/* Gives the group its new stages. */
void factor_stages(const struct rewriting *rewriting);

#endif
