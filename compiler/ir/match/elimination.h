/* SPDX-License-Identifier: MIT
 *
 * Elimination: a tridiagonal system
 *
 *     lower[i] x[i-1] + diag[i] x[i] + upper[i] x[i+1] = rhs[i]
 *
 * solved by three recurrences of first order, whatever the names: that of the pivots, that of the right-hand sides in
 * the same direction, and that of the solution against it,
 *
 *     p[i] = diag[i] - lower[i] upper[i-1]/p[i-1]
 *     y[i] = rhs[i] - lower[i] y[i-1]/p[i-1]
 *     x[i] = (y[i] - upper[i] x[i+1])/p[i]
 *
 * or the same with what each row is divided by taken out first (u = upper/p, z = y/p). Rows at which a recurrence
 * begins have no coupling there: many systems may lie one behind another. */
#ifndef PMGC_IR_ELIMINATION_H
#define PMGC_IR_ELIMINATION_H

#include "ir/ir.h"

/* The value of a coefficient at the rows of a stage: `value` over its first `n_dims` dims, to be kept at `subs`. */
struct row_value {
	const struct stage *stage;
	int n_dims;
	struct expr *value;             /* NULL: 0 */
};
typedef VEC(struct row_value) row_values;

enum row_coefficient { ROW_LOWER, ROW_DIAG, ROW_UPPER, ROW_RHS, ROW_N };

struct elimination {
	struct module *module;
	struct array *solution;         /* x, whose box is that of the systems */
	int row;                        /* the subscript that counts the rows */
	int n_sides;                    /* subscripts at the end: right-hand sides */
	row_values values[ROW_N];
	/* How it is written: x, and the other two recurrences. */
	struct group *group;            /* that of the solution's recurrence */
	struct array *pivot, *reduced;
	bool is_scaled;                 /* `pivot` is u */
	bool is_near;                   /* where there is a problem: it looks like an elimination nevertheless */
};

/* What speaks against `solution` being computed by elimination; NULL: it is, as `elimination` says. */
const char *elimination_problem(struct module *module, struct array *solution, struct elimination *elimination);

/* What messages call an array of pivots: that of a construct, "x.pivot", is named after what it computes. */
const char *pivots_name(struct arena *arena, const struct array *pivots);

/* The pivots of the elimination over a tree that computes `solution`, and the subscript that counts the rows; NULL: it
 * is not computed so. */
struct array *tree_elimination_pivots(struct module *module, struct array *solution, int *row);

/* Elimination over a tree (elimination_tree.c). `rows` is filled in but for the values, of which only the right-hand
 * side has one. Coefficients are those of a node: of its row in the solution's, its parent's row, its own. */
struct tree_elimination {
	struct elimination rows;
	struct array *tree;
	/* Over the dims of the stage that has the value of the right-hand sides, of which the matrix has the first
	 * ones; `lower` and `upper` of nodes that have a parent. */
	struct expr *lower, *upper, *diag, *rhs;
};

/* As elimination_problem. */
const char *tree_elimination_problem(struct module *module, struct array *solution,
				     struct tree_elimination *elimination);

#endif
