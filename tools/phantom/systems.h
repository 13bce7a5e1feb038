/* SPDX-License-Identifier: MIT
 *
 * Made-up batches of Hines and tridiagonal systems: on one tree or on many, of one length or of several, diagonally
 * dominant, so that their solutions are well determined. All is a function of the options alone. */
#ifndef TOOLS_PHANTOM_SYSTEMS_H
#define TOOLS_PHANTOM_SYSTEMS_H

#include "phantom/trees.h"

struct system_options {
	bool is_tri;            /* chains, whose matrices are symmetric */
	bool is_many;           /* a tree for each system */
	bool is_shared;         /* one matrix but for its diagonal */
	struct tree_shape shape; /* of chains n alone */
	int64_t n_systems;
	int64_t low, high;      /* high: 0, or lengths are drawn from low .. high, with the shape's share of branches */
	int64_t seed;
};

/* Systems one after the other, system s in offset[s] .. offset[s+1]. */
struct system_phantom {
	int64_t n_systems, n, n_rows; /* n: of the longest */
	bool has_one_tree;
	int64_t *offset;        /* [n_systems + 1] */
	int32_t *parent;        /* [n], or [n_rows] and local to each system; NULL: chains */
	/* Of node i and its parent, upper stands in the row of the parent and lower in its own; of chains, upper[i] in
	 * row i and column i+1. */
	double *upper, *lower;  /* [n_rows], or [n] if they are shared; 64-byte aligned */
	double *diag, *rhs;     /* [n_rows] */
};

/* "256..512"; NULL leaves 0 and 0. */
bool system_lengths_parse(const char *text, int64_t *low, int64_t *high, struct failure *failure);
/* On failure nothing is left allocated. */
bool system_phantom_make(const struct system_options *options, struct system_phantom *phantom,
			 struct failure *failure);
void system_phantom_free(struct system_phantom *phantom);

/* `pmg phantom hines` and `pmg phantom tri`. */
extern const struct command phantom_hines_command, phantom_tri_command; /* systems_command.c */

#endif
